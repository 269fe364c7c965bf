"""What a training run is told, and how it is said that something is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evenrank.errors import DataError, ParameterError
from evenrank.inputs.project import Project
from evenrank.neural import make_config, read_config
from evenrank.neural.config import changed, config_of, described


def test_defaults_are_those_of_the_paper() -> None:
    config = make_config({})
    assert config.joint.strengths == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    assert (config.joint.epochs, config.joint.checkpoints) == (2.0, 20)
    assert [attribute.name for attribute in config.attributes] == ["gender"]


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
    ({"example": {}}, "example: there is no such key; did you mean examples"),
    ({"examples": {"pol": "x"}}, r"examples\.pol: there is no such key; did you mean pool"),
    ({"data": {"qrels": "q.txt"}}, "'data' is no section: qrels, queries and documents are inputs"),
    (
        {"joint": {"lambdas": [1]}},
        r"joint\.lambdas: there is no such key; there are strengths, epochs",
    ),
    (
        {"joint": {"strengths": [0.1, 0.1]}},
        r"joint\.strengths: must be a list of different numbers >= 0",
    ),
    ({"joint": {"strengths": [0.1, 0.1000001]}}, r"joint\.strengths: must be a list"),
    ({"joint": {"strengths": []}}, r"joint\.strengths: must be a list"),
    ({"training": {"batch": 0}}, r"training\.batch: must be an integer >= 1, got 0"),
    ({"training": {"precision": "int8"}}, r"training\.precision: must be one of 'float32'"),
    ({"training": 3}, "training: must be a table, got 3"),
    ({"attributes": {"name": "x"}}, "attributes: must be a list"),
    ({"attributes": []}, "at least one"),
    ({"attributes": [{}, {}]}, "different names, got gender, gender"),
    ({"examples": {"pool": "p", "triples": "t"}}, r"leave out examples\.pool"),
    ({"examples": {"folds": 3, "fold": 3}}, r"examples\.fold must be below the 3 folds, got 3"),
    ({"evaluate": {"run": "r"}}, r"evaluate\.queries must be given"),
    ({"seed": -1}, "seed: must be greater than or equal to 0, got -1"),
    ({"seed": True}, "seed: must be an integer, got True"),
]


@pytest.mark.parametrize(("content", "said"), WRONG)
def test_what_is_wrong_is_said(content: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        make_config(content)


def test_unknown_keys_are_named(tmp_path: Path) -> None:
    path = tmp_path / "adv.toml"
    path.write_text("[debias.jont]\n")
    with pytest.raises(DataError, match=r"adv\.toml: debias\.jont: there is no such key; did you mean joint"):
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


def test_an_old_file_shows_its_new_form(tmp_path: Path) -> None:
    """All of it, in one error, and what it shows is the same configuration."""
    path = tmp_path / "adv.toml"
    path.write_text(
        'seed = 3\n[data]\nqrels = "q.txt"\nqueries = "q.tsv"\ndocuments = "d.tsv"\npool = "run.trec"\n'
        'validation = 0.2\n[[attributes]]\nname = "kin"\n[[attributes]]\nlexicon = "a\\\\b.csv"\n'
        "[training]\ndeterministic = false\n[joint]\nstrengths = [0.5, 1]\n"
    )
    with pytest.raises(DataError) as caught:
        read_config(path)
    first, _, form = str(caught.value).partition("\n")
    assert first == (
        f"{path}: is a training configuration of an earlier version; "
        "in a project file (evenrank.toml) it is written"
    )
    path.write_text(form)
    project = Project.read(path)
    assert project.description().files() == [str(tmp_path / name) for name in ("q.txt", "d.tsv", "q.tsv")]
    config = read_config(path)
    assert (config.seed, config.examples.validation, config.examples.pool) == (
        3,
        0.2,
        str(tmp_path / "run.trec"),
    )
    assert [(one.name, one.lexicon) for one in config.attributes] == [
        ("kin", "gender-en"),
        ("gender", str(tmp_path / "a\\b.csv")),
    ]
    assert (config.training.deterministic, config.joint.strengths) == (False, (0.5, 1.0))


@pytest.mark.parametrize("text", ['[data]\ntriples = "t.tsv"', "[joint]\nepochs = 1"])
def test_any_key_of_an_old_file_is_seen(tmp_path: Path, text: str) -> None:
    path = tmp_path / "adv.toml"
    path.write_text(text)
    with pytest.raises(DataError, match="is a training configuration of an earlier version"):
        Project.read(path)


@pytest.mark.parametrize(
    "text",
    [
        '[debias.model]\nencoder = "google/bert_uncased_L-4_H-256_A-4"',
        '[debias.evaluate]\ndocuments = "ir_datasets:msmarco-passage"',
        '[debias.examples]\npool = "https://example.org/run.trec"',
    ],
)
def test_a_file_that_was_only_found_fetches_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "evenrank.toml"
    path.write_text(text)
    config_of(Project.read(path))
    with pytest.raises(ParameterError, match=r"debias\.(model|evaluate|examples)\."):
        config_of(Project.read(path, named=False))


def test_an_encoder_beside_the_file_is_fetched_from_nowhere(tmp_path: Path) -> None:
    (tmp_path / "bert").mkdir()
    for name in ("bert", "./bert"):
        (tmp_path / "evenrank.toml").write_text(f'[debias.model]\nencoder = "{name}"')
        config = config_of(Project.read(tmp_path / "evenrank.toml", named=False))
        assert Path(config.model.encoder) == tmp_path / "bert"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("joint.strengths=[0.5, 1]", (0.5, 1.0)),
        ("joint.schedule=linear", "linear"),
        ('joint.schedule="linear"', "linear"),
    ],
)
def test_keys_are_set_from_the_command_line(change: str, expected: Any) -> None:
    config = make_config(changed({"joint": {"epochs": 1}}, [change]))
    assert getattr(config.joint, change.partition("=")[0].removeprefix("joint.")) == expected
    assert config.joint.epochs == 1
