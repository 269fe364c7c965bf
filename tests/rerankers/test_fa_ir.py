"""FA*IR: the published table, and how often a fair list fails all tests together."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from reranker_oracles import adjusted, failing, minima

from evenrank import Membership, Run, rerank
from evenrank.errors import EvenrankWarning, ParameterError
from evenrank.measures.minimum_table import adjusted_alpha, failure_probability, minimum_table
from evenrank.rerankers.fa_ir import TOO_FEW_PROTECTED

# Zehlike et al. 2017, the table of minimum counts at alpha = 0.1 for k = 1 .. 12; written down without the
# paper at hand, and equal to exact binomials (below) and to LensKit 2025.8.1
PUBLISHED = {
    0.1: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    0.2: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
    0.3: [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2],
    0.4: [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3],
    0.5: [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4],
    0.6: [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
    0.7: [0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 6],
}


@pytest.mark.parametrize("p", PUBLISHED)
def test_the_published_table(p: float) -> None:
    assert minimum_table(12, p, 0.1).tolist() == PUBLISHED[p]
    assert minima(12, Fraction(str(p)), Fraction(1, 10)) == PUBLISHED[p]


def test_the_table_where_the_distribution_hits_alpha() -> None:
    """F(0; 1, 0.9) is 0.1 and F(0; 3, 0.5) is 0.125: not larger than alpha, so one more is asked for."""
    assert minimum_table(1, 0.9, 0.1).tolist() == [1]
    assert minimum_table(3, 0.5, 0.125).tolist() == [0, 0, 1]
    for p, alpha in itertools.product(("0.05", "0.25", "0.5", "0.9"), ("0.01", "0.125", "0.25", "0.5")):
        exactly = minima(25, Fraction(p), Fraction(alpha))
        assert minimum_table(25, float(p), float(alpha)).tolist() == exactly


def test_a_share_of_nothing_or_all() -> None:
    assert minimum_table(4, 0.0, 0.1).tolist() == [0, 0, 0, 0]
    assert minimum_table(4, 1.0, 0.1).tolist() == [1, 2, 3, 4]
    assert minimum_table(0, 0.5, 0.1).tolist() == []
    assert adjusted_alpha(0, 0.5, 0.1) == 0
    assert failure_probability(minimum_table(0, 0.5, 0.1), 0.5) == 0  # there is nothing to fail
    assert failure_probability(minimum_table(4, 0.0, 0.1), 0.5) == 0


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.7])
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3])
def test_failure_probability_by_going_through_all_lists(p: float, alpha: float) -> None:
    table = minimum_table(12, p, alpha)
    fails = 0.0
    for members in itertools.product((0, 1), repeat=12):
        if (np.cumsum(members) < table).any():
            fails += p ** sum(members) * (1 - p) ** (12 - sum(members))
    assert failure_probability(table, p) == pytest.approx(fails, abs=1e-12)
    assert float(failing(table.tolist(), Fraction(str(p)))) == pytest.approx(fails, abs=1e-12)


@pytest.mark.parametrize("ranks", [1, 5, 12, 20])
@pytest.mark.parametrize("p", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
def test_adjusted_alpha_is_the_largest_that_keeps_to_alpha(ranks: int, p: float) -> None:
    alpha = adjusted_alpha(ranks, p, 0.1)
    exactly = adjusted(ranks, Fraction(str(p)), Fraction(1, 10))
    assert minimum_table(ranks, p, alpha).tolist() == list(exactly)
    fails = failure_probability(minimum_table(ranks, p, alpha), p)
    assert fails == pytest.approx(float(failing(exactly, Fraction(str(p)))), abs=1e-12)
    assert alpha <= 0.1
    assert fails <= 0.1 + 1e-12


def test_other_implementations() -> None:
    """Failure probabilities of fairsearchcore 1.0.4 (its tests) and LensKit 2025.8.1 (computed with it).

    fairsearchcore takes the table nearest to alpha on either side. LensKit means the last one that keeps to
    it, and stops on either side of the step: of 315 tables (5 to 100 ranks) 191 fail more often than alpha,
    for 5 ranks, p = 0.1 and alpha = 0.01 in 59 of 100 lists. The other 124 are ours.
    """
    assert failure_probability(minimum_table(10, 0.2, 0.15), 0.2) == pytest.approx(0.134217728, abs=1e-9)
    ours = failure_probability(minimum_table(30, 0.3, adjusted_alpha(30, 0.3, 0.05)), 0.3)
    assert ours == pytest.approx(0.04877730797178359, abs=1e-9)
    theirs = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]
    assert failure_probability(np.array(theirs), 0.25) == pytest.approx(0.10515247355215251, abs=1e-12)
    for ranks, p, alpha, fails in (
        (20, 0.25, 0.0750846863084007, 0.10515247355215251),
        (30, 0.5, 0.03515625002910383, 0.10149472206830867),
        (50, 0.2, 0.04401020726072602, 0.10029563615408155),
        (100, 0.6, 0.0826442647667136, 0.30014063866038243),
    ):
        assert failure_probability(minimum_table(ranks, p, alpha), p) == pytest.approx(fails, abs=1e-12)


def test_simulated_lists_fail_as_often() -> None:
    generator = np.random.default_rng(0)
    table = minimum_table(40, 0.4, adjusted_alpha(40, 0.4, 0.1))
    fair = (generator.random((40_000, 40)) < 0.4).cumsum(axis=1)
    share = float((fair < table).any(axis=1).mean())
    expected = failure_probability(table, 0.4)
    assert share == pytest.approx(expected, abs=6 * (expected * (1 - expected) / 40_000) ** 0.5)


RUN = Run.build(["q"] * 6, list("abcdef"), [6, 5, 4, 3, 2, 1])
GROUPS = Membership.from_labels("sex", dict(zip("abcdef", "mmmmff", strict=True)))


def test_protected_documents_come_when_they_must() -> None:
    new = rerank(RUN, "FA_IR(p=0.5,alpha=0.1,adjust=False,protected='f')", groups=GROUPS)
    assert new.documents("q") == ["a", "b", "c", "e", "d", "f"]  # one of the first four
    new = rerank(RUN, "FA_IR(p=0.7,alpha=0.1,adjust=False,protected='f',top=4)", groups=GROUPS)
    assert new.documents("q") == ["a", "e", "b", "f", "c", "d"]


def test_too_few_protected_documents_are_reported() -> None:
    with pytest.warns(EvenrankWarning, match=TOO_FEW_PROTECTED):
        new = rerank(RUN, "FA_IR(p=0.7,alpha=0.1,adjust=False,protected='f')", groups=GROUPS)
    assert new.documents("q") == ["a", "e", "b", "f", "c", "d"]


@pytest.mark.parametrize("name", ["p", "alpha"])
@pytest.mark.parametrize("value", [0, 0.0, 1, 1.0, -0.1, 1.1])
def test_a_share_or_a_significance_of_0_or_1_is_refused(name: str, value: float) -> None:
    with pytest.raises(ParameterError, match=f"FA_IR: {name} must be a number > 0 and < 1"):
        rerank(RUN, f"FA_IR({name}={value},protected='f')", groups=GROUPS)


def test_what_is_protected_must_be_said() -> None:
    with pytest.raises(ParameterError, match="say which value is protected, protected='m'"):
        rerank(RUN, "FA_IR", groups=GROUPS)
    with pytest.raises(ParameterError, match="'x' is not a value of 'sex': 'm', 'f'"):
        rerank(RUN, "FA_IR(protected='x')", groups=GROUPS)
