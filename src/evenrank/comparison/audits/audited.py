"""What an audit table is made from: systems by class, on one corpus or several, by domain."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Floats
from evenrank.comparison.measure_table import MeasureTable, tables_of
from evenrank.comparison.pairs import Pair, pairs_of
from evenrank.errors import DataError, ParameterError, UnknownNameError, few
from evenrank.measures import Measure, parse_measure
from evenrank.scores import Scores
from evenrank.stats.intervals import mean_interval, resampled_interval

# in the order of tables; any other class follows
CLASSES = ("lexical", "sparse", "dense", "late interaction", "re-ranker", "LLM", "fusion", "industry")
FEWEST = 5  # queries for an interval


class RunLabel(NamedTuple):
    """Which system a run is of, and the class of that system. Runs of the same system are its seeds."""

    system: str
    system_class: str = ""


class SystemEstimate(NamedTuple):
    """The value of a system on a measure: over queries, and over seeds where there are several."""

    value: float
    low: float
    high: float
    queries: int  # that have a value
    seeds: int
    spread: float  # standard deviation of the value over seeds
    reason: str = ""  # why there is no value


@dataclass(frozen=True, eq=False)
class Audited:
    """Scores of many runs by corpus, with the system and the class of each run, and domains of queries.

    A corpus may be any set of scores that stands beside others: a collection, a set of queries, an encoder.
    """

    corpora: Mapping[str, Scores]
    runs: Mapping[str, RunLabel] = field(default_factory=dict)
    domains: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of each query, one or several
    baseline: str | None = None
    test: str = "t"
    correction: str = "holm"
    alpha: float = 0.05
    seed: int = 0
    _classes: Mapping[str, str] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        unknown = [run for run in self.runs if run not in self._all_runs]
        if unknown and len(unknown) == len(self.runs):
            raise DataError(
                f"none of the runs that the file of systems names was scored: it has {few(unknown, 3)}, "
                f"the scores have {few(list(self._all_runs), 3)}"
            )
        classes: dict[str, str] = {}
        for run in self._all_runs:
            system, kind = self.runs.get(run, RunLabel(run))
            if kind and classes.setdefault(system, kind) != kind:
                raise DataError(
                    f"system {system!r} has runs of two classes, {classes[system]} and {kind}: runs of one "
                    "system are its seeds, so give them one class, or another name "
                    '(system = "NAME" in the table [data.runs.NAME] of the project file, or in the file of '
                    "systems)"
                )
        object.__setattr__(self, "_classes", classes)

    @cached_property
    def _all_runs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run for scores in self.corpora.values() for run in scores.runs))

    def label(self, run: str) -> RunLabel:
        """A run without a class has that of other runs of its system."""
        system, kind = self.runs.get(run, RunLabel(run))
        return RunLabel(system, kind or self._classes.get(system, ""))

    def label_notes(self) -> list[str]:
        """What is odd about systems and classes that people named."""
        notes = []
        unknown = [run for run in self.runs if run not in self._all_runs]
        if unknown:
            notes.append(f"named as systems, but not scored: {few(unknown, 3)}")
        for kind in dict.fromkeys(one.system_class for one in self.systems):
            near = difflib.get_close_matches(kind, CLASSES, 1, 0.7) if kind not in CLASSES else []
            if near:
                notes.append(f"class {kind!r} is one of its own; did you mean {near[0]}?")
        return notes

    @cached_property
    def systems(self) -> tuple[RunLabel, ...]:
        """By class, then in the order of the file of systems, then in that of the scores."""
        listed = [self.label(run) for run in self.runs if run in self._all_runs]
        found = list(dict.fromkeys([*listed, *(self.label(run) for run in self._all_runs)]))
        order = {name: place for place, name in enumerate(CLASSES)}
        return tuple(sorted(found, key=lambda one: order.get(one.system_class, len(order))))

    @property
    def has_classes(self) -> bool:
        return any(one.system_class for one in self.systems)

    @property
    def several_seeds(self) -> bool:
        return len(self.systems) < len(self._all_runs)

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """The names of measures and of their columns, in the order of the corpora."""
        return tuple(dict.fromkeys(name for tables in self._tables.values() for name in tables))

    @cached_property
    def _tables(self) -> dict[str, dict[str, MeasureTable]]:
        return {name: {one.name: self._by_system(one) for one in tables_of(scores)}
                for name, scores in self.corpora.items()}  # fmt: skip

    @cached_property
    def _seeds(self) -> dict[str, dict[str, MeasureTable]]:
        return {name: {one.name: one for one in tables_of(scores)} for name, scores in self.corpora.items()}

    def table(self, corpus: str, measure: str) -> MeasureTable | None:
        """Values by query and system, the mean over seeds; None where the corpus has no such scores."""
        return self._tables[corpus].get(measure)

    def query_count(self, corpus: str) -> int:
        """How many queries the scores of a corpus have, with a value or without."""
        return len({query for table in self._tables[corpus].values() for query in table.query_ids})

    def measure(self, name: str | None) -> str:
        """The measure of that name; without one, the only measure or DUO."""
        if name is None:
            duo = [one for one in self.measures if one.startswith("DUO")]
            if len(self.measures) == 1 or len(duo) == 1:
                return duo[0] if duo else self.measures[0]
            raise ParameterError(f"name one measure behind the view: {', '.join(self.measures)}")
        for one in (name, repr(parse_measure(name))):
            if one in self.measures:
                return one
        # evaluate(.., missing=) gives measures a rule that who asks by name need not repeat
        short = [one for one in self.measures if self.shown(one) == name]
        if len(short) == 1:
            return short[0]
        raise UnknownNameError(f"{name!r} was not scored; there are {', '.join(self.measures)}")

    def shown(self, measure: str) -> str:
        """What people see instead of the name of a measure."""
        table = next(tables[measure] for tables in self._tables.values() if measure in tables)
        return table.shown or measure

    def name_notes(self) -> list[str]:
        """What the names in the table leave out, such as rules for documents without evidence."""
        names = dict.fromkeys(note for scores in self.corpora.values() for note in scores.names.notes())
        return [*names, *self.label_notes()]

    def direction(self, measure: str) -> Measure:
        return next(tables[measure].measure for tables in self._tables.values() if measure in tables)

    def _by_system(self, table: MeasureTable) -> MeasureTable:
        """The runs of a system as one: a query counts where every seed has a value."""
        systems = [one.system for one in self.systems
                   if any(self.label(run) == one for run in table.systems)]  # fmt: skip
        values = np.full((len(table.query_ids), len(systems)), np.nan)
        why: list[dict[int, str]] = []
        for place, system in enumerate(systems):
            own = [at for at, run in enumerate(table.systems) if self.label(run).system == system]
            values[:, place] = table.values[:, own].mean(axis=1)
            why.append({row: reason for at in own for row, reason in table.why[at].items()})
        return MeasureTable(
            table.measure,
            table.column,
            tuple(systems),
            table.query_ids,
            values,
            tuple(why),
            table.shown,
            table.bounds,
        )

    def estimate(
        self, corpus: str, measure: str, system: str, queries: Iterable[str] | None = None
    ) -> SystemEstimate:
        """The value of a system, over some of the queries."""
        table = self.table(corpus, measure)
        nothing = SystemEstimate(math.nan, math.nan, math.nan, 0, 0, math.nan)
        if table is None:
            return nothing._replace(reason=f"{self.shown(measure)} was not scored there")
        if system not in table.systems:
            return nothing._replace(reason="the system has no run there")
        values = rows_of(table, queries)[:, table.place(system)]
        known = values[np.isfinite(values)]
        if not len(known):
            reasons = dict.fromkeys(table.why[table.place(system)].values())
            return nothing._replace(reason=", ".join(reasons) or "no query has a value")
        measured = table.measure
        if measured.aggregation == "mean":
            found = mean_interval(known, table.range_of(known))
        else:
            found = resampled_interval(known, measured.aggregate, seed=self.seed)
        seeds = self._seed_values(corpus, measure, system, queries)
        spread = float(np.std(seeds, ddof=1)) if len(seeds) > 1 else math.nan
        return SystemEstimate(
            float(measured.aggregate(known)), found.low, found.high, len(known), len(seeds), spread
        )

    def _seed_values(
        self, corpus: str, measure: str, system: str, queries: Iterable[str] | None
    ) -> list[float]:
        table = self._seeds[corpus][measure]
        columns = [at for at, run in enumerate(table.systems) if self.label(run).system == system]
        rows = rows_of(table, queries)
        means = []
        for at in columns:
            known = rows[:, at][np.isfinite(rows[:, at])]
            if len(known):
                means.append(float(table.measure.aggregate(known)))
        return means

    def pairs(self, corpus: str, measure: str, baseline: str) -> dict[str, Pair]:
        """Every other system against the baseline, corrected over those systems."""
        table = self.table(corpus, measure)
        if table is None or baseline not in table.systems:
            return {}
        found = pairs_of(
            table, [baseline], test=self.test, correction=self.correction, alpha=self.alpha, seed=self.seed
        )
        return {pair.system: pair for pair in found}

    @cached_property
    def queries_by_domain(self) -> dict[str, list[str]]:
        """The queries of each domain, in the order of the domains' names; a query may be in several."""
        found: dict[str, list[str]] = {}
        for query, domains in self.domains.items():
            for domain in [domains] if isinstance(domains, str) else domains:
                found.setdefault(domain, []).append(query)
        return dict(sorted(found.items()))

    def need_domains(self, view: str) -> None:
        if not self.domains:
            raise ParameterError(f"--view {view} needs the domains of queries: add --by FILE, or --by COLUMN")


def rows_of(table: MeasureTable, queries: Iterable[str] | None) -> Floats:
    """(Q, S): the values of these queries."""
    if queries is None:
        return table.values
    wanted = set(queries)
    return table.values[[row for row, query in enumerate(table.query_ids) if query in wanted]]
