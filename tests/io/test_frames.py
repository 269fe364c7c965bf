"""Mappings and tables in memory."""

from __future__ import annotations

import decimal
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenrank import DataError, ParameterError, read_qrels, read_run
from evenrank.errors import InputTypeError

COLUMNS: dict[str, list[Any]] = {
    "query": ["1", "1", "2"],
    "document": ["a", "b", "a"],
    "score": [1.0, 2.0, 3.0],
}
EXPECTED = {"1": {"b": 2.0, "a": 1.0}, "2": {"a": 3.0}}

TABLES = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas with objects": pd.DataFrame(COLUMNS, dtype=object),
    "pandas with categories": pd.DataFrame(COLUMNS).astype({"query": "category", "document": "category"}),
    "pandas with an odd index": pd.DataFrame(COLUMNS, index=[5, 5, 5]),
    "polars": pl.DataFrame(COLUMNS),
    "polars, lazy": pl.LazyFrame(COLUMNS),
    "polars with categories": pl.DataFrame(COLUMNS).with_columns(pl.col("query").cast(pl.Categorical)),
    "polars with objects": pl.DataFrame(COLUMNS).with_columns(
        pl.Series("document", ["a", "b", "a"], dtype=pl.Object)
    ),
    "arrow": pa.table(COLUMNS),
    "arrow in chunks": pa.concat_tables([pa.table(COLUMNS).slice(0, 1), pa.table(COLUMNS).slice(1)]),
    "arrow dictionaries": pa.table({**COLUMNS, "query": pa.array(["1", "1", "2"]).dictionary_encode()}),
    "a dictionary of columns": COLUMNS,
    "record batch": pa.RecordBatch.from_pydict(COLUMNS),
    "integers as ids": pd.DataFrame({**COLUMNS, "query": [1, 1, 2]}),
    "integers as scores": pl.DataFrame({**COLUMNS, "score": [1, 2, 3]}),
}


@pytest.mark.parametrize("case", TABLES)
def test_tables(case: str) -> None:
    run = read_run(TABLES[case])
    assert run.to_dict() == EXPECTED
    assert (run.name, run.source) == ("run", None)


def test_the_callers_table_is_not_changed() -> None:
    frame = pd.DataFrame(COLUMNS)
    read_run(frame)
    pd.testing.assert_frame_equal(frame, pd.DataFrame(COLUMNS))


@pytest.mark.parametrize("value", [1.0, 1, np.float32(1), np.int64(1), decimal.Decimal(1)])
def test_numbers_of_any_kind_are_scores_and_whole_ones_ids(value: object) -> None:
    assert read_run({"q": {"d": value}}).to_dict() == {"q": {"d": 1.0}}
    assert read_run({7: {np.int32(1): 2.0, "007": 1.0}}).to_dict() == {"7": {"1": 2.0, "007": 1.0}}


NAN, INF = float("nan"), float("inf")
BAD_RUNS: list[tuple[Any, list[str]]] = [
    ({}, ["run"]),
    ({"q": {}, "p": {"d": 1.0}}, ["'q'"]),
    ({"q": ["d1", "d2"]}, ["'q'", "list"]),
    ({"q": {"d": NAN}}, ["'q'", "'d'", "nan"]),
    ({"q": {"d": INF}}, ["'q'", "'d'", "inf"]),
    ({"q": {"d": 10**400}}, ["'q'", "'d'"]),
    ({"q": {"d": "0.5"}}, ["'d'", "'0.5'"]),
    ({"q": {"d": None}}, ["'d'"]),
    ({"q": {"d": True}}, ["'d'", "True"]),
    ({"q": {1.0: 1.0}}, ["1.0 (float)"]),
    ({b"q": {"d": 1.0}}, ["b'q' (bytes)"]),
    ({True: {"d": 1.0}}, ["True (bool)"]),
    ({"q": {None: 1.0}}, ["'q'", "None"]),
    ({"q": {"": 1.0}}, ["'q'", "''"]),
    ({"q": {"\ud800": 1.0}}, [r"\ud800"]),
    ({"q": {"a\tb": 1.0}}, [r"a\tb"]),
    ({"q": {7: 1.0, "7": 2.0}}, ["'7'", "'q'"]),
    ({"q": {"a": 1.0, "b": "x"}, "p": {"c": "y"}}, ["'b'", "'x'", "'p'", "'y'"]),
    (pd.DataFrame(COLUMNS).head(0), ["run"]),
    (pd.DataFrame({**COLUMNS, "score": [1.0, None, 2.0]}), ["row 2"]),
    (pl.DataFrame({**COLUMNS, "score": [1.0, INF, 2.0]}), ["row 2", "inf"]),
    (pl.DataFrame({**COLUMNS, "score": [1.0, NAN, 2.0]}), ["row 2", "nan"]),
    (pd.DataFrame({**COLUMNS, "document": ["a", None, "b"]}), ["row 2"]),
    (pd.DataFrame({**COLUMNS, "query": [1.0, NAN, 2.0]}), ["row 1", "1.0", "row 2", "row 3", "2.0"]),
    (pl.DataFrame({**COLUMNS, "document": ["a", "a", "a"]}), ["row 2", "'a'", "'1'"]),
    (pd.DataFrame({**COLUMNS, "score": ["1", "2", "3"]}), ["row 1", "'1'"]),
    (pl.DataFrame({"q": ["1"], "document": ["a"], "score": [1.0]}), ["query", "'q'"]),
    (pd.DataFrame({**COLUMNS, "topic": ["1", "1", "2"]}), ["'query'", "'topic'"]),
]
BAD_GRADES: list[tuple[Any, list[str]]] = [
    ({"q": {"d": 1.5}}, ["'q'", "'d'", "1.5"]),
    ({"q": {"d": True}}, ["'d'", "True"]),
    ({"q": {"d": 2**31}}, ["'d'", "2147483648"]),
    (pl.DataFrame({"query": ["q", "q"], "document": ["a", "b"], "grade": [1.0, 0.5]}), ["row 2", "0.5"]),
    (pl.DataFrame({"query": ["q", "q"], "document": ["a", "a"], "grade": [1, 0]}), ["row 2", "'a'", "'q'"]),
]


@pytest.mark.parametrize("read", [read_run, read_qrels])
def test_what_cannot_be_used_is_named(read: Any) -> None:
    for source, named in BAD_RUNS if read is read_run else BAD_GRADES:
        with pytest.raises(DataError) as caught:
            read(source)
        for name in named:
            assert name in str(caught.value)


def test_columns_are_renamed() -> None:
    table = pl.DataFrame({"q": ["1"], "d": ["a"], "bm25": [1.0], "score": [9.0]})
    run = read_run(table, columns={"query": "q", "document": "d", "score": "bm25"})
    assert run.to_dict() == {"1": {"a": 1.0}}
    with pytest.raises(DataError, match=r"'x'.*'bm25'"):
        read_run(table, columns={"query": "x"})
    with pytest.raises(ParameterError, match="'docs'"):
        read_run(table, columns={"docs": "d"})
    with pytest.raises(ParameterError, match="format"):
        read_run({"q": {"d": 1.0}}, format="csv")


@pytest.mark.filterwarnings("ignore::evenrank.EvenrankWarning")  # ranks against scores
@pytest.mark.parametrize(
    ("ranks", "ties", "rule", "order"),
    [
        ([2, 3, 1], None, "file", "cab"),
        ([2, 3, 1], "file", "file", "cab"),
        ([2, 3, 1], "trec", "trec", "cba"),
        ([1, 2, 3], None, "trec", "cba"),
        ([2, 2, 1], None, "trec", "cba"),
        (None, None, "trec", "cba"),
        (None, "file", "file", "cab"),
    ],
)
def test_a_rank_breaks_ties_where_it_agrees_with_the_scores(
    ranks: list[int] | None, ties: Any, rule: str, order: str
) -> None:
    table = {"query": ["1"] * 3, "document": ["a", "b", "c"], "score": [1.0, 1.0, 2.0]}
    run = read_run(pl.DataFrame(table if ranks is None else {**table, "rank": ranks}), ties=ties)
    assert (run.ties, run.documents("1")) == (rule, list(order))


def test_a_rank_alone_orders() -> None:
    run = read_run(pl.DataFrame({"query": ["1", "1"], "document": ["a", "b"], "rank": [2, 1]}))
    assert run.to_dict() == {"1": {"b": -1.0, "a": -2.0}}


def test_a_run_is_returned_as_it_is_and_so_is_what_can_be_a_dictionary() -> None:
    run = read_run({"q": {"d": 1.0}})
    assert read_run(run) is run
    assert read_run(run, name="other").name == "other"
    assert read_run({"q": {"d": 1.0}}, name="mine").name == "mine"

    class OtherRun:
        name = "theirs"

        def to_dict(self) -> dict[str, dict[str, float]]:
            return EXPECTED

    assert read_run(OtherRun()).name == "theirs"
    assert read_run(OtherRun()).to_dict() == EXPECTED
    with pytest.raises(InputTypeError):
        read_run(pd.Series([1.0]).rolling(1))


def test_judgements_by_intent() -> None:
    nested = {"q": {"i": {"d": 2}, "j": {"d": 0, "e": 1}}}
    qrels = read_qrels(nested, diversity=True)
    assert qrels.to_dict() == nested
    assert read_qrels(qrels, diversity=True) is qrels
    table = pl.DataFrame({"query": ["q"], "subtopic": [1], "document": ["d"], "rel": [1]})
    assert read_qrels(table, diversity=True).to_dict() == {"q": {"1": {"d": 1}}}
    with pytest.raises(DataError, match="'q'"):
        read_qrels({"q": {"d": 2}}, diversity=True)
    with pytest.raises(InputTypeError):
        read_qrels(qrels)


def test_reading_a_file_imports_no_table_library() -> None:
    code = (
        "import io, sys, evenrank as e;"
        "e.read_run(io.BytesIO(b'1 Q0 a 1 1 t')); e.read_run({'q': {'d': 1}});"
        "found = {'polars', 'ir_datasets', 'zstandard'} & set(sys.modules);"
        "sys.exit(' '.join(found) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
