"""Lines of runs and judgements: where problems are, descriptions of NTCIR, ranks, and blanks in ids."""

from __future__ import annotations

import io
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import pytest

from evenrank import DataError, EvenrankWarning, read_qrels, read_run
from evenrank.errors import InputTypeError


def problems(data: bytes, read: Any = read_run, **options: Any) -> list[tuple[int, str]]:
    """The line of each problem, and what is said of it; the file has no name, and is called ``<file>``."""
    with pytest.raises(DataError, match="<file>") as caught:
        read(io.BytesIO(data), **options)
    return [(problem.line or 0, problem.what) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"# head\n\n1 Q0 a 1 x t\n1 Q0 b 2 1 t\n1 Q0 b 2 1 t\n1 Q0\n", [3, 5, 6]),
        (
            b"1 Q0 a 1 nan t\n1 Q0 b 1 2 t\n2 Q0 a 1 2 t\n1 Q0 a 1 2 t\n1 Q0 b 1 nan t\n1 Q0 b 1 3 t\n",
            [1, 4, 5, 6],
        ),
        (b"".join(b"1 Q0 d%d 1 x%d t\n" % (number, number) for number in range(30)), list(range(1, 21))),
        (b"q 0 a 1\nq 0 b 1\nq Q0 c 1 3 t\nq 0 d 1\n", [1, 2, 4]),
    ],
)
def test_every_problem_has_its_line_up_to_twenty(data: bytes, lines: list[int]) -> None:
    assert [line for line, _ in problems(data)] == lines


def test_a_repeated_document_is_named_with_its_first_line() -> None:
    assert "line 1" in problems(b"1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 a 1 2 t\n")[0][1]
    found = problems(b"1 i a 1\n1 j a 1\n1 i a 0\n1 a 1\n", read_qrels, diversity=True)
    assert [line for line, _ in found] == [3, 4]
    assert "line 1" in found[0][1]


def test_problems_in_a_large_file_keep_their_lines_and_bytes() -> None:
    lines = b"".join(b"1 Q0 d%d 1 1 %s\n" % (number, b"t" * 500) for number in range(10_000))
    data = lines + b"1 Q0 d\xff 1 1 t\n1 Q0 d3 1 1 t"
    (first, bad), (second, repeated) = problems(data)
    assert (first, second) == (10_001, 10_002)
    assert str(data.index(255)) in bad
    assert "line 4" in repeated


@pytest.mark.parametrize("value", [None, 3, [("q", "d", 1.0)], b"run.trec", {1, 2}, object(), dict])
def test_a_wrong_type_is_named(value: object) -> None:
    for reader in (read_run, read_qrels):
        with pytest.raises(InputTypeError, match=type(value).__name__) as caught:
            reader(value)
        assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 5000, "1 Q0 a 1 2.0 t\n"])
def test_a_str_that_is_no_file_name(name: str) -> None:
    with pytest.raises(DataError) as caught:
        read_run(name)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("layout", ["{} Q0 d 1 2 t", "q Q0 {} 1 2 t", "{} 0 d 1", "q {} d 1", "q 0 {} 1"])
def test_an_endless_id_is_an_error_of_a_readable_length(layout: str) -> None:
    read, options = (read_run, {}) if layout.endswith("t") else (read_qrels, {"diversity": "q {} " in layout})
    ((line, what),) = problems(layout.format("x" * 10_001).encode(), read, **options)
    assert line == 1
    assert "10,001" in what
    assert len(what) < 300


def test_an_endless_id_in_a_mapping_is_an_error() -> None:
    for source in ({"q": {"d" * 10_001: 1.0}}, {"q" * 10_001: {"d": 1.0}}):
        with pytest.raises(DataError, match="10,001") as caught:
            read_run(source)
        assert len(str(caught.value)) < 500
    assert len(read_run({"q": {"d" * 10_000: 1.0}}).doc_ids) == 1


DESCRIPTIONS = {
    "one line": b"<SYSDESC>a toy run, 1 Q0 x 1 1 t</SYSDESC>\n",
    "CRLF": b"<SYSDESC>a toy run</SYSDESC>\r\n",
    "two of them": b"<SYSDESC>a</SYSDESC>\n<SYSDESC>b</SYSDESC> \n",
    "several lines": b"<SYSDESC>a\nb\n</SYSDESC>\n",
    "not UTF-8": b"<SYSDESC>\x83\x65\x83X\x83g</SYSDESC>\n",
    "a long one": b"<SYSDESC>" + b"words " * 3000 + b"</SYSDESC>\n",
    "a byte order mark": b"\xef\xbb\xbf<SYSDESC>a</SYSDESC>\n",
}


@pytest.mark.parametrize("case", DESCRIPTIONS)
@pytest.mark.filterwarnings("ignore:.*byte order mark")
def test_a_description_is_skipped_and_lines_and_bytes_are_counted_behind_it(case: str) -> None:
    header = DESCRIPTIONS[case]
    end = b"\r\n" if case == "CRLF" else b"\n"
    for blank in (b" ", b"  "):
        lines = end.join([b"1 0 a 1" + blank + b"5 t", b"1 0 b 2 4 t", b"2 0 a 1 3 t", b""])
        run = read_run(io.BytesIO(header + lines))
        assert run.to_dict() == {"1": {"a": 5.0, "b": 4.0}, "2": {"a": 3.0}}
    before = header.count(b"\n")
    data = header + b"1 0 a 1 5 t\n1 0 a 2 4 t\n1 0 b\0 1 3 t\n"
    (first, repeated), (second, nul) = problems(data)
    assert (first, second) == (before + 2, before + 3)
    assert f"line {before + 1}" in repeated
    assert str(data.index(0)) in nul


def test_a_description_without_an_end_or_behind_a_line_is_none() -> None:
    assert problems(b"<SYSDESC>no end\n1 0 a 1 5 t\n")[0][0] == 1
    assert problems(b"1 0 a 1 5 t\n<SYSDESC></SYSDESC>\n")[0][0] == 2


def test_real_files_of_ntcir(shared: Path) -> None:
    qrels = read_qrels(shared / "data/fairweb1_gfr/pilot/fairweb1pilot.qrels", format="ntcir")
    assert (len(qrels), len(qrels.doc_ids), qrels.max_grade) == (4, 393, 2)
    run = read_run(shared / "data/fairweb1_gfr/toy/toyrun1")
    assert run.documents("P001")[:3] == ["doc01", "unj01", "doc02"]
    assert len(run) == 4


# by rank a b c and d e; by score b a c and e d
RANKED = "q Q0 a 1 0.5 t\nq Q0 b 2 0.9 t\nq Q0 c 3 0.1 t\nr Q0 d 1 1 t\nr Q0 e 2 2 t\n"


@pytest.mark.parametrize("before", ["", "# a comment\n"])
def test_places_where_ranks_contradict_scores_are_counted(before: str) -> None:
    with pytest.warns(EvenrankWarning, match="2 places"):
        run = read_run(io.StringIO(before + RANKED))
    assert (run.documents("q"), run.documents("r")) == (["b", "a", "c"], ["e", "d"])
    rows = [",".join(line.split()) for line in RANKED.splitlines()]
    with pytest.warns(EvenrankWarning, match="2 places"):
        table = read_run(io.StringIO("query,x,document,rank,score,t\n" + "\n".join(rows)), format="csv")
    assert table == run


@pytest.mark.parametrize("before", ["", "# a comment\n"])
@pytest.mark.parametrize(
    "lines",
    [
        "q Q0 a 0 0.9 t\nq Q0 b 1 0.9 t\nq Q0 c 2 0.1 t\n",  # equal scores, from 0
        "q Q0 c 3 0.1 t\nq Q0 b 2 0.9 t\nq Q0 a 1 0.95 t\n",  # the lowest first
        "q Q0 a 1 0.9 t\nr Q0 b 2 1.9 t\n",  # of other queries
        "q Q0 a 1 0.9 t\nq Q0 b 1 1.9 t\n",  # a rank that says nothing
        "q1 Q0 alpha 2 1.5 2 stages\nq1 Q0 beta 2 1 two stages\n",  # blanks in the tag
    ],
)
def test_what_contradicts_nothing(lines: str, before: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_run(io.StringIO(before + lines))


def test_a_blank_in_an_id_that_looks_like_a_rank_is_an_error() -> None:
    found = problems(b"q1 Q0 alpha 2 2 30 t\nq1 Q0 beta 3 1 20.5 t\nq1 Q0 gamma 3 0.5 20.5 t\n")
    assert [line for line, _ in found] == [1, 2]
    assert "'alpha 2'" in found[0][1]


@pytest.mark.slow
def test_one_bad_line_costs_no_more_memory_than_the_columns() -> None:
    """A row of the careful reader takes its document and 40 bytes, not objects of its own."""
    rows = 100_000
    data = b"".join(b"%d Q0 document-%07d 1 2 t\n" % (n // 1000, n) for n in range(rows))
    tracemalloc.start()
    try:
        assert "'last one'" in problems(data + b"1 Q0 last one 1 2 t\n")[0][1]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < rows * 100 + 40e6  # a block of lines is in memory besides
