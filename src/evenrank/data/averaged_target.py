"""Targets of the TREC Fair Ranking track: the mean of the relevant documents and of the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.data.combining import joint
from evenrank.data.evidence_source import Pairs
from evenrank.data.membership import Membership
from evenrank.data.qrels import Qrels
from evenrank.errors import ParameterError
from evenrank.ids import StringRows

COLLECTION_WORLD = "collection"


def averaged_targets(
    membership: Membership,
    qrels: Qrels,
    world: Any = COLLECTION_WORLD,
    *,
    unknown: str | None = None,
    rel: float = 1,
) -> dict[str, tuple[float, ...]]:
    """For each judged query the mean of two distributions: of its relevant documents, and of the world.

    With r_g the membership in g summed over the documents of grade ``rel`` or more, and K the values that are
    known (all but ``unknown``)::

        q_g = (r_g / r_K + w_g) / 2 * r_K / (r_K + r_unknown)   for g in K,   r_K = sum of r_g over K
        q_unknown = r_unknown / (r_K + r_unknown)

    So nothing is assumed about documents of which nothing is known: their share is that of the relevant
    documents, and only what is known is averaged with the world. Without ``unknown`` such documents are left
    out, and q_g = (r_g / r_K + w_g) / 2; with it, relevant documents that have no value count as that value.
    A document with several values counts for each by its share.

    ``world`` has the shares w of the known values, or is ``"collection"`` for those of all labelled
    documents, or ``"uniform"``. A query without a relevant document of a known value has no target without
    ``unknown``; with it, its target is all ``unknown``. One without any relevant document has none.

    Reference: Ekstrand, McDonald, Raj and Johnson, Overview of the TREC 2021 Fair Ranking Track, 2022: its
    first task leaves unknown documents out, its second counts them. Differs: documents of several values are
    divided among them where the membership is, and the organisers' programs count them for each.

    >>> place = Membership.from_labels("place", {"a": "north", "b": "south", "c": "?", "d": "north"})
    >>> qrels = Qrels.build(["q"] * 4, ["a", "b", "c", "d"], [1, 1, 1, 1])
    >>> averaged_targets(place, qrels, {"north": 0.1, "south": 0.9}, unknown="?")
    {'q': (0.2875, 0.4625, 0.25)}
    """
    return averaged_joint_targets([membership], qrels, [world], unknown=[unknown], rel=rel)


def averaged_joint_targets(
    parts: Sequence[Membership],
    qrels: Qrels,
    worlds: Sequence[Any] | None = None,
    *,
    unknown: Sequence[str | None],
    rel: float = 1,
) -> dict[str, tuple[float, ...]]:
    """For each judged query the target over all combinations of the values of several attributes.

    With r the combinations of the relevant documents, as shares of them, each combination belongs to a block:
    the attributes K whose value is known in it. A block is averaged with the world of its own attributes
    alone, in proportion to its share f_K of the relevant documents::

        q_c = r_c / 2 + f_K / 2 * prod_{a in K} w_a(c_a),    f_K = sum of r over the block
        q_c = r_c                                            where nothing is known

    ``unknown`` has the value of each attribute that stands for documents of which nothing is known; None
    leaves documents out that have no value of that attribute. ``worlds`` are the shares of the known values
    of each attribute (default: those of all labelled documents). The order is that of
    ``Membership.combined(*parts)``, for whose ``target`` this is.

    Reference: Ekstrand, McDonald, Raj and Johnson, Overview of the TREC 2021 Fair Ranking Track, 2022, and
    the organisers' alignments of its tasks: known geography and gender, one of the two, and none.

    >>> place = Membership.from_labels("place", {"a": "north", "b": "south", "c": "?"})
    >>> side = Membership.from_labels("side", {"a": "f", "b": "?", "c": "f"})
    >>> qrels = Qrels.build(["q"] * 3, ["a", "b", "c"], [1, 1, 1])
    >>> even = [{"north": 0.5, "south": 0.5}, {"f": 1.0}]
    >>> target = averaged_joint_targets([place, side], qrels, even, unknown=["?", "?"])
    >>> [round(share, 3) for share in target["q"]]  # north & f, north & ?, south & f, .., ? & ?
    [0.25, 0.083, 0.083, 0.25, 0.333, 0.0]
    """
    worlds = [COLLECTION_WORLD] * len(parts) if worlds is None else worlds
    if not len(parts) == len(unknown) == len(worlds):
        raise ParameterError(
            f"each attribute of a combination has a world and an unknown value (or None): got {len(parts)} "
            f"attributes, {len(worlds)} worlds and {len(unknown)} unknown values"
        )
    for part, value in zip(parts, unknown, strict=True):
        if value is not None and value not in part.attribute.values:
            raise ParameterError(
                f"attribute {part.attribute.name!r}: {value!r} is not a value: they are "
                f"{part.attribute.listed()}"
            )
    known = [
        np.array([[one != value for one in part.attribute.values]])  # (1, L)
        for part, value in zip(parts, unknown, strict=True)
    ]
    own = [_world_shares(*one) for one in zip(parts, worlds, known, strict=True)]
    mass = _relevant(parts, qrels, unknown, rel)  # (Q, C)
    found = np.flatnonzero(mass.any(axis=1))
    shares = mass[found] / mass[found].sum(axis=1, keepdims=True)
    target = shares.copy()
    for block in product((True, False), repeat=len(parts)):
        if any(block):  # else nothing is known, and nothing is averaged
            inside = joint([there == is_known for there, is_known in zip(known, block, strict=True)])[0] > 0
            world = joint(
                [one if is_known else np.ones_like(one) for one, is_known in zip(own, block, strict=True)]
            )[0]
            fraction = shares[:, inside].sum(axis=1, keepdims=True)
            target[:, inside] = (shares[:, inside] + fraction * world[inside]) / 2
    return {qrels.query_ids[place]: tuple(row) for place, row in zip(found, target.tolist(), strict=True)}


def _world_shares(membership: Membership, world: Any, known: Bools) -> Floats:
    """(1, L): the shares of the world over the known values, that of the unknown one 0."""
    attribute = membership.attribute
    if isinstance(world, str) and world in (COLLECTION_WORLD, "uniform"):
        shares = np.where(known, membership.sizes() if world == COLLECTION_WORLD else 1.0, 0.0)
        if not shares.sum() > 0:
            raise ParameterError(f"attribute {attribute.name!r}: no document has a known value")
        return np.asarray(shares / shares.sum())
    if not isinstance(world, Mapping) and len(world) == int(known.sum()) < known.size:
        world = np.insert(np.asarray(world, dtype=float), int((~known[0]).argmax()), 0.0).tolist()
    shares = attribute.with_target(world).targets([""])
    if shares[~known].any():
        raise ParameterError(
            f"attribute {attribute.name!r}: the world has no share for unknown documents: leave it out"
        )
    return shares


def _relevant(parts: Sequence[Membership], qrels: Qrels, unknown: Sequence[str | None], rel: float) -> Floats:
    """(Q, C): the combinations of each query's relevant documents, summed."""
    rows = np.flatnonzero(qrels.grades >= rel)
    codes = qrels.query_codes[rows]
    pairs = Pairs(qrels.query_ids, codes, StringRows(qrels.doc_ids, rows))
    tables = []
    for part, value in zip(parts, unknown, strict=True):
        own = part.shares.dense(part.rows_of(pairs))
        if value is not None:
            own[own.sum(axis=1) == 0, part.attribute.values.index(value)] = 1.0
        tables.append(own)
    shares = joint(tables)
    mass = np.zeros((len(qrels), shares.shape[1]))
    np.add.at(mass, codes, shares)
    return mass
