"""Runs and re-rankers side by side within a loss: what is chosen, what is possible, and what it needs."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from sample_inputs import bm25_run

import evenrank as er
from evenrank import Inputs, write_run
from evenrank.comparison.candidates import candidates
from evenrank.comparison.optimal import optimal_reference
from evenrank.errors import ParameterError
from evenrank.sample import load

Evenrank = Callable[..., SimpleNamespace]
METHODS = ["Penalty(lam={0,0.5})", "Neutral(band=50)"]
MEASURES = {"fairness": "NFaiRR@10", "relevance": "nDCG@10"}


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    sample = load()
    counts = er.scan(list(sample.documents.items()), "gender-en")
    return Inputs.of({"bm25": bm25_run()}, qrels=sample.qrels, words=counts)


def test_each_candidate_is_what_its_run_scores(inputs: Inputs) -> None:
    found = candidates(inputs, METHODS, **MEASURES, loss=0.01)
    assert [row.name for row in found.rows] == [
        "bm25", "Penalty(lam=0)", "Penalty(lam=0.5)", "Neutral(band=50)"
    ]  # fmt: skip
    own = inputs.runs["bm25"]
    reference = optimal_reference(inputs.with_known(background=own), **MEASURES, loss=0.01)
    lists = {"bm25": own} | {row.name: er.rerank(inputs, row.name) for row in found.rows[1:]}
    scores = er.evaluate(inputs.with_runs(lists).with_known(background=own), "NFaiRR@10 nDCG@10").to_dict()
    for row in found.rows:
        fair, useful = (list(scores[row.name][measure].values()) for measure in ("NFaiRR@10", "nDCG@10"))
        assert row.fairness == pytest.approx(statistics.mean(fair))
        assert row.relevance == pytest.approx(statistics.mean(useful))
        change = statistics.mean(useful) - statistics.mean(list(scores["bm25"]["nDCG@10"].values()))
        assert row.change.difference == pytest.approx(change)
        assert (row.within == "no") == (change < -0.01)
        if row.name != "bm25" and row.within != "no":
            possible = reference.bound - reference.fairness
            assert row.share == pytest.approx((row.fairness - reference.fairness) / possible)
            assert row.share <= 1
    assert found.rows[1].share == pytest.approx(0)  # the order as it was
    assert found.rows[2].needs == "the scores of the run, counts at index time"
    assert found.rows[3].within == "no"  # far down the list for neutral documents


def test_the_answer_names_the_candidate_to_take(inputs: Inputs) -> None:
    def answer(loss: float, *methods: str) -> str:
        return candidates(inputs, methods, **MEASURES, loss=loss).to_table().title

    three = "Penalty(lam={0.2,0.5,1})"
    take, surely = "Penalty(lam=1)", "Penalty(lam=0.5)"
    assert answer(0.02, three).index(take) < answer(0.02, three).index(surely)
    assert take in answer(0.2, three)
    assert surely not in answer(0.2, three)  # what gains most keeps within it surely
    assert surely in answer(0.01, surely)
    none = answer(0.01, "Neutral(band=50)", "Penalty(lam=0)")
    assert "bm25" in none
    assert "Penalty" not in none


def test_what_reads_the_judgements_that_score_it_is_never_the_answer(inputs: Inputs, tmp_path: Path) -> None:
    """Oracle gains most, whether it is a re-ranker here, a run, or a file that was written of it."""
    methods = {"fairness": "nDCG@5", "relevance": "nDCG@10"}
    oracle = er.rerank(inputs, "Oracle")
    write_run(oracle, tmp_path / "fairer.trec")
    runs = {"bm25": inputs.runs["bm25"], "given": oracle.renamed("given")}
    runs["file"] = er.read_run(tmp_path / "fairer.trec")
    assert [run.reads_judgements for run in runs.values()] == [False, True, True]
    known = inputs.with_runs(runs).with_known(background=runs["bm25"])
    table = candidates(known, ["Oracle | Penalty(lam=0.5)", "Penalty(lam=0.5)"], **methods, loss=0.5)
    leaking = {"given", "file", "Oracle | Penalty(lam=0.5)"}
    assert {row.name for row in table.rows if row.informed} == leaking
    assert not {row.name for row in table.rows if row.front} & leaking
    assert not any(name in table.to_table().title for name in leaking)
    records = table.to_table().to_records()
    assert {record["candidate"] for record in records if record["reads_judgements"]} == leaking
    # measures without judgements are not those that it has read
    assert not er.evaluate(known, "NFaiRR@10").informed
    (tmp_path / "fairer.trec").write_text("q1 Q0 d 1 1 x\n")  # it is another run now
    assert not er.read_run(tmp_path / "fairer.trec").reads_judgements


@pytest.mark.parametrize(("measures", "informed"), [("nDCG@10 NFaiRR@10", True), ("NFaiRR@10", False)])
def test_what_reads_the_judgements_is_said_and_never_marked_as_the_best(
    inputs: Inputs, measures: str, informed: bool
) -> None:
    """Oracle has the highest nDCG by far. Where judgements score nothing, it is a run like any other."""
    own, fairer = inputs.runs["bm25"], er.rerank(inputs, "Penalty(lam=0.5)")
    runs = {"bm25": own, "fairer": fairer, "oracle": er.rerank(inputs, "Oracle")}
    scores = er.evaluate(inputs.with_runs(runs).with_known(background=own), measures)
    best = {}
    for name in measures.split():
        values = {run: scores.mean(name, run) for run in runs if run != "oracle" or not informed}
        best[name] = f"{max(values.values()):.4f}"
    latex = scores.to_table().to_latex()
    assert re.findall(r"\\textbf\{([^}]*)\}", latex) == [best[name] for name in measures.split()]
    for text in (repr(scores), repr(er.compare(scores))):
        assert ("reads the judgements" in text) == informed


@pytest.mark.parametrize("kept", [False, True])
def test_no_beta_chooses_what_reads_the_judgements(inputs: Inputs, tmp_path: Path, kept: bool) -> None:
    own, fairer = inputs.runs["bm25"], er.rerank(inputs, "Penalty(lam=0.5)")
    runs = {"bm25": own, "fairer": fairer, "oracle": er.rerank(inputs, "Oracle")}
    scores = er.evaluate(inputs.with_runs(runs).with_known(background=own), "nDCG@10 NFaiRR@10")
    if kept:
        scores.write(tmp_path / "scores.jsonl")
        scores = er.Scores.read(tmp_path / "scores.jsonl")
    named = {"relevance": "nDCG@10", "fairness": "NFaiRR@10"}
    found = er.select(scores, **named)
    assert {name for row in found.rows for name in (row.chosen, *row.by_fold)} <= {"bm25", "fairer"}
    assert [bound.name for bound in found.bounds] == ["oracle"]
    assert found.bounds[0].values["nDCG@10"] == pytest.approx(scores.mean("nDCG@10", "oracle"))
    records = found.to_table().to_records()
    assert [record["chosen"] for record in records if record["reads_judgements"]] == ["oracle"]
    assert "oracle" in repr(found)
    with pytest.raises(ParameterError, match="oracle"):
        er.select(scores, **named, baseline="oracle")


def test_the_share_is_of_the_queries_that_the_bound_is_of(inputs: Inputs) -> None:
    few = set(sorted(inputs.runs["bm25"].query_ids)[:8])
    rows = [(q, d, g) for q, own in inputs.qrels.to_dict().items() if q in few for d, g in own.items()]
    partly = inputs.with_known(qrels=er.Qrels.build(*map(list, zip(*rows, strict=True))))
    found = candidates(partly, ["Penalty(lam={0.2,0.5,1})"], **MEASURES, loss=0.5)
    assert found.reference is not None
    assert 0 < found.reference.queries <= 8
    own, reference = inputs.runs["bm25"], found.reference
    for row in found.rows[1:]:
        lists = er.rerank(inputs, row.name)
        scores = er.evaluate(lists, "NFaiRR@10", words=inputs.words, background=own).to_dict()
        values = next(iter(scores.values()))["NFaiRR@10"]
        gain = statistics.mean(values[query] for query in reference.query_ids) - reference.fairness
        assert row.share == pytest.approx(gain / (reference.bound - reference.fairness))
        assert 0 < row.share <= 1
    record = found.to_table().to_records()[0]
    assert record["within"] == ""


def test_measures_without_a_reference_say_so(inputs: Inputs) -> None:
    found = candidates(inputs, METHODS, fairness="NFaiRR@10", relevance="RR", loss=0.01)
    assert found.reference is None
    assert "share of the possible gain: not computed: the optimal reference keeps nDCG" in repr(found)


@pytest.mark.parametrize(
    ("methods", "message"), [(["Random"], "leaves something to chance"), (["Nobody"], "Nobody")]
)
def test_what_is_no_candidate(inputs: Inputs, methods: list[str], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        candidates(inputs, methods, **MEASURES, loss=0.01)


def test_the_command_takes_runs_and_methods(
    evenrank: Evenrank, inputs: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sample = load()
    write_run(inputs.runs["bm25"], "bm25.trec")
    write_run(er.rerank(inputs, "Neutral(band=3)"), "band3.trec")
    er.scan(list(sample.documents.items()), "gender-en", "counts.parquet")
    qrels = Path(er.__file__).parent / "sample/qrels.txt"
    known = ("--qrels", str(qrels), "--words", "counts.parquet", "--fairness", "NFaiRR@10")
    given = ("select", "bm25.trec", "band3.trec", "Penalty(lam={0.2,0.5})@20", *known, "--background", "bm25")
    outcome = evenrank(*given, "--relevance", "nDCG@10:loss=0.02", "--format", "jsonl")
    assert outcome.code == 0, outcome.err
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    names = ["bm25", "band3", "Penalty(lam=0.2)@20", "Penalty(lam=0.5)@20"]
    assert [row["candidate"] for row in rows] == names
    assert {row["loss"] for row in rows} == {0.02}
    assert [row["query time"] for row in rows] == ["that of the run"] * 2 + ["a sort of each list"] * 2
    chosen = evenrank(*given, "--relevance", "nDCG@10", "--folds", "2")  # by beta, as runs are
    assert chosen.code == 0, chosen.err
    assert "Penalty(lam=0.5)@20" in chosen.out
    for option in (("--also", "RR"), ("--beta", "1"), ("--folds", "3"), ("--alpha", "0.1")):
        ignored = evenrank(*given, "--relevance", "nDCG@10:loss=0.02", *option)
        assert (ignored.code, f"{option[0]}: part of the choice by beta" in ignored.err) == (2, True)
    bad = evenrank(*given, "--relevance", "nDCG@10:loss=x")
    assert (bad.code, "loss must be a number >= 0, got 'x'" in bad.err) == (2, True)


def test_the_command_marks_what_reads_the_judgements_also_in_files(
    evenrank: Evenrank, inputs: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_run(inputs.runs["bm25"], "bm25.trec")
    er.scan(list(load().documents.items()), "gender-en", "counts.parquet")
    known = ("--qrels", str(Path(er.__file__).parent / "sample/qrels.txt"))
    assert evenrank("rerank", "bm25.trec", "--with", "Oracle", *known, "-o", "fairer.trec").code == 0
    given = ("select", "bm25.trec", "fairer.trec", "Oracle", "Penalty(lam=0.5)", *known, "--words")
    rest = ("counts.parquet", "--background", "bm25", "--fairness", "NFaiRR@10", "--format", "jsonl")
    for relevance, name in (("nDCG@10", "chosen"), ("nDCG@10:loss=0.5", "candidate")):
        outcome = evenrank(*given, *rest, "--relevance", relevance)
        assert outcome.code == 0, outcome.err
        rows = [json.loads(line) for line in outcome.out.splitlines()]
        assert {row[name] for row in rows if row["reads_judgements"]} == {"fairer", "Oracle"}
        assert not any(row.get("acceptable") or row.get("front") for row in rows if row["reads_judgements"])


def test_trained_rankers_and_erasers_say_what_they_need(
    evenrank: Evenrank, inputs: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_run(inputs.runs["bm25"], "bm25.trec")
    erased = {"system": "Dense(model='minilm',eraser='g.safetensors')", "class": "dense"}
    for file, record in (("erased.trec", erased), ("plain.trec", {"system": "BM25", "class": "lexical"})):
        write_run(er.rerank(inputs, "Neutral(band=3)"), file)
        Path(f"{file}.system.json").write_text(json.dumps(record))
    ranker = {"name": "lambda-1/checkpoint-01", "strength": 1, "checkpoint": 1, "step": 9, "validation": None}
    folder = Path("trained") / str(ranker["name"])
    folder.mkdir(parents=True)
    Path("trained/variants.jsonl").write_text(json.dumps(ranker) + "\n")
    write_run(er.rerank(inputs, "Neutral(band=10)"), folder / "run.trec")
    er.scan(list(load().documents.items()), "gender-en", "counts.parquet")
    qrels = Path(er.__file__).parent / "sample/qrels.txt"
    outcome = evenrank(
        "select", "bm25.trec", "erased.trec", "plain.trec", "trained", "Penalty(lam=0.5)",
        "--qrels", str(qrels),
        "--words", "counts.parquet", "--fairness", "NFaiRR@10", "--background", "bm25",
        "--relevance", "nDCG@10:loss=0.02", "--format", "jsonl",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    assert {row["candidate"]: (row["query time"], row["needs"]) for row in rows} == {
        "bm25": ("that of the run", "a run"),
        "erased": ("a search by a dense system", "vectors, labels of documents"),
        "plain": ("a search by a lexical system", "an index"),
        "lambda-1/checkpoint-01": ("a model for each document", "training, texts"),
        "Penalty(lam=0.5)": ("a sort of each list", "the scores of the run, counts at index time"),
    }


def test_the_guide_of_mitigations_has_the_cost_that_select_names(inputs: Inputs) -> None:
    page = Path(__file__).resolve().parents[2] / "docs/guides/mitigation.md"
    (row,) = (line for line in page.read_text("utf-8").splitlines() if line.startswith("| **Penalty**"))
    found = candidates(inputs, ["Penalty(lam=0.2)"], **MEASURES, loss=0.01)
    assert f"as a re-ranker, {found.rows[1].query_time} |" in row


def test_the_advice_comes_first_and_one_table_fits_eighty_columns(inputs: Inputs) -> None:
    table = candidates(
        inputs, ["Penalty(lam={0.2,0.5})", "Neutral(band=3)"], **MEASURES, loss=0.01
    ).to_table()
    lines = table.to_text(80).splitlines()
    assert lines[0].startswith("Take ")
    assert sum(line.startswith("candidate") for line in lines) == 1
    assert max(map(len, lines)) <= 80
    # what is the same for several candidates is said once, and not in a column
    told = " ".join(line.strip() for line in lines)
    assert (
        "Penalty(lam=0.2), Penalty(lam=0.5): at query time a sort of each list; needs the scores of the run, "
        "counts at index time" in told
    )


def test_a_misspelt_reranker_is_no_file(
    evenrank: Evenrank, inputs: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    known = ("--qrels", str(Path(er.__file__).parent / "sample/qrels.txt"), "--relevance", "nDCG@10:loss=0.5")
    write_run(inputs.runs["bm25"], "bm25.trec")
    write_run(er.rerank(inputs, "Neutral(band=3)"), "run(1).trec")
    runs, rest = ("select", "bm25.trec", "run(1).trec"), (*known, "--fairness", "nDCG@5", "--format", "jsonl")
    assert evenrank(*runs, *rest).code == 0
    for typed, named in (("Penalt(lam=0.5)", "Penalty"), ("Penalt", "Penalt")):
        wrong = evenrank(*runs, typed, *rest)
        assert wrong.code in (1, 2)
        assert "Penalt" in wrong.err
        assert named in wrong.err
