"""Scores in files: what is written reads back, and what is broken is said with its place."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from drawn import made
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evenrank import DataError, ParameterError, Qrels, Run, Scores, evaluate
from evenrank.errors import InputTypeError
from evenrank.grammar import declare, unregister
from evenrank.measures import Measure, Result

FORMATS = ("jsonl", "csv", "tsv", "parquet")
WHOLE = ("jsonl", "parquet")

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=10) | st.sampled_from(
    [
        '"',
        ",",
        "a\tb",
        "a\r\nb",
        "\r",
        "=1+1",
        "+1",
        "-1",
        "@x",
        "<script>",
        "\\_%",
        "\u2028",
        "\0",
        " a ",
        "ok",
        "nan",
    ]
)
VALUES = st.floats(allow_nan=True, allow_infinity=True)
MEASURES = st.sampled_from(["RR", "nDCG@10", "0.5*P@5 + 0.5*RR"])
REASONS = st.sampled_from(["not judged", 'no, "reason"', "a\nb", ""])


@st.composite
def scores_strategy(draw: st.DrawFn) -> Scores:
    queries = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    runs = draw(st.lists(NAMES, min_size=1, max_size=2, unique=True))
    numbers = st.lists(VALUES, min_size=len(queries), max_size=len(queries))
    columns = st.dictionaries(NAMES, numbers, min_size=1, max_size=3)
    values = {run: draw(st.dictionaries(MEASURES, columns, min_size=1)) for run in runs}
    notes = {run: draw(st.lists(NAMES, max_size=2)) for run in runs}
    return made(values, queries, {"a": {"b": [1, None, "x"]}}, notes, draw(REASONS))


@pytest.fixture
def scores() -> Scores:
    run = Run.build(["q1", "q1", "q2"], ["a", "b", "c"], [2.0, 1.0, 1.0], name="bm25")
    qrels = Qrels.build(["q1", "q2", "q4", "q5"], ["b", "c", "x", "z"], [1, 2, 1, 0])
    return evaluate({"bm25": run, "other": run.head(1)}, "nDCG@10 RR@10 Judged@5", qrels=qrels)


@pytest.mark.parametrize("ending", FORMATS)
@given(written=scores_strategy())
@settings(max_examples=examples(40))
def test_any_scores_read_back(tmp_path_factory: pytest.TempPathFactory, ending: str, written: Scores) -> None:
    path = tmp_path_factory.getbasetemp() / f"any.{ending}"
    written.write(path)
    read = Scores.read(path)
    assert read == written
    assert [b.values.tobytes() for b in read.blocks] == [
        np.where(np.isnan(b.values), math.nan, b.values).tobytes() for b in written.blocks
    ]  # -0.0 too
    if ending in WHOLE:
        assert read.notes == written.notes
        assert read.provenance == written.provenance


@pytest.mark.parametrize("ending", FORMATS)
def test_an_evaluation_reads_back(tmp_path: Path, scores: Scores, ending: str) -> None:
    path = tmp_path / f"scores.{ending}"
    scores.write(path)
    read = Scores.read(path)
    assert read == scores
    assert repr(read).splitlines()[:3] == repr(scores).splitlines()[:3]
    if ending in WHOLE:
        assert read.provenance == scores.provenance
        assert read.provenance["runs"]["bm25"]["ties"] == "trec"
        assert any(read.notes.values())


def test_inequality_is_seen(tmp_path: Path) -> None:
    made({"a": {"RR": [0.5, 0.25]}}).write(tmp_path / "x.jsonl")
    read = Scores.read(tmp_path / "x.jsonl")
    assert read == made({"a": {"RR": [0.5, 0.25]}})
    assert read != made({"a": {"RR": [0.5, 0.25 + 1e-15]}})


@pytest.mark.parametrize("ending", WHOLE)
def test_a_measure_without_queries_reads_back(tmp_path: Path, ending: str) -> None:
    empty = made({"a": {"RR": []}})
    empty.write(tmp_path / f"x.{ending}")
    assert Scores.read(tmp_path / f"x.{ending}") == empty
    assert empty.block("RR", "a").query_ids == ()


def test_jsonl_is_as_documented(tmp_path: Path) -> None:
    values = {"a": {"RR": [0.1, math.nan, -math.inf]}}
    made(values, ["q1", "q2", "q3"], {"evenrank": "1"}, {"a": ["note"]}, "why").write(tmp_path / "x.jsonl")
    header, *rows = map(json.loads, (tmp_path / "x.jsonl").read_text().splitlines())
    assert header | {"blocks": None} == {
        "kind": "evenrank scores", "version": 1, "provenance": {"evenrank": "1"}, "notes": {"a": ["note"]},
        "blocks": None,
    }  # fmt: skip
    assert rows[0] == {"run": "a", "query": "q1", "measure": "RR", "column": "", "value": 0.1, "status": "ok"}
    assert [(row["value"], row["status"]) for row in rows[1:]] == [(None, "why"), ("-Infinity", "infinite")]


@pytest.mark.parametrize(("name", "part"), [("x.tex", "\\begin{tabular}"), ("x.md", "| run |")])
def test_summaries_are_written_and_not_read(tmp_path: Path, scores: Scores, name: str, part: str) -> None:
    scores.write(tmp_path / name)
    assert part in (tmp_path / name).read_text()
    with pytest.raises(ParameterError, match=r"must end in \.jsonl"):
        Scores.read(tmp_path / name)


def test_format_wins_over_the_name(tmp_path: Path, scores: Scores) -> None:
    scores.write(tmp_path / "x.dat", format="csv")
    assert (tmp_path / "x.dat").read_text().startswith("run,query,")
    assert Scores.read(tmp_path / "x.dat", format="csv") == scores
    with pytest.raises(ParameterError, match="the name must end in"):
        scores.write(tmp_path / "y.dat")
    with pytest.raises(ParameterError, match="format must be one of"):
        scores.write(tmp_path / "y.csv", format="xlsx")
    with pytest.raises(InputTypeError, match="a path is a str or a Path, got int"):
        scores.write(3)  # type: ignore[arg-type]


def test_compressed_by_name(tmp_path: Path, scores: Scores) -> None:
    scores.write(tmp_path / "x.jsonl.gz")
    assert gzip.decompress((tmp_path / "x.jsonl.gz").read_bytes()).startswith(b'{"kind"')
    assert Scores.read(tmp_path / "x.jsonl.gz") == scores


@pytest.mark.parametrize("ending", [*FORMATS, "tex", "md"])
def test_an_interrupted_write_leaves_the_old_file(
    tmp_path: Path, scores: Scores, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / f"x.{ending}"
    path.write_text("old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        scores.write(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_that_cannot_be_written_leaves_the_old_file(tmp_path: Path, scores: Scores) -> None:
    path = tmp_path / "x.csv"
    path.write_text("old")
    bad = replace(scores, blocks=(replace(scores.blocks[0], run="\udcff"),))
    with pytest.raises(DataError, match="UTF-8"):
        bad.write(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_rows_in_another_order_make_the_same_blocks(tmp_path: Path, scores: Scores) -> None:
    path = tmp_path / "x.csv"
    scores.write(path)
    head, *rows = path.read_text().splitlines()
    by_query = sorted(rows, key=lambda row: row.split(",")[1])
    path.write_text("\n".join([head, *by_query]) + "\n")
    read = Scores.read(path)
    assert len(read.blocks) == len(scores.blocks)
    for run, measures in scores.to_dict().items():
        for measure, values in measures.items():
            assert read.to_dict()[run][measure] == pytest.approx(values, abs=0, nan_ok=True)


HEADER = '{"kind": "evenrank scores", "version": 1, "provenance": {}, "notes": {}, "blocks": []}\n'
ROW = '{"run": "a", "query": "q1", "measure": "RR", "column": "", "value": 0.5, "status": "ok"}\n'
TSV = "run\tquery\tmeasure\tcolumn\tvalue\tstatus\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.jsonl", "", ": is empty"),
        ("x.jsonl", "[]\n", ":1: expected an object"),
        ("x.jsonl", '{"kind": "other"}\n', ":1: this is not a file of scores"),
        ("x.jsonl", HEADER.replace("1", "2"), ":1: version 2 is not read here"),
        ("x.jsonl", HEADER.replace('"notes": {}', '"notes": {"a": 3}'), ":1:"),
        ("x.jsonl", HEADER + ROW + "{", ":3: not JSON"),
        ("x.jsonl", HEADER + ROW + ROW, ":3: RR of query 'q1'"),
        ("x.jsonl", HEADER + ROW.replace('"query": "q1", ', ""), ":2: 'query'"),
        ("x.jsonl", HEADER + ROW.replace('"q1"', "7"), ":2: 'query'"),
        ("x.jsonl", HEADER + ROW.replace("0.5", '"high"'), ":2:"),
        ("x.jsonl", HEADER + ROW.replace("0.5", "true"), ":2:"),
        ("x.jsonl", HEADER + ROW.replace("0.5", "9" * 400), ":2:"),
        ("x.jsonl", HEADER + ROW.replace("0.5", "null"), ":2:"),
        ("x.jsonl", HEADER + ROW.replace('"ok"', '"why"'), ":2:"),
        ("x.jsonl", HEADER + ROW.replace("RR", "Nope"), ":2: measure 'Nope'"),
        ("x.tsv", "", ": is empty"),
        ("x.tsv", "run\tquery\n", ":1:"),
        ("x.tsv", TSV + "a\tq1\tRR\n", ":2:"),
        ("x.tsv", TSV + "a\tq1\tRR\t\thigh\tok\n", ":2:"),
        ("x.tsv", TSV + 'a\t"q\n1"\tRR\t\t0.5\tok\na\tq2\tRR\t\tx\tok\n', ":4:"),
        ("x.tsv", TSV + 'a\t"q1\tRR\t\t0.5\tok\n', ": unexpected end of data"),
        ("x.tsv", TSV + "a\tq1\tRR\tf\t0.5\tok\na\tq2\tRR\tm\t0.5\tok\n", "RR of run 'a'"),
        ("x.parquet", "hello", ": is not a Parquet file"),
    ],
)  # fmt: skip
def test_malformed_files(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(DataError) as caught:
        Scores.read(path)
    said = str(caught.value)
    assert said.startswith(str(path))
    assert message in said
    assert "\n" not in said


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_bytes(TSV.encode() + b"a\tq\xff1\tRR\t\t0.5\tok\n")
    with pytest.raises(DataError, match=r"x\.tsv:2: invalid UTF-8"):
        Scores.read(tmp_path / "x.tsv")


def test_a_file_that_ends_early(tmp_path: Path, scores: Scores) -> None:
    path = tmp_path / "x.jsonl"
    scores.write(path)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(DataError, match=r"Judged@5 of run 'other'"):
        Scores.read(path)


def test_parquet_of_somebody_else(tmp_path: Path) -> None:
    import polars

    polars.DataFrame({"a": [1]}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(DataError, match="does not hold scores"):
        Scores.read(tmp_path / "x.parquet")


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        Scores.read(tmp_path / "x.jsonl")


def test_a_measure_that_is_not_registered_when_reading(tmp_path: Path) -> None:
    class Ones(Measure):
        """Always one."""

        family: ClassVar[str] = "test"

        @property
        def needs(self) -> frozenset[str]:
            return frozenset({"ranked.documents"})

        def compute(self, evidence: Any) -> Result:
            return Result(np.ones(len(evidence)))

    declared = declare(Ones)
    try:
        run = Run.build(["q1"], ["a"], [1.0], name="a")
        scores = evaluate(run, "Ones@3")
        scores.write(tmp_path / "x.csv")
        assert Scores.read(tmp_path / "x.csv") == scores
    finally:
        unregister("measure", declared.name)
    with pytest.raises(DataError, match=r"x\.csv:2: measure 'Ones@3' is not known here, register it"):
        Scores.read(tmp_path / "x.csv")


@pytest.mark.parametrize("name", ["s.csv", "s.tsv"])
def test_a_header_alone_is_not_scores(name: str, tmp_path: Path) -> None:
    columns = ["run", "query", "measure", "column", "value", "status"]
    (tmp_path / name).write_text(("," if name == "s.csv" else "\t").join(columns) + "\n\n")
    with pytest.raises(DataError, match=r"holds no scores, only the names of the columns"):
        Scores.read(tmp_path / name)


@pytest.mark.parametrize(("suffix", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_tables_hold_no_formula_and_read_back(suffix: str, delimiter: str, tmp_path: Path) -> None:
    names = ["=1+1", "+1", "-1", "@x", "'quoted", "plain"]
    run = Run.build(names, ["a"] * len(names), [1.0] * len(names), name="=cmd|' /C calc'!A0")
    scores = evaluate(run, "P@1", qrels={name: {"a": 1} for name in names})
    path = tmp_path / f"x.{suffix}"
    scores.write(path)
    for text in (path.read_text(), scores.to_table().to_tsv() if suffix == "tsv" else ""):
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        cells = [cell for row in rows for cell in row[:3]]  # names
        assert [cell for cell in cells if cell[:1] in tuple("=+-@\t\r")] == []
    assert Scores.read(path) == scores
