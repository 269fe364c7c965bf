"""Processes that swap pieces: rules and taggers are Python, of which one process runs one line at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib.util import find_spec
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from evenrank.counterfactuals.swap.blocks import BlockSwapper, make_block_swapper
from evenrank.counterfactuals.swap.pieces import JsonLines, Lines, Piece, TsvLines, swap_batch
from evenrank.counterfactuals.swap.swapper import make_swapper
from evenrank.errors import EvenrankError, ParameterError
from evenrank.evidence.scan.counter import Texts
from evenrank.evidence.scan.documents import DocumentBatch


class Job(NamedTuple):
    """All that a process must know: plain values, which another process can be given."""

    options: Mapping[str, Any]  # of make_swapper
    output: str
    name: str
    path: Path | None  # of the lines; None if documents are sent
    block_bytes: int
    columns: Mapping[str, str] | None


def open_lines(job: Job) -> Lines:
    if job.path is None:
        raise ParameterError("this job has no file of lines")
    if job.output == "tsv":
        return TsvLines(job.path, job.name, job.block_bytes, fast=find_spec("numba") is not None)
    return JsonLines(job.path, job.name, job.block_bytes, job.columns)


class _Worker:
    """One job in one process: what is costly to make is made once."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._blocks: BlockSwapper = make_block_swapper(make_swapper(**job.options))
        self._lines = None if job.path is None else open_lines(job)

    def lines(self, index: int) -> Piece:
        if self._lines is None:
            raise ParameterError("this job has no file of lines")
        return self._lines.swapped(index, self._blocks)

    def documents(self, ids: pa.LargeStringArray, texts: Texts, bytes_read: int) -> Piece:
        return swap_batch(ids, texts, bytes_read, self._blocks, self._job.output, self._job.name)

    def close(self) -> None:
        if self._lines is not None:
            self._lines.close()


_worker: _Worker | None = None  # of this process, where it is one of a pool


def _start(job: Job) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who interrupts means the parent, which ends the pool
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = _Worker(job)


def _end_with_parent() -> None:
    """A parent that is killed cannot end its pool."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _at_work() -> _Worker:
    if _worker is None:
        raise ParameterError("this process was not started for a job")
    return _worker


def _lines(index: int) -> Piece:
    return _at_work().lines(index)


def _documents(ids: pa.LargeStringArray, texts: Texts, bytes_read: int) -> Piece:
    return _at_work().documents(ids, texts, bytes_read)


class _Result:
    """The result of a future, with an end of its process told in one line."""

    def __init__(self, future: Future[Piece]) -> None:
        self._future = future

    def result(self) -> Piece:
        try:
            return self._future.result()
        except BrokenProcessPool as error:
            raise EvenrankError(
                "a process was ended by the system, perhaps for lack of memory. What is finished was kept: "
                "continue with fewer threads (--threads 1)"
            ) from error


class _Now:
    """Work done when it is asked for, in this process."""

    def __init__(self, work: Callable[[], Piece]) -> None:
        self._work = work

    def result(self) -> Piece:
        return self._work()


class WorkerPool:
    """The first ``patience`` pieces are done in this process, the others by a pool of fresh ones.

    Fresh and not forked, since Arrow has threads. They are started when they are needed: a small collection
    is done before they would be.
    """

    def __init__(self, job: Job, processes: int, patience: int) -> None:
        self._job = job
        self._processes = processes
        self._patience = patience
        self._submitted = 0
        self._own: _Worker | None = None
        self._others: ProcessPoolExecutor | None = None

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        if self._own is not None:
            self._own.close()
        if self._others is not None:
            self._others.shutdown(wait=True, cancel_futures=True)

    def submit_lines(self, index: int) -> _Result | _Now:
        if self._is_own_turn():
            return _Now(lambda: self._worker().lines(index))
        return _Result(self._executor().submit(_lines, index))

    def submit_documents(self, documents: DocumentBatch) -> _Result | _Now:
        """``documents`` must not be overwritten until they are done."""
        given = documents.ids, documents.texts, documents.bytes_read
        if self._is_own_turn():
            return _Now(lambda: self._worker().documents(*given))
        return _Result(self._executor().submit(_documents, *given))

    def _is_own_turn(self) -> bool:
        self._submitted += 1
        return self._processes == 1 or self._submitted <= self._patience

    def _worker(self) -> _Worker:
        if self._own is None:
            self._own = _Worker(self._job)
        return self._own

    def _executor(self) -> ProcessPoolExecutor:
        if self._others is None:
            fresh = multiprocessing.get_context("spawn")
            self._others = ProcessPoolExecutor(
                self._processes, fresh, initializer=_start, initargs=(self._job,)
            )
        return self._others
