"""The groups of an audit as a table, so that a command can name what the verdict was made of."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

import numpy as np

from evenrank.data.membership import Membership
from evenrank.io.atomic import atomic_write


def write_groups(membership: Membership, path: str | PathLike[str]) -> str:
    """Write who belongs to which group; returns the options to read it with.

    There is a row for each document and each of its values, in the order of the values, which is the order
    that they have when the file is read. Where a value has no document, there is a column for each value
    instead.
    """
    membership = membership.by_id()
    lacking = len(np.unique(membership.shares.places)) < len(membership.attribute.values)
    _write(path, _wide(membership) if lacking else _long(membership))
    return ":full" if membership.multilabel and _counts_fully(membership) else ""


def write_target(membership: Membership, path: str | PathLike[str]) -> None:
    """Write the shares that values of an attribute should have, for each query where they differ by query."""
    values, target = membership.attribute.values, membership.attribute.target
    rows: list[tuple[Any, ...]]
    if isinstance(target, Mapping):
        rows = [("query", "value", "share")]
        for query, shares in target.items():
            rows += [(query, value, float(share)) for value, share in zip(values, shares, strict=True)]
    else:
        rows = [
            ("value", "share"),
            *((value, float(share)) for value, share in zip(values, target, strict=True)),
        ]
    _write(path, iter(rows))


def _write(path: str | PathLike[str], rows: Iterator[tuple[Any, ...]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    with atomic_write(path) as file:
        file.write(text.getvalue().encode("utf-8", "surrogatepass"))


def _owner(membership: Membership, documents: list[str], row: int) -> tuple[str, ...]:
    """The document of a row, and the query before it where groups depend on the query."""
    if membership.query_ids is None:
        return (documents[row],)
    return membership.query_ids[membership.query_codes[row]], documents[row]


def _long(membership: Membership) -> Iterator[tuple[Any, ...]]:
    listed, values = membership.shares, membership.attribute.values
    documents = membership.doc_ids.to_pylist()
    owners = np.repeat(np.arange(len(membership)), np.diff(listed.offsets))
    order = np.argsort(listed.places, kind="stable")
    shared = bool((listed.values != 1).any())
    head = ("document", "value") if membership.query_ids is None else ("query", "document", "value")
    yield (*head, "share") if shared else head
    for row, place, share in zip(
        owners[order].tolist(), listed.places[order].tolist(), listed.values[order].tolist(), strict=True
    ):
        cells = (*_owner(membership, documents, row), values[place])
        yield (*cells, share) if shared else cells


def _wide(membership: Membership) -> Iterator[tuple[Any, ...]]:
    documents = membership.doc_ids.to_pylist()
    head = ("document",) if membership.query_ids is None else ("query", "document")
    yield (*head, *membership.attribute.values)
    for row in range(len(membership)):
        (shares,) = membership.shares.dense(np.array([row])).tolist()
        yield (*_owner(membership, documents, row), *shares)


def _counts_fully(membership: Membership) -> bool:
    """Whether a document counts for each of several values."""
    listed = membership.shares
    owners = np.repeat(np.arange(len(membership)), np.diff(listed.offsets))
    return bool((np.bincount(owners, weights=listed.values) > 1 + 1e-6).any())
