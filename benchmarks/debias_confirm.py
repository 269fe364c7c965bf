"""Do queries and judgements that it was not chosen on confirm the learnt penalty of ``debias_beyond.py``?

    python benchmarks/debias_confirm.py dev.tsv --write    # queries as id, tab, text

This was fixed before anything was measured: the strength is .05. Fairness is measured on those of the given
queries that have no word of the list and are in no set that was looked at, by the half of the list that the
method never saw, over 20 halves other than those of ``debias.py``. Relevance is measured on the classic
collections in which at least 5% of the documents are labelled, with the method fitted to each collection.
It is confirmed if the gain is .04 or more, or its difference from erasure alone has an interval above 0, and
the interval of the change of nDCG over all queries of those collections lies above -.02. "Erasure alone" has
length 1 again, as the method has; six targets as they are were added afterwards.
"""

from __future__ import annotations

import argparse
import re
import time
import warnings
from pathlib import Path

import numpy as np
from debias import HERE, LOSS
from debias_beyond import WAYS, Changed, Documents, documents_of, lists
from debias_data import (
    Collection,
    QuerySet,
    Texts,
    collection,
    encoded,
    halves,
    passages,
    query_sets,
    read_lines,
    time_set,
    weights_of,
)
from debias_rankers import NDCG, NFAIRR, by_query, crossed, difference

import evenrank as er
from evenrank.arrays import Floats
from evenrank.stats.intervals import mean_interval

ERASED, PENALTY = "six, length 1 again", "six, length 1, and learnt penalty .05"
COMPARED = ("six targets", ERASED, PENALTY)
FIRST_SPLIT = 100  # debias.py has 0 to 19
LEAST_LABELLED = 0.05
FITTED = "Fitted to each collection itself, with the whole list:"
BEGIN, END = "<!-- confirmed -->\n", "<!-- end of confirmed -->\n"


def fresh_queries(path: Path, lexicon: er.Lexicon, seen: list[Texts]) -> Texts:
    """Queries without a word of the list that no measured set has, neither by id nor by text."""
    known = {key for texts in seen for key in texts}
    asked = {" ".join(text.lower().split()) for texts in seen for text in texts.values()}
    texts = {
        line[0]: line[1]
        for line in read_lines(path)
        if line[0] not in known and " ".join(line[1].lower().split()) not in asked
    }
    words = er.scan(texts, lexicon)
    return {
        query: text for (query, text), own in zip(texts.items(), words.counts, strict=True) if not own.any()
    }


def smart_records(path: Path) -> list[dict[str, str]]:
    """Records of the SMART format, in the order of the file: what stands behind ``.T``, ``.W`` and so on."""
    records = re.split(r"^\.I\s+\d+\s*$", path.read_text(encoding="latin-1"), flags=re.M)[1:]
    found = []
    for record in records:
        parts = re.split(r"^\.([A-Z])\s*$", record, flags=re.M)
        found.append({k: " ".join(text.split()) for k, text in zip(parts[1::2], parts[2::2], strict=True)})
    return found


def smart_texts(path: Path) -> Texts:
    """Title and text by place, from 1 on; where the text begins with the title, the title is not repeated."""
    found = {}
    for place, record in enumerate(smart_records(path), 1):
        title, text = record.get("T", ""), record.get("W", "")
        found[str(place)] = text if text.startswith(title) else f"{title} {text}"
    return found


def smart_set(documents: Path, queries: Path, judged: list[tuple[str, str, int]], lexicon: er.Lexicon,
              cache: Path) -> QuerySet:  # fmt: skip
    found = collection(smart_texts(documents), lexicon, cache)
    own = list(dict.fromkeys(judged))
    qrels = er.Qrels.build(*(list(column) for column in zip(*own, strict=True)))
    with_judgements = {query for query, _, _ in own}
    texts = {query: text for query, text in smart_texts(queries).items() if query in with_judgements}
    return QuerySet(texts, encoded(texts, cache), found, qrels)


def classic_sets(shared: Path, lexicon: er.Lexicon, cache: Path) -> dict[str, QuerySet]:
    folder = shared / "classic_ir"

    def rows(name: str) -> list[list[str]]:
        return [line.split() for line in (folder / name).read_text().splitlines() if line.strip()]

    cisi = [(row[0], row[1], 1) for row in rows("cisi/CISI.REL")]
    med = [(row[0], row[2], 1) for row in rows("med/MED.REL")]
    # codes go from 1, the best, to 4; others mean that it is not relevant
    cran = [
        (row[0], row[1], 5 - int(row[2]) if 1 <= int(row[2]) <= 4 else 0) for row in rows("cran/cranqrel")
    ]
    return {
        "TIME": time_set(shared, lexicon, cache),
        "CISI": smart_set(folder / "cisi/CISI.ALL", folder / "cisi/CISI.QRY", cisi, lexicon, cache),
        "CRAN": smart_set(folder / "cran/cran.all.1400", folder / "cran/cran.qry", cran, lexicon, cache),
        "MED": smart_set(folder / "med/MED.ALL", folder / "med/MED.QRY", med, lexicon, cache),
    }


def verdict(values: Floats, base: Floats) -> str:
    return "no loss" if mean_interval(values - base, (-1, 1)).low > LOSS else "a loss cannot be excluded"


def fairness(found: Collection, sets: dict[str, QuerySet], lexicon: er.Lexicon, splits: int) -> list[str]:
    """Gains on fresh queries by unseen words, and the change of nDCG on queries that were looked at."""
    base = lists(Changed(found.vectors.astype(np.float64)), sets, found)
    starts: list[Floats] = []
    gains: dict[str, list[Floats]] = {name: [] for name in COMPARED}
    changes: dict[str, list[Floats]] = {name: [] for name in COMPARED}
    for split in range(FIRST_SPLIT, FIRST_SPLIT + splits):
        seen, unseen = (found.words.relisted(half) for half in halves(lexicon, split))
        own = documents_of(found.vectors, seen)
        before = by_query(base["fresh"], NFAIRR, sets["fresh"], unseen)
        starts.append(before)
        for name in gains:
            runs = lists(WAYS[name](own, own), sets, found)
            gains[name].append(by_query(runs["fresh"], NFAIRR, sets["fresh"], unseen) - before)
            changes[name].append(
                np.concatenate(
                    [
                        by_query(runs[year], NDCG, sets[year], seen)
                        - by_query(base[year], NDCG, sets[year], seen)
                        for year in ("dl19", "dl20")
                    ]
                )
            )
        print(
            f"split {split}: " + ", ".join(f"{values[-1].mean():+.4f}" for values in gains.values()),
            flush=True,
        )
    whole = documents_of(found.vectors, found.words)
    start = by_query(base["fresh"], NFAIRR, sets["fresh"], found.words)
    lines = [
        "| way | NFaiRR, whole list | unseen words | nDCG, DL19 and DL20 (seen before) |",
        "|---|---|---|---|",
        f"| MiniLM | {start.mean():.3f} | {np.mean(starts):.3f} | |",
    ]
    after = {}
    for name in gains:
        runs = lists(WAYS[name](whole, whole), {"fresh": sets["fresh"]}, found)
        after[name] = by_query(runs["fresh"], NFAIRR, sets["fresh"], found.words)
        cells = [
            difference(after[name], start),
            *(crossed(np.stack(part[name])) for part in (gains, changes)),
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    apart = [np.stack(part[PENALTY]) - np.stack(part[ERASED]) for part in (gains, changes)]
    cells = [difference(after[PENALTY], after[ERASED]), *map(crossed, apart)]
    return [*lines, "| the penalty less erasure alone | " + " | ".join(cells) + " |", ""]


def relevance(sets: dict[str, QuerySet]) -> list[str]:
    lines = [
        "| collection | documents, labelled | judged queries | MiniLM | way | change of nDCG | loss below "
        f"{-LOSS:g} | change of NFaiRR |",
        "|---|---|---|---|---|---|---|---|",
    ]
    kept: dict[str, list[Floats]] = {name: [] for name in ("", *COMPARED)}
    for name, asked in sets.items():
        found = asked.collection
        share = float((weights_of(found.words) < 1).mean())
        judged = sum(query in asked.texts for query in asked.qrels.query_ids) if asked.qrels else 0
        head = f"| {name} | {len(found.texts):,}, {share:.1%} | {judged} |"
        if share < LEAST_LABELLED:
            lines.append(f"{head} | too few labels | | | |")
            continue
        own: Documents = documents_of(found.vectors, found.words)
        base = lists(Changed(own.vectors), {name: asked}, found)[name]
        start, fair = (by_query(base, measure, asked, found.words) for measure in (NDCG, NFAIRR))
        kept[""].append(start)
        for way in COMPARED:
            run = lists(WAYS[way](own, own), {name: asked}, found)[name]
            values, fairer = (by_query(run, measure, asked, found.words) for measure in (NDCG, NFAIRR))
            kept[way].append(values)
            lost = f"{difference(values, start)} | {verdict(values, start)}"
            lines.append(f"{head} {start.mean():.3f} | {way} | {lost} | {difference(fairer, fair)} |")
    start = np.concatenate(kept[""])
    for way in COMPARED:
        values = np.concatenate(kept[way])
        lines.append(
            f"| all of these | | {len(start)} | {start.mean():.3f} | {way} | {difference(values, start)} | "
            f"{verdict(values, start)} | |"
        )
    return [*lines, ""]


def write_relevance(table: str) -> None:
    """Put the table of the collections where it stands in the page, and leave the rest."""
    target = HERE / "debias.md"
    before, found, rest = target.read_text(encoding="utf-8").partition(FITTED + "\n\n")
    _, blank, after = rest.partition("\n\n")
    target.write_text(before + found + table.rstrip("\n") + blank + after, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("queries", type=Path, help="queries that nothing was chosen on: id, tab, text")
    parser.add_argument("--shared", type=Path, default=HERE.parents[1] / "shared/data")
    parser.add_argument("--vectors", type=Path, default=HERE / "work/vectors")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument(
        "--relevance-only", action="store_true", help="make the table of the collections anew and no other"
    )
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/debias.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore", er.EvenrankWarning)  # collections smaller than the dimensions are meant
    begin = time.perf_counter()
    lexicon = er.read_lexicon(options.shared / "msmarco_trecdl/wordlist_gender_representative.txt")
    if options.relevance_only:
        classic = "\n".join(relevance(classic_sets(options.shared, lexicon, options.vectors)))
        print(classic)
        if options.write:
            write_relevance(classic)
        return
    found = collection(passages(options.shared), lexicon, options.vectors)
    sets = query_sets(options.shared, found, options.vectors)
    fresh = fresh_queries(options.queries, lexicon, [asked.texts for asked in sets.values()])
    wanted = {
        "fresh": QuerySet(fresh, encoded(fresh, options.vectors), found),
        "dl19": sets["dl19"],
        "dl20": sets["dl20"],
    }
    print(f"{len(fresh):,} fresh queries", flush=True)
    classic = relevance(classic_sets(options.shared, lexicon, options.vectors))
    print("\n".join(classic), flush=True)
    page = "\n".join(
        [
            f"{len(fresh):,} queries and {options.splits} halves of the list:",
            "",
            *fairness(found, wanted, lexicon, options.splits),
            FITTED,
            "",
            *classic,
            f"{(time.perf_counter() - begin) / 60:.0f} minutes on a CPU with the vectors at hand.",
            "",
        ]
    )
    print(page)
    if options.write:
        target = HERE / "debias.md"
        before, _, rest = target.read_text(encoding="utf-8").partition(BEGIN)
        target.write_text(before + BEGIN + page + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
