"""Documents of TREC: ``<DOC>`` with a ``<DOCNO>``, of news (TREC text) and of the web (TREC web)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pyarrow as pa

from evenrank.errors import PROBLEMS_SHOWN, DataError, ParameterError, Problem
from evenrank.io.document_formats.declared import declare_documents
from evenrank.io.document_tables import SCHEMA
from evenrank.io.html_text import html_text
from evenrank.io.source import Source

_AT_ONCE = 1 << 22  # bytes of text in one table
_LONGEST = 1 << 28  # of one document: what is longer has lost its end
_BEGIN, _END = re.compile(rb"<DOC>", re.I), re.compile(rb"</DOC>", re.I)
_NUMBER = re.compile(r"<DOCNO>\s*(.*?)\s*</DOCNO>", re.I | re.S)
_HEADER = re.compile(r"<DOCHDR>.*?</DOCHDR>", re.I | re.S)


@declare_documents("trecweb", ".trecweb", ".trectext")
def read_trec_documents(source: Source, columns: Mapping[str, str] | None) -> Iterator[pa.Table]:
    """The id is the ``<DOCNO>``, the text all that is shown of the rest. Bytes that are not UTF-8 are read as
    Windows-1252, which old collections are written in."""
    if columns:
        raise ParameterError(f"{source.name}: columns= applies only to tables: a TREC file has no columns")
    ids: list[str] = []
    texts: list[str] = []
    problems: list[Problem] = []
    held = 0
    for line, raw in _documents(source):
        content = _decoded(raw)
        number = _NUMBER.search(content)
        if number is None or not number[1]:
            problems.append(Problem(line, "<DOC> has no <DOCNO>, which is its id"))
            if len(problems) > PROBLEMS_SHOWN:
                break
            continue
        rest = content[: number.start()] + content[number.end() :]
        ids.append(number[1])
        texts.append(html_text(_HEADER.sub("", rest)))
        held += len(raw)
        if held >= _AT_ONCE and not problems:
            yield pa.table([ids, texts], schema=SCHEMA)
            ids, texts, held = [], [], 0
    if problems:
        raise DataError.listing(source.name, problems)
    if ids:
        yield pa.table([ids, texts], schema=SCHEMA)


def _documents(source: Source) -> Iterator[tuple[int, bytes]]:
    """What stands between ``<DOC>`` and ``</DOC>``, with the line of its beginning."""
    held, line = b"", 1
    for block in source.blocks():
        held += block
        at = 0
        while True:
            begin = _BEGIN.search(held, at)
            end = None if begin is None else _END.search(held, begin.end())
            if begin is None or end is None:
                break
            yield line + held.count(b"\n", at, begin.start()), held[begin.end() : end.start()]
            line += held.count(b"\n", at, end.end())
            at = end.end()
        held = held[at:]
        if len(held) > _LONGEST:
            raise DataError.listing(
                source.name, [Problem(line, "</DOC> does not follow: is this TREC text?")]
            )
    if _BEGIN.search(held):
        raise DataError.listing(source.name, [Problem(line, "the last <DOC> has no </DOC>: the file is cut")])
    if held.strip():
        raise DataError.listing(source.name, [Problem(line, "expected <DOC>")])


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")
