"""Re-rankers: each takes a run and gives a run, so that any fix is measured like any system.

Every module of this folder is loaded with it, so a new re-ranker is one new file; its class is then
``evenrank.rerankers.<name of the class>`` and is found by its name in all commands.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Unpack

from evenrank.data.runset import RunSet
from evenrank.errors import EvenrankWarning, ParameterError, few
from evenrank.inputs import Inputs, Known
from evenrank.modules import load_folder
from evenrank.rerankers.base import Chain as Chain
from evenrank.rerankers.base import Reordered, Reranker, check_judged, check_needs, parse_reranker
from evenrank.rerankers.base import Reranking as Reranking
from evenrank.rerankers.registry import all_rerankers

load_folder(__name__, __path__)

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


def __getattr__(name: str) -> Any:
    """The class of a re-ranker by its name."""
    found = all_rerankers().get(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *all_rerankers()})
