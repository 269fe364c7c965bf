"""Penalty and erasure side by side, on a dense ranker that is good: what each gains, costs and leaves.

    python benchmarks/debias.py --write               # half an hour on two cores, once encoded
    python benchmarks/debias.py --time-only --write   # relevance on TIME alone, in the table as it stands

MiniLM ranks 30,045 passages, TIME and Grep-BiasIR by the product of vectors. Every method is also judged by
words that it never saw, since a penalty on the words that NFaiRR counts is judged by its own list.
``--trained FILE`` adds rankers that were trained elsewhere, from the file that ``benchmarks/adversary.py
collect`` writes; a query's value is the mean over the seeds.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import write_table
from debias_data import (
    Collection,
    QuerySet,
    Vectors,
    Versions,
    collection,
    grep_versions,
    halves,
    names_of,
    passages,
    query_sets,
    time_set,
    weights_of,
)
from debias_rankers import NDCG, NFAIRR, Method, by_query, crossed, difference, methods, ranked, shown
from debias_trained import (
    START,
    Row,
    Trained,
    grep_cells,
    names_lines,
    probes_table,
    read_trained,
    trained_rows,
    unseen_lines,
)

import evenrank as er
from evenrank.arrays import Bools, Floats
from evenrank.erasure import Eraser, Targets, held_out_probe
from evenrank.erasure.held_out import balanced_accuracy, logistic, predicted
from evenrank.stats.corrections import correct
from evenrank.stats.intervals import mean_interval
from evenrank.stats.paired import paired_t

HERE = Path(__file__).parent
SPLITS, SEEDS = 20, 5
LABELS = (100, 300, 1000, 3000, 10_000, 30_045)
JUDGED = (0, 2, 3, 4, 5, 6, 8, 9, 10)  # methods that are judged by unseen words
PROBED = (0, 4, 5, 6, 8)  # and by probes
TESTS = 104  # of the first two tables, with NFaiRR of DL19 and DL20, and the four bi-encoders
RELEVANCE_COLUMNS = 6
LOSS = -0.02  # "no loss" is said only where the interval of the difference lies above


def measured(runs: Mapping[str, er.Run], sets: Mapping[str, QuerySet]) -> Row:
    row = {}
    for name, asked in sets.items():
        if name in runs:
            row[f"{NFAIRR} {name}"] = by_query(runs[name], NFAIRR, asked, asked.collection.words)
            if asked.qrels is not None:
                row[f"{NDCG} {name}"] = by_query(runs[name], NDCG, asked, asked.collection.words)
    if f"{NDCG} dl19" in row and f"{NDCG} dl20" in row:
        row[f"{NDCG} DL"] = np.concatenate([row[f"{NDCG} dl19"], row[f"{NDCG} dl20"]])
    return row


def main_tables(rows: Mapping[str, Row], bases: Mapping[str, str]) -> str:
    """``bases`` names, for some rows, the one that they are compared with: all others are with the first."""
    compared = {name: rows[bases.get(name, START)] for name in rows}
    tests = {
        (name, key): paired_t(row[key] - compared[name][key]).p_value
        for name, row in rows.items()
        for key in row
        if not key.endswith("DL") and row is not compared[name]
    }
    corrected = dict(zip(tests, correct(list(tests.values()), "holm"), strict=True))

    def table(keys: list[str], heads: list[str]) -> list[str]:
        lines = ["| ranker | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
        for name, row in rows.items():
            cells, base = [], compared[name]
            for key in keys:
                if key not in row:
                    cells.append("")
                elif row is base:
                    cells.append(f"{row[key].mean():.3f}")
                else:
                    p = corrected.get((name, key))
                    test = "" if p is None else f", p {shown(p)}"
                    cells.append(f"{row[key].mean():.3f} ({difference(row[key], base[key])}{test})")
            if f"{NDCG} DL" in keys:
                low = (
                    mean_interval(row[f"{NDCG} DL"] - base[f"{NDCG} DL"], (-1, 1)).low
                    if row is not base
                    else 0
                )
                cells.append("" if row is base else "no loss" if low > LOSS else "a loss cannot be excluded")
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return [*lines, ""]

    fair = table([f"{NFAIRR} QS1", f"{NFAIRR} 215", f"{NFAIRR} TIME"], ["NFaiRR, QS1", "the 215", "TIME"])
    useful = table(
        [f"{NDCG} dl19", f"{NDCG} dl20", f"{NDCG} DL", f"{NDCG} TIME"],
        ["nDCG, DL19", "DL20", "both", "TIME", f"loss below {-LOSS:g} on both"],
    )
    return "\n".join(["## Fairness by the words of the list", "", *fair, "## Relevance", "", *useful])


def grep_table(found: list[Method], versions: Versions, trained: list[Trained], pairs: Path) -> str:
    """How far the male and the female version of one document are apart, and whether relevant ones win."""
    w = weights_of(versions.collection.words)
    lines = [
        "## Grep-BiasIR: two versions of one document",
        "",
        f"{len(versions.places)} queries with all six documents; erasers were fitted to the passages, not to "
        "these documents. p after Holm's correction.",
        "",
        "| ranker | distance of both versions, relevant documents | male version preferred | "
        "male less female | relevant above other |",
        "|---|---|---|---|---|",
    ]
    cells: dict[str, Floats] = {}  # (S, Q, 2, 3): scores by seed
    for method in found:
        scores = method.scores(versions.query_vectors, method.vectors(versions.collection.vectors), w)
        own = np.take_along_axis(scores[:, None, None, :], versions.places[..., None], axis=3)[..., 0]
        cells[method.name] = own[None]
    cells |= {one.name: grep_cells(one, versions, pairs) for one in trained if one.grep and not one.seen}
    gaps = {name: own[:, :, 0, 0] - own[:, :, 0, 1] for name, own in cells.items()}  # (S, Q)
    apart = {name: np.abs(gap).mean(axis=0) for name, gap in gaps.items()}  # (Q,)
    bases = {one.name: one.base for one in trained}
    base = {name: apart[bases.get(name, START)] for name in cells}
    tested = [name for name in cells if apart[name] is not base[name]]
    tests = dict(
        zip(
            tested,
            correct([paired_t(apart[name] - base[name]).p_value for name in tested], "holm"),
            strict=True,
        )
    )
    for name, own in cells.items():
        right = (own[:, :, 0] > own[:, :, 1]).mean()  # over seeds, queries and versions
        ratio = apart[name].mean() / base[name].mean() - 1
        change = f" ({ratio:+.0%}, p {shown(tests[name])})" if name in tests else ""
        low, high, _ = mean_interval(gaps[name].mean(axis=0))
        lines.append(
            f"| {name} | {apart[name].mean():.4f}{change} | {(gaps[name] > 0).mean():.0%} | "
            f"{gaps[name].mean():+.4f} [{low:+.4f}, {high:+.4f}] | {right:.1%} |"
        )
    return "\n".join([*lines, ""])


def one_split(split: int) -> dict[str, dict[str, Floats]]:
    """Gains of every method that was made with one half of the words, by set and by kind of words."""
    known = SHARED_WORK[0]
    found, sets = known.found, known.sets
    seen, unseen = (found.words.relisted(half) for half in halves(known.lexicon, split))
    own, w = methods(found.vectors, seen), weights_of(seen)
    gains: dict[str, dict[str, Floats]] = {}
    base: dict[str, Floats] = {}
    for method in (own[place] for place in JUDGED):
        for name in ("QS1", "215", "dl19", "dl20"):
            run = ranked(method, sets[name], w)
            judged = {"": (NDCG, seen)}
            if not name.startswith("dl"):
                judged = {"unseen": (NFAIRR, unseen), "seen": (NFAIRR, seen)}
            for kind, (measure, words) in judged.items():
                values = by_query(run, measure, sets[name], words)
                key = f"{name} {kind}"
                base.setdefault(key, values)
                gains.setdefault(method.name, {})[key] = values - base[key]
    return gains


def unseen_table(parts: list[dict[str, dict[str, Floats]]], trained: list[str]) -> str:
    lines = [
        "## Words that the method never saw",
        "",
        f"{len(parts)} random halves of the list: one half makes label, targets and penalty, and the other "
        "half judges. Gains over MiniLM, with intervals over splits and queries.",
        "",
        "| ranker | QS1, unseen words | the 215, unseen words | QS1, seen words | nDCG, DL19 and DL20 |",
        "|---|---|---|---|---|",
    ]
    for name in list(parts[0])[1:]:
        rows = {key: np.stack([part[name][key] for part in parts]) for key in parts[0][name]}
        cells = [crossed(rows[key]) for key in ("QS1 unseen", "215 unseen", "QS1 seen")]
        both = crossed(np.hstack([rows["dl19 "], rows["dl20 "]]))
        lines.append(f"| {name} | " + " | ".join([*cells, both]) + " |")
    return "\n".join([*lines, *trained, ""])


def names_table(
    found: list[Method], sets: Mapping[str, QuerySet], words: er.WordCounts, w: Floats, trained: list[str]
) -> str:
    lines = [
        f"First names, of which the list has none: {len(words.lexicon)} names, and methods made with the "
        "whole list. p after Holm's correction.",
        "",
        "| ranker | NFaiRR of names, QS1 | the 215 |",
        "|---|---|---|",
    ]
    values = {
        (place, name): by_query(ranked(method, sets[name], w), NFAIRR, sets[name], words)
        for place, method in enumerate(found)
        for name in ("QS1", "215")
    }
    changes = {key: value - values[0, key[1]] for key, value in values.items() if key[0]}
    tests = dict(zip(changes, correct([paired_t(c).p_value for c in changes.values()], "holm"), strict=True))
    for place, method in enumerate(found):
        cells = []
        for name in ("QS1", "215"):
            own = values[place, name]
            test = f" ({difference(own, values[0, name])}, p {shown(tests[place, name])})" if place else ""
            cells.append(f"{own.mean():.3f}{test}")
        lines.append(f"| {method.name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, *trained, ""])


def one_probe(task: tuple[int, int]) -> tuple[float, float]:
    """Balanced accuracies of a linear probe and of one of two layers, for a method and a seed."""
    known, (place, seed) = SHARED_WORK[0], task
    x, labels = known.own[place].vectors(known.found.vectors), known.labels
    order = np.random.default_rng([7, seed]).permutation(len(x))
    learnt, tested = order[: len(x) // 2], order[len(x) // 2 :]
    model = logistic(x[learnt], labels[learnt])
    return balanced_accuracy(predicted(x[tested], model), labels[tested]), two_layers(x, labels, seed)


def probe_table(own: list[Method], found: Mapping[tuple[int, int], tuple[float, float]], seeds: int) -> str:
    lines = [
        "## What a probe still finds",
        "",
        f"Balanced accuracy of telling whether a passage is neutral, {seeds} seeds (mean, least to largest); "
        "chance is .5. Erasers were fitted to all passages; a probe learns from half of them and is tested "
        "on the other half, which is why a linear one can fall below chance: where the means of one half are "
        "apart, those of the other half are apart the other way.",
        "",
        "| vectors | linear | two layers |",
        "|---|---|---|",
    ]
    for place in PROBED:
        told = np.array([found[place, seed] for seed in range(seeds)])  # (S, 2)
        cells = [f"{a.mean():.3f} ({a.min():.3f} to {a.max():.3f})" for a in told.T]
        lines.append(f"| {own[place].name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def two_layers(x: Vectors, labels: Bools, seed: int) -> float:
    from evenrank.neural.labels import PairLabels
    from evenrank.neural.probe import probe_vectors

    codes, count = labels.astype(np.int64), len(x)
    told = PairLabels("gender", ("neutral", "biased"), codes)
    ones = np.ones(count, dtype=np.int64)
    return probe_vectors(x, codes, np.arange(count), ones, told, seed=seed, folds=2, epochs=1).accuracy


def one_sample(task: tuple[int, int]) -> tuple[float, float, float]:
    """Of an eraser from so many labels: gain on QS1, change of nDCG, and a linear probe's accuracy."""
    known, (count, seed) = SHARED_WORK[0], task
    found, sets, labels = known.found, known.sets, known.labels
    sample = Targets.of_words(found.words).sampled(count, seed)
    eraser = Eraser.fit(found.vectors, sample)
    changes = {}
    for name, measure in (("QS1", NFAIRR), ("dl19", NDCG), ("dl20", NDCG)):
        runs = (ranked(method, sets[name], known.w) for method in (Method("", eraser), Method("")))
        after, before = (by_query(run, measure, sets[name], found.words) for run in runs)
        changes[name] = after - before
    outside = np.flatnonzero(~sample.known)
    outside = outside if len(outside) > 10_000 else np.arange(len(labels))
    outside = np.random.default_rng(seed).permutation(outside)[:12_000]
    x, half = eraser(found.vectors[outside]), len(outside) // 2
    guessed = predicted(x[half:], logistic(x[:half], labels[outside[:half]]))
    told = balanced_accuracy(guessed, labels[outside[half:]])
    return changes["QS1"].mean(), np.concatenate([changes["dl19"], changes["dl20"]]).mean(), told


def curve_table(found: Mapping[tuple[int, int], tuple[float, float, float]]) -> str:
    lines = [
        "## How many labels are needed",
        "",
        f"Six targets known for a random sample of passages only; covariances of all. {SEEDS} samples each. "
        "The probe is linear, and learns and is tested on passages outside the sample where there are "
        "enough.",
        "",
        "| labels | gain in NFaiRR, QS1 (least to largest) | change of nDCG, DL19 and DL20 | linear probe |",
        "|---|---|---|---|",
    ]
    for count in LABELS:
        gains, losses, told = np.array([value for key, value in found.items() if key[0] == count]).T
        lines.append(
            f"| {count:,} | {gains.mean():+.3f} ({gains.min():+.3f} to {gains.max():+.3f}) | "
            f"{losses.mean():+.3f} | {told.mean():.3f} |"
        )
    return "\n".join([*lines, ""])


def time_cells(own: list[Method], asked: QuerySet, w: Floats) -> dict[str, str]:
    """The column of nDCG on TIME. Every p is multiplied by the number of all tests of the first two tables,
    which is at least what Holm's correction gives."""
    values = {one.name: by_query(ranked(one, asked, w), NDCG, asked, asked.collection.words) for one in own}
    start, cells = values[START], {}
    for name, found in values.items():
        cells[name] = f"{found.mean():.3f}"
        if name != START:
            p = min(1.0, TESTS * paired_t(found - start).p_value)
            cells[name] += f" ({difference(found, start)}, p {shown(p)})"
    return cells


def write_time_cells(cells: Mapping[str, str]) -> None:
    target = HERE / "debias.md"
    before, head, rest = target.read_text(encoding="utf-8").partition("## Relevance\n")
    table, _, after = rest.partition("\n## ")
    lines = [line.split(" | ") for line in table.split("\n")]
    for row in lines:
        name = row[0].removeprefix("| ")
        if len(row) == RELEVANCE_COLUMNS and name in cells:
            row[4] = cells[name]
    changed = "\n".join(" | ".join(row) for row in lines)
    target.write_text(f"{before}{head}{changed}\n## {after}", encoding="utf-8")


@dataclass(frozen=True)
class Work:
    """What the processes share."""

    found: Collection
    sets: Mapping[str, QuerySet]
    lexicon: er.Lexicon
    own: list[Method]
    w: Floats
    labels: Bools


SHARED_WORK: list[Work] = []


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--shared", type=Path, default=HERE.parents[1] / "shared/data", help="the collections"
    )
    parser.add_argument(
        "--vectors", type=Path, default=HERE / "work/vectors", help="folder that keeps vectors"
    )
    parser.add_argument("--trained", type=Path, help="JSON of rankers that were trained elsewhere")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--time-only", action="store_true", help="make only the column of nDCG on TIME anew")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/debias.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore", er.EvenrankWarning)  # samples smaller than the dimensions are meant
    begin = time.perf_counter()
    lexicon = er.read_lexicon(options.shared / "msmarco_trecdl/wordlist_gender_representative.txt")
    found = collection(passages(options.shared), lexicon, options.vectors)
    sets = query_sets(options.shared, found, options.vectors)
    sets["TIME"] = time_set(options.shared, lexicon, options.vectors)
    w = {name: weights_of(asked.collection.words) for name, asked in sets.items()}
    own = methods(found.vectors, found.words)
    if options.time_only:
        made = time_cells(own, sets["TIME"], w["TIME"])
        print("\n".join(f"{name}: {cell}" for name, cell in made.items()))
        if options.write:
            write_time_cells(made)
        return
    lists = {
        method.name: {name: ranked(method, asked, w[name]) for name, asked in sets.items()} for method in own
    }
    rows = {name: measured(runs, sets) for name, runs in lists.items()}
    trained = read_trained(options.trained)
    bases = {one.name: one.base for one in trained if not one.seen}
    parts = [main_tables({**rows, **trained_rows(trained, sets)}, bases)]
    print(parts[0], flush=True)
    versions = grep_versions(options.shared, lexicon, options.vectors)
    parts.append(grep_table(own, versions, trained, (options.trained or HERE).parent / "grep.json"))
    names = er.scan(found.texts, names_of(options.shared, lexicon, found.texts))
    of_names = names_table(
        [own[place] for place in JUDGED], sets, names, w["QS1"],
        names_lines(trained, lists[START], sets, names),
    )  # fmt: skip
    print(parts[1], of_names, flush=True)
    labels = w["QS1"] < 1
    SHARED_WORK.append(Work(found, sets, lexicon, own, w["QS1"], labels))
    probed = [(place, seed) for place in PROBED for seed in range(options.seeds)]
    samples = [
        (count, seed) for count in LABELS for seed in range(options.seeds if count < len(labels) else 1)
    ]
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        told = dict(zip(probed, pool.map(one_probe, probed, 1), strict=True))
        print(probe_table(own, told, options.seeds), flush=True)
        curve = dict(zip(samples, pool.map(one_sample, samples, 1), strict=True))
        print(curve_table(curve), flush=True)
        splits = pool.map(one_split, range(options.splits), 1)
    of_trained = unseen_lines(trained, lists[START], sets, found.words)
    parts += [unseen_table(splits, of_trained), of_names, probe_table(own, told, options.seeds)]
    held = [
        held_out_probe(found.vectors, Targets.of_words(found.words), seed) for seed in range(options.seeds)
    ]
    parts.append(
        "Six targets, with an eraser that was fitted to half of the passages, and a linear probe that learns "
        "from a quarter and is tested on the last quarter, none of which the eraser has seen: "
        f"{np.mean([one.before for one in held]):.3f} before, "
        f"{np.mean([one.after for one in held]):.3f} after.\n"
    )
    if trained:
        parts.append(probes_table(trained))
    parts.append(curve_table(curve))
    parts.append(
        f"{(time.perf_counter() - begin) / 60:.0f} minutes on a CPU with the vectors at hand. Python "
        f"{platform.python_version()}, numpy {np.__version__}.\n"
    )
    page = "\n".join(parts)
    print(page)
    if options.write:
        write_table(__file__, page, "")


if __name__ == "__main__":
    main()
