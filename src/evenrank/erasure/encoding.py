"""Vectors of texts by an encoder, of length 1, kept on disk where asked for."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from evenrank.arrays import Array
from evenrank.erasure.vector_files import VectorSource, array_blocks
from evenrank.errors import DataError, EvenrankWarning
from evenrank.evidence.encoding import as_encoder, encoded
from evenrank.evidence.models import COSINE
from evenrank.ids import as_strings

TEXTS_AT_ONCE = 1024

Progress = Callable[[str, int, int], None]


def encode_documents(
    encoder: Any,
    texts: Mapping[str, str],
    *,
    cache: str | os.PathLike[str] | None = None,
    batch: int = 32,
    progress: Progress | None = None,
    name: str = "documents",
) -> VectorSource:
    """The vectors of documents ``{id: text}``, brought to length 1; a text without any stays at 0."""
    if not texts:
        raise DataError(f"{name}: no documents")
    made = as_encoder(encoder, batch=batch)
    if (own := made.similarity()) != COSINE:
        warnings.warn(
            f"{made.name}: its vectors are meant to be compared by {own}, and are brought to length 1 here, "
            "as a search by cosine has them: search with similarity='cosine'",
            EvenrankWarning,
            stacklevel=2,
        )
    ids, place, blocks = list(texts), dict[str, int](), list[Array]()
    different = {text: text for text in texts.values()}  # errors name the text itself
    if progress is not None:
        progress("encoding documents", 0, len(different))  # the first texts take long: the model is loaded
    for block, vectors in encoded(
        different, made, cache=made.kept_in(cache), source=made.name, zero=True, at_once=TEXTS_AT_ONCE
    ):
        place.update(zip(block, range(len(place), len(place) + len(block)), strict=True))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        blocks.append((vectors / np.where(lengths > 0, lengths, 1.0)).astype(np.float32))
        if progress is not None:
            progress("encoding documents", len(place), len(different))
    table = np.concatenate(blocks)[[place[text] for text in texts.values()]]
    return VectorSource(
        name, len(table), table.shape[1], partial(array_blocks, table), lambda: as_strings(ids)
    )
