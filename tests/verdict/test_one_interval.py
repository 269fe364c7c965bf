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

import evenrank as er
from evenrank.attention import log2, uniform
from evenrank.verdict import Verdict, describe, verdicts
from evenrank.verdict.value import FAVOURED, LESS, NOT_SHOWN, TOO_FEW

GATE_SAYS = {FAVOURED: "beyond", LESS: "beyond", NOT_SHOWN: "unclear", TOO_FEW: "too few"}
PROJECT = (
    '[data]\ndocuments = "products.csv"\nmissing = "uniform"\n\n'
    '[groups]\nsize = "documents:unit=seller"\ncolour = "documents"\n'
)
SHARES = {
    "size": {"large": 0.3, "small": 0.7},
    "colour": {"red": 0.4, "green": 0.3, "blue": 0.2, "gold": 0.1},
}


def write_shop(folder: Path, seed: int) -> None:
    """Products of sellers, a few of them without a label, and lists that may lean to large sellers.

    One list in six holds no product with a label.
    """
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
        rows.writerows([f"bare{place}", "", "", "", "a product"] for place in range(30))
        for place in range(products):
            label = size[place] if generator.random() < 0.95 else ""
            rows.writerow([f"p{place}", f"s{seller[place]}", label, colour[place], "a product"])
    with (folder / "run.trec").open("w") as lines:
        for query in range(queries):
            score = merit + generator.normal(size=products)
            for rank, product in enumerate(np.argsort(-score)[:30].tolist(), 1):
                name = f"bare{rank - 1}" if query % 6 == 5 else f"p{product}"
                lines.write(f"q{query} Q0 {name} {rank} {score[product]:.6f} shop\n")


def write_project(target: str, rules: str = "") -> None:
    given = "".join(
        f'{name} = "{",".join(f"{value}:{share}" for value, share in shares.items())}"\n'
        for name, shares in SHARES.items()
    )
    aimed = f"[targets]\n{given}" if target == "given" else f'[audit]\ntarget = "{target}"\n'
    Path("evenrank.toml").write_text(f"{PROJECT}\n{aimed}{rules}")


def judged_alone(target: str) -> list[Verdict]:
    """The same verdicts by places instead of attention, made in Python."""
    aims = {
        name: {"target": tuple(shares.values())} if target == "given" else {}
        for name, shares in SHARES.items()
    }
    groups = [
        er.read_groups("products.csv", name, values=list(shares), column=name, unit=unit, **aims[name])
        for (name, shares), unit in zip(SHARES.items(), ("seller", None), strict=True)
    ]
    return list(
        verdicts(er.read_run("run.trec"), groups=groups, catalogue=True, target=target, attention=uniform())
    )


def rule_of(verdict: Verdict, attention: str, group: str) -> tuple[str, str]:
    how = "" if attention == "uniform" else f",attention={attention}"  # uniform is the default
    return f"GroupShare(attr='{verdict.attribute}'{how})@10", group


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("target", ["catalogue", "candidates", "equal", "given"])
def test_verdict_gate_and_report_never_disagree(
    evenrank: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, target: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_shop(tmp_path, seed)
    write_project(target)
    made = evenrank("audit", "run.trec", "--project", "evenrank.toml", "-o", "audit")
    assert made.code == 0, made.err
    (folder,) = Path("audit").glob("2*")
    summary = json.loads((folder / "summary.json").read_text())
    found = [Verdict.from_json(one) for one in summary["verdicts"]]
    assert [(one.attribute, one.target, one.unit) for one in found] == [
        ("size", target, "seller"), ("colour", target, ""),
    ]  # fmt: skip
    both = [*found, *judged_alone(target)]
    assert [one.attention for one in both] == [repr(log2())] * 2 + [repr(uniform())] * 2
    assert all(
        one.queries < len(er.read_run("run.trec")) for one in both
    )  # lists without labels are not in it

    rules = "".join(
        '\n[gate.measures."{}[{}]"]\n'.format(*rule_of(verdict, verdict.attention, group.value))
        + f"floor = {group.target!r}\nceiling = {group.target!r}\n"
        for verdict in both
        for group in verdict.groups
    )
    write_project(target, rules)
    gated = evenrank("gate", "run.trec", "--project", "evenrank.toml", "--format", "jsonl")
    records = {
        (record["measure"], record["column"]): record for record in map(json.loads, gated.out.splitlines())
    }
    page = (folder / "report.html").read_text()
    failed = False
    for verdict in both:
        assert describe(verdict) in gated.err
        for group in verdict.groups:
            record = records[rule_of(verdict, verdict.attention, group.value)]
            assert record["finding"] == GATE_SAYS[group.decision]
            assert record["value"] == pytest.approx(group.share)
            if group.decision != TOO_FEW:
                assert (record["low"], record["high"]) == pytest.approx((group.share_low, group.share_high))
                below, above = group.share < group.shown_below, group.share > group.shown_above
                assert (group.decision == LESS, group.decision == FAVOURED) == (below, above)
            failed |= group.decision != NOT_SHOWN
    for verdict in found:
        for group in verdict.groups:
            row = re.search(rf'<tr><th scope="row">{group.value}</th>(.*?)</tr>', page)
            assert row is not None
            said = "no verdict" if group.decision == TOO_FEW else group.decision
            cell = row[1].rpartition("<td>")[2].removesuffix("</td>")
            assert cell.startswith(said)
            assert ("would have been shown" in cell) == (group.decision == NOT_SHOWN)
    assert gated.code == (3 if failed else 0)
    if target == "catalogue":
        told = evenrank("evaluate", "run.trec", "--project", "evenrank.toml")
        assert told.code == 0, told.err
        text = " ".join((told.out + told.err).split())
        assert all(describe(verdict) in text for verdict in found)
