"""Re-rankers: each takes a run and gives a run, so that any fix is measured like any system.

A new re-ranker is one new file in this folder; its class is then ``evenrank.rerankers.<name of the class>``
and is found by its name in all commands. Named in ``_HOMES``, it is found without loading all others.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

from evenrank.data.runset import RunSet
from evenrank.errors import EvenrankWarning, ParameterError, few
from evenrank.grammar import LOADERS, REGISTRY, find
from evenrank.inputs import Inputs, Known
from evenrank.modules import load_folder, load_home
from evenrank.rerankers.base import Chain as Chain
from evenrank.rerankers.base import Reordered, Reranker, check_judged, check_needs, parse_reranker
from evenrank.rerankers.base import Reranking as Reranking

_HOMES = {
    "aspects": "PM2 xQuAD",
    "det": "DetGreedy DetCons DetRelaxed DetConstSort",
    "duo": "MinDUO MaxDUO",
    "fa_ir": "FA_IR",
    "foe": "FOE",
    "greedy": "FAIR_greedy Ideal_alpha_nDCG",
    "mmr": "MMR VectorMMR PolarityMMR",
    "neutral": "Neutral",
    "oracle": "Oracle",
    "penalty": "Penalty GroupPenalty",
    "random_order": "Random",
    "sort_by": "SortBy",
    "unique": "Unique",
}
LOADERS["reranker"] = partial(load_home, __name__, __path__, _HOMES)

__all__ = ["Reordered", "Reranker", "all_rerankers", "parse_reranker", "rerank"]


def rerank(run: Any, method: str | Reranker, *, repeat: int | None = None, **known: Unpack[Known]) -> Any:
    """The run in the order of a re-ranker; with ``repeat``, a RunSet of so many draws of a stochastic one.

    Run and inputs are those of ``evaluate``. A method that cannot keep its promise for some queries, because
    the documents do not allow it, does what it can and says so in a warning. ``reads_judgements`` of the new
    run says whether the order depends on judgements, by which it is then scored too well.

    >>> rerank({"q": {"a": 2.0, "b": 1.0}}, "Oracle()", qrels={"q": {"b": 1}}).documents("q")
    ['b', 'a']
    """
    inputs, chosen = Inputs.of(run, **known), parse_reranker(method)
    run = inputs.one_run("rerank")
    (settled,), sources, _ = inputs.settle([chosen])
    check_needs(settled, sources)
    check_judged(settled, run, sources)
    informed = run.reads_judgements or settled.reads_judgements(sources.evidence)
    if repeat is None:
        done = settled.apply(run, sources)
        _warn(settled, done, len(run))
        return replace(done.run, reads_judgements=informed)
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
        raise ParameterError(f"repeat must be an integer >= 1, got {repeat!r}")
    if not any(step.stochastic for step in settled.steps()):
        raise ParameterError(f"{chosen!r} gives the same order every time: leave repeat= out")
    draws = settled.draws(run, sources, range(repeat))
    _warn(settled, draws[0], len(run))
    rankings = [replace(draw.run, reads_judgements=informed) for draw in draws]
    return RunSet.build(rankings, name=draws[0].run.name)


def _warn(method: Reranker, done: Reranking, queries: int) -> None:
    for note in done.notes:
        warnings.warn(f"{method!r}: {note}", EvenrankWarning, stacklevel=3)
    for reason, ids in done.infeasible.items():
        warnings.warn(
            f"{method!r}: {reason} for {len(ids):,} of {queries:,} queries: {few(ids)}",
            EvenrankWarning,
            stacklevel=3,
        )


def all_rerankers() -> dict[str, type[Reranker]]:
    """Every registered re-ranker by name, in alphabetical order.

    >>> "DetCons" in all_rerankers()
    True
    """
    load_folder(__name__, __path__)
    found = {name: cls for name, cls in REGISTRY["reranker"].items() if issubclass(cls, Reranker)}
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def __getattr__(name: str) -> Any:
    """The class of a re-ranker by its name."""
    found = None if name.startswith("_") else find(name, "reranker")
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *all_rerankers()})
