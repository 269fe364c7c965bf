"""The lists that come with the package obey the rules that their README states."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from evenrank import Lexicon, read_lexicon, scan
from evenrank.cli import main
from evenrank.io.lexicons import write_lexicon

FOLDER = files("evenrank") / "lexicons"
SHIPPED = sorted(file.stem for file in Path(str(FOLDER)).glob("*.csv"))
GENDER = ("gender-en", "gender-en-names", "gender-de")


@pytest.fixture(params=GENDER)
def lexicon(request: pytest.FixtureRequest) -> Lexicon:
    return read_lexicon(request.param)


@pytest.fixture(params=SHIPPED)
def shipped(request: pytest.FixtureRequest) -> Lexicon:
    return read_lexicon(request.param)


def test_every_file_has_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lexicon", "list", "--format", "jsonl"]) == 0
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["lexicon"] for row in listed} == set(SHIPPED)


def test_groups_and_targets(lexicon: Lexicon) -> None:
    assert lexicon.groups == ("female", "male")
    assert lexicon.targets == (0.5, 0.5)


def test_words_are_single_lower_case_tokens(lexicon: Lexicon) -> None:
    assert all(term == term.lower() and term.isalpha() for term in lexicon.terms)


def test_partners_are_a_bijection_between_the_groups(lexicon: Lexicon) -> None:
    female, male = set(lexicon.words("female")), set(lexicon.words("male"))
    paired = {term for term in lexicon.partners if term in female}
    assert {lexicon.partners[term] for term in paired} == set(lexicon.partners) & male
    assert all(lexicon.partners[lexicon.partners[term]] == term for term in lexicon.partners)


def test_partners_stand_in_the_same_order_on_both_sides(lexicon: Lexicon) -> None:
    female = [term for term in lexicon.words("female") if term in lexicon.partners]
    male = [term for term in lexicon.words("male") if term in lexicon.partners]
    assert [lexicon.partners[term] for term in female] == male


def test_the_file_is_what_the_writer_writes(shipped: Lexicon, tmp_path: Path) -> None:
    write_lexicon(shipped, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == (FOLDER / f"{shipped.name}.csv").read_bytes()


def test_every_list_says_how_it_was_made_and_what_it_misses(
    shipped: Lexicon, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lexicon", "show", shipped.name]) == 0
    said = " ".join(capsys.readouterr().out.split()).partition(f" {shipped.name}: ")[2]
    assert len(said) > 200
    assert shipped.name.startswith("gender-en") or "What it misses" in said
    assert scan([("d", " ".join(shipped.terms[:5]))], shipped).tokens.sum() > 0


def test_several_groups() -> None:
    region, religion = read_lexicon("region-en"), read_lexicon("religion-en")
    assert region.groups == ("africa", "americas", "asia", "europe", "oceania")
    assert religion.groups == ("christian", "muslim", "jewish", "hindu", "buddhist", "sikh")
    assert "new zealand" in region.words("oceania")
    counts = scan([("d", "Papua New Guinea, South Africa and the Chinese")], region)
    assert counts.counts.tolist() == [[1, 0, 1, 0, 1]]
    for word in ("chad", "georgia", "turkey", "polish", "jordan", "guinea"):
        assert word not in region.terms
    for word in ("god", "temple", "priest", "zen", "lent", "guru"):
        assert word not in religion.terms


def test_german_words_in_their_cases() -> None:
    german = read_lexicon("gender-de")
    assert {"mutter", "mütter", "müttern"} <= set(german.words("female"))
    assert {"mann", "mannes", "männer", "männern"} <= set(german.words("male"))
    assert german.partners["töchtern"] == "söhnen"
    for word in ("sie", "er", "ihr", "sein", "lehrer", "lehrerin"):
        assert word not in german.terms
    counts = scan([("d", "Die MÜTTER und der Mann des Königs")], german)
    assert counts.counts.tolist() == [[1, 2]]


def test_words_with_partners() -> None:
    words = read_lexicon("gender-en")
    assert len(words.partners) == 2 * 220
    assert len(words) == 477
    for one, other in [("she", "he"), ("her", "him"), ("hers", "his"), ("mother", "father"), ("mom", "dad")]:
        assert words.partners[one] == other
    assert "mum" in words.words("female")
    assert "mum" not in words.partners


@pytest.mark.parametrize(
    "word", ["miss", "ms", "master", "count", "host", "gal", "pop", "guys", "actor", "god"]
)
def test_words_with_a_strong_other_sense_are_left_out(word: str) -> None:
    assert word not in read_lexicon("gender-en").terms


def test_names_are_equally_many_and_all_paired() -> None:
    names = read_lexicon("gender-en-names")
    assert len(names.words("female")) == len(names.words("male")) > 80
    assert set(names.partners) == set(names.terms)


def test_both_together() -> None:
    words, names = read_lexicon("gender-en"), read_lexicon("gender-en-names")
    both = read_lexicon("gender-en+gender-en-names")
    assert both.name == "gender-en+gender-en-names"
    assert set(both.terms) == set(words.terms) | set(names.terms)
    assert both.partners == {**words.partners, **names.partners}
