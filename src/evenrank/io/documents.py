"""Documents as a stream of Arrow batches, with constant memory whatever the collection's size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa

from evenrank.errors import DataError, InputTypeError, ParameterError
from evenrank.io.cells import id_cells, text_cells
from evenrank.io.datasets import is_dataset, open_dataset
from evenrank.io.document_formats import document_format_names, document_formats, format_of_documents
from evenrank.io.document_tables import SCHEMA, frame_table
from evenrank.io.row_problems import RowProblems
from evenrank.io.shards import is_many, list_shards
from evenrank.io.source import Source, as_source, check_format
from evenrank.io.tables import as_table

BATCH_ROWS = 1 << 15

_BATCH_BYTES = 1 << 24
_ACCEPTED = (
    "a path (str or Path, '-' is standard input), a folder or a pattern of files, an address (s3://..), "
    "'ir_datasets:NAME', an open file, "
    "a pandas, polars or Arrow table, a dict {id: text}, or an iterable of (id, text)"
)


class NoDocumentsError(DataError):
    """A source that is sound, and holds no document."""


@dataclass(frozen=True)
class DocumentsFile:
    """Documents that are read where they are needed, and how to read them."""

    path: str
    format: str | None = None
    columns: Mapping[str, str] | None = None


def read_documents(
    source: object,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    batch_rows: int = BATCH_ROWS,
) -> Iterator[pa.RecordBatch]:
    """Documents in their order, as batches with the columns ``id`` and ``text``.

    ``source`` is a file (``.gz`` and ``.zst`` too), a pattern of files (``shards/*.jsonl.gz``), a folder of
    them, any of these in a store (``s3://bucket/folder``), ``-``, ``ir_datasets:NAME``, a table, a dict
    ``{id: text}`` or an iterable of pairs. ``format`` is told by the file's name:

    - ``tsv``: ``id``, a tab, the text; no header, no quoting. With ``columns`` the first line is a header.
    - ``csv``: with a header and quoting.
    - ``jsonl``: one object a line, as BEIR has it: ``_id``, ``title``, ``text``.
    - ``parquet``: by column.
    - ``warc``: web archives, WET and WARC. ``trecweb``: files of ``<DOC>`` with a ``<DOCNO>``.

    A title that is not empty stands before the text, with a blank between. ``columns`` says how a
    source calls its columns: ``{"id": "docno", "text": "body"}``. A batch has at most ``batch_rows``
    rows and about 16 MB. Ids that occur twice are not looked for here.

    >>> [batch.to_pylist() for batch in read_documents([("d1", "some words")])]
    [[{'id': 'd1', 'text': 'some words'}]]
    """
    if isinstance(source, DocumentsFile):
        format, columns = format or source.format, columns or source.columns
        source = source.path
    check_format(format, document_format_names())
    if batch_rows < 1:
        raise ParameterError(f"batch_rows must be at least 1, got {batch_rows}")
    if is_dataset(source):
        return _checked(_dataset(str(source), columns), str(source), batch_rows)
    if is_many(source):
        return _of_shards(source, format, columns, batch_rows)
    file = as_source(source)
    if file is not None:
        file.check()
        return _checked(_file_tables(file, format, columns), file.name, batch_rows)
    if format is not None:
        raise ParameterError(f"format= applies only to files, got {type(source).__name__}")
    frame = as_table(source)
    if frame is not None:
        return _checked(iter([frame_table(frame, columns, "documents")]), "documents", batch_rows)
    if columns is not None:
        raise ParameterError(f"columns= applies only to tables and files, got {type(source).__name__}")
    if isinstance(source, Mapping):
        return _checked(_pair_tables(source.items(), batch_rows), "documents", batch_rows)
    if isinstance(source, Iterable) and not isinstance(source, (bytes, bytearray)):
        return _checked(_pair_tables(source, batch_rows), "documents", batch_rows)
    raise InputTypeError(f"documents are read from {_ACCEPTED}; got {type(source).__name__}")


def _of_shards(
    source: Any, format: str | None, columns: Mapping[str, str] | None, batch_rows: int
) -> Iterator[pa.RecordBatch]:
    """The documents of all files, one after another; that one of them holds none is no error."""
    some = False
    for shard in list_shards(source, format):
        with suppress(NoDocumentsError):
            for batch in read_documents(
                shard.address, format=shard.format, columns=columns, batch_rows=batch_rows
            ):
                some = True
                yield batch
    if not some:
        raise NoDocumentsError(f"{source}: no documents")


def _checked(tables: Iterator[pa.Table], name: str, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Batches of bounded size; a source without a document is an error, found when it ends."""
    some = False
    for table in tables:
        for batch in table.cast(SCHEMA).combine_chunks().to_batches():
            for piece in _pieces(batch, batch_rows):
                some = True
                yield piece
    if not some:
        raise NoDocumentsError(f"{name}: no documents")


def _pieces(batch: pa.RecordBatch, batch_rows: int) -> Iterator[pa.RecordBatch]:
    rows = min(batch_rows, len(batch))
    if len(batch) and batch.nbytes > _BATCH_BYTES:
        rows = max(1, min(rows, len(batch) * _BATCH_BYTES // batch.nbytes))
    for begin in range(0, len(batch), max(1, rows)):
        yield batch.slice(begin, rows)


def _file_tables(source: Source, format: str | None, columns: Mapping[str, str] | None) -> Iterator[pa.Table]:
    format = format or format_of_documents(source.path or source.name)
    if format is None:
        raise ParameterError(
            f"{source.name}: the suffix does not tell the format: pass "
            f"format= (in the shell FILE:format=NAME), one of {', '.join(document_format_names())}, or give "
            "the file such a suffix"
        )
    return document_formats()[format].read(source, columns)


def _pair_tables(pairs: Iterable[Any], batch_rows: int) -> Iterator[pa.Table]:
    iterator, row = iter(pairs), 0
    while chunk := list(islice(iterator, min(batch_rows, 1 << 12))):
        report = RowProblems("documents", place=lambda at, first=row: f"document {first + at + 1}")  # type: ignore[misc]
        for at, pair in enumerate(chunk):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                report.add(at, f"expected a pair (id, text), got {type(pair).__name__}")
        report.check()
        ids = id_cells([pair[0] for pair in chunk], "id", report)
        texts = text_cells([pair[1] for pair in chunk], "text", report)
        report.check()
        yield pa.table([ids, texts], schema=SCHEMA)
        row += len(chunk)


def _dataset(source: str, columns: Mapping[str, str] | None) -> Iterator[pa.Table]:
    dataset = open_dataset(source)
    if not dataset.has_docs():
        raise DataError(f"{source}: the dataset has no documents")
    fields = dataset.docs_cls()._fields
    for role, field in (columns or {}).items():
        if role not in ("id", "text") or field not in fields:
            raise DataError(
                f"{source}: no field {field!r} for the {role}; the fields are {', '.join(fields)}"
            )
    id_field, text_field = (columns or {}).get("id", "doc_id"), (columns or {}).get("text")

    def pairs() -> Iterator[tuple[str, str]]:
        documents: Iterator[Any] | None = None
        while True:
            try:
                documents = iter(dataset.docs_iter()) if documents is None else documents
                document = next(documents)
            except StopIteration:
                return
            except Exception as error:  # of any kind: a download that fails, a file that is broken
                raise DataError(f"{source}: ir_datasets cannot give the documents: {error}") from error
            text = document.default_text() if text_field is None else getattr(document, text_field)
            yield getattr(document, id_field), text

    return _pair_tables(pairs(), BATCH_ROWS)
