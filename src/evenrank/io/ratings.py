"""Ratings as judgements: how much a user likes an item, as recommenders have it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from evenrank.data.qrels import Qrels
from evenrank.errors import PROBLEMS_SHOWN, DataError, InputTypeError, ParameterError
from evenrank.io.cells import id_cells, score_cells
from evenrank.io.tables import any_table

TOLERANCE = 1e-9
ACCEPTED = {
    "query": ("user", "user_id", "userId", "userid", "query", "query_id"),
    "document": ("item", "item_id", "itemId", "movieId", "movie_id", "movie", "document", "doc_id"),
    "grade": ("rating", "stars", "grade"),
}


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
    if step is not None and not _is_step(step):
        raise ParameterError(f"step must be a number > 0, got {step!r}")
    given = pa.table(dict(source)) if isinstance(source, Mapping) else source
    table = any_table(given, "ratings", "ratings", format=format)
    if table is None:
        raise InputTypeError(f"ratings are read from a path or a table, got {type(source).__name__}")
    frame, report, _, name = table
    chosen = {role: _column(role, frame.names, columns or {}, name) for role in ACCEPTED}
    users = id_cells(frame.column(chosen["query"]), "user", report)
    items = id_cells(frame.column(chosen["document"]), "item", report)
    ratings = score_cells(frame.column(chosen["grade"]), report, "rating", text=frame.text)
    report.check()
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
                "step=0.1 (--qrels FILE:ratings:step=0.1)",
            )
        report.check()
    try:
        return Qrels.build(users.to_pylist(), items.to_pylist(), grades, source=name, fractions=True)
    except DataError as error:
        raise report.relocated(error) from None


def _is_step(step: object) -> bool:
    return isinstance(step, (int, float)) and not isinstance(step, bool) and math.isfinite(step) and step > 0


def _column(role: str, names: list[str] | tuple[str, ...], given: Mapping[str, str], source: str) -> str:
    wanted = given.get(role)
    found = [wanted] if wanted in names else [name for name in names if name in ACCEPTED[role]]
    if len(found) == 1 and found[0] is not None:
        return found[0]
    words = {"query": "user", "document": "item", "grade": "rating"}
    known = ", ".join(ACCEPTED[role])
    raise DataError(
        f"{source}: no single column of {words[role]}s ({known}); the columns found are {', '.join(names)}: "
        f"name it, columns={{{role!r}: NAME}} (--columns {role}=NAME)"
    )
