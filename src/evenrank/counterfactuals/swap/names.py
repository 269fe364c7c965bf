"""First names and their counterparts: about equally frequent ones of the other sex."""

from __future__ import annotations

import csv
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from evenrank.errors import ParameterError

SPREAD = 1.25  # within a band, the most frequent name has at most so many times the births of the least


class Ranks(NamedTuple):
    """The names of rank r, and how many were born with each."""

    female: tuple[str, ...]
    male: tuple[str, ...]
    births: tuple[tuple[int, int], ...]


@lru_cache(maxsize=1)
def ranks() -> Ranks:
    """The table that comes with the package, the most frequent names first."""
    text = (files("evenrank") / "counterfactuals/swap/names-en.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    return Ranks(
        tuple(row["female"] for row in rows),
        tuple(row["male"] for row in rows),
        tuple((int(row["female_births"]), int(row["male_births"])) for row in rows),
    )


@lru_cache(maxsize=1)
def shipped_names() -> frozenset[str]:
    names = ranks()
    return frozenset(names.female) | frozenset(names.male)


@lru_cache(maxsize=8)
def name_pairs(seed: int = 0) -> dict[str, str]:
    """Each name and its counterpart, both ways: one of the same band of frequency, drawn by the seed.

    >>> pairs = name_pairs(0)
    >>> pairs[pairs["elizabeth"]], len(pairs)
    ('elizabeth', 1000)
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ParameterError(f"seed must be an integer >= 0, got {seed!r}")
    generator = np.random.default_rng(seed)
    names = ranks()
    pairs: dict[str, str] = {}
    for begin, end in pairwise(_bands(names.births)):
        for place, other in enumerate(generator.permutation(end - begin).tolist()):
            female, male = names.female[begin + place], names.male[begin + other]
            pairs |= {female: male, male: female}
    return pairs


def _bands(births: tuple[tuple[int, int], ...]) -> list[int]:
    """Where each band begins, and the end of the last."""
    borders = [0]
    for rank, own in enumerate(births):
        first = births[borders[-1]]
        if any(most > SPREAD * least for most, least in zip(first, own, strict=True)):
            borders.append(rank)
    return [*borders, len(births)]
