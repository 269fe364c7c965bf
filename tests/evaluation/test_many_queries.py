"""Runs of very many queries: nothing is done query by query in Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from counting import python_calls

import evenrank

MEASURES = ["nDCG@10", "RR@10", "GF(attr='size',missing='uniform')@10", "AWRF(attr='size',missing='drop')@10"]


def make_files(folder: Path, queries: int) -> tuple[Path, Path, Path]:
    """The judgements are of other queries, too, lack some, and have another order than the run."""
    generator = np.random.default_rng(0)
    run, qrels, groups = (folder / f"{queries}{name}" for name in (".trec", ".qrels", ".csv"))
    documents = generator.integers(0, 90, (queries + 9, 4)) + 100 * np.arange(4)
    with run.open("w") as file:
        for query in range(queries):
            file.writelines(f"q{query} Q0 d{d} 1 {9 - r} t\n" for r, d in enumerate(documents[query]))
    with qrels.open("w") as file:
        judged = generator.permutation(np.arange(9, queries + 9))
        file.writelines(f"q{query} 0 d{documents[query, query % 4]} {query % 3}\n" for query in judged)
    with groups.open("w") as file:
        file.writelines(["document,size\n", *(f"d{d},{'abc'[d % 3]}\n" for d in range(0, 500, 2))])
    return run, qrels, groups


def scored(files: tuple[Path, Path, Path]) -> evenrank.Scores:
    run, qrels, groups = files
    sizes = evenrank.read_groups(groups, "size", column="size")
    scores = evenrank.evaluate(
        evenrank.read_run(run), MEASURES, qrels=evenrank.read_qrels(qrels, format="trec"), groups=sizes
    )
    assert scores.mean("nDCG@10") > 0
    return scores


def test_ten_times_the_queries_take_no_more_calls(tmp_path: Path) -> None:
    few, many = make_files(tmp_path, 200), make_files(tmp_path, 2000)
    scored(few)  # what is imported and computed once
    calls = python_calls(lambda: scored(few))
    assert python_calls(lambda: scored(many)) < calls + 500


def test_many_queries_are_scored_as_each_alone(tmp_path: Path) -> None:
    files = make_files(tmp_path, 40)
    whole = scored(files).to_dict()["40"]
    run, qrels = evenrank.read_run(files[0]), evenrank.read_qrels(files[1], format="trec")
    for query in qrels.query_ids:
        lists = run.select([query])
        if len(lists):
            alone = evenrank.evaluate(lists, "nDCG@10", qrels={query: qrels.to_dict()[query]})
            np.testing.assert_equal(alone.block("nDCG@10").values[0, 0], whole["nDCG@10"][query])
        else:
            assert whole["nDCG@10"][query] == 0 or np.isnan(whole["nDCG@10"][query])
