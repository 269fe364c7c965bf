"""A swapped piece as one row of Arrow, which is how finished pieces are kept."""

from __future__ import annotations

import json
import struct
from collections import Counter

import pyarrow as pa

from evenrank.counterfactuals.swap.blocks import Tally
from evenrank.counterfactuals.swap.pieces import Piece
from evenrank.io.document_tables import SCHEMA

FRAME = pa.schema(
    [("data", pa.large_binary()), ("documents", pa.int64()), ("changed", pa.int64()), ("tally", pa.string())]
)


def frame_of(piece: Piece) -> pa.RecordBatch:
    data = piece.data.serialize() if isinstance(piece.data, pa.RecordBatch) else piece.data
    edges = pa.py_buffer(struct.pack("<qq", 0, data.size))
    tally = json.dumps([[*pair, count] for pair, count in piece.tally.items()])
    columns = [
        pa.Array.from_buffers(pa.large_binary(), 1, [None, edges, data]),
        pa.array([piece.documents], pa.int64()),
        pa.array([piece.changed], pa.int64()),
        pa.array([tally], pa.string()),
    ]
    return pa.record_batch(columns, FRAME)


def piece_of(frame: pa.RecordBatch, output: str, digest: bytes = b"", bytes_read: int = 0) -> Piece:
    data = frame.column("data")[0].as_buffer()
    tally: Tally = Counter()
    for old, new, kind, count in json.loads(frame.column("tally")[0].as_py()):
        tally[old, new, kind] = count
    return Piece(
        pa.ipc.read_record_batch(data, SCHEMA) if output == "parquet" else data,
        frame.column("documents")[0].as_py(),
        frame.column("changed")[0].as_py(),
        bytes_read,
        tally,
        digest,
    )
