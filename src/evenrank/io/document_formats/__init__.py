"""Formats of collections: each is one file that declares its name, its suffixes and how documents are read.

Every module of this folder is loaded when a format is first looked for, so a new format is one new file;
scan, swap and whatever else reads documents can then read it, plain or compressed, from a disk or a store.
"""

from __future__ import annotations

import os
from functools import cache

from evenrank.io.document_formats.declared import DOCUMENT_FORMATS, DocumentFormat
from evenrank.io.source import guess_format
from evenrank.modules import load_folder


@cache
def document_formats() -> dict[str, DocumentFormat]:
    """The formats by name; of tables first, in whose order they are listed."""
    load_folder(__name__, __path__)
    common = ("tsv", "csv", "jsonl", "parquet")
    return {name: DOCUMENT_FORMATS[name] for name in (*common, *sorted({*DOCUMENT_FORMATS} - {*common}))}


def document_format_names() -> tuple[str, ...]:
    """What ``format=`` takes for documents."""
    return tuple(document_formats())


def format_of_documents(name: str | os.PathLike[str]) -> str | None:
    """The format that a file's name tells; None where it tells none that documents have.

    >>> format_of_documents("CC-MAIN-00001.warc.wet.gz"), format_of_documents("notes.md")
    ('warc', None)
    """
    own = {suffix: kind for kind, one in document_formats().items() for suffix in one.suffixes}
    found = guess_format(name, own)
    return found if found in document_formats() else None
