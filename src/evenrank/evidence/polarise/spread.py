"""Texts encoded by the workers of an executor, in the blocks and the order in which they are asked for here.

A block is what one call of the model encodes here, so that workers give the vectors that this process would
have given. Results are handed over in order, and blocks that are behind wait; so vectors can be kept in a
cache while others are still being encoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenrank.errors import DataError, EvenrankError, ParameterError
from evenrank.evidence.polarise.encoders import Encoder, as_encoder
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
def encoding_ahead(
    given: Any, batch: int, executor: Executor, blocks: Sequence[list[str]]
) -> Iterator[Encoder]:
    """An encoder of these blocks, each asked for once and in their order."""
    own = as_encoder(given, batch=batch)
    tasks = [EncodeTask(_for_workers(given), batch, block) for block in blocks if block]
    results = executor.run(encode_block, tasks)
    ready: dict[int, Any] = {}
    asked = iter(range(len(tasks)))

    def encode(texts: Sequence[str]) -> Any:
        place = next(asked)
        if tasks[place].texts != list(texts):
            raise ParameterError("blocks of texts are asked for in another order than was said")
        while place not in ready:
            arrived = next(results, None)
            if arrived is None:
                raise EvenrankError(f"{executor.name} ended without the vectors of all texts: try again")
            ready[arrived[0]] = arrived[1]
        found = ready.pop(place)
        if isinstance(found, DataError):
            raise found
        return found

    try:
        yield Encoder(own.name, encode, own.identity)
    finally:
        close = getattr(results, "close", None)
        if close is not None:
            close()


def _for_workers(given: Any) -> Any:
    """Workers need not stand in the same folder."""
    if isinstance(given, Encoder):
        return given.encode
    if not callable(given) and Path(given).expanduser().is_dir():
        return str(Path(given).expanduser().resolve())
    return given if callable(given) else str(given)


@lru_cache(maxsize=2)
def _encoder(given: Any, batch: int) -> Encoder:
    """One for all blocks that a worker is sent: a model is loaded once."""
    return as_encoder(given, batch=batch)
