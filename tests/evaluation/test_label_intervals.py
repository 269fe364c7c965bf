"""Labels with errors: what documents probably are, and intervals that include it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.stats

import evenrank as er
from evenrank import Attribute, Membership
from evenrank.cli import main
from evenrank.data.label_error import corrected, drawn, is_uncertain, posterior, true_shares
from evenrank.data.ranked_labels import shares_between
from evenrank.errors import DataError, ParameterError
from evenrank.evaluation.label_intervals import label_intervals
from evenrank.io.label_rates import read_rates

SIDES = Attribute("side", ("f", "m"))


def rates(error: float) -> list[list[float]]:
    return [[1 - error, error], [error, 1 - error]]


def test_shares_and_posterior_by_hand() -> None:
    """0.3 of f seen with 20% error: 0.3 = 0.8 pi + 0.2 (1 - pi), so pi = 1/6."""
    shares = true_shares(np.array([0.3, 0.7]), np.array(rates(0.2)))
    assert shares == pytest.approx([1 / 6, 5 / 6], abs=1e-6)
    chances = posterior(np.array(rates(0.2)), shares)
    assert chances[0, 0] == pytest.approx(0.8 / 6 / (0.8 / 6 + 0.2 * 5 / 6), abs=1e-6)
    assert chances.sum(axis=0) == pytest.approx([1, 1])


def test_shares_that_no_rates_explain_stay_shares() -> None:
    """Fewer f seen than errors alone would give: the likeliest share is 0, not below."""
    shares = true_shares(np.array([0.05, 0.95]), np.array(rates(0.2)))
    assert shares == pytest.approx([0, 1], abs=1e-3)


def test_corrected_membership() -> None:
    labels = Membership.from_labels(SIDES, {"a": "f", "b": "f", "c": "f", **{f"x{i}": "m" for i in range(7)}})
    soft = corrected(labels, rates(0.2))
    assert soft.observed is labels
    assert is_uncertain(soft)
    assert not is_uncertain(labels)
    assert soft.sizes() == pytest.approx([10 / 6, 50 / 6], abs=1e-5)
    given = corrected(labels, rates(0.2), np.array([0.5, 0.5]))
    assert given.shares.dense(np.array([0]))[0] == pytest.approx([0.8, 0.2])
    hard = drawn(soft, np.random.default_rng(0))
    assert not is_uncertain(hard)
    several = np.mean([drawn(soft, np.random.default_rng(s)).sizes() for s in range(400)], axis=0)
    assert several == pytest.approx([10 / 6, 50 / 6], abs=5 * (10 / 4 / 400) ** 0.5)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ([[1.0, 0.1], [0, 1]], "the rates of the true value 'f' sum to 1.1, not to 1"),
        ([[1.0, 0, 0]], "do not fit 2 values"),
        ([[0.0, 1], [0, 1]], "labelled 'f', but by the rates that never happens"),
    ],
)
def test_rates_that_are_none(table: list[list[float]], why: str) -> None:
    with pytest.raises(DataError, match=why):
        corrected(Membership.from_labels(SIDES, {"a": "f", "b": "m"}), table)


def test_rates_from_a_file(tmp_path: Path) -> None:
    long, wide, counts = (tmp_path / name for name in ("long.csv", "wide.csv", "counts.csv"))
    long.write_text("true,observed,rate\nf,f,0.9\nf,m,0.1\nm,f,0.2\nm,m,0.8\n")
    wide.write_text("true,f,m\nf,0.9,0.1\nm,0.2,0.8\n")
    counts.write_text("true,f,m\nf,90,10\nm,10,40\n")
    for path in (long, wide, counts):
        assert read_rates(str(path), SIDES).tolist() == [[0.9, 0.1], [0.2, 0.8]]
    wide.write_text("true,f,x\nf,0.9,0.1\nm,a,0.8\n")
    with pytest.raises(DataError) as refused:
        read_rates(str(wide), SIDES)
    assert ":2: 'x' is not a value of 'side': f, m" in str(refused.value)
    assert ":3: the rate 'a' is not a number" in str(refused.value)
    wide.write_text("true,f,m\nf,0.9,0.2\nm,0.2,0.8\n")
    with pytest.raises(DataError, match=r"wide.csv: the rates of the true value 'f' sum to 1.1, not to 1"):
        read_rates(str(wide), SIDES)


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


def test_shares_between_two_ends_by_hand() -> None:
    """Without errors, the log-odds at the ends are those of the counts: 1 to 3 at the top, 3 to 1 below."""
    ends = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    table = np.array([[0.8, 0.2], [0.2, 0.8]])
    truth = np.array([[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]])
    assert shares_between(ends, 1000 * truth, np.eye(2)) == pytest.approx(truth, abs=1e-3)
    assert shares_between(ends, 1000 * truth @ table, table) == pytest.approx(truth, abs=1e-3)
    none_at_the_top = np.array([[200, 800], [230, 770], [600, 400]])
    found = shares_between(ends, none_at_the_top, table)[:, 0]
    assert found[0] < 0.01
    assert (np.diff(found) > 0).all()


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
    generator = np.random.default_rng(5)
    values = [
        er.evaluate(run, measure, groups=drawn(soft, generator)).block(measure).defined(0)
        for _ in range(rounds)
    ]
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


def test_the_view_of_evaluate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run, _, seen = planted(0.1, 0)
    Path("r.trec").write_text(
        "".join(f"{q} Q0 {d} 1 {s} x\n" for q, own in run.items() for d, s in own.items())
    )
    Path("g.csv").write_text("document,side\n" + "".join(f"{d},{v}\n" for d, v in seen.items()))
    Path("e.csv").write_text("true,f,m\nf,0.9,0.1\nm,0.1,0.9\n")
    command = [
        "evaluate",
        "r.trec",
        "-m",
        "GroupShare(attr='side')@20",
        "--view",
        "labels",
        "--format",
        "tsv",
    ]
    assert main([*command, "--groups", "side=g.csv:error=e.csv"]) == 0
    rows = [line.split("\t") for line in capfd.readouterr().out.splitlines()]
    cells = dict(zip(rows[0], rows[1], strict=True))
    assert float(cells["low"]) <= float(cells["labels_low"]) <= float(cells["value"]) <= float(cells["high"])
    assert float(cells["value"]) != float(cells["plain"])
    assert main([*command, "--groups", "side=g.csv"]) == 2
    assert "--groups NAME=FILE:error=RATES" in capfd.readouterr().err


def test_what_has_no_error_rates() -> None:
    several = Membership.build(SIDES, ["a", "a"], ["f", "m"], multilabel=True)
    with pytest.raises(ParameterError, match="one value of the same few"):
        corrected(several, rates(0.1))
