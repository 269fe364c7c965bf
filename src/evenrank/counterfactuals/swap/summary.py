"""What a swap of a collection did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evenrank.counterfactuals.swap.blocks import Tally
from evenrank.counterfactuals.swap.pairing import KINDS


@dataclass
class SwapCounts:
    """What a swap of some documents did."""

    documents: int = 0
    changed: int = 0  # documents with a word swapped
    pieces: int = 0
    bytes_read: int = 0
    tally: Tally = field(default_factory=Counter)

    def add(self, other: SwapCounts) -> None:
        self.documents += other.documents
        self.changed += other.changed
        self.pieces += other.pieces
        self.bytes_read += other.bytes_read
        self.tally.update(other.tally)

    def to_record(self) -> dict[str, Any]:
        """As the record of a finished part holds it."""
        return {**vars(self), "tally": [[*pair, count] for pair, count in self.tally.items()]}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> SwapCounts:
        tally = Counter({(old, new, kind): count for old, new, kind, count in record["tally"]})
        return cls(record["documents"], record["changed"], record["pieces"], record["bytes_read"], tally)


@dataclass
class SwapSummary(SwapCounts):
    """What a whole swap did. ``found`` pieces were there from an earlier run and were not swapped again."""

    tagger: str = "rules"
    exceptions: Mapping[str, str] = field(default_factory=dict)  # terms that do not come back
    found: int = 0
    source: Mapping[str, Any] = field(default_factory=dict)  # its name, and the hash of all that was read
    seconds: float = 0.0

    @property
    def words(self) -> int:
        return self.tally.total()

    @property
    def kinds(self) -> dict[str, int]:
        """Words swapped, by kind."""
        counts = dict.fromkeys(KINDS, 0)
        for (_, _, kind), count in self.tally.items():
            counts[kind] += count
        return counts

    def most_often(self) -> list[tuple[tuple[str, str, str], int]]:
        """The words swapped, the most frequent first; of equally frequent ones the first in the alphabet."""
        return sorted(self.tally.items(), key=lambda item: (-item[1], item[0]))

    @property
    def one_way(self) -> dict[tuple[str, str], int]:
        """The words swapped that a second swap does not bring back."""
        return {
            (old, new): count for (old, new, _), count in self.most_often() if self.exceptions.get(old) == new
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything about it as JSON holds it; times are left out, so that equal swaps are equal."""
        return {
            "source": dict(self.source),
            "documents": self.documents,
            "documents_changed": self.changed,
            "words": self.words,
            "kinds": self.kinds,
            "tagger": self.tagger,
            "pairs": [
                {"word": old, "becomes": new, "kind": kind, "count": count}
                for (old, new, kind), count in self.most_often()
            ],
            "not_restored": [
                {"word": old, "becomes": new, "count": count} for (old, new), count in self.one_way.items()
            ],
        }
