"""Lexicons: those that come with the package, files of words, and word lists."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from evenrank.data.lexicon import Lexicon
from evenrank.errors import (
    InputTypeError,
    ParameterError,
    UnknownNameError,
)
from evenrank.io.atomic import atomic_write
from evenrank.io.cells import quoted
from evenrank.io.lexicon_files import (
    LexiconRows,
    Repeat,
    lexicon_from_csv,
    lexicon_from_json,
    lexicon_from_object,
    lexicon_from_table,
)
from evenrank.io.source import Source, as_source, guess_format
from evenrank.io.table_files import decoded
from evenrank.io.tables import as_table

SHIPPED = ("gender-en", "gender-en-names", "gender-de", "religion-en", "region-en")

_COLUMNS = ("word", "group", "partner")
_ACCEPTED = (
    f"the name of one that comes with the package ({', '.join(SHIPPED)}, or several joined by '+'), "
    "a path to a CSV or JSON file, an open file, a pandas, polars or Arrow table, or a dict {group: words}"
)


def read_lexicon(source: object, *, name: str | None = None) -> Lexicon:
    """The lexicon that ``source`` stands for.

    ``source`` is a name that comes with the package, names joined by ``+``, a CSV or JSON file, a table of
    pandas, polars or Arrow, or a dict ``{group: words}``. A CSV file or a table has the columns ``word``,
    ``group`` and, if wanted, ``partner``; a file without a header line has two, word and group. A partner may
    be given on one side only. With a column ``weight`` instead, a word may come once for each group, by
    degrees; in a dict that is ``{group: {word: weight}}``.

    >>> read_lexicon({"female": ["she", "woman"], "male": ["he", "man"]}, name="tiny")
    <Lexicon 'tiny': 2 groups, 4 terms>
    >>> read_lexicon("gender-en").groups
    ('female', 'male')
    """
    lexicon = _read(source, name)
    return lexicon if name is None else replace(lexicon, name=name)


def read_lexicon_with_repeats(source: str) -> tuple[Lexicon, list[Repeat]]:
    """A lexicon whose file may have words several times, and these words; the first of each counts.

    Everything else that is wrong is an error, as for ``read_lexicon``.
    """
    repeats: list[Repeat] = []
    file = as_source(source) if source not in SHIPPED and source != "-" and _exists(source) else None
    return (read_lexicon(source) if file is None else _from_file(file, repeats)), repeats


def write_lexicon(lexicon: Lexicon, path: str | os.PathLike[str]) -> None:
    """Write CSV or JSON, whichever the name of the file says. CSV has no place for targets."""
    target = Path(path)
    suffixes = [suffix.lower() for suffix in target.suffixes if suffix.lower() not in (".gz", ".zst")]
    kind = suffixes[-1] if suffixes else ""
    if kind not in (".csv", ".json"):
        raise ParameterError(f"{path}: a lexicon is written as .csv or .json")
    text = _as_csv(lexicon, target) if kind == ".csv" else _as_json(lexicon)
    with atomic_write(path) as file:
        file.write(text.encode())


def lexicon_from_lists(name: str, lists: Mapping[str, object]) -> Lexicon:
    """From a file of words for each group, one term a line; blank lines and ``#`` lines do not count."""
    gathered = LexiconRows()
    for group, value in lists.items():
        source = as_source(value)
        if source is None:
            raise InputTypeError(f"a word list is a path or an open file, got {type(value).__name__}")
        text = _text(source)
        before = len(gathered)
        for number, line in enumerate(text.split("\n"), 1):
            word = line.strip()
            if word and not word.startswith("#"):
                gathered.add(source.name, number, word, group)
        if len(gathered) == before:
            gathered.problem(source.name, None, f"no words (of group {quoted(group)})")
    gathered.check()
    return Lexicon.build(name, gathered.words())


def _read(source: object, name: str | None) -> Lexicon:
    if isinstance(source, Lexicon):
        return source
    if isinstance(source, str):
        parts = source.split("+")
        if all(part in SHIPPED for part in parts):
            return _joined(parts, _shipped)
        if len(parts) > 1 and not _exists(source) and all(p in SHIPPED or _exists(p) for p in parts):
            return _joined(parts, read_lexicon)
        if source != "-" and not _exists(source):
            raise UnknownNameError(
                f"{quoted(source)} is neither a lexicon nor a file: there is no such file, and the lexicons "
                f"that come with the package are {', '.join(SHIPPED)} (several are joined by '+')"
            )
    if isinstance(source, Mapping):
        return lexicon_from_object(source, name or "lexicon", f"lexicon {name!r}" if name else "lexicon")
    table = as_table(source)
    if table is not None:
        return lexicon_from_table(table, name or "lexicon")
    found = as_source(source)
    if found is None:
        raise InputTypeError(f"a lexicon is read from {_ACCEPTED}; got {type(source).__name__}")
    return _from_file(found)


def _shipped(name: str) -> Lexicon:
    text = files("evenrank.lexicons").joinpath(f"{name}.csv").read_text("utf-8")
    return lexicon_from_csv(text, f"{name}.csv", name)


def _joined(names: list[str], read: Callable[[str], Lexicon]) -> Lexicon:
    if len(set(names)) < len(names):
        raise ParameterError(f"{'+'.join(names)}: a lexicon is joined to itself")
    joined, *others = map(read, names)
    for other in others:
        joined = joined.joined(other)
    return joined


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # longer than a name may be, or with a NUL inside
        return False


def _from_file(source: Source, repeats: list[Repeat] | None = None) -> Lexicon:
    stem = source.stem or "lexicon"
    text = _text(source)
    if stem.lower().endswith(".json"):
        return lexicon_from_json(text, source.name, stem[: -len(".json")], repeats)
    if text.lstrip().startswith("{"):  # no word begins so: a name without a suffix tells nothing
        return lexicon_from_json(text, source.name, stem, repeats)
    tabs = guess_format(source.path or source.name) == "tsv"
    return lexicon_from_csv(text, source.name, stem, delimiter="\t" if tabs else ",", repeats=repeats)


def _text(source: Source) -> str:
    return decoded(source.content().without_bom(source.name), source.name)


def _as_csv(lexicon: Lexicon, path: Path) -> str:
    if lexicon.targets != (1 / len(lexicon.groups),) * len(lexicon.groups):
        raise ParameterError(f"{path}: CSV has no place for the targets of {lexicon!r}: write .json")
    odd = [group for group in lexicon.groups if not group or group != group.strip()]
    if odd:
        raise ParameterError(f"{path}: CSV cannot hold the group {odd[0]!r} as it is: write .json")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if lexicon.weights is not None:
        if lexicon.partners:
            raise ParameterError(f"{path}: CSV cannot hold both weights and partners: write .json")
        writer.writerow(("word", "group", "weight"))
        for group, own in lexicon.to_weights().items():
            writer.writerows((term, group, repr(weight)) for term, weight in own.items())
        return text.getvalue()
    columns = _COLUMNS if lexicon.partners else _COLUMNS[:2]
    writer.writerow(columns)
    for term, code in zip(lexicon.terms, lexicon.term_groups, strict=True):
        row = [term, lexicon.groups[code], lexicon.partners.get(term, "")]
        writer.writerow(row[: len(columns)])
    return text.getvalue()


def _as_json(lexicon: Lexicon) -> str:
    value: dict[str, Any] = {
        "name": lexicon.name,
        "groups": lexicon.to_dict() if lexicon.weights is None else lexicon.to_weights(),
        "targets": dict(zip(lexicon.groups, lexicon.targets, strict=True)),
    }
    if lexicon.partners:
        value["partners"] = dict(lexicon.partners)
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
