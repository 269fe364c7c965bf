"""Small deliberate mistakes ("mutants") in Python source, and a sample of them that survives moves of code.

A statement is known by the function around it and by its own text, not by its file or line. Each has a
number made from that and from the seed, and the sample of a room is its statements with the smallest
numbers. Code that moves therefore keeps its place in the sample, and new code displaces only its share of
the old. A statement gives one mutant at most.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from source import Function, Span, files_of, lines_that_matter, mentions, name_of

# what only decides how fast something is: a mistake in it changes no result
PERFORMANCE = re.compile(
    r"at_once|worth_|chunk|batch|block|buffer|cache|piece|partition|workers|waiting|row_group|in_a_pass|in_a_range"
    r"|too_small|steps_of_numpy|loaded|threads|^jobs$|^_?(few|small|mixed|near|more|room|rows|samples?)$",
    re.IGNORECASE,
)
PERFORMANCE_KEYWORDS = {
    "boundscheck", "buffering", "cache", "copy", "frozen", "kw_only", "maxsize", "nogil", "repr", "slots",
    "stacklevel", "strict", "chunksize", "rechunk", "parallel", "max_workers", "use_threads", "daemon",
    "fast", "compiled",
}  # fmt: skip
PROSE_FUNCTION = re.compile(r"^_?describe|_message$|_said$|_told$|^_?(hint|advice|plural|cure|in_words)")
PROSE_SEPARATOR = re.compile(r", |[a-z]|; ")
COMPILED = {
    "compiled",
    "_compiled",
    "njit",
    "intrinsic",
}  # decorators: numba runs the function, unseen by Python
QUIET_CALLS = {"close", "flush", "collect", "warn", "advance", "tick"}  # dropped, they change no result
KEPT_ARGUMENTS = {"isinstance", "issubclass", "getattr", "hasattr", "setattr", "cast", "TypeVar", "NewType"}
COMMUTATIVE = {
    "max",
    "min",
    "maximum",
    "minimum",
    "logical_and",
    "logical_or",
    "isclose",
    "add",
    "multiply",
    "gcd",
}

# what any test of the line would notice: only of statements that have no other, and of one in three of those
COARSE, COARSE_IN = {"return None", "arguments swapped"}, 3

COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitXor: ast.BitAnd,
}  # fmt: skip
_PAIRS = (
    "min max", "argmin argmax", "nanmin nanmax", "minimum maximum", "fmin fmax", "any all", "floor ceil",
    "zeros ones", "zeros_like ones_like", "sum mean", "nansum nanmean", "union intersection",
    "startswith endswith", "logical_and logical_or", "sorted list", "first last", "head tail",
    "lower upper", "lstrip rstrip",
)  # fmt: skip
NAMES = {a: b for pair in _PAIRS for a, b in (pair.split(), pair.split()[::-1])} | {
    "list": "", "mean": "", "cumsum": "cumprod", "median": "mean",
}  # fmt: skip


class Change(NamedTuple):
    """A replacement of the bytes of one node."""

    operator: str
    node: ast.AST
    after: str


@dataclass(frozen=True)
class Mutant:
    key: str
    room: str
    file: str  # from the project's folder
    line: int
    function: str
    operator: str
    before: str
    after: str
    start: int  # bytes of the file
    end: int
    spans: tuple[Span, ...]  # lines that a test runs if the mistake can matter to it
    compiled: tuple[str, ...]  # compiled functions that hold it or read it: the tests of their callers
    declares: bool  # it runs when its module is imported, as the default of a parameter does

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.after.encode() + source[self.end :]


class _Statement(NamedTuple):
    node: ast.stmt
    around: tuple[ast.AST, ...]  # classes and functions, outermost first
    headers: list[ast.expr]


def sample(
    root: Path, package: str, rooms: dict[str, tuple[str, ...]], count: int, seed: int
) -> list[Mutant]:
    """``count`` mutants, as many of each room, in an order in which each beginning is a sample too."""
    seen: Counter[str] = Counter()
    chosen: list[tuple[int, int, Mutant]] = []
    share, rest = divmod(count, len(rooms))
    for place, (room, folders) in enumerate(rooms.items()):
        candidates = sorted(
            (c for path in files_of(root, package, folders) for c in _candidates(path, seed, seen)),
            key=lambda candidate: candidate.number,
        )
        if not candidates:
            raise SystemExit(f"room {room}: src/{package} has nothing to change in {', '.join(folders)}")
        made = (mutant for candidate in candidates if (mutant := _made(root, room, candidate)) is not None)
        chosen += [(rank, place, mutant) for rank, mutant in enumerate(islice(made, share + (place < rest)))]
    return [mutant for _, _, mutant in sorted(chosen, key=lambda entry: entry[:2])]


class _Candidate(NamedTuple):
    number: str
    path: Path
    tree: ast.Module
    statement: _Statement
    function: str
    changes: list[tuple[str, Change]]  # what is tried first comes first


def _candidates(path: Path, seed: int, seen: Counter[str]) -> Iterator[_Candidate]:
    tree = ast.parse(path.read_bytes())
    for statement in _statements(tree, ()):
        changes = [
            *_of_statement(statement),
            *(c for node in statement.headers for c in _of_expression(node)),
        ]
        if not changes:
            continue
        function = ".".join(getattr(node, "name", "") for node in statement.around)
        text = f"{function}: {_text(statement)}"
        seen[text] += 1
        identity = f"{text} ({seen[text]})"
        number = _number(seed, identity)
        coarse = all(change.operator in COARSE for change in changes)
        if coarse and int(_number(seed, identity, "coarse"), 16) % COARSE_IN:
            continue
        numbered = [
            (_number(seed, identity, change.operator, change.after, str(at)), change)
            for at, change in enumerate(changes)
        ]
        numbered.sort(key=lambda pair: (pair[1].operator in COARSE, pair[0]))
        yield _Candidate(number, path, tree, statement, function, numbered)


def _made(root: Path, room: str, candidate: _Candidate) -> Mutant | None:
    source = candidate.path.read_bytes()
    begins = [0]
    for line in source.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    file = candidate.path.relative_to(root).as_posix()
    spans, compiled = lines_that_matter(candidate.tree, *candidate.statement)
    declares = not any(isinstance(node, Function) for node in candidate.statement.around)
    for key, change in candidate.changes:
        at: Any = change.node
        start = begins[at.lineno - 1] + at.col_offset
        end = begins[at.end_lineno - 1] + at.end_col_offset
        before = source[start:end].decode()
        mutant = Mutant(
            key[:12], room, file, at.lineno, candidate.function, change.operator, before, change.after,
            start, end, spans, compiled, declares,
        )  # fmt: skip
        if _differs(candidate.tree, mutant.applied(source)):
            return mutant
    return None


def _number(seed: int, *parts: str) -> str:
    return hashlib.sha256("\0".join((str(seed), *parts)).encode()).hexdigest()


def _differs(tree: ast.Module, mutated: bytes) -> bool:
    try:
        return ast.dump(ast.parse(mutated)) != ast.dump(tree)
    except SyntaxError:
        return False


def _text(statement: _Statement) -> str:
    if not hasattr(statement.node, "body"):
        return ast.unparse(statement.node)
    return f"{type(statement.node).__name__} {' | '.join(map(ast.unparse, statement.headers))}"


def _statements(node: ast.AST, around: tuple[ast.AST, ...]) -> Iterator[_Statement]:
    """Every statement that does something, without those that are only types or prose."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            decorators = {name_of(d.func if isinstance(d, ast.Call) else d) for d in child.decorator_list}
            if "overload" in decorators or PROSE_FUNCTION.search(child.name):
                continue
            inside = (*around, child)
            yield _Statement(child, inside, _defaults(child.args))
            yield from _statements(child, inside)
        elif isinstance(child, ast.ClassDef):
            yield from _statements(child, (*around, child))
        elif isinstance(child, ast.If) and mentions(child.test, re.compile("^(TYPE_CHECKING|__name__)$")):
            continue
        elif isinstance(child, ast.stmt):
            if not _is_quiet(child):
                yield _Statement(child, around, _headers(child))
            yield from _statements(child, around)
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from _statements(child, around)


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    places = [*arguments.posonlyargs, *arguments.args][::-1]
    pairs = [*zip(places, arguments.defaults[::-1], strict=False)][::-1]
    pairs += [
        (a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None
    ]
    return [default for argument, default in pairs if not _is_of_speed(argument.arg)]


def _is_of_speed(argument: str) -> bool:
    return argument in PERFORMANCE_KEYWORDS or PERFORMANCE.search(argument) is not None


def _is_quiet(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Assert | ast.Pass | ast.Global | ast.Nonlocal):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    names = {name_of(target) for target in targets if target is not None}
    return "__all__" in names or any(PERFORMANCE.search(name) for name in names)


def _headers(node: ast.stmt) -> list[ast.expr]:
    match node:
        case ast.If() | ast.While():
            return [node.test]
        case ast.For():
            return [node.iter]
        case ast.With():
            return [item.context_expr for item in node.items]
        case ast.Match():
            return [node.subject, *(case.guard for case in node.cases if case.guard is not None)]
        case ast.Assign():
            return [*node.targets, node.value]
        case ast.AnnAssign():
            return [] if node.value is None else [node.value]
        case ast.AugAssign():
            return [node.target, node.value]
        case ast.Return() | ast.Expr():
            return [] if node.value is None else [node.value]
        case ast.Raise():
            return [] if node.exc is None else [node.exc]
        case ast.Delete():
            return list(node.targets)
    return []


def _of_statement(statement: _Statement) -> Iterator[Change]:
    node = statement.node
    match node:
        case ast.Expr(value=ast.Call(func=function)) if name_of(function) not in QUIET_CALLS:
            yield Change("call dropped", node, "pass")
        case ast.Raise():
            yield Change("raise dropped", node, "pass")
        case ast.Return(value=None):
            yield Change("return dropped", node, "pass")
        case ast.Return(value=value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield Change("return None", node, "return None")
        case ast.Break():
            yield Change("break to continue", node, "continue")
        case ast.Continue():
            yield Change("continue to break", node, "break")
        case ast.AugAssign() if type(node.op) in ARITHMETIC and not _is_text(node.value):
            other = ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value)
            yield Change("arithmetic", node, ast.unparse(other))
        case ast.If(test=test) if not isinstance(test, ast.Compare | ast.UnaryOp) and not _is_fast(test):
            yield Change("condition negated", test, f"(not ({ast.unparse(test)}))")


def _of_expression(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.JoinedStr) or _is_prose(node):
        return
    if not (_is_fast(node) and isinstance(node, ast.Compare | ast.BinOp | ast.BoolOp)):
        yield from _of_node(node)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.keyword) and _is_of_speed(child.arg or ""):
            continue
        if isinstance(node, ast.UnaryOp) and isinstance(child, ast.Constant):
            continue  # seen with its sign
        if isinstance(child, ast.expr | ast.keyword | ast.comprehension):
            yield from _of_expression(child)


def _of_node(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare():
            for at, operator in enumerate(node.ops):
                ops = [*node.ops[:at], COMPARISONS[type(operator)](), *node.ops[at + 1 :]]
                yield _expression("comparison", node, ast.Compare(node.left, ops, node.comparators))
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield _expression("boolean", node, ast.BoolOp(other, node.values))
        case ast.UnaryOp(op=ast.Not()):
            yield _expression("not dropped", node, node.operand)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            yield from _of_number(node, -value)
        case ast.UnaryOp(op=ast.USub()):
            yield _expression("sign dropped", node, node.operand)
        case ast.BinOp() if type(node.op) in ARITHMETIC and not any(map(_is_text, (node.left, node.right))):
            yield _expression(
                "arithmetic", node, ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
            )
        case ast.Constant(value=bool(value)):
            yield Change("constant", node, str(not value))
        case ast.Constant(value=int() | float() as value):
            yield from _of_number(node, value)
        case ast.IfExp() if not (_is_text(node.body) or _is_text(node.orelse)):
            yield Change("condition negated", node.test, f"(not ({ast.unparse(node.test)}))")
        case ast.Slice():
            for part in ("lower", "upper", "step"):
                if getattr(node, part) is not None:
                    kept = {name: getattr(node, name) for name in ("lower", "upper", "step") if name != part}
                    yield Change("slice", node, ast.unparse(ast.Slice(**kept)))
        case ast.comprehension():
            for condition in node.ifs:
                yield Change("filter dropped", condition, "True")
        case ast.Call():
            yield from _of_call(node)


def _of_number(node: ast.AST, value: float) -> Iterator[Change]:
    for other in (value + 1, value - 1):
        yield Change("constant", node, f"({other!r})" if other < 0 else repr(other))


def _of_call(node: ast.Call) -> Iterator[Change]:
    name = name_of(node.func)
    if NAMES.get(name):
        function = (
            ast.Name(NAMES[name])
            if isinstance(node.func, ast.Name)
            else ast.Attribute(node.func.value, NAMES[name])  # type: ignore[attr-defined]
        )
        yield _expression("function", node.func, function)
    first = node.args[:2]
    swappable = len(first) == 2 and not any(
        isinstance(a, ast.Starred | ast.Constant | ast.JoinedStr) for a in first
    )
    if swappable and name not in KEPT_ARGUMENTS | COMMUTATIVE and ast.dump(first[0]) != ast.dump(first[1]):
        swapped = ast.Call(node.func, [first[1], first[0], *node.args[2:]], node.keywords)
        yield _expression("arguments swapped", node, swapped)


def _expression(operator: str, node: ast.AST, other: ast.expr) -> Change:
    return Change(operator, node, f"({ast.unparse(other)})")


def _is_text(node: ast.AST) -> bool:
    """Text, a list or a type: the arithmetic of these either fails at once or is not arithmetic."""
    if isinstance(node, ast.Constant):
        return node.value is None or isinstance(node.value, str | bytes)
    if isinstance(node, ast.Name):
        return node.id in {"str", "int", "float", "bytes", "bool", "list", "dict", "set", "Path"}
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp)


def _is_prose(node: ast.AST) -> bool:
    """``", ".join(...)``, ``describe_...(...)`` and choices between two wordings."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(separator)), attr="join")):
            return PROSE_SEPARATOR.search(separator) is not None
        case ast.Call(func=function):
            return PROSE_FUNCTION.search(name_of(function)) is not None
        case ast.IfExp():
            return _is_text(node.body) and _is_text(node.orelse)
    return False


def _is_fast(node: ast.AST) -> bool:
    return mentions(node, PERFORMANCE)
