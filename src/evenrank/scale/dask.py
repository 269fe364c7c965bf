"""Tasks on Dask: its scheduler places them, and places those of a lost worker again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from evenrank.errors import EvenrankError, MissingExtraError, ParameterError
from evenrank.io.resumable import KEPT

Task = TypeVar("Task")
Result = TypeVar("Result")

RETRIES = 2  # of a task that fails for another reason than its data
PATIENCE = 10  # seconds for a scheduler to answer


class DaskExecutor:
    """A client of Dask, which its owner closes."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.name = "Dask"
        self.link: str | None = client.dashboard_link or None

    def run(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        from distributed import KilledWorker, as_completed
        from distributed.client import FutureCancelledError

        futures = self._client.map(work, list(tasks), pure=False, retries=RETRIES)
        places = {future.key: place for place, future in enumerate(futures)}
        waiting = as_completed(futures, with_results=True)
        del futures  # each result is let go when it has been taken
        try:
            for future, result in waiting:
                yield places[future.key], result
        except KilledWorker as error:
            raise EvenrankError(
                "Dask lost every worker that did one of the tasks, perhaps for lack of memory: give the "
                f"workers more of it; {KEPT}"
            ) from error
        except (FutureCancelledError, TimeoutError, OSError) as error:
            raise EvenrankError(f"Dask's scheduler was lost ({type(error).__name__}); {KEPT}") from error
        finally:
            waiting.clear()


@contextmanager
def local_client(workers: int) -> Iterator[DaskExecutor]:
    """A cluster of processes on this machine, which ends with the block."""
    distributed = _distributed()
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
            silence_logs=logging.ERROR,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        yield DaskExecutor(client)


@contextmanager
def remote_client(address: str) -> Iterator[DaskExecutor]:
    """A scheduler that runs already, and goes on running."""
    distributed = _distributed()
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


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise MissingExtraError.for_job("--on dask", "dask[distributed]", "dask") from error
    return distributed
