"""A trained ranker as a re-ranker and as a second look of a system, in Python and on the command line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from small_trainers import VALUES

import evenrank as er
from evenrank import DataError, EvenrankWarning, MissingEvidenceError
from evenrank.neural import CrossEncoderRanker, NeuralReranker
from evenrank.rerankers import parse_reranker
from evenrank.systems import BM25, make_system

pytestmark = pytest.mark.needs("torch")

Evenrank = Callable[..., Any]


@pytest.fixture(scope="module")
def ranker(checkpoint: Path) -> CrossEncoderRanker:
    return CrossEncoderRanker.start(str(checkpoint), VALUES, max_length=24).eval()


@pytest.fixture
def run(planted: Any) -> er.Run:
    lists = {query: {f"{query}-{n}": -float(n) for n in range(8)} for query in planted.queries}
    lists["q0"] = {"q0-1": 1.0}  # a short list
    return er.read_run(lists)


def slow_score(ranker: CrossEncoderRanker, query: str, text: str) -> float:
    """One pair alone, without padding."""
    tokens = ranker.tokenizer([query], [text], truncation=True, max_length=24, return_tensors="pt")
    with torch.no_grad():
        first = ranker.encoder(**tokens).last_hidden_state[0, 0]
        return float(ranker.relevance.weight[0] @ first + ranker.relevance.bias[0])


@pytest.mark.parametrize("batch", [3, 64])
def test_documents_are_ordered_by_the_rankers_score(
    ranker: Any, run: er.Run, planted: Any, batch: int
) -> None:
    told: list[tuple[int, int]] = []
    method = NeuralReranker.of(
        ranker, planted.queries, planted.documents, batch=batch, progress=lambda *at: told.append(at)
    )
    done = er.rerank(run, method)
    for query in run:
        scores = {
            d: slow_score(ranker, planted.queries[query], planted.documents[d]) for d in run.documents(query)
        }
        wanted = sorted(run.documents(query), key=lambda d: -scores[d])
        assert done.documents(query) == wanted
    assert done.name == "run+Neural"
    assert told[-1] == (57, 57)


def test_only_so_many_ranks_and_another_method_behind(ranker: Any, run: er.Run, planted: Any) -> None:
    method = NeuralReranker.of(ranker, planted.queries, planted.documents)
    top = er.rerank(run, method @ 3)
    for query in run:
        assert set(top.documents(query)[:3]) == set(run.documents(query)[:3])
        assert top.documents(query)[3:] == run.documents(query)[3:]
    chained = er.rerank(run, method | parse_reranker("Oracle"), qrels=planted.qrels)
    first = {query: chained.documents(query)[0] for query in run}
    assert all(planted.qrels.to_dict()[query][document] == 1 for query, document in first.items())


def test_texts_that_are_missing_are_named(ranker: Any, run: er.Run, planted: Any) -> None:
    texts = {name: text for name, text in planted.documents.items() if not name.endswith("-2")}
    with pytest.raises(MissingEvidenceError, match=r"7 ranked documents .*'q1-2', 'q2-2', 'q3-2'"):
        er.rerank(run, NeuralReranker.of(ranker, planted.queries, texts))
    er.rerank(run, NeuralReranker.of(ranker, planted.queries, texts) @ 2)  # they are below
    with pytest.raises(MissingEvidenceError, match="8 ranked queries"):
        er.rerank(run, NeuralReranker.of(ranker, {}, planted.documents))


def test_odd_texts_are_ranked(ranker: Any) -> None:
    run = er.read_run({"q": {"empty": 3.0, "long": 2.0, "other": 1.0}, "void": {"empty": 1.0}})
    texts = {"empty": "", "long": "moon " * 20_000, "other": "月は \U0001f319 луна \x00"}
    done = er.rerank(run, NeuralReranker.of(ranker, {"q": "moon " * 5_000, "void": ""}, texts))
    assert sorted(done.documents("q")) == ["empty", "long", "other"]


def test_too_little_memory_halves_what_is_scored_at_once(
    ranker: Any, run: er.Run, planted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = NeuralReranker.of(ranker, planted.queries, planted.documents, batch=32)
    expected, encode, sizes = er.rerank(run, method), ranker.encode, []

    def scarce(batch: Any) -> Any:
        sizes.append(len(batch["input_ids"]))
        if sizes[-1] > 8:
            raise torch.OutOfMemoryError("out of memory")
        return encode(batch)

    monkeypatch.setattr(ranker, "encode", scarce)
    with pytest.warns(EvenrankWarning) as said:
        found = er.rerank(run, method)
    assert all(found.documents(query) == expected.documents(query) for query in run)
    assert sizes[:3] == [32, 16, 8]
    assert len(said) == 2


def test_scores_that_are_not_finite_order_nothing(
    ranker: Any, run: er.Run, planted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = ranker.encode
    monkeypatch.setattr(ranker, "encode", lambda batch: encode(batch) * float("nan"))
    with pytest.raises(DataError, match="57 of 57 scores are not finite"):
        er.rerank(run, NeuralReranker.of(ranker, planted.queries, planted.documents))


@pytest.mark.needs("bm25s")
def test_a_folder_is_a_second_look_with_its_own_head(checkpoint: Path, tmp_path: Path) -> None:
    """It orders as ``NeuralReranker`` does; a second reading gives the same numbers."""
    documents = {"d1": "the mother said", "d2": "a father and a mother said", "d3": "said said", "d4": ""}
    queries = {"q1": "mother said", "q2": "father"}
    ranker = CrossEncoderRanker.start(str(checkpoint), VALUES, max_length=32, seed=3)
    ranker.save(tmp_path / "mine")
    first = BM25()
    first.index(documents)
    expected = er.rerank(first.retrieve(queries), NeuralReranker.of(ranker, queries, documents))
    runs = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        system = make_system(f"bm25>>{tmp_path / 'mine'}")
        system.index(documents)
        runs.append(system.retrieve(queries))
    assert system.name == "bm25>>mine"
    assert runs[0] == runs[1]
    assert {q: runs[0].documents(q) for q in queries} == {q: expected.documents(q) for q in queries}


PROJECT = """
[data]
qrels = "qrels.txt"
queries = "queries.tsv"
documents = "documents.tsv"
[[debias.attributes]]
name = "kin"
lexicon = "kin.csv"
[debias.model]
encoder = "bert"
max_length = 24
[debias.training]
device = "cpu"
batch = 16
[debias.tune]
epochs = 1
[debias.adversary]
epochs = 1
[debias.joint]
strengths = [0.5, 1]
epochs = 1
checkpoints = 2
[debias.evaluate]
run = "run.trec"
queries = "queries.tsv"
"""
TEXTS = ["--queries", "queries.tsv", "--documents", "documents.tsv"]


@pytest.fixture
def folder(files: Any, tmp_path: Path, checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of a training, and we stand among them."""
    shutil.copytree(checkpoint, tmp_path / "bert")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_train_rank_and_select_from_a_shell(evenrank: Evenrank) -> None:
    Path("evenrank.toml").write_text(PROJECT)
    done = evenrank("debias", "train")  # which needs no option in a project folder
    assert (done.code, done.out) == (0, ""), done.err
    assert "Loading weights" not in done.err
    names = ["base", *(f"lambda-{strength}/checkpoint-0{n}" for strength in ("0.5", "1") for n in (1, 2))]
    lines = Path("models/variants.jsonl").read_text().splitlines()
    assert [json.loads(line)["name"] for line in lines] == names
    assert evenrank("debias", "train").code == 0  # it was finished
    again = evenrank("debias", "train", "--set", "joint.epochs=2")
    assert (again.code, "joint.epochs" in again.err) == (2, True)
    Path("fewer.txt").write_text("".join(Path("qrels.txt").read_text().splitlines(True)[:-9]))
    again = evenrank("debias", "train", "--qrels", "fewer.txt")
    assert (again.code, "judgements" in again.err) == (2, True)
    model = f"models/{names[-1]}"
    done = evenrank("rerank", "run.trec", "--with", f"{model}:device=cpu", *TEXTS, "-o", "neural.trec")
    assert done.code == 0, done.err
    assert er.read_run("neural.trec") == er.read_run(f"{model}/run.trec")
    out = evenrank("rerank", "run.trec", "--with", f"{model}:depth=2", *TEXTS, "--tag", "mine")
    assert out.code == 0
    assert out.out.splitlines()[0].endswith(" mine")
    rows = [line.split("\t") for line in Path("queries.tsv").read_text().splitlines()]
    Path("q.csv").write_text("query,asked\n" + "".join(f"{query},{text}\n" for query, text in rows))
    Path("case.toml").write_text("data.queries = { file = 'q.csv', columns = { text = 'asked' } }")
    named = evenrank(
        "rerank", "run.trec", "--with", model, "--project", "case.toml", *TEXTS[2:],
        "-o", "c.trec",
    )  # fmt: skip
    assert named.code == 0, named.err
    assert er.read_run("c.trec") == er.read_run("neural.trec")
    er.scan("documents.tsv", er.read_lexicon("kin.csv"), "counts.parquet")
    done = evenrank(
        "select", "models", "--qrels", "qrels.txt", "--words", "counts.parquet", "--background", "run.trec",
        "--relevance", "nDCG@5", "--fairness", "NFaiRR@5", "--beta", "0,1,inf", "--format", "tsv",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert [line.split("\t")[0] for line in done.out.splitlines()[-3:]] == ["0", "1", "inf"]
    assert "base" in done.out
    Path("models/lambda-1/checkpoint-01/run.trec").unlink()
    done = evenrank("select", "models", "--qrels", "qrels.txt", "--relevance", "RR", "--fairness", "P@5")
    assert (done.code, "lambda-1/checkpoint-01" in done.err) == (1, True)


def test_bad_command_lines(evenrank: Evenrank, folder: Path) -> None:
    done = evenrank("debias", "train", *TEXTS[:2])
    assert done.code == 2
    assert "--qrels" in done.err
    assert "--documents" in done.err
    data = ["--qrels", "qrels.txt", *TEXTS]
    Path("bad.toml").write_text("[debias.tun]\n")
    done = evenrank("debias", "train", "--project", "bad.toml", *data, "-o", "x")
    assert (done.code, "bad.toml: debias.tun" in done.err) == (1, True)
    done = evenrank("debias", "train", *data, "--set", "training.device", "-o", "x")
    assert (done.code, "KEY=VALUE" in done.err) == (2, True)
    done = evenrank("rerank", "run.trec", "--with", "no/where", *TEXTS)
    assert (done.code, "'no/where'" in done.err) == (2, True)
    done = evenrank("rerank", "run.trec", "--with", folder, *TEXTS)
    assert (done.code, "ranker.json" in done.err) == (1, True)
    Path("adv.toml").write_text(PROJECT)
    done = evenrank("debias", "train", "--project", "adv.toml", "-o", "y", "--set", "training.device=tpu")
    assert (done.code, "'tpu'" in done.err) == (2, True)
    changes = ["tune.epochs=0", "adversary.epochs=0", "joint.epochs=0", "joint.schedule=linear",
               "joint.strengths=[0.25, 2]"]  # fmt: skip
    chosen = [word for change in changes for word in ("--set", change)]
    assert evenrank("debias", "train", "--project", "adv.toml", *chosen, "-o", "adv", "--seed", "3").code == 0
    assert Path("adv/base/ranker.json").is_file()
    about = json.loads(Path("adv/config.json").read_text())
    assert (about["seed"], about["joint"]["schedule"], about["joint"]["strengths"]) == (
        3,
        "linear",
        [0.25, 2],
    )
    for change in ("tune.stop_on=NFaiRR@10", "joint.stop_on=GFR@10"):
        done = evenrank("debias", "train", "--set", "examples.triples=t.tsv", "--set", change, "-o", "x")
        assert (done.code, f"{change.partition('=')[0]} = " in done.err) == (2, True)


@pytest.mark.usefixtures("folder")
def test_texts_are_scrubbed_before_they_are_ranked(evenrank: Evenrank, ranker: Any) -> None:
    """As if the words had never been there; the documents themselves stay as they are."""
    ranker.save("model")

    def ranked(method: str) -> dict[str, list[str]]:
        assert evenrank("rerank", "run.trec", "--with", method, *TEXTS, "-o", "out.trec").code == 0
        found = er.read_run("out.trec")
        return {query: found.documents(query) for query in found}

    scrubbed, plain = ranked("model:scrub=kin.csv"), ranked("model")
    group = {"he", "his", "she", "her"}
    rows = [line.split("\t") for line in Path("documents.tsv").read_text().splitlines()]
    left = [(name, " ".join(word for word in text.split() if word not in group)) for name, text in rows]
    Path("documents.tsv").write_text("".join(f"{name}\t{text}\n" for name, text in left))
    assert ranked("model") == scrubbed != plain
