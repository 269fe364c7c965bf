"""The same vectors from a cluster as from this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backwards import Backwards
from collections_in_formats import rows

from evenrank import polarise
from evenrank.errors import DataError
from evenrank.evidence.polarise import engine as polarise_engine
from evenrank.evidence.polarise import spread as encoding
from evenrank.evidence.polarise.encoders import Encoder
from evenrank.systems import Dense


def lengths(texts: Sequence[str]) -> Any:
    """Vectors that depend on the other texts of a call, as padding makes those of a model do."""
    longest = max(map(len, texts))
    return np.array([[len(text), text.count("e"), longest] for text in texts], float)


def opinions(documents: int) -> dict[str, dict[str, str]]:
    texts = dict(rows(documents))
    return {"q1": dict(list(texts.items())[::2]), "q2": dict(list(texts.items())[1::2])}


def test_polarise_on_a_cluster_places_documents_where_they_stood(tmp_path: Path) -> None:
    texts = opinions(1300)
    plain = polarise(texts, encoder=lengths)
    spread = polarise(texts, encoder=lengths, on=Backwards())
    assert np.array_equal(plain.scores, spread.scores)
    assert plain.doc_ids == spread.doc_ids


def test_what_is_in_the_cache_is_not_sent_to_workers(tmp_path: Path) -> None:
    asked: list[int] = []

    class Noting(Backwards):
        def run(self, work: Any, tasks: Any) -> Any:
            asked.extend(len(task.texts) for task in tasks)
            yield from super().run(work, tasks)

    kept = Encoder("lengths", lengths, "lengths 1")
    some = {query: dict(list(own.items())[:100]) for query, own in opinions(1300).items()}
    polarise(some, encoder=kept, cache=tmp_path / "here")
    polarise(some, encoder=kept, cache=tmp_path / "there", on=Noting())
    plain = polarise(opinions(1300), encoder=kept, cache=tmp_path / "here")
    spread = polarise(opinions(1300), encoder=kept, cache=tmp_path / "there", on=Noting())
    assert sum(asked) == len({text for _, text in rows(1300)})
    assert np.array_equal(plain.scores, spread.scores)
    files = [sorted(path.name for path in (tmp_path / name).iterdir()) for name in ("here", "there")]
    assert files[0] == files[1]


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

    with pytest.raises(DataError, match="encoder 'broken': the model cannot be loaded"):
        polarise(opinions(600), encoder=broken, on=Backwards())


def test_retrieving_without_a_dense_system_needs_no_cluster(
    tmp_path: Path, evenrank: Callable[..., Any]
) -> None:
    (tmp_path / "d.tsv").write_text("a\tsome words\n")
    (tmp_path / "q.tsv").write_text("q\twords\n")
    outcome = evenrank(
        "retrieve", "BM25", "--documents", tmp_path / "d.tsv", "--queries", tmp_path / "q.tsv",
        "-o", tmp_path / "r.trec", "--on", "dask",
    )  # fmt: skip
    assert outcome.code == 2
    assert "--on lets a cluster encode documents, which only a dense system does" in outcome.err


@pytest.mark.needs("sentence_transformers")
@pytest.mark.slow
@pytest.mark.parametrize("engine", ["client", "session"])
def test_minilm_on_a_cluster(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setattr(polarise_engine, "TEXTS_AT_ONCE", 16)
    on = request.getfixturevalue(engine)
    texts = opinions(60)
    plain = polarise(texts, encoder="minilm")
    spread = polarise(texts, encoder="minilm", on=on)
    # other numbers of threads add up in another order: what is left is rounding of single precision
    assert np.allclose(plain.scores, spread.scores, rtol=0, atol=1e-5)


@pytest.mark.slow
def test_one_model_for_all_blocks_of_a_worker() -> None:
    made = encoding._encoder(lengths, 64)
    assert encoding._encoder(lengths, 64) is made
