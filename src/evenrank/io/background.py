"""Code that must be compiled first: the plain way does the work until that is done.

Whoever has a compiled and a plain way of doing the same asks ``is_uncompiled`` and takes the plain one
meanwhile. The results are equal, so that it does not matter which way did what. Compiling holds Python's lock
most of the time: whoever works on in plain Python beside it makes both several times slower.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

Job = Callable[[], object]

_lock = threading.Lock()
_jobs: deque[Job] = deque()
_compiler: threading.Thread | None = None
_done = threading.Event()
_done.set()


def compile_later(*jobs: Job) -> None:
    """Remember ``jobs``, which compile what they call, for ``compile_now``."""
    with _lock:
        _jobs.extend(jobs)
        _done.clear()


def compile_as_well(job: Job) -> None:
    """Add a job where others wait to be done; else whoever needs it first compiles it, or finds it kept."""
    if is_uncompiled():
        compile_later(job)


def is_uncompiled() -> bool:
    """Whether compiled code is still to be made; who makes it must use it, and hears that it is there."""
    return not _done.is_set() and _compiler is not threading.current_thread()


def compile_now() -> None:
    """Do all jobs in a thread, and wait for it; an interrupt need not wait."""
    global _compiler
    with _lock:
        if _compiler is None and not _done.is_set():
            _compiler = threading.Thread(target=_work, name="compile", daemon=True)
            _compiler.start()
    _done.wait()


def _work() -> None:
    global _compiler
    while True:
        with _lock:
            if not _jobs:
                _compiler = None
                _done.set()
                return
            job = _jobs.popleft()
        with suppress(Exception):  # whoever needs that code compiles it again, and has the error
            job()
