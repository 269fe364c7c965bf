"""Groups without rows in a Parquet file, as writers leave them, wherever the file is."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from failing_store import failing_store

from evenrank import Lexicon, read_counts
from evenrank.evidence.scan import scan_file

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
TABLE = pa.table({"id": ["a", "b"], "text": ["he", "she"]})


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("order", [(1, 0, 1), (0, 1, 1), (1, 1, 0)])
def test_groups_without_rows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dictionary: bool, order: tuple[int, ...]
) -> None:
    source, at = tmp_path / "c.parquet", 0
    with pq.ParquetWriter(source, TABLE.schema, use_dictionary=dictionary) as writer:
        for rows in order:
            writer.write_table(TABLE.slice(at, rows))
            at += rows
    assert pq.ParquetFile(source).num_row_groups == 3
    failing_store(monkeypatch, "s3://groups/c.parquet", source.read_bytes())
    for number, found in enumerate((source, "s3://groups/c.parquet")):
        for output in (f"{number}.parquet", f"{number}/"):
            scan_file(found, LEXICON, f"{tmp_path}/{output}", partition_bytes=10)
            assert pq.read_table(tmp_path / output).column(0).to_pylist() == ["a", "b"]
    read_counts(tmp_path / "0.parquet", source=source)  # it says whether the hash is that of the file
