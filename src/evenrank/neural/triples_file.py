"""Triples as MS MARCO has them: query, relevant text, other text, separated by tabs."""

from __future__ import annotations

import os

from evenrank.errors import PROBLEMS_SHOWN, DataError, ParameterError, Problem
from evenrank.io.lines import check_unicode, line_blocks
from evenrank.io.reading import Reading
from evenrank.io.source import as_source
from evenrank.neural.examples import Examples, Gatherer


def read_triples(path: str | os.PathLike[str], *, limit: int | None = None) -> Examples:
    """A file of triples, ``.gz`` and ``.zst`` too; the text of a query is its id. ``limit`` reads so many."""
    if limit is not None and limit < 1:
        raise ParameterError(f"limit must be at least 1, got {limit}")
    source = as_source(path)
    if source is None:
        raise ParameterError(f"triples are read from a file, got {type(path).__name__}")
    source.check()
    gathered, problems, read = Gatherer(), [], 0
    for block in line_blocks(Reading(source)):
        check_unicode(block)
        for number, line in enumerate(block.data.tobytes().decode().split("\n"), block.line):
            fields = line.removesuffix("\r").split("\t")
            if fields == [""]:
                continue
            if len(fields) != 3:
                what = "a line is a query, a relevant text and another one, separated by tabs"
                problems.append(Problem(number, f"{what}; here are {len(fields)} fields"))
                continue
            gathered.add(fields[0], *fields)
            read += 1
            if read == limit:
                break
        if read == limit or len(problems) > PROBLEMS_SHOWN:
            break
    if problems:
        raise DataError.listing(source.name, problems)
    return gathered.done(source.name)
