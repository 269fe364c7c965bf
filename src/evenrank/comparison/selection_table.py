"""What each beta chooses, as a table."""

from __future__ import annotations

import math
from typing import Any

from evenrank.comparison.selection import Choice, Choices, Outcome
from evenrank.scores.notes import INFORMED, INFORMED_MEANS
from evenrank.tables import Column, Table, Value

MARKS = {"better": "+", "worse": "-", "": " "}


def choice_table(found: Choices) -> Table:
    """The baseline, then one row for each beta: what it chooses, and what those choices are worth."""
    first = found.rows[0]
    baseline = (
        "",
        found.baseline,
        "(baseline)",
        *(Value(outcome.baseline) for outcome in _outcomes(first).values()),
        found.queries,
        "",
    )
    measures = (found.fairness, found.relevance, *found.others)
    bounds = (
        ("", one.name, INFORMED, *(Value(one.values[name]) for name in measures), found.queries, "")
        for one in found.bounds
    )
    return Table.of(
        [
            "beta",
            "chosen",
            "chosen by fold",
            *map(found.names.of, measures),
            "n",
            Column("free gain", right=False),
        ],
        (baseline, *(_cells(found, row) for row in found.rows), *bounds),
        words=3,
        notes=_notes(found),
        records=(*(_record(found, row) for row in found.rows), *_bound_records(found)),
        meaning=(
            "The larger beta is, the more fairness counts; a row shows the run that is chosen then, "
            "and the cross-validated values of choosing so, which are not its own where folds choose another."
        ),
    )


def _outcomes(row: Choice) -> dict[str, Outcome]:
    return {"fairness": row.fairness, "relevance": row.relevance, **row.others}


def _cells(found: Choices, row: Choice) -> tuple[Any, ...]:
    values = (Value(outcome.value, after=MARKS[outcome.verdict]) for outcome in _outcomes(row).values())
    return (beta_text(row.beta), row.chosen, row.folds(), *values, found.queries, row.acceptable)


def beta_text(beta: float) -> str:
    """
    >>> beta_text(0.2), beta_text(math.inf)
    ('0.2', 'inf')
    """
    return "inf" if math.isinf(beta) else f"{beta:g}"


def _notes(found: Choices) -> tuple[str, ...]:
    dropped = f"; {found.dropped} without a value of every system left out" if found.dropped else ""
    stretches = " and ".join(
        beta_text(low) if low == high else f"{beta_text(low)} to {beta_text(high)}"
        for low, high in found.ranges
    )
    same = f"; none for rows that choose {found.baseline} itself: there is nothing new to take" * any(
        row.chosen == found.baseline for row in found.rows
    )
    return (
        "beta 0 looks at relevance alone, inf at fairness alone; chosen: by all queries; values are "
        "cross-validated: each query is scored by the run chosen without its fold, over "
        f"{found.queries} queries in {found.folds} folds, seed {found.seed}{dropped}",
        f"+ better, - worse than {found.baseline}: paired t-test, p < {found.alpha:g}; "
        f"free gain: significantly fairer, and nothing significantly worse{same}",
        f"betas that gain fairness without a significant loss: {stretches or 'none of these'}",
        *([INFORMED_MEANS] if found.bounds else []),
        *found.names.notes(),
    )


def _record(found: Choices, row: Choice) -> dict[str, Any]:
    record: dict[str, Any] = {
        "beta": beta_text(row.beta),
        "chosen": row.chosen,
        "by_fold": ", ".join(row.by_fold),
        "baseline": found.baseline,
    }
    names = {"fairness": found.fairness, "relevance": found.relevance}
    for kind, outcome in _outcomes(row).items():
        name = names.get(kind, kind)
        record |= {
            name: outcome.value,
            f"{name} baseline": outcome.baseline,
            f"{name} p": outcome.p_value,
            f"{name} verdict": outcome.verdict,
        }
    return record | {"acceptable": row.acceptable, "queries": found.queries, "reads_judgements": False}


def _bound_records(found: Choices) -> list[dict[str, Any]]:
    """What no beta chooses: the columns of the rows of betas, filled as far as it has them."""
    empty = dict.fromkeys(_record(found, found.rows[0]))
    own = {"acceptable": False, "queries": found.queries, "reads_judgements": True}
    return [{**empty, "chosen": one.name, **one.values, **own} for one in found.bounds]
