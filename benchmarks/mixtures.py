"""Soft membership everywhere: every measure and re-ranker of groups on labels, and on mixtures.

    python benchmarks/mixtures.py --write

A label is one value for each document; a mixture is a share of every value, and all documents have another
one. The same lists get both. Beside them stands pytrec_eval's nDCG@10 on these lists. Processor time of this
process, the least of all rounds, which take turns; indexes of documents are made before.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from common import write_table

import evenrank as er
from evenrank.data.attribute import Attribute
from evenrank.errors import EvenrankError
from evenrank.measures import all_measures
from evenrank.measures.groups import GroupMeasure
from evenrank.rerankers import all_rerankers
from evenrank.rerankers.grouped import GroupReranker
from evenrank.rerankers.relevant import GroupRelevance

DEPTH = 100
VALUES = ("a", "b", "c", "d", "e")
PARAMETERS = {"FA_IR": "FA_IR(protected='a')"}


def make_inputs(queries: int) -> dict[str, Any]:
    """A run and judgements, with labels and mixtures of five and of two values for the same documents."""
    generator = np.random.default_rng(3)
    names = [f"q{query}" for query in range(queries) for _ in range(DEPTH)]
    documents = [f"d{row}" for row in range(len(names))]
    run = er.Run.build(names, documents, np.tile(-np.arange(DEPTH, dtype=float), queries))
    qrels = er.Qrels.build(names, documents, generator.integers(0, 3, len(names)))
    made: dict[str, Any] = {"run": run, "qrels": qrels}
    for size in (2, 5):
        attribute = Attribute("g", VALUES[:size])
        codes = generator.integers(0, size, len(names)).tolist()
        labels = [VALUES[code] for code in codes]
        made[f"labels {size}"] = er.Membership.build(attribute, documents, labels)
        shares = generator.dirichlet(np.ones(size), len(names))
        made[f"mixtures {size}"] = er.Membership.from_matrix(attribute, documents, shares)
    return made


def spent(action: Callable[[], Any]) -> float:
    gc.collect()
    begin = time.process_time()
    action()
    return time.process_time() - begin


def least(actions: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The least processor time of each, after one call that makes what is needed once."""
    found: dict[str, list[float]] = {}
    for number in range(rounds + 1):
        for name, action in actions.items():
            seconds = spent(action)
            if number:
                found.setdefault(name, []).append(seconds)
    return {name: min(seconds) for name, seconds in found.items()}


def pytrec_eval_of(made: dict[str, Any]) -> Callable[[], Any]:
    import pytrec_eval

    scores = range(DEPTH, 0, -1)
    run = {query: dict(zip(made["run"].documents(query), scores, strict=True)) for query in made["run"]}
    evaluator = pytrec_eval.RelevanceEvaluator(made["qrels"].to_dict(), {"ndcg_cut.10"})
    return lambda: evaluator.evaluate(run)


def measure_names() -> list[str]:
    return [name for name, kind in all_measures().items() if issubclass(kind, GroupMeasure)]


def reranker_names() -> list[str]:
    kinds = (GroupReranker, GroupRelevance)
    found = [name for name, kind in all_rerankers().items() if issubclass(kind, kinds)]
    return [PARAMETERS.get(name, name) for name in found]


def compare(name: str, made: dict[str, Any], rounds: int, *, reranker: bool) -> dict[str, float] | str:
    """Times on labels and mixtures, with five values, or two where it is for two alone; or why not."""

    def work(kind: str, size: int) -> Callable[[], Any]:
        known = {"qrels": made["qrels"], "groups": made[f"{kind} {size}"], "background": made["run"]}
        if reranker:
            del known["background"]
            return lambda: er.rerank(made["run"], name, **known)
        return lambda: er.evaluate(made["run"], name, **known)

    why = ""
    for size in (5, 2):
        try:
            for kind in ("labels", "mixtures"):
                work(kind, size)()
        except EvenrankError as error:
            why = str(error).partition("\n")[0]
            continue
        return least({kind: work(kind, size) for kind in ("labels", "mixtures")}, rounds)
    return why


def tables(queries: int, rounds: int) -> str:
    made = make_inputs(queries)
    peer = least({"peer": pytrec_eval_of(made)}, rounds)["peer"]
    lines = [
        f"{queries:,} lists of {DEPTH} documents, {rounds} rounds. pytrec_eval's nDCG@10 of them takes "
        f"{peer * 1000:.0f} ms.",
    ]
    for what, names, reranker in (
        ("measure", [f"{name}@{DEPTH}" for name in measure_names()], False),
        ("re-ranker", reranker_names(), True),
    ):
        lines += ["", f"| {what} | labels, ms | mixtures, ms | mixtures over labels | over nDCG@10 |"]
        lines += ["|---|---:|---:|---:|---:|"]
        left_out = []
        for name in names:
            found = compare(name, made, rounds, reranker=reranker)
            print(name, found, file=sys.stderr)
            if isinstance(found, str):
                left_out.append(f"{name} ({found})")
                continue
            labels, mixtures = found["labels"], found["mixtures"]
            ratios = f"{mixtures / labels:.2g} | {mixtures / peer:.2g}"
            lines.append(f"| {name} | {labels * 1000:.1f} | {mixtures * 1000:.1f} | {ratios} |")
        if left_out:
            lines += ["", f"Left out: {'; '.join(left_out)}."]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/mixtures.md")
    options = parser.parse_args()
    found = tables(options.queries, options.rounds)
    print(found)
    if options.write:
        write_table(__file__, found)


if __name__ == "__main__":
    main()
