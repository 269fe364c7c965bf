"""Which share of a log would be kept, from a stratified sample: the draw, the estimate and its interval."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

Evenrank = Callable[..., SimpleNamespace]
NUMBER = r"([\d.]+)%"
SHARE = re.compile(rf"{NUMBER} would be kept\s+\[{NUMBER}, {NUMBER}\]")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("one.toml").write_text('workers = 1\nexperts = 1\nquestions = ["fair"]\ndomains = ["Work"]\n')
    return tmp_path


def write(name: str, head: str, rows: Iterable[Sequence[object]]) -> None:
    with Path(name).open("w", newline="") as file:
        csv.writer(file).writerows([head.split(","), *rows])


def collected(
    evenrank: Evenrank, sizes: Sequence[int], drawn: Sequence[int], kept: Mapping[str, bool]
) -> SimpleNamespace:
    """So many queries were drawn from strata of these sizes, with numbers as ids; these were decided."""
    strata = [place for place, own in enumerate(drawn) for _ in range(own)]
    candidates = [
        (i, f"text {i}", f"s{place}", sizes[place] / drawn[place]) for i, place in enumerate(strata)
    ]
    write("c.csv", "query,text,stratum,weight", candidates)
    labels = [("w", i, f"text {i}", "n" if one else "m") for i, one in kept.items()]
    write("w.csv", "annotator,query,text,label", labels)
    yes = [("e", i, f"text {i}", "yes", "Work", "why") for i, one in kept.items() if one]
    write("e.csv", "annotator,query,text,fair,domains,reason", yes)
    done = evenrank("queryset", "collect", "w.csv", "e.csv", "--procedure", "one.toml", "--queries", "c.csv")
    assert done.code == 0, done.err
    return done


def share(*arguments: object) -> tuple[float, float, float]:
    """The share and the limits of its interval, which are said in tenths of a per cent."""
    done = collected(*arguments)  # type: ignore[arg-type]
    found = SHARE.search(done.err)
    assert found, done.err
    value, low, high = (float(one) / 100 for one in found.groups())
    return value, low, high


def first(kept: int, count: int) -> dict[str, bool]:
    return {str(i): i < kept for i in range(count)}


@pytest.mark.parametrize("kept", [0, 100])
def test_none_or_all_of_the_sample_says_something_of_the_rest(evenrank: Evenrank, kept: int) -> None:
    """None of n kept is compatible with every share p of which (1 - p)^n is at least 2.5%."""
    value, low, high = share(evenrank, [10**8], [100], first(kept, 100))
    limit = 1 - 0.025 ** (1 / 100)
    assert (low, high) == pytest.approx((1 - limit, 1.0) if kept else (0.0, limit), abs=6e-4)
    assert value == kept / 100


def test_the_interval_knows_how_large_the_log_is(evenrank: Evenrank) -> None:
    """With all queries decided nothing is uncertain. With 50 of 60, one of the other ten may well be kept:
    that the sample misses the only one has a chance of 1 in 6."""
    assert share(evenrank, [30, 20], [30, 20], first(5, 50)) == pytest.approx((0.1, 0.1, 0.1))
    _, _, high = share(evenrank, [60], [50], first(0, 50))
    assert 1 / 60 - 6e-4 <= high <= 10 / 60 + 6e-4
    small, large = (share(evenrank, [size], [100], first(30, 100)) for size in (150, 10**6))
    assert small[2] - small[1] < 0.7 * (large[2] - large[1])
    assert small[1] >= 30 / 150 - 6e-4
    assert small[2] <= 1 - 70 / 150 + 6e-4


def test_strata_weigh_as_much_as_they_have_of_the_log(evenrank: Evenrank) -> None:
    value, low, high = share(evenrank, [900, 100], [10, 10], {str(i): i >= 10 for i in range(20)})
    assert value == 0.1
    assert low < 0.1 < high


def test_strata_that_differ_fully_do_not_make_the_interval_a_point(evenrank: Evenrank) -> None:
    """All of one stratum, none of the other: the spread within strata is 0, but the rest is not known."""
    value, low, high = share(evenrank, [500, 500], [10, 10], first(10, 20))
    assert value == 0.5
    assert low < 0.4
    assert high > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("drawn", [(50, 30, 20), (20, 30, 50)], ids=["proportional", "disproportional"])
def test_the_interval_covers_low_shares(evenrank: Evenrank, drawn: tuple[int, ...]) -> None:
    sizes, generator = (1000, 600, 400), np.random.default_rng(7)
    truth = [round(0.03 * size) for size in sizes]
    repeats, covered = 300, 0
    for _ in range(repeats):
        found = [
            generator.permutation(np.arange(own) < generator.hypergeometric(kept, size - kept, own))
            for kept, size, own in zip(truth, sizes, drawn, strict=True)
        ]
        decided = dict(zip(map(str, range(100)), np.concatenate(found).tolist(), strict=True))
        _, low, high = share(evenrank, sizes, drawn, decided)
        covered += low - 6e-4 <= sum(truth) / sum(sizes) <= high + 6e-4
    assert covered / repeats > 0.95 - 4.8 * math.sqrt(0.95 * 0.05 / repeats)


def test_a_stratum_without_a_decision_leaves_the_share_undefined(evenrank: Evenrank) -> None:
    done = collected(evenrank, [1000, 500], [10, 10], first(5, 10))
    assert not SHARE.search(done.err)
    for word in ("'s1'", " 500 ", "1,500"):
        assert word in done.err


def test_a_candidate_without_a_weight_is_an_error(evenrank: Evenrank) -> None:
    collected(evenrank, [10], [2], first(1, 2))
    write("c.csv", "query,text,stratum,weight", [(0, "text 0", "all", 2), (1, "text 1", "all", "")])
    done = evenrank("queryset", "collect", "w.csv", "e.csv", "--procedure", "one.toml", "--queries", "c.csv")
    assert done.code == 1
    assert "'1'" in done.err


def drawn_from(
    evenrank: Evenrank, queries: int, domains: int, asked: int
) -> tuple[list[dict[str, str]], str]:
    write("log.csv", "query,text,domain", [(f"q{i}", f"text {i}", f"d{i % domains}") for i in range(queries)])
    done = evenrank("queryset", "suggest", "log.csv", "--sample", asked, "-o", "candidates.csv")
    assert done.code == 0, done.err
    with Path("candidates.csv").open(newline="") as file:
        return list(csv.DictReader(file)), done.err


def test_the_sample_has_as_many_queries_as_asked_for(evenrank: Evenrank) -> None:
    """Also where the shares of the strata are no whole numbers: by rounding alone it would be 8 or 12."""
    for asked in (9, 10, 11, 13, 79, 80, 100):
        rows, _ = drawn_from(evenrank, 80, 4, asked)
        assert len({row["query"] for row in rows}) == len(rows) == min(asked, 80)
        sizes = Counter(row["stratum"] for row in rows)
        assert len(sizes) == 4
        assert max(sizes.values()) - min(sizes.values()) <= 1
        assert sum(float(row["weight"]) for row in rows) == pytest.approx(80)


def test_suggest_says_when_it_drew_more(evenrank: Evenrank) -> None:
    """Two of each stratum at least, since one query does not show how much a stratum varies."""
    rows, said = drawn_from(evenrank, 600, 60, 100)
    assert len(rows) == 120
    assert set(Counter(row["stratum"] for row in rows).values()) == {2}
    assert " 100" in said
    assert "60 strata" in said
    assert "60 strata" not in drawn_from(evenrank, 600, 60, 130)[1]
