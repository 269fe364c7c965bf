"""The share of a log that would be kept has the interval of Clopper and Pearson, as scipy has it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scipy import stats

from evenrank.cli import main

PROCEDURE = """workers = 1
experts = 1
labels = ["plain", "old"]
passing = "plain"
questions = ["ageless"]
domains = ["Work"]
"""


@pytest.mark.parametrize(("kept", "drawn"), [(0, 7), (1, 40), (3, 20), (19, 20), (20, 20)])
def test_each_limit_leaves_a_tail_of_a_fortieth(
    kept: int, drawn: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Drawn from so many queries that there is no end to them. A share that is estimated costs one."""
    monkeypatch.chdir(tmp_path)
    files = {
        "queries.csv": ["query,text,stratum,weight", *(f"q{i},text {i},all,1000000" for i in range(drawn))],
        "worker.csv": [
            "annotator,query,text,label",
            *(f"w,q{i},text {i},{'plain' if i < kept else 'old'}" for i in range(drawn)),
        ],
        "expert.csv": [
            "annotator,query,text,ageless,domains,reason",
            *(f"e,q{i},text {i},yes,Work,because" for i in range(kept)),
        ],
    }
    for name, lines in files.items():
        Path(name).write_text("\n".join(lines) + "\n")
    Path("procedure.toml").write_text(PROCEDURE)
    given = ["worker.csv", "expert.csv", "--procedure", "procedure.toml", "--queries", "queries.csv"]
    assert main(["queryset", "collect", *given, "-o", "set.csv"]) == 0
    share, low, high = (float(found) for found in re.findall(r"([\d.]+)%", capsys.readouterr().err)[:3])
    assert share == pytest.approx(100 * kept / drawn, abs=0.06)
    hits, size = (kept, drawn) if kept in (0, drawn) else (kept / drawn * (drawn - 1), drawn - 1)
    wanted_low = stats.beta.ppf(0.025, hits, size - hits + 1) if hits else 0
    wanted_high = stats.beta.ppf(0.975, hits + 1, size - hits) if hits < size else 1
    assert (low, high) == pytest.approx((100 * wanted_low, 100 * wanted_high), abs=0.06)
