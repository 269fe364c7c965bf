"""Fairness and utility before and after every re-ranker: ``python docs/build_reranker_table.py``.

Writes the two tables of ``reproductions/rerankers.md`` anew; the second needs the folder ``shared`` beside
the project. A test says when they are stale.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import evenrank as er
from evenrank.comparison.tradeoff import Tradeoff, tradeoff
from evenrank.data.polarity import Polarity
from evenrank.data.tables import DocumentTable
from evenrank.sample import load

PAGE = Path(__file__).parent / "reproductions/rerankers.md"
TOUCHE = Path(__file__).resolve().parents[2] / "shared/data/touche22_task2"
DRAWS = 100
BY_GROUP = [
    "DetGreedy", "DetCons", "DetCons(missing=behind)", "DetRelaxed", "DetConstSort", "MMR", "xQuAD", "PM2",
    "GroupPenalty(marginal={True,False})", "Unique",
    "FAIR_greedy(pseudo=True)", "FOE(draw=likely,pseudo=True)",
]  # fmt: skip
BY_JUDGEMENTS = [
    "Oracle",
    "FAIR_greedy(epsilon={0,0.5,1})",
    "Ideal_alpha_nDCG",
    "FOE(draw=likely,constraint={parity,treatment,impact,target})",
]
BY_POLARITY = ["MinDUO(missing=behind)", "MaxDUO(missing=behind)", "PolarityMMR(missing=behind)"]


def on_the_sample() -> Tradeoff:
    """Publishers; the two sides of a debate as polarity; how popular the source is, to sort by."""
    sample = load()
    folder = Path(er.__file__).parent / "sample"
    sides = [line.split() for line in (folder / "sides.txt").read_text(encoding="utf-8").splitlines()]
    polarity = Polarity.build(
        [row[2] for row in sides],
        [1.0 if row[1] == "for" else -1.0 for row in sides],
        queries=[row[0] for row in sides],
    )
    popularity = [float(level) for level in sample.popularity.values()]
    return tradeoff(
        er.read_run(folder / "bm25.trec"),
        [
            *BY_GROUP, "FA_IR(protected='Open Almanac')", "Neutral(band={10,None})", "Penalty(lam={0.5,1,2})",
            *BY_POLARITY,
            "SortBy(field=popularity)", "Random", *BY_JUDGEMENTS,
        ],
        "nDCG@10 nDRKL@10 FAIR@10 NFaiRR@10 DUO(missing='drop')@10",
        qrels=sample.qrels,
        groups=er.read_groups(folder / "groups.csv", "publisher"),
        words=er.scan(list(sample.documents.items()), er.read_lexicon("gender-en")),
        polarity=polarity,
        evidence=[DocumentTable.build("popularity", list(sample.popularity), {"": popularity})],
        repeat=DRAWS,
    )  # fmt: skip


def on_touche(folder: Path, scratch: Path) -> Tradeoff:
    """Stances; lists without the passages that nobody judged, whose stance and relevance are not known."""

    def lines(name: str) -> list[list[str]]:
        text = (folder / f"qrels/touche-task2-2022-{name}.qrels").read_text(encoding="utf-8")
        return [line.split() for line in text.splitlines() if line.strip()]

    qrels = er.read_qrels(folder / "qrels/touche-task2-2022-relevance.qrels")
    judged = qrels.to_dict()
    whole = er.read_run(folder / "runs/Puss-in-Boots_run1.txt")
    run = er.read_run(
        {q: {d: -float(r) for r, d in enumerate(whole.documents(q)) if d in judged[q]} for q in whole},
        name="Puss-in-Boots",
    )
    stances = lines("stance")
    opinions = [" ".join(row) + "\n" for row in stances if row[3] != "NO"]
    (scratch / "stance.qrels").write_text("".join(opinions), encoding="utf-8")
    quality = lines("quality")
    return tradeoff(
        run,
        [
            *BY_GROUP, "FA_IR(protected=SECOND)", *BY_POLARITY, "SortBy(field=quality)", "Random",
            *BY_JUDGEMENTS, "FAIR_greedy(missing='none',epsilon={0,0.5,1})",
        ],
        "nDCG@5 nDRKL@5 FAIR@5 GF@5 DUO(missing='drop')@5",
        qrels=qrels,
        groups=er.read_groups(scratch / "stance.qrels", "stance", values=["FIRST", "SECOND", "NEUTRAL"]),
        polarity=Polarity.build(
            [row[2] for row in stances],
            [{"FIRST": 1.0, "SECOND": -1.0}.get(row[3], 0.0) for row in stances],
            queries=[row[0] for row in stances],
        ),
        evidence=[
            DocumentTable.build(
                "quality",
                [row[2] for row in quality],
                {"": [float(row[3]) for row in quality]},
                queries=[row[0] for row in quality],
            )
        ],
        repeat=DRAWS,
    )  # fmt: skip


def rows_of(found: Tradeoff) -> list[str]:
    """The table as the page has it: value, interval, over how many queries and draws where not all."""
    cells: dict[str, list[str]] = {variant.name: [] for variant in found.variants}
    for row in found.scores.summary():
        text = f"{row.value:.3f} [{row.low:.3f}, {row.high:.3f}]" if row.defined else "undefined"
        few = row.defined not in (0, row.queries)
        text = text.replace(" [nan, nan]", "") + (f" n={row.defined}" if few else "")
        shares = found.scores.block(row.measure, row.run).shares
        share = 1.0 if shares is None or not row.defined else float(shares[shares > 0].mean())
        cells[row.run].append(text + (f" of {share:.0%}" if share < 1 else ""))
    names = [repr(measure).replace("(missing='drop')", "") for measure in found.measures]
    return [
        f"| method | {' | '.join(names)} |",
        f"|---|{'---|' * len(names)}",
        *(f"| {name} | {' | '.join(values)} |" for name, values in cells.items()),
    ]


def tables(text: str) -> list[list[str]]:
    """The lines of each table of the page."""
    found: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("| method"):
            found.append([])
        if line.startswith("|"):
            found[-1].append(line)
    return found


def main() -> None:
    warnings.simplefilter("ignore", er.EvenrankWarning)  # how often a promise cannot be kept
    text = PAGE.read_text(encoding="utf-8")
    made = [rows_of(on_the_sample())]
    if TOUCHE.is_dir():
        with tempfile.TemporaryDirectory() as scratch:
            made.append(rows_of(on_touche(TOUCHE, Path(scratch))))
    for old, new in zip(tables(text), made, strict=False):
        text = text.replace("\n".join(old), "\n".join(new))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
