"""Every registered measure is put through the same checks; adding a measure adds its tests."""

from __future__ import annotations

import fair_oracles
import group_oracles
import oracles
import order_oracles
import pair_oracles
import peer_oracles
import pytest
import word_oracles
from measure_evidence import evidence_for

from evenrank import all_measures, parse_measure
from evenrank.measures import Measure
from evenrank.testing import Case, check_measure

SLOW_DEFAULT = {"RandomOrder"}  # a thousand orders of every list
MISSING = [{"missing": "neutral"}, {"missing": "drop"}]

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
    "AWRF": [
        *({"distance": distance} for distance in ("JSD", "KL", "Hellinger")),
        {"distance": "JSD", "fairness": True},
        *({"attention": bias} for bias in ("rbp(p=0.5)", "reciprocal", "uniform")),
        *MISSING,
    ],
    "RandomOrder": [
        {"samples": 20},
        {"samples": 10, "seed": 3},
        {"samples": 10, "measure": parse_measure("TExFAIR")},
    ],
    "TExFAIR": [{"rbdf": False}, {"normalized": True}, {"attention": "reciprocal"}, *MISSING],
    "TED": [{"rbdf": False}, {"attention": "uniform"}, *MISSING],
    **{name: [{"attention": "rbp(p=0.7)"}, *MISSING] for name in ("RBDF", "GroupExposure", "TermExposure")},
    **{name: [{"tau": 0}, {"tau": 3}, *MISSING] for name in ("FaiRR", "NFaiRR", "SetFaiRR", "NSetFaiRR")},
    **{name: [{"form": "tf"}, {"form": "bool"}, *MISSING] for name in ("RaB", "ARaB")},
}
for kind, arguments in [
    *group_oracles.GROUP_VARIANTS.items(),
    *fair_oracles.FAIR_VARIANTS.items(),
    *order_oracles.ORDER_VARIANTS.items(),
    *pair_oracles.PAIR_VARIANTS.items(),
    *peer_oracles.PEER_VARIANTS.items(),
    *peer_oracles.INTENTS_BY_GROUP.items(),
]:
    VARIANTS[kind] = [*VARIANTS.get(kind, []), *arguments]
MANY_CASES = 12
ELSEWHERE = set(order_oracles.ORDER_ORACLES)  # with scores of their own, in test_indexical.py


def awrf(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    by = word_oracles.awrf if m.attr is None else group_oracles.awrf_by_groups
    return by(m, documents, case, query)


def by_intents(name: str):
    own = oracles.ORACLES[name]
    return lambda m, *rest: (own if m.attr is None else peer_oracles.by_groups)(m, *rest)


ORACLES = {
    **oracles.ORACLES,
    **{name: by_intents(name) for name in peer_oracles.INTENTS_BY_GROUP},
    **word_oracles.WORD_ORACLES,
    **group_oracles.GROUP_ORACLES,
    **fair_oracles.FAIR_ORACLES,
    **order_oracles.ORDER_ORACLES,
    **pair_oracles.PAIR_ORACLES,
    **peer_oracles.PEER_ORACLES,
    "AWRF": awrf,
}


def by_depth() -> dict[str, list[list[Measure]]]:
    """For every measure, its defaults and each of its variants: the same at several depths."""
    found: dict[str, list[list[Measure]]] = {}
    for name, cls in all_measures().items():
        if name in ELSEWHERE:
            continue
        for arguments in [*([] if name in SLOW_DEFAULT else [{}]), *VARIANTS.get(name, [])]:
            measure = cls(**arguments)
            depths = [] if measure.needs_cutoff else [measure]
            if measure.takes_cutoff:
                depths += [measure @ 3] if measure.family == "groups" else [measure @ 3, measure @ 30]
            found.setdefault(name, []).append(depths)
    return found


def instances() -> list[Measure]:
    return [measure for variants in by_depth().values() for depths in variants for measure in depths]


def quick_ones() -> list[Measure]:
    """Every fifth variant of each measure at one depth, and each time the next one."""
    chosen = [depths for variants in by_depth().values() for depths in variants[::5]]
    return [depths[place % len(depths)] for place, depths in enumerate(chosen)]


@pytest.mark.parametrize("measure", quick_ones(), ids=repr)
def test_properties_and_slow_computation(measure: Measure) -> None:
    check_measure(measure, oracle=ORACLES[measure.name], evidence=evidence_for(measure), cases=1)


@pytest.mark.slow
@pytest.mark.parametrize("measure", instances(), ids=repr)
def test_properties_and_slow_computation_over_many_cases(measure: Measure) -> None:
    check_measure(measure, oracle=ORACLES[measure.name], evidence=evidence_for(measure), cases=MANY_CASES)


def test_every_measure_has_a_slow_computation() -> None:
    assert set(ORACLES) == set(all_measures())


def test_every_parameter_is_varied() -> None:
    for name, cls in all_measures().items():
        declared = {field.name for field in cls.parameters()}
        varied = {key for arguments in VARIANTS.get(name, []) for key in arguments}
        assert declared == varied, name


def test_every_measure_says_what_its_ends_mean() -> None:
    for name, cls in all_measures().items():
        assert any(end in cls.summary() for end in ("0", "1", "infinity")), name


def test_every_measure_has_a_name_in_words() -> None:
    for name, cls in all_measures().items():
        words = cls.__dict__.get("in_words", "")  # not those of the measure that it is derived from
        assert 5 <= len(words) <= 32, name
        assert words[0].islower(), name
