"""What the shipped lexicons see of texts that people labelled; the table is in docs/reproductions."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from evenrank import read_lexicon, scan


def rows(shared: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for path in sorted((shared / "data/grepbiasir").glob("queries-documents_*.csv")):
        with path.open(encoding="utf-8-sig", newline="") as file:
            found += csv.DictReader(file)
    return found


@pytest.mark.parametrize(
    ("lexicon", "right"),
    [
        ("gender-en", {"M": 203, "F": 206, "N": 215}),
        ("gender-en+gender-en-names", {"M": 204, "F": 207, "N": 214}),
        ("data/msmarco_trecdl/wordlist_gender_representative.txt", {"M": 197, "F": 198, "N": 217}),
    ],
)
def test_agreement_with_the_labels(shared: Path, lexicon: str, right: dict[str, int]) -> None:
    texts = rows(shared)
    assert len(texts) == 702
    words = read_lexicon(shared / lexicon if "/" in lexicon else lexicon)
    female = next(place for place, group in enumerate(words.groups) if group[0] == "f")
    documents = [(str(place), f"{row['doc_title']} {row['document']}") for place, row in enumerate(texts)]
    counts = scan(documents, words).counts
    seen = dict.fromkeys("MFN", 0)
    for row, count in zip(texts, counts.tolist(), strict=True):
        difference = count[female] - count[1 - female]
        leaning = "N" if sum(count) == 0 else "F" if difference > 0 else "M" if difference < 0 else "tie"
        if row["content_gender"].strip() == leaning:
            seen[leaning] += 1
    assert seen == right
