"""Collection-sized work on the engines that organisations have: Dask and Spark.

Everything that works on a partition is a function that works here as well; this package only says where it
runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from evenrank.errors import ParameterError
from evenrank.io.executor import Executor, ThreadExecutor, workers_of

__all__ = ["open_executor"]


@contextmanager
def open_executor(on: object, workers: int | None = None) -> Iterator[Executor]:
    """The executor that ``on`` stands for; what is started for it ends with the block.

    ``on`` is a client of Dask, a session of Spark, or a name: ``dask`` starts a cluster of ``workers``
    processes on this machine, ``dask://HOST:PORT`` is a scheduler that runs already, ``spark`` is the active
    session, or a new one on this machine. None is the threads of this process.
    """
    if on is None:
        yield ThreadExecutor(workers_of(workers))
    elif _is_of(on, "distributed"):
        from evenrank.scale.dask import DaskExecutor

        yield DaskExecutor(on)
    elif _is_of(on, "pyspark"):
        from evenrank.scale.spark import SparkExecutor

        yield SparkExecutor(on)
    elif callable(getattr(on, "map", None)) and hasattr(on, "link"):
        yield on  # type: ignore[misc]  # an executor of the user's
    elif on == "dask" or (isinstance(on, str) and on.startswith("dask://") and on != "dask://"):
        from evenrank.scale.dask import local_client, remote_client

        address = str(on).removeprefix("dask").removeprefix("://")
        with remote_client(address) if address else local_client(workers_of(workers)) as executor:
            yield executor
    elif on == "spark":
        from evenrank.scale.spark import local_session

        with local_session(workers_of(workers)) as session:
            yield session
    else:
        raise ParameterError(
            "on= (--on) is dask, dask://HOST:PORT or spark, in Python also a client of Dask or a session of "
            f"Spark; got {on!r}"
        )


def _is_of(value: object, package: str) -> bool:
    """Whether a value is of a package, which is not imported to find that out."""
    return any(kind.__module__.split(".")[0] == package for kind in type(value).__mro__)
