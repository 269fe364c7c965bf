"""Group fairness on a large run, side by side with the tools that people use today.

    python benchmarks/groups.py --write

All variants of GF for three attributes are set against pytrec_eval's nDCG@10 on the same run, and NDKL
against FairRankTune's on the same lists. One process does each in turn, round after round, so that all
of them meet the same machine; the medians are compared. NDKL must agree, or nothing is reported.
"""

from __future__ import annotations

import argparse
import cProfile
import math
import pstats
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np
from common import timed, write_table
from runs import make_files

import evenrank

HERE = Path(__file__).parent
ATTRIBUTES = {
    "gender": (("f", "m"), False),
    "region": (("africa", "america", "asia", "europe", "oceania"), False),
    "reviews": (("0", "1-10", "11-100", "more"), True),
}
DECAYS = ("ERR", "RBP", "log2")


def variants(cutoff: int | None) -> list[str]:
    """Every divergence that suits the attribute, every decay: 21 of them."""
    at = "" if cutoff is None else f"@{cutoff}"
    return [
        f"GF(attr='{name}',div='{div}',decay='{decay}'){at}"
        for name, (values, ordinal) in ATTRIBUTES.items()
        for div in ("JSD", "NMD", "RNOD")
        if div == "JSD" or ordinal or len(values) == 2
        for decay in DECAYS
    ]


def make_groups(run_path: Path) -> Path:
    """A label of each attribute for every document of the run, always the same."""
    path = run_path.with_name(run_path.stem + "-groups.parquet")
    if path.exists():
        return path
    import pyarrow as pa
    import pyarrow.parquet

    documents = evenrank.read_run(run_path).doc_ids.unique()
    generator = np.random.default_rng(1)
    columns: dict[str, Any] = {"document": documents}
    for name, (values, _) in ATTRIBUTES.items():
        labels = generator.choice(len(values), len(documents), p=generator.dirichlet(np.full(len(values), 3)))
        columns[name] = pa.array(values).take(pa.array(labels))
    pa.parquet.write_table(pa.table(columns), path)
    return path


def read_groups(path: Path) -> list[Any]:
    return [
        evenrank.read_groups(path, name, column=name, values=values, ordinal=ordinal)
        for name, (values, ordinal) in ATTRIBUTES.items()
    ]


def pytrec_score(run: Any, qrels: Any) -> float:
    import pytrec_eval

    results = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(run)
    return float(np.mean([row["ndcg_cut_10"] for row in results.values()]))


def pytrec_read(run_path: Path, qrels_path: Path) -> tuple[Any, Any]:
    import pytrec_eval

    with run_path.open() as run_file, qrels_path.open() as qrels_file:
        return pytrec_eval.parse_run(run_file), pytrec_eval.parse_qrel(qrels_file)


def means(measures: list[str], run: Any, qrels: Any, groups: Any) -> list[float]:
    scores = evenrank.evaluate(run, measures, qrels=qrels, groups=groups)
    return [scores.mean(measure) for measure in measures]


def group_fairness(run_path: Path, qrels_path: Path, groups_path: Path, rounds: int) -> dict[str, float]:
    shallow, deep = variants(10), variants(None)
    rows: dict[str, list[float]] = {}

    def note(what: str, seconds: float) -> None:
        rows.setdefault(what, []).append(seconds)
        print(f"{what}: {seconds:.3f} s", file=sys.stderr)

    for number in range(rounds):
        reading, (run, qrels) = timed(lambda: pytrec_read(run_path, qrels_path))
        scoring, _ = timed(lambda run=run, qrels=qrels: pytrec_score(run, qrels))
        note("pytrec_eval: nDCG@10", scoring)
        note("pytrec_eval: nDCG@10", timed(lambda run=run, qrels=qrels: pytrec_score(run, qrels))[0])
        if number:  # the first round warms up
            note("pytrec_eval: file to score", reading + scoring)
        del run, qrels
        reading, loaded = timed(
            lambda: (evenrank.read_run(run_path), evenrank.read_qrels(qrels_path), read_groups(groups_path))
        )
        first, _ = timed(lambda loaded=loaded: means(shallow, *loaded))
        if number:
            note("evenrank: read", reading)
            note("evenrank: file to score", reading + first)
        for _ in range(3):
            note("evenrank: nDCG@10", timed(lambda loaded=loaded: ndcg(*loaded))[0])
            note("evenrank: GF@10", timed(lambda loaded=loaded: means(shallow, *loaded))[0])
        first, _ = timed(lambda loaded=loaded: means(deep, *loaded))  # makes an index of all documents
        note("evenrank: GF, the first time", first)
        if number:
            note("evenrank: file to score, whole lists", reading + first)
        for _ in range(2):
            note("evenrank: GF", timed(lambda loaded=loaded: means(deep, *loaded))[0])
        del loaded
    return {what: statistics.median(seconds) for what, seconds in rows.items()}


def ndcg(run: Any, qrels: Any, groups: Any) -> float:
    return float(evenrank.evaluate(run, "nDCG@10", qrels=qrels).mean("nDCG@10"))


def ndkl(run_path: Path, groups_path: Path, lists: int, rounds: int) -> dict[str, float]:
    """The attribute of five values, the target the shares of the whole list, as FairRankTune has it."""
    import pandas as pd
    import pyarrow.parquet
    from FairRankTune.Metrics import NDKL

    whole = evenrank.read_run(run_path)
    run = whole.select(whole.query_ids[:lists])
    everything = read_groups(groups_path)[1].with_target("pool")
    table = pyarrow.parquet.read_table(groups_path, columns=["document", "region"])
    wanted = set(run.doc_ids.to_pylist())
    labels = {
        document: label
        for document, label in zip(table["document"].to_pylist(), table["region"].to_pylist(), strict=True)
        if document in wanted
    }
    groups = evenrank.Membership.build(everything.attribute, list(labels), list(labels.values()))
    frames = {query: pd.DataFrame({query: run.documents(query)}) for query in run.query_ids}

    def ours(run: Any, groups: Any) -> Any:
        return evenrank.evaluate(run, "NDKL", groups=groups, background=run, background_depth=run.depth)

    times: dict[str, list[float]] = {"FairRankTune": [], "evenrank": [], "evenrank, all lists": []}
    for number in range(rounds):
        seconds, theirs = timed(lambda: {query: NDKL(frame, labels) for query, frame in frames.items()})
        times["FairRankTune"].append(seconds)
        own = [timed(lambda: ours(run, groups)) for _ in range(5)]
        times["evenrank"] += [seconds for seconds, _ in own[1 if number == 0 else 0 :]]
        times["evenrank, all lists"].append(timed(lambda: ours(whole, everything))[0])
        found = own[-1][1].to_dict()[run.name]["NDKL"]
        worst = max(abs(found[query] - value) for query, value in theirs.items())
        if not worst < 1e-5:  # they add 1e-7 to every share
            raise SystemExit(f"NDKL differs from FairRankTune's by {worst}")
        print({name: round(row[-1], 4) for name, row in times.items()}, file=sys.stderr)
    medians = {name: statistics.median(row) for name, row in times.items()}
    per_list = medians["evenrank, all lists"] / len(whole)
    return {
        **medians,
        "ratio": medians["FairRankTune"] / medians["evenrank"],
        "ratio, all lists": medians["FairRankTune"] / lists / per_list,
    }


def page(gf: dict[str, float], kl: dict[str, float], lists: int, depth: int, queries: int) -> str:
    base, from_files = "pytrec_eval: nDCG@10", "pytrec_eval: file to score"
    rows = [
        f"| {queries:,} queries x {depth:,} documents | seconds | of pytrec_eval's time |",
        "|---|---:|---:|",
    ]
    for what, label, against in (
        (base, "pytrec_eval-terrier, nDCG@10", base),
        ("evenrank: nDCG@10", "evenrank, nDCG@10", base),
        ("evenrank: GF@10", "evenrank, 21 variants of GF@10", base),
        ("evenrank: GF", "evenrank, 21 variants of GF, whole lists", base),
        ("evenrank: GF, the first time", "the same, index of the documents included", base),
        (from_files, "pytrec_eval-terrier, nDCG@10 from files", from_files),
        ("evenrank: file to score", "evenrank, 21 variants of GF@10 from files, groups too", from_files),
        ("evenrank: file to score, whole lists", "the same, whole lists", from_files),
    ):
        rows.append(f"| {label} | {gf[what]:.3f} | {gf[what] / gf[against]:.3g} |")
    rows += [
        "",
        f"| NDKL of {lists:,} lists of {depth:,} documents, five groups | seconds | times faster |",
        "|---|---|---|",
        f"| FairRankTune | {kl['FairRankTune']:.2f} | 1 |",
        f"| evenrank, the same lists | {kl['evenrank']:.4f} | {kl['ratio']:.0f} |",
        f"| evenrank, all {queries:,} lists | {kl['evenrank, all lists']:.3f} "
        f"| {kl['ratio, all lists']:.0f} a list |",
    ]
    return "\n".join(rows) + "\n"


def profile(run_path: Path, qrels_path: Path, groups_path: Path) -> None:
    """Where the time goes at full depth."""
    loaded = evenrank.read_run(run_path), evenrank.read_qrels(qrels_path), read_groups(groups_path)
    means(variants(10), *loaded)
    for cutoff in (10, None):
        profiler = cProfile.Profile()
        profiler.runcall(means, variants(cutoff), *loaded)
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(18)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--queries", type=int, default=7000)
    parser.add_argument("--depth", type=int, default=1000)
    parser.add_argument("--lists", type=int, default=200, help="how many FairRankTune gets")
    parser.add_argument("--rounds", type=int, default=4, help="at least 2; the first warms up")
    parser.add_argument("--profile", action="store_true", help="print where the time goes, measure nothing")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/groups.md")
    options = parser.parse_args()
    run, qrels = make_files(HERE / "work", options.queries, options.depth)
    groups = make_groups(run)
    if options.profile:
        profile(run, qrels, groups)
        return
    lists = min(options.lists, options.queries)
    kl = ndkl(run, groups, lists, max(2, math.ceil(options.rounds / 2)))
    gf = group_fairness(run, qrels, groups, options.rounds)
    tables = page(gf, kl, lists, options.depth, options.queries)
    print(tables)
    if options.write:
        write_table(__file__, tables)


if __name__ == "__main__":
    main()
