"""Audit, report, evaluate and gate say the same of a share, whatever the shop is."""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenrank as er

Evenrank = Callable[..., Any]

GATE_SAYS = {
    "favoured": "beyond",
    "less than its target": "beyond",
    "not shown": "unclear",
    "too few": "too few",
}
PROJECT = (
    '[data]\ndocuments = "products.csv"\nmissing = "uniform"\n\n'
    '[groups]\nsize = "documents:unit=seller"\ncolour = "documents"\n'
)
SHARES = {
    "size": {"large": 0.3, "small": 0.7},
    "colour": {"red": 0.4, "green": 0.3, "blue": 0.2, "gold": 0.1},
}
GROUPS = sum(map(len, SHARES.values()))


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


def audited(evenrank: Evenrank, folder: Path, seed: int, target: str) -> tuple[Path, dict[str, Any]]:
    """The folder of the audit, and its summary."""
    write_shop(folder, seed)
    write_project(target)
    made = evenrank("audit", "run.trec", "--project", "evenrank.toml", "-o", "audit")
    assert made.code == 0, made.err
    (written,) = Path("audit").glob("2*")
    return written, json.loads((written / "summary.json").read_text())


def gated(evenrank: Evenrank, target: str, verdicts: list[dict[str, Any]], attention: str) -> Any:
    """What the gate says of every group against its target, and what it prints besides."""
    rules = "".join(
        f"\n[gate.measures.\"GroupShare(attr='{verdict['attribute']}'{attention})@10[{group['value']}]\"]\n"
        f"floor = {group['target']!r}\nceiling = {group['target']!r}\n"
        for verdict in verdicts
        for group in verdict["groups"]
    )
    write_project(target, rules)
    found = evenrank("gate", "run.trec", "--project", "evenrank.toml", "--format", "jsonl")
    records = [json.loads(line) for line in found.out.splitlines()]
    return found, {(one["measure"].split("'")[1], one["column"]): one for one in records}


def known(value: float | None) -> float:
    return float("nan") if value is None else value


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("target", ["catalogue", "candidates", "equal", "given"])
def test_verdict_and_gate_never_disagree(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, target: str
) -> None:
    monkeypatch.chdir(tmp_path)
    _, summary = audited(evenrank, tmp_path, seed, target)
    verdicts = summary["verdicts"]
    assert [(one["attribute"], one["target"], one["unit"]) for one in verdicts] == [
        ("size", target, "seller"), ("colour", target, ""),
    ]  # fmt: skip
    # lists without labels are not in it
    assert all(one["queries"] < len(er.read_run("run.trec")) for one in verdicts)
    found, records = gated(evenrank, target, verdicts, ", attention=log2")
    assert all(sentence in found.err for sentence in summary["sentences"])
    decisions = set()
    for verdict in verdicts:
        for group in verdict["groups"]:
            record = records[verdict["attribute"], group["value"]]
            decisions.add(group["decision"])
            assert record["finding"] == GATE_SAYS[group["decision"]]
            assert record["value"] == pytest.approx(group["share"])
            if group["decision"] != "too few":
                ends = group["share_low"], group["share_high"]
                assert (record["low"], record["high"]) == pytest.approx(ends)
                assert (group["decision"] == "less than its target") == (
                    group["share"] < group["shown_below"]
                )
                assert (group["decision"] == "favoured") == (group["share"] > group["shown_above"])
    assert found.code == (3 if decisions - {"not shown"} else 0)
    if target == "catalogue":
        told = evenrank("evaluate", "run.trec", "--project", "evenrank.toml")
        text = " ".join((told.out + told.err).split())
        assert all(sentence in text for sentence in summary["sentences"])


@pytest.mark.parametrize("target", ["catalogue", "candidates", "equal", "given"])
def test_a_gate_on_counted_places_has_their_share_and_an_interval_that_decides(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """Each of the first ten places counts the same, where an audit weighs them."""
    monkeypatch.chdir(tmp_path)
    _, summary = audited(evenrank, tmp_path, 0, target)
    _, records = gated(evenrank, target, summary["verdicts"], "")
    assert len(records) == sum(len(one["groups"]) for one in summary["verdicts"]) == GROUPS
    with Path("products.csv").open(newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    run = er.read_run("run.trec")
    for verdict in summary["verdicts"]:
        for group in verdict["groups"]:
            record = records[verdict["attribute"], group["value"]]
            shares = []
            for query in run:
                labels = [rows[one][verdict["attribute"]] for one in run.documents(query)[:10]]
                labels = [label for label in labels if label]
                shares += [labels.count(group["value"]) / len(labels)] if labels else []
            assert record["value"] == pytest.approx(np.mean(shares))
            low, high = known(record["low"]), known(record["high"])
            outside = low > group["target"] or high < group["target"]
            assert outside == (record["finding"] == "beyond")


@pytest.mark.needs("altair", "vl_convert", "jinja2")
@pytest.mark.parametrize("target", ["catalogue", "given"])
def test_reports_say_of_each_group_what_audit_and_gate_say(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.chdir(tmp_path)
    folder, summary = audited(evenrank, tmp_path, 0, target)
    _, records = gated(evenrank, target, summary["verdicts"], ", attention=log2")
    assert len(records) == GROUPS
    assert evenrank("report", "run.trec", "--project", "evenrank.toml", "-o", "report.html").code == 0
    for page in (folder / "report.html", Path("report.html")):
        rows = verdict_rows(page.read_text())
        for verdict in summary["verdicts"]:
            for group in verdict["groups"]:
                row, record = rows[group["value"]], records[verdict["attribute"], group["value"]]
                few = group["decision"] == "too few"
                assert row["verdict"].startswith("no verdict" if few else group["decision"])
                assert row["attention"] == [pytest.approx(100 * record["value"], abs=0.51)]
                beside = [100 * (share - group["target"]) for share in (record["value"], group["share"])]
                assert row["difference"] * 2 == pytest.approx(beside, abs=0.051)
                if not few:
                    ends = [100 * (record[end] - group["target"]) for end in ("low", "high")]
                    assert row["interval"] == pytest.approx(ends, abs=0.051)


def verdict_rows(page: str) -> dict[str, dict[str, Any]]:
    """The numbers of each group in the table of verdicts of a report, and its verdict."""
    found = {}
    for group in itertools.chain.from_iterable(SHARES.values()):
        row = re.search(rf'<tr><th scope="row">{group}</th>(.*?)</tr>', page)
        assert row is not None
        cells = re.findall(r"<td>(.*?)</td>", row[1])
        numbers = [
            [float(one) for one in re.findall(r"[-+]?\d+(?:\.\d+)?", cell.replace("\N{MINUS SIGN}", "-"))]
            for cell in cells
        ]
        _, _, _, attention, _, difference, interval, *_ = numbers
        found[group] = {
            "attention": attention, "difference": difference, "interval": interval, "verdict": cells[-1],
        }  # fmt: skip
    return found
