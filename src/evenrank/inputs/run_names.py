"""What runs are called: as they are named, else after their files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evenrank.errors import ParameterError
from evenrank.inputs.file_options import STDIN, FileOption
from evenrank.io.source import as_source, as_text


def run_names(files: Sequence[FileOption]) -> list[str]:
    """The given names; for the others file stems, with as much of the folder as tells them apart.

    >>> run_names([FileOption("a/bm25.trec"), FileOption("b/bm25.trec"), FileOption("c.trec", "dense")])
    ['a/bm25', 'b/bm25', 'dense']
    """
    unnamed = [file.path for file in files if file.name is None]
    twice = [path for path, count in Counter(map(_absolute, unnamed)).items() if count > 1]
    if twice:
        raise ParameterError(
            f"run {twice[0]} is given twice: leave one out, or name both, as first={unnamed[0]}"
        )
    stems = dict(zip(unnamed, _stems(unnamed), strict=True))
    names = [as_text(stems[file.path] if file.name is None else file.name) for file in files]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ParameterError(f"two runs cannot both be named {repeated[0]!r}")
    return names


def _stems(paths: Sequence[str]) -> list[str]:
    names = [_stem(path) for path in paths]
    deepest = max((len(Path(path).absolute().parts) for path in paths), default=0)
    for up in range(1, deepest + 1):  # one folder, then more of them, then the path with its suffix
        counts = Counter(names)
        names = [
            name if counts[name] == 1 else path if up == deepest else _with_folders(path, up)
            for path, name in zip(paths, names, strict=True)
        ]
    return names


def _absolute(path: str) -> str:
    return path if path == STDIN else str(Path(path).absolute())


def _stem(path: str) -> str:
    source = as_source(path)
    return "stdin" if source is None or source.stem is None else source.stem


def _with_folders(path: str, up: int) -> str:
    folders = Path(path).absolute().parent.parts[1:]
    return _stem(path) if path == STDIN else "/".join([*folders[-up:], _stem(path)])
