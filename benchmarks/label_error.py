"""How often intervals that include the error of labels hold the value by the true labels.

    python benchmarks/label_error.py --write

Made-up runs of 30 queries share their documents; 15% of these are of group f, and a fifth of the labels are
wrong. ``lean`` says how much a list puts f down: 0 not at all, 1 almost completely. The truth is the value of
the same lists with the true labels.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import evenrank as er
from evenrank.data.label_error import corrected, is_uncertain
from evenrank.evaluation.label_intervals import label_intervals

PAGE = Path(__file__).with_suffix(".md")
MARK = "<!-- table -->"
SIDES = er.Attribute("side", ("f", "m"))
MEASURES = ("GroupShare(attr='side')@10", "AWRF(attr='side',distance='L1')@10", "GF(attr='side')@20")
ERROR, QUERIES, LENGTH, REPEATS = 0.2, 30, 20, 40

Lists = dict[str, dict[str, float]]


def planted(seed: int, documents: int, lean: float) -> tuple[Lists, dict[str, str], dict[str, str]]:
    """Lists, true labels, and labels with errors."""
    generator = np.random.default_rng(seed)
    truth = {f"d{i}": "f" if generator.random() < 0.15 else "m" for i in range(documents)}
    run: Lists = {}
    for query in range(QUERIES):
        drawn = generator.choice([*truth], LENGTH, replace=False)
        ranked = sorted(drawn, key=lambda d: generator.random() + lean * (truth[d] == "f"))
        run[f"q{query}"] = {str(d): float(LENGTH - rank) for rank, d in enumerate(ranked)}
    seen = {d: v if generator.random() >= ERROR else "fm"[v == "f"] for d, v in truth.items()}
    return run, truth, seen


def first_of_each(rows: list[Any]) -> list[Any]:
    """The first row of each measure: GroupShare has one for each group."""
    return list({str(row.measure): row for row in reversed(rows)}.values())[::-1]


def main(repeats: int, write: bool) -> None:
    rates = [[1 - ERROR, ERROR], [ERROR, 1 - ERROR]]
    rows: dict[str, list[str]] = {measure: [] for measure in MEASURES}
    for documents in (600, 100):
        for lean in (0.0, 0.4, 1.0):
            plain, held, width, alike = (dict.fromkeys(MEASURES, 0.0) for _ in range(4))
            for seed in range(repeats):
                run, truth, seen = planted(seed, documents, lean)
                known = er.Membership.from_labels(SIDES, truth)
                values = first_of_each(er.evaluate(run, MEASURES, groups=known).summary())
                probably = corrected(er.Membership.from_labels(SIDES, seen), rates)
                found = first_of_each(label_intervals(run, MEASURES, groups=probably, seed=seed))
                for measure, value, row in zip(MEASURES, values, found, strict=True):
                    plain[measure] += (row.plain_low <= value.value <= row.plain_high) / repeats
                    held[measure] += (row.low <= value.value <= row.high) / repeats
                    width[measure] += (row.high - row.low) / repeats
                # without the rates, labels are drawn by their chances over all ranks
                for_all = replace(probably, rates=None, observed=None)
                if is_uncertain(for_all):  # else the estimated share of f is 0, and nothing is left to draw
                    found = first_of_each(label_intervals(run, MEASURES, groups=for_all, seed=seed))
                    for measure, value, row in zip(MEASURES, values, found, strict=True):
                        alike[measure] += (row.low <= value.value <= row.high) / repeats
            for measure in MEASURES:
                rates_of = (plain[measure], held[measure], width[measure], alike[measure])
                cells = " | ".join(f"{one:.2f}" for one in rates_of)
                rows[measure].append(f"| `{measure}` | {documents} | {lean:g} | {cells} |")
                print(rows[measure][-1], flush=True)
    head = [
        "| measure | documents | lean | without label error | with it | its width | one share |",
        "|---|---|---|---|---|---|---|",
    ]
    if write:
        before, _, _ = PAGE.read_text(encoding="utf-8").partition(MARK)
        PAGE.write_text(
            f"{before}{MARK}\n" + "\n".join([*head, *itertools.chain(*rows.values())]) + "\n",
            encoding="utf-8",
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    main(given.repeats, given.write)
