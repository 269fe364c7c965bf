"""Rankers that keep a teacher's order, without judgements, while an adversary looks on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_trainers import Killed, killed_at, same

from evenrank import DataError, Inputs, ParameterError
from evenrank.neural import BiEncoderRanker, load_ranker, make_config, train

pytestmark = pytest.mark.needs("torch", "transformers")


@pytest.fixture
def content(checkpoint: Path, tmp_path: Path) -> dict[str, Any]:
    """Half a minute of training in a second."""
    lexicon = tmp_path / "kin.json"
    lexicon.write_text(
        json.dumps({"name": "kin", "groups": {"male": ["he", "his"], "female": ["she", "her"]}})
    )
    return {
        "attributes": [{"name": "kin", "lexicon": str(lexicon), "tau": 0}],
        "model": {"encoder": str(checkpoint), "kind": "bi-encoder", "loss": "distillation", "max_length": 24},
        "distil": {"teacher": str(checkpoint), "depth": 10, "documents": 4, "lists": 2},
        "training": {"device": "cpu", "batch": 8, "save_seconds": 0},
        "examples": {"validation": 0.25},
        "tune": {"epochs": 0},
        "adversary": {"epochs": 1, "dropout": 0.3, "weight_decay": 0.3, "steps": 2},
        "joint": {"strengths": [1.0], "epochs": 2, "checkpoints": 2, "ceiling": 1.5},
    }


@pytest.fixture
def known(planted: Any) -> dict[str, Any]:
    return {"query_texts": planted.queries, "documents": planted.documents}


def slow_vector(ranker: BiEncoderRanker, text: str) -> Any:
    """One text, no padding: the mean over its tokens, of length 1."""
    given = ranker.tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        mean = ranker.encoder(**given).last_hidden_state[0].mean(dim=0)
    return (mean / mean.norm()).numpy()


def changed(checkpoint: Path, folder: Path) -> Path:
    """The same model with other embeddings of words."""
    from transformers import BertModel

    shutil.copytree(checkpoint, folder)
    model = BertModel.from_pretrained(folder)
    with torch.no_grad():
        model.embeddings.word_embeddings.weight.mul_(-20)
    model.save_pretrained(folder)
    return folder


def test_what_a_bi_encoder_loses_is_its_divergence_from_the_teacher(
    content: dict[str, Any], checkpoint: Path, tmp_path: Path
) -> None:
    """KL(softmax(teacher) || softmax(student)) of cosines over all documents of a batch, each once."""
    texts = ("moon his", "river bread", "star he music", "paper", "she moon")
    documents = {f"d{place}": text for place, text in enumerate(texts)}
    queries = {"q1": "moon", "q2": "garden river"}
    content |= {"examples": {"validation": 0.5}, "joint": {"epochs": 0}, "adversary": {"epochs": 0}}
    content["distil"]["teacher"] = str(changed(checkpoint, tmp_path / "teacher"))
    content["distil"] |= {"lists": 16, "temperature": 0.05}
    content["training"] |= {"learning_rate": 1e-30, "head_learning_rate": 1e-30, "weight_decay": 0}
    content["tune"] = {"epochs": 1, "checkpoints": 1}
    (base,) = train(make_config(content), tmp_path / "out", query_texts=queries, documents=documents)
    teacher = BiEncoderRanker.start(content["distil"]["teacher"], {}, max_length=24).eval()
    student = load_ranker(tmp_path / "out/base").eval()
    expected = []
    for query in queries.values():
        shares = []
        for ranker in (teacher, student):
            vector = slow_vector(ranker, query)
            cosines = np.array([vector @ slow_vector(ranker, text) / 0.05 for text in texts])
            exponents = np.exp(cosines - cosines.max())
            shares.append(exponents / exponents.sum())
        expected.append(float((shares[0] * np.log(shares[0] / shares[1])).sum()))
    assert min(abs(base.validation / one - 1) for one in expected) < 1e-2  # one query is held out
    assert min(expected) > 1e-3


def test_a_bi_encoder_is_trained_in_the_three_stages(
    content: dict[str, Any], known: dict[str, Any], tmp_path: Path
) -> None:
    """Without judgements; stopped after any step it ends with the same weights. The teacher reads once."""
    read: list[tuple[int, int]] = []
    whole = train(make_config(content), tmp_path / "whole", reading=lambda *at: read.append(at), **known)
    assert read[-1] == (8 + len(set(known["documents"].values())),) * 2
    assert [one.name for one in whole] == ["base", "lambda-1/checkpoint-01", "lambda-1/checkpoint-02"]
    base, last = (load_ranker(tmp_path / "whole" / one.name) for one in (whole[0], whole[-1]))
    assert isinstance(last, BiEncoderRanker)
    assert not torch.equal(next(base.encoder.parameters()), next(last.encoder.parameters()))
    for stop in (2, 4):
        folder = tmp_path / f"stopped-{stop}"
        with pytest.raises(Killed):
            train(make_config(content), folder, progress=killed_at(stop), **known)
        again: list[tuple[int, int]] = []
        train(make_config(content), folder, resume=True, reading=lambda *at, to=again: to.append(at), **known)
        assert again == []
        assert same(load_ranker(folder / whole[-1].name).state_dict(), last.state_dict())


def test_a_teacher_that_has_changed_reads_again(
    content: dict[str, Any], known: dict[str, Any], checkpoint: Path, tmp_path: Path
) -> None:
    """Its vectors are kept under its weights, not under the name of its folder."""
    teacher = tmp_path / "teacher"
    shutil.copytree(checkpoint, teacher)
    content["distil"]["teacher"] = str(teacher)
    with pytest.raises(Killed):
        train(make_config(content), tmp_path / "out", progress=killed_at(1), **known)
    shutil.copytree(changed(checkpoint, tmp_path / "other"), teacher, dirs_exist_ok=True)
    read: list[tuple[int, int]] = []
    with pytest.raises(ParameterError, match="another folder"):  # it would give other lists
        train(
            make_config(content), tmp_path / "out", resume=True, reading=lambda *at: read.append(at), **known
        )
    assert read


def test_a_teacher_that_pools_otherwise_is_refused(
    content: dict[str, Any], known: dict[str, Any], checkpoint: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(checkpoint, folder)
    kind = "sentence_transformers.models."
    modules = [{"path": "", "type": f"{kind}Transformer"}, {"path": "1_Pooling", "type": f"{kind}Pooling"}]
    (folder / "1_Pooling").mkdir()
    content["distil"]["teacher"] = str(folder)
    for modes, more, refused in (
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, [], "cls"),
        ({"pooling_mode": "mean"}, [{"path": "2_Dense", "type": f"{kind}Dense"}], "Dense"),
        ({"pooling_mode_mean_tokens": True}, [], None),
    ):
        (folder / "modules.json").write_text(json.dumps([*modules, *more]))
        (folder / "1_Pooling/config.json").write_text(json.dumps(modes))
        if refused is None:
            train(make_config(content), tmp_path / "out", **known)
        else:
            with pytest.raises(DataError, match=refused):
                train(make_config(content), tmp_path / "out", **known)


def test_a_cross_encoder_learns_the_order_of_a_teacher(
    content: dict[str, Any], known: dict[str, Any], tmp_path: Path
) -> None:
    content["model"] |= {"kind": "cross-encoder"}
    content["tune"] = {"epochs": 60, "checkpoints": 2, "patience": 0}
    content["training"] |= {"learning_rate": 1e-3, "save_seconds": 1000}
    content["joint"]["epochs"] = 0
    train(make_config(content), tmp_path / "out", **known)
    lines = [json.loads(line) for line in (tmp_path / "out/log/log.jsonl").read_text().splitlines()]
    losses = [line["utility"] for line in lines if "utility" in line]
    assert np.mean(losses[-3:]) < 0.5 * np.mean(losses[:3])


def test_what_a_distillation_needs(content: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="queries and documents"):
        train(make_config(content), tmp_path / "a", Inputs({}), documents={"d": "moon"})
    with pytest.raises(DataError, match="two with different texts"):
        train(make_config(content), tmp_path / "b", query_texts={"q": "moon"}, documents={"d": "x", "e": "x"})
    plain = {f"d{n}": text for n, text in enumerate(["moon star", "river", "bread", "music of stars"])}
    queries = {f"q{n}": word for n, word in enumerate(["moon", "river", "bread", "star"])}
    with pytest.raises(DataError, match="'biased'"):
        train(make_config(content), tmp_path / "c", query_texts=queries, documents=plain)


@pytest.mark.parametrize(("section", "stop_on"), [("tune", "RR@10"), ("joint", "probe")])
def test_early_stopping_on_a_measure_and_on_the_probe(
    section: str, stop_on: str, content: dict[str, Any], known: dict[str, Any], planted: Any, tmp_path: Path
) -> None:
    config: dict[str, Any] = {
        "attributes": content["attributes"],
        "model": {"encoder": content["model"]["encoder"], "max_length": 24},
        "training": {"device": "cpu", "batch": 16, "learning_rate": 1e-9, "head_learning_rate": 1e-9},
        "examples": {"validation": 0.5},
        "tune": {"epochs": 0},
        "adversary": {"epochs": 0},
        "joint": {"epochs": 0},
    }
    config[section] = {"epochs": 5, "checkpoints": 5, "patience": 1, "stop_on": stop_on}
    if section == "joint":
        config["joint"]["strengths"] = [0]
    train(make_config(config), tmp_path / "out", qrels=planted.qrels, **known)
    lines = [json.loads(line) for line in (tmp_path / "out/log/log.jsonl").read_text().splitlines()]
    judged = [line[stop_on] for line in lines if stop_on in line]
    assert len(judged) == 2  # the second is no better, since nothing is learnt
    assert (-1 <= judged[0] < 0) if stop_on != "probe" else (0 <= judged[0] <= 0.5)
