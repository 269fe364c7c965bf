"""Ratings of quality: blind sheets out, and what raters wrote into them back in.

A sheet shows a question and a document, neither its side nor its id. Ratings are 1 to 5; an empty cell is
unrated, not 0. The published ratings of pair-duo-2024 (a file for each domain, with the ids of documents) are
read as well.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenrank.corpus.folder import Corpus
from evenrank.errors import DataError, Problem
from evenrank.io.atomic import atomic_write
from evenrank.io.table_files import read_named_rows
from evenrank.stats.intervals import mean_interval
from evenrank.stats.raters import ordinal_alpha
from evenrank.tables import Interval, Table
from evenrank.tables.records import delimited, of_cell

ASPECTS = {
    "query relevance": ("query_relevance", "Relevance_query"),
    "query subjectiveness": ("query_subjectiveness", "Subjectiveness_query"),
    "faithfulness": ("faithfulness", "Faithfulness_doc"),
    "coherence": ("coherence", "Coherence_doc"),
    "relevance": ("relevance", "Relevance_doc"),
    "fluency": ("fluency", "Fluency_doc"),
}
LOWEST, HIGHEST = 1, 5
PER_DOMAIN = 12
SHEET, KEY = "sheet.csv", "sheet-key.csv"


class Rating(NamedTuple):
    """What one rater gave one document in one respect."""

    rater: str
    item: str
    domain: str
    aspect: str
    value: float


@dataclass(frozen=True)
class Ratings:
    """All ratings that were read, and how many cells were left empty."""

    given: tuple[Rating, ...]
    unrated: int
    raters: tuple[str, ...]


def write_sheet(corpus: Corpus, folder: Path, *, per_domain: int = PER_DOMAIN, seed: int = 0) -> int:
    """A sheet of ``per_domain`` pairs of question and document for each domain, in random order, and the key
    to it, which raters must not see. Gives how many pairs there are."""
    drawn: dict[str, str] = {}
    by_domain: dict[str, list[str]] = {}
    for record in corpus.documents:
        for domain in corpus.domains(record["query"]):
            by_domain.setdefault(domain, []).append(record["document"])
    generator = random.Random(seed)
    for domain in sorted(by_domain):
        left = [name for name in by_domain[domain] if name not in drawn]
        for name in generator.sample(left, min(per_domain, len(left))):
            drawn[name] = domain
    order = list(drawn)
    generator.shuffle(order)
    texts = {record["document"]: record for record in corpus.documents}
    columns = [names[0] for names in ASPECTS.values()]
    rows = []
    for number, name in enumerate(order, 1):
        question = corpus.queries[texts[name]["query"]]
        rows.append({"item": number, "question": question, "text": texts[name]["text"]})
    _write_csv(folder / SHEET, ("item", "question", "text", *columns, "comment"), rows)
    key = [{"item": number, "document": name, "domain": drawn[name]} for number, name in enumerate(order, 1)]
    _write_csv(folder / KEY, ("item", "document", "domain"), key)
    return len(order)


def read_ratings(paths: Sequence[Path], corpus: Corpus | None = None, folder: Path | None = None) -> Ratings:
    """Sheets that were filled in, one for each rater; or published files, one for each domain.

    A sheet names items; the key beside it says which documents they are. Where a table has ``doc_id`` or
    ``document`` instead, that is the item, and its domain is that of the corpus, or the name of the file.
    """
    key = _read_key(folder / KEY) if folder is not None and (folder / KEY).exists() else {}
    documents = {record["document"]: record["query"] for record in corpus.documents} if corpus else {}
    given, unrated, raters = list[Rating](), 0, list[str]()
    for path in paths:
        rows = list(read_named_rows(path))
        head = rows[0][1].keys() if rows else ()
        item_column = next((name for name in ("item", "document", "doc_id") if name in head), None)
        columns = {
            aspect: next((name for name in names if name in head), None) for aspect, names in ASPECTS.items()
        }
        if item_column is None or not any(columns.values()):
            raise DataError(
                f"{path}: is no sheet of ratings: it needs a column item, document or doc_id, and "
                "columns such as "
                f"{', '.join(names[0] for names in ASPECTS.values())}"
            )
        published = item_column == "doc_id"
        raters.append(path.stem)
        problems = list[Problem]()
        for line, row in rows:
            item = (row[item_column] or "").strip()
            name, domain = key.get(item, (item, ""))
            if not domain and name in documents and corpus is not None:
                domain = corpus.domains(documents[name])[0]
            if not domain and published:
                domain = path.stem.replace("_", " ")
            if not item or not domain:
                problems.append(
                    Problem(line, f"item {item!r} is neither in {KEY} nor a document of the corpus")
                )
                continue
            for aspect, column in columns.items():
                cell = (row.get(column) or "").strip() if column else ""
                if not cell:
                    unrated += 1
                    continue
                try:
                    value = float(cell)
                except ValueError:
                    value = float("nan")
                if not LOWEST <= value <= HIGHEST:
                    problems.append(
                        Problem(
                            line, f"{column}: a rating is a number from {LOWEST} to {HIGHEST}, got {cell!r}"
                        )
                    )
                    continue
                given.append(Rating(path.stem, name, domain, aspect, value))
        if problems:
            raise DataError.listing(str(path), problems)
    return Ratings(tuple(given), unrated, tuple(raters))


def quality_tables(ratings: Ratings) -> list[Table]:
    """Means by domain, means with their intervals, and agreement where items were rated more than once."""
    by: dict[tuple[str, str], list[float]] = {}
    items: dict[str, set[tuple[str, str]]] = {}
    for each in ratings.given:
        by.setdefault((each.domain, each.aspect), []).append(each.value)
        items.setdefault(each.domain, set()).add((each.rater, each.item))
    domains = sorted(items)
    means = {cell: float(np.mean(values)) for cell, values in by.items()}
    rows = [
        (domain, len(items[domain]), *(means.get((domain, aspect), float("nan")) for aspect in ASPECTS))
        for domain in domains
    ]
    over = (
        [float(np.nanmean([row[2 + place] for row in rows])) for place in range(len(ASPECTS))] if rows else []
    )
    count = sum(len(found) for found in items.values()) / max(len(domains), 1)
    notes = [f"{ratings.unrated:,} cells are empty and count as unrated, not as 0"] if ratings.unrated else []
    tables = [
        Table.of(
            ("domain", "pairs", *ASPECTS), [*rows, ("mean of domains", count, *over)] if rows else [],
            title="mean ratings by domain, 1 to 5", notes=notes,
            meaning="How people rated the documents of each domain.",
        ),
        Table.of(
            ("aspect", "mean", "95% interval", "ratings", "items"),
            [_overall(aspect, ratings) for aspect in ASPECTS], title="all ratings together",
            meaning="How people rated the documents of all domains.",
        ),
    ]  # fmt: skip
    agreement = agreement_rows(ratings)
    if agreement:
        tables.append(
            Table.of(
                ("aspect", "items", "equal", "within 1", "alpha"), agreement, title="agreement of raters",
                notes=["alpha: Krippendorff's, for ordinal ratings; 1 is agreement and 0 is chance. Where "
                       "nearly all ratings are equal it is low although raters agree."],
                meaning="How far two people agree about the same document.",
            )
        )  # fmt: skip
    return tables


def agreement_rows(ratings: Ratings) -> list[tuple[str, int, float, float, float]]:
    """For every aspect: items with two ratings or more, the shares that are equal or within 1, alpha."""
    rows = []
    for aspect in ASPECTS:
        units: dict[str, list[float]] = {}
        for each in ratings.given:
            if each.aspect == aspect:
                units.setdefault(each.item, []).append(each.value)
        shared = [values for values in units.values() if len(values) > 1]
        if not shared:
            continue
        gaps = np.array(
            [
                abs(one - other)
                for values in shared
                for place, one in enumerate(values)
                for other in values[:place]
            ]
        )
        rows.append(
            (
                aspect,
                len(shared),
                float((gaps == 0).mean()),
                float((gaps <= 1).mean()),
                ordinal_alpha(shared),
            )
        )
    return rows


def _overall(aspect: str, ratings: Ratings) -> tuple[object, ...]:
    own = [each for each in ratings.given if each.aspect == aspect]
    if not own:
        return aspect, float("nan"), Interval(float("nan"), float("nan")), 0, 0
    by_item: dict[str, list[float]] = {}
    for each in own:
        by_item.setdefault(each.item, []).append(each.value)
    # two ratings of one document are not two documents
    low, high, _ = mean_interval([np.mean(values) for values in by_item.values()], (LOWEST, HIGHEST))
    return aspect, float(np.mean([each.value for each in own])), Interval(low, high), len(own), len(by_item)


def _read_key(path: Path) -> dict[str, tuple[str, str]]:
    return {
        row["item"]: (of_cell(row["document"]), of_cell(row["domain"])) for _, row in read_named_rows(path)
    }


def _write_csv(path: Path, head: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    with atomic_write(path) as file:
        file.write(delimited(rows, ",", head).encode())
