"""An audit end to end: ask, read, judge, compare, advise, and write it all into one dated folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.auditing.commands import with_commands
from evenrank.auditing.history import LATEST, RUNS, SUMMARY, dated_name, point_to
from evenrank.auditing.lines import audit_lines
from evenrank.auditing.preparing import prepared, read_known
from evenrank.auditing.sources import (
    UNFINISHED,
    AskedEngine,
    EngineSource,
    ask_all,
    check_answered,
    file_name,
    queries_to_ask,
)
from evenrank.auditing.summary import AuditSummary, date_text, past_summaries
from evenrank.data.attribute import CANDIDATES
from evenrank.data.run import Run
from evenrank.errors import DataError, MissingExtraError, ParameterError
from evenrank.inputs import Inputs
from evenrank.inputs.description import Description
from evenrank.inputs.query_weights import unweighted_note
from evenrank.io import write_run
from evenrank.io.atomic import atomic_write, whole_folder
from evenrank.verdict import Verdict, advised, verdicts, without_verdict
from evenrank.verdict.attributes import group_attributes, with_verdict_targets
from evenrank.verdict.judge import CUTOFF, DEPTH
from evenrank.verdict.shares import share_measure
from evenrank.verdict.targets import WhichTarget
from evenrank.verdict.units import likely_units

if TYPE_CHECKING:
    from evenrank.comparison import Comparison
    from evenrank.comparison.curves import ScoresAndCurves
    from evenrank.measures import Measure
    from evenrank.scores import Scores

SCORES, REPORT, ANSWERS = "scores.jsonl", "report.html", "answers"
TITLE = "evenrank audit"

Step = Callable[[str], Any]  # told what begins; gives a context that progress is told to


@dataclass(frozen=True)
class AuditRequest:
    """What to audit, and how."""

    known: Description
    engines: tuple[EngineSource, ...] = ()
    target: WhichTarget = None
    depth: int = DEPTH
    cutoff: int = CUTOFF
    keep_texts: bool = False
    command: str = ""  # as it was typed, for the report
    project: str | None = None  # the project file that was named on the command line
    held: Mapping[str, Any] = field(default_factory=dict)  # in memory, as ``Inputs`` takes it
    clicks: bool = False  # what is held as judgements was made of clicks


@dataclass(frozen=True)
class Audit:
    """What was found, and the folder that it was written to."""

    summary: AuditSummary
    folder: Path
    inputs: Inputs
    scores: Scores
    reported: bool  # whether there is a report: it needs an extra
    previous: AuditSummary | None = None  # the audit before
    linked: bool = False  # whether the folder can be named as that of the last audit

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return self.summary.verdicts

    def lines(self) -> list[str]:
        """What is printed."""
        what = REPORT if self.reported else SUMMARY
        names = (str(self.folder), str(self.folder.with_name(LATEST))) if self.linked else ("", "")
        return audit_lines(self.summary, self.folder / what, previous=self.previous, renamed=names)

    def report(self, path: str | PathLike[str]) -> None:
        """Write the report that is in the folder of the audit to another place."""
        from evenrank.reporting.figures.style import load_altair

        load_altair()  # without which there is none
        with atomic_write(path) as file:
            file.write((self.folder / REPORT).read_bytes())

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def make_audit(
    request: AuditRequest,
    output: str | PathLike[str],
    *,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    step: Step = lambda _: nullcontext(None),
) -> Audit:
    """Make the audit and write it into a new folder below ``output``, which is whole or not there."""
    root = Path(output)
    asked: list[AskedEngine] = []
    queries: dict[str, Any] = {}
    unfinished = root / UNFINISHED
    with step("reading"):
        read = read_known(request.known, request.held, engines=bool(request.engines))
    if request.engines:
        queries = queries_to_ask(request.held.get("queries", request.known.queries))
        texts = queries["query_texts"]
        with step("asking") as progress:
            asked = ask_all(
                request.engines, texts, depth=request.depth, log=unfinished, keep_texts=request.keep_texts,
                progress=progress,
            )  # fmt: skip
        check_answered(asked, len(texts), unfinished)
    with step("judging"):
        inputs, catalogue = prepared(read, asked, queries), read.catalogue
        options: dict[str, Any] = {"cutoff": request.cutoff, "depth": request.depth}
        found = verdicts(
            inputs,
            target=request.target,
            catalogue=catalogue,
            clicks=request.clicks or request.known.clicked,
            **options,
        )
        found = advised(found, inputs)
        comparison, computed = _scored(request, inputs, found, catalogue=catalogue)
    date, said = now(), computed.scores.notes_by_run.values()
    notes = (
        *request.known.notes,
        *(note for one in asked for note in one.notes),
        *dict.fromkeys(str(note) for own in said for note in own if note.kind == "spelling"),
        *without_verdict(inputs),
        *likely_units(inputs, request.known.groups),
        *unweighted_note(inputs.query_weights, computed.scores.measures),
        *_notes(found),
    )
    summary = AuditSummary(
        date=date_text(date),
        systems=tuple(inputs.runs),
        queries=max((verdict.queries for verdict in found), default=0),
        verdicts=found,
        engines={one.name: dict(one.provenance) for one in asked},
        notes=tuple(dict.fromkeys(notes)),
    )
    past = past_summaries(root)
    folder = _new_folder(root, date)
    with step("writing"), whole_folder(folder) as new:
        _write_runs(inputs, new / RUNS)
        summary = replace(
            summary, verdicts=with_commands(found, inputs, folder, new, request.known.qrels, request.project)
        )
        computed.scores.write(new / SCORES)
        reported = _write_report(new / REPORT, request, inputs, computed, comparison, (*past, summary))
        summary.write(new / SUMMARY)
        for one in asked:
            if one.log is not None:
                shutil.copytree(one.log, new / ANSWERS / one.log.name)
    linked = point_to(folder)
    _forget(asked, unfinished)
    previous = past[-1] if past else None
    return Audit(summary, folder, inputs, computed.scores, reported, previous, linked)


def _forget(asked: Sequence[AskedEngine], unfinished: Path) -> None:
    """Remove the answers that are in the audit now. Those of an engine that failed for a query stay."""
    for one in asked:
        if one.log is not None and one.whole:
            shutil.rmtree(one.log)
    if unfinished.is_dir() and not any(unfinished.iterdir()):
        unfinished.rmdir()


def _notes(found: Sequence[Verdict]) -> list[str]:
    from evenrank.verdict.sentences import describe_small_groups

    return [note for verdict in found for note in (*verdict.notes, describe_small_groups(verdict)) if note]


def _scored(
    request: AuditRequest, inputs: Inputs, found: Sequence[Verdict], *, catalogue: bool
) -> tuple[Comparison | None, ScoresAndCurves]:
    """Scores by measures that are chosen by what is known, compared where there are several systems."""
    from evenrank.comparison import compare
    from evenrank.comparison.curves import evaluate_with_curves
    from evenrank.inputs.default_measures import default_measures
    from evenrank.measures import parse_measures

    first = next(iter(inputs.runs.values()))
    groups = group_attributes(replace(inputs, words=None))
    known = with_verdict_targets(
        replace(inputs, groups=groups, background=None, background_depth=None),
        request.target,
        request.depth,
        catalogue=catalogue,
    )
    if known.background is None and isinstance(first, Run):
        known = replace(known, background=first)
    of_runs = [
        verdict.attribute for verdict in found if verdict.target == CANDIDATES
    ]  # they differ by system
    of_runs += [one.attribute.name for one in known.groups if one.needs_pool]
    if known.words is not None and catalogue and not of_runs:  # else it would take the place of their pools
        known = replace(known, background="collection")
    try:
        measures_known = default_measures(known, request.cutoff)
    except ParameterError as error:
        if not inputs.groups:
            raise
        raise ParameterError("; ".join(without_verdict(inputs))) from error  # groups, and none can be judged
    chosen = [
        measure.name
        for measure in measures_known
        if len(inputs.runs) == 1 or not any(f"GF(attr={name!r})" in measure.name for name in of_runs)
    ]
    shares = [share_measure(one.attribute.name, request.cutoff) for one in known.groups]
    measures: list[str | Measure] = [*chosen, *shares]
    computed = evaluate_with_curves(known, parse_measures(measures))
    return compare(computed.scores) if len(inputs.runs) > 1 else None, computed


def _write_runs(inputs: Inputs, folder: Path) -> None:
    folder.mkdir()
    for name, run in inputs.runs.items():
        if not isinstance(run, Run):
            continue
        try:
            write_run(run, folder / f"{file_name(name)}.trec", tag=file_name(name))
        except DataError:  # an id with a blank, which a shop may have and a TREC file cannot
            write_run(run, folder / f"{file_name(name)}.parquet")


def _write_report(
    path: Path,
    request: AuditRequest,
    inputs: Inputs,
    computed: ScoresAndCurves,
    comparison: Comparison | None,
    history: Sequence[AuditSummary],
) -> bool:
    try:
        from evenrank.reporting.figures.style import load_altair
        from evenrank.reporting.page import write_report

        load_altair()
    except MissingExtraError:
        return False
    columns = None if request.known.documents is None else request.known.documents.get("columns")
    write_report(
        path,
        computed.scores,
        comparison=comparison,
        computed=computed,
        inputs=inputs,
        documents=inputs.documents,
        columns=columns,
        query_texts=inputs.query_texts,
        title=TITLE,
        verdicts=history[-1].verdicts,
        history=[(one.date, one.verdicts) for one in history],
        command=request.command,
    )
    return True


def _new_folder(root: Path, date: datetime) -> Path:
    """A name that no audit has: two in one second are told apart."""
    name = dated_name(date)
    for number in range(1, 1000):
        folder = root / (name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            return folder
    raise DataError(f"{root}: has too many audits of one second")
