"""Web archives: the WET files of Common Crawl, and WARC files with the pages themselves."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from io import UnsupportedOperation
from typing import Any

from evenrank.errors import DataError, MissingExtraError, ParameterError
from evenrank.io.document_formats.declared import declare_documents
from evenrank.io.html_text import html_text
from evenrank.io.reading import Documents, Reading
from evenrank.io.source import Source

_IDS = ("WARC-TREC-ID", "WARC-Record-ID")  # ClueWeb's own first
_PAGES = ("text/html", "application/xhtml+xml")


@declare_documents("warc", ".warc", ".wet")
def read_warc(reading: Reading) -> Iterator[Documents | DataError]:
    """Records with text: of a WET file its text, of a WARC file the text of web pages.

    The id is ``WARC-TREC-ID`` where there is one, else the number in ``WARC-Record-ID``; ``columns`` may name
    another header: ``{"id": "WARC-Target-URI"}``.
    """
    try:
        from fastwarc.warc import ArchiveIterator, WarcRecordType
    except ImportError as error:
        raise MissingExtraError.for_job(f"reading {reading.name} (WARC)", "fastwarc", "warc") from error
    headers = _id_headers(reading.columns, reading.name)
    kinds = WarcRecordType.conversion | WarcRecordType.response | WarcRecordType.resource
    stream: Any = _BlockReader(reading.source)
    records = ArchiveIterator(stream, record_types=kinds, parse_http=True, auto_decode="all")
    yield from reading.gathered(_pairs(records, headers, reading.name, stream))


def _pairs(
    records: Any, headers: tuple[str, ...], name: str, stream: _BlockReader
) -> Iterator[tuple[str, str]]:
    number = 0
    while True:
        try:
            record = next(records, None)
            if record is None:
                break
            number += 1
            text = _text(record, name, number)
        except DataError:
            raise
        except (ValueError, OSError, RuntimeError) as error:
            raise DataError(f"{name}: record {number + 1}: is not sound WARC: {error}") from error
        if text is not None:
            yield _id(record, headers, name, number), text
    if not number and stream.bytes:
        raise DataError(f"{name}: holds no WARC record with text: is it a WARC or WET file?")


def _id_headers(columns: Mapping[str, str] | None, name: str) -> tuple[str, ...]:
    others = sorted(set(columns or {}) - {"id"})
    if others:
        raise ParameterError(
            f"{name}: columns of a web archive are only the header that is the id (id=WARC-Target-URI), "
            f"got {others[0]}="
        )
    return (columns["id"],) if columns else _IDS


def _id(record: Any, headers: tuple[str, ...], name: str, number: int) -> str:
    for header in headers:
        found = record.headers.get(header)
        if found:
            return str(found).strip("<>").removeprefix("urn:uuid:")
    raise DataError(f"{name}: record {number}: has no header {' or '.join(headers)}, which is its id")


def _text(record: Any, name: str, number: int) -> str | None:
    """The text of a record; None for what is no page."""
    length = record.content_length  # behind the headers of HTTP, where there are any
    content = bytes(record.reader.read())
    if len(content) < length and not _is_coded(record):  # what was packed has another length now
        raise DataError(
            f"{name}: record {number}: ends after {len(content):,} of {length:,} bytes: the file is truncated"
        )
    if str(record.record_type) == "conversion":
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"{name}: record {number}: invalid UTF-8 at byte {error.start} of it") from error
    kind = (record.http_content_type if record.is_http else record.headers.get("Content-Type")) or ""
    kind = kind.partition(";")[0].strip().lower()
    if kind not in (*_PAGES, "text/plain"):
        return None
    page = content.decode(_charset(record), "replace").encode("utf-8", "replace").decode()  # no surrogates
    return html_text(page, name) if kind in _PAGES else page


def _is_coded(record: Any) -> bool:
    """Whether a page was sent packed, or in chunks."""
    headers = record.http_headers if record.is_http else None
    return headers is not None and any(
        headers.get(name) for name in ("Content-Encoding", "Transfer-Encoding")
    )


def _charset(record: Any) -> str:
    found = record.http_charset if record.is_http else None
    try:
        b"".decode(found or "utf-8")
    except LookupError:
        return "utf-8"
    return found or "utf-8"


class _BlockReader:
    """Unpacked blocks as a file that can be read from."""

    def __init__(self, source: Source) -> None:
        self._blocks = source.blocks()
        self._held, self._at = b"", 0
        self.bytes = 0

    def read(self, size: int = -1) -> bytes:
        while size < 0 or len(self._held) - self._at < size:
            more = next(self._blocks, None)
            if more is None:
                break
            self._held, self._at = self._held[self._at :] + more, 0
        end = len(self._held) if size < 0 else self._at + size
        taken = self._held[self._at : end]
        self._at += len(taken)
        self.bytes += len(taken)
        return taken

    def tell(self) -> int:
        return self.bytes

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Forwards alone: records that are of no use are passed over so."""
        forwards = offset - self.bytes if whence == os.SEEK_SET else offset
        if whence == os.SEEK_END or forwards < 0:
            raise UnsupportedOperation("a stream goes forwards only")
        while forwards and (passed := len(self.read(min(forwards, 1 << 20)))):
            forwards -= passed
        return self.bytes
