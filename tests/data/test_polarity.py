"""Polarity: from columns and labels, what is refused, and how a measure gets it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenrank as er
from evenrank.errors import DataError, InputTypeError, MissingEvidenceError, ParameterError


def test_scores_are_kept_as_given_and_cannot_be_changed() -> None:
    given = np.array([[0.5, 1.0], [-0.5, 2.0]])
    polarity = er.Polarity.build(["a", "b"], given, axes=["left", "old"])
    given[0, 0] = 9
    assert polarity.scores.tolist() == [[0.5, 1.0], [-0.5, 2.0]]
    with pytest.raises(ValueError, match="read-only"):
        polarity.scores[0, 0] = 1
    assert repr(polarity) == "<Polarity: 2 documents, 2 axes>"
    assert polarity.negated().scores.tolist() == [[-0.5, -1.0], [0.5, -2.0]]
    assert len(polarity) == 2


@pytest.mark.parametrize(
    ("scores", "further", "error", "said"),
    [
        ([1.0, float("nan")], {}, DataError, "polarity:2: document 'b': the score is not finite"),
        ([1.0, float("inf")], {}, DataError, "polarity:2: document 'b': the score is not finite"),
        ([1.0], {}, DataError, r"scores of \(1, 1\) do not fit 2 documents"),
        ([[[1.0]], [[1.0]]], {}, DataError, r"scores of \(2, 1, 1\) do not fit 2 documents"),
        (["x", "y"], {}, InputTypeError, "scores must be numbers, one row for each document"),
        ([1.0, 2.0], {"axes": ["a", "b"]}, ParameterError, "2 names for 1 axes"),
        ([1.0, 2.0], {"queries": ["q"]}, DataError, "1 queries for 2 documents"),
    ],
)
def test_scores_that_cannot_be_used(scores: Any, further: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        er.Polarity.build(["a", "b"], scores, **further)


def test_a_document_has_one_score_by_query() -> None:
    with pytest.raises(DataError, match="polarity:2: document 'a' is listed twice"):
        er.Polarity.build(["a", "a"], [1.0, 2.0])
    er.Polarity.build(["a", "a"], [1.0, 2.0], queries=["q", "r"])
    with pytest.raises(DataError, match="polarity:3: document 'a' is listed twice"):
        er.Polarity.build(["a", "a", "a"], [1.0, 2.0, 3.0], queries=["q", "r", "q"])


def test_labels_are_sides() -> None:
    polarity = er.Polarity.from_labels({"a": "p1", "b": "p2", "c": "p1"}, positive="p1")
    assert polarity.scores.ravel().tolist() == [1, -1, 1]
    assert polarity.oriented
    nested = er.Polarity.from_labels(
        {"q": {"a": "left", "b": "right"}, "r": {"a": "none"}}, positive="left", neutral=["none"]
    )
    assert nested.scores.ravel().tolist() == [1, -1, 0]
    assert nested.query_ids == ("q", "r")
    one = er.Polarity.from_labels({"a": "x", "b": "x"}, positive="x")
    assert one.scores.ravel().tolist() == [1, 1]


@pytest.mark.parametrize(
    ("labels", "further", "error", "said"),
    [
        ({}, {}, DataError, "no document has a label"),
        ([("a", "p1")], {}, InputTypeError, "labels must be a mapping"),
        ({"a": "x"}, {}, ParameterError, "no document is labelled 'p1': the labels are 'x'"),
        (
            {"a": "p1", "b": "p2", "c": "p3"},
            {},
            ParameterError,
            "labels other than 'p1' are .*: say which is negative=, which neutral=",
        ),
        (
            {"a": "p1", "b": "p2", "c": "p3"},
            {"negative": "p2"},
            DataError,
            "the label 'p3' is neither positive .'p1'. nor negative .'p2'.: if it takes no side",
        ),
        ({"q": {"a": "p1"}, "b": "p2"}, {}, InputTypeError, "labels"),
    ],
)
def test_labels_that_cannot_be_used(labels: Any, further: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        er.Polarity.from_labels(labels, positive="p1", **further)


RUN = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "r": {"c": 3.0, "b": 2.0, "a": 1.0}}


def test_measures_get_the_scores_of_the_document_or_of_the_pair() -> None:
    shared = er.Polarity.build(["a", "b", "c"], [2.0, 1.0, -1.0])
    values = er.evaluate(RUN, "DUO", polarity=shared).to_dict()["run"]["DUO"]
    assert values == {"q": 1.0, "r": pytest.approx(5 / 8)}  # first two: spread 1/4, 9/4 at most, here 1
    by_query = er.Polarity.build(
        ["a", "b", "c", "a", "b", "c"], [2.0, 1, -1, -1, 1, 2], queries=["q", "q", "q", "r", "r", "r"]
    )
    assert er.evaluate(RUN, "DUO", polarity=by_query).to_dict()["run"]["DUO"] == {"q": 1.0, "r": 1.0}


def test_what_is_missing_is_an_error_that_names_it() -> None:
    by_query = er.Polarity.build(["a", "b", "c"], [2.0, 1, -1], queries=["q"] * 3)
    with pytest.raises(MissingEvidenceError, match="'c'"):
        er.evaluate(RUN, "DUO", polarity=by_query)
    assert er.evaluate(RUN, "DUO", polarity=by_query, queries=["q"]).mean("DUO") == 1
    with pytest.raises(ParameterError, match=r"DUO needs polarity: pass polarity=, as"):
        er.evaluate(RUN, "DUO")
    with pytest.raises(ParameterError, match="needs 2 axes of polarity, there are 1"):
        er.evaluate(RUN, "DUO(axes=2)", polarity=by_query, queries=["q"])


def test_axes_are_called_by_their_names() -> None:
    polarity = er.Polarity.build(list("abc"), np.ones((3, 2)) * [[1, 2]] * [[1], [2], [-1]], axes=["l", "o"])
    assert er.evaluate(RUN, "DUO(axes=2)", polarity=polarity).blocks[0].columns == ("l", "o", "maximum")


def test_the_fingerprint_tells_scores_apart() -> None:
    one = er.Polarity.build(["a", "b"], [1.0, 2.0])
    assert one.fingerprint == er.Polarity.build(["a", "b"], [1.0, 2.0]).fingerprint
    assert one.fingerprint != one.negated().fingerprint
    assert one.fingerprint != er.Polarity.build(["a", "b"], [1.0, 2.0], queries=["q", "q"]).fingerprint
