"""Groups that an audit writes are the same when a command reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evenrank import Attribute, Membership
from evenrank.audit.group_files import write_groups, write_target
from evenrank.inputs.group_options import GroupSources, groups_of, memberships, target_of

SIZE = Attribute("size", ("small", "mid, dle", "large"))
DOCUMENTS, VALUES = ["a", "b", "b", "c"], ["large", "small", "mid, dle", "small"]


@pytest.mark.parametrize(
    "membership",
    [
        Membership.build(SIZE, DOCUMENTS, VALUES, [1, 0.25, 0.75, 1]),
        Membership.build(SIZE, ["b", "c", "a"], ["mid, dle", "large", "small"]),
        Membership.build(SIZE, ["b", "c"], ["large", "small"]),  # a value without a document
        Membership.build(SIZE, DOCUMENTS, VALUES, multilabel=True),
        Membership.build(SIZE, DOCUMENTS, VALUES, multilabel=True, split="full"),
        Membership.build(SIZE, ["a", "a"], ["small", "large"], queries=["q1", "q2"]),
    ],
)
def test_groups_are_read_as_they_were(tmp_path: Path, membership: Membership) -> None:
    path = tmp_path / "size.csv"
    options = write_groups(membership, path)
    (read,) = memberships(groups_of(f"size={path}{options}"), (), GroupSources())
    assert read.query_ids == membership.query_ids
    assert shares(read) == shares(membership)


def shares(membership: Membership) -> dict[tuple[str, ...], dict[str, float]]:
    dense = membership.shares.dense(np.arange(len(membership)))
    owners = (
        [""] * len(membership)
        if membership.query_ids is None
        else [membership.query_ids[code] for code in membership.query_codes]
    )
    return {
        (owner, document): {
            value: share
            for value, share in zip(membership.attribute.values, row, strict=True)
            if membership.query_ids is None or share
        }
        for owner, document, row in zip(owners, membership.doc_ids.to_pylist(), dense.tolist(), strict=True)
    }


@pytest.mark.parametrize("target", [(0.1, 0.3, 0.6), {"q1": (0.1, 0.3, 0.6), "q2": (0.2, 0.2, 0.6)}])
def test_targets_are_read_as_they_were(tmp_path: Path, target: object) -> None:
    membership = Membership.build(SIZE, ["b", "c", "a"], ["mid, dle", "large", "small"]).with_target(target)
    groups, aim = tmp_path / "size.csv", tmp_path / "target.csv"
    write_groups(membership, groups)
    write_target(membership, aim)
    (read,) = memberships(groups_of(f"size={groups}"), (target_of(f"size={aim}"),), GroupSources())
    assert (
        read.attribute.targets(["q1", "q2"]).tolist() == membership.attribute.targets(["q1", "q2"]).tolist()
    )
