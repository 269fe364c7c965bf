"""Which way of making lists fairer to take: runs and re-rankers side by side, within a loss of relevance.

Each candidate is shown with what it gains, whether it keeps within the loss, which part of the possible gain
that is, what it costs at query time, and what it needs.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenrank.comparison.measure_table import MeasureTable, tables_of
from evenrank.comparison.optimal import OptimalReference, optimal_reference
from evenrank.comparison.tradeoff import variants, varies, with_missing
from evenrank.errors import ParameterError
from evenrank.evaluation import evaluate
from evenrank.inputs import Inputs
from evenrank.measures import Measure, parse_measure
from evenrank.rerankers import Reranker, rerank
from evenrank.scores import Scores
from evenrank.scores.notes import INFORMED, INFORMED_MEANS
from evenrank.stats.difference import DifferenceInterval
from evenrank.stats.selection import pareto_front
from evenrank.tables import Column, Table, Value

MARK = "*"
NEEDS = {"words": "counts at index time", "groups": "labels of documents", "judgements": "judgements"}
OF_THE_RUN = "that of the run"
_ROUNDING = 1e-12


@dataclass(frozen=True)
class CandidateRow:
    """A candidate beside the baseline; differences are better where they are above 0."""

    name: str
    fairness: float
    relevance: float
    gain: DifferenceInterval
    change: DifferenceInterval
    front: bool
    within: str  # "surely": also the lower end of the interval of the change; "yes", or "no"
    share: float  # of the possible gain within the loss; nan beyond the loss, and where none is known
    query_time: str
    needs: str
    informed: bool = False  # it reads the judgements by which it is scored: a bound, and no choice


@dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """All candidates, the baseline first, and what is possible."""

    rows: tuple[CandidateRow, ...]
    fairness: str
    relevance: str
    loss: float
    scores: Scores
    reference: OptimalReference | None
    why_no_reference: str = ""
    methods: Mapping[str, Reranker] = field(default_factory=dict)

    def __repr__(self) -> str:
        return self.to_table().to_text()

    def _repr_html_(self) -> str:
        return self.to_table().to_html()

    def to_table(self) -> Table:
        """The advice, and one row for each candidate; costs are notes, since many candidates share them and
        columns of words would not fit a terminal."""
        within = Column("within loss", right=False)
        return Table.of(
            ["candidate", "front", self.fairness, self.relevance, "gain", "change", within],
            [_cells(row, place) for place, row in enumerate(self.rows)],
            words=2,
            title=_advice(self),
            notes=_notes(self),
            records=[_record(self, row) for row in self.rows],
            meaning=(
                f"Gain of {self.fairness} and change of {self.relevance} are against the baseline on the "
                "same queries: above 0 is better."
            ),
            brackets="brackets: 95% interval",
        )


def candidates(
    inputs: Inputs,
    methods: Sequence[str] = (),
    *,
    fairness: str | Measure,
    relevance: str | Measure,
    loss: float,
    baseline: str | None = None,
    missing: str | None = None,
    systems: Mapping[str, tuple[str, str]] | None = None,
) -> Candidates:
    """The runs of the inputs, and what each re-ranker makes of the baseline, within a loss of relevance.

    ``loss`` is what the mean of the measure of relevance may lose. The baseline is the first run if none is
    named. Where it is the only run, it is also the background. ``systems`` are what made runs, and its class,
    as ``with_systems`` of ``evenrank.systems.candidate_runs`` gives it with the runs of systems and erasers.
    """
    if not 0 <= loss < math.inf:
        raise ParameterError(f"loss must be a number >= 0, got {loss!r}")
    known, made = with_methods(inputs, methods, baseline, missing)
    scores = evaluate(known, [parse_measure(fairness), parse_measure(relevance)], missing=missing)
    return candidates_of(known, scores, made, loss=loss, baseline=baseline, systems=systems)


def candidates_of(
    known: Inputs,
    scores: Scores,
    made: Mapping[str, Reranker],
    *,
    loss: float,
    baseline: str | None = None,
    trained: Container[str | None] = (),
    systems: Mapping[str, tuple[str, str]] | None = None,
) -> Candidates:
    """Candidates that are scored already, by fairness first and relevance second. ``made`` are the re-rankers
    among them by name, ``trained`` the names of the trained rankers, ``systems`` what made other runs, and
    its class."""
    own = baseline or next(iter(known.runs))
    fair, useful = (_one_column(scores, measure) for measure in scores.measures[:2])
    reference, why = None, ""
    try:
        base = known.with_runs({own: known.runs[own]})
        reference = optimal_reference(base, fairness=fair.measure, relevance=useful.measure, loss=loss)
    except ParameterError as error:
        why = str(error)
    choices = np.array([name not in scores.informed for name in scores.runs])  # (S,)
    means = np.transpose([_means(table, fair, useful) for table in (fair, useful)])
    front = np.zeros(len(choices), dtype=bool)
    front[choices] = pareto_front(means[choices])
    rows = [
        _candidate(
            name,
            own,
            (fair, useful),
            bool(on),
            loss,
            reference,
            _cost(made.get(name), name in trained, (systems or {}).get(name)),
            name in scores.informed,
        )
        for name, on in zip(scores.runs, front.tolist(), strict=True)
    ]
    rows.sort(key=lambda row: row.name != own)
    return Candidates(tuple(rows), fair.name, useful.name, loss, scores, reference, why, made)


def with_methods(
    inputs: Inputs, methods: Sequence[str], baseline: str | None, missing: str | None
) -> tuple[Inputs, dict[str, Reranker]]:
    """The inputs with a run more for each re-ranker, which re-ranks the baseline."""
    if not methods:
        return inputs, {}
    own = next(iter(inputs.runs)) if baseline is None else baseline
    if own not in inputs.runs:
        raise ParameterError(f"no run is called {own!r}; there are {', '.join(inputs.runs)}")
    first = inputs.runs[own]
    runs: dict[str, Any] = dict(inputs.runs)
    made: dict[str, Reranker] = {}
    for variant in variants(methods):
        if variant.method is None or variant.name in runs:
            raise ParameterError(f"two candidates are called {variant.name!r}: name the run otherwise")
        if varies(variant.method):
            raise ParameterError(
                f"{variant.name} leaves something to chance: write its draws with evenrank rerank --repeat"
            )
        made[variant.name] = with_missing(variant.method, missing)
        runs[variant.name] = rerank(inputs.with_runs({own: first}), made[variant.name])
    alone = len(inputs.runs) == 1 and inputs.background is None
    known = inputs.with_runs(runs)
    return (known.with_known(background=first) if alone else known), made


def _one_column(scores: Scores, measure: Measure) -> MeasureTable:
    found = [table for table in tables_of(scores) if table.measure == measure]
    if len(found) != 1 or not found[0].has_better:
        raise ParameterError(f"{measure!r} has several columns or no better side: nothing to choose by")
    return found[0]


def _means(table: MeasureTable, *tables: MeasureTable) -> list[float]:
    """Of each system over the queries for which every system has both values; larger is better."""
    rows = set(table.query_ids)
    for one in tables:
        whole: list[bool] = np.asarray(np.isfinite(one.values).all(axis=1)).tolist()
        rows &= {query for query, there in zip(one.query_ids, whole, strict=True) if there}
    chosen = [place for place, query in enumerate(table.query_ids) if query in rows]
    sign = -1.0 if table.lower_is_better else 1.0
    return (sign * table.values[chosen].mean(axis=0)).tolist() if chosen else [math.nan] * len(table.systems)


def _candidate(
    name: str,
    baseline: str,
    tables: tuple[MeasureTable, MeasureTable],
    front: bool,
    loss: float,
    reference: OptimalReference | None,
    cost: tuple[str, str],
    informed: bool,
) -> CandidateRow:
    gain, change = (_better(table, name, baseline) for table in tables)
    kept = change.difference >= -loss - _ROUNDING
    within = "surely" if kept and change.low >= -loss else "yes" if kept else "no"
    share = math.nan
    if reference is not None and kept and name != baseline:
        share = reference.share_of(_mean_over(tables[0], name, reference.query_ids))
    means = [float(np.nanmean(table.values[:, table.place(name)])) for table in tables]
    return CandidateRow(name, means[0], means[1], gain, change, front, within, share, *cost, informed)


def _mean_over(table: MeasureTable, name: str, queries: Sequence[str]) -> float:
    """The mean of a system over these queries: a bound holds for no others."""
    rows = {query: row for row, query in enumerate(table.query_ids)}
    return float(table.values[[rows[query] for query in queries], table.place(name)].mean())


def _better(table: MeasureTable, name: str, baseline: str) -> DifferenceInterval:
    found = table.difference(name, baseline)
    if not table.lower_is_better:
        return found
    return found._replace(difference=-found.difference, low=-found.high, high=-found.low)


def _cost(method: Reranker | None, trained: bool, system: tuple[str, str] | None) -> tuple[str, str]:
    """What a candidate costs at query time, by its class, and what it needs; of a run nothing is known,
    unless what made it is."""
    if method is not None:
        return "a sort of each list", _needs(method)
    if trained:
        return "a model for each document", "training, texts"
    if system is None:
        return OF_THE_RUN, "a run"
    term, kind = system
    # an eraser changes vectors once, before any query comes; so is its penalty known, one number a document
    return f"a search by a {kind} system", "vectors, labels of documents" if "eraser=" in term else "an index"


def _needs(method: Reranker) -> str:
    named = [need for step in method.steps() for need in step.describe()["needs"]]
    return ", ".join(dict.fromkeys(NEEDS.get(need, need) for need in named)) or "nothing"


def _cells(row: CandidateRow, place: int) -> list[Any]:
    values = [Value(row.fairness), Value(row.relevance)]
    if place == 0:
        differences: list[Any] = ["", "", "(baseline)"]
    else:
        differences = [
            *(Value(one.difference, one.low, one.high, signed=True) for one in (row.gain, row.change)),
            row.within if math.isnan(row.share) else f"{row.within}, {row.share:.0%}",
        ]
    return [row.name, INFORMED if row.informed else MARK if row.front else "", *values, *differences]


def _advice(found: Candidates) -> str:
    """Which candidate to take: the one with the largest gain, and the one of which the loss is sure."""
    choices = [row for row in found.rows[1:] if not row.informed]
    gaining = [row for row in choices if row.within != "no" and row.gain.difference > 0]
    if not gaining:
        return (
            f"No candidate gains {found.fairness} within a loss of {found.loss:g}: keep "
            f"{found.rows[0].name}, or allow a larger loss."
        )

    def largest(rows: list[CandidateRow]) -> str:
        return max(rows, key=lambda row: row.gain.difference).name

    best, sure = largest(gaining), [row for row in gaining if row.within == "surely"]
    answer = f"Take {best}: it has the largest gain of {found.fairness} within a loss of {found.loss:g}"
    if not sure:
        return f"{answer}, though with these queries no candidate keeps within it surely."
    if largest(sure) == best:
        return f"{answer}, and keeps within it surely."
    return f"{answer}. Of those that keep within it surely, {largest(sure)} gains most."


def _notes(found: Candidates) -> list[str]:
    lines = [
        f"{MARK} not dominated: no other candidate is better on one measure without being worse on the other",
        f"within loss: the mean of {found.relevance} loses at most {found.loss:g}; surely: so does the lower "
        "end of its interval",
    ]
    if any(row.informed for row in found.rows):
        lines.append(INFORMED_MEANS)
    best = found.reference
    if best is None:
        lines.append(f"share of the possible gain: not computed: {found.why_no_reference}")
    else:
        lines.append(
            "percentage: of the largest gain that any order of the baseline's lists allows within that loss: "
            f"{found.fairness} of at most {best.bound:.4f} (proven; {best.attained:.4f} is attained) instead "
            f"of {best.fairness:.4f}, over {best.queries} queries; a run with other documents can exceed it"
        )
    return [*lines, *_describe_costs(found.rows)]


def _describe_costs(rows: Sequence[CandidateRow]) -> list[str]:
    """What candidates cost at query time and need, a line for all that cost the same."""
    named: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        named.setdefault((row.query_time, row.needs), []).append(row.name)
    return [
        f"{', '.join(names[:3])}{f' and {len(names) - 3:,} more' if len(names) > 3 else ''}: at query time "
        f"{query_time}; needs {needs}"
        for (query_time, needs), names in named.items()
        if query_time != OF_THE_RUN  # of which nothing else is known
    ]


def _record(found: Candidates, row: CandidateRow) -> dict[str, Any]:
    best, is_baseline = found.reference, row is found.rows[0]
    # the baseline has no difference from itself, and an interval of nothing would look like one
    gain, change = ([math.nan] * 3 if is_baseline else list(one[:3]) for one in (row.gain, row.change))
    return {
        "candidate": row.name,
        "front": row.front,
        found.fairness: row.fairness,
        found.relevance: row.relevance,
        **dict(zip(("gain", "gain low", "gain high"), gain, strict=True)),
        **dict(zip(("change", "change low", "change high"), change, strict=True)),
        "loss": found.loss,
        "within": "" if is_baseline else row.within,
        "share": row.share,
        "bound": math.nan if best is None else best.bound,
        "attained": math.nan if best is None else best.attained,
        "query time": row.query_time,
        "needs": row.needs,
        "reads_judgements": row.informed,
    }
