"""The tables that ``evenrank study`` prints and puts on its page."""

from __future__ import annotations

from collections.abc import Sequence

from evenrank.stats.regression import ClusteredEstimate
from evenrank.study.analysis import StudyAnalysis
from evenrank.study.conditions import Study
from evenrank.study.flow import BalanceRow, FlowRow
from evenrank.study.settings import Planned
from evenrank.study.simulation import Simulated
from evenrank.tables import Table
from evenrank.tables.cells import Column, estimate, number, p_value

OLS = "OLS as published"
CR2 = "by participant and question"


def flow_table(
    rows: Sequence[FlowRow], excluded: Sequence[tuple[str, int]] = (), trials: int | None = None
) -> Table:
    shown = [[("  of these: " if row.inside else "") + row.stage, str(row.people)] for row in rows]
    records = [{"table": "flow", "stage": row.stage, "participants": row.people} for row in rows]
    if trials is not None:
        shown.append(["trials (lists that were shown)", str(trials)])
        shown += [[f"  of these, left out: {reason}", str(count)] for reason, count in excluded]
        shown.append(["trials in the regression", str(trials - sum(count for _, count in excluded))])
    return Table.of(
        ["flow", "count"], shown, records=records, meaning="How many people reached each step of the study."
    )


def balance_table(rows: Sequence[BalanceRow]) -> Table:
    return Table.of(
        ["question", "condition", "assigned", "answered"],
        [[row.question, row.condition, str(row.assigned), str(row.finished)] for row in rows],
        words=2,
        records=[{"table": "balance", **row._asdict()} for row in rows],
        meaning="How evenly people were assigned to the conditions of each question, and how many answered.",
    )


def effects_table(found: StudyAnalysis) -> Table:
    """Tables 3 and 9 of the paper: OLS as published, and beside it the errors that hold with few clusters."""
    rows, records, reasons = [], [], []
    for row in found.effects:
        ols, own = row.published, row.clustered
        why = ols.undefined or own.undefined
        name = [row.corpus, row.trials, row.encoder, str(row.step), str(ols.size)]
        if ols.undefined is None:
            name += [estimate(ols.coefficient, ols.low, ols.high), p_value(ols.p), number(ols.r_squared)]
        else:
            name += ["undefined", "", ""]
        rows.append([*name, *_clustered_cells(own)])
        if why is not None:
            reasons.append(f"{row.corpus}, {row.trials}, {row.encoder}, step {row.step}: {why}.")
        records.append(
            {
                "table": "effect", "corpus": row.corpus, "trials": row.trials, "encoder": row.encoder,
                "step": row.step, "n": ols.size, "slope": ols.coefficient, "ols_low": ols.low,
                "ols_high": ols.high, "ols_p": ols.p, "r_squared": ols.r_squared, **_clustered_record(own),
                "undefined": why,
            }
        )  # fmt: skip
    notes = [
        f"slope: points of opinion (-3 to 3) for signed DUO from 0 to 1. {OLS}: errors as if trials were "
        f"independent. {CR2}: CR2 errors, Student's t with Satterthwaite's degrees of freedom (df).",
        *reasons[:5],
        *found.notes,
    ]
    head = ["corpus", "trials", "encoder", "step", "n", f"slope, {OLS}", "p", "R2", CR2, "df", "p"]
    columns = [Column(name, right=place >= 3) for place, name in enumerate(head)]
    return Table.of(
        columns,
        rows,
        title="posterior ~ prior + signed DUO",
        notes=notes,
        records=records,
        meaning="A slope above 0: opinions move towards the side that is shown first.",
    )


def assignment_table(found: StudyAnalysis) -> Table:
    rows, records = [], []
    for row in found.assignment:
        own = row.clustered
        rows.append([row.corpus, row.trials, str(row.size), *_clustered_cells(own)])
        records.append(
            {"table": "assignment", "corpus": row.corpus, "trials": row.trials, "n": row.size,
             "effect": own.coefficient, **_clustered_record(own), "undefined": own.undefined}
        )  # fmt: skip
    note = (
        "effect: points of opinion for being shown one side first rather than both mixed. Everybody who was "
        "assigned counts, whether or not they clicked, so the groups differ by chance alone."
    )
    return Table.of(
        ["corpus", "trials", "n", f"effect, {CR2}", "df", "p"], rows, words=2,
        title="effect of assignment (intention to treat): posterior ~ prior + assigned side",
        notes=[note], records=records,
        meaning="An effect above 0: opinions move towards the side that people were assigned to see first.",
    )  # fmt: skip


def conditions_table(found: StudyAnalysis) -> Table:
    rows = [
        [row.condition, str(row.assigned), str(row.answered), number(row.prior), number(row.posterior),
         number(row.shift, signed=True)]
        for row in found.conditions
    ]  # fmt: skip
    return Table.of(
        ["condition", "assigned", "answered", "prior", "posterior", "shift"], rows,
        title="conditions (means of those who answered)",
        records=[{"table": "condition", **row._asdict()} for row in found.conditions],
        meaning="A shift tells how far opinions moved on average from before the list to after it.",
    )  # fmt: skip


def power_table(rows: Sequence[tuple[Planned, Simulated]], each: int) -> Table:
    shown = [
        [str(plan.participants), str(plan.questions), number(plan.slope), f"{one.found:.0%}",
         number(one.width), f"{one.corrected:.1%}", f"{one.plain:.1%}"]
        for plan, one in rows
    ]  # fmt: skip
    studies = rows[0][1].studies
    return Table.of(
        ["participants", "questions", "slope", "power", "width of interval", "coverage", "coverage of OLS"],
        shown, words=0, title="power at p < .05",
        notes=[
            f"{studies} simulated studies a row, {each} questions a participant. The slope differs between "
            f"questions (standard deviation {rows[0][0].slope_spread:g}), so more questions help more than "
            "more participants once each question has many.",
        ],
        records=[
            {"table": "power", "participants": plan.participants, "questions": plan.questions,
             "slope": plan.slope, "power": one.found, "width": one.width, "coverage": one.corrected,
             "ols_coverage": one.plain, "studies": one.studies}
            for plan, one in rows
        ],
        meaning="Power is the share of simulated studies that find the effect.",
    )  # fmt: skip


def _clustered_cells(own: ClusteredEstimate) -> list[str]:
    if own.undefined is not None:
        return ["undefined", "", ""]
    return [estimate(own.coefficient, own.low, own.high), f"{own.freedom:.1f}", p_value(own.p)]


def _clustered_record(own: ClusteredEstimate) -> dict[str, object]:
    return {
        "low": own.low, "high": own.high, "p": own.p, "error": own.error, "freedom": own.freedom,
        "participants": own.clusters[0], "questions": own.clusters[1],
    }  # fmt: skip


def lists_table(study: Study) -> Table:
    """What is shown: the DUO of every list by the encoder that orders it."""
    rows, records = [], []
    for (question, condition), shown in study.lists.items():
        encoder, by_step = next(iter(shown.leanings.items()))
        leaning = by_step[1]
        rows.append(
            [
                question,
                condition,
                str(len(shown.documents)),
                number(leaning.duo),
                number(leaning.signed, signed=True),
            ]
        )
        records.append(
            {"table": "list", "question": question, "condition": condition, "documents": len(shown.documents),
             "encoder": encoder, "duo": leaning.duo, "signed_duo": leaning.signed}
        )  # fmt: skip
    encoder = next(iter(next(iter(study.lists.values())).leanings))
    return Table.of(
        ["question", "condition", "documents", "DUO", "signed DUO"], rows, words=2,
        title=f"{len(study.questions)} questions, {len(study.conditions)} conditions; by {encoder!r}, step 1",
        notes=["signed DUO: positive where the side that agrees with the perspective comes first."],
        records=records,
        meaning="The further DUO is from 0, the more one opinion comes before the other in the list.",
    )  # fmt: skip
