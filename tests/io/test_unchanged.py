"""Counts that are read by need belong to one version of their files, or to none."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenrank import DataError, Lexicon, evaluate, read_counts
from evenrank.cli import main
from evenrank.evidence.scan import scan_file

SIDES = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
FIRST, SECOND = (
    {"q": {f"d{number}": 1.0 / number for number in range(start, start + 5)}} for start in (1, 50)
)


@pytest.mark.parametrize("rows", [500, 400])
@pytest.mark.parametrize("indexed", [False, True])
def test_two_versions_of_a_folder_are_not_mixed(tmp_path: Path, indexed: bool, rows: int) -> None:
    folder = tmp_path / "made"

    def make(word: str, rows: int) -> None:
        (tmp_path / "c.tsv").write_text("".join(f"d{n}\t{word} {word} she\n" for n in range(rows)))
        scan_file(tmp_path / "c.tsv", SIDES, f"{folder}/")
        if indexed:
            assert main(["scan", str(folder)]) == 0

    make("he", 500)
    known = read_counts(folder)
    evaluate(FIRST, "FaiRR@5", words=known)
    make("she", rows)
    with pytest.raises(DataError, match="made"):
        evaluate(SECOND, "FaiRR@5", words=known)
    evaluate(SECOND, "FaiRR@5", words=read_counts(folder))
