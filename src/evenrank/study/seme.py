"""The search engine manipulation effect: do opinions after reading follow the side that a list favours?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.errors import DataError, InputTypeError

POOLED = "all corpora"
LEVEL = 0.95


class Effect(NamedTuple):
    """One regression ``posterior ~ 1 + prior + signed DUO``; the coefficient is that of signed DUO."""

    corpus: str
    trials: str  # "all", or "clicked": those in which something was read
    size: int
    coefficient: float
    low: float
    high: float
    p: float
    r_squared: float
    undefined: str | None = None


def seme(trials: Any) -> tuple[Effect, ...]:
    """The effect of a list's leaning on opinion, over all trials and over those with a click, by corpus.

    ``trials`` is a table (pandas, polars, Arrow) or a dict of columns: ``posterior``, ``prior``, ``duo``
    (signed), and perhaps ``clicked`` and ``corpus``. Ordinary least squares with an intercept; the interval
    is that of the t distribution.

    >>> effect, = seme({"posterior": [1, 2, 3, 5], "prior": [0, 1, 0, 1], "duo": [-1.0, -0.4, 0.5, 1.0]})
    >>> round(effect.coefficient, 3), effect.size
    (1.71, 4)
    """
    columns = _columns(trials)
    corpora = columns.get("corpus")
    groups = {POOLED: np.ones(len(columns["prior"]), dtype=bool)}
    if corpora is not None:
        names = list(dict.fromkeys(corpora.tolist()))
        if len(names) > 1:
            groups = {str(name): corpora == name for name in names} | groups
        else:
            groups = {str(names[0]): groups[POOLED]}
    effects = []
    for corpus, rows in groups.items():
        effects.append(_effect(corpus, "all", columns, rows))
        if "clicked" in columns:
            effects.append(_effect(corpus, "clicked", columns, rows & (columns["clicked"] > 0)))
    return tuple(effects)


def _effect(corpus: str, name: str, columns: Mapping[str, Any], rows: npt.NDArray[np.bool_]) -> Effect:
    posterior, prior, duo = (columns[role][rows] for role in ("posterior", "prior", "duo"))
    count = len(posterior)
    design = np.column_stack([np.ones(count), prior, duo])
    why = None
    if count < 4:
        why = "fewer than four trials"
    elif np.linalg.matrix_rank(design) < 3:
        why = "prior or signed DUO does not vary, or one follows from the other"
    if why is not None:
        nan = float("nan")
        return Effect(corpus, name, count, nan, nan, nan, nan, nan, why)
    from scipy.special import stdtr, stdtrit

    solution, *_ = np.linalg.lstsq(design, posterior, rcond=None)
    residual = posterior - design @ solution
    freedom = count - 3
    error = float(residual @ residual)
    total = float(((posterior - posterior.mean()) ** 2).sum())
    deviation = float(np.sqrt(error / freedom * np.linalg.inv(design.T @ design)[2, 2]))
    coefficient = float(solution[2])
    half = float(stdtrit(freedom, (1 + LEVEL) / 2)) * deviation
    p = float(2 * stdtr(freedom, -abs(coefficient) / deviation)) if deviation > 0 else 0.0
    r_squared = 1 - error / total if total > 0 else float("nan")
    return Effect(corpus, name, count, coefficient, coefficient - half, coefficient + half, p, r_squared)


def _columns(trials: Any) -> dict[str, Any]:
    if isinstance(trials, Mapping):
        given: dict[str, Any] = dict(trials)
    elif hasattr(trials, "columns") or hasattr(trials, "column_names"):
        names: Sequence[str] = list(getattr(trials, "column_names", None) or trials.columns)
        given = {str(name): trials[name] for name in names}
    else:
        raise InputTypeError(f"trials must be a table or a dict of columns, got {type(trials).__name__}")
    lacking = [role for role in ("posterior", "prior", "duo") if role not in given]
    if lacking:
        raise DataError(f"trials: no column {lacking[0]!r}; there are {', '.join(map(repr, given))}")
    columns: dict[str, Any] = {}
    for role in ("posterior", "prior", "duo", "clicked"):
        if role in given:
            columns[role] = _numbers(given[role], role)
    if "corpus" in given:
        columns["corpus"] = np.array([str(name) for name in _listed(given["corpus"])], dtype=object)
    sizes = {role: len(values) for role, values in columns.items()}
    if len(set(sizes.values())) > 1:
        raise DataError(f"trials: columns of different length: {sizes}")
    if not sizes["prior"]:
        raise DataError("trials: there are none")
    return columns


def _numbers(values: Any, role: str) -> Floats:
    try:
        numbers = np.asarray(_listed(values), dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"trials: {role} must be numbers") from None
    broken = np.flatnonzero(~np.isfinite(numbers))
    if len(broken):
        raise DataError(f"trials: row {int(broken[0]) + 1}: {role} is not finite")
    return numbers


def _listed(values: Any) -> list[Any]:
    listed: list[Any] = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    return listed
