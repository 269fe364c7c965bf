"""Derived groups that are read by need are those that are loaded."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from meeting import Meeting

import evenrank as er
from evenrank import Lexicon, Membership, read_groups
from evenrank.data import membership_by_need
from evenrank.data.evidence_source import Pairs
from evenrank.data.membership_by_need import MembershipByNeed
from evenrank.erasure import Targets
from evenrank.errors import DataError
from evenrank.evidence.scan import derive_groups
from evenrank.ids import StringRows, as_strings, hash_strings
from evenrank.io.derived_groups import FORMAT, DerivedStore

LEXICON = Lexicon.build("kin", {"f": ["mother", "aunt"], "m": ["father"]}, targets={"f": 0.25, "m": 0.75})
ROWS = 2000
NAMES = [f"d{number}" for number in range(ROWS)]
MEASURES = "GF(attr='side')@10 AWRF(attr='side',missing='neutral')@5 Skew(attr='side')@10"


@pytest.fixture(scope="module", params=["g.parquet", "g"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("groups")
    random = np.random.default_rng(3)
    words = ["mother", "father", "aunt", "nobody", "said"]
    texts = (" ".join(random.choice(words, size)) for size in random.integers(1, 9, ROWS))
    (folder / "c.tsv").write_text("".join(f"{n}\t{t}\n" for n, t in zip(NAMES, texts, strict=True)))
    output = folder / request.param
    end = "" if output.suffix else "/"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evenrank.io.counts.ROW_GROUP", 100)
        derive_groups(
            folder / "c.tsv", f"{output}{end}", LEXICON, block_bytes=1 << 12, partition_bytes=1 << 14
        )
    return output


def both(place: Path, **options: Any) -> tuple[MembershipByNeed, Membership]:
    """By need, and loaded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evenrank.io.groups.LOADED", 0)
        stored = read_groups(place, "side", **options)
    assert isinstance(stored, MembershipByNeed)
    return stored, read_groups(place, "side", **options)


def pairs_of(names: list[str]) -> Pairs:
    ids = as_strings(names)
    return Pairs(("q",), np.zeros(len(names), np.int64), StringRows(ids), hash_strings(ids))


def shares(member: Membership, names: list[str]) -> Any:
    rows = member.rows_of(pairs_of(names))
    dense = member.dense_at(rows)
    np.testing.assert_array_equal(dense, member.shares_at(rows).dense(np.arange(len(rows))))
    gathered = member.gather(pairs_of(names))
    column: Any = gathered.columns[""]
    found = column if isinstance(column, np.ndarray) else column.dense(np.arange(len(names)))
    np.testing.assert_array_equal(found, dense)
    np.testing.assert_array_equal(gathered.known, rows >= 0)
    return dense, rows >= 0


@given(asked=st.lists(st.lists(st.sampled_from([*NAMES[:60], "not there"]), max_size=12), max_size=4))
def test_what_is_asked_for_is_what_loaded_groups_give(made: Path, asked: list[list[str]]) -> None:
    stored, loaded = both(made, values=["m", "f"])
    for names in asked:
        for one, other in zip(shares(stored, names), shares(loaded, names), strict=True):
            np.testing.assert_array_equal(one, other)


def test_rows_keep_their_numbers_when_more_and_when_all_are_read(made: Path) -> None:
    stored, loaded = both(made)
    first = stored.rows_of(pairs_of(NAMES[5:40]))
    expected = loaded.dense_at(loaded.rows_of(pairs_of(NAMES[5:40])))
    stored.rows_of(pairs_of(NAMES[:200]))
    np.testing.assert_array_equal(stored.dense_at(first), expected)
    assert sorted(stored.doc_ids.to_pylist()) == sorted(loaded.doc_ids.to_pylist())
    np.testing.assert_array_equal(stored.dense_at(first), expected)
    np.testing.assert_array_equal(stored.shares.dense(first), expected)
    assert stored.by_id().fingerprint == loaded.fingerprint
    assert replace(stored, named=False).by_id().fingerprint == loaded.fingerprint


def test_what_is_known_of_all_documents_is_known_without_reading_them(made: Path) -> None:
    stored, loaded = both(made, values=["m", "f"])
    assert len(stored) == len(loaded)
    np.testing.assert_allclose(stored.sizes(), loaded.sizes(), rtol=1e-12)
    own, other = (one.with_target("collection").gather_queries(["q"])["target"] for one in (stored, loaded))
    np.testing.assert_allclose(own, other, rtol=1e-12)
    assert stored.fingerprint != stored.with_target("uniform").fingerprint
    assert stored.attribute == loaded.attribute
    assert stored.reading["rows read"] == 0


def run_of(seed: int) -> Any:
    random = np.random.default_rng(seed)
    return er.read_run(
        {
            f"q{query}": {str(name): float(-rank) for rank, name in enumerate(random.permutation(NAMES)[:30])}
            for query in range(5)
        }
    )


@pytest.mark.parametrize("target", [None, "pool", "collection"])
def test_runs_have_the_same_scores_after_one_pass(made: Path, target: str | None) -> None:
    stored, loaded = both(made, target=target)
    runs = {"a": run_of(1), "b": run_of(2)}
    own, other = (
        er.evaluate(runs, MEASURES, groups=one, background=runs["a"] if target == "pool" else None)
        for one in (stored, loaded)
    )
    for name, measures in other.to_dict().items():
        for measure, values in measures.items():
            assert own.to_dict()[name][measure] == pytest.approx(values, rel=1e-12)
    assert stored.reading["rows read"] == len(stored)
    read = f"groups of 'side': {len(stored):,} of {len(stored):,} rows were read"
    assert any(read in note for note in own.notes["a"])
    assert own.provenance["evidence"]["group:side"]["read"]["rows"] == len(stored)
    known = stored._reading.known()
    assert len(known) <= 300  # of two runs with five lists of thirty
    assert len(known) < len(stored)


def test_the_report_reads_ranked_documents_only(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evenrank: Callable[..., Any]
) -> None:
    runs = [tmp_path / "a.trec", tmp_path / "b.trec"]
    for seed, path in enumerate(runs, 1):
        lists = {query: list(own) for query, own in run_of(seed).to_dict().items()}
        path.write_text(
            "".join(
                f"{query} Q0 {name} {rank} {99 - rank} r\n"
                for query, names in lists.items()
                for rank, name in enumerate(names, 1)
            )
        )
    command = ["report", *runs, "--groups", f"side={made}", "-m", "GF(attr='side')@10", "-o"]
    assert evenrank(*command, tmp_path / "loaded.html").code == 0
    monkeypatch.setattr("evenrank.io.groups.LOADED", 0)

    def refuse(_: object) -> None:
        raise AssertionError("all rows were loaded")

    passes, find = [], DerivedStore.find

    def counted(store: DerivedStore, hashes: Any) -> Any:
        passes.append(len(hashes))
        return find(store, hashes)

    monkeypatch.setattr(DerivedStore, "all_rows", refuse)
    monkeypatch.setattr(DerivedStore, "find", counted)
    outcome = evenrank(*command, tmp_path / "stored.html")
    assert outcome.code == 0, outcome.err
    assert passes
    assert len(passes) <= 3, passes  # of measures; then of longer lists, for the verdict
    assert sum(passes) <= 300  # two runs of five lists with thirty documents


def test_a_damaged_file_is_named(made: Path, tmp_path: Path) -> None:
    stored, _ = both(made)
    file = made if made.is_file() else made / "part-00001.parquet"
    content = file.read_bytes()
    try:
        changed = bytearray(content)
        changed[len(changed) // 3] ^= 16
        file.write_bytes(changed)
        with pytest.raises(DataError, match=rf"{file.name}: is not a sound .* derive them again"):
            stored.rows_of(pairs_of(NAMES))
    finally:
        file.write_bytes(content)


def test_a_file_that_another_program_wrote_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without our description it is a table like any other; with it, other rows are noticed."""
    (tmp_path / "c.tsv").write_text("a\tmother father\nb\tfather\nc\taunt\n")
    derive_groups(tmp_path / "c.tsv", tmp_path / "g.parquet", LEXICON)
    table = pq.read_table(tmp_path / "g.parquet")
    pq.write_table(table.replace_schema_metadata({}), tmp_path / "plain.parquet")
    plain = read_groups(tmp_path / "plain.parquet", "side")
    assert (len(plain), plain.attribute.target) == (3, "uniform")
    kept = pq.read_metadata(tmp_path / "g.parquet").metadata
    pq.write_table(table.slice(0, 2).replace_schema_metadata(kept), tmp_path / "fewer.parquet")
    assert len(read_groups(tmp_path / "fewer.parquet", "side")) == 2
    monkeypatch.setattr("evenrank.io.groups.LOADED", 0)
    with pytest.raises(DataError, match=r"fewer\.parquet: .*it has 2 rows, and says 3.* derive them again"):
        read_groups(tmp_path / "fewer.parquet", "side")


@pytest.mark.parametrize("loaded", [True, False])
def test_a_file_of_a_later_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loaded: bool
) -> None:
    """What its columns mean is not known here: a reader that guesses gives wrong numbers."""
    (tmp_path / "c.tsv").write_text("a\tmother father\nb\tfather\n")
    with monkeypatch.context() as patch:
        patch.setattr("evenrank.io.derived_groups.FORMAT", FORMAT + 1)
        derive_groups(tmp_path / "c.tsv", tmp_path / "g.parquet", LEXICON)
    if not loaded:
        monkeypatch.setattr("evenrank.io.groups.LOADED", 0)
    message = rf"g\.parquet: has format {FORMAT + 1} of derived groups, .* knows {FORMAT}: update evenrank"
    with pytest.raises(DataError, match=message):
        read_groups(tmp_path / "g.parquet", "side")


@pytest.mark.parametrize("place", ["find", "_joined", "all_rows"])
def test_two_threads_lose_no_rows_and_read_none_twice(
    made: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """They meet where both have seen what is known, and neither has added to it."""
    meeting = Meeting()
    with monkeypatch.context() as patch:
        patch.setattr("threading.RLock", meeting.lock)
        stored, loaded = both(made)
    stored.rows_of(pairs_of(NAMES[:5]))
    if place == "_joined":
        monkeypatch.setattr(membership_by_need, "_joined", meeting.at(membership_by_need._joined))
    else:
        monkeypatch.setattr(DerivedStore, place, meeting.at(getattr(DerivedStore, place)))
    asked = [NAMES[:40], NAMES[:40] if place == "find" else NAMES[40:80]]
    if place == "all_rows":
        meeting.run(lambda: len(stored.doc_ids), lambda: len(stored.doc_ids))
    else:
        meeting.run(*(partial(stored.rows_of, pairs_of(names)) for names in asked))
    for names in asked:
        for one, other in zip(shares(stored, names), shares(loaded, names), strict=True):
            np.testing.assert_array_equal(one, other)
    known = stored._reading.known().doc_ids.to_pylist()
    assert len(known) == len(set(known))


def test_what_several_passes_read_is_not_said_to_be_a_share_of_all_rows(made: Path) -> None:
    stored, _ = both(made)
    stored.rows_of(pairs_of(["not there"]))
    scores = er.evaluate(run_of(1), "GF(attr='side')@10", groups=stored)
    (note,) = (note for note in scores.notes["run"] if "rows were read" in note)
    rows, size = len(stored), stored.reading["bytes"]
    assert note == (
        f"groups of 'side': {2 * rows:,} rows were read for the documents of the runs, {2 * size:,} bytes, "
        f"in 2 passes (all are {rows:,} rows, {size:,} bytes)"
    )
    assert scores.provenance["evidence"]["group:side"]["read"] == {
        "passes": 2, "rows read": 2 * rows, "rows": rows, "bytes read": 2 * size, "bytes": size,
    }  # fmt: skip


@pytest.mark.parametrize("read", [0, 30, ROWS])
def test_groups_can_be_sent_and_copied(made: Path, read: int) -> None:
    """As an executor sends them; rows that were read go with them and keep their numbers."""
    stored, loaded = both(made, target="uniform")
    rows = stored.rows_of(pairs_of(NAMES[:read]))
    if read == ROWS:
        assert len(stored.doc_ids) == len(stored)
    sent = pickle.loads(pickle.dumps(stored))  # noqa: S301
    copies = (sent, copy.copy(stored), copy.deepcopy(stored))
    assert [other.reading for other in copies] == 3 * [stored.reading]
    for other in copies:
        assert isinstance(other, MembershipByNeed)
        assert (other.attribute, other.multilabel, other.source) == (
            stored.attribute, stored.multilabel, stored.source,
        )  # fmt: skip
        assert other.fingerprint == stored.fingerprint
        np.testing.assert_array_equal(other.dense_at(rows), stored.dense_at(rows))
        for one, two in zip(shares(other, NAMES[:60]), shares(loaded, NAMES[:60]), strict=True):
            np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(other.sizes(), stored.sizes())
    assert copy.copy(stored)._reading is stored._reading
    assert sent._reading is not stored._reading


def test_labels_for_erasing_are_read_of_the_documents_alone(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored, loaded = both(made)

    def refuse(_: object) -> None:
        raise AssertionError("all rows were loaded")

    monkeypatch.setattr(DerivedStore, "all_rows", refuse)
    own, other = (Targets.of_groups(groups, [*NAMES[:50], "not there"]) for groups in (stored, loaded))
    assert own.names == other.names
    np.testing.assert_array_equal(own.table, other.table)
    np.testing.assert_array_equal(own.known, other.known)
