"""Commands run in this process, as ``python -m evenrank`` does, in an environment that is always the same."""

from __future__ import annotations

import atexit
import io
import json
import logging
import os
import re
import resource
import shutil
import sys
import tempfile
import time
import tomllib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1] / "goldens"
SPELLING = ROOT / "spelling.toml"
CASE = "case.toml"  # the project file that a case needs for what the shell does not say


class Ended(NamedTuple):
    code: int
    out: str
    err: str
    error: BaseException | None


@cache
def spelling() -> dict[str, Any]:
    return tomllib.loads(SPELLING.read_text(encoding="utf-8"))


def words_of(step: Sequence[Any], folder: Path) -> list[str]:
    """The command line of a step, with the command and its options as they are spelt today.

    A word is a table of options, or a positional argument as it is. The value ``true`` is for an option
    without a value, a list is for an option that may be repeated, and a table is a file and how to read it.
    What the shell has no word for is written into a project file, ``CASE``.
    """
    table = spelling()
    command, *rest = step
    words = [*table["commands"].get(command, command).split()]
    own = table["options"].get(command, {})
    project: list[str] = []
    for part in rest:
        if not isinstance(part, dict):
            words.append(str(part))
            continue
        for name, value in part.items():
            if name not in own and name not in table["options"]["every"]:
                raise ValueError(f"spelling.toml does not know the option {name} of {command}")
            option = own.get(name, table["options"]["every"].get(name))
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, dict) and not one.keys() <= {"name", "file", *table["behind_files"]}:
                    words += _described(name, one, project)
                else:
                    words += [option] * bool(option) + ([] if one is True else [_value(one)])
    if project:
        (folder / CASE).write_text("\n".join(project), encoding="utf-8")
        words = [*(word for word in words if word != "--no-project"), "--project", CASE]
    return [word.replace("FOLDER", str(folder)) for word in words]


def _described(name: str, given: dict[str, Any], project: list[str]) -> list[str]:
    """Write a file and how to read it into the project file; a run of it is named on the command line."""
    table = spelling()["project_file"]
    keys = dict(given)
    called = keys.pop("name", None) or Path(given.get("file", "")).name.partition(".")[0].replace(
        "-", "stdin"
    )
    place = table["intents"] if name == "qrels" and keys.pop("intents", False) else table[name]
    described: dict[str, Any] = {}
    for key, value in keys.items():
        first, _, inner = table["keys"].get(key, key).partition(".")
        first, _, fixed = first.partition("=")
        if fixed:
            described[first] = fixed
        elif inner:
            described.setdefault(first, {})[inner] = value
        else:
            described[first] = value
    project.append(f"{place.replace('NAME', _toml(called))} = {_toml(described)}")
    return [called] if name == "runs" else ["--against", called] if name == "against" else []


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(name)} = {_toml(one)}' for name, one in value.items())} }}"
    return f"[{', '.join(map(_toml, value))}]" if isinstance(value, list) else json.dumps(value)


def spelt(text: str, commands: Sequence[str]) -> str:
    """``{missing}`` as the option of these commands is spelt today, ``{scan.terms}`` as that of another."""
    table = spelling()["options"]

    def option(found: re.Match[str]) -> str:
        command, _, name = found[1].rpartition(".")
        for own in (*([command] if command else commands), "every"):
            if name in table.get(own, {}):
                return str(table[own][name])
        raise ValueError(f"spelling.toml does not know the option {found[1]} of {', '.join(commands)}")

    return re.sub(r"\{([a-z_.]+)\}", option, text)


def _value(given: Any) -> str:
    """``{name = "side", file = "groups.csv", values = ["f", "m"]}`` is ``side=groups.csv:values=f,m``."""
    if not isinstance(given, dict):
        return str(given)
    words = [f"{given['name']}={given['file']}" if "name" in given else given["file"]]
    for name, value in given.items():
        if name in ("name", "file"):
            continue
        spelt = spelling()["behind_files"][name]
        texts = map(str, value) if isinstance(value, list) else [str(value)]
        words.append(spelt if value is True else f"{spelt}={','.join(texts)}")
    return ":".join(words)


class _Errors(logging.Handler):
    """The error that ended a command, which it logs."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.error: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            self.error = record.exc_info[1]


@cache
def home() -> str:
    """A home for caches, one for all cases of this process."""
    folder = tempfile.mkdtemp(prefix="goldens-home-")
    own = os.getpid()  # a forked process must not take it from the one that made it
    atexit.register(lambda: os.getpid() == own and shutil.rmtree(folder, ignore_errors=True))
    return folder


def cache_of_libraries() -> str:
    """A folder that outlives the process, since the library of charts takes ten seconds to be bundled."""
    return str(Path(tempfile.gettempdir()) / f"goldens-cache-{os.getuid()}")


@contextmanager
def same_everywhere(folder: Path) -> Iterator[None]:
    """The folder as the current one, and an environment that is the same on every machine."""
    before, environment = Path.cwd(), dict(os.environ)
    for name in list(os.environ):
        if name.startswith(("EVENRANK_", "XDG_", "LC_")) or name.lower().endswith("_proxy"):
            del os.environ[name]
    os.environ |= {
        "HOME": home(), "XDG_CACHE_HOME": cache_of_libraries(), "TZ": "UTC", "LANG": "C.UTF-8",
        "TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "80", "LINES": "24", "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }  # fmt: skip
    time.tzset()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()


@contextmanager
def files_of_at_most(size: int | None) -> Iterator[None]:
    """No file grows beyond so many bytes: what a full disk does to a command."""
    if size is None:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def command(folder: Path, step: Sequence[Any], stdin: str = "", largest: int | None = None) -> Ended:
    """Run a command in this process, as ``python -m evenrank`` does."""
    from evenrank.cli import main  # the one place where the runner knows how commands are started

    streams = sys.stdin, sys.stdout, sys.stderr, sys.argv
    heard, log = _Errors(), logging.getLogger("evenrank")
    level = log.level
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with same_everywhere(folder), warnings.catch_warnings():
        warnings.simplefilter("default")
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        sys.stdout, sys.stderr, sys.argv = out, err, ["evenrank", *words_of(step, folder)]
        log.addHandler(heard)
        log.setLevel(logging.DEBUG)
        try:
            with files_of_at_most(largest):
                code = main()
        finally:
            log.removeHandler(heard)
            log.setLevel(level)
            sys.stdin, sys.stdout, sys.stderr, sys.argv = streams
            (folder / CASE).unlink(missing_ok=True)
    said = (stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err))  # type: ignore[attr-defined]
    return Ended(code, *said, heard.error)
