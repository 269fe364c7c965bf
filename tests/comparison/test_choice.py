"""What each beta chooses, fold by fold, and what that is worth beside the baseline."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from drawn import made
from scipy import stats

from evenrank import ParameterError, Scores, compare, select
from evenrank.errors import InputTypeError

QUERIES = 40
MEANS = {"plain": (0.50, 0.60), "middle": (0.494, 0.75), "fair": (0.30, 0.90)}  # relevance, fairness


def scores(fairness: str = "NFaiRR@10", sign: float = 1.0) -> Scores:
    generator = np.random.default_rng(5)
    common = generator.normal(0, 0.02, QUERIES)
    return made(
        {
            name: {
                "nDCG@10": (useful + common + generator.normal(0, 0.02, QUERIES)).tolist(),
                fairness: (sign * (fair + common + generator.normal(0, 0.02, QUERIES))).tolist(),
                "RR": (round(useful, 1) + generator.normal(0, 0.02, QUERIES)).tolist(),
            }
            for name, (useful, fair) in MEANS.items()
        }
    )


def chosen(own: Scores | None = None, **more: Any) -> Any:
    own = scores() if own is None else own
    return select(own, relevance="nDCG@10", fairness=more.pop("fairness", "NFaiRR@10"), **more)


def by_hand(
    own: Scores, beta: float, folds: int = 5, seed: int = 0
) -> tuple[list[str], dict[str, list[float]]]:
    """Eq. 12 with loops: what each fold chooses, and the pooled values of the choices."""
    table = {
        run: {m: list(v.values()) for m, v in measures.items()} for run, measures in own.to_dict().items()
    }
    order = np.random.default_rng(seed).permutation(np.arange(QUERIES))
    choices, pooled = [], {"nDCG@10": [0.0] * QUERIES, "NFaiRR@10": [0.0] * QUERIES}
    for held_out in np.array_split(order, folds):
        rest = [q for q in range(QUERIES) if q not in set(held_out.tolist())]

        def scaled(measure: str, rest: list[int] = rest) -> dict[str, float]:
            means = {run: sum(table[run][measure][q] for q in rest) / len(rest) for run in table}
            low, high = min(means.values()), max(means.values())
            return {run: (mean - low) / (high - low) for run, mean in means.items()}

        u, f = scaled("nDCG@10"), scaled("NFaiRR@10")

        def score(run: str, u: dict[str, float] = u, f: dict[str, float] = f) -> float:
            if beta == 0:
                return u[run]
            if math.isinf(beta):
                return f[run]
            below = beta**2 * u[run] + f[run]
            return (1 + beta**2) * u[run] * f[run] / below if below else 0.0

        best = max(table, key=score)
        choices.append(best)
        for measure, values in pooled.items():
            for query in held_out.tolist():
                values[query] = table[best][measure][query]
    return choices, pooled


@pytest.mark.parametrize("beta", [0, 0.01, 0.2, 1, 3, 100, math.inf])
def test_choices_and_values_are_those_by_hand(beta: float) -> None:
    own = scores()
    (row,) = chosen(own, betas=[beta], baseline="plain").rows
    choices, pooled = by_hand(own, beta)
    assert row.by_fold == tuple(choices)
    for outcome, measure in ((row.relevance, "nDCG@10"), (row.fairness, "NFaiRR@10")):
        base = list(own.to_dict()["plain"][measure].values())
        assert outcome.value == pytest.approx(np.mean(pooled[measure]))
        assert outcome.baseline == pytest.approx(np.mean(base))
        if choices == ["plain"] * 5:
            assert (outcome.p_value, outcome.verdict) == (1.0, "")
        else:
            p = stats.ttest_rel(pooled[measure], base).pvalue
            assert outcome.p_value == pytest.approx(p)
            side = "better" if outcome.value > outcome.baseline else "worse"
            assert outcome.verdict == (side if p < 0.05 else "")


def test_the_table_of_betas() -> None:
    found = chosen(betas=[math.inf, 0, 1], others="RR")
    assert [row.beta for row in found.rows] == [0, 1, math.inf]
    assert [row.chosen for row in found.rows] == ["plain", "middle", "fair"]
    assert [row.acceptable for row in found.rows] == [False, True, False]
    assert found.ranges == ((1, 1),)
    assert found.rows[2].others["RR"].verdict == "worse"
    assert found.rows[2].fairness.verdict == "better"
    assert (found.baseline, found.queries, found.dropped) == ("plain", QUERIES, 0)


def of_means(useful: Sequence[float], fair: Sequence[float]) -> Scores:
    """Systems s0, s1, .. that have the same value on every query."""
    return made(
        {
            f"s{place}": {"nDCG@10": [u] * 10, "NFaiRR@10": [f] * 10}
            for place, (u, f) in enumerate(zip(useful, fair, strict=True))
        }
    )


@pytest.mark.parametrize(
    ("useful", "fair", "beta", "wanted"),
    [
        ([0.1, 0.2, 0.3], [0.9, 0.8, 0.6], 0, "s2"),
        ([0.1, 0.2, 0.3], [0.9, 0.8, 0.6], math.inf, "s0"),
        ([0.1, 0.2, 0.3], [0.9, 0.8, 0.6], 1e200, "s1"),  # finite: what is 0 in one of them has no score
        ([0.1, 0.2, 0.3], [0.9, 0.8, 0.6], 1e-200, "s1"),
        ([0.40, 0.39, 0.30, 0.10], [0.70, 0.78, 0.88, 0.90], 0.5, "s1"),
        ([0.40, 0.39, 0.30, 0.10], [0.70, 0.78, 0.88, 0.90], 2, "s2"),
        ([0.5, 0.5], [0.1, 0.9], 1, "s1"),  # where all are equal, all are 0: the fairer one
        ([1.0, 0.0], [0.0, 1.0], 1, "s1"),  # both scores are 0: the fairer one
        ([0.4, 0.4, 0.1], [0.1, 0.2, 0.9], 0, "s1"),  # as useful: the fairer one
        ([0.1, 0.4, 0.2], [0.9, 0.9, 0.1], math.inf, "s1"),  # as fair: the more useful one
        ([0.1 + 0.2, 0.3, 0.0], [0.1, 0.2, 0.0], 0, "s1"),  # as useful but for rounding
        ([0.5, 0.5], [0.5, 0.5], 1, "s0"),  # the same: the first
    ],
)
def test_scores_and_ties(useful: list[float], fair: list[float], beta: float, wanted: str) -> None:
    (row,) = chosen(of_means(useful, fair), betas=[beta]).rows
    assert row.chosen == wanted
    assert row.by_fold == (wanted,) * 5


def test_a_loss_in_another_measure_is_a_loss() -> None:
    own = scores().to_dict()
    for values in own.values():
        values["nDCG@10"] = own["plain"]["nDCG@10"]  # no system costs any
    same = made({run: {name: list(column.values()) for name, column in own[run].items()} for run in own})
    assert chosen(same, betas=[math.inf]).rows[0].acceptable
    (row,) = chosen(same, betas=[math.inf], others="RR").rows
    assert row.others["RR"].verdict == "worse"
    assert not row.acceptable


@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_within_noise_is_neither_gained_nor_lost(sign: int) -> None:
    fair = np.random.default_rng(1).random(12)
    own = made(
        {
            "plain": {"nDCG@10": [0.1] * 12, "NFaiRR@10": fair},
            "new": {"nDCG@10": [0.9] * 12, "NFaiRR@10": fair + sign * np.resize([0.2, -0.18], 12)},
        }
    )
    (row,) = chosen(own, betas=[0]).rows
    assert sign * (row.fairness.value - row.fairness.baseline) == pytest.approx(0.01)
    assert (row.chosen, row.fairness.verdict, row.relevance.verdict) == ("new", "", "better")


def test_means_of_another_measure_are_over_the_queries_that_are_tested() -> None:
    own = scores().to_dict()
    tables = {run: {name: list(column.values()) for name, column in own[run].items()} for run in own}
    plain, fair = (np.array(tables[run]["RR"]) for run in ("plain", "fair"))
    tables["plain"]["RR"][4] = tables["fair"]["RR"][7] = math.nan  # it takes no part in the choice
    found = chosen(made(tables), betas=[math.inf], others="RR")
    change, kept = found.rows[0].others["RR"], ~np.isin(np.arange(QUERIES), [4, 7])
    assert (change.baseline, change.value) == pytest.approx((plain[kept].mean(), fair[kept].mean()))
    assert change.p_value == pytest.approx(stats.ttest_rel(fair[kept], plain[kept]).pvalue)
    assert found.dropped == 0
    for run in tables:
        tables[run]["RR"] = [math.nan] * QUERIES
    nothing = chosen(made(tables), betas=[math.inf], others="RR").rows[0].others["RR"]
    assert math.isnan(nothing.value)
    assert math.isnan(nothing.p_value)
    assert nothing.verdict == ""


def test_ranges_are_stretches_of_neighbours() -> None:
    """What some betas choose loses in another measure; what those on either side choose does not."""
    noise = np.tile([0.3, -0.3], QUERIES // 2)  # hides that relevance becomes less
    means = {"plain": (0.50, 0.60), "a": (0.49, 0.70), "b": (0.46, 0.80), "c": (0.44, 0.84), "z": (0.0, 0.3)}
    generator = np.random.default_rng(0)
    own = made(
        {
            run: {
                "nDCG@10": useful + noise * (run != "plain"),
                "NFaiRR@10": fair + generator.normal(0, 0.001, QUERIES),
                "RR": np.full(QUERIES, 0.2 if run == "b" else 0.5) + noise,
            }
            for run, (useful, fair) in means.items()
        }
    )
    betas = [0.0, 0.3, 0.5, 1.0, 2.0, 4.0, 8.0, 50.0, math.inf]
    found = chosen(own, betas=betas[::-1], others="RR")
    assert [row.beta for row in found.rows] == betas
    wanted: list[tuple[float, float]] = []
    for acceptable, rows in itertools.groupby(found.rows, key=lambda row: row.acceptable):
        if acceptable:
            stretch = [row.beta for row in rows]
            wanted.append((stretch[0], stretch[-1]))
    assert found.ranges == tuple(wanted)
    assert len(wanted) == 2


def test_choosing_the_baseline_is_no_gain_though_a_fold_chooses_what_is_fairer() -> None:
    """Middle is the more relevant one but for one query; the fold that does not see that query takes it."""
    first = np.random.default_rng(0).permutation(QUERIES)[0]
    useful = np.full(QUERIES, 0.505)
    useful[first] = 0.1
    own = made(
        {
            "plain": {"nDCG@10": [0.5] * QUERIES, "NFaiRR@10": [0.6] * QUERIES},
            "middle": {"nDCG@10": useful.tolist(), "NFaiRR@10": [0.7] * QUERIES},
        }
    )
    found = chosen(own, betas=[0.0])
    (row,) = found.rows
    assert (row.chosen, row.folds()) == ("plain", "plain 4, middle 1")
    assert row.fairness.value > row.fairness.baseline
    assert row.fairness.p_value < 0.05
    assert (row.fairness.verdict, row.relevance.verdict, row.acceptable) == ("", "", False)
    assert found.ranges == ()


def test_lower_may_be_fairer() -> None:
    """NDKL of -x chooses as NFaiRR of x, and shows its own values."""
    usual, other = chosen(), chosen(scores("NDKL@10", -1.0), fairness="NDKL@10")
    assert len(usual.rows) == 7
    for one, two in zip(usual.rows, other.rows, strict=True):
        assert (one.chosen, one.by_fold, one.acceptable) == (two.chosen, two.by_fold, two.acceptable)
        assert one.fairness.value == pytest.approx(-two.fairness.value)
        assert (one.fairness.p_value, one.fairness.verdict) == pytest.approx(
            (two.fairness.p_value, two.fairness.verdict)
        )


def test_a_comparison_will_do_too() -> None:
    own = scores()
    assert chosen(compare(own)).rows == chosen(own).rows


def test_queries_without_a_value_of_every_system_are_left_out() -> None:
    own = scores().to_dict()
    tables = {run: {name: list(column.values()) for name, column in own[run].items()} for run in own}
    tables["plain"]["nDCG@10"][3] = tables["fair"]["NFaiRR@10"][9] = math.nan
    tables["middle"]["nDCG@10"][11] = math.inf
    found = chosen(made(tables))
    assert (found.queries, found.dropped) == (QUERIES - 3, 3)
    clean = {
        run: {name: np.delete(values, [3, 9, 11]) for name, values in tables[run].items()} for run in tables
    }
    for one, two in zip(found.rows, chosen(made(clean)).rows, strict=True):
        assert one.chosen == two.chosen
        assert one.relevance.baseline == pytest.approx(two.relevance.baseline)


def test_the_seed_and_the_number_of_folds_decide_the_folds() -> None:
    assert len(chosen(folds=3).rows[0].by_fold) == 3
    generator = np.random.default_rng(8)
    alike = made(
        {
            name: {
                "nDCG@10": generator.random(QUERIES).tolist(),
                "NFaiRR@10": generator.random(QUERIES).tolist(),
            }
            for name in "abc"
        }
    )
    found = {}
    for seed in (0, 3):
        (row,) = chosen(alike, seed=seed, betas=[1.0]).rows
        choices, pooled = by_hand(alike, 1.0, seed=seed)
        assert row.by_fold == tuple(choices)
        assert row.relevance.value == pytest.approx(np.mean(pooled["nDCG@10"]))
        found[seed] = row.relevance.value
    assert found[0] != found[3]


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"baseline": "nobody"}, "'nobody'"),
        ({"betas": []}, "beta"),
        ({"betas": [-1.0]}, r"beta.*-1"),
        ({"betas": [math.nan]}, r"beta.*nan"),
        ({"fairness": "nDCG@10"}, r"nDCG@10"),
        ({"folds": 1}, r"folds.*40"),
        ({"folds": 41}, r"folds.*40"),
        ({"fairness": "AP"}, "AP"),
        ({"alpha": 5}, r"alpha.*5"),
    ],
)
def test_what_cannot_be_chosen_by_is_refused(more: dict[str, object], named: str) -> None:
    with pytest.raises(ParameterError, match=named):
        chosen(**more)


def test_signed_measures_and_single_systems_have_no_choice() -> None:
    with pytest.raises(ParameterError, match="RaB@10"):
        chosen(scores("RaB@10"), fairness="RaB@10")
    with pytest.raises(ParameterError, match="'a'"):
        chosen(made({"a": {"nDCG@10": [0.1] * 6, "NFaiRR@10": [0.2] * 6}}))
    with pytest.raises(InputTypeError, match="dict"):
        chosen({"a": 1})


def test_the_table_has_a_row_for_each_beta() -> None:
    found = chosen(betas=[0, 1, math.inf], others="RR")
    rows = found.to_table().to_records()
    assert [row["beta"] for row in rows] == ["0", "1", "inf"]
    middle = found.rows[1]
    assert rows[1]["NFaiRR@10"] == middle.fairness.value
    assert rows[1]["NFaiRR@10 p"] == middle.fairness.p_value
    assert rows[2]["RR verdict"] == "worse"
    assert rows[1]["by_fold"] == "middle, middle, middle, middle, middle"
    (line,) = (line for line in found.to_table().to_text().splitlines() if line.startswith("1 "))
    assert line.split() == [
        "1", "middle", "middle", "5", f"{middle.fairness.value:.4f}", "+", f"{middle.relevance.value:.4f}",
        *(["-"] if middle.relevance.verdict else []), f"{middle.others['RR'].value:.4f}",
        str(found.queries), "yes",
    ]  # fmt: skip
