"""The fast and the careful way through a file agree, and the fast one knows its limits."""

from __future__ import annotations

import io
import tracemalloc
import warnings

import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evenrank import read_run
from evenrank.errors import DataError, EvenrankWarning
from evenrank.io.layout import DIVERSITY, QRELS, RUN, Columns, Layout
from evenrank.io.source import Content, as_source
from evenrank.io.trec import careful as trec_slow
from evenrank.io.trec import fast as trec_fast


def contents(columns: Columns) -> tuple[object, ...]:
    queries = columns.queries.to_pylist()
    intents = None if columns.intents is None else columns.intents.to_pylist()
    return (
        queries,
        columns.documents.to_pylist(),
        [repr(value) for value in np.asarray(columns.values).tolist()],
        intents,
    )


def fast(data: bytes, layout: Layout = RUN) -> Columns | None:
    return trec_fast.parse(Content(pa.py_buffer(data)), layout)


CLEAN = {
    "blanks": (b"1 Q0 a 1 2.5 t\n1 Q0 b 2 -0 t\n2 Q0 a 1 1e3 t\n", RUN),
    "tabs": (b"1\tQ0\ta\t1\t2.5\tt\n1\tQ0\tb\t2\t+1\tt\n", RUN),
    "CRLF": (b"1 Q0 a 1 2.5 t\r\n1 Q0 b 2 1. t\r\n", RUN),
    "no last newline": (b"1 Q0 a 1 2.5 t\n1 Q0 b 2 .5 t", RUN),
    "blank lines at the end": (b"1 Q0 a 1 2.5 t\n\n \n\n", RUN),
    "not ASCII": ("é Q0 a\u00a0 1 2.5 t\n1 Q0 \u0085 2 1e-400 \u2028\n".encode(), RUN),
    "quotes and hashes": (b'1 Q0 "a 1 2.5 t#\n1 Q0 #b 2 5e-324 "\n', RUN),
    "an x behind a zero": (b"0x1 0x2 0x3 4 5 0x6\n1 0 x 1 2.5 t\n", RUN),
    "long ids": (b"%s Q0 %s 1 2 t\n" % (b"q" * 10_000, b"d" * 10_000), RUN),
    "qrels": (b"1 0 a 2\n1 0 b +1\n2 0 a -2147483648\n", QRELS),
    "diversity": (b"1 x a 2\n1 y a 007\n2 x a 0\n", DIVERSITY),
}


@pytest.mark.parametrize("case", CLEAN)
def test_both_ways_agree_on_clean_files(case: str) -> None:
    data, layout = CLEAN[case]
    columns = fast(data, layout)
    assert columns is not None
    assert contents(columns) == contents(trec_slow.parse(Content(pa.py_buffer(data)), layout, "x"))


NOT_CLEAN = {
    "two blanks": b"1  Q0 a 1 2 t\n",
    "an empty field that makes six of five": b"1  0 a 1 2.0\n",
    "tab and blank": b"1\tQ0 a 1 2 t\n",
    "leading blank": b" 1 Q0 a 1 2 t\n",
    "trailing blank": b"1 Q0 a 1 2 t \n1 Q0 b 1 2 t\n",
    "an empty tag": b"1 Q0 a 1 2 ",
    "blank line": b"1 Q0 a 1 2 t\n\n1 Q0 b 1 2 t\n",
    "comment first": b"#1 Q0 a 1 2 t\n",
    "comment later": b"1 Q0 a 1 2 t\n#1 Q0 b 1 2 t\n",
    "blanks in the tag": b"1 Q0 a 1 2 t u\n",
    "five fields": b"1 Q0 a 1 2\n",
    "a rank that is a word": b"1 Q0 a b 1 t\n",
    "a rank with a point": b"1 Q0 a 1.0 1 t\n",
    "a hexadecimal rank": b"1 Q0 a 0x1 1 t\n",
    "a negative hexadecimal rank": b"1 Q0 a -0X1f 1 t\n",
    "a rank of many digits": b"1 Q0 a 99999999999 1 t\n",
    "an endless document": b"1 Q0 %s 1 1 t\n" % (b"a" * 10_001),
    "an endless query": b"%s Q0 a 1 1 t\n" % (b"a" * 10_001),
    "nan": b"1 Q0 a 1 nan t\n",
    "infinite": b"1 Q0 a 1 1e999 t\n",
    "hexadecimal": b"1 Q0 a 1 0x1 t\n",
    "NUL": b"1 Q0 a\0 1 2 t\n",
    "control": b"1 Q0 a\x0c 1 2 t\n",
    "invalid UTF-8 in a field nobody reads": b"1 \xff a 1 2 t\n",
    "cut UTF-8 at the end": b"1 Q0 a 1 2 t\xc3",
    "mixed ends": b"1 Q0 a 1 2 t\r\n1 Q0 b 1 2 t\n",
    "nothing": b"",
    "newlines": b"\n\n",
}


@pytest.mark.parametrize("case", NOT_CLEAN)
def test_the_fast_way_declines_what_is_not_clean(case: str) -> None:
    assert fast(NOT_CLEAN[case]) is None


@pytest.mark.parametrize(
    "grade", [b"0x1F", b"1.0", b"2147483648", b"-2147483649", b"9" * 30, b"1e1", b"+", b"++1"]
)
def test_the_fast_way_declines_odd_grades(grade: bytes) -> None:
    assert fast(b"1 0 a " + grade + b"\n", QRELS) is None


LINES = st.lists(
    st.tuples(st.sampled_from(["1", "22", "é"]), st.floats(allow_nan=False, allow_infinity=False)),
    min_size=1,
    max_size=30,
)


@settings(max_examples=examples(100))
@given(LINES, st.integers(20, 200))
def test_slices_and_blocks_do_not_show(lines: list[tuple[str, float]], size: int) -> None:
    data = "".join(f"{query} Q0 d{n} 1 {score!r} t\n" for n, (query, score) in enumerate(lines)).encode()
    whole = contents(trec_slow.parse(Content(pa.py_buffer(data)), RUN, "x"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evenrank.io.trec.fast._SLICE", max(size, 64))
        patch.setattr("evenrank.io.trec.fast._SCAN_BLOCK", 48)
        patch.setattr("evenrank.io.trec.careful._BLOCK", size)
        sliced = fast(data)
        assert contents(trec_slow.parse(Content(pa.py_buffer(data)), RUN, "x")) == whole
    assert sliced is not None
    assert contents(sliced) == whole


@pytest.mark.parametrize("dirty", [b"\n", b" ", b"#", b"\t", b"\0"])
def test_dirt_at_the_edge_of_a_scanned_block_is_seen(dirty: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenrank.io.trec.fast._SCAN_BLOCK", 8)
    clean = b"".join(b"%d Q0 d%d 1 2 t\n" % (n, n) for n in range(10, 30))
    for at in range(0, len(clean)):
        if clean[at - 1 : at] == b"\n" or at == 0:
            assert fast(clean[:at] + dirty + clean[at:]) is None


def test_a_mapped_file_is_read_twice_when_the_fast_way_gives_up(tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "run.trec"
    lines = [f"q{n // 100} Q0 d{n} 1 {n} t\n" for n in range(5000)]
    path.write_text("".join(lines) + "q Q0 d 1 1 a tag\n")
    run = read_run(path)
    assert len(run.doc_ids) == 5001
    source = as_source(path)
    assert source is not None
    content = source.content()
    content.forget(content.buffer.size)
    assert content.buffer.to_pybytes() == path.read_bytes()


def test_runs_read_from_either_kind_of_open_file() -> None:
    assert read_run(io.StringIO("1 Q0 é 1 2 t\n")) == read_run(io.BytesIO("1 Q0 é 1 2 t\n".encode()))


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (
            b"q1 Q0 alpha one 1 30 t\n",
            "rank 'one' is not a whole number: does the document id hold a blank, 'alpha one'? TREC files "
            "cannot hold such ids: replace the blank, or use a table (CSV, JSON lines, Parquet)",
        ),
        (
            b"q1 Q0 alpha 30.5 1 t\n",
            "rank '30.5' is not a whole number: the fields are query Q0 document rank score tag, and no "
            "document id holds a blank",
        ),
        (b"q1 Q0 alpha 0x1 30 t\n", "rank '0x1' is not a whole number"),
    ],
)
def test_a_rank_that_is_no_number_is_an_error(line: bytes, what: str) -> None:
    clean = b"q1 Q0 beta 2 20 t\n"
    with pytest.raises(DataError) as caught:
        read_run(io.BytesIO(clean + line))
    assert str(caught.value).startswith(f"<file>:2: {what}")


def test_a_blank_in_an_id_that_looks_like_a_rank_is_a_warning() -> None:
    lines = b"q1 Q0 alpha 2 2 30 t\nq1 Q0 alpha 3 1 20.5 t\n"
    with pytest.warns(EvenrankWarning, match=r"<file>:1 and 1 line more: more than six fields.*'alpha 2'"):
        read_run(io.BytesIO(lines[:21] + lines[21:].replace(b"alpha", b"beta")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_run(io.BytesIO(b"q1 Q0 alpha 2 1.5 2 stages\nq1 Q0 beta 2 1 two stages\n"))


@pytest.mark.parametrize("layout", [RUN, QRELS, DIVERSITY], ids=["run", "judgements", "by intent"])
@pytest.mark.parametrize("field", [0, 1, 2], ids=["query", "second", "document"])
def test_an_endless_id_is_an_error_of_a_readable_length(layout: Layout, field: int) -> None:
    fields = [b"q", b"i", b"d", b"1", b"2", b"t"] if layout is RUN else [b"q", b"i", b"d", b"1"]
    fields[field] = b"x" * 10_001
    data = b" ".join(fields) + b"\n"
    if field == 1 and not layout.intent:
        assert len(trec_slow.parse(Content(pa.py_buffer(data)), layout, "x").documents) == 1
        return
    assert fast(data, layout) is None
    with pytest.raises(DataError, match="is 10,001 bytes long; an id has at most 10,000") as caught:
        trec_slow.parse(Content(pa.py_buffer(data)), layout, "x")
    assert len(str(caught.value)) < 300


def test_an_endless_id_in_a_table_or_a_mapping_is_an_error() -> None:
    for source in ({"q": {"d" * 10_001: 1.0}}, {"q" * 10_001: {"d": 1.0}}):
        with pytest.raises(DataError, match="10,001 bytes long") as caught:
            read_run(source)
        assert len(str(caught.value)) < 500
    assert len(read_run({"q": {"d" * 10_000: 1.0}}).doc_ids) == 1


def test_repeated_documents_are_found_beside_other_problems() -> None:
    data = b"1 Q0 a 1 nan t\n1 Q0 b 1 2 t\n2 Q0 a 1 2 t\n1 Q0 a 1 2 t\n1 Q0 b 1 nan t\n1 Q0 b 1 3 t\n"
    with pytest.raises(DataError) as caught:
        read_run(io.BytesIO(data))
    assert [(line, what.split(" (")[-1]) for line, what in caught.value.problems] == [
        (1, "score 'nan' is not finite"),
        (4, "first on line 1)"),
        (5, "score 'nan' is not finite"),
        (6, "first on line 2)"),
    ]


@pytest.mark.slow
def test_one_bad_line_costs_no_more_memory_than_the_columns() -> None:
    """A row of the careful reader takes its document and 40 bytes, not objects of its own."""
    rows = 100_000
    data = b"".join(b"%d Q0 document-%07d 1 2 t\n" % (n // 1000, n) for n in range(rows))
    content = Content(pa.py_buffer(data + b"1 Q0 last one 1 2 t\n"))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="'last one'"):
            trec_slow.parse(content, RUN, "x")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < rows * 100 + 40e6  # a block of lines is in memory besides
