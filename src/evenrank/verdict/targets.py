"""What groups should get: the kinds of target, what each means, and which one is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evenrank.data.attribute import (
    CANDIDATES,
    CATALOGUE,
    COLLECTION,
    EQUAL,
    GIVEN,
    POOL,
    RELEVANCE,
    UNIFORM,
)
from evenrank.data.membership import Membership
from evenrank.errors import ParameterError
from evenrank.inputs import Inputs

TARGETS = (CATALOGUE, CANDIDATES, EQUAL, GIVEN)
_KINDS = {COLLECTION: CATALOGUE, POOL: CANDIDATES}
_OF_KIND = {CATALOGUE: COLLECTION, CANDIDATES: POOL, EQUAL: UNIFORM}

# by attribute: None is the attribute's own, and OTHERS stands for all that are not named
WhichTarget = str | Mapping[str, str | None] | None
OTHERS = "*"


def target_means(kind: str, depth: int) -> str:
    """One sentence on what a target asks of a ranking.

    >>> target_means("equal", 100)
    'Target: all groups get the same attention, however many documents they have.'
    """
    means = {
        CATALOGUE: "each group gets attention in proportion to its documents in the catalogue, whatever "
        "people search for",
        CANDIDATES: f"each group gets attention in proportion to its documents among the first {depth} that "
        "were found for a query, so that their order is judged and not which documents were found",
        EQUAL: "all groups get the same attention, however many documents they have",
        GIVEN: "each group gets the share that was given for it",
    }
    return f"Target: {means[kind]}."


def chosen_target(membership: Membership, asked: WhichTarget, *, catalogue: bool) -> str:
    """The kind of target for an attribute: the one asked for, its own, else one by what is known.

    Without a choice it is the catalogue where that is known: candidates are chosen by the system itself, so
    a bias in what it finds would not be seen against them.
    """
    own = membership.attribute.target
    name = membership.attribute.name
    wanted = asked.get(name, asked.get(OTHERS)) if isinstance(asked, Mapping) else asked
    if wanted is not None and wanted not in TARGETS:
        raise ParameterError(f"a target must be one of {', '.join(TARGETS)}, got {wanted!r}")
    if wanted == CATALOGUE and membership.query_ids is not None:
        raise ParameterError(
            f"attribute {name!r}: its groups depend on the query, so they have no share "
            "of the catalogue: take the target candidates"
        )
    if wanted is not None:
        return wanted
    if not isinstance(own, str):
        return GIVEN
    if own != UNIFORM:
        return _KINDS.get(own, GIVEN)
    return CATALOGUE if catalogue and membership.query_ids is None else CANDIDATES


def with_chosen_target(membership: Membership, kind: str) -> Membership:
    """The same documents with that target."""
    return membership if kind == GIVEN else membership.with_target(_OF_KIND[kind])


def without_judgements(inputs: Inputs) -> Inputs:
    """The same without judgements, for what must not know them; those that a target is made of stay."""
    aimed = any(
        isinstance(one.attribute.target, str) and one.attribute.target == RELEVANCE for one in inputs.groups
    )
    return inputs if aimed else replace(inputs, qrels=None)
