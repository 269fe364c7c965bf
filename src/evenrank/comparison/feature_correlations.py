"""Do two features of documents go together? Their correlation over the documents that runs rank.

A re-ranker that sorts by one feature moves the groups of every feature that goes with it: gfr-2022 §5 has
Kendall's tau of mean rating and number of reviews for that.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from evenrank.arrays import Floats
from evenrank.comparison.all_pairs import agreement_table
from evenrank.data.evidence_source import Pairs
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.data.tables import DocumentTable
from evenrank.errors import ParameterError
from evenrank.ids import as_strings
from evenrank.inputs.inputs import Inputs
from evenrank.stats.correlation import correlation_matrix
from evenrank.tables import Table


def document_features(inputs: Inputs) -> tuple[tuple[str, ...], Floats]:
    """The names of the features, and their values (D, F), NaN where a document has none.

    Features are attributes with an order (the place of the document's value on the scale), and columns of
    numbers. D are the documents that some run ranks, each once.
    """
    runs = [run for given in inputs.runs.values() for run in ([given] if isinstance(given, Run) else given)]
    ranked = dict.fromkeys(document for run in runs for document in run.doc_ids.to_pylist())
    pairs = Pairs.of_documents(as_strings(list(ranked)))
    found: dict[str, Floats] = {}
    for membership in inputs.groups:
        if membership.attribute.ordinal:
            found[membership.attribute.name] = _places(membership, pairs)
    for table in inputs.evidence:
        if isinstance(table, DocumentTable):
            found |= _columns(table, pairs)
    if len(found) < 2:
        raise ParameterError(
            "a correlation over documents needs two features with an order, --groups NAME=FILE:ordinal; "
            f"got {', '.join(found) or 'none'}"
        )
    return tuple(found), np.stack(list(found.values()), axis=1)


def feature_table(inputs: Inputs, method: str = "kendall", *, alpha: float = 0.05) -> Table:
    """Every feature with every other, with an interval and p."""
    names, values = document_features(inputs)
    matrix = correlation_matrix(values, method)
    said = []
    lacking = int((~np.isfinite(values)).any(axis=1).sum())
    if lacking:
        said.append(f"{lacking:,} of {len(values):,} documents lack a feature and are left out of its pairs")
    over = f"the {len(values):,} documents that the runs rank, each once"
    return agreement_table(matrix, names, method, over=over, alpha=alpha, said=said, what="feature")


def _places(membership: Membership, pairs: Pairs) -> Floats:
    """The place of each document's value on the scale."""
    name = membership.attribute.name
    if membership.query_ids is not None:
        raise ParameterError(f"{name!r} depends on the query: a feature of documents has one value for all")
    rows, places, shares = membership.entries(membership.rows_of(pairs))
    if len(np.unique(rows)) < len(rows) or (shares is not None and (shares != 1).any()):
        raise ParameterError(
            f"{name!r}: some documents have several values, so they have no place on a scale"
        )
    values = np.full(len(pairs), np.nan)
    values[rows] = places
    return values


def _columns(table: DocumentTable, pairs: Pairs) -> Iterable[tuple[str, Floats]]:
    if table.query_ids is not None:
        raise ParameterError(
            f"{table.name!r} depends on the query: a feature of documents has one value for all"
        )
    gathered = table.gather(pairs)
    for column, values in gathered.columns.items():
        if isinstance(values, np.ndarray) and values.ndim == 1:
            name = ".".join(part for part in (table.name, column) if part)
            yield name, np.where(gathered.known, values.astype(np.float64), np.nan)
