"""Jobs in forked processes that already hold the large libraries. Each is watched while it works."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Say = Callable[[dict[str, Any]], None]

# what tests of most rooms load; the package under test must not be among it, nor be loaded by it
LIBRARIES = (
    "numpy", "scipy.stats", "scipy.optimize", "scipy.sparse.csgraph", "polars", "pyarrow.csv",
    "pyarrow.dataset", "pyarrow.parquet", "pandas", "numba", "llvmlite.binding", "ir_measures",
    "pydantic", "hypothesis", "hypothesis.extra.numpy", "coverage", "pytest", "xdist", "argparse", "asyncio",
    "http.server", "multiprocessing.pool", "sqlite3", "tomllib", "zstandard",
)  # fmt: skip
MEMORY = 6 << 30  # bytes of one process
FILE = 1 << 30  # bytes of one file


@dataclass
class Ended(Generic[Item]):
    item: Item
    pid: int
    said: list[dict[str, Any]]
    lost: str  # "", or why there is no end: "timeout", "memory", "died"
    seconds: float


@dataclass
class _Child(Generic[Item]):
    item: Item
    pid: int
    pipe: int
    began: float
    deadline: float
    said: list[dict[str, Any]] = field(default_factory=list)
    rest: bytes = b""


def load_libraries() -> None:
    """In the process that forks, which starts no thread. Few threads each, as jobs share the machine."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS"):
        os.environ.setdefault(name, "2" if name.startswith(("POLARS", "RAYON")) else "1")
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


def run_all(
    items: Iterable[Item],
    work: Callable[[Item, Say], None],
    allowed: Callable[[Item, dict[str, Any]], float],
    jobs: int,
    log: Callable[[Item], Path],
) -> Iterator[Ended[Item]]:
    """``work(item, say)`` for each item, ``jobs`` at a time. What it says renews its seconds: ``allowed``."""
    waiting = iter(items)
    running: list[_Child[Item]] = []
    try:
        while True:
            while len(running) < jobs and (item := next(waiting, None)) is not None:
                running.append(_started(item, work, log(item), allowed(item, {})))
            if not running:
                return
            ready, _, _ = select.select([child.pipe for child in running], [], [], 0.25)
            for child in list(running):
                ended = child.pipe in ready and _has_ended(child, allowed)
                lost = "" if ended else _lost(child)
                if ended or lost:
                    running.remove(child)
                    died = _end(child)
                    yield Ended(
                        child.item, child.pid, child.said, lost or died, time.monotonic() - child.began
                    )
    finally:
        for child in running:
            _end(child)


def _started(item: Item, work: Callable[[Item, Say], None], log: Path, seconds: float) -> _Child[Item]:
    reading, writing = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        os.close(writing)
        now = time.monotonic()
        return _Child(item, pid, reading, now, now + seconds)
    code = 1
    try:
        os.setsid()
        os.close(reading)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0), os.dup2(out, 1), os.dup2(out, 2)
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        def say(message: dict[str, Any]) -> None:
            os.write(writing, json.dumps(message).encode() + b"\n")

        work(item, say)
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        os._exit(code)


def _has_ended(child: _Child[Item], allowed: Callable[[Item, dict[str, Any]], float]) -> bool:
    read = os.read(child.pipe, 1 << 16)
    if not read:
        return True
    *lines, child.rest = (child.rest + read).split(b"\n")
    for line in lines:
        child.said.append(json.loads(line))
        child.deadline = time.monotonic() + allowed(child.item, child.said[-1])
    return False


def _lost(child: _Child[Item]) -> str:
    if time.monotonic() > child.deadline:
        return "timeout"
    try:
        pages = int(Path(f"/proc/{child.pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return ""
    return "memory" if pages * os.sysconf("SC_PAGESIZE") > MEMORY else ""


def _end(child: _Child[Item]) -> str:
    """End the process and those it started. ``died`` if it ended otherwise than by itself."""
    os.close(child.pipe)
    ended, status = os.waitpid(child.pid, os.WNOHANG)
    for _ in range(20):  # a closed pipe is the last thing that a process does
        if ended:
            break
        time.sleep(0.01)
        ended, status = os.waitpid(child.pid, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    if not ended:
        _, status = os.waitpid(child.pid, 0)
    return "" if status == 0 else "died"
