"""The names that docs/stability.md promises, and what a test uses of the package beyond them."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import evenrank
from evenrank.rerankers import all_rerankers

ROOT = Path(__file__).resolve().parents[2]
WHOLE = {"evenrank.neural", "evenrank.queryset", "evenrank.reporting.figures"}  # with all their names


def public_names() -> list[str]:
    page = (ROOT / "docs/stability.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \| (?:stable|provisional) \|", page, re.MULTILINE)
    return [given for names in rows for given in re.findall(r"`(evenrank\.[\w.]+)`", names)]


def all_public_names() -> set[str]:
    """With the names of the modules that are promised as a whole, in place of these modules, and with the
    names of measures and re-rankers."""
    of_modules = {f"{module}.{own}" for module in WHOLE for own in importlib.import_module(module).__all__}
    declared = {f"evenrank.{name}" for name in (*evenrank.all_measures(), *all_rerankers())}
    return ({*public_names()} - WHOLE) | of_modules | declared


def inner_names(code: str, public: set[str]) -> set[str]:
    """What Python code imports from the package, or reaches through its modules, that is not promised.

    So is what it names in a string, be it a name that is to be replaced or a script that is to be run.
    """
    found = {name for name in _used(ast.parse(code)) if not _promised(name, public)}
    return {name for name in found if not any(name.startswith(f"{other}.") for other in found)}


def _promised(name: str, public: set[str]) -> bool:
    """A public name or what is reached through it, or a module on the way to one."""
    parts = name.split(".")
    if parts[-1].startswith("__"):  # such as __file__
        parts.pop()
    reached = {".".join(parts[:length]) for length in range(2, len(parts) + 1)}
    whole = ".".join(parts)
    return bool(reached & public) or any(given.startswith(f"{whole}.") for given in public)


def _used(tree: ast.Module) -> Iterator[str]:
    modules: dict[str, str] = {}  # name in the file: the module that it stands for
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and _is_ours(node.module or ""):
            for alias in node.names:
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if _is_ours(alias.name):
                    modules[alias.asname or "evenrank"] = alias.name if alias.asname else "evenrank"
                    yield alias.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _used_in_text(node.value)
    for node in ast.walk(tree):
        name = _dotted(node) if isinstance(node, ast.Attribute) else ""
        first, _, rest = name.partition(".")
        if first in modules and rest:
            yield f"{modules[first]}.{rest}"


def _used_in_text(text: str) -> Iterator[str]:
    if re.fullmatch(r"evenrank(\.[A-Za-z_]\w*)+", text) and _is_module(".".join(text.split(".")[:2])):
        yield text
    elif re.search(r"\b(import|from) evenrank\b", text):
        try:
            yield from _used(ast.parse(text))
        except SyntaxError:  # a sentence, or a part of a script
            for module, names in re.findall(r"\bfrom (evenrank[\w.]*) import (\w+)", text):
                yield f"{module}.{names}"
            yield from re.findall(r"(?<!from )\bimport (evenrank\.[\w.]+)", text)


def _is_ours(module: str) -> bool:
    return module.split(".")[0] == "evenrank"


def _is_module(name: str) -> bool:
    path = ROOT / "src" / Path(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def _dotted(node: ast.expr) -> str:
    """``er.measures.Result`` as a text; empty for what is no chain of names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := _dotted(node.value)):
        return f"{before}.{node.attr}"
    return ""
