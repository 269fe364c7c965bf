"""What looks the same and is not: ids, labels, and labels of documents that are those of their sellers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Evenrank = Callable[..., Any]


def write_shop(blank: int = 0, labels: tuple[str, ...] = ("small", "large")) -> None:
    """400 products of 40 sellers whose label is their seller's; the ids of some end in a no-break space."""
    rows = [
        f"p{n}{chr(160) if n < blank else ''},{labels[n % 40 % len(labels)]},s{n % 40}\n" for n in range(400)
    ]
    Path("groups.csv").write_text("document,size,seller\n" + "".join(rows), encoding="utf-8")
    generator = np.random.default_rng(1)
    lists = [generator.permutation(400)[:10].tolist() for _ in range(30)]
    Path("run.trec").write_text(
        "".join(f"q{q} Q0 p{p} {r} {20 - r} x\n" for q, own in enumerate(lists) for r, p in enumerate(own, 1))
    )


def notes(evenrank: Evenrank, *words: str) -> tuple[list[str], str]:
    made = evenrank("audit", "run.trec", *words, "-o", "audit")
    assert made.code == 0, made.err
    (summary,) = Path("audit").glob("2*/summary.json")
    return json.loads(summary.read_text())["notes"], made.err


def test_the_terminal_counts_ids_and_labels_that_look_alike(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_shop(blank=100, labels=("A", "a", "1", "1.0", "NA", "none"))
    ranked = {line.split()[2] for line in Path("run.trec").read_text().splitlines()}
    lacking = sum(int(one[1:]) < 100 for one in ranked)
    found, terminal = notes(evenrank, "--groups", "size=groups.csv:values=A,a,1,1.0,NA,none")
    (ids,) = (note for note in found if "'p0\\xa0'" in note or "other blanks" in note)
    (labels,) = (note for note in found if "'A' and 'a'" in note)
    assert f"{lacking} ranked documents" in ids
    assert "'1' and '1.0'" in labels
    for note in (ids, labels):
        assert note in " ".join(terminal.split())


def test_nothing_is_said_where_nothing_looks_alike(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_shop()
    found, _ = notes(evenrank, "--groups", "size=groups.csv")
    assert not any("alike" in note or "other case" in note for note in found)


@pytest.mark.parametrize("project", [False, True])
def test_a_likely_unit_is_named_for_a_file_of_groups(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    write_shop()
    Path("evenrank.toml").write_text('[groups]\nsize = "groups.csv"\n')
    words = ("--project", "evenrank.toml") if project else ("--groups", "size=groups.csv")
    found, _ = notes(evenrank, *words)
    (line,) = (note for note in found if "unit=" in note)
    advised = line.partition("--groups ")[2].partition(" ")[0]
    assert advised.startswith("size=")
    assert advised.endswith("groups.csv:unit=seller")
    again = evenrank("audit", "run.trec", "--groups", advised, "-o", "again")
    assert again.code == 0, again.err
    (summary,) = Path("again").glob("2*/summary.json")
    assert json.loads(summary.read_text())["verdicts"][0]["unit"] == "seller"


@pytest.mark.parametrize(
    "groups", [("--groups", "size=groups.csv:unit=nix"), ("--groups", "size=documents:unit=nix")]
)
def test_a_unit_that_is_no_column_is_named_with_those_there_are(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, groups: tuple[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_shop()
    failed = evenrank("audit", "run.trec", *groups, "--documents", "groups.csv", "-o", "audit")
    assert failed.code == 1
    assert "unit=nix" in failed.err
    assert "'seller'" in failed.err


def test_a_label_of_single_products_belongs_to_no_seller(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large sellers have ten products each, but each small one has only one: labels may be its own."""
    monkeypatch.chdir(tmp_path)
    write_shop()
    rows = [f"p{n},large,s{n % 30}\n" if n < 300 else f"p{n},small,t{n}\n" for n in range(400)]
    Path("groups.csv").write_text("document,size,seller\n" + "".join(rows))
    found, _ = notes(evenrank, "--groups", "size=groups.csv")
    assert not any("unit=" in note for note in found)


@pytest.mark.parametrize("sellers", [199, 200, 201])
def test_a_seller_has_two_products_on_average_at_least(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sellers: int
) -> None:
    """Of fewer each, a column tells too little about whom labels belong to."""
    monkeypatch.chdir(tmp_path)
    write_shop()
    rows = [f"p{n},{'small' if n % sellers % 2 else 'large'},s{n % sellers}\n" for n in range(400)]
    Path("groups.csv").write_text("document,size,seller\n" + "".join(rows))
    found, _ = notes(evenrank, "--groups", "size=groups.csv")
    assert any("unit=seller" in note for note in found) == (sellers <= 200)
