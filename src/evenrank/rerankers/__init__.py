"""Re-rankers: each takes a run and gives a run, so that any fix is measured like any system."""

from __future__ import annotations

import warnings
from typing import Any, Unpack

from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.errors import EvenrankWarning, InputTypeError, ParameterError
from evenrank.inputs import Inputs, Known
from evenrank.rerankers.base import Chain, Reordered, Reranker, Reranking, check_needs, parse_reranker
from evenrank.rerankers.det import DetCons, DetConstSort, DetGreedy, DetRelaxed
from evenrank.rerankers.duo import MaxDUO, MinDUO
from evenrank.rerankers.fa_ir import FA_IR
from evenrank.rerankers.foe import FOE
from evenrank.rerankers.greedy import FAIR_greedy, Ideal_alpha_nDCG
from evenrank.rerankers.mmr import MMR
from evenrank.rerankers.neutral import Neutral
from evenrank.rerankers.oracle import Oracle
from evenrank.rerankers.random_order import Random
from evenrank.rerankers.sort_by import SortBy
from evenrank.rerankers.unique import Unique

__all__ = [
    "FA_IR",
    "FOE",
    "MMR",
    "Chain",
    "DetCons",
    "DetConstSort",
    "DetGreedy",
    "DetRelaxed",
    "FAIR_greedy",
    "Ideal_alpha_nDCG",
    "MaxDUO",
    "MinDUO",
    "Neutral",
    "Oracle",
    "Random",
    "Reordered",
    "Reranker",
    "Reranking",
    "SortBy",
    "Unique",
    "parse_reranker",
    "rerank",
]


def rerank(run: Any, method: str | Reranker, *, repeat: int | None = None, **known: Unpack[Known]) -> Any:
    """The run in the order of a re-ranker; with ``repeat``, a RunSet of so many draws of a stochastic one.

    The inputs are those of ``evaluate``. A method that cannot keep its promise for some queries, because
    the documents do not allow it, does what it can and says so in a warning.

    >>> run = Run.build(["q", "q"], ["a", "b"], [2.0, 1.0])
    >>> rerank(run, "Oracle()", qrels={"q": {"b": 1}}).documents("q")
    ['b', 'a']
    """
    if not isinstance(run, (Run, Inputs)):
        raise InputTypeError(f"rerank takes a Run, as read_run gives; got {type(run).__name__}")
    inputs, chosen = Inputs.of(run, **known), parse_reranker(method)
    run = inputs.one_run("rerank")
    (settled,), sources, _ = inputs.settle([chosen])
    check_needs(settled, sources)
    if repeat is None:
        done = settled.apply(run, sources)
        _warn(settled, done, len(run))
        return done.run
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
        raise ParameterError(f"repeat must be an integer >= 1, got {repeat!r}")
    if not any(step.stochastic for step in settled.steps()):
        raise ParameterError(f"{chosen!r} gives the same order every time: leave repeat= out")
    draws = settled.draws(run, sources, range(repeat))
    _warn(settled, draws[0], len(run))
    return RunSet.build([draw.run for draw in draws], name=draws[0].run.name)


def _warn(method: Reranker, done: Reranking, queries: int) -> None:
    for note in done.notes:
        warnings.warn(f"{method!r}: {note}", EvenrankWarning, stacklevel=3)
    for reason, ids in done.infeasible.items():
        few = ", ".join(map(repr, ids[:3])) + (", .." if len(ids) > 3 else "")
        warnings.warn(
            f"{method!r}: {reason} for {len(ids):,} of {queries:,} queries: {few}",
            EvenrankWarning,
            stacklevel=3,
        )
