"""The kernel gives what plain Python gives, wherever the words stand."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from swap_data import texts_of

from evenrank import Lexicon
from evenrank.counterfactuals.swap import Swapper, make_swapper
from evenrank.counterfactuals.swap.blocks import KernelBlocks, SimpleBlocks, swap_strings, tally_of
from evenrank.evidence.scan.counter import Texts, UnsoundText

pytestmark = pytest.mark.skipif(find_spec("numba") is None, reason="numba is not installed: evenrank[scan]")

PLACES = Lexicon.build(
    "places",
    {"here": ["new york", "york", "Ärger ß", "x"], "there": ["old town", "town center", "öde", "y z"]},
)
SWAPPERS = [make_swapper(tagger="rules"), make_swapper(PLACES, mapping="cyclic")]
BLOCKS = [(KernelBlocks(swapper), SimpleBlocks(swapper)) for swapper in SWAPPERS]

WORDS = [
    "he", "She", "HER", "his", "Hers", "him", "Mary", "JAMES", "mcMary", "fiancée", "FIANCÉ", "Ms", "Miss",
    "Hall", "new", "York", "york", "old", "town", "Center", "ärger", "ÄRGER", "ß", "X", "y", "z", "Z", "öde",
    "wOmAn", "SHe", "\u212aim", "İ", "日本", "7", "x" * 70,
]  # fmt: skip
BETWEEN = [" ", " ", " ", "-", "'s ", ". ", "\n", "\t", "_", ""]
TEXTS = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(BETWEEN)).map("".join), max_size=15).map(
    "".join
)


def same(kernel: KernelBlocks, simple: SimpleBlocks, texts: list[str], around: int = 0) -> None:
    given = Texts.of(pa.array(texts, pa.large_string()))
    data = np.concatenate([np.full(around, 0x7C, np.uint8), given.data, np.full(around, 0x7C, np.uint8)])
    moved = Texts(data, given.starts + around, given.ends + around)
    ours, theirs = (blocks(moved, 0, len(data)) for blocks in (kernel, simple))
    assert ours.data.tobytes() == theirs.data.tobytes()
    assert ours.starts.tolist() == theirs.starts.tolist()
    assert ours.ends.tolist() == theirs.ends.tolist()
    assert (ours.changed, ours.tally) == (theirs.changed, theirs.tally)


@pytest.mark.parametrize("place", [0, 1], ids=["gender", "phrases"])
@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_kernel_equals_python(place: int, texts: list[str]) -> None:
    same(*BLOCKS[place], texts, around=len(texts))


@given(st.lists(st.text(max_size=60), min_size=1, max_size=3))
def test_any_text(texts: list[str]) -> None:
    same(*BLOCKS[0], [text.encode("utf-8", "replace").decode() for text in texts])


@pytest.mark.parametrize("name", ["sample", "Grep-BiasIR"])
def test_real_text(shared: Path, name: str) -> None:
    same(*BLOCKS[0], texts_of(name, shared))


def test_a_term_ends_with_its_document() -> None:
    same(*BLOCKS[1], ["new", "a york", "old", "x town", "y", "A z"])


def test_no_documents() -> None:
    same(*BLOCKS[0], [])
    same(*BLOCKS[0], [""])


@pytest.mark.parametrize("blocks", BLOCKS[0], ids=["kernel", "plain"])
def test_unsound_text_is_told_by_its_row(blocks: KernelBlocks | SimpleBlocks) -> None:
    data = np.frombuffer(b"she he \xff her" + bytes(80), np.uint8)
    texts = Texts(data, np.array([0, 4]), np.array([3, 12]))
    with pytest.raises(UnsoundText) as raised:
        blocks(texts, 0, 12)
    assert raised.value.row == 1


@pytest.mark.parametrize("swapper", SWAPPERS)
def test_strings(swapper: Swapper) -> None:
    texts = ["she", "", "her x", "New York", "é man"]
    expected = swapper.swap_all(texts)
    for blocks in (KernelBlocks(swapper), SimpleBlocks(swapper)):
        news, tally = swap_strings(blocks, texts)
        assert news == [swapped.text for swapped in expected]
        assert tally == tally_of(change for swapped in expected for change in swapped.changes)


def test_half_of_a_surrogate_pair_is_kept() -> None:
    news, tally = swap_strings(BLOCKS[0][0], ["she \ud800", "he"])
    assert news == ["he \ud800", "she"]
    assert tally == {("she", "he", "pronouns"): 1, ("he", "she", "pronouns"): 1}


def test_many_texts_are_swapped_as_one_is() -> None:
    swapper = SWAPPERS[0]
    texts = [f"{number} she met his niece. " * 40 for number in range(300)]
    assert swapper.swap_many(texts) == [swapper.swap(text).text for text in texts]
    assert swapper.swap_many([]) == []
