"""Texts as vectors, block by block: here, or by the workers of a cluster.

A block is what one call of the model encodes here, so that workers give the vectors that this process would
have given. Results are handed over in order, and blocks that are behind wait; so vectors can be kept in a
cache while others are still being encoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from evenrank.arrays import Floats
from evenrank.errors import DataError
from evenrank.evidence.polarise.cache import VectorCache
from evenrank.evidence.polarise.encoders import Encode, Encoder, as_encoder, checked, longest_first
from evenrank.io.collections import mapped

TEXTS_AT_ONCE = 512


class EncodeTask(NamedTuple):
    """One call of a model: what another process must know to make it."""

    encode: tuple[str, int] | Encode  # what ``as_encoder`` makes the encoder of, or a function of texts
    texts: list[str]


def encode_block(task: EncodeTask) -> Any:
    """The vectors of a block; what is wrong with the model is given back."""
    try:
        encode = _encoder(*task.encode).encode if isinstance(task.encode, tuple) else task.encode
        return np.asarray(encode(task.texts))
    except DataError as error:
        return error.with_traceback(None)


def encoded(
    names: Mapping[str, str],
    encoder: Encoder,
    *,
    cache: VectorCache | None = None,
    on: object = None,
    at_once: int = TEXTS_AT_ONCE,
    source: str | None = None,
    zero: bool = False,
) -> Iterator[tuple[list[str], Floats]]:
    """The vectors of texts, ``at_once`` so many, the longest texts first.

    ``names`` has a document for each text, which errors name. What a cache knows is not encoded; what it does
    not know it keeps. ``on`` is a cluster that encodes.
    """
    texts = longest_first(names)
    blocks = [texts[begin : begin + at_once] for begin in range(0, len(texts), at_once)]
    source = f"encoder {encoder.name!r}" if source is None else source
    width: int | None = None
    with _encoder_of(blocks, encoder, cache, on) as own:

        def encode(wanted: list[str]) -> Floats:
            return checked(own.encode(wanted), [names[text] for text in wanted], source, zero=zero)

        for block in blocks:
            vectors = encode(block) if cache is None else cache.encode(block, encode)
            width = vectors.shape[1] if width is None else width
            if vectors.shape[1] != width:
                kept = "" if cache is None else f": encode into another folder than {cache.folder}"
                raise DataError(
                    f"{source} gave vectors of width {vectors.shape[1]} and of width {width}, which do not "
                    f"compare{kept}"
                )
            yield block, vectors


@contextmanager
def _encoder_of(
    blocks: Sequence[list[str]], encoder: Encoder, cache: VectorCache | None, on: object
) -> Iterator[Encoder]:
    """The encoder itself; on a cluster, one that is asked for each block once and in their order."""
    if on is None or not blocks:
        yield encoder
        return
    import evenrank

    wanted = [block if cache is None else cache.unknown(block) for block in blocks]
    tasks = [EncodeTask(encoder.made_of or encoder.encode, block) for block in wanted if block]
    with (
        evenrank.open_executor(on) as executor,
        closing(mapped(executor, encode_block, tasks)) as results,
    ):

        def encode(texts: Sequence[str]) -> Any:
            found = next(results)
            if isinstance(found, DataError):
                raise found
            return found

        yield Encoder(encoder.name, encode, encoder.identity)


@lru_cache(maxsize=2)
def _encoder(given: str, batch: int) -> Encoder:
    """One for all blocks that a worker is sent: a model is loaded once."""
    return as_encoder(given, batch=batch)
