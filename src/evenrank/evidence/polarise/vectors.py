"""Vectors of documents that were made before, by document: nothing is encoded and no text is read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenrank.arrays import Floats, real_numbers
from evenrank.errors import DataError, counted, few
from evenrank.evidence.encoding import checked
from evenrank.files import read_utf8, regular_file
from evenrank.ids import positions
from evenrank.io.cells import id_cells
from evenrank.io.column_names import ACCEPTED
from evenrank.io.tables import Role, as_table, column_of_roles, the_table

DOCUMENT = (*ACCEPTED["document"], "id", "_id")
VECTOR = ACCEPTED["vector"]
IDS = ".txt"
PARQUET = (".parquet", ".pq")


class GivenVectors(NamedTuple):
    """A vector for each of these documents."""

    doc_ids: tuple[str, ...]
    table: Floats  # (N, D)
    source: str

    def of(self, documents: Sequence[str]) -> Floats:
        """(n, D): the vectors of some documents, all of which must be there."""
        places = positions(self.doc_ids)
        missing = list(dict.fromkeys(document for document in documents if document not in places))
        if missing:
            such = counted(len(missing), "document has", "documents have")
            raise DataError(f"{self.source}: {such} no vector: {few(missing)}")
        # only what is asked for must be sound
        return checked(self.table[[places[d] for d in documents]], documents, source=self.source)


def as_vectors(given: Any) -> GivenVectors | None:
    """The vectors that a file, a table or ``{document: vector}`` holds; None for an encoder of texts.

    ``vectors.npy`` has its ids beside it in ``vectors.txt``, one on each line; a table has the columns
    document and vector.

    >>> as_vectors({"d1": [1.0, 0.0], "d2": [0.0, 1.0]}).of(["d2"]).tolist()
    [[0.0, 1.0]]
    """
    if isinstance(given, GivenVectors):
        return given
    if isinstance(given, Mapping):
        return _built([str(document) for document in given], list(given.values()), "vectors")
    table = None
    if not isinstance(given, (str, os.PathLike)):
        table = as_table(given, "vectors")
    elif Path(given).suffix.lower() == ".npy":
        return _of_array(Path(given))
    elif Path(given).suffix.lower() in PARQUET:
        table = the_table(given, "vectors", format="parquet")
    if table is None:
        return None
    chosen = column_of_roles(table, [Role("document", called="document of a text"), Role("vector")], None)
    documents = id_cells(table.column(chosen["document"]), "document", table.report).to_pylist()
    table.report.check()
    vectors = table.column(chosen["vector"])
    return _built(documents, getattr(vectors, "to_pylist", vectors.__iter__)(), table.name)


def _of_array(path: Path) -> GivenVectors:
    beside = path.with_suffix(IDS)
    try:
        table = np.load(regular_file(path), allow_pickle=False)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except DataError:
        raise
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path}: is not a sound .npy file of numbers: {error}") from error
    text = read_utf8(beside, f"write the ids of the vectors in {path.name} there, one per line")
    documents = [line.strip() for line in text.split("\n") if line.strip()]
    if table.ndim != 2 or len(table) != len(documents):
        raise DataError(
            f"{path}: has an array of {table.shape} for the {len(documents):,} ids of {beside.name}, "
            f"but it must be ({len(documents)}, width)"
        )
    return _built(documents, table, str(path))


def _built(documents: Sequence[str], vectors: Any, source: str) -> GivenVectors:
    twice = [document for document, count in Counter(documents).items() if count > 1]
    if twice:
        raise DataError(f"{source}: document {twice[0]!r} has two vectors")
    try:
        table = real_numbers(vectors if isinstance(vectors, np.ndarray) else list(vectors))
    except (TypeError, ValueError):
        table = np.empty(0)
    if not len(documents):
        raise DataError(f"{source}: no vectors")
    if table.ndim != 2 or table.shape[1] == 0:
        raise DataError(f"{source}: every document needs a vector of numbers, all of the same width")
    return GivenVectors(tuple(documents), table, source)
