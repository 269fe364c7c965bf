"""Files as people name them: ``NAME=FILE:key=value:flag``, the same form for every kind of input."""

from __future__ import annotations

import difflib
import fnmatch
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evenrank.errors import ParameterError, nearest_hint

STDIN = "-"
STDIN_NAME = "<stdin>"  # the same where a word must not begin with a minus sign
_WILD = re.compile(r"[*?\[]")


def run_formats() -> Sequence[str]:
    """Looked up when a format is named: the formats load Arrow, which a command line does not need."""
    from evenrank.io.source import format_names

    return format_names()


def qrels_formats() -> Sequence[str]:
    return (*run_formats(), "ntcir")


def document_formats() -> Sequence[str]:
    from evenrank.io.document_formats import document_format_names

    return document_format_names()


TIES = ("trec", "file")


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
    """A file, what it is called, and how to read it."""

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
    """Which options may stand behind a file, and whether a name may or must stand before it."""

    what: str  # for messages: "a run", "judgements"
    keys: Sequence[str] = ()
    flags: Sequence[str] = ()
    numbers: Sequence[str] = ()  # keys whose value is an integer above 0
    choices: Mapping[str, Sequence[str] | Callable[[], Sequence[str]]] = field(default_factory=dict)
    named: bool = False
    must_be_named: bool = False

    def parse(self, text: str) -> FileOption:
        """
        >>> RUN.parse("bm25=runs/bm25.txt:format=csv:ties=file")
        FileOption(path='runs/bm25.txt', name='bm25', options={'format': 'csv', 'ties': 'file'})
        >>> RUN.parse("2024:06.trec").path
        '2024:06.trec'
        """
        parts = text.split(":")
        options: dict[str, Any] = {}
        while len(parts) > 1 and self._is_option(parts[-1]):
            key, equals, value = parts.pop().partition("=")
            if key in options:
                raise ParameterError(f"{key} is given twice in {text!r}")
            options[key] = self._value(key, value, text) if equals else True
        name, path = self._split(":".join(parts))
        self._check_misspelt(parts, path, text)
        if not path or (self.must_be_named and name is None):
            raise ParameterError(f"{self.what} must be {self.form}, got {text!r}")
        path = STDIN if path == STDIN_NAME else path
        return FileOption(path, name, dict(reversed(options.items())))

    def _check_misspelt(self, parts: Sequence[str], path: str, text: str) -> None:
        """``bm25.trec:clas=dense`` would be a file called dense, under a name with a colon."""
        key, equals, _ = parts[-1].partition("=")
        known = [*self._keys, *self.flags]
        if len(parts) < 2 or not (equals and key.isidentifier() and known) or Path(path).exists():
            return
        before = self._split(":".join(parts[:-1]))[1]
        if Path(before).is_file() or difflib.get_close_matches(key, known, 1, 0.75):
            raise ParameterError(f"{key} is no option of {self.what} in {text!r}{nearest_hint(key, known)}")

    @property
    def form(self) -> str:
        known = [*self.flags, *(f"{key}=.." for key in self._keys)]
        return ("NAME=FILE" if self.named else "FILE") + "".join(f"[:{option}]" for option in known)

    @property
    def _keys(self) -> list[str]:
        return list(dict.fromkeys([*self.keys, *self.numbers, *self.choices]))

    def _is_option(self, part: str) -> bool:
        key, equals, _ = part.partition("=")
        return key in self._keys if equals else part in self.flags

    def _value(self, key: str, value: str, text: str) -> Any:
        if key in self.numbers:
            if not (value.isascii() and value.isdigit() and int(value) > 0):
                raise ParameterError(f"{key} must be an integer > 0, got {value!r} in {text!r}")
            return int(value)
        allowed = self.choices.get(key, (value,))
        allowed = allowed() if callable(allowed) else allowed
        if value not in allowed:
            known = ", ".join(allowed)
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


RUN = FileForm(
    "a run",
    keys=("class", "system"),  # what audit tables call it by
    choices={"format": run_formats, "ties": TIES},
    named=True,
)
AGAINST = FileForm("a run", choices={"format": run_formats, "ties": TIES})
QRELS = FileForm(
    "a file of judgements",
    keys=("eta", "step", "probabilities"),
    flags=("intents", "clicks", "ratings"),
    choices={"format": qrels_formats},
)
BACKGROUND = FileForm("a background", numbers=("depth",), choices={"format": run_formats, "ties": TIES})
POLARITY = FileForm("a polarity file", keys=("positive", "negative", "neutral", "column", "format"))
DOCUMENTS = FileForm("a collection", choices={"format": document_formats})
TABLE = FileForm("a table of numbers", named=True, must_be_named=True)
SCORES = FileForm("a file of scores", named=True)
