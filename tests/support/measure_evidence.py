"""The evidence that a random case has for a measure of words or groups."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import group_oracles
import numpy as np
import word_oracles

from evenrank.measures import Measure


def evidence_for(measure: Measure) -> Callable[[list[str], np.random.Generator], list[Any]]:
    """Words and groups, for some of the documents where the measure has a rule for the others."""
    partial = getattr(measure, "missing", "error") != "error"
    return _evidence(partial, group_oracles.only_group(measure))


@cache  # the same function for the same evidence, so that what is made of it can be kept
def _evidence(partial: bool, only: str | None) -> Callable[[list[str], np.random.Generator], list[Any]]:
    def make(documents: list[str], generator: np.random.Generator) -> list[Any]:
        return [
            *word_oracles.word_counts(documents, generator, partial=partial),
            *group_oracles.group_evidence(documents, generator, partial=partial, only=only),
        ]

    return make
