"""Whether an axis of opinion tells two sides apart: by two rules, for other documents, and without labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenrank.arrays import Floats
from evenrank.corpus.axis_calibration import calibration_table
from evenrank.corpus.duo_agreement import duo_correlations
from evenrank.evidence.polarise.accuracy import AgainstChance, against_chance, right_by_code, right_by_text
from evenrank.evidence.polarise.engine import PolariseResult
from evenrank.evidence.polarise.held_out import FittedQuery, QueryReliability, held_out_shares, reliability
from evenrank.stats.intervals import mean_interval
from evenrank.tables import Interval, Table

UNIT = (0.0, 1.0)
GOOD = 0.9
LEAST_STABLE, LEAST_AGREED = 0.8, 0.75
"""An axis below either is weak: its direction or its sides depend on one document or one encoder."""

NOTES = (
    "accuracy: the larger share of documents on the right side of 0 under the two directions of the axis; "
    "code: the rule of the published code, the majority sign within each side on its own",
    "chance: the mean with labels shuffled within queries; p: the share of shuffles that do as well",
    "held out: documents that the axis was not fitted to, one of each side left out in turn (chance 0.5); "
    "turned: right documents under the direction that was chosen (chance 0.5, if no labels chose it)",
)


@dataclass(frozen=True)
class AxisStudy:
    """What the labelled queries of one encoder say."""

    queries: tuple[FittedQuery, ...]
    shares: Floats  # (Q,) accuracy
    text: AgainstChance
    code: AgainstChance
    held_out: Floats  # (Q,)
    turned: Floats  # (Q,) right under the direction as it is
    placed: Floats  # other documents, by query
    duo: Floats  # (Q,) rank correlation of DUO by scores and DUO by labels


def study_axis(result: PolariseResult, *, seed: int = 0) -> AxisStudy | None:
    """None where no query has an axis and documents of both sides."""
    own = tuple(each for each in result.queries if each.first is not None)
    if not own:
        return None
    scores, first = [each.scores for each in own], [each.first for each in own if each.first is not None]
    return AxisStudy(
        own,
        np.array([right_by_text(s, f[None])[0] for s, f in zip(scores, first, strict=True)]),
        against_chance(scores, first, right_by_text, seed=seed),
        against_chance(scores, first, right_by_code, seed=seed),
        held_out_shares(own),
        np.array([float(((s > 0) == f)[s != 0].sum() / len(s)) for s, f in zip(scores, first, strict=True)]),
        np.array(list(result.placed_right.values())),
        duo_correlations(own, seed=seed),
    )


def study_tables(
    studies: Mapping[str, AxisStudy], domains: Mapping[str, Sequence[str]] | None = None
) -> list[Table]:
    """Accuracy by encoder, the study over encoders, splits of signs, accuracy by domain, and reliability."""
    tables = [accuracy_study(studies)]
    if len(studies) > 1:
        tables.append(encoder_summary(studies))
    tables.append(sign_splits(studies))
    name, one = next(iter(studies.items()))
    if domains:
        tables.append(by_domain(one, domains).titled(name))
    known = reliability([each.queries for each in studies.values()])
    shares = dict(zip((each.query for each in one.queries), one.shares.tolist(), strict=True))
    return [*tables, reliability_table(known, shares), calibration_table(known, shares)]


def accuracy_study(studies: Mapping[str, AxisStudy]) -> Table:
    """A row for each encoder."""
    rows = []
    for name, each in studies.items():
        low, high, _ = mean_interval(each.shares, UNIT)
        rows.append(
            (name, each.text.value, Interval(low, high), each.text.chance, each.text.p, each.code.value,
             each.code.chance, each.code.p, _mean(each.held_out), _mean(each.turned), _mean(each.placed),
             _mean(each.duo), each.text.queries)
        )  # fmt: skip
    head = ("encoder", "accuracy", "95% interval", "chance", "p", "code", "chance of code", "p of code",
            "held out", "turned", "others placed", "DUO rho", "queries")  # fmt: skip
    return Table.of(
        head,
        rows,
        title="does the axis tell the sides apart?",
        notes=NOTES,
        meaning="The axis tells the two sides apart where its accuracy is well above chance.",
    )


def encoder_summary(studies: Mapping[str, AxisStudy]) -> Table:
    """Worst, mean, median and best accuracy over encoders."""
    values = np.array([each.text.value for each in studies.values()])
    row = (
        "accuracy",
        values.min(),
        values.mean(),
        float(np.median(values)),
        values.max(),
        (values > GOOD).mean(),
    )
    head = ("over encoders", "worst", "mean", "median", "best", f"share above {GOOD:g}")
    return Table.of(
        head,
        [tuple(map(_plain, row))],
        meaning="The further worst and best are apart, the more the accuracy depends on the encoder.",
    )


def sign_splits(studies: Mapping[str, AxisStudy]) -> Table:
    """How many queries have their documents split 4-4, 5-3 and so on by the sign of the score."""
    counts = {name: Counter(map(_split, each.queries)) for name, each in studies.items()}
    splits = sorted({split for count in counts.values() for split in count})
    rows = [(name, *(count[split] for split in splits)) for name, count in counts.items()]
    return Table.of(
        ("documents by sign", *splits),
        rows,
        meaning="How many queries have so many of their documents on each side of 0.",
    )


def by_domain(study: AxisStudy, domains: Mapping[str, Sequence[str]]) -> Table:
    """Accuracy by domain; without an interval for fewer than five queries."""
    found: dict[str, list[float]] = {}
    for each, share in zip(study.queries, study.shares.tolist(), strict=True):
        for domain in domains.get(each.query, ()):
            found.setdefault(domain, []).append(share)
    rows = [
        (domain, float(np.mean(values)), Interval(*mean_interval(values, UNIT)[:2]), len(values))
        for domain, values in sorted(found.items())
    ]
    return Table.of(
        ("domain", "accuracy", "95% interval", "queries"),
        rows,
        title="accuracy by domain",
        meaning="How well the axis tells the two sides apart in each domain.",
    )


def is_weak(each: QueryReliability) -> bool:
    """Whether an axis should not be relied on; agreement counts where there are two encoders."""
    return each.stability < LEAST_STABLE or each.agreement < LEAST_AGREED


def reliability_table(known: Mapping[str, QueryReliability], shares: Mapping[str, float]) -> Table:
    """What is known of every axis without labels, and whether that goes with accuracy."""
    rows = [
        (query, "weak" if is_weak(each) else "", shares[query], each.gap, each.stability, each.agreement)
        for query, each in known.items()
    ]
    return Table.of(
        ("query", "flag", "accuracy", "variance gap", "stability", "agreement of encoders"), rows, words=2,
        title="reliability without labels", notes=reliability_notes(known, shares),
        meaning="The axis of a query that is marked weak should not be relied on.",
    )  # fmt: skip


def reliability_notes(known: Mapping[str, QueryReliability], shares: Mapping[str, float]) -> list[str]:
    """Accuracy of weak and other queries, and the correlations on every other query and on the rest."""
    weak = [shares[query] for query, each in known.items() if is_weak(each)]
    others = [shares[query] for query, each in known.items() if not is_weak(each)]
    notes = [
        f"weak: stability below {LEAST_STABLE:g} or agreement below {LEAST_AGREED:g}; "
        f"accuracy {_mean_text(weak)} for {len(weak)} weak queries and {_mean_text(others)} for the "
        f"{len(others)} others"
    ]
    names = list(known)
    for what in QueryReliability._fields:
        pairs = [
            [(getattr(known[query], what), shares[query]) for query in names[begin::2]] for begin in (0, 1)
        ]
        found = [_rho(half) for half in pairs]
        if not any(np.isnan(found)):
            notes.append(
                f"{what}: rank correlation with accuracy {found[0]:+.2f} on every other query and "
                f"{found[1]:+.2f} on the rest; rely on it only where both are clearly above 0"
            )
    return notes


def trusted_queries(results: Sequence[PolariseResult]) -> list[str]:
    """The queries whose axis is not weak; no labels are needed."""
    known = reliability([result.queries for result in results])
    return [query for query, each in known.items() if not is_weak(each)]


def _split(each: FittedQuery) -> str:
    above, below = int((each.scores > 0).sum()), int((each.scores < 0).sum())
    return f"{max(above, below)}-{min(above, below)}"


def _rho(pairs: Sequence[tuple[float, float]]) -> float:
    from scipy.stats import spearmanr

    values = np.array(pairs)
    if len(values) < 3 or np.isnan(values).any() or (np.ptp(values, axis=0) == 0).any():
        return float("nan")
    return float(spearmanr(values[:, 0], values[:, 1]).statistic)


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _mean_text(values: Sequence[float]) -> str:
    return f"{np.mean(values):.3f}" if values else "undefined"


def _plain(value: object) -> object:
    return float(value) if isinstance(value, np.floating) else value
