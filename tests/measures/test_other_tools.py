"""Equal to trec_eval and ndeval, query by query."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyndeval
import pytest
import pytrec_eval

from evenrank import DiversityQrels, Run, evaluate, read_qrels, read_run

TREC_EVAL = {
    "nDCG": "ndcg",
    "nDCG@5": "ndcg_cut_5",
    "nDCG@10": "ndcg_cut_10",
    "nDCG@1000": "ndcg_cut_1000",
    "P@5": "P_5",
    "P@10": "P_10",
    "R@10": "recall_10",
    "R@100": "recall_100",
    "RR": "recip_rank",
    "AP": "map",
    "AP@10": "map_cut_10",
}
PASSAGE, TOUCHE = "data/msmarco_trecdl", "data/touche22_task2"


def real_runs(shared: Path) -> list[tuple[Path, Path]]:
    passage, touche = shared / PASSAGE, shared / TOUCHE
    pairs = [(run, passage / "qrels.dl19-passage.txt") for run in passage.glob("runs_cpjku_dl19fair/*.run")]
    for year in ("dl19", "dl20"):
        pairs += [
            (run, passage / f"qrels.{year}-passage.txt")
            for run in passage.glob(f"runs_rankllm/*.{year}.trec")
        ]
    pairs += [(run, touche / "qrels/touche-task2-2022-relevance.qrels") for run in touche.glob("runs/*.txt")]
    return pairs


@pytest.mark.parametrize("rel", [1, 2])
def test_trec_eval_on_all_real_runs(shared: Path, rel: int) -> None:
    pairs = real_runs(shared)
    assert len(pairs) == 22 + 21
    judgements = {path: read_qrels(path) for _, path in pairs}
    evaluators = {
        path: pytrec_eval.RelevanceEvaluator(
            {query: {d: max(g, 0) for d, g in inner.items()} for query, inner in qrels.to_dict().items()},
            {"ndcg", "ndcg_cut", "P", "recall", "recip_rank", "map", "map_cut"},
            relevance_level=rel,
        )
        for path, qrels in judgements.items()
    }
    names = {
        name
        if rel == 1 or name.startswith("nDCG")
        else name.replace("@", f"(rel={rel})@")
        if "@" in name
        else f"{name}(rel={rel})": trec
        for name, trec in TREC_EVAL.items()
    }
    compared = 0
    for path, qrels_path in pairs:
        run = read_run(path)
        # trec_eval sorts by 32-bit scores: give it our order, so that values and not ties are compared
        by_rank = {q: {d: -float(rank) for rank, d in enumerate(run.documents(q))} for q in run.query_ids}
        theirs = evaluators[qrels_path].evaluate(by_rank)
        ours = evaluate(run, list(names), qrels=judgements[qrels_path])
        for name, trec in names.items():
            block = ours.block(name)
            for query, value, status in zip(
                block.query_ids, block.values[:, 0], block.status[:, 0], strict=True
            ):
                expected = theirs.get(query, {}).get(trec, 0.0)
                if status == 0:
                    assert abs(value - expected) <= 1e-6, (path.name, name, query)
                    compared += 1
                else:
                    assert block.reasons[status] == "no relevant document"
                    assert expected == 0.0
    assert compared > 20_000


def test_published_table_3(shared: Path) -> None:
    """nfairc-advbert-2021, Table 3, TREC DL columns: MRR, nDCG@10, recall@10."""
    published = {
        "BM25": (0.850, 0.534, 0.133),
        "RM3": (0.841, 0.556, 0.141),
        "match_pyramid": (0.961, 0.578, 0.136),
        "knrm": (0.849, 0.552, 0.137),
        "conv_knrm": (0.877, 0.595, 0.144),
        "bert_L2": (0.939, 0.684, 0.150),
        "advbert_L2": (0.917, 0.645, 0.144),
        "bert_L4": (0.933, 0.672, 0.154),
        "advbert_L4": (0.903, 0.636, 0.140),
    }  # all rows but TK, whose published run is another than the one in the table
    folder = shared / PASSAGE
    queries = [
        line.split("\t")[0]
        for line in (folder / "trecdeep19_passage.fair.tsv").read_text().splitlines()
        if line
    ]
    qrels = read_qrels(folder / "qrels.dl19-passage.txt")
    for system, values in published.items():
        run = read_run(folder / f"runs_cpjku_dl19fair/{system}.run")
        scores = evaluate(run, "RR(rel=1) nDCG@10 R(rel=1)@10", qrels=qrels, queries=queries)
        means = [scores.mean(measure) for measure in scores.measures]
        assert [round(mean, 3) for mean in means] == list(values), system


NDEVAL = {
    "alpha_nDCG@5": "alpha-nDCG@5",
    "alpha_nDCG@10": "alpha-nDCG@10",
    "ERR_IA@5": "ERR-IA@5",
    "ERR_IA@10": "ERR-IA@10",
    "NRBP": "NRBP",
}


def test_ndeval_on_generated_judgements() -> None:
    generator = np.random.default_rng(7)
    judgements: list[tuple[str, str, str, int]] = []
    ranked: list[tuple[str, str, float]] = []
    for number in range(60):
        query, documents = str(100 + number), [f"doc{i:03d}" for i in range(40)]
        for intent in range(int(generator.integers(1, 7))):
            for document in generator.choice(
                documents, int(generator.integers(1, 15)), replace=False
            ).tolist():
                judgements.append((query, str(intent + 1), document, int(generator.integers(0, 2))))
        order = generator.permutation(documents)[: int(generator.integers(3, 40))].tolist()
        ranked += [(query, document, -float(rank)) for rank, document in enumerate(order)]
    run = Run.build(*map(list, zip(*ranked, strict=True)))
    qrels = DiversityQrels.build(*map(list, zip(*judgements, strict=True)))
    scores = evaluate(run, list(NDEVAL), intents=qrels)
    theirs = pyndeval.ndeval(
        [pyndeval.SubtopicQrel(*row) for row in judgements],
        [pyndeval.ScoredDoc(*row) for row in ranked],
        measures=list(NDEVAL.values()),
    )
    for ours, name in NDEVAL.items():
        block = scores.block(ours)
        defined = 0
        for query, value, status in zip(block.query_ids, block.values[:, 0], block.status[:, 0], strict=True):
            if status == 0:
                assert value == pytest.approx(theirs[query][name], abs=1e-6), (query, name)
                defined += 1
        assert defined >= 55


def test_intent_recall_is_ndevals_where_every_intent_is_served() -> None:
    """strec divides by intents with a relevant document, ours by all: equal where all have one."""
    rows = [("1", "a", "x", 1), ("1", "b", "y", 1), ("1", "c", "z", 1), ("2", "a", "x", 1)]
    ranked = [("1", "y", 3.0), ("1", "x", 2.0), ("1", "w", 1.0), ("2", "w", 1.0)]
    scores = evaluate(
        Run.build(*map(list, zip(*ranked, strict=True))),
        "I_rec@5",
        intents=DiversityQrels.build(*map(list, zip(*rows, strict=True))),
    )
    theirs = pyndeval.ndeval(
        [pyndeval.SubtopicQrel(*row) for row in rows],
        [pyndeval.ScoredDoc(*row) for row in ranked],
        measures=["strec@5"],
    )
    assert scores.to_dict()["run"]["I_rec@5"] == pytest.approx({q: v["strec@5"] for q, v in theirs.items()})


def test_err_is_gdevals() -> None:
    """gdeval fixes the largest grade at 4 and prints five decimals; one list worked by hand."""
    run = Run.build(["1"] * 3, ["a", "b", "c"], [3.0, 2.0, 1.0])
    value = evaluate(run, "ERR(max_grade=4)@20", qrels={"1": {"a": 1, "b": 4, "c": 2}}).mean(
        "ERR(max_grade=4)@20"
    )
    first, second, third = 1 / 16, 15 / 16, 3 / 16
    by_hand = first + (1 - first) * second / 2 + (1 - first) * (1 - second) * third / 3
    assert value == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.skipif(
    shutil.which("perl") is None, reason="gdeval is a Perl program, and perl is not installed"
)
def test_err_is_what_gdeval_prints() -> None:
    import ir_measures
    from ir_measures.providers.gdeval_provider import GdevalProvider

    draw = np.random.default_rng(0)
    qrels = {str(q): {f"d{n}": int(draw.integers(0, 5)) for n in range(30)} for q in range(1, 5)}
    run = {
        q: {str(d): -float(r) for r, d in enumerate(draw.permutation(list(own)))} for q, own in qrels.items()
    }
    theirs = {
        found.query_id: found.value
        for found in GdevalProvider().iter_calc([ir_measures.ERR @ 20], qrels, run)
    }
    ours = evaluate(run, "ERR(max_grade=4)@20", qrels=qrels).block("ERR(max_grade=4)@20")
    assert len(theirs) == 4
    assert dict(zip(ours.query_ids, ours.values[:, 0].tolist(), strict=True)) == pytest.approx(
        theirs, abs=0.5e-5 + 1e-9
    )
