"""What becomes what, in which case, and that nothing else changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenrank import DataError, Lexicon, MissingExtraError, ParameterError, read_lexicon
from evenrank.counterfactuals.swap import KINDS, Swap, make_swapper
from evenrank.counterfactuals.swap import tagger as tagging
from evenrank.counterfactuals.swap.case import as_cased
from evenrank.counterfactuals.swap.names import SPREAD, name_pairs, ranks
from evenrank.counterfactuals.swap.pairing import make_pairing

SWAPPER = make_swapper(tagger="rules")


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("", ""),
        ("nothing to see", "nothing to see"),
        ("She said he left.", "He said she left."),
        ("SHE, She, she", "HE, He, he"),
        ("my mother's mothers' motherhood", "my father's fathers' fatherhood"),
        ("herself/himself (hers)", "himself/herself (his)"),
        ("I saw her.\r\n\tHer  dog bit\u00a0him!", "I saw him.\r\n\tHis  dog bit\u00a0her!"),
        ("Mr. Hall, Mrs Hall", "Mrs. Hall, Mr Hall"),
        ("Ms. Hall and Miss Hall", "Mr. Hall and Mr Hall"),
        ("I miss Hall; 20 ms Hall; in MS, Miss Me", "I miss Hall; 20 ms Hall; in MS, Miss Me"),
        ("the_man man_1 man1 human", "the_man man_1 man1 human"),
        ("fiancée, FIANCÉ", "fiancé, FIANCÉE"),
        ("his/her book, him or her", "her/his book, her or him"),
        ("an actress, a guy, my mum", "an actress, a guy, my mum"),
        ("wOmAn", "mAn"),
    ],
)
def test_swapped(text: str, swapped: str) -> None:
    assert SWAPPER.swap(text).text == swapped


def test_changes_and_where_they_went() -> None:
    result = SWAPPER.swap("The men and Her niece")
    assert result.changes == (
        Swap(4, 7, "men", "women", "nouns"),
        Swap(12, 15, "Her", "His", "pronouns"),
        Swap(16, 21, "niece", "nephew", "nouns"),
    )
    assert [result.text[start:end] for start, end in result.spans()] == ["women", "His", "nephew"]


@given(
    st.lists(
        st.sampled_from(["her", "His", "MEN", "Élise", "Mary", " ", ", ", "x", "’s", "\n", "ß"]), max_size=30
    )
)
def test_only_the_changes_differ(pieces: list[str]) -> None:
    text = "".join(pieces)
    result = SWAPPER.swap(text)
    old, new = 0, 0
    for change, (start, end) in zip(result.changes, result.spans(), strict=True):
        assert text[old : change.start] == result.text[new:start]
        assert (text[change.start : change.end], result.text[start:end]) == (change.old, change.new)
        old, new = change.end, end
    assert text[old:] == result.text[new:]


@given(
    st.text(st.sampled_from("aAbB"), min_size=1, max_size=6), st.sampled_from(["a", "ab", "abab", "ababab"])
)
def test_case_comes_back_where_there_is_room_for_it(old: str, word: str) -> None:
    new = as_cased(old, word)
    assert new.lower() == word
    if len(word) >= len(old) and len(old) > 1:
        assert as_cased(new, old.lower()) == old


def test_kinds_are_swapped_alone() -> None:
    text = "She and Mrs Hall met Mary's sister"
    alone = {kind: make_swapper(kinds=[kind], tagger="rules").swap(text) for kind in KINDS}
    words = [alone[kind].text.split()[place] for kind, place in zip(KINDS, (0, 6, 2, 5), strict=True)]
    assert words == ["He", "brother", "Mr", f"{name_pairs(0)['mary'].capitalize()}'s"]
    assert all(len(swapped.changes) == 1 for swapped in alone.values())
    together = SWAPPER.swap(text)
    assert {change for swapped in alone.values() for change in swapped.changes} == set(together.changes)


def test_every_pair_comes_back() -> None:
    """But for her and his, which the text around decides, and the titles that share one counterpart."""
    entries = make_pairing().entries
    for old, entry in entries.items():
        if not entry.context:
            assert entries[entry.new].new == old
            assert entries[entry.new].kind == entry.kind
    assert make_pairing().exceptions() == {"miss": "mr", "ms": "mr"}


def test_one_way_words_are_exceptions() -> None:
    swapper = make_swapper(one_way=True, tagger="rules")
    assert swapper.swap("Mum met an Actress").text == "Dad met an Actor"
    exceptions = swapper.pairing.exceptions()
    assert (exceptions["mum"], exceptions["actress"]) == ("dad", "actor")
    lexicon = read_lexicon("gender-en")
    assert set(exceptions) - {"ms", "miss"} <= set(lexicon.terms) - set(lexicon.partners)


def test_names_are_paired_one_to_one_with_equally_frequent_ones() -> None:
    table = ranks()
    births = dict(zip(table.female, (pair[0] for pair in table.births), strict=True))
    births |= dict(zip(table.male, (pair[1] for pair in table.births), strict=True))
    rank = {name: place for side in (table.female, table.male) for place, name in enumerate(side)}
    assert len(rank) == len(births) == 1000
    for seed in (0, 1):
        pairs = name_pairs(seed)
        assert set(pairs) == set(rank)
        assert all(pairs[other] == name for name, other in pairs.items())
        for name, other in pairs.items():
            own_side = table.female if name in set(table.female) else table.male
            assert other not in own_side
            # the counterpart of the same rank is in the same band
            same_rank = own_side[rank[other]]
            assert max(births[name], births[same_rank]) <= SPREAD * min(births[name], births[same_rank])
    assert name_pairs(0) == name_pairs(0) != name_pairs(1)
    assert not set(rank) & set(read_lexicon("gender-en").terms)
    assert set(read_lexicon("gender-en-names").terms) <= set(rank)


@pytest.mark.parametrize("seed", [-1, True, 1.5])
def test_a_seed_is_a_number(seed: object) -> None:
    with pytest.raises(ParameterError, match="seed must be an integer >= 0"):
        make_swapper(seed=seed)  # type: ignore[arg-type]


AGES = Lexicon.build(
    "ages", {"young": ["kid", "young one"], "middle": ["adult", "grown up"], "old": ["elder", "aged"]}
)


def test_a_cyclic_shift_comes_back_after_as_many_swaps_as_groups() -> None:
    swapper = make_swapper(AGES, mapping="cyclic")
    text = "A Kid, a grown-up and an Elder"
    once = swapper.swap(text).text
    assert once == "A Adult, a aged and an Kid"
    three = make_swapper(
        Lexicon.build("three", {"a": ["one", "uno dos"], "b": ["two", "tres si"], "c": ["six", "ocho no"]}),
        mapping="cyclic",
    )
    old = "One, UNO-dos; two Tres  si."
    news = [old]
    for _ in range(3):
        news.append(three.swap(news[-1]).text)
    assert news[1] == "Two, TRES-si; six Ocho  no."
    assert news[3] == old


def test_a_mapping_is_given() -> None:
    swapper = make_swapper(AGES, mapping={"Kid": "elder"})
    assert swapper.swap("KID, adult, elder").text == "ELDER, adult, elder"
    assert swapper.pairing.exceptions() == {"kid": "elder"}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"lexicon": AGES}, ParameterError, "has no partners: give a mapping, or mapping='cyclic'"),
        ({"lexicon": AGES, "mapping": "next"}, ParameterError, "mapping must be a dict or 'cyclic'"),
        ({"lexicon": AGES, "mapping": {"kid": "baby"}}, DataError, "not in the lexicon 'ages': baby"),
        ({"lexicon": "gender-en", "mapping": "cyclic"}, DataError, "same size, got female 246, male 231"),
        ({"kinds": ["verbs"]}, ParameterError, "kinds must be some of pronouns, nouns, titles, names"),
        ({"kinds": "names"}, ParameterError, "kinds must be some of"),
        ({"kinds": []}, ParameterError, "kinds must be some of"),
        ({"tagger": "best"}, ParameterError, "tagger must be one of auto, spacy, rules"),
        ({"lexicon": AGES, "mapping": "cyclic", "kinds": ["names"]}, ParameterError, "has no names to swap"),
    ],
)
def test_what_is_refused(arguments: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_swapper(**arguments)  # type: ignore[arg-type]


def test_spacy_that_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagging, "find_spec", lambda name: None)
    assert make_swapper().tagger == "rules"
    with pytest.raises(MissingExtraError, match=r"\[swap\]"):
        make_swapper(tagger="spacy")


def test_a_lexicon_of_ones_own_is_all_that_is_swapped() -> None:
    own = Lexicon.build(
        "own", {"f": ["her", "ms", "cat"], "m": ["him", "mr", "dog"]},
        partners={"her": "him", "him": "her", "cat": "dog", "dog": "cat", "ms": "mr", "mr": "ms"},
    )  # fmt: skip
    swapper = make_swapper(own, tagger="rules")
    assert swapper.swap("Her cat saw her; Mary's man, Mr Hall").text == "His dog saw him; Mary's man, Ms Hall"
