"""Large inputs on one machine: what an earlier revision took, what this one takes, and a peer or the limit.

    python benchmarks/large_inputs.py REVISION [--rounds 2] [--only-work 'GF'] [--write]

Both revisions and the peer do the same work in turn, each time in a fresh process, round after round, so that
all of them meet the same machine. Compared is the least processor time of all rounds. Both revisions must
give the same numbers to twelve decimals, or nothing is reported.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from groups import ATTRIBUTES, make_groups, variants
from runs import make_files

HERE = Path(__file__).parent
QUERIES, DEPTH, LINES = 7000, 1000, 7_000_000
MANY, FEW_DOCUMENTS = 500_000, 10
DRAWS, DRAWN_QUERIES = 1000, 50

Made = tuple[Callable[[], Any], Callable[[Any], Any]]  # the work, and what of its outcome both must agree in


class Work(NamedTuple):
    """What is measured, and beside it what it is to be compared with."""

    title: str
    prepare: Callable[[Path], Made]
    peer_title: str
    peer: Callable[[Path], Made]


def large_files(folder: Path) -> tuple[Path, Path, Path]:
    run, qrels = make_files(folder, QUERIES, DEPTH)
    return run, qrels, make_groups(run)


def labels_csv(folder: Path) -> Path:
    path = folder / "region.csv"
    if not path.exists():
        import pyarrow.csv
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(large_files(folder)[2], columns=["document", "region"])
        quoting = pyarrow.csv.WriteOptions(quoting_style="none")
        pyarrow.csv.write_csv(table, path, quoting)
    return path


def many_queries(folder: Path) -> tuple[Path, Path]:
    """A run of half a million queries; judgements of nine in ten of them, in another order."""
    run, qrels = folder / f"many-{MANY}.trec", folder / f"many-{MANY}.qrels.txt"
    if not run.exists():
        generator = np.random.default_rng(0)
        documents = generator.integers(0, 1_000_000, (MANY, FEW_DOCUMENTS)) + 1_000_000 * np.arange(
            FEW_DOCUMENTS
        )
        with run.open("w") as file:
            for query, row in enumerate(documents.tolist()):
                file.writelines(f"q{query} Q0 {d} {r} {20 - r / 3:.4f} made\n" for r, d in enumerate(row, 1))
        judged = generator.permutation(MANY)[: MANY * 9 // 10].tolist()
        with qrels.open("w") as file:
            file.writelines(f"q{query} 0 {documents[query, query % FEW_DOCUMENTS]} 1\n" for query in judged)
    return run, qrels


def read_labels(path: Path) -> Made:
    import evenrank

    values, ordinal = ATTRIBUTES["region"]

    def work() -> Any:
        return evenrank.read_groups(path, "region", column="region", values=values, ordinal=ordinal)

    return work, lambda groups: groups.fingerprint


def read_run_lines(folder: Path) -> Made:
    import evenrank

    return lambda: evenrank.read_run(large_files(folder)[0]), lambda run: len(run)


def read_with_pytrec(folder: Path) -> Any:
    import pytrec_eval

    run, qrels, _ = large_files(folder)
    with run.open() as run_file, qrels.open() as qrels_file:
        return pytrec_eval.parse_run(run_file), pytrec_eval.parse_qrel(qrels_file)


def pytrec_score(loaded: Any) -> float:
    import pytrec_eval

    run, qrels = loaded
    results = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(run)
    return float(np.mean([row["ndcg_cut_10"] for row in results.values()]))


def read_all(folder: Path) -> Any:
    import evenrank

    run, qrels, groups = large_files(folder)
    read = [
        evenrank.read_groups(groups, name, column=name, values=values, ordinal=ordinal)
        for name, (values, ordinal) in ATTRIBUTES.items()
    ]
    return evenrank.read_run(run), evenrank.read_qrels(qrels), read


def scored(loaded: Any, cutoff: int | None) -> list[float]:
    import evenrank

    run, qrels, groups = loaded
    measures = variants(cutoff)
    scores = evenrank.evaluate(run, measures, qrels=qrels, groups=groups)
    return [round(scores.mean(measure), 12) for measure in measures]


def whole_lists(folder: Path) -> Made:
    loaded = read_all(folder)
    return lambda: scored(loaded, None), repr


def with_pytrec(folder: Path) -> Made:
    loaded = read_with_pytrec(folder)
    return lambda: pytrec_score(loaded), repr


def file_to_scores(run: Path, qrels: Path) -> Made:
    import evenrank

    def work() -> Any:
        measures = ["nDCG@10", "RR@10"]
        return evenrank.evaluate(evenrank.read_run(run), measures, qrels=evenrank.read_qrels(qrels))

    return work, values_of


def values_of(scores: Any) -> list[Any]:
    """Where values are undefined, and of every measure a mean of all values with weights drawn at random:
    no value changes without it, and rounding does not change it by more than is allowed."""
    digest, means = hashlib.sha256(), []
    for block in scores.blocks:
        digest.update(block.status.tobytes())
        values = np.nan_to_num(np.asarray(block.values, dtype=np.float64)).ravel()
        means.append(float(np.average(values, weights=np.random.default_rng(7).uniform(1, 2, len(values)))))
    return [digest.hexdigest(), *means]


def agree(one: Any, other: Any) -> bool:
    """Equal, or for means of values equal to twelve decimals."""
    if not isinstance(one, list):
        return bool(one == other)
    return one[0] == other[0] and np.allclose(one[1:], other[1:], rtol=0, atol=1e-12)


def drawn(queries: int, seed: int) -> Any:
    import evenrank

    places = np.argsort(np.random.default_rng(seed).random((queries, 300)), axis=1)[:, :100].ravel()
    names = [f"q{query}" for query in np.repeat(np.arange(queries), 100)]
    return evenrank.Run.build(names, [f"d{d}" for d in places], np.tile(np.arange(100, 0, -1.0), queries))


def evidence(queries: int) -> dict[str, Any]:
    import evenrank

    generator = np.random.default_rng(9)
    pairs = [(f"q{query}", f"d{d}") for query in range(queries) for d in range(0, 300, 3)]
    names, documents = (list(column) for column in zip(*pairs, strict=True))
    labels = {f"d{d}": "abc"[d % 3] for d in range(300)}
    return {
        "qrels": evenrank.Qrels.build(names, documents, generator.integers(0, 4, len(pairs))),
        "groups": evenrank.read_groups(labels, "size", ordinal=True, values=["a", "b", "c"]),
    }


def two_thousand_measures(folder: Path) -> Made:
    import evenrank

    run, known = drawn(200, 0), evidence(200)
    kinds = ["nDCG", "RR", "AP", "P", "R", "ERR", "RBP(p=0.8)", "GFR", "Judged"]
    kinds += ["NDKL(attr='size')", "AWRF(attr='size')"]
    kinds += [
        f"GF(attr='size',div='{div}',decay='{decay}')"
        for div in ("JSD", "NMD", "RNOD")
        for decay in ("ERR", "RBP", "log2")
    ]
    measures = [f"{kind}@{cutoff}" for cutoff in range(1, 101) for kind in kinds]
    return lambda: evenrank.evaluate(run, measures, **known), values_of


def one_measure_of_each(folder: Path) -> Made:
    """The same lists by pytrec_eval, all measures that it has at the same cut-offs."""
    import pytrec_eval

    run, known = drawn(200, 0), evidence(200)
    cutoffs = ",".join(map(str, range(1, 101)))
    names = {f"{name}.{cutoffs}" for name in ("ndcg_cut", "map_cut", "P", "recall")}
    judged, lists = known["qrels"].to_dict(), run.to_dict()
    return lambda: pytrec_eval.RelevanceEvaluator(judged, names).evaluate(lists), len


def a_thousand_draws(folder: Path) -> Made:
    import evenrank

    runs = evenrank.RunSet.build([drawn(DRAWN_QUERIES, seed) for seed in range(DRAWS)])
    known = evidence(DRAWN_QUERIES)
    measures = ["nDCG@10", "GF(attr='size')@10", "AWRF(attr='size')@10"]
    return lambda: evenrank.evaluate(runs, measures, **known), values_of


def draws_as_queries(folder: Path) -> Made:
    """The limit: as many lists as queries of one run."""
    import evenrank

    run, known = drawn(DRAWS * DRAWN_QUERIES, 0), evidence(DRAWN_QUERIES)
    measures = ["GF(attr='size',decay='RBP')@10", "AWRF(attr='size')@10"]
    return lambda: evenrank.evaluate(run, measures, groups=known["groups"]), values_of


def greedy_mixtures(folder: Path) -> Made:
    import rerank

    lists = rerank.make_lists(rerank.AT_ONCE, soft=True)
    return lambda: rerank.kernel(lists, 8, 5), lambda found: repr(np.concatenate(found).tolist())


def greedy_loop(folder: Path) -> Made:
    import rerank

    lists = rerank.make_lists(rerank.AT_ONCE, soft=True)
    return lambda: [rerank.loop(lists, rerank.AT_ONCE, seed) for seed in range(8)], len


WORK = [
    Work("read 4.8M labels, Parquet", lambda folder: read_labels(large_files(folder)[2]),
         "read a run of 7M lines", read_run_lines),
    Work("read 4.8M labels, CSV", lambda folder: read_labels(labels_csv(folder)),
         "read a run of 7M lines", read_run_lines),
    Work("21 variants of GF@10 from files", lambda folder: (lambda: scored(read_all(folder), 10), repr),
         "pytrec_eval: nDCG@10 from files",
         lambda folder: (lambda: pytrec_score(read_with_pytrec(folder)), repr)),
    Work("21 variants of GF, 7,000 x 1,000", whole_lists, "pytrec_eval: nDCG@10", with_pytrec),
    Work("nDCG@10, RR@10 from files, 500,000 x 10", lambda folder: file_to_scores(*many_queries(folder)),
         "the same from files, 7,000 x 1,000", lambda folder: file_to_scores(*large_files(folder)[:2])),
    Work("2,000 measures, 200 x 100", two_thousand_measures,
         "pytrec_eval: 400 measures of relevance", one_measure_of_each),
    Work("3 measures, 1,000 draws of 50 x 100", a_thousand_draws,
         "2 measures, 50,000 lists of one run", draws_as_queries),
    Work("FAIR_greedy of mixtures, 8 draws of 50 x 100", greedy_mixtures,
         "a plain loop, as many lists", greedy_loop),
]  # fmt: skip


def measure_here(made: Made, repeats: int) -> dict[str, Any]:
    """The least processor time of some repeats in this process, and what came of it."""
    work, outcome = made
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        found = work()
        seconds.append(time.process_time() - begin)
    return {"seconds": min(seconds), "value": outcome(found)}


def measure(source: Path, place: int, *, peer: bool, repeats: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "-", "--place", str(place), "--repeats", str(repeats)]
    done = subprocess.run(
        [*command, *(["--peer"] if peer else [])], env={**os.environ, "PYTHONPATH": str(source)},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def table(revision: str, rounds: int, repeats: int, only: str, known: str) -> str:
    """The rows of all work; of work that is not measured now, what the page has."""
    head = f"| work | processor s at `{revision}` | now | now / then | beside it | s | now / that |"
    rows = [head, "|---|---:|---:|---:|---|---:|---:|"]
    with tempfile.TemporaryDirectory() as name:
        other = Path(name) / "other"
        git = ["git", "worktree"]
        subprocess.run(
            [*git, "add", "--detach", str(other), revision], check=True, cwd=HERE, capture_output=True
        )
        try:
            for place, work in enumerate(WORK):
                if only not in work.title:
                    rows += [line for line in known.splitlines() if line.startswith(f"| {work.title} |")]
                    continue
                old, new, peer = (
                    [measure(source, place, peer=beside, repeats=repeats) for _ in range(rounds)]
                    for source, beside in (
                        (other / "src", False), (HERE.parent / "src", False), (HERE.parent / "src", True)
                    )
                )  # fmt: skip
                if not all(agree(old[0]["value"], one["value"]) for one in (*old, *new)):
                    raise SystemExit(f"{work.title}: {revision} and this revision give other values")
                then, now, that = (min(one["seconds"] for one in each) for each in (old, new, peer))
                rows.append(
                    f"| {work.title} | {then:.2f} | {now:.2f} | {now / then:.2f} "
                    f"| {work.peer_title} | {that:.2f} | {now / that:.2f} |"
                )
                print(rows[-1], file=sys.stderr, flush=True)
        finally:
            subprocess.run([*git, "remove", "--force", str(other)], check=True, cwd=HERE)
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision", help="a commit, tag or branch of this repository")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="in each process")
    parser.add_argument("--only-work", default="", help="only work whose title holds this")
    parser.add_argument("--place", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/large_inputs.md")
    options = parser.parse_args()
    folder = HERE / "work"
    folder.mkdir(exist_ok=True)
    if options.place is not None:
        work = WORK[options.place]
        made = (work.peer if options.peer else work.prepare)(folder)
        print(json.dumps(measure_here(made, options.repeats)))
        return
    for make in (large_files, labels_csv, many_queries):
        make(folder)
    target = HERE / "large_inputs.md"
    before, mark, known = target.read_text(encoding="utf-8").partition("<!-- table -->\n")
    found = table(options.revision, options.rounds, options.repeats, options.only_work, known)
    print(found)
    if options.write:
        machine = f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores.\n\n"
        target.write_text(before + mark + machine + found + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
