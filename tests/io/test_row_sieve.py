"""Rows that somebody wants, found by one pass over the ids of all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenrank.ids import as_strings, hash_strings
from evenrank.io import row_sieve
from evenrank.io.derived_groups import sound_groups


@pytest.mark.parametrize("groups", [1, 3, 50, 400])
def test_a_file_is_opened_a_few_times_however_many_groups_of_rows_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, groups: int
) -> None:
    """To open it is to read all of its footer, which tells of every group."""
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    names = [f"d{number}" for number in range(4 * groups)]
    for path, own in zip(files, (names[: 2 * groups], names[2 * groups :]), strict=True):
        table = pa.table({"id": pa.array(own, pa.large_string()), "place": [int(name[1:]) for name in own]})
        pq.write_table(table, path, row_group_size=2)
    opened, real = [], row_sieve.counts_file

    def counted(path: Path, **options: Any) -> Any:
        opened.append(path)
        return real(path, **options)

    monkeypatch.setattr(row_sieve, "counts_file", counted)
    wanted = names[::3]
    hashes = np.sort(hash_strings(as_strings([*wanted, "not there"])))
    found = pa.concat_tables(row_sieve.wanted_rows(files, hashes, ["id", "place"], sound_groups))
    assert found.column("id").to_pylist() == wanted  # in the order of the files
    assert found.column("place").to_pylist() == [int(name[1:]) for name in wanted]
    assert max(opened.count(path) for path in files) <= 5
