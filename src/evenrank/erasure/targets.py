"""What vectors shall say nothing about: numbers for every document, made from words, groups or labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.arrays import Bools, Floats, real_numbers
from evenrank.data.evidence_source import Pairs
from evenrank.data.membership import Membership
from evenrank.data.words import WordCounts
from evenrank.errors import DataError, InputTypeError, ParameterError, counted
from evenrank.ids import as_strings
from evenrank.measures.neutrality import neutrality

MOST_COUNTED = 5  # occurrences of the words of one group: a long list of names is not a hundred times as much


@dataclass(frozen=True, eq=False)
class Targets:
    """Numbers of every document that no linear function of its vector shall tell.

    ``known`` says which documents have labels; where none of the others has one, a labelled sample suffices.
    ``groups`` says that the targets are the values of an attribute, of which none is more than another: the
    first one is then only the first by name or in a file, and no penalty may be subtracted for it.
    """

    names: tuple[str, ...]
    table: Floats  # (N, T)
    known: Bools  # (N,)
    groups: bool = False

    def __post_init__(self) -> None:
        if self.table.ndim != 2 or self.table.shape[1] != len(self.names) or not self.names:
            raise DataError(f"targets of {self.table.shape} do not fit the names {', '.join(self.names)}")
        if len(self.known) != len(self.table):
            raise DataError(f"{len(self.known)} marks of labels do not fit {len(self.table)} documents")
        flawed = np.flatnonzero(self.known & ~np.isfinite(self.table).all(axis=1))
        if len(flawed):
            raise DataError(f"targets: row {int(flawed[0]) + 1} holds NaN or infinity")
        if not self.known.any():
            raise DataError("none of the documents that have vectors has a label: are the ids the same?")
        spread = np.ptp(self.table[self.known], axis=0)
        if not spread.any():
            count = counted(int(self.known.sum()), "document", "documents")
            raise DataError(
                f"{_listed(self.names)} the same for all {count} with a label, so there is nothing to erase: "
                "label documents of at least two kinds"
            )

    def __len__(self) -> int:
        return len(self.table)

    @property
    def labels(self) -> Floats:
        """(N,): the first target, which a probe is to tell."""
        first: Floats = self.table[:, 0]
        return first

    @property
    def marked(self) -> Bools:
        """(N,): labelled documents whose first target is above its median (where most have the largest value:
        those that have it)."""
        first, known = self.labels, self.labels[self.known]
        high = first > np.median(known)
        if not high[self.known].any():
            high = first >= known.max()
        return np.asarray(self.known & high)

    def at(self, rows: Any) -> Targets:
        """Those of some documents."""
        return replace(self, table=self.table[rows], known=self.known[rows])

    def sampled(self, count: int, seed: int = 0) -> Targets:
        """As if only ``count`` of the labelled documents, drawn at random, had been labelled."""
        if count < 2:
            raise ParameterError(f"a labelled sample has at least 2 documents, got {count}")
        places = np.flatnonzero(self.known)
        if count >= len(places):
            return self
        known = np.zeros(len(self), dtype=bool)
        known[np.random.default_rng(seed).choice(places, count, replace=False)] = True
        return replace(self, known=known)

    @classmethod
    def of_words(
        cls, words: WordCounts, documents: Any = None, *, tau: int = 1, label_alone: bool = False
    ) -> Targets:
        """From the words of a lexicon: ``biased`` (neutrality below 1), whether each group is present, its
        occurrences (at most 5), and ``1 - w``; with ``label_alone`` only the first.

        ``documents`` are the ids of the vectors, in their order (default: those of the counts).

        >>> from evenrank import Lexicon, scan
        >>> kin = Lexicon.build("kin", {"f": ["mother"], "m": ["father"]})
        >>> words = scan([("d1", "My mother and her mother"), ("d2", "nobody")], kin)
        >>> found = Targets.of_words(words)
        >>> dict(zip(found.names, found.table[0].tolist(), strict=True))
        {'biased': 1.0, 'has f': 1.0, 'has m': 0.0, 'words of f': 2.0, 'words of m': 0.0, '1 - w': 1.0}
        """
        if documents is None:
            counts, tokens = words.counts.astype(np.float64), words.tokens.astype(np.float64)
            known = np.ones(len(words), dtype=bool)
        else:
            gathered = words.gather(_pairs(documents))
            counts, tokens = (np.asarray(gathered.columns[column]) for column in ("counts", "tokens"))
            known = gathered.known
        w = neutrality(counts, np.array(words.lexicon.targets), tau, tokens)
        groups = words.lexicon.groups
        biased = (w < 1)[:, None]
        if label_alone:
            return cls(("biased",), biased.astype(np.float64), known)
        names = (
            "biased",
            *(f"has {group}" for group in groups),
            *(f"words of {group}" for group in groups),
            "1 - w",
        )
        table = np.hstack([biased, counts > 0, np.minimum(counts, MOST_COUNTED), 1 - w[:, None]])
        return cls(names, table, known)

    @classmethod
    def of_groups(cls, groups: Membership, documents: Any) -> Targets:
        """From a group file or a field: the share of every value. Documents without a group have no label."""
        if groups.query_ids is not None:
            raise DataError(
                f"the groups {groups.attribute.name!r} depend on the query, but a vector does not: give "
                "groups of documents"
            )
        pairs = _pairs(documents)
        rows = groups.rows_of(pairs)
        shares = groups.shares.dense(rows)  # (N, V)
        names = tuple(f"{groups.attribute.name} {value}" for value in groups.attribute.values)
        return cls(names, shares, np.asarray((rows >= 0) & shares.any(axis=1)), groups=True)

    @classmethod
    def of_labels(cls, labels: Sequence[Any], name: str = "label") -> Targets:
        """From one label for each document; None for a document that nobody has labelled.

        >>> Targets.of_labels(["f", "m", None, "m"]).table.tolist()
        [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 1.0]]
        """
        values = sorted({label for label in labels if label is not None}, key=str)
        if len(values) < 2:
            shown = f"only {values[0]!r}" if values else "none"
            raise DataError(f"{name}: two different labels are needed to erase one, got {shown}")
        known = sum(label is not None for label in labels)
        if len(values) > max(10, known // 2):
            raise DataError(
                f"{name}: {len(values):,} different labels of {known:,} documents, such as {values[0]!r}: if "
                "they are amounts, pass an array of floats"
            )
        table = np.array([[label == value for value in values] for label in labels], dtype=np.float64)
        names = tuple(f"{name} {value}" for value in values)
        return cls(names, table, np.asarray(table.any(axis=1)), groups=True)


def as_targets(given: Any) -> Targets:
    """Targets, an array (N,) or (N, T) of numbers, or a list of labels."""
    if isinstance(given, Targets):
        return given
    if isinstance(given, (list, tuple)) and given and all(isinstance(one, float) for one in given):
        given = np.array(given)
    if isinstance(given, np.ndarray) and given.dtype.kind in "biuf":
        if given.ndim == 1 and given.dtype.kind in "iu" and len(np.unique(given)) > 2:
            raise ParameterError(
                f"targets are whole numbers with {len(np.unique(given))} values, which may be labels or "
                "amounts: pass Targets.of_labels(targets) or targets.astype(float)"
            )
        table = real_numbers(given)
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2:
            raise DataError(f"targets are (documents,) or (documents, targets), got {given.shape}")
        names = tuple(f"target {place}" for place in range(1, table.shape[1] + 1))
        return Targets(names, table, np.ones(len(table), dtype=bool))
    if isinstance(given, (list, tuple, np.ndarray, pa.Array)):
        return Targets.of_labels(given.tolist() if hasattr(given, "tolist") else list(given))
    raise InputTypeError(
        f"targets are Targets, an array of numbers, or a list of labels; got {type(given).__name__}"
    )


def _pairs(documents: Any) -> Pairs:
    return Pairs.of_documents(as_strings(documents))


def _listed(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"the target {names[0]!r} is"
    return "the targets " + ", ".join(map(repr, names)) + " are each"
