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

from evenrank.arrays import Array
from evenrank.data.evidence_source import Column, DocumentSets, Gathered, Pairs, Sparse
from evenrank.data.lexicon import Lexicon
from evenrank.data.lookup import PairIndex
from evenrank.errors import DataError, ParameterError
from evenrank.ids import StringRows, as_strings, offsets_of

TOKENIZERS = ("word", "whitespace")


@dataclass(frozen=True, eq=False, repr=False)
class WordCounts:
    """For each document its number of tokens, the tokens of each group, and optionally of each term.

    It remembers the lexicon and the tokeniser it was counted with.
    """

    doc_ids: pa.LargeStringArray  # (N,)
    lengths: npt.NDArray[np.int64]  # (N,)
    counts: npt.NDArray[np.int64]  # (N, G)
    lexicon: Lexicon
    tokenizer: str = "word"
    terms: Sparse | None = None  # (N, terms)
    source: str | None = None

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
        doc_ids = as_strings(documents)
        if tokenizer not in TOKENIZERS:
            raise ParameterError(f"tokenizer must be one of {', '.join(TOKENIZERS)}, got {tokenizer!r}")
        tokens, table = np.asarray(lengths, dtype=np.int64), np.asarray(counts, dtype=np.int64)
        if table.shape != (len(doc_ids), len(lexicon.groups)) or tokens.shape != (len(doc_ids),):
            raise DataError(
                f"counts of {table.shape} and lengths of {tokens.shape} do not fit "
                f"{len(doc_ids)} documents and {len(lexicon.groups)} groups"
            )
        return cls(doc_ids, tokens, table, lexicon, tokenizer, terms, source)

    def __len__(self) -> int:
        return len(self.doc_ids)

    def __repr__(self) -> str:
        with_terms = "" if self.terms is None else ", by term"
        return f"<WordCounts: {len(self):,} documents, lexicon {self.lexicon.name!r}{with_terms}>"

    @cached_property
    def _index(self) -> PairIndex:
        return PairIndex(np.zeros(len(self), dtype=np.int64), self.doc_ids)

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.sha256(f"{self.lexicon.fingerprint} {self.tokenizer}".encode())
        offsets = offsets_of(self.doc_ids)
        buffer = self.doc_ids.buffers()[2]
        digest.update((offsets - offsets[0]).tobytes())
        if buffer is not None:
            digest.update(memoryview(buffer)[int(offsets[0]) : int(offsets[-1])])
        digest.update(self.lengths.tobytes())
        digest.update(np.ascontiguousarray(self.counts).tobytes())
        return digest.hexdigest()

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        return {"groups": self.lexicon.groups, "terms": self.lexicon.terms}

    def as_documents(self) -> DocumentSets:
        """All documents as one set for all queries, with their counts."""
        columns: dict[str, Column] = {
            "counts": self.counts.astype(float),
            "length": self.lengths.astype(float),
        }
        gathered = {self.name: Gathered(columns, np.ones(len(self), dtype=bool))}
        return DocumentSets(
            StringRows(self.doc_ids), np.array([0, len(self)]), shared=True, gathered=gathered
        )

    def gather(self, pairs: Pairs) -> Gathered:
        """``words.counts`` (P, G), ``words.length`` (P,) and, if counted, ``words.terms`` (P, terms)."""
        rows = self._index.locate(None, pairs.doc_ids, pairs.doc_hashes)
        known = rows >= 0
        counts = np.zeros((len(pairs), self.counts.shape[1]))
        lengths = np.zeros(len(pairs))
        counts[known], lengths[known] = self.counts[rows[known]], self.lengths[rows[known]]
        columns: dict[str, Column] = {"counts": counts, "length": lengths}
        if self.terms is not None:
            columns["terms"] = self.terms.rows(rows)
        return Gathered(columns, known)

    def gather_queries(self, query_ids: Sequence[str]) -> Mapping[str, Array]:
        """The target shares, the same for every query: ``words.target`` (Q, G)."""
        return {"target": np.tile(self.lexicon.targets, (len(query_ids), 1))}
