"""Vectors of words as text: a word and its numbers on each line, as GloVe and word2vec have them."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from evenrank.arrays import Floats
from evenrank.errors import DataError, ParameterError, Problem
from evenrank.io.source import as_source


def read_word_vectors(path: str, wanted: Collection[str] | None = None) -> dict[str, Floats]:
    """``{word: vector}``, of the ``wanted`` words alone where given; a head of two numbers is skipped."""
    source = as_source(path)
    if source is None:
        raise ParameterError(f"vectors of words are read from a file, got {path!r}")
    found: dict[str, Floats] = {}
    problems: list[Problem] = []
    width: int | None = None
    rest = b""
    number = 0
    for block in source.blocks():
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            number += 1
            width = _take(line, number, width, found, problems, wanted)
    if rest:
        _take(rest, number + 1, width, found, problems, wanted)
    if problems:
        raise DataError.listing(source.name, problems[:20])
    if not found:
        raise DataError(f"{source.name}: has no vector of any of these words")
    return found


def _take(
    line: bytes,
    number: int,
    width: int | None,
    found: dict[str, Floats],
    problems: list[Problem],
    wanted: Collection[str] | None,
) -> int | None:
    parts = line.rstrip().split(b" ")
    if len(parts) < 3:  # the head of word2vec: how many words and how wide
        return width
    word = parts[0].decode("utf-8", "replace").lower()
    if width is not None and len(parts) - 1 != width:
        problems.append(Problem(number, f"{len(parts) - 1} numbers, but the lines before have {width}"))
        return width
    if (wanted is None or word in wanted) and word not in found:
        try:
            vector = np.array(parts[1:], dtype=np.float64)
        except ValueError:
            problems.append(Problem(number, "is not a word and its numbers, separated by blanks"))
            return width
        if not (np.abs(vector) <= np.finfo(np.float32).max).all():  # files of vectors have 32 bits
            problems.append(Problem(number, "holds a number that is not finite, or not one of 32 bits"))
            return width
        found[word] = vector
    return len(parts) - 1
