"""A made-up collection, in every format that is cut into partitions in its own way."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

FORMATS = ("c.tsv", "c.jsonl", "c.jsonl.gz", "c.parquet")


def rows(documents: int, seed: int = 0) -> list[tuple[str, str]]:
    generator = random.Random(seed)
    words = ["he", "she", "and", "some", "other", "words", "élan", "He"]
    return [
        (f"d{n}", " ".join(generator.choices(words, k=generator.randrange(80)))) for n in range(documents)
    ]


def write(path: Path, documents: list[tuple[str, str]], group: int = 500) -> Path:
    name = path.name
    if name.endswith(".parquet"):
        table = pa.table({"id": [one for one, _ in documents], "text": [text for _, text in documents]})
        pq.write_table(table, path, row_group_size=group)
    elif ".jsonl" in name:
        lines = "".join(json.dumps({"id": one, "text": text}) + "\n" for one, text in documents).encode()
        path.write_bytes(gzip.compress(lines) if name.endswith(".gz") else lines)
    else:
        path.write_text("".join(f"{one}\t{text}\n" for one, text in documents), encoding="utf-8")
    return path
