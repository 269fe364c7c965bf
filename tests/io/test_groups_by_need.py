"""Derived groups of very many documents: only those asked for are read, and they are what all of them are."""

from __future__ import annotations

import copy
import json
import pickle
import shutil
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from meeting import Meeting

from evenrank import DataError, Lexicon, Membership, Run, evaluate, read_groups, read_run
from evenrank.erasure import Targets
from evenrank.evidence.scan import derive_groups

LEXICON = Lexicon.build("kin", {"f": ["mother", "aunt"], "m": ["father"]}, targets={"f": 0.25, "m": 0.75})
ROWS = 140_000
MEASURES = "GF(attr='side')@10 AWRF(attr='side',missing='neutral')@5 Skew(attr='side')@10"


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("groups") / "c.tsv"
    words = np.array(["mother", "father", "aunt", "nobody", "said"])
    drawn = words[np.random.default_rng(3).integers(0, 5, (ROWS, 4))]
    # the last 60 have no word of a group, and belong to none
    drawn[-60:] = "nobody"
    path.write_text("".join(f"d{number}\t{' '.join(row)}\n" for number, row in enumerate(drawn.tolist())))
    return path


@pytest.fixture(scope="module", params=["g.parquet", "g"])
def made(request: pytest.FixtureRequest, texts: Path) -> Path:
    output = texts.with_name(request.param)
    derive_groups(
        texts,
        output if output.suffix else f"{output}/",
        LEXICON,
        block_bytes=1 << 16,
        partition_bytes=1 << 20,
    )
    return output


@pytest.fixture(scope="module")
def loaded(made: Path) -> Membership:
    """The same as a table of shares, whose description another program has not kept."""
    files = [made] if made.is_file() else sorted(made.glob("*.parquet"))
    plain = made.with_name(f"plain-{made.stem}.parquet")
    pq.write_table(
        pa.concat_tables([pq.read_table(file) for file in files]).replace_schema_metadata({}), plain
    )
    return read_groups(plain, "side", values=["f", "m"], target={"f": 0.25, "m": 0.75})


def run_of(documents: Sequence[str], name: str = "run") -> Run:
    """Five lists, which share some documents."""
    step = len(documents) // 5 + 1
    lists = [documents[at : at + 2 * step] for at in range(0, len(documents), step)]
    return read_run(
        {
            f"q{place}": {document: float(-rank) for rank, document in enumerate(own)}
            for place, own in enumerate(lists)
        },
        name=name,
    )


def drawn(seed: int, count: int = 30) -> list[str]:
    return [f"d{number}" for number in np.random.default_rng(seed).choice(ROWS + 9, count, replace=False)]


def values_of(groups: Membership, *runs: Run, **known: Any) -> dict[str, Any]:
    return evaluate(
        {run.name: run for run in runs}, MEASURES, groups=groups, missing="drop", **known
    ).to_dict()


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for run, measures in one.items():
        assert measures.keys() == other[run].keys()
        for name, values in measures.items():
            assert values == pytest.approx(other[run][name], rel=1e-12, nan_ok=True)


def read_of(groups: Membership, *runs: Run) -> dict[str, Any]:
    scores = evaluate({run.name: run for run in runs}, MEASURES, groups=groups, missing="drop")
    return scores.provenance["evidence"]["group:side"]["read"]


def test_documents_of_one_list_after_another(made: Path, loaded: Membership) -> None:
    """Some are read already, some are not there, and some have no group."""
    stored = read_groups(made, "side")
    last = [f"d{number}" for number in range(ROWS - 70, ROWS + 5)]
    for documents in (drawn(1), drawn(1)[:9], [*drawn(1), *drawn(2)], last, drawn(3, 3000)):
        same(values_of(stored, run_of(documents)), values_of(loaded, run_of(documents)))
    assert sorted(stored.doc_ids.to_pylist()) == sorted(loaded.doc_ids.to_pylist())
    same(values_of(stored, run_of(last)), values_of(loaded, run_of(last)))


def test_the_order_of_the_values_can_be_another(made: Path, loaded: Membership) -> None:
    other = read_groups(made, "side", values=["m", "f"])
    assert other.attribute.values == ("m", "f")
    same(values_of(other, run_of(drawn(1))), values_of(loaded, run_of(drawn(1))))


@pytest.mark.parametrize("target", [None, "pool", "collection", "uniform"])
def test_runs_have_the_same_scores_after_one_pass(made: Path, loaded: Membership, target: str | None) -> None:
    stored, own = read_groups(made, "side", target=target), loaded
    if target is not None:
        own = loaded.with_target(target)
    runs = [run_of(drawn(1), "a"), run_of(drawn(2), "b")]
    known = {"background": runs[0]} if target == "pool" else {}
    same(values_of(stored, *runs, **known), values_of(own, *runs, **known))
    read = read_of(read_groups(made, "side", target="uniform"), *runs)
    assert (read["passes"], read["rows read"], read["rows"]) == (1, len(stored), len(stored))


def test_what_several_passes_read_is_not_said_to_be_a_share_of_all_rows(made: Path) -> None:
    stored = read_groups(made, "side")
    once = read_of(stored, run_of(drawn(1)))
    twice = read_of(stored, run_of(drawn(2)))
    assert (twice["passes"], twice["rows"], twice["rows read"]) == (2, len(stored), 2 * len(stored))
    assert twice["bytes read"] == 2 * twice["bytes"] == 2 * once["bytes"]
    scores = evaluate(run_of(drawn(2)), MEASURES, groups=stored, missing="drop")
    assert any(f"{2 * len(stored):,} rows" in note for note in scores.notes["run"])


def test_what_is_known_of_all_documents(made: Path, loaded: Membership) -> None:
    stored = read_groups(made, "side")
    assert len(stored) == len(loaded) == len(loaded.doc_ids)
    assert stored.sizes().tolist() == pytest.approx(loaded.sizes().tolist(), rel=1e-12)
    assert stored.attribute == loaded.attribute
    assert stored.fingerprint != stored.with_target("uniform").fingerprint
    assert stored.fingerprint == read_groups(made, "side").fingerprint


def test_a_damaged_file_is_named(made: Path) -> None:
    stored = read_groups(made, "side")
    file = made if made.is_file() else made / "part-00001.parquet"
    content = file.read_bytes()
    changed = bytearray(content)
    changed[len(changed) // 3] ^= 16
    try:
        file.write_bytes(changed)
        with pytest.raises(DataError, match=file.name):
            values_of(stored, run_of(drawn(1)))
    finally:
        file.write_bytes(content)


@pytest.fixture(scope="module")
def again(texts: Path) -> Callable[..., Path]:
    """A file that another program wrote again, with as many rows, and with our description of it."""
    derive_groups(texts, texts.with_name("first.parquet"), LEXICON)
    table = pq.read_table(texts.with_name("first.parquet"))
    kept = pq.read_metadata(texts.with_name("first.parquet")).metadata

    def write(path: Path, rows: int | None = None, **options: Any) -> Path:
        pq.write_table(table.slice(0, rows).replace_schema_metadata(kept), path, **options)
        return path

    return write


def test_a_file_with_fewer_rows_than_it_says_is_refused(again: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"g\.parquet: .*131,073 rows"):
        read_groups(again(tmp_path / "g.parquet", 131_073), "side")


@pytest.mark.parametrize("size", [700, 40_000])
def test_rows_may_lie_in_many_groups(
    again: Callable[..., Path], loaded: Membership, tmp_path: Path, size: int
) -> None:
    path = again(tmp_path / "g.parquet", row_group_size=size)
    for documents in (drawn(1), [f"d{number}" for number in range(ROWS - 70, ROWS)]):
        same(values_of(read_groups(path, "side"), run_of(documents)), values_of(loaded, run_of(documents)))


@pytest.mark.parametrize("gone", [True, False])
def test_two_versions_are_not_mixed(made: Path, texts: Path, tmp_path: Path, gone: bool) -> None:
    copied = tmp_path / made.name
    (shutil.copytree if made.is_dir() else shutil.copy)(made, copied)
    stored = read_groups(copied, "side")
    values_of(stored, run_of(drawn(1)))
    part = copied if copied.is_file() else min(copied.glob("*.parquet"))
    content = part.read_bytes()
    part.unlink()
    if not gone:
        part.write_bytes(content)
    with pytest.raises(DataError, match=part.name):
        values_of(stored, run_of(drawn(2)))


@pytest.mark.parametrize("rows", [5, None])
def test_a_file_of_another_version_is_refused(made: Path, tmp_path: Path, rows: int | None) -> None:
    """What its columns mean is not known here: a reader that guesses gives wrong numbers."""
    table = pq.read_table(made if made.is_file() else made / "part-00001.parquet").slice(0, rows)
    metadata = dict(table.schema.metadata)
    about = json.loads(metadata[b"evenrank.groups"])
    for format in (about["format"] + 1, about["format"] - 1):
        changed = {**metadata, b"evenrank.groups": json.dumps({**about, "format": format}).encode()}
        pq.write_table(table.replace_schema_metadata(changed), tmp_path / "g.parquet")
        with pytest.raises(DataError, match=rf"g\.parquet: .*format {format}"):
            read_groups(tmp_path / "g.parquet", "side")


def test_two_threads_read_nothing_twice_and_get_what_one_gets(
    made: Path, loaded: Membership, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They meet where both are about to read, or where one waits for the other."""
    meeting = Meeting()
    with monkeypatch.context() as patch:
        patch.setattr(threading, "RLock", meeting.lock)
        stored = read_groups(made, "side")
    values_of(stored, run_of(drawn(4, 5)))
    runs = [run_of(drawn(1), "a"), run_of([*drawn(1), *drawn(2)], "a")]
    with monkeypatch.context() as patch:
        patch.setattr(pq.ParquetFile, "iter_batches", meeting.at(pq.ParquetFile.iter_batches))
        patch.setattr(pq.ParquetFile, "read_row_group", meeting.at(pq.ParquetFile.read_row_group))
        patch.setattr(pq.ParquetFile, "read_row_groups", meeting.at(pq.ParquetFile.read_row_groups))
        found = meeting.run(*(partial(values_of, stored, run) for run in runs))
    for run, own in zip(runs, found, strict=True):
        same(own, values_of(loaded, run))
    ids = stored.doc_ids.to_pylist()
    assert len(ids) == len(set(ids)) == len(loaded)


@pytest.mark.parametrize("read", [0, 30])
def test_groups_can_be_sent_and_copied(made: Path, loaded: Membership, read: int) -> None:
    """As an executor sends them: what was read goes with them."""
    stored = read_groups(made, "side", target="uniform")
    if read:
        values_of(stored, run_of(drawn(1, read)))
    sent = pickle.loads(pickle.dumps(stored))  # noqa: S301
    for other in (sent, copy.copy(stored), copy.deepcopy(stored)):
        assert (other.attribute, other.source) == (stored.attribute, stored.source)
        assert (other.fingerprint, len(other)) == (stored.fingerprint, len(stored))
        assert other.sizes().tolist() == stored.sizes().tolist()
        documents = [*drawn(1), *drawn(2)]
        same(
            values_of(other, run_of(documents)),
            values_of(loaded.with_target("uniform"), run_of(documents)),
        )


def test_labels_for_erasing_are_those_of_loaded_groups(made: Path, loaded: Membership) -> None:
    names = [*drawn(1, 50), "not there"]
    own, other = (Targets.of_groups(groups, names) for groups in (read_groups(made, "side"), loaded))
    assert own.names == other.names
    np.testing.assert_array_equal(own.table, other.table)
    np.testing.assert_array_equal(own.known, other.known)


def test_a_report_takes_them(made: Path, tmp_path: Path, evenrank: Callable[..., Any]) -> None:
    runs = [tmp_path / "a.trec", tmp_path / "b.trec"]
    for seed, path in enumerate(runs, 1):
        lists = run_of([name for name in drawn(seed, 40) if int(name[1:]) < ROWS - 60]).to_dict()
        path.write_text(
            "".join(
                f"{query} Q0 {name} {rank} {99 - rank} r\n"
                for query, names in lists.items()
                for rank, name in enumerate(names, 1)
            )
        )
    done = evenrank(
        "report", *runs, "--groups", f"side={made}", "-m", "GF(attr='side',missing='drop')@10",
        "-o", tmp_path / "r.html",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert (tmp_path / "r.html").stat().st_size > 10_000
