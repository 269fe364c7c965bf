"""Every kind of bad file, with the exact message it gives."""

from __future__ import annotations

import gzip
import io
import warnings
from pathlib import Path

import pytest
import zstandard

from evenrank import read_qrels, read_run
from evenrank.errors import DataError, EvenrankWarning, InputTypeError, ParameterError, Problem

GOOD = b"1 Q0 a 1 2.0 t\n"

BAD_RUNS = {
    "empty": (b"", "{}: no ranked documents (the file is empty)"),
    "only comments": (b"# a\n\n  # b\n", "{}: no ranked documents (only comments and blank lines)"),
    "only blank lines": (b"\n \t\n\r\n", "{}: no ranked documents (only comments and blank lines)"),
    "too few fields": (
        GOOD + b"1 Q0 b 2 1.0\n",
        "{}:2: 5 fields, but 6 or more are needed: query Q0 document rank score tag",
    ),
    "one field": (b"hello\n", "{}:1: 1 field, but 6 or more are needed: query Q0 document rank score tag"),
    "CSV": (
        b"query,document,score\n" + b"1,a,2\n" * 30,
        "{}:1: this file is read as TREC (query Q0 document rank score tag), but this line looks like CSV: "
        "write FILE:format=csv (in Python format='csv'), or give the file the suffix .csv",
    ),
    "TSV": (
        b"qid\tdocno\tscore\n1\ta\t2\n",
        "{}:1: this file is read as TREC (query Q0 document rank score tag), but this line looks like TSV: "
        "write FILE:format=tsv (in Python format='tsv'), or give the file the suffix .tsv",
    ),
    "JSON lines": (
        b'{"query": "1", "document": "a", "score": 1}\n' * 30,
        "{}:1: this file is read as TREC (query Q0 document rank score tag), but this line looks like JSONL: "
        "write FILE:format=jsonl (in Python format='jsonl'), or give the file the suffix .jsonl",
    ),
    "score is a word": (GOOD + b"1 Q0 b 2 high t\n", "{}:2: score 'high' is not a number"),
    "nan": (GOOD + b"1 Q0 b 2 nan t\n", "{}:2: score 'nan' is not finite"),
    "inf": (GOOD + b"1 Q0 b 2 -inf t\n", "{}:2: score '-inf' is not finite"),
    "Infinity": (GOOD + b"1 Q0 b 2 Infinity t\n", "{}:2: score 'Infinity' is not finite"),
    "1e400": (GOOD + b"1 Q0 b 2 1e400 t\n", "{}:2: score '1e400' is too large for a 64-bit float"),
    "1_000": (GOOD + b"1 Q0 b 2 1_000 t\n", "{}:2: score '1_000' is not a number"),
    "hexadecimal": (GOOD + b"1 Q0 b 2 0x1F t\n", "{}:2: score '0x1F' is not a number"),
    "comma": (GOOD + b"1 Q0 b 2 1,5 t\n", "{}:2: score '1,5' is not a number"),
    "duplicate": (
        GOOD + b"2 Q0 a 1 1 t\n1 Q0 a 2 1.0 t\n",
        "{}:3: document 'a' is twice in query '1' (first on line 1)",
    ),
    "NUL": (GOOD + b"1 Q0 b\0 2 1 t\n", "{}:2: NUL byte at byte 21 of the file"),
    "control character": (
        GOOD + b"1 Q0 b\x0b 2 1 t\n",
        "{}:2: control character 0x0B at byte 21 of the file",
    ),
    "lone carriage return": (
        b"1 Q0 a 1 2.0 t\r1 Q0 b 2 1.0 t\r",
        "{}:1: carriage return inside the line, at byte 14 of the file: lines end with LF or CR LF",
    ),
    "invalid UTF-8": (GOOD + b"1 Q0 b\xff 2 1 t\n", "{}:2: invalid UTF-8 at byte 21 of the file"),
    "invalid UTF-8 in the tag": (
        GOOD + b"1 Q0 b 2 1 \xe9t\xe9\n",
        "{}:2: invalid UTF-8 at byte 26 of the file",
    ),
    "surrogate": (GOOD + b"1 Q0 \xed\xa0\x80 2 1 t\n", "{}:2: invalid UTF-8 at byte 20 of the file"),
    "UTF-16": ("1 Q0".encode("utf-16-le"), "{}:1: NUL byte at byte 1 of the file"),
    "several, by line": (
        b"# head\n\n1 Q0 a 1 x t\n1 Q0 b 2 1 t\n1 Q0 b 2 1 t\n1 Q0\n",
        "{0}:3: score 'x' is not a number\n"
        "{0}:5: document 'b' is twice in query '1' (first on line 4)\n"
        "{0}:6: 2 fields, but 6 or more are needed: query Q0 document rank score tag",
    ),
    "truncated gzip": (
        gzip.compress(GOOD * 10, mtime=0)[:-4],
        "{}: the gzip data is truncated: it ends after 150 bytes of content",
    ),
    "truncated zst": (
        zstandard.compress(GOOD)[:-2],
        "{}: the Zstandard data is truncated: it ends after 13 bytes of content",
    ),
}


@pytest.mark.parametrize("case", BAD_RUNS)
def test_bad_run(case: str, tmp_path: Path) -> None:
    data, message = BAD_RUNS[case]
    path = tmp_path / "bm25.trec"
    path.write_bytes(data)
    with pytest.raises(DataError) as caught:
        read_run(path)
    assert str(caught.value) == message.format(path)


@pytest.mark.parametrize("case", BAD_RUNS)
def test_bad_run_from_a_file_object(case: str) -> None:
    data, message = BAD_RUNS[case]
    with pytest.raises(DataError) as caught:
        read_run(io.BytesIO(data))
    assert str(caught.value) == message.format("<file>")


BAD_QRELS = {
    "empty": (b"", "{}: no judgements (the file is empty)"),
    "three fields": (b"1 0 a\n", "{}:1: 3 fields, but 4 are needed: query iteration document grade"),
    "a blank in the document": (
        b"1 0 a one 1\n",
        "{}:1: 5 fields, but 4 are needed: query iteration document grade (does the document id hold a "
        "blank? "
        "TREC files cannot hold such ids: replace the blank, or use a table (CSV, JSON lines, Parquet))",
    ),
    "grade is a word": (b"1 0 a x\n", "{}:1: grade 'x' is not a whole number"),
    "grade with a point": (b"1 0 a 1.0\n", "{}:1: grade '1.0' is not a whole number"),
    "hexadecimal grade": (b"1 0 a 0x1F\n", "{}:1: grade '0x1F' is not a whole number"),
    "grade of 33 bits": (b"1 0 a 2147483648\n", "{}:1: grade '2147483648' does not fit 32 bits"),
    "grade of many digits": (
        b"1 0 a " + b"9" * 5000 + b"\n",
        "{}:1: grade '" + "9" * 77 + "...' does not fit 32 bits",
    ),
    "duplicate": (
        b"1 0 a 1\n1 0 a 0\n",
        "{}:2: document 'a' is judged twice for query '1' (first on line 1)",
    ),
    "by intent": (
        b"1 0 a 1\n1 1 a 0\n",
        "{}:2: document 'a' is judged twice for query '1' (first on line 1)"
        " (judgements by intent? read them with diversity=True, --qrels FILE:intents)",
    ),
}


@pytest.mark.parametrize("case", BAD_QRELS)
def test_bad_qrels(case: str, tmp_path: Path) -> None:
    data, message = BAD_QRELS[case]
    path = tmp_path / "qrels.txt"
    path.write_bytes(data)
    with pytest.raises(DataError) as caught:
        read_qrels(path)
    assert str(caught.value) == message.format(path)


def test_bad_diversity_qrels() -> None:
    with pytest.raises(DataError) as caught:
        read_qrels(io.BytesIO(b"1 i a 1\n1 j a 1\n1 i a 0\n1 a 1\n"), diversity=True)
    assert str(caught.value) == (
        "<file>:3: document 'a' is judged twice for intent 'i' of query '1' (first on line 1)\n"
        "<file>:4: 3 fields, but 4 are needed: query intent document grade"
    )


def test_twenty_problems_are_listed() -> None:
    data = b"".join(b"1 Q0 d%d 1 x%d t\n" % (number, number) for number in range(30))
    with pytest.raises(DataError) as caught:
        read_run(io.BytesIO(data))
    lines = str(caught.value).split("\n")
    assert lines[0] == "<file>:1: score 'x0' is not a number"
    assert lines[19] == "<file>:20: score 'x19' is not a number"
    assert lines[20:] == ["<file>: only the first 20 problems are listed"]
    assert [problem.line for problem in caught.value.problems] == list(range(1, 21))


def test_what_is_wrong_with_every_line_is_said_once() -> None:
    """As where a file of judgements is given for a run."""
    judgements = b"".join(b"q 0 d%d 1\n" % number for number in range(30))
    with pytest.raises(DataError) as caught:
        read_run(io.BytesIO(judgements))
    assert str(caught.value).split("\n") == [
        "<file>:1: 4 fields, but 6 or more are needed: query Q0 document rank score tag "
        "(4 fields are judgements: are run and judgements swapped?); the same in lines 2 to 20",
        "<file>: only the first 20 problems are listed",
    ]
    assert [problem.line for problem in caught.value.problems] == list(range(1, 21))
    both = DataError.joined([caught.value, DataError.listing("other", [Problem(3, "no tab")])])
    assert str(both).count("are run and judgements swapped?") == 1


def test_a_problem_of_lines_here_and_there_has_each_of_them() -> None:
    with pytest.raises(DataError) as caught:
        read_run(io.BytesIO(b"q 0 a 1\nq 0 b 1\nq Q0 c 1 3 t\nq 0 d 1\n"))
    assert [line.split(":")[1] for line in str(caught.value).split("\n")] == ["1", "2", "4"]


def test_problems_beyond_a_block_keep_their_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenrank.io.trec.careful._BLOCK", 16)
    data = b"".join(b"1 Q0 d%d 1 1 t\n" % number for number in range(30)) + b"1 Q0 d\xff 1 1 t\n1 Q0 d3 1 1 t"
    with pytest.raises(DataError) as caught:
        read_run(io.BytesIO(data))
    assert str(caught.value) == (
        f"<file>:31: invalid UTF-8 at byte {data.index(255)} of the file\n"
        "<file>:32: document 'd3' is twice in query '1' (first on line 4)"
    )


def test_missing_file_and_directory(tmp_path: Path) -> None:
    missing = tmp_path / "no.trec"
    with pytest.raises(DataError) as caught:
        read_run(str(missing))
    assert str(caught.value) == f"{missing}: no such file"
    with pytest.raises(DataError) as caught:
        read_run(tmp_path)
    assert str(caught.value) == f"{tmp_path}: is a directory, not a file"


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 5000, "1 Q0 a 1 2.0 t\n"])
def test_a_str_that_is_no_file_name(name: str) -> None:
    with pytest.raises(DataError) as caught:
        read_run(name)
    assert len(str(caught.value)) < 300


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.trec"
    path.write_bytes(GOOD)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError) as caught:
        read_run(path)
    assert str(caught.value) == f"{path}: permission denied"


@pytest.mark.parametrize("value", [None, 3, [("q", "d", 1.0)], b"run.trec", 1.5, {1, 2}, object(), dict])
def test_a_wrong_type_lists_what_is_accepted(value: object) -> None:
    for reader in (read_run, read_qrels):
        with pytest.raises(
            InputTypeError, match=r"is read from a path .* an open file, a dict .* table"
        ) as caught:
            reader(value)
        assert isinstance(caught.value, TypeError)
        assert type(value).__name__ in str(caught.value)


def test_a_byte_order_mark_is_dropped_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD)
    with pytest.warns(EvenrankWarning, match="byte order mark"):
        assert read_run(path).to_dict() == {"1": {"a": 2.0}}
    path.write_bytes(b"\xef\xbb\xbf" + GOOD + b"1 Q0 b\xff 2 1 t\n")
    with pytest.warns(EvenrankWarning), pytest.raises(DataError) as caught:
        read_run(path)
    assert str(caught.value) == f"{path}:2: invalid UTF-8 at byte 24 of the file"


GOOD_RUNS = {
    "CRLF": (b"1 Q0 a 1 2.0 t\r\n1 Q0 b 2 1.0 t\r\n", {"1": {"a": 2.0, "b": 1.0}}),
    "CRLF and LF": (b"1 Q0 a 1 2.0 t\r\n1 Q0 b 2 1.0 t\n", {"1": {"a": 2.0, "b": 1.0}}),
    "tabs": (b"1\tQ0\ta\t1\t2.0\tt\n", {"1": {"a": 2.0}}),
    "tabs and blanks": (b" 1 \tQ0\ta 1  2.0\tt \n", {"1": {"a": 2.0}}),
    "no newline at the end": (GOOD.strip(), {"1": {"a": 2.0}}),
    "blank lines and comments": (b"\n# x\n" + GOOD + b"\n  #y\n\n", {"1": {"a": 2.0}}),
    "blanks in the tag": (b"1 Q0 a 1 2.0 my own  run\n", {"1": {"a": 2.0}}),
    "no-break space in an id": ("1 Q0 a\u00a0b 1 2 t\n".encode(), {"1": {"a\u00a0b": 2.0}}),
    "line separators in ids": ("1\u2028 Q0 a\u0085b 1 2 t\n".encode(), {"1\u2028": {"a\u0085b": 2.0}}),
    "007 and 7": (
        b"007 Q0 7 1 2 t\n7 Q0 007 1 1 t\n7 Q0 7 2 0 t\n",
        {"007": {"7": 2.0}, "7": {"007": 1.0, "7": 0.0}},
    ),
    "scattered queries": (
        b"1 Q0 a 1 1 t\n2 Q0 a 1 1 t\n1 Q0 b 2 3 t\n",
        {"1": {"b": 3.0, "a": 1.0}, "2": {"a": 1.0}},
    ),
    "quotes": (b'1 Q0 "a 1 2 t\n1 Q0 b" 2 1 t\n', {"1": {'"a': 2.0, 'b"': 1.0}}),
    "any second field, any whole fourth": (
        b"1 x a -7 2 t\n1 x b 0 1 t\n1 x c %s 0 t\n" % (b"9" * 30),
        {"1": {"a": 2.0, "b": 1.0, "c": 0.0}},
    ),
    "spellings of numbers": (
        b"1 Q0 a 1 +1.5 t\n1 Q0 b 1 .5 t\n1 Q0 c 1 1E-3 t\n1 Q0 d 1 -2. t\n",
        {"1": {"a": 1.5, "b": 0.5, "c": 0.001, "d": -2.0}},
    ),
    "words that mean nothing elsewhere": (b"NA Q0 null 1 2 t\n", {"NA": {"null": 2.0}}),
    "gzip": (
        gzip.compress(GOOD) + gzip.compress(b"2 Q0 a 1 1 t\n") + b"\0\0",
        {"1": {"a": 2.0}, "2": {"a": 1.0}},
    ),
    "zst": (
        zstandard.compress(GOOD) + zstandard.compress(b"2 Q0 a 1 1 t\n"),
        {"1": {"a": 2.0}, "2": {"a": 1.0}},
    ),
}


@pytest.mark.parametrize("case", GOOD_RUNS)
def test_good_run(case: str, tmp_path: Path) -> None:
    data, expected = GOOD_RUNS[case]
    path = tmp_path / "run.trec"
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = read_run(path)
    assert run.to_dict() == expected
    assert [list(inner) for inner in run.to_dict().values()] == [list(inner) for inner in expected.values()]
    assert run.source == str(path)


def test_a_query_without_relevant_documents_is_read() -> None:
    assert read_qrels(io.BytesIO(b"1 0 a 0\n2 0 b 1\n")).to_dict() == {"1": {"a": 0}, "2": {"b": 1}}


def test_options_are_checked() -> None:
    with pytest.raises(
        ParameterError, match="format must be one of trec, csv, tsv, jsonl, parquet, got 'xml'"
    ):
        read_run(io.BytesIO(GOOD), format="xml")
    with pytest.raises(ParameterError, match="columns= applies only to tables"):
        read_run(io.BytesIO(GOOD), columns={"query": "q"})
    with pytest.raises(ParameterError, match="format= applies only to files"):
        read_run({"q": {"d": 1.0}}, format="csv")
    with pytest.raises(ParameterError, match="ties must be one of"):
        read_run(io.BytesIO(GOOD), ties="random")  # type: ignore[arg-type]


def test_a_carriage_return_alone_ends_no_line(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_bytes(b"1 1 a 0\n1 1 b 0\r1 1 c 0\n1 1 d 0\n")
    with pytest.raises(DataError, match=r"qrels.txt:2: carriage return inside the line"):
        read_qrels(path)
