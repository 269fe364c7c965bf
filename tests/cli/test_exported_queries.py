"""From an export of searches to a gate: every command calls the queries the same."""

from __future__ import annotations

import csv
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_shop import write_small_shop

Evenrank = Callable[..., SimpleNamespace]

TRUSTED = ("--project", "evenrank.toml")  # the engine file has SQL
PROJECT = """[data]
documents = "products.jsonl"
queries = "queries.csv"
{runs}
[groups]
seller_size = "documents"
[engines]
shop = "shop.toml"
[gate]
limits = ["GroupShare(attr='seller_size', attention=log2)@10[small] >= {floor}"]
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_small_shop(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "altair", None)  # reports take seconds
    return tmp_path


def export(shop: Path, head: str) -> list[str]:
    """The queries of the shop as an export has them: a number for each, the words, and how often."""
    with (shop / "queries.csv").open(newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    rows = [
        [text if name == "search term" else str(number) for name in head.split(",")]
        for number, text in enumerate(texts)
    ]
    (shop / "queries.csv").write_text("\n".join([head, *map(",".join, rows)]) + "\n")
    return texts


def fairer(evenrank: Evenrank, printed: str) -> None:
    """Do what the audit advises."""
    command = printed[printed.index("evenrank rerank") :].replace("\\\n", " ").splitlines()[0]
    assert evenrank(*shlex.split(command)[1:]).code == 0


@pytest.mark.parametrize("head", ["No.,search term,searches/month", "search term"])
def test_every_command_reads_what_the_audit_wrote(evenrank: Evenrank, shop: Path, head: str) -> None:
    texts = export(shop, head)
    (shop / "evenrank.toml").write_text(PROJECT.format(floor=0.01, runs=""))
    audited = evenrank("audit", *TRUSTED)
    assert audited.code == 0, audited.err
    (run,) = (shop / "audit").glob("2*/runs/*.trec")
    asked = {line.split()[0] for line in run.read_text().splitlines()}
    assert len(asked) == len(texts)
    assert not asked & {str(number) for number in range(len(texts))}  # the numbers of rows are no ids
    fairer(evenrank, audited.out)
    (shop / "evenrank.toml").write_text(PROJECT.format(floor=0.01, runs='runs = ["fairer.trec"]'))
    for words in (["doctor"], ["gate"], ["gate", "fairer.trec"], ["evaluate"], ["audit", "fairer.trec"]):
        found = evenrank(*words, *TRUSTED)
        assert found.code == 0, (words, found.out, found.err)


def test_init_takes_ids_and_search_terms_for_queries(evenrank: Evenrank, shop: Path) -> None:
    export(shop, "id,search term")
    assert evenrank("init").code == 0
    assert 'queries = "queries.csv"' in (shop / "evenrank.toml").read_text().splitlines()
    found = evenrank("doctor", *TRUSTED)
    assert (found.code, "all is well" in found.out) == (0, True), found.out
    found = evenrank("audit", *TRUSTED)
    assert found.code == 0, found.err


def test_doctor_says_what_an_audit_would_say(evenrank: Evenrank, shop: Path) -> None:
    text = PROJECT.format(floor=0.01, runs="").replace("queries = ", "# queries = ")
    (shop / "evenrank.toml").write_text(text)
    refused = evenrank("audit", *TRUSTED)
    assert (refused.code, "an engine needs queries to be asked" in refused.err) == (2, True)
    found = evenrank("doctor", *TRUSTED)
    assert found.code == 1
    assert "an engine needs queries to be asked" in found.out
    assert "all is well" not in found.out


def test_a_gate_without_a_run_takes_that_of_the_engine(evenrank: Evenrank, shop: Path) -> None:
    (shop / "evenrank.toml").write_text(PROJECT.format(floor=0.5, runs=""))
    audited = evenrank("audit", *TRUSTED)
    fairer(evenrank, audited.out)
    (shop / "evenrank.toml").write_text(PROJECT.format(floor=0.5, runs='runs = ["fairer.trec"]'))
    found = evenrank("gate", *TRUSTED)
    assert (found.code, "of the last audit: audit/latest/runs/shop.trec" in found.err) == (3, True), found.err
    assert found.out.splitlines()[0].startswith("shop: gate failed: ")
    other = evenrank("gate", "fairer.trec", *TRUSTED)
    assert other.code == 0
    assert other.out.splitlines()[0] == "fairer: gate passed: 1 measure"
