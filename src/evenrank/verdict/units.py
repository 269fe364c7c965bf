"""A column of the documents that labels probably belong to, as the seller whose size is the label."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

import numpy as np

from evenrank.arrays import Int64s
from evenrank.data.evidence_source import Pairs
from evenrank.data.membership import Membership
from evenrank.errors import EvenrankError
from evenrank.ids import take
from evenrank.inputs import Inputs
from evenrank.inputs.file_options import FileOption
from evenrank.inputs.group_options import DOCUMENTS, WORDS
from evenrank.verdict.attributes import group_attributes

LONGEST = 64  # characters of a name, on average; what is longer is a text


def likely_units(inputs: Inputs, files: Iterable[FileOption] = ()) -> list[str]:
    """A note on each attribute that is constant within another column of its table: the documents', or one of
    ``files``, from which groups were read.

    Its labels then probably belong to that column. Of several columns it is the one with the fewest values.
    """
    from evenrank.io.documents import DocumentsFile

    attributes = [
        one
        for one in group_attributes(inputs)
        if one.unit is None and one.query_ids is None and not one.multilabel
    ]
    own = {given.name: given for given in files if given.path not in (DOCUMENTS, WORDS)}
    tables: list[tuple[str, list[Membership], Iterator[tuple[str, Pairs, Int64s]]]] = []
    rest = [one for one in attributes if one.attribute.name not in own]
    if isinstance(inputs.documents, DocumentsFile) and rest:
        file = inputs.documents
        tables.append((DOCUMENTS, rest, _columns(file.path, file.format, (file.columns or {}).get("id"))))
    for one in attributes:
        given = own.get(one.attribute.name)
        if given is not None:
            named = given.options.get("columns", {}).get("document")
            tables.append((given.path, [one], _columns(given.path, given.options.get("format"), named)))
    found: dict[str, tuple[int, str, str]] = {}
    for source, labelled, columns in tables:
        for column, pairs, codes in columns:
            for one in labelled:
                name = one.attribute.name
                count = _units(one, pairs, codes) if column != name else 0
                if count and (name not in found or count < found[name][0]):
                    found[name] = count, column, source
    return [
        f"{name}: all documents of one {column} have the same label, so labels probably belong to {column}: "
        f"--groups {shlex.quote(f'{name}={source}:unit={column}')} counts a label once for each "
        f"{column} in the verdict"
        for name, (_, column, source) in found.items()
    ]


def _columns(path: str, format: str | None, document: str | None) -> Iterator[tuple[str, Pairs, Int64s]]:
    """Each column of names in a table: its documents, and the code of each one's name."""
    from evenrank.io.groups.entries import Asked, table_entries
    from evenrank.io.tables import the_table

    named = {} if document is None else {"document": document}
    try:
        table = the_table(path, "documents", format=format)
    except (EvenrankError, OSError):
        return  # not a table, or not one file
    for column in table.names:
        try:
            entries = table_entries(table, Asked(column, column=column, columns=named))
        except EvenrankError:
            continue  # the column of the documents themselves, or one of numbers
        codes, names = entries.codes, entries.names
        if entries.shares is None and sum(map(len, names)) <= LONGEST * len(names):
            yield column, Pairs.of_documents(take(entries.documents, entries.rows)), codes


def _units(membership: Membership, pairs: Pairs, codes: Int64s) -> int:
    """How many units the codes are of, where each has one label, and each label a unit of several documents;
    else 0."""
    rows = membership.rows_of(pairs)
    codes, shares = codes[rows >= 0], membership.shares.rows(rows[rows >= 0])
    if len(shares.places) != len(codes):
        return 0  # shares of several values
    units, sizes = np.unique(codes, return_counts=True)
    both = np.unique(np.stack([codes, shares.places]), axis=1)  # (2, pairs that occur)
    labels = len(np.unique(shares.places))
    large = both[1, np.isin(both[0], units[sizes > 1])]
    several = labels < len(units) <= len(codes) / 2 and len(np.unique(large)) == labels > 1
    return len(units) if several and both.shape[1] == len(units) else 0
