"""Audit, report, evaluate and gate say the same of a share, whatever the shop is."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenrank.verdict import Verdict, describe
from evenrank.verdict.value import FAVOURED, LESS, NOT_SHOWN, TOO_FEW

GATE_SAYS = {FAVOURED: "beyond", LESS: "beyond", NOT_SHOWN: "unclear", TOO_FEW: "too few"}
PROJECT = (
    '[data]\ndocuments = "products.csv"\n\n[groups]\nsize = "documents:unit=seller"\ncolour = "documents"\n'
)


def write_shop(folder: Path, seed: int) -> None:
    """Products of sellers, a few of them without a label, and lists that may lean to large sellers."""
    generator = np.random.default_rng(seed)
    products, queries = 300, int(generator.choice([10, 20, 40]))
    seller = generator.integers(0, int(generator.choice([6, 20, 100])), products)
    size = np.where(np.arange(100) % 3 == 0, "large", "small")[seller]
    colour = generator.choice(["red", "green", "blue", "gold"], products, p=[0.5, 0.3, 0.19, 0.01])
    merit = generator.normal(size=100)[seller] + generator.normal(size=products)
    merit -= generator.choice([0, 2]) * (size == "small")
    with (folder / "products.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "seller", "size", "colour", "text"])
        for place in range(products):
            label = size[place] if generator.random() < 0.95 else ""
            rows.writerow([f"p{place}", f"s{seller[place]}", label, colour[place], "a product"])
    with (folder / "run.trec").open("w") as lines:
        for query in range(queries):
            score = merit + generator.normal(size=products)
            for rank, product in enumerate(np.argsort(-score)[:30].tolist(), 1):
                lines.write(f"q{query} Q0 p{product} {rank} {score[product]:.6f} shop\n")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("target", ["catalogue", "candidates", "equal"])
def test_verdict_gate_and_report_never_disagree(
    evenrank: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, target: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_shop(tmp_path, seed)
    Path("evenrank.toml").write_text(f'{PROJECT}\n[audit]\ntarget = "{target}"\n')
    made = evenrank("audit", "run.trec", "--project", "evenrank.toml", "-o", "audit")
    assert made.code == 0, made.err
    (folder,) = Path("audit").glob("2*")
    summary = json.loads((folder / "summary.json").read_text())
    found = [Verdict.from_json(one) for one in summary["verdicts"]]
    assert [(one.attribute, one.target, one.unit) for one in found] == [
        ("size", target, "seller"), ("colour", target, ""),
    ]  # fmt: skip

    rules = "".join(
        f"\n[gate.measures.\"GroupShare(attr='{verdict.attribute}', attention=log2, missing='none')@10"
        f'[{group.value}]"]\nfloor = {group.target!r}\nceiling = {group.target!r}\n'
        for verdict in found
        for group in verdict.groups
    )
    Path("evenrank.toml").write_text(f'{PROJECT}\n[audit]\ntarget = "{target}"\n{rules}')
    gated = evenrank("gate", "run.trec", "--project", "evenrank.toml", "--format", "jsonl")
    records = {
        (record["measure"], record["column"]): record for record in map(json.loads, gated.out.splitlines())
    }
    page = (folder / "report.html").read_text()
    failed = False
    for verdict in found:
        assert describe(verdict) in gated.err
        for group in verdict.groups:
            (record,) = (
                one for key, one in records.items() if verdict.attribute in key[0] and key[1] == group.value
            )
            assert record["finding"] == GATE_SAYS[group.decision]
            assert record["value"] == pytest.approx(group.share)
            if group.decision != TOO_FEW:
                assert (record["low"], record["high"]) == pytest.approx((group.share_low, group.share_high))
                below, above = group.share < group.shown_below, group.share > group.shown_above
                assert (group.decision == LESS, group.decision == FAVOURED) == (below, above)
            failed |= group.decision != NOT_SHOWN
            row = re.search(rf'<tr><th scope="row">{group.value}</th>(.*?)</tr>', page)
            assert row is not None
            said = "no verdict" if group.decision == TOO_FEW else group.decision
            assert row[1].endswith(f"<td>{said}</td>")
    assert gated.code == (3 if failed else 0)
    if target == "catalogue":
        told = evenrank("evaluate", "run.trec", "--project", "evenrank.toml")
        assert told.code == 0, told.err
        text = " ".join((told.out + told.err).split())
        assert all(describe(verdict) in text for verdict in found)
