"""Groups of documents from their words, spread over an executor: partitions in, parts out, one commit.

The words of a collection are counted first, by the same tasks as in a scan, into a folder beside the output.
Each part of that is then turned into a part of groups. Both leave what is finished for the next attempt.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from evenrank.data.lexicon import Lexicon
from evenrank.errors import DamagedError, DataError, EvenrankError, ParameterError
from evenrank.evidence.scan.engine import scan_file
from evenrank.io.atomic import (
    cannot_write,
    check_not_read,
    growing_file,
    move_into_place,
    no_folder,
    target_of,
)
from evenrank.io.collections import Progress, Record, collection_of, done, finished_parts, map_parts
from evenrank.io.content_hash import PIECE
from evenrank.io.counts import counts_in_pieces, is_counts, stored_counts
from evenrank.io.counts_folder import GROUPS, folder_target, is_counts_folder, write_parts
from evenrank.io.derived_groups import DerivedGroups, derived_batches, groups_schema, write_groups
from evenrank.io.executor import Executor
from evenrank.io.lexicons import read_lexicon
from evenrank.io.part_folder import KEPT, PartFolder, part_path, settings_key
from evenrank.io.shards import stamp_of


class DerivedSummary(NamedTuple):
    """What came out: how many documents were read, and how many belong to a group."""

    documents: int
    listed: int


class CountsFile(NamedTuple):
    """A file of counts, which is one task, and where its groups go."""

    number: int
    path: str
    counts: str
    bytes: int


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
    reads both. ``on`` is a cluster, as in ``scan``.
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
    with evenrank.open_executor(on, threads) as executor:
        if is_counts(source):
            # the tokeniser of counts is theirs, unless another was named
            stored_counts(source).check(words, None if tokenizer == "word" else tokenizer, None)
            return _derive(executor, Path(source), output, minimum, resume, progress)
        if words is None:
            raise ParameterError(
                f"{source}: groups of documents need a lexicon (--lexicon gender-en), or the counts that "
                "evenrank scan wrote of them"
            )
        options: dict[str, Any] = {
            "tokenizer": tokenizer,
            "format": format,
            "columns": None if columns is None else dict(columns),  # any mapping, kept as JSON
            "block_bytes": block_bytes,
        }
        options["partition_bytes"] = partition_bytes
        counts = _counts_beside(target, source, words, options)
        if not (resume and counts.is_dir()):
            scan_file(source, words, f"{counts}/", resume=resume, progress=progress, on=executor, **options)
        try:
            summary = _derive(executor, counts, output, minimum, resume, None)
        except DamagedError as error:  # nobody knows these counts, and the next attempt must not use them
            shutil.rmtree(counts, ignore_errors=True)
            raise DataError(
                f"{output}: the groups could not be derived from the words that were counted for them "
                f"({str(error).splitlines()[0]}): give the same command again, and they are counted again"
            ) from error
    _remove_counts(target)
    return summary


def _derive(
    executor: Executor,
    counts: Path,
    output: str | os.PathLike[str],
    minimum: int,
    resume: bool,
    progress: Progress | None,
) -> DerivedSummary:
    stored = stored_counts(counts)  # not of the first documents: the first part may have none
    schema = groups_schema(stored.lexicon, stored.tokenizer, minimum, stored.source)
    folder = folder_target(output, GROUPS)
    target = target_of(output) if folder is None else folder
    settings = {
        "set of word counts": [stamp_of(path) for path in stored.files],
        "minimum": minimum,
        "schema": str(schema.metadata),
    }
    parts = PartFolder(target, settings, resume=resume)
    tasks = [
        CountsFile(
            number,
            str(part_path(parts.folder.resolve(), number, parts.key, "parquet")),
            str(path.resolve()),
            path.stat().st_size,
        )
        for number, path in enumerate(stored.files)
    ]
    with parts.naming_the_output():
        run = map_parts(
            executor, partial(derive_part, minimum, schema), tasks, finished_parts(tasks), progress
        )
        try:
            with closing(run) as made:
                found = list(made)
        except DamagedError:  # the counts must be made again: what was derived from them is of no use
            parts.remove()
            raise
        try:
            if folder is None:
                with growing_file(parts.growing) as file:
                    batches = (batch for part in found for batch in derived_batches(part.path))
                    write_groups(file, schema, batches)
                move_into_place(parts.growing, target)
            else:
                listed = [(path, record["listed"], record["part"]) for path, record, _ in found]
                write_parts(target, listed, {"counts": stored.source}, GROUPS)
        except DamagedError as error:  # what was derived, and not the counts
            raise EvenrankError(f"{error}; {KEPT}") from error
    parts.remove()
    return DerivedSummary(
        sum(part.record["documents"] for part in found), sum(part.record["listed"] for part in found)
    )


def derive_part(minimum: int, schema: pa.Schema, task: CountsFile) -> Record | DataError:
    """Write the groups of a file of counts, then its record."""

    def write(file: BinaryIO) -> Record:
        documents = 0

        def derived() -> Iterator[DerivedGroups]:
            nonlocal documents
            for words in counts_in_pieces(task.counts):
                documents += len(words)
                yield DerivedGroups(*words.shares_of_groups(minimum))

        listed = write_groups(file, schema, derived())
        return {"documents": documents, "listed": listed}

    return done(Path(task.path), write)


def _counts_beside(
    target: Path, source: str | os.PathLike[str], lexicon: Lexicon, options: Mapping[str, Any]
) -> Path:
    """Where the words are counted. Its name stands for what is counted, so that counts are used again where
    the command was killed after them, and only for the same files."""
    files = collection_of(source, options["format"]).files
    settings = {
        **options,
        "files": [[file.address, file.size, file.stamp] for file in files],
        "lexicon": lexicon.fingerprint,
    }
    counts = target.with_name(f".{target.name}.{settings_key(settings)}.evenrank-counts")
    try:
        # the longest name beside the output
        counts.with_name(f".{counts.name}.evenrank-new-0123456789ab").lstat()
    except FileNotFoundError:
        pass
    except OSError as error:  # it is too long
        raise cannot_write(target, error) from error
    return counts


def _remove_counts(target: Path) -> None:
    """Of this attempt and of those that were killed, be it while they counted."""
    own = re.compile(rf"(\.{re.escape(target.name)}\.[0-9a-f]{{16}}\.evenrank-counts)(\.parts)?")
    for entry in list(target.parent.iterdir()):
        found = own.fullmatch(entry.name)
        if found is None:
            continue
        if found[2]:
            with suppress(DataError, OSError):  # a process is at work there, or it is not ours
                PartFolder(entry.with_name(found[1]), {}, resume=False).remove()
        elif is_counts_folder(entry):
            shutil.rmtree(entry, ignore_errors=True)
