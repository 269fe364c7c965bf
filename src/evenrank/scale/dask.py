"""Tasks on Dask: its scheduler places them, and places those of a lost worker again."""

from __future__ import annotations

import logging
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, TypeVar

from evenrank.errors import EvenrankError, MissingExtraError, ParameterError
from evenrank.io.part_folder import KEPT

Task = TypeVar("Task")
Result = TypeVar("Result")

RETRIES = 2  # of a task that fails for another reason than its data
PATIENCE = 10  # seconds for a scheduler to answer
ALONE = 300  # seconds for a worker to come, where there is none
LOOK = 5.0  # seconds between two looks at whether there are workers
# Dask lets workers give every freed page back to the system at once, and each block of a file would be read
# into pages that the system must clear first: that takes a fifth of the time of a scan
MEMORY = {
    "MALLOC_TRIM_THRESHOLD_": str(1 << 27),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
    "MALLOC_TOP_PAD_": str(1 << 26),
}


class DaskExecutor:
    """A client of Dask, which its owner closes. ``revive`` starts lost workers again, where that is ours."""

    def __init__(self, client: Any, revive: Callable[[], None] = lambda: None) -> None:
        self._client, self._revive = client, revive
        self.name = "Dask"
        self.link: str | None = client.dashboard_link or None

    def map(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        from distributed import KilledWorker

        futures = deque(self._client.map(work, list(tasks), pure=False, retries=RETRIES))
        try:
            while futures:
                self._wait(futures[0])
                yield futures[0].result()
                futures.popleft()  # it is let go when it has been taken
        except (KilledWorker, CancelledError, TimeoutError, OSError) as error:
            if isinstance(error, KilledWorker):
                what = "Dask lost every worker that did one of the tasks, perhaps for lack of memory"
            elif futures and futures[0].status == "error":  # of the task itself, as a full disk
                what = f"a worker of Dask could not do its task: {error}"
            else:
                what = f"Dask's scheduler was lost ({type(error).__name__})"
            raise EvenrankError(f"{what}; {KEPT}") from error
        finally:
            self._client.cancel(list(futures))

    def _wait(self, future: Any) -> None:
        """Until a task is done, if there are workers: Dask itself would wait for them without end."""
        from distributed import wait

        lonely = 0.0  # seconds without any worker
        while not future.done():
            try:
                wait([future], timeout=LOOK)
            except TimeoutError:
                lonely = 0.0 if self._client.nthreads() else lonely + LOOK
                self._revive()
            if lonely > ALONE:
                raise EvenrankError(f"Dask has had no worker for {ALONE} seconds: start some; {KEPT}")


def _imported() -> tuple[Any, Any]:
    try:
        import dask
        import distributed
    except ImportError as error:
        raise MissingExtraError.for_job("--on dask", "dask[distributed]", "dask") from error
    return dask, distributed


@contextmanager
def local_client(workers: int) -> Iterator[DaskExecutor]:
    """A cluster of processes on this machine, which ends with the block."""
    dask, distributed = _imported()
    # Dask gives each worker one thread of OpenMP, MKL and OpenBLAS, so that models in them do not wait for
    # each other. That must stay, so the settings of memory are added to it.
    environment = {**dask.config.get("distributed.nanny.pre-spawn-environ", {}), **MEMORY}
    settings = {
        # on a busy machine a worker that was lost needs longer than usual to come back
        "distributed.deploy.lost-worker-timeout": f"{ALONE} s",
        "distributed.nanny.pre-spawn-environ": environment,
    }
    with dask.config.set(settings), _without_interrupts():
        cluster = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,  # what goes wrong is raised here
        )  # fmt: skip
    with dask.config.set(settings), cluster, distributed.Client(cluster) as client:
        # asked for as many workers as there were, it starts those that are gone for good
        yield DaskExecutor(client, lambda: cluster.scale(workers))


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes that begin in this block do not hear Ctrl-C, which a terminal sends to all of them: this
    process ends them, and each of them would print a traceback. One that came meanwhile is heard after it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # started by the first process, it would let signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def remote_client(address: str) -> Iterator[DaskExecutor]:
    """A scheduler that runs already, and goes on running."""
    _, distributed = _imported()
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdigit():
        raise ParameterError(f"a scheduler of Dask is named as dask://HOST:PORT, got 'dask://{address}'")
    try:
        client = distributed.Client(f"tcp://{address}", timeout=PATIENCE)
    except (OSError, TimeoutError) as error:
        raise EvenrankError(
            f"dask://{address}: no scheduler of Dask answers there: start one with dask scheduler, or use "
            "--on dask for a cluster on this machine"
        ) from error
    with client:
        yield DaskExecutor(client)
