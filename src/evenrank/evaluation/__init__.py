"""Runs and measures go in, per-query scores come out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from evenrank.evaluation.engine import PreparedEvidence, evaluate_prepared
from evenrank.inputs import Inputs, Known
from evenrank.inputs.coerce import with_options
from evenrank.measures import parse_measures
from evenrank.scores import Scores

if TYPE_CHECKING:
    from evenrank.measures.registry import MeasureLike

__all__ = ["evaluate"]


def evaluate(
    run: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    cutoffs: Sequence[int] | None = None,
    missing: str | None = None,
    **known: Unpack[Known],
) -> Scores:
    """Score one run, or several by name, with measures given as names or values.

    ``run`` is a run, a mapping ``{name: run}``, or an ``Inputs`` that holds runs and what is known about
    them. The keywords are those of ``Inputs``: ``qrels=``, ``intents=``, ``words=``, ``groups=``,
    ``polarity=``, ``background=``, ``queries=`` and so on. ``cutoffs`` evaluates every measure at each of
    these depths. ``missing`` is what measures do with documents that have no evidence.

    >>> from evenrank.data.run import Run
    >>> run = Run.build(["q1", "q1"], ["a", "b"], [2.0, 1.0])
    >>> evaluate(run, "RR", qrels={"q1": {"b": 1}}).mean("RR")
    0.5
    """
    inputs = Inputs.of(run, **known)
    wanted = with_options(parse_measures(measures, check=cutoffs is None), cutoffs, missing)
    return evaluate_prepared(PreparedEvidence.of(inputs, wanted, keep=False), wanted)
