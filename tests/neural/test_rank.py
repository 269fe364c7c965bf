"""A trained ranker as a re-ranker, in Python and on the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import evenrank as er
from evenrank.cli import main
from evenrank.errors import DataError, EvenrankWarning, MissingEvidenceError
from evenrank.neural import CrossEncoderRanker, NeuralReranker, PairTokens
from evenrank.neural.scoring import pair_scores, pair_vectors

pytestmark = pytest.mark.needs("torch")

VALUES = {"kin": ("neutral", "biased")}


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


def test_documents_are_ordered_by_the_rankers_score(ranker: Any, run: er.Run, planted: Any) -> None:
    method = NeuralReranker.of(ranker, planted.queries, planted.documents, batch=3)
    done = er.rerank(run, method)
    for query in run:
        scores = {
            d: slow_score(ranker, planted.queries[query], planted.documents[d]) for d in run.documents(query)
        }
        wanted = sorted(run.documents(query), key=lambda d: -scores[d])
        assert done.documents(query) == wanted
    assert done.name == "run+Neural"


def test_only_so_many_ranks_and_another_method_behind(ranker: Any, run: er.Run, planted: Any) -> None:
    method = NeuralReranker.of(ranker, planted.queries, planted.documents)
    top = er.rerank(run, method @ 3)
    for query in run:
        assert set(top.documents(query)[:3]) == set(run.documents(query)[:3])
        assert top.documents(query)[3:] == run.documents(query)[3:]
    assert (method @ 3).__repr__() == "Neural@3"
    chained = er.rerank(run, method | er.rerankers.parse_reranker("Oracle"), qrels=planted.qrels)
    first = {query: chained.documents(query)[0] for query in run}
    assert all(planted.qrels.to_dict()[query][document] == 1 for query, document in first.items())


def test_texts_that_are_missing_are_named(ranker: Any, run: er.Run, planted: Any) -> None:
    texts = {name: text for name, text in planted.documents.items() if not name.endswith("-2")}
    with pytest.raises(
        MissingEvidenceError, match=r"7 ranked documents have no text: 'q1-2', 'q2-2', 'q3-2', \.\.\.;"
    ):
        er.rerank(run, NeuralReranker.of(ranker, planted.queries, texts))
    er.rerank(run, NeuralReranker.of(ranker, planted.queries, texts) @ 2)  # they are below
    with pytest.raises(MissingEvidenceError, match="8 ranked queries have no text"):
        er.rerank(run, NeuralReranker.of(ranker, {}, planted.documents))


def test_odd_texts_are_ranked(ranker: Any) -> None:
    run = er.read_run({"q": {"empty": 3.0, "long": 2.0, "other": 1.0}, "void": {"empty": 1.0}})
    texts = {"empty": "", "long": "moon " * 20_000, "other": "月は \U0001f319 луна \x00"}
    done = er.rerank(run, NeuralReranker.of(ranker, {"q": "moon " * 5_000, "void": ""}, texts))
    assert sorted(done.documents("q")) == ["empty", "long", "other"]


def test_scores_come_back_in_order(ranker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["moon " * length for length in np.random.default_rng(0).integers(0, 15, 37)]
    tokens = PairTokens(
        ranker.tokenizer, lambda rows: (["star"] * len(rows), [texts[r] for r in rows]), 37, 24
    )
    pairs = np.random.default_rng(1).permutation(37)
    seen: list[tuple[int, int]] = []
    whole = pair_scores(ranker, tokens, pairs, batch=37)
    pieces = pair_scores(ranker, tokens, pairs, batch=4, progress=lambda *at: seen.append(at))
    np.testing.assert_allclose(whole, pieces, atol=1e-5)
    np.testing.assert_allclose(whole, [slow_score(ranker, "star", texts[p]) for p in pairs], atol=1e-5)
    assert seen[-1] == (37, 37)
    assert pair_vectors(ranker, tokens, pairs[:5]).shape == (5, 16)
    assert pair_scores(ranker, tokens, pairs[:0]).shape == (0,)
    encode, sizes = ranker.encode, []

    def scarce(batch: Any) -> Any:
        sizes.append(len(batch["input_ids"]))
        if sizes[-1] > 8:
            raise torch.OutOfMemoryError("out of memory")
        return encode(batch)

    monkeypatch.setattr(ranker, "encode", scarce)
    with pytest.warns(EvenrankWarning) as said:
        np.testing.assert_allclose(whole, pair_scores(ranker, tokens, pairs, batch=32), atol=1e-5)
    assert sizes[:3] == [32, 16, 8]
    assert [str(w.message) for w in said] == [
        f"scoring: out of memory; {n} pairs at once from here" for n in (16, 8)
    ]


def test_scores_that_are_not_finite_order_nothing(
    ranker: Any, run: er.Run, planted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = ranker.encode
    monkeypatch.setattr(ranker, "encode", lambda batch: encode(batch) * float("nan"))
    with pytest.raises(DataError, match="57 of 57 scores are not finite"):
        er.rerank(run, NeuralReranker.of(ranker, planted.queries, planted.documents))


def test_tokens_need_not_be_held(ranker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = lambda rows: (["star"] * len(rows), [f"moon {'river ' * int(r)}" for r in rows])  # noqa: E731
    held = PairTokens(ranker.tokenizer, texts, 9, 24)
    monkeypatch.setattr("evenrank.neural.tokens.KEEP", 4)
    made = PairTokens(ranker.tokenizer, texts, 9, 24)
    rows = np.array([3, 0, 8, 3])
    one, other = held.batch(rows), made.batch(rows)
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
    np.testing.assert_allclose(pair_scores(ranker, made, rows), pair_scores(ranker, held, rows), atol=1e-5)


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: object) -> SimpleNamespace:
        code = main([str(argument) for argument in arguments])
        said = capfd.readouterr()
        return SimpleNamespace(code=code, out=said.out, err=said.err)

    return call


@pytest.fixture
def files(tmp_path: Path, planted: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    from evenrank.io import write_qrels

    write_qrels(planted.qrels, "qrels.txt")
    for name, texts in (("queries", planted.queries), ("docs", planted.documents)):
        Path(f"{name}.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in texts.items()))
    lists = {query: {f"{query}-{n}": -float(n) for n in range(8)} for query in planted.queries}
    er.write_run(er.read_run(lists), "bm25.trec")
    Path("kin.csv").write_text("word,group\nhe,m\nhis,m\nshe,f\nher,f\n")
    return tmp_path


PROJECT = """
[data]
qrels = "qrels.txt"
queries = "queries.tsv"
documents = "docs.tsv"
[[debias.attributes]]
name = "kin"
lexicon = "kin.csv"
[debias.model]
encoder = "{checkpoint}"
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
run = "bm25.trec"
queries = "queries.tsv"
"""


def test_train_rank_and_select_from_a_shell(command: Any, files: Path, checkpoint: Path) -> None:
    shutil.copytree(checkpoint, "bert")
    Path("evenrank.toml").write_text(PROJECT.format(checkpoint="bert"))
    done = command("debias")  # which needs no option in a project folder
    assert (done.code, done.out) == (0, ""), done.err
    assert done.err.startswith("evenrank: project file: evenrank.toml (--no-project ignores it)\n")
    assert done.err.endswith("evenrank: wrote 5 rankers into models\n")
    assert "Loading weights" not in done.err
    assert command("debias").code == 0  # it was finished
    again = command("debias", "--set", "joint.epochs=2")
    assert (again.code, "was begun with another joint.epochs" in again.err) == (2, True)
    Path("fewer.txt").write_text("".join(Path("qrels.txt").read_text().splitlines(True)[:-9]))
    again = command("debias", "--qrels", "fewer.txt")
    assert (again.code, "was begun with other judgements, queries, documents or lexicons" in again.err) == (
        2,
        True,
    )
    name = "lambda-1/checkpoint-02"
    arguments = ["--queries", "queries.tsv", "--documents", "docs.tsv"]
    model = f"models/{name}"
    done = command("rerank", "bm25.trec", "--with", f"{model}:device=cpu", *arguments, "-o", "neural.trec")
    assert done.code == 0, done.err
    assert er.read_run("neural.trec") == er.read_run(f"models/{name}/run.trec")
    assert Path("neural.trec").read_text().splitlines()[0].endswith(f" bm25+{name}")
    out = command("rerank", "bm25.trec", "--with", f"{model}:depth=2", *arguments, "--tag", "mine")
    assert out.code == 0
    assert out.out.splitlines()[0].endswith(" mine")
    rows = [line.split("\t") for line in Path("queries.tsv").read_text().splitlines()]
    Path("q.csv").write_text("query,asked\n" + "".join(f"{query},{text}\n" for query, text in rows))
    arguments[1] = "q.csv"
    named = command(
        "rerank", "bm25.trec", "--with", model, *arguments, "--columns", "text=asked", "-o", "c.trec"
    )
    assert named.code == 0, named.err
    assert er.read_run("c.trec") == er.read_run("neural.trec")
    er.scan("docs.tsv", er.read_lexicon("kin.csv"), "counts.parquet")
    done = command(
        "select", "models", "--qrels", "qrels.txt", "--words", "counts.parquet", "--background",
        "bm25.trec", "--relevance", "nDCG@5", "--fairness", "NFaiRR@5", "--beta", "0,1,inf",
        "--format", "tsv",
    )  # fmt: skip
    assert done.code == 0, done.err
    rows = [line.split("\t") for line in done.out.splitlines()]
    assert [row[0] for row in rows[-3:]] == ["0", "1", "inf"]
    assert "base" in done.out
    Path("models/lambda-1/checkpoint-01/run.trec").unlink()
    done = command("select", "models", "--qrels", "qrels.txt", "--relevance", "RR", "--fairness", "P@5")
    assert (done.code, "lambda-1/checkpoint-01 has no run.trec" in done.err) == (1, True)


def test_bad_command_lines(command: Any, files: Path, checkpoint: Path) -> None:
    done = command("debias", "--queries", "queries.tsv")
    assert done.code == 2
    assert done.err == (
        "evenrank: debias learns from judgements, queries and documents: give --qrels, --documents, or "
        "qrels, documents in [data] of a project file (or examples.triples in [debias])\n"
    )
    data = ["--qrels", "qrels.txt", "--queries", "queries.tsv", "--documents", "docs.tsv"]
    Path("bad.toml").write_text("[debias.tun]\n")
    done = command("debias", "--project", "bad.toml", *data, "-o", "x")
    assert (done.code, done.err.splitlines()[-1]) == (
        1,
        "evenrank: bad.toml: debias.tun: there is no such key; did you mean tune?",
    )
    done = command("debias", *data, "--set", "training.device", "-o", "x")
    assert (done.code, done.err) == (
        2,
        "evenrank: a key is set by KEY=VALUE, as training.device=cuda, got 'training.device'\n",
    )
    rest = ["--queries", "queries.tsv", "--documents", "docs.tsv"]
    done = command("rerank", "bm25.trec", "--with", "no/where", *rest)
    assert (
        done.code,
        "'no/where' is neither a re-ranker nor the folder of a trained ranker" in done.err,
    ) == (2, True)
    done = command("rerank", "bm25.trec", "--with", str(files), *rest)
    assert (done.code, "this folder holds no ranker (it has no ranker.json)" in done.err) == (1, True)
    Path("adv.toml").write_text(PROJECT.format(checkpoint=checkpoint))
    done = command("debias", "--project", "adv.toml", "-o", "y", "--set", "training.device=tpu")
    assert (done.code, "device 'tpu' cannot be used here" in done.err) == (2, True)
    short = [word for stage in ("tune", "adversary", "joint") for word in ("--set", f"{stage}.epochs=0")]
    done = command("debias", "--project", "adv.toml", *short, "-o", "adv", "--seed", "3")
    assert (done.code, done.err.splitlines()[-1]) == (0, "evenrank: wrote 1 ranker into adv")
    assert Path("adv/base/ranker.json").is_file()
    assert json.loads(Path("adv/config.json").read_text())["seed"] == 3
    done = command("select", "--relevance", "RR", "--fairness", "P@5")
    assert (done.code, done.err) == (
        2,
        "evenrank: name a run: a file such as bm25.trec, or `runs` in the project file\n",
    )


def test_texts_are_scrubbed_before_they_are_ranked(command: Any, files: Path, ranker: Any) -> None:
    """As if the words had never been there; the documents themselves stay as they are."""
    ranker.save("model")
    texts = ["--queries", "queries.tsv", "--documents", "docs.tsv", "-o"]
    assert command("rerank", "bm25.trec", "--with", "model:scrub=kin.csv", *texts, "scrubbed.trec").code == 0
    assert command("rerank", "bm25.trec", "--with", "model", *texts, "plain.trec").code == 0
    group = {"he", "his", "she", "her"}
    rows = [line.split("\t") for line in Path("docs.tsv").read_text().splitlines()]
    left = [(name, " ".join(word for word in text.split() if word not in group)) for name, text in rows]
    Path("docs.tsv").write_text("".join(f"{name}\t{text}\n" for name, text in left))
    assert command("rerank", "bm25.trec", "--with", "model", *texts, "expected.trec").code == 0
    expected, found, plain = (
        er.read_run(f"{name}.trec").to_dict() for name in ("expected", "scrubbed", "plain")
    )
    assert {query: list(found[query]) for query in found} == {
        query: list(expected[query]) for query in expected
    }
    assert {query: list(plain[query]) for query in plain} != {query: list(found[query]) for query in found}


def test_the_keys_are_listed(command: Any) -> None:
    done = command("debias", "--set")
    assert done.code == 0
    assert "joint.strengths = (0.1, 0.2" in done.out
