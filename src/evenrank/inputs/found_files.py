"""What the files of a folder probably are: runs, judgements, documents, queries, groups, word counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from evenrank.errors import EvenrankError
from evenrank.files import regular_file
from evenrank.io.cells import is_number
from evenrank.io.column_names import ACCEPTED, NAMES, PRODUCTS, SEARCHES, spelled, spellings
from evenrank.io.document_formats import format_of_documents
from evenrank.io.shards import is_many, list_shards, pattern_like
from evenrank.io.source import as_source, guess_format
from evenrank.io.toml import parse_toml

LOOKED_AT = 1 << 16  # bytes of each file
ROWS = 200
MOST_VALUES = 12  # a column with more distinct values is hardly a group
MOST_FILES = 2000
EVEN = {"both", "none", "neutral", "mixed", "all", "neither"}  # labels that belong to no group alone
IDS = spellings(*ACCEPTED["document"], *ACCEPTED["id"], *PRODUCTS)
SEARCHED = spellings(*SEARCHES)
QUERIES = spellings(*ACCEPTED["query"], *SEARCHES)
WORDS = {"keyword", "keywords", "term"}  # beside a text, those of the document and no query
RANKS = spellings(*(name for names in NAMES["rank"] for name in names))
TEXTS = spellings(*ACCEPTED["text"], *ACCEPTED["title"], "name", "product_name", "product_title")
DATABASES = (".db", ".sqlite", ".sqlite3")


@dataclass(frozen=True)
class FoundFile:
    """A file, what it seems to be, and what speaks for it."""

    path: str
    kind: str  # run, qrels, intents, documents, queries, groups, words, polarity, engine
    columns: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)  # columns with few values, and how to read them


@dataclass
class FoundFiles:
    by_kind: dict[str, list[FoundFile]] = field(default_factory=dict)

    def of(self, kind: str) -> list[FoundFile]:
        return self.by_kind.get(kind, [])


def look_around(folder: Path) -> FoundFiles:
    """Look at the beginning of every file of a folder and of the folders directly in it."""
    found = FoundFiles()
    for path in _files(folder):
        try:
            seen = _look_at(path, str(path.relative_to(folder)))
        except (EvenrankError, OSError, UnicodeDecodeError, ValueError, RecursionError):
            continue  # whatever it is, it is none of ours
        if seen is not None:
            found.by_kind.setdefault(seen.kind, []).append(seen)
    collections = list(_collections(folder, found))
    if collections:
        found.by_kind["documents"] = [*collections, *found.of("documents")]
    return found


def _collections(folder: Path, found: FoundFiles) -> Iterator[FoundFile]:
    """The folders in this one of which several files are documents of one format: a folder as a whole, or a
    pattern where it holds files of other kinds too."""
    alike: dict[str, list[FoundFile]] = {}
    for file in found.of("documents"):
        if format_of_documents(file.path) is not None and Path(file.path).parent != Path():
            alike.setdefault(pattern_like(file.path), []).append(file)
    others = {file.path for kind, files in found.by_kind.items() if kind != "documents" for file in files}
    for pattern, files in alike.items():
        for name in (f"{Path(pattern).parent}/", pattern) if len(files) > 1 else ():
            try:
                shards = list_shards(f"{folder}/{name}")
                fields = group_fields(f"{folder}/{name}")
            except (EvenrankError, OSError, ValueError):
                continue
            if others.isdisjoint(str(Path(shard.address).relative_to(folder)) for shard in shards):
                yield FoundFile(name, "documents", files[0].columns, fields)
                break


def group_fields(path: str | Path) -> dict[str, str]:
    """The fields of a table of documents that may be groups, since they have few values; how to read each."""
    if is_many(path):
        return group_fields_of(list(islice(_rows_of_files(path), ROWS)))
    found = _look_at(Path(path), str(path))
    return {} if found is None else dict(found.fields)


def group_fields_of(rows: list[dict[str, object]]) -> dict[str, str]:
    """The same for rows that are at hand."""
    found = _of_table("documents", rows)
    return {} if found is None else dict(found.fields)


def _rows_of_files(source: str | Path) -> Iterator[dict[str, object]]:
    """The rows at the beginning of each file of a collection."""
    for shard in list_shards(source):
        path = Path(shard.address)
        if shard.format == "parquet":
            yield from _parquet_rows(path)
        elif shard.format in ("jsonl", "csv", "tsv"):
            lines = _first_lines(path)
            yield from _json_rows(lines) if shard.format == "jsonl" else _delimited_rows(lines, shard.format)


def _files(folder: Path) -> Iterator[Path]:
    shallow = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    listed = [path for path in shallow if path.is_file()]
    for inner in (path for path in shallow if path.is_dir()):
        listed += sorted(path for path in inner.iterdir() if path.is_file() and path.name[0] != ".")
    yield from listed[:MOST_FILES]


def _look_at(path: Path, name: str) -> FoundFile | None:
    if path.suffix.lower() == ".parquet":
        return _of_parquet(path, name)
    if path.suffix.lower() in (".toml", *DATABASES):
        return FoundFile(name, "engine") if _is_engine(path) else None
    lines = _first_lines(path)
    if not lines:
        return None
    form = guess_format(path)
    if form == "jsonl" or lines[0].lstrip().startswith("{"):
        return _of_table(name, _json_rows(lines))
    if form in ("csv", "tsv"):
        return _of_delimited(name, lines, form)
    return _of_fields(name, lines)


def _first_lines(path: Path) -> list[str]:
    """Those that hold something, less one that goes on behind what was looked at."""
    source = as_source(path)
    if source is None:
        return []
    blocks = iter(source.blocks(LOOKED_AT))
    text = next(blocks, b"").decode("utf-8-sig", "ignore")
    lines = text.splitlines()
    if len(lines) > 1 and not text.endswith("\n") and next(blocks, None) is not None:
        lines.pop()
    return [line for line in lines[:ROWS] if line.strip()]


def _json_rows(lines: list[str]) -> list[dict[str, object]]:
    rows = [json.loads(line) for line in lines]
    return [row for row in rows if isinstance(row, dict)]


def _delimited_rows(lines: list[str], form: str) -> list[dict[str, object]]:
    import csv

    head, *rows = list(csv.reader(lines, delimiter="," if form == "csv" else "\t")) or [[]]
    return [dict(zip(head, row, strict=False)) for row in rows]


def _is_engine(path: Path) -> bool:
    """Whether a file is that of a search engine: its settings, or a database with full-text search."""
    if path.suffix == ".toml":
        return "address" in parse_toml(path.read_bytes(), str(path))
    import sqlite3
    from contextlib import closing

    with regular_file(path).open("rb") as file:
        if file.read(16) != b"SQLite format 3\0":
            return False
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
        made = "select count(*) from sqlite_master where sql like '%using fts5%'"
        try:
            return bool(database.execute(made).fetchone()[0])
        except sqlite3.Error:
            return False


def _of_fields(name: str, lines: list[str]) -> FoundFile | None:
    """TREC files by their number of fields: six are a run, four are judgements."""
    rows = [line.split() for line in lines]
    if all(len(row) == 6 and is_number(row[4]) for row in rows):
        return FoundFile(name, "run")
    if all(len(row) == 4 and row[3].lstrip("-").isdigit() for row in rows):
        return FoundFile(name, "intents" if len({row[1] for row in rows}) > 1 else "qrels")
    return None


def _of_delimited(name: str, lines: list[str], form: str) -> FoundFile | None:
    import csv

    head = next(csv.reader(lines, delimiter="," if form == "csv" else "\t"))
    if not any(spelled(column) in IDS | QUERIES for column in head):
        two = all(len(line.split("\t")) == 2 for line in lines)
        return FoundFile(name, "queries" if "quer" in name.lower() else "documents") if two else None
    return _of_table(name, _delimited_rows(lines, form))


def _of_table(name: str, rows: list[dict[str, object]]) -> FoundFile | None:
    columns = tuple(dict.fromkeys(column for row in rows for column in row))
    lower = {spelled(column) for column in columns}
    query, document = lower & QUERIES, lower & IDS
    if document == {"id"} and query and query <= SEARCHED:  # the number of what people searched for
        document = set()
    fields = fields_of(rows, [column for column in columns if spelled(column) not in IDS])
    if query and document and lower & spellings(*ACCEPTED["score"]):
        return FoundFile(name, "run", columns)
    if query and document and lower & spellings(*ACCEPTED["grade"]):
        return FoundFile(name, "intents" if lower & spellings(*ACCEPTED["intent"]) else "qrels", columns)
    text = lower & TEXTS
    if query and document and lower & spellings(*ACCEPTED["clicks"]):
        return None  # neither a run nor groups
    if query and document and lower & RANKS and not (text and query <= WORDS):
        return FoundFile(name, "run", columns)
    if query and not document:
        return FoundFile(name, "queries", columns, fields)
    if document and text:
        return FoundFile(name, "queries" if "quer" in name.lower() else "documents", columns, fields)
    if document and fields:
        return FoundFile(name, "groups", columns, fields)
    return None


def _of_parquet(path: Path, name: str) -> FoundFile | None:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(regular_file(path))
    metadata = file.schema_arrow.metadata or {}
    kinds = {b"evenrank.counts": "words", b"evenrank.polarity": "polarity"}
    for key, kind in kinds.items():
        if any(known.startswith(key) for known in metadata):
            return FoundFile(name, kind, tuple(file.schema_arrow.names))
    rows = _parquet_rows(path)
    return _of_table(name, rows) if rows else None


def _parquet_rows(path: Path) -> list[dict[str, object]]:
    import pyarrow.parquet as pq

    batch = next(pq.ParquetFile(regular_file(path)).iter_batches(batch_size=ROWS), None)
    return [] if batch is None else batch.to_pylist()


def fields_of(rows: list[dict[str, object]], columns: Iterable[str]) -> dict[str, str]:
    """The columns that may be groups, and how to read each."""
    found = {column: _values(rows, column) for column in columns}
    return {column: _options(values) for column, values in found.items() if values}


def _values(rows: list[dict[str, object]], column: str) -> list[str]:
    """The values of a column that has few, each in several rows: then it may be a group; else nothing."""
    values = [
        str(row[column]) for row in rows if isinstance(row.get(column), (str, int)) and row[column] != ""
    ]
    distinct = list(dict.fromkeys(values))
    return distinct if 2 <= len(distinct) <= MOST_VALUES and len(values) >= 2 * len(distinct) else []


def _options(values: list[str]) -> str:
    """How such a column is probably read: numbers in their order, 'both' and 'none' as no groups."""
    if all(map(is_number, values)):
        return ":ordinal"
    even = [value for value in values if value.lower() in EVEN]
    groups = [value for value in values if value not in even]
    if not even or len(groups) < 2:
        return ""
    return f":values={','.join(sorted(groups))}:even={','.join(sorted(even))}"
