"""Groups that an audit writes for the command that it advises are those that it was made of."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Evenrank = Callable[..., Any]


def quoted(*cells: object) -> str:
    return ",".join(f'"{cell}"' for cell in cells) + "\n"


def size_of(document: int) -> str:
    return ("large", "small", "mid, dle", "small")[document % 4]


ROWS = {
    "a label for each": ["document,size\n", *(quoted(f"d{n}", size_of(n)) for n in range(80))],
    "shares": [
        "document,size,part\n",
        *(quoted(f"d{n}", "large", 1) for n in range(0, 80, 2)),
        *(quoted(f"d{n}", "small", 0.25) for n in range(1, 80, 2)),
        *(quoted(f"d{n}", "mid, dle", 0.75) for n in range(1, 80, 2)),
    ],
    "several labels": [
        "document,size\n",
        *(quoted(f"d{n}", size_of(n)) for n in range(80)),
        *(quoted(f"d{n}", "mid, dle") for n in range(1, 80, 4)),
    ],
}
ROWS["several labels in full"] = ROWS["several labels"]
HOW = {
    "shares": ["columns = { share = 'part' }"],
    "several labels": ["multilabel = true"],
    "several labels in full": ["multilabel = true", "split = 'full'"],
}
BY_QUERY = [
    "query,document,size\n",
    *(quoted(f"q{q}", f"d{n}", size_of(n + q * (n % 4 != 0))) for q in range(20) for n in range(80)),
]


@pytest.mark.parametrize("kind", [*ROWS, "labels by query"])
@pytest.mark.parametrize("target", ["candidates", "shares", "shares by query"])
def test_the_groups_and_targets_of_the_advice_are_those_of_the_audit(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, target: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sizes.csv").write_text("".join(ROWS.get(kind, BY_QUERY)))
    order = sorted(range(80), key=lambda n: n % 4 != 0)  # large first
    lists = [(q, [n for n in order if (n // 4 + q) % 2]) for q in range(20)]
    Path("run.trec").write_text(
        "".join(f"q{q} Q0 d{n} {r} {-r} x\n" for q, own in lists for r, n in enumerate(own, 1))
    )
    part = {"large": 0.1, "mid, dle": 0.3, "small": 0.6}
    Path("aim.csv").write_text(
        "value,share\n" + "".join(quoted(*row) for row in part.items())
        if target == "shares"
        else "query,value,share\n" + "".join(quoted(f"q{q}", *row) for q in range(20) for row in part.items())
    )
    aim = "candidates" if target == "candidates" else "aim.csv"
    how = "\n".join(HOW.get(kind, []))
    Path("case.toml").write_text(f"[groups.size]\nfile = 'sizes.csv'\ncolumn = 'size'\n{how}\n")
    given = ["--project", "case.toml", "--target", f"size={aim}"]
    made = evenrank("audit", "run.trec", *given)
    assert made.code == 0, made.err
    (verdict,) = json.loads(Path("audit/latest/summary.json").read_text())["verdicts"]
    command = verdict["advice"]["command"]
    place = command.index("--groups")
    written = command[place : place + 4]
    assert written[2] == "--target"

    def values(groups: list[str]) -> dict[tuple[str, ...], float]:
        asked = ["-m", "GroupShare@10 GroupShare(of='target')@10", "--view", "queries", "--format", "jsonl"]
        done = evenrank("evaluate", "run.trec", *groups, *asked)
        assert done.code == 0, done.err
        rows = map(json.loads, done.out.splitlines())
        return {(row["query"], row["measure"], row["column"]): row["value"] for row in rows}

    before = values(given)
    assert values(written) == pytest.approx(before)
    assert len(before) == 20 * 2 * 3
