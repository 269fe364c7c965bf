"""Groups of documents from their words: a scan whose counts become shares of groups in the end."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from evenrank.data.lexicon import Lexicon
from evenrank.data.words import WordCounts
from evenrank.errors import ParameterError
from evenrank.evidence.scan.engine import checked_summary, counted_parts, scan_work, size_of
from evenrank.io.atomic import check_not_read, growing_file, move_into_place, no_folder, target_of
from evenrank.io.collections import Progress, batches_of, collection_of
from evenrank.io.content_hash import PIECE
from evenrank.io.counts import StoredCounts, counts_in_pieces, is_counts, stored_counts
from evenrank.io.counts_folder import GROUPS, folder_target, write_parts
from evenrank.io.derived_groups import DerivedGroups, groups_schema, write_groups
from evenrank.io.lexicons import read_lexicon
from evenrank.io.part_folder import PartFolder


class DerivedSummary(NamedTuple):
    """What came out: how many documents were read, and how many belong to a group."""

    documents: int
    listed: int


def derive_groups(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    lexicon: Lexicon | str | os.PathLike[str] | None = None,
    *,
    minimum: int = 1,
    tokenizer: str = "word",
    threads: int | None = None,
    resume: bool = True,
    progress: Progress | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    on: object = None,
    block_bytes: int = PIECE,
    partition_bytes: int | None = None,
) -> DerivedSummary:
    """Write which groups documents belong to by their words, as ``Membership.from_words`` has it.

    ``source`` is a collection in files, or the counts that ``scan`` wrote of one, which need no lexicon: one
    that they were not counted with is refused. A document with fewer than ``minimum`` group words is not
    listed. The output is a Parquet file, or a folder of them where its name ends in ``/``; ``read_groups``
    reads both. ``on`` is a cluster that counts the words, as in ``scan``.
    """
    import evenrank

    if isinstance(minimum, bool) or not isinstance(minimum, int) or minimum < 1:
        raise ParameterError(f"minimum must be an integer >= 1, got {minimum!r}")
    if not isinstance(source, (str, os.PathLike)):
        raise ParameterError(
            "groups are derived from documents in files, or from counts that scan wrote, got "
            f"{type(source).__name__}: for documents in memory there is Membership.from_words(scan(..))"
        )
    folder = folder_target(output, GROUPS)
    target = target_of(output) if folder is None else folder
    check_not_read(target, output, source)
    if not target.parent.is_dir():
        raise no_folder(target)
    words = lexicon if lexicon is None or isinstance(lexicon, Lexicon) else read_lexicon(lexicon)
    if is_counts(source):
        stored = stored_counts(source)
        # the tokeniser of counts is theirs, unless another was named
        stored.check(words, None if tokenizer == "word" else tokenizer, None)
        schema = groups_schema(stored.lexicon, stored.tokenizer, minimum, stored.source)
        with PartFolder(target, {}, resume=False).until_done() as parts:
            pieces = (counts_in_pieces(path) for path in stored.files)
            return _write(pieces, parts, schema, minimum, target, stored.source, to_folder=folder is not None)
    if words is None:
        raise ParameterError(
            f"{source}: groups of documents need a lexicon (--lexicon gender-en), or the counts that "
            "evenrank scan wrote of them"
        )
    collection = collection_of(source, format)
    work = scan_work(
        words, collection.name, tokenizer, columns=columns, block_bytes=block_bytes,
        size=size_of(source) if on is None else None,
    )  # fmt: skip
    schema = groups_schema(words, tokenizer, minimum, collection.name)

    about = StoredCounts(target, [], None, words, tokenizer, {"name": collection.name}, work.schema, rows=0)

    def counts_of(part: Path) -> Iterator[WordCounts]:
        yield about.counts_of(pa.Table.from_batches(batches_of(part), work.schema))

    with (
        evenrank.open_executor(on, threads) as executor,
        counted_parts(
            executor, collection, work, target, resume=resume, progress=progress, part_bytes=partition_bytes
        ) as (parts, done),
    ):
        found = list(done)
        checked_summary(found, collection)
        pieces = (counts_of(part.path) for part in found)
        return _write(pieces, parts, schema, minimum, target, collection.name, to_folder=folder is not None)


def _write(
    counts: Iterable[Iterator[WordCounts]],
    parts: PartFolder,
    schema: pa.Schema,
    minimum: int,
    target: Path,
    source: str | None,
    *,
    to_folder: bool,
) -> DerivedSummary:
    """The groups of counts, which come part by part, each in pieces."""
    documents = 0

    def derived(pieces: Iterator[WordCounts]) -> Iterator[DerivedGroups]:
        nonlocal documents
        for words in pieces:
            documents += len(words)
            yield DerivedGroups(*words.shares_of_groups(minimum))

    if not to_folder:
        with growing_file(parts.growing) as file:
            listed = write_groups(file, schema, (one for pieces in counts for one in derived(pieces)))
        move_into_place(parts.growing, target)
        return DerivedSummary(documents, listed)
    files = []
    for number, pieces in enumerate(counts):
        path = parts.growing.with_name(f"{parts.growing.name}{number:05x}")
        with growing_file(path) as file:
            files.append((path, write_groups(file, schema, derived(pieces))))
    write_parts(target, files, {"counts": source}, GROUPS)
    return DerivedSummary(documents, sum(rows for _, rows in files))
