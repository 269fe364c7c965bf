"""Documents of one value each are kept as labels: what is computed from them is what shares give."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenrank import Attribute, Membership, Run, evaluate
from evenrank.data.evidence_source import Labels, Sparse
from evenrank.measures.divergences import kullback_leibler_of_labels
from evenrank.measures.groups import prefix_shares, prefix_shares_of_labels

VALUES = ("x", "y", "z")
LISTS = st.lists(st.lists(st.integers(0, len(VALUES) - 1), max_size=12), min_size=1, max_size=4)
TARGETS = st.lists(st.integers(0, 4), min_size=len(VALUES), max_size=len(VALUES)).filter(any)
MEASURES = (
    "NDKL NDKL@3 GF(decay='RBP') GF(decay='log2')@2 Skew MinSkew@2 MaxSkew KL@3 nDRKL ABR ECE@4 "
    "InfeasibleCount AWRF(attr='side')@5"
)


def padded(lists: list[list[int]]) -> npt.NDArray[np.int16]:
    width = max(map(len, lists))
    return np.array([[*labels, *[-1] * (width - len(labels))] for labels in lists], dtype=np.int16)


def divergence(labels: list[int], target: list[float]) -> float:
    """By the definition, one list at a time."""
    shares = [labels.count(value) / len(labels) for value in range(len(target))]
    if any(p > 0 and q == 0 for p, q in zip(shares, target, strict=True)):
        return math.inf
    return sum(p * math.log(p / q) for p, q in zip(shares, target, strict=True) if p > 0)


@given(LISTS, TARGETS)
def test_the_divergence_of_every_prefix(lists: list[list[int]], target: list[int]) -> None:
    wanted = [part / sum(target) for part in target]
    found = kullback_leibler_of_labels(padded(lists), np.tile(wanted, (len(lists), 1)))
    for labels, row in zip(lists, found, strict=True):
        slow = [divergence(labels[:end], wanted) for end in range(1, len(labels) + 1)]
        assert row[: len(labels)].tolist() == pytest.approx(slow, abs=1e-13)


def test_long_lists_keep_their_digits() -> None:
    labels = np.random.default_rng(2).integers(0, 5, (2, 3000)).astype(np.int16)
    target = np.array([[0.2, 0.2, 0.2, 0.2, 0.2], [0.1, 0.3, 0.1, 0.3, 0.2]])
    found = kullback_leibler_of_labels(labels, target)
    for query, end in ((0, 1), (0, 3000), (1, 17), (1, 2999)):
        slow = divergence(labels[query, :end].tolist(), target[query].tolist())
        assert found[query, end - 1] == pytest.approx(slow, abs=1e-13)


@given(LISTS)
def test_the_shares_of_every_prefix(lists: list[list[int]]) -> None:
    labels = padded(lists)
    column = Labels(labels.ravel(), len(VALUES))
    dense = column.dense(np.arange(labels.size).reshape(labels.shape))  # (Q, K, L)
    assert dense.sum(axis=2).tolist() == (labels >= 0).astype(float).tolist()
    found = prefix_shares_of_labels(labels, np.array(list(map(len, lists))), len(VALUES))
    np.testing.assert_array_equal(found, prefix_shares(dense))


def test_rows_without_a_document_have_no_value() -> None:
    column = Labels(np.array([2, -1, 0], dtype=np.int16), 3)
    rows = np.array([[0, 1], [2, -1]])
    assert column.at(rows).tolist() == [[2, -1], [0, -1]]
    assert column.dense(rows).tolist() == [[[0, 0, 1], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]]]
    nothing = Labels(np.empty(0, dtype=np.int16), 3)
    assert nothing.at(np.full((2, 1), -1)).tolist() == [[-1], [-1]]


def as_shares(groups: Membership) -> Membership:
    """The same, looked at as if documents could have several values."""
    groups.__dict__["_places"] = None
    return groups


@pytest.mark.parametrize(
    "target", ["uniform", "pool", "collection", "present", (0.5, 0.25, 0.25), (0.5, 0.5, 0)]
)
@pytest.mark.parametrize("listed", [range(9), range(0, 9, 2)], ids=["all", "some"])
@pytest.mark.parametrize("missing", [None, "drop"])
def test_every_measure_is_the_same_for_labels_and_shares(
    target: Any, listed: range, missing: str | None
) -> None:
    run = Run.build(["q"] * 5 + ["r"] * 9, [f"d{i % 9}" for i in range(14)], np.arange(14, 0, -1.0))
    labels = {f"d{i}": VALUES[i * i % 3] for i in listed}
    options: dict[str, Any] = {"background": run, "queries": ["q", "r", "none"]}
    measures = MEASURES if missing or len(listed) == 9 else MEASURES.replace("AWRF(attr='side')@5", "")
    if missing:
        options["missing"] = missing
    one, other = (
        evaluate(run, measures, groups=groups, **options)
        for groups in (
            Membership.from_labels(Attribute("side", VALUES, target=target), labels),
            as_shares(Membership.from_labels(Attribute("side", VALUES, target=target), labels)),
        )
    )
    for measure in one.measures:
        mine, theirs = one.block(measure), other.block(measure)
        np.testing.assert_allclose(mine.values, theirs.values, rtol=0, atol=1e-13, err_msg=repr(measure))
        assert mine.status.tolist() == theirs.status.tolist()
    assert one.notes == other.notes


def test_attributes_of_the_same_documents_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run.build(["q"] * 3, ["a", "b", "c"], [3, 2, 1])
    one = Membership.from_labels("one", {"a": "x", "b": "y", "c": "y"})
    same = Membership.from_labels("same", {"a": "v", "b": "u", "c": "u"})
    fewer = Membership.from_labels("fewer", {"a": "u", "c": "v"})
    others = Membership.from_labels("others", {"a": "u", "b": "v", "z": "u"})
    by_query = Membership.from_labels("by_query", {"q": {"a": "u", "b": "u", "c": "v"}})
    everything = [one, same, fewer, others, by_query]
    names = [f"ECE(attr='{groups.attribute.name}')" for groups in everything]
    alone = [
        evaluate(run, name, groups=groups).block(name).values
        for name, groups in zip(names, everything, strict=True)
    ]
    asked: list[str] = []
    original = Membership.rows_of
    monkeypatch.setattr(
        Membership, "rows_of", lambda self, pairs: asked.append(self.attribute.name) or original(self, pairs)
    )
    together = evaluate(run, names, groups=everything)
    assert len(asked) == 4
    assert len({"one", "same"} & set(asked)) == 1
    for name, values in zip(names, alone, strict=True):
        assert together.block(name).values.tolist() == values.tolist()


def test_what_is_kept_how() -> None:
    run = Run.build(["q"], ["a"], [1.0])
    many = tuple(f"c{i}" for i in range(65))
    from evenrank.evidence.align import Sources, align

    for groups, kind in (
        (Membership.from_labels("side", {"a": "x", "b": "y"}), Labels),
        (Membership.build(Attribute("side", ("x", "y")), ["a", "a"], ["x", "y"], [0.5, 0.5]), np.ndarray),
        (Membership.build(Attribute("side", many), ["a"], ["c9"]), np.ndarray),
    ):
        aligned = align(run, ["q"], {"ranked.group:side"}, Sources({"group:side": groups}))
        column = aligned.ranked.gathered["group:side"].columns[""]
        assert isinstance(column, kind)
        assert not isinstance(column, Sparse)
