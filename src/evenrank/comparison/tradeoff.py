"""Many methods, or many values of a parameter, on one run: what fairness costs, and what it does not."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.errors import InputTypeError, ParameterError
from evenrank.evaluation import evaluate
from evenrank.grammar import REFUSED, expression
from evenrank.inputs import Inputs, Known
from evenrank.measures import Direction, Measure, parse_measures
from evenrank.rerankers import Chain, Reranker, parse_reranker, rerank
from evenrank.stats.selection import pareto_front

if TYPE_CHECKING:
    from evenrank.measures.registry import MeasureLike
    from evenrank.scores import Scores
    from evenrank.tables import Table

MOST = 200  # variants
SPREAD = (2.5, 97.5)  # percent of the draws


class TradeoffVariant(NamedTuple):
    """One row of the table: a method with its parameters, as it was written. The original has no method."""

    name: str
    method: Reranker | None = None
    sweep: int | None = None  # which of the methods asked for it came from


class Compared(NamedTuple):
    """One value a variant, over so many of all queries."""

    values: tuple[float, ...]
    queries: int
    of: int


def expand(source: str) -> list[str]:
    """The methods that a name with sets of values stands for, in the order of the values.

    >>> expand("FAIR_greedy(epsilon={0,0.5}) | DetCons@{5,10}")[1]
    'FAIR_greedy(epsilon=0) | DetCons@10'
    """
    text = source.strip().replace("\n", " ")
    sets = [node for node in ast.walk(expression(text)) if isinstance(node, ast.Set)]
    if not sets:
        return [text]
    first = min(sets, key=lambda node: node.col_offset)
    raw = text.encode()  # offsets are of bytes
    before, after = raw[: first.col_offset].decode(), raw[first.end_col_offset :].decode()
    found: list[str] = []
    for element in first.elts:
        value = raw[element.col_offset : element.end_col_offset].decode()
        found += expand(before + value + after)
        if len(found) > MOST:
            raise ParameterError(f"{source!r} stands for more than {MOST} methods: list fewer values")
    return found


def variants(methods: str | Reranker | Iterable[str | Reranker]) -> list[TradeoffVariant]:
    """Every method once, by the name under which it was written first."""
    given = [methods] if isinstance(methods, (str, Reranker)) else list(methods)
    found: dict[Reranker, TradeoffVariant] = {}
    for place, one in enumerate(given):
        if not isinstance(one, (str, Reranker)):
            raise InputTypeError(f"a re-ranker must be a string or a Reranker, got {type(one).__name__}")
        for text in expand(one) if isinstance(one, str) else [repr(one)]:
            method = parse_reranker(text)
            found.setdefault(method, TradeoffVariant(text, method, place))
    if not found:
        raise ParameterError("a trade-off needs at least one re-ranker (--with)")
    if len(found) > MOST:
        raise ParameterError(f"{len(found)} methods are too many: the most is {MOST}")
    return list(found.values())


def varies(method: Reranker | None) -> bool:
    """Whether another draw may give another order."""
    return method is not None and any(step.stochastic for step in method.steps())


@dataclass(frozen=True, eq=False, repr=False)
class Tradeoff:
    """The scores of a run and of what re-rankers made of it; the first of ``variants`` is the original."""

    variants: tuple[TradeoffVariant, ...]
    scores: Scores
    inputs: Inputs  # the runs by the names of the variants, and what is known of them

    @property
    def measures(self) -> tuple[Measure, ...]:
        return self.scores.measures

    def to_table(self, labels: Mapping[str, str] | None = None) -> Table:
        """One row for each method; those that no other method dominates are marked."""
        from evenrank.comparison.tradeoff_table import tradeoff_table

        return tradeoff_table(self if labels is None else self.with_labels(labels))

    def with_labels(self, labels: Mapping[str, str]) -> Tradeoff:
        """The same with other names of measures, as ``{"NFaiRR@10": "Neutrality"}``."""
        return replace(self, scores=self.scores.with_labels(labels))

    def __repr__(self) -> str:
        return self.to_table().to_text()

    def _repr_html_(self) -> str:
        return self.to_table().to_html()

    def ordered(self) -> tuple[Measure, ...]:
        """The measures by which all variants can be put in order.

        They say which of two values is better, have one column, and at least half of the queries have a
        finite value for every variant.
        """
        return tuple(
            measure
            for measure in self.measures
            if measure.direction in (Direction.HIGHER, Direction.LOWER, Direction.SIGNED)
            and len(self.scores.block(measure, self.variants[0].name).columns) == 1
            and 2 * self.compared(measure).queries >= self.compared(measure).of
        )

    def compared(self, measure: Measure) -> Compared:
        """The aggregates over the queries for which all variants have a finite value: means over other
        queries do not compare."""
        blocks = [self.scores.block(measure, variant.name) for variant in self.variants]
        values = [
            {
                query: value
                for query, value, code in zip(
                    block.query_ids, block.values[:, 0].tolist(), block.status[:, 0].tolist(), strict=True
                )
                if code == 0
            }
            for block in blocks
        ]
        common = [query for query in values[0] if all(query in found for found in values[1:])]
        means = tuple(
            float(measure.aggregate(np.array([found[query] for query in common]))) if common else np.nan
            for found in values
        )
        return Compared(means, len(common), max(len(block.query_ids) for block in blocks))

    @property
    def informed(self) -> frozenset[str]:
        """The names of the variants that read the judgements by which they are scored: what they gain, no
        system can gain that has to answer without them."""
        return self.scores.informed

    def front(self, measures: Sequence[Measure] | None = None) -> frozenset[str]:
        """The names of the variants that no other one beats, by these measures or by all of them, without
        those that read the judgements by which they are scored.

        Larger or smaller is better as the measure says; a signed one is the better the nearer it is to 0.
        Values are over the queries that all variants have one for.
        """
        chosen = self.ordered() if measures is None else tuple(measures)
        if not chosen:
            return frozenset()
        table = np.array([[one.goodness(value) for value in self.compared(one).values] for one in chosen])
        fair = np.array([variant.name not in self.informed for variant in self.variants])  # (N,)
        on = iter(pareto_front(table[:, fair].T).tolist())
        return frozenset(
            one.name for one, there in zip(self.variants, fair, strict=True) if there and next(on)
        )

    def by_rank(self) -> Scores:
        """The scores of all variants at every rank down to the cut-off of each measure that has one."""
        from evenrank.comparison.curves import curves_by_rank

        return curves_by_rank(self.inputs, self.measures)

    def draws(self, measure: Measure, name: str) -> tuple[int, float, float] | None:
        """Over how many draws a value is the mean, and within what 95% of them lie; None for one ranking."""
        found = self.scores.block(measure, name).draws
        if found is None or found.shape[1] != 1:
            return None
        values = found[np.isfinite(found)]
        low, high = np.percentile(values, SPREAD) if len(values) else (np.nan, np.nan)
        return len(found), float(low), float(high)


def tradeoff(
    run: Any,
    methods: str | Reranker | Iterable[str | Reranker],
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    repeat: int | None = None,
    missing: str | None = None,
    **known: Unpack[Known],
) -> Tradeoff:
    """A run and what each method makes of it, scored by the same measures with the same evidence.

    A parameter may be a set: ``FAIR_greedy(epsilon={0,0.3,1})`` is three methods. ``repeat`` draws so many
    rankings of methods that leave something to chance; values are then means over draws. The inputs are those
    of ``evaluate``. The original is the background for all, unless one is given. ``queries`` is for
    the measures alone; ``missing`` is also the rule of methods that have such a one and are given none of
    their own.

    >>> run = Run.build(["q", "q"], ["a", "b"], [2.0, 1.0], name="bm25")
    >>> found = tradeoff(run, "Oracle", "RR", qrels={"q": {"b": 1}})
    >>> [(variant.name, found.scores.mean("RR", variant.name)) for variant in found.variants]
    [('bm25', 0.5), ('Oracle', 1.0)]
    >>> sorted(found.informed), sorted(found.front())
    (['Oracle'], ['bm25'])
    """
    inputs = Inputs.of(run, **known)
    run = inputs.one_run("tradeoff")
    asked = variants(methods)
    if repeat is not None and not any(varies(variant.method) for variant in asked):
        raise ParameterError("no method here leaves anything to chance: leave repeat= (--repeat) out")
    wanted = parse_measures(measures)
    original = run.name if run.name not in {variant.name for variant in asked} else f"{run.name} (original)"
    runs: dict[str, Run | RunSet] = {original: run}
    for variant in asked:
        draws = repeat if varies(variant.method) else None
        method = variant.method if variant.method is None else with_missing(variant.method, missing)
        runs[variant.name] = rerank(inputs, method or "", repeat=draws)
    background = run if inputs.background is None else inputs.background
    inputs = inputs.with_runs(runs).with_known(background=background)
    scores = evaluate(inputs, wanted, missing=missing)
    return Tradeoff((TradeoffVariant(original), *asked), scores, inputs)


def with_missing(method: Reranker, missing: str | None) -> Reranker:
    """The method, and each step of a chain, with this rule where it is one of its own and none was chosen.

    >>> with_missing(parse_reranker("Oracle | Neutral | Neutral(missing='behind')"), "neutral")
    Oracle | Neutral(missing='neutral') | Neutral(missing='behind')
    """
    if missing is None:
        return method
    steps = method.steps()
    if steps != (method,):
        return Chain(tuple(with_missing(step, missing) for step in steps))
    for field_ in method.parameters():
        untouched = field_.name == "missing" and getattr(method, "missing", None) == field_.default
        if untouched and field_.metadata["rule"].accept(missing) is not REFUSED:
            return replace(method, missing=missing)  # type: ignore[call-arg]
    return method
