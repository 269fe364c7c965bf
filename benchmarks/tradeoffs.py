"""Figure 4 and Table 4 of nfairc-advbert-2021 with rankers above BM25: nDCG against NFaiRR, and F_beta.

    python benchmarks/tradeoffs.py --write                            # penalty and erasure on MiniLM
    python benchmarks/tradeoffs.py --adversary WORK/results --write   # and rankers that adversary.py trained

Every variant of a family is a ranker: a weight of the penalty, a share of the erasure, or a checkpoint of a
training against an adversary. All are judged on the queries of TREC DL 2019 and 2020, by relevance and by
fairness. Per family, variants are chosen by F_beta as the paper does, by cross-validation over queries. The
1,765 queries without gender and the 215 take no part in that choice, so that they tell what it is worth.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from debias_data import QuerySet, collection, passages, query_sets, weights_of
from debias_rankers import NDCG, NFAIRR, Method, by_query, difference, ranked, shown

import evenrank as er
from evenrank.arrays import Floats
from evenrank.erasure import Eraser, Targets
from evenrank.reporting import save_figure
from evenrank.reporting.figures.cloud import cloud_figure
from evenrank.stats.paired import paired_t

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs/reproductions/tradeoffs.md"
JUDGED, HELD_OUT = ("dl19", "dl20"), ("QS1", "215")
ALSO = "RR(rel=2) R(rel=2)@10"
PENALTIES = tuple(round(float(lam), 4) for lam in np.geomspace(0.003, 0.2, 20))
SHARES = tuple(round(share / 20, 2) for share in range(1, 21))
SHAPES = {
    "bi": "bi-encoder, adversary",
    "cross": "cross-encoder, adversary",
    "cross4": "four layers, adversary",
    "cpu": "cross-encoder, adversary",
}
Runs = Mapping[str, er.Run]  # by set of queries


@dataclass(frozen=True)
class Family:
    """Variants of one way, each with its number and its lists, and the ranker that they began as."""

    name: str
    start: str
    base: Runs
    variants: dict[str, tuple[float, Runs]]


@dataclass(frozen=True)
class Partial(Method):
    """An eraser of which only a share is applied."""

    share: float = 1.0

    def vectors(self, given: Any) -> Any:
        whole = super().vectors(given)
        return given + np.float32(self.share) * (whole - given)


def vector_families(sets: Mapping[str, QuerySet]) -> Iterator[Family]:
    found = next(iter(sets.values())).collection
    w = weights_of(found.words)

    def lists(method: Method) -> Runs:
        return {name: ranked(method, asked, w) for name, asked in sets.items()}

    base = lists(Method("MiniLM"))
    penalties = {f"penalty {lam:g}": (lam, lists(Method("", lam=lam))) for lam in PENALTIES}
    yield Family("penalty", "MiniLM", base, penalties)
    for name, label_alone in (("erasure of the label", True), ("erasure of six targets", False)):
        targets = Targets.of_words(found.words, label_alone=label_alone)
        eraser = Eraser.fit(found.vectors, targets)
        made = {f"{name} {share:g}": (share, lists(Partial("", eraser, share=share))) for share in SHARES}
        yield Family(name, "MiniLM", base, made)


def trained_families(results: Path) -> Iterator[Family]:
    """A family for each kind of ranker and seed; ``adversary.py`` keeps its lists."""
    names = {"dl19": "dl19", "dl20": "dl20", "neutral": "QS1", "fair": "215"}
    for path in sorted(results.glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["shape"] not in SHAPES or "base" not in found["rankers"]:
            continue  # seeds that begin as one ranker have it in the first
        made: dict[str, Runs] = {}
        for variant, own in found["rankers"].items():
            runs = {names[asked]: lists for asked, lists in own["lists"].items() if asked in names}
            made[variant] = {asked: _as_run(lists) for asked, lists in runs.items()}
        name = f"{SHAPES[found['shape']]}, seed {found['seed']}"
        variants = {
            f"{name}, {variant}": (float(variant.partition("/")[0]), runs)
            for variant, runs in made.items()
            if variant != "base"
        }
        yield Family(name, f"{name}, before", made["base"], variants)


def _as_run(lists: Mapping[str, list[str]]) -> er.Run:
    rows = [(query, document, -rank) for query, own in lists.items() for rank, document in enumerate(own)]
    queries, documents, scores = (list(column) for column in zip(*rows, strict=True))
    return er.Run.build(queries, documents, [float(score) for score in scores])


def judged_scores(runs: Mapping[str, Runs], sets: Mapping[str, QuerySet]) -> er.Scores:
    """Both years together."""
    grades = {q: own for year in JUDGED for q, own in sets[year].qrels.to_dict().items()}  # type: ignore[union-attr]
    words = sets[JUDGED[0]].collection.words
    both = {name: _joined([own[year] for year in JUDGED]) for name, own in runs.items()}
    return er.evaluate(both, f"{NDCG} {NFAIRR} {ALSO}", qrels=grades, words=words, background=words)


def _joined(runs: list[er.Run]) -> er.Run:
    return er.read_run({query: lists for run in runs for query, lists in run.to_dict().items()})


def choice_table(family: Family, sets: Mapping[str, QuerySet]) -> str:
    """Table 4: what each beta chooses, and what that is worth on queries that took no part in choosing."""
    runs = {family.start: family.base, **{name: runs for name, (_, runs) in family.variants.items()}}
    found = er.select(
        judged_scores(runs, sets), relevance=NDCG, fairness=NFAIRR, others=ALSO, baseline=family.start
    )
    held_out = [name for name in HELD_OUT if all(name in own for own in runs.values())]
    begun = {name: fairness_of(family.base, name, sets) for name in held_out}
    first = found.rows[0]
    before = [first.fairness, first.relevance, *first.others.values()]
    lines = [
        f"| beta | chosen | {NFAIRR} | {NDCG} | RR | R@10 | "
        + " | ".join(f"{NFAIRR}, {name}" for name in held_out)
        + " |",
        "|---" * (6 + len(held_out)) + "|",
        f"| before | {family.start} | "
        + " | ".join(f"{outcome.baseline:.3f}" for outcome in before)
        + "".join(f" | {begun[name].mean():.3f}" for name in held_out)
        + " |",
    ]
    for row in found.rows:
        cells = [_marked(outcome) for outcome in (row.fairness, row.relevance, *row.others.values())]
        for name in held_out:
            values = fairness_of(runs[row.chosen], name, sets)
            change = ""
            if row.chosen != family.start:
                p = paired_t(values - begun[name]).p_value
                change = f" ({difference(values, begun[name])}, p {shown(p)})"
            cells.append(f"{values.mean():.3f}{change}")
        free = " *" if row.acceptable else ""
        lines.append(f"| {row.beta:g}{free} | {row.chosen} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _marked(outcome: Any) -> str:
    return f"{outcome.value:.3f}" + {"better": " +", "worse": " -"}.get(outcome.verdict, "")


def fairness_of(runs: Runs, name: str, sets: Mapping[str, QuerySet]) -> Floats:
    return by_query(runs[name], NFAIRR, sets[name], sets[name].collection.words)


def slopes(families: list[Family], scores: er.Scores) -> str:
    """How nDCG goes with NFaiRR over the variants of each family."""
    lines = ["| family | variants | slope of nDCG over NFaiRR | correlation |", "|---|---:|---:|---:|"]
    for family in families:
        x, y = (np.array([scores.mean(m, name) for name in family.variants]) for m in (NFAIRR, NDCG))
        slope, correlation = np.polyfit(x, y, 1)[0], np.corrcoef(x, y)[0, 1]
        lines.append(f"| {family.name} | {len(x)} | {slope:+.2f} | {correlation:+.2f} |")
    return "\n".join(lines)


def draw(families: list[Family], scores: er.Scores, path: Path) -> None:
    by_name = {measure.name: measure for measure in scores.measures}
    figure = cloud_figure(
        scores, by_name["NFaiRR"], by_name["nDCG"],
        families={family.name: list(family.variants) for family in families},
    )  # fmt: skip
    save_figure(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shared", type=Path, default=HERE.parents[1] / "shared/data")
    parser.add_argument("--vectors", type=Path, default=HERE / "work/vectors", help="where vectors are kept")
    parser.add_argument("--adversary", type=Path, help="the folder results of what adversary.py trained")
    parser.add_argument("--write", action="store_true", help="write the page and its figure")
    options = parser.parse_args()
    warnings.simplefilter("ignore", er.EvenrankWarning)
    lexicon = er.read_lexicon(options.shared / "msmarco_trecdl/wordlist_gender_representative.txt")
    found = collection(passages(options.shared), lexicon, options.vectors)
    sets = query_sets(options.shared, found, options.vectors)
    families = list(vector_families(sets))
    if options.adversary is not None:
        families += trained_families(options.adversary)
    runs = {name: runs for family in families for name, (_, runs) in family.variants.items()}
    scores = judged_scores(runs, sets)
    bm25 = {
        year: er.read_run(options.shared / f"msmarco_trecdl/runs_rankllm/BM25.{year}.trec") for year in JUDGED
    }
    beside = judged_scores({"BM25": bm25}, sets)
    sections = [
        f"BM25: {NDCG} {beside.mean(NDCG):.3f}, {NFAIRR} {beside.mean(NFAIRR):.3f}.",
        slopes(families, scores),
        *(f"### {family.name}\n\n{choice_table(family, sets)}" for family in families),
    ]
    tables = "\n\n".join(sections) + "\n"
    print(tables)
    if options.write:
        draw(families, scores, PAGE.with_suffix(".png"))
        before, mark, _ = PAGE.read_text(encoding="utf-8").partition("<!-- table -->\n")
        PAGE.write_text(before + mark + tables, encoding="utf-8")


if __name__ == "__main__":
    main()
