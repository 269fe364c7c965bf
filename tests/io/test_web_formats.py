from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path
from typing import Any

import pytest

from evenrank.errors import DataError, EvenrankWarning, MissingExtraError, ParameterError
from evenrank.io import read_documents


def record(kind: str, content: bytes, **headers: str) -> bytes:
    """A record as the standard writes it (ISO 28500)."""
    own = {"WARC-Type": kind, "Content-Length": str(len(content)), **headers}
    head = "WARC/1.0\r\n" + "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in own.items())
    return head.encode() + b"\r\n" + content + b"\r\n\r\n"


def name(number: int) -> str:
    return f"<urn:uuid:00000000-0000-0000-0000-{number:012d}>"


def page(html: str, kind: str = "text/html; charset=iso-8859-1", coding: str = "latin-1") -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode() + html.encode(coding)


INFO = record("warcinfo", b"software: none\r\n", WARC_Record_ID=name(0))
WET = [
    INFO,
    *(
        record(
            "conversion",
            f"The mother of {number} \u00fc\n".encode(),
            WARC_Record_ID=name(number),
            WARC_Target_URI=f"http://example.org/{number}",
        )
        for number in range(1, 4)
    ),
]


def read(path: Path, **options: Any) -> list[tuple[str, str]]:
    rows = [row for batch in read_documents(path, **options) for row in batch.to_pylist()]
    return [(row["id"], row["text"]) for row in rows]


@pytest.fixture
def fastwarc() -> None:
    pytest.importorskip("fastwarc", reason="fastwarc is not installed")


@pytest.mark.usefixtures("fastwarc")
@pytest.mark.parametrize("by_record", [True, False])
def test_wet(tmp_path: Path, by_record: bool) -> None:
    """Common Crawl compresses every record on its own; others compress the file."""
    data = b"".join(map(gzip.compress, WET)) if by_record else gzip.compress(b"".join(WET))
    path = tmp_path / "CC-MAIN-00000.warc.wet.gz"
    path.write_bytes(data)
    assert read(path) == [
        (f"00000000-0000-0000-0000-{number:012d}", f"The mother of {number} \u00fc\n") for number in (1, 2, 3)
    ]
    assert [one for one, _ in read(path, columns={"id": "WARC-Target-URI"})] == [
        f"http://example.org/{number}" for number in (1, 2, 3)
    ]


@pytest.mark.usefixtures("fastwarc")
def test_pages_of_a_warc_file_as_text(tmp_path: Path) -> None:
    records = [
        INFO,
        record("request", b"GET / HTTP/1.1\r\n\r\n", WARC_Record_ID=name(1), Content_Type="application/http"),
        record(
            "response",
            page("<h1>M\u00fctter</h1><script>x</script><p>and <b>f</b>athers"),
            WARC_Record_ID=name(2),
            WARC_TREC_ID="clueweb12-0000tw-00-00001",
            Content_Type="application/http; msgtype=response",
        ),
        record(
            "response",
            page("GIF89a", "image/gif"),
            WARC_Record_ID=name(3),
            Content_Type="application/http; msgtype=response",
        ),
    ]
    (tmp_path / "web.warc").write_bytes(b"".join(records))
    assert read(tmp_path / "web.warc") == [("clueweb12-0000tw-00-00001", "M\u00fctter\nand fathers")]


@pytest.mark.usefixtures("fastwarc")
@pytest.mark.parametrize("kind", ["text/html", "text/plain"])
def test_a_page_whose_encoding_gives_what_is_no_text(tmp_path: Path, kind: str) -> None:
    content = page("a \\ud800 b", f"{kind}; charset=unicode_escape")
    response = "application/http; msgtype=response"
    data = record("response", content, WARC_Record_ID=name(1), Content_Type=response)
    (tmp_path / "t.warc").write_bytes(data)
    assert [text for _, text in read(tmp_path / "t.warc")] == ["a ? b"]


@pytest.mark.usefixtures("fastwarc")
def test_what_fastwarc_writes_is_read(tmp_path: Path) -> None:
    from fastwarc.warc import WarcRecord, WarcRecordType

    out = io.BytesIO()
    made = WarcRecord()
    made.init_headers(record_type=WarcRecordType.conversion)
    made.set_bytes_content(b"a text")
    made.write(out)
    (tmp_path / "made.wet").write_bytes(out.getvalue())
    ((_, text),) = read(tmp_path / "made.wet")
    assert text == "a text"


@pytest.mark.usefixtures("fastwarc")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"nothing of the kind\n" * 20, r"bad\.wet: "),
        (b"".join(WET)[:-20], r"bad\.wet: record 3"),
        (
            record("conversion", b"a \xff", WARC_Record_ID=name(1)),
            r"bad\.wet: record 1: .*byte 2",
        ),
    ],
)
def test_what_is_wrong_with_an_archive_names_the_record(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "bad.wet").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read(tmp_path / "bad.wet")


@pytest.mark.usefixtures("fastwarc")
def test_columns_of_an_archive_are_its_headers(tmp_path: Path) -> None:
    (tmp_path / "a.wet").write_bytes(b"".join(WET))
    with pytest.raises(ParameterError, match="id"):
        read(tmp_path / "a.wet", columns={"id": "WARC-Target-URI", "text": "body"})
    with pytest.raises(DataError, match=r"record 1: .*X-None"):
        read(tmp_path / "a.wet", columns={"id": "X-None"})


def test_without_the_extra_the_error_is_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("fastwarc", "fastwarc.warc", "resiliparse.parse.html"):
        monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "a.wet").write_bytes(b"".join(WET))
    (tmp_path / "a.trecweb").write_bytes(TREC)
    for file in ("a.wet", "a.trecweb"):
        with pytest.raises(MissingExtraError, match=r"\[warc\]'"):
            read(tmp_path / file)


TREC = b"""<DOC>
<DOCNO> WT01-B01-1 </DOCNO>
<DOCHDR>
http://example.org/ 127.0.0.1
</DOCHDR>
<html><title>Cats</title><body>my m\xfctter &amp; me</body></html>
</DOC>

<DOC>
<DOCNO>FT911-2</DOCNO>
<HEADLINE>Fathers</HEADLINE>
<TEXT>
in the news
</TEXT>
</DOC>
"""


@pytest.mark.parametrize("suffix", [".trecweb", ".trectext.gz"])
def test_trec_documents(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"docs{suffix}"
    path.write_bytes(gzip.compress(TREC) if suffix.endswith("gz") else TREC)
    assert read(path) == [
        ("WT01-B01-1", "Cats\nmy m\u00fctter & me"),
        ("FT911-2", "Fathers\nin the news"),
    ]


@pytest.mark.parametrize("size", [1, 2, 1 << 20])
def test_a_byte_order_mark_before_trec_documents_is_dropped(size: int) -> None:
    class Slow(io.BytesIO):
        def read(self, wanted: int | None = -1) -> bytes:
            return super().read(size)

    with pytest.warns(EvenrankWarning, match="byte order mark"):
        batches = list(read_documents(Slow(b"\xef\xbb\xbf" + TREC), format="trecweb"))
    assert [row["id"] for batch in batches for row in batch.to_pylist()] == ["WT01-B01-1", "FT911-2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TREC.replace(b"<DOCNO>FT911-2</DOCNO>", b""), "docs.trecweb:9: .*<DOCNO>"),
        (TREC[:-8], "docs.trecweb:9: .*</DOC>"),
        (TREC + b"more", "docs.trecweb:16: .*'more'"),
        (
            TREC.replace(b"\n\n", b"\n\nbetween\n"),
            "docs.trecweb:9: .*'between'",
        ),
        (b"\n  first" + TREC, "docs.trecweb:2: .*'first'"),
        (b"no documents at all", "docs.trecweb:1: .*'no documents at all'"),
        (TREC.replace(b"</DOC>\n\n", b""), "docs.trecweb:1: .*<DOCNO>"),
        (b"<DOC id=''>x</DOC>", "docs.trecweb:1: .*<DOCNO>"),
    ],
)
def test_what_is_wrong_with_trec_documents_names_the_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "docs.trecweb").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read(tmp_path / "docs.trecweb")


def test_documents_behind_a_long_stretch_without_any_are_not_lost_in_silence() -> None:
    """No document is a quarter of a gigabyte long, so that the file is none of these."""

    class Stretch(io.RawIOBase):
        def __init__(self) -> None:
            self.pieces = iter([TREC, b"\n" * ((1 << 26) + 1), TREC])

        def read(self, wanted: int = -1) -> bytes:
            return next(self.pieces, b"")

    with pytest.raises(DataError, match=r"<file>:15: .*<DOC>"):
        list(read_documents(Stretch(), format="trecweb"))


def test_every_problem_of_trec_documents_is_listed(tmp_path: Path) -> None:
    content = b"one\n<DOC>x</DOC>\ntwo\n<DOC><DOCNO>1</DOCNO></DOC>\n<DOC id=2>"
    (tmp_path / "docs.trecweb").write_bytes(content)
    with pytest.raises(DataError) as raised:
        read(tmp_path / "docs.trecweb")
    assert [line.partition(" ")[0][-2:] for line in str(raised.value).split("\n")] == ["1:", "2:", "3:", "5:"]


def test_trec_documents_whose_id_is_an_attribute(tmp_path: Path) -> None:
    path = tmp_path / "giga.trectext"
    path.write_bytes(
        b"""<?xml version="1.0"?>
<!-- a comment between -->
<DOCS>
<DOC id="AFP_1" type='story'><HEADLINE>Mothers</HEADLINE></DOC>
<doc
 id = AFP_2 ><TEXT>fathers</TEXT></doc>
<DOC ID='AFP &amp; 3'><p>aunts</DOC>
<DOC id=unused><DOCNO>4</DOCNO>uncles</DOC>
</DOCS>
"""
    )
    assert read(path) == [("AFP_1", "Mothers"), ("AFP_2", "fathers"), ("AFP & 3", "aunts"), ("4", "uncles")]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_trec_documents_do_not_depend_on_how_a_file_is_cut(size: int) -> None:
    content = TREC + b"<DOC id='x y'>a</DOC>" + TREC.replace(b"-2", b"-3").replace(b"-1", b"-4")

    class Slow(io.BytesIO):
        def read(self, wanted: int | None = -1) -> bytes:
            return super().read(size)

    rows = [
        row["id"] for batch in read_documents(Slow(content), format="trecweb") for row in batch.to_pylist()
    ]
    assert rows == ["WT01-B01-1", "FT911-2", "x y", "WT01-B01-4", "FT911-3"]


@pytest.mark.usefixtures("fastwarc")
def test_pages_that_were_sent_packed_or_in_chunks(tmp_path: Path) -> None:
    html = b"<p>She and her mother said that he left"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
    chunks = b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (25, html[:25], len(html) - 25, html[25:])
    pages = [
        head + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(html),
        head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks,
        head + b"\r\n" + html,
    ]
    response = "application/http; msgtype=response"
    data = [
        record("response", one, WARC_Record_ID=name(number), Content_Type=response)
        for number, one in enumerate(pages)
    ]
    (tmp_path / "t.warc").write_bytes(b"".join(data))
    assert [text for _, text in read(tmp_path / "t.warc")] == ["She and her mother said that he left"] * 3
