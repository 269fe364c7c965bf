"""What a retrieval system is here: it indexes texts, and gives for queries a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Int64s
from evenrank.data.run import Run
from evenrank.errors import DataError, InputTypeError, ParameterError

Texts = Mapping[str, str]
Progress = Callable[[str, int, int], None]  # what is being done, how much of it, of how much


@runtime_checkable
class Retriever(Protocol):
    """A system that produces runs. ``index`` replaces whatever was indexed before."""

    @property
    def name(self) -> str: ...

    def index(self, documents: Texts) -> None:
        """Take these documents, ``{id: text}``, as the whole collection."""

    def retrieve(self, queries: Texts, k: int = 100) -> Run:
        """The best ``k`` documents for each query, ``{id: text}``. A query that finds nothing has no list."""


def check_texts(texts: Any, what: str) -> dict[str, str]:
    if not isinstance(texts, Mapping):
        raise InputTypeError(
            f"{what} are a mapping {{id: text}}, got {type(texts).__name__}: "
            "evenrank.systems.read_texts reads files"
        )
    for identifier, text in texts.items():
        if not isinstance(identifier, str) or not isinstance(text, str):
            raise InputTypeError(f"{what}: ids and texts are strings, got {identifier!r}: {text!r:.60}")
    if not texts:
        raise DataError(f"there are no {what}")
    return dict(texts)


def check_depth(k: int) -> int:
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ParameterError(f"k must be an integer >= 1, got {k!r}")
    return k


class IndexedDocuments:
    """The ids of an index, in the order of its rows, and the way from scores to ranked rows."""

    def __init__(self, documents: Texts) -> None:
        self.ids = list(documents)
        by_id = sorted(range(len(self.ids)), key=lambda row: self.ids[row].encode(), reverse=True)
        self._places = np.empty(len(by_id), dtype=np.int64)  # where equal scores stand: by id, descending
        self._places[by_id] = np.arange(len(by_id))

    def __len__(self) -> int:
        return len(self.ids)

    def best(self, scores: npt.NDArray[Any], k: int, rows: Int64s | None = None) -> Int64s:
        """The rows of the k best of these scores, equal ones by document id, descending.

        Which of equal documents are in the first k does not depend on how the scores were found.
        """
        rows = np.arange(len(scores)) if rows is None else rows
        if len(rows) > k:
            threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
            kept = np.flatnonzero(scores >= threshold)
            rows, scores = rows[kept], scores[kept]
        order = np.lexsort((self._places[rows], -scores))[:k]
        best: Int64s = rows[order]
        return best


def run_of(lists: Iterable[tuple[str, Sequence[str], Sequence[float]]], name: str) -> Run:
    """A run from query, documents and scores."""
    queries: list[str] = []
    documents: list[str] = []
    scores: list[float] = []
    for query, found, values in lists:
        queries += [query] * len(found)
        documents += found
        scores += values
    if not documents:
        raise DataError(f"{name}: no document was found for any query")
    return Run.build(queries, documents, scores, name=name)


def not_indexed(name: str) -> ParameterError:
    return ParameterError(f"{name}: call index(documents) before retrieve")
