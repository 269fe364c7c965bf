"""Vectors of words as text: a word and its numbers on each line, as GloVe and word2vec have them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from evenrank.arrays import Floats
from evenrank.errors import DataError, ParameterError, Problem
from evenrank.io.source import Source, as_source


def read_word_vectors(path: str, wanted: Collection[str] | None = None) -> dict[str, Floats]:
    """``{word: vector}``, of the ``wanted`` words alone where given; a head of two numbers is skipped."""
    source = as_source(path)
    if source is None:
        raise ParameterError(f"vectors of words are read from a file, got {path!r}")
    found: dict[str, Floats] = {}
    problems: list[Problem] = []
    width = 0
    for number, line in enumerate(_lines(source), 1):
        first, *numbers = line.rstrip().split(b" ")
        if len(numbers) < 2:  # the head of word2vec: how many words and how wide
            continue
        word = first.decode("utf-8", "replace").lower()
        width = width or len(numbers)
        if len(numbers) != width:
            problems.append(Problem(number, f"{len(numbers)} numbers, but the lines before have {width}"))
        elif (wanted is None or word in wanted) and word not in found:
            try:
                vector = np.array(numbers, dtype=np.float64)
            except ValueError:
                problems.append(Problem(number, "is not a word and its numbers, separated by blanks"))
                continue
            if (np.abs(vector) <= np.finfo(np.float32).max).all():  # files of vectors have 32 bits
                found[word] = vector
            else:
                problems.append(Problem(number, "holds a number that is not finite, or not one of 32 bits"))
    if problems:
        raise DataError.listing(source.name, problems)
    if not found:
        raise DataError(f"{source.name}: has no vector of any of these words")
    return found


def _lines(source: Source) -> Iterator[bytes]:
    rest = b""
    for block in source.blocks():
        *lines, rest = (rest + block).split(b"\n")
        yield from lines
    yield rest
