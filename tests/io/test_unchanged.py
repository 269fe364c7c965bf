"""Counts and groups that are read by need belong to one version of their files, or to none."""

from __future__ import annotations

from pathlib import Path

import pytest

import evenrank as er
from evenrank import Lexicon
from evenrank.errors import DataError
from evenrank.evidence.scan import derive_groups, scan_file
from evenrank.io import groups
from evenrank.io.counts_index import index_counts
from evenrank.io.unchanged import Unchanged

SIDES = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
FIRST, SECOND = (
    {"q": {f"d{number}": 1.0 / number for number in range(start, start + 5)}} for start in (1, 50)
)


def write(path: Path, word: str, rows: int = 500) -> Path:
    path.write_text("".join(f"d{number}\t{word} {word} she\n" for number in range(rows)))
    return path


@pytest.mark.parametrize("rows", [500, 400])
@pytest.mark.parametrize("kind", ["counts", "index", "groups"])
def test_two_versions_of_a_folder_are_not_mixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, rows: int
) -> None:
    monkeypatch.setattr(groups, "LOADED", 0)
    source, folder = tmp_path / "c.tsv", tmp_path / "made"

    def make(word: str, rows: int) -> None:
        write(source, word, rows)
        if kind == "groups":
            derive_groups(source, f"{folder}/", SIDES)
        else:
            scan_file(source, SIDES, f"{folder}/")
        if kind == "index":
            index_counts(folder)

    def scores(run: object, known: object) -> object:
        named = {"groups": known} if kind == "groups" else {"words": known}
        return er.evaluate(run, "GF@5" if kind == "groups" else "FaiRR@5", **named)  # type: ignore[arg-type]

    def opened() -> object:
        return er.read_groups(folder, "s") if kind == "groups" else er.read_counts(folder)

    make("he", 500)
    known = opened()
    scores(FIRST, known)
    make("she", rows)
    with pytest.raises(DataError, match="was changed while it was read"):
        scores(SECOND, known)
    scores(SECOND, opened())


def test_a_file_that_is_gone_has_changed(tmp_path: Path) -> None:
    path = write(tmp_path / "c.tsv", "he")
    known = Unchanged([path])
    known.check()
    path.unlink()
    with pytest.raises(DataError, match=r"c\.tsv: is gone since it was opened"):
        known.check()
