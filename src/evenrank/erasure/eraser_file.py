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
from evenrank.erasure.penalty import LearntPenalty, check_strength
from evenrank.errors import DataError, ParameterError
from evenrank.io.tensors import SUFFIX, read_tensors, write_tensors

KIND = "evenrank eraser"
LAYOUT, WITH_PENALTY = "1", "2"  # a version that knows no penalty refuses the second, and ignores nothing


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
    layout = LAYOUT
    arrays = {"mean": eraser.mean, "left": eraser.projection.left, "right": eraser.projection.right}
    if eraser.penalty is not None:
        layout, about["penalty"] = WITH_PENALTY, eraser.penalty.strength
        arrays["penalty"] = eraser.penalty.weights
    metadata = {"kind": KIND, "layout": layout, "version": eraser.version, "about": json.dumps(about)}
    write_tensors(path, arrays, metadata)


def read_eraser(path: str | os.PathLike[str]) -> Eraser:
    found = read_tensors(path)
    if found.metadata.get("kind") != KIND:
        raise DataError(f"{path}: holds tensors, but is no eraser: write one with evenrank debias erase")
    layout = found.metadata.get("layout")
    if layout not in (LAYOUT, WITH_PENALTY):
        version = found.metadata.get("version", "?")
        raise DataError(f"{path}: was written by evenrank {version} in another layout: fit the eraser again")
    try:
        about = json.loads(found.metadata["about"])
        mean, left, right = (found.arrays[name].astype(np.float64) for name in ("mean", "left", "right"))
        penalty = None
        if layout == WITH_PENALTY:
            weights = found.arrays["penalty"].astype(np.float64)
            penalty = LearntPenalty(check_strength(about["penalty"]), weights)
        encoder = None if about["encoder"] is None else EncoderIdentity(about["encoder"], about["weights"])
        eraser = Eraser(
            mean, Projection(left, right), tuple(about["targets"]), int(about["documents"]),
            int(about["labelled"]), int(about["rank"]), encoder, bool(about["unit"]),
            found.metadata["version"], penalty,
        )  # fmt: skip
        width = int(about["dimension"])
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, ParameterError) as error:
        raise DataError(f"{path}: its metadata are broken ({error}): fit the eraser again") from error
    fits = mean.shape == (width,) and left.shape == (width, len(right)) and right.shape[1:] == (width,)
    if not fits or (penalty is not None and penalty.weights.shape != (width + 1,)):
        raise DataError(f"{path}: its arrays do not fit together: fit the eraser again")
    held = (mean, left, right, *(() if penalty is None else (penalty.weights,)))
    if not all(np.isfinite(array).all() for array in held):
        raise DataError(f"{path}: holds NaN or infinity: fit the eraser again")
    return eraser
