"""Whether a second swap undoes the first, word by word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from evenrank.counterfactuals.swap.swapper import Swapper
from evenrank.data.lexicon import lower


@dataclass
class RoundTrip:
    """``lost`` counts the words that did not come back: what each was, became, and is after two swaps."""

    documents: int = 0
    same: int = 0  # documents that are byte for byte what they were
    with_losses: int = 0  # documents in which a word did not come back
    words: int = 0  # swapped
    lost: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    @property
    def restored(self) -> float:
        """The share of swapped words that came back; 1 if none was swapped."""
        return 1 - self.lost.total() / self.words if self.words else 1.0


def round_trip(swapper: Swapper, texts: Iterable[str]) -> RoundTrip:
    """Swap every text twice, and compare.

    >>> from evenrank.counterfactuals.swap import make_swapper
    >>> trip = round_trip(make_swapper(tagger="rules"), ["Ms Hall gave him her hat."])
    >>> trip.same, trip.words, dict(trip.lost)
    (0, 3, {('ms', 'mr', 'mrs'): 1})
    """
    olds = list(texts)
    trip = RoundTrip(len(olds))
    there = swapper.swap_all(olds)
    back = swapper.swap_all([swapped.text for swapped in there])
    for old, first, second in zip(olds, there, back, strict=True):
        again = {change.start: change.new for change in second.changes}
        lost = [
            (lower(change.old), lower(change.new), lower(now))
            for change, (start, _) in zip(first.changes, first.spans(), strict=True)
            if (now := again.get(start, change.new)) != change.old
        ]
        trip.words += len(first.changes)
        trip.same += second.text == old
        trip.with_losses += bool(lost)
        trip.lost.update(lost)
    return trip
