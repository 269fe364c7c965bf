"""Vectors of any number of documents, read and written block by block: ``.npy`` files, Parquet, arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenrank.arrays import Array, Bools, real_numbers
from evenrank.errors import DataError, InputTypeError
from evenrank.evidence.polarise.vectors import DOCUMENT, IDS, PARQUET, VECTOR
from evenrank.files import read_utf8, regular_file
from evenrank.ids import as_strings
from evenrank.io.source import parquet_file

ROWS_AT_ONCE = 1 << 14
NPY = ".npy"


class VectorBlock(NamedTuple):
    """Some vectors, and the whole table that they stand in, where there is one."""

    vectors: Array  # (n, D)
    rest: pa.RecordBatch | None = None


@dataclass(frozen=True, eq=False)
class VectorSource:
    """Vectors that can be gone through more than once."""

    name: str
    count: int
    width: int
    read: Callable[[], Iterator[VectorBlock]] = field(repr=False)
    ids: Callable[[], pa.LargeStringArray] | None = field(default=None, repr=False)

    def blocks(self) -> Iterator[VectorBlock]:
        """All blocks; a vector that cannot be used is an error with its row."""
        row = 0
        for block in self.read():
            if block.vectors.shape[1] != self.width:
                raise DataError(
                    f"{self.name}: row {row + 1} begins vectors of {block.vectors.shape[1]} dimensions, but "
                    f"those before have {self.width}"
                )
            self._check(block.vectors, row)
            yield block
            row += len(block.vectors)

    def take(self, rows: npt.NDArray[np.int64]) -> Array:
        """(n, D): some of the vectors, by rows in rising order."""
        found, row = [], 0
        for block in self.blocks():
            end = row + len(block.vectors)
            low, high = np.searchsorted(rows, [row, end])
            found.append(block.vectors[rows[low:high] - row])
            row = end
        return np.concatenate(found)

    def only(self, kept: Bools) -> VectorSource:
        """Those of some documents: ``kept`` (N,) says which."""

        def read() -> Iterator[VectorBlock]:
            row = 0
            for block in self.read():
                rows = slice(row, row + len(block.vectors))
                yield VectorBlock(block.vectors[kept[rows]])
                row = rows.stop

        return VectorSource(self.name, int(kept.sum()), self.width, read)

    def _check(self, vectors: Array, row: int) -> None:
        # the sum of a row is not finite where one of its numbers is not; a look at each would cost more
        with np.errstate(over="ignore", invalid="ignore"):
            doubtful = ~np.isfinite(vectors.sum(axis=1))
        for place in np.flatnonzero(doubtful):
            if not np.isfinite(vectors[place]).all():
                at = row + int(place)
                named = "" if self.ids is None else f", document {self.ids()[at].as_py()!r},"
                raise DataError(f"{self.name}: row {at + 1}{named} holds NaN or infinity")


def vector_source(given: Any) -> VectorSource:
    """Vectors from a ``.npy`` or Parquet file, an array (N, D), or a ``VectorSource``."""
    if isinstance(given, VectorSource):
        return given
    if isinstance(given, (str, os.PathLike)):
        path = Path(given)
        suffix = path.suffix.lower()
        if suffix not in (NPY, *PARQUET):
            raise DataError(f"{path}: vectors are read from a .npy or .parquet file")
        if not regular_file(path).exists():
            raise DataError(f"{path}: no such file")
        return _npy_source(path) if suffix == NPY else _parquet_source(path)
    if isinstance(given, np.memmap) and given.filename is not None and given.base is not None:
        whole = _of_memory_map(given)
        if whole is not None:
            return whole
    try:
        table = given if isinstance(given, np.ndarray) and given.dtype.kind == "f" else real_numbers(given)
    except (TypeError, ValueError):
        raise InputTypeError(
            "vectors are an array (documents, dimensions) or a .npy or .parquet file, got "
            f"{type(given).__name__}"
        ) from None
    if table.ndim != 2 or table.shape[1] == 0:
        raise DataError(f"vectors are an array (documents, dimensions), got {table.shape}")
    return VectorSource("vectors", len(table), table.shape[1], partial(array_blocks, table))


def array_blocks(table: Array) -> Iterator[VectorBlock]:
    """An array in blocks."""
    for begin in range(0, len(table), ROWS_AT_ONCE):
        yield VectorBlock(table[begin : begin + ROWS_AT_ONCE])


def _of_memory_map(table: np.memmap[Any, Any]) -> VectorSource | None:
    """A mapped file is read as a file: the pages of a map stay in memory as long as there is room."""
    source = vector_source(str(table.filename)) if str(table.filename).endswith(NPY) else None
    return source if source is not None and (source.count, source.width) == table.shape else None


def npy_head(file: BinaryIO, name: str) -> tuple[tuple[int, int], np.dtype[Any]]:
    """Shape and type of the array that begins where the file stands afterwards."""
    try:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, columns_first, dtype = read(file)
    except (ValueError, EOFError) as error:
        raise DataError(f"{name}: is not a sound .npy file of numbers: {error}") from error
    if len(shape) != 2 or columns_first or dtype.kind != "f" or not shape[1]:
        raise DataError(
            f"{name}: must be an array (documents, dimensions) of floats, row by row, got {shape} of {dtype}"
        )
    return (shape[0], shape[1]), dtype


def _npy_source(path: Path) -> VectorSource:
    with path.open("rb") as file:
        (count, width), dtype = npy_head(file, str(path))
        begin = file.tell()
    if path.stat().st_size - begin != count * width * dtype.itemsize:
        raise DataError(f"{path}: is cut off, or longer than its head says")
    if not count:
        raise DataError(f"{path}: no vectors")

    def read() -> Iterator[VectorBlock]:
        with path.open("rb") as file:
            file.seek(begin)
            for row in range(0, count, ROWS_AT_ONCE):
                rows = min(ROWS_AT_ONCE, count - row)
                yield VectorBlock(np.fromfile(file, dtype, rows * width).reshape(rows, width))

    beside = path.with_suffix(IDS)
    return VectorSource(
        str(path), count, width, read, partial(_ids_beside, beside, count) if beside.is_file() else None
    )


def _ids_beside(path: Path, count: int) -> pa.LargeStringArray:
    lines = [line.strip() for line in read_utf8(path).split("\n") if line.strip()]
    if len(lines) != count:
        raise DataError(f"{path}: has {len(lines):,} ids for {count:,} vectors")
    return _different(as_strings(lines), str(path))


def _different(ids: pa.LargeStringArray, source: str) -> pa.LargeStringArray:
    """The ids, of which none may be there twice: nobody would know which vector is the document's."""
    if pc.count_distinct(ids, mode="all").as_py() == len(ids):
        return ids
    first: dict[str, int] = {}
    for row, identifier in enumerate(ids.to_pylist(), 1):
        if first.setdefault(identifier, row) != row:
            raise DataError(
                f"{source}: document {identifier!r} has two vectors, in rows {first[identifier]:,} and "
                f"{row:,}: leave one out, or give them different ids"
            )
    return ids


def _parquet_source(path: Path) -> VectorSource:
    try:
        file = pq.ParquetFile(parquet_file(path))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: is no sound Parquet file: {error}") from error
    names = file.schema_arrow.names
    column = vector_column(names, str(path))
    kind = file.schema_arrow.field(column).type
    if not is_vector(kind):
        raise DataError(f"{path}: the column {column!r} must hold lists of floats, got {kind}")
    count = file.metadata.num_rows
    if not count:
        raise DataError(f"{path}: no vectors")

    def read() -> Iterator[VectorBlock]:
        row = 0
        for batch in pq.ParquetFile(parquet_file(path)).iter_batches(ROWS_AT_ONCE):
            yield VectorBlock(matrix_of(batch.column(column), str(path), row), batch)
            row += len(batch)

    first = next(pq.ParquetFile(parquet_file(path)).iter_batches(1, columns=[column]))
    width = matrix_of(first.column(column), str(path), 0).shape[1]
    document = next((name for name in DOCUMENT if name in names), None)

    def ids() -> pa.LargeStringArray:
        table = pq.read_table(parquet_file(path), columns=[document])
        return _different(as_strings(table.column(document).cast(pa.large_string())), str(path))

    return VectorSource(str(path), count, width, read, None if document is None else ids)


def vector_column(names: list[str], source: str) -> str:
    """The column of vectors of a table."""
    found = next((name for name in VECTOR if name in names), None)
    if found is None:
        raise DataError(
            f"{source}: no column for the vector (accepted: {', '.join(VECTOR)}); the columns are "
            f"{', '.join(map(repr, names))}"
        )
    return found


def is_vector(kind: pa.DataType) -> bool:
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return bool(lists and pa.types.is_floating(kind.value_type))


def matrix_of(column: pa.Array, source: str, row: int) -> npt.NDArray[Any]:
    """Lists of numbers as (n, D): each there, and all equally long."""
    if column.null_count:
        place = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise DataError(f"{source}: row {row + place + 1} has no vector")
    flat = column.flatten()
    if pa.types.is_fixed_size_list(column.type):
        width = column.type.list_size
    else:
        lengths = np.diff(column.offsets.to_numpy())
        width = int(lengths[0]) if len(lengths) else 0
        other = np.flatnonzero(lengths != width)
        if len(other):
            at = int(other[0])
            raise DataError(
                f"{source}: row {row + at + 1} has a vector of {int(lengths[at])} dimensions, but those "
                f"before have {width}"
            )
    if not width:
        raise DataError(f"{source}: row {row + 1} has a vector without numbers")
    if flat.null_count:  # an empty place is no number
        place = int(np.flatnonzero(flat.is_null().to_numpy(zero_copy_only=False))[0]) // width
        raise DataError(f"{source}: row {row + place + 1} has a vector with an empty place")
    return np.asarray(flat.to_numpy(zero_copy_only=False)).reshape(len(column), width)
