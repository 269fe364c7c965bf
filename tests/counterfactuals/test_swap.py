"""What becomes what, in which case, and that nothing else changes."""

from __future__ import annotations

import csv
import sys
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenrank import DataError, Lexicon, MissingExtraError, ParameterError, read_lexicon
from evenrank.counterfactuals.swap import make_swapper

KINDS = ("pronouns", "nouns", "titles", "names")
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
    assert [(c.start, c.end, c.old, c.new, c.kind) for c in result.changes] == [
        (4, 7, "men", "women", "nouns"),
        (12, 15, "Her", "His", "pronouns"),
        (16, 21, "niece", "nephew", "nouns"),
    ]
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


OWN = Lexicon.build(
    "letters", {"a": ["abab", "ab"], "b": ["cdcd", "cdcdcd"]},
    partners={"abab": "cdcd", "cdcd": "abab", "ab": "cdcdcd", "cdcdcd": "ab"},
)  # fmt: skip


@given(st.one_of(*(st.tuples(*map(st.sampled_from, ["aA", "bB"] * times)) for times in (1, 2))))
def test_case_comes_back_where_there_is_room_for_it(letters: tuple[str, ...]) -> None:
    old, swapper = "".join(letters), make_swapper(OWN)
    new = swapper.swap(old).text
    assert new.lower() == {"ab": "cdcdcd", "abab": "cdcd"}[old.lower()]
    assert swapper.swap(new).text == old


def test_kinds_are_swapped_alone() -> None:
    text = "She and Mrs Hall met Mary's sister"
    alone = {kind: make_swapper(kinds=[kind], tagger="rules").swap(text) for kind in KINDS}
    words = [alone[kind].text.split()[place] for kind, place in zip(KINDS, (0, 6, 2, 5), strict=True)]
    assert words == ["He", "brother", "Mr", SWAPPER.swap("Mary's").text]
    assert all(len(swapped.changes) == 1 for swapped in alone.values())
    together = SWAPPER.swap(text)
    assert {change for swapped in alone.values() for change in swapped.changes} == set(together.changes)


def test_every_pair_comes_back() -> None:
    """But for the titles that share one counterpart, and what the text around decides."""
    partners, unlike = read_lexicon("gender-en").partners, {"her", "his", "him", "hers", "mr", "mrs"}
    texts = [f"the {word} left" for word in partners if word not in unlike]
    assert len(texts) > 400
    swapped = SWAPPER.swap_many(texts)
    assert all(new != old for old, new in zip(texts, swapped, strict=True))
    assert SWAPPER.swap_many(swapped) == texts
    titles = [SWAPPER.swap(f"{title} Hall").text for title in ("Ms", "Miss", "Mrs", "Mr")]
    assert titles == ["Mr Hall", "Mr Hall", "Mr Hall", "Mrs Hall"]


def test_words_that_lead_one_way_are_swapped_if_asked_for() -> None:
    swapper = make_swapper(one_way=True, tagger="rules")
    assert swapper.swap("Mum met an Actress").text == "Dad met an Actor"
    assert SWAPPER.swap("Mum met an Actress").text == "Mum met an Actress"


def test_names_are_paired_one_to_one_with_equally_frequent_ones() -> None:
    text = (files("evenrank") / "counterfactuals/swap/names-en.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    births = {row[side]: int(row[f"{side}_births"]) for side in ("female", "male") for row in rows}
    ranks = {side: {row[side]: place for place, row in enumerate(rows)} for side in ("female", "male")}
    assert len(births) == 1000
    names = list(births)
    found = []
    for seed in (0, 0, 1):
        swapper = make_swapper(seed=seed, tagger="rules")
        pairs = dict(zip(names, swapper.swap_many(names), strict=True))
        assert all(pairs[other] == name for name, other in pairs.items())
        for name, other in pairs.items():
            own = "female" if name in ranks["female"] else "male"
            assert other not in ranks[own]
            # the counterpart of the same rank has about as many births
            same_rank = rows[ranks["male" if own == "female" else "female"][other]][own]
            assert max(births[name], births[same_rank]) <= 1.25 * min(births[name], births[same_rank])
        found.append(pairs)
    assert found[0] == found[1] != found[2]
    assert not births.keys() & set(read_lexicon("gender-en").terms)
    assert set(read_lexicon("gender-en-names").terms) <= births.keys()


@pytest.mark.parametrize("seed", [-1, 1.5])
def test_a_seed_is_a_number(seed: object) -> None:
    with pytest.raises(ParameterError, match="seed"):
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


@pytest.mark.parametrize(
    ("arguments", "error", "names"),
    [
        ({"lexicon": AGES}, ParameterError, "'ages'.*mapping='cyclic'"),
        ({"lexicon": AGES, "mapping": "next"}, ParameterError, "mapping.*'cyclic'"),
        ({"lexicon": AGES, "mapping": {"kid": "baby"}}, DataError, "'ages'.*baby"),
        ({"lexicon": "gender-en", "mapping": "cyclic"}, DataError, "female 246, male 231"),
        ({"kinds": ["verbs"]}, ParameterError, "kinds.*pronouns, nouns, titles, names"),
        ({"kinds": "names"}, ParameterError, "kinds"),
        ({"kinds": []}, ParameterError, "kinds"),
        ({"tagger": "best"}, ParameterError, "tagger.*auto, spacy, rules"),
        ({"lexicon": AGES, "mapping": "cyclic", "kinds": ["names"]}, ParameterError, "'ages'.*names"),
    ],
)
def test_what_cannot_be_swapped_is_an_error_that_names_it(
    arguments: dict[str, object], error: type[Exception], names: str
) -> None:
    with pytest.raises(error, match=names):
        make_swapper(**arguments)  # type: ignore[arg-type]


def test_without_spacy_the_rules_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
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
