"""Vectors on disk: nothing twice, nothing shared that should not be, and nothing that is broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenrank as er
from evenrank import DataError

Debate = dict[str, dict[str, str]]


def test_a_second_run_encodes_nothing_and_gives_the_same(
    tmp_path: Path, debate: Debate, library: Any, model: Path
) -> None:
    folder = tmp_path / "kept" / "vectors"
    first = er.polarise(debate, encoder=model, cache=folder)
    assert len(library.seen) == 4
    again = er.polarise(debate, encoder=model, cache=folder)
    assert len(library.seen) == 4
    np.testing.assert_array_equal(again.scores, first.scores)
    er.polarise(debate, {"q": {"x": "yes yes the tax", "y": "yes"}}, encoder=model, cache=folder)
    assert library.seen[4:] == ["yes"]


def test_rounding_to_what_is_kept_is_the_same_in_every_run(
    tmp_path: Path, debate: Debate, library: Any, model: Path
) -> None:
    generator = np.random.default_rng(0)
    known = {text: generator.normal(size=5) for text in debate["q"].values()}
    library.encode = lambda texts: [known[text] for text in texts]
    first = er.polarise(debate, encoder=model, cache=tmp_path / "kept")
    again = er.polarise(debate, encoder=model, cache=tmp_path / "kept")
    np.testing.assert_array_equal(again.scores, first.scores)
    np.testing.assert_allclose(first.scores, er.polarise(debate, encoder=model).scores, atol=1e-6)


def test_another_model_does_not_share(tmp_path: Path, debate: Debate, library: Any, model: Path) -> None:
    """Nor does one that has changed."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "weights").write_text("2")
    counts = []
    for encoder in (model, other, other, model):
        er.polarise(debate, encoder=encoder, cache=tmp_path / "kept")
        counts.append(len(library.seen))
    (model / "weights").write_text("22")
    for _ in range(2):
        er.polarise(debate, encoder=model, cache=tmp_path / "kept")
        counts.append(len(library.seen))
    assert counts == [4, 8, 8, 8, 12, 12]


def test_a_callable_is_never_kept(tmp_path: Path, debate: Debate, bag: Any) -> None:
    er.polarise(debate, encoder=bag, cache=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "bytes", "nan"])
def test_a_broken_file_is_ignored(
    tmp_path: Path, debate: Debate, library: Any, model: Path, damage: str
) -> None:
    first = er.polarise(debate, encoder=model, cache=tmp_path / "kept")
    (path,) = (tmp_path / "kept").glob("*.npz")
    whole = path.read_bytes()
    if damage == "nan":
        with np.load(path) as held:
            np.savez(path, model=held["model"], keys=held["keys"], vectors=held["vectors"] * np.nan)
    else:
        broken = {"cut": whole[: len(whole) // 2], "empty": b"", "text": b"no file of ours"}
        middle = len(whole) // 2
        broken["bytes"] = whole[: middle - 20] + b"\xff" * 40 + whole[middle + 20 :]
        path.write_bytes(broken[damage])
    again = er.polarise(debate, encoder=model, cache=tmp_path / "kept")
    assert len(library.seen) == 8
    np.testing.assert_array_equal(again.scores, first.scores)


def test_a_failure_leaves_no_half_of_a_file(
    tmp_path: Path, debate: Debate, library: Any, model: Path
) -> None:
    library.encode = lambda texts: np.zeros((len(texts), 2))
    with pytest.raises(DataError, match=r"document '[a-d]'"):
        er.polarise(debate, encoder=model, cache=tmp_path / "kept")
    assert not (tmp_path / "kept").exists() or list((tmp_path / "kept").iterdir()) == []


@pytest.mark.parametrize("kept", [slice(2), slice(2, 4)])
@pytest.mark.parametrize("more", [0, 600])
def test_widths_that_do_not_compare(
    tmp_path: Path, debate: Debate, library: Any, model: Path, more: int, kept: slice
) -> None:
    """The same name for a model that has become another one, also where there are many texts."""
    some = {"q": dict(list(debate["q"].items())[kept])}
    er.polarise(some, encoder=model, cache=tmp_path / "kept")
    library.encode = lambda texts: np.ones((len(texts), 9))
    debate["q"] |= {f"n{number}": f"yes {number}" for number in range(more)}
    with pytest.raises(DataError, match="vectors"):
        er.polarise(debate, encoder=model, cache=tmp_path / "kept")


def test_the_cache_is_a_folder(tmp_path: Path, debate: Debate, library: Any, model: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="file"):
        er.polarise(debate, encoder=model, cache=tmp_path / "file")
