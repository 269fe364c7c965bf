"""Engines of a project: found by ``init``, checked by ``doctor``, and asked only where the file was named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_shop import write_small_shop

Evenrank = Callable[..., SimpleNamespace]


def test_init_and_doctor_know_a_shop(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Products, queries and an engine: no run is missed, and an audit needs no further option."""
    write_small_shop(tmp_path)
    monkeypatch.chdir(tmp_path)
    made = evenrank("init")
    assert made.code == 0, made.err
    for line in ('documents = "products.jsonl"', 'queries = "queries.csv"', 'seller_size = "documents"'):
        assert f"\n{line}\n" in made.out
    assert '\nshop = "shop.toml"\n' in made.out  # and not the database too, which the engine file names
    assert "no run" not in made.err
    trusted = ("--project", "evenrank.toml")  # the engine file has SQL
    assert "then try evenrank doctor --project evenrank.toml and evenrank audit --project" in made.err
    found = evenrank("doctor", *trusted)
    assert found.code == 0, found.out
    assert "all is well\nnext: evenrank audit --project evenrank.toml asks shop who" in found.out
    asked = evenrank("audit", "--dry-run", *trusted)
    assert asked.out.startswith("shop at shop: 48 requests for 48 queries")


def test_a_database_alone_is_an_engine(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_small_shop(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.toml").unlink()
    (tmp_path / "notes.db").write_bytes(b"no database")
    assert '\nshop = "shop.db"\n' in evenrank("init").out
    assert evenrank("doctor").code == 0
    assert "48 requests for 48 queries" in evenrank("audit", "--dry-run").out


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('shop = "none.toml"', "none.toml: no such file"),
        ("shop = 3", "engines.shop: must be text"),
        ('shop = "bad.toml"', "engines.shop: adress: there is no such key; did you mean address"),
    ],
)
def test_doctor_checks_engine_files(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str, said: str
) -> None:
    write_small_shop(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.toml").write_text('adress = "sqlite:///shop.db"\n')
    (tmp_path / "evenrank.toml").write_text(f"[engines]\n{entry}\n")
    found = evenrank("doctor", "--project", "evenrank.toml")
    assert (found.code, said in found.out) == (1, True), found.out


def test_an_engine_file_of_a_found_project_asks_no_server(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_small_shop(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "far.toml").write_text('address = "opensearch+http://127.0.0.1:9/products"\n')
    (tmp_path / "evenrank.toml").write_text(
        '[data]\ndocuments = "products.jsonl"\nqueries = "queries.csv"\n[groups]\n'
        'seller_size = "documents"\n[engines]\nfar = "far.toml"\n'
    )
    for words in (["audit"], ["audit", "far"]):
        found = evenrank(*words)
        assert (found.code, "engines.far.far.toml.address" in found.err) == (2, True)
    trusted = ("--project", "evenrank.toml")
    assert "next: evenrank audit --project evenrank.toml asks far" in evenrank("doctor", *trusted).out
    assert "far at " in evenrank("audit", "--project", "evenrank.toml", "--dry-run").out
