"""What each beta chooses, fold by fold, and what that is worth beside the baseline."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from drawn import made
from scipy import stats

from evenrank import Scores, compare, select
from evenrank.comparison.selection import Choices
from evenrank.comparison.selection_table import choice_table
from evenrank.errors import InputTypeError, ParameterError
from evenrank.tables import printed

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


def chosen(own: Scores | None = None, **more: object) -> Choices:
    own = scores() if own is None else own
    return select(own, relevance="nDCG@10", fairness=more.pop("fairness", "NFaiRR@10"), **more)  # type: ignore[arg-type]


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


@pytest.mark.parametrize("beta", [0, 0.2, 1, 3, math.inf])
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
    shown = printed([choice_table(found)], "table").splitlines()
    assert shown[2].split()[:6] == ["0", "plain", "plain", "4,", "middle", "1"]
    assert "+" not in shown[2]
    assert "yes" not in shown[2]
    assert shown[-1] == "betas that gain fairness without a significant loss: none of these"
    assert "none for rows that choose plain itself" in " ".join(" ".join(shown).split())


def test_lower_may_be_fairer() -> None:
    """NDKL of -x chooses as NFaiRR of x, and shows its own values."""
    usual, other = chosen(), chosen(scores("NDKL@10", -1.0), fairness="NDKL@10")
    for one, two in zip(usual.rows, other.rows, strict=True):
        assert (one.chosen, one.by_fold, one.acceptable) == (two.chosen, two.by_fold, two.acceptable)
        assert one.fairness.value == pytest.approx(-two.fairness.value)
        assert (one.fairness.p_value, one.fairness.verdict) == pytest.approx(
            (two.fairness.p_value, two.fairness.verdict)
        )


def test_a_comparison_will_do_too() -> None:
    own = scores()
    assert choice_table(chosen(compare(own))) == choice_table(chosen(own))  # type: ignore[arg-type]


def test_queries_without_a_value_of_every_system_are_left_out() -> None:
    values = {
        run: {measure: list(by_query.values()) for measure, by_query in measures.items()}
        for run, measures in scores().to_dict().items()
    }
    next(iter(next(iter(values.values())).values()))[3] = float("nan")
    found = chosen(made(values))
    assert (found.queries, found.dropped) == (QUERIES - 1, 1)
    assert "over 39 queries in 5 folds, seed 0; 1 without a value of every system left out" in " ".join(
        repr(found).split()
    )


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
    ("more", "says"),
    [
        ({"baseline": "nobody"}, "no system is called 'nobody'"),
        ({"betas": []}, "there is no beta"),
        ({"betas": [-1.0]}, "beta must be a number >= 0"),
        ({"fairness": "nDCG@10"}, "are both nDCG@10"),
        ({"folds": 1}, "folds must be from 2 to the 40 queries"),
        ({"fairness": "AP"}, "AP was not evaluated"),
    ],
)
def test_what_cannot_be_chosen_by_is_refused(more: dict[str, object], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        chosen(**more)


def test_signed_measures_and_single_systems_have_no_choice() -> None:
    with pytest.raises(ParameterError, match="nothing to choose by"):
        chosen(scores("RaB@10"), fairness="RaB@10")
    with pytest.raises(ParameterError, match="the only system is 'a'"):
        chosen(made({"a": {"nDCG@10": [0.1] * 6, "NFaiRR@10": [0.2] * 6}}))
    with pytest.raises(InputTypeError, match="a Comparison or Scores, got dict"):
        chosen({"a": 1})  # type: ignore[arg-type]


def test_the_table_as_it_is_printed() -> None:
    found = chosen(betas=[0, 1, math.inf], others="RR")
    shown = printed([choice_table(found)], "table").splitlines()
    assert shown[0].split("  ")[0] == "beta"
    assert shown[1].split()[:2] == ["plain", "(baseline)"]
    middle = found.rows[1]
    assert shown[3].split() == [
        "1", "middle", "middle", "5", f"{middle.fairness.value:.4f}", "+", f"{middle.relevance.value:.4f}",
        *(["-"] if middle.relevance.verdict else []), f"{middle.others['RR'].value:.4f}",
        str(found.queries), "yes",
    ]  # fmt: skip
    assert shown[-1] == "betas that gain fairness without a significant loss: 1"
    rows = [json.loads(line) for line in printed([choice_table(found)], "jsonl").splitlines()]
    assert [row["beta"] for row in rows] == ["0", "1", "inf"]
    assert rows[1]["NFaiRR@10"] == middle.fairness.value
    assert rows[1]["NFaiRR@10 p"] == middle.fairness.p_value
    assert rows[2]["RR verdict"] == "worse"
    assert rows[1]["by_fold"] == "middle, middle, middle, middle, middle"
    assert printed([choice_table(found)], "latex").count("\\\\\n") == 5
    assert printed([choice_table(found)], "markdown").count("\n| ") == 5
