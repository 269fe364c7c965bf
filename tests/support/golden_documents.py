"""A page of the documents, run as a reader would: its commands, then its Python as one script.

Of the commands the exit codes are kept, of Python the values that a notebook would show, or that are
printed. Files that were written are kept as those of any other case; tables for people are layout.
"""

from __future__ import annotations

import ast
import runpy
import shlex
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from documents import all_blocks, expanded, is_project, lines_of
from golden_calls import plain
from golden_commands import command, same_everywhere
from golden_files import data_of

ROOT = Path(__file__).resolve().parents[2]


def run_page(name: str, folder: Path) -> dict[str, Any]:
    found = all_blocks(ROOT / name)
    inside, commands = folder, []
    for kind, text in found:
        if is_project(kind, text):
            (inside / "evenrank.toml").write_text(text, encoding="utf-8")
        for line in lines_of(text) if kind == "sh" else ():
            words = shlex.split(line, comments=True)
            if words[0] == "cd":
                inside /= words[1]
            else:
                commands.append(_ran(words, inside))
    code = "\n".join(text for kind, text in found if kind == "python")
    shown = {"shown": shown_by(code, inside)} if code else {}
    return {"commands": commands} | shown


def _ran(words: list[str], folder: Path) -> Any:
    program, *rest = words
    if program == "make":  # it is about the folder of the package
        return {"make": rest}
    if program == "mkdir":
        (folder / rest[0]).mkdir()
        return {"mkdir": rest}
    if program == "python":
        with same_everywhere(folder):
            return {
                "exit": subprocess.run([sys.executable, *rest], check=False, capture_output=True).returncode
            }
    if rest[:2] == ["study", "serve"]:
        import study_walks

        study_walks.serve_and_visit(folder / rest[2])
        return {"served": rest[2]}
    ended = command(folder, [one for word in rest for one in expanded(word, folder)])
    if rest[0] == "audit":  # whose folders are named by the second: two of a page have two names
        time.sleep(1 - time.time() % 1 + 0.01)
    kind = rest[rest.index("--format") + 1] if "--format" in rest else "text"
    error = {"error": type(ended.error).__name__} if ended.error is not None else {}
    return {"exit": ended.code} | error | {"stdout": data_of(ended.out, kind)}


def shown_by(code: str, folder: Path) -> list[Any]:
    """What the lines of a script come to that are an expression, and what it prints."""
    shown: list[Any] = []

    def keep(*values: Any, **_: Any) -> None:
        shown.extend(public(one) for one in values if one is not None)

    module = ast.parse(code)
    for line in module.body:
        if isinstance(line, ast.Expr):
            line.value = ast.Call(ast.Name("print", ast.Load()), [line.value], [])
    with same_everywhere(folder), warnings.catch_warnings(), tempfile.TemporaryDirectory() as place:
        warnings.simplefilter("ignore")
        script = Path(place) / "page.py"
        script.write_text(ast.unparse(ast.fix_missing_locations(module)), encoding="utf-8")
        runpy.run_path(str(script), {"print": keep}, "__main__")
    return shown


def public(value: Any) -> Any:
    """A value by its public methods; of an object that has none of them, its class."""
    if hasattr(value, "__dataclass_fields__"):
        for method in ("to_records", "to_table", "to_polars", "to_dict"):
            if hasattr(value, method):
                return public(getattr(value, method)())
        return type(value).__name__
    if isinstance(value, list | tuple) and not hasattr(value, "_asdict"):
        return [public(one) for one in value]
    if isinstance(value, dict):
        return {str(name): public(one) for name, one in value.items()}
    return plain(value)
