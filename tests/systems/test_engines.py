"""A search engine as a system: it finds what it has indexed, and its run is like any other."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

import evenrank as er
from evenrank.cli import main
from evenrank.systems import make_system


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    database = sqlite3.connect(path)
    database.execute("create virtual table products using fts5(id unindexed, title)")
    rows = [(f"d{n}", f"red lamp {'big ' * n}") for n in range(5)]
    database.executemany("insert into products values (?, ?)", rows)
    database.commit()
    database.close()
    return path


def test_a_database_by_its_address(shop: Path) -> None:
    system = make_system(f"Engine(address='{shop}')@3")
    run = system.retrieve({"q1": "lamp", "q2": "zebra"}, 10)
    assert run.documents("q1") == ["d0", "d1", "d2"]  # the shortest titles
    assert "q2" not in run
    assert system.notes  # type: ignore[attr-defined]


def test_a_run_without_documents(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shop.parent)
    Path("queries.tsv").write_text("q1\tred lamp\n")
    assert main(["retrieve", "Engine(address='shop.db')", "--queries", "queries.tsv", "-o", "shop.trec"]) == 0
    assert len(er.read_run("shop.trec").documents("q1")) == 5
    assert json.loads(Path("shop.trec.system.json").read_text())["class"] == "industry"
    capsys.readouterr()
    fused = "RRF(BM25,Engine(address='shop.db'))"
    assert main(["retrieve", fused, "--queries", "queries.tsv", "-o", "both.trec"]) == 2
    assert "--documents" in capsys.readouterr().err
