"""Which share of a log would be kept, from a stratified sample: the draw, the estimate and its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from evenrank.errors import DataError
from evenrank.io.queries import Queries, read_queries
from evenrank.queryset.log_share import estimate
from evenrank.queryset.sampling import LoggedQuery, candidates_of, suggest

Evenrank = Callable[..., SimpleNamespace]


def logged(folder: Path, rows: Sequence[tuple[str, str, str]]) -> Queries:
    path = folder / "log.csv"
    path.write_text("query,text,domain\n" + "".join(f"{q},{t},{d}\n" for q, t, d in rows))
    return read_queries(str(path))


def sampled(sizes: Sequence[int], drawn: Sequence[int]) -> list[LoggedQuery]:
    """So many queries drawn from strata of these sizes; the ids are numbers."""
    strata = [(place, size / own) for place, (size, own) in enumerate(zip(sizes, drawn, strict=True))]
    names = [one for one, own in zip(strata, drawn, strict=True) for _ in range(own)]
    return [LoggedQuery(str(i), "", 1.0, f"s{place}", weight) for i, (place, weight) in enumerate(names)]


def test_a_stratified_sample_has_weights_that_give_the_truth_back(tmp_path: Path) -> None:
    """Strata of unequal size and share: the weighted mean is unbiased, the interval covers."""
    generator = np.random.default_rng(0)
    rows = [(f"q{i}", f"text {i}", "ab"[i % 10 == 0]) for i in range(2000)]
    truth = {q: bool(generator.random() < (0.9 if domain == "b" else 0.1)) for q, _, domain in rows}
    log = logged(tmp_path, rows)
    mean = np.mean(list(truth.values()))
    found = [estimate(suggest(log, 100, seed=seed)[0], truth) for seed in range(40)]
    assert found[0].population == 2000
    shares = np.array([one.share for one in found])
    assert abs(shares.mean() - mean) < 5 * shares.std(ddof=1) / len(shares) ** 0.5
    assert sum(one.low <= mean <= one.high for one in found) >= 31  # below: a chance of 1e-6 at 95%


@pytest.mark.parametrize("drawn", [(50, 30, 20), (20, 30, 50)], ids=["proportional", "disproportional"])
@pytest.mark.parametrize("share", [0.01, 0.03, 0.12])
def test_the_interval_covers_low_shares(share: float, drawn: tuple[int, ...]) -> None:
    sizes = (1000, 600, 400)
    sample = sampled(sizes, drawn)
    places = [str(i) for i in range(len(sample))]
    generator = np.random.default_rng(7)
    truth = [round(share * size) for size in sizes]
    repeats, covered = 2000, 0
    for _ in range(repeats):
        found = [
            generator.permutation(np.arange(own) < generator.hypergeometric(kept, size - kept, own))
            for kept, size, own in zip(truth, sizes, drawn, strict=True)
        ]
        one = estimate(sample, dict(zip(places, np.concatenate(found).tolist(), strict=True)))
        covered += one.low <= sum(truth) / sum(sizes) <= one.high
    error = math.sqrt(0.95 * 0.05 / repeats)
    assert covered / repeats > 0.95 - 4.8 * error  # a chance below 1e-6


@pytest.mark.parametrize("kept", [False, True])
def test_none_or_all_of_the_sample_says_something_of_the_rest(kept: bool) -> None:
    """None of n kept is compatible with every share p of which (1 - p)^n is at least 2.5%."""
    found = estimate(sampled([10**8], [100]), {str(i): kept for i in range(100)})
    limit = 1 - 0.025 ** (1 / 100)
    expected = (1 - limit, 1.0) if kept else (0.0, limit)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-6)
    assert found.share == kept


def test_the_interval_knows_how_large_the_log_is() -> None:
    """With all queries decided nothing is uncertain. With 50 of 60, one of the other ten may well be kept:
    that the sample misses the only one has a chance of 1 in 6."""
    everything = estimate(sampled([30, 20], [30, 20]), {str(i): i < 5 for i in range(50)})
    assert (everything.low, everything.share, everything.high) == pytest.approx((0.1, 0.1, 0.1))
    nothing = estimate(sampled([60], [50]), {str(i): False for i in range(50)})
    assert 1 / 60 <= nothing.high <= 10 / 60
    small, large = (
        estimate(sampled([size], [100]), {str(i): i < 30 for i in range(100)}) for size in (150, 10**6)
    )
    assert small.high - small.low < 0.7 * (large.high - large.low)
    assert small.low >= 30 / 150
    assert small.high <= 1 - 70 / 150


def test_strata_that_differ_fully_do_not_make_the_interval_a_point() -> None:
    """All of one stratum, none of the other: the spread within strata is 0, but the rest is not known."""
    found = estimate(sampled([500, 500], [10, 10]), {str(i): i < 10 for i in range(20)})
    assert found.share == 0.5
    assert found.low < 0.4
    assert found.high > 0.6


def test_a_stratum_without_a_decision_leaves_the_share_undefined() -> None:
    found = estimate(sampled([1000, 500], [10, 10]), {str(i): i < 5 for i in range(10)})
    assert found.population == 1500
    assert found.drawn == 10
    assert all(map(math.isnan, (found.share, found.low, found.high)))
    assert found.reason == (
        "no drawn query of the stratum 's1' was decided, which holds 500 of the 1,500 queries"
    )
    nothing = estimate(sampled([1000, 500], [10, 10]), {})
    assert nothing.reason == (
        "no drawn query of the strata 's0', 's1' was decided, which hold 1,500 of the 1,500 queries"
    )


def test_a_candidate_without_a_weight_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text("query,text,stratum,weight\n1,one,all,2\n2,two,all,\n")
    with pytest.raises(DataError, match="the weight of '2' is not a number of at least 1: ''"):
        candidates_of(read_queries(str(path)))


def test_the_sample_has_as_many_queries_as_asked_for(tmp_path: Path) -> None:
    """Also where the shares of the strata are no whole numbers: by rounding alone it would be 8 or 12."""
    log = logged(tmp_path, [(f"q{i}", f"text {i}", f"d{i % 4}") for i in range(80)])
    for asked in (9, 10, 11, 13, 79, 80, 100):
        drawn, flow = suggest(log, asked)
        assert len(drawn) == flow["drawn"] == min(asked, 80)
        sizes = [sum(one.stratum == f"d{number}" for one in drawn) for number in range(4)]
        assert max(sizes) - min(sizes) <= 1
        assert sum(one.weight for one in drawn) == pytest.approx(80)


def test_suggest_says_why_it_drew_more(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    logged(tmp_path, [(f"q{i}", f"text {i}", f"d{i % 60}") for i in range(600)])
    more = evenrank("queryset", "suggest", "log.csv", "--sample", "100", "-o", "c.csv")
    assert (
        "drew 120 queries rather than 100: each of the 60 strata gets two, or what it has, since one query "
        "does not show how much a stratum varies"
    ) in more.err
    assert "rather than" not in evenrank("queryset", "suggest", "log.csv", "--sample", "130").err
