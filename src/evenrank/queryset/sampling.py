"""Candidates for annotation from a log of queries: filtered, drawn by stratum, with known weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Bools
from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError, ParameterError
from evenrank.evidence.scan.phrases import Phrases, count
from evenrank.io.queries import Queries
from evenrank.tables import delimited

NAMES_A_GROUP = "with a word of the lexicon"  # in the flow of ``suggest``
FREQUENCIES = ("rare", "middle", "frequent")
COUNTS = ("count", "frequency", "n")
LEFT_OUT = "left_out"
DOMAINS = ("domain", "domains", "category", "categories")


class LoggedQuery(NamedTuple):
    """A candidate: how often it was asked, its stratum, and how many queries of the log it stands for."""

    query: str
    text: str
    asked: float
    stratum: str
    weight: float


def names_a_group(texts: Sequence[str], lexicon: Lexicon) -> Bools:
    """Whether each text has a word of the lexicon: such a query is not for stage 1."""
    phrases = Phrases.of(lexicon, "word")
    return np.array([any(count(text, phrases)[1]) for text in texts], dtype=bool)


def suggest(
    log: Queries, sample: int, lexicon: Lexicon | None = None, *, seed: int = 0
) -> tuple[list[LoggedQuery], dict[str, int]]:
    """A stratified sample of the queries without words of the lexicon, and how many of each kind there were.

    Strata are thirds by frequency, where the log has counts, times domains, where it has them. Each gets its
    share of the sample, and two queries at least where it has them, so that with many strata the sample is
    larger than asked for; the weight of a query is the number of queries of its stratum over those that were
    drawn from it.
    """
    if sample < 1:
        raise ParameterError(f"the sample must have at least one query, got {sample}")
    ids = [query for query in log.distinct if query in log.texts]
    if not ids:
        raise DataError(f"{log.source}: has no texts of queries")
    gendered = (
        names_a_group([log.texts[query] for query in ids], lexicon)
        if lexicon is not None
        else np.zeros(len(ids), dtype=bool)
    )
    left = [query for query, named in zip(ids, gendered, strict=True) if not named]
    counts, strata = _strata(log, left)
    generator = np.random.default_rng(seed)
    members: dict[str, list[str]] = {}
    for query in left:
        members.setdefault(strata[query], []).append(query)
    drawn = []
    sizes = _sizes({stratum: len(own) for stratum, own in sorted(members.items())}, sample)
    for stratum, size in sizes.items():
        own = members[stratum]
        for place in sorted(generator.choice(len(own), size, replace=False).tolist()):
            query = own[place]
            drawn.append(LoggedQuery(query, log.texts[query], counts[query], stratum, len(own) / size))
    flow = {"in the log": len(ids), NAMES_A_GROUP: int(gendered.sum()), "drawn": len(drawn)}
    return drawn, flow


def describe_larger_sample(drawn: Sequence[LoggedQuery], asked: int) -> str | None:
    """Why more queries were drawn than asked for, if so."""
    if len(drawn) <= asked:
        return None
    strata = len({one.stratum for one in drawn})
    return (
        f"drew {len(drawn):,} queries rather than {asked:,}: each of the {strata:,} strata gets two, or what "
        "it has, since one query does not show how much a stratum varies"
    )


class LogSize(NamedTuple):
    """How many queries of a log the candidates were drawn from, and how many a lexicon left out before."""

    drawn_from: int
    left_out: int | None  # None: not known


def candidates_as_csv(drawn: Sequence[LoggedQuery], left_out: int) -> str:
    """A row for each candidate. Each also has the number of queries that the lexicon left out, since the
    weights tell only of those that could be drawn."""
    rows = [{**one._asdict(), LEFT_OUT: left_out} for one in drawn]
    return delimited(rows, ",", (*LoggedQuery._fields, LEFT_OUT))


def log_size(queries: Queries) -> LogSize:
    """The size of the log that the candidates of ``suggest`` stand for.

    Each stratum has a whole number of queries, which weights that were written as decimals miss by little.
    """
    strata: dict[str, list[float]] = {}
    for one in candidates_of(queries):
        strata.setdefault(one.stratum, []).append(one.weight)
    drawn_from = sum(round(math.fsum(weights)) for weights in strata.values())
    cells = set(queries.columns.get(LEFT_OUT, ()))
    if not cells:
        return LogSize(drawn_from, None)
    cell = next(iter(cells)) or ""
    if len(cells) > 1 or not (cell.isascii() and cell.isdigit()):
        raise DataError(
            f"{queries.source}: the column {LEFT_OUT!r} must hold one number, the same in each row: use the "
            "file as queryset suggest wrote it, or remove the column"
        )
    return LogSize(drawn_from, int(cell))


def candidates_of(queries: Queries) -> list[LoggedQuery]:
    """What ``suggest`` drew, read back as queries."""
    lacking = [name for name in ("stratum", "weight") if name not in queries.columns]
    if lacking:
        raise DataError(
            f"{queries.source}: has no column {lacking[0]!r}: it was not drawn by queryset suggest"
        )
    weights = [
        _weight(cell, f"{queries.source}: the weight of {query!r}")
        for query, cell in zip(queries.ids, queries.columns["weight"], strict=True)
    ]
    strata = queries.columns["stratum"]
    return [
        LoggedQuery(query, queries.texts.get(query, ""), 0.0, stratum or "", weight)
        for query, stratum, weight in zip(queries.ids, strata, weights, strict=True)
    ]


def _weight(cell: str | None, name: str) -> float:
    try:
        weight = float(cell or "nan")
    except ValueError:
        weight = math.nan
    if not 1 <= weight < math.inf:
        raise DataError(f"{name} is not a number of at least 1: {cell or ''!r}")
    return weight


def _sizes(members: Mapping[str, int], sample: int) -> dict[str, int]:
    """How many to draw from each stratum: two, and then one at a time where most is lacking to its share."""
    population = sum(members.values())
    sizes = {stratum: min(2, own) for stratum, own in members.items()}

    def lack(stratum: str) -> tuple[float, str]:  # the smallest comes first, so more lacking is smaller
        return sizes[stratum] - sample * members[stratum] / population, stratum

    waiting = [lack(stratum) for stratum, own in members.items() if sizes[stratum] < own]
    heapify(waiting)
    for _ in range(sample - sum(sizes.values())):
        if not waiting:
            break
        _, stratum = heappop(waiting)
        sizes[stratum] += 1
        if sizes[stratum] < members[stratum]:
            heappush(waiting, lack(stratum))
    return sizes


def _strata(log: Queries, left: Sequence[str]) -> tuple[dict[str, float], dict[str, str]]:
    by_frequency = next((name for name in COUNTS if name in log.columns), None)
    by_domain = next((name for name in DOMAINS if name in log.columns), None)
    counts = dict.fromkeys(left, 1.0)
    names: dict[str, list[str]] = {query: [] for query in left}
    wanted = set(left)
    if by_frequency is not None:
        for query, cell in zip(log.ids, log.columns[by_frequency], strict=True):
            if query in wanted:
                try:
                    counts[query] = float(cell or "nan")
                except ValueError:
                    raise DataError(
                        f"{log.source}: the {by_frequency} of {query!r} is no number: {cell!r}"
                    ) from None
        limits = np.quantile(list(counts.values()), [1 / 3, 2 / 3]) if counts else [0, 0]
        for query in left:
            names[query].append(FREQUENCIES[int(np.searchsorted(limits, counts[query]))])
    if by_domain is not None:
        for query, cell in zip(log.ids, log.columns[by_domain], strict=True):
            if query in wanted:
                names[query].append(cell or "no domain")
    return counts, {query: ", ".join(own) or "all" for query, own in names.items()}
