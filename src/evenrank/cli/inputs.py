"""The files that a command names: what runs and columns are called, and lists of query ids."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evenrank.errors import DataError, ParameterError

STDIN = STDOUT = "-"
RUN_ROLES = ("query", "document", "score", "rank")
QRELS_ROLES = ("query", "document", "grade")
INTENT_ROLES = (*QRELS_ROLES, "intent")
DOCUMENT_ROLES = ("id", "text", "title")
ROLES = tuple(dict.fromkeys((*RUN_ROLES, *INTENT_ROLES)))
TEXT_ROLES = (*ROLES, "text", "title")


def check_stdin(paths: Sequence[str | None]) -> None:
    """Standard input can be read once."""
    if sum(path == STDIN for path in paths) > 1:
        raise ParameterError("standard input (-) can stand for one file only")


def can_be_read_twice(path: str) -> bool:
    """Not standard input, and not a pipe such as ``<(command)``: what was read of it is gone."""
    return path != STDIN and (not Path(path).exists() or Path(path).is_file())


def check_output(output: str | None, inputs: Sequence[str | None]) -> None:
    """What is read must not be what is written over, and a file called - could not be read again."""
    if output is None:
        return
    if output == STDIN:
        raise ParameterError("-: this cannot be written to standard output: give the name of a file")
    for path in inputs:
        if path is not None and path != STDIN and _same_file(output, path):
            raise ParameterError(f"{output}: is read here, and would be written over: choose another name")


def _same_file(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other) or Path(one).resolve() == Path(other).resolve()
    except (OSError, ValueError):  # one of them is not there
        return False


def columns_of(text: str, roles: Sequence[str] = ROLES) -> dict[str, str]:
    """``query=qid,score=sim`` as a mapping from role to column. The document may be called id as well.

    >>> columns_of("query=qid,score=sim")
    {'query': 'qid', 'score': 'sim'}
    """
    from evenrank.io.column_names import one_document_role

    named: dict[str, str] = {}
    for part in text.split(","):
        role, equals, column = part.partition("=")
        role, column = role.strip(), column.strip()
        if not (role and equals and column):
            raise argparse.ArgumentTypeError(f"must be ROLE=NAME,ROLE=NAME,..., got {text!r}")
        (role,) = one_document_role({role: column}, roles)
        if role not in roles:
            raise argparse.ArgumentTypeError(f"{role!r} is not a role: they are {', '.join(roles)}")
        if role in named:
            raise argparse.ArgumentTypeError(f"the {role} is named twice, in {text!r}")
        named[role] = column
    return named


def is_table(path: str | None, format: str | None) -> bool:
    from evenrank.io.source import guess_format

    return path is not None and (format or guess_format(path) or "trec") not in ("trec", "ntcir")


def table_columns(
    given: dict[str, str] | None, path: str, format: str | None, roles: Sequence[str]
) -> dict[str, str] | None:
    """Those of the ``given`` columns that a file of these roles has, None where it has no named columns."""
    if given is None or not is_table(path, format):
        return None
    return type(given)({role: column for role, column in given.items() if role in roles}) or None


def document_columns(given: dict[str, str] | None) -> dict[str, str] | None:
    """Those of the ``given`` columns that a collection has."""
    from evenrank.io.column_names import one_document_role

    given = given or {}
    named = one_document_role(given, DOCUMENT_ROLES)
    return type(given)({role: name for role, name in named.items() if role in DOCUMENT_ROLES}) or None


def run_names(paths: Sequence[str], given: Sequence[str]) -> list[str]:
    """A name for each run: those given, else file stems, with as much of the folder as tells them apart.

    >>> run_names(["a/bm25.trec", "b/bm25.trec", "dense.trec"], [])
    ['a/bm25', 'b/bm25', 'dense']
    """
    from evenrank.io.source import as_text

    if given:
        if len(given) != len(paths):
            raise ParameterError(
                f"--name must be given once for each run: {len(given)} names, {len(paths)} runs"
            )
        names = [as_text(name) for name in given]
        if not all(name.strip() for name in names):
            raise ParameterError("--name must not be empty")
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            raise ParameterError(f"two runs cannot both be named {repeated[0]!r}")
        return names
    twice = [path for path, count in Counter(_absolute(path) for path in paths).items() if count > 1]
    if twice:
        raise ParameterError(f"run {twice[0]} is given twice: leave it out once, or name both with --name")
    names = [_stem(path) for path in paths]
    deepest = max((len(Path(path).absolute().parts) for path in paths), default=0)
    for up in range(1, deepest + 1):  # one folder, then more of them, then the path with its suffix
        counts = Counter(names)
        names = [
            name if counts[name] == 1 else path if up == deepest else _with_folders(path, up)
            for path, name in zip(paths, names, strict=True)
        ]
    return [as_text(name) for name in names]


def _absolute(path: str) -> str:
    return path if path == STDIN else str(Path(path).absolute())


def _stem(path: str) -> str:
    from evenrank.io.source import as_source

    source = as_source(path)
    return "stdin" if source is None or source.stem is None else source.stem


def _with_folders(path: str, up: int) -> str:
    folders = Path(path).absolute().parent.parts[1:]
    return _stem(path) if path == STDIN else "/".join([*folders[-up:], _stem(path)])


def read_ids(path: str, what: str = "query") -> list[str]:
    """One id a line: what stands before the first tab. Blank lines and # comments are skipped."""
    from evenrank.errors import Problem
    from evenrank.io.source import as_source

    source = as_source(path)
    content = b"" if source is None else b"".join(source.blocks())
    name = path if source is None else source.name
    ids: list[str] = []
    problems: list[Problem] = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            text = line.decode()
        except UnicodeDecodeError:
            problems.append(Problem(number, "is not UTF-8"))
            continue
        if not text.strip() or text.startswith("#"):
            continue
        identifier = text.partition("\t")[0].strip()
        if identifier:
            ids.append(identifier)
        else:
            problems.append(Problem(number, f"there is no {what} id before the tab"))
    if problems:
        raise DataError.listing(name, problems)
    if not ids:
        raise DataError(f"{name}: holds no {what} id")
    return ids
