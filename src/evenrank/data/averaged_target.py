"""The target of the TREC Fair Ranking track: the mean of the relevant documents and of the world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.evidence_source import Pairs
from evenrank.data.membership import Membership
from evenrank.data.qrels import Qrels
from evenrank.errors import ParameterError
from evenrank.ids import StringRows, hash_strings

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
    values = membership.attribute.values
    if unknown is not None and unknown not in values:
        raise ParameterError(
            f"attribute {membership.attribute.name!r}: {unknown!r} is not a value: they are "
            f"{membership.attribute.listed()}"
        )
    known = np.array([value != unknown for value in values])
    shares = world_shares(membership, world, known)  # (L,), 0 for the unknown
    mass, unlabelled = _relevant(membership, qrels, rel)  # (Q, L), (Q,)
    if unknown is not None:
        mass[:, ~known] += unlabelled[:, None]
    total, certain = mass.sum(axis=1, keepdims=True), mass[:, known].sum(axis=1, keepdims=True)  # (Q, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        target = np.where(certain > 0, (mass / certain + shares) / 2 * certain / total, 0.0)
        target[:, ~known] = (mass / total)[:, ~known]
    found = np.flatnonzero((total if unknown is not None else certain)[:, 0] > 0)
    return {qrels.query_ids[place]: tuple(target[place].tolist()) for place in found.tolist()}


def world_shares(membership: Membership, world: Any, known: np.ndarray[Any, np.dtype[np.bool_]]) -> Floats:
    """The shares of the world over the known values, that of the unknown one 0."""
    if world == COLLECTION_WORLD and isinstance(world, str):
        sizes = np.where(known, membership.sizes(), 0.0)
        if not sizes.sum() > 0:
            raise ParameterError(f"attribute {membership.attribute.name!r}: no document has a known value")
        return np.asarray(sizes / sizes.sum())
    if isinstance(world, str) and world == "uniform":
        return np.asarray(known / known.sum())
    if not isinstance(world, Mapping) and len(world) == int(known.sum()) < len(known):
        listed = iter(world)
        world = [next(listed) if there else 0.0 for there in known.tolist()]
    shares = np.array(membership.attribute.with_target(world).targets([""])[0])
    if shares[~known].any():
        raise ParameterError(
            f"attribute {membership.attribute.name!r}: the world has no share for unknown documents: "
            "leave it out"
        )
    return shares


def _relevant(membership: Membership, qrels: Qrels, rel: float) -> tuple[Floats, Floats]:
    """The membership of each query's relevant documents summed (Q, L), and how many have no value (Q,)."""
    rows = np.flatnonzero(qrels.grades >= rel)
    codes = np.repeat(np.arange(len(qrels)), np.diff(qrels.offsets))[rows]
    hashes = hash_strings(qrels.doc_ids)[rows]
    pairs = Pairs(qrels.query_ids, codes, StringRows(qrels.doc_ids, rows), hashes)
    found = membership.rows_of(pairs)
    entries, places, shares = membership.entries(found)
    mass = np.zeros((len(qrels), len(membership.attribute.values)))
    np.add.at(mass, (codes[entries], places), 1.0 if shares is None else shares)
    labelled = np.zeros(len(rows), dtype=bool)
    labelled[entries] = True
    unlabelled = np.bincount(codes[~labelled], minlength=len(qrels)).astype(np.float64)
    return mass, unlabelled
