"""What a small training run learns from, as its files have it."""

from __future__ import annotations

import csv
from pathlib import Path

from evenrank import Inputs


def inputs_of(folder: Path) -> Inputs:
    with (folder / "queries.tsv").open(encoding="utf-8", newline="") as file:
        texts = dict(csv.reader(file, delimiter="\t"))
    return Inputs({}).with_known(
        qrels=folder / "qrels.txt", query_texts=texts, documents=str(folder / "documents.tsv")
    )
