"""Penalties: the scale of scores, and what no short list shows."""

from __future__ import annotations

import statistics

import pytest

import evenrank as er


def list_of(scores: list[float]) -> tuple[er.Run, dict[str, str]]:
    """Every third document has words of one group only."""
    texts = {
        f"d{place:03}": "she said she would" if place % 3 == 0 else "no words" for place in range(len(scores))
    }
    return er.Run.build(["q"] * len(scores), list(texts), scores, ties="file"), texts


def penalised(scores: list[float], method: str) -> list[int]:
    """The new order, as places in the old one."""
    run, texts = list_of(scores)
    words = er.scan(texts, er.read_lexicon("gender-en"))
    return [int(name[1:]) for name in er.rerank(run, method, words=words).documents("q")]


@pytest.mark.parametrize("cutoff", [None, 10, 120])
def test_the_deviation_is_that_of_a_hundred_ranks(cutoff: int | None) -> None:
    """150 scores, of which the last fifty are far away: they must not make the penalty small."""
    scores = [200.0 - place for place in range(100)] + [-10_000.0 - place for place in range(50)]
    found = penalised(scores, "Penalty(lam=0.4)" + ("" if cutoff is None else f"@{cutoff}"))
    spread = statistics.pstdev(scores[:100])
    value = [score / spread - (0.4 if place % 3 == 0 else 0.0) for place, score in enumerate(scores)]
    head = sorted(range(150)[:cutoff], key=lambda place: -value[place])
    assert found == [*head, *range(len(head), 150)]
    assert found != [*range(150)]


@pytest.mark.parametrize("factor", [1e-300, 1.0, 1e300])
def test_the_unit_of_scores_does_not_matter(factor: float) -> None:
    """In deviations of 1.08 the scores are 2.8, 1.9, 0.9, 0.5, 0, of which the first and fourth lose 1.5."""
    scores = [score * factor for score in (3.0, 2.0, 1.0, 0.5, 0.0)]
    assert penalised(scores, "Penalty(lam=1.5)") == [1, 0, 2, 4, 3]


def test_equal_distances_of_groups_keep_the_order() -> None:
    """Of three groups with equal targets all are 2/3 away, whatever the last bit of that is."""
    run = er.read_run({"q": {"d0": 4.0, "d1": 3.0, "d2": 2.0, "d3": 2.0}})
    groups = er.Membership.from_labels("kind", {"d0": "b", "d1": "b", "d2": "c", "d3": "a"})
    found = er.rerank(run, "GroupPenalty(lam=1,marginal=False)", groups=groups)
    assert found.documents("q") == run.documents("q")


def test_scores_that_are_all_equal_are_left_as_they_are() -> None:
    """The mean of a hundred times -0.1 is not -0.1 to the last bit, and no deviation to divide by."""
    found = penalised([-0.1] * 100 + [-0.3] * 20, "Penalty(lam=0.4)")
    value = [(-0.1 if place < 100 else -0.3) - (0.4 if place % 3 == 0 else 0.0) for place in range(120)]
    assert found == sorted(range(120), key=lambda place: -value[place])
    assert penalised([5.0], "Penalty(lam=0.4)") == [0]
    unscaled = penalised([1.0, 0.8, 0.1, 0.0], "Penalty(lam=0.4,scale='none')")
    assert unscaled == [1, 0, 2, 3]


@pytest.mark.parametrize("marginal", [True, False])
def test_large_scores_that_differ_in_the_last_bit_keep_the_order(marginal: bool) -> None:
    """Of three groups with equal targets all are 2/3 away; sums of thousands round that."""
    run = er.read_run({"q": dict.fromkeys(["d0", "d1", "d2"], 4000.0)}, ties="file")
    kind = er.Attribute("kind", ("a", "b", "c"))
    groups = er.Membership.from_labels(kind, {"d0": "c", "d1": "a", "d2": "b"})
    method = f"GroupPenalty(lam=5.024,scale='none',marginal={marginal})"
    assert er.rerank(run, method, groups=groups).documents("q") == ["d0", "d1", "d2"]
