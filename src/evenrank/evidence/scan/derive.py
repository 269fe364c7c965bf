"""Groups of documents from their words, spread over an executor: partitions in, parts out, one commit.

The words of a collection are counted first, by the same tasks as in a scan, into a folder beside the output.
Each part of that is then turned into a part of groups. Both leave what is finished for the next attempt.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from evenrank.data.lexicon import Lexicon
from evenrank.errors import MAY_PASS, DamagedError, DataError, EvenrankError, ParameterError
from evenrank.evidence.scan.blocks import BLOCK
from evenrank.evidence.scan.engine import scan_file
from evenrank.evidence.scan.partitions import partition_files
from evenrank.io.atomic import atomic_write, cannot_write, no_folder
from evenrank.io.counts import counts_in_pieces, is_counts, stored_counts, writing
from evenrank.io.counts_folder import (
    GROUPS,
    CountsPart,
    commit_counts_folder,
    is_counts_folder,
    part_name,
    read_counts_folder,
)
from evenrank.io.derived_groups import GroupsWriter, derived_batches, groups_schema
from evenrank.io.executor import Executor
from evenrank.io.lexicons import read_lexicon
from evenrank.io.output_folder import folder_target, new_counts_folder
from evenrank.io.outputs import check_not_read, growing_file, move_into_place, target_of
from evenrank.io.part_folder import (
    KEPT,
    PartFolder,
    check_seen,
    is_sealed,
    part_path,
    read_record,
    sealed,
    settings_key,
    write_record,
)
from evenrank.io.partitioned import FinishedPart, Progress, Record, run_partitions


class DerivedSummary(NamedTuple):
    """What came out: how many documents were read, and how many belong to a group."""

    documents: int
    listed: int


class DeriveJob(NamedTuple):
    """All that a worker must know."""

    folder: str
    key: str
    minimum: int
    schema: pa.Schema

    def part(self, number: int) -> Path:
        return part_path(self.folder, number, self.key, "parquet")

    def record(self, number: int) -> Path:
        return part_path(self.folder, number, self.key, "json")


class CountsFile(NamedTuple):
    """A file of counts, which is one task."""

    number: int
    path: str
    bytes: int
    stamp: list[int]


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
    block_bytes: int = BLOCK,
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
            stored_counts(source).about.check(words, None if tokenizer == "word" else tokenizer, None)
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
    files = _files(counts)
    about = stored_counts(counts).about  # not of the first documents: the first part may have none
    schema = groups_schema(about.lexicon, about.tokenizer, minimum, about.source)
    folder = folder_target(output, GROUPS)
    target = target_of(output) if folder is None else folder
    settings = {
        "set of word counts": [file.stamp for file in files],
        "minimum": minimum,
        "schema": str(schema.metadata),
    }
    parts = PartFolder(target, settings, resume=resume)
    job = DeriveJob(str(parts.folder.resolve()), settings_key(settings), minimum, schema)
    with parts.naming_the_output():
        finished = {
            number: record
            for number, record in parts.records()
            if is_sealed(job.part(number), record["part"], read=True)
        }
        run = run_partitions(executor, partial(derive_part, job), files, finished, progress)
        try:
            with closing(run) as done:
                found = []
                for part in done:  # those that were found have been read already
                    check_seen(job.part(part.number), part.record["part"], read=not part.found)
                    found.append(part)
        except DamagedError:  # the counts must be made again: what was derived from them is of no use
            parts.remove()
            raise
        try:
            if folder is None:
                _join(job, found, parts.growing, target)
            else:
                _commit(job, found, target, {"counts": about.source})
        except DamagedError as error:  # what was derived, and not the counts
            raise EvenrankError(f"{error}; {KEPT}") from error
    parts.remove()
    return DerivedSummary(
        sum(part.record["documents"] for part in found), sum(part.record["rows"] for part in found)
    )


def derive_part(job: DeriveJob, counts: CountsFile) -> Record | DataError:
    """Write the groups of a file of counts, then its record."""
    try:
        kept = read_record(job.record(counts.number))
        if kept is not None and is_sealed(job.part(counts.number), kept["part"], read=True):
            return kept
        path = job.part(counts.number)
        documents = rows = 0
        with atomic_write(path) as file, writing(GroupsWriter(file, job.schema)) as writer:
            for words in counts_in_pieces(counts.path):
                ids, shares = words.shares_of_groups(job.minimum)
                writer.write(ids, shares)
                documents, rows = documents + len(words), rows + len(ids)
            writer.close()
        record = {"documents": documents, "rows": rows, "part": sealed(path)}
        write_record(job.record(counts.number), record)
        return record
    except MAY_PASS:  # the executor does the task again
        raise
    except DataError as error:
        return error.with_traceback(None)


def _files(counts: Path) -> list[CountsFile]:
    paths = read_counts_folder(counts).files if counts.is_dir() else [counts]
    return [
        CountsFile(number, str(path.resolve()), path.stat().st_size, _stamp(path))
        for number, path in enumerate(paths)
    ]


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ino]


def _join(job: DeriveJob, found: list[FinishedPart], growing: Path, target: Path) -> None:
    with growing_file(growing) as file, writing(GroupsWriter(file, job.schema)) as writer:
        for part in found:
            for ids, shares in derived_batches(job.part(part.number)):
                writer.write(ids, shares)
        writer.close()
    move_into_place(growing, target)


def _commit(job: DeriveJob, found: list[FinishedPart], target: Path, source: Mapping[str, object]) -> None:
    with new_counts_folder(target, GROUPS) as new:
        listed = []
        for part in found:
            name = part_name(part.number)
            shutil.copyfile(job.part(part.number), new / name)
            listed.append(CountsPart(name, part.record["rows"], **part.record["part"]))
        commit_counts_folder(new, listed, source, kind=GROUPS)


def _counts_beside(
    target: Path, source: str | os.PathLike[str], lexicon: Lexicon, options: Mapping[str, Any]
) -> Path:
    """Where the words are counted. Its name stands for what is counted, so that counts are used again where
    the command was killed after them, and only for the same files."""
    files = partition_files(source, options["format"]).files
    settings = {
        **options,
        "files": [[file.address, file.size, file.stamp] for file in files],
        "lexicon": lexicon.fingerprint,
    }
    counts = target.with_name(f".{target.name}.{settings_key(settings)}.evenrank-counts")
    try:
        counts.with_name(f".{counts.name}.evenrank-new").lstat()  # the longest name beside the output
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
