"""Targets of the TREC Fair Ranking track: relevant documents and the world, averaged; the unknown apart."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenrank as er
from evenrank.data.averaged_target import averaged_joint_targets

Evenrank = Callable[..., Any]
Labels = Mapping[str, str]
PLACES = ("africa", "asia", "europe", "unknown")
WORLD = {"africa": 0.2, "asia": 0.7, "europe": 0.1}
SIDES = ("f", "m", "?")


class Asked:
    """Labels and judgements in files, and the target of each value, asked for one list at a time.

    A list that holds nothing but value v is 2 * (1 - target of v) away from the target.
    """

    def __init__(self, evenrank: Evenrank, folder: Path) -> None:
        self.evenrank, self.folder = evenrank, folder

    def write(
        self, columns: Mapping[str, Mapping[str, str]], judged: Mapping[str, Mapping[str, int]]
    ) -> None:
        documents = sorted({document for labels in columns.values() for document in labels})
        rows = [",".join((d, *(labels.get(d, "") for labels in columns.values()))) for d in documents]
        self._write("g.csv", [",".join(("document", *columns)), *rows])
        self._write("q.txt", [f"{q} 0 {d} {grade}" for q, own in judged.items() for d, grade in own.items()])
        self.columns, self.queries = columns, list(judged)

    def _write(self, name: str, lines: Sequence[str]) -> None:
        (self.folder / name).write_text("".join(f"{line}\n" for line in lines))

    def ask(self, *targets: str, run: str = "") -> Any:
        options = [f"--groups={name}=g.csv" for name in self.columns]
        averaged = [target for target in targets if "=averaged" in target]
        (self.folder / "case.toml").write_text("\n".join(map(described, averaged)))
        options += [f"--target={target}" for target in targets if target not in averaged]
        options += ["--project", "case.toml"]
        measure = f"AWRF(attr='{'*'.join(self.columns)}')"
        return self.evenrank(
            "evaluate",
            run,
            "--qrels",
            "q.txt",
            *options,
            "-m",
            measure,
            "--view",
            "queries",
            "--format",
            "jsonl",
        )

    def target(self, values: Sequence[Sequence[str]], *targets: str) -> dict[str, list[float | None]]:
        """The target of each query, over all combinations of the values."""
        found: dict[str, list[float | None]] = {query: [] for query in self.queries}
        labels = list(self.columns.values())
        for wanted in product(*values):
            document = next(d for d in labels[0] if tuple(own.get(d) for own in labels) == wanted)
            self._write("run.txt", [f"{query} 0 {document} 1 1 r" for query in self.queries])
            done = self.ask(*targets, run="run.txt")
            assert done.code == 0, done.err
            rows = [json.loads(line) for line in done.out.splitlines()]
            shown = {row["query"]: row["value"] for row in rows if row.get("query")}
            for query in self.queries:
                value = shown.get(query)
                found[query].append(None if value is None else 1 - value / 2)
        return found


def described(target: str) -> str:
    """``place=averaged:WORLD:unknown=VALUE`` as a project file has it; the world may be shares by value."""
    name, _, given = target.partition("=averaged")
    world, _, unknown = given.removeprefix(":").partition("unknown=")
    world = world.removesuffix(":") or "collection"
    pairs = [part.rpartition(":")[::2] for part in world.split(",")]
    shares = ", ".join(f'"{value}" = {share}' for value, share in pairs)
    written = f"{{ {shares} }}" if ":" in world else f'"{world}"'
    return f'targets."{name}" = {{ averaged = {written}{f", unknown = {unknown!r}" if unknown else ""} }}'


@pytest.fixture
def asked(evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    monkeypatch.chdir(tmp_path)
    return Asked(evenrank, tmp_path)


def drawn(seed: int) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    draw = np.random.default_rng(seed)
    labels = {f"d{n}": PLACES[draw.integers(0, 4)] for n in range(60) if n % 5}
    judged = {
        f"q{q}": {f"d{n}": int(draw.integers(0, 3)) for n in draw.permutation(60)[:15]} for q in range(4)
    }
    return labels, judged


def expected(
    labels: Labels, judged: Mapping[str, Mapping[str, int]], world: Mapping[str, float]
) -> dict[str, Any]:
    """The steps that the organisers give: normalise the known, average, scale back, normalise all."""
    found = {}
    for query, grades in judged.items():
        relevant = [labels.get(document, "unknown") for document, grade in grades.items() if grade >= 1]
        known = sum(relevant.count(value) for value in world)
        scaled = [(relevant.count(value) / known + world[value]) / 2 * known for value in world]
        scaled.append(relevant.count("unknown"))
        found[query] = pytest.approx([mass / sum(scaled) for mass in scaled])
    return found


def test_only_what_is_known_is_averaged_with_the_world(asked: Asked) -> None:
    labels, judged = drawn(0)
    asked.write({"place": labels}, judged)
    Path("world.csv").write_text("value,share\n" + "".join(f"{v},{share}\n" for v, share in WORLD.items()))
    known = [value for value in labels.values() if value != "unknown"]
    worlds = {
        ",".join(f"{value}:{share}" for value, share in WORLD.items()): WORLD,
        "world.csv": WORLD,
        "collection": {value: known.count(value) / len(known) for value in WORLD},
        "uniform": dict.fromkeys(WORLD, 1 / 3),
    }
    for written, world in worlds.items():
        target = asked.target([PLACES], f"place=averaged:{written}:unknown=unknown")
        assert target == expected(labels, judged, world), written


def test_without_a_value_for_the_unknown_they_are_left_out(asked: Asked) -> None:
    labels, judged = drawn(1)
    known = {document: value for document, value in labels.items() if value != "unknown"}
    asked.write({"place": known}, judged)
    found = asked.target([PLACES[:3]], "place=averaged:africa:0.2,asia:0.7,europe:0.1")
    for query, grades in judged.items():
        relevant = [known[document] for document, grade in grades.items() if grade and document in known]
        shares = [(relevant.count(v) / len(relevant) + WORLD[v]) / 2 for v in PLACES[:3]]
        assert found[query] == pytest.approx(shares)


def test_queries_without_known_relevant_documents(asked: Asked) -> None:
    judged = {"none": {"a": 0}, "hidden": {"u": 1, "x": 1}, "seen": {"a": 1}}
    asked.write({"place": {"a": "asia", "u": "unknown", "b": "africa"}}, judged)
    values, world = [("asia", "africa", "unknown")], "place=averaged:asia:0.7,africa:0.3:unknown=unknown"
    found = asked.target(values, world)
    assert (found["none"], found["hidden"]) == ([None] * 3, [0, 0, 1])
    assert found["seen"] == pytest.approx([0.85, 0.15, 0])


def joint(
    columns: Mapping[str, Labels], relevant: Mapping[str, int], unknown: Sequence[str | None]
) -> dict[str, tuple[float, ...]]:
    parts = [er.read_groups(labels, name) for name, labels in columns.items()]
    worlds = [{"north": 0.2, "south": 0.8}, {"f": 0.5, "m": 0.5}]
    qrels = er.read_qrels({"q": relevant, "none": {"x": 1}})
    target = averaged_joint_targets(parts, qrels, worlds, unknown=unknown)
    combined = er.Membership.combined(*parts, target=target)  # which the order of the target is that of
    return {query: shares for query, shares in combined.attribute.target.items() if query == "q"} | {
        "values": combined.attribute.values
    }


def test_four_blocks_of_two_attributes_as_the_organisers_average_them() -> None:
    """The 3 x 3 table of shares of relevant documents: its four blocks, each with its own world."""
    generator = np.random.default_rng(4)
    documents, places = [f"d{i}" for i in range(60)], ("north", "south", "?")
    place = {d: str(generator.choice(places)) for d in documents}
    side = {d: str(generator.choice(SIDES)) for d in documents[:55]}  # the last five are not listed: unknown
    relevant = documents[30:]
    table = np.zeros((3, 3))
    for d in relevant:
        table[places.index(place[d]), SIDES.index(side.get(d, "?"))] += 1 / len(relevant)
    wanted, world = table.copy(), np.array([0.2, 0.8])
    wanted[:2, :2] = 0.5 * table[:2, :2] + 0.5 * table[:2, :2].sum() * np.outer(world, [0.5, 0.5])
    wanted[:2, 2] = 0.5 * table[:2, 2] + 0.5 * table[:2, 2].sum() * world
    wanted[2, :2] = 0.5 * table[2, :2] + 0.5 * table[2, :2].sum() * np.array([0.5, 0.5])
    expected = {
        f"{p} & {s}": wanted[row, column] for row, p in enumerate(places) for column, s in enumerate(SIDES)
    }
    found = joint({"place": place, "side": side}, {d: int(d in relevant) for d in documents}, ["?", "?"])
    assert dict(zip(found["values"], found["q"], strict=True)) == pytest.approx(expected)


def test_without_unknown_documents_of_one_attribute_alone_are_left_out() -> None:
    columns = {"place": {"a": "north", "b": "south", "c": "south"}, "side": {"a": "f", "c": "m"}}
    found = joint(columns, {"a": 1, "b": 1, "c": 0}, [None, None])
    known = [0.5 * side for side in (0.2 * 0.5, 0.2 * 0.5, 0.8 * 0.5, 0.8 * 0.5)]
    assert found["q"] == pytest.approx([0.5 + known[0], *known[1:]])


def test_a_joint_target_comes_back_from_a_file(asked: Asked) -> None:
    """The way from Python to the shell that the guide shows."""
    columns = {"place": {"a": "north", "b": "south", "c": "south"}, "side": {"a": "f", "b": "m", "c": "m"}}
    asked.write(columns, {"q": {"a": 1, "b": 1}})
    parts = [er.read_groups("g.csv", name, column=name) for name in columns]
    target = averaged_joint_targets(parts, er.read_qrels("q.txt"), unknown=[None, None])
    names = er.Membership.combined(*parts, target="uniform").attribute.values
    lines = ["query," + ",".join(names), *(f"{q}," + ",".join(map(repr, own)) for q, own in target.items())]
    Path("target.csv").write_text("\n".join(lines))
    found = asked.target([("north",), ("f",)], "place*side=target.csv")
    assert found["q"] == pytest.approx([target["q"][names.index("north & f")]])


@pytest.mark.parametrize(
    ("worlds", "unknown", "words"),
    [
        (None, ["?", "?", "?"], ["3"]),
        (["uniform"], ["?", "?"], ["1"]),
        (None, ["?", "x"], ["'side'", "'x'"]),
        ([{"north": 0.5, "?": 0.5}, "uniform"], ["?", "?"], ["'place'"]),
    ],
)
def test_what_does_not_fit_the_attributes_is_refused(
    worlds: Any, unknown: Sequence[str | None], words: list[str]
) -> None:
    place = er.read_groups({"a": "north", "b": "south", "c": "?"}, "place")
    side = er.read_groups({"a": "f", "b": "m", "c": "?"}, "side")
    with pytest.raises(er.ParameterError) as caught:
        averaged_joint_targets([place, side], er.read_qrels({"q": {"a": 1}}), worlds, unknown=unknown)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        (["place=averaged:uniform:unknown=mars"], ["'mars'", "'north'"]),
        (["place=averaged:north:0.5,south:0.4,?:0.1:unknown=?"], ["unknown"]),
        (["place=averaged:nowhere.csv"], ["nowhere.csv"]),
        (["place*side=averaged:unknown=?"], ["place*side", "averaged_joint_targets"]),
    ],
)
def test_what_is_wrong_is_named(asked: Asked, targets: list[str], words: list[str]) -> None:
    columns = {"place": {"a": "north", "b": "south", "c": "?"}, "side": {"a": "f", "b": "m", "c": "?"}}
    asked.write(columns, {"q": {"a": 1}})
    Path("run.txt").write_text("q 0 a 1 1 r\n")
    done = asked.ask(*targets, run="run.txt")
    assert done.code in (1, 2)
    assert all(word in done.err for word in words), done.err
