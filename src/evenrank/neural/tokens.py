"""Pairs as tokens: made once, then cut out and padded for every batch."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from evenrank.arrays import Int64s, ragged

Texts = Callable[[Int64s], tuple[list[str], list[str]]]
"""The queries and the documents of these pairs."""

KEEP = 2_000_000  # pairs whose tokens are held; more are made anew for each batch
_CHUNK = 4096
_CHARACTERS = 32  # of a text for each token that there is room for; words are far shorter
_MULTIPLE = 8  # of lengths on a GPU, whose matrix units want it


class PairBatches(Protocol):
    """The tokens of pairs, by the place of the pair, as a kind of ranker takes them."""

    def lengths(self, pairs: Int64s) -> Int64s: ...

    def prepare(self, pairs: Int64s) -> None:
        """Make what a batch of these pairs needs; another thread may do it before the batch is asked for."""
        ...

    def batch(self, pairs: Int64s, device: torch.device | str = "cpu") -> dict[str, torch.Tensor]: ...


class PairTokens:
    """The tokens of pairs of texts, by the place of the pair.

    Where both are too long together, the longer one is cut, so that a very long query leaves room for the
    document.
    """

    def __init__(
        self, tokenizer: Any, texts: Callable[[Int64s], tuple[list[str], ...]], pairs: int, max_length: int
    ) -> None:
        self._tokenizer, self._texts, self._max_length = tokenizer, texts, max_length
        self._held = pairs <= KEEP
        self._rows = np.full(pairs if self._held else 0, -1, dtype=np.int64)  # where a pair's tokens begin
        self._lengths = np.zeros(len(self._rows), dtype=np.int64)
        self._columns: dict[str, npt.NDArray[np.int32]] = {}  # with room at their ends
        self._filled = 0
        self._making = threading.Lock()
        pad = getattr(tokenizer, "pad_token_id", None)
        self._padding = {"input_ids": 0 if pad is None else int(pad)}

    def lengths(self, pairs: Int64s) -> Int64s:
        """How long each of these pairs is: in tokens, or in characters where tokens are not held."""
        if not self._held:
            return np.array(
                [sum(map(len, row)) for row in zip(*self._texts(pairs), strict=True)], dtype=np.int64
            )
        self.prepare(pairs)
        return self._lengths[pairs]

    def prepare(self, pairs: Int64s) -> None:
        """Make the tokens of pairs that have none yet, where tokens are held."""
        if not self._held or not (self._rows[pairs] < 0).any():  # nobody waits for what is there
            return
        with self._making:
            new = np.unique(pairs[self._rows[pairs] < 0])
            for begin in range(0, len(new), _CHUNK):
                chunk = new[begin : begin + _CHUNK]
                columns, lengths = self._made(chunk)
                starts = self._filled + np.cumsum(lengths) - lengths
                self._add(columns, int(lengths.sum()))
                self._lengths[chunk] = lengths
                self._rows[chunk] = starts  # last: from here other threads read them

    def _add(self, columns: Mapping[str, npt.NDArray[np.int32]], count: int) -> None:
        """Behind what is there. Columns that are full are doubled: joining anew for every batch would copy
        all tokens every time."""
        end = self._filled + count
        if not self._columns or end > len(next(iter(self._columns.values()))):
            grown = {name: np.empty(max(end, 2 * self._filled), dtype=np.int32) for name in columns}
            for name, column in self._columns.items():
                grown[name][: self._filled] = column[: self._filled]
            self._columns = grown
        for name, values in columns.items():
            self._columns[name][self._filled : end] = values
        self._filled = end

    def _made(self, pairs: Int64s) -> tuple[dict[str, Any], Int64s]:
        # a tokenizer would first make all tokens of a very long text, then drop nearly all, one by one
        enough = _CHARACTERS * self._max_length
        sides = ([text[:enough] for text in texts] for texts in self._texts(pairs))
        found = self._tokenizer(*sides, truncation=True, max_length=self._max_length)
        lengths = np.array([len(row) for row in found["input_ids"]], dtype=np.int64)
        columns = {
            name: np.fromiter(
                (token for row in rows for token in row), dtype=np.int32, count=int(lengths.sum())
            )
            for name, rows in found.items()
            if name != "attention_mask"
        }
        return columns, lengths

    def batch(self, pairs: Int64s, device: torch.device | str = "cpu") -> dict[str, torch.Tensor]:
        """What the encoder takes: (P, L) of each kind, padded to the longest of these pairs."""
        if self._held:
            self.prepare(pairs)
            columns, lengths = self._columns, self._lengths[pairs]
            source = ragged(self._rows[pairs], lengths)
        else:
            columns, lengths = self._made(pairs)
            source = np.arange(int(lengths.sum()))
        longest, gpu = int(lengths.max(initial=1)), torch.device(device).type == "cuda"
        if gpu:
            longest = min(-(-longest // _MULTIPLE) * _MULTIPLE, max(self._max_length, longest))
        mask = np.arange(longest) < lengths[:, None]  # (P, L)
        made = {"attention_mask": torch.from_numpy(mask.astype(np.int64))}
        for name, values in columns.items():
            table = np.full(mask.shape, self._padding.get(name, 0), dtype=np.int64)
            table[mask] = values[source]
            made[name] = torch.from_numpy(table)
        if gpu:
            return {name: table.pin_memory().to(device, non_blocking=True) for name, table in made.items()}
        return {name: table.to(device) for name, table in made.items()}


class SeparateTokens:
    """The tokens of queries and of documents, each text by itself; in a batch every text is there once."""

    def __init__(self, tokenizer: Any, texts: Texts, pairs: int, max_length: int) -> None:
        every = np.arange(pairs)
        self._sides: dict[str, tuple[Int64s, PairTokens]] = {}
        for place, side in enumerate(("query", "document")):
            distinct: dict[str, int] = {}
            codes = [distinct.setdefault(text, len(distinct)) for text in texts(every)[place]]
            known = list(distinct)

            def texts_of(rows: Int64s, known: list[str] = known) -> tuple[list[str]]:
                return ([known[row] for row in rows.tolist()],)

            tokens = PairTokens(tokenizer, texts_of, len(known), max_length)
            self._sides[side] = np.array(codes, dtype=np.int64), tokens

    def lengths(self, pairs: Int64s) -> Int64s:
        """How long the longer text of each pair is."""
        found = [tokens.lengths(codes[pairs]) for codes, tokens in self._sides.values()]
        longest: Int64s = np.maximum(*found)
        return longest

    def prepare(self, pairs: Int64s) -> None:
        for codes, tokens in self._sides.values():
            tokens.prepare(codes[pairs])

    def batch(self, pairs: Int64s, device: torch.device | str = "cpu") -> dict[str, torch.Tensor]:
        """``query.input_ids`` and so on: (T, L) of the distinct texts; ``query.of``: (P,) rows of them."""
        made: dict[str, torch.Tensor] = {}
        for side, (codes, tokens) in self._sides.items():
            distinct, back = np.unique(codes[pairs], return_inverse=True)
            made |= {f"{side}.{name}": table for name, table in tokens.batch(distinct, device).items()}
            made[f"{side}.of"] = torch.from_numpy(back).to(device)
        return made
