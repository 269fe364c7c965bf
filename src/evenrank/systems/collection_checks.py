"""What is wrong with a collection that can be seen before any work: texts that are blank, a header line."""

from __future__ import annotations

from typing import Any

from evenrank.errors import DataError, counted
from evenrank.io.column_names import ACCEPTED
from evenrank.io.documents import DocumentsFile
from evenrank.io.source import guess_format
from evenrank.io.texts import name_of, read_texts
from evenrank.systems.base import Texts

_SHOWN = 40


def read_collection(source: Any, *, searched: bool = True) -> tuple[dict[str, str], list[str]]:
    """The documents of anything that ``read_texts`` reads, and what a reader should know about them."""
    documents = read_texts(source)
    plain_lines = (
        isinstance(source, DocumentsFile)
        and source.columns is None
        and (source.format or guess_format(source.path)) == "tsv"
    )
    where = name_of(source, "documents")
    return documents, check_collection(documents, where, plain_lines=plain_lines, searched=searched)


def check_collection(documents: Texts, where: str, *, plain_lines: bool, searched: bool = True) -> list[str]:
    """What a reader should know about these documents; an error where they have nothing to search.

    ``plain_lines`` are those of a TSV file without a header: id, tab, text. A first line that looks like a
    header counts as a document there, since a document may be called ``id`` as well.

    >>> check_collection({"d1": "a cat"}, "docs.tsv", plain_lines=True)
    []
    """
    head = next(iter(documents), None) if plain_lines else None
    if head is not None and not _looks_like_a_header(head, documents[head]):
        head = None
    if searched and not any(text.strip() for name, text in documents.items() if name != head):
        raise _nothing_to_search(documents, where, head)
    if head is None:
        return []
    text = _text_column(documents[head])
    return [
        f"{where}: the first line looks like a header, and was read as a document with the id {head!r}: "
        "delete that line, or let the project file name the columns: "
        f'[data.documents] file = "{where}" columns = {{ id = "{head}", text = "{text}" }}'
    ]


def _nothing_to_search(documents: Texts, where: str, head: str | None) -> DataError:
    if head is not None:
        return DataError(
            f"{where}: no documents: the first line looks like a header ({head!r}, "
            f"{documents[head][:_SHOWN]!r}), and no other line has a text"
        )
    many = counted(len(documents), "document has a blank text", "documents have blank texts")
    return DataError(f"{where}: nothing can be searched: {many}; add the texts")


def _looks_like_a_header(name: str, text: str) -> bool:
    return name.strip().lower() in ACCEPTED["id"] and bool(_text_column(text))


def _text_column(text: str) -> str:
    """The column of the text in what stands behind the id of a header line; empty where there is none."""
    cells = [cell.strip() for cell in text.split("\t")]
    accepted = (*ACCEPTED["text"], *ACCEPTED["title"])
    return next((cell for name in accepted for cell in cells if cell.lower() == name), "")
