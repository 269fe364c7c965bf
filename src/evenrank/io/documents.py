"""Documents as a stream of Arrow batches, with constant memory whatever the collection's size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import pyarrow as pa

from evenrank.errors import DataError, InputTypeError, ParameterError
from evenrank.io.cells import id_cells, text_cells
from evenrank.io.column_names import resolve_documents
from evenrank.io.datasets import is_dataset, open_dataset
from evenrank.io.document_formats import document_format_names, document_formats, format_of_documents
from evenrank.io.reading import Documents, Reading, Texts, documents_of_columns
from evenrank.io.row_problems import RowProblems
from evenrank.io.shards import is_many, list_shards
from evenrank.io.source import Source, as_source, check_format
from evenrank.io.tables import as_table

BATCH_ROWS = 1 << 15

_BATCH_BYTES = 1 << 24
_PAIRS = 1 << 12  # at a time
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
    if is_many(source):
        shards = list_shards(source, format)  # type: ignore[arg-type]
        read = (
            documents
            for shard in shards
            for documents in read_stretch(Reading(shard.source(), columns), shard.format)
        )
        return _batches(read, str(source), batch_rows)
    name, documents = open_documents(source, format, columns)
    return _batches(documents, name, batch_rows)


def _batches(
    documents: Iterable[Documents | DataError], name: str, batch_rows: int
) -> Iterator[pa.RecordBatch]:
    """Of bounded size; a source without a document is an error, found when it ends."""
    some = False
    for found in documents:
        if isinstance(found, DataError):
            raise found
        batch = found.batch()
        rows = min(batch_rows, max(1, len(batch) * _BATCH_BYTES // max(batch.nbytes, _BATCH_BYTES)))
        for begin in range(0, len(batch), rows):
            some = True
            yield batch.slice(begin, rows)
    if not some:
        raise NoDocumentsError(f"{name}: no documents")


def open_documents(
    source: object, format: str | None, columns: Mapping[str, str] | None
) -> tuple[str, Iterator[Documents | DataError]]:
    """What to call a source in messages, and its documents from first to last. It is no folder or pattern."""
    check_format(format, document_format_names())
    if is_dataset(source):
        return str(source), _dataset(str(source), columns)
    file = as_source(source)
    if file is not None:
        file.check()
        return file.name, read_stretch(Reading(file, columns), format_of(file, format))
    if format is not None:
        raise ParameterError(f"format= applies only to files, got {type(source).__name__}")
    frame = as_table(source)
    if frame is not None:
        report = RowProblems("documents")
        chosen = resolve_documents(frame.names, columns, "documents")
        return "documents", iter([_weighed(documents_of_columns(frame.column, chosen, report))])
    if columns is not None:
        raise ParameterError(f"columns= applies only to tables and files, got {type(source).__name__}")
    if isinstance(source, Mapping):
        return "documents", _pairs(source.items())
    if isinstance(source, Iterable) and not isinstance(source, (bytes, bytearray)):
        return "documents", _pairs(source)
    raise InputTypeError(f"documents are read from {_ACCEPTED}; got {type(source).__name__}")


def read_stretch(reading: Reading, format: str) -> Iterator[Documents | DataError]:
    """The documents of a file or a stretch of it."""
    return document_formats()[format].read(reading)


def format_of(source: Source, format: str | None) -> str:
    found = format or format_of_documents(source.path or source.name)
    if found is None:
        raise ParameterError(
            f"{source.name}: the suffix does not tell the format: give the file a suffix that does, as "
            ".jsonl, or say format= (in the project file format in [data.documents]), one of "
            f"{', '.join(document_format_names())}"
        )
    return found


def _weighed(documents: Documents) -> Documents:
    """Documents that come from memory: what was read are their ids and texts."""
    return replace(documents, bytes_read=Texts.of(documents.ids).size + documents.texts.size)


def _pairs(pairs: Iterable[Any]) -> Iterator[Documents | DataError]:
    iterator, row = iter(pairs), 0
    while chunk := list(islice(iterator, _PAIRS)):
        report = RowProblems("documents", called="document", first=row)
        for at, pair in enumerate(chunk):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                report.add(at, f"expected a pair (id, text), got {type(pair).__name__}")
        report.check()
        ids = id_cells([pair[0] for pair in chunk], "id", report)
        texts = text_cells([pair[1] for pair in chunk], "text", report)
        report.check()
        yield _weighed(Documents.of("documents", ids, texts))
        row += len(chunk)


def _dataset(source: str, columns: Mapping[str, str] | None) -> Iterator[Documents | DataError]:
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

    return _pairs(pairs())
