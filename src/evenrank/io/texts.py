"""Texts by id, of documents or of queries, with one rule for an id that is there twice: it is an error."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pyarrow.compute as pc

from evenrank.errors import DataError, counted, few
from evenrank.ids import as_strings
from evenrank.io.documents import DocumentsFile, read_documents
from evenrank.io.source import as_source

_SHOWN = 3


def read_texts(
    source: Any,
    what: str = "documents",
    *,
    wanted: Collection[str] | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """``{id: text}`` from anything that ``read_documents`` reads; of the ``wanted`` ids alone, where given.

    ``what`` is what to call a source without a name. An id that is there twice is an error, also with the
    same text: which of the two was meant is not for a reader to guess.

    >>> read_texts([("d1", "a cat"), ("d2", "a dog")])
    {'d1': 'a cat', 'd2': 'a dog'}
    """
    if isinstance(source, Mapping) and wanted is not None:  # it may be a large one that reads from disk
        source = {name: source[name] for name in wanted if name in source}
        if not source:
            return {}
    only = None if wanted is None else as_strings(sorted(wanted))

    def pairs() -> Iterable[tuple[str, str]]:
        for batch in read_documents(source, format=format, columns=columns):
            rows = batch if only is None else batch.filter(pc.is_in(batch.column("id"), value_set=only))
            yield from zip(rows.column("id").to_pylist(), rows.column("text").to_pylist(), strict=True)

    return by_id(pairs(), name_of(source, what))


def read_document_ids(source: Any) -> list[str]:
    """The ids of all documents of anything that ``read_documents`` reads, in their order.

    >>> read_document_ids([("d1", "a cat"), ("d2", "a dog")])
    ['d1', 'd2']
    """
    if isinstance(source, Mapping):
        return list(source)
    return [name for batch in read_documents(source) for name in batch.column("id").to_pylist()]


def by_id(pairs: Iterable[tuple[str, str]], where: str) -> dict[str, str]:
    """The pairs as a mapping; ids that are there twice are one error."""
    texts: dict[str, str] = {}
    twice: dict[str, None] = {}
    for identifier, text in pairs:
        if identifier in texts:
            twice[identifier] = None
        texts[identifier] = text
    if twice:
        raise DataError(
            f"{where}: {counted(len(twice), 'id is', 'ids are')} there twice: {few(list(twice), _SHOWN)}; "
            "each text needs an id of its own"
        )
    return texts


def name_of(source: Any, what: str) -> str:
    """What to call a source in a message."""
    if isinstance(source, DocumentsFile):
        return source.path
    file = None if isinstance(source, str) and not source else as_source(source)
    return what if file is None else file.name
