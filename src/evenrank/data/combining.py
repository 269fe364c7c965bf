"""Several attributes as one, whose values are all combinations of theirs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.attribute import COMBINED, UNIFORM, Attribute
from evenrank.data.evidence_source import Pairs
from evenrank.data.membership import Membership
from evenrank.errors import ParameterError
from evenrank.ids import StringRows, take

BETWEEN = " & "
MOST_VALUES = 4096


def combine(parts: Sequence[Membership], target: Any) -> Membership:
    """See ``Membership.combined``. A document must be listed in all of them."""
    if len(parts) < 2:
        raise ParameterError(f"a combination needs two attributes or more, got {len(parts)}")
    attribute = combined_attribute([part.attribute for part in parts], target)
    first = next((part for part in parts if part.query_ids is not None), parts[0])
    for part in parts:
        if part.query_ids is not None and part is not first:
            raise ParameterError(
                f"{part.attribute.name!r} and {first.attribute.name!r} are both by query and cannot be "
                "combined"
            )
    ids, query_ids = first.doc_ids, first.query_ids or ("",)
    pairs = Pairs(query_ids, first.query_codes, StringRows(ids))
    rows = [part.rows_of(pairs) for part in parts]
    everywhere = np.flatnonzero(np.all([found >= 0 for found in rows], axis=0))  # (R,)
    product = joint([part.shares.dense(found[everywhere]) for part, found in zip(parts, rows, strict=True)])
    queries = None
    if first.query_ids is not None:
        queries = [first.query_ids[code] for code in first.query_codes[everywhere].tolist()]
    split = "full" if any(part.multilabel for part in parts) else "share"
    built = Membership.from_matrix(
        attribute, take(ids, everywhere), product, queries=queries, multilabel=split == "full", split=split
    )
    units = {None if part.unit is None else part.unit.attribute.name for part in parts}
    unit = parts[0].unit if len(units) == 1 else None
    return replace(
        built, own=any(part.own for part in parts), named=all(part.named for part in parts), unit=unit
    )


def joint(tables: Sequence[Floats]) -> Floats:
    """(R, L1 * L2 * ..): the products of the shares (R, L) of several attributes."""
    product = tables[0]
    for shares in tables[1:]:
        product = (product[:, :, None] * shares[:, None, :]).reshape(len(product), -1)
    return product


def combined_attribute(attributes: Sequence[Attribute], target: Any = None) -> Attribute:
    """The attribute whose values are all combinations of theirs."""
    for attribute in attributes:
        if attribute.ordinal:
            raise ParameterError(
                f"{attribute.name!r} is ordinal, and combined values have no order: evaluate attribute by "
                "attribute and average, as GFR does"
            )
    values = tuple(BETWEEN.join(names) for names in itertools.product(*(a.values for a in attributes)))
    if len(values) > MOST_VALUES:
        raise ParameterError(f"{len(values):,} combined values are too many: the most is {MOST_VALUES:,}")
    name = COMBINED.join(attribute.name for attribute in attributes)
    if target is None:
        target = _target(attributes)
    return Attribute(name, values, False, target)


def _target(attributes: Sequence[Attribute]) -> Any:
    kinds = {attribute.target for attribute in attributes if isinstance(attribute.target, str)} - {UNIFORM}
    if len(kinds) == 1 and all(attribute.target in kinds for attribute in attributes):
        return kinds.pop()
    if kinds:
        listed = ", ".join(f"{attribute.name}: {attribute.target!r:.40}" for attribute in attributes)
        raise ParameterError(f"targets of different kinds have no product ({listed}): give target=")
    queries = [set(a.target) for a in attributes if isinstance(a.target, Mapping)]
    if not queries:
        return joint([attribute.targets([""]) for attribute in attributes])[0].tolist()
    common = sorted(set.intersection(*queries))
    shares = joint([attribute.targets(common) for attribute in attributes])
    return dict(zip(common, shares.tolist(), strict=True))
