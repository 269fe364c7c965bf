"""What ``evenrank init`` finds in a folder and writes into the project file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Init = Callable[[], dict[str, Any]]
RUN = "q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1.0 t\n"


@pytest.fixture
def init(evenrank: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Init:
    """What the project file says that is made now."""
    monkeypatch.chdir(tmp_path)

    def made() -> dict[str, Any]:
        Path("evenrank.toml").unlink(missing_ok=True)
        done = evenrank("init")
        assert done.code == 0, done.err
        return tomllib.loads(Path("evenrank.toml").read_text())

    return made


@pytest.mark.parametrize("damage", ["[" * 100_000, "{", '{"id": 1}\nnothing\n{"id": 2}', "\0"])
def test_a_file_that_cannot_be_read_hides_no_other(init: Init, damage: str) -> None:
    Path("damaged.jsonl").write_text(damage)
    Path("runs.trec").write_text(RUN)
    assert init()["data"]["runs"] == ["runs.trec"]


def test_several_files_of_documents_in_a_folder_are_one_collection(init: Init) -> None:
    Path("shards").mkdir()
    for number in range(3):  # each file alone has too few rows to tell groups
        rows = [f'{{"id": "d{number}{n}", "text": "a", "size": "{size}"}}\n' for n, size in enumerate("sl")]
        Path(f"shards/part-{number}.jsonl").write_text("".join(rows))
    found = init()
    assert (found["data"]["documents"], found["groups"]) == ("shards/", {"size": "documents"})
    Path("shards/bm25.trec").write_text(RUN)  # the folder is no longer documents alone
    assert init()["data"]["documents"] == "shards/*.jsonl"
    Path("shards/queries.jsonl").write_text('{"query": "q1", "text": "thing"}\n')
    assert init()["data"]["documents"] == "shards/part-0.jsonl"


def test_files_that_are_not_alike_are_no_collection(init: Init) -> None:
    Path("data").mkdir()
    for name in ("one.jsonl", "data/other.jsonl", "two.jsonl"):
        Path(name).write_text('{"id": "d", "text": "thing"}\n')
    Path("data/texts.csv").write_text("id,text\nd,thing\n")
    assert init()["data"]["documents"] == "one.jsonl"
