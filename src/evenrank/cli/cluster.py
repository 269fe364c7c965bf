"""``--on``: the cluster that does collection-sized work, and where its page is."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evenrank.cli.streams import say

if TYPE_CHECKING:
    from evenrank.io.executor import Executor

ON = (
    "let a cluster do the work: dask (processes on this machine), dask://HOST:PORT (a scheduler that is "
    "running), spark (the active session, or one on this machine); default: the threads of this process"
)


def add_cluster(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--on", metavar="CLUSTER", help=ON)


@contextmanager
def opened_cluster(arguments: argparse.Namespace) -> Iterator[Executor | None]:
    """What ``--on`` names, with a line that says where it can be watched; None where nothing is named."""
    if arguments.on is None:
        yield None
        return
    from evenrank.scale import open_executor

    with open_executor(arguments.on, getattr(arguments, "threads", None)) as executor:
        if executor.link is not None:
            say(f"{executor.name} shows the work at {executor.link}")
        yield executor
