"""The columnar reader of plain CSV and TSV files against the row-by-row one."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from evenrank.errors import DataError
from evenrank.io.cells import grade_cells, score_cells
from evenrank.io.row_problems import RowProblems
from evenrank.io.table_formats.delimited import _delimited_table
from evenrank.io.table_formats.unquoted import unquoted_table
from evenrank.io.values import parse_score

PIECES = ["a", "7", "0.5", " ", "", "ü", "x y", "#", "-1e3", "\u2028", "\x0b", "'"]
ODD = ['"', "\r", "\n", "\r\n", ",", "\t"]


def _random_file(generator: random.Random, format: str) -> str:
    delimiter = "," if format == "csv" else "\t"
    pieces = PIECES + (ODD if generator.random() < 0.3 else [])
    width = generator.randint(1, 4)
    lines = [
        delimiter.join(
            "".join(generator.choices(pieces, k=generator.randint(0, 3)))
            for _ in range(width if generator.random() < 0.98 else width + 1)
        )
        for _ in range(generator.randint(1, 6))
    ]
    return "\n".join(lines) + generator.choice(["\n", "", "\n\n"])


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_it_reads_what_the_other_reader_reads(format: str) -> None:
    generator = random.Random(format)
    taken = 0
    for _ in range(2000):
        text = _random_file(generator, format)
        plain = unquoted_table(pa.py_buffer(text.encode()), format)
        if plain is None:
            continue
        taken += 1
        careful = _delimited_table(text, "file", format)
        assert not careful.problems, text
        assert plain.names == careful.frame.names
        rows = len(careful.report.lines or ())
        assert careful.report.lines == list(range(2, rows + 2))
        for name in plain.names:
            assert plain.column(name).to_pylist() == careful.frame.column(name), text
    assert taken > 500


@pytest.mark.parametrize(
    "text",
    ["", "a\n1\n", "a,b\n", "a,b\n1\n", 'a,b\n"1",2\n', "a,b\r\n1,2\r\n", "a,b\n\n1,2\n", "a,b\n1,2,3\n"],
)
def test_what_is_not_plain_is_left_to_the_other_reader(text: str) -> None:
    assert unquoted_table(pa.py_buffer(text.encode()), "csv") is None


def test_what_is_not_utf_8_or_too_long_is_left_to_the_other_reader() -> None:
    assert unquoted_table(pa.py_buffer(b"a,b\n1,\xff\n"), "csv") is None
    assert unquoted_table(pa.py_buffer(b"a,b\n1," + b"x" * 140_000 + b"\n"), "csv") is None


def test_a_header_may_be_quoted() -> None:
    frame = unquoted_table(pa.py_buffer(b'"document","size, in words"\nd1,small\n'), "csv")
    assert frame is not None
    assert frame.names == ["document", "size, in words"]
    assert unquoted_table(pa.py_buffer(b'"document","size\nin words"\nd1,small\n'), "csv") is None


def test_a_plain_file_is_read_in_columns() -> None:
    frame = unquoted_table(pa.py_buffer(b"document\tsize\nd1\tsmall\nd2\t\n"), "tsv")
    assert frame is not None
    assert frame.column("size").to_pylist() == ["small", ""]


NUMBERS = [
    "1",
    "-0",
    "0.1",
    ".5",
    "5.",
    "1e-3",
    "+2",
    "007",
    "123456789012345678901234567890",
    "1e22",
    "4.9e-324",
]


@pytest.mark.parametrize("cells", [NUMBERS, [*NUMBERS, " 3 "], *([number] for number in NUMBERS)])
def test_numbers_of_a_column_are_those_of_its_cells(cells: list[str]) -> None:
    found = score_cells(pa.array(cells), RowProblems("file"), text=True)
    assert found.tolist() == [parse_score(cell.strip().encode()) for cell in cells]


@pytest.mark.parametrize(
    ("cell", "what"),
    [("0x1F", "not a number"), ("nan", "not finite"), ("1e999", "too large"), ("", "missing")],
)
def test_what_is_no_number_is_told_of_a_column_too(cell: str, what: str) -> None:
    report = RowProblems("file")
    score_cells(pa.array(["1", cell]), report, text=True)
    with pytest.raises(DataError, match=f"row 2: score .*{what}"):
        report.check()


@pytest.mark.parametrize("cell", ["2147483648", "1.0", "0x1F", "99999999999999999999"])
def test_what_is_no_grade_is_told_of_a_column_too(cell: str) -> None:
    report = RowProblems("file")
    assert grade_cells(pa.array(["-3", "+2", "2147483647"]), report, text=True).tolist() == [
        -3,
        2,
        2147483647,
    ]
    grade_cells(pa.array(["1", cell]), report, text=True)
    with pytest.raises(DataError, match="row 2: grade"):
        report.check()
