"""``evenrank rerank``: what it writes, what it says, and what it refuses."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import evenrank as er

Evenrank = Callable[..., SimpleNamespace]

GROUPS = "side=groups.csv:values=left,right"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two lists of six documents, those of the left first; q2 has one of the right only."""
    monkeypatch.chdir(tmp_path)
    lines = [f"q1 Q0 {d} 1 {9 - rank} bm25" for rank, d in enumerate("abcxyz")]
    lines += [f"q2 Q0 {d} 1 {9 - rank} bm25" for rank, d in enumerate("abcdex")]
    (tmp_path / "bm25.trec").write_text("\n".join(lines) + "\n")
    (tmp_path / "groups.csv").write_text(
        "document,side\n" + "".join(f"{d},left\n" for d in "abcde") + "".join(f"{d},right\n" for d in "xyz")
    )
    (tmp_path / "qrels.txt").write_text("q1 0 z 1\nq1 0 a 0\nq2 0 e 2\n")
    (tmp_path / "documents.tsv").write_text(
        "".join(f"{d}\t{'he ' * 5}\n" for d in "abcde") + "x\tn\ny\tn\nz\tn\n"
    )
    return tmp_path


def test_sorting_by_numbers(evenrank: Evenrank) -> None:
    Path("shop.csv").write_text("docno,title,rating,price\na,x,1,3\nb,y,5,2\nc,z,,1\nx,w,4,9\n")
    options = ["--table", "shop=shop.csv", "-o", "sorted.trec"]
    done = evenrank("rerank", "bm25.trec", "--with", "SortBy(field='shop.rating',missing=behind)", *options)
    assert done.code == 0, done.err
    assert er.read_run("sorted.trec").documents("q1") == list("bxacyz")
    lacking = evenrank("rerank", "bm25.trec", "--with", "SortBy(field='shop.rating')", *options)
    assert (lacking.code, "missing" in lacking.err) == (1, True)
    other = evenrank("rerank", "bm25.trec", "--with", "SortBy(field='shop.title')", *options)
    assert (other.code, "it has shop.rating, shop.price" in other.err) == (2, True)


def test_numbers_by_query(evenrank: Evenrank) -> None:
    Path("n.tsv").write_text(
        "query\tdocument\tn\n" + "".join(f"q1\t{d}\t{r}\n" for r, d in enumerate("xyzabc"))
    )
    options = ["--with", "SortBy(ascending=True,missing=behind)", "--table", "n=n.tsv"]
    lines = evenrank("rerank", "bm25.trec", *options).out.splitlines()
    assert [line.split()[2] for line in lines] == list("xyzabc") + list("abcdex")


def test_only_columns_of_numbers_count(evenrank: Evenrank) -> None:
    """Neither ids that are numbers nor what is not finite."""
    Path("r.trec").write_text("7 Q0 1 1 3 x\n7 Q0 2 2 2 x\n")
    Path("n.csv").write_text("query,document,m,n\n7,1,inf,5\n7,2,1,6\n")
    done = evenrank("rerank", "r.trec", "--with", "SortBy", "--table", "n=n.csv")
    assert [line.split()[2] for line in done.out.splitlines()] == ["2", "1"]
    other = evenrank("rerank", "r.trec", "--with", "SortBy(field='n.m')", "--table", "n=n.csv")
    assert other.err.rstrip().endswith("it has n.n")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("title,n\nx,1\n", "no column for the document"),
        ("document,title\na,x\n", "none of the columns 'document', 'title' holds numbers"),
        ("document,n\na,1\na,2\n", "'a' is listed twice"),
        ("document,n\na,inf\n", "holds numbers"),
    ],
)
def test_tables_without_numbers(evenrank: Evenrank, content: str, says: str) -> None:
    Path("n.csv").write_text(content)
    done = evenrank("rerank", "bm25.trec", "--with", "SortBy", "--table", "n=n.csv")
    assert (done.code, done.out) == (1, "")
    assert says in done.err


def test_a_table_with_other_columns(evenrank: Evenrank) -> None:
    Path("run.csv").write_text("asked,page,points\nq1,a,2\nq1,z,1\n")
    Path("mine.toml").write_text(
        '[data.runs.mine]\nfile = "run.csv"\n'
        'columns = { query = "asked", document = "page", score = "points" }\n'
    )
    done = evenrank(
        "rerank", "mine", "--with", "Oracle", "--qrels", "qrels.txt", "--project", "mine.toml"
    )  # fmt: skip
    assert [line.split()[2] for line in done.out.splitlines()] == ["z", "a"]


def test_a_run_on_stdout_by_its_name(evenrank: Evenrank) -> None:
    wanted = evenrank("rerank", "bm25.trec", "--with", "Random")
    done = evenrank("rerank", "bm25.trec", "--with", "Random", "-o", "-")
    assert (done.code, done.out) == (0, wanted.out)
    assert not Path("-").exists()


def test_a_folder_of_draws_is_whole_or_not_there(evenrank: Evenrank, folder: Path) -> None:
    """Some of the draws would be taken for all of them."""
    command = ["rerank", "bm25.trec", "--with", "Random(seed=4)", "--repeat", "4000", "-o", "draws"]
    before = {path.name for path in folder.iterdir()}
    with subprocess.Popen([sys.executable, "-m", "evenrank", *command], stderr=subprocess.PIPE) as writer:
        while writer.poll() is None and not any(
            path.is_dir() and any(path.iterdir()) for path in folder.iterdir()
        ):
            time.sleep(0.01)
        writer.send_signal(signal.SIGINT)
        assert writer.wait() == 130
    assert not Path("draws").exists()
    evenrank(*command[:-3], "6", "-o", "draws")
    assert len(list(Path("draws").iterdir())) == 6
    assert {path.name for path in folder.iterdir()} == {*before, "draws"}
    for wrong in (".", "-"):
        assert evenrank(*command[:-1], wrong).code == 2


def test_draws_go_into_a_folder(evenrank: Evenrank) -> None:
    done = evenrank("rerank", "bm25.trec", "--with", "Random(seed=4)", "--repeat", "12", "-o", "draws")
    assert done.code == 0
    files = sorted(Path("draws").iterdir())
    assert [file.name for file in files] == [f"{number:02}.trec" for number in range(1, 13)]
    wanted = er.rerank(er.read_run("bm25.trec"), "Random(seed=4)", repeat=12)
    for file, draw in zip(files, wanted, strict=True):
        assert er.read_run(file).documents("q1") == draw.documents("q1")
    assert len({tuple(draw.documents("q1")) for draw in wanted}) > 6
    assert "in the first draw" in done.err
    again = evenrank("rerank", "bm25.trec", "--with", "Random", "--repeat", "2", "-o", "draws")
    assert (again.code, again.err) == (
        2,
        "evenrank: draws: --repeat writes into a folder that is new or empty\n",
    )


def test_the_rule_for_missing_evidence_reaches_a_method_alone(evenrank: Evenrank, files: Path) -> None:
    """The error says what would do, and what was given is not what it says."""
    (files / "some.tsv").write_text("a\tshe wrote\n")
    assert evenrank("scan", "some.tsv", "--lexicon", "gender-en", "-o", "some.parquet").code == 0
    command = ["rerank", "bm25.trec", "--with", "Neutral", "--words", "some.parquet", "-o", "n.trec"]
    refused = evenrank(*command)
    assert refused.code == 1
    assert "missing='neutral'" in refused.err
    done = evenrank(*command, "--missing", "neutral")
    assert done.code == 0, done.err
    own = evenrank(*command[:3], "Neutral(missing='behind')", *command[4:], "--missing", "neutral")
    assert "missing='behind'" in own.err


def test_it_says_the_target_and_that_it_read_the_judgements(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Targets have the names of an audit, whichever of two words was written."""
    monkeypatch.chdir(tmp_path)
    Path("run.trec").write_text("".join(f"q Q0 d{n} {n} {9 - n} x\n" for n in range(1, 5)))
    Path("groups.csv").write_text("document,g\nd1,a\nd2,a\nd3,a\nd4,b\n")
    Path("qrels.txt").write_text("q 0 d4 1\n")
    known = ["run.trec", "--groups", "g=groups.csv", "--with"]
    assert "target of g: equal (--target g=..)" in evenrank("rerank", *known, "DetCons").err
    orders = []
    for word in ("catalogue", "collection"):
        found = evenrank("rerank", *known, "DetCons", "--target", f"g={word}")
        assert "target of g: catalogue (--target g=..)" in found.err
        assert "judgements" not in found.err
        orders.append(found.out)
    assert orders[0] == orders[1]
    assert "judgements" not in evenrank("rerank", *known, "FAIR_greedy").err
    told = evenrank("rerank", *known, "FAIR_greedy", "--qrels", "qrels.txt").err
    assert "scores by the same judgements are higher than this method can reach without them" in told
