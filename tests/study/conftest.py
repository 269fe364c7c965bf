from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import study_walks as walks


@pytest.fixture
def serve() -> Iterator[Callable[..., walks.Served]]:
    """Serve the study of a folder, as often as is wanted, until the test ends."""
    running: list[walks.Served] = []

    def start(folder: Path, **environment: str) -> walks.Served:
        running.append(walks.Served(folder, **environment))
        return running[-1]

    yield start
    for served in running:
        if served.process.poll() is None:
            served.stop()


@pytest.fixture
def client(tmp_path: Path, serve: Callable[..., walks.Served]) -> Any:
    """A visitor of the example."""
    with walks.visitor(serve(walks.write_study(tmp_path / "study"))) as visitor:
        yield visitor
