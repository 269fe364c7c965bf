"""What is written is read back the same, here and elsewhere."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import stat
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evenrank import Run, read_qrels, read_run, write_run
from evenrank.errors import DataError, EvenrankWarning, InputTypeError, ParameterError
from evenrank.io import write_qrels
from evenrank.io.atomic import atomic_write
from evenrank.io.runs import run_lines

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
    text = b"".join(run_lines(run, "tag")).decode()
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
    import tempfile

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
    with pytest.raises(DataError, match=r"cannot stand in a TREC file .* write Parquet, or rename it"):
        write_run(run, tmp_path / "x.trec")
    assert names(tmp_path) == []
    write_run(run, tmp_path / "x.parquet")
    assert read_run(tmp_path / "x.parquet") == run


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
    with pytest.raises(ParameterError, match="tag= applies only to TREC files: a table has none"):
        write_run(run, tmp_path / "x.csv", tag="mine")
    with pytest.raises(ParameterError, match="format must be one of trec, parquet, csv, tsv, jsonl, got 'x'"):
        write_run(run, tmp_path / "x", format="x")
    with pytest.raises(ParameterError, match="tag must be one word"):
        write_run(run, tmp_path / "x", tag="a b")
    with pytest.raises(InputTypeError, match="write_run takes a Run, got dict"):
        write_run({"1": {"a": 1.0}}, tmp_path / "x")  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="a path to write to"):
        write_run(run, 3)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="has no ranked documents"):
        write_run(run.select([]), tmp_path / "x")
    with pytest.raises(DataError, match="is a directory"):
        write_run(run, tmp_path)
    with pytest.raises(DataError, match="no such folder"):
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
    from evenrank import DiversityQrels

    qrels = DiversityQrels.build(
        ["1", "1"], ["i", "j"], ["a", "a"], [1, 1], probabilities={"1": {"i": 0.25, "j": 0.75}}
    )
    with pytest.warns(EvenrankWarning, match="probabilities of intents are not written"):
        write_qrels(qrels, tmp_path / "q.txt")


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")

    def interrupted() -> None:
        with atomic_write(path) as file:
            file.write(b"new")
            file.flush()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["x"]


def test_permissions_and_links(tmp_path: Path) -> None:
    path, link, plain = tmp_path / "x", tmp_path / "link", tmp_path / "plain"
    plain.write_text("")
    with atomic_write(path) as file:
        file.write(b"1")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o600)
    link.symlink_to(path)
    with atomic_write(link) as file:
        file.write(b"2")
    assert link.is_symlink()
    assert path.read_bytes() == b"2"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_bytes_reach_the_disk_before_the_name_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    replace, fsync = Path.replace, os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: (steps.append("fsync"), fsync(descriptor))[1])
    monkeypatch.setattr(Path, "replace", lambda self, to: (steps.append("replace"), replace(self, to))[1])
    with atomic_write(tmp_path / "x") as file:
        file.write(b"1")
    assert steps == ["fsync", "replace"]


def test_what_is_no_regular_file_is_written_and_stays() -> None:
    with atomic_write("/dev/null") as file:
        file.write(b"1")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_equal_content_gives_equal_bytes(tmp_path: Path) -> None:
    run = read_run({"1": {"a": 1.0}})
    write_run(run, tmp_path / "a.gz", tag="t")
    write_run(run, tmp_path / "b.gz", tag="t")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert (tmp_path / "a.gz").read_bytes()[4:8] == bytes(4)  # the time, which would be another tomorrow


def test_what_a_killed_process_left_serves_the_next(tmp_path: Path) -> None:
    process = os.fork()
    if not process:
        with atomic_write(tmp_path / "x") as file:
            file.write(b"half of it" * 9999)
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(process, 0)
    assert names(tmp_path) == [".x.evenrank-0.tmp"]
    (tmp_path / ".x.tmp").write_bytes(b"mine")
    with atomic_write(tmp_path / "x") as file:
        file.write(b"whole")
    assert sorted(names(tmp_path)) == [".x.tmp", "x"]
    assert (tmp_path / "x").read_bytes() == b"whole"


def test_several_may_write_the_same_file(tmp_path: Path) -> None:
    """The last one to end has the last word, and nobody's bytes mix."""
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / ".x.evenrank-0.tmp").symlink_to(tmp_path / "mine")
    with atomic_write(tmp_path / "x") as one, atomic_write(tmp_path / "x") as other:
        one.write(b"one")
        other.write(b"other")
    assert (tmp_path / "x").read_bytes() == b"one"
    assert (tmp_path / "mine").read_bytes() == b"mine"
    assert sorted(names(tmp_path)) == [".x.evenrank-0.tmp", "mine", "x"]


def test_a_link_to_nowhere_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".x.evenrank-0.tmp").symlink_to(tmp_path / "nowhere")
    with atomic_write(tmp_path / "x") as file:
        file.write(b"one")
    assert sorted(names(tmp_path)) == [".x.evenrank-0.tmp", "x"]


def test_a_temporary_file_that_another_process_has_just_moved_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, moved = fcntl.flock, tmp_path / "moved"

    def quicker(descriptor: int, how: int) -> None:
        if not moved.exists():
            (tmp_path / ".x.evenrank-0.tmp").rename(moved)
        usual(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", quicker)
    with atomic_write(tmp_path / "x") as file:
        file.write(b"one")
    assert (tmp_path / "x").read_bytes() == b"one"
    assert moved.read_bytes() == b""


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.ENAMETOOLONG])
def test_an_error_names_the_file_that_was_asked_for(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.trec"

    def refuse(name: str | os.PathLike[str], *_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number), os.fspath(name))

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(DataError) as caught, atomic_write(path):
            pytest.fail("was opened")
    assert str(caught.value).startswith(f"{path}: ")
    assert ".tmp" not in str(caught.value)
    monkeypatch.setattr(os, "fsync", lambda descriptor: refuse(tmp_path / ".x.trec.evenrank-0.tmp"))
    with pytest.raises(OSError, match=os.strerror(number)) as system, atomic_write(path) as file:
        file.write(b"x")
    assert system.value.filename == str(path)
    with pytest.raises(OSError, match=os.strerror(number)) as system, atomic_write(path):
        refuse("what is read meanwhile")
    assert system.value.filename == "what is read meanwhile"
    assert names(tmp_path) == []


def test_a_file_called_dash_could_not_be_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match="standard output: give the name of a file"), atomic_write("-"):
        pytest.fail("was opened")
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
