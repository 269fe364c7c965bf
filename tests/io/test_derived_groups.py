"""Groups that were derived give what the same shares give in a table that does not say what it is."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import evenrank as er
from evenrank.erasure import Targets
from evenrank.errors import DamagedError
from evenrank.evidence.scan import derive_groups

KIN = er.Lexicon.build("kin", {"f": ["mother", "aunt"], "m": ["father"]}, targets={"f": 0.25, "m": 0.75})
DOCUMENTS = 3000
NAMES = [f"d{number}" for number in range(DOCUMENTS)]
MEASURES = "GF(attr='side')@10 AWRF(attr='side',missing='neutral')@5 Skew(attr='side')@10"


@pytest.fixture(scope="module", params=["groups.parquet", "groups/"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, random = tmp_path_factory.mktemp("groups"), np.random.default_rng(3)
    texts = np.array(["mother said", "father aunt father", "aunt mother father", "father", "nobody said"])
    chosen = texts[random.integers(0, len(texts), DOCUMENTS)]
    documents = folder / "documents.tsv"
    documents.write_text("".join(f"{name}\t{text}\n" for name, text in zip(NAMES, chosen, strict=True)))
    derive_groups(documents, f"{folder}/{request.param}", KIN, block_bytes=1 << 13, partition_bytes=1 << 14)
    return folder / str(request.param)


@pytest.fixture(scope="module")
def plain(made: Path) -> Path:
    """The same as a table that does not say what it is."""
    path = made.parent / "plain.parquet"
    pq.write_table(pq.read_table(made).replace_schema_metadata({}), path)
    return path


def run_of(seed: int, among: Any = NAMES, queries: int = 5) -> er.Run:
    random = np.random.default_rng(seed)
    lists = (random.choice(among, 30, replace=False) for _ in range(queries))
    return er.read_run(
        {
            f"q{query}": {str(name): 30.0 - rank for rank, name in enumerate(ids)}
            for query, ids in enumerate(lists)
        },
        name=f"run{seed}",
    )


RUNS = {"a": run_of(1), "b": run_of(2)}


def assert_same_scores(found: er.Membership, expected: er.Membership) -> None:
    own, other = (
        er.evaluate(RUNS, MEASURES, groups=groups, background=RUNS["a"]).to_dict()
        for groups in (found, expected)
    )
    for name, measures in other.items():
        for measure, values in measures.items():
            assert own[name][measure] == pytest.approx(values, rel=1e-12)


@pytest.mark.parametrize("target", [{"f": 0.25, "m": 0.75}, "pool", "collection"])
def test_runs_have_the_same_scores(made: Path, plain: Path, target: Any) -> None:
    if made.is_dir():
        assert (made / "part-00001.parquet").is_file()
    found, expected = (er.read_groups(path, "side", target=target) for path in (made, plain))
    assert_same_scores(found, expected)
    np.testing.assert_allclose(found.sizes(), expected.sizes(), rtol=1e-12)


def test_the_target_is_that_of_the_lexicon(made: Path, plain: Path) -> None:
    given = er.read_groups(plain, "side", target={"f": 0.25, "m": 0.75})
    assert_same_scores(er.read_groups(made, "side"), given)


def test_values_may_be_named_in_another_order(made: Path, plain: Path) -> None:
    found, expected = (er.read_groups(path, "side", values=["m", "f"]) for path in (made, plain))
    np.testing.assert_allclose(found.sizes(), expected.sizes(), rtol=1e-12)
    assert found.attribute.target == pytest.approx((0.75, 0.25))


def test_labels_for_erasing_are_those_of_the_documents(made: Path, plain: Path) -> None:
    names = [*NAMES[:50], "not there"]
    own, other = (Targets.of_groups(er.read_groups(path, "side"), names) for path in (made, plain))
    assert own.names == other.names
    np.testing.assert_array_equal(own.table, other.table)
    np.testing.assert_array_equal(own.known, other.known)


def test_a_damaged_file_is_named(made: Path, tmp_path: Path) -> None:
    place = tmp_path / made.name
    (shutil.copytree if made.is_dir() else shutil.copy)(made, place)
    file = place if place.is_file() else place / "part-00000.parquet"
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 16
    file.write_bytes(content)
    with pytest.raises(DamagedError) as caught:
        er.read_groups(place, "side")
    assert file.name in str(caught.value)
