"""Scores and vectors of many pairs: sorted by length, so that little is padded, and put back in order."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from evenrank.arrays import Int64s
from evenrank.errors import DataError, EvenrankWarning
from evenrank.neural.bi_encoder import BiEncoderRanker
from evenrank.neural.precision import computing
from evenrank.neural.ranker import NeuralRanker
from evenrank.neural.tokens import PairBatches, PairTokens

Floats = npt.NDArray[np.float32]
Progress = Callable[[int, int], None]
"""Called with how much is done, and of how much."""

BATCH = 128
_AT_ONCE = 1 << 16  # pairs whose tokens are made before the first of them is scored
# a GPU has an error of its own, but its libraries and a CPU only say so
_NO_MEMORY = ("DefaultCPUAllocator", "CUBLAS_STATUS_ALLOC_FAILED", "MPS backend out of memory")


def pair_scores(
    ranker: NeuralRanker,
    tokens: PairBatches,
    pairs: Int64s,
    *,
    batch: int = BATCH,
    precision: str = "float32",
    progress: Progress | None = None,
) -> Floats:
    """(n,): the relevance of each of these pairs."""
    found = _computed(
        ranker, tokens, pairs, lambda known: ranker.scores(ranker.encode(known)), batch, precision, progress
    )
    bad = int((~np.isfinite(found)).sum())
    if bad:
        raise DataError(
            f"{bad} of {len(found)} scores are not finite, so they order nothing: "
            "the ranker is broken, or needs a higher precision"
        )
    return found


def pair_vectors(
    ranker: NeuralRanker,
    tokens: PairBatches,
    pairs: Int64s,
    *,
    batch: int = BATCH,
    precision: str = "float32",
    progress: Progress | None = None,
) -> Floats:
    """(n, width): z of each of these pairs."""

    def vectors(known: dict[str, torch.Tensor]) -> torch.Tensor:
        return ranker.seen(ranker.encode(known)).float()

    return _computed(ranker, tokens, pairs, vectors, batch, precision, progress)


def text_vectors(
    ranker: BiEncoderRanker,
    texts: Sequence[str],
    *,
    batch: int = BATCH,
    precision: str = "float32",
    progress: Progress | None = None,
) -> Floats:
    """(n, width): the unit vector of each text."""

    def texts_of(rows: Int64s) -> tuple[list[str]]:
        return ([texts[row] for row in rows.tolist()],)

    tokens = PairTokens(ranker.tokenizer, texts_of, len(texts), ranker.max_length)
    return _computed(ranker, tokens, np.arange(len(texts)), ranker.text_vectors, batch, precision, progress)


def _computed(
    ranker: NeuralRanker,
    tokens: PairBatches,
    pairs: Int64s,
    result: Callable[[dict[str, torch.Tensor]], torch.Tensor],
    batch: int,
    precision: str,
    progress: Progress | None,
) -> Floats:
    was_training, device = ranker.training, ranker.device
    ranker.eval()
    found: list[torch.Tensor] = []
    places: list[Int64s] = []
    try:
        with torch.inference_mode(), computing(device, precision):
            for begin in range(0, len(pairs), _AT_ONCE):
                chunk = pairs[begin : begin + _AT_ONCE]
                order = np.argsort(-tokens.lengths(chunk), kind="stable")  # too little memory shows at once
                done = 0
                while done < len(order):
                    rows = order[done : done + batch]
                    try:
                        found.append(result(tokens.batch(chunk[rows], device)))
                    except RuntimeError as error:
                        if not lacks_memory(error):
                            raise
                        batch = halved(min(batch, len(rows)), device)
                        warnings.warn(
                            f"scoring: out of memory; {batch} pairs at once from here",
                            EvenrankWarning,
                            stacklevel=3,
                        )
                        continue
                    places.append(begin + rows)
                    done += len(rows)
                    if progress is not None:
                        progress(begin + done, len(pairs))
    finally:
        ranker.train(was_training)
    if not found:
        return np.empty(0, dtype=np.float32)
    values: Any = torch.cat(found).cpu().numpy()
    out: Floats = np.empty_like(values)
    out[np.concatenate(places)] = values
    return out


def lacks_memory(error: RuntimeError) -> bool:
    """Whether this is what is raised where memory does not suffice."""
    return isinstance(error, torch.OutOfMemoryError) or any(said in str(error) for said in _NO_MEMORY)


def halved(batch: int, device: torch.device) -> int:
    """Half a batch that did not fit into memory."""
    if batch == 1:
        raise DataError(
            "memory does not suffice for a single pair: lower max_length, or take a smaller encoder"
        )
    if device.type == "cuda":
        torch.cuda.empty_cache()
    return batch // 2
