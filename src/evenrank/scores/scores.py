"""Per-query values of measures, with the reason where there is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.data.frames import to_pandas, to_polars
from evenrank.errors import DataError, ParameterError, UnknownNameError
from evenrank.measures import Measure, parse_measure
from evenrank.measures.base import EXTREMES
from evenrank.measures.missing import without_missing
from evenrank.scores.names import MeasureNames, checked_labels, full_name, measure_names
from evenrank.stats.intervals import (
    INFINITE_VALUE,
    ONE_VALUE,
    ConfidenceInterval,
    interval_note,
    mean_interval,
    resampled_interval,
)
from evenrank.stats.weights import effective_number, weighted_mean

if TYPE_CHECKING:
    import pandas
    import polars

    from evenrank.measures.registry import MeasureLike
    from evenrank.scores.agreement import Disagreement
    from evenrank.scores.categories import CategoryGap
    from evenrank.scores.notes import ScoresNote
    from evenrank.tables import Table

OK = "ok"
INFINITE = "infinite"
VALUE_FIELDS = ("run", "query", "measure", "column", "value", "status")
_PER_QUERY = pa.schema([(name, pa.float64() if name == "value" else pa.string()) for name in VALUE_FIELDS])

RESAMPLES = 2000
SEED = 0


@dataclass(frozen=True, eq=False)
class ScoresBlock:
    """One measure on one run. ``status`` indexes ``reasons``: 0 is ok, 1 infinite, then why undefined."""

    run: str
    measure: Measure
    query_ids: tuple[str, ...]
    columns: tuple[str, ...]
    values: npt.NDArray[np.float64]  # (Q, C), NaN where undefined
    status: npt.NDArray[np.int16]  # (Q, C)
    reasons: tuple[str, ...] = (OK, INFINITE)
    draws: npt.NDArray[np.float64] | None = None  # (R, C): the aggregate of each ranking, where there are R
    shares: npt.NDArray[np.float64] | None = None  # (Q, C): of the R rankings, how many have a value
    unlabelled: npt.NDArray[np.bool_] | None = None  # (Q,): lists with a value and no labelled document
    bounds: tuple[float, float] | None = None  # where these groups and targets leave less than the range
    weights: npt.NDArray[np.float64] | None = None  # (Q,): of the queries; None where each counts once

    def defined(self, column: int = 0) -> npt.NDArray[np.float64]:
        """The values that count: neither undefined nor infinite."""
        values: npt.NDArray[np.float64] = self.values[self.status[:, column] == 0, column]
        return values

    def infinite(self, column: int = 0) -> npt.NDArray[np.float64]:
        values: npt.NDArray[np.float64] = self.values[self.status[:, column] == 1, column]
        return values

    def select(self, rows: Sequence[int]) -> ScoresBlock:
        """The same for some of the queries. ``draws`` are those of all, and left out."""
        return replace(
            self,
            query_ids=tuple(self.query_ids[row] for row in rows),
            values=self.values[list(rows)],
            status=self.status[list(rows)],
            draws=None,
            shares=None if self.shares is None else self.shares[list(rows)],
            unlabelled=None if self.unlabelled is None else self.unlabelled[list(rows)],
            weights=None if self.weights is None else self.weights[list(rows)],
        )

    def range_of(self, values: npt.NDArray[np.float64]) -> tuple[float, float]:
        """The range for intervals over these values."""
        return self.bounds or self.measure.range_of(values)

    def weights_of(self, column: int = 0) -> npt.NDArray[np.float64] | None:
        """The weights of the queries whose values count."""
        return None if self.weights is None else self.weights[self.status[:, column] == 0]

    def aggregate(self, column: int = 0) -> float:
        if self.weights is not None:
            return weighted_mean(self.defined(column), self.weights_of(column))
        return aggregated(self.measure, self.defined(column), self.infinite(column))

    def interval(
        self, column: int = 0, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = SEED
    ) -> ConfidenceInterval:
        """The confidence interval of the aggregate, or why there is none."""
        if math.isinf(self.aggregate(column)):  # an interval of the finite ones would not hold it
            return ConfidenceInterval(math.nan, math.nan, INFINITE_VALUE)
        if self.measure.over_queries:
            return ConfidenceInterval(math.nan, math.nan, ONE_VALUE)
        values = self.defined(column)
        if self.measure.aggregation == "mean":
            weights = self.weights_of(column)
            return mean_interval(values, self.range_of(values), level=level, weights=weights)
        return resampled_interval(values, self.measure.aggregate, level=level, resamples=resamples, seed=seed)

    def summary(self, column: int) -> SummaryRow:
        counts = np.bincount(self.status[:, column], minlength=len(self.reasons)).tolist()
        why = zip(self.reasons[2:], counts[2:], strict=True)
        found, weights, counted = self.interval(column), self.weights_of(column), self.status[:, column] == 0
        count = counts[0] if weights is None else round(effective_number(weights))
        return SummaryRow(
            run=self.run,
            measure=repr(self.measure),
            column=self.columns[column],
            value=self.aggregate(column),
            low=found.low,
            high=found.high,
            queries=len(self.query_ids),
            defined=counts[0],
            infinite=counts[1],
            undefined={reason: number for reason, number in why if number},
            aggregation=self.measure.aggregation,
            direction=self.measure.direction.value,
            interval_note=interval_note(found, count, self.range_of(self.defined(column))),
            unlabelled=0 if self.unlabelled is None else int((self.unlabelled & counted).sum()),
        )

    def place_of(self, column: str | None) -> int:
        """The place of the column of this name; None stands for the only one."""
        names = ", ".join(self.columns)
        if column is None and len(self.columns) > 1:
            raise ParameterError(f"{self.measure!r} has several columns: name one of {names}")
        if column is not None and column not in self.columns:
            raise UnknownNameError(f"{self.measure!r} has no column {column!r}; it has {names}")
        return 0 if column is None else self.columns.index(column)

    def same_as(self, other: ScoresBlock) -> bool:
        """Whether values and reasons are the same, for the same run, measure and queries."""
        words, others = ([one.reasons[code] for code in one.status.ravel()] for one in (self, other))
        return (
            (self.run, self.measure, self.query_ids, self.columns)
            == (other.run, other.measure, other.query_ids, other.columns)
            and np.array_equal(self.values, other.values, equal_nan=True)
            and words == others
        )


def aggregated(measure: Measure, values: npt.NDArray[np.float64], infinite: npt.NDArray[np.float64]) -> float:
    """Over the finite values. Infinite ones decide an extreme, and a mean that has nothing else."""
    if len(infinite) and (not len(values) or measure.aggregation in EXTREMES):
        values = np.concatenate([values, infinite])
    if not len(values):
        return math.nan
    with np.errstate(invalid="ignore"):  # both signs: neither is the mean
        return float(measure.aggregate(values))


class SummaryRow(NamedTuple):
    """One line of the table: a measure on a run over its queries."""

    run: str
    measure: str
    column: str
    value: float
    low: float
    high: float
    queries: int
    defined: int
    infinite: int
    undefined: dict[str, int]
    aggregation: str
    direction: str
    interval_note: str = ""  # why there is no interval, or why it may be too narrow
    unlabelled: int = 0  # lists that count, though none of their documents has a label

    @property
    def over(self) -> str:
        """How many queries the value is over, for a table."""
        from evenrank.tables import count_of

        return count_of(self.defined, self.queries, self.infinite, self.unlabelled)


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """The outcome of ``evaluate``: a table that prints, converts, and is written and read back.

    ``mean`` and ``summary`` leave out queries where a measure is undefined or infinite, and say how
    many those are.
    """

    blocks: tuple[ScoresBlock, ...]
    notes_by_run: Mapping[str, tuple[ScoresNote, ...]] = field(default_factory=dict)
    describe_inputs: Callable[[], Mapping[str, Any]] = field(default=dict, repr=False)
    labels: Mapping[str, str] = field(default_factory=dict)  # of measures, by their real names
    informed: frozenset[str] = frozenset()  # runs ordered by the judgements that score them

    @cached_property
    def provenance(self) -> Mapping[str, Any]:
        """What these numbers came from: inputs with their hashes, tie rules, versions."""
        return self.describe_inputs()

    @cached_property
    def notes(self) -> dict[str, tuple[str, ...]]:
        """What must be known to read the values, in words, by run."""
        return {run: tuple(map(str, notes)) for run, notes in self.notes_by_run.items()}

    @cached_property
    def runs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(block.run for block in self.blocks))

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        return tuple(dict.fromkeys(block.measure for block in self.blocks))

    @cached_property
    def names(self) -> MeasureNames:
        """What measures are called in tables and figures."""
        return measure_names(self.measures, self.labels)

    def with_labels(self, labels: Mapping[str, str]) -> Scores:
        """The same with other names of measures in tables, figures and reports.

        ``{"NFaiRR@10": "Neutrality"}`` renames one measure; ``{"NFaiRR": "Neutrality"}`` renames it at all
        its cut-offs. Files keep the real names.
        """
        return replace(self, labels={**self.labels, **checked_labels(self.blocks, labels)})

    @cached_property
    def _places(self) -> dict[tuple[str, Measure], int]:
        """The place of the first block of each run and measure."""
        return {(block.run, block.measure): place for place, block in reversed([*enumerate(self.blocks)])}

    def block(self, measure: str | Measure, run: str | None = None) -> ScoresBlock:
        """The values of one measure on one run; ``run`` may be left out where there is one."""
        if run is None:
            if len(self.runs) != 1:
                raise ParameterError(f"there are several runs: name one of {', '.join(self.runs)}")
            run = self.runs[0]
        wanted = parse_measure(measure)
        if (run, wanted) in self._places:
            return self.blocks[self._places[run, wanted]]
        if run not in self.runs:
            raise UnknownNameError(f"no run is called {run!r}; there are {', '.join(self.runs)}")
        # evaluate(..., missing=) gives measures a rule that who asks by name need not repeat
        if wanted == without_missing(wanted):
            alike = [b for b in self.blocks if b.run == run and without_missing(b.measure) == wanted]
            if len(alike) == 1:
                return alike[0]
        raise UnknownNameError(
            f"{wanted!r} was not evaluated; there are {', '.join(map(str, self.measures))}"
        )

    def __getitem__(self, measure: str | Measure) -> float | dict[str, float]:
        """``mean`` of the run; of several runs, of each by its name."""
        means = {run: self.mean(measure, run) for run in self.runs}
        return means if len(means) > 1 else means[self.runs[0]]

    def mean(self, measure: str | Measure, run: str | None = None, column: str | None = None) -> float:
        """The aggregate over queries, which is the mean unless the measure says otherwise."""
        block = self.block(measure, run)
        return block.aggregate(block.place_of(column))

    def interval(
        self,
        measure: str | Measure,
        run: str | None = None,
        column: str | None = None,
        *,
        level: float = 0.95,
        resamples: int = RESAMPLES,
        seed: int = SEED,
    ) -> tuple[float, float]:
        """The confidence interval of ``mean`` over the queries where it is defined; NaN where there is none.

        ``resamples`` and ``seed`` are for a measure whose aggregate is not the mean, which is resampled.
        """
        block = self.block(measure, run)
        found = block.interval(block.place_of(column), level=level, resamples=resamples, seed=seed)
        return found.low, found.high

    def summary(self) -> tuple[SummaryRow, ...]:
        """A row for each run, measure and column: aggregate, 95% interval, how many queries count."""
        return self._summary

    @cached_property
    def _summary(self) -> tuple[SummaryRow, ...]:
        return tuple(block.summary(column) for block in self.blocks for column in range(len(block.columns)))

    def per_query(self) -> pa.Table:
        """All values, long: ``run, query, measure, column, value, status``."""
        if not self.blocks:
            raise DataError("there are no scores")
        parts = []
        for block in self.blocks:
            queries, columns = len(block.query_ids), len(block.columns)
            cells = (
                [block.run] * (queries * columns),
                [query for query in block.query_ids for _ in range(columns)],
                [repr(block.measure)] * (queries * columns),
                list(block.columns) * queries,
                block.values.ravel(),
                [block.reasons[code] for code in block.status.ravel().tolist()],
            )
            parts.append(pa.table(dict(zip(VALUE_FIELDS, cells, strict=True)), _PER_QUERY))
        return pa.concat_tables(parts)

    def to_polars(self) -> polars.DataFrame:
        return to_polars(self.per_query(), "Scores.to_polars()")

    def to_pandas(self) -> pandas.DataFrame:
        return to_pandas(self.per_query(), "Scores.to_pandas()")

    def to_dict(self) -> dict[str, dict[str, dict[str, float]]]:
        """``{run: {measure: {query: value}}}``; a measure with columns has ``measure[column]``."""
        out: dict[str, dict[str, dict[str, float]]] = {}
        for block in self.blocks:
            for index, column in enumerate(block.columns):
                values = dict(zip(block.query_ids, block.values[:, index].tolist(), strict=True))
                out.setdefault(block.run, {})[full_name(repr(block.measure), column)] = values
        return out

    def by(self, categories: Mapping[str, str | Iterable[str]]) -> Scores:
        """The same with every run split by the category of its queries; a query may have several."""
        from evenrank.scores.categories import by_category

        return by_category(self, categories)

    def split(self, categories: Mapping[str, str | Iterable[str]]) -> dict[str, Scores]:
        """The scores of each category of queries by its name; a query may be in several."""
        from evenrank.scores.categories import split_by_category

        return split_by_category(self, categories)

    def gaps(self, categories: Mapping[str, str | Iterable[str]]) -> tuple[CategoryGap, ...]:
        """How far apart categories of queries are, for every run and measure: difference and ratio."""
        from evenrank.scores.categories import category_gaps

        return category_gaps(self, categories)

    def disagreements(
        self,
        measures: MeasureLike | Iterable[MeasureLike] | None = None,
        runs: Sequence[str] | None = None,
    ) -> tuple[Disagreement, ...]:
        """The queries for which measures order two runs differently, strongest first."""
        from evenrank.scores.agreement import disagreements

        return disagreements(self, measures, runs)

    def __repr__(self) -> str:
        from evenrank.scores.notes import SHOWN
        from evenrank.scores.score_tables import summary_table
        from evenrank.tables import WIDTH

        return summary_table(self, WIDTH, limit=SHOWN).to_text(WIDTH) if self.blocks else "no scores"

    def _repr_html_(self) -> str:
        return self.to_table().to_html()

    def to_table(self, labels: Mapping[str, str] | None = None) -> Table:
        """One row for each run and one column for each measure; of a single run, one row for each measure.

        ``labels`` rename measures.
        """
        from evenrank.scores.score_tables import summary_table

        return summary_table(self if labels is None else self.with_labels(labels))

    def write(self, path: str | PathLike[str], format: str | None = None) -> None:
        """Write as JSONL, CSV, TSV, Parquet, LaTeX or Markdown, by the extension unless ``format`` says."""
        from evenrank.scores.files import write_scores

        write_scores(self, path, format)

    @classmethod
    def read(cls, path: str | PathLike[str], format: str | None = None) -> Scores:
        """Read back what ``write`` wrote as JSONL, CSV, TSV or Parquet."""
        from evenrank.scores.files import read_scores

        return read_scores(path, format)

    def __eq__(self, other: object) -> bool:
        """Same values and reasons for the same runs, measures and queries."""
        if not isinstance(other, Scores):
            return NotImplemented
        pairs = zip(self.blocks, other.blocks, strict=False)
        return len(self.blocks) == len(other.blocks) and all(one.same_as(two) for one, two in pairs)

    __hash__ = None  # type: ignore[assignment]
