"""Texts encoded by the workers of a cluster, in the blocks and the order in which they are asked for here.

A block is what one call of the model encodes here, so that workers give the vectors that this process would
have given. Results are handed over in order, and blocks that are behind wait; so vectors can be kept in a
cache while others are still being encoded.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenrank.errors import DataError
from evenrank.evidence.polarise.cache import VectorCache
from evenrank.evidence.polarise.encoders import Encoder, as_encoder
from evenrank.io.collections import mapped
from evenrank.io.executor import Executor


class EncodeTask(NamedTuple):
    """One call of a model: what another process must know to make it."""

    encoder: Any  # a name, a folder or a callable
    batch: int
    texts: list[str]


def encode_block(task: EncodeTask) -> Any:
    """The vectors of a block; what is wrong with the model is given back."""
    try:
        return np.asarray(_encoder(task.encoder, task.batch).encode(task.texts))
    except DataError as error:
        return error.with_traceback(None)


@contextmanager
def encoding(
    encoder: Encoder,
    blocks: Sequence[list[str]],
    given: Any,
    batch: int,
    cache: VectorCache | None,
    on: object,
) -> Iterator[Encoder]:
    """The encoder of these blocks: ``on`` a cluster, one that is asked for each of them once and in their
    order, without the texts that the cache knows. ``given`` is what the encoder was made of."""
    if on is None:
        yield encoder
        return
    import evenrank

    if isinstance(given, Encoder):
        given = given.encode
    elif not callable(given):  # workers need not stand in the same folder
        folder = Path(given).expanduser()
        given = str(folder.resolve() if folder.is_dir() else given)
    wanted = [block if cache is None else cache.unknown(block) for block in blocks]
    tasks = [EncodeTask(given, batch, block) for block in wanted if block]
    with evenrank.open_executor(on) as executor, closing(_in_order(executor, tasks)) as vectors:
        yield Encoder(encoder.name, lambda texts: next(vectors), encoder.identity)


def _in_order(executor: Executor, tasks: Sequence[EncodeTask]) -> Generator[Any]:
    with closing(mapped(executor, encode_block, tasks)) as results:
        for found in results:
            if isinstance(found, DataError):
                raise found
            yield found


@lru_cache(maxsize=2)
def _encoder(given: Any, batch: int) -> Encoder:
    """One for all blocks that a worker is sent: a model is loaded once."""
    return as_encoder(given, batch=batch)
