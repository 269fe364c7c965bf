"""What must be known to read scores, each thing once, with the runs and the measures that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from evenrank.errors import counted
from evenrank.measures.base import EXTREMES
from evenrank.scores.columns import largest_columns
from evenrank.scores.names import arrow

if TYPE_CHECKING:
    from evenrank.scores.scores import Scores, SummaryRow

COMPUTED_AS = " was computed as "
INFORMED = "reads the judgements"
INFORMED_MEANS = (
    f"{INFORMED}: ordered by the judgements that also score it, which no system has when it answers: a "
    "bound, not a choice"
)
SHOWN = 5  # notes, where somebody may ask for the others

Notes = dict[str, dict[str, list[str]]]  # what -> run -> measures


def grouped_notes(scores: Scores, limit: int | None = SHOWN, *, rest: str = "--notes") -> list[str]:
    """The notes of an evaluation as lines, each once, after the runs and the measures that it is about.

    With a ``limit``, notes that differ in their numbers alone are one line, at most so many lines are given,
    and one more says how many notes there are besides and how to get them (``rest``).
    """
    return _limited(_lines(_notes(scores), scores.runs, all_runs="all runs"), scores.runs, limit, rest)


def remarks(
    scores: Scores, *, notes: bool = True, limit: int | None = None, bounds: bool = True
) -> list[str]:
    """What must be known to read the values of a table: why some are missing, what names and signs mean.

    ``limit`` is for the notes of the evaluation, which may be many. Without ``bounds`` the table says itself
    what reads the judgements.
    """
    said: Notes = {}
    largest = largest_columns(scores)
    for row in scores.summary():
        for what in _row_notes(row):
            named = said.setdefault(what, {}).setdefault(row.run, [])
            name = scores.names.of(row.measure, "" if row.measure in largest else row.column)
            if name not in named:
                named.append(name)
    for measure, columns in largest.items():
        said[columns.describe()] = {run: [scores.names.of(measure)] for run in scores.runs}
    lines = [*_lines(said, scores.runs), *(informed_notes(scores) if bounds else ())]
    if notes:
        lines += _limited(_lines(_notes(scores), scores.runs), scores.runs, limit, "see notes")
    directions = dict.fromkeys(row.direction for row in scores.summary())
    signs = [f"{arrow(direction)} {direction}" for direction in directions if arrow(direction)]
    return lines + scores.names.notes() + signs


def informed_notes(scores: Scores) -> list[str]:
    """Which runs read the judgements that score them, in one line; none where no run does."""
    named = ", ".join(run for run in scores.runs if run in scores.informed)
    return [f"{named}: {INFORMED_MEANS}"] if named else []


def _notes(scores: Scores) -> Notes:
    """The notes of the runs; what begins with the name of a measure is about that measure."""
    said: Notes = {}
    names = [repr(measure) for measure in scores.measures]
    for run, texts in scores.notes.items():
        for text in texts:
            measure = next((name for name in names if text.startswith(f"{name}: ")), "")
            what = text.removeprefix(f"{measure}: ") if measure else text
            about = said.setdefault(what, {}).setdefault(run, [])
            about += [scores.names.of(measure)] if measure else []
    return said


def _lines(said: Notes, runs: Sequence[str], all_runs: str = "") -> list[str]:
    """``runs: measures: what``; runs are left out, or called ``all_runs``, where it is about all of them."""
    lines = []
    for what, measures_of in said.items():
        runs_of: dict[str, list[str]] = {}
        for run, measures in measures_of.items():
            runs_of.setdefault(", ".join(measures), []).append(run)
        for listed, those in runs_of.items():
            every = len(those) == len(runs) and (not all_runs or len(runs) > 1)
            whose = all_runs if every else ", ".join(those)
            lines.append(": ".join(filter(None, (whose, listed, what))))
    return lines


def _limited(lines: list[str], runs: Sequence[str], limit: int | None, rest: str) -> list[str]:
    lines, defaults = _without_defaults(lines)
    if limit is None:
        return lines + defaults
    shown = list(_alike(lines, runs))
    more = len(lines) - min(limit, len(shown))
    return (
        shown[:limit] + defaults + ([f"{counted(more, 'more note', 'more notes')}: {rest}"] if more else [])
    )


def _without_defaults(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The other notes, and one footnote that says what measures that leave something open have become."""
    decided = [line.removeprefix("all runs: ") for line in lines if COMPUTED_AS in line]
    others = [line for line in lines if COMPUTED_AS not in line]
    return others, ["; ".join(decided)] if decided else []


def _alike(lines: Iterable[str], runs: Sequence[str]) -> Iterator[str]:
    """Of lines about single runs that differ in their numbers alone, the first, and how many are like it."""
    found: dict[str, list[str]] = {}
    for line in lines:
        run = next((run for run in runs if line.startswith(f"{run}: ")), "")
        text = line.removeprefix(f"{run}: ") if run else line
        found.setdefault(re.sub(r"\d[\d,.]*", "0", text) if run else line, []).append(line)
    for first, *others in found.values():
        likewise = counted(len(others), "other run", "other runs")
        yield f"{first} (likewise, with other numbers, for {likewise})" if others else first


def _row_notes(row: SummaryRow) -> Iterator[str]:
    if row.undefined:
        reasons = ", ".join(f"{reason} ({count})" for reason, count in row.undefined.items())
        yield f"undefined for {sum(row.undefined.values())} of {row.queries} queries: {reasons}"
    if row.infinite:
        yield f"infinite for {row.infinite} of {row.queries} queries, {_infinite_means(row)}"
    if row.interval_note and row.defined:
        yield row.interval_note
    if row.aggregation != "mean":
        yield f"the value is the {row.aggregation} over queries, not the mean"


def _infinite_means(row: SummaryRow) -> str:
    if row.aggregation in EXTREMES:
        return f"which the {row.aggregation} takes into account"
    if not row.defined:
        return "so the mean is infinite, too"
    return "which the mean leaves out: it is over the other queries alone"
