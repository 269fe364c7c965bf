"""Erasers on disk, and vectors in files: whole or not there, and read as what they are."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenrank import DataError, ParameterError
from evenrank.erasure import Eraser, erase_file
from evenrank.erasure.encoding import encode_documents
from evenrank.erasure.identity import ERASER_FILE, EncoderIdentity, encoder_identity
from evenrank.evidence.polarise.encoders import Encoder
from evenrank.io.tensors import read_tensors, write_tensors


@pytest.fixture
def eraser(planted) -> Eraser:
    return Eraser.fit(planted.vectors, planted.labels, encoder=EncoderIdentity("toy", "ab" * 32))


def test_kept_and_read_again(eraser: Eraser, planted, tmp_path: Path) -> None:
    eraser.save(tmp_path / "e.safetensors")
    again = Eraser.load(tmp_path / "e.safetensors")
    assert (again(planted.vectors) == eraser(planted.vectors)).all()
    assert repr(again) == repr(eraser)
    assert repr(again).startswith(
        "<Eraser: target 1 from vectors of toy of 12 dimensions, rank 1, fitted to 400"
    )
    assert (again.encoder, again.unit, again.labelled) == (("toy", "ab" * 32), False, 400)
    first = (tmp_path / "e.safetensors").read_bytes()
    again.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == first


@pytest.mark.needs("safetensors")
def test_the_library_reads_it(eraser: Eraser, tmp_path: Path) -> None:
    import safetensors as library

    eraser.save(tmp_path / "e.safetensors")
    with library.safe_open(str(tmp_path / "e.safetensors"), framework="numpy") as held:
        assert held.metadata()["kind"] == "evenrank eraser"
        assert (held.get_tensor("left") == eraser.projection.left).all()
    from safetensors.numpy import save_file

    save_file(
        {"a": np.arange(6.0).reshape(2, 3), "b": np.ones(3, np.float32)}, tmp_path / "theirs.safetensors"
    )
    found = read_tensors(tmp_path / "theirs.safetensors").arrays
    assert found["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found["b"].dtype == np.float32


def test_damaged_files_are_refused(eraser: Eraser, tmp_path: Path) -> None:
    path = tmp_path / "e.safetensors"
    eraser.save(path)
    whole = path.read_bytes()
    for cut in (0, 4, 9, 100, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(DataError, match="is no sound file of safetensors"):
            Eraser.load(path)
    path.write_bytes(whole + b"x")
    with pytest.raises(DataError, match="longer or shorter"):
        Eraser.load(path)
    write_tensors(path, {"a": np.ones(3)}, {})
    with pytest.raises(DataError, match="holds tensors, but is no eraser"):
        Eraser.load(path)
    with pytest.raises(DataError, match="no such file"):
        Eraser.load(tmp_path / "none.safetensors")
    with pytest.raises(ParameterError, match=r"must end in \.safetensors"):
        eraser.save(tmp_path / "e.bin")
    arrays, metadata = {"mean": np.ones(3), "left": np.ones((3, 1)), "right": np.ones((1, 4))}, {}
    eraser.save(path)
    metadata = read_tensors(path).metadata
    write_tensors(path, arrays, metadata)
    with pytest.raises(DataError, match="do not fit together"):
        Eraser.load(path)
    write_tensors(path, arrays, metadata | {"about": "{}"})
    with pytest.raises(DataError, match="metadata are broken"):
        Eraser.load(path)
    write_tensors(path, arrays, metadata | {"layout": "3", "version": "9.9"})
    with pytest.raises(DataError, match=r"written by evenrank 9\.9 in another layout"):
        Eraser.load(path)


def test_an_eraser_of_another_encoder_is_refused(eraser: Eraser, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name, content in (("one", b"weights"), ("two", b"others")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(content)
    one = encoder_identity(tmp_path / "one")
    assert one == ("one", hashlib.sha256(b"weights").hexdigest())
    (tmp_path / "one" / ERASER_FILE).write_bytes(b"what was erased, for people")
    assert encoder_identity(tmp_path / "one") == one
    with pytest.raises(ParameterError, match=r"vectors of toy \(weights abababababab\), not of two"):
        eraser.check_encoder(encoder_identity(tmp_path / "two"))
    with pytest.raises(ParameterError, match=r"vectors of toy \(weights abababababab\), not of BAAI/bge"):
        eraser.check_encoder(EncoderIdentity("BAAI/bge"))
    eraser.check_encoder(EncoderIdentity("owner/toy"))
    with pytest.raises(DataError, match="has no weights"):
        encoder_identity(tmp_path / "empty")


@pytest.mark.parametrize("kind", ["list", "large", "fixed"])
def test_vectors_in_parquet(
    eraser: Eraser, planted, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenrank.erasure.vector_files.ROWS_AT_ONCE", 64)
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
    pq.write_table(table, tmp_path / "vectors.parquet")
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


def test_vectors_in_npy(eraser: Eraser, planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenrank.erasure.vector_files.ROWS_AT_ONCE", 64)
    np.save(tmp_path / "v.npy", planted.vectors)
    (tmp_path / "v.txt").write_text("".join(f"d{place}\n" for place in range(400)))
    erase_file(eraser, tmp_path / "v.npy", tmp_path / "out.npy")
    assert (np.load(tmp_path / "out.npy") == eraser(planted.vectors)).all()
    assert (tmp_path / "out.txt").read_text() == (tmp_path / "v.txt").read_text()
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    assert (
        Eraser.fit(mapped, planted.labels).mean == Eraser.fit(tmp_path / "v.npy", planted.labels).mean
    ).all()
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


def test_documents_are_encoded_to_length_one_and_the_work_is_announced(tmp_path: Path) -> None:
    texts = {f"d{place}": "a" * (place % 7) for place in range(1500)}
    asked: list[int] = []
    told: list[tuple[str, int, int]] = []

    def lengths(given: list[str]) -> np.ndarray:
        asked.append(len(given))
        return np.array([[len(text), 3.0 * len(text)] for text in given])

    encoder = Encoder("lengths", lengths, "lengths 1")
    for _ in range(2):  # the second time from the folder
        found = encode_documents(
            encoder, texts, cache=tmp_path / "kept", progress=lambda *work: told.append(work)
        )
    assert sum(asked) == 7  # a text that is the same is encoded once
    assert told[0] == ("encoding documents", 0, 7)
    assert found.ids is not None
    assert found.ids().to_pylist() == list(texts)
    vectors = np.concatenate([block.vectors for block in found.blocks()])
    expected = [0.0 if place % 7 == 0 else 1.0 for place in range(1500)]
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), expected, atol=1e-6)
    with pytest.raises(DataError, match="documents: no documents"):
        encode_documents(encoder, {})


def test_an_empty_file_of_vectors_is_refused(eraser: Eraser, tmp_path: Path) -> None:
    np.save(tmp_path / "none.npy", np.zeros((0, 12)))
    with pytest.raises(DataError, match=r"none\.npy: no vectors"):
        erase_file(eraser, tmp_path / "none.npy", tmp_path / "out.npy")
    assert not (tmp_path / "out.npy").exists()
