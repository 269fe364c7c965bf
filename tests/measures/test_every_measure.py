"""Every registered measure is put through the same checks; adding a measure adds its tests."""

from __future__ import annotations

import oracles
import pytest

from evenrank.measures import Measure, all_measures
from evenrank.testing import check_measure

# other values than the defaults, so that each parameter is seen to matter
VARIANTS = {
    "nDCG": [{"dcg": "exp-log2"}, {"judged_only": True}],
    "P": [{"rel": 2}, {"judged_only": True}],
    "R": [{"rel": 2}, {"judged_only": True}],
    "RR": [{"rel": 2}, {"judged_only": True}],
    "AP": [{"rel": 2}, {"judged_only": True}],
    "RBP": [{"p": 0.5}, {"rel": 2}, {"normalized": True}],
    "ERR": [{"max_grade": 4}],
    "iRBU": [{"phi": 0.8}, {"max_grade": 4}],
    "alpha_nDCG": [{"alpha": 0.0}, {"alpha": 1.0}, {"rel": 2}],
    "ERR_IA": [{"alpha": 0.2}, {"normalized": False}, {"normalized": False, "max_grade": 5}, {"rel": 3}],
    "NRBP": [{"alpha": 0.2}, {"beta": 0.8}, {"rel": 2}],
    "I_rec": [{"rel": 2}],
    "Dsharp_nDCG": [{"gamma": 0.2}],
}


def instances() -> list[Measure]:
    found = []
    for name, cls in all_measures().items():
        for arguments in [{}, *VARIANTS.get(name, [])]:
            measure = cls(**arguments)
            if measure.takes_cutoff:
                found += [measure @ 3, measure @ 30]
            if not measure.needs_cutoff:
                found.append(measure)
    return found


@pytest.mark.parametrize("measure", instances(), ids=repr)
def test_properties_and_slow_computation(measure: Measure) -> None:
    check_measure(measure, oracle=oracles.ORACLES[measure.name])


def test_every_measure_has_a_slow_computation() -> None:
    assert set(oracles.ORACLES) == set(all_measures())


def test_every_parameter_is_varied() -> None:
    for name, cls in all_measures().items():
        declared = {field.name for field in cls.parameters()}
        varied = {key for arguments in VARIANTS.get(name, []) for key in arguments}
        assert declared == varied, name


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
        (_in_place, "where the slow computation gives"),
    ],
)
def test_a_broken_kernel_is_caught(monkeypatch, mutation, complaint) -> None:
    cls = all_measures()["RR"]
    monkeypatch.setattr(cls, "contributions", mutation(cls.contributions))
    with pytest.raises(AssertionError, match=complaint):
        check_measure("RR(rel=2)", oracle=oracles.reciprocal_rank)


def test_an_undeclared_reason_is_caught(monkeypatch) -> None:
    monkeypatch.setattr(all_measures()["RR"], "undefined_when", {})
    with pytest.raises(AssertionError, match="reasons that it does not declare"):
        check_measure("RR")


def test_a_missing_declaration_is_caught(monkeypatch) -> None:
    monkeypatch.setattr(all_measures()["RR"], "reference", "")
    with pytest.raises(AssertionError, match="declares no reference"):
        check_measure("RR")


def test_looking_below_the_cutoff_is_caught(monkeypatch) -> None:
    cls = all_measures()["RR"]
    whole = cls.explain
    monkeypatch.setattr(cls, "depth", property(lambda self: None if self.cutoff == 3 else self.cutoff))
    monkeypatch.setattr(cls, "explain", lambda self, evidence: whole(self, evidence))
    with pytest.raises(AssertionError):
        check_measure("RR@3", oracle=oracles.reciprocal_rank)
