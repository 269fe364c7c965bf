"""A tiny picture of a measure: five ranks of a bad list beside five of a good one."""

from __future__ import annotations

from dataclasses import dataclass

from evenrank.measures import Direction, Measure

GROUPS = ("g0 g0 g0 g0 g1", "g0 g1 g0 g1 g0", "colours: groups")
# by family: a bad list, a good list, and what the colours stand for
LISTS = {
    "relevance": ("lo lo lo hi hi", "hi hi hi lo lo", "dark: relevant"),
    "diversity": ("g0 g0 g0 g0 g0", "g0 g1 g2 g3 g0", "colours: intents"),
    "groups": GROUPS,
    "words": ("g1 g1 g0 g1 g1", "gn gn gn g0 g1", "grey: neutral; colours: words of groups"),
    "order": ("g0 g0 g0 g1 g1", "g0 g1 g1 g0 g1", "colours: opinions"),
}
EVEN_WORDS = ("g1 g1 g1 g1 g0", "g0 g1 g0 g1 g0", "colours: words of groups")
NEUTRAL = "FaiRR"  # in the names of measures that ask for neutral documents; others of words ask for evenness
ONE_WAY = (Direction.HIGHER, Direction.LOWER, Direction.SIGNED)


@dataclass(frozen=True)
class MeasurePicture:
    """The styles of five ranks of two lists, the bad one first, and what the styles stand for."""

    bad: tuple[str, ...]
    good: tuple[str, ...]
    key: str


def picture_of(measure: Measure) -> MeasurePicture | None:
    """None where neither of two lists is better, or nothing can be drawn.

    >>> from evenrank.measures import parse_measure
    >>> picture_of(parse_measure("nDCG@10")).good
    ('hi', 'hi', 'hi', 'lo', 'lo')
    """
    neutral = NEUTRAL in type(measure).__name__
    lists = EVEN_WORDS if measure.family == "words" and not neutral else LISTS.get(measure.family)
    if lists is None or measure.direction not in ONE_WAY:
        return None
    bad, good, key = lists
    return MeasurePicture(tuple(bad.split()), tuple(good.split()), key)
