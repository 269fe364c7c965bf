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

from evenrank import DiversityQrels, Run, read_qrels, read_run
from evenrank.errors import DataError, InputTypeError, ParameterError

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
def test_numbers_of_any_kind_are_scores(value: object) -> None:
    assert read_run({"q": {"d": value}}).to_dict() == {"q": {"d": 1.0}}


def test_whole_numbers_are_ids() -> None:
    run = read_run({7: {np.int32(1): 2.0, "007": 1.0}})
    assert run.to_dict() == {"7": {"1": 2.0, "007": 1.0}}


BAD_MAPPINGS: dict[str, tuple[Any, str]] = {
    "empty": ({}, "run: no ranked documents (the mapping is empty)"),
    "empty query": ({"q": {}, "p": {"d": 1.0}}, "run: query 'q': no ranked documents: leave the query out"),
    "a list": (
        {"q": ["d1", "d2"]},
        "run: query 'q': expected a mapping {document: score}, got list ['d1', 'd2']",
    ),
    "nan": ({"q": {"d": float("nan")}}, "run: query 'q', document 'd': score nan is not finite"),
    "infinite": ({"q": {"d": float("inf")}}, "run: query 'q', document 'd': score inf is not finite"),
    "too large": (
        {"q": {"d": 10**400}},
        "run: query 'q', document 'd': score is too large for a 64-bit float",
    ),
    "text": ({"q": {"d": "0.5"}}, "run: query 'q', document 'd': score '0.5' is text, not a number"),
    "none": ({"q": {"d": None}}, "run: query 'q', document 'd': score is missing"),
    "truth value": ({"q": {"d": True}}, "run: query 'q', document 'd': score True (bool) is not a number"),
    "float id": (
        {"q": {1.0: 1.0}},
        "run: query 'q', document 1.0: document 1.0 (float) is not an id: ids are text or whole numbers",
    ),
    "bytes id": (
        {b"q": {"d": 1.0}},
        "run: query b'q', document 'd': query b'q' (bytes) is not an id: ids are text or whole numbers",
    ),
    "truth value as id": (
        {True: {"d": 1.0}},
        "run: query True, document 'd': query True (bool) is not an id: ids are text or whole numbers",
    ),
    "no id": ({"q": {None: 1.0}}, "run: query 'q', document None: document is missing"),
    "empty id": ({"q": {"": 1.0}}, "run: query 'q', document '': document is empty"),
    "surrogate": (
        {"q": {"\ud800": 1.0}},
        r"run: query 'q', document '\ud800': "
        r"document '\ud800' holds half of a surrogate pair, which no file can hold",
    ),
    "7 and '7'": (
        {"q": {7: 1.0, "7": 2.0}},
        "run: query 'q', document '7': document '7' is twice in query 'q'",
    ),
    "two things": (
        {"q": {"a": 1.0, "b": "x"}, "p": {}},
        "run: query 'q', document 'b': score 'x' is text, not a number\n"
        "run: query 'p': no ranked documents: leave the query out",
    ),
}


@pytest.mark.parametrize("case", BAD_MAPPINGS)
def test_bad_mappings(case: str) -> None:
    mapping, message = BAD_MAPPINGS[case]
    with pytest.raises(DataError) as caught:
        read_run(mapping)
    assert str(caught.value) == message


BAD_TABLES: dict[str, tuple[Any, str]] = {
    "no rows": (pd.DataFrame(COLUMNS).head(0), "run: no ranked documents (the table has no rows)"),
    "missing score": (pd.DataFrame({**COLUMNS, "score": [1.0, None, 2.0]}), "run: row 2: score is missing"),
    "infinite score": (
        pl.DataFrame({**COLUMNS, "score": [1.0, float("inf"), 2.0]}),
        "run: row 2: score inf is not finite",
    ),
    "nan in polars": (
        pl.DataFrame({**COLUMNS, "score": [1.0, float("nan"), 2.0]}),
        "run: row 2: score nan is not finite",
    ),
    "missing id": (
        pd.DataFrame({**COLUMNS, "document": ["a", None, "b"]}),
        "run: row 2: document is missing",
    ),
    "float ids": (
        pd.DataFrame({**COLUMNS, "query": [1.0, np.nan, 2.0]}),
        "run: row 1: query 1.0 (float) is not an id: ids are text or whole numbers\n"
        "run: row 2: query is missing\n"
        "run: row 3: query 2.0 (float) is not an id: ids are text or whole numbers",
    ),
    "duplicate": (
        pl.DataFrame({**COLUMNS, "document": ["a", "a", "a"]}),
        "run: row 2: document 'a' is twice in query '1'",
    ),
    "text scores": (
        pd.DataFrame({**COLUMNS, "score": ["1", "2", "3"]}),
        "run: row 1: score '1' is text, not a number",
    ),
    "no column": (
        pl.DataFrame({"q": ["1"], "document": ["a"], "score": [1.0]}),
        "run: no column for the query (accepted: query, query_id, qid, topic, query-id); "
        "the columns found are 'q', 'document', 'score': name it with columns={'query': ...}",
    ),
    "ambiguous": (
        pd.DataFrame({**COLUMNS, "topic": ["1", "1", "2"]}),
        "run: the query could be any of the columns 'query', 'topic': say which, columns={'query': 'query'}",
    ),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables(case: str) -> None:
    table, message = BAD_TABLES[case]
    with pytest.raises(DataError) as caught:
        read_run(table)
    assert str(caught.value).split("\n")[: message.count("\n") + 1] == message.split("\n")


def test_columns_are_renamed() -> None:
    table = pl.DataFrame({"q": ["1"], "d": ["a"], "bm25": [1.0], "score": [9.0]})
    run = read_run(table, columns={"query": "q", "document": "d", "score": "bm25"})
    assert run.to_dict() == {"1": {"a": 1.0}}
    with pytest.raises(
        DataError, match="no column 'x' for the query; the columns found are 'q', 'd', 'bm25', 'score'"
    ):
        read_run(table, columns={"query": "x"})
    with pytest.raises(ParameterError, match="'docs' is not one of query, document, score"):
        read_run(table, columns={"docs": "d"})


def test_frames_of_pyterrier_and_ir_measures() -> None:
    terrier = pd.DataFrame(
        {
            "qid": ["1", "1"],
            "query": ["words", "words"],
            "docid": [4, 5],
            "docno": ["a", "b"],
            "rank": [0, 1],
            "score": [2.0, 1.0],
        }
    )
    assert read_run(terrier).to_dict() == {"1": {"a": 2.0, "b": 1.0}}
    judged = pd.DataFrame({"query_id": ["1"], "doc_id": ["a"], "relevance": [2], "iteration": ["0"]})
    assert read_qrels(judged).to_dict() == {"1": {"a": 2}}


def test_a_rank_alone_orders() -> None:
    run = read_run(pl.DataFrame({"query": ["1", "1"], "document": ["a", "b"], "rank": [2, 1]}))
    assert run.to_dict() == {"1": {"b": -1.0, "a": -2.0}}


@pytest.mark.filterwarnings("ignore::evenrank.errors.EvenrankWarning")  # ranks against scores
@pytest.mark.parametrize(
    ("ranks", "ties", "rule"),
    [
        ([2, 3, 1], None, "file"),
        ([2, 3, 1], "file", "file"),
        ([2, 3, 1], "trec", "trec"),
        ([1, 2, 3], None, "trec"),
        ([1, 2, 3], "file", "file"),
    ],
)
def test_a_run_says_how_its_ties_stand(ranks: list[int], ties: Any, rule: str) -> None:
    table = {"query": ["1"] * 3, "document": ["a", "b", "c"], "score": [1.0, 1.0, 2.0], "rank": ranks}
    assert read_run(pl.DataFrame(table), ties=ties).ties == rule


def test_control_characters_in_the_ids_of_a_mapping() -> None:
    with pytest.raises(
        DataError, match=r"run: query '1', document 'a\\tb': document 'a\\tb' holds the control"
    ):
        read_run({"1": {"a\tb": 1.0}})
    flawed = {f"{number}\n": 1.0 for number in range(30)}
    with pytest.raises(DataError, match="only the first 20 problems are listed"):
        read_run({"1": {"sound": 0.5, **flawed}})


@pytest.mark.filterwarnings("ignore::evenrank.errors.EvenrankWarning")  # ranks against scores
def test_a_rank_breaks_ties_where_it_agrees_with_the_scores() -> None:
    table = {"query": ["1"] * 3, "document": ["a", "b", "c"], "score": [1.0, 1.0, 2.0]}
    assert read_run(pl.DataFrame({**table, "rank": [2, 3, 1]})).documents("1") == ["c", "a", "b"]
    assert read_run(pl.DataFrame({**table, "rank": [1, 2, 3]})).documents("1") == ["c", "b", "a"]
    assert read_run(pl.DataFrame({**table, "rank": [2, 2, 1]})).documents("1") == ["c", "b", "a"]
    assert read_run(pl.DataFrame(table)).documents("1") == ["c", "b", "a"]
    assert read_run(pl.DataFrame({**table, "rank": [2, 3, 1]}), ties="trec").documents("1") == ["c", "b", "a"]
    assert read_run(pl.DataFrame(table), ties="file").documents("1") == ["c", "a", "b"]


def test_a_run_is_returned_as_it_is() -> None:
    run = read_run({"q": {"d": 1.0}})
    assert read_run(run) is run
    assert read_run(run, name="other").name == "other"
    assert read_run({"q": {"d": 1.0}}, name="mine").name == "mine"


def test_objects_with_to_dict() -> None:
    class OtherRun:
        name = "theirs"

        def to_dict(self) -> dict[str, dict[str, float]]:
            return EXPECTED

    assert read_run(OtherRun()).name == "theirs"
    assert read_run(OtherRun()).to_dict() == EXPECTED
    with pytest.raises(InputTypeError):
        read_run(pd.Series([1.0]).rolling(1))


GRADES: dict[str, tuple[Any, str]] = {
    "fraction": ({"q": {"d": 1.5}}, "qrels: query 'q', document 'd': grade 1.5 is not a whole number"),
    "truth value": (
        {"q": {"d": True}},
        "qrels: query 'q', document 'd': grade True is a truth value: use 0 and 1",
    ),
    "too large": (
        {"q": {"d": 2**31}},
        "qrels: query 'q', document 'd': grade 2147483648 does not fit 32 bits",
    ),
    "table": (
        pl.DataFrame({"query": ["q", "q"], "document": ["a", "b"], "grade": [1.0, 0.5]}),
        "qrels: row 2: grade 0.5 is not a whole number",
    ),
    "duplicate": (
        pl.DataFrame({"query": ["q", "q"], "document": ["a", "a"], "grade": [1, 0]}),
        "qrels: row 2: document 'a' is judged twice for query 'q'",
    ),
}


@pytest.mark.parametrize("case", GRADES)
def test_bad_grades(case: str) -> None:
    value, message = GRADES[case]
    with pytest.raises(DataError) as caught:
        read_qrels(value)
    assert str(caught.value) == message


def test_qrels_from_mappings_and_tables() -> None:
    assert read_qrels({"q": {"d": 2, "e": 0}}).to_dict() == {"q": {"d": 2, "e": 0}}
    whole_floats = pd.DataFrame({"qid": ["q"], "docno": ["d"], "label": [2.0]})
    assert read_qrels(whole_floats).to_dict() == {"q": {"d": 2}}
    nested = {"q": {"i": {"d": 2}, "j": {"d": 0, "e": 1}}}
    qrels = read_qrels(nested, diversity=True)
    assert qrels.to_dict() == nested
    assert read_qrels(qrels, diversity=True) is qrels
    table = pl.DataFrame({"query": ["q"], "subtopic": [1], "document": ["d"], "rel": [1]})
    assert read_qrels(table, diversity=True).to_dict() == {"q": {"1": {"d": 1}}}
    with pytest.raises(DataError, match=r"expected a mapping {intent: {document: grade}}, got dict"):
        read_qrels({"q": {"d": 2}}, diversity=True)
    with pytest.raises(InputTypeError, match="graded"):
        read_qrels(qrels)
    assert isinstance(qrels, DiversityQrels)
    assert isinstance(read_run(EXPECTED), Run)


def test_reading_a_file_imports_no_table_library() -> None:
    code = (
        "import io, sys, evenrank.io as e;"
        "e.read_run(io.BytesIO(b'1 Q0 a 1 1 t')); e.read_run({'q': {'d': 1}});"
        "found = {'polars', 'ir_datasets', 'zstandard'} & set(sys.modules);"
        "sys.exit(' '.join(found) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
