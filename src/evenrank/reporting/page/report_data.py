"""What a report is made from: scores, what is known of their runs, and what the reader wants to see first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evenrank.comparison.measure_table import MeasureTable, tables_of
from evenrank.data.lexicon import Lexicon
from evenrank.data.run import Run
from evenrank.data.words import WordCounts
from evenrank.errors import DataError, InputTypeError, ParameterError, UnknownNameError
from evenrank.inputs import Inputs
from evenrank.measures import Direction
from evenrank.reporting.figures.measure_values import choose
from evenrank.scores import Scores
from evenrank.scores.columns import largest_columns
from evenrank.verdict.findings import Findings, findings_of
from evenrank.verdict.judge import DEPTH as CANDIDATES_DEPTH
from evenrank.verdict.targets import WhichTarget

if TYPE_CHECKING:
    from evenrank.comparison import Comparison
    from evenrank.evaluation.engine import PreparedEvidence
    from evenrank.verdict import Verdict

FAIRNESS = ("words", "groups", "order")  # families: what a reader of this report came for
TABLES = 24  # measures and columns that have a table
DEPTH = 10  # ranks shown of a list, where no measure says how many count
DEEPEST = 20
READABLE = 200  # queries whose documents can be read without scripts: about 10 kB each


@dataclass(frozen=True)
class ReportData:
    """Everything that a section may use. ``inputs`` is None where only scores are known."""

    scores: Scores
    comparison: Comparison | None
    inputs: Inputs | None = None
    documents: Any = None
    columns: Mapping[str, str] | None = None  # of the documents
    lexicon: Lexicon | None = None
    query_texts: Mapping[str, str] | None = None
    urls: Mapping[str, str] | None = None
    title: str = "evenrank report"
    chosen_measure: str | None = None
    chosen_system: str | None = None
    curves: Scores | None = None  # at several cut-offs
    known: PreparedEvidence | None = None  # the lists that the scores were computed on
    readable: int = READABLE
    verdicts: Sequence[Verdict] | None = None  # who is favoured, where that was judged before
    history: Sequence[tuple[str, Sequence[Verdict]]] = ()  # the same by date, these last
    target: WhichTarget = None  # of the groups, where they are judged here
    candidates_depth: int = CANDIDATES_DEPTH  # of the documents found, then
    clicks: bool = False  # whether judgements come from clicks
    command: str = ""  # that was typed
    made: datetime | None = None  # when

    @cached_property
    def tables(self) -> tuple[MeasureTable, ...]:
        """One for each measure, or for the largest columns of one that has many; the main one first."""
        found = tables_of(self.scores) if self.comparison is None else self.comparison.tables
        largest = largest_columns(self.scores)
        kept = [
            table
            for table in found
            if repr(table.measure) not in largest or table.column in largest[repr(table.measure)]
        ]
        first = self._main(kept)
        return (first, *(table for table in kept if table is not first))

    @property
    def shown_tables(self) -> tuple[MeasureTable, ...]:
        return self.tables[:TABLES]

    @property
    def main(self) -> MeasureTable:
        """The table that queries are sorted by."""
        return self.tables[0]

    def _main(self, tables: Sequence[MeasureTable]) -> MeasureTable:
        if self.chosen_measure is not None:
            wanted = choose(self.scores, self.chosen_measure)
            for table in tables:
                if (table.measure, table.column) == (wanted.measure, wanted.column):
                    return table
        for table in tables:
            if any(part.family in FAIRNESS for part in table.measure.parts()):
                return table
        return tables[0]

    @property
    def systems(self) -> tuple[str, ...]:
        return self.scores.runs

    @cached_property
    def findings(self) -> Findings:
        """Who is favoured, by the verdicts that audit and gate give too."""
        return findings_of(
            self.inputs,
            self.verdicts,
            system=self.chosen_system,
            baseline=self.baseline,
            cutoff=self.main.measure.cutoff,
            target=self.target,
            depth=self.candidates_depth,
            clicks=self.clicks,
        )

    @property
    def alpha(self) -> float:
        return 0.0 if self.comparison is None else self.comparison.alpha

    @property
    def baseline(self) -> str | None:
        """The system that others are shown beside."""
        return None if self.comparison is None else self.comparison.baselines[0]

    @cached_property
    def system(self) -> str:
        """The system that is shown first: the one asked for, else the worst that is no baseline."""
        if self.chosen_system is not None:
            if self.chosen_system not in self.systems:
                listed = ", ".join(self.systems)
                raise UnknownNameError(f"no system is called {self.chosen_system!r}; there are {listed}")
            return self.chosen_system
        others = [name for name in self.systems if name != self.baseline]
        values = {
            row.run: worst_first(self.main, row.value)
            for row in self.scores.summary()
            if (row.measure, row.column) == (repr(self.main.measure), self.main.column)
        }
        known = [name for name in others if math.isfinite(values.get(name, math.nan))]
        if known:
            return min(known, key=lambda name: values[name])
        return others[0] if others else self.systems[0]

    @cached_property
    def runs(self) -> Mapping[str, Run]:
        """The systems that have one list a query."""
        runs = {} if self.inputs is None else self.inputs.runs
        return {name: run for name, run in runs.items() if isinstance(run, Run)}

    @property
    def words(self) -> WordCounts | None:
        return None if self.inputs is None else self.inputs.words

    @property
    def marking(self) -> Lexicon | None:
        """The lexicon whose words are marked in texts."""
        return self.lexicon or (None if self.words is None else self.words.lexicon)

    @property
    def tokenizer(self) -> str:
        return "word" if self.words is None else self.words.tokenizer

    @cached_property
    def depth(self) -> int:
        """How many ranks of a list are shown: as many as count, within reason."""
        depths = [table.measure.cutoff for table in self.tables if table.measure.cutoff is not None]
        return min(DEEPEST, max(depths, default=DEPTH))

    @cached_property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """The categories of every query that has any."""
        own = None if self.inputs is None else self.inputs.categories
        return {
            query: (names,) if isinstance(names, str) else tuple(names)
            for query, names in (own or {}).items()
        }

    def query_text(self, query: str) -> str:
        return "" if self.query_texts is None else self.query_texts.get(query, "")

    def query_reason(self, query: str) -> str:
        """Why the query was chosen, as its query set says."""
        reasons = None if self.inputs is None else self.inputs.query_reasons
        return "" if reasons is None else reasons.get(query, "")


def check_options(material: ReportData) -> None:
    """What is wrong with the options, said before anything is drawn."""
    if not material.scores.blocks:
        raise ParameterError("there are no scores to report")
    if not isinstance(material.title, str):
        raise InputTypeError(f"title is a string, got {type(material.title).__name__}")
    if material.lexicon is not None and not isinstance(material.lexicon, Lexicon):
        raise InputTypeError(f"lexicon= takes what read_lexicon gives, got {type(material.lexicon).__name__}")
    for option, value in (("query_texts", material.query_texts), ("urls", material.urls)):
        if value is not None and not isinstance(value, Mapping):
            raise InputTypeError(f"{option} is a mapping from ids to strings, got {type(value).__name__}")
    if material.documents is not None and not material.runs:
        raise ParameterError(
            "documents belong to ranked lists, and scores alone have none: compare runs, not Scores"
        )
    asked = {query for block in material.scores.blocks for query in block.query_ids}
    if material.query_texts and asked.isdisjoint(material.query_texts):
        raise DataError("query_texts= (--queries) has the text of none of the queries: are ids the same?")
    readable = material.readable
    if isinstance(readable, bool) or not isinstance(readable, int) or readable < 0:
        raise ParameterError(f"readable must be an integer >= 0, got {readable!r}")
    _ = material.main, material.system  # both may be misnamed


def worst_first(table: MeasureTable, value: float) -> float:
    """A key that sorts the value farthest from good first; of signed values the largest, on either side."""
    return -value if table.measure.direction is Direction.NONE else table.measure.goodness(value)


def best_first(table: MeasureTable, value: float) -> float:
    if table.measure.direction is Direction.NONE:
        return -value
    return -worst_first(table, value)
