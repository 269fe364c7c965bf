"""Texts that the tests of swapping share."""

from __future__ import annotations

import csv
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from evenrank.sample import load

needs_spacy = pytest.mark.skipif(
    find_spec("spacy") is None, reason="spaCy is not installed: pip install '.[swap]'"
)
TAGGERS = ["rules", pytest.param("spacy", marks=[needs_spacy, pytest.mark.slow])]


def texts_of(name: str, shared: Path) -> list[str]:
    """The documents of the sample, of Grep-BiasIR (title, text) or of TIME (as in the file)."""
    if name == "sample":
        return list(load().documents.values())
    if name == "Grep-BiasIR":
        return [f"{row['doc_title']} {row['document']}" for row in grep_rows(shared)]
    raw = (shared / "data/classic_ir/time/TIME.ALL").read_bytes().decode("latin-1")
    parts = re.split(r"^\*(?:TEXT|STOP).*$", raw, flags=re.MULTILINE)
    return [part for part in parts if part.strip()]


def grep_rows(shared: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for path in sorted((shared / "data/grepbiasir").glob("queries-documents_*.csv")):
        with path.open(encoding="utf-8-sig", newline="") as file:
            found += csv.DictReader(file)
    return found


def labelled(name: str) -> list[tuple[str, str, int]]:
    """Sentences with one marked word: what it must become, the sentence, where the word starts."""
    path = Path(__file__).parents[1] / "counterfactuals" / f"{name}.tsv"
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            label, sentence = line.split("\t")
            before, word, after = re.split(r"[\[\]]", sentence)
            rows.append((label, before + word + after, len(before)))
    return rows
