"""Files with named columns."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import polars as pl
import pytest

from evenrank import read_qrels, read_run
from evenrank.data.run import Ties
from evenrank.errors import DataError, EvenrankWarning

EXPECTED = {"1": {"b": 2.0, "a": 1.0}, "02": {"a": 3.0}}

FILES = {
    "run.csv": b"query,document,score\n1,a,1\n1,b,2.0\n02,a,3e0\n",
    "quoted.csv": b'query,document,score\r\n"1","a",1\r\n1,"b",2\r\n\r\n"02",a, 3 \r\n',
    "run.tsv": b"qid\tdocno\tscore\n1\ta\t1\n1\tb\t2\n02\ta\t3\n",
    "run.jsonl": b'{"query": "1", "document": "a", "score": 1}\n\n'
    b'{"query": 1, "document": "b", "score": 2.0}\n'
    b'{"query": "02", "document": "a", "score": 3}',
    "run.csv.gz": gzip.compress(b"query,document,score\n1,a,1\n1,b,2.0\n02,a,3e0\n"),
}


@pytest.mark.parametrize("name", FILES)
def test_formats_by_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name])
    run = read_run(path)
    assert run.to_dict() == EXPECTED
    assert run.name == name.split(".")[0]


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
def test_without_score_and_rank_the_rows_are_in_rank_order(
    name: str, ties: Ties | None, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(WITHOUT_SCORES[name])
    with pytest.warns(EvenrankWarning, match="no column for a score or a rank: .* order of the rows") as said:
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
    with pytest.raises(DataError, match="no column for the score"):
        read_run(io.StringIO(rows), format="csv")


def test_a_document_that_is_twice_in_an_order_is_named() -> None:
    with pytest.warns(EvenrankWarning), pytest.raises(DataError, match=r":4: document 'a' is twice in quer"):
        read_run(io.StringIO("query,document\n1,a\n1,b\n1,a\n"), format="csv")


def test_format_given_for_an_open_file() -> None:
    assert read_run(io.StringIO("query,doc,sim\n1,a,1\n"), format="csv").to_dict() == {"1": {"a": 1.0}}


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    pl.DataFrame({"qid": ["1"], "docno": ["a"], "score": [1.0], "other": [1]}).write_parquet(path)
    assert read_run(path).to_dict() == {"1": {"a": 1.0}}
    assert read_run(io.BytesIO(path.read_bytes()), format="parquet").to_dict() == {"1": {"a": 1.0}}
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DataError, match=r"run\.parquet: is not a sound Parquet file"):
        read_run(path)


def test_qrels_of_beir() -> None:
    data = io.StringIO("query-id\tcorpus-id\tscore\n1\ta\t2\n")
    assert read_qrels(data, format="tsv").to_dict() == {"1": {"a": 2}}


def test_quotes_in_tsv_are_characters() -> None:
    assert read_run(io.StringIO('query\tdoc\tscore\n1\t"a\t1\n1\tb\t2\n'), format="tsv").documents("1") == [
        "b",
        '"a',
    ]


BAD = {
    "empty": ("csv", b"", "no ranked documents (the file is empty)"),
    "header only": ("csv", b"query,document,score\n", "no ranked documents (no line but the header)"),
    "blank": ("jsonl", b"\n\n", "no ranked documents (only blank lines)"),
    "nan": ("csv", b"query,document,score\n1,a,1\n1,b,nan\n", "3: score 'nan' is not finite"),
    "missing": ("csv", b"query,document,score\n1,a,\n", "2: score is missing"),
    "empty id": ("csv", b"query,document,score\n1,,1\n", "2: document is empty"),
    "too many columns": ("csv", b"query,document,score\n1,a,1,2\n", "2: 4 columns, but the header has 3"),
    "an uneven row does not hide a bad score": (
        "csv",
        b"query,document,score\n1,a,1\n1,b\n1,c,high\n1,d,1,2\n",
        "3: 2 columns, but the header has 3\n<file>:4: score 'high' is not a number\n"
        "<file>:5: 4 columns, but the header has 3",
    ),
    "broken JSON does not hide a bad score": (
        "jsonl",
        b'{"query": "1", "document": "a", "score": "x"}\n[1]\n',
        "1: score 'x' is text, not a number\n<file>:2: expected an object {...}, got '[1]'",
    ),
    "after a quoted newline": (
        "csv",
        b'query,note,document,score\n1,"a\nb",b,1\n1,,c,x\n',
        "4: score 'x' is not a number",
    ),
    "in a row that spans lines": (
        "csv",
        b'query,note,document,score\n1,"a\nb",b,x\n',
        "2: score 'x' is not a number",
    ),
    "newline in an id": (
        "csv",
        b'query,document,score\n1,"a\nb",1\n',
        "2: document 'a\\nb' holds the control character 0x0A, which an id in a TREC file cannot",
    ),
    "NUL in an id": (
        "tsv",
        b"query\tdocument\tscore\n1\ta\t1\n1\x00\tb\t1\n",
        "3: query '1\\x00' holds the control character 0x00, which an id in a TREC file cannot",
    ),
    "DEL in an id": (
        "jsonl",
        b'{"query": "1", "document": "a\\u007f", "score": 1}\n',
        "1: document 'a\\x7f' holds the control character 0x7F, which an id in a TREC file cannot",
    ),
    "open quote": ("csv", b'query,document,score\n1,"a,1\n', "2: not CSV: unexpected end of data"),
    "duplicate": ("csv", b"query,document,score\n\n1,a,2\n1,a,1\n", "4: document 'a' is twice in query '1'"),
    "invalid UTF-8": ("csv", b"query,document,score\n1,\xff,1\n", "2: invalid UTF-8 at byte 23 of the file"),
    "not JSON": (
        "jsonl",
        b'{"query": 1, "document": "a", "score": 1}\n{"query":\n',
        "2: not JSON: Expecting value: column 10",
    ),
    "not JSON, and no column": (
        "jsonl",
        b'{"query": 1, "score": 1}\n{"query":\n',
        "2: not JSON: Expecting value: column 10\n<file>: no column for the document "
        "(accepted: document, doc, doc_id, docid, docno, did, corpus-id); the columns found are 'query', "
        "'score': name it with columns={'document': ...} (in the shell: --columns ROLE=NAME)",
    ),
    "not an object": ("jsonl", b"[1]\n", "1: expected an object {...}, got '[1]'"),
    "NaN in JSON": (
        "jsonl",
        b'{"query": "1", "document": "a", "score": NaN}\n',
        "1: not JSON: NaN is not a JSON number",
    ),
    "1e400 in JSON": (
        "jsonl",
        b'{"query": "1", "document": "a", "score": 1e400}\n',
        "1: score inf is not finite",
    ),
    "a gap in JSON": (
        "jsonl",
        b'{"query": "1", "document": "a", "score": 1}\n\n{"query": "1", "score": 2}\n',
        "3: document is missing",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(case: str) -> None:
    format, data, message = BAD[case]
    with pytest.raises(DataError) as caught:
        read_run(io.BytesIO(data), format=format)
    separator = ":" if message[0].isdigit() else ": "
    assert str(caught.value) == f"<file>{separator}{message}"


def test_a_file_without_header_gets_advice() -> None:
    with pytest.raises(
        DataError, match="if the file has no header line and TREC's fields, pass format='trec'"
    ):
        read_qrels(io.BytesIO(b"1\t0\ta\t1\n2\t0\ta\t1\n"), format="tsv")


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
def test_bytes_are_counted_with_the_byte_order_mark(format: str) -> None:
    data = b"\xef\xbb\xbfquery\n\xff\n"
    with pytest.warns(EvenrankWarning, match="byte order mark"), pytest.raises(DataError) as caught:
        read_run(io.BytesIO(data), format=format)
    assert str(caught.value) == f"<file>:2: invalid UTF-8 at byte {data.index(bytes([255]))} of the file"


def test_control_characters_in_the_ids_of_parquet(tmp_path: Path) -> None:
    table = {"query": ["1", "1"], "document": ["a", "b\tc"], "grade": [1, 1]}
    pl.DataFrame(table).write_parquet(tmp_path / "qrels.parquet")
    with pytest.raises(DataError, match=r"row 2: document 'b\\tc' holds the control character 0x09"):
        read_qrels(tmp_path / "qrels.parquet")


def test_advice_names_the_options_of_the_shell() -> None:
    with pytest.raises(DataError, match=r"--columns ROLE=NAME.*pass format='trec' \(FILE:format=trec\)"):
        read_run(io.BytesIO(b"a,b\n1,2\n"), format="csv")
    with pytest.raises(DataError, match=r"pass format='trec' \(FILE:format=trec\)"):
        read_qrels(io.BytesIO(b"a,b\n1,2\n"), format="csv")


def test_judgements_by_intent_that_are_read_without() -> None:
    hint = r" \(judgements by intent\? read them with diversity=True, --qrels FILE:intents\)$"
    by_intent = b"query,intent,document,grade\n1,x,a,1\n1,y,a,1\n"
    with pytest.raises(DataError, match=r"<file>:3: document 'a' is judged twice for query '1'" + hint):
        read_qrels(io.BytesIO(by_intent), format="csv")
    assert len(read_qrels(io.BytesIO(by_intent), format="csv", diversity=True)) == 1
    with pytest.raises(DataError, match=r"is judged twice for query '1'$"):
        read_qrels(io.BytesIO(by_intent.replace(b",y,", b",x,")), format="csv")
