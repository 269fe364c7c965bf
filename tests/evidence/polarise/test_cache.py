"""Vectors on disk: nothing twice, nothing shared that should not be, and nothing that is broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenrank as er
from evenrank.errors import DataError
from evenrank.evidence.polarise.encoders import Encoder

Encode = Callable[[Sequence[str]], Any]
Debate = dict[str, dict[str, str]]


class Counting:
    def __init__(self, encode: Encode) -> None:
        self.encode, self.seen = encode, list[str]()

    def __call__(self, texts: Sequence[str]) -> Any:
        self.seen.extend(texts)
        return self.encode(texts)


@pytest.fixture
def counting(bag: Encode) -> Counting:
    return Counting(bag)


def named(counting: Counting, identity: str = "model 1") -> Encoder:
    return Encoder("model", counting, identity)


def test_a_second_run_encodes_nothing_and_gives_the_same(
    tmp_path: Path, debate: Debate, counting: Counting
) -> None:
    folder = tmp_path / "kept" / "vectors"
    first = er.polarise(debate, encoder=named(counting), cache=folder)
    assert len(counting.seen) == 4
    again = er.polarise(debate, encoder=named(counting), cache=folder)
    assert len(counting.seen) == 4
    np.testing.assert_array_equal(again.scores, first.scores)
    er.polarise(debate, {"q": {"x": "yes yes the tax", "y": "yes"}}, encoder=named(counting), cache=folder)
    assert counting.seen[4:] == ["yes"]


def test_rounding_to_what_is_kept_is_the_same_in_every_run(tmp_path: Path, debate: Debate) -> None:
    generator = np.random.default_rng(0)
    known = {text: generator.normal(size=5) for text in debate["q"].values()}
    encoder = Encoder("m", lambda texts: [known[text] for text in texts], "m")
    first = er.polarise(debate, encoder=encoder, cache=tmp_path)
    again = er.polarise(debate, encoder=encoder, cache=tmp_path)
    np.testing.assert_array_equal(again.scores, first.scores)
    np.testing.assert_allclose(first.scores, er.polarise(debate, encoder=encoder).scores, atol=1e-6)


def test_another_model_does_not_share(tmp_path: Path, debate: Debate, counting: Counting) -> None:
    er.polarise(debate, encoder=named(counting), cache=tmp_path)
    er.polarise(debate, encoder=named(counting, "model 2"), cache=tmp_path)
    assert len(counting.seen) == 8
    er.polarise(debate, encoder=named(counting, "model 2"), cache=tmp_path)
    assert len(counting.seen) == 8


def test_a_callable_is_never_kept(tmp_path: Path, debate: Debate, counting: Counting) -> None:
    er.polarise(debate, encoder=counting, cache=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "bytes", "nan"])
def test_a_broken_file_is_ignored(tmp_path: Path, debate: Debate, counting: Counting, damage: str) -> None:
    first = er.polarise(debate, encoder=named(counting), cache=tmp_path)
    (path,) = tmp_path.glob("*.npz")
    whole = path.read_bytes()
    if damage == "nan":
        with np.load(path) as held:
            np.savez(path, model=held["model"], keys=held["keys"], vectors=held["vectors"] * np.nan)
    else:
        broken = {"cut": whole[: len(whole) // 2], "empty": b"", "text": b"no file of ours"}
        middle = len(whole) // 2
        broken["bytes"] = whole[: middle - 20] + b"\xff" * 40 + whole[middle + 20 :]
        path.write_bytes(broken[damage])
    again = er.polarise(debate, encoder=named(counting), cache=tmp_path)
    assert len(counting.seen) == 8
    np.testing.assert_array_equal(again.scores, first.scores)


def test_a_failure_leaves_no_half_of_a_file(tmp_path: Path, debate: Debate) -> None:
    bad = Encoder("m", lambda texts: [[0.0, 0.0]] * len(texts), "m")
    with pytest.raises(DataError, match="vector is zero"):
        er.polarise(debate, encoder=bad, cache=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kept", [slice(2), slice(2, 4)])
@pytest.mark.parametrize("block", [512, 2])
def test_widths_that_do_not_compare(
    tmp_path: Path,
    debate: Debate,
    counting: Counting,
    block: int,
    kept: slice,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same name for a model that has become another one."""
    monkeypatch.setattr("evenrank.evidence.polarise.engine.TEXTS_AT_ONCE", block)
    some = {"q": dict(list(debate["q"].items())[kept])}
    er.polarise(some, encoder=named(counting), cache=tmp_path)
    wider = Encoder("model", lambda texts: np.ones((len(texts), 9)), "model 1")
    with pytest.raises(DataError, match="do not compare"):
        er.polarise(debate, encoder=wider, cache=tmp_path)


def test_the_cache_is_a_folder(tmp_path: Path, debate: Debate, counting: Counting) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="is a file, but the cache of vectors must be a folder"):
        er.polarise(debate, encoder=named(counting), cache=tmp_path / "file")
