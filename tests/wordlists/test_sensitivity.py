"""Scores by other word lists: as if the collection had been scanned again with each of them."""

from __future__ import annotations

import numpy as np
import pytest

import evenrank as er
from evenrank import Lexicon, WordCounts, scan
from evenrank.errors import ParameterError
from evenrank.wordlists import Sensitivity, sensitivity

FEMALE = ["she", "her", "woman", "mary"]
MALE = ["he", "his", "man", "john"]
LEXICON = Lexicon.build("kin", {"f": FEMALE, "m": MALE})
MEASURES = ["NFaiRR@5", "TExFAIR@5", "ARaB@5", "AWRF@5", "RBDF@5"]


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    generator = np.random.default_rng(3)
    words = [*FEMALE, *MALE, *["thing"] * 14]
    return {f"d{place}": " ".join(generator.choice(words, 12)) for place in range(60)}


@pytest.fixture(scope="module")
def runs(texts: dict[str, str]) -> dict[str, dict[str, dict[str, float]]]:
    generator = np.random.default_rng(4)
    return {
        name: {
            f"q{query}": dict(
                zip(generator.permutation(list(texts))[:12].tolist(), range(12, 0, -1), strict=True)
            )
            for query in range(8)
        }
        for name in ("a", "b", "c")
    }


def counted(texts: dict[str, str], lexicon: Lexicon = LEXICON) -> WordCounts:
    return scan(list(texts.items()), lexicon, terms=True)


@pytest.fixture(scope="module")
def found(texts: dict[str, str], runs: dict[str, dict[str, dict[str, float]]]) -> Sensitivity:
    return sensitivity(
        runs, MEASURES, words=counted(texts), background=er.read_run(runs["a"]), lists=5,
        names=["mary", "john"], others={"pronouns": LEXICON.only(["she", "her", "he", "his"])},
    )  # fmt: skip


def test_each_word_left_out_is_as_scanned_without_it(
    found: Sensitivity, texts: dict[str, str], runs: dict[str, dict[str, dict[str, float]]]
) -> None:
    for one in found.measures:
        assert {LEXICON.terms[place] for place in one.words} == {*FEMALE, *MALE}
        for row, place in list(enumerate(one.words))[::3]:
            rest = LEXICON.only(term for term in LEXICON.terms if term != LEXICON.terms[place])
            scores = er.evaluate(
                runs, [one.measure], words=counted(texts, rest), background=er.read_run(runs["a"])
            )
            expected = np.stack([block.values[:, 0] for block in scores.blocks])
            assert one.left_out[row] == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_a_drawn_list_is_a_list_with_weights(
    found: Sensitivity, texts: dict[str, str], runs: dict[str, dict[str, dict[str, float]]]
) -> None:
    """A word that was drawn twice counts twice: with weights in proportion the shares are the same."""
    generator = np.random.default_rng(0)
    drawn = np.concatenate([generator.multinomial(4, [1 / 4] * 4, 5) for _ in "fm"], axis=1)
    nfairr = found.measures[0]
    for row, times in enumerate(drawn):
        by_term = {
            term: count / 4 for term, count in zip(LEXICON.terms, times.tolist(), strict=True) if count
        }
        weighted = Lexicon.build("drawn", {
            "f": {term: weight for term, weight in by_term.items() if term in FEMALE},
            "m": {term: weight for term, weight in by_term.items() if term in MALE},
        })  # fmt: skip
        scores = er.evaluate(
            runs, "NFaiRR@5", words=counted(texts, weighted), background=er.read_run(runs["a"])
        )
        expected = np.stack([block.values[:, 0] for block in scores.blocks])
        assert nfairr.drawn[row] == pytest.approx(expected, abs=1e-12)


def test_the_whole_list_gives_the_scores_of_evaluate(
    found: Sensitivity, texts: dict[str, str], runs: dict[str, dict[str, dict[str, float]]]
) -> None:
    scores = er.evaluate(runs, MEASURES, words=counted(texts), background=er.read_run(runs["a"]))
    for one in found.measures:
        for row in one.runs:
            assert row.value == pytest.approx(scores.mean(one.measure, row.run), abs=1e-12)
            assert (row.low, row.high) == scores.interval(one.measure, row.run)
            assert row.list_low <= row.value <= row.list_high


def test_variants(
    found: Sensitivity, texts: dict[str, str], runs: dict[str, dict[str, dict[str, float]]]
) -> None:
    nfairr, texfair, *_ = found.measures
    assert [variant.name for variant in nfairr.variants] == [
        "without names", "pronouns", "tau=0", "tau=2", "tau=3",
    ]  # fmt: skip
    assert [variant.name for variant in texfair.variants] == ["without names", "pronouns"]
    known = {"words": counted(texts), "background": er.read_run(runs["a"])}
    assert nfairr.variants[2].values["b"] == pytest.approx(
        er.evaluate(runs, "NFaiRR(tau=0)@5", **known).mean("NFaiRR(tau=0)@5", "b")
    )
    for variant, words in ((0, {"mary", "john"}), (1, {"mary", "john", "woman", "man"})):
        rest = LEXICON.only(term for term in LEXICON.terms if term not in words)
        own = er.evaluate(runs, "NFaiRR@5", words=counted(texts, rest), background=er.read_run(runs["a"]))
        assert nfairr.variants[variant].values["c"] == pytest.approx(own.mean("NFaiRR@5", "c"))


def test_a_verdict_that_hangs_on_one_word() -> None:
    """All bias of the second run comes from one word: without it the runs are the same."""
    texts = {**{f"n{i}": "x" for i in range(12)}, **{f"b{i}": "she she she" for i in range(12)}}
    fair = {f"q{i}": {f"n{i}": 1.0} for i in range(12)}
    biased = {f"q{i}": {f"b{i}": 1.0} for i in range(11)} | {"q11": {"n11": 1.0}}
    lexicon = Lexicon.build("two", {"f": ["she", "her"], "m": ["he", "his"]})
    found = sensitivity({"fair": fair, "biased": biased}, "FaiRR@1", words=counted(texts, lexicon), lists=40)
    (one,) = found.measures
    assert one.verdicts == {("biased", "fair"): "worse"}
    (row,) = one.stability
    assert row.words == ("she",)
    # a list of two words drawn twice lacks "she" with chance 1/4
    lacking = float((np.random.default_rng(0).multinomial(2, [1 / 2] * 2, 40)[:, 0] == 0).mean())
    assert row.same == pytest.approx(1 - lacking)
    assert row.others == {"": pytest.approx(lacking)}
    (effect,) = one.word_effects
    assert (effect.word, effect.group, effect.documents, effect.run, effect.flips) == (
        "she",
        "f",
        11,
        "biased",
        1,
    )
    assert effect.largest_change == pytest.approx(11 / 12)
    assert effect.mean_change == pytest.approx(11 / 24)
    assert "0 of 1 verdicts" in repr(found)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "permutation"])
def test_verdicts_are_those_of_compare_on_the_collection_scanned_again(
    test: str, texts: dict[str, str], runs: dict[str, dict[str, dict[str, float]]]
) -> None:
    rule = {"test": test, "correction": "holm", "alpha": 0.4, "background": er.read_run(runs["a"])}

    def verdicts(lexicon: Lexicon) -> list[dict[tuple[str, str], str]]:
        compared = er.compare(runs, MEASURES, baseline="a", words=counted(texts, lexicon), **rule)
        found = {name: {} for name in MEASURES}
        for pair in compared.pairs:
            found[pair.measure][pair.system, pair.baseline] = pair.verdict
        return list(found.values())

    found = sensitivity(runs, MEASURES, words=counted(texts), lists=2, **rule)
    assert [one.verdicts for one in found.measures] == verdicts(LEXICON)
    assert any(verdict for one in found.measures for verdict in one.verdicts.values())
    for word in ("she", "john"):
        without = verdicts(LEXICON.only(term for term in LEXICON.terms if term != word))
        for one, other in zip(found.measures, without, strict=True):
            for row in one.stability:
                assert (word in row.words) == (other[row.system, row.baseline] != row.verdict)


def test_what_is_needed(texts: dict[str, str], runs: dict[str, dict[str, dict[str, float]]]) -> None:
    with pytest.raises(ParameterError, match="terms=True"):
        sensitivity(runs, "TExFAIR@5", words=scan(list(texts.items()), LEXICON))
    with pytest.raises(ParameterError):
        sensitivity(runs, "GroupExposure@5", words=counted(texts))
    found = sensitivity(
        runs, "TExFAIR@5 RBO@5", words=counted(texts), lists=2, against=er.read_run(runs["a"])
    )
    assert [repr(one.measure) for one in found.measures] == ["TExFAIR@5"]
    assert "RBO@5" in found.notes[0]
    more = {"more": Lexicon.build("more", {"f": ["aunt"], "m": ["he"]})}
    with pytest.raises(ParameterError, match="1 term"):
        sensitivity(runs, "TExFAIR@5", words=counted(texts), others=more)
    other = {"x": Lexicon.build("x", {"one": ["she"], "two": ["he"]})}
    with pytest.raises(ParameterError, match=r"one, two.*f, m"):
        sensitivity(runs, "TExFAIR@5", words=counted(texts), others=other)


def test_a_collection_as_background(
    texts: dict[str, str], runs: dict[str, dict[str, dict[str, float]]]
) -> None:
    words = counted(texts)
    (one,) = sensitivity({"a": runs["a"]}, "NFaiRR@5", words=words, background=words, lists=2).measures
    rest = LEXICON.only(term for term in LEXICON.terms if term != "she")
    without = counted(texts, rest)
    scores = er.evaluate(runs["a"], "NFaiRR@5", words=without, background=without)
    row = one.words.index(LEXICON.terms.index("she"))
    assert one.left_out[row][0] == pytest.approx(scores.blocks[0].values[:, 0])
    assert one.stability == ()
