"""How often the words of a lexicon stand in each document."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.arrays import Array, Floats, Int64s, rows_or_zero
from evenrank.data.evidence_source import Column, DocumentSets, Gathered, Pairs, Sparse
from evenrank.data.lexicon import Lexicon
from evenrank.data.lookup import PairIndex
from evenrank.errors import DataError, ParameterError, counted, few
from evenrank.ids import StringRows, as_strings, update_digest

TOKENIZERS = ("word", "whitespace")


@dataclass(frozen=True, eq=False, repr=False)
class WordCounts:
    """For each document its number of tokens, the tokens of each group, and optionally of each term.

    It remembers the lexicon and the tokeniser it was counted with.
    """

    doc_ids: pa.LargeStringArray  # (N,)
    lengths: npt.NDArray[np.int64]  # (N,)
    counts: npt.NDArray[Any]  # (N, G): tokens, or of a weighted lexicon sums of weights
    lexicon: Lexicon
    tokenizer: str
    terms: Sparse | None  # (N, terms)
    source: str | None
    tokens: npt.NDArray[np.int64]  # (N,) of any group

    name = "words"

    @classmethod
    def build(
        cls,
        documents: Any,
        lengths: Any,
        counts: Any,
        lexicon: Lexicon,
        *,
        tokenizer: str = "word",
        terms: Sparse | None = None,
        source: str | None = None,
    ) -> WordCounts:
        """``counts`` are tokens by group; where the lexicon has weights, ``terms`` are weighed instead, and
        a token that stands for several groups still counts as one token."""
        doc_ids = as_strings(documents)
        if tokenizer not in TOKENIZERS:
            raise ParameterError(f"tokenizer must be one of {', '.join(TOKENIZERS)}, got {tokenizer!r}")
        tokens = np.asarray(lengths, dtype=np.int64)
        table: npt.NDArray[Any] = np.asarray(counts, dtype=np.int64)
        if table.shape != (len(doc_ids), len(lexicon.groups)) or tokens.shape != (len(doc_ids),):
            raise DataError(
                f"counts of {table.shape} and lengths of {tokens.shape} do not fit "
                f"{len(doc_ids)} documents and {len(lexicon.groups)} groups"
            )
        of_groups = table.sum(axis=1)
        if lexicon.weights is not None:
            if terms is None:
                raise ParameterError(
                    f"{lexicon!r} has weights, which need the counts of each term: scan with terms=True "
                    "(--terms)"
                )
            table = terms.times(np.array(lexicon.weights))
        return cls(doc_ids, tokens, table, lexicon, tokenizer, terms, source, of_groups)

    def relisted(self, lexicon: Lexicon) -> WordCounts:
        """The counts that a scan with another lexicon gives, where all of its terms were counted here.

        A term inside a longer one that is left out is not found again: that needs a scan.
        """
        if self.terms is None:
            raise ParameterError(
                "other word lists need the counts of each term: scan again with terms=True (--terms)"
            )
        place = {term: at for at, term in enumerate(lexicon.terms)}
        own = set(self.lexicon.terms)
        lacking = [term for term in lexicon.terms if term not in own]
        if lacking:
            raise ParameterError(
                f"the counts lack {counted(len(lacking), 'term', 'terms')} of {lexicon!r}, such as "
                f"{few(lacking)}: scan with both lexicons joined "
                f"(--lexicon {self.lexicon.name}+{lexicon.name} --terms)"
            )
        moved = np.array([place.get(term, -1) for term in self.lexicon.terms], dtype=np.int64)
        terms = self.terms.moved(moved, len(lexicon))
        owner = np.eye(len(lexicon.groups))[list(lexicon.term_groups)]  # (T, G)
        return WordCounts.build(
            self.doc_ids,
            self.lengths,
            terms.times(owner).astype(np.int64),
            lexicon,
            tokenizer=self.tokenizer,
            terms=terms,
            source=self.source,
        )

    def __len__(self) -> int:
        return len(self.doc_ids)

    def __repr__(self) -> str:
        with_terms = "" if self.terms is None else ", by term"
        there, count = self.counts > 0, max(1, len(self))  # (N, G)
        shares, some = (there.sum(axis=0) / count).tolist(), there.any(axis=1).sum() / count
        groups = ", ".join(
            f"{g} in {share:.1%}" for g, share in zip(self.lexicon.groups, shares, strict=True)
        )
        return (
            f"<WordCounts: {counted(len(self), 'document', 'documents')}, lexicon {self.lexicon.name!r}"
            f"{with_terms}: words of {groups}, of any group in {some:.1%} of the documents>"
        )

    @property
    def has_terms(self) -> bool:
        """Whether the terms were counted one by one."""
        return self.terms is not None

    def leading_groups(self, minimum: int) -> Int64s:
        """(N,): the group that a document has most words of; where two have as many, or where it has fewer
        than ``minimum`` group words, the number of groups."""
        most = self.counts.max(axis=1)
        leads = (self.tokens >= minimum) & ((self.counts == most[:, None]).sum(axis=1) == 1)
        places: Int64s = np.where(leads, self.counts.argmax(axis=1), len(self.lexicon.groups))
        return places

    def shares_of_groups(self, minimum: int = 1) -> tuple[pa.LargeStringArray, Floats]:
        """The documents with ``minimum`` group words or more, and the share of each group: (N, G)."""
        total = self.counts.sum(axis=1)  # (N,)
        rows = np.flatnonzero(self.tokens >= max(1, minimum))
        return self.doc_ids.take(rows), self.counts[rows] / total[rows, None]

    @cached_property
    def _index(self) -> PairIndex:
        return PairIndex(np.zeros(len(self), dtype=np.int64), self.doc_ids)

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.sha256(f"{self.lexicon.fingerprint} {self.tokenizer}".encode())
        update_digest(digest, self.doc_ids)
        digest.update(self.lengths.tobytes())
        digest.update(np.ascontiguousarray(self.counts).tobytes())
        return digest.hexdigest()

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        return {"groups": self.lexicon.groups, "terms": self.lexicon.terms}

    def as_documents(self) -> DocumentSets:
        """All documents as one set for all queries, with their counts."""
        gathered = {self.name: self._at(np.arange(len(self)))}
        return DocumentSets(
            StringRows(self.doc_ids), np.array([0, len(self)]), shared=True, gathered=gathered
        )

    def gather(self, pairs: Pairs) -> Gathered:
        """``words.counts`` (P, G), ``words.length`` and ``words.tokens`` (P,): all tokens, and those of any
        group; and, if counted, ``words.terms`` (P, terms)."""
        return self._at(self._index.locate(None, pairs.doc_ids))

    def _at(self, rows: Int64s) -> Gathered:
        columns: dict[str, Column] = {
            name: rows_or_zero(values, rows).astype(float)
            for name, values in (("counts", self.counts), ("length", self.lengths), ("tokens", self.tokens))
        }
        if self.terms is not None:
            columns["terms"] = self.terms.rows(rows)
        return Gathered(columns, rows >= 0)

    def gather_queries(self, query_ids: Sequence[str]) -> Mapping[str, Array]:
        """The target shares, the same for every query: ``words.target`` (Q, G)."""
        return {"target": np.tile(self.lexicon.targets, (len(query_ids), 1))}
