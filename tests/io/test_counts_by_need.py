"""Counts that are read by need are those that are loaded."""

from __future__ import annotations

import copy
import json
import pickle
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from meeting import Meeting

import evenrank as er
from evenrank import Lexicon, WordCounts, read_counts
from evenrank.data import words_by_need
from evenrank.data.evidence_source import Pairs
from evenrank.data.words_by_need import WordsByNeed
from evenrank.errors import DataError, EvenrankWarning
from evenrank.evidence.scan import scan_file
from evenrank.ids import StringRows, as_strings, hash_strings
from evenrank.io import counts_by_need, counts_index
from evenrank.io.counts_by_need import open_counts
from evenrank.io.counts_index import index_counts

KIN = Lexicon.build("kin", {"f": ["mother", "aunt"], "m": ["father"]})
WEIGHED = Lexicon.build("weighed", {"f": {"mother": 1.0, "aunt": 0.5}, "m": {"father": 1.0}})
WORDS = ["mother", "father", "aunt", "nobody", "said"]
ROWS = 3000


def documents() -> list[tuple[str, str]]:
    random = np.random.default_rng(3)
    names = [f"{'long-prefix-of-an-id-' if number % 3 else ''}{number}" for number in range(ROWS)]
    texts = [" ".join(random.choice(WORDS, size)) for size in random.integers(1, 9, ROWS)]
    return list(zip(names, texts, strict=True))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Counts as one file, as a folder in order, and as a folder with an index, of two lexicons."""
    folder = tmp_path_factory.mktemp("counts")
    rows = folder / "docs.tsv"
    rows.write_text("".join(f"{name}\t{text}\n" for name, text in documents()))
    for lexicon in (KIN, WEIGHED):
        for kind in ("stream", "index"):
            target = folder / f"{lexicon.name}-{kind}"
            scan_file(rows, lexicon, f"{target}/", partition_bytes=1 << 14, block_bytes=1 << 12)
        scan_file(rows, lexicon, folder / f"{lexicon.name}.parquet")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(counts_index, "BUCKET", 700)
            patch.setattr(counts_index, "STRETCH", 500)
            assert index_counts(folder / f"{lexicon.name}-index").buckets == 8
    return folder


def pairs_of(names: list[str]) -> Pairs:
    ids = as_strings(names)
    return Pairs(("q",), np.zeros(len(names), np.int64), StringRows(ids), hash_strings(ids))


def assert_equal(one: WordCounts, other: WordCounts, names: list[str]) -> None:
    found, expected = (source.gather(pairs_of(names)) for source in (one, other))
    np.testing.assert_array_equal(found.known, expected.known)
    assert set(found.columns) == set(expected.columns)
    for name, column in expected.columns.items():
        own = found.columns[name]
        if name == "terms":
            rows = np.arange(len(names))
            np.testing.assert_array_equal(own.dense(rows), column.dense(rows))  # type: ignore[union-attr]
        else:
            np.testing.assert_array_equal(own, column)


NAMES = [name for name, _ in documents()] + ["not there", "0 ", "long-prefix-of-an-id-0"]


@pytest.mark.parametrize("lexicon", ["kin", "weighed"])
@pytest.mark.parametrize("kind", ["stream", "index"])
@given(asked=st.lists(st.lists(st.sampled_from(NAMES), max_size=40), min_size=1, max_size=3))
def test_what_is_gathered_is_what_loaded_counts_give(
    made: Path, lexicon: str, kind: str, asked: list[list[str]]
) -> None:
    words = open_counts(made / f"{lexicon}-{kind}")
    whole = read_counts(made / f"{lexicon}.parquet")
    assert isinstance(words, WordsByNeed)
    assert not isinstance(whole, WordsByNeed)
    for names in asked:
        assert_equal(words, whole, names)


@pytest.mark.parametrize("lexicon", ["kin", "weighed"])
@pytest.mark.parametrize("kind", ["stream", "index"])
def test_every_row_is_found(made: Path, lexicon: str, kind: str) -> None:
    words, whole = open_counts(made / f"{lexicon}-{kind}"), read_counts(made / f"{lexicon}.parquet")
    assert_equal(words, whole, NAMES)
    assert (len(words), words.has_terms) == (len(whole), whole.has_terms)
    assert words.doc_ids.equals(whole.doc_ids)  # all of them are loaded when somebody looks
    np.testing.assert_array_equal(words.counts, whole.counts)


def test_only_the_blocks_of_wanted_documents_are_read(made: Path) -> None:
    words = open_counts(made / "kin-index")
    assert isinstance(words, WordsByNeed)
    assert "3,000 documents" in repr(words)
    assert words.reading["rows read"] == 0
    words.gather(pairs_of(NAMES[:2]))
    assert 2 <= words.reading["rows read"] <= 2 * 128
    before = words.reading
    assert before["bytes read"] < before["bytes"] / 4
    words.gather(pairs_of([NAMES[1], NAMES[0], NAMES[1]]))
    assert words.reading == before  # they are at hand now
    assert "_whole" not in words.__dict__


def test_rows_of_one_hash_over_several_blocks_are_all_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As somebody could make them; here all ids have one of three hashes."""
    rows = [(f"d{number:05d}", "mother " * (number % 4)) for number in range(700)]

    def few(strings: object) -> np.ndarray:
        return hash_strings(strings) % np.uint64(3) + np.uint64(1 << 62)  # type: ignore[arg-type]

    scan_file(rows, KIN, tmp_path / "counts.parquet")
    whole = read_counts(tmp_path / "counts.parquet")
    monkeypatch.setattr(counts_index, "hash_strings", few)
    index_counts(tmp_path / "counts.parquet")
    words = open_counts(tmp_path / "counts.parquet")
    assert isinstance(words, WordsByNeed)
    names = [name for name, _ in rows]
    ids = as_strings(names)
    asked = Pairs(("q",), np.zeros(700, np.int64), StringRows(ids), hash_strings(ids))
    words.foresee(few(ids))
    assert words._known is not None
    found, expected = words._known.gather(asked), whole.gather(asked)
    assert found.known.all()
    np.testing.assert_array_equal(found.columns["counts"], expected.columns["counts"])


def test_a_file_has_the_same_fingerprint_loaded_or_not(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts_by_need, "LOADED", 10)
    for name in ("kin.parquet", "weighed.parquet"):
        words = open_counts(made / name)
        assert isinstance(words, WordsByNeed)
        assert words.fingerprint == read_counts(made / name).fingerprint
        assert_equal(words, read_counts(made / name), NAMES[:50])


def test_a_folder_has_one_fingerprint_with_an_index_or_without(made: Path) -> None:
    one, other, weighed = (
        open_counts(made / name).fingerprint for name in ("kin-index", "kin-stream", "weighed-index")
    )
    assert one == other != weighed


def test_runs_have_the_same_scores_and_a_note_says_what_was_read(made: Path) -> None:
    random = np.random.default_rng(5)
    runs = {
        name: er.read_run(
            {
                f"q{query}": dict(zip(random.choice(NAMES, 50, replace=False), range(50), strict=True))
                for query in range(5)
            },
            name=name,
        )
        for name in ("one", "two")
    }
    measures = ["NFaiRR@10", "ARaB@5"]
    options = {"background": runs["one"], "missing": "drop"}
    expected = er.evaluate(runs, measures, words=made / "kin.parquet", **options)
    for kind in ("index", "stream"):
        found = er.evaluate(runs, measures, words=str(made / f"kin-{kind}"), **options)
        assert found.to_dict() == expected.to_dict()
        (note,) = (note for note in found.notes["one"] if "rows were read" in note)
        assert "of 3,000 rows were read for the documents of the runs" in note
        read = found.provenance["evidence"]["words"]["read"]
        assert read["rows"] == ROWS
        assert 0 < read["rows read"] <= ROWS


def test_only_ranks_that_measures_reach_are_asked_for(made: Path) -> None:
    run = er.read_run({"q": {name: -at for at, name in enumerate(NAMES[:1000])}})
    words = open_counts(made / "kin-index")
    assert isinstance(words, WordsByNeed)
    er.evaluate(run, ["NFaiRR@3"], words=words, background=run.head(5))
    assert len(words._asked) <= 6


@pytest.mark.parametrize("reports", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_commands_read_a_folder(made: Path, tmp_path: Path, evenrank: object, reports: bool) -> None:
    random = np.random.default_rng(6)
    lines = [
        f"q{query} Q0 {name} {rank + 1} {50 - rank} r"
        for query in range(4)
        for rank, name in enumerate(random.choice(NAMES[:ROWS], 20, replace=False))
    ]
    (tmp_path / "r.trec").write_text("\n".join(lines) + "\n")
    shown = []
    for words in ("kin.parquet", "kin-index", "kin-stream"):
        run, counts = tmp_path / "r.trec", made / words
        code, out, err = evenrank("evaluate", run, "--words", counts, "-m", "NFaiRR@5", "--format", "tsv")  # type: ignore[operator]
        assert code == 0, err
        shown.append(out)
        if not reports:
            continue
        page = tmp_path / f"{words}.html"
        code, _, err = evenrank("report", run, "--words", counts, "-o", page)  # type: ignore[operator]
        assert code == 0, err
        assert "words of kin" in page.read_text()
    assert shown[0] == shown[1] == shown[2]


def test_verdicts_on_words_are_the_same(made: Path) -> None:
    random = np.random.default_rng(7)
    run = er.read_run(
        {
            f"q{query}": dict(zip(random.choice(NAMES[:ROWS], 30, replace=False), range(30), strict=True))
            for query in range(20)
        },
        name="one",
    )
    from evenrank import Inputs
    from evenrank.verdict.attributes import group_attributes

    whole, needed = (
        group_attributes(Inputs.of(run, words=made / name))[0] for name in ("kin.parquet", "kin-index")
    )
    assert needed.attribute == whole.attribute
    asked = pairs_of(run.doc_ids.to_pylist())
    one, other = whole.gather(asked), needed.gather(asked)
    np.testing.assert_array_equal(one.known, other.known)
    rows = np.arange(len(asked))
    for name, column in one.columns.items():
        np.testing.assert_array_equal(column.dense(rows), other.columns[name].dense(rows))  # type: ignore[union-attr]


@pytest.mark.parametrize("lexicon", ["kin", "weighed"])
@pytest.mark.parametrize("kind", ["stream", "index"])
def test_the_catalogue_is_all_documents_whatever_is_ranked(made: Path, lexicon: str, kind: str) -> None:
    from evenrank.verdict import verdicts

    texts = dict(documents())
    men = [
        name for name in texts if "father" in texts[name] and not {"mother", "aunt"} & {*texts[name].split()}
    ]
    ranked = {f"q{query}": dict(zip(men[query::40], range(100), strict=False)) for query in range(40)}
    run = er.read_run(ranked, name="men")
    loaded, needed = (
        verdicts(run, words=made / name) for name in (f"{lexicon}.parquet", f"{lexicon}-{kind}")
    )
    assert repr(needed) == repr(loaded)
    sizes = {group.value: group.documents for group in needed[0].groups}
    assert sum(sizes.values()) == ROWS
    assert sizes["f"] > ROWS / 4  # though none of them is ranked
    words = open_counts(made / f"{lexicon}-{kind}")
    assert (
        words.leading_sizes(2).tolist() == read_counts(made / f"{lexicon}.parquet").leading_sizes(2).tolist()
    )
    words.leading_sizes(2)
    assert words.reading["rows read"] == ROWS  # one pass for both


class Stopped(Exception):
    pass


def test_each_pass_of_an_index_counts_every_document_once(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts_index, "BUCKET", 700)
    monkeypatch.setattr(counts_index, "STRETCH", 500)
    folder = tmp_path / "counts"
    shutil.copytree(made / "kin-stream", folder)
    told: list[tuple[int, int | None, str]] = []
    index_counts(folder, progress=lambda *what: told.append(what), threads=1)
    assert {total for _, total, _ in told} == {ROWS}
    last = {what: done for done, _, what in told}
    assert last == {"documents sorted": ROWS, "documents joined": ROWS}


@pytest.mark.parametrize("stop", [1, 3, 8, 12])
def test_an_index_that_was_stopped_goes_on(
    made: Path, tmp_path: Path, stop: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts_index, "BUCKET", 700)
    monkeypatch.setattr(counts_index, "STRETCH", 500)
    folder = tmp_path / "counts"
    shutil.copytree(made / "kin-stream", folder)
    calls: Iterator[int] = iter(range(stop))

    def progress(*_: object) -> None:
        if next(calls, None) is None:
            raise Stopped

    with pytest.raises(Stopped):
        index_counts(folder, progress=progress, threads=1)
    with pytest.raises(FileNotFoundError):
        (folder / "_by_hash" / "index.json").read_bytes()
    assert open_counts(folder).reading["rows"] == ROWS  # type: ignore[attr-defined]
    summary = index_counts(folder, threads=1)
    assert summary.found >= stop
    files = sorted(path.name for path in (folder / "_by_hash").iterdir())
    assert files == sorted(path.name for path in (made / "kin-index" / "_by_hash").iterdir())
    for name in files:
        assert (folder / "_by_hash" / name).read_bytes() == (
            made / "kin-index" / "_by_hash" / name
        ).read_bytes()
    assert not (folder / "_by_hash.parts").exists()


def test_an_unfinished_folder_is_refused(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "kin-stream", tmp_path / "counts")
    (tmp_path / "counts" / "_evenrank.json").unlink()
    for read in (open_counts, read_counts, index_counts):
        with pytest.raises(DataError, match="is no finished folder of word counts"):
            read(tmp_path / "counts")  # type: ignore[operator]


def test_a_damaged_part_is_named(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "kin-stream", tmp_path / "counts")
    part = tmp_path / "counts" / "part-00001.parquet"
    data = bytearray(part.read_bytes())
    data[4:400] = b"\xff" * 396
    part.write_bytes(data)
    with pytest.raises(DataError, match=r"part-00001.parquet: is not a sound Parquet file of word counts"):
        open_counts(tmp_path / "counts").gather(pairs_of(NAMES))


def test_a_damaged_block_of_the_index_is_named(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "kin-index", tmp_path / "counts")
    bucket = tmp_path / "counts" / "_by_hash" / "bucket-00002.blocks"
    data = bytearray(bucket.read_bytes())
    data[len(data) // 2] ^= 1
    bucket.write_bytes(data)
    with pytest.raises(DataError, match=r"bucket-00002.blocks: is damaged: make the index .* again"):
        open_counts(tmp_path / "counts").gather(pairs_of(NAMES))


@pytest.mark.parametrize("change", ["cut", "gone", "other counts", "no JSON"])
def test_an_index_that_does_not_fit_is_not_used(made: Path, tmp_path: Path, change: str) -> None:
    shutil.copytree(made / "kin-index", tmp_path / "counts")
    folder = tmp_path / "counts" / "_by_hash"
    if change == "cut":
        (folder / "bucket-00001.blocks").write_bytes(b"")
    elif change == "gone":
        (folder / "bucket-00001.npy").unlink()
    elif change == "other counts":
        commit = tmp_path / "counts" / "_evenrank.json"
        commit.write_text(json.dumps(json.loads(commit.read_text())))
    else:
        (folder / "index.json").write_text("{")
    with pytest.warns(EvenrankWarning, match="the index is not used .* evenrank scan"):
        words = open_counts(tmp_path / "counts")
    assert_equal(words, read_counts(made / "kin.parquet"), NAMES[:30])


def test_counts_of_another_lexicon_are_refused(made: Path) -> None:
    for name in ("kin-index", "kin-stream", "kin.parquet"):
        with pytest.raises(DataError, match="was counted with another lexicon"):
            read_counts(made / name, WEIGHED)
        with pytest.raises(DataError, match="was counted with the tokeniser 'word', not 'whitespace'"):
            read_counts(made / name, tokenizer="whitespace")


def test_the_command_makes_the_index(made: Path, tmp_path: Path, evenrank: object) -> None:
    shutil.copytree(made / "kin-stream", tmp_path / "counts")
    code, _, err = evenrank("scan", tmp_path / "counts")  # type: ignore[operator]
    assert code == 0
    assert "wrote the index of" in err
    assert open_counts(tmp_path / "counts").reading["rows read"] == 0  # type: ignore[attr-defined]
    code, _, err = evenrank("scan", tmp_path / "counts", "-o", tmp_path / "x.parquet")  # type: ignore[operator]
    assert code != 0
    assert "leave -o out" in err
    code, _, err = evenrank("scan", tmp_path / "counts", "--on", "dask")  # type: ignore[operator]
    assert code != 0
    assert "leave --on out" in err


def test_a_field_of_a_search_index_comes_from_a_folder(made: Path, tmp_path: Path, evenrank: object) -> None:
    written = []
    for words in ("kin.parquet", "kin-index"):
        output = tmp_path / f"{words}.jsonl"
        code, _, err = evenrank("scan", made / words, "--field", "opensearch", "-o", output)  # type: ignore[operator]
        assert code == 0, err
        written.append(output.read_bytes())
    assert written[0] == written[1]


def test_other_tools_see_only_the_parts(made: Path) -> None:
    assert len(pq.read_table(made / "kin-index")) == ROWS


@pytest.mark.parametrize("kind", ["stream", "index"])
@pytest.mark.parametrize("place", ["find", "joined_counts"])
def test_two_threads_lose_no_rows_and_read_none_twice(
    made: Path, monkeypatch: pytest.MonkeyPatch, kind: str, place: str
) -> None:
    """They meet where both have seen what is known, and neither has added to it."""
    meeting, whole = Meeting(), read_counts(made / "kin.parquet")
    with monkeypatch.context() as patch:
        patch.setattr("threading.RLock", meeting.lock)
        words = open_counts(made / f"kin-{kind}")
    assert isinstance(words, WordsByNeed)
    words.gather(pairs_of(NAMES[:5]))
    if place == "find":
        monkeypatch.setattr(words._store, "find", meeting.at(words._store.find))
    else:
        monkeypatch.setattr(words_by_need, place, meeting.at(words_by_need.joined_counts))
    asked = [NAMES[:40], NAMES[:40] if place == "find" else NAMES[40:80]]
    meeting.run(*(partial(words.gather, pairs_of(names)) for names in asked))
    for names in asked:
        assert_equal(words, whole, names)
    assert words._known is not None
    known = words._known.doc_ids.to_pylist()
    assert len(known) == len(set(known))


@pytest.mark.parametrize("kind", ["stream", "index"])
def test_counts_can_be_sent_and_copied(made: Path, kind: str) -> None:
    words = open_counts(made / f"kin-{kind}")
    words.gather(pairs_of(NAMES[:5]))
    sent = pickle.loads(pickle.dumps(words))  # noqa: S301
    for other in (sent, copy.copy(words), copy.deepcopy(words)):
        assert isinstance(other, WordsByNeed)
        assert_equal(other, read_counts(made / "kin.parquet"), NAMES[:40])


def test_what_several_passes_read_is_not_said_to_be_a_share_of_all_rows(made: Path) -> None:
    words = open_counts(made / "kin-stream")
    words.gather(pairs_of(["not there"]))
    run = er.read_run({"q": dict.fromkeys(NAMES[:9], 1.0)})
    scores = er.evaluate(run, "NFaiRR@5", words=words, background=run)
    (note,) = (note for note in scores.notes["run"] if "rows were read" in note)
    assert note.startswith("words: 6,000 rows were read for the documents of the runs, ")
    assert "in 2 passes (all are 3,000 rows" in note
    assert scores.provenance["evidence"]["words"]["read"]["passes"] == 2
