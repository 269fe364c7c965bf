"""Files with named columns: rows without scores, cells with and without quotes, and where problems are."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evenrank import DataError, EvenrankWarning, read_groups, read_qrels, read_run

WITHOUT_SCORES = {
    "run.csv": "query,document\n1,b\n02,c\n1,a\n1,z\n02,a\n",
    "run.tsv": "qid\tdocno\ttitle\n1\tb\tRed lamp\n02\tc\t1984\n1\ta\t\n1\tz\tLamp 7\n02\ta\tChair\n",
    "run.jsonl": "".join(
        f'{{"query": "{query}", "document": "{document}", "title": null}}\n'
        for query, document in (("1", "b"), ("02", "c"), ("1", "a"), ("1", "z"), ("02", "a"))
    ),
}


@pytest.mark.parametrize("name", WITHOUT_SCORES)
@pytest.mark.parametrize("ties", [None, "trec", "file"])
def test_without_score_and_rank_the_rows_are_in_rank_order(name: str, ties: Any, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(WITHOUT_SCORES[name])
    with pytest.warns(EvenrankWarning, match=name) as said:
        run = read_run(path, ties=ties)
    assert len(said) == 1
    assert {query: run.documents(query) for query in run} == {"1": ["b", "a", "z"], "02": ["c", "a"]}


@pytest.mark.parametrize(
    "rows",
    [
        "query,document,bm25\n1,a,0.5\n1,b,0.9\n",  # a score under a name of its own
        "query,document,bm25\n1,a,0.5\n1,b,\n1,c,0.9\n",
        "query,document,grade\n1,a,high\n1,b,low\n",  # judgements
        "query,document,group\n1,a,small\n1,b,large\n",  # groups
    ],
)
def test_what_may_be_scores_or_something_else_is_not_taken_for_a_run(rows: str) -> None:
    with pytest.raises(DataError, match="score"):
        read_run(io.StringIO(rows), format="csv")


def test_parquet_from_an_open_file(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    pl.DataFrame({"qid": ["1"], "docno": ["a"], "score": [1.0], "other": [1]}).write_parquet(path)
    with path.open("rb") as file:
        assert read_run(file, format="parquet") == read_run(path)
    table = {"query": ["1", "1"], "document": ["a", "b\tc"], "grade": [1, 1]}
    pl.DataFrame(table).write_parquet(tmp_path / "qrels.parquet")
    with pytest.raises(DataError, match=r"row 2: .*0x09"):
        read_qrels(tmp_path / "qrels.parquet")


def test_quotes_in_tsv_are_characters() -> None:
    run = read_run(io.StringIO('query\tdoc\tscore\n1\t"a\t1\n1\tb\t2\n'), format="tsv")
    assert run.documents("1") == ["b", '"a']


HEAD = b"query,document,score\n"
BAD: list[tuple[str, bytes, list[tuple[int, str]]]] = [
    ("csv", HEAD + b"1,a,1\n1,b\n1,c,high\n1,d,1,2\n", [(3, "2"), (4, "'high'"), (5, "4")]),
    ("csv", b'query,note,document,score\n1,"a\nb",b,1\n1,,c,x\n', [(4, "'x'")]),
    ("csv", b'query,note,document,score\n1,"a\nb",b,x\n', [(2, "'x'")]),  # a row that spans lines
    ("csv", HEAD + b'1,"a\nb",1\n', [(2, "0x0A")]),
    ("csv", HEAD + b"\n1,a,2\n1,a,1\n", [(4, "line 3")]),
    ("csv", HEAD + b'1,"a,1\n', [(2, "CSV")]),
    ("csv", HEAD + b"1,\xff,1\n", [(2, "23")]),
    ("csv", b"\xef\xbb\xbf" + HEAD + b"1,\xff,1\n", [(2, "26")]),
    ("csv", HEAD + b"1,b,4\n1,a,1" + b"0" * 200_000 + b"x\n", [(3, "'1000")]),
    ("csv", HEAD + b"1,a,-\n1,b,0x1F\n1,c,1e999\n1,d,\n", [(2, "'-'"), (3, "0x1F"), (4, "1e999"), (5, "")]),
    ("tsv", b"query\tdocument\tscore\n1\ta\t1\n1\0\tb\t1\n", [(3, "0x00")]),
    ("tsv", b"\xef\xbb\xbfquery\n\xff\n", [(2, "9")]),
    ("jsonl", b'{"query": "1", "document": "a", "score": "x"}\n[1]\n', [(1, "'x'"), (2, "[1]")]),
    ("jsonl", b'{"query": "1", "document": "a\\u007f", "score": 1}\n', [(1, "0x7F")]),
    ("jsonl", b'{"query": "1", "document": "a", "score": NaN}\n', [(1, "NaN")]),
    ("jsonl", b'{"query": "1", "document": "a", "score": 1e400}\n', [(1, "inf")]),
    (
        "jsonl",
        b'{"query": "1", "document": "a", "score": 1}\n\n{"query": "1", "score": 2}\n',
        [(3, "document")],
    ),
    ("jsonl", b'{"query": 1, "document": "a", "score": 1}\n{"query":\n', [(2, "10")]),
]


@pytest.mark.parametrize("case", range(len(BAD)))
@pytest.mark.filterwarnings("ignore:.*byte order mark")
def test_every_problem_has_its_line(case: int) -> None:
    format, data, expected = BAD[case]
    with pytest.raises(DataError) as caught:
        read_run(io.BytesIO(data), format=format)
    assert [problem.line for problem in caught.value.problems] == [line for line, _ in expected]
    for problem, (_, named) in zip(caught.value.problems, expected, strict=True):
        assert named in problem.what


@pytest.mark.parametrize("grade", ["2147483648", "1.0", "0x1F", "99999999999999999999"])
def test_what_is_no_grade_has_its_line(grade: str) -> None:
    rows = "query,document,grade\nq,a,-3\nq,b,+2\nq,c,2147483647\n"
    assert read_qrels(io.StringIO(rows), format="csv").to_dict() == {"q": {"c": 2147483647, "b": 2, "a": -3}}
    with pytest.raises(DataError, match=rf":5: .*{grade}"):
        read_qrels(io.StringIO(f"{rows}q,d,{grade}\n"), format="csv")


def test_judgements_by_intent_that_are_read_without_are_recognised() -> None:
    by_intent = b"query,intent,document,grade\n1,x,a,1\n1,y,a,1\n"
    with pytest.raises(DataError, match=r"<file>:3: .*'a'.*--intents"):
        read_qrels(io.BytesIO(by_intent), format="csv")
    assert len(read_qrels(io.BytesIO(by_intent), format="csv", diversity=True)) == 1


PIECES = ["a", "7", "0.5", " ", "", "ü", "x y", "#", "-1e3", "\u2028", "'"]


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_a_plain_table_is_read_as_one_with_quotes_or_line_ends_of_another_kind(format: str) -> None:
    """A column at a time or a row at a time: the same labels."""
    generator = random.Random(format)
    for _ in range(150):
        rows = [
            (f"d{row}", "".join(generator.choices(PIECES, k=generator.randint(0, 3))) or "x", "and more")
            for row in range(generator.randint(2, 9))
        ]
        table = [("document", "size", "note"), *rows]
        delimiter = "," if format == "csv" else "\t"
        plain = "".join(delimiter.join(row) + "\n" for row in table)
        quoted = io.StringIO()
        csv.writer(quoted, quoting=csv.QUOTE_ALL).writerows(table)
        odd = quoted.getvalue() if format == "csv" else plain.replace("\n", "\r\n")
        values = sorted({size.strip() for _, size, _ in rows if size.strip()})
        if len(values) < 2:
            continue
        one, other = (
            read_groups(io.StringIO(text, newline=""), "size", format=format, values=values)
            for text in (plain, odd)
        )
        assert one.fingerprint == other.fingerprint, plain
        labels = dict(
            zip(one.doc_ids.to_pylist(), (values[place] for place in one.shares.places), strict=True)
        )
        assert labels == {document: size.strip() for document, size, _ in rows if size.strip()}


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
    rows = "".join(f"q,d{place},{cell}\n" for place, cell in enumerate(cells))
    run = read_run(io.StringIO("query,document,score\n" + rows), format="csv")
    assert run.to_dict()["q"] == {f"d{place}": float(cell) for place, cell in enumerate(cells)}


def test_a_large_table_keeps_its_rows_and_lines() -> None:
    """More bytes than are parsed at once."""
    rows = [("q", f"d{row}é", row / 8, "n" * (row % 500)) for row in range(20_000)]
    text = "query,document,score,note\n" + "".join(f"{q},{d},{s},{n}\n" for q, d, s, n in rows)
    assert len(text) > 5 << 20
    run = read_run(io.StringIO(text), format="csv")
    assert run.to_dict() == {"q": {document: score for _, document, score, _ in rows}}
    with pytest.raises(DataError, match=r":20002: .*'high'"):
        read_run(io.StringIO(f"{text}q,x,high,\n"), format="csv")
