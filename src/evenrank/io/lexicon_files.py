"""What a file of a lexicon holds, as CSV or JSON: every problem with its line."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from evenrank.data.lexicon import Lexicon, lower
from evenrank.errors import (
    PROBLEMS_SHOWN,
    DataError,
    ParameterError,
    Problem,
    shortened,
)
from evenrank.io.cells import quoted
from evenrank.io.table_files import NamedTable

_COLUMNS = ("word", "group", "partner", "weight")
_KEYS = ("name", "groups", "targets", "partners")


class Repeat(NamedTuple):
    """A word that a file has again, in the same group or in another; the first one counts."""

    word: str
    group: str
    what: str


class LexiconRows:
    """Words with their groups and the lines they stand on, and everything that is wrong with them.

    With ``repeats`` a word that comes again is put there, and is no problem.
    """

    def __init__(self, repeats: list[Repeat] | None = None) -> None:
        self._repeats = repeats
        self._groups: dict[str, str] = {}  # of each term
        self._weights: dict[str, dict[str, float]] = {}  # of each term in each group, where there are any
        self._places: dict[str, tuple[str, int]] = {}
        self._partners: dict[str, str] = {}
        self._problems: list[tuple[str, int | None, str]] = []

    def __len__(self) -> int:
        return len(self._groups)

    def problem(self, source: str, line: int | None, what: str) -> None:
        self._problems.append((source, line, what))

    def _repeat(self, source: str, line: int, word: str, group: str, what: str) -> None:
        if self._repeats is None:
            self.problem(source, line, what)
        else:
            self._repeats.append(Repeat(lower(word), group, f"{source}:{line}: {what}"))

    def add_weighted(self, source: str, line: int, word: str, group: str, weight: str) -> None:
        """A word may come once for each group, with the degree to which it stands for that group."""
        term, own = lower(word), self._weights.setdefault(group, {})
        try:
            number = float(weight)
        except ValueError:
            number = math.nan
        if not 0 < number <= 1:
            shown = quoted(weight)
            self.problem(
                source, line, f"the weight of {quoted(word)} must be above 0 and at most 1, got {shown}"
            )
        elif term in own:
            what = f"{quoted(word)} is twice in group {quoted(group)} (case does not count)"
            self._repeat(source, line, word, group, what)
        else:
            own[term] = number
            if term not in self._groups:
                self.add(source, line, word, group)

    def add(self, source: str, line: int, word: str, group: str, partner: str = "") -> None:
        term = lower(word)
        if not term:
            self.problem(source, line, "the word is empty")
        elif not group:
            self.problem(source, line, f"{quoted(word)} has no group")
        elif term != " ".join(term.split()):
            self.problem(source, line, f"{quoted(word)}: the words of a term are separated by one blank")
        elif self._groups.setdefault(term, group) != group:
            first = self._first(term, source)
            what = f"{quoted(word)} is in group {quoted(self._groups[term])} ({first}) and in {quoted(group)}"
            self._repeat(source, line, word, group, what)
        elif term in self._places:
            first = self._first(term, source)
            what = f"{quoted(word)} is twice in group {quoted(group)} ({first}; case does not count)"
            self._repeat(source, line, word, group, what)
        else:
            self._places[term] = (source, line)
            if partner:
                self._partners[term] = lower(partner)

    def weighted(self) -> dict[str, dict[str, float]]:
        return {group: own for group, own in self._weights.items() if own}

    def words(self) -> dict[str, list[str]]:
        words: dict[str, list[str]] = {}
        for term, group in self._groups.items():
            words.setdefault(group, []).append(term)
        return words

    def partners(self) -> dict[str, str]:
        return _mirrored(self._partners)

    def check(self) -> None:
        """Raise for everything that was found, in the order of the lines."""
        pairs = self.partners()
        for term, partner in self._partners.items():
            source, line = self._places[term]
            what = None
            if partner not in self._groups:
                what = f"the partner of {quoted(term)}, {quoted(partner)}, is not a word of the lexicon"
            elif self._groups[partner] == self._groups[term]:
                what = f"{quoted(term)} and its partner {quoted(partner)} are in the same group"
            elif pairs[partner] != term:
                other = quoted(pairs[partner])
                what = f"the partner of {quoted(term)} is {quoted(partner)}, whose partner is {other}"
            if what is not None:
                self.problem(source, line, what)
        if not self._problems:
            return
        order = {source: at for at, (source, _, _) in reversed(list(enumerate(self._problems)))}
        problems = sorted(self._problems, key=lambda problem: (order[problem[0]], problem[1] or 0))
        lines = [
            f"{source}: {what}" if line is None else f"{source}:{line}: {what}"
            for source, line, what in problems[:PROBLEMS_SHOWN]
        ]
        if len(problems) > PROBLEMS_SHOWN:
            lines.append(f"{problems[0][0]}: only the first {PROBLEMS_SHOWN} problems are listed")
        error = DataError("\n".join(lines))
        error.problems = tuple(Problem(line or 0, what) for _, line, what in problems[:PROBLEMS_SHOWN])
        raise error

    def _first(self, term: str, source: str) -> str:
        there, line = self._places[term]
        return f"line {line}" if there == source else f"{there}:{line}"


def _mirrored(pairs: Mapping[str, str]) -> dict[str, str]:
    """Both directions of each pair; what is given both ways stays as it was given."""
    both = {lower(term): lower(partner) for term, partner in pairs.items()}
    for term, partner in list(both.items()):
        both.setdefault(partner, term)
    return both


def lexicon_from_csv(
    text: str, source: str, name: str, *, delimiter: str = ",", repeats: list[Repeat] | None = None
) -> Lexicon:
    rows = LexiconRows(repeats)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    columns: list[str] | None = None
    start = 1  # a row that spans lines is called by its first
    try:
        for row in reader:
            line, start = start, reader.line_num + 1
            cells = [cell.strip() for cell in row]
            if cells in ([], [""]):
                continue
            if columns is None:
                columns, header = _header(cells, source, line)
                if header:
                    continue
            if len(cells) != len(columns):
                rows.problem(
                    source,
                    line,
                    f"{_counted(len(cells), 'column')}, but {len(columns)} are needed: {', '.join(columns)}",
                )
                continue
            cell = dict(zip(columns, cells, strict=True))
            if "weight" in cell:
                rows.add_weighted(source, line, cell["word"], cell["group"], cell["weight"])
            else:
                rows.add(source, line, cell["word"], cell["group"], cell.get("partner", ""))
    except csv.Error as error:
        rows.problem(source, reader.line_num, f"not CSV: {error}")
    rows.check()
    words: Mapping[str, Any] = rows.weighted() or rows.words()
    if len(words) < 2:
        found = f"all words are of group {quoted(next(iter(words)))}" if words else "there are no words"
        raise DataError(f"{source}: a share needs at least two groups, but {found}")
    return Lexicon.build(name, words, partners=rows.partners())


def lexicon_from_table(table: NamedTable, name: str) -> Lexicon:
    """From a table in memory, with the columns of a file."""
    text = io.StringIO()
    columns = [table.column(column) for column in table.names]
    cells = [column.to_pylist() if hasattr(column, "to_pylist") else column for column in columns]
    csv.writer(text).writerows([table.names, *zip(*cells, strict=True)])
    return lexicon_from_csv(text.getvalue(), name, name)


def _header(cells: list[str], source: str, line: int) -> tuple[list[str], bool]:
    """The columns, and whether the first row names them."""
    names = ["word" if cell.lower() == "term" else cell.lower() for cell in cells]
    if {"word", "group"} <= set(names) <= set(_COLUMNS) and len(set(names)) == len(names):
        if {"partner", "weight"} <= set(names):
            raise DataError.listing(
                source, [Problem(line, "a lexicon in CSV has partners or weights, not both: write JSON")]
            )
        return names, True
    if len(cells) == 2 and "word" not in names:
        return list(_COLUMNS[:2]), False
    what = (
        "the columns must be word, group and, if wanted, partner or weight (two columns need no header "
        "line); "
        f"the first row is {quoted(', '.join(cells))}"
    )
    raise DataError.listing(source, [Problem(line, what)])


def lexicon_from_json(text: str, source: str, name: str, repeats: list[Repeat] | None = None) -> Lexicon:
    try:
        value = json.loads(text, object_pairs_hook=_no_key_twice)
    except json.JSONDecodeError as error:
        raise DataError.listing(source, [Problem(error.lineno, f"not JSON: {error.msg}")]) from error
    except (_KeyTwice, RecursionError) as error:
        raise DataError(f"{source}: {error}") from error
    if not isinstance(value, dict):
        raise DataError(f'{source}: expected an object {{"groups": {{group: [words]}}}}')
    return lexicon_from_object(value, name, source, repeats)


class _KeyTwice(ValueError):
    pass


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in keys if names.count(key) > 1)
        raise _KeyTwice(f"the key {quoted(twice)} is there twice")
    return keys


def lexicon_from_object(
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
        words = _without_repeats(words, source, repeats)
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


def _without_repeats(
    words: Mapping[str, Iterable[str]], source: str, repeats: list[Repeat]
) -> dict[str, list[str] | dict[str, float]]:
    owner: dict[str, str] = {}
    kept: dict[str, list[str] | dict[str, float]] = {}
    for group, own in words.items():
        first = []
        for word in own:
            term = lower(word)
            if term not in owner:
                owner[term] = group
                first.append(word)
                continue
            what = (
                f"{word!r} is twice in group {group!r} (case does not count)"
                if owner[term] == group
                else f"{word!r} is in group {owner[term]!r} and in {group!r}"
            )
            repeats.append(Repeat(term, group, f"{source}: {what}"))
        kept[group] = first
    return kept


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


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
