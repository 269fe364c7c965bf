"""What the benchmarks of clusters share: collections of repeated passages, and time of all processes."""

from __future__ import annotations

import gzip
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

PASSAGES = Path(__file__).parents[2] / "shared/data/msmarco_trecdl/passages.tsv"
WORKERS = 2


def passages() -> list[bytes]:
    lines = PASSAGES.read_bytes().split(b"\n")[:-1]
    return [line.partition(b"\t")[2] for line in lines]


def repeated(count: int) -> Iterator[list[tuple[int, bytes]]]:
    texts, done = passages(), 0
    while done < count:
        own = texts[: count - done]
        yield [(done + place, text) for place, text in enumerate(own)]
        done += len(own)


def make_tsv(path: Path, count: int) -> Path:
    with path.open("wb") as file:
        for block in repeated(count):
            file.write(b"".join(b"%d\t%s\n" % row for row in block))
    return path


def make_formats(folder: Path, count: int) -> list[Path]:
    """TSV, JSONL.gz in ten shards, and Parquet."""
    shards = folder / "shards"
    shards.mkdir()
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    with pq.ParquetWriter(folder / "c.parquet", schema, compression="zstd") as writer:
        lines_of: list[list[bytes]] = [[] for _ in range(10)]
        for number, block in enumerate(repeated(count)):
            ids, texts = [str(one) for one, _ in block], [text.decode() for _, text in block]
            writer.write_table(pa.table([ids, texts], schema=schema))
            lines = (json.dumps({"id": one, "text": text}) for one, text in zip(ids, texts, strict=True))
            lines_of[number % 10].append(("\n".join(lines) + "\n").encode())
    for number, own in enumerate(lines_of):
        (shards / f"s{number}.jsonl.gz").write_bytes(gzip.compress(b"".join(own), 1))
    return [make_tsv(folder / "c.tsv", count), shards, folder / "c.parquet"]


@dataclass
class Spent:
    """Time by the clock, and processor time of all processes."""

    seconds: float = 0.0
    processor: float = 0.0

    def to_dict(self) -> dict[str, float]:
        return {"seconds": self.seconds, "processor": self.processor}


@contextmanager
def measured() -> Iterator[Spent]:
    spent = Spent()
    processor, begin = processor_seconds(), time.perf_counter()
    yield spent
    spent.seconds = time.perf_counter() - begin
    spent.processor = processor_seconds() - processor


def processor_seconds() -> float:
    """Of this process and everything that it started and that is still running, Java included."""
    own = os.getpid()
    parents: dict[int, list[int]] = {}
    spent: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            pid = int(entry.name)
            parents.setdefault(int(fields[1]), []).append(pid)
            # with those of children that have ended
            spent[pid] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    total, waiting = 0.0, [own]
    while waiting:
        pid = waiting.pop()
        total += spent.get(pid, 0.0)
        waiting += parents.get(pid, [])
    return total


def same(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()
