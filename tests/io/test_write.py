"""What is written is read back the same, here and elsewhere."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evenrank import DiversityQrels, Run, read_qrels, read_run, write_run
from evenrank.errors import DataError, EvenrankWarning, InputTypeError, ParameterError
from evenrank.io import write_qrels

SCORES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0.0, -0.0, 1.0, 1.0 + 1e-12])
)
RUNS = st.dictionaries(
    st.sampled_from(["1", "q", "é"]),
    st.dictionaries(st.text("abé\u00a0", min_size=1, max_size=3), SCORES, min_size=1, max_size=8),
    min_size=1,
)


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_lines_of_a_run(tmp_path: Path) -> None:
    write_run(
        read_run({"1": {"a": 1.5, "b": 2.5}, "2": {"a": 1.0, "b": 1.0}}, name="my run"), tmp_path / "x.trec"
    )
    assert (tmp_path / "x.trec").read_text() == (
        "1 Q0 b 1 2.5 my_run\n1 Q0 a 2 1.5 my_run\n2 Q0 b 1 2 my_run\n2 Q0 a 2 1 my_run\n"
    )


def test_equal_scores_are_lowered_as_little_as_every_reader_sees(tmp_path: Path) -> None:
    """What looks at scores, such as a penalty, finds in a TREC file what the engine gave."""
    given = {
        "1": {"a": 7.5, "b": 7.5, "c": 7.5, "d": 2.0, "e": -2.0, "f": -2.0},
        "2": {"a": 3.0, "b": 0.0, "c": 0.0},
    }
    run = read_run(given)
    write_run(run, tmp_path / "x.trec")
    again = read_run(tmp_path / "x.trec")
    assert [again.documents(query) for query in again] == [run.documents(query) for query in run]
    assert again.to_dict()["1"] == pytest.approx(given["1"], rel=1e-6)
    assert list(again.to_dict()["2"].values()) == [
        3.0,
        2.0,
        1.0,
    ]  # what is below 0 by a trifle, some read as 0


@settings(max_examples=examples(200))
@given(RUNS)
def test_every_tool_reads_the_same_order(mapping: dict[str, dict[str, float]]) -> None:
    run = read_run(mapping)
    with tempfile.TemporaryDirectory() as folder:
        write_run(run, Path(folder) / "x.trec", tag="tag")
        text = (Path(folder) / "x.trec").read_bytes().decode()
    theirs = pytrec_eval.parse_run(line.replace("\u00a0", "_") for line in text.split("\n") if line)
    assert set(theirs) == set(run)
    for query in run:
        documents = [document.replace("\u00a0", "_") for document in run.documents(query)]
        narrow = np.array([theirs[query][document] for document in documents], dtype=np.float32)
        assert np.isfinite(narrow).all()
        assert (np.diff(narrow) < 0).all()


@settings(max_examples=examples(100))
@given(RUNS, st.sampled_from(["trec", "file"]))
def test_parquet_is_read_back_equal(mapping: dict[str, dict[str, float]], ties: str) -> None:
    run = read_run(mapping, ties=ties)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder:
        write_run(run, Path(folder) / "run.parquet")
        back = read_run(Path(folder) / "run.parquet")
    assert back == run
    assert back.fingerprint == run.fingerprint


@pytest.mark.parametrize(
    "name", ["run.trec", "run.trec.gz", "run.trec.zst", "run.parquet", "run.parquet.gz", "run"]
)
def test_round_trips(name: str, tmp_path: Path) -> None:
    run = read_run({"1": {"a": 1.5, "b": 2.5}, "x\u00a0y": {"a": 0.1}})
    write_run(run, tmp_path / name)
    back = read_run(tmp_path / name, format="parquet" if "parquet" in name else None)
    assert back == run
    assert back.name == "run"
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("query", ["a b", "#1", "\ufeffa"])
def test_ids_that_no_field_can_hold(query: str, tmp_path: Path) -> None:
    run = Run.build([query], ["d"], [1.0])
    with pytest.raises(DataError, match="TREC"):
        write_run(run, tmp_path / "x.trec")
    assert names(tmp_path) == []
    write_run(run, tmp_path / "x.parquet")
    back = read_run(tmp_path / "x.parquet")
    assert (back == run) == (" " not in query)  # words get an id in a file


@pytest.mark.parametrize("identifier", ["a\tb", "a\nb", "a\x01"])
def test_ids_that_no_file_can_hold(identifier: str, tmp_path: Path) -> None:
    for query, document in ((identifier, "d"), ("q", identifier)):
        run = Run.build([query], [document], [1.0])
        for name in ("x.trec", "x.parquet"):
            with pytest.raises(DataError):
                write_run(run, tmp_path / name)
    assert names(tmp_path) == []


def test_the_tie_rule_of_a_parquet_file(tmp_path: Path) -> None:
    mapping = {"1": {"a": 1.0, "b": 1.0}}
    for ties, documents in (("file", ["a", "b"]), ("trec", ["b", "a"])):
        write_run(read_run(mapping, ties=ties), tmp_path / "x.parquet")  # type: ignore[arg-type]
        back = read_run(tmp_path / "x.parquet")
        assert (back.documents("1"), back.ties) == (documents, ties)
        asked = read_run(tmp_path / "x.parquet", ties="trec")
        assert (asked.documents("1"), asked.ties) == (["b", "a"], "trec")


def test_documents_may_begin_with_a_hash(tmp_path: Path) -> None:
    run = read_run({"1": {"#a": 1.0}})
    write_run(run, tmp_path / "x.trec")
    assert read_run(tmp_path / "x.trec") == run


def test_what_cannot_be_written(tmp_path: Path) -> None:
    run = read_run({"1": {"a": 1.0}})
    with pytest.raises(ParameterError, match="tag="):
        write_run(run, tmp_path / "x.csv", tag="mine")
    with pytest.raises(ParameterError, match=r"trec, parquet, csv, tsv, jsonl.*'x'"):
        write_run(run, tmp_path / "x", format="x")
    with pytest.raises(ParameterError, match="tag"):
        write_run(run, tmp_path / "x", tag="a b")
    with pytest.raises(InputTypeError, match="dict"):
        write_run({"1": {"a": 1.0}}, tmp_path / "x")  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="path"):
        write_run(run, 3)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="run"):
        write_run(run.select([]), tmp_path / "x")
    with pytest.raises(DataError, match="directory"):
        write_run(run, tmp_path)
    with pytest.raises(DataError, match="no"):
        write_run(run, tmp_path / "no" / "x")
    assert names(tmp_path) == []


@pytest.mark.parametrize("name", ["q.txt", "q.parquet", "q.qrels.gz"])
def test_qrels_round_trips(name: str, tmp_path: Path) -> None:
    qrels = read_qrels({"1": {"a": 0, "b": 2}, "2": {"a": -1}})
    write_qrels(qrels, tmp_path / name)
    assert read_qrels(tmp_path / name) == qrels
    nested = {"1": {"z": {"a": 1}, "b": {"a": 0, "c": 2}}, "2": {"z": {"a": 1}}}
    diversity = read_qrels(nested, diversity=True)
    write_qrels(diversity, tmp_path / name)
    back = read_qrels(tmp_path / name, diversity=True)
    assert back.to_dict() == nested
    assert back.intent_ids == diversity.intent_ids
    assert back.fingerprint == diversity.fingerprint


def test_probabilities_of_intents_are_not_lost_in_silence(tmp_path: Path) -> None:
    qrels = DiversityQrels.build(
        ["1", "1"], ["i", "j"], ["a", "a"], [1, 1], probabilities={"1": {"i": 0.25, "j": 0.75}}
    )
    with pytest.warns(EvenrankWarning, match="intents"):
        write_qrels(qrels, tmp_path / "q.txt")


def test_equal_content_gives_equal_bytes(tmp_path: Path) -> None:
    run = read_run({"1": {"a": 1.0}})
    write_run(run, tmp_path / "a.gz", tag="t")
    write_run(run, tmp_path / "b.gz", tag="t")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert (tmp_path / "a.gz").read_bytes()[4:8] == bytes(4)  # the time, which would be another tomorrow


def test_a_file_called_dash_could_not_be_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match="standard output"):
        write_run(read_run({"1": {"a": 1.0}}), "-")
    write_run(read_run({"1": {"a": 1.0}}), Path("-"))  # whoever says Path means a file
    assert names(tmp_path) == ["-"]


@pytest.mark.parametrize("name", ["r.csv", "r.tsv", "r.jsonl", "r.csv.gz", "r.parquet"])
def test_a_run_as_a_table_is_read_back(tmp_path: Path, name: str) -> None:
    """Order and scores survive, also of equal scores and of ids that a table must quote."""
    run = read_run({"1": {'a,"b"': 0.1, "z": 0.1, "é": 1e-300, "=1": 5.0}, "2": {"x y": -2.0}}, ties="file")
    write_run(run, tmp_path / name)
    again = read_run(tmp_path / name)
    assert [again.documents(query) for query in again] == [run.documents(query) for query in run]
    assert again.scores.tolist() == run.scores.tolist()


def test_a_reader_that_has_gone_is_no_fault_of_the_disk(tmp_path: Path) -> None:
    """As with ``| head``: the command line ends quietly, and only for this error."""
    pipe = tmp_path / "run.trec"
    os.mkfifo(pipe)
    run = Run.build(["q"] * 30_000, [f"document{n}" for n in range(30_000)], -np.arange(30_000.0))

    def read_a_little() -> None:
        with pipe.open("rb") as file:
            file.read(1)

    reader = threading.Thread(target=read_a_little)
    reader.start()
    with pytest.raises(BrokenPipeError):
        write_run(run, pipe)
    reader.join()
