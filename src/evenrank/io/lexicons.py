"""Lexicons: those that come with the package, tables and files of words, and word lists."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from evenrank.data.lexicon import Lexicon, lower
from evenrank.errors import DataError, InputTypeError, ParameterError, Problem, UnknownNameError, shortened
from evenrank.io.atomic import atomic_write
from evenrank.io.cells import is_missing, is_number, listed_cells, quoted
from evenrank.io.column_names import candidates
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source, as_source, guess_format
from evenrank.io.table_files import NamedTable, decoded, delimited_rows, open_table
from evenrank.io.tables import Role, column_of_roles, the_table

SHIPPED = ("gender-en", "gender-en-names", "gender-de", "religion-en", "region-en")
ROLES = (
    Role("word"),
    Role("group", called="word group"),
    Role("partner", optional=True),
    Role("weight", called="degree", optional=True),
)

_COLUMNS = tuple(role.name for role in ROLES)
_KEYS = ("name", "groups", "targets", "partners")


class _Entry(NamedTuple):
    """A word of a group, and the row of its source that says so."""

    row: int
    word: str
    group: str
    weight: float | None = None


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
    lexicon = _read(source, name or "lexicon")
    return lexicon if name is None else replace(lexicon, name=name)


def lexicon_from_lists(name: str, lists: Mapping[str, object]) -> Lexicon:
    """From a file of words for each group, one term a line; blank lines and ``#`` lines do not count."""
    if len(lists) < 2:
        raise ParameterError(f"lexicon {name!r}: a share needs at least two groups, so two lists of words")
    entries, places, empty = list[_Entry](), list[str](), dict[int, str]()
    for group, value in lists.items():
        source = as_source(value)
        if source is None:
            raise InputTypeError(f"a word list is a path or an open file, got {type(value).__name__}")
        before = len(places)
        for number, line in enumerate(decoded(source.content(), source.name).split("\n"), 1):
            if line.strip() and not line.strip().startswith("#"):
                entries.append(_Entry(len(places), line.strip(), group))
                places.append(f"{source.name}:{number}")
        if len(places) == before:
            empty[len(places)] = f"no words (of group {quoted(group)})"
            places.append(source.name)
    report = RowProblems("word lists", at=places.__getitem__)
    for row, what in empty.items():
        report.add(row, what)
    return _built(name, entries, report)


def _read(source: object, name: str) -> Lexicon:
    if isinstance(source, Lexicon):
        return source
    if isinstance(source, str):
        parts = source.split("+")
        if all(part in SHIPPED or (len(parts) > 1 and _exists(part)) for part in parts) and (
            not _exists(source) or source in SHIPPED
        ):
            return _joined(parts)
        if source != "-" and not _exists(source):
            raise UnknownNameError(
                f"{quoted(source)} is neither a lexicon nor a file: there is no such file, and the lexicons "
                f"that come with the package are {', '.join(SHIPPED)} (several are joined by '+')"
            )
    if isinstance(source, Mapping):
        return _of_object(source, name, f"lexicon {name!r}")
    file = as_source(source)
    return _of_table(the_table(source, "words", name=name), name) if file is None else _of_file(file)


def _joined(names: Sequence[str]) -> Lexicon:
    if len(set(names)) < len(names):
        raise ParameterError(f"{'+'.join(names)}: a lexicon is joined to itself")
    joined, *others = (_shipped(name) if name in SHIPPED else read_lexicon(name) for name in names)
    for other in others:
        joined = joined.joined(other)
    return joined


def _shipped(name: str) -> Lexicon:
    text = files("evenrank.lexicons").joinpath(f"{name}.csv").read_text("utf-8")
    return _of_table(_table_of_words(text, f"{name}.csv", ","), name)


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # longer than a name may be, or with a NUL inside
        return False


def _of_file(source: Source) -> Lexicon:
    stem, format = source.stem or "lexicon", guess_format(source.path or source.name)
    if format in ("jsonl", "parquet"):
        return _of_table(open_table(source, format, "words"), stem)
    text = decoded(source.content(), source.name)
    # no word begins with a brace: a name without a suffix tells nothing
    if stem.lower().endswith(".json") or text.lstrip().startswith("{"):
        name = stem[: -len(".json")] if stem.lower().endswith(".json") else stem
        return _of_object(_json_object(text, source.name), name, source.name)
    return _of_table(_table_of_words(text, source.name, "\t" if format == "tsv" else ","), stem)


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
    cells = {column: [row[place] for row in rows.cells] for place, column in enumerate(names)}
    return NamedTable(names, cells.__getitem__, text=True, report=report)


def _of_table(table: NamedTable, name: str) -> Lexicon:
    """A row a word; one a word and group where they have weights."""
    chosen, report = column_of_roles(table, ROLES, None), table.report
    if {"partner", "weight"} <= set(chosen):
        what = "a lexicon in a table has partners or weights, not both: write JSON"
        raise DataError(f"{table.name}: {what}")
    entries, pairs = list[_Entry](), dict[str, str]()
    columns = [map(_text, listed_cells(table.column(column))) for column in chosen.values()]
    for row, cells in enumerate(zip(*columns, strict=True)):
        found = dict(zip(chosen, cells, strict=True))
        word, group, partner, weight = (found.get(role) for role in _COLUMNS)
        if not word or not group:
            report.add(row, f"{quoted(word)} has no group" if word else "the word is empty")
        elif weight is not None and not is_number(weight):
            report.add(row, f"the weight of {quoted(word)} must be a number, got {quoted(weight)}")
        else:
            entries.append(_Entry(row, word, group, None if weight is None else float(weight)))
            pairs |= {word: partner} if partner else {}
    return _built(name, entries, report, partners=pairs)


def _text(cell: Any) -> str:
    return "" if is_missing(cell) else str(cell).strip()


def _json_object(text: str, source: str) -> dict[str, Any]:
    def with_keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if twice := {key for key, _ in pairs if [name for name, _ in pairs].count(key) > 1}:
            raise DataError(f"{source}: the key {quoted(min(twice))} is there twice")
        return dict(pairs)

    try:
        value = json.loads(text, object_pairs_hook=with_keys_once)
    except json.JSONDecodeError as error:
        raise DataError.listing(source, [Problem(error.lineno, f"not JSON: {error.msg}")]) from error
    except RecursionError as error:
        raise DataError(f"{source}: {error}") from error
    if not isinstance(value, dict):
        raise DataError(f'{source}: expected an object {{"groups": {{group: [words]}}}}')
    return value


def _of_object(value: Mapping[Any, Any], name: str, source: str) -> Lexicon:
    """From ``{group: words}``, or with that under ``groups``, beside ``name``, ``targets``, ``partners``.

    The words of a group are a list, or ``{word: weight}``.
    """
    targets = partners = None
    if isinstance(value.get("groups"), Mapping):
        unknown = [str(key) for key in value if key not in _KEYS]
        if unknown:
            raise DataError(f"{source}: unknown key {quoted(unknown[0])}; known are {', '.join(_KEYS)}")
        targets, partners = value.get("targets"), value.get("partners")
        name, value = value.get("name", name), value["groups"]
    for text in (name, *value):
        if not isinstance(text, str) or not text.strip():
            raise DataError(f"{source}: a name must be text, got {shortened(repr(text))}")
    if targets is not None:
        _check_values(targets, "targets", "a number for each group", (int, float), source)
    if partners is not None:
        _check_values(partners, "partners", "a word for each word", (str,), source)
    entries = []
    for group, given in value.items():
        weighted = isinstance(given, Mapping)
        # a string is a list of letters to Python, and never meant as one here
        words = [] if isinstance(given, (str, bytes)) or not isinstance(given, Iterable) else list(given)
        if weighted:
            _check_values(given, f"group {quoted(group)}", "a weight for each word", (int, float), source)
        if not words or not all(isinstance(word, str) for word in words):
            what = shortened(repr(given))
            raise DataError(f"{source}: group {quoted(group)} must be a list of words, got {what}")
        entries += [_Entry(0, word, group, float(given[word]) if weighted else None) for word in words]
    report = RowProblems(source, at=lambda _: source)
    return _built(name, entries, report, targets=targets, partners=partners)


def _check_values(value: object, key: str, wanted: str, types: tuple[type, ...], source: str) -> None:
    items = value.items() if isinstance(value, Mapping) else [(None, None)]
    for name, item in items:
        if not isinstance(name, str) or not isinstance(item, types) or isinstance(item, bool):
            raise DataError(f"{source}: {key} must give {wanted}, got {shortened(repr(value))}")


def _built(
    name: str,
    entries: Iterable[_Entry],
    report: RowProblems,
    *,
    targets: Mapping[str, float] | None = None,
    partners: Mapping[str, str] | None = None,
) -> Lexicon:
    """The lexicon of these words. A word that comes again, which it may only do in another group and with
    weights, is a problem."""
    groups: dict[str, dict[str, _Entry]] = {}
    first: dict[str, _Entry] = {}
    for entry in entries:
        term, own = lower(entry.word), groups.setdefault(entry.group, {})
        before = own.get(term) or first.setdefault(term, entry)
        if before is entry or (before.group != entry.group and None not in (before.weight, entry.weight)):
            own[term] = entry
            continue
        both = f"is in group {quoted(before.group)} and in {quoted(entry.group)}"
        what = f"is twice in group {quoted(entry.group)}" if before.group == entry.group else both
        what = f"{quoted(entry.word)} {what}"
        if before.row != entry.row:
            line = report.lines and f"line {report.line(before.row)}"
            what += f" (first {line or report.where(before.row)})"
        report.add(entry.row, what)
    pairs = {lower(word): lower(partner) for word, partner in (partners or {}).items()}
    for word, partner in list(pairs.items()):
        pairs.setdefault(partner, word)
    words = {
        group: list(own)
        if all(entry.weight is None for entry in own.values())
        else {term: entry.weight for term, entry in own.items()}
        for group, own in groups.items()
    }
    try:
        lexicon = Lexicon.build(name, words, targets=targets, partners=pairs)
    except DataError as error:  # it counts the words group by group; the user knows lines
        rows = [entry.row for entry in chain.from_iterable(own.values() for own in groups.values())]
        problems = [Problem(rows[problem.line - 1] + 1, problem.what) for problem in error.problems]
        raise report.relocated(DataError.listing(name, problems)) from None
    except ParameterError as error:
        report.check()
        raise DataError(str(error).replace(f"lexicon {name!r}: ", f"{report.source}: ")) from None
    report.check()
    return lexicon


def write_lexicon(lexicon: Lexicon, path: str | os.PathLike[str]) -> None:
    """Write CSV or JSON, whichever the name of the file says. CSV has no place for targets."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes if suffix.lower() not in (".gz", ".zst")]
    kind = suffixes[-1] if suffixes else ""
    if kind not in (".csv", ".json"):
        raise ParameterError(f"{path}: a lexicon is written as .csv or .json")
    text = _as_csv(lexicon, path) if kind == ".csv" else _as_json(lexicon)
    with atomic_write(path) as file:
        file.write(text.encode())


def _as_csv(lexicon: Lexicon, path: object) -> str:
    lost = [quoted(group) for group in lexicon.groups if not group or group != group.strip()]
    if lexicon.targets != (1 / len(lexicon.groups),) * len(lexicon.groups):
        lost.append("targets")
    if lexicon.weights is not None and lexicon.partners:
        lost.append("partners beside weights")
    if lost:
        raise ParameterError(f"{path}: CSV has no place for {', '.join(lost)} of {lexicon!r}: write .json")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if lexicon.weights is not None:
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
