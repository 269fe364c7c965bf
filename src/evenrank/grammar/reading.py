"""From text to terms. Text is read with ``ast`` and never evaluated."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from evenrank.errors import ParameterError, UnknownNameError
from evenrank.grammar.terms import REGISTRY, Term, lookup

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
