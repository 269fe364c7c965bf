"""Which system is better, by how much, and how sure can one be? Scores become a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from evenrank.comparison.measure_table import MeasureTable, joined, tables_of
from evenrank.comparison.pairs import Pair, pairs_of
from evenrank.data.frames import to_pandas, to_polars
from evenrank.errors import InputTypeError, ParameterError
from evenrank.evaluation import evaluate
from evenrank.inputs import Inputs, Known
from evenrank.scores import Scores
from evenrank.scores.files import FilePath
from evenrank.stats.corrections import discriminative_power_curve
from evenrank.stats.correlation import CorrelationMatrix, correlation_matrix
from evenrank.stats.tukey import TRIALS, Conclusion, TukeyHSD, conclusions, randomised_tukey_hsd

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow as pa

    from evenrank.data.lexicon import Lexicon
    from evenrank.tables import Table

__all__ = ["Comparison", "Pair", "compare"]

OVER = ("systems", "queries", "cutoffs")
NOT_INDEPENDENT = (
    "the points are cut-offs of the same lists and not independent: p-values and intervals are too narrow"
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several systems on several measures, and what can be said of their differences."""

    scores: Scores
    baselines: tuple[str, ...]
    test: str = "t"
    correction: str = "holm"
    alpha: float = 0.05
    seed: int = 0
    inputs: Inputs | None = field(default=None, repr=False)  # what was compared; None of Scores alone

    @cached_property
    def tables(self) -> tuple[MeasureTable, ...]:
        return tables_of(self.scores)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Every system against the baselines, on every measure; corrected within a measure."""
        return tuple(
            pair
            for table in self.tables
            for pair in pairs_of(
                table,
                self.baselines,
                test=self.test,
                correction=self.correction,
                alpha=self.alpha,
                seed=self.seed,
            )
        )

    def table(self, measure: str) -> MeasureTable:
        for table in self.tables:
            if table.name == measure:
                return table
        names = ", ".join(table.name for table in self.tables)
        raise ParameterError(f"{measure!r} was not compared; there are {names}")

    def tukey(self, measure: str, *, trials: int = TRIALS) -> TukeyHSD:
        """Randomised Tukey HSD over all pairs of systems; queries that any of them lacks are left out."""
        return randomised_tukey_hsd(self.table(measure).values, trials=trials, seed=self.seed)

    def conclusions(self, measure: str, *, trials: int = TRIALS) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """For each system that beats others, those others: "A >> B, C", by randomised Tukey HSD.

        Of a measure of which neither high nor low is better, as a signed one, none beats another.
        """
        table = self.table(measure)
        if not table.has_better:
            return ()
        found: tuple[Conclusion, ...] = conclusions(
            self.tukey(measure, trials=trials), alpha=self.alpha, lower_is_better=table.lower_is_better
        )
        return tuple(
            (table.systems[row.system], tuple(table.systems[other] for other in row.beaten))
            for row in found
            if row.beaten
        )

    def power(self, *, trials: int = TRIALS) -> dict[str, npt.NDArray[np.float64]]:
        """For each measure the sorted p-values of all pairs: its discriminative power curve."""
        return {
            table.name: discriminative_power_curve(self.tukey(table.name, trials=trials).p_values)
            for table in self.tables
        }

    def correlations(
        self, method: str = "kendall", *, over: str = "systems", system: str | None = None
    ) -> tuple[CorrelationMatrix, tuple[str, ...], tuple[str, ...]]:
        """How measures agree: the matrix, the measures, and what a reader must know.

        Over ``systems`` the points are their means, over ``queries`` the values of one system, over
        ``cutoffs`` the means of one system at each cut-off of measures that differ in it only.
        """
        if over not in OVER:
            raise ParameterError(f"over must be one of {', '.join(OVER)}, got {over!r}")
        if over == "cutoffs":
            columns, names = self._by_cutoff(system)
            return correlation_matrix(columns, method), names, (NOT_INDEPENDENT,)
        names = tuple(table.name for table in self.tables)
        if over == "systems":
            means = [
                [self._mean(table, place) for table in self.tables] for place in range(len(self.scores.runs))
            ]
            return correlation_matrix(np.array(means), method), names, ()
        place = self.tables[0].place(self._one(system))
        queries = list(dict.fromkeys(query for table in self.tables for query in table.query_ids))
        values = np.full((len(queries), len(names)), np.nan)
        for column, table in enumerate(self.tables):
            rows = {query: row for row, query in enumerate(table.query_ids)}
            known = [(at, rows[query]) for at, query in enumerate(queries) if query in rows]
            values[[at for at, _ in known], column] = table.values[[row for _, row in known], place]
        return correlation_matrix(values, method), names, ()

    def write(self, path: FilePath, format: str | None = None) -> None:
        """A row for each pair as .csv, .tsv, .jsonl or .parquet, or the table for a paper as .tex or .md."""
        from evenrank.comparison.files import write_comparison

        write_comparison(self, path, format)

    def _by_cutoff(self, system: str | None) -> tuple[npt.NDArray[np.float64], tuple[str, ...]]:
        place = self.tables[0].place(self._one(system))
        by_stem: dict[str, dict[int, float]] = {}
        for table in self.tables:
            depth = table.measure.cutoff
            if depth is not None:
                stem = table.name.replace(f"@{depth}", "", 1)
                by_stem.setdefault(stem, {})[depth] = self._mean(table, place)
        depths = sorted(set.intersection(*(set(found) for found in by_stem.values()))) if by_stem else []
        if len(depths) < 3:
            raise ParameterError("correlations over cut-offs need measures at three common cut-offs or more")
        return np.array([[found[depth] for found in by_stem.values()] for depth in depths]), tuple(by_stem)

    def _mean(self, table: MeasureTable, place: int) -> float:
        values = table.values[:, place]
        return table.mean(values, np.isfinite(values))

    def _one(self, system: str | None) -> str:
        if system is None and len(self.scores.runs) > 1:
            raise ParameterError(f"name the system: one of {', '.join(self.scores.runs)}")
        return system or self.scores.runs[0]

    def report(
        self,
        path: str | PathLike[str],
        *,
        documents: Any = None,
        columns: Mapping[str, str] | None = None,
        lexicon: Lexicon | None = None,
        query_texts: Mapping[str, str] | None = None,
        urls: Mapping[str, str] | None = None,
        title: str = "evenrank report",
        measure: str | None = None,
        system: str | None = None,
        cutoffs: Sequence[int] | None = None,
        readable: int = 200,
    ) -> None:
        """Write all of it to one HTML file that needs no network and can be read without scripts.

        ``documents`` are the texts: ``{id: text}``, or any collection that ``scan`` reads, whose ``columns``
        may be named, as ``{"document": "sku"}``; words of ``lexicon`` are marked in them, by default of the
        one that ``words`` were counted with.
        ``query_texts`` and ``urls`` (of documents) are mappings by id. Queries are sorted by ``measure``, by
        default the first of fairness, for ``system``, by default the worst that is no baseline. ``cutoffs``
        are those of the curves. ``readable`` is how many queries show documents where scripts are off.
        """
        import evenrank  # which knows the layer above this one

        evenrank.write_report(
            path,
            self.scores,
            comparison=self,
            inputs=self.inputs,
            documents=documents,
            columns=columns,
            lexicon=lexicon,
            query_texts=query_texts,
            urls=urls,
            title=title,
            measure=measure,
            system=system,
            cutoffs=cutoffs,
            readable=readable,
        )

    def __repr__(self) -> str:
        from evenrank.comparison.comparison_tables import measure_tables
        from evenrank.tables import printed

        return printed(measure_tables(self), "table").rstrip("\n")

    def _repr_html_(self) -> str:
        from evenrank.comparison.comparison_tables import measure_tables

        return "".join(table.to_html() for table in measure_tables(self))

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each pair: the difference with its interval, p before and after the correction, and what
        is shown by it."""
        return to_pandas(self._pairs_as_arrow(), "Comparison.to_pandas()")

    def to_polars(self) -> polars.DataFrame:
        """The same for polars."""
        return to_polars(self._pairs_as_arrow(), "Comparison.to_polars()")

    def _pairs_as_arrow(self) -> pa.Table:
        import pyarrow as pa

        return pa.Table.from_pylist([dict(record) for record in self.to_table().to_records()])

    def to_table(self, labels: Mapping[str, str] | None = None) -> Table:
        """One row for each system, one column for each measure, with marks for best values and for tests."""
        from evenrank.comparison.comparison_tables import paper_table

        return paper_table(self if labels is None else self.with_labels(labels))

    def with_labels(self, labels: Mapping[str, str]) -> Comparison:
        """The same with other names of measures in tables and reports, as ``{"NFaiRR@10": "Neutrality"}``."""
        return replace(self, scores=self.scores.with_labels(labels))


def compare(
    systems: Any,
    measures: Any = None,
    *,
    baseline: str | Sequence[str] | None = None,
    test: str = "t",
    correction: str = "holm",
    alpha: float = 0.05,
    seed: int = 0,
    cutoffs: Sequence[int] | None = None,
    missing: str | None = None,
    labels: Mapping[str, str] | None = None,
    **known: Unpack[Known],
) -> Comparison:
    """Compare systems: runs with measures and the inputs of ``evaluate``, or ``{name: Scores}``.

    Also ``Inputs`` of several runs, or one ``Scores`` of them. ``baseline`` names one system or several that
    the others are tested against; without it the first. ``test`` is ``t``, ``wilcoxon`` or ``permutation``,
    ``correction`` one of ``none``, ``bonferroni``, ``holm``, ``bh``, over all pairs of a measure. Which way
    is better follows the measure. ``labels`` are other names of measures for tables, figures and reports.
    """
    inputs = _inputs(systems, measures, known, cutoffs, missing)
    scores = (
        _scores(systems) if inputs is None else evaluate(inputs, measures, cutoffs=cutoffs, missing=missing)
    )
    names = scores.runs
    if len(names) < 2:
        raise ParameterError(f"a comparison needs two systems or more, got {', '.join(names)}")
    chosen = (
        (names[0],)
        if baseline is None
        else (baseline,)
        if isinstance(baseline, str)
        else tuple(dict.fromkeys(baseline))
    )
    if not chosen:
        raise ParameterError(f"there is no baseline: name one of {', '.join(names)}")
    known_names(chosen, names)
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha must be a number > 0 and < 1, got {alpha!r}")
    scores = scores.with_labels(labels or {})
    return Comparison(scores, chosen, test, correction, alpha, seed, inputs)


def known_names(asked: Iterable[str], names: Sequence[str]) -> None:
    """Every system that is asked for must be one of those compared."""
    for name in asked:
        if name not in names:
            raise ParameterError(f"no system is called {name!r}; there are {', '.join(names)}")


def _inputs(
    systems: Any, measures: Any, known: Known, cutoffs: Sequence[int] | None, missing: str | None
) -> Inputs | None:
    """The runs and what is known of them; None where systems are scores already."""
    if isinstance(systems, Inputs):
        found = Inputs.of(systems, **known)
    elif isinstance(systems, Scores):
        _no_more(measures, known, cutoffs, missing)
        return None
    elif not isinstance(systems, Mapping):
        found = Inputs.of(systems, **known)
    else:
        done = [isinstance(system, Scores) for system in systems.values()]
        if all(done):
            _no_more(measures, known, cutoffs, missing)
            return None
        if any(done):
            raise InputTypeError("systems must be all runs or all Scores, not a mix of both")
        found = Inputs.of(systems, **known)
    if measures is None:
        raise ParameterError(
            "runs are compared by measures: name them, as compare(runs, 'nDCG@10 NFaiRR@10')"
        )
    return found


def _no_more(measures: Any, *more: Any) -> None:
    if measures is not None or any(more):
        raise ParameterError("Scores are compared as they are: leave out measures and inputs, or pass runs")


def _scores(systems: Any) -> Scores:
    return systems if isinstance(systems, Scores) else joined(list(systems.items()))
