"""What a scan did, in numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc


@dataclass
class ScanSummary:
    """What a scan did. ``found`` pieces were there from an earlier run and were not counted again."""

    documents: int = 0
    tokens: int = 0
    groups: dict[str, int] = field(default_factory=dict)
    pieces: int = 0
    found: int = 0
    bytes_read: int = 0
    seconds: float = 0.0

    def add(self, batch: pa.RecordBatch, bytes_read: int) -> None:
        """Add the counts of one piece."""
        self.pieces += 1
        self.bytes_read += bytes_read
        self.documents += len(batch)
        self.tokens += _total(batch, 1)
        for column, group in enumerate(self.groups, 2):
            self.groups[group] += _total(batch, column)


def _total(batch: pa.RecordBatch, column: int) -> int:
    return int(pc.sum(batch.column(column)).as_py() or 0)  # no rows have no sum
