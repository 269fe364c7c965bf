"""Inputs as a table: how many runs, queries and judgements there are, and who is in which group."""

from __future__ import annotations

from collections.abc import Iterator

from evenrank.errors import EvenrankError, counted
from evenrank.inputs.description import Description
from evenrank.inputs.inputs import Inputs
from evenrank.io.documents import DocumentsFile
from evenrank.io.remote import is_remote
from evenrank.io.shards import list_shards
from evenrank.tables import Column, Table, number

MOST_GROUPS = 8


def table_of_inputs(inputs: Inputs, known: Description, title: str) -> Table:
    """A row for each input, with what it became."""
    became = Column("what it became", right=False, wraps=True)
    return Table.of(
        ["input", became],
        _rows(inputs),
        words=2,
        title=title,
        notes=known.notes,
        meaning="What evenrank read from each input.",
    )


def _rows(inputs: Inputs) -> Iterator[tuple[str, str]]:
    for name, run in inputs.runs.items():
        yield f"run {name}", counted(len(run.query_ids), "query", "queries")
    if not inputs.runs:
        yield "runs", "none"
    if inputs.qrels is not None:
        yield "judgements", counted(len(inputs.qrels.query_ids), "query", "queries")
    if inputs.intents is not None:
        yield "judgements by intent", counted(len(inputs.intents.query_ids), "query", "queries")
    if inputs.queries is not None:
        with_text = sum(query in (inputs.query_texts or {}) for query in inputs.queries)
        yield "queries", f"{len(inputs.queries):,}, {with_text:,} with a text"
    if inputs.categories is not None:
        names = list(dict.fromkeys(name for own in inputs.categories.values() for name in own))
        yield "categories of queries", ", ".join(names)
    documents = _files_of(inputs.documents)
    if documents:
        yield "documents", documents
    if inputs.words is not None:
        groups = ", ".join(inputs.words.lexicon.groups)
        yield "word counts", f"{counted(len(inputs.words), 'document', 'documents')}; groups {groups}"
    for membership in inputs.groups:
        attribute = membership.attribute
        sizes = zip(attribute.values, membership.sizes().tolist(), strict=True)
        shown = ", ".join(f"{value} {size:,.0f}" for value, size in list(sizes)[:MOST_GROUPS])
        more = (
            "" if len(attribute.values) <= MOST_GROUPS else f" and {len(attribute.values) - MOST_GROUPS} more"
        )
        yield f"groups {attribute.name}", f"{shown}{more}; target {_target(attribute.target)}"
    if inputs.polarity is not None:
        yield "polarity", counted(len(inputs.polarity), "document", "documents")


def _files_of(documents: object) -> str:
    """How many files the documents are; nothing where that is not known, or only a store could tell."""
    if not isinstance(documents, DocumentsFile) or is_remote(documents.path):
        return ""
    try:
        shards = list_shards(documents.path, documents.format)
    except EvenrankError:
        return ""
    return f"{counted(len(shards), 'file', 'files')} ({shards[0].format})"


def _target(target: object) -> str:
    if isinstance(target, str):
        return target
    if isinstance(target, (list, tuple)):
        return ", ".join(number(float(share)) for share in target)
    return str(target)
