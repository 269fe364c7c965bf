"""How often the words of a list say what people said of a text: which group it is about, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError, few
from evenrank.evidence.scan import scan

NOBODY, TIE = "nobody", "tie"


def label_accuracy(lexicon: Lexicon, labelled: Iterable[tuple[str, str]]) -> dict[str, Counter[str]]:
    """For each label that people gave, how many of its texts the words give each label, from pairs of a text
    and its label: a group of the lexicon, or ``nobody``.

    A text leans to the group with most words in it; it may be a ``tie``, and is about ``nobody`` if there is
    no word of the lexicon. The texts that are right for a label are those that the words give the same.

    >>> sides = Lexicon.build("sides", {"f": ["she"], "m": ["he"]})
    >>> found = label_accuracy(sides, [("she", "f"), ("he", "f"), ("it", "nobody")])
    >>> found["f"]["f"] / found["f"].total(), found["nobody"]["nobody"]
    (0.5, 1)
    """
    pairs = list(labelled)
    unknown = sorted({label for _, label in pairs}.difference(lexicon.groups, [NOBODY]))
    if unknown:
        known = ", ".join((*lexicon.groups, NOBODY))
        raise DataError(f"{few(unknown)} is no group of {lexicon.name}: labels are {known}")
    counts = scan([(str(place), text) for place, (text, _) in enumerate(pairs)], lexicon).counts
    found: dict[str, Counter[str]] = {}
    for (_, label), own in zip(pairs, counts.tolist(), strict=True):
        leaders = [group for group, count in zip(lexicon.groups, own, strict=True) if count == max(own)]
        given = NOBODY if max(own) == 0 else leaders[0] if len(leaders) == 1 else TIE
        found.setdefault(label, Counter())[given] += 1
    return found
