"""What a swap of a collection did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evenrank.counterfactuals.swap.blocks import Tally
from evenrank.counterfactuals.swap.pairing import KINDS
from evenrank.counterfactuals.swap.pieces import Piece


@dataclass
class SwapSummary:
    """What a swap did. ``found`` pieces were there from an earlier run and were not swapped again."""

    tagger: str
    documents: int = 0
    changed: int = 0  # documents with a word swapped
    tally: Tally = field(default_factory=Counter)
    exceptions: Mapping[str, str] = field(default_factory=dict)  # terms that do not come back
    pieces: int = 0
    found: int = 0
    bytes_read: int = 0
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

    def add(self, piece: Piece, *, finished: bool) -> None:
        self.pieces += 1
        self.found += finished
        self.documents += piece.documents
        self.changed += piece.changed
        self.bytes_read += piece.bytes_read
        self.tally.update(piece.tally)
