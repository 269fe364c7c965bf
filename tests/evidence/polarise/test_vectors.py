"""Vectors that are there already, by document, in every form; no text is needed then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import evenrank as er
from evenrank.errors import DataError

Encode = Callable[[Sequence[str]], Any]
Debate = dict[str, dict[str, str]]


@pytest.fixture
def vectors(debate: Debate, bag: Encode) -> dict[str, list[float]]:
    return dict(zip(debate["q"], bag(list(debate["q"].values())).tolist(), strict=True))


def write_npy(path: Path, ids: Sequence[str], table: Any) -> Path:
    np.save(path, np.array(table))
    path.with_suffix(".txt").write_text("\n".join(ids) + "\n")
    return path


def test_all_forms_give_what_the_encoder_gives(
    tmp_path: Path, debate: Debate, bag: Encode, vectors: dict[str, list[float]]
) -> None:
    wanted = er.polarise(debate, encoder=bag).scores
    backwards = dict(reversed(vectors.items())) | {"unused": [float("nan")] * 6}
    frame = polars.DataFrame({"document": list(backwards), "vector": list(backwards.values())})
    frame.write_parquet(tmp_path / "v.parquet")
    write_npy(tmp_path / "v.npy", list(backwards), list(backwards.values()))
    for given in (backwards, frame, tmp_path / "v.parquet", str(tmp_path / "v.npy"), frame.to_arrow()):
        np.testing.assert_array_equal(er.polarise(debate, encoder=given).scores, wanted)
        np.testing.assert_array_equal(er.polarise({"q": ["a", "b", "c", "d"]}, encoder=given).scores, wanted)
    ids = polars.DataFrame({"query": ["q"] * 4, "document": list("abcd")})
    np.testing.assert_array_equal(er.polarise(ids, encoder=backwards).scores, wanted)


def test_documents_without_a_vector(debate: Debate, vectors: dict[str, list[float]]) -> None:
    del vectors["b"], vectors["d"]
    with pytest.raises(DataError, match=r"vectors: 2 documents have no vector: 'b', 'd'$"):
        er.polarise(debate, encoder=vectors)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"b": [0.0] * 6}, "document 'b': its vector is zero"),
        ({"b": [float("nan")] * 6}, "document 'b': its vector holds NaN"),
        ({"b": [1.0] * 5}, "vectors: every document needs a vector of numbers, all of the same width"),
        ({"b": [1j] * 6}, "vectors: every document needs a vector of numbers"),
        ({"b": ["x"] * 6}, "vectors: every document needs a vector of numbers"),
        (dict.fromkeys("abcd", 1.0), "vectors: every document needs a vector of numbers"),
    ],
)
def test_vectors_that_cannot_be_used(
    debate: Debate, vectors: dict[str, list[float]], changed: dict[str, Any], said: str
) -> None:
    with pytest.raises(DataError, match=said):
        er.polarise(debate, encoder=vectors | changed)


def test_files_that_cannot_be_used(tmp_path: Path, debate: Debate, vectors: dict[str, list[float]]) -> None:
    def fails(given: Any, said: str) -> None:
        with pytest.raises(DataError, match=said):
            er.polarise(debate, encoder=given)

    fails(tmp_path / "no.npy", "no.npy: no such file")
    fails(tmp_path / "no.parquet", "no.parquet: no such file")
    fails({}, "vectors: no vectors")
    np.save(tmp_path / "alone.npy", np.ones((4, 2)))
    fails(tmp_path / "alone.npy", r"alone.txt: no such file")
    (tmp_path / "text.npy").write_text("no array")
    fails(tmp_path / "text.npy", "text.npy: is not a sound .npy file of numbers")
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    fails(tmp_path / "objects.npy", "objects.npy: is not a sound .npy file of numbers")
    short = write_npy(tmp_path / "short.npy", list("abc"), list(vectors.values()))
    fails(short, r"has an array of \(4, 6\) for the 3 ids of short.txt, but it must be \(3, width\)")
    twice = write_npy(tmp_path / "twice.npy", list("abca"), list(vectors.values()))
    fails(twice, "document 'a' has two vectors")
    (tmp_path / "text.parquet").write_text("no table")
    fails(tmp_path / "text.parquet", "text.parquet: is not a sound Parquet file")
    fails(polars.DataFrame({"document": ["a"], "v": [[1.0]]}), "no column for the vector")
    fails(polars.DataFrame({"name": ["a"], "vector": [[1.0]]}), "no column for the document")
