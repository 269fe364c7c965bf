"""Penalties: the scale of scores, and what no short list shows."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

import evenrank as er
from evenrank.rerankers.score_scale import scaled


def list_of(scores: list[float]) -> tuple[er.Run, dict[str, str]]:
    """Every third document has words of one group only."""
    texts = {
        f"d{place}": "she said she would" if place % 3 == 0 else "no words" for place in range(len(scores))
    }
    return er.read_run({"q": dict(zip(texts, scores, strict=True))}), texts


@pytest.mark.parametrize("cutoff", [None, 10, 120])
def test_the_deviation_is_that_of_a_hundred_ranks(cutoff: int | None) -> None:
    """150 scores, of which the last fifty are far away: they must not make the penalty small."""
    scores = [200.0 - place for place in range(100)] + [-10_000.0 - place for place in range(50)]
    run, texts = list_of(scores)
    words = er.scan(texts, er.read_lexicon("gender-en"))
    method = "Penalty(lam=0.4)" + ("" if cutoff is None else f"@{cutoff}")
    found = er.rerank(run, method, words=words)
    spread = statistics.pstdev(scores[:100])
    value = {
        name: score / spread - (0.4 if place % 3 == 0 else 0.0)
        for place, (name, score) in enumerate(zip(texts, scores, strict=True))
    }
    names = list(texts)
    head = sorted(names[:cutoff], key=lambda name: -value[name])
    assert found.documents("q") == [*head, *names[len(head) :]]
    assert found.documents("q") != names


@pytest.mark.parametrize("factor", [1e-300, 1.0, 1e300])
def test_the_unit_of_scores_does_not_matter(factor: float) -> None:
    scores = np.array([[3.0, 2.0, 1.0, 0.5, 0.0]]) * factor
    mask = np.array([[True, True, True, True, False]])
    expected = np.array([3.0, 2.0, 1.0, 0.5]) / statistics.pstdev([3.0, 2.0, 1.0, 0.5])
    assert scaled(scores, mask, "sd")[0, :4] == pytest.approx(expected)


def test_equal_distances_of_groups_keep_the_order() -> None:
    """Of three groups with equal targets all are 2/3 away, whatever the last bit of that is."""
    run = er.read_run({"q": {"d0": 4.0, "d1": 3.0, "d2": 2.0, "d3": 2.0}})
    groups = er.Membership.from_labels("kind", {"d0": "b", "d1": "b", "d2": "c", "d3": "a"})
    found = er.rerank(run, "GroupPenalty(lam=1,marginal=False)", groups=groups)
    assert found.documents("q") == run.documents("q")


def test_scores_that_are_all_equal_are_left_as_they_are() -> None:
    scores, mask = np.array([[2.0, 2.0], [7.0, 0.0]]), np.array([[True, True], [True, False]])
    assert scaled(scores, mask, "sd")[mask].tolist() == [2.0, 2.0, 7.0]
    assert scaled(scores, mask, "none") is scores
    rounded = np.array([[-0.1] * 100 + [-0.3] * 20])  # their mean is not -0.1 to the last bit
    assert scaled(rounded, np.ones_like(rounded, dtype=bool), "sd").tolist() == rounded.tolist()
