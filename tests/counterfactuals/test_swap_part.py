"""A share of the pairs, and one direction."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from evenrank import Lexicon, counterfactual, read_lexicon
from evenrank.counterfactuals.swap import make_swapper
from evenrank.counterfactuals.swap.names import ranks
from evenrank.counterfactuals.swap.pairing import make_pairing
from evenrank.errors import ParameterError


def linked() -> dict[str, list[set[str]]]:
    """By kind, the terms that become one another, from the mapping alone."""
    entries = make_pairing().entries
    sets: dict[str, set[str]] = {}
    for old, entry in entries.items():
        ends = [" ".join(old), " ".join(entry.new)]
        if entry.context in ("her", "his"):
            ends += ["her", "his"]
        joined = set(ends).union(*(sets.get(end, set()) for end in ends))
        for word in joined:
            sets[word] = joined
    kinds: dict[str, list[set[str]]] = defaultdict(list)
    for old, entry in entries.items():
        if sets[" ".join(old)] not in kinds[entry.kind]:
            kinds[entry.kind].append(sets[" ".join(old)])
    return kinds


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_a_share_keeps_whole_pairs_of_every_kind(share: float) -> None:
    kept = {" ".join(old) for old in make_pairing(share=share).entries}
    for kind, sets in linked().items():
        whole = [one for one in sets if one <= kept]
        assert all(one <= kept or not one & kept for one in sets), kind
        assert len(whole) == max(1, int(share * len(sets) + 0.5)), kind


def test_shares_of_a_seed_are_nested_and_another_seed_draws_others() -> None:
    quarter, half, whole = (set(make_pairing(share=share, seed=3).entries) for share in (0.25, 0.5, 1))
    assert quarter < half < whole == set(make_pairing(seed=3).entries)
    assert quarter == set(make_pairing(share=0.25, seed=3).entries)
    nouns = [
        {old for old, entry in make_pairing(share=0.25, seed=seed).entries.items() if entry.kind == "nouns"}
        for seed in (3, 4)
    ]
    assert nouns[0] != nouns[1]


def test_a_direction_swaps_the_words_of_one_group_alone() -> None:
    gender = read_lexicon("gender-en")
    female = {*gender.words("female"), *ranks().female, "ms", "miss"}
    male = {*gender.words("male"), *ranks().male}
    found = {group: make_pairing(from_group=group).entries for group in ("female", "male")}
    assert {" ".join(old) for old in found["female"]} <= female
    assert {" ".join(old) for old in found["male"]} <= male
    assert not found["female"].keys() & found["male"].keys()
    assert found["female"].keys() | found["male"].keys() == make_pairing().entries.keys()
    text = "She met her brother and his wife, Mr. Hall."
    assert make_swapper(from_group="female", tagger="rules").swap(text).text == (
        "He met his brother and his husband, Mr. Hall."
    )
    assert make_swapper(from_group="male", tagger="rules").swap(text).text == (
        "She met her sister and her wife, Mrs. Hall."
    )


def test_words_that_lead_one_way_have_the_group_they_leave() -> None:
    assert "guy" in {" ".join(old) for old in make_pairing(from_group="male", one_way=True).entries}
    assert "actress" in {" ".join(old) for old in make_pairing(from_group="female", one_way=True).entries}


def test_one_direction_is_not_undone_by_a_second_swap() -> None:
    assert make_pairing(from_group="female").exceptions()["she"] == "he"
    assert "she" not in make_pairing(share=0.25).exceptions()


def test_groups_of_a_lexicon_of_ones_own() -> None:
    ages = Lexicon.build("ages", {"young": ["boy", "lad"], "old": ["man", "elder"], "new": ["baby", "tot"]})
    entries = make_pairing(ages, mapping="cyclic", from_group="old").entries
    assert {old[0]: entry.new[0] for old, entry in entries.items()} == {"man": "baby", "elder": "tot"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": 0}, "share must be above 0 and at most 1, got 0"),
        ({"share": 1.5}, "share must be above 0 and at most 1, got 1.5"),
        ({"share": True}, "share must be above 0 and at most 1, got True"),
        ({"from_group": "old"}, "'gender-en' has no group 'old': it has female, male"),
    ],
)
def test_what_is_wrong(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make_pairing(**options)  # type: ignore[arg-type]


@pytest.mark.needs("bm25s")
def test_fewer_swapped_words_change_fewer_documents() -> None:
    texts = {f"d{n}": f"{word} is late" for n, word in enumerate(("she", "mother", "aunt", "Mary", "Mr. A"))}
    changed = Counter(
        {
            share: len(
                counterfactual("bm25", texts, make_swapper(share=share), queries={"q": "she is late"}).changed
            )
            for share in (0.25, 0.5, 1.0)
        }
    )
    assert changed[0.25] <= changed[0.5] <= changed[1.0] == 5
