"""Frames that are empty, of the wrong type, or say something twice: a value, or one clear error."""

from __future__ import annotations

import math

import ir_measures
import numpy as np
import pandas
import pytest

from evenrank import Attribute, Membership
from evenrank.errors import DataError, EvenrankError, InputTypeError
from evenrank.plugins.ir_measures import bind
from evenrank.plugins.pyterrier import transformer

RUN = pandas.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [2.0, 1.0]})
QRELS = pandas.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "relevance": [1, 0]})
GROUPS = Membership.from_labels("side", {"a": "left", "b": "right"})
MEASURES = {"nDCG@2": {}, "GF@2": {"groups": GROUPS}}

WRONG_RUNS = {
    "ids that are numbers": ({"doc_id": [1, 2]}, "doc_id: ids are strings, got 1"),
    "an id that is empty": ({"doc_id": ["a", None]}, "doc_id: ids are strings, got"),
    "scores that are text": ({"score": ["x", "y"]}, "column 'score' holds 'y', which is no number|holds 'x'"),
    "scores that are numbers as text": (
        {"score": ["10", "9"]},
        "column 'score' holds '.*', which is no number",
    ),
    "scores that are complex": ({"score": [1j, 2]}, "column 'score' holds .*, which is no number"),
    "a score that is empty": ({"score": [math.nan, 1.0]}, "column 'score' has empty cells"),
    "a score that is infinite": ({"score": [math.inf, 1.0]}, "score inf is not finite"),
}


def values(measure: str, qrels: pandas.DataFrame, run: pandas.DataFrame) -> dict[str, float]:
    bound = bind(measure, **MEASURES[measure])
    return {metric.query_id: metric.value for metric in ir_measures.iter_calc([bound], qrels, run)}


@pytest.mark.parametrize("measure", MEASURES)
def test_empty_frames(measure: str) -> None:
    assert values(measure, QRELS, RUN[:0]) == {"q": 0.0}  # the judged query has an empty list
    assert values(measure, QRELS[:0], RUN) == {}
    assert values(measure, QRELS[:0], RUN[:0]) == {}
    assert math.isnan(ir_measures.calc_aggregate([bind("nDCG@2")], QRELS[:0], RUN)[bind("nDCG@2")])


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("wrong", WRONG_RUNS)
def test_runs_of_wrong_types(measure: str, wrong: str) -> None:
    columns, message = WRONG_RUNS[wrong]
    with pytest.raises(EvenrankError, match=message):
        values(measure, QRELS, RUN.assign(**columns))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"relevance": ["x", "y"]}, "column 'relevance' holds 'x', which is no number"),
        ({"relevance": [0.5, 1.0]}, "relevance: grades must be whole numbers"),
        ({"query_id": [1, 1]}, "query_id: ids are strings, got 1"),
    ],
)
def test_judgements_of_wrong_types(columns: dict, message: str) -> None:
    with pytest.raises(EvenrankError, match=message):
        values("nDCG@2", QRELS.assign(**columns), RUN)


def test_rows_that_are_there_twice() -> None:
    with pytest.raises(DataError, match="document 'a' is twice in query 'q'"):
        values("GF@2", QRELS, pandas.concat([RUN, RUN]))
    for grades in ([1, 0], [0, 1]):  # the same again, or another grade
        with pytest.raises(DataError, match="document 'a' is judged twice for query 'q'"):
            values("nDCG@2", pandas.concat([QRELS, QRELS.assign(relevance=grades)]), RUN)


def test_infinite_values_count_as_in_scores() -> None:
    """A mean leaves them out, an extreme is one of them, and so is a mean of nothing else."""
    groups = Membership.from_labels(Attribute("g", ("x", "y")), {"a": "x", "b": "y"})
    run = pandas.DataFrame({"query_id": ["q", "q", "p"], "doc_id": ["a", "b", "a"], "score": [2.0, 1.0, 1.0]})
    qrels = pandas.DataFrame({"query_id": ["q", "p"], "doc_id": ["a", "a"], "relevance": [1, 1]})
    for measure, expected, part in [
        ("MinSkew", 0.0, run),
        ("MinSkew(over='extreme')", -math.inf, run),
        ("MinSkew", -math.inf, run[2:]),
    ]:
        bound = bind(measure, groups=groups)
        judged = qrels[qrels["query_id"].isin(part["query_id"])]
        assert ir_measures.calc_aggregate([bound], judged, part)[bound] == expected


FRAME = RUN.rename(columns={"query_id": "qid", "doc_id": "docno"})


@pytest.mark.needs("pyterrier")
@pytest.mark.parametrize(
    ("frame", "kind", "message"),
    [
        (pandas.DataFrame(), DataError, "column 'qid' is missing"),
        (FRAME.assign(qid=1), InputTypeError, "qid: ids are strings, got 1"),
        (FRAME.assign(docno=[None, "a"]), InputTypeError, "docno: ids are strings"),
        (FRAME.assign(score="x"), InputTypeError, "column 'score' holds 'x', which is no number"),
        (FRAME.assign(score=[1j, 2]), InputTypeError, "column 'score' holds .*, which is no number"),
        (FRAME.assign(score=np.nan), DataError, "column 'score' has empty cells"),
        (FRAME.assign(rank=["x", 1]), InputTypeError, "column 'rank' holds 'x', which is no number"),
        (FRAME.assign(rank=[np.nan, 1]), DataError, "column 'rank' has empty cells"),
        (pandas.concat([FRAME, FRAME]), DataError, "document 'a' is twice in query 'q'"),
    ],
)
def test_odd_frames_for_a_transformer(frame: pandas.DataFrame, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        transformer("DetCons", groups=GROUPS)(frame)


@pytest.mark.needs("pyterrier")
def test_empty_and_single_rows_for_a_transformer() -> None:
    method = transformer("DetCons", groups=GROUPS)
    assert list(method(FRAME[:0]).columns) == ["qid", "docno", "rank", "score"]
    assert not len(method(FRAME[:0]))
    assert method(FRAME[:1])["docno"].tolist() == ["a"]
