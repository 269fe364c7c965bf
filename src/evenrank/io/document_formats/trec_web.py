"""Documents of TREC: ``<DOC>`` with a ``<DOCNO>``, of news (TREC text) and of the web (TREC web)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from evenrank.errors import PROBLEMS_SHOWN, DataError, ParameterError, Problem, shortened
from evenrank.io.document_formats.declared import declare_documents
from evenrank.io.html_text import html_text
from evenrank.io.reading import Documents, Reading
from evenrank.io.source import Source

_LONGEST = 1 << 26  # of one document: what is longer has lost its end
# no pattern looks beyond the next tag, so that no file takes longer than its length allows
_BEGIN, _END = re.compile(rb"<DOC(\s[^<>]*)?>", re.I), re.compile(rb"</DOC>", re.I)
_NUMBER = re.compile(r"<DOCNO>([^<]*)</DOCNO>", re.I)
_HEADER, _HEADER_END = re.compile(r"<DOCHDR>", re.I), re.compile("</DOCHDR>", re.I)
_ID = re.compile(r"""\sid\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.I)
_SEVERAL = "<DOC> has several <DOCNO>: is the </DOC> missing before the second?"


class TrecDocument(NamedTuple):
    """What stands between ``<DOC>`` and ``</DOC>``, the attributes of ``<DOC>``, and its line."""

    line: int
    attributes: bytes
    content: bytes


@declare_documents("trecweb", ".trecweb", ".trectext")
def read_trec_documents(reading: Reading) -> Iterator[Documents | DataError]:
    """The id is the ``<DOCNO>``, or else the attribute ``id`` of ``<DOC>``; the text all that is shown of the
    rest. Bytes that are not UTF-8 are read as Windows-1252, which old collections are written in."""
    if reading.columns:
        raise ParameterError(f"{reading.name}: columns= applies only to tables: a TREC file has no columns")
    yield from reading.gathered(_pairs(reading))


def _pairs(reading: Reading) -> Iterator[tuple[str, str]]:
    problems: list[Problem] = []
    for found in _documents(reading.source):
        row = found if isinstance(found, Problem) else _row(found, reading.name)
        if isinstance(row, Problem):
            problems.append(row)
            if len(problems) > PROBLEMS_SHOWN:
                break
        elif not problems:
            yield row
    if problems:
        raise DataError.listing(reading.name, problems)


def _row(document: TrecDocument, name: str) -> tuple[str, str] | Problem:
    """The id and the text of a document."""
    content = _decoded(document.content)
    numbers = list(_NUMBER.finditer(content))
    if len(numbers) > 1:
        return Problem(document.line, _SEVERAL)
    attribute = _ID.search(_decoded(document.attributes))
    if numbers and numbers[0][1].strip():
        own = numbers[0][1].strip()
    elif attribute is not None and any(attribute.groups()):
        own = html.unescape(next(filter(None, attribute.groups())))
    else:
        return Problem(document.line, "<DOC> has no <DOCNO> and no attribute id, which could be its id")
    for number in numbers:
        content = content[: number.start()] + content[number.end() :]
    return own, html_text(_without_header(content), name)


def _without_header(content: str) -> str:
    header = _HEADER.search(content)
    end = None if header is None else _HEADER_END.search(content, header.end())
    return content if header is None or end is None else content[: header.start()] + content[end.end() :]


def _documents(source: Source) -> Iterator[TrecDocument | Problem]:
    """The documents, and what is wrong with what stands around them."""
    held, line = b"", 1  # what is not done with, and the line of its beginning
    for block in source.blocks_without_bom():
        *ended, held = _END.split(held + block)
        for piece in ended:
            begin = _BEGIN.search(piece)
            yield from _outside(piece if begin is None else piece[: begin.start()], line, source.name)
            if begin is not None:
                first = line + piece.count(b"\n", 0, begin.start())
                yield TrecDocument(first, begin[1] or b"", piece[begin.end() :])
            line += piece.count(b"\n")
        if len(held) > _LONGEST:
            break
    begin = _BEGIN.search(held)
    yield from _outside(held if begin is None else held[: begin.start()], line, source.name)
    if begin is not None:
        what = "follows for a long time" if len(held) > _LONGEST else "follows: is the file cut?"
        yield Problem(line + held.count(b"\n", 0, begin.start()), f"<DOC> is not ended: no </DOC> {what}")
    elif len(held) > _LONGEST:  # what stands behind it was not looked at
        yield Problem(line, f"no <DOC> follows within {_LONGEST:,} bytes: is this TREC text?")


def _outside(raw: bytes, line: int, name: str) -> Iterator[Problem]:
    """Text that is in no document would be lost; tags around documents, and comments, hold none."""
    shown = html_text(_decoded(raw), name) if raw.strip() else ""
    if shown:
        first = shown.partition("\n")[0]
        before = raw.count(b"\n", 0, max(0, raw.find(first.split(" ")[0].encode())))
        yield Problem(line + before, f"text outside of <DOC> and </DOC>: {shortened(first)!r}")


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")
