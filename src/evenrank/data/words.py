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

from evenrank.arrays import Array, Floats, Int64s, UInt64s, rows_or_zero
from evenrank.data.evidence_source import Column, DocumentSets, Gathered, Pairs, Sparse
from evenrank.data.lexicon import Lexicon
from evenrank.data.lookup import NO_HASHES, PairIndex
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
        *shares, some = self._shares()
        groups = ", ".join(
            f"{g} in {share:.1%}" for g, share in zip(self.lexicon.groups, shares, strict=True)
        )
        return (
            f"<WordCounts: {counted(len(self), 'document', 'documents')}, lexicon {self.lexicon.name!r}"
            f"{with_terms}: words of {groups}, of any group in {some:.1%} of the documents>"
        )

    def _shares(self) -> list[float]:
        """The share of the documents that have words of each group, and of any."""
        there = self.counts > 0  # (N, G)
        return [
            *(there.sum(axis=0) / max(1, len(self))).tolist(),
            there.any(axis=1).sum() / max(1, len(self)),
        ]

    def _repr_html_(self) -> str:
        """For each group how many of its words were found, and in what share of the documents."""
        from evenrank.tables import Table

        *shares, some = self._shares()
        found = self.counts.sum(axis=0).tolist()
        rows = [
            (group, len(self.lexicon.words(group)), words, f"{share:.1%}")
            for group, words, share in zip(self.lexicon.groups, found, shares, strict=True)
        ]
        rows.append(("any group", len(self.lexicon), sum(found), f"{some:.1%}"))
        head = ["group", "terms of the lexicon", "words found", "documents with such words"]
        return Table.of(
            head,
            rows,
            title=repr(self)[1:-1],
            meaning=(
                "How many words of each group the documents hold, and in what share of the documents"
                " they stand."
            ),
        ).to_html()

    @property
    def has_terms(self) -> bool:
        """Whether the terms were counted one by one."""
        return self.at_hand().terms is not None

    def leading_groups(self, minimum: int) -> Int64s:
        """(N,): the group that a document has most words of; where two have as many, or where it has fewer
        than ``minimum`` group words, the number of groups."""
        most = self.counts.max(axis=1)
        leads = (self.tokens >= minimum) & ((self.counts == most[:, None]).sum(axis=1) == 1)
        places: Int64s = np.where(leads, self.counts.argmax(axis=1), len(self.lexicon.groups))
        return places

    def leading_sizes(self, minimum: int) -> Int64s:
        """(G + 1,): how many documents each group leads in, and in how many none does."""
        return np.bincount(self.leading_groups(minimum), minlength=len(self.lexicon.groups) + 1)

    def shares_of_groups(self, minimum: int = 1) -> tuple[pa.LargeStringArray, Floats]:
        """The documents with ``minimum`` group words or more, and the share of each group: (N, G)."""
        total = self.counts.sum(axis=1)  # (N,)
        rows = np.flatnonzero(self.tokens >= max(1, minimum))
        return self.doc_ids.take(rows), self.counts[rows] / total[rows, None]

    def at_hand(self, hashes: UInt64s | None = NO_HASHES) -> WordCounts:
        """Counts that have all documents with these hashes of their ids, and perhaps others; None is all."""
        return self

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
        columns: dict[str, Column] = {
            "counts": self.counts.astype(float),
            "length": self.lengths.astype(float),
            "tokens": self.tokens.astype(float),
        }
        if self.terms is not None:
            columns["terms"] = self.terms
        gathered = {self.name: Gathered(columns, np.ones(len(self), dtype=bool))}
        return DocumentSets(
            StringRows(self.doc_ids), np.array([0, len(self)]), shared=True, gathered=gathered
        )

    def gather(self, pairs: Pairs) -> Gathered:
        """``words.counts`` (P, G), ``words.length`` and ``words.tokens`` (P,): all tokens, and those of any
        group; and, if counted, ``words.terms`` (P, terms)."""
        own = self.at_hand(pairs.doc_ids.hashes)
        rows = own._index.locate(None, pairs.doc_ids)
        columns: dict[str, Column] = {
            name: rows_or_zero(values, rows).astype(float)
            for name, values in (("counts", own.counts), ("length", own.lengths), ("tokens", own.tokens))
        }
        if own.terms is not None:
            columns["terms"] = own.terms.rows(rows)
        return Gathered(columns, rows >= 0)

    def gather_queries(self, query_ids: Sequence[str]) -> Mapping[str, Array]:
        """The target shares, the same for every query: ``words.target`` (Q, G)."""
        return {"target": np.tile(self.lexicon.targets, (len(query_ids), 1))}
