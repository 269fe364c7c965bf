"""Systems of somebody else's: a Python function, a PyTerrier pipeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evenrank.data.run import Run
from evenrank.errors import DataError, InputTypeError, MissingExtraError, ParameterError
from evenrank.systems.base import Texts, check_depth, check_texts, not_indexed, run_of


class FunctionSystem:
    """``function(documents, queries)`` as a system; both are ``{id: text}``, and it gives whatever
    ``read_run`` reads: a Run, ``{query: {document: score}}``, a data frame.

    >>> def longest(documents, queries):
    ...     return {query: {key: len(text) for key, text in documents.items()} for query in queries}
    >>> system = FunctionSystem(longest)
    >>> system.index({"d1": "a", "d2": "bb"})
    >>> system.retrieve({"q": "anything"}, 1).documents("q")
    ['d2']
    """

    def __init__(self, function: Callable[[dict[str, str], dict[str, str]], Any], name: str | None = None):
        if not callable(function):
            raise InputTypeError(f"a system is called with documents and queries, got {function!r}")
        self._function = function
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self._texts: dict[str, str] = {}

    def index(self, documents: Texts) -> None:
        self._texts = check_texts(documents, "documents")

    def retrieve(self, queries: Texts, k: int = 100) -> Run:
        if not self._texts:
            raise not_indexed(self.name)
        given = self._function(dict(self._texts), check_texts(queries, "queries"))
        return as_run(given, self.name).head(check_depth(k))


def as_run(given: Any, name: str) -> Run:
    """What a function of somebody's own gives, as a run of that name."""
    from evenrank.io import read_run

    return given.renamed(name) if isinstance(given, Run) else read_run(given, name=name)


class PyTerrierSystem:
    """A PyTerrier pipeline as a system.

    ``build`` makes the pipeline for a collection: it gets a list of ``{"docno": .., "text": ..}``, as
    indexers take, and gives a transformer from queries to results. A pipeline over an index that exists is
    given as it is; it can retrieve, but not index.
    """

    def __init__(self, build: Any, name: str = "pyterrier") -> None:
        self.name = name
        self._build = None if hasattr(build, "transform") else build
        self._pipeline = build if self._build is None else None
        if self._build is not None and not callable(self._build):
            raise InputTypeError(f"a pipeline, or a function that makes one of documents; got {build!r}")

    def index(self, documents: Texts) -> None:
        texts = check_texts(documents, "documents")
        if self._build is None:
            raise ParameterError(
                f"{self.name}: a pipeline stands over its own index: to index other documents give a "
                "function that makes the pipeline from a list of {'docno': .., 'text': ..}"
            )
        self._pipeline = self._build([{"docno": docno, "text": text} for docno, text in texts.items()])

    def retrieve(self, queries: Texts, k: int = 100) -> Run:
        asked, k = check_texts(queries, "queries"), check_depth(k)
        if self._pipeline is None:
            raise not_indexed(self.name)
        try:
            import pandas
        except ImportError:
            raise MissingExtraError.for_job("a PyTerrier pipeline", "pandas", "pyterrier") from None
        found = self._pipeline.transform(
            pandas.DataFrame({"qid": list(asked), "query": list(asked.values())})
        )
        for column in ("qid", "docno", "score"):
            if column not in found:
                raise DataError(f"{self.name}: the pipeline gives no column {column!r}")
        rows = zip(found["qid"].astype(str), found["docno"].astype(str), found["score"], strict=True)
        return run_of(((query, [doc], [float(score)]) for query, doc, score in rows), self.name).head(k)
