"""Many texts are swapped by a kernel, which gives what plain Python gives for one text at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from swap_data import texts_of

from evenrank import Lexicon
from evenrank.counterfactuals.swap import Swapper, make_swapper

pytestmark = pytest.mark.needs("numba")

PLACES = Lexicon.build(
    "places",
    {"here": ["new york", "york", "Ärger ß", "x"], "there": ["old town", "town center", "öde", "y z"]},
)
SWAPPERS = [make_swapper(tagger="rules"), make_swapper(PLACES, mapping="cyclic")]
MUCH = "q" * (1 << 18)  # of so much text the kernel is used

WORDS = [
    "he", "She", "HER", "his", "Hers", "him", "Mary", "JAMES", "mcMary", "fiancée", "FIANCÉ", "Ms", "Miss",
    "Hall", "new", "York", "york", "old", "town", "Center", "ärger", "ÄRGER", "ß", "X", "y", "z", "Z", "öde",
    "wOmAn", "SHe", "\u212aim", "İ", "日本", "7", "x" * 70,
]  # fmt: skip
BETWEEN = [" ", " ", " ", "-", "'s ", ". ", "\n", "\t", "_", ""]
TEXTS = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(BETWEEN)).map("".join), max_size=15).map(
    "".join
)


def same(swapper: Swapper, texts: list[str]) -> None:
    *found, _ = swapper.swap_many([*texts, MUCH])
    assert found == [swapper.swap(text).text for text in texts]


@pytest.mark.parametrize("swapper", SWAPPERS, ids=["gender", "phrases"])
@given(texts=st.lists(TEXTS, min_size=1, max_size=8))
def test_many_texts_are_swapped_as_each_alone(swapper: Swapper, texts: list[str]) -> None:
    same(swapper, texts)


@given(st.lists(st.text(max_size=60), min_size=1, max_size=3))
def test_any_text(texts: list[str]) -> None:
    same(SWAPPERS[0], texts)


@pytest.mark.parametrize("name", ["sample", "Grep-BiasIR"])
def test_real_text(shared: Path, name: str) -> None:
    same(SWAPPERS[0], texts_of(name, shared))


def test_a_term_ends_with_its_document() -> None:
    same(SWAPPERS[1], ["new", "a york", "old", "", "x town", "y", "A z"])


def test_half_of_a_surrogate_pair_is_kept() -> None:
    assert SWAPPERS[0].swap_many(["she \ud800", "he", MUCH])[:2] == ["he \ud800", "she"]
    assert SWAPPERS[0].swap_many([]) == []
