"""Targets of the TREC Fair Ranking track: relevant documents and the world, averaged; the unknown apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import evenrank as er
from evenrank import Membership
from evenrank.cli import main
from evenrank.data.averaged_target import averaged_targets
from evenrank.errors import ParameterError

VALUES = ("africa", "asia", "europe", "unknown")
WORLD = {"africa": 0.2, "asia": 0.7, "europe": 0.1}


def drawn(seed: int = 0) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    draw = np.random.default_rng(seed)
    labels = {f"d{n}": VALUES[draw.integers(0, 4)] for n in range(60) if n % 5}
    judged = {
        f"q{q}": {f"d{n}": int(draw.integers(0, 3)) for n in draw.permutation(60)[:15]} for q in range(8)
    }
    return labels, judged


def membership(labels: dict[str, str]) -> Membership:
    return Membership.from_labels(er.Attribute("place", VALUES), labels)


def test_only_what_is_known_is_averaged_with_the_world() -> None:
    """The steps that the organisers give: normalise the known, average, scale back, normalise all."""
    labels, judged = drawn()
    found = averaged_targets(membership(labels), er.read_qrels(judged), WORLD, unknown="unknown")
    for query, grades in judged.items():
        relevant = [labels.get(document, "unknown") for document, grade in grades.items() if grade >= 1]
        counts = {value: relevant.count(value) for value in VALUES}
        known = sum(counts[value] for value in WORLD)
        scaled = {value: (counts[value] / known + WORLD[value]) / 2 * known for value in WORLD}
        scaled["unknown"] = counts["unknown"]
        total = sum(scaled.values())
        assert found[query] == pytest.approx([scaled[value] / total for value in VALUES])
        assert sum(found[query]) == pytest.approx(1)


def test_without_a_value_for_the_unknown_they_are_left_out() -> None:
    labels, judged = drawn(1)
    known = {document: value for document, value in labels.items() if value != "unknown"}
    groups = Membership.from_labels(er.Attribute("place", VALUES[:3]), known)
    found = averaged_targets(groups, er.read_qrels(judged), WORLD)
    for query, grades in judged.items():
        relevant = [known[document] for document, grade in grades.items() if grade and document in known]
        expected = [(relevant.count(v) / len(relevant) + WORLD[v]) / 2 for v in VALUES[:3]]
        assert found[query] == pytest.approx(expected)


def test_the_world_can_be_the_collection_or_uniform() -> None:
    labels, judged = drawn(2)
    groups, qrels = membership(labels), er.read_qrels(judged)
    known = [value for value in labels.values() if value != "unknown"]
    shares = {value: known.count(value) / len(known) for value in WORLD}
    by_name = averaged_targets(groups, qrels, "collection", unknown="unknown")
    by_share = averaged_targets(groups, qrels, shares, unknown="unknown")
    for query in by_name:
        assert by_name[query] == pytest.approx(by_share[query])
    even = averaged_targets(groups, qrels, "uniform", unknown="unknown")
    thirds = averaged_targets(groups, qrels, [1 / 3] * 3, unknown="unknown")
    assert even["q0"] == pytest.approx(thirds["q0"])


def test_queries_without_known_relevant_documents() -> None:
    groups = membership({"a": "asia", "u": "unknown"})
    qrels = er.read_qrels({"none": {"a": 0}, "hidden": {"u": 1, "x": 1}, "seen": {"a": 1}})
    assert averaged_targets(groups, qrels, WORLD, unknown="unknown") == {
        "hidden": (0.0, 0.0, 0.0, 1.0),
        "seen": pytest.approx((0.1, 0.85, 0.05, 0.0)),
    }
    plain = Membership.from_labels(er.Attribute("place", VALUES[:3]), {"a": "asia"})
    assert list(averaged_targets(plain, qrels, WORLD)) == ["seen"]


def test_what_is_wrong() -> None:
    groups, qrels = membership({"a": "asia"}), er.read_qrels({"q": {"a": 1}})
    with pytest.raises(ParameterError, match="'mars' is not a value: they are 'africa'"):
        averaged_targets(groups, qrels, WORLD, unknown="mars")
    with pytest.raises(ParameterError, match="the world has no share for unknown documents"):
        averaged_targets(groups, qrels, {**WORLD, "africa": 0.1, "unknown": 0.1}, unknown="unknown")


def test_in_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    labels = {"a": "north", "b": "south", "c": "?"}
    Path("g.csv").write_text("document,place\n" + "".join(f"{d},{v}\n" for d, v in labels.items()))
    Path("qrels.txt").write_text("q 0 a 1\nq 0 b 1\nq 0 c 1\nq 0 d 1\n")
    Path("run.txt").write_text("q 0 a 1 1 r\n")
    Path("world.csv").write_text("value,share\nnorth,0.1\nsouth,0.9\n")
    groups = Membership.from_labels("place", labels)
    target = averaged_targets(groups, er.read_qrels("qrels.txt"), {"north": 0.1, "south": 0.9}, unknown="?")
    assert target["q"] == pytest.approx((0.15, 0.35, 0.5))
    expected = 0.85 + 0.35 + 0.5  # all attention on north
    command = ["evaluate", "run.txt", "--groups", "place=g.csv", "-m", "AWRF", "--format", "tsv"]
    for world in ("north:0.1,south:0.9", "world.csv"):
        given = ["--qrels", "qrels.txt", "--target", f"place=averaged:{world}:unknown=?"]
        assert main([*command, *given]) == 0
        (row,) = capsys.readouterr().out.splitlines()[1:]
        assert float(row.split("\t")[3]) == pytest.approx(expected)
    assert main([*command, "--target", "place=averaged"]) == 2
    assert "place=averaged needs judgements: add --qrels FILE" in capsys.readouterr().err
    assert main([*command, "--qrels", "qrels.txt", "--target", "place=averaged:nowhere.csv"]) == 2
    assert "there is no file of that name" in capsys.readouterr().err
