"""What ir_measures hands to a measure (two pandas frames), as a run and judgements."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenrank.data.diversity import DiversityQrels
from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.errors import DataError, InputTypeError
from evenrank.ids import as_strings


def run_of(frame: Any) -> Run:
    """The lists in ``query_id, doc_id, score``; equal scores stand by document id, as in trec_eval.

    ir_measures has sorted the frame by score, but leaves the order of equal scores to chance.
    """
    queries, documents, scores = (
        ids_of(frame, "query_id"),
        ids_of(frame, "doc_id"),
        numbers_of(frame, "score"),
    )
    return Run.build(queries, documents, scores) if len(frame) else empty_lists(())


def qrels_of(frame: Any, *, by_intent: bool) -> Qrels | DiversityQrels:
    """The judgements in ``query_id, doc_id, relevance``, with the intent in ``iteration``.

    Judgements with several iterations are read by intent for every measure: there a document may be
    judged more than once, and a measure without intents takes its best grade.
    """
    queries, documents = ids_of(frame, "query_id"), ids_of(frame, "doc_id")
    grades = numbers_of(frame, "relevance")
    if (grades != np.floor(grades)).any():
        raise DataError("relevance: grades must be whole numbers: scale fractions before you pass them")
    if by_intent or ("iteration" in frame and frame["iteration"].nunique() > 1):
        intents = (
            [str(intent) for intent in frame["iteration"]] if "iteration" in frame else ["0"] * len(frame)
        )
        return DiversityQrels.build(queries, intents, documents, grades)
    return Qrels.build(queries, documents, grades)


def empty_lists(queries: tuple[str, ...]) -> Run:
    """A run that found nothing for any of these queries."""
    return Run(queries, np.zeros(len(queries) + 1, np.int64), as_strings([]), np.empty(0))


def _column(frame: Any, name: str) -> Any:
    if name not in frame:
        raise DataError(f"column {name!r} is missing; there are {', '.join(map(str, frame.columns))}")
    return frame[name]


def ids_of(frame: Any, name: str) -> list[str]:
    ids: list[str] = _column(frame, name).tolist()
    for identifier in ids:
        if not isinstance(identifier, str):
            # a number would be a different id in the run ('007') and in the judgements (7)
            raise InputTypeError(
                f"{name}: ids are strings, got {identifier!r}; frame[{name!r}].astype(str) makes them so"
            )
    return ids


def numbers_of(frame: Any, name: str) -> Any:
    """A column of numbers as floats. Text is none, whatever it says: as text, '10' stands before '9'."""
    column = _column(frame, name)
    wrong = [value for value in column.tolist() if isinstance(value, (str, bytes, complex))]
    if wrong:
        raise InputTypeError(
            f"column {name!r} holds {wrong[0]!r:.80}, which is no number; "
            f"frame[{name!r}].astype(float) makes numbers of text that says one"
        )
    try:
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise InputTypeError(f"column {name!r} does not hold numbers alone") from None
    if np.isnan(numbers).any():
        raise DataError(f"column {name!r} has empty cells")
    return numbers
