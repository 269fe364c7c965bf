"""Names with parameters: ``Name(param=value, ...)@cutoff``, in Python, on the command line, in tables.

The grammar is that of ir_measures, so that a name works in both. A term is a frozen value: it is
hashable, ``repr`` is its name everywhere, and ``parse(repr(term)) == term``. A value may itself be a
term, and measures may be added with weights. Text is read with ``ast`` and never evaluated.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

from evenrank.errors import ParameterError, UnknownNameError

__all__ = [
    "choice",
    "declare",
    "integer",
    "number",
    "parameter",
    "register",
    "term_of",
    "unregister",
]


@dataclasses.dataclass(frozen=True)
class ParameterRule:
    """What a parameter may be: how it reads in an error, and a function that accepts or refuses."""

    wording: str
    accept: Callable[[Any], Any]  # the value to keep, or REFUSED


REFUSED: Any = object()
LARGEST = 2**63 - 1


def rule(wording: str, accept: Callable[[Any], Any], *, optional: bool) -> ParameterRule:
    """A rule that takes None, too, where it is optional."""
    if not optional:
        return ParameterRule(wording, accept)
    return ParameterRule(f"{wording} or None", lambda value: None if value is None else accept(value))


def integer(at_least: int | None = None, *, optional: bool = False) -> ParameterRule:
    def accept(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST:
            return REFUSED
        return value if at_least is None or value >= at_least else REFUSED

    return rule("an integer" + ("" if at_least is None else f" >= {at_least}"), accept, optional=optional)


def number(
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
    optional: bool = False,
) -> ParameterRule:
    def accept(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return REFUSED
        if not abs(value) <= sys.float_info.max:  # an integer may be larger than any other number
            return REFUSED
        if value < low or value > high or (open_low and value == low) or (open_high and value == high):
            return REFUSED
        return float(value)

    left = "" if low == -math.inf else f" {'>' if open_low else '>='} {low:g}"
    right = "" if high == math.inf else f" {'<' if open_high else '<='} {high:g}"
    return rule("a number" + left + (" and" if left and right else "") + right, accept, optional=optional)


def grade(*, optional: bool = False) -> ParameterRule:
    """A grade of judgements: whole, as most are, or a fraction, as ratings have it."""

    def accept(value: Any) -> Any:
        if isinstance(value, float) and not value.is_integer() and math.isfinite(value) and value > 0:
            return value
        return integer(1).accept(value)

    return rule("an integer >= 1 or a fraction > 0", accept, optional=optional)


def choice(*options: str, optional: bool = False) -> ParameterRule:
    wording = "one of " + ", ".join(repr(option) for option in options)
    return rule(
        wording,
        lambda value: value if isinstance(value, str) and value in options else REFUSED,
        optional=optional,
    )


def flag(*, optional: bool = False) -> ParameterRule:
    return rule(
        "True or False", lambda value: value if isinstance(value, bool) else REFUSED, optional=optional
    )


def text(*, optional: bool = False) -> ParameterRule:
    return rule("a string", lambda value: value if isinstance(value, str) else REFUSED, optional=optional)


T = TypeVar("T", bound="Term")

KINDS = ("measure", "attention", "reranker", "system")
REGISTRY: dict[str, dict[str, type[Term]]] = {kind: {} for kind in KINDS}
ALIASES: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
LOADERS: dict[str, Callable[[str], None]] = {}  # import what declares the term of a kind that has this name


def term_of(kind: str, *, optional: bool = False) -> ParameterRule:
    """A nested term, given as a value or as its name."""

    def accept(value: Any) -> Any:
        if isinstance(value, str):
            value = parse(value, kind)
        return value if isinstance(value, Term) and value.kind == kind else REFUSED

    article = "an" if kind[0] in "aeiou" else "a"
    # the few kinds of attention are named; measures are too many for that
    listed = f" ({', '.join(usual_names(kind))})" if kind == "attention" else ""
    return rule(f"{article} {kind}{listed}", accept, optional=optional)


def usual_names(kind: str) -> list[str]:
    """The terms of a kind as they are written, with the parameters that they have by default."""
    names = []
    for name, cls in REGISTRY[kind].items():
        defaults = ", ".join(f"{field.name}={field.default!r}" for field in cls.parameters())
        names.append(f"{name}({defaults})" if defaults else name)
    return names


def parameter(default: Any, rule: ParameterRule, meaning: str) -> Any:
    """Declare one parameter of a term: its default, what it may be, what it means."""
    return dataclasses.field(default=default, kw_only=True, metadata={"rule": rule, "meaning": meaning})


@dataclasses.dataclass(frozen=True, repr=False)
class Term:
    """A registered name with parameters. Subclasses are declared with ``@declare``."""

    kind: ClassVar[str] = ""
    name: ClassVar[str] = ""
    listed: ClassVar[str] = ""  # the parameter that holds what is given without a name, if there is one

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            rule = field.metadata.get("rule")
            if rule is None:
                continue
            given = getattr(self, field.name)
            kept = rule.accept(given)
            if kept is REFUSED:
                raise ParameterError(f"{self.name}: {field.name} must be {rule.wording}, got {given!r}")
            object.__setattr__(self, field.name, kept)

    @classmethod
    def parameters(cls) -> tuple[dataclasses.Field[Any], ...]:
        """The declared parameters, without the cut-off."""
        return tuple(f for f in dataclasses.fields(cls) if "rule" in f.metadata and f.name != "cutoff")

    @classmethod
    def describe_parameters(cls) -> dict[str, dict[str, Any]]:
        """Default, rule and meaning of each parameter, as plain data."""
        return {
            f.name: {
                "default": f.default,
                "must be": f.metadata["rule"].wording,
                "meaning": f.metadata["meaning"],
            }
            for f in cls.parameters()
        }

    def __repr__(self) -> str:
        parts = [repr(one) for one in getattr(self, self.listed)] if self.listed else []
        parts += [
            f"{f.name}={getattr(self, f.name)!r}"
            for f in self.parameters()
            if f.name != self.listed and getattr(self, f.name) != f.default
        ]
        given = ",".join(parts)
        cutoff = getattr(self, "cutoff", None)
        return self.name + (f"({given})" if given else "") + ("" if cutoff is None else f"@{cutoff}")

    def __str__(self) -> str:
        return repr(self)

    def __matmul__(self, cutoff: int) -> Self:
        if "cutoff" not in {f.name for f in dataclasses.fields(self)}:
            raise ParameterError(f"{self.name} takes no cut-off")
        return dataclasses.replace(self, cutoff=cutoff)  # type: ignore[call-arg]


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(parameter,))
def declare(cls: type[T]) -> type[T]:
    """Make a class a frozen term and enter it under its name."""
    declared = dataclasses.dataclass(frozen=True, repr=False, kw_only=True)(cls)
    if "name" not in cls.__dict__:
        declared.name = cls.__name__
    register(declared)
    return declared


def register(cls: type[Term]) -> None:
    known = REGISTRY[cls.kind]
    there = known.get(cls.name)
    # the same class again is a cell that was run twice, or a module loaded anew
    if there is not None and (there.__module__, there.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ParameterError(f"a {cls.kind} named {cls.name!r} is registered already: call yours differently")
    known[cls.name] = cls


def alias(kind: str, other_name: str, name: str) -> None:
    ALIASES[kind][other_name] = name


def unregister(kind: str, name: str) -> None:
    REGISTRY[kind].pop(name, None)


def find(name: str, kind: str) -> type[Term] | None:
    """The term of this name, whose module is loaded now where it was not needed before."""
    known, own = REGISTRY[kind], ALIASES[kind].get(name, name)
    if own not in known and kind in LOADERS:
        LOADERS[kind](own)
    return known.get(own)


def lookup(name: str, kind: str) -> type[Term]:
    found = find(name, kind)
    if found is not None:
        return found
    known = sorted(REGISTRY[kind])
    error = unknown_name(kind, name, [*known, *ALIASES[kind]])
    raise error or UnknownNameError(f"no {kind} is called {name!r}; known: {', '.join(known)}")


def unknown_name(kind: str, name: str, names: Sequence[str]) -> UnknownNameError | None:
    """The error for a name that is nearly one of these; None where none is near."""
    close = [n for n in names if n.lower() == name.lower()] or difflib.get_close_matches(name, names, 3, 0.5)
    meant = f"no {kind} is called {name!r}; did you mean {', '.join(close)}?"
    return UnknownNameError(meant) if close else None


DEEPEST = 50  # terms within terms
SHOWN = 200  # characters of a name that an error repeats

_MISSPELT = {"true": "True", "false": "False", "none": "None", "null": "None"}


def parse(source: str, kind: str) -> Any:
    """Read one term.

    >>> parse("log2", "attention")
    log2
    """
    return build(expression(source), kind, source)


def expression(source: str) -> ast.expr:
    """The text as a tree, with what is wrong in every grammar refused: deep nesting, repeated parameters."""
    try:
        tree = ast.parse(source.strip(), mode="eval").body
    except (MemoryError, RecursionError):
        raise ParameterError(f"{_shortened(source)} has too many terms, or is nested too deeply") from None
    except (SyntaxError, ValueError) as error:
        detail = error.msg if isinstance(error, SyntaxError) else str(error)
        if re.search(r"=\s*[^'\"(,)]*[/\\~]", source):
            detail += "; the name of a file or folder stands in quotes, as model='./folder'"
        raise ParameterError(
            f"{_shortened(source)} is not of the form Name(param=value, ...)@cutoff: {detail}"
        ) from None
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise ParameterError(f"{_shortened(source)} is nested more than {DEEPEST} deep")
        names: list[Any] = [k.arg for k in node.keywords if k.arg] if isinstance(node, ast.Call) else []
        if isinstance(node, ast.Dict):
            names = [ast.unparse(key) for key in node.keys if key is not None]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:  # Python's parser lets it pass, and then only the last one would count
            raise ParameterError(f"{_shortened(source)}: {twice} is given twice, keep one of them")
        for child in ast.iter_child_nodes(node):  # of a long sum each term is a level deeper: that is none
            chained = isinstance(node, ast.BinOp) and child is node.left
            waiting.append((child, depth + (not chained)))
    return tree


def operands(node: ast.expr, operator: type[ast.operator]) -> list[ast.expr]:
    """What a chain of one operator joins, from left to right; the node itself where it is no such chain.

    >>> [ast.unparse(part) for part in operands(expression("a + b*c + (d + e)"), ast.Add)]
    ['a', 'b * c', 'd', 'e']
    """
    found: list[ast.expr] = []
    waiting = [node]
    while waiting:  # a loop: a sum of thousands of terms is as deep as it is long
        node = waiting.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, operator):
            waiting += [node.right, node.left]
        else:
            found.append(node)
    return found


def _shortened(source: str) -> str:
    return repr(source if len(source) <= SHOWN else source[:SHOWN] + "...")


def build(node: ast.expr, kind: str, source: str) -> Any:
    cutoff, arguments = None, {}
    listed: list[ast.expr] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        cutoff = literal(node.right, kind, source)
        node = node.left
    unnamed = f"{source!r}: parameters are given by name, as in Name(param=value)"
    if isinstance(node, ast.Call):
        if any(keyword.arg is None for keyword in node.keywords):
            raise ParameterError(unnamed)
        arguments = {str(keyword.arg): keyword.value for keyword in node.keywords}
        listed = node.args
        node = node.func
    if not isinstance(node, ast.Name):
        raise ParameterError(f"{source!r} is not of the form Name(param=value, ...)@cutoff")
    cls = lookup(node.id, kind)
    if listed and not cls.listed:
        raise ParameterError(unnamed)
    _check_names(cls, arguments)  # before values: a word behind a misspelt name is no term
    values = {name: _word(value, kind, source) for name, value in arguments.items()}
    if listed:
        if cls.listed in values:
            raise ParameterError(f"{source!r}: {cls.listed} is given twice, keep one of them")
        values[cls.listed] = tuple(_word(value, kind, source) for value in listed)
    return make(cls, values, cutoff)


def _word(node: ast.expr, kind: str, source: str) -> Any:
    """A word without quotes is a string: what it means is for the parameter's rule to say."""
    if isinstance(node, ast.Name) and node.id not in _MISSPELT:
        return node.id
    return literal(node, kind, source)


def make(cls: type[Term], arguments: Mapping[str, Any], cutoff: Any = None) -> Term:
    """A term of this class, with errors that name what it takes."""
    _check_names(cls, arguments)
    term = cls(**arguments)
    return term if cutoff is None else term @ cutoff


def _check_names(cls: type[Term], names: Iterable[str]) -> None:
    allowed = {field.name for field in cls.parameters()}
    for name in names:
        if name not in allowed:
            close = difflib.get_close_matches(name[:80], sorted(allowed), 1, 0.6)
            takes = ", ".join(sorted(allowed)) or "no parameters"
            hint = f"did you mean {close[0]}? It takes" if close else "it takes"
            raise UnknownNameError(f"{cls.name} has no parameter {name!r}; {hint} {takes}")


def literal(node: ast.expr, kind: str, source: str) -> Any:
    """A number, a string, True, False, None, or a nested term."""
    if isinstance(node, ast.Constant) and (
        node.value is None or isinstance(node.value, (bool, int, float, str))
    ):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = literal(node.operand, kind, source)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, (ast.Name, ast.Call)) or (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
    ):
        return _nested(node, kind, source)
    wrong = f"{source!r}: a value is a number, a quoted string, True, False, None or another term"
    value = ast.get_source_segment(source.strip(), node) or ""
    if _is_path(node) and 0 < len(value) <= SHOWN:
        wrong += f"; the name of a file stands in quotes, as {value!r}"
    raise ParameterError(wrong)


def _is_path(node: ast.expr) -> bool:
    """Whether Python reads the name of a file so: ``gender.safetensors``, ``models/base``, ``all-words``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Sub)):
        return any(isinstance(part, ast.Name) for part in ast.walk(node))
    return isinstance(node, ast.Attribute)


def _nested(node: ast.expr, kind: str, source: str) -> Any:
    """A nested term may be of any kind; the parameter's own rule says which it wants."""
    if isinstance(node, ast.Name) and node.id in _MISSPELT:
        raise ParameterError(f"{source!r}: write {_MISSPELT[node.id]}, not {node.id}")
    first: UnknownNameError | None = None
    head = node.left if isinstance(node, ast.BinOp) else node
    name = getattr(head.func if isinstance(head, ast.Call) else head, "id", "")
    # kinds that know the name come first: only what nobody knows is worth loading all measures for
    for candidate in sorted(REGISTRY, key=lambda other: (name not in REGISTRY[other], other != kind)):
        try:
            return build(node, candidate, source)
        except UnknownNameError as error:
            first = first or error
    raise first if first is not None else ParameterError(source)


def split_list(source: str) -> list[str]:
    """Split ``"nDCG@10 RR@10"`` at blanks and commas outside brackets and quotes; a sum stays whole.

    >>> split_list("nDCG@10 0.5*P@5 + 0.5*RR, AP(rel=2)")
    ['nDCG@10', '0.5*P@5 + 0.5*RR', 'AP(rel=2)']
    """
    pieces, piece, depth, quote = [], "", 0, ""
    for character in source:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        else:
            depth += (character in "([{") - (character in ")]}")
        if depth == 0 and not quote and (character.isspace() or character == ","):
            pieces.append(piece)
            piece = ""
        else:
            piece += character
    pieces.append(piece)
    joined: list[str] = []
    for piece in filter(None, pieces):
        if joined and (joined[-1][-1] in "+*@" or piece[0] in "+*@"):
            joined[-1] += f" {piece}" if "+" in (joined[-1][-1], piece[0]) else piece
        else:
            joined.append(piece)
    return joined
