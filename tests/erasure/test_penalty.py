"""The learnt penalty: its regression against a slow one, its file, its column, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from slow_logistic import slow_logits

from evenrank import DataError, Membership, ParameterError
from evenrank.erasure import Eraser, Targets, erase_file


def tensors_of(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The arrays and the metadata of a file, as the library reads them."""
    from safetensors import safe_open

    with safe_open(str(path), framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118


@pytest.fixture
def unit(planted) -> np.ndarray:
    """Vectors of length 1 around a common direction, as those of encoders are."""
    x = planted.vectors - 45
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def test_the_regression_minimises_the_balanced_loss(unit, planted) -> None:
    expected = 1 / (1 + np.exp(-slow_logits(unit, planted.labels)))
    assert expected[planted.labels].mean() - expected[~planted.labels].mean() > 0.1
    found = Eraser.fit(unit, planted.labels, penalty=0.05)
    np.testing.assert_allclose(found.probability(unit), expected, atol=1e-6)
    assert found.probability(unit[3]) == pytest.approx(expected[3], abs=1e-6)
    many, labels = np.tile(unit, (60, 1)), np.tile(planted.labels, 60)  # more than one block
    pieces = Eraser.fit(many, labels, penalty=0.05)
    np.testing.assert_allclose(pieces.probability(unit), expected, atol=1e-6)


def test_only_labelled_documents_are_learnt_from(unit, planted) -> None:
    known = np.arange(400) % 4 > 0
    labels = planted.labels.copy()
    table = labels[:, None].astype(float)
    table[~known] = 1 - table[~known]  # nobody knows these
    eraser = Eraser.fit(unit, Targets(("biased",), table, known), penalty=0.1)
    expected = Eraser.fit(unit[known], labels[known], penalty=0.1)
    np.testing.assert_allclose(eraser.probability(unit), expected.probability(unit), atol=1e-7)


def test_the_last_digits_of_constant_dimensions_tell_nothing(unit, planted) -> None:
    constant = 0.25 + 1e-9 * planted.labels[:, None]
    wide = np.hstack([unit * np.sqrt(1 - 0.25**2), constant, np.zeros((400, 1))])
    found, expected = (Eraser.fit(x, planted.labels, penalty=0.05).probability(x) for x in (wide, unit))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_erasure_is_the_same_and_the_index_has_vectors_of_length_one(unit, planted) -> None:
    without, eraser = (Eraser.fit(unit, planted.labels, penalty=strength) for strength in (0, 0.05))
    np.testing.assert_array_equal(eraser(unit), without(unit))
    np.testing.assert_array_equal(without.for_index(unit), without(unit))
    expected = without(unit) / np.linalg.norm(without(unit), axis=1, keepdims=True)
    np.testing.assert_allclose(eraser.for_index(unit), expected)
    assert eraser.for_index(unit.astype(np.float32)).dtype == np.float32
    assert "penalty 0.05" in repr(eraser)
    assert "penalty" not in repr(without)


def test_a_document_without_a_text_stays_empty(unit, planted, tmp_path: Path) -> None:
    """Its vector of zeros is like no query. The map would move it towards the mean, and length 1 would make
    a full document of it."""
    unit[5] = 0
    for strength in (0, 0.05):
        eraser = Eraser.fit(unit, planted.labels, penalty=strength)
        assert np.linalg.norm(eraser(unit)[5]) > 0.01
        found = eraser.for_index(unit)
        np.testing.assert_array_equal(found[5], 0)
        np.testing.assert_array_equal(eraser.for_index(unit[5]), found[5])
        assert (np.linalg.norm(np.delete(found, 5, axis=0), axis=1) > 0.5).all()
        pq.write_table(pa.table({"vector": unit.tolist()}), tmp_path / "v.parquet")
        erase_file(eraser, tmp_path / "v.parquet", tmp_path / "out.parquet")
        written = pq.read_table(tmp_path / "out.parquet")
        np.testing.assert_allclose(np.array(written["vector"].to_pylist()), found)
        if strength:
            assert eraser.probability(unit)[5] == eraser.probability(unit[5]) == 0
            assert eraser.probability(unit[6]) == pytest.approx(eraser.probability(unit)[6]) != 0
            assert written["probability"][5].as_py() == 0
        else:
            np.save(tmp_path / "v.npy", unit)
            erase_file(eraser, tmp_path / "v.npy", tmp_path / "out.npy")
            np.testing.assert_allclose(np.load(tmp_path / "out.npy"), found)


@pytest.mark.needs("safetensors")
def test_the_file_keeps_it_and_is_as_before_without_it(unit, planted, tmp_path: Path) -> None:
    eraser = Eraser.fit(unit, planted.labels, penalty=0.05)
    eraser.save(tmp_path / "e.safetensors")
    again = Eraser.load(tmp_path / "e.safetensors")
    assert again.penalty is not None
    assert again.penalty.strength == 0.05
    np.testing.assert_array_equal(again.probability(unit), eraser.probability(unit))
    again.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "e.safetensors").read_bytes()
    assert tensors_of(tmp_path / "e.safetensors")[1]["layout"] == "2"  # older versions refuse it
    Eraser.fit(unit, planted.labels).save(tmp_path / "plain.safetensors")
    arrays, metadata = tensors_of(tmp_path / "plain.safetensors")
    assert sorted(arrays) == ["left", "mean", "right"]
    assert metadata["layout"] == "1"
    assert "penalty" not in metadata["about"]


@pytest.mark.needs("safetensors")
def test_damaged_penalties_are_refused(unit, planted, tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    path = tmp_path / "e.safetensors"
    Eraser.fit(unit, planted.labels, penalty=0.05).save(path)
    arrays, metadata = tensors_of(path)
    about = metadata["about"].replace('"penalty": 0.05', '"penalty": -1')
    for changed, described in (
        (arrays | {"penalty": arrays["penalty"][:-1]}, metadata),
        (arrays | {"penalty": arrays["penalty"] * np.nan}, metadata),
        ({name: arrays[name] for name in ("left", "mean", "right")}, metadata),
        (arrays, metadata | {"about": about}),
    ):
        save_file(changed, path, described)
        with pytest.raises(DataError, match=r"e\.safetensors"):
            Eraser.load(path)
    save_file(arrays, path, metadata)
    Eraser.load(path)


def test_probabilities_are_a_column_of_parquet(unit, planted, tmp_path: Path) -> None:
    eraser = Eraser.fit(unit, planted.labels, penalty=0.05)
    ids = [f"d{place}" for place in range(400)]
    table = pa.table({"document": ids, "vector": unit.tolist(), "title": ["a title"] * 400})
    pq.write_table(table, tmp_path / "v.parquet", row_group_size=64)
    erase_file(eraser, tmp_path / "v.parquet", tmp_path / "out.parquet")
    written = pq.read_table(tmp_path / "out.parquet")
    assert written.column_names == ["document", "vector", "title", "probability"]
    assert written.select(["document", "title"]).equals(table.select(["document", "title"]))
    np.testing.assert_allclose(np.array(written["vector"].to_pylist()), eraser.for_index(unit))
    np.testing.assert_allclose(written["probability"].to_numpy(), eraser.probability(unit), atol=1e-6)
    with pytest.raises(DataError, match=r"out\.parquet: has a column 'probability' already"):
        erase_file(eraser, tmp_path / "out.parquet", tmp_path / "twice.parquet")
    np.save(tmp_path / "v.npy", unit)
    with pytest.raises(ParameterError, match=r"out\.npy: a penalty needs a column for the probability"):
        erase_file(eraser, tmp_path / "v.npy", tmp_path / "out.npy")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.parquet", "v.npy", "v.parquet"]


def test_what_is_refused(unit, planted) -> None:
    for strength in (-0.1, np.nan, np.inf, True):
        with pytest.raises(ParameterError, match=r"penalty must be a number >= 0, got"):
            Eraser.fit(unit, planted.labels, penalty=strength)
    with pytest.raises(ParameterError, match="the vectors are not of length 1: bring them to length 1 first"):
        Eraser.fit(planted.vectors, planted.labels, penalty=0.05)
    one_label = Targets(("biased", "words"), np.stack([np.ones(400), planted.counts], 1), np.ones(400, bool))
    with pytest.raises(DataError, match="two labels, but all 400 that have one have the same"):
        Eraser.fit(unit, one_label, penalty=0.05)
    values = ["f" if label else None if place % 5 == 0 else "m" for place, label in enumerate(planted.labels)]
    ids = [f"d{place}" for place in range(400)]
    groups = Membership.from_labels(
        "sex", {one: value for one, value in zip(ids, values, strict=True) if value}
    )
    for targets in (values, Targets.of_labels(values).sampled(300), Targets.of_groups(groups, ids)):
        with pytest.raises(
            ParameterError, match=r"of '(label|sex) f', '(label|sex) m' nobody says which one"
        ):
            Eraser.fit(unit, targets, penalty=0.05)
    assert Eraser.fit(unit, values).penalty is None
    own = Targets.of_labels(values)  # the way out
    women = Targets(own.names, own.table, own.known)
    probability = Eraser.fit(unit, women, penalty=0.05).probability(unit)
    assert probability[planted.labels].mean() > probability[~planted.labels].mean()
    eraser = Eraser.fit(unit, planted.labels, penalty=0.05)
    with pytest.raises(DataError, match="5 dimensions, but the eraser was fitted to vectors of 12"):
        eraser.probability(unit[:, :5])
    with pytest.raises(ParameterError, match=r"the eraser has no penalty: fit it with penalty=0\.05"):
        Eraser.fit(unit, planted.labels).probability(unit)
