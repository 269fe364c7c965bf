"""Lexicons: those that come with the package, tables and files of words, and word lists."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from evenrank.data.lexicon import Lexicon, lower
from evenrank.errors import (
    DataError,
    DataErrors,
    InputTypeError,
    ParameterError,
    Problem,
    UnknownNameError,
    shortened,
)
from evenrank.io.atomic import atomic_write
from evenrank.io.cells import BadValue, is_missing, is_number, quoted
from evenrank.io.column_names import candidates
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source, as_source, guess_format
from evenrank.io.table_files import NamedTable, decoded, delimited_rows, open_table
from evenrank.io.tables import Role, as_table, column_of_roles

SHIPPED = ("gender-en", "gender-en-names", "gender-de", "religion-en", "region-en")
ROLES = (
    Role("word"),
    Role("group", called="word group"),
    Role("partner", optional=True),
    Role("weight", called="degree", optional=True),
)

_COLUMNS = tuple(role.name for role in ROLES)
_KEYS = ("name", "groups", "targets", "partners")
_ACCEPTED = (
    f"the name of one that comes with the package ({', '.join(SHIPPED)}, or several joined by '+'), "
    "a path to a CSV or JSON file, an open file, a pandas, polars or Arrow table, or a dict {group: words}"
)


class Repeat(NamedTuple):
    """A word that a file has again, in the same group or in another; the first one counts."""

    word: str
    group: str
    what: str


def read_lexicon(source: object, *, name: str | None = None) -> Lexicon:
    """The lexicon that ``source`` stands for.

    ``source`` is a name that comes with the package, names joined by ``+``, a file (CSV, TSV, JSON lines,
    Parquet or one JSON object), a table of pandas, polars or Arrow, or a dict ``{group: words}``. A table has
    the columns ``word``, ``group`` and, if wanted, ``partner``; CSV and TSV without a header line have two,
    word and group. A partner may be given on one side only. With a column ``weight`` instead, a word may come
    once for each group, by degrees; in a dict that is ``{group: {word: weight}}``.

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
    words, errors = _Words(), DataErrors()
    for group, value in lists.items():
        source = as_source(value)
        if source is None:
            raise InputTypeError(f"a word list is a path or an open file, got {type(value).__name__}")
        lines = [line.strip() for line in _text(source).split("\n")]
        report = RowProblems(source.name, lines=range(1, len(lines) + 1))
        listed = [row for row, word in enumerate(lines) if word and not word.startswith("#")]
        for row in listed:
            words.add(report, row, lines[row], group)
        if not listed:
            errors.add(DataError(f"{source.name}: no words (of group {quoted(group)})"))
        elif report.found:
            errors.add(report.error())
    errors.check()
    return words.lexicon(name)


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
        return _of_object(source, name or "lexicon", f"lexicon {name!r}" if name else "lexicon")
    table = as_table(source, name or "lexicon")
    if table is not None:
        return _of_table(table, name or "lexicon")
    found = as_source(source)
    if found is None:
        raise InputTypeError(f"a lexicon is read from {_ACCEPTED}; got {type(source).__name__}")
    return _from_file(found)


def _shipped(name: str) -> Lexicon:
    text = files("evenrank.lexicons").joinpath(f"{name}.csv").read_text("utf-8")
    return _of_table(_table_of_words(text, f"{name}.csv", ","), name)


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
    stem, format = source.stem or "lexicon", guess_format(source.path or source.name)
    if format in ("jsonl", "parquet"):
        return _of_table(open_table(source, format, "words"), stem, repeats)
    text = _text(source)
    if stem.lower().endswith(".json"):
        return _of_json(text, source.name, stem[: -len(".json")], repeats)
    if text.lstrip().startswith("{"):  # no word begins so: a name without a suffix tells nothing
        return _of_json(text, source.name, stem, repeats)
    return _of_table(_table_of_words(text, source.name, "\t" if format == "tsv" else ","), stem, repeats)


def _text(source: Source) -> str:
    return decoded(source.content(), source.name)


def _table_of_words(text: str, name: str, delimiter: str) -> NamedTable:
    """The table in a text. Two columns need no header line: they are the words and their groups."""
    rows = delimited_rows(text, delimiter, quotes=True)
    names = rows.header or list(_COLUMNS[:2])
    first = text[: len(text) - len(text.lstrip())].count("\n") + 1
    if len(names) == 2 and not candidates(names, "word"):
        rows.cells.insert(0, names)
        rows.lines.insert(0, first)
        names = list(_COLUMNS[:2])
    elif not all(candidates(names, role) for role in ("word", "word group")):
        what = (
            "the columns must be word, group and, if wanted, partner or weight (two columns need no header "
            f"line); the first row is {quoted(', '.join(names))}"
        )
        raise DataError.listing(name, [Problem(first, what)])
    report = RowProblems(name, lines=rows.lines, broken=rows.broken)
    return NamedTable(names, lambda column: [row[names.index(column)] for row in rows.cells], report=report)


def _of_table(table: NamedTable, name: str, repeats: list[Repeat] | None = None) -> Lexicon:
    """A row a word; one a word and group where they have weights."""
    chosen = column_of_roles(table, ROLES, None)
    if {"partner", "weight"} <= set(chosen):
        what = "a lexicon in a table has partners or weights, not both: write JSON"
        raise DataError(f"{table.name}: {what}")
    words = _Words(repeats)
    columns = [_texts(table.column(column)) for column in chosen.values()]
    for row, cells in enumerate(zip(*columns, strict=True)):
        words.add(table.report, row, **dict(zip(chosen, cells, strict=True)))
    words.check_partners()
    table.report.check()
    if len(words.groups) < 2:
        found = (
            f"all words are of group {quoted(next(iter(words.groups)))}"
            if words.groups
            else "there are no words"
        )
        raise DataError(f"{table.name}: a share needs at least two groups, but {found}")
    return words.lexicon(name)


def _texts(cells: Any) -> list[str]:
    listed = cells.to_pylist() if hasattr(cells, "to_pylist") else cells
    return ["" if is_missing(cell) else str(cell).strip() for cell in listed]


class _Words:
    """Words as they come, and where each came first; what is wrong goes into the report that comes with it.

    With ``repeats`` a word that comes again is put there, and is no problem.
    """

    def __init__(self, repeats: list[Repeat] | None = None) -> None:
        self._repeats = repeats
        self._first: dict[str, tuple[str, RowProblems, int]] = {}  # the group and the place of each term
        self._partners: dict[str, str] = {}
        self.groups: dict[str, dict[str, float]] = {}  # the weight of each term
        self._weighted = False

    def add(
        self,
        report: RowProblems,
        row: int,
        word: str,
        group: str,
        partner: str = "",
        weight: str | None = None,
    ) -> None:
        """A word may come once for each group where it has weights, and once where it has none."""
        term, own = lower(word), self.groups.get(group, {})
        degree = 1.0 if weight is None else float(weight) if is_number(weight) else math.nan
        before = self._first.get(term)
        if not term:
            report.add(row, "the word is empty")
        elif not group:
            report.add(row, f"{quoted(word)} has no group")
        elif term != " ".join(term.split()):
            report.add(row, f"{quoted(word)}: the words of a term are separated by one blank")
        elif not 0 < degree <= 1:
            shown = f"the weight of {quoted(word)} must be above 0 and at most 1, got {quoted(weight or '')}"
            report.add(row, shown)
        elif before is not None and (term in own or weight is None):
            self._again(report, row, word, group, before)
        else:
            self._weighted = weight is not None
            self.groups.setdefault(group, own)[term] = degree
            self._first.setdefault(term, (group, report, row))
            if partner:
                self._partners[term] = lower(partner)

    def _again(
        self, report: RowProblems, row: int, word: str, group: str, first: tuple[str, RowProblems, int]
    ) -> None:
        owner, there, place = first
        where = ""
        if there.lines is not None:
            line = there.line(place)
            where = f"line {line}" if there is report else f"{there.source}:{line}"
        if lower(word) in self.groups.get(group, {}):
            how = "; ".join(filter(None, (where, "case does not count")))
            what = f"{quoted(word)} is twice in group {quoted(group)} ({how})"
        else:
            what = (
                f"{quoted(word)} is in group {quoted(owner)}{where and f' ({where})'} and in {quoted(group)}"
            )
        if self._repeats is None:
            report.add(row, what)
        else:
            source = report.source if report.lines is None else f"{report.source}:{report.line(row)}"
            self._repeats.append(Repeat(lower(word), group, f"{source}: {what}"))

    def check_partners(self) -> None:
        pairs = _mirrored(self._partners)
        for term, partner in self._partners.items():
            group, report, row = self._first[term]
            if partner not in self._first:
                what = f"the partner of {quoted(term)}, {quoted(partner)}, is not a word of the lexicon"
            elif self._first[partner][0] == group:
                what = f"{quoted(term)} and its partner {quoted(partner)} are in the same group"
            elif pairs[partner] != term:
                other = quoted(pairs[partner])
                what = f"the partner of {quoted(term)} is {quoted(partner)}, whose partner is {other}"
            else:
                continue
            report.add(row, what)

    def lexicon(self, name: str) -> Lexicon:
        words: Mapping[str, Any] = self.groups
        if not self._weighted:
            words = {group: list(own) for group, own in self.groups.items()}
        return Lexicon.build(name, words, partners=_mirrored(self._partners))


def _mirrored(pairs: Mapping[str, str]) -> dict[str, str]:
    """Both directions of each pair; what is given both ways stays as it was given."""
    both = {lower(term): lower(partner) for term, partner in pairs.items()}
    for term, partner in list(both.items()):
        both.setdefault(partner, term)
    return both


def _of_json(text: str, source: str, name: str, repeats: list[Repeat] | None = None) -> Lexicon:
    try:
        value = json.loads(text, object_pairs_hook=_no_key_twice)
    except json.JSONDecodeError as error:
        raise DataError.listing(source, [Problem(error.lineno, f"not JSON: {error.msg}")]) from error
    except (BadValue, RecursionError) as error:
        raise DataError(f"{source}: {error}") from error
    if not isinstance(value, dict):
        raise DataError(f'{source}: expected an object {{"groups": {{group: [words]}}}}')
    return _of_object(value, name, source, repeats)


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in keys if names.count(key) > 1)
        raise BadValue(f"the key {quoted(twice)} is there twice")
    return keys


def _of_object(
    value: Mapping[Any, Any], name: str, source: str, repeats: list[Repeat] | None = None
) -> Lexicon:
    """From ``{group: words}``, or with that under ``groups``, beside ``name``, ``targets``, ``partners``.

    The words of a group are a list, or ``{word: weight}``.
    """
    targets = partners = None
    groups: Mapping[Any, Any] = value
    if isinstance(value.get("groups"), Mapping):
        unknown = [str(key) for key in value if key not in _KEYS]
        if unknown:
            raise DataError(f"{source}: unknown key {quoted(unknown[0])}; known are {', '.join(_KEYS)}")
        groups, targets, partners = value["groups"], value.get("targets"), value.get("partners")
        name = _checked_name(value.get("name", name), source)
    words = {
        _checked_name(group, source): _checked_words(words, group, source) for group, words in groups.items()
    }
    if repeats is not None and not any(isinstance(own, Mapping) for own in words.values()):
        kept, report = _Words(repeats), RowProblems(source)
        for group, word in ((group, word) for group, own in words.items() for word in own):
            kept.add(report, 0, word, group)
        report.check()
        words = {group: list(kept.groups.get(group, {})) for group in words}
    if targets is not None:
        _check_values(targets, "targets", "a number for each group", (int, float), source)
    if partners is not None:
        _check_values(partners, "partners", "a word for each word", (str,), source)
        partners = _mirrored(partners)
    try:
        return Lexicon.build(name, words, targets=targets, partners=partners)
    except (DataError, ParameterError) as error:
        # Lexicon.build calls the lexicon by its name, the user knows the file
        said = str(error).replace(f"lexicon {name!r}: ", f"{source}: ")
        raise DataError(said) from error


def _checked_name(value: object, source: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{source}: a name must be text, got {shortened(repr(value))}")
    return value


def _checked_words(words: object, group: str, source: str) -> list[str] | dict[str, float]:
    if isinstance(words, Mapping):
        _check_values(words, f"group {quoted(group)}", "a weight for each word", (int, float), source)
        return dict(words)
    # a string is a list of letters to Python, and never meant as one here
    if isinstance(words, (str, bytes)) or not isinstance(words, Iterable):
        raise DataError(
            f"{source}: the words of group {quoted(group)} must be a list, got {shortened(repr(words))}"
        )
    found = list(words)
    for word in found:
        if not isinstance(word, str):
            raise DataError(
                f"{source}: group {quoted(group)} holds {shortened(repr(word))}, which is not text"
            )
    return found


def _check_values(value: object, key: str, wanted: str, types: tuple[type, ...], source: str) -> None:
    items = value.items() if isinstance(value, Mapping) else [(None, None)]
    for name, item in items:
        if not isinstance(name, str) or not isinstance(item, types) or isinstance(item, bool):
            raise DataError(f"{source}: {key} must give {wanted}, got {shortened(repr(value))}")


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
    columns = _COLUMNS[: 3 if lexicon.partners else 2]
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
