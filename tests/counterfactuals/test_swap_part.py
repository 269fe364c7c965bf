"""A share of the pairs, and one direction."""

from __future__ import annotations

import csv
from importlib.resources import files

import pytest

from evenrank import Lexicon, counterfactual, read_lexicon
from evenrank.counterfactuals.swap import make_swapper
from evenrank.errors import ParameterError

GENDER = read_lexicon("gender-en")
NAMES = [*csv.DictReader((files("evenrank") / "counterfactuals/swap/names-en.csv").read_text().splitlines())]
FEMALE = {*GENDER.words("female"), *(row["female"] for row in NAMES), "ms", "miss"}
MALE = {*GENDER.words("male"), *(row["male"] for row in NAMES)}


def swapped(**options: object) -> dict[str, tuple[str, str]]:
    """What each word alone becomes, and its kind; a title stands before a name."""
    swapper, words = make_swapper(tagger="rules", **options), sorted(FEMALE | MALE)
    texts = swapper.swap_all([f"{word[0].upper()}{word[1:]} Hall" for word in words])
    return {
        word: (text.changes[0].new.lower(), text.changes[0].kind)
        for word, text in zip(words, texts, strict=True)
        if text.changes
    }


WHOLE = swapped()


def linked() -> dict[str, list[set[str]]]:
    """By kind, the words that become one another."""
    sets: dict[str, set[str]] = {}
    for old, (new, _) in WHOLE.items():
        ends = {"her", "his", "him", "hers"} if old in ("her", "his", "him", "hers") else {old, new}
        joined = ends.union(*(sets.get(end, set()) for end in ends))
        for word in joined:
            sets[word] = joined
    kinds: dict[str, list[set[str]]] = {}
    for old, (_, kind) in WHOLE.items():
        if sets[old] not in kinds.setdefault(kind, []):
            kinds[kind].append(sets[old])
    return kinds


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_a_share_keeps_whole_pairs_of_every_kind(share: float) -> None:
    kept = set(swapped(share=share))
    assert set(linked()) == {"pronouns", "nouns", "titles", "names"}
    for kind, sets in linked().items():
        assert all(one <= kept or not one & kept for one in sets), kind
        assert sum(one <= kept for one in sets) == max(1, int(share * len(sets) + 0.5)), kind


def test_shares_of_a_seed_are_nested_and_another_seed_draws_others() -> None:
    quarter, half, whole = (set(swapped(share=share, seed=3)) for share in (0.25, 0.5, 1))
    assert quarter < half < whole
    nouns = [
        {old for old, (_, kind) in swapped(share=0.25, seed=seed).items() if kind == "nouns"}
        for seed in (3, 3, 4)
    ]
    assert nouns[0] == nouns[1] != nouns[2]


def test_a_direction_swaps_the_words_of_one_group_alone() -> None:
    female, male = (set(swapped(from_group=group)) for group in ("female", "male"))
    assert female <= FEMALE
    assert male <= MALE
    assert not female & male
    assert female | male == set(WHOLE)
    text = "She met her brother and his wife, Mr. Hall."
    assert make_swapper(from_group="female", tagger="rules").swap(text).text == (
        "He met his brother and his husband, Mr. Hall."
    )
    assert make_swapper(from_group="male", tagger="rules").swap(text).text == (
        "She met her sister and her wife, Mrs. Hall."
    )


def test_words_that_lead_one_way_have_the_group_they_leave() -> None:
    male, female = (
        make_swapper(from_group=group, one_way=True, tagger="rules") for group in ("male", "female")
    )
    assert (male.swap("guy").text != "guy", female.swap("guy").text) == (True, "guy")
    assert (female.swap("actress").text, male.swap("actress").text) == ("actor", "actress")


def test_groups_of_a_lexicon_of_ones_own() -> None:
    ages = Lexicon.build("ages", {"young": ["boy", "lad"], "old": ["man", "elder"], "new": ["baby", "tot"]})
    swapper = make_swapper(ages, mapping="cyclic", from_group="old")
    assert swapper.swap("boy lad man elder baby tot").text == "boy lad baby tot baby tot"


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"share": 0}, r"share.*\b0$"),
        ({"share": 1.5}, "share.*1.5"),
        ({"share": "half"}, "share.*half"),
        ({"from_group": "old"}, "'gender-en'.*'old'.*female, male"),
    ],
)
def test_what_is_no_part_is_an_error_that_names_it(options: dict[str, object], names: str) -> None:
    with pytest.raises(ParameterError, match=names):
        make_swapper(**options)  # type: ignore[arg-type]


@pytest.mark.needs("bm25s")
def test_fewer_swapped_words_change_fewer_documents() -> None:
    texts = {f"d{n}": f"{word} is late" for n, word in enumerate(("she", "mother", "aunt", "Mary", "Mr. A"))}
    changed = [
        len(counterfactual("bm25", texts, make_swapper(share=share), queries={"q": "she is late"}).changed)
        for share in (0.25, 0.5, 1.0)
    ]
    assert changed[0] <= changed[1] <= changed[2] == 5
