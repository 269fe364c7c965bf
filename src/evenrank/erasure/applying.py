"""Erasing from a file of vectors into another one, block by block, all or nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenrank.arrays import Array
from evenrank.erasure.eraser import Eraser
from evenrank.erasure.identity import EncoderIdentity
from evenrank.erasure.vector_files import NPY, VectorSource, vector_column, vector_source
from evenrank.errors import DataError, ParameterError
from evenrank.evidence.polarise.vectors import IDS, PARQUET
from evenrank.io.atomic import atomic_write
from evenrank.io.source import parquet_file

Progress = Callable[[int, int], None]

PROBABILITY = "probability"  # the column for an eraser with a penalty


def erase_file(
    eraser: Eraser,
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    encoder: EncoderIdentity | None = None,
    progress: Progress | None = None,
) -> int:
    """Write the vectors of a ``.npy`` or Parquet file without what was erased, and say how many there are.

    The output is of the same kind; of Parquet all other columns stay as they are. ``encoder``, where it is
    known, must be the eraser's own. An eraser with a penalty brings vectors to length 1 again and adds the
    column ``probability``, so the files are Parquet. Vectors of zeros, which documents without a text have,
    stay as they are.
    """
    check_outputs(source, output)
    if eraser.penalty is not None:
        check_column(output)
    vectors = vector_source(source)
    eraser.check_width(vectors.width, vectors.name)
    if encoder is not None:
        eraser.check_encoder(encoder)
    if Path(source).suffix.lower() == NPY:
        _write_npy(eraser, vectors, Path(source), Path(output), progress)
    else:
        _write_parquet(eraser, vectors, Path(source), output, progress)
    return vectors.count


def check_outputs(source: str | os.PathLike[str], output: str | os.PathLike[str]) -> None:
    kinds = [NPY if Path(path).suffix.lower() == NPY else PARQUET[0] for path in (source, output)]
    if Path(output).suffix.lower() not in (NPY, *PARQUET) or kinds[0] != kinds[1]:
        raise ParameterError(
            f"{output}: erased vectors are written as {kinds[0]}, as {source} is: name it so"
        )
    if os.path.realpath(source) == os.path.realpath(output):
        raise ParameterError(f"{output}: is the file that is read: name another one")


def check_column(output: str | os.PathLike[str]) -> None:
    """Raise where the probabilities of a penalty have no place."""
    if Path(output).suffix.lower() == NPY:
        raise ParameterError(
            f"{output}: a penalty needs a column for the probability of every document: use vectors in a "
            "Parquet file"
        )


def _write_npy(
    eraser: Eraser, vectors: VectorSource, source: Path, output: Path, progress: Progress | None
) -> None:
    done = 0
    with atomic_write(output) as file:
        for block in vectors.blocks():
            erased = np.ascontiguousarray(eraser.erased_texts(block.vectors))
            if not done:
                head = {"descr": np.lib.format.dtype_to_descr(erased.dtype), "fortran_order": False}
                np.lib.format.write_array_header_1_0(file, {**head, "shape": (vectors.count, vectors.width)})
            file.write(erased.data.cast("B"))
            done += len(erased)
            _report(progress, done, vectors.count)
    beside = source.with_suffix(IDS)
    if beside.is_file() and beside.resolve() != output.with_suffix(IDS).resolve():
        with atomic_write(output.with_suffix(IDS)) as file:
            file.write(beside.read_bytes())


def _write_parquet(
    eraser: Eraser,
    vectors: VectorSource,
    source: Path,
    output: str | os.PathLike[str],
    progress: Progress | None,
) -> None:
    own = pq.ParquetFile(parquet_file(source)).schema_arrow
    schema = own if eraser.penalty is None else _with_probability(own, vectors.name)
    place = schema.names.index(vector_column(schema.names, vectors.name))
    kind, done = schema.field(place).type, 0
    with atomic_write(output) as file, pq.ParquetWriter(file, schema) as writer:
        for block in vectors.blocks():
            batch = block.rest
            if batch is None:
                continue
            if eraser.penalty is None:
                columns = {place: _lists(eraser.erased_texts(block.vectors), kind)}
            else:
                told = eraser.probability(block.vectors).astype(np.float32)
                columns = {place: _lists(eraser.for_index(block.vectors), kind), len(own): pa.array(told)}
            held = [*batch.columns, None]
            arrays = [columns.get(at, held[at]) for at in range(len(schema))]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
            done += len(batch)
            _report(progress, done, vectors.count)


def _with_probability(schema: pa.Schema, source: str) -> pa.Schema:
    if PROBABILITY in schema.names:
        raise DataError(
            f"{source}: has a column {PROBABILITY!r} already, where the probabilities of the penalty would "
            "go: rename it"
        )
    return schema.append(pa.field(PROBABILITY, pa.float32()))


def _lists(vectors: Array, kind: pa.DataType) -> pa.Array:
    flat = np.ascontiguousarray(vectors).reshape(-1)
    values = pa.array(flat, type=kind.value_type)
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(values, type=kind)
    starts = np.arange(0, len(flat) + 1, vectors.shape[1])
    if pa.types.is_large_list(kind):
        return pa.LargeListArray.from_arrays(pa.array(starts, pa.int64()), values, type=kind)
    return pa.ListArray.from_arrays(pa.array(starts, pa.int32()), values, type=kind)


def _report(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
