"""What a training run is told, and how it is said that something is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evenrank.errors import DataError, ParameterError, UnknownNameError
from evenrank.neural.config import described, make_config, read_config

DATA = {"qrels": "q.txt", "queries": "q.tsv", "documents": "d.tsv"}


def test_defaults_are_those_of_the_paper() -> None:
    config = make_config({"data": DATA})
    assert config.joint.strengths == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    assert (config.joint.epochs, config.joint.checkpoints) == (2.0, 20)
    assert [attribute.name for attribute in config.attributes] == ["gender"]


def test_files_and_their_paths(tmp_path: Path) -> None:
    path = tmp_path / "adv.toml"
    path.write_text(
        """
        seed = 3
        [data]
        qrels = "q.txt"
        queries = "/abs/q.tsv"
        documents = "ir_datasets:msmarco-passage"
        [[attributes]]
        lexicon = "words.csv"
        [[attributes]]
        name = "age"
        labels = "groups"
        [model]
        encoder = "./bert"
        [training]
        clip = 0
        [tune]
        patience = 0
        """
    )
    config = read_config(path)
    assert (config.seed, config.training.clip, config.tune.patience) == (3, None, None)
    assert config.data.qrels == str(tmp_path / "q.txt")
    assert config.data.queries == "/abs/q.tsv"
    assert config.data.documents == "ir_datasets:msmarco-passage"
    assert [attribute.lexicon for attribute in config.attributes] == [
        str(tmp_path / "words.csv"),
        "gender-en",
    ]
    assert config.model.encoder == str(tmp_path / "bert")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"dat": DATA}, "'dat' is not a section; did you mean data"),
    ({"data": {**DATA, "qrel": "x"}}, r"'qrel' is not a key of \[data\]; did you mean qrels"),
    (
        {"data": DATA, "joint": {"lambdas": [1]}},
        r"'lambdas' is not a key of \[joint\]; they are strengths, epochs",
    ),
    (
        {"data": DATA, "joint": {"strengths": [0.1, 0.1]}},
        r"joint\.strengths must be a list of different numbers >= 0",
    ),
    ({"data": DATA, "joint": {"strengths": [0.1, 0.1000001]}}, r"joint\.strengths must be a list"),
    ({"data": DATA, "joint": {"strengths": []}}, r"joint\.strengths must be a list"),
    ({"data": DATA, "training": {"batch": 0}}, r"training\.batch must be an integer >= 1, got 0"),
    ({"data": DATA, "training": {"precision": "int8"}}, r"training\.precision must be one of 'float32'"),
    ({"data": DATA, "training": 3}, r"training is a table of keys, \[training\], got 3"),
    ({"data": DATA, "attributes": {"name": "x"}}, r"attributes are written \[\[attributes\]\]"),
    ({"data": DATA, "attributes": []}, "at least one"),
    ({"data": DATA, "attributes": [{}, {}]}, "different names, got gender, gender"),
    ({"data": {"qrels": "q"}}, r"data\.queries must be given, or data\.triples"),
    ({"data": {**DATA, "triples": "t"}}, r"data\.triples stands alone"),
    ({"data": {**DATA, "folds": 3, "fold": 3}}, r"data\.fold must be below the 3 folds, got 3"),
    ({"data": DATA, "evaluate": {"run": "r"}}, r"evaluate\.queries must be given"),
    (
        {"data": {"triples": "t"}, "evaluate": {"run": "r", "queries": "q"}},
        r"evaluate\.documents must be given",
    ),
    ({"data": DATA, "seed": -1}, "seed must be an integer >= 0, got -1"),
    ({"data": DATA, "seed": True}, "seed must be an integer >= 0, got True"),
]


@pytest.mark.parametrize(("content", "said"), WRONG)
def test_what_is_wrong_is_said(content: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        make_config(content)


def test_unknown_keys_have_their_own_error(tmp_path: Path) -> None:
    path = tmp_path / "adv.toml"
    path.write_text("[dta]\n")
    with pytest.raises(UnknownNameError, match=r"adv\.toml: 'dta' is not a section; did you mean data"):
        read_config(path)
    path.write_text("[data\n")
    with pytest.raises(DataError, match=r"adv\.toml: is not TOML"):
        read_config(path)
    with pytest.raises(DataError, match="no such file"):
        read_config(tmp_path / "none.toml")


def test_every_key_says_what_it_means() -> None:
    rows = list(described())
    assert len({name for name, *_ in rows}) == len(rows) > 40
    assert all(wording and meaning for _, _, wording, meaning in rows)
