"""Labels with errors: what documents probably are, and intervals that include it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import evenrank as er
from evenrank import Attribute, Membership
from evenrank.data.label_error import corrected
from evenrank.errors import DataError, ParameterError
from evenrank.evaluation.label_intervals import label_intervals

SIDES = Attribute("side", ("f", "m"))


def rates(error: float) -> list[list[float]]:
    return [[1 - error, error], [error, 1 - error]]


def test_shares_of_corrected_labels_by_hand() -> None:
    """0.3 of f seen with 20% error: 0.3 = 0.8 pi + 0.2 (1 - pi), so pi = 1/6."""
    labels = Membership.from_labels(SIDES, {"a": "f", "b": "f", "c": "f", **{f"x{i}": "m" for i in range(7)}})
    soft = corrected(labels, rates(0.2))
    assert soft.observed is labels
    assert soft.sizes() == pytest.approx([10 / 6, 50 / 6], abs=1e-5)
    assert share_of_f(soft, "a") == pytest.approx(0.8 / 6 / (0.8 / 6 + 0.2 * 5 / 6), abs=1e-6)
    given = corrected(labels, rates(0.2), np.array([0.5, 0.5]))
    assert share_of_f(given, "a") == pytest.approx(0.8)


def test_shares_that_no_rates_explain_stay_shares() -> None:
    """Fewer f seen than errors alone would give: the likeliest share is 0, not below."""
    labels = {"a": "f", **{f"x{i}": "m" for i in range(19)}}
    soft = corrected(Membership.from_labels(SIDES, labels), rates(0.2))
    assert soft.sizes() == pytest.approx([0, 20], abs=0.02)


def share_of_f(groups: Membership, document: str) -> float:
    return er.evaluate({"q": {document: 1.0}}, "GroupShare(attr='side')@1", groups=groups).summary()[0].value


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ([[1.0, 0.1], [0, 1]], r"'f'.*1\.1"),
        ([[1.0, 0, 0]], "2"),
        ([[0.0, 1], [0, 1]], "'f'"),
    ],
)
def test_rates_that_are_none(table: list[list[float]], why: str) -> None:
    with pytest.raises(DataError, match=why):
        corrected(Membership.from_labels(SIDES, {"a": "f", "b": "m"}), table)


def planted(
    error: float, seed: int, lean: float = 0.4, documents: int = 200
) -> tuple[dict[str, dict[str, float]], dict[str, str], dict[str, str]]:
    """30 queries that share documents, of which 15% are f; the top is short of f; labels have errors."""
    generator = np.random.default_rng(seed)
    truth = {f"d{i}": "f" if generator.random() < 0.15 else "m" for i in range(documents)}
    names = list(truth)
    run = {}
    for query in range(30):
        ranked = sorted(
            generator.choice(names, 20, replace=False),
            key=lambda d: generator.random() + lean * (truth[d] == "f"),
        )
        run[f"q{query}"] = {str(d): float(20 - rank) for rank, d in enumerate(ranked)}
    seen = {d: v if generator.random() >= error else "fm"[v == "f"] for d, v in truth.items()}
    return run, truth, seen


@pytest.mark.slow
@pytest.mark.parametrize("lean", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("measure", ["AWRF(attr='side', distance='L1')@20", "GroupShare(attr='side')@20"])
def test_a_planted_error_is_covered(lean: float, measure: str) -> None:
    """Of 20 planted data sets the corrected interval covers the truth in nearly all, the plain in few."""
    plain = both = 0
    for seed in range(20):
        run, truth, seen = planted(0.2, seed, lean)
        known = Membership.from_labels(SIDES, truth)
        value = er.evaluate(run, measure, groups=known).summary()[0].value
        groups = corrected(Membership.from_labels(SIDES, seen), rates(0.2))
        row = label_intervals(run, measure, groups=groups, draws=20, seed=seed)[0]
        plain += row.plain_low <= value <= row.plain_high
        both += row.low <= value <= row.high
    assert both >= 17, (plain, both)
    assert plain <= 5, (plain, both)


def test_few_documents_tell_that_a_group_is_at_the_bottom() -> None:
    """100 documents, all of f at the bottom: on the mean, hardly any f is drawn for the first 10 places."""
    measure, values = "GroupShare(attr='side')@10", []
    for seed in range(6):
        run, truth, seen = planted(0.2, seed, lean=1.0, documents=100)
        known = Membership.from_labels(SIDES, truth)
        assert er.evaluate(run, measure, groups=known).summary()[0].value < 0.005
        groups = corrected(Membership.from_labels(SIDES, seen), rates(0.2))
        values.append(label_intervals(run, measure, groups=groups, draws=8, seed=seed)[0].value)
    assert np.mean(values) < 0.12, values


def test_a_document_has_one_label_in_all_queries() -> None:
    """Queries of the same list are the same query: nothing lies between them, and all is between draws."""
    run = {f"q{n}": {f"d{i}": 40.0 - i for i in range(30)} for n in range(12)}
    seen = {f"d{i}": "fm"[i % 3 > 0] for i in range(30)}
    groups = corrected(Membership.from_labels(SIDES, seen), rates(0.2))
    row = label_intervals(run, "GroupShare(attr='side')@30", groups=groups)[0]
    assert (row.low, row.high) == pytest.approx((row.labels_low, row.labels_high), rel=1e-9)
    assert row.low < row.high


def test_the_rounds_are_combined_by_the_rules_of_rubin() -> None:
    """Votes, which are drawn as they are: the same rounds by hand."""
    run, _, _ = planted(0.1, 3)
    documents = sorted({d for own in run.values() for d in own})
    shares = [0.3 + 0.4 * (place % 2) for place in range(len(documents))]
    soft = Membership.build(
        SIDES,
        [d for d in documents for _ in "fm"],
        ["f", "m"] * len(documents),
        [x for share in shares for x in (share, 1 - share)],
    )
    rounds, measure = 7, "GF(attr='side')@20"
    row = label_intervals(run, measure, groups=soft, draws=rounds, seed=5)[0]
    generator, values = np.random.default_rng(5), []
    for _ in range(rounds):
        drawn = np.where(generator.random(len(documents)) < shares, "f", "m").tolist()
        hard = Membership.from_labels(SIDES, dict(zip(documents, drawn, strict=True)))
        values.append(er.evaluate(run, measure, groups=hard).block(measure).defined(0))
    means = np.array([own.mean() for own in values])
    between, within = means.var(ddof=1), np.mean([own.var(ddof=1) / 30 for own in values])
    total = within + (1 + 1 / rounds) * between
    share = (1 + 1 / rounds) * between / total
    degrees = 1 / (share**2 / (rounds - 1) + 1 / ((1 - share) * 29 * 30 / 32))
    assert row.value == pytest.approx(means.mean(), rel=1e-12)
    half = scipy.stats.t.ppf(0.975, degrees) * total**0.5
    assert (row.low, row.high) == pytest.approx((row.value - half, row.value + half), rel=1e-6)
    alone = scipy.stats.t.ppf(0.975, rounds - 1) * ((1 + 1 / rounds) * between) ** 0.5
    assert row.labels_high - row.value == pytest.approx(alone, rel=1e-6)


def test_what_has_no_error_rates() -> None:
    several = Membership.build(SIDES, ["a", "a"], ["f", "m"], multilabel=True)
    with pytest.raises(ParameterError):
        corrected(several, rates(0.1))
    certain = Membership.from_labels(SIDES, {"a": "f", "b": "m"})
    with pytest.raises(ParameterError, match="error = "):
        label_intervals({"q": {"a": 1.0}}, "GroupShare(attr='side')@1", groups=certain)
