"""Who sees what: balanced blocks, orders of greatest and least DUO, and nothing to foresee."""

from __future__ import annotations

import csv
import json
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import study_walks as walks

import evenrank as er

CONDITIONS = 6


def assigned(file: Path) -> dict[str, list[tuple[str, ...]]]:
    """The conditions of each question as they were given, in blocks as long as there are conditions."""
    with walks.stored(file) as store:
        given = store.execute(
            "SELECT question, condition FROM assignments ORDER BY question, slot"
        ).fetchall()
    found: dict[str, list[str]] = {}
    for question, condition in given:
        found.setdefault(question, []).append(condition)
    return {
        question: [tuple(own[at : at + CONDITIONS]) for at in range(0, len(own), CONDITIONS)]
        for question, own in found.items()
    }


@pytest.mark.needs("jinja2")
def test_conditions_are_even_after_each_block_and_their_order_cannot_be_foreseen(
    tmp_path: Path, evenrank: Any
) -> None:
    """Of two studies with the same settings as well: the seed of the order is drawn when a study begins."""
    folder = walks.write_study(tmp_path / "study")
    both = []
    for name in ("one.sqlite", "two.sqlite"):
        assert evenrank("study", "simulate", folder, "--participants", "30", "--store", name).code == 0
        both.append(assigned(folder / name))
    assert set(both[0]) == {"cars", "homework", "museums"}
    for blocks in both[0].values():
        assert len(blocks) >= 4  # but for those who left before
        for block in blocks:
            assert max(Counter(block).values()) == 1
    orders = [tuple(blocks[:4]) for found in both for blocks in found.values()]
    assert len(set(orders)) == len(orders)
    assert len(set(orders[0])) > 1


@pytest.mark.parametrize("seed", range(4))
def test_orders_are_the_extreme_ones(tmp_path: Path, evenrank: Any, seed: int) -> None:
    """Against every order of six documents: the largest DUO that leans to the side, and the smallest DUO."""
    generator = np.random.default_rng(seed)
    folder = walks.write_study(tmp_path / "study")
    file = folder / "corpora/synthetic.jsonl"
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    own = [record for record in records if record["question"] == "cars"]
    scores = generator.normal(size=len(own))
    scores[:2] = abs(scores[0]), -abs(scores[1])
    for record, score in zip(own, scores.tolist(), strict=True):
        record["strength"] = score
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    settings = (folder / "study.toml").read_text(encoding="utf-8")
    graded = settings.replace('labels = "side", graded = "strength"', 'graded = "strength"')
    (folder / "study.toml").write_text(graded, encoding="utf-8")

    names = [record["id"] for record in own]
    orders = {
        str(place): {name: float(-rank) for rank, name in enumerate(order)}
        for place, order in enumerate(permutations(names))
    }
    polarity = er.Polarity.build(names, scores[:, None])
    measured = er.evaluate(orders, "DUO(signed=True)", polarity=polarity).to_dict()
    (values,) = (np.array([*by_query.values()]) for by_query in _innermost(measured))
    checked = evenrank("study", "check", folder, "--format", "jsonl")
    if checked.code:  # one side never leads, which is an error that names it
        side = "for" if values.max() <= 0 else "against"
        assert "cars" in checked.err
        assert side in checked.err
        return
    rows = [json.loads(line) for line in checked.out.splitlines()]
    found = {row["condition"]: row["signed_duo"] for row in rows if row["question"] == "cars"}
    assert found["synthetic: for first"] == pytest.approx(values.max(), abs=1e-9)
    assert found["synthetic: against first"] == pytest.approx(values.min(), abs=1e-9)
    assert found["synthetic: mixed"] == pytest.approx(0, abs=1e-9)


def _innermost(found: dict[str, Any]) -> list[dict[str, float]]:
    values = list(found.values())
    return [found] if not isinstance(values[0], dict) else [one for own in values for one in _innermost(own)]


@pytest.mark.slow
def test_each_participant_gets_the_next_place(tmp_path: Path, serve: Any) -> None:
    """Twelve participants, six conditions: two rounds of each question, whatever order questions came in."""
    served = serve(walks.write_study(tmp_path / "study", quote_words="0", minimum_words="0"))
    for _ in range(12):
        with walks.visitor(served) as client:
            walks.walk(client)
    counts = walks.rows(
        served, "SELECT question, condition, COUNT(*) FROM assignments GROUP BY question, condition"
    )
    assert len(counts) == 18
    assert {count for _, _, count in counts} == {2}


def test_a_run_can_be_a_condition(tmp_path: Path, evenrank: Any) -> None:
    folder = walks.write_study(tmp_path / "study")
    condition = '[[conditions]]\nname = "fair"\ncorpus = "natural"\nrun = "fair.trec"\n'
    with (folder / "study.toml").open("a", encoding="utf-8") as file:
        file.write(condition)
    missing = evenrank("study", "check", folder)
    assert missing.code == 1
    assert "fair.trec" in missing.err
    orders = {
        question: [f"{question}-n{rank}" for rank in (3, 1, 2)]
        for question in ("cars", "homework", "museums")
    }
    lines = [
        f"{question} Q0 {name} {rank} {9 - rank} x\n"
        for question, names in orders.items()
        for rank, name in enumerate(names)
    ]
    (folder / "fair.trec").write_text("".join(lines), encoding="utf-8")
    assert evenrank("study", "simulate", folder, "--participants", "14").code == 0
    assert evenrank("study", "export", folder, "--store", "simulated.sqlite").code == 0
    with (folder / "export/trials.csv").open(encoding="utf-8", newline="") as file:
        fair = [row for row in csv.DictReader(file) if row["condition"] == "fair"]
    assert fair
    for row in fair:
        assert row["shown"].split() == orders[row["question"]]
        assert float(row["direction"]) == 0
    (folder / "fair.trec").write_text("".join(lines).replace("cars-n1", "elsewhere"), encoding="utf-8")
    unknown = evenrank("study", "check", folder)
    assert unknown.code == 1
    assert "elsewhere" in unknown.err
