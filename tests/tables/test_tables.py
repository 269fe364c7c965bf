"""Tables for people: they fit a terminal and lose nothing, and colour changes no letter."""

from __future__ import annotations

import math
import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from drawn import made
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evenrank import Scores, compare

MEASURES = [f"nDCG@{cutoff}" for cutoff in range(1, 13)]


def scores_of(runs: Sequence[str], measures: Sequence[str]) -> Scores:
    """Six queries, other values for each run and measure."""
    return made(
        {
            run: {
                measure: [(place + 2 * column + query % 3) / 64 for query in range(6)]
                for column, measure in enumerate(measures)
            }
            for place, run in enumerate(runs)
        }
    )


def width_of(text: str) -> int:
    return max(map(len, text.split("\n")))


def words(text: str) -> str:
    """Without what breaks lines."""
    return " ".join(text.split())


@given(st.floats(-1e300, 1e300))
def test_a_number_is_never_shown_as_zero_unless_it_is(value: float) -> None:
    text = made({"a": {"RR": [value]}}).to_table().to_text().split("\n")[1]
    shown = float(re.findall(r"[-+]?\d+\.\d+(?:e[-+]\d+)?", text)[0])
    assert (shown == 0) == (value == 0)
    assert shown == pytest.approx(value, rel=0.05, abs=5.1e-5)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.99995, "1.0000"), (4.9e-5, "4.9e-05"), (5e-5, "0.0001"), (1e7, "1.0000e+07"), (5e-324, "4.9e-324"),
     (math.inf, "infinite"), (-math.inf, "-infinite"), (math.nan, "undefined")],
)  # fmt: skip
def test_numbers_at_the_ends(value: float, shown: str) -> None:
    assert f" {shown} " in words(made({"a": {"RR": [value]}}).to_table().to_text()) + " "


@pytest.mark.parametrize("width", [60, 80, 100, 160])
@given(st.integers(1, 12), st.lists(st.integers(1, 24), min_size=2, max_size=3, unique=True))
@settings(max_examples=examples(20))
def test_no_column_is_lost_where_a_terminal_is_narrow(width: int, count: int, names: list[int]) -> None:
    runs = ["r" * size for size in names]
    table = scores_of(runs, MEASURES[:count]).to_table()
    text = table.to_text(width)
    heads = [line for line in text.split("\n") if "nDCG@" in line]
    shown = re.findall(r"nDCG@\d+", " ".join(heads))
    assert sorted(set(shown)) == sorted(MEASURES[:count])
    assert width_of(text) <= width
    for run in runs:  # each block of columns names its rows
        assert len(re.findall(rf"^{run}\b", text, re.MULTILINE)) >= 1
    values = set(re.findall(r"\d\.\d{4}", re.sub(r"\[[^]]*\]", "", table.to_text())))
    assert values <= set(re.findall(r"\d\.\d{4}", text))


@pytest.mark.parametrize("width", [60, 80, 90])
def test_long_names_of_rows_are_folded_and_not_cut(width: int) -> None:
    names = [f"GroupShare(attr='gender',attention=log2)@{cutoff}" for cutoff in (5, 10)]
    comparison = compare(scores_of(["bm25", "dense"], names))
    text = comparison.to_table().to_text(width)
    assert width_of(text) <= width
    squeezed = re.sub(r"\s", "", text)
    assert all(name in squeezed or name[:20] in squeezed for name in names)


def test_a_file_is_read_as_one_table() -> None:
    table = scores_of(["a", "b"], MEASURES).to_table()
    assert width_of(table.to_text()) > 120
    assert len([line for line in table.to_text().split("\n") if line.startswith("a ")]) == 1


def test_wide_characters_line_up() -> None:
    lines = made({run: {"RR": [0.5]} for run in ("日本", "abcd", "e\u0301")}).to_table().to_text().split("\n")
    ends = {line.index("0.5000") + shift for line, shift in zip(lines[1:4], (2, 0, -1), strict=True)}
    assert len(ends) == 1


def test_colour_changes_no_letter() -> None:
    table = scores_of(["a", "b"], MEASURES[:2]).to_table()
    plain, coloured = table.to_text(200), table.to_text(200, color=True)
    assert "\x1b[" in coloured
    assert "\x1b" not in plain
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured).split("\n")
    assert [line for line in stripped if line in plain.split("\n")] == plain.split("\n")


RUN = "".join(f"q{query} Q0 d{place} {place} {9 - place} r\n" for query in range(6) for place in (1, 2, 3))


@pytest.mark.parametrize("no_color", [False, True])
def test_a_terminal_has_colours_unless_it_wants_none(tmp_path: Path, no_color: bool) -> None:
    for name in "ab":
        (tmp_path / f"{name}.trec").write_text(RUN if name == "a" else RUN.replace("d1 1 8", "d1 1 6.5"))
    (tmp_path / "q.txt").write_text("".join(f"q{query} 0 d1 1\n" for query in range(6)))
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "70"}
    environment.pop("NO_COLOR", None)
    if no_color:
        environment["NO_COLOR"] = "1"
    command = ["evaluate", "a.trec", "b.trec", "--qrels", "q.txt", "-m", "RR"]
    done = subprocess.run(
        [sys.executable, "-m", "evenrank", *command], cwd=tmp_path, stdout=theirs, stderr=subprocess.PIPE,
        env=environment, check=False,
    )  # fmt: skip
    os.close(theirs)
    printed = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert done.returncode == 0, done.stderr
    assert ("\x1b[" in printed) != no_color
