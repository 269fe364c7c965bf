"""The way from a question to a measure: it leads somewhere, and to the same as the commands take."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from evenrank import Inputs, all_measures, parse_measure
from evenrank.grammar import REGISTRY
from evenrank.inputs.default_measures import default_measures
from evenrank.measures.choosing import JUDGEMENTS, TREE
from evenrank.rerankers import parse_reranker

DOCS = Path(__file__).parents[2] / "docs"


def test_every_leaf_is_a_measure_with_a_page() -> None:
    choices = [choice for known in TREE for choice in known.choices]
    for choice in choices:
        measure = parse_measure(f"{choice.measure}@10" if choice.cutoff else choice.measure)
        assert (DOCS / "measures" / f"{measure.name}.md").exists(), choice
        assert choice.question.endswith("?"), choice
        # the neighbours that it names are measures, too
        named = {word.strip(";,.") for word in choice.because.split()} & set(all_measures())
        assert measure.name not in named, choice
    assert len({choice.measure for choice in choices}) == len(choices)
    assert len({choice.question for choice in choices}) == len(choices)


def test_commands_take_what_the_page_says() -> None:
    chosen = default_measures(Inputs.of({"q": {"a": 1.0}}, qrels={"q": {"a": 1}}), depth=5)
    stars = [c.measure for known in TREE if known.evidence == JUDGEMENTS for c in known.choices if c.default]
    assert [measure.name for measure in chosen] == [f"{name}@5" for name in stars] == ["nDCG@5"]


def test_the_page_is_up_to_date() -> None:
    page = runpy.run_path(str(DOCS / "build_choosing.py"))["page"]
    assert (DOCS / "choosing.md").read_text(encoding="utf-8") == page(), "run python docs/build_choosing.py"


def test_the_page_about_other_tools_names_what_there_is() -> None:
    """Everything in the column 'here' is a measure, a re-ranker, an attention, or an option."""
    parse_reranker("Random")  # loads them all
    known = {*all_measures(), *REGISTRY["reranker"], *REGISTRY["attention"]}
    rows = [line.split("|") for line in (DOCS / "peers.md").read_text(encoding="utf-8").splitlines()]
    named = [name for row in rows if len(row) == 6 for name in re.findall(r"`([^`]+)`", row[3])]
    assert len(named) > 30
    for name in named:
        if not name.startswith(("--", "Scores.", "attr=")):
            assert all(part.partition("(")[0].partition("@")[0] in known for part in name.split(" * ")), name


@pytest.mark.parametrize("name", all_measures())
def test_every_page_says_when_to_use_the_measure_and_names_a_neighbour(name: str) -> None:
    """One plain sentence, with another measure of the registry that may be the better choice."""
    text = " ".join(all_measures()[name].describe()["text"].split())
    _, found, said = text.partition("When to use: ")
    assert found, f"{name}: the docstring has no line 'When to use: ...'"
    sentence = said.partition(". ")[0]
    assert len(sentence) > 40
    others = set(re.findall(r"[A-Za-z_]+", sentence)) & (set(all_measures()) - {name})
    assert others, f"{name}: no other measure is named in {sentence!r}"
