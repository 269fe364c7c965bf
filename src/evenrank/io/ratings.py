"""Ratings as judgements: how much a user likes an item, as recommenders have it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from evenrank.data.qrels import Qrels
from evenrank.errors import PROBLEMS_SHOWN, DataError, ParameterError
from evenrank.io.tables import Role, read_roles, the_table

TOLERANCE = 1e-9
ROLES = (
    Role("query", called="user"),
    Role("document", called="item"),
    Role("grade", "number", called="rating"),
)


def read_ratings(
    source: object,
    *,
    step: float | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Qrels:
    """Judgements from a table of user, item and rating: a user is a query, an item a document.

    A rating is a grade as it is, 3.5 stars the grade 3.5. With ``step`` grades are whole: the number of steps
    in a rating, so that with steps of a half 3.5 stars are the grade 7, as measures by other tools need it.
    Measures with linear gain, as nDCG and RBP, do not depend on the step; ERR does.

    >>> rated = {"user": ["u1", "u1"], "item": ["m1", "m2"], "rating": [3.5, 5.0]}
    >>> read_ratings(rated).to_dict()
    {'u1': {'m2': 5.0, 'm1': 3.5}}
    >>> read_ratings(rated, step=0.5).to_dict()
    {'u1': {'m2': 10, 'm1': 7}}
    """
    number = isinstance(step, (int, float)) and not isinstance(step, bool) and math.isfinite(step)
    if step is not None and not (number and step > 0):
        raise ParameterError(f"step must be a number > 0, got {step!r}")
    table = the_table(source, "ratings", format=format, mapping=("user", "item", "rating"))
    found = read_roles(table, ROLES, columns)
    ratings, report = found["grade"], table.report
    grades = ratings
    if step is not None:
        with np.errstate(over="ignore", invalid="ignore"):  # grades that are too large are refused below
            steps = ratings / step
            grades = np.round(steps)
            broken = np.flatnonzero(np.abs(steps - grades) > TOLERANCE)
        for row in broken[: PROBLEMS_SHOWN + 1].tolist():
            report.add(
                row,
                f"rating {ratings[row]:g} is not a multiple of {step:g}: name the step that ratings come in, "
                "step=0.1 (step = 0.1 in the project file)",
            )
        report.check()
    try:
        return Qrels.build(found["query"], found["document"], grades, source=table.name, fractions=True)
    except DataError as error:
        raise report.relocated(error) from None
