"""Lists of queries: ids, and beside them whatever a file tells: texts, categories, any further column."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import BytesIO
from xml.etree import ElementTree

from evenrank.errors import DataError, ParameterError, Problem, counted
from evenrank.io.cells import id_cells, score_cells
from evenrank.io.column_names import ACCEPTED, NAMES, SEARCHES, listed, spelled, spellings
from evenrank.io.datasets import is_dataset
from evenrank.io.made_query_ids import hold_words, made_id, normal
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source, as_source
from evenrank.io.table_files import NamedTable
from evenrank.io.tables import as_table, the_table
from evenrank.io.texts import by_id
from evenrank.tables import of_cell

TABLES = ("csv", "jsonl", "parquet")
TEXT = ("text", "contents", "body", "query_text", "question", "title", "query")
REASON = ("reason", "reasons", "example/description", "description")
LISTS = ("categories", "domains", "subdomains")  # columns whose cells are lists, separated by commas
TOPICS = ("topic", "top", "query")
NUMBERS = ("number", "num", "id", "qid")
IDS = (*ACCEPTED["query"], *ACCEPTED["id"])
SEARCHED = spellings(*SEARCHES)
USERS = NAMES["user"][0]


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
        exact = {name.lower(): name for name in self.columns}
        wanted = [name if name in self.columns else exact.get(name.lower(), name) for name in names]
        for name in wanted:
            if name not in self.columns:
                there = ", ".join(self.columns) or "none besides the query and its text"
                raise ParameterError(f"--by {name}: {self.source} has no such column; it has {there}")
        found: dict[str, list[str]] = {query: [] for query in self.ids}
        for name in wanted:
            before = f"{name}: " if len(wanted) > 1 else ""
            for query, cell in zip(self.ids, self.columns[name], strict=True):
                listed = name.lower() in LISTS
                for value in (cell or "").split(",") if listed else [cell or ""]:
                    category = before + (value.strip() if listed else value)
                    if value.strip() and category not in found[query]:
                        found[query].append(category)
        return {query: own for query, own in found.items() if own}

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
    named = (columns or {}).get("query")
    return len(first) > 1 and (first[0].lower() in IDS or named in first)


def _of_table(table: NamedTable, columns: Mapping[str, str] | None, *, guarded: bool = False) -> Queries:
    """A cell of a CSV file that a spreadsheet would run is ``guarded``: it begins with an apostrophe."""
    name, named = table.name, columns or {}
    for role in ("query_text", "weight"):  # no other file has such a column, so it must be here
        if named.get(role) not in (None, *table.names):
            raise DataError(
                f"{name}: no column {named[role]!r} for the {role}; the columns are {listed(table.names)}"
            )
    lower = {column.lower() for column in table.names}
    # the published sets call the id QID and the text Query; logs have a number, and what was asked
    numbered = ["id"] if "query" in lower and not lower & set(TEXT[:-1]) else []
    query = _column(table, named.get("query"), ("qid", "query_id", *numbered, *IDS, *SEARCHES, *USERS))
    if query is None:
        raise DataError(
            f"{name}: no column for the query (accepted: {', '.join(IDS)}, search term, keyword); the "
            f"columns are {listed(table.names)}: call the one that has the queries 'query'"
        )
    text = named.get("query_text") or _column(table, named.get("text"), (*TEXT, *SEARCHES), {query})
    weight = _column(table, named.get("weight"), ACCEPTED["weight"], {query, text})
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
        texts = {}
        if text is not None:
            said = zip(ids, _texts(table, text, cell), strict=True)
            texts = by_id(((one, what) for one, what in said if what is not None), name)
        found = Queries(name, ids, texts, others, text)
    return replace(found, weight_column=weight, lines=table.report.lines)


def _of_words(
    name: str, words: Iterable[str], others: Mapping[str, tuple[str | None, ...]], column: str | None
) -> Queries:
    """Queries of a file that has nothing but what people asked."""
    asked = [(made_id(text), normal(text)) for text in words]
    return Queries(name, tuple(query for query, _ in asked), by_id(asked, name), others, column)


def _column(
    table: NamedTable, named: str | None, accepted: Iterable[str], taken: Collection[str | None] = ()
) -> str | None:
    """The column that was named, if it is here; else the first accepted name of which there is one."""
    if named is not None and named in table.names:
        return named
    # names as they are first: a table may have both "query" and "Query"
    free = [name for name in table.names if name not in taken]
    known = {spelled(name): name for name in reversed(free)} | {name: name for name in free}
    return next((known[key] for one in accepted for key in (one, spelled(one)) if key in known), None)


def _texts(table: NamedTable, name: str, cell: Callable[[str], str]) -> tuple[str | None, ...]:
    cells = table.column(name)
    values = cells.to_pylist() if hasattr(cells, "to_pylist") else list(cells)
    return tuple(None if value is None or value == "" else cell(str(value)) for value in values)


def _of_lines(name: str, content: bytes) -> Queries:
    ids: list[str] = []
    texts: list[tuple[str, str]] = []
    problems: list[Problem] = []
    for number, line in enumerate(content.split(b"\n"), 1):
        try:
            text = line.decode().rstrip("\r")
        except UnicodeDecodeError:
            problems.append(Problem(number, "is not UTF-8"))
            continue
        if not text.strip() or text.startswith("#"):
            continue
        identifier, _, said = (part.strip() for part in text.partition("\t"))
        if not identifier:
            problems.append(Problem(number, "there is no query id before the tab"))
            continue
        ids.append(identifier)
        if said:
            texts.append((identifier, said))
    if problems:
        raise DataError.listing(name, problems)
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
