"""Names beside points, none over another: positions in pixels, counted from the upper left corner."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.text import display_width

LETTER = 0.56  # width of most letters for a font of size 1
WIDTHS = (
    dict.fromkeys("ijl'|", 0.24)
    | dict.fromkeys("ft .,:;!I/[]", 0.28)
    | dict.fromkeys("r-()", 0.34)
    | dict.fromkeys("ckszxyvJ", 0.5)
    | {"w": 0.73, "m": 0.84}
    | dict.fromkeys("MW%@…—", 0.93)
)
ROOM = 1.06  # where none of the fonts asked for is there, letters are somewhat wider
LONGEST = 40  # letters of a name
LINE = 1.15  # height of a line for a font of size 1
POINT = 5.0  # half the side of the square that a point takes

DISTANCES = (8.0, 14.0, 22.0, 32.0, 44.0, 58.0, 74.0, 92.0)
DIRECTIONS = 16
LEADS_FROM = 13.0  # farther from its point, a name is joined to it by a line
NOT_RIGHT = 4.0  # so much nearer must a name be to stand elsewhere than at the right of its point
CROSSING = 60.0  # so much farther may a name stand whose line crosses nothing
NO_ROOM = 1000.0
NEARER = 1.5  # a name is joined to its point unless every other one is so much farther from it
TRIALS = 24  # orders in which names choose; the one that brings them nearest to their points is taken
MANY = 40  # names that are placed in one order only


class Label(NamedTuple):
    """Where a name begins, at half its height, and where its line ends, if it has one."""

    text: str
    left: float
    middle: float
    joined: tuple[float, float] | None


def shortened(text: str, most: int = LONGEST) -> str:
    """Without its middle, where it is long: runs of one team differ at the end.

    >>> shortened("a-system-with-a-name-that-never-ends-run-1", 20)
    'a-system-w…nds-run-1'
    """
    return text if len(text) <= most else text[: most // 2] + "…" + text[-(most - most // 2 - 1) :]


def text_width(text: str, size: float) -> float:
    """About how wide a text is; the font is not known here.

    >>> text_width("ill", 10) < text_width("MWW", 10) < text_width("日本語で", 10)
    True
    """
    return (
        ROOM * size * sum(WIDTHS.get(c, 0.68 if "A" <= c <= "Z" else LETTER * display_width(c)) for c in text)
    )


def place_labels(
    points: Sequence[tuple[float, float]],
    texts: Sequence[str | None],
    *,
    width: float,
    height: float,
    size: float,
    taken: Sequence[tuple[float, float, float, float]] = (),
) -> list[Label | None]:
    """A place for each text near its point, None where there is no text or no room.

    Names stay within the figure and off all points, off each other and off what is ``taken``, boxes of
    (left, top, right, bottom). They choose one after the other, at first those in the thickest crowd, which
    have least choice, then in other orders; the same points always give the same places.
    """
    spots = np.array(points, dtype=np.float64).reshape(-1, 2)
    named = [index for index in _crowded_first(spots) if texts[index] is not None]
    orders = [named]
    if len(named) <= MANY:
        generator = np.random.default_rng(0)
        orders += [generator.permutation(named).tolist() for _ in range(TRIALS)]
    trials = (_trial(spots, texts, order, width, height, size, taken) for order in orders)
    return min(trials, key=lambda trial: trial[0])[1]


def _trial(
    spots: Floats,
    texts: Sequence[str | None],
    order: Sequence[int],
    width: float,
    height: float,
    size: float,
    taken: Sequence[tuple[float, float, float, float]],
) -> tuple[float, list[Label | None]]:
    """The places that names choose in one order, and what they cost together."""
    boxes: list[tuple[float, ...]] = [*(_around(x, y) for x, y in spots.tolist()), *taken]
    placed: list[Label | None] = [None] * len(texts)
    total = 0.0
    for index in order:
        text, own = shortened(texts[index] or ""), spots[index]
        obstacles = np.array([box for place, box in enumerate(boxes) if place != index]).reshape(-1, 4)
        found, cost = _best(own, text_width(text, size), LINE * size, obstacles, width, height)
        total += cost
        if found is None:
            continue
        end, distance = _nearest(found, own)
        joined = end if distance > LEADS_FROM or _is_ambiguous(found, distance, spots, index) else None
        boxes.append(tuple(found.tolist()))
        if joined is not None:
            boxes += [_around(x, y, 2.0) for x, y in _along(own, np.array(joined)).tolist()]
        placed[index] = Label(text, float(found[0]), float(found[1] + found[3]) / 2, joined)
    return total, placed


def _is_ambiguous(box: Floats, distance: float, spots: Floats, own: int) -> bool:
    """Whether the name stands about as near to another point as to its own."""
    others = np.delete(spots, own, axis=0)
    others = others[np.any(others != spots[own], axis=1)]  # a point at the same place is no other
    return any(_nearest(box, other)[1] < distance * NEARER + POINT for other in others)


def _best(
    own: Floats, wide: float, high: float, obstacles: Floats, width: float, height: float
) -> tuple[Floats | None, float]:
    candidates, costs = _candidates(own, wide, high)
    free = ~_overlap(candidates, obstacles).any(axis=1)
    free &= (candidates[:, 0] >= 0) & (candidates[:, 1] >= 0)
    free &= (candidates[:, 2] <= width) & (candidates[:, 3] <= height)
    best, cheapest = None, NO_ROOM
    for place in np.flatnonzero(free)[np.argsort(costs[free], kind="stable")].tolist():
        if costs[place] >= cheapest:
            break
        end, distance = _nearest(candidates[place], own)
        line = _along(own, np.array(end)) if distance > LEADS_FROM else np.zeros((0, 2))
        cost = costs[place] + (CROSSING if _overlap(np.hstack([line, line]), obstacles).any() else 0.0)
        if cost < cheapest:
            best, cheapest = candidates[place], cost
    return best, cheapest


def _candidates(own: Floats, wide: float, high: float) -> tuple[Floats, Floats]:
    """(C, 4) boxes around a point, and (C,) how far off each is."""
    moved, begins, costs = _ways()
    left, top = (own + moved - np.array([wide, high]) * begins).T
    return np.column_stack([left, top, left + wide, top + high]), costs


@cache
def _ways() -> tuple[Floats, Floats, Floats]:
    """(C, 2) how far a box stands from its point, (C, 2) which share of it lies before that, (C,) costs."""
    moved, begins, costs = [], [], []
    for distance in DISTANCES:
        for turn in range(DIRECTIONS):
            angle = 2 * math.pi * turn / DIRECTIONS
            across, down = math.cos(angle), math.sin(angle)
            moved.append((distance * across, distance * down))
            begins.append(
                (
                    0 if across > 0.3 else 1 if across < -0.3 else 0.5,
                    0 if down > 0.6 else 1 if down < -0.6 else 0.5,
                )
            )
            costs.append(distance + (0 if turn == 0 else NOT_RIGHT))
    return np.array(moved), np.array(begins), np.array(costs)


def _overlap(boxes: Floats, others: Floats) -> npt.NDArray[np.bool_]:
    """(B, O): which boxes lie over which others."""
    return (
        (boxes[:, None, 0] < others[None, :, 2])
        & (boxes[:, None, 2] > others[None, :, 0])
        & (boxes[:, None, 1] < others[None, :, 3])
        & (boxes[:, None, 3] > others[None, :, 1])
    )


def _crowded_first(spots: Floats) -> list[int]:
    between = np.hypot(*(spots[:, None] - spots[None, :]).transpose(2, 0, 1))  # (N, N)
    return np.argsort(-(between < DISTANCES[-1]).sum(axis=1), kind="stable").tolist()  # type: ignore[no-any-return]


def _around(x: float, y: float, half: float = POINT) -> tuple[float, float, float, float]:
    return x - half, y - half, x + half, y + half


def _nearest(box: Floats, point: Floats) -> tuple[tuple[float, float], float]:
    """The place of the box next to a point, and how far it is."""
    (px, py), (left, top, right, bottom) = point.tolist(), box.tolist()
    x, y = min(max(px, left), right), min(max(py, top), bottom)
    return (x, y), math.hypot(x - px, y - py)


def _along(start: Floats, end: Floats) -> Floats:
    """(S, 2): places on a line, from just off its start to just before its end."""
    steps = max(2, int(math.dist(start, end) / 4))
    return start + np.linspace(0, 1, steps, endpoint=False)[1:, None] * (end - start)
