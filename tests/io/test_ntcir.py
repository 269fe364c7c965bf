"""Judgements and runs as NTCIR writes them."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pytest

from evenrank import read_qrels, read_run
from evenrank.errors import DataError, EvenrankWarning, ParameterError
from evenrank.io.layout import NTCIR_QRELS, RUN
from evenrank.io.source import Content
from evenrank.io.trec import fast as trec_fast


@pytest.mark.parametrize(
    "data", [b"1 a L2\n1 b L0\n2 a L1\n", b"1\ta\t2\n\n# x\n1  b 0\n2 a L1\n", b"1 a 2\n1 b 0\n2 a 1\n"]
)
def test_judgements(data: bytes) -> None:
    assert read_qrels(io.BytesIO(data), format="ntcir").to_dict() == {"1": {"a": 2, "b": 0}, "2": {"a": 1}}


def test_real_judgements(shared: Path) -> None:
    qrels = read_qrels(shared / "data/fairweb1_gfr/pilot/fairweb1pilot.qrels", format="ntcir")
    assert (len(qrels), len(qrels.doc_ids), qrels.max_grade) == (4, 393, 2)


def test_bad_judgements() -> None:
    data = b"1 a L2\n1 a L1\n1 b Lx\n1 b high\n1 0 b 1\n1 c L99999999999\n"
    with pytest.raises(DataError) as caught:
        read_qrels(io.BytesIO(data), format="ntcir")
    assert str(caught.value) == (
        "<file>:2: document 'a' is judged twice for query '1' (first on line 1)\n"
        "<file>:3: grade 'Lx' is not one of L0, L1, L2, ..\n"
        "<file>:4: grade 'high' is not one of L0, L1, L2, ..\n"
        "<file>:5: 4 fields, but 3 are needed: query document grade "
        "(4 fields are judgements of TREC: leave the format out)\n"
        "<file>:6: grade '99999999999' does not fit 32 bits"
    )


def test_judgements_of_ntcir_are_recognised_in_the_error() -> None:
    with pytest.raises(DataError) as caught:
        read_qrels(io.BytesIO(b"1 a L2\n"))
    assert str(caught.value) == (
        "<file>:1: 3 fields, but 4 are needed: query iteration document grade "
        "(judgements of NTCIR? read them with format='ntcir', --qrels FILE:format=ntcir)"
    )


def test_options_are_checked() -> None:
    with pytest.raises(ParameterError, match="have no intents"):
        read_qrels(io.BytesIO(b"1 a L2\n"), format="ntcir", diversity=True)
    with pytest.raises(ParameterError, match="parquet, ntcir, got 'xml'"):
        read_qrels(io.BytesIO(b""), format="xml")
    with pytest.raises(
        ParameterError, match="format must be one of trec, csv, tsv, jsonl, parquet, got 'ntcir'"
    ):
        read_run(io.BytesIO(b""), format="ntcir")


def test_the_fast_way_takes_plain_grades_and_leaves_the_others() -> None:
    assert trec_fast.parse(Content(pa.py_buffer(b"1 a 2\n")), NTCIR_QRELS) is not None
    assert trec_fast.parse(Content(pa.py_buffer(b"1 a L2\n")), NTCIR_QRELS) is None


HEADERS = {
    "one line": b"<SYSDESC>a toy run, 1 Q0 x 1 1 t</SYSDESC>\n",
    "CRLF": b"<SYSDESC>a toy run</SYSDESC>\r\n",
    "two of them": b"<SYSDESC>a</SYSDESC>\n<SYSDESC>b</SYSDESC> \n",
    "several lines": b"<SYSDESC>a\nb\n</SYSDESC>\n",
    "not UTF-8": b"<SYSDESC>\x83\x65\x83X\x83g</SYSDESC>\n",
    "none": b"",
    "a long one": b"<SYSDESC>" + b"words " * 3000 + b"</SYSDESC>\n",
}


@pytest.mark.parametrize("case", HEADERS)
@pytest.mark.parametrize("slow", [False, True])
def test_a_description_is_skipped(case: str, slow: bool, tmp_path: Path) -> None:
    header = HEADERS[case]
    end = b"\r\n" if case == "CRLF" else b"\n"
    blank = b"  " if slow else b" "
    lines = end.join([b"1 0 a 1" + blank + b"5 t", b"1 0 b 2 4 t", b"2 0 a 1 3 t", b""])
    path = tmp_path / "toyrun"
    path.write_bytes(header + lines)
    content = Content(pa.py_buffer(header + lines)).without_description()
    assert (trec_fast.parse(content, RUN) is None) == slow
    assert read_run(path).to_dict() == {"1": {"a": 5.0, "b": 4.0}, "2": {"a": 3.0}}


@pytest.mark.parametrize("case", HEADERS)
def test_lines_and_bytes_are_counted_after_a_description(case: str) -> None:
    header = HEADERS[case]
    before = header.count(b"\n")
    data = header + b"1 0 a 1 5 t\n1 0 a 2 4 t\n1 0 b\0 1 3 t\n"
    with pytest.raises(DataError) as caught:
        read_run(io.BytesIO(data))
    assert str(caught.value) == (
        f"<file>:{before + 2}: document 'a' is twice in query '1' (first on line {before + 1})\n"
        f"<file>:{before + 3}: NUL byte at byte {data.index(0)} of the file"
    )


def test_a_description_without_an_end_or_a_run() -> None:
    with pytest.raises(DataError, match=r"^<file>:1: 2 fields, but 6 or more are needed"):
        read_run(io.BytesIO(b"<SYSDESC>no end\n1 0 a 1 5 t\n"))
    with pytest.raises(DataError, match=r"^<file>:2: 1 field, but 6 or more are needed"):
        read_run(io.BytesIO(b"1 0 a 1 5 t\n<SYSDESC></SYSDESC>\n"))
    with pytest.raises(DataError, match=r"^<file>: no ranked documents \(only comments and blank lines\)$"):
        read_run(io.BytesIO(b"<SYSDESC>alone</SYSDESC>"))


def test_a_description_after_a_byte_order_mark() -> None:
    data = b"\xef\xbb\xbf<SYSDESC>a</SYSDESC>\n1 0 b\0 1 3 t\n"
    with pytest.warns(EvenrankWarning), pytest.raises(DataError) as caught:
        read_run(io.BytesIO(data))
    assert str(caught.value) == f"<file>:2: NUL byte at byte {data.index(0)} of the file"


def test_real_runs(shared: Path) -> None:
    run = read_run(shared / "data/fairweb1_gfr/toy/toyrun1")
    assert run.documents("P001")[:3] == ["doc01", "unj01", "doc02"]
    assert len(run) == 4
