"""What the public builders refuse, and that nobody can change what they have built."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from evenrank import DataError, DiversityQrels, Qrels, Run, RunSet
from evenrank.data.tables import DocumentTable
from evenrank.errors import InputTypeError, MissingExtraError

REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no document": (
        lambda: Run.build(["q", "q"], ["a", None], [1.0, 2.0]),
        DataError,
        "run:2: document",
    ),
    "no document in Arrow": (
        lambda: Run.build(["q"], pa.array([None], pa.string()), [1.0]),
        DataError,
        "run:1: document",
    ),
    "no query": (lambda: Run.build([None], ["d"], [1.0]), DataError, "run:1: query"),
    "no query in a dictionary": (
        lambda: Run.build(pa.array(["q", None]).dictionary_encode(), ["d", "e"], [1.0, 2.0]),
        DataError,
        "run:2: query",
    ),
    "a gap in the dictionary": (
        lambda: Run.build(
            pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["q", None])), ["d", "e"], [1.0, 2.0]
        ),
        DataError,
        "run:2: query",
    ),
    "a gap of pandas": (
        lambda: Run.build(pd.Series(["q", np.nan], dtype=object), ["d", "e"], [1.0, 2.0]),
        DataError,
        "run:2: query",
    ),
    "empty query": (
        lambda: Run.build(["q", ""], ["d", "e"], [1.0, 2.0]),
        DataError,
        "run:2: query",
    ),
    "empty document": (lambda: Run.build(["q"], [""], [1.0]), DataError, "run:1: document"),
    "nothing": (lambda: Run.build([], [], [], name="bm25"), DataError, "bm25"),
    "numbers as queries": (
        lambda: Run.build([1], ["d"], [1.0]),
        InputTypeError,
        "run: row 1: query 1",
    ),
    "numbers as documents": (
        lambda: Run.build(["q", "q"], ["a", 2], [1.0, 2.0]),
        InputTypeError,
        "run: row 2: document 2",
    ),
    "numbers of Arrow": (
        lambda: Run.build(["q"], pa.array([1]), [1.0]),
        InputTypeError,
        "run: document.*int64",
    ),
    "half a character": (
        lambda: Run.build(["q"], ["\ud800"], [1.0]),
        DataError,
        "run:1: document",
    ),
    "a string as a column": (
        lambda: Run.build("q", "d", [1.0]),
        InputTypeError,
        "query.*'q'",
    ),
    "scores in text": (
        lambda: Run.build(["q", "q"], ["a", "b"], ["1", "2"]),
        DataError,
        "run:1: score '1'",
    ),
    "scores in a text of Arrow": (
        lambda: Run.build(["q"], ["a"], pa.array(["x"])),
        DataError,
        "run:1: score 'x'",
    ),
    "scores of two axes": (
        lambda: Run.build(["q"], ["a"], [[1.0]]),
        DataError,
        "score",
    ),
    "qrels without documents": (
        lambda: Qrels.build(["q"], [None], [1]),
        DataError,
        "qrels:1: document",
    ),
    "qrels of unequal columns": (
        lambda: Qrels.build(["q"], ["a", "b"], [1]),
        DataError,
        "1 queries, 2 documents, 1 grades",
    ),
    "grades in text": (
        lambda: Qrels.build(["q"], ["a"], ["1"]),
        DataError,
        "qrels:1: grade '1'",
    ),
    "half a grade": (
        lambda: Qrels.build(["q", "q"], ["a", "b"], [1, 0.5]),
        DataError,
        r"qrels:2: .*0\.5",
    ),
    "no grade": (
        lambda: Qrels.build(["q"], ["a"], [float("nan")]),
        DataError,
        "qrels:1: .*nan",
    ),
    "intents of unequal columns": (
        lambda: DiversityQrels.build(["q"], ["i", "j"], ["a"], [1]),
        DataError,
        "1 queries, 2 intents, 1 documents, 1 grades",
    ),
    "no intent": (
        lambda: DiversityQrels.build(["q"], [None], ["a"], [1]),
        DataError,
        "qrels:1: intent",
    ),
    "a document table of numbers": (
        lambda: DocumentTable.build("w", [1, 2], {"": [1, 2]}),
        InputTypeError,
        "w: row 1: document 1",
    ),
    "a document table of unequal columns": (
        lambda: DocumentTable.build("w", ["a", "b"], {"": [1, 2]}, queries=["q"]),
        DataError,
        "w: 1 queries.* 2 documents",
    ),
    "a document table with one value": (
        lambda: DocumentTable.build("w", ["a"], {"": 1}),
        DataError,
        "w: column",
    ),
    "a document table without columns": (
        lambda: DocumentTable.build("w", ["a"], [1]),
        InputTypeError,
        "w: columns",
    ),
    "a string as two queries": (
        lambda: DocumentTable.build("x", ["a", "b"], {"": [1, 2]}, queries="ab"),
        InputTypeError,
        "query.*'ab'",
    ),
    "a number among runs": (
        lambda: RunSet.build([5]),
        InputTypeError,
        "RunSet.*1 is int",
    ),
    "a run as runs": (
        lambda: RunSet.build(Run.build(["q"], ["a"], [1.0])),
        InputTypeError,
        "got Run",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    build, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        build()


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ({"q": {"i": float("nan"), "j": 1.0}}, "'q'.*sum to 1"),
        ({"q": {"i": 0.5, "j": float("nan")}}, "'q'.*sum to 1"),
        ({"q": {"i": -1.0, "j": 2.0}}, "'q'.*sum to 1"),
        ({"p": {"i": 1.0}}, "query 'p'"),
        ({"q": {"k": 1.0}}, "'k'"),
        ({"q": {"i": "1"}}, "'1'"),
    ],
)
def test_probabilities_of_intents(probabilities: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        DiversityQrels.build(["q", "q"], ["i", "j"], ["a", "a"], [1, 1], probabilities=probabilities)


def test_queries_of_a_dictionary_with_a_word_twice() -> None:
    queries = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["q", "q"]))
    assert Run.build(queries, ["a", "b"], [1.0, 2.0]).to_dict() == {"q": {"b": 2.0, "a": 1.0}}


def test_columns_of_any_kind() -> None:
    expected = {"q": {"b": 2.0, "a": 1.0}}
    for queries, documents, scores in (
        (("q", "q"), np.array(["a", "b"]), np.array([1, 2])),
        (
            pa.chunked_array([["q"], ["q"]]),
            pa.chunked_array([["a"], ["b"]]),
            pa.chunked_array([[1.0], [2.0]]),
        ),
        (pd.Series(["q", "q"]), pd.Series(["a", "b"]), pd.Series([1.0, 2.0])),
        (iter(["q", "q"]), iter(["a", "b"]), [np.float32(1), 2]),
    ):
        assert Run.build(queries, documents, scores).to_dict() == expected


def judged() -> DiversityQrels:
    return DiversityQrels.build(["q", "q"], ["i", "j"], ["a", "a"], [1, 2])


LOCKED: dict[str, Callable[[], np.ndarray]] = {
    "Qrels.grades": lambda: Qrels.build(["q"], ["a"], [1]).grades,
    "Qrels.offsets": lambda: Qrels.build(["q"], ["a"], [1]).offsets,
    "DiversityQrels.offsets": lambda: judged().offsets,
    "DiversityQrels.probabilities": lambda: judged().probabilities,
    "DiversityQrels.grades.values": lambda: judged().grades.values,
    "DiversityQrels.grades.places": lambda: judged().grades.places,
    "DiversityQrels.grades.offsets": lambda: judged().grades.offsets,
    "DocumentTable.columns": lambda: DocumentTable.build("w", ["a"], {"": [1]}).columns[""],
    "DocumentTable.query_codes": lambda: DocumentTable.build("w", ["a"], {"": [1]}).query_codes,
}


@pytest.mark.parametrize("case", LOCKED)
def test_columns_cannot_be_changed(case: str) -> None:
    with pytest.raises(ValueError, match="read-only"):
        LOCKED[case]()[0] = 0


@pytest.mark.parametrize("wrapped", [lambda array: array, lambda array: array[:], pd.Series])
def test_the_array_of_the_caller_stays_the_callers(wrapped: Callable[[np.ndarray], Any]) -> None:
    array = np.array([1.0, 2.0])
    given = wrapped(array)
    run = Run.build(["q", "q"], ["b", "a"], given)
    qrels = Qrels.build(["q", "q"], ["b", "a"], given)
    documents = DocumentTable.build("w", ["a", "b"], {"": given})
    array[:] = 5.0
    assert run.scores.tolist() == [2.0, 1.0]
    assert qrels.grades.tolist() == [2, 1]
    assert documents.columns[""].tolist() == [1.0, 2.0]


FINGERPRINTS = """
import numpy as np
from evenrank import DiversityQrels, Qrels
from evenrank.data.tables import DocumentTable
words = np.array(["wörter", None, 3], dtype=object)
print(Qrels.build(["q", "q"], ["a", "b"], [1, 2]).fingerprint)
print(DiversityQrels.build(["q", "q"], ["i", "j"], ["a", "a"], [1, 2]).fingerprint)
print(DocumentTable.build("w", ["a", "b", "c"], {"": words}, queries=["q", "q", "p"]).fingerprint)
"""


def test_fingerprints_are_the_same_in_every_process() -> None:
    found = [
        subprocess.run(
            [sys.executable, "-c", FINGERPRINTS], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert found[0] == found[1]
    assert len(set(found[0].split())) == 3


def test_fingerprints_tell_names_ids_and_values_apart() -> None:
    def of(ids: list[str], **columns: Any) -> str:
        return DocumentTable.build("w", ids, columns).fingerprint

    known = {
        of(["a", "b"], x=[1, 2]),
        of(["a", "b"], y=[1, 2]),
        of(["a", "b"], x=[1.0, 2.0]),
        of(["a", "b"], x=[[1], [2]]),
        of(["a\0b", "c"], x=[1, 2]),
        of(["a", "b\0c"], x=[1, 2]),
        of(["a", "b"], x=np.array(["u", "v"], dtype=object)),
        of(["a", "b"], x=np.array(["u", "w"], dtype=object)),
    }
    assert len(known) == 8


def test_pandas_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"to_pandas\(\) needs pandas.*\[pandas\]'"):
        Run.build(["q"], ["a"], [1.0]).to_pandas()


def test_judgements_by_intent_keep_their_intents_and_have_grades() -> None:
    table = {"q1": {"x": {"a": 1, "b": 0}, "y": {"a": 2}}, "q2": {"z": {"a": 3}}}
    rows = [(q, i, d, g) for q, inner in table.items() for i, docs in inner.items() for d, g in docs.items()]
    qrels = DiversityQrels.build(*map(list, zip(*rows, strict=True)))
    assert qrels.to_dict() == table
    assert qrels.graded().to_dict() == {"q1": {"a": 2, "b": 0}, "q2": {"a": 3}}
    assert qrels.probabilities.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    given = DiversityQrels.build(
        ["q", "q"], ["x", "y"], ["a", "a"], [1, 1], probabilities={"q": {"x": 0.25, "y": 0.75}}
    )
    assert given.probabilities.tolist() == [[0.25, 0.75]]


def test_judgements_stand_best_grade_first() -> None:
    qrels = Qrels.build(["q", "q", "q"], ["a", "c", "b"], [1, 1, 3])
    assert qrels.doc_ids.to_pylist() == ["b", "c", "a"]
    assert qrels.to_dict() == {"q": {"b": 3, "c": 1, "a": 1}}
    assert qrels.max_grade == 3
