"""Lexicons: those that come with the package, files of words, and word lists."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from evenrank.data.lexicon import Lexicon, lower
from evenrank.errors import (
    PROBLEMS_SHOWN,
    DataError,
    InputTypeError,
    ParameterError,
    Problem,
    UnknownNameError,
    shortened,
)
from evenrank.io.atomic import atomic_write
from evenrank.io.source import Source, as_source, guess_format
from evenrank.io.values import quoted

SHIPPED = ("gender-en", "gender-en-names")

_COLUMNS = ("word", "group", "partner")
_KEYS = ("name", "groups", "targets", "partners")
_ACCEPTED = (
    f"the name of one that comes with the package ({', '.join(SHIPPED)}, or several joined by '+'), "
    "a path to a CSV or JSON file, an open file, or a dict {group: words}"
)


def read_lexicon(source: object, *, name: str | None = None) -> Lexicon:
    """The lexicon that ``source`` stands for.

    ``source`` is a name that comes with the package, names joined by ``+``, a CSV or JSON file, or a
    dict ``{group: words}``. A CSV file has the columns ``word``, ``group`` and, if wanted, ``partner``;
    without a header line it has two, word and group. A partner may be given on one side only.

    >>> read_lexicon({"female": ["she", "woman"], "male": ["he", "man"]}, name="tiny")
    <Lexicon 'tiny': 2 groups, 4 terms>
    >>> read_lexicon("gender-en").groups
    ('female', 'male')
    """
    lexicon = _read(source, name)
    return lexicon if name is None else replace(lexicon, name=name)


def write_lexicon(lexicon: Lexicon, path: str | os.PathLike[str]) -> None:
    """Write CSV or JSON, whichever the name of the file says. CSV has no place for targets."""
    target = Path(path)
    suffixes = [suffix.lower() for suffix in target.suffixes if suffix.lower() not in (".gz", ".zst")]
    kind = suffixes[-1] if suffixes else ""
    if kind not in (".csv", ".json"):
        raise ParameterError(f"{path}: a lexicon is written as .csv or .json")
    text = _as_csv(lexicon, target) if kind == ".csv" else _as_json(lexicon)
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(f"{path}: a word holds half of a surrogate pair, which no file can hold") from error
    with atomic_write(path) as file:
        file.write(data)


def lexicon_from_lists(name: str, lists: Mapping[str, object]) -> Lexicon:
    """From a file of words for each group, one term a line; blank lines and ``#`` lines do not count."""
    gathered = _LexiconRows()
    for group, value in lists.items():
        source = as_source(value)
        if source is None:
            raise InputTypeError(f"a word list is a path or an open file, got {type(value).__name__}")
        text = _decoded(source)
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
            return _shipped(parts)
        if source != "-" and not _exists(source):
            raise UnknownNameError(
                f"{quoted(source)} is neither a lexicon nor a file: there is no such file, and the lexicons "
                f"that come with the package are {', '.join(SHIPPED)} (joined by '+' for both)"
            )
    if isinstance(source, Mapping):
        return _from_object(source, name or "lexicon", f"lexicon {name!r}" if name else "lexicon")
    found = as_source(source)
    if found is None:
        raise InputTypeError(f"a lexicon is read from {_ACCEPTED}; got {type(source).__name__}")
    return _from_file(found)


def _shipped(names: Iterable[str]) -> Lexicon:
    names = list(names)
    if len(set(names)) < len(names):
        raise ParameterError(f"{'+'.join(names)}: a lexicon is joined to itself")
    folder = files("evenrank.lexicons")
    read = [
        _from_csv(folder.joinpath(f"{name}.csv").read_text("utf-8"), f"{name}.csv", name) for name in names
    ]
    joined = read[0]
    for other in read[1:]:
        joined = joined.joined(other)
    return joined


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # longer than a name may be, or with a NUL inside
        return False


def _from_file(source: Source) -> Lexicon:
    stem = source.stem or "lexicon"
    text = _decoded(source)
    if stem.lower().endswith(".json"):
        return _from_json(text, source.name, stem[: -len(".json")])
    if text.lstrip().startswith("{"):  # no word begins so: a name without a suffix tells nothing
        return _from_json(text, source.name, stem)
    tabs = guess_format(source.path or source.name) == "tsv"
    return _from_csv(text, source.name, stem, delimiter="\t" if tabs else ",")


def _decoded(source: Source) -> str:
    content = source.content().without_bom(source.name)
    data: bytes = content.buffer.to_pybytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start + content.skipped
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError.listing(
            source.name, [Problem(line, f"invalid UTF-8 at byte {at} of the file")]
        ) from error


class _LexiconRows:
    """Words with their groups and the lines they stand on, and everything that is wrong with them."""

    def __init__(self) -> None:
        self._groups: dict[str, str] = {}  # of each term
        self._places: dict[str, tuple[str, int]] = {}
        self._partners: dict[str, str] = {}
        self._problems: list[tuple[str, int | None, str]] = []

    def __len__(self) -> int:
        return len(self._groups)

    def problem(self, source: str, line: int | None, what: str) -> None:
        self._problems.append((source, line, what))

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
            self.problem(
                source,
                line,
                f"{quoted(word)} is in group {quoted(self._groups[term])} ({first}) and in {quoted(group)}",
            )
        elif term in self._places:
            first = self._first(term, source)
            self.problem(
                source,
                line,
                f"{quoted(word)} is twice in group {quoted(group)} ({first}; case does not count)",
            )
        else:
            self._places[term] = (source, line)
            if partner:
                self._partners[term] = lower(partner)

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


def _from_csv(text: str, source: str, name: str, *, delimiter: str = ",") -> Lexicon:
    rows = _LexiconRows()
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
            rows.add(source, line, cell["word"], cell["group"], cell.get("partner", ""))
    except csv.Error as error:
        rows.problem(source, reader.line_num, f"not CSV: {error}")
    rows.check()
    words = rows.words()
    if len(words) < 2:
        found = f"all words are of group {quoted(next(iter(words)))}" if words else "there are no words"
        raise DataError(f"{source}: a share needs at least two groups, but {found}")
    return Lexicon.build(name, words, partners=rows.partners())


def _header(cells: list[str], source: str, line: int) -> tuple[list[str], bool]:
    """The columns, and whether the first row names them."""
    names = ["word" if cell.lower() == "term" else cell.lower() for cell in cells]
    if {"word", "group"} <= set(names) <= set(_COLUMNS) and len(set(names)) == len(names):
        return names, True
    if len(cells) == 2 and "word" not in names:
        return list(_COLUMNS[:2]), False
    what = (
        "the columns must be word, group and, if wanted, partner (two columns need no header line); "
        f"the first row is {quoted(', '.join(cells))}"
    )
    raise DataError.listing(source, [Problem(line, what)])


def _from_json(text: str, source: str, name: str) -> Lexicon:
    try:
        value = json.loads(text, object_pairs_hook=_no_key_twice)
    except json.JSONDecodeError as error:
        raise DataError.listing(source, [Problem(error.lineno, f"not JSON: {error.msg}")]) from error
    except (_KeyTwice, RecursionError) as error:
        raise DataError(f"{source}: {error}") from error
    if not isinstance(value, dict):
        raise DataError(f'{source}: expected an object {{"groups": {{group: [words]}}}}')
    return _from_object(value, name, source)


class _KeyTwice(ValueError):
    pass


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in keys if names.count(key) > 1)
        raise _KeyTwice(f"the key {quoted(twice)} is there twice")
    return keys


def _from_object(value: Mapping[Any, Any], name: str, source: str) -> Lexicon:
    """From ``{group: words}``, or with that under ``groups``, beside ``name``, ``targets``, ``partners``."""
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


def _checked_words(words: object, group: str, source: str) -> list[str]:
    # a string is a list of letters to Python, and never meant as one here
    if isinstance(words, (str, bytes, Mapping)) or not isinstance(words, Iterable):
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
    columns = _COLUMNS if lexicon.partners else _COLUMNS[:2]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for term, code in zip(lexicon.terms, lexicon.term_groups, strict=True):
        row = [term, lexicon.groups[code], lexicon.partners.get(term, "")]
        writer.writerow(row[: len(columns)])
    return text.getvalue()


def _as_json(lexicon: Lexicon) -> str:
    value: dict[str, Any] = {
        "name": lexicon.name,
        "groups": lexicon.to_dict(),
        "targets": dict(zip(lexicon.groups, lexicon.targets, strict=True)),
    }
    if lexicon.partners:
        value["partners"] = dict(lexicon.partners)
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
