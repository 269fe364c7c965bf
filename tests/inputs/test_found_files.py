"""What a folder holds, as ``evenrank init`` sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenrank.inputs.found_files import look_around


@pytest.mark.parametrize("damage", ["[" * 100_000, "{", '{"id": 1}\nnothing\n{"id": 2}', "\0"])
def test_a_file_that_cannot_be_read_hides_no_other(tmp_path: Path, damage: str) -> None:
    (tmp_path / "damaged.jsonl").write_text(damage)
    (tmp_path / "runs.trec").write_text("q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1.0 t\n")
    assert [file.path for file in look_around(tmp_path).of("run")] == ["runs.trec"]


def test_several_files_of_documents_in_a_folder_are_first_one_collection(tmp_path: Path) -> None:
    (tmp_path / "shards").mkdir()
    for number in range(3):  # each file alone has too few rows to tell groups
        rows = [
            f'{{"id": "d{number}{n}", "text": "thing", "size": "{size}"}}\n' for n, size in enumerate("sl")
        ]
        (tmp_path / f"shards/part-{number}.jsonl").write_text("".join(rows))
    parts = [f"shards/part-{number}.jsonl" for number in range(3)]
    first, *others = look_around(tmp_path).of("documents")
    assert (first.path, dict(first.fields)) == ("shards/", {"size": ""})
    assert [file.path for file in others] == parts

    (tmp_path / "shards/bm25.trec").write_text(
        "q1 Q0 d1 1 2.0 t\n"
    )  # the folder is no longer documents alone
    assert [file.path for file in look_around(tmp_path).of("documents")] == ["shards/*.jsonl", *parts]

    (tmp_path / "shards/queries.jsonl").write_text('{"query": "q1", "text": "thing"}\n')
    assert [file.path for file in look_around(tmp_path).of("documents")] == parts


def test_files_that_are_not_alike_are_no_collection(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name in ("one.jsonl", "data/other.jsonl", "two.jsonl"):
        (tmp_path / name).write_text('{"id": "d", "text": "thing"}\n')
    (tmp_path / "data/texts.csv").write_text("id,text\nd,thing\n")
    found = [file.path for file in look_around(tmp_path).of("documents")]
    assert found == ["one.jsonl", "two.jsonl", "data/other.jsonl", "data/texts.csv"]
