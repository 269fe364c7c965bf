"""What must be known to read scores: notes as values, and the lines that a command or a table has of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from evenrank.errors import counted, for_reader
from evenrank.measures.base import EXTREMES
from evenrank.scores.columns import describe_columns, largest_columns
from evenrank.scores.names import arrow

if TYPE_CHECKING:
    from evenrank.scores.scores import Scores, SummaryRow

# Kinds of notes, and whether they change how the numbers beside them are to be read. Where a default did what
# its documentation says, or what somebody asked for was done, they do not.
CHANGES_READING = {
    "queries": True,  # that were asked for, ranked or judged, and not all of these
    "spelling": True,  # ids and labels that differ from others by case or blanks alone
    "ties": True,  # equal scores, whose order is that of a rule
    "judged": True,  # whether any ranked document is
    "missing": True,  # documents without evidence
    "rankings": True,  # queries that are undefined in some of their rankings
    "polarity": True,
    "intents": True,
    "target": True,  # what groups are compared with
    "sides": True,  # which side a sign is
    "weights": True,
    "gap": True,  # between categories of queries
    "measure": True,  # what the kernel of a measure has to say
    "joined": True,  # scores of several evaluations
    "said": True,  # read from a file
    "background": False,
    "words": False,
    "groups": False,
    "computed": False,  # what a measure that leaves something open has become
    "aside": False,  # read from a file, and of a kind that changes nothing
}
SHOWN = 5  # notes in Python, where somebody may ask for the others

INFORMED = "reads the judgements"
INFORMED_MEANS = (
    f"{INFORMED}: ordered by the judgements that also score it, which no system has when it answers: a "
    "bound, not a choice"
)


class ScoresNote(NamedTuple):
    """Something that a reader should know of the scores of a run."""

    kind: str  # one of ``CHANGES_READING``
    text: str
    measure: str = ""  # that it is about; else it is about the lists of the run
    about: str = ""  # what notes of one kind differ in, besides their numbers: a source of evidence

    @property
    def changes_reading(self) -> bool:
        return CHANGES_READING[self.kind]

    def __str__(self) -> str:
        return for_reader(f"{self.measure}: {self.text}" if self.measure else self.text)


class _NoteLine(NamedTuple):
    """A note once, with all the runs and the measures that it is about."""

    note: ScoresNote
    runs: tuple[str, ...]
    measures: str


def note_lines(
    scores: Scores,
    *,
    all_notes: bool = True,
    limit: int | None = None,
    everywhere: str = "all runs",
    rest: str = "--notes",
) -> list[str]:
    """The notes of an evaluation as lines, each once, after the runs and the measures that it is about.

    Unless ``all_notes`` are wanted, there are those that change how values are to be read, and what single
    runs share but for its numbers is one line. Another line counts the others, and says how to get them
    (``rest``). ``everywhere`` stands for all runs where there are several; without it nothing does.
    """
    named = scores.names.of
    lines = list(
        _lines(
            {
                run: [note._replace(measure=note.measure and named(note.measure)) for note in notes]
                for run, notes in scores.notes_by_run.items()
            }
        )
    )
    if all_notes:
        plain = [_worded(line, scores, everywhere) for line in lines if line.note.kind != "computed"]
        became = [_worded(line, scores, "") for line in lines if line.note.kind == "computed"]
        return plain + (["; ".join(became)] if became else [])
    alike: dict[object, list[_NoteLine]] = {}
    for line in lines:
        if line.note.changes_reading:
            one = len(line.runs) == 1 and len(scores.runs) > 1
            same = (line.note.kind, line.note.about, line.measures)
            alike.setdefault(same if one and line.note.about else line, []).append(line)
    shown = []
    for first, *more in alike.values():
        likewise = f" (likewise, with other numbers, for {counted(len(more), 'other run', 'other runs')})"
        shown.append(_worded(first, scores, everywhere) + likewise * bool(more))
    left = len(lines) - sum(map(len, [*alike.values()][:limit]))
    what = "more note" if shown else "note"
    return shown[:limit] + ([f"{counted(left, what, what + 's')}: {rest}"] if left else [])


def _lines(notes_by_run: Mapping[str, Iterable[ScoresNote]]) -> Iterator[_NoteLine]:
    """Each note once, with the runs that have it of the same measures."""
    found: dict[ScoresNote, dict[str, dict[str, None]]] = {}  # without its measure -> run -> measures
    for run, notes in notes_by_run.items():
        for note in notes:
            measures = found.setdefault(note._replace(measure=""), {}).setdefault(run, {})
            measures |= {note.measure: None} if note.measure else {}
    for note, by_run in found.items():
        runs_of: dict[str, list[str]] = {}
        for run, measures in by_run.items():
            runs_of.setdefault(", ".join(measures), []).append(run)
        yield from (_NoteLine(note, tuple(runs), listed) for listed, runs in runs_of.items())


def _worded(line: _NoteLine, scores: Scores, everywhere: str) -> str:
    several = len(scores.runs) > 1
    whose = (everywhere if several else "") if len(line.runs) == len(scores.runs) else ", ".join(line.runs)
    return ": ".join(filter(None, (whose, line.measures, line.note.text)))


def remarks(
    scores: Scores, *, notes: bool = True, limit: int | None = None, bounds: bool = True
) -> list[str]:
    """What must be known to read the values of a table: why some are missing, what names and signs mean.

    ``limit`` is for the notes of the evaluation, which may be many. Without ``bounds`` the table says itself
    what reads the judgements.
    """
    largest, rows = largest_columns(scores), scores.summary()
    said: dict[str, list[ScoresNote]] = {}
    for row in rows:
        name = scores.names.of(row.measure, "" if row.measure in largest else row.column)
        said.setdefault(row.run, []).extend(ScoresNote("measure", what, name) for what in _row_notes(row))
    lines = [_worded(line, scores, "") for line in _lines(said)]
    lines += describe_columns(scores)
    lines += informed_notes(scores) if bounds else []
    if notes:
        whole = limit is None
        lines += note_lines(scores, all_notes=whole, limit=limit, everywhere="", rest="see notes")
    directions = dict.fromkeys(row.direction for row in rows)
    signs = [f"{arrow(direction)} {direction}" for direction in directions if arrow(direction)]
    return lines + scores.names.notes() + signs


def informed_notes(scores: Scores) -> list[str]:
    """Which runs read the judgements that score them, in one line; none where no run does."""
    named = ", ".join(run for run in scores.runs if run in scores.informed)
    return [f"{named}: {INFORMED_MEANS}"] if named else []


def _row_notes(row: SummaryRow) -> Iterator[str]:
    if row.undefined:
        reasons = ", ".join(f"{reason} ({count})" for reason, count in row.undefined.items())
        yield f"undefined for {sum(row.undefined.values())} of {row.queries} queries: {reasons}"
    if row.infinite:
        means = "which the mean leaves out: it is over the other queries alone"
        if row.aggregation in EXTREMES:
            means = f"which the {row.aggregation} takes into account"
        elif not row.defined:
            means = "so the mean is infinite, too"
        yield f"infinite for {row.infinite} of {row.queries} queries, {means}"
    if row.interval_note and row.defined:
        yield row.interval_note
    if row.aggregation != "mean":
        yield f"the value is the {row.aggregation} over queries, not the mean"
