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
