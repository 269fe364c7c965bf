"""xQuAD and PM2 on lists that can be followed by hand."""

from __future__ import annotations

import pytest

import evenrank as er
from evenrank import Attribute, Membership, rerank

RUN = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}  # P(d|q) is .4, .3, .2, .1
SIDE = Membership.from_labels(Attribute("side", ("x", "y")), {"a": "x", "b": "x", "c": "y", "d": "y"})


def order(method: str, *, run=RUN, groups=SIDE) -> str:
    return "".join(rerank(er.read_run(run), method, groups=groups).documents("q"))


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("xQuAD(lam=0)", "abcd"),
        # a has .2; then b .15 * .6 = .09 and c .1; then b .09 and d .05 * .8 = .04
        ("xQuAD(lam=1)", "acbd"),
        # a; then b .15 + .5 * .5 * .3 * .6 = .195 and c .1 + .05 = .15
        ("xQuAD", "abcd"),
        # quotients 1/2 1/2: x; 1/6 1/2: y; 1/6 1/6: x, the first
        ("PM2(lam=1)", "acbd"),
    ],
)
def test_by_hand(method: str, expected: str) -> None:
    assert order(method) == expected


def test_half_and_half_weighs_the_quotients() -> None:
    """After a, x has 1/6 and y 1/2: b is worth .3/6/2 = .025, c .2/2/2 = .05."""
    assert order("PM2(lam=0.5)") == "acbd"


def test_seats_follow_the_target() -> None:
    """x should have a quarter: y, y, x, y by quotients 1/4, 3/4; 1/4 twice goes to the first."""
    labels = {"a": "x", "b": "x", "c": "y", "d": "y", "e": "y"}
    groups = Membership.from_labels(Attribute("side", ("x", "y"), target=(0.25, 0.75)), labels)
    run = {"q": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0}}
    assert order("PM2(lam=1)", run=run, groups=groups) == "cadeb"


def test_scores_below_0_count_from_the_smallest() -> None:
    shifted = {"q": {document: score - 5 for document, score in RUN["q"].items()}}  # -1 .. -4
    moved = {"q": {document: score - 1 for document, score in RUN["q"].items()}}  # 3 .. 0
    for method in ("xQuAD(lam=1)", "PM2(lam=1)"):
        assert order(method, run=shifted) == order(method, run=moved)


def test_documents_without_a_group_have_no_seat() -> None:
    part = Membership.from_labels(Attribute("side", ("x", "y")), {"b": "x", "d": "y"})
    assert order("PM2(lam=1,missing='none')", groups=part) == "bdac"
    assert order("xQuAD(lam=0.2,missing='none')", groups=part) == "abcd"


@pytest.mark.parametrize("method", ["PM2", "PM2(lam=1)", "xQuAD", "xQuAD(lam=1)", "FAIR_greedy", "FOE"])
def test_documents_without_a_group_stay_at_their_ranks(method: str) -> None:
    """The others are ordered as if they were the whole list."""
    run = {"q": {document: 9.0 - place for place, document in enumerate("uavbwcxd")}}
    found = order(method, run=run)
    assert [(place, document) for place, document in enumerate(found) if document in "uvwx"] == [
        (0, "u"), (2, "v"), (4, "w"), (6, "x"),
    ]  # fmt: skip
    alone = {"q": {document: run["q"][document] for document in "abcd"}}
    assert "".join(document for document in found if document in "abcd") == order(method, run=alone)
