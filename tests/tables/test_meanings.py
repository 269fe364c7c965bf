"""Every table says beneath it what it means."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import evenrank
from evenrank.comparison.comparison_tables import describe_pairs
from evenrank.comparison.origin_table import describe_steps
from evenrank.explanation.render import describe_ranks

SOURCE = Path(evenrank.__file__).parent


def _tables() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "Table.of(" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Table.of":
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node


def test_every_table_has_a_sentence() -> None:
    found = dict(_tables())
    assert len(found) > 60
    without = [place for place, call in found.items() if "meaning" not in {key.arg for key in call.keywords}]
    assert not without


def test_a_sentence_ends_with_a_full_stop() -> None:
    for place, call in _tables():
        (meaning,) = (key.value for key in call.keywords if key.arg == "meaning")
        if isinstance(meaning, ast.Constant):
            assert str(meaning.value).endswith("."), place
            assert str(meaning.value)[0].isupper(), place


def pair(system: str, verdict: str) -> Any:
    return SimpleNamespace(system=system, verdict=verdict, baseline="bm25", low=-0.02, high=0.05)


def test_the_sentence_of_a_comparison_says_what_is_shown() -> None:
    found = [pair("a", "better"), pair("b", ""), pair("c", "worse"), pair("d", "better")]
    assert describe_pairs(found) == "Shown to be better than bm25: a, d. Shown to be worse than bm25: c."
    assert "from -0.0200 to +0.0500 remain possible, and more queries" in describe_pairs([pair("b", "")])
    assert describe_pairs([pair("b", "differs")]) == "Shown to differ from bm25: b."
    assert describe_pairs([]) == ""


def test_the_sentence_of_an_origin_names_the_steps_that_are_shown() -> None:
    def step(place: str, verdict: str, adds: float) -> Any:
        difference = SimpleNamespace(difference=adds)
        return SimpleNamespace(place=place, verdict=verdict, against="before", adds=difference)

    steps = [step("(background)", "", 0.1), step("bm25", "worse", -0.25)]
    assert describe_steps(steps) == "Shown to move the value from the place before: bm25 (-0.2500)."
    assert "No step" in describe_steps(steps[:1])


def test_the_sentence_of_an_explanation_names_the_ranks_that_add_most() -> None:
    def explained(*adds: float | None) -> Any:
        documents = [SimpleNamespace(rank=rank, adds=value) for rank, value in enumerate(adds, 1)]
        return SimpleNamespace(documents=documents)

    assert describe_ranks(explained(0.1, 0.0, 0.5, 0.2, 0.3)) == (
        "Most of the value comes from rank 3, rank 4 and rank 5, of 4 that add to it."
    )
    assert describe_ranks(explained(0.0, 0.5)) == "All of the value comes from rank 2."
    assert "what is known" in describe_ranks(explained(None, 0.0))
