"""Erasers on disk, and vectors in files: whole or not there, and read as what they are."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenrank import DataError, ParameterError
from evenrank.erasure import Eraser, erase_file


def encoder(folder: Path, content: bytes = b"weights") -> Path:
    """What counts as a model: a folder with weights."""
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(content)
    return folder


@pytest.fixture
def eraser(planted, tmp_path_factory: pytest.TempPathFactory) -> Eraser:
    toy = encoder(tmp_path_factory.mktemp("models") / "toy")
    return Eraser.fit(planted.vectors, planted.labels, encoder=toy)


def test_kept_and_read_again(eraser: Eraser, planted, tmp_path: Path) -> None:
    eraser.save(tmp_path / "e.safetensors")
    again = Eraser.load(tmp_path / "e.safetensors")
    assert (again(planted.vectors) == eraser(planted.vectors)).all()
    assert repr(again) == repr(eraser)
    assert again.encoder == ("toy", hashlib.sha256(b"weights").hexdigest())
    assert (again.unit, again.labelled, again.rank, again.width) == (False, 400, 1, 12)
    first = (tmp_path / "e.safetensors").read_bytes()
    again.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == first


@pytest.mark.needs("safetensors")
def test_the_library_reads_it(eraser: Eraser, planted, tmp_path: Path) -> None:
    """And what it holds is the map: x - (x - mean) right^T left^T."""
    from safetensors import safe_open

    eraser.save(tmp_path / "e.safetensors")
    with safe_open(str(tmp_path / "e.safetensors"), framework="numpy") as held:
        assert held.metadata()["kind"] == "evenrank eraser"
        mean, left, right = (held.get_tensor(name) for name in ("mean", "left", "right"))
    x = planted.vectors
    np.testing.assert_allclose(eraser(x), x - (x - mean) @ right.T @ left.T, atol=1e-9)


def test_damaged_files_are_refused(eraser: Eraser, tmp_path: Path) -> None:
    path = tmp_path / "e.safetensors"
    eraser.save(path)
    whole = path.read_bytes()
    for damaged in (*(whole[:cut] for cut in (0, 4, 9, 100, len(whole) - 1)), whole + b"x"):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"e\.safetensors"):
            Eraser.load(path)
    with pytest.raises(DataError, match=r"none\.safetensors"):
        Eraser.load(tmp_path / "none.safetensors")
    with pytest.raises(ParameterError, match=r"must end in \.safetensors"):
        eraser.save(tmp_path / "e.bin")
    assert not (tmp_path / "e.bin").exists()


@pytest.mark.needs("safetensors")
def test_files_that_are_no_eraser_or_do_not_fit_are_refused(eraser: Eraser, tmp_path: Path) -> None:
    from safetensors import safe_open
    from safetensors.numpy import save_file

    path = tmp_path / "e.safetensors"
    eraser.save(path)
    with safe_open(str(path), framework="numpy") as held:
        metadata = held.metadata()
    arrays = {"mean": np.ones(3), "left": np.ones((3, 1)), "right": np.ones((1, 4))}
    sound = arrays | {"right": np.ones((1, 3))}
    for tensors, described, named in (
        ({"a": np.ones(3)}, {}, "no eraser"),
        (arrays, metadata, "do not fit together"),
        (sound, metadata | {"about": "{}"}, "metadata"),
        (sound, metadata | {"layout": "3", "version": "9.9"}, r"evenrank 9\.9"),
    ):
        save_file(tensors, path, described)
        with pytest.raises(DataError, match=named):
            Eraser.load(path)


def test_an_eraser_of_another_encoder_is_refused(eraser: Eraser, planted, tmp_path: Path) -> None:
    def identity(name: str | Path) -> Any:
        return Eraser.fit(planted.vectors, planted.labels, encoder=name).encoder

    (tmp_path / "empty").mkdir()
    same = encoder(tmp_path / "renamed")  # it has the same weights
    eraser.check_encoder(identity(same))
    (same / "eraser.safetensors").write_bytes(b"what was erased, for people")
    eraser.check_encoder(identity(same))
    with pytest.raises(ParameterError, match=r"of toy .*, not of two"):
        eraser.check_encoder(identity(encoder(tmp_path / "two", b"others")))
    with pytest.raises(ParameterError, match=r"of toy .*, not of BAAI/bge"):
        eraser.check_encoder(identity("BAAI/bge"))
    eraser.check_encoder(identity("owner/toy"))
    with pytest.raises(DataError, match="empty: has no weights"):
        identity(tmp_path / "empty")


@pytest.mark.parametrize("kind", ["list", "large", "fixed"])
def test_vectors_in_parquet(eraser: Eraser, planted, tmp_path: Path, kind: str) -> None:
    small = planted.vectors.astype(np.float32)
    types = {
        "list": pa.list_(pa.float32()),
        "large": pa.large_list(pa.float32()),
        "fixed": pa.list_(pa.float32(), 12),
    }
    table = pa.table(
        {
            "document": [f"d{place}" for place in range(400)],
            "vector": pa.array(small.tolist(), types[kind]),
            "title": ["a title"] * 400,
        }
    )
    pq.write_table(table, tmp_path / "vectors.parquet", row_group_size=64)
    seen: list[int] = []
    count = erase_file(
        eraser,
        tmp_path / "vectors.parquet",
        tmp_path / "erased.parquet",
        progress=lambda done, _: seen.append(done),
    )
    written = pq.read_table(tmp_path / "erased.parquet")
    assert count == 400
    assert seen[-1] == 400
    assert written.schema.equals(table.schema)
    assert written.drop(["vector"]).equals(table.drop(["vector"]))
    np.testing.assert_allclose(np.array(written["vector"].to_pylist()), eraser(small), atol=1e-5)
    fitted = Eraser.fit(tmp_path / "vectors.parquet", planted.labels)
    np.testing.assert_allclose(fitted(planted.vectors), eraser(planted.vectors), atol=1e-3)


def test_vectors_in_npy(eraser: Eraser, planted, tmp_path: Path) -> None:
    many = np.tile(planted.vectors, (50, 1))  # more than one block
    np.save(tmp_path / "v.npy", many)
    (tmp_path / "v.txt").write_text("".join(f"d{place}\n" for place in range(20_000)))
    erase_file(eraser, tmp_path / "v.npy", tmp_path / "out.npy")
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), eraser(many), atol=1e-12)
    assert (tmp_path / "out.txt").read_text() == (tmp_path / "v.txt").read_text()
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    labels = np.tile(planted.labels, 50)
    assert (Eraser.fit(mapped, labels)(many) == Eraser.fit(tmp_path / "v.npy", labels)(many)).all()
    part = Eraser.fit(mapped[:200], planted.labels[:200])
    assert part.documents == 200


def test_bad_files_of_vectors(eraser: Eraser, planted, tmp_path: Path) -> None:
    x = planted.vectors.copy()
    x[7, 1] = np.inf
    np.save(tmp_path / "bad.npy", x)
    (tmp_path / "bad.txt").write_text("".join(f"d{place}\n" for place in range(400)))
    with pytest.raises(DataError, match=r"bad\.npy: row 8, document 'd7', holds NaN or infinity"):
        erase_file(eraser, tmp_path / "bad.npy", tmp_path / "out.npy")
    assert not (tmp_path / "out.npy").exists()
    rows = [[1.0] * 12, [1.0] * 11]
    pq.write_table(pa.table({"document": ["a", "b"], "vector": rows}), tmp_path / "ragged.parquet")
    with pytest.raises(DataError, match="row 2 has a vector of 11 dimensions, but those before have 12"):
        erase_file(eraser, tmp_path / "ragged.parquet", tmp_path / "out.parquet")
    pq.write_table(pa.table({"document": ["a"], "vector": [rows[1]]}), tmp_path / "short.parquet")
    with pytest.raises(DataError, match=r"short\.parquet: 11 dimensions, but the eraser was fitted to"):
        erase_file(eraser, tmp_path / "short.parquet", tmp_path / "out.parquet")
    pq.write_table(pa.table({"document": ["a"], "text": ["b"]}), tmp_path / "none.parquet")
    with pytest.raises(DataError, match="no column for the vector"):
        erase_file(eraser, tmp_path / "none.parquet", tmp_path / "out.parquet")
    with pytest.raises(ParameterError, match=r"erased vectors are written as \.npy"):
        erase_file(eraser, tmp_path / "bad.npy", tmp_path / "out.parquet")
    with pytest.raises(ParameterError, match="is the file that is read"):
        erase_file(eraser, tmp_path / "bad.npy", tmp_path / "bad.npy")
    (tmp_path / "cut.npy").write_bytes((tmp_path / "bad.npy").read_bytes()[:-8])
    with pytest.raises(DataError, match="is cut off"):
        erase_file(eraser, tmp_path / "cut.npy", tmp_path / "out.npy")
    assert list(tmp_path.glob("out*")) == []


def test_an_empty_file_of_vectors_is_refused(eraser: Eraser, tmp_path: Path) -> None:
    np.save(tmp_path / "none.npy", np.zeros((0, 12)))
    with pytest.raises(DataError, match=r"none\.npy: no vectors"):
        erase_file(eraser, tmp_path / "none.npy", tmp_path / "out.npy")
    assert not (tmp_path / "out.npy").exists()
