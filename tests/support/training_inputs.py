"""What a small training run learns from, as its files have it."""

from __future__ import annotations

from pathlib import Path

from evenrank import Inputs
from evenrank.inputs.description import Description
from evenrank.inputs.file_options import FileOption


def inputs_of(folder: Path) -> Inputs:
    return Description(
        qrels=(FileOption(str(folder / "qrels.txt")),),
        queries=str(folder / "queries.tsv"),
        documents=FileOption(str(folder / "documents.tsv")),
    ).read()
