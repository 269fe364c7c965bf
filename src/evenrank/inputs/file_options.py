"""Files as people name them: ``NAME=FILE`` in the shell, a file and how it is read in a project file."""

from __future__ import annotations

import difflib
import fnmatch
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evenrank.errors import ParameterError, nearest_hint

STDIN = "-"
STDIN_NAME = "<stdin>"  # the same where a word must not begin with a minus sign
_WILD = re.compile(r"[*?\[]")
_KINDS = ("clicks", "ratings")  # of judgements, which have a word for them
_NUMBERS = ("eta", "step", "depth")  # keys of tables whose value is a number


def matching(pattern: str, folder: Path) -> list[str]:
    """What a pattern such as ``runs/*.trec`` stands for, as seen from the folder. ``**`` is any depth of
    folders; no wildcard goes through a link to a folder, where it might go round in circles."""
    start, parts = Path(folder, Path(pattern).anchor), Path(pattern).parts
    found = _expanded(start, [part for part in parts if part != Path(pattern).anchor])
    return sorted({str(path) if Path(pattern).anchor else os.path.relpath(path, folder) for path in found})


def _expanded(folder: Path, parts: Sequence[str]) -> Iterator[Path]:
    if not parts:
        yield folder
        return
    first, rest = parts[0], parts[1:]
    if not _WILD.search(first):
        if os.path.lexists(folder / first):
            yield from _expanded(folder / first, rest)
        return
    if first == "**":
        yield from _expanded(folder, rest or ["*"])
    for entry in _entries(folder):
        is_folder = entry.is_dir(follow_symlinks=False)
        if first == "**" and is_folder:
            yield from _expanded(folder / entry.name, parts)
        elif first != "**" and fnmatch.fnmatch(entry.name, first) and (is_folder or not rest):
            yield from _expanded(folder / entry.name, rest)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What lies in a folder and is not hidden; nothing where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except OSError:
        return []


@dataclass(frozen=True)
class FileOption:
    """A file, what it is called, and how it is read: keywords of the function that reads it."""

    path: str
    name: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def get(self, key: str) -> Any:
        return self.options.get(key)

    def seen_from(self, folder: Path) -> FileOption:
        """The same file, its path read as relative to ``folder``."""
        if self.path == STDIN or "://" in self.path:
            return self
        return replace(self, path=str(folder / self.path))


@dataclass(frozen=True)
class FileForm:
    """Whether a name may or must stand before a file, and the few keys that may stand behind it."""

    what: str  # for messages: "a run", "judgements"
    table: str | None = None  # of the project file, which says how such a file is read
    keys: Sequence[str] = ()
    numbers: Sequence[str] = ()  # keys whose value is an integer above 0
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    named: bool = False
    must_be_named: bool = False

    def parse(self, text: str) -> FileOption:
        """
        >>> RUN.parse("bm25=runs/bm25.txt")
        FileOption(path='runs/bm25.txt', name='bm25', options={})
        >>> BACKGROUND.parse("2024:06.trec:depth=50")
        FileOption(path='2024:06.trec', name=None, options={'depth': 50})
        """
        parts = text.split(":")
        options: dict[str, Any] = {}
        while len(parts) > 1 and (key := parts[-1].partition("="))[0] in self._keys and key[1]:
            if key[0] in options:
                raise ParameterError(f"{key[0]} is given twice in {text!r}")
            options[key[0]] = self._value(key[0], key[2], text)
            parts.pop()
        name, path = self._split(":".join(parts))
        self._check_misspelt(parts, path, text)
        check_how(path if name is None or Path(path).exists() or ":" in path else text, self.table)
        if not path or (self.must_be_named and name is None):
            raise ParameterError(f"{self.what} must be {self.form}, got {text!r}")
        path = STDIN if path == STDIN_NAME else path
        return FileOption(path, name, dict(reversed(options.items())))

    def _check_misspelt(self, parts: Sequence[str], path: str, text: str) -> None:
        """``models/base:bach=8`` would be a folder of that name."""
        key, equals, _ = parts[-1].partition("=")
        if len(parts) < 2 or not (equals and key.isidentifier() and self._keys) or Path(path).exists():
            return
        before = self._split(":".join(parts[:-1]))[1]
        if Path(before).exists() or difflib.get_close_matches(key, self._keys, 1, 0.75):
            hint = nearest_hint(key, self._keys)
            raise ParameterError(f"{key} is no option of {self.what} in {text!r}{hint}")

    @property
    def form(self) -> str:
        return ("NAME=FILE" if self.named else "FILE") + "".join(f"[:{key}=..]" for key in self._keys)

    @property
    def _keys(self) -> list[str]:
        return list(dict.fromkeys([*self.keys, *self.numbers, *self.choices]))

    def _value(self, key: str, value: str, text: str) -> Any:
        if key in self.numbers:
            if not (value.isascii() and value.isdigit() and int(value) > 0):
                raise ParameterError(f"{key} must be an integer > 0, got {value!r} in {text!r}")
            return int(value)
        if value not in self.choices.get(key, (value,)):
            known = ", ".join(self.choices[key])
            raise ParameterError(f"{key} must be one of {known}, got {value!r} in {text!r}")
        if not value.strip():
            raise ParameterError(f"{key}= names nothing in {text!r}")
        return value

    def _split(self, text: str) -> tuple[str | None, str]:
        """The name and the path; a file whose own name has an equals sign is one where it exists."""
        name, equals, path = text.partition("=")
        if not (self.named and equals and path and name.strip()) or "/" in name or Path(text).exists():
            return None, text
        return name.strip(), path


def check_how(given: str, table: str | None, folder: Path = Path()) -> None:
    """Say where the options of a file are said, to whoever writes them behind its name; ``table`` is that of
    the project file, whose ``folder`` the name is seen from."""
    file, colon, how = given.partition(":")
    if not colon or not (folder / file).is_file() or (folder / given).exists():
        return
    options = [part.partition("=") for part in how.split(":")]
    cure = f"{file} is, and {how!r} behind it says nothing of how it is read"
    if options[0][0] == "intents" and table in (QRELS.table, INTENTS.table):
        cure = f"judgements by intent are given as --intents {file}, or as intents in [data]"
    elif table is not None and all((equals and value) or key in _KINDS for key, equals, value in options):
        said = [_toml("file", file)]
        said += [_toml(key, value) if equals else _toml("kind", key) for key, equals, value in options]
        cure = f"how {file} is read is said in the project file, in the table [{table}]: {', '.join(said)}"
    raise ParameterError(f"{given}: there is no such file: {cure}")


def _toml(key: str, value: str) -> str:
    return f"{key} = {value if key in _NUMBERS else json.dumps(value, ensure_ascii=False)}"


RUN = FileForm("a run", table="data.runs.NAME", named=True)
QRELS = FileForm("a file of judgements", table="data.qrels")
INTENTS = FileForm("a file of judgements", table="data.intents")
POLARITY = FileForm("a file of polarity", table="data.polarity")
AGAINST = FileForm("a run")
BACKGROUND = FileForm("a background", table="data.background", numbers=("depth",))
DOCUMENTS = FileForm("a collection", table="data.documents")
QUERIES = FileForm("a file of queries")
SCANNED = replace(DOCUMENTS, choices={"format": ("jsonl", "csv", "tsv", "parquet", "warc")})
TABLE = FileForm("a table of numbers", table="data.tables.NAME", named=True, must_be_named=True)
SCORES = FileForm("a file of scores", named=True)
