"""Re-rankers as transformers, and what PyTerrier does not know about a measure.

``pt.Experiment`` takes our measures as they are (``evenrank.plugins.ir_measures``). Its own means add
up every query, so one undefined query makes the mean NaN, and it marks the largest value as the best.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

import ir_measures

from evenrank.data.run import Run
from evenrank.errors import DataError, ParameterError
from evenrank.inputs import Inputs
from evenrank.measures import Direction, parse_measure
from evenrank.plugins.frames import ids_of, numbers_of
from evenrank.rerankers import parse_reranker, rerank
from evenrank.rerankers.base import Reranker

if TYPE_CHECKING:
    import pandas

__all__ = ["direction", "means", "transformer"]

FIRST_RANK = 0  # as PyTerrier counts


def transformer(method: str | Reranker, **evidence: Any) -> Any:
    """A re-ranker as a ``pt.Transformer``: ``bm25 >> transformer("DetCons", groups=..) >> ..``.

    ``evidence`` is what ``evenrank.rerank`` takes: ``qrels=``, ``groups=``, ``words=`` .. Lists are taken by
    score, equal scores by the column ``rank`` where there is one, else as they come. Scores and ranks are
    written anew, other columns stay with their document. Of methods that leave something to chance, the
    draw is that of their ``seed``; it depends on the queries of the frame, and so on ``batch_size``.
    """
    if evidence.pop("repeat", None) is not None:
        raise ParameterError("a transformer gives one list for each query: leave repeat= out")
    return _transformer()(parse_reranker(method), Inputs({}).with_known(**evidence))


@cache
def _transformer() -> type[Any]:
    """The class, made when it is asked for: PyTerrier takes seconds to load."""
    import pyterrier

    class RerankingTransformer(pyterrier.Transformer):
        """The lists of a frame in the order of a re-ranker."""

        def __init__(self, method: Reranker, evidence: Inputs) -> None:
            super().__init__()
            self.method, self.evidence = method, evidence

        def transform(self, inp: pandas.DataFrame) -> pandas.DataFrame:
            return _reranked(inp, self.method, self.evidence)

        def __repr__(self) -> str:
            return f"evenrank({self.method!r})"

    return RerankingTransformer


def _reranked(frame: pandas.DataFrame, method: Reranker, evidence: Inputs) -> pandas.DataFrame:
    import pandas

    for name in ("qid", "docno", "score"):
        if name not in frame:
            raise DataError(f"column {name!r} is missing; there are {', '.join(map(str, frame.columns))}")
    others = [name for name in frame.columns if name not in ("qid", "docno", "score", "rank")]
    columns = ["qid", *(name for name in others if name == "query"), "docno", "rank", "score"]
    columns += [name for name in others if name != "query"]
    if not len(frame):  # PyTerrier asks with an empty frame which columns come out
        return frame.assign(rank=pandas.Series(dtype="int64"))[columns]
    ranked = frame
    if "rank" in frame:
        numbers_of(frame, "rank")  # refuses text and empty cells, which cannot be put in order
        ranked = frame.sort_values("rank", kind="stable")
    run = Run.build(
        ids_of(ranked, "qid"), ids_of(ranked, "docno"), numbers_of(ranked, "score"), name="frame", ties="file"
    )
    new = rerank(evidence.with_runs(run), method).to_pandas()
    new = new.rename(columns={"query": "qid", "document": "docno"})
    new["rank"] = new["rank"] - 1 + FIRST_RANK
    merged = new.merge(frame[["qid", "docno", *others]], on=["qid", "docno"], how="left", validate="1:1")
    if "query" in others:  # a document that the method put in is of the same query
        merged["query"] = merged["query"].fillna(
            merged["qid"].map(frame.drop_duplicates("qid").set_index("qid")["query"])
        )
    ordered: pandas.DataFrame = merged[columns]
    return ordered


def means(per_query: pandas.DataFrame, eval_metrics: Iterable[Any]) -> pandas.DataFrame:
    """One row a system, one column a measure, from ``pt.Experiment(.., eval_metrics, perquery=True)``.

    Each measure combines its own queries; those where it is undefined are left out.
    """
    import pandas

    by_name = _by_name(eval_metrics)
    rows: dict[str, dict[str, float]] = {name: {} for name in per_query["name"].unique()}
    for key, values in per_query.groupby(["name", "measure"], sort=False)["value"]:
        system, name = map(str, key)
        if name not in by_name:
            raise ParameterError(f"{name!r} is in the table, but not among eval_metrics")
        aggregator = by_name[name].aggregator()
        for value in values.dropna().tolist():
            aggregator.add(value)
        rows[system][name] = aggregator.result()
    return pandas.DataFrame(
        [
            {"name": system, **{name: row[name] for name in by_name if name in row}}
            for system, row in rows.items()
        ]
    )


def direction(measure: Any) -> Direction:
    """What a larger value means; for measures of ir_measures it is taken to be better."""
    return parse_measure(str(measure)).direction


def _by_name(eval_metrics: Iterable[Any]) -> dict[str, Any]:
    """Measures under the names that PyTerrier gives them: trec_eval's for a string, else their own."""
    named: dict[str, Any] = {}
    for metric in eval_metrics:
        if not isinstance(metric, str):
            named[str(metric)] = metric
        elif metric != "mrt":  # the response time is no measure and not by query
            family = ir_measures.parse_trec_measure(metric)
            named.update({metric: family[0]} if len(family) == 1 else {str(one): one for one in family})
    return named
