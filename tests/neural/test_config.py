"""What a training run is told, and how it is said that something is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenrank import DataError, ParameterError
from evenrank.errors import UnknownNameError
from evenrank.neural import make_config, read_config


def test_defaults_are_those_of_the_paper() -> None:
    config = make_config({})
    assert config.joint.strengths == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    assert (config.joint.epochs, config.joint.checkpoints) == (2.0, 20)
    assert [attribute.name for attribute in config.attributes] == ["gender"]


def test_presets_of_the_paper() -> None:
    config = make_config({"preset": "advbert-L4", "joint": {"epochs": 1}})
    assert config.joint.strengths == (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    assert (config.joint.epochs, config.joint.checkpoints, config.model.layers) == (1.0, 20, 4)
    assert (config.examples.balance, config.evaluate.depth, config.tune.stop_on) == ("paper", 200, "RR@10")
    assert make_config({"preset": "advbert-L2"}).joint.strengths[0] == 0.1
    with pytest.raises(UnknownNameError, match="advbert-L2, advbert-L4"):
        make_config({"preset": "L3"})


def test_files_and_their_paths(tmp_path: Path) -> None:
    path = tmp_path / "adv.toml"
    path.write_text(
        """
        [debias]
        seed = 3
        [debias.examples]
        pool = "run.trec"
        keep_out = "/abs/q.tsv"
        [[debias.attributes]]
        lexicon = "words.csv"
        [[debias.attributes]]
        name = "age"
        labels = "groups"
        [debias.model]
        encoder = "./bert"
        [debias.training]
        clip = 0
        [debias.tune]
        patience = 0
        [debias.evaluate]
        documents = "ir_datasets:msmarco-passage"
        """
    )
    config = read_config(path)
    assert (config.seed, config.training.clip, config.tune.patience) == (3, None, None)
    assert config.examples.pool == str(tmp_path / "run.trec")
    assert config.examples.keep_out == "/abs/q.tsv"
    assert config.evaluate.documents == "ir_datasets:msmarco-passage"
    assert [attribute.lexicon for attribute in config.attributes] == [
        str(tmp_path / "words.csv"),
        "gender-en",
    ]
    assert config.model.encoder == str(tmp_path / "bert")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"example": {}}, "example: .*did you mean examples"),
    ({"examples": {"pol": "x"}}, r"examples\.pol: .*did you mean pool"),
    ({"data": {"qrels": "q.txt"}}, "'data' .*qrels"),
    ({"joint": {"lambdas": [1]}}, r"joint\.lambdas: .*strengths, epochs"),
    ({"joint": {"strengths": [0.1, 0.1]}}, r"joint\.strengths"),
    ({"joint": {"strengths": [0.1, 0.1000001]}}, r"joint\.strengths"),
    ({"joint": {"strengths": []}}, r"joint\.strengths"),
    ({"training": {"batch": 0}}, r"training\.batch: .*>= 1, got 0"),
    ({"training": {"precision": "int8"}}, r"training\.precision: .*'float32'"),
    ({"training": 3}, "training: .*got 3"),
    ({"attributes": {"name": "x"}}, "attributes: .*list"),
    ({"attributes": []}, "at least one"),
    ({"attributes": [{}, {}]}, "gender, gender"),
    ({"examples": {"pool": "p", "triples": "t"}}, r"leave out examples\.pool"),
    ({"examples": {"folds": 3, "fold": 3}}, r"examples\.fold .*3 folds, got 3"),
    ({"evaluate": {"run": "r"}}, r"evaluate\.queries"),
    ({"seed": -1}, "seed: .*got -1"),
    ({"seed": True}, "seed: .*got True"),
    ({"joint": {"stop_on": "GFR@10"}}, r"joint\.stop_on = 'GFR@10'"),
    ({"model": {"kind": "bi-encoder"}}, r"model\.loss = 'distillation'"),
    ({"model": {"loss": "distillation"}, "examples": {"triples": "x"}}, r"examples\.triples"),
    ({"model": {"loss": "distillation"}, "tune": {"stop_on": "RR@10"}}, "stop_on"),
    ({"adversary": {"dropout": 1}}, r"adversary\.dropout"),
    ({"distil": {"documents": 2}}, "documents: .*>= 3"),  # two columns are a triple
]


@pytest.mark.parametrize(("content", "said"), WRONG)
def test_what_is_wrong_is_named(content: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        make_config(content)


def test_what_is_wrong_with_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "adv.toml"
    path.write_text("[debias.jont]\n")
    with pytest.raises(DataError, match=r"adv\.toml: debias\.jont: .*did you mean joint"):
        read_config(path)
    path.write_text("[data\n")
    with pytest.raises(DataError, match=r"adv\.toml: .*TOML"):
        read_config(path)
    with pytest.raises(DataError, match=r"none\.toml"):
        read_config(tmp_path / "none.toml")


@pytest.mark.needs("torch", "transformers")
@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("model.encoder", '[debias.model]\nencoder = "google/bert_uncased_L-4_H-256_A-4"'),
        ("evaluate.documents", '[debias.evaluate]\ndocuments = "ir_datasets:msmarco-passage"'),
        ("examples.pool", '[debias.examples]\npool = "https://example.org/run.trec"'),
    ],
)
def test_a_file_that_was_only_found_fetches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evenrank: Callable[..., Any], key: str, text: str
) -> None:
    data = '[data]\nqrels = "q.txt"\nqueries = "q.tsv"\ndocuments = "d.tsv"\n'
    (tmp_path / "evenrank.toml").write_text(data + text)
    monkeypatch.chdir(tmp_path)
    refused = evenrank("debias", "train", "-o", "out")
    assert refused.code == 2
    assert f"debias.{key}" in refused.err
    assert f"debias.{key}" not in evenrank("debias", "train", "--project", "evenrank.toml", "-o", "out").err


@pytest.mark.needs("torch", "transformers")
@pytest.mark.parametrize("name", ["bert", "./bert"])
def test_an_encoder_beside_the_file_is_fetched_from_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evenrank: Callable[..., Any], name: str
) -> None:
    (tmp_path / "bert").mkdir()
    (tmp_path / "evenrank.toml").write_text(
        f'[data]\nqrels = "q.txt"\nqueries = "q.tsv"\ndocuments = "d.tsv"\n[debias.model]\nencoder = "{name}"'
    )
    assert read_config(tmp_path / "evenrank.toml").model.encoder == str(tmp_path / "bert")
    monkeypatch.chdir(tmp_path)
    found = evenrank("debias", "train", "-o", "out")
    assert found.code == 1  # it goes on to the files, which are not there
    assert "model.encoder" not in found.err
