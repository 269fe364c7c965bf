"""The project file: found, named, overridden, refused; ``init`` writes one and ``doctor`` checks it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import evenrank as er

Evenrank = Callable[..., SimpleNamespace]

PROJECT = """
baseline = "dense"

[data]
runs = ["*.trec"]
qrels = "qrels.txt"
queries = "asked.csv"

[groups]
side = "sides.csv"

[targets]
side = {left = 0.5, right = 0.5}

[measures]
use = ["RR", "GF@2"]
labels = {"RR" = "Rank", "P@1" = "Precision"}
"""


@pytest.fixture
def project(files: Path) -> Path:
    """The runs bm25 and dense with judgements, and a project file that names everything."""
    (files / "asked.csv").write_text("query,text,topic\nq1,what is a,x\nq2,what is c,y\nq99,nothing,y\n")
    documents = sorted(
        set(er.read_run("bm25.trec").doc_ids.to_pylist() + er.read_run("dense.trec").doc_ids.to_pylist())
    )
    rows = [f"{name},{'left' if place % 2 else 'right'}\n" for place, name in enumerate(documents)]
    (files / "sides.csv").write_text("document,side\n" + "".join(rows))
    (files / "evenrank.toml").write_text(PROJECT)
    return files


def test_commands_need_no_options(evenrank: Evenrank, project: Path) -> None:
    done = evenrank("evaluate")
    assert done.code == 0, done.err
    assert done.err.startswith("evenrank: project file: evenrank.toml (--no-project ignores it)\n")
    assert "asked.csv: 1 query is in no run and not judged, and not scored" in done.err
    assert all(word in done.out for word in ("bm25", "dense", "Rank", "GF@2"))
    compared = evenrank("compare")
    assert compared.code == 0
    assert "(baseline)" in next(line for line in compared.out.splitlines() if line.startswith("dense"))
    assert evenrank("explain", "bm25", "--worst", "1").code == 0


def test_the_file_is_the_same_as_the_options(evenrank: Evenrank, project: Path) -> None:
    spelled = evenrank(
        "evaluate", "bm25.trec", "dense.trec", "--qrels", "qrels.txt", "--queries", "asked.csv", "--groups",
        "side=sides.csv", "--target", "side=left:0.5,right:0.5", "-m", "RR GF@2", "--no-project",
        "--format", "jsonl",
    )  # fmt: skip
    ours = evenrank("evaluate", "--format", "jsonl")
    values = [
        [line.split('"value": ')[1].split(",")[0] for line in done.out.splitlines()]
        for done in (spelled, ours)
    ]
    assert values[0] == values[1] != []


def test_options_go_first(evenrank: Evenrank, project: Path) -> None:
    done = evenrank("evaluate", "bm25.trec", "-m", "P@1")
    assert "dense" not in done.out
    assert "Precision" in done.out
    assert "nothing is known about the documents" in evenrank("evaluate", "bm25.trec", "--no-project").err
    by = evenrank("evaluate", "bm25", "-m", "RR", "--by", "topic")
    assert by.code == 0
    assert {"x", "y"} <= {line.split()[0] for line in by.out.splitlines()}


def test_the_baseline_of_the_file_belongs_to_its_runs(evenrank: Evenrank, project: Path) -> None:
    (project / "third.trec").write_text((project / "bm25.trec").read_text())
    done = evenrank("compare", "bm25", "third.trec", "-m", "RR")
    assert done.code == 0, done.err
    assert "(baseline)" in next(line for line in done.out.splitlines() if line.startswith("bm25"))


def test_the_background_of_the_file_may_be_a_run_that_is_not_asked_for(
    evenrank: Evenrank, project: Path
) -> None:
    (project / "evenrank.toml").write_text(PROJECT.replace("[data]", '[data]\nbackground = "dense:depth=2"'))
    (project / "words.csv").write_text("word,group\nshe,f\nhe,m\n")
    (project / "texts.tsv").write_text("".join(f"{name}\tshe is here\n" for name in "abcde"))
    assert evenrank("scan", "texts.tsv", "--lexicon", "words.csv", "-o", "counts.parquet").code == 0
    done = evenrank(
        "evaluate",
        "bm25",
        "-m",
        "FaiRR@2 NFaiRR@2",
        "--words",
        "counts.parquet",
        "--missing",
        "neutral",
        "--notes",
    )
    assert "background: run 'dense', 2 documents deep" in done.err, done.err


def test_a_parent_folder_is_not_looked_at(
    evenrank: Evenrank, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "below").mkdir()
    monkeypatch.chdir(project / "below")
    assert "name a run" in evenrank("evaluate").err
    named = evenrank("evaluate", "--project", "../evenrank.toml")
    assert (named.code, "project file: ../evenrank.toml\n" in named.err) == (0, True)


@pytest.mark.parametrize("entry", ["ir_datasets:msmarco-passage", "https://example.org/docs.jsonl"])
def test_a_file_that_was_only_found_causes_no_request(evenrank: Evenrank, project: Path, entry: str) -> None:
    (project / "evenrank.toml").write_text(
        f"{PROJECT}\n[report]\n".replace("[data]", f'[data]\ndocuments = "{entry}"')
    )
    done = evenrank("evaluate")
    assert done.code == 2
    assert "data.documents" in done.err


def test_a_file_that_was_only_found_writes_nothing_elsewhere(evenrank: Evenrank, project: Path) -> None:
    (project / "evenrank.toml").write_text(PROJECT + '\n[report]\noutput = "../elsewhere.html"\n')
    assert "report.output" in evenrank("report").err
    assert not (project.parent / "elsewhere.html").exists()


def test_every_problem_is_listed_at_once(evenrank: Evenrank, project: Path) -> None:
    (project / "evenrank.toml").write_text(
        '[data]\nrunss = "x"\nqrels = "gone.txt"\n[measure]\n[report]\ntitel = "x"\n'
    )
    found = evenrank("evaluate")
    assert found.code == 1
    named = [line for line in found.err.splitlines() if "evenrank.toml: " in line]
    assert [line.split("evenrank.toml: ")[1].partition(":")[0] for line in named] == [
        "data.runss", "report.titel", "measure",
    ]  # fmt: skip
    (project / "evenrank.toml").write_text(
        '[data]\nruns = ["bm25.trec", "gone.trec"]\nqrels = "gone.txt"\n[groups]\nside = "sides.csv:ordnal"\n'
    )
    done = evenrank("doctor")
    assert done.code == 1
    problems = [line for line in done.out.splitlines() if line.startswith("problem: ")]
    assert len(problems) == 3
    assert "'ordnal'" in problems[0]


def test_doctor_tells_what_entries_became(evenrank: Evenrank, project: Path) -> None:
    done = evenrank("doctor")
    assert done.code == 0, done.out
    out = " ".join(done.out.split())
    for line in ("run bm25 ", "judgements ", "groups side right 3, left 2", "target 0.5000, 0.5000"):
        assert line in out


def test_doctor_tells_what_entries_became_though_the_gate_is_wrong(evenrank: Evenrank, project: Path) -> None:
    (project / "evenrank.toml").write_text(PROJECT + '\n[gate.measures."nDCG@10"]\nalowed = 1\n')
    done = evenrank("doctor")
    assert done.code == 1
    assert "run bm25 " in done.out
    assert "gate.measures.nDCG@10.alowed: there is no such key; did you mean allowed" in done.out


def test_doctor_misses_runs(evenrank: Evenrank, project: Path) -> None:
    qrels = PROJECT[PROJECT.index("qrels") :].partition("\n")[0]
    (project / "evenrank.toml").write_text(f"[data]\n{qrels}\n")
    done = evenrank("doctor")
    assert (done.code, "all is well" in done.out) == (1, False)
    assert 'problem: evenrank.toml: names no run: write runs = ["runs/*.trec"] under [data]\n' in done.out
    (project / "evenrank.toml").write_text(f"[data]\n{qrels}\n[debias.joint]\nepochs = 1\n")
    assert evenrank("doctor").code == 0  # rankers are trained without a run


def test_what_the_file_says_of_others_is_no_error(evenrank: Evenrank, project: Path) -> None:
    """Rules, targets and labels of the file apply where they can."""
    text = PROJECT.replace("[data]", '[data]\nmissing = "drop"').replace(
        "[measures]", "[measures]\ncutoffs = [1, 2]"
    )
    (project / "evenrank.toml").write_text(text)
    done = evenrank("evaluate", "-m", "RR@3", "--groups", "other=sides.csv:column=side")
    assert done.code == 0, done.err
    assert "RR@3" in done.out or "Rank@3" in done.out


@pytest.mark.parametrize("documents", ["shards/", "shards/*.jsonl"])
def test_groups_are_fields_of_documents_in_several_files(
    evenrank: Evenrank, project: Path, documents: str
) -> None:
    (project / "shards").mkdir()
    for number, (name, side) in enumerate(
        zip("abcde", ["left", "right", "left", "right", "left"], strict=True)
    ):
        row = f'{{"id": "{name}", "text": "thing", "side": "{side}"}}\n'
        (project / f"shards/part-{number}.jsonl").write_text(row)
    text = PROJECT.replace("[data]", f'[data]\ndocuments = "{documents}"')
    (project / "evenrank.toml").write_text(text.replace('"sides.csv"', '"documents"'))
    done = evenrank("evaluate", "--notes")
    assert done.code == 0, done.err
    assert "left (3), right (2)" in done.err
    checked = evenrank("doctor")
    assert checked.code == 0, checked.out + checked.err


def test_init_takes_a_folder_of_documents_as_one(evenrank: Evenrank, files: Path) -> None:
    (files / "shards").mkdir()
    for number in range(8):
        row = f'{{"id": "p{number}", "text": "thing", "size": "{"small" if number % 2 else "large"}"}}\n'
        (files / f"shards/part-{number}.jsonl").write_text(row)
    done = evenrank("init")
    parts = ", ".join(f"shards/part-{number}.jsonl" for number in range(4))
    assert f'documents = "shards/"  # or {parts} and 4 more\n' in done.out
    assert 'size = "documents"' in done.out
    checked = evenrank("doctor")
    assert (checked.code, "8 files (jsonl)" in checked.out) == (0, True), checked.out


def test_init_writes_what_doctor_accepts(evenrank: Evenrank, files: Path) -> None:
    (files / "products.jsonl").write_text(
        "".join(
            f'{{"id": "p{n}", "text": "thing", "size": "{"small" if n % 2 else "large"}"}}\n'
            for n in range(8)
        )
    )
    done = evenrank("init")
    assert done.code == 0
    assert 'documents = "products.jsonl"' in done.out
    assert 'size = "documents"' in done.out
    assert 'qrels = "qrels.txt"' in done.out
    checked = evenrank("doctor")
    assert checked.code == 0, checked.out
    assert all(f"run {name} " in " ".join(checked.out.split()) for name in ("bm25", "dense"))
    assert "the baseline is 'bm25', because its file is the first of 2 runs in alphabetical order" in done.err
    again = evenrank("init")
    assert (again.code, "exists already" in again.err) == (1, True)


def test_the_worst_lists_are_the_worst(evenrank: Evenrank, project: Path) -> None:
    scores = er.evaluate("bm25.trec", "RR", qrels="qrels.txt").to_dict()["bm25"]["RR"]
    assert len(set(scores.values())) > 1
    done = evenrank(
        "explain", "bm25.trec", "--worst", "1", "-m", "RR", "--qrels", "qrels.txt", "--no-project"
    )
    listed = er.read_run("bm25.trec").query_ids  # q4 is judged and has no list
    worst = min((query for query in listed if query in scores), key=lambda query: (scores[query], query))
    assert f"of query {worst!r}" in done.out


def test_a_file_may_have_an_equals_sign_in_its_name(evenrank: Evenrank, project: Path) -> None:
    (project / "a=b.trec").write_text((project / "bm25.trec").read_text())
    done = evenrank(
        "evaluate", "a=b.trec", "--qrels", "qrels.txt", "-m", "RR", "--format", "tsv", "--no-project"
    )
    assert done.code == 0, done.err
    assert "a=b" in done.out


def test_explain_takes_the_run_that_is_not_the_baseline(evenrank: Evenrank, project: Path) -> None:
    done = evenrank("explain", "--worst", "1", "-m", "RR")
    assert done.code == 0, done.err
    assert "explaining bm25, the run that is not the baseline" in done.err
    assert done.out == evenrank("explain", "bm25", "--worst", "1", "-m", "RR").out
    (project / "evenrank.toml").write_text(PROJECT.replace('baseline = "dense"', ""))
    open_question = evenrank("explain", "--worst", "1")
    assert (
        open_question.code,
        "say whose lists to explain: evenrank explain bm25 .." in open_question.err,
    ) == (
        2,
        True,
    )


def test_categories_mean_nothing_for_one_list(evenrank: Evenrank, project: Path) -> None:
    done = evenrank("explain", "bm25", "--query", "q1", "--by", "topic")
    assert (done.code, "--by splits the results of many queries" in done.err) == (2, True)


@pytest.mark.parametrize("command", ["compare", "audit", "evaluate", "doctor"])
def test_a_target_of_misspelt_groups_is_named(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert evenrank("init", "--demo").code == 0
    text = Path("evenrank.toml").read_text(encoding="utf-8")
    Path("evenrank.toml").write_text(
        text.replace('author = "catalogue"', 'autor = "equal"'), encoding="utf-8"
    )
    found = evenrank(command)
    assert found.code in (1, 2)
    assert "targets.autor" in found.out + found.err
    assert "author?" in found.out + found.err
