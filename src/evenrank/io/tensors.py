"""Arrays with a few words about them in the format of safetensors, read and written with NumPy alone.

A file is the length of its head (8 bytes, little-endian), the head (JSON: type, shape and place of every
array, and texts under ``__metadata__``), and the arrays one after another. Nothing in it is executed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.errors import DataError
from evenrank.files import read_bytes
from evenrank.io.atomic import atomic_write

SUFFIX = ".safetensors"
_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "U8": "|u1", "BOOL": "|b1"}
_METADATA = "__metadata__"


class Tensors(NamedTuple):
    """The arrays of a file by name, and its texts."""

    arrays: dict[str, npt.NDArray[Any]]
    metadata: dict[str, str]


def write_tensors(
    path: str | os.PathLike[str], arrays: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str]
) -> None:
    """Write all of it, or nothing; equal content gives equal bytes."""
    names = {np.dtype(code).str: name for name, code in _TYPES.items()}
    head: dict[str, Any] = {_METADATA: dict(sorted(metadata.items()))}
    place, kept = 0, []
    for name, array in sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])):
        flat = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False))
        end = place + flat.nbytes
        head[name] = {
            "dtype": names[flat.dtype.str],
            "shape": list(array.shape),
            "data_offsets": [place, end],
        }
        kept.append(flat)
        place = end
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # arrays begin where a reader can map them
    with atomic_write(path) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for flat in kept:
            file.write(flat.tobytes())


def read_tensors(path: str | os.PathLike[str]) -> Tensors:
    """What a file holds; one clear error for anything that is not such a file, or only a part of one."""
    data = read_bytes(path)
    try:
        return _parsed(data)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise DataError(f"{path}: is no sound file of safetensors: {error}") from error


def _parsed(data: bytes) -> Tensors:
    size = int.from_bytes(data[:8], "little")
    head, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    metadata = head.pop(_METADATA, {})
    if not all(isinstance(text, str) for text in metadata.values()):
        raise ValueError("its metadata are not texts")
    arrays, end = {}, 0
    for name, entry in sorted(head.items(), key=lambda item: item[1]["data_offsets"][0]):
        begin, stop = entry["data_offsets"]
        if begin != end:
            raise ValueError(f"{name!r} has an impossible place")
        end = stop
        arrays[name] = np.frombuffer(body[begin:end], _TYPES[entry["dtype"]]).reshape(entry["shape"]).copy()
    if end != len(body):
        raise ValueError("it is longer or shorter than its head says")
    return Tensors(arrays, metadata)
