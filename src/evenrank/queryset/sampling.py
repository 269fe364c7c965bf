"""Candidates for annotation from a log of queries: filtered, drawn by stratum, with known weights."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Bools
from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError, ParameterError
from evenrank.evidence.scan.phrases import Phrases
from evenrank.evidence.scan.simple import count
from evenrank.io.queries import Queries
from evenrank.stats.student import student_quantile

FREQUENCIES = ("rare", "middle", "frequent")
COUNTS = ("count", "frequency", "n")
DOMAINS = ("domain", "domains", "category", "categories")


class LoggedQuery(NamedTuple):
    """A candidate: how often it was asked, its stratum, and how many queries of the log it stands for."""

    query: str
    text: str
    asked: float
    stratum: str
    weight: float


class Estimate(NamedTuple):
    """A share of the whole log, from a sample with weights, with its 95% interval."""

    share: float
    low: float
    high: float
    drawn: int
    population: int


def names_a_group(texts: Sequence[str], lexicon: Lexicon) -> Bools:
    """Whether each text has a word of the lexicon: such a query is not for stage 1."""
    phrases = Phrases.of(lexicon, "word")
    return np.array([any(count(text, phrases)[1]) for text in texts], dtype=bool)


def suggest(
    log: Queries, sample: int, lexicon: Lexicon | None = None, *, seed: int = 0
) -> tuple[list[LoggedQuery], dict[str, int]]:
    """A stratified sample of the queries without words of the lexicon, and how many of each kind there were.

    Strata are thirds by frequency, where the log has counts, times domains, where it has them. Each gets its
    share of the sample, and two queries at least where it has them; the weight of a query is the number of
    queries of its stratum over those that were drawn from it.
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
    for stratum, own in sorted(members.items()):
        size = min(len(own), max(min(2, len(own)), round(sample * len(own) / len(left))))
        for place in sorted(generator.choice(len(own), size, replace=False).tolist()):
            query = own[place]
            drawn.append(LoggedQuery(query, log.texts[query], counts[query], stratum, len(own) / size))
    flow = {"in the log": len(ids), "with a word of the lexicon": int(gendered.sum()), "drawn": len(drawn)}
    return drawn, flow


def estimate(drawn: Sequence[LoggedQuery], kept: Mapping[str, bool]) -> Estimate:
    """The share of the log that would be kept: means of strata, weighted by their sizes.

    The variance is that of a stratified sample without replacement, ``sum W^2 (1 - f) s^2 / n``; queries
    that were not decided are left out of their stratum.
    """
    strata: dict[str, list[tuple[bool, float]]] = {}
    for one in drawn:
        if one.query in kept:
            strata.setdefault(one.stratum, []).append((kept[one.query], one.weight))
    if not strata:
        raise DataError("none of the drawn queries was decided, so nothing can be said of the log")
    sizes = {
        name: round(own[0][1] * sum(one.stratum == name for one in drawn)) for name, own in strata.items()
    }
    total = sum(sizes.values())
    share = variance = 0.0
    for name, own in strata.items():
        values = np.array([value for value, _ in own], dtype=float)
        weight = sizes[name] / total
        share += weight * float(values.mean())
        # one value says nothing of the spread: the largest there can be
        spread = float(values.var(ddof=1)) if len(values) > 1 else 0.25
        variance += weight**2 * (1 - len(values) / sizes[name]) * spread / len(values)
    n = sum(map(len, strata.values()))
    half = student_quantile(0.975, max(1, n - len(strata))) * math.sqrt(variance)
    return Estimate(share, max(0.0, share - half), min(1.0, share + half), n, total)


def candidates_as_csv(drawn: Sequence[LoggedQuery]) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(LoggedQuery._fields)
    writer.writerows(drawn)
    return written.getvalue()


def candidates_of(queries: Queries) -> list[LoggedQuery]:
    """What ``suggest`` drew, read back as queries."""
    lacking = [name for name in ("stratum", "weight") if name not in queries.columns]
    if lacking:
        raise DataError(
            f"{queries.source}: has no column {lacking[0]!r}: it was not drawn by queryset suggest"
        )
    try:
        weights = [float(cell or "nan") for cell in queries.columns["weight"]]
    except ValueError as error:
        raise DataError(f"{queries.source}: a weight is not a number: {error}") from error
    strata = queries.columns["stratum"]
    return [
        LoggedQuery(query, queries.texts.get(query, ""), 0.0, stratum or "", weight)
        for query, stratum, weight in zip(queries.ids, strata, weights, strict=True)
    ]


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
