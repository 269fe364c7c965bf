"""What a project file may do that was found in the current folder and not named with ``--project``: read
regular files of its folder, and nothing else.

Whoever cloned a folder did not choose what its project file says. So every key and every text in it is asked
here, before anything that it names is opened: it may stand for no host, for no variable of the environment,
for no SQL, and for no path that leads out of the folder or to something that is no regular file. Options hide
paths (``NAME=FILE:key=value``), so each part of a text between such signs is looked at as a path too. What
cannot be told is refused.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenrank.errors import shortened
from evenrank.inputs.file_options import matching
from evenrank.io.toml import DEEPEST, parse_toml

MOST_PARTS = 400  # of a text; each is looked for in the folder by itself and together with its neighbours
ENCODERS = ("encoder", "teacher")  # their value is looked up on a hub where it is no folder
OF_ENGINES = {"sql": "is SQL", "credentials": "names variables of the environment"}
_SIGNS = r"[:=,?&+>|()'\"\[\]{}]"
_FORBIDDEN = {
    re.compile(pattern, re.IGNORECASE): why
    for pattern, why in {
        r"://|ir_datasets:": "has the address of a host",
        "EVENRANK_": "names a variable of the environment",
        r"[\\\x00-\x08\x0e-\x1f]": "has a backslash or a control character",
        r"\?[^?]*=": "has settings behind a question mark",
        r"(\*\*.*){3}|\*.*\.\.": "is a pattern that may not end: more than two **, or .. behind a *",
        rf"(^|{_SIGNS})\s*[/~]": "is a path that does not begin in the folder of the project",
        r"(^|=)\s*(-|<stdin>)\s*(:|$)": "is standard input",
    }.items()
}
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
# what the grammar of systems would read as one text
_JOINED = re.compile(r"\0(\s|#[^\n]*\n)*[a-z]{0,2}\0", re.IGNORECASE)
_PATTERN = re.compile(r"[*?\[]")


class Walk:
    """A walk through a project file and through the files of settings that it names."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._root = os.path.realpath(folder)
        self._seen: set[str] = set()  # folders and files of settings that were looked at

    def refusals(self, content: Mapping[str, Any]) -> list[str]:
        """The keys that such a file may not have, or not with this value, each with the reason."""
        return list(dict.fromkeys(self._through(content, (), self._folder)))

    def why_not(self, text: str, base: Path | None = None) -> str:
        """Why such a file may not name this; empty where it may."""
        for pattern, why in _FORBIDDEN.items():
            if pattern.search(text):
                return why
        if _JOINED.search(_QUOTED.sub("\0", text)):
            return "has two quoted texts that are read as one"
        if len(re.findall(_SIGNS, text)) > MOST_PARTS:
            return "has too many parts to look for all of them in the folder"
        paths = _paths(text, self._folder if base is None else base)
        return next(filter(None, map(self._leads_out, paths)), "")

    def _through(
        self, value: Any, place: tuple[str, ...], base: Path, *, of_engine: bool = False
    ) -> Iterator[str]:
        """``base`` is what paths are relative to; ``of_engine`` says that these are settings of an engine."""
        if isinstance(value, Mapping):
            for key, inner in value.items():
                here = (*place, key)
                if of_engine and key in OF_ENGINES:
                    yield _line(here, OF_ENGINES[key])
                elif key in ENCODERS and isinstance(inner, str) and not _is_local(inner, base):
                    yield _line(here, "is looked up on a hub, since there is no such folder")
                yield from self._asked(key, here, base)
                yield from self._through(inner, here, base, of_engine=of_engine or place == ("engines",))
        elif isinstance(value, (list, tuple)):
            for inner in value:
                yield from self._through(inner, place, base, of_engine=of_engine)
        elif isinstance(value, str):
            yield from self._asked(value, place, base)

    def _asked(self, text: str, place: tuple[str, ...], base: Path) -> Iterator[str]:
        why = self.why_not(text, base)
        if why:
            yield _line(place, why)
            return
        if len(place) > 2 * DEEPEST:
            yield _line(place[:1], "names files of settings that name others, and so on")
            return
        for path in _paths(text, base):
            if path.suffix == ".toml" and path.is_file() and os.path.realpath(path) not in self._seen:
                self._seen.add(os.path.realpath(path))
                settings = parse_toml(path.read_bytes(), str(path))
                yield from self._through(settings, (*place, path.name), path.parent, of_engine=True)

    def _leads_out(self, path: str | Path) -> str:
        """Why a path may not be used: a link in it leaves the folder, or it is no regular file."""
        real = os.path.realpath(path)
        if not Path(real).is_relative_to(self._root):
            return "leads out of the folder of the project"
        try:
            mode = Path(real).stat().st_mode
        except OSError:  # not there, or not to be read
            return ""
        if stat.S_ISDIR(mode):
            if real in self._seen:
                return ""
            self._seen.add(real)
            with os.scandir(real) as entries:
                return next(filter(None, (self._leads_out(entry.path) for entry in entries)), "")
        return "" if stat.S_ISREG(mode) else "is neither a regular file nor a folder"


def _line(place: tuple[str, ...], why: str) -> str:
    return f"{'.'.join(shortened(part) for part in place)}: {why}"


def _is_local(encoder: str, base: Path) -> bool:
    from evenrank.evidence.models import MINILM, WORDLLAMA

    return encoder in (MINILM, WORDLLAMA) or (base / encoder).is_dir()


def _paths(text: str, base: Path) -> Iterator[Path]:
    """What the text, its parts, and neighbouring parts together are as paths: those that are there, those
    below a folder that is there, and those that a pattern matches."""
    cuts = [-1, *(sign.start() for sign in re.finditer(_SIGNS, text)), len(text)]
    for first, begin in enumerate(cuts):
        for end in cuts[first + 1 :]:
            name = text[begin + 1 : end].strip()
            if not name or len(name) > 4096:  # the longest path of the usual systems
                continue
            path = base / name
            if _PATTERN.search(name):
                for pattern in (name, f"{name}*"):  # and the files beside those that match
                    yield from (base / found for found in matching(pattern, base))
            if os.path.lexists(path):
                yield path
                yield from _beside(path)
            elif "/" in name:
                yield path


def _beside(path: Path) -> Iterator[Path]:
    """Files that are read together with one: they have its name, and another suffix."""
    stem = path.name.partition(".")[0]
    if path.is_file() and stem:
        yield from (one for one in path.parent.iterdir() if one.name.startswith(f"{stem}."))
