"""``evenrank measures``: every measure is listed and has a page."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from evenrank import all_measures
from evenrank.cli import main
from evenrank.measures import Direction

Evenrank = Callable[..., SimpleNamespace]


def test_every_measure_is_listed_with_its_summary(evenrank: Evenrank) -> None:
    outcome = evenrank("measures")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    text = " ".join(outcome.out.split())
    for name, measure in all_measures().items():
        line = next(line for line in lines if line.split()[:1] == [name])
        assert line.split()[1] == measure.family
        sign = {Direction.HIGHER: "↑", Direction.LOWER: "↓"}.get(measure.direction)
        assert sign is None or line.split()[2] == sign
        assert " ".join(measure.summary().split()) in text
    assert "Every other measure of ir_measures is accepted by name" in text
    assert "Bpref" in text
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("name", sorted(all_measures()))
def test_every_measure_has_a_page(evenrank: Evenrank, name: str) -> None:
    measure = all_measures()[name]
    page = evenrank("measures", name).out
    assert page.startswith(f"{name}: {measure.summary()}\n")
    for said in (
        measure.formula,
        measure.reference,
        measure.direction.value,
        measure.aggregation,
        *measure().needs,
    ):
        assert said in page
    for parameter in measure.parameters():
        rule = parameter.metadata["rule"].wording
        assert f"  {parameter.name}: {parameter.metadata['meaning']}; {rule}; default " in page
    for reason, when in measure.undefined_when.items():
        assert f"  {reason}: {when}" in page


def test_a_delegated_measure(evenrank: Evenrank) -> None:
    page = evenrank("measures", "IPrec").out
    assert page.startswith("IPrec: Computed by ir_measures")
    assert "  recall: recall threshold; given\n" in page
    assert "; default 1\n" in page
    assert "Interpolated Precision" in page
    assert "::" not in page


def test_a_position_bias(evenrank: Evenrank) -> None:
    page = evenrank("measures", "rbp").out
    assert page.startswith("rbp: ``(1 - p) p**(i - 1)``")
    assert "  p: probability of going on to the next rank; a number >= 0 and < 1; default 0.8\n" in page
    assert ">>>" not in evenrank("measures", "log2").out


def test_as_json_lines(evenrank: Evenrank) -> None:
    records = [json.loads(line) for line in evenrank("measures", "--format", "jsonl").out.splitlines()]
    assert [record["name"] for record in records] == list(all_measures())
    one = json.loads(evenrank("measures", "alpha_nDCG", "--format", "jsonl").out)
    assert one["range"] == [0.0, "Infinity"]
    assert one["parameters"]["alpha"]["default"] == 0.5
    assert (
        json.loads(evenrank("measures", "Bpref", "--format", "jsonl").out)["kind"] == "measure of ir_measures"
    )


def found(outcome: SimpleNamespace) -> list[str]:
    return [line.split()[0] for line in outcome.out.splitlines()[:-1] if line and not line.startswith(" ")]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("gender", {"NFaiRR", "TExFAIR", "GroupExposure"}),
        ("women", {"NFaiRR", "TExFAIR", "GroupExposure"}),
        ("share of the first page", {"GroupShare"}),
        ("are small sellers seen", {"GroupShare"}),
        ("viewpoint", {"DUO"}),
        ("opinions", {"DUO"}),
        ("perspectives", {"DUO", "OB", "Polarity", "dGF"}),  # a word that no description has
        ("vendors", {name for name, measure in all_measures().items() if measure.family == "groups"}),
        ("seller", {name for name, measure in all_measures().items() if measure.family == "groups"}),
        ("relevance and fairness", {"FAIR", "GFR"}),
        ("precision", {"P"}),
        ("ndcg", {"nDCG"}),
        ("How similar are two rankings?", {"RBO"}),
    ],
)
def test_measures_are_found_by_need(evenrank: Evenrank, question: str, first: set[str]) -> None:
    outcome = evenrank("measures", question)
    assert (outcome.code, outcome.err) == (0, "")
    names = found(outcome)
    assert names[0] in first
    assert len(names) <= 5
    assert set(names) <= set(all_measures())
    text = " ".join(outcome.out.split())
    for name in names:
        assert all_measures()[name].summary() in text
        assert f"-m {name}" in text
    assert max(map(len, outcome.out.splitlines())) <= 110


def test_what_is_found_says_how_to_ask_for_it(evenrank: Evenrank) -> None:
    lines = evenrank("measures", "share of the first page").out.splitlines()
    assert "  needs: the groups of the documents" in lines
    assert "  evenrank evaluate RUN --groups NAME=FILE -m GroupShare@10" in lines
    neutral = evenrank("measures", "neutral documents").out
    assert "  evenrank evaluate RUN --words FILE --background FILE -m NFaiRR@10\n" in neutral


def test_what_is_found_as_json_lines(evenrank: Evenrank) -> None:
    text = evenrank("measures", "viewpoint", "--format", "jsonl").out
    records = [json.loads(line) for line in text.splitlines()]
    assert [record["name"] for record in records] == found(evenrank("measures", "viewpoint"))
    assert "opinion" in records[0]["answers"][0]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("name", ["NFaiRR", "FAIR", "nDCG", "rbp"])
def test_a_page_fits_a_terminal(evenrank: Evenrank, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Its paragraphs are laid out anew; no word of it is lost."""
    whole = evenrank("measures", name).out
    monkeypatch.setenv("COLUMNS", "60")
    terminal = Terminal()

    monkeypatch.setattr(sys, "stdout", terminal)
    assert main(["measures", name]) == 0
    narrow = terminal.getvalue()
    assert narrow.split() == whole.split()
    assert max(map(len, narrow.splitlines())) <= 60
