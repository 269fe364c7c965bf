"""How often the words of a list say what people said of a text: which group it is about, or none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError, ParameterError, few
from evenrank.evidence.scan import scan

NOBODY = "nobody"


class LabelAccuracy(NamedTuple):
    """Of the texts that people gave one label: how many the words give the same."""

    label: str
    texts: int
    right: int
    ties: int  # as many words of one group as of another
    other: int  # more words of another group
    silent: int  # no word, though people named a group

    @property
    def share(self) -> float:
        return self.right / self.texts

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's, 95%."""
        from scipy.stats import binomtest

        found = binomtest(self.right, self.texts).proportion_ci(method="wilson")
        return float(found.low), float(found.high)


def label_accuracy(lexicon: Lexicon, labelled: Iterable[tuple[str, str]]) -> tuple[LabelAccuracy, ...]:
    """By label, from pairs of a text and its label: a group of the lexicon, or ``nobody``.

    A text leans to the group with most words in it. It is right if that is its label, and ``nobody`` is right
    if there is no word of the lexicon.

    >>> sides = Lexicon.build("sides", {"f": ["she"], "m": ["he"]})
    >>> [(one.label, one.right, one.texts) for one in label_accuracy(sides, [("she", "f"), ("he", "f")])]
    [('f', 1, 2)]
    """
    pairs = list(labelled)
    if not pairs:
        raise ParameterError("there is no labelled text")
    known = (*lexicon.groups, NOBODY)
    unknown = sorted({label for _, label in pairs} - set(known))
    if unknown:
        raise DataError(f"{few(unknown)} is no group of {lexicon.name}: labels are {', '.join(known)}")
    counts = scan([(str(place), text) for place, (text, _) in enumerate(pairs)], lexicon).counts
    found: dict[str, list[str]] = {label: [] for label in known}
    for (_, label), own in zip(pairs, counts.tolist(), strict=True):
        most = max(own)
        leaders = [group for group, count in zip(lexicon.groups, own, strict=True) if count == most]
        found[label].append(NOBODY if most == 0 else leaders[0] if len(leaders) == 1 else "tie")
    return tuple(
        LabelAccuracy(
            label,
            len(given),
            given.count(label),
            given.count("tie"),
            sum(one not in (label, "tie", NOBODY) for one in given),
            given.count(NOBODY) if label != NOBODY else 0,
        )
        for label, given in found.items()
        if given
    )
