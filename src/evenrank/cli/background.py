"""``--background``: what NFaiRR and its kin compare with."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evenrank.cli.inputs import RUN_ROLES, can_be_read_twice, is_table, read_ids, table_columns
from evenrank.cli.values import positive
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.data.run import Run
    from evenrank.data.words import WordCounts

COLLECTION = "collection"


def add_background(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--background", metavar="FILE",
        help="what NFaiRR and its kin compare with: a run, a file of one document id a line, or the word "
        "'collection' for all documents of --words; one run alone is compared with itself",
    )  # fmt: skip
    parser.add_argument(
        "--background-depth", type=positive, metavar="N",
        help="a run that is the background is cut at this rank (default: 200)",
    )  # fmt: skip


def background_file(arguments: argparse.Namespace) -> str | None:
    """The file that is read, if there is one."""
    given: str | None = arguments.background
    return None if given == COLLECTION else given


def read_background(
    arguments: argparse.Namespace, words: WordCounts | None, format: str | None = None
) -> Run | WordCounts | list[str] | None:
    from evenrank.io import read_run

    path = background_file(arguments)
    if arguments.background == COLLECTION:
        if words is None:
            raise ParameterError("--background collection is the collection of --words: give that too")
        return words
    if path is None:
        return None
    if format is None and can_be_read_twice(path) and not is_table(path, None) and _lists_ids(path):
        return read_ids(path, "document")
    columns = table_columns(arguments.columns, path, format, RUN_ROLES)
    return read_run(path, ties=arguments.ties, format=format, columns=columns)


def _lists_ids(path: str) -> bool:
    """Whether the first line that says something is one word: a line of a run has six."""
    from evenrank.io.source import as_source

    source = as_source(path)
    block = b"" if source is None else next(iter(source.blocks(1 << 16)), b"")
    lines = (line.split() for line in block.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    first = next((fields for fields in lines if fields and not fields[0].startswith(b"#")), [])
    return len(first) == 1
