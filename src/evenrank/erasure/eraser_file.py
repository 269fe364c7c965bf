"""Erasers as files: the arrays as safetensors, and beside them what must be known before they are used."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from evenrank.erasure.eraser import Eraser
from evenrank.erasure.identity import EncoderIdentity
from evenrank.erasure.leace import Projection
from evenrank.errors import DataError, ParameterError
from evenrank.io.tensors import SUFFIX, read_tensors, write_tensors

KIND = "evenrank eraser"
LAYOUT = "1"


def check_eraser_name(path: str | os.PathLike[str]) -> None:
    if Path(path).suffix.lower() != SUFFIX:
        raise ParameterError(f"{path}: an eraser is written as safetensors, so the name must end in {SUFFIX}")


def write_eraser(eraser: Eraser, path: str | os.PathLike[str]) -> None:
    check_eraser_name(path)
    about: dict[str, Any] = {
        "targets": list(eraser.targets),
        "documents": eraser.documents,
        "labelled": eraser.labelled,
        "rank": eraser.rank,
        "unit": eraser.unit,
        "dimension": eraser.width,
        "encoder": None if eraser.encoder is None else eraser.encoder.name,
        "weights": None if eraser.encoder is None else eraser.encoder.weights,
    }
    metadata = {"kind": KIND, "layout": LAYOUT, "version": eraser.version, "about": json.dumps(about)}
    arrays = {"mean": eraser.mean, "left": eraser.projection.left, "right": eraser.projection.right}
    write_tensors(path, arrays, metadata)


def read_eraser(path: str | os.PathLike[str]) -> Eraser:
    found = read_tensors(path)
    if found.metadata.get("kind") != KIND:
        raise DataError(f"{path}: holds tensors, but is no eraser: write one with evenrank debias --erase")
    if found.metadata.get("layout") != LAYOUT:
        version = found.metadata.get("version", "?")
        raise DataError(f"{path}: was written by evenrank {version} in another layout: fit the eraser again")
    try:
        about = json.loads(found.metadata["about"])
        mean, left, right = (found.arrays[name].astype(np.float64) for name in ("mean", "left", "right"))
        encoder = None if about["encoder"] is None else EncoderIdentity(about["encoder"], about["weights"])
        eraser = Eraser(
            mean, Projection(left, right), tuple(about["targets"]), int(about["documents"]),
            int(about["labelled"]), int(about["rank"]), encoder, bool(about["unit"]),
            found.metadata["version"],
        )  # fmt: skip
        width = int(about["dimension"])
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise DataError(f"{path}: its metadata are broken ({error}): fit the eraser again") from error
    if mean.shape != (width,) or left.shape != (width, len(right)) or right.shape != (left.shape[1], width):
        raise DataError(f"{path}: its arrays do not fit together: fit the eraser again")
    if not all(np.isfinite(array).all() for array in (mean, left, right)):
        raise DataError(f"{path}: holds NaN or infinity: fit the eraser again")
    return eraser
