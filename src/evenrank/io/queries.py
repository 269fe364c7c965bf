"""Lists of queries: ids, and beside them whatever a file tells: texts, categories, any further column."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import BytesIO
from xml.etree import ElementTree

from evenrank.errors import DataError, ParameterError, counted
from evenrank.io.cells import hold_words, id_cells, listed_cells, made_id, normal, score_cells
from evenrank.io.column_names import ACCEPTED, NAMES, SEARCHES, Role, resolve, spelled, spellings
from evenrank.io.datasets import is_dataset
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source, as_source
from evenrank.io.table_files import NamedTable
from evenrank.io.tables import as_table, read_roles, the_table
from evenrank.io.texts import by_id
from evenrank.tables import of_cell

TABLES = ("csv", "jsonl", "parquet")
TEXT = NAMES["text of a query"][0]
REASON = ("reason", "reasons", "example/description", "description")
LISTS = ("categories", "domains", "subdomains")  # columns whose cells are lists, separated by commas
TOPICS = ("topic", "top", "query")
NUMBERS = ("number", "num", "id", "qid")
SEARCHED = spellings(*SEARCHES)


@dataclass(frozen=True)
class Queries:
    """The ids in the order of the file, the texts that it has, and its other columns by name."""

    source: str
    ids: tuple[str, ...]
    texts: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    text_column: str | None = None  # of a table that has one
    weight_column: str | None = None  # that says how often each query is asked
    lines: Sequence[int] | Callable[[], Sequence[int]] | None = None

    @cached_property
    def reasons(self) -> dict[str, str]:
        """Why a query is in the set, where the file says so."""
        name = next((name for name in self.columns if name.lower() in REASON), None)
        cells = zip(self.ids, self.columns[name], strict=True) if name is not None else ()
        return {query: reason.strip() for query, reason in cells if reason and reason.strip()}

    @cached_property
    def weights(self) -> Mapping[str, float] | None:
        """How much each query counts; None where the file does not say."""
        if self.weight_column is None:
            return None
        report = RowProblems(self.source, lines=self.lines)
        role = f"weight (column {self.weight_column!r})"
        cells = [cell or "" for cell in self.columns[self.weight_column]]
        weights: dict[str, float] = {}
        for row, (query, weight) in enumerate(
            zip(self.ids, score_cells(cells, report, role, text=True).tolist(), strict=True)
        ):
            if weight < 0:
                report.add(row, f"{role} {weight:g} is less than 0")
            elif weights.setdefault(query, weight) != weight:
                report.add(row, f"{role} of query {query!r} was {weights[query]:g} before")
        report.check()
        if not any(weights.values()):
            raise DataError(f"{self.source}: {role} is 0 for all queries, so none would count")
        return weights

    def categories(self, names: Iterable[str]) -> dict[str, list[str]]:
        """``{query: [category, ..]}`` by these columns; of several, each category begins with its column.

        In a column called categories, domains or subdomains a cell is a list, separated by commas.
        """
        known = {name.lower(): name for name in self.columns} | {name: name for name in self.columns}
        found: dict[str, dict[str, None]] = {query: {} for query in self.ids}
        wanted = list(names)
        for name in wanted:
            column = known.get(name) or known.get(name.lower())
            if column is None:
                there = ", ".join(self.columns) or "none besides the query and its text"
                raise ParameterError(f"--by {name}: {self.source} has no such column; it has {there}")
            before = f"{column}: " if len(wanted) > 1 else ""
            for query, cell in zip(self.ids, self.columns[column], strict=True):
                several = column.lower() in LISTS
                for value in map(str.strip, (cell or "").split(",")) if several else [cell or ""]:
                    found[query] |= {before + value: None} if value.strip() else {}
        return {query: list(own) for query, own in found.items() if own}

    def without_text(self, use: str) -> DataError:
        """The error for queries of which some have no text, with the way out."""
        silent = [query for query in self.distinct if query not in self.texts]
        named = f" (it has the columns {', '.join(self.columns)})" if self.columns else ""
        cure = "add the texts" if self.texts else f"call the column that has them 'text'{named}"
        many = counted(len(silent), "query has", "queries have")
        return DataError(f"{self.source}: {many} no text{use} (first: {silent[0]}): {cure}")

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.ids))


QUERY_ROLES = ("query", "text", "query_text", "weight")


def query_columns(columns: Mapping[str, str] | None) -> dict[str, str] | None:
    """Those of the columns, named for several files, that queries have; ``query_text`` is theirs alone."""
    return {role: name for role, name in (columns or {}).items() if role in QUERY_ROLES} or None


def read_queries(source: object, *, columns: Mapping[str, str] | None = None) -> Queries:
    """Queries from a table with a column of ids, from topics in XML, or from lines: an id, or id, tab, text;
    from ``ir_datasets:ID``, a table in memory, a dict ``{id: text}`` or a list of ids or texts.

    ``columns`` names the columns ``query`` and ``text``, where they have other names; ``query_text`` goes
    before ``text``, which may be the column of another file as well, and ``weight`` is how much a query
    counts. In lines, blank ones and those that begin with ``#`` are skipped. A TSV file whose first line
    names a column of ids is a table. Where there are no ids but only what people asked, ids are made from
    that, by ``made_id``.
    """
    if isinstance(source, Queries):
        return source
    if isinstance(source, (list, tuple)) and as_table(source) is None:
        table = NamedTable(["query"], lambda _: list(source), report=RowProblems("queries"))
        return _of_table(table, columns)
    file = None if is_dataset(source) else as_source(source)
    if file is not None and file.name.lower().endswith(".xml"):
        texts = _topics(file)
        return Queries(file.name, tuple(texts), texts)
    form = None if file is None else file.guessed_format
    if file is not None and form not in TABLES:
        content = b"".join(file.blocks()).removeprefix(b"\xef\xbb\xbf")
        if not _has_header(content, columns):
            return _of_lines(file.name, content)
        file, form = Source(file.name, stream=BytesIO(content)), "tsv"
    given = source if file is None else file
    table = the_table(given, "queries", format=form, mapping=("query", "text"), part="queries")
    return _of_table(table, columns, guarded=form == "csv")


def _has_header(content: bytes, columns: Mapping[str, str] | None) -> bool:
    first = content.split(b"\n", 1)[0].decode("utf-8", "replace").rstrip("\r").split("\t")
    ids = (*ACCEPTED["query of a list"], (columns or {}).get("query"))
    return len(first) > 1 and (first[0].lower() in ids or ids[-1] in first)


def _of_table(table: NamedTable, columns: Mapping[str, str] | None, *, guarded: bool = False) -> Queries:
    """A cell of a CSV file that a spreadsheet would run is ``guarded``: it begins with an apostrophe."""
    name, named = table.name, dict(columns or {})
    if "query_text" in named:
        named["text"] = named.pop("query_text")
    elif named.get("text") not in table.names:
        named.pop("text", None)  # that of another file
    if named.get("query") not in table.names:
        named.pop("query", None)
    lower = {column.lower() for column in table.names}
    # the published sets call the id QID and the text Query; logs have a number, and what was asked
    numbered = {"id", "query"} <= lower and not lower & {*TEXT[:-1], "qid", "query_id"}
    roles = [
        Role("query", called="query with a number" if numbered else "query of a list"),
        Role("text", called="text of a query", optional=True),
        Role("weight", optional=True),
    ]
    chosen = resolve(table.names, roles, named, name, first=True)
    query, text, weight = chosen["query"], chosen.get("text"), chosen.get("weight")
    cell = of_cell if guarded else str
    asked = [cell(one) for one in id_cells(table.column(query), "query", table.report).to_pylist()]
    table.report.check()
    if not asked:
        raise DataError(f"{name}: holds no query id")
    others = {other: _texts(table, other, cell) for other in table.names if other not in (query, text)}
    words = table.roles is None and (spelled(query) in SEARCHED or hold_words(asked))
    if text is None and words:
        found = _of_words(name, asked, others, query)
    else:
        ids = tuple(map(made_id, asked)) if words else tuple(asked)
        said = () if text is None else zip(ids, _texts(table, text, cell), strict=True)
        texts = by_id(((one, what) for one, what in said if what is not None), name)
        found = Queries(name, ids, texts, others, text)
    return replace(found, weight_column=weight, lines=table.report.lines)


def _of_words(
    name: str, words: Iterable[str], others: Mapping[str, tuple[str | None, ...]], column: str | None
) -> Queries:
    """Queries of a file that has nothing but what people asked."""
    asked = [(made_id(text), normal(text)) for text in words]
    return Queries(name, tuple(query for query, _ in asked), by_id(asked, name), others, column)


def _texts(table: NamedTable, name: str, cell: Callable[[str], str]) -> tuple[str | None, ...]:
    values = listed_cells(table.column(name))
    return tuple(None if value is None or value == "" else cell(str(value)) for value in values)


def _of_lines(name: str, content: bytes) -> Queries:
    ids, texts = list[str](), list[tuple[str, str]]()
    report = RowProblems(name, lines=range(1, sys.maxsize))
    for row, line in enumerate(content.split(b"\n")):
        try:
            text = line.decode()
        except UnicodeDecodeError:
            report.add(row, "is not UTF-8")
            continue
        if not text.strip() or text.startswith("#"):
            continue
        identifier, _, said = (part.strip() for part in text.partition("\t"))
        if not identifier:
            report.add(row, "there is no query id before the tab")
        ids.append(identifier)
        texts += [(identifier, said)] if said else []
    report.check()
    if not ids:
        raise DataError(f"{name}: holds no query id")
    if not texts and hold_words(ids):
        return _of_words(name, ids, {}, None)
    return Queries(name, tuple(ids), by_id(texts, name))


def _topics(file: Source) -> dict[str, str]:
    content = b"".join(file.blocks())
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:  # declarations can blow a file up
        raise DataError(f"{file.name}: topics are read without a document type: take it out")
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise DataError(f"{file.name}:{error.position[0]}: is not XML ({error})") from error
    found: list[tuple[str, str]] = []
    for topic in root.iter():
        if topic.tag in TOPICS:
            number, text = _part(topic, NUMBERS), _part(topic, TEXT)
            if number and number.strip() and text:
                found.append((number.strip(), " ".join(text.split())))
    if not found:
        raise DataError(f"{file.name}: no topic has a number and a title")
    return by_id(found, file.name)


def _part(topic: ElementTree.Element, names: Iterable[str]) -> str | None:
    """The first attribute or child of a topic that has one of the names."""
    found = (topic.get(name) or topic.findtext(name) for name in names)
    return next((text for text in found if text is not None), None)


def read_categories(
    source: object, *, format: str | None = None, columns: Mapping[str, str] | None = None
) -> dict[str, list[str]]:
    """``{query: [category, ..]}`` from a file or a table with a row for each query and category."""
    table = the_table(source, "categories", format=format, mapping=("query", "category"))
    found = read_roles(table, (Role("query", "query"), Role("category")), columns)
    out: dict[str, dict[str, None]] = {}
    for query, category in zip(found["query"].to_pylist(), found["category"].to_pylist(), strict=True):
        out.setdefault(query, {})[category] = None
    return {query: list(own) for query, own in out.items()}
