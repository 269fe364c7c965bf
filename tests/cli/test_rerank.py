"""``evenrank rerank``: what it writes, what it says, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import evenrank as er
from evenrank.cli import main
from evenrank.evidence.scan import scan_file
from evenrank.rerankers import all_rerankers

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


def test_it_writes_what_rerank_gives(evenrank: Evenrank) -> None:
    done = evenrank(
        "rerank", "bm25.trec", "--with", "DetCons", "--groups", GROUPS, "-o", "fair.trec", "--tag", "fair"
    )
    assert (done.code, done.out) == (0, "")
    written = er.read_run("fair.trec")
    groups = er.read_groups("groups.csv", "side", values=["left", "right"])
    with pytest.warns(er.EvenrankWarning):
        wanted = er.rerank(er.read_run("bm25.trec"), "DetCons", groups=groups)
    assert {query: written.documents(query) for query in written} == {
        query: wanted.documents(query) for query in wanted
    }
    assert written.documents("q1") == list("axbycz")
    assert Path("fair.trec").read_text().splitlines()[0] == "q1 Q0 a 1 6.0 fair"


def test_infeasible_queries_are_counted_and_named(evenrank: Evenrank) -> None:
    done = evenrank("rerank", "bm25.trec", "--with", "DetCons", "--groups", GROUPS, "-o", "fair.trec")
    assert done.err.splitlines() == [
        "evenrank: warning: DetCons(attr='side'): a group has fewer documents than its minimum "
        "for 1 of 2 queries: 'q2'",
        "evenrank: bm25+DetCons(attr='side'): 2 of 2 lists have another order",
        "evenrank: target of side: equal (--target side=..)",
        "evenrank: wrote fair.trec",
    ]


def test_one_after_the_other(evenrank: Evenrank) -> None:
    options = ["--groups", GROUPS, "--qrels", "qrels.txt"]
    done = evenrank("rerank", "bm25.trec", "--with", "Oracle | DetCons@5", *options)
    assert done.code == 0
    assert [line.split()[2] for line in done.out.splitlines()[:6]] == list("zabxcy")
    turned = evenrank("rerank", "bm25.trec", "--with", "DetCons@5 | Oracle", *options)
    assert [line.split()[2] for line in turned.out.splitlines()[:6]] == list("zaxbyc")


def test_stdout_is_a_run(evenrank: Evenrank) -> None:
    done = evenrank("rerank", "bm25.trec", "--with", "Oracle", "--qrels", "qrels.txt")
    Path("piped.trec").write_text(done.out)
    assert er.read_run("piped.trec").documents("q2") == list("eabcdx")
    assert done.out.splitlines()[0] == "q1 Q0 z 1 6.0 bm25+Oracle"


def test_with_words(evenrank: Evenrank) -> None:
    scan_file("documents.tsv", er.read_lexicon("gender-en"), "counts.parquet")
    done = evenrank(
        "rerank", "bm25.trec", "--with", "Neutral(band=None)", "--words", "counts.parquet", "-o", "n.parquet"
    )
    assert done.code == 0
    assert er.read_run("n.parquet").documents("q1") == list("xyzabc")


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
    Path("run.csv").write_text("topic,doc,sim\nq1,a,2\nq1,z,1\n")
    done = evenrank(
        "rerank", "run.csv", "--with", "Oracle", "--qrels", "qrels.txt", "--columns",
        "query=topic,document=doc,score=sim",
    )  # fmt: skip
    assert [line.split()[2] for line in done.out.splitlines()] == ["z", "a"]


def test_a_run_on_stdout_by_its_name(evenrank: Evenrank) -> None:
    wanted = evenrank("rerank", "bm25.trec", "--with", "Random")
    done = evenrank("rerank", "bm25.trec", "--with", "Random", "-o", "-")
    assert (done.code, done.out) == (0, wanted.out)
    assert not Path("-").exists()


def test_a_folder_of_draws_is_whole_or_not_there(evenrank: Evenrank, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of six draws would be taken for all of them."""
    import evenrank.io as package

    command = ("rerank", "bm25.trec", "--with", "Random(seed=4)", "--repeat", "6", "-o", "draws")
    real, written = package.write_run, []

    def fail(draw: object, path: Path, **options: object) -> None:
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(path)
        real(draw, path, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(package, "write_run", fail)
        assert evenrank(*command).code == 130
    assert len(written) == 2
    assert not Path("draws").exists()

    def second(draw: object, path: Path, **options: object) -> None:
        if not written:
            written.append(path)
            assert main(list(command)) == 1  # another writer while this one is at work
        real(draw, path, **options)  # type: ignore[arg-type]

    written.clear()
    with monkeypatch.context() as patch:
        patch.setattr(package, "write_run", second)
        done = evenrank(*command)
    assert done.code == 0
    assert "draws: another process is writing it: wait for its end, or choose another name" in done.err
    assert len(list(Path("draws").iterdir())) == 6
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]
    assert evenrank(*command[:-1], ".").code == 2
    assert evenrank(*command[:-1], "-").code == 2


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


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["bm25.trec"], 2, "name a method: evenrank rerank RUN --with METHOD"),
        (["--with", "Random"], 2, "name a run: a file such as"),
        (["bm25.trec", "--with", "Nothing"], 2, "no reranker is called 'Nothing'"),
        (["bm25.trec", "--with", "DetCon"], 2, "did you mean DetCons"),
        (["bm25.trec", "--with", "DetCons(top=0)"], 2, "DetCons: top must be an integer >= 1"),
        (["bm25.trec", "--with", "DetCons"], 2, "DetCons"),
        (["bm25.trec", "--with", "Oracle"], 2, "Oracle needs judgements: pass --qrels FILE"),
        (["bm25.trec", "--with", "Random", "-o", "bm25.trec"], 2, "bm25.trec: is also an input"),
        (["bm25.trec", "--with", "Oracle", "--qrels", "qrels.txt", "-o", "qrels.txt"], 2, "is also an input"),
        (["bm25.trec", "--with", "Random", "--by", "x.csv"], 2, "--by is for the trade-off of several"),
        (["bm25.trec", "--with", "Random", "--repeat", "3"], 2, "name a folder for them"),
        (["bm25.trec", "--with", "Random", "--repeat", "0", "-o", "d"], 2, "must be an integer > 0"),
        (["bm25.trec", "--with", "Oracle", "--qrels", "qrels.txt", "--repeat", "3", "-o", "d"], 2, "leave"),
        (["bm25.trec", "--with", "SortBy", "--table", "x"], 2, "must be NAME=FILE"),
        (["bm25.trec", "--with", "SortBy", "--table", "g=groups.csv", "-o", "groups.csv"], 2, "an input"),
        (["bm25.trec", "--with", "Random", "--columns", "query=q"], 2, "--columns needs a table"),
        (["none.trec", "--with", "Random"], 1, "none.trec: no such file"),
        (["-", "--with", "Oracle", "--qrels", "-"], 2, "standard input (-) can stand for one file only"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(evenrank: Evenrank, arguments: list[str], code: int, says: str) -> None:
    before = sorted(Path().iterdir())
    old = Path("bm25.trec").read_bytes()
    done = evenrank("rerank", *arguments)
    assert (done.code, done.out) == (code, "")
    assert says in done.err
    assert sorted(Path().iterdir()) == before
    assert Path("bm25.trec").read_bytes() == old


def test_what_is_wrong_is_said_before_files_are_read(evenrank: Evenrank) -> None:
    Path("bm25.trec").write_text("broken\n")
    assert "no reranker is called" in evenrank("rerank", "bm25.trec", "--with", "Nothing").err
    assert (
        "name a folder for them" in evenrank("rerank", "bm25.trec", "--with", "Random", "--repeat", "2").err
    )


def test_the_list_has_all_of_them(evenrank: Evenrank) -> None:
    done = evenrank("rerank", "--with")
    assert (done.code, done.err) == (0, "")
    text = " ".join(done.out.split())
    for name, cls in all_rerankers().items():
        assert f"{name} {cls.summary()}" in text
        for field in cls.parameters():
            assert f"{field.name}={field.default!r} {field.metadata['meaning']}" in text
    assert max(map(len, done.out.splitlines())) <= 100


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
