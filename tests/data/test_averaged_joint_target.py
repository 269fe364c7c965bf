"""Targets of the TREC Fair Ranking track over combinations of attributes, of which only some are known."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import evenrank as er
from evenrank import Membership
from evenrank.cli import main
from evenrank.data.averaged_joint_target import averaged_joint_targets
from evenrank.errors import ParameterError

PLACES, SIDES = ("?", "north", "south"), ("?", "f", "m")
PLACE_WORLD, SIDE_WORLD = {"north": 0.2, "south": 0.8}, {"f": 0.5, "m": 0.5}


def memberships(place: dict[str, str], side: dict[str, str]) -> list[Membership]:
    return [
        Membership.from_labels(er.Attribute("place", PLACES), place),
        Membership.from_labels(er.Attribute("side", SIDES), side),
    ]


def test_four_blocks_as_the_organisers_average_them() -> None:
    """The 3 x 3 table of shares of relevant documents: its four blocks, each with its own world."""
    generator = np.random.default_rng(4)
    documents = [f"d{i}" for i in range(40)]
    place = {d: str(generator.choice(PLACES)) for d in documents}
    side = {d: str(generator.choice(SIDES)) for d in documents[:35]}  # the last five are not listed: unknown
    relevant = documents[10:]
    qrels = er.read_qrels({"q": {d: int(d in relevant) for d in documents}})
    table = np.zeros((3, 3))
    for d in relevant:
        table[PLACES.index(place[d]), SIDES.index(side.get(d, "?"))] += 1 / len(relevant)
    expected = table.copy()
    both, places, sides = table[1:, 1:].sum(), table[1:, 0].sum(), table[0, 1:].sum()
    expected[1:, 1:] = 0.5 * table[1:, 1:] + 0.5 * both * np.outer([0.2, 0.8], [0.5, 0.5])
    expected[1:, 0] = 0.5 * table[1:, 0] + 0.5 * places * np.array([0.2, 0.8])
    expected[0, 1:] = 0.5 * table[0, 1:] + 0.5 * sides * np.array([0.5, 0.5])
    parts = memberships(place, side)
    found = averaged_joint_targets(parts, qrels, [PLACE_WORLD, SIDE_WORLD], unknown=["?", "?"])["q"]
    assert found == pytest.approx(expected.ravel().tolist())
    assert sum(found) == pytest.approx(1)
    values = Membership.combined(*parts).attribute.values
    assert values == tuple(f"{p} & {s}" for p, s in product(PLACES, SIDES))


def test_without_unknown_such_documents_are_left_out() -> None:
    parts = memberships({"a": "north", "b": "south"}, {"a": "f"})
    qrels = er.read_qrels({"q": {"a": 1, "b": 1}, "none": {"x": 1}})
    found = averaged_joint_targets(parts, qrels, [PLACE_WORLD, SIDE_WORLD], unknown=[None, None])
    assert list(found) == ["q"]
    north_f = PLACES.index("north") * 3 + SIDES.index("f")
    assert found["q"][north_f] == pytest.approx(0.5 + 0.5 * 0.2 * 0.5)
    with pytest.raises(ParameterError, match="attribute 'side': 'x' is not a value"):
        averaged_joint_targets(parts, qrels, unknown=["?", "x"])
    with pytest.raises(ParameterError, match="needs two attributes or more"):
        averaged_joint_targets(parts[:1], qrels, unknown=["?"])


def test_in_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.csv").write_text("document,place,side\na,north,f\nb,south,?\nc,?,f\n")
    Path("qrels.txt").write_text("q 0 a 1\nq 0 b 1\nq 0 c 1\n")
    Path("run.txt").write_text("q 0 a 1 1 r\n")
    command = ["evaluate", "run.txt", "--groups", "place=g.csv", "--groups", "side=g.csv", "--format", "tsv"]
    command += ["-m", "AWRF(attr='place*side')", "--qrels", "qrels.txt"]
    worlds = ["--target", "place=north:0.5,south:0.5", "--target", "side=f:1"]
    assert main([*command, *worlds, "--target", "place*side=averaged:unknown=?"]) == 0
    (row,) = capsys.readouterr().out.splitlines()[1:]
    # all attention on north & f, whose target is 1/6 + 1/6 * 1/2
    assert float(row.split("\t")[3]) == pytest.approx(2 * (1 - 0.25))
    assert main([*command, "--target", "place*side=averaged:uniform:unknown=?"]) == 2
    assert "give each of them a --target" in capsys.readouterr().err
    assert main([*command, "--target", "place*side=averaged:unknown=?,?,?"]) == 2
    assert "unknown= has one value for all attributes, or one for each" in capsys.readouterr().err
