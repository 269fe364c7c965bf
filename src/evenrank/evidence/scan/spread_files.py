"""The files of work that is spread over workers: their partitions, and what was read of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from evenrank.evidence.scan.partition_work import PartJob, facts_of_file, provenance_of_files
from evenrank.evidence.scan.partitions import FileStretch, Partition, PartitionFile, PartitionFiles, cut
from evenrank.io.part_folder import check_seen, is_sealed
from evenrank.io.partitioned import FinishedPart, Record
from evenrank.io.shards import check_files_unchanged


class SpreadFiles:
    """Who plans the work holds this."""

    def __init__(self, files: PartitionFiles, job: PartJob, size: int | None) -> None:
        self.name, self._files, self._many = files
        self._job = job
        if not files.many:  # what is wrong with the beginning of it is said before any worker is asked
            job.open(self._files[0]).close()
        self.partitions = cut(self._files, job.open, size)

    def still_valid(self, records: Mapping[int, Record]) -> dict[int, Record]:
        """The finished partitions whose files are what they were, and whose parts are whole."""
        found = {}
        for partition in self.partitions:
            record = records.get(partition.number)
            if record is not None and self._is_valid(partition, record):
                found[partition.number] = record
        return found

    def part(self, part: FinishedPart, *, read: bool = False) -> Path:
        """The file of a part, if it is seen here; with ``read`` also whether it still is what it was."""
        path = self._job.part(part.number)
        check_seen(path, part.record["part"], read=read and not part.found)
        return path

    def shard_of(self, stretches: Sequence[Mapping[str, Any]]) -> Callable[[int], str] | None:
        """The file of a document, by its number among those of some stretches; None if there is one file."""
        if not self._many:
            return None
        ends = np.cumsum([stretch["rows"] for stretch in stretches])
        return lambda row: str(stretches[int(np.searchsorted(ends, row, side="right"))]["file"])

    def provenance(self, stretches: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Of all that was read, if nobody has written to it meanwhile."""
        check_files_unchanged((file.address, file.stamp) for file in self._files)
        if not self._many:
            return self._provenance(self._files[0], stretches, "provenance")
        by_file: dict[str, list[dict[str, Any]]] = {}
        for stretch in stretches:
            by_file.setdefault(stretch["file"], []).append(stretch)
        return provenance_of_files(
            [
                {"name": file.name, "bytes": file.size}
                | self._provenance(file, by_file.get(file.name, []), "facts")
                for file in self._files
            ]
        )

    def _provenance(
        self, file: PartitionFile, stretches: Sequence[dict[str, Any]], kept: str
    ) -> dict[str, Any]:
        """Of a file that one worker read whole, as that has it; else from the digests of its pieces."""
        if stretches and stretches[0]["last"] is None:
            found: dict[str, Any] = stretches[0][kept] or {}
            return found
        digests = [bytes.fromhex(digest) for stretch in stretches for digest in stretch["digests"]]
        with closing(self._job.open(file)) as collection:
            return facts_of_file(collection, digests) if kept == "facts" else collection.provenance(digests)

    def _is_valid(self, partition: Partition, record: Record) -> bool:
        kept = record.get("stretches", [])
        if len(kept) != len(partition.stretches) or not is_sealed(
            self._job.part(partition.number), record["part"], read=True
        ):
            return False
        return all(self._is_same(*pair) for pair in zip(partition.stretches, kept, strict=True))

    def _is_same(self, stretch: FileStretch, kept: Mapping[str, Any]) -> bool:
        """Whether a stretch is what was counted."""
        about = stretch.to_dict()
        if {name: kept.get(name) for name in about} != about:
            return False
        return bool(kept["stamp"] == stretch.file.stamp)
