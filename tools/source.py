"""Python source as the mutation script reads it: files, functions, and what a statement matters to."""

from __future__ import annotations

import ast
import re
from pathlib import Path

Span = tuple[int, int]
Function = ast.FunctionDef | ast.AsyncFunctionDef

COMPILED = {
    "compiled",
    "_compiled",
    "njit",
    "intrinsic",
}  # decorators: numba runs the function, unseen by Python


def files_of(root: Path, package: str, folders: tuple[str, ...]) -> list[Path]:
    return sorted({path for folder in folders for path in files_under(root / "src" / package / folder)})


def files_under(path: Path) -> list[Path]:
    """The files of Python in a folder, or the file itself; none if there is neither."""
    return sorted(path.rglob("*.py")) if path.is_dir() else [path] if path.is_file() else []


def mentions(node: ast.AST, pattern: re.Pattern[str]) -> bool:
    return any(
        pattern.search(name_of(child))
        for child in ast.walk(node)
        if isinstance(child, ast.Name | ast.Attribute)
    )


def name_of(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def is_compiled(function: Function) -> bool:
    decorators = (d.func if isinstance(d, ast.Call) else d for d in function.decorator_list)
    return any(name_of(decorator) in COMPILED for decorator in decorators)


def functions_of(tree: ast.AST) -> list[Function]:
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def body_of(function: Function) -> Span:
    return function.body[0].lineno, function.end_lineno or function.lineno


def lines_that_matter(
    tree: ast.Module, node: ast.stmt, around: tuple[ast.AST, ...], headers: list[ast.expr]
) -> tuple[tuple[Span, ...], tuple[str, ...]]:
    """The lines of a statement; where it runs at import, those of the functions that read what it makes.

    Also the names of compiled functions among them, whose lines nobody sees running.
    """
    functions = [n for n in around if isinstance(n, Function)]
    compiled = tuple(f.name for f in functions if is_compiled(f))
    if compiled:
        return (), compiled
    if functions and node is not functions[-1]:
        last = max((header.end_lineno or 0 for header in headers), default=node.lineno)
        whole = not hasattr(node, "body")
        return ((node.lineno, (node.end_lineno or 0) if whole else last),), ()
    if functions:
        readers = functions[-1:]
    elif around:
        readers = functions_of(around[-1])
    else:
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        pattern = re.compile(rf"^({'|'.join(map(re.escape, names))})$") if names else re.compile("$^")
        readers = [function for function in functions_of(tree) if mentions(function, pattern)]
    readers = readers or functions_of(tree)
    return (
        tuple(body_of(f) for f in readers if not is_compiled(f)),
        tuple(f.name for f in readers if is_compiled(f)),
    )
