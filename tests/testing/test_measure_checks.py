"""The checks that every measure is put through find what is broken."""

from __future__ import annotations

import oracles
import pytest

from evenrank import Lexicon, ParameterError, WordCounts, all_measures
from evenrank.testing import check_measure


def _scaled(kernel):
    return lambda self, evidence: kernel(self, evidence) * 0.9


def _too_large(kernel):
    return lambda self, evidence: kernel(self, evidence) + 2


def _whole_batch(kernel):
    return lambda self, evidence: kernel(self, evidence) / max(1, len(evidence))


def _in_place(kernel):
    def broken(self, evidence):
        evidence.ranked["relevance"][:] *= 0.5
        return kernel(self, evidence)

    return broken


@pytest.mark.parametrize(
    ("mutation", "complaint"),
    [
        (_scaled, "where the slow computation gives"),
        (_too_large, "outside its range"),
        (_whole_batch, "depends on the other queries"),
    ],
)
def test_a_broken_kernel_is_caught(monkeypatch, mutation, complaint) -> None:
    cls = all_measures()["RR"]
    monkeypatch.setattr(cls, "explain", mutation(cls.explain))
    with pytest.raises(AssertionError, match=complaint):
        check_measure("RR(rel=2)", oracle=oracles.reciprocal_rank)


def test_what_measures_share_cannot_be_changed(monkeypatch) -> None:
    cls = all_measures()["RR"]
    monkeypatch.setattr(cls, "explain", _in_place(cls.explain))
    with pytest.raises(ValueError, match="read-only"):
        check_measure("RR")


def test_an_undeclared_reason_is_caught(monkeypatch) -> None:
    monkeypatch.setattr(all_measures()["RR"], "undefined_when", {})
    with pytest.raises(AssertionError, match="reasons that it does not declare"):
        check_measure("RR")


def test_a_missing_declaration_is_caught(monkeypatch) -> None:
    monkeypatch.setattr(all_measures()["RR"], "reference", "")
    with pytest.raises(AssertionError, match="declares no reference"):
        check_measure("RR")


@pytest.mark.parametrize(
    ("attribute", "value", "complaint"),
    [
        ("__doc__", "How early the first relevant document comes.", "the ends of its range"),
    ],
)
def test_a_page_that_nobody_finds_or_understands_is_caught(monkeypatch, attribute, value, complaint) -> None:
    check_measure("RR", cases=1)
    monkeypatch.setattr(all_measures()["RR"], attribute, value)
    with pytest.raises(AssertionError, match=complaint):
        check_measure("RR", cases=1)


def test_looking_below_the_cutoff_is_caught(monkeypatch) -> None:
    monkeypatch.setattr(all_measures()["RR"], "depth", property(lambda self: None))
    with pytest.raises(AssertionError, match="looks below its cut-off"):
        check_measure("RR@3")


def test_depending_on_ids_is_caught(monkeypatch) -> None:
    cls = all_measures()["I_rec"]
    first = lambda self, evidence: self.judged(evidence)[:, :1, 0] * evidence.ranked.mask[:, :1]  # noqa: E731
    monkeypatch.setattr(cls, "explain", first)
    with pytest.raises(AssertionError, match="depends on what documents are called"):
        check_measure("I_rec")


def test_a_name_that_only_the_evidence_knows_is_told(monkeypatch) -> None:
    """What is there stands in the error: the columns of evidence, and how a check gets any."""

    def words(documents, generator):
        lexicon = Lexicon.build("sides", {"left": ["l"], "right": ["r"]})
        yield WordCounts.build(
            documents, [9] * len(documents), generator.integers(0, 3, (len(documents), 2)), lexicon
        )

    with pytest.raises(ParameterError, match="needs words: pass evidence="):
        check_measure("FaiRR@5", cases=1)
    measure = all_measures()["FaiRR"]
    for name, told in (("words.count", "'words.counts'"), ("word.counts", "words")):
        monkeypatch.setattr(measure, "compute", lambda self, evidence, name=name: evidence.ranked[name])
        with pytest.raises(ParameterError, match=rf"'{name}' .*{told}"):
            check_measure("FaiRR@5", evidence=words, cases=1)
