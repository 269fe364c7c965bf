"""What a swap gives back: the new text, and what was changed where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple


class Swap(NamedTuple):
    """``text[start:end]`` of the original was ``old`` and became ``new``."""

    start: int
    end: int
    old: str
    new: str
    kind: str


@dataclass(frozen=True)
class Swapped:
    """A text after the swap; ``changes`` are in the order of the text and do not overlap."""

    text: str
    changes: tuple[Swap, ...]

    def spans(self) -> Iterator[tuple[int, int]]:
        """Where the new words stand in the new text: (start, end) of each change.

        >>> swapped = Swapped("She saw", (Swap(0, 2, "He", "She", "pronouns"),))
        >>> list(swapped.spans())
        [(0, 3)]
        """
        shift = 0
        for change in self.changes:
            begin = change.start + shift
            yield begin, begin + len(change.new)
            shift += len(change.new) - (change.end - change.start)


def applied(text: str, changes: tuple[Swap, ...]) -> Swapped:
    pieces, end = [], 0
    for change in changes:
        pieces += [text[end : change.start], change.new]
        end = change.end
    return Swapped("".join([*pieces, text[end:]]), changes)
