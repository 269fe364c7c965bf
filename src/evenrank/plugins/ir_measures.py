"""evenrank's measures in ir_measures, and so in everything built on it. Importing this registers them.

>>> import ir_measures
>>> import evenrank.plugins.ir_measures
>>> ir_measures.parse_measure("iRBU(phi=0.9)@10")
iRBU(phi=0.9)@10

Names that ir_measures has already (nDCG, RBP, alpha_nDCG ..) stay its own: ``bind("nDCG@10")`` is ours.

Where a measure is undefined for a judged query, ir_measures shows NaN, and its aggregate leaves the
query out, as ``evenrank.evaluate`` does. Judged queries that the run lacks have an empty list.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from ir_measures import Metric, measures

from evenrank.errors import MissingExtraError, ParameterError
from evenrank.evaluation import evaluate
from evenrank.grammar import Term
from evenrank.inputs import Known
from evenrank.measures import Measure, all_measures, parse_measure
from evenrank.plugins.frames import empty_lists, qrels_of, run_of
from evenrank.scores.scores import aggregated

__all__ = ["bind", "register"]

_ELSEWHERE = {
    "qrels": "they come from ir_measures",
    "cutoffs": "write the cut-off in the measure",
    "missing": "write it in the measure, as in Name(missing='drop')",
}


class EvenrankMeasure(measures.Measure):
    """One of our measures, as ir_measures wants it, with what else ``evaluate`` is to be given."""

    # A judged query without a value gets the default from ir_measures: 0 would count as a score.
    DEFAULT = math.nan

    def __init__(self, measure: Measure, arguments: Mapping[str, Any] | None = None) -> None:
        given = {
            field.name: getattr(measure, field.name)
            for field in (*measure.parameters(), *_cutoff(measure))
            if getattr(measure, field.name) != field.default
        }
        super().__init__(**given)  # type: ignore[no-untyped-call]
        self.evenrank_measure = measure
        self.arguments = dict(arguments or {})
        self.NAME = self.__name__ = measure.name
        self.PRETTY_NAME = measure.name
        self.SHORT_DESC = measure.summary()
        self.__doc__ = inspect.getdoc(type(measure))
        self.SUPPORTED_PARAMS = _parameters(measure)
        self.RUN_INPUTS = ["query_id", "doc_id", "score"]
        judged = measure.judged_by or measure.welcomes_judgements
        self.QREL_INPUTS = ["query_id", "doc_id", "relevance"] if judged else ["query_id"]

    def __call__(self, **params: Any) -> EvenrankMeasure:
        known = {
            field.name for field in (*self.evenrank_measure.parameters(), *_cutoff(self.evenrank_measure))
        }
        for name in params.keys() - known:
            takes = ", ".join(sorted(known)) or "no parameters"
            raise ParameterError(f"{self.NAME} has no parameter {name!r}; it takes {takes}")
        return EvenrankMeasure(dataclasses.replace(self.evenrank_measure, **params), self.arguments)

    def __matmul__(self, at_param: int) -> EvenrankMeasure:
        return EvenrankMeasure(self.evenrank_measure @ at_param, self.arguments)

    def validate_params(self) -> None:
        """The measure checked its parameters when it was made; what is left is a missing cut-off."""
        self.evenrank_measure.check()

    def __repr__(self) -> str:
        if any(isinstance(value, Term) for value in self.params.values()):
            return str(super().__repr__())  # type: ignore[no-untyped-call]
        return repr(self.evenrank_measure)

    def _param_repr(self, v: Any) -> str:
        # ir_measures reads no nested measures; in quotes both grammars do
        return repr(str(v) if isinstance(v, Term) else v)

    def aggregator(self) -> Aggregate:
        return Aggregate(self.evenrank_measure)

    def runtime_impl(self, qrels: Any, run: Any) -> Iterator[Metric]:
        """Values of the queries where the measure is defined, called by ir_measures."""
        measure = self.evenrank_measure
        needed = measure.judged_by | ({"relevance"} if measure.welcomes_judgements else set())
        judged_by = needed - self.arguments.keys()  # intents may be bound
        judgements = qrels_of(qrels, by_intent="intents" in judged_by) if judged_by else None
        judged = dict.fromkeys(qrels["query_id"]) if needed else None
        ranking = run_of(run)
        if not len(ranking) and judged:
            ranking = empty_lists(tuple(judged))
        if not len(ranking) or (judged is not None and not judged):
            return  # nothing to score: a mistake to ``evaluate``, but PyTerrier's batches come so
        (block,) = evaluate(ranking, measure, qrels=judgements, **self.arguments).blocks
        if len(block.columns) > 1:
            raise ParameterError(
                f"{measure!r} has several columns ({', '.join(block.columns)}), but ir_measures "
                "holds one number for each query: use evenrank.evaluate"
            )
        for query, value in zip(block.query_ids, block.values[:, 0].tolist(), strict=True):
            if not math.isnan(value) and (judged is None or query in judged):
                yield Metric(query, self, value)


class Aggregate(measures.base.Agg):
    """The measure's own aggregate over queries; infinite values count as in ``Scores``."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.values: list[float] = []
        self.infinite: list[float] = []

    def add(self, value: float) -> None:
        if not math.isnan(value):
            (self.values if math.isfinite(value) else self.infinite).append(value)

    def result(self) -> float:
        return aggregated(self.measure, np.array(self.values), np.array(self.infinite))


def bind(measure: str | Measure | EvenrankMeasure, **arguments: Any) -> EvenrankMeasure:
    """A measure for ir_measures or PyTerrier, with whatever else ``evenrank.evaluate`` needs for it.

    ``arguments`` are those of ``evaluate``: ``evidence=``, ``background=``, ``against=`` and so on.
    To ir_measures two measures of one name are the same, so the same measure with two kinds of
    evidence takes two calls; and so do ours and theirs of one name.

    >>> bind("nDCG@10")
    nDCG@10
    """
    if isinstance(measure, EvenrankMeasure):
        arguments = {**measure.arguments, **arguments}
        measure = measure.evenrank_measure
    possible = set(Known.__annotations__) - set(_ELSEWHERE)
    for name in arguments:
        if name in _ELSEWHERE:
            raise ParameterError(f"bind: {name} cannot be given here; {_ELSEWHERE[name]}")
        if name not in possible:
            raise ParameterError(f"bind: evaluate takes no {name!r}; there are {', '.join(sorted(possible))}")
    if "evidence" in arguments:
        arguments["evidence"] = tuple(arguments["evidence"])  # it is read once for every run
    return EvenrankMeasure(parse_measure(measure), arguments)


def register() -> None:
    """Enter every measure of ours whose name is free into ir_measures; call it again for later ones."""
    if importlib.util.find_spec("pandas") is None:
        raise MissingExtraError.for_job("a measure inside ir_measures", "pandas", "pandas")
    for name, cls in all_measures().items():
        there = measures.registry.get(name)
        if there is None:
            measures.register(EvenrankMeasure(cls()), name=name)  # type: ignore[no-untyped-call]
        elif isinstance(there, EvenrankMeasure) and type(there.evenrank_measure) is not cls:
            measures.registry[name] = EvenrankMeasure(cls())  # declared anew under its name


def _cutoff(measure: Measure) -> tuple[dataclasses.Field[Any], ...]:
    if not measure.takes_cutoff:
        return ()
    return tuple(field for field in dataclasses.fields(measure) if field.name == "cutoff")


def _parameters(measure: Measure) -> dict[str, measures.ParamInfo]:
    info: Any = measures.ParamInfo
    declared = {
        field.name: info(
            dtype=None if field.default is None else type(field.default),
            default=field.default,
            desc=f"{field.metadata['meaning']} ({field.metadata['rule'].wording})",
        )
        for field in measure.parameters()
    }
    for field in _cutoff(measure):
        declared["cutoff"] = info(dtype=int, required=measure.needs_cutoff, desc=field.metadata["meaning"])
    return declared


register()
