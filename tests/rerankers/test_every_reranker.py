"""Every registered re-ranker is put through the same checks; adding one adds its tests."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
import reranker_oracles
from greedy_oracles import GREEDY_ORACLES, GREEDY_PROMISES, GREEDY_VARIANTS, WITHOUT_ORACLE
from reranker_oracles import ATTRIBUTES, DET

import evenrank as er
from evenrank import Membership, rerank
from evenrank.rerankers import Reordered, Reranker, all_rerankers, parse_reranker
from evenrank.testing import check_reranker

ORACLES = {**reranker_oracles.ORACLES, **GREEDY_ORACLES}
PROMISES = {**reranker_oracles.PROMISES, **GREEDY_PROMISES}

# the values of parameters; each one is seen to matter
BY_GROUP = [
    *({"attr": name} for name in ATTRIBUTES),
    {"attr": "side*topic"},
    {"attr": "origin", "missing": "stay"},
    {"attr": "origin", "missing": "error"},
]
VARIANTS = {
    **{
        name: [*BY_GROUP, {"attr": "origin", "top": 4}, {"attr": "stars", "top": 2, "missing": "stay"}]
        for name in DET
    },
    "FA_IR": [
        {"attr": "side", "protected": "left", "p": 0.5},
        {"attr": "side", "protected": "right", "alpha": 0.4},
        {"attr": "topic", "protected": "b", "adjust": False},
        {"attr": "origin", "protected": "south", "p": 0.6, "missing": "stay", "top": 5},
        {"attr": "origin", "protected": "east", "p": 0.3, "adjust": False, "missing": "error"},
    ],
    "MMR": [
        *BY_GROUP,
        {"attr": "topic", "lam": 0.0},
        {"attr": "tags", "lam": 0.8},
        {"attr": "side", "lam": 1.0},
    ],
    "VectorMMR": [
        {},
        {"table": "shop", "lam": 0.0},
        {"table": "shop", "lam": 0.8, "missing": "behind"},
        {"lam": 1.0},
    ],
    "PolarityMMR": [
        {},
        {"axis": 2, "lam": 0.0},
        {"lam": 0.8, "missing": "behind"},
        {"axis": 2, "lam": 1.0},
    ],
    **{
        name: [
            *({"attr": attr} for attr in ATTRIBUTES),
            {"attr": "side*topic"},
            {"attr": "topic", "lam": 0.0},
            {"attr": "tags", "lam": 0.9},
            {"attr": "origin", "lam": 1.0, "missing": "error"},
        ]
        for name in ("PM2", "xQuAD")
    },
    "Neutral": [
        {},
        {"band": 3},
        {"band": None, "missing": "neutral"},
        {"band": 4, "tau": 3, "missing": "behind"},
    ],
    "Penalty": [
        {},
        {"lam": 0.0},
        {"lam": 0.3, "scale": "none"},
        {"lam": 4.0, "tau": 3},
        {"missing": "error", "tau": 0},
    ],
    "GroupPenalty": [
        *BY_GROUP,
        {"attr": "topic", "lam": 0.0},
        {"attr": "tags", "lam": 3.0, "scale": "none"},
        {"attr": "side", "lam": 5.0, "marginal": False},
        {"attr": "origin", "lam": 2.0, "marginal": False, "missing": "behind"},
        {"attr": "stars", "lam": 2.0, "missing": "behind"},
    ],
    "Oracle": [{}, {"insert": True}],
    "Random": [{}, {"seed": 3}],
    "SortBy": [
        {"field": "shop.rating"},
        {"field": "shop.price", "ascending": True},
        {"field": "shop.rating", "missing": "behind"},
    ],
    "Unique": [
        *BY_GROUP[:-2],
        {"attr": "origin", "missing": "behind"},
        {"attr": "origin", "missing": "error"},
    ],
    **GREEDY_VARIANTS,
}
PROTECTED = ("small & new", "small", "new")
STILL = {
    "SortBy": True,
    "Random": False,
    "Oracle": False,
    "Unique": False,
    "PolarityMMR": False,
}  # with one group for all
STILL |= dict.fromkeys(GREEDY_VARIANTS, False)  # by relevance and opinions, too


def known() -> dict[str, type[Reranker]]:
    return {name: cls for name, cls in all_rerankers().items() if cls.__module__.startswith("evenrank.")}


def instances() -> list[Reranker]:
    """All variants, and every second one with a cut-off, too."""
    found = []
    for name, cls in known().items():
        methods = [cls(**arguments) for arguments in VARIANTS.get(name, [])]
        found += methods + [method @ 4 for method in methods[::2]]
    return found


def quick_ones() -> list[Reranker]:
    """Every fifth variant."""
    found = []
    for name in known():
        found += [method for method in instances() if method.name == name][::5]
    return found


@pytest.mark.parametrize("method", quick_ones(), ids=repr)
def test_properties_and_slow_computation(method: Reranker) -> None:
    check(method, cases=4 if method.stochastic else 1)  # another seed must give another order in one of them


@pytest.mark.slow
@pytest.mark.parametrize("method", instances(), ids=repr)
def test_properties_and_slow_computation_over_many_cases(method: Reranker) -> None:
    check(method, cases=12)


def check(method: Reranker, cases: int) -> None:
    check_reranker(
        method,
        evidence=evidence_for(method),
        oracle=ORACLES.get(method.name),
        promise=PROMISES.get(method.name),
        unchanged=still_for(method),
        cases=cases,
    )


def evidence_for(method: Reranker):
    """With gaps wherever the method has a rule for them."""
    return random_evidence(getattr(method, "missing", "error") != "error")


def random_evidence(gaps: bool):
    return partial(reranker_oracles.evidence, partial=gaps)


def still_for(method: Reranker):
    if (method.name, getattr(method, "lam", None)) in (
        ("MMR", 1.0),
        ("VectorMMR", 1.0),
        ("PolarityMMR", 1.0),
        ("xQuAD", 0.0),
        ("Penalty", 0.0),
        ("GroupPenalty", 0.0),
    ):
        return random_evidence(False)
    if not STILL.get(method.name, True):
        return None
    return one_group


def one_group(documents: list[str], generator: np.random.Generator) -> list[Any]:
    return reranker_oracles.one_group(documents, generator)


def with_groups() -> list[str]:
    """Those that take a combination of attributes; Unique aims at no target and keeps one of each cell."""
    taking = [name for name, cls in known().items() if "attr" in {field.name for field in cls.parameters()}]
    return sorted(set(taking) - {"Unique"})


def warned(method: str, groups: list[Membership]) -> str:
    """What a method warns of, without its own name before it."""
    run = er.Run.build(["q"] * 40, [f"d{place}" for place in range(40)], list(range(40, 0, -1)))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rerank(run, method, groups=groups)
    return "\n".join(str(one.message).partition(": ")[2] for one in told)


@pytest.mark.parametrize("name", with_groups())
def test_a_combination_with_a_cell_below_one_place_is_warned_of_with_the_chain(name: str) -> None:
    """Of 40 documents two are small and new: a target of 5%, half a place of ten and two of all."""
    ids = [f"d{place}" for place in range(40)]
    size = {one: "small" if place % 4 == 1 else "large" for place, one in enumerate(ids)}
    age = {one: "new" if place in (5, 9, 10, 20) else "old" for place, one in enumerate(ids)}
    groups = [
        Membership.from_labels("size", size).with_target("collection"),
        Membership.from_labels("age", age).with_target("collection"),
    ]
    both, *each = [f",protected='{value}'" if name == "FA_IR" else "" for value in PROTECTED]
    few, many = (warned(f"{name}(attr='size*age'{both}){cutoff}", groups) for cutoff in ("@10", ""))
    chain = parse_reranker(
        " | ".join(f"{name}(attr='{attr}'{own})@10" for attr, own in zip(("size", "age"), each, strict=True))
    )
    assert f"{name}(attr='size') | {name}(attr='age')" in few
    assert " | " not in many
    assert " | " not in warned(repr(chain), groups)  # the cure works, and needs no other


def test_every_reranker_is_here() -> None:
    assert set(known()) == set(VARIANTS)
    assert set(known()) - WITHOUT_ORACLE == set(ORACLES)


def test_every_parameter_is_varied() -> None:
    for name, cls in known().items():
        declared = {field.name for field in cls.parameters()}
        assert declared == {key for arguments in VARIANTS[name] for key in arguments}, name


def _swapped(reorder):
    """The first two documents change places."""

    def broken(self, evidence, generator):
        new = reorder(self, evidence, generator)
        places = new.places.copy()
        if places.shape[1] > 1:
            places[:, :2] = np.where(places[:, 1:2] >= 0, places[:, 1::-1], places[:, :2])
        return Reordered(places, new.infeasible)

    return broken


def _without_last(reorder):
    def broken(self, evidence, generator):
        new = reorder(self, evidence, generator)
        return Reordered(np.where(np.arange(new.places.shape[1]) < 3, new.places, -1), new.infeasible)

    return broken


def _by_luck(reorder):
    luck = np.random.default_rng(5)  # one for all calls: another order in each, and the same ones every time

    def broken(self, evidence, generator):
        new = reorder(self, evidence, generator)
        order = np.argsort(np.where(new.places >= 0, luck.random(new.places.shape), 2), axis=1)
        return Reordered(np.take_along_axis(new.places, order, axis=1), new.infeasible)

    return broken


def _by_the_batch(reorder):
    """The last list decides for all whether anything moves."""

    def broken(self, evidence, generator):
        new = reorder(self, evidence, generator)
        moved = np.where(evidence.ranked.mask, np.arange(new.places.shape[1]), -1)
        return Reordered(new.places if len(evidence) > 1 else moved, new.infeasible)

    return broken


def _silent(reorder):
    return lambda self, evidence, generator: Reordered(reorder(self, evidence, generator).places)


@pytest.mark.parametrize(
    ("breaks", "complaint"),
    [
        (_swapped, "where the slow computation gives|moves documents where it must not"),
        (_without_last, "leaves documents out"),
        (_by_luck, "another order when called again|changes with a cut-off beyond the end"),
        (_by_the_batch, "depends on the other queries|looks below"),
        (_silent, "breaks its promise and does not say so"),
    ],
)
def test_a_broken_reranker_is_caught(monkeypatch, breaks, complaint) -> None:
    method = parse_reranker("DetCons(attr='origin')")
    monkeypatch.setattr(type(method), "reorder", breaks(type(method).reorder))
    with pytest.raises(AssertionError, match=complaint):
        check_reranker(
            method, evidence=evidence_for(method), oracle=ORACLES["DetCons"], promise=PROMISES["DetCons"],
            unchanged=still_for(method),
        )  # fmt: skip
