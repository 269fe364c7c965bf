"""Input that is right but unusual: other spellings, line ends and locales, slow pipes, extreme numbers, any
order of lines and columns."""

from __future__ import annotations

import fcntl
import itertools
import math
import os
import random
import signal
import struct
import subprocess
import sys
import termios
import time
import unicodedata
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from evenrank import DataError, evaluate, read_groups, read_qrels, read_run, rerank, write_run

Evenrank = Callable[..., SimpleNamespace]

COMPOSED = "caf\u00e9"
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)


@pytest.mark.parametrize(("ours", "theirs"), [(COMPOSED, DECOMPOSED), ("FBIS-1", "fbis-1"), ("Doc", "dOC")])
def test_documents_that_look_the_same_are_different_and_a_note_says_so(ours: str, theirs: str) -> None:
    run = {"q": {ours: 2.0, "x": 1.0}}
    scores = evaluate(run, "P@2", qrels={"q": {theirs: 1, "x": 1}})
    assert scores.mean("P@2") == 0.5
    (note,) = (note for notes in scores.notes.values() for note in notes if "Unicode form" in note)
    assert f"{ours!a} is {theirs!a} there" in note
    groups = read_groups({theirs: "f", "x": "m"}, "gender")
    scores = evaluate(run, "GF(attr='gender')@2", groups=groups, qrels={"q": {"x": 1}})
    assert any("the groups of 'gender' have only in another case" in n for n in scores.notes["run"])


def test_a_note_where_one_file_has_capitals_only_and_the_other_none() -> None:
    scores = evaluate({"q": {"FBIS-1": 2.0, "FBIS-2": 1.0}}, "P@2", qrels={"q": {"fbis-1": 1, "fbis-3": 0}})
    assert any("'FBIS-1' is 'fbis-1' there" in note for note in scores.notes["run"])


def test_no_note_where_ids_are_the_same_or_below_the_cutoff() -> None:
    qrels = {"q": {"doc": 1, "x": 1}}
    assert evaluate({"q": {"x": 3.0, "y": 2.0, "DOC": 1.0}}, "P@2", qrels=qrels).notes["run"] == ()
    both = {"q": {"doc": 3.0, "DOC": 2.0}}
    assert any("'DOC' is 'doc'" in n for n in evaluate(both, "P@2", qrels=qrels).notes["run"])
    assert evaluate({"q": {"12": 3.0, "3": 2.0}}, "P@2", qrels={"q": {"12": 1}}).notes["run"] == ()


def test_queries_that_look_the_same() -> None:
    run = {"Q1": {"a": 1.0}, "q2": {"a": 1.0}}
    notes = evaluate(run, "P@1", qrels={"q1": {"a": 1}, "q2": {"a": 1}}).notes["run"]
    assert any("1 query id differs between the run and judgements" in note for note in notes)
    with pytest.raises(DataError, match="'Q1' and 'q1'"):
        evaluate({"Q1": {"a": 1.0}}, "P@1", qrels={"q1": {"a": 1}})


def test_one_run_may_hold_both(tmp_path: Path) -> None:
    run = read_run({"q": {COMPOSED: 4.0, DECOMPOSED: 3.0, "A": 2.0, "a": 1.0}})
    write_run(run, tmp_path / "run.trec")
    assert read_run(tmp_path / "run.trec").documents("q") == [COMPOSED, DECOMPOSED, "A", "a"]


def unread_bytes(descriptor: int) -> int:
    count: int = struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4))[0]
    return count


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, "the command ended before it was done"
        assert time.monotonic() < end
        time.sleep(0.01)


def reading_stdin() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "evenrank", "evaluate", "-", "--qrels", "qrels.txt", "-m", "P@1"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_pipe_that_stalls_is_waited_for(files: Path) -> None:
    whole = (files / "bm25.trec").read_bytes()
    with reading_stdin() as process:
        assert process.stdin is not None
        for piece in (whole[:3], whole[3:20]):  # in the middle of a line, and of a field
            process.stdin.write(piece)
            process.stdin.flush()
            wait_until(lambda: unread_bytes(process.stdin.fileno()) == 0, process)  # type: ignore[union-attr]
        out, err = process.communicate(whole[20:])
    assert process.returncode == 0, err
    with reading_stdin() as other:
        assert other.communicate(whole)[0] == out


def test_a_pipe_that_stalls_can_be_interrupted(files: Path) -> None:
    with reading_stdin() as process:
        assert process.stdin is not None
        process.stdin.write(b"q1 Q0 a")
        process.stdin.flush()
        wait_until(lambda: unread_bytes(process.stdin.fileno()) == 0, process)  # type: ignore[union-attr]
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b"evenrank: interrupted\n"


@pytest.mark.usefixtures("files")
def test_documents_that_are_read_twice_are_not_standard_input(evenrank: Evenrank) -> None:
    done = evenrank(
        "report",
        "bm25.trec",
        "--documents",
        "-",
        "--lexicon",
        "gender-en",
        "-m",
        "NFaiRR@2",
        "-o",
        "o.html",
    )
    assert done.code == 2
    assert "--documents" in done.err


EXTREMES = {
    "smallest": [5e-324, 1e-323, 0.0, -5e-324],
    "largest": [sys.float_info.max, 1e308, -1e308, -sys.float_info.max],
    "neighbours": [1.0, math.nextafter(1, 2), math.nextafter(1, 0), 1 + 2e-10],
    "far apart": [1e308, 5e-324, -0.0, -1e308],
}


@pytest.mark.parametrize("name", EXTREMES)
def test_extreme_scores_are_ordered_written_and_re_ranked(name: str, tmp_path: Path) -> None:
    given = dict(zip("abcd", EXTREMES[name], strict=True))
    run = read_run({"q": given})
    order = sorted(given, key=lambda document: -given[document])
    assert run.documents("q") == order
    for suffix in ("trec", "parquet"):
        write_run(run, tmp_path / f"run.{suffix}")
        assert read_run(tmp_path / f"run.{suffix}").documents("q") == order
    lines = "".join(f"q Q0 {document} 1 {score!r} t\n" for document, score in given.items())
    (tmp_path / "given.trec").write_text(lines)
    assert read_run(tmp_path / "given.trec").documents("q") == order
    groups = read_groups({"a": "f", "b": "m", "c": "f", "d": "m"}, "gender")
    ranks = read_run({"q": {document: -place for place, document in enumerate(order)}})
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for method in ("Random", "DetGreedy@4", "FAIR_greedy(epsilon=0.3)@4", "FA_IR(protected='f')@4"):
            found = rerank(run, method, groups=groups).documents("q")
            assert found == rerank(ranks, method, groups=groups).documents("q"), method
        measures = ["nDCG@3", "AP", "GF@4", "NDKL@4"]
        one, other = (evaluate(r, measures, qrels={"q": {"a": 1}}, groups=groups) for r in (run, ranks))
    assert [one.mean(measure) for measure in measures] == [other.mean(measure) for measure in measures]


@pytest.mark.parametrize("weights", [(5e-324, 1.0), (1e-300, 1e300), (1e308, 1e307)])
def test_extreme_weights(weights: tuple[float, float]) -> None:
    run, qrels = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 1}}
    name = f"{weights[0]!r}*P@2 + {weights[1]!r}*RR"
    assert evaluate(run, [name], qrels=qrels).mean(name) == pytest.approx(sum(weights) / 2, rel=1e-12)


CONTENT = {
    "run.trec": "q1 Q0 a 1 2.5 a tag\nq1 Q0 b 2 1 t\nq2 Q0 c 1 1 t\n",
    "clean.trec": "q1 Q0 a 1 2.5 t\nq1 Q0 b 2 1 t\nq2 Q0 c 1 1 t\n",
    "run.csv": "query,document,score\nq1,a,2.5\nq1,b,1\nq2,c,1\n",
    "run.jsonl": '{"query": "q1", "document": "a", "score": 1}\n'
    '{"query": "q2", "document": "c", "score": 1}\n',
    "qrels.txt": "q1 0 b 1\nq2 0 c 2\n",
    "groups.csv": "document,gender\na,f\nb,m\nc,\n",
    "groups.gmemb": "q1 a 0.5 0.5\nq1 b 1 0\nq2 c 0 1\n",
    "groups.qrels": "q1 0 a f\nq1 0 b m\nq2 0 c f\n",
    "ids.txt": "# some\nq1\ttext\n\nq2\n",
    "documents.tsv": "a\tshe wrote\nb\the read\nc\tit\n",
    "documents.csv": 'id,text\na,she wrote\nb,"he, read"\nc,it\n',
}


def results(evenrank: Evenrank, folder: Path) -> list[str]:
    out = []
    for run in ("run.trec", "clean.trec", "run.csv", "run.jsonl"):
        for groups in ("groups.csv", "groups.gmemb", "groups.qrels"):
            done = evenrank(
                "evaluate", folder / run, "--qrels", folder / "qrels.txt", "--groups",
                f"gender={folder / groups}", "-m", "nDCG@2 GF(attr='gender')@2", "--queries",
                folder / "ids.txt", "--format", "tsv", "--view", "queries",
            )  # fmt: skip
            assert done.code == 0, done.err
            out.append(done.out)
    for documents in ("documents.tsv", "documents.csv"):
        counts = folder / f"{documents}.parquet"
        assert evenrank("scan", folder / documents, "--lexicon", "gender-en", "-o", counts).code == 0
        out.append(
            evenrank(
                "evaluate", folder / "clean.trec", "--words", counts, "-m", "NFaiRR@2", "--format", "tsv"
            ).out
        )
    return out


def test_windows_line_ends_change_nothing(evenrank: Evenrank, tmp_path: Path) -> None:
    for ends, folder in (("\n", tmp_path / "unix"), ("\r\n", tmp_path / "windows")):
        folder.mkdir()
        for name, text in CONTENT.items():
            (folder / name).write_bytes(text.replace("\n", ends).encode())
    assert results(evenrank, tmp_path / "windows") == results(evenrank, tmp_path / "unix")


def in_locale_c(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """A command where Python is kept from taking UTF-8 instead of ASCII."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))}
    return subprocess.run(
        [os.fsencode(word) for word in (sys.executable, "-m", "evenrank", *arguments)],
        cwd=os.fsencode(folder), capture_output=True, check=False,
        env={**environment, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    )  # fmt: skip


def test_the_locale_changes_nothing(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "s\u00fcd"
    (folder / "runs").mkdir(parents=True)
    for name in ("\u00e4", "\u00f6"):
        (folder / f"runs/r{name}n.trec").write_text("q\u00e9 Q0 d\u00f6c 1 2 t\n", encoding="utf-8")
    (folder / "q.txt").write_text("q\u00e9 0 d\u00f6c 1\n", encoding="utf-8")
    command = ("evaluate", "runs", "--qrels", "q.txt", "-m", "P@1", "--view", "queries")
    found = in_locale_c(folder, *command)
    monkeypatch.chdir(folder)
    usual = evenrank(*command)
    assert (found.returncode, found.stdout.decode(), found.stderr.decode()) == (0, usual.out, usual.err)
    assert "q\u00e9" in usual.out


@pytest.mark.parametrize("home", [None, "/dev/null/home"], ids=["no home", "a home that cannot be written"])
def test_no_home_is_needed(home: str | None, evenrank: Evenrank, files: Path) -> None:
    words = ("evaluate", "bm25.trec", "--qrels", "qrels.txt", "-m", "RR")
    environment = {
        name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")
    }
    done = subprocess.run(
        [sys.executable, "-m", "evenrank", *words],
        env={**environment, **({} if home is None else {"HOME": home})}, capture_output=True, check=False,
    )  # fmt: skip
    usual = evenrank(*words)
    assert (done.returncode, done.stdout.decode(), done.stderr.decode()) == (0, usual.out, usual.err)


def test_a_clock_that_jumps_back(evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What files hold decides whether work is gone on with, and no time that the system tells."""
    source = tmp_path / "d.tsv"
    source.write_text("a\tshe\nb\the\n")
    command = ("scan", source, "--lexicon", "gender-en", "-o", tmp_path / "c.parquet")
    assert evenrank(*command).code == 0
    before = (tmp_path / "c.parquet").read_bytes()
    clock = itertools.count(2e9, -1e6)
    monkeypatch.setattr(time, "time", lambda: float(next(clock)))
    for stamp in (4_000_000_000, 1):
        os.utime(source, (stamp, stamp))
        done = evenrank(*command)
        assert (done.code, "2 documents" in done.err) == (0, True)
        assert (tmp_path / "c.parquet").read_bytes() == before


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_lines_and_columns_changes_nothing(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    # many ties: ids decide, not the order of the lines
    rows = [(f"q{q}", f"d{d}", float(draw.randrange(3))) for q in range(4) for d in range(12)]
    grades = [(f"q{q}", f"d{d}", draw.randrange(3)) for q in range(4) for d in range(0, 12, 2)]
    labels = [(f"d{d}", draw.choice(["f", "m", "x"])) for d in range(12)]

    def scores(number: int) -> list[tuple[str, str, float]]:
        for lines in (rows, grades, labels):
            draw.shuffle(lines)
        run, qrels, groups = (tmp_path / f"{name}{number}" for name in ("run.csv", "qrels", "groups.csv"))
        order = list(itertools.permutations(("query", "document", "score", "more")))[number * 5 % 24]
        table = [dict(zip(("query", "document", "score", "more"), (*row, "x"), strict=True)) for row in rows]
        run.write_text(
            "\n".join([",".join(order), *(",".join(str(row[name]) for name in order) for row in table)])
        )
        qrels.write_text("".join(f"{query} 0 {document} {grade}\n" for query, document, grade in grades))
        groups.write_text("document,g\n" + "".join(f"{document},{label}\n" for document, label in labels))
        found = evaluate(
            read_run(run, format="csv"),
            ["nDCG@5", "AP", "RBP@5", "GF@5", "NDKL@5", "AWRF@5"],
            qrels=read_qrels(qrels),
            groups=read_groups(groups, "g", format="csv", values=["f", "m", "x"]),
        )
        return sorted(
            (query, repr(block.measure), value)
            for block in found.blocks
            for query, (value, *_) in zip(block.query_ids, block.values.tolist(), strict=True)
        )

    first = scores(0)
    assert len(first) == 4 * 6
    for number in range(1, 5):
        assert scores(number) == first


@pytest.mark.parametrize(
    "command",
    [
        ["evaluate", "bm25.trec", "-m", "nDCG@10"],
        ["evaluate", "bm25.trec", "-m", "nDCG@10", "--queries", "asked.txt"],
        ["rerank", "bm25.trec", "--with", "Oracle"],
        ["rerank", "bm25.trec", "--with", "Oracle(insert=True)"],
    ],
)
def test_judgements_of_other_queries_are_an_error(
    evenrank: Evenrank, files: Path, command: list[str]
) -> None:
    """Not a table of undefined values, nor a run that is as it was."""
    (files / "other.txt").write_text("z1 0 a 1\nz2 0 b 1\n")
    (files / "asked.txt").write_text("q1\nq2\n")
    done = evenrank(*command, "--qrels", "other.txt")
    assert done.code == 1
    assert done.out == ""
    assert "has judgements:" in done.err
    assert "the judgements are for 'z1', 'z2'" in done.err
