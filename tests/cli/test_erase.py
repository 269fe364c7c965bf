"""``evenrank debias erase``: what it writes, what it says, what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenrank.erasure import Eraser, Targets, held_out_probe

Evenrank = Callable[..., SimpleNamespace]
COUNT = 800


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """800 documents, a third of them about a woman, with vectors that tell so."""
    generator = np.random.default_rng(1)
    about = generator.random(COUNT) < 0.35
    vectors = generator.normal(size=(COUNT, 8)) + np.outer(about, np.full(8, 0.9))
    ids = [f"d{place}" for place in range(COUNT)]
    texts = ["she told her mother" if one else "the weather is fine" for one in about]
    (tmp_path / "documents.tsv").write_text("".join(f"{i}\t{t}\n" for i, t in zip(ids, texts, strict=True)))
    groups = "".join(f"{i},{'w' if one else 'o'}\n" for i, one in zip(ids, about, strict=True))
    (tmp_path / "groups.csv").write_text("document,group\n" + groups)
    pq.write_table(pa.table({"document": ids, "vector": vectors.tolist()}), tmp_path / "v.parquet")
    np.save(tmp_path / "v.npy", vectors)
    (tmp_path / "v.txt").write_text("\n".join(ids) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("settings", [{"sample": 40}, {"second_order": 2}, {}])
def test_the_check_is_of_the_eraser_that_is_written(
    evenrank: Evenrank, folder: Path, settings: dict[str, int]
) -> None:
    """The labels that were left out are known: a probe learns from half of those documents, and is tested on
    the other half."""
    keys = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    done = evenrank("debias", "erase", "v.npy", "--documents", "documents.tsv", *keys, "-o", "e.safetensors")
    assert done.code == 0, done.err
    lines = (folder / "documents.tsv").read_text().splitlines()
    labels = Targets.of_labels(["she" in line for line in lines])
    fitted = labels.sampled(settings["sample"]) if "sample" in settings else labels
    second_order = settings.get("second_order", 0)
    found = held_out_probe(np.load("v.npy"), fitted, further=labels, second_order=second_order)
    (told,) = [line for line in " ".join(done.err.split()).split("evenrank: ") if "0.5" in line]
    numbers = re.findall(r"\d[\d,]*(?:\.\d+)?", told)
    counts = [str(found.learnt_from), str(found.documents)]
    expected = [f"{found.before:.4f}", f"{found.after:.4f}", "0.5", *counts]
    assert numbers[:5] == expected
    if "sample" in settings:
        assert counts == ["380", "380"]
    assert found.after < found.before


def test_the_check_says_how_many_documents_it_had(evenrank: Evenrank, folder: Path) -> None:
    lines = (folder / "groups.csv").read_text().splitlines(keepends=True)
    (folder / "groups.csv").write_text("".join(lines[:601]))
    done = evenrank("debias", "erase", "v.npy", "--set", "groups=about=groups.csv", "-o", "e.safetensors")
    assert done.code == 0, done.err
    told = " ".join(done.err.split()).partition("chance is 0.5")[2]
    assert re.findall(r"\d+", told)[:4] == ["150", "150", "300", "200"]


def test_names_in_a_project_file_are_seen_from_its_folder(
    evenrank: Evenrank, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = folder / "project"
    inner.mkdir()
    (folder / "groups.csv").rename(inner / "groups.csv")
    (inner / "kinds.csv").write_text((inner / "groups.csv").read_text().replace("group", "kind"))
    project = inner / "evenrank.toml"
    project.write_text(
        '[erase]\ngroups = "about=kinds.csv:column=kind"\nencoder = "BAAI/bge-small-en-v1.5"\n'
    )
    done = evenrank("debias", "erase", "v.npy", "--project", "project/evenrank.toml", "-o", "e.safetensors")
    assert done.code == 0, done.err
    eraser = Eraser.load("e.safetensors")
    assert sorted(eraser.targets) == ["about o", "about w"]
    assert eraser.encoder is not None
    assert eraser.encoder.name == "BAAI/bge-small-en-v1.5"
    own = inner / "own.v2"
    own.mkdir()
    (own / "model.safetensors").write_bytes(b"weights")
    encoders = {eraser.encoder}
    for name in ("own.v2", "./own.v2"):
        project.write_text(f'[erase]\ngroups = "about=groups.csv"\nencoder = "{name}"\n')
        done = evenrank("debias", "erase", "v.npy", "--project", str(project), "-o", "e.safetensors")
        assert done.code == 0, done.err
        encoders.add(Eraser.load("e.safetensors").encoder)
    assert len(encoders) == 2  # both names are of the same folder
    # on the command line a file is seen from where the command is
    call = ("debias", "erase", "v.npy", "--project", str(project), "--set", "groups=about=groups.csv")
    assert "groups.csv: no such file" in evenrank(*call).err
    rows = [line.split(",") for line in (inner / "groups.csv").read_text().splitlines()[1:]]
    lines = [json.dumps({"id": key, "text": "a text", "about": value}) for key, value in rows]
    (inner / "documents.jsonl").write_text("\n".join(lines) + "\n")
    for groups in ("about", "about=documents"):  # a field of the documents, and no file of that name
        project.write_text(f'[data]\ndocuments = "documents.jsonl"\n[erase]\ngroups = "{groups}"\n')
        done = evenrank("debias", "erase", "v.npy", "--project", str(project), "-o", "e.safetensors")
        assert done.code == 0, done.err
        assert sorted(Eraser.load("e.safetensors").targets) == ["about o", "about w"]
    monkeypatch.chdir(inner)
    for groups, message in (
        (
            "about=",
            "evenrank.toml: erase.groups: must be NAME=FILE",
        ),
        ("about=https://example.org/g.csv", "erase.groups: "),
    ):
        project.write_text(f'[erase]\ngroups = "{groups}"\n')
        done = evenrank("debias", "erase", "../v.npy")
        assert done.code != 0
        assert message in done.err


def test_an_eraser_is_applied(evenrank: Evenrank, folder: Path) -> None:
    evenrank("debias", "erase", "v.npy", "--documents", "documents.tsv", "-o", "e.safetensors")
    done = evenrank("debias", "erase", "v.npy", "--set", "eraser=e.safetensors", "-o", "out.npy")
    assert done.code == 0
    expected = Eraser.load("e.safetensors")(np.load("v.npy"))
    np.testing.assert_array_equal(np.load("out.npy"), expected)
    toy = folder / "toy"
    toy.mkdir()
    (toy / "model.safetensors").write_bytes(b"weights")
    (toy / "config.json").write_text('{"hidden_size": 8}')
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    (toy / "modules.json").write_text(json.dumps(modules))
    done = evenrank("debias", "erase", "toy", "--set", "eraser=e.safetensors", "-o", "erasing")
    assert done.code == 0, done.err
    assert (folder / "erasing/1_Router/eraser.safetensors").is_file()
    (toy / "config.json").write_text('{"hidden_size": 12}')
    done = evenrank("debias", "erase", "toy", "--set", "eraser=e.safetensors", "-o", "wrong")
    assert "toy: 12 dimensions, but the eraser was fitted to vectors of 8" in done.err
    assert not (folder / "wrong").exists()


def test_a_penalty_beside_erasure(evenrank: Evenrank, folder: Path) -> None:
    vectors = np.load("v.npy")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [f"d{place}" for place in range(COUNT)]
    pq.write_table(pa.table({"document": ids, "vector": vectors.tolist()}), "unit.parquet")
    call = ("debias", "erase", "unit.parquet", "--documents", "documents.tsv", "--set", "penalty=0.05")
    done = evenrank(*call, "-o", "e.safetensors")
    assert done.code == 0, done.err
    assert "penalty: 0.0500 times the probability of 'biased'\n" in done.err
    eraser = Eraser.load("e.safetensors")
    for settings in (call[3:], ("--set", "eraser=e.safetensors")):
        done = evenrank(*call[:3], *settings, "-o", "out.parquet")
        assert done.code == 0, done.err
        written = pq.read_table("out.parquet")["probability"].to_numpy()
        np.testing.assert_allclose(written, eraser.probability(vectors), atol=1e-6)
    (folder / "toy").mkdir()
    (folder / "toy/model.safetensors").write_bytes(b"weights")
    for what, output, message in (
        ("toy", "erasing", "erasing: a model gives vectors, and a penalty is no part of them"),
        ("v.npy", "out.npy", "out.npy: a penalty needs a column for the probability of every document"),
    ):
        done = evenrank("debias", "erase", what, "--set", "eraser=e.safetensors", "-o", output)
        assert done.code == 2
        assert message in done.err
        assert not (folder / output).exists()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("minilm --documents documents.tsv -o x.npy", "vectors are erased from a file"),
        ("v.npy --documents documents.tsv -o x", "a model is written from an encoder"),
        ("v.npy --set eraser=e.safetensors -o x.parquet", "erased vectors are written as .npy"),
        ("v.npy --set eraser=e.safetensors", "there is an eraser already, e.safetensors"),
        ("v.npy --documents other.tsv", "none of the documents that have vectors has a label"),
        ("bad.npy --documents documents.tsv", "bad.npy: row 4, document 'd3', holds NaN or infinity"),
        ("twice.npy --documents documents.tsv", "twice.txt: document 'd2' has two vectors, in rows 3 and 8:"),
        ("zero.npy --documents documents.tsv", "zero.npy: all 800 vectors are 0, so that they tell nothing"),
        ("ones.npy --documents documents.tsv", "ones.npy: all 800 vectors are equal, so that they tell"),
        (
            "minilm --documents documents.tsv -o e.safetensor",
            ".safetensor; did you mean .safetensors?",
        ),
        ("minilm --documents documents.tsv -o e.txt", "a model is a folder without a suffix"),
        ("minilm --documents documents.tsv -o there", "there: exists already and is kept: choose another"),
        ("documents.tsv -o x.parquet", "documents.tsv: is a file, but neither .npy nor .parquet: name"),
        ("alone.npy --documents documents.tsv", "the ids of these vectors are missing"),
        ("mnilm --documents documents.tsv", "did you mean minilm?"),
        ("v.npy --set encoder=worldlama", "did you mean wordllama?"),
        ("./nowhere --documents documents.tsv", "'./nowhere' is neither an encoder nor the folder"),
        ("v.npy --documents documents.tsv --set penalty=-1", "erase.penalty must be a number >= 0, got -1"),
        ("v.npy --documents documents.tsv --set penalty=0.05", "the vectors are not of length 1: bring them"),
        ("v.npy --documents documents.tsv --set penalty=1 -o x.npy", "x.npy: a penalty needs a column for"),
        ("minilm --documents documents.tsv --set penalty=1 -o x", "x: a model gives vectors, and a penalty"),
        (
            "v.npy --set groups=groups.csv --set penalty=1",
            "penalty is for the words of a lexicon: of several",
        ),
    ],
)
def test_what_is_refused(evenrank: Evenrank, folder: Path, call: str, message: str) -> None:
    vectors = np.load("v.npy")
    np.save("alone.npy", vectors)
    (folder / "there").mkdir()
    (folder / "there/modules.json").write_text("[]")
    for name, value in (("zero", 0.0), ("ones", 0.1)):
        np.save(f"{name}.npy", np.full((COUNT, 8), value, dtype=np.float32))
        (folder / f"{name}.txt").write_text((folder / "v.txt").read_text())
    np.save("twice.npy", vectors)
    ids = [f"d{2 if place == 7 else place}" for place in range(COUNT)]
    (folder / "twice.txt").write_text("\n".join(ids) + "\n")
    pq.write_table(pa.table({"document": ids, "vector": vectors.tolist()}), "twice.parquet")
    vectors[3, 2] = np.nan
    np.save("bad.npy", vectors)
    (folder / "bad.txt").write_text((folder / "v.txt").read_text())
    (folder / "same.tsv").write_text("".join(f"d{place}\tnothing\n" for place in range(COUNT)))
    (folder / "other.tsv").write_text("x1\tshe and her mother\n")
    before = sorted(path.name for path in folder.iterdir())
    done = evenrank("debias", "erase", *call.split())
    assert done.code in (1, 2)
    assert message in done.err
    assert done.err.count("\n") <= 2
    assert sorted(path.name for path in folder.iterdir()) == before


def test_the_columns_of_a_project_file_are_those_of_the_labels_too(evenrank: Evenrank, folder: Path) -> None:
    rows = [line.split("\t") for line in (folder / "documents.tsv").read_text().splitlines()]
    lines = (json.dumps({"docno": key, "body": text, "text": "nobody"}) for key, text in rows)
    (folder / "documents.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "evenrank.toml").write_text(
        '[data.documents]\nfile = "documents.jsonl"\ncolumns = { id = "docno", text = "body" }\n'
    )
    done = evenrank("debias", "erase", "v.npy")
    assert done.code == 0, done.err
    assert Eraser.load("eraser.safetensors").documents == COUNT


def test_an_encoder_that_nobody_names_is_noted(evenrank: Evenrank, folder: Path) -> None:
    (folder / "toy").mkdir()
    (folder / "toy/model.safetensors").write_bytes(b"weights")
    for settings in ((), ("--set", "encoder=toy")):
        call = ("debias", "erase", "v.npy", "--documents", "documents.tsv", *settings)
        assert evenrank(*call, "-o", "e.safetensors").code == 0
        done = evenrank("debias", "erase", "v.npy", "--set", "eraser=e.safetensors", "-o", "out.npy")
        assert done.code == 0
        expected = "was fitted to vectors of toy" if settings else "does not say which encoder"
        assert f"e.safetensors: {expected}" in done.err
        assert "not checked" in done.err
    done = evenrank(
        "debias", "erase", "v.npy", "--set", "eraser=e.safetensors", "--set", "encoder=toy", "-o", "out.npy"
    )
    assert "not checked" not in done.err


class Counted:
    """Takes the place of the work of a real encoder: counts its texts, and is interrupted after so many."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        from sentence_transformers import SentenceTransformer
        from tiny_models import sentence_encoder

        sentence_encoder(folder / "toy")
        self.texts = 0
        self.most = 10**9
        monkeypatch.setattr(SentenceTransformer, "encode", lambda _, texts, **more: self.encode(texts))

    def encode(self, texts: list[str]) -> np.ndarray:
        if self.texts > self.most:
            raise KeyboardInterrupt
        self.texts += len(texts)
        seeds = np.array([sum(text.encode()) for text in texts])
        return np.stack([np.sin(seeds * factor) for factor in range(1, 17)], axis=1).astype(np.float32)


@pytest.fixture
def encoder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Counted:
    """With 3,000 texts in ``many.tsv``."""
    texts = [f"{'she' if place % 3 else 'the sun'} rose {place} times" for place in range(3000)]
    (folder / "many.tsv").write_text("".join(f"d{place}\t{text}\n" for place, text in enumerate(texts)))
    return Counted(monkeypatch, folder)


NEEDED = pytest.mark.needs("torch", "transformers", "sentence_transformers")
ENCODE = ("debias", "erase", "toy", "--documents", "many.tsv", "--set", "tau=0")


@NEEDED
def test_encoding_that_was_interrupted_goes_on_from_a_cache(
    evenrank: Evenrank, folder: Path, encoder: Counted
) -> None:
    call = (*ENCODE, "--set", "penalty=0.05", "-o")
    encoder.most = 1500
    stopped = evenrank(*call, "e.safetensors")
    assert (stopped.code, "cache=" in stopped.err) == (130, True)
    encoder.texts = 0
    assert evenrank(*call, "e.safetensors", "--set", "cache=kept").code == 130
    assert 0 < encoder.texts < 3000
    encoder.most = 10**9
    assert evenrank(*call, "e.safetensors", "--set", "cache=kept").code == 0
    assert encoder.texts == 3000  # nothing twice
    assert Eraser.load(folder / "e.safetensors").penalty is not None
    assert evenrank(*call, "whole.safetensors").code == 0
    assert (folder / "whole.safetensors").read_bytes() == (folder / "e.safetensors").read_bytes()


@pytest.mark.parametrize("name", ["bge-v1.5", "bge-v1.5-erased", "a.model/", "there.model"])
def test_a_model_may_have_a_version_or_a_slash_in_its_name(
    evenrank: Evenrank, folder: Path, name: str
) -> None:
    (folder / "there.model").mkdir()
    done = evenrank("debias", "erase", "minilm", "-o", name)
    assert "an eraser is fitted to documents: give --documents FILE" in done.err
