"""Words that stand for groups by degree: what is counted, and what every measure of words makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from math import log1p, log2
from pathlib import Path

import numpy as np
import pytest

import evenrank as er
from evenrank import Lexicon, WordCounts, read_counts, read_lexicon, scan
from evenrank.errors import DataError, ParameterError
from evenrank.io.lexicons import write_lexicon

WEIGHTS = {"f": {"she": 1.0, "nurse": 0.8, "maid": 0.3}, "m": {"he": 1.0, "nurse": 0.1, "clerk": 0.4}}
TEXTS = {
    "a": "she met a nurse and another nurse",
    "b": "he is a clerk",
    "c": "the nurse",
    "d": "nothing at all",
    "e": "a maid and a clerk and he",
}
RUN = {"q": {name: 9.0 - place for place, name in enumerate(TEXTS)}}


@pytest.fixture
def lexicon() -> Lexicon:
    return Lexicon.build("degrees", WEIGHTS)


@pytest.fixture
def counts(lexicon: Lexicon) -> WordCounts:
    return scan(list(TEXTS.items()), lexicon)


def words_of(name: str) -> tuple[dict[str, float], int, int]:
    """c_g(d) = sum_t weight_g(t) count(t, d), the tokens of any group, and all tokens: by hand."""
    tokens = TEXTS[name].split()
    sums = {group: sum(own.get(token, 0.0) for token in tokens) for group, own in WEIGHTS.items()}
    return sums, sum(any(token in own for own in WEIGHTS.values()) for token in tokens), len(tokens)


def neutral(name: str, tau: int = 1) -> float:
    sums, tokens, _ = words_of(name)
    return 1.0 if tokens <= tau else 1 - sum(abs(c / sum(sums.values()) - 0.5) for c in sums.values())


def discount(values: list[float]) -> float:
    return sum(value / log2(1 + rank) for rank, value in enumerate(values, 1))


def oracle() -> dict[str, float]:
    w = [neutral(name) for name in TEXTS]
    has = [float(words_of(name)[1] > 0) for name in TEXTS]
    exposure = {g: discount([words_of(name)[0][g] / words_of(name)[2] for name in TEXTS]) for g in WEIGHTS}
    shares = {g: value / sum(exposure.values()) for g, value in exposure.items()}
    rbdf = discount(has) / discount([1.0] * len(has))
    ted = sum(abs(share - 0.5) for share in shares.values()) * rbdf
    attended = discount(
        [words_of(n)[0]["f"] / sum(words_of(n)[0].values()) if words_of(n)[1] else 0.5 for n in TEXTS]
    ) / discount([1.0] * len(TEXTS))
    return {
        "FaiRR@5": discount(w),
        "NFaiRR@5": discount(w) / discount(sorted(w, reverse=True)),
        "RBDF@5": rbdf,
        "TED@5": ted,
        "TExFAIR@5": 1 - ted,
        "RaB@5": float(np.mean([words_of(n)[0]["f"] - words_of(n)[0]["m"] for n in TEXTS])),
        "RaB(form='tf')@5": float(
            np.mean([log1p(words_of(n)[0]["f"]) - log1p(words_of(n)[0]["m"]) for n in TEXTS])
        ),
        "AWRF@5": abs(attended - 0.5) * 2,
    }


def test_every_measure_of_words_uses_the_weights(counts: WordCounts) -> None:
    expected = oracle()
    scores = er.evaluate(RUN, list(expected), words=counts)
    for measure, value in expected.items():
        assert scores.mean(measure) == pytest.approx(value, abs=1e-12), measure


def test_a_token_counts_once_whatever_its_groups_and_weights(counts: WordCounts) -> None:
    by_id = dict(zip(counts.doc_ids.to_pylist(), counts.tokens.tolist(), strict=True))
    assert by_id == {"a": 3, "b": 2, "c": 1, "d": 0, "e": 3}
    assert er.evaluate(RUN, "FaiRR(tau=0)@5", words=counts).mean("FaiRR(tau=0)@5") == pytest.approx(
        discount([neutral(name, 0) for name in TEXTS])
    )


def test_neutral_reranks_by_weighted_words(counts: WordCounts) -> None:
    fairer = er.rerank(er.read_run(RUN), "Neutral(band=None)", words=counts)
    assert list(fairer.documents("q")) == sorted(TEXTS, key=lambda name: -round(neutral(name), 12))


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_weights_are_written_and_read_back(lexicon: Lexicon, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"degrees{suffix}"
    write_lexicon(lexicon, path)
    assert read_lexicon(path) == lexicon
    assert read_lexicon(path).to_weights() == WEIGHTS


def test_a_file_of_counts_keeps_the_weights(lexicon: Lexicon, counts: WordCounts, tmp_path: Path) -> None:
    scan(list(TEXTS.items()), lexicon, tmp_path / "c.parquet")
    again = read_counts(tmp_path / "c.parquet", lexicon)
    assert again.lexicon == lexicon
    assert again.fingerprint == counts.fingerprint


def test_weights_change_the_fingerprint_and_their_absence_does_not() -> None:
    plain = Lexicon.build("x", {"f": ["she"], "m": ["he"]})
    whole = Lexicon.build("x", {"f": {"she": 1}, "m": {"he": 1}})
    half = Lexicon.build("x", {"f": {"she": 0.5}, "m": {"he": 1}})
    assert len({plain.fingerprint, whole.fingerprint, half.fingerprint}) == 3
    texts = list(TEXTS.items())
    assert scan(texts, plain).counts.tolist() == scan(texts, whole).counts.tolist()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"f": {"she": 0}, "m": {"he": 1}}, "the weight of 'she' must be above 0 and at most 1, got 0"),
        ({"f": {"she": 1.5}, "m": {"he": 1}}, "must be above 0 and at most 1, got 1.5"),
        ({"f": {"she": 1, "x": 1}, "m": ["he", "x"]}, "'x' is in group 'f' and in 'm'"),
    ],
)
def test_weights_that_are_none(words: Mapping[str, dict[str, float]], why: str) -> None:
    with pytest.raises(DataError, match=why):
        Lexicon.build("x", words)


def test_problems_of_a_file_with_weights_have_lines(tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text("word,group,weight\nshe,f,1\nnurse,f,lots\nnurse,m,0.5\nnurse,m,0.4\n")
    with pytest.raises(DataError) as refused:
        read_lexicon(path)
    assert f"{path.name}:3: the weight of 'nurse'" in str(refused.value)
    assert ":5: 'nurse' is twice in group 'm'" in str(refused.value)


def test_other_lists_come_from_the_counts_by_term() -> None:
    """The same as a scan with that list: fewer words, weights, or a word that changed its group."""
    long = Lexicon.build("long", {"f": ["she", "nurse", "maid"], "m": ["he", "clerk"]})
    texts = list(TEXTS.items())
    counted = scan(texts, long, terms=True)
    for other in (
        long.only(["she", "clerk", "maid"]),
        Lexicon.build("swapped", {"f": ["clerk"], "m": ["maid", "he"]}),
        Lexicon.build("degrees", WEIGHTS),
    ):
        assert counted.relisted(other).fingerprint == scan(texts, other, terms=True).fingerprint
    with pytest.raises(ParameterError, match=r"the counts lack 1 term of .*, such as 'wife': scan with both"):
        counted.relisted(Lexicon.build("more", {"f": ["she", "wife"], "m": ["he"]}))
    with pytest.raises(ParameterError, match="scan again with terms=True"):
        scan(texts, long).relisted(long)


def test_lexicons_that_share_words_are_joined(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("word,group\nshe,female\nhers,female\nhe,male\n")
    joined = read_lexicon(f"gender-en+{tmp_path / 'a.csv'}")
    assert len(joined) == len(read_lexicon("gender-en"))
    (tmp_path / "b.csv").write_text("word,group\nx,female\nshe,male\n")
    with pytest.raises(ParameterError, match="'she' has another group or another weight"):
        read_lexicon(f"gender-en+{tmp_path / 'b.csv'}")
