"""Targets of an audit: the one of an attribute goes before that of all, and judgements make targets too."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from small_shop import write_small_shop

Evenrank = Callable[..., SimpleNamespace]

KNOWN = ["--queries", "queries.csv", "--documents", "products.jsonl", "--groups", "seller_size,brand"]
GIVEN = "seller_size=small:0.3,large:0.7"
PROJECT = """[data]
documents = "products.jsonl"
queries = "queries.csv"
[groups]
seller_size = "documents"
brand = "documents"
[engines]
shop = "shop.toml"
[targets]
seller_size = {small = 0.3, large = 0.7}
[audit]
target = "equal"
[gate.measures."GroupShare(attr='seller_size', attention=log2)@10[small]"]
floor = 0.001
[gate.measures."GroupShare(attr='brand', attention=log2)@10[a]"]
floor = 0.001
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_small_shop(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "altair", None)  # reports take seconds
    products = [json.loads(line) for line in (tmp_path / "products.jsonl").read_text().splitlines()]
    for place, product in enumerate(products):
        product["brand"] = "ab"[place % 2]
    (tmp_path / "products.jsonl").write_text("".join(json.dumps(one) + "\n" for one in products))
    return tmp_path


def targets(found: SimpleNamespace, shop: Path) -> dict[str, tuple[str, Any]]:
    assert found.code == 0, found.err
    summary = json.loads((max((shop / "audit").glob("2*")) / "summary.json").read_text())
    return {
        verdict["attribute"]: (
            verdict["target"],
            {group["value"]: round(group["target"], 3) for group in verdict["groups"]},
        )
        for verdict in summary["verdicts"]
    }


@pytest.mark.parametrize("order", [(GIVEN, "equal"), ("equal", GIVEN)])
def test_the_target_of_an_attribute_goes_before_that_of_all(
    evenrank: Evenrank, shop: Path, order: tuple[str, str]
) -> None:
    asked = [word for target in order for word in ("--target", target)]
    found = targets(evenrank("audit", "shop.toml", *KNOWN, *asked), shop)
    assert found["seller_size"] == ("given", {"large": 0.7, "small": 0.3})
    assert found["brand"] == ("equal", {"a": 0.5, "b": 0.5})


def test_a_uniform_target_of_an_attribute_goes_before_that_of_all(evenrank: Evenrank, shop: Path) -> None:
    asked = ["--target", "seller_size=uniform", "--target", "candidates"]
    found = targets(evenrank("audit", "shop.toml", *KNOWN, *asked), shop)
    assert [found[name][0] for name in ("seller_size", "brand")] == ["equal", "candidates"]


def test_a_project_has_the_same_order_in_audit_and_gate(evenrank: Evenrank, shop: Path) -> None:
    (shop / "evenrank.toml").write_text(PROJECT)
    trusted = ("--project", "evenrank.toml")  # the engine file has SQL
    found = targets(evenrank("audit", *trusted), shop)
    assert found["seller_size"] == ("given", {"large": 0.7, "small": 0.3})
    assert found["brand"] == ("equal", {"a": 0.5, "b": 0.5})
    gated = evenrank("gate", *trusted)
    assert gated.code == 0, gated.err
    (folder,) = (shop / "audit").glob("2*")
    for sentence in json.loads((folder / "summary.json").read_text())["sentences"]:
        assert sentence in gated.err


def judged(shop: Path, evenrank: Evenrank) -> Path:
    assert evenrank("audit", "shop.toml", *KNOWN).code == 0
    (run,) = max((shop / "audit").glob("2*")).glob("runs/*.trec")
    lines = [line.split() for line in run.read_text().splitlines()]
    sizes = {
        one["id"]: one["seller_size"]
        for one in map(json.loads, (shop / "products.jsonl").read_text().splitlines())
    }
    small = [(line[0], line[2]) for line in lines if sizes[line[2]] == "small"]
    (shop / "qrels.txt").write_text("".join(f"{query} 0 {document} 1\n" for query, document in small))
    (shop / "run.trec").write_text(run.read_text())
    return shop / "run.trec"


def test_relevant_documents_make_a_target_of_runs(evenrank: Evenrank, shop: Path) -> None:
    judged(shop, evenrank)
    asked = ["--qrels", "qrels.txt", "--target", "seller_size=relevance"]
    found = evenrank("audit", "run.trec", *KNOWN, *asked)
    assert found.code == 0, found.err
    assert targets(found, shop)["seller_size"] == ("given", {"large": 0.0, "small": 1.0})
    command = found.out[found.out.index("evenrank rerank") :].replace("\\\n", " ").splitlines()[0]
    assert evenrank(*shlex.split(command)[1:]).code == 0  # the advice has the same target


def test_a_gate_keeps_the_judgements_that_a_target_is_made_of(evenrank: Evenrank, shop: Path) -> None:
    judged(shop, evenrank)
    text = PROJECT.replace("{small = 0.3, large = 0.7}", '"relevance"').replace(
        '[engines]\nshop = "shop.toml"', ""
    )
    (shop / "evenrank.toml").write_text(text.replace("[data]", '[data]\nqrels = "qrels.txt"'))
    found = evenrank("gate", "run.trec")
    assert "judgements" not in found.err
    assert (found.code, "small" in found.err) == (0, True), found.err
    assert evenrank("evaluate", "run.trec").code == 0
