"""Cross-encoders against an adversary, for a section of debias.md: what they gain, cost and still tell.

    python benchmarks/debias_cross.py WORK/trained.json --write     # after adversary.py collect WORK

Kept apart from ``debias.py``, since these rankers order lists of another ranker and are compared with what
they were before the adversary came.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from debias import grep_table, main_tables, measured
from debias_data import (
    QuerySet,
    Versions,
    collection,
    grep_versions,
    names_of,
    passages,
    query_sets,
    time_set,
    weights_of,
)
from debias_rankers import NDCG, NFAIRR, Method, difference, ranked, shown
from debias_trained import (
    START,
    Trained,
    grep_cells,
    names_lines,
    probes_table,
    read_trained,
    seeds_table,
    trained_rows,
    unseen_lines,
)

import evenrank as er
from evenrank.arrays import Floats
from evenrank.stats.paired import paired_t

HERE = Path(__file__).parent
MARK, END = "<!-- cross-encoders -->\n", "<!-- end of cross-encoders -->\n"
JUDGED = ("dl19", "dl20")
UNSEEN = "QS1, unseen words | the 215, unseen words | QS1, seen words | nDCG, DL19 and DL20"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trained", type=Path, help="what adversary.py collect wrote")
    parser.add_argument("--shared", type=Path, default=HERE.parents[1] / "shared/data")
    parser.add_argument("--vectors", type=Path, default=HERE / "work/vectors", help="where vectors are kept")
    parser.add_argument("--write", action="store_true", help="put the section into benchmarks/debias.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore", er.EvenrankWarning)
    lexicon = er.read_lexicon(options.shared / "msmarco_trecdl/wordlist_gender_representative.txt")
    found = collection(passages(options.shared), lexicon, options.vectors)
    sets = query_sets(options.shared, found, options.vectors)
    sets["TIME"] = time_set(options.shared, lexicon, options.vectors)
    trained = [one for one in read_trained(options.trained) if one.name.startswith("cross-encoder")]
    whole = [one for one in trained if not one.seen]
    before = next(one for one in whole if one.base == one.name)
    names = er.scan(found.texts, names_of(options.shared, lexicon, found.texts))
    start = {name: runs[0] for name, runs in before.runs.items()}
    versions = grep_versions(options.shared, lexicon, options.vectors)
    sections = [
        beside(options.shared, sets, before),
        main_tables(trained_rows(whole, sets), {one.name: one.base for one in whole}).replace("## ", "### "),
        seeds_table(whole, sets),
        control_table(whole, sets, versions, options.trained.parent / "grep.json"),
        "### Words that the method never saw\n",
        unseen_table(trained, start, sets, found.words),
        "\n".join(
            [
                f"First names, of which the list has none: {len(names.lexicon)} names.",
                "",
                "| ranker | NFaiRR of names, QS1 | the 215 |",
                "|---|---|---|",
                *names_lines(whole, start, sets, names),
                "",
            ]
        ),
        grep_table([], versions, whole, options.trained.parent / "grep.json").replace("## ", "### "),
        "### What a probe still finds\n",
        probes_table(whole),
    ]
    section = "\n".join(sections)
    print(section)
    if options.write:
        page = HERE / "debias.md"
        text = page.read_text(encoding="utf-8")
        head, _, rest = text.partition(MARK)
        page.write_text(head + MARK + section + END + rest.partition(END)[2], encoding="utf-8")


def control_table(trained: list[Trained], sets: dict[str, QuerySet], versions: Versions, pairs: Path) -> str:
    """What the adversary does beyond as many steps without it: training itself moves a ranker too."""
    rows, known = trained_rows(trained, sets), {one.name: one for one in trained}
    keys = {f"{NFAIRR} QS1": "NFaiRR, QS1", f"{NFAIRR} 215": "the 215", f"{NDCG} DL": "nDCG, DL19 and DL20"}
    lines = [
        "Strength 1 less strength 0, as many steps each; intervals over queries, p as they are:",
        "",
        f"| steps | {' | '.join(keys.values())} | distance of both versions, Grep-BiasIR |",
        "|---|---|---|---|---|",
    ]
    for steps, name in (("123", "adversary 1"), ("402", "adversary 1, longer")):
        one, other = f"cross-encoder, {name}", f"cross-encoder, {name.replace('1', '0')}"
        if one not in rows or other not in rows:
            continue
        changes = [rows[one][key] - rows[other][key] for key in keys]
        apart = [_apart(grep_cells(known[ranker], versions, pairs)) for ranker in (one, other)]
        cells = [
            f"{difference(change, np.zeros_like(change))}, p {shown(paired_t(change).p_value)}"
            for change in (*changes, apart[0] - apart[1])
        ]
        lines.append(f"| {steps} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _apart(cells: Floats) -> Floats:
    """(Q,): how far the male and the female version of the relevant document are apart, mean over seeds."""
    return np.asarray(np.abs(cells[:, :, 0, 0] - cells[:, :, 0, 1]).mean(axis=0))


def unseen_table(
    trained: list[Trained], start: dict[str, er.Run], sets: dict[str, QuerySet], words: er.WordCounts
) -> str:
    rows = unseen_lines(trained, start, sets, words)
    if not rows:
        return ""
    lines = [
        "Rankers that were trained with a half of the list; the other half judges. Changes from before, with "
        "intervals over halves and queries.",
        "",
        f"| ranker | {UNSEEN} |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *rows, ""])


def beside(shared: Path, sets: dict[str, QuerySet], before: Trained) -> str:
    """What they were distilled from, and BM25, on the same queries."""
    w = weights_of(sets["QS1"].collection.words)
    lists = {name: ranked(Method(START), asked, w) for name, asked in sets.items() if name != "TIME"}
    teacher = {name: run.select(list(before.runs[name][0])) for name, run in lists.items()}
    bm25 = {year: er.read_run(shared / f"msmarco_trecdl/runs_rankllm/BM25.{year}.trec") for year in JUDGED}
    rows = {"BM25": measured(bm25, sets), "MiniLM, the teacher": measured(teacher, sets)}
    keys = [f"{NDCG} dl19", f"{NDCG} dl20", f"{NFAIRR} QS1", f"{NFAIRR} 215"]
    lines = ["| beside them | nDCG, DL19 | DL20 | NFaiRR, QS1 | the 215 |", "|---|---|---|---|---|"]
    for name, row in rows.items():
        cells = [f"{np.mean(row[key]):.3f}" if key in row else "" for key in keys]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
