"""Groups that are read by need give what loaded groups give."""

from __future__ import annotations

import copy
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import evenrank as er
from evenrank.erasure import Targets
from evenrank.errors import DamagedError, DataError
from evenrank.evidence.scan import derive_groups

KIN = er.Lexicon.build("kin", {"f": ["mother", "aunt"], "m": ["father"]}, targets={"f": 0.25, "m": 0.75})
DOCUMENTS = 180_000  # of which more have a group than are loaded whole
NAMES = [f"d{number}" for number in range(DOCUMENTS)]
MEASURES = "GF(attr='side')@10 AWRF(attr='side',missing='neutral')@5 Skew(attr='side')@10"


def derive(folder: Path, output: str, seed: int) -> Path:
    random = np.random.default_rng(seed)
    texts = np.array(["mother said", "father aunt father", "aunt mother father", "father", "nobody said"])
    chosen = texts[random.integers(0, len(texts), DOCUMENTS)]
    documents = folder / "documents.tsv"
    documents.write_text("".join(f"{name}\t{text}\n" for name, text in zip(NAMES, chosen, strict=True)))
    derive_groups(documents, f"{folder}/{output}", KIN)
    return folder / output


@pytest.fixture(scope="module", params=["groups.parquet", "groups/"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return derive(tmp_path_factory.mktemp("groups"), request.param, 3)


@pytest.fixture(scope="module")
def plain(made: Path) -> Path:
    """The same as a table that does not say what it is, which is loaded."""
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


def scores_of(groups: Any, runs: Any = RUNS) -> Any:
    return er.evaluate(runs, MEASURES, groups=groups, background=RUNS["a"])


def assert_same(found: Any, expected: Any) -> None:
    for name, measures in expected.to_dict().items():
        for measure, values in measures.items():
            assert found.to_dict()[name][measure] == pytest.approx(values, rel=1e-12)


@pytest.mark.parametrize("target", [{"f": 0.25, "m": 0.75}, "pool", "collection"])
def test_runs_have_the_same_scores_after_one_pass(made: Path, plain: Path, target: Any) -> None:
    stored, loaded = (er.read_groups(path, "side", target=target) for path in (made, plain))
    found = scores_of(stored)
    assert_same(found, scores_of(loaded))
    read = found.provenance["evidence"]["group:side"]["read"]
    assert (read["passes"], read["rows read"], read["rows"]) == (1, len(loaded), len(stored))
    assert "read" not in scores_of(loaded).provenance["evidence"]["group:side"]


def test_the_target_is_that_of_the_lexicon(made: Path, plain: Path) -> None:
    given = er.read_groups(plain, "side", target={"f": 0.25, "m": 0.75})
    assert_same(scores_of(er.read_groups(made, "side")), scores_of(given))


def test_what_is_known_of_all_documents_is_known_without_reading_them(made: Path, plain: Path) -> None:
    stored, loaded = (er.read_groups(path, "side", values=["m", "f"]) for path in (made, plain))
    np.testing.assert_allclose(stored.sizes(), loaded.sizes(), rtol=1e-12)
    other = stored.with_target("uniform")
    assert (len(stored), stored.fingerprint != other.fingerprint) == (len(loaded), True)
    assert scores_of(stored).provenance["evidence"]["group:side"]["read"]["passes"] == 1


def test_rows_keep_their_numbers_when_all_are_read(made: Path, plain: Path, evenrank: Any) -> None:
    """A verdict asks for the documents of the runs, and then for all of them."""
    er.write_run(run_of(5, NAMES[::-7], queries=20), made.parent / "run.trec")
    verdicts = []
    for path in (made, plain):
        page = made.parent / "report.html"
        target = ("--target", "side=catalogue")
        code, _, err = evenrank(
            "report", made.parent / "run.trec", "--groups", f"side={path}", *target, "-o", page
        )
        assert code == 0, err
        body = page.read_text(encoding="utf-8").partition("<body")[2]
        verdicts.append(body.partition('id="verdicts"')[2].partition("</section>")[0])
    assert verdicts[0] == verdicts[1].replace(str(plain), str(made))
    assert "of the catalogue" in verdicts[0]


def test_threads_that_share_groups_get_all_rows(made: Path, plain: Path) -> None:
    stored, loaded = (er.read_groups(path, "side") for path in (made, plain))
    several = [run_of(seed) for seed in range(10, 16)]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda run: scores_of(stored.with_target("uniform"), run), several))
    for own, run in zip(found, several, strict=True):
        assert_same(own, scores_of(loaded, run))


@pytest.mark.parametrize("asked", [0, 30])
def test_groups_can_be_sent_and_copied(made: Path, asked: int) -> None:
    stored = er.read_groups(made, "side")
    if asked:
        scores_of(stored)
    expected = scores_of(er.read_groups(made, "side"))
    for other in (pickle.loads(pickle.dumps(stored)), copy.copy(stored), copy.deepcopy(stored)):  # noqa: S301
        assert other.fingerprint == stored.fingerprint
        assert_same(scores_of(other), expected)


def test_labels_for_erasing_are_those_of_the_documents(made: Path, plain: Path) -> None:
    names = [*NAMES[:50], "not there"]
    own, other = (Targets.of_groups(er.read_groups(path, "side"), names) for path in (made, plain))
    assert own.names == other.names
    np.testing.assert_array_equal(own.table, other.table)
    np.testing.assert_array_equal(own.known, other.known)


def test_two_versions_are_not_mixed(tmp_path: Path) -> None:
    place = derive(tmp_path, "groups.parquet", 3)
    stored = er.read_groups(place, "side")
    scores_of(stored)
    derive(tmp_path, "groups.parquet", 4)
    with pytest.raises(DataError) as caught:
        scores_of(stored, run_of(9))
    assert str(place) in str(caught.value)
    scores_of(er.read_groups(place, "side"), run_of(9))


def test_a_damaged_file_is_named(made: Path, tmp_path: Path) -> None:
    place = tmp_path / made.name
    (shutil.copytree if made.is_dir() else shutil.copy)(made, place)
    file = place if place.is_file() else place / "part-00000.parquet"
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 16
    file.write_bytes(content)
    with pytest.raises(DamagedError) as caught:
        scores_of(er.read_groups(place, "side"))
    assert file.name in str(caught.value)
