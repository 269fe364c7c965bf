"""A sentence-transformers model that erases: its folder with one module more.

The map is affine, so the module is the library's own ``Dense`` without an activation: whoever loads the
folder needs neither this package nor trust in anybody's code.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evenrank.erasure.eraser import Eraser
from evenrank.erasure.identity import ERASER_FILE, encoder_identity
from evenrank.errors import DataError, ParameterError
from evenrank.evidence.models import MINILM, MODULES, model_path, read_modules
from evenrank.files import regular_file
from evenrank.io.atomic import check_new_folder, whole_folder
from evenrank.io.tensors import write_tensors

_LIBRARY = "sentence_transformers.models"
_DENSE, _NORMALIZE, _ROUTER = (f"{_LIBRARY}.{name}" for name in ("Dense", "Normalize", "Router"))


def write_model(
    eraser: Eraser,
    encoder: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    queries: bool = False,
) -> None:
    """Write the model of an encoder (``minilm`` or a folder) with the eraser behind it, all or nothing.

    ``encode`` and ``encode_document`` erase; ``encode_query`` does only with ``queries``. The eraser itself
    lies beside the module, so that it is known later what was erased. An eraser with a penalty is refused.
    """
    if eraser.penalty is not None:
        raise ParameterError(
            f"{output}: a model gives vectors, and a penalty is no part of them: save the eraser and search "
            "with Dense(eraser=..), or fit one without a penalty"
        )
    check_new_folder(output)
    source = Path(model_path(MINILM) if os.fspath(encoder) == MINILM else encoder).expanduser()
    if not (source / MODULES).is_file():
        raise DataError(f"{source}: is no folder of a sentence-transformers model: it has no {MODULES}")
    eraser.check_encoder(encoder_identity(encoder))
    modules = read_modules(source)
    width = _width(source, modules)
    if width is not None:
        eraser.check_width(width, str(encoder))
    with whole_folder(output) as folder:
        shutil.copytree(source, folder, dirs_exist_ok=True)
        if eraser.unit and not str(modules[-1]["type"]).endswith("Normalize"):
            _append(modules, _NORMALIZE, folder)
        if queries:
            place = _append(modules, _DENSE, folder)
            _write_dense(eraser, place)
        else:
            place = _append(modules, _ROUTER, folder)
            _write_router(eraser, place)
        eraser.save(place / ERASER_FILE)
        _write_json(folder / MODULES, modules)


def _width(folder: Path, modules: list[dict[str, Any]]) -> int | None:
    """The dimensions of a model's vectors, as its last module that says so has it."""
    for module in reversed(modules):
        path = folder / str(module.get("path", "")) / "config.json"
        try:
            found = json.loads(regular_file(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        for key in ("out_features", "word_embedding_dimension", "embedding_dimension", "hidden_size"):
            if isinstance(found, dict) and isinstance(found.get(key), int):
                return int(found[key])
    return None


def _append(modules: list[dict[str, Any]], kind: str, folder: Path) -> Path:
    place = f"{len(modules)}_{kind.rpartition('.')[2]}"
    modules.append({"idx": len(modules), "name": str(len(modules)), "path": place, "type": kind})
    (folder / place).mkdir()
    return folder / place


def _write_dense(eraser: Eraser, place: Path) -> None:
    """``x - P (x - mean)`` as a layer: weights ``I - P``, and the constant ``P mean``."""
    taken = eraser.projection.left @ eraser.projection.right
    weights = {"linear.weight": np.eye(eraser.width) - taken, "linear.bias": taken @ eraser.mean}
    write_tensors(
        place / "model.safetensors",
        {name: array.astype(np.float32) for name, array in weights.items()},
        {"format": "pt"},
    )
    about = {"in_features": eraser.width, "out_features": eraser.width, "bias": True}
    _write_json(place / "config.json", {**about, "activation_function": "torch.nn.modules.linear.Identity"})


def _write_router(eraser: Eraser, place: Path) -> None:
    """Documents through the eraser; queries to length 1, which changes no order."""
    routes = {"document": "document_0_Dense", "query": "query_0_Normalize"}
    for name in routes.values():
        (place / name).mkdir()
    _write_dense(eraser, place / routes["document"])
    about = {
        "types": {routes["document"]: _DENSE, routes["query"]: _NORMALIZE},
        "structure": {route: [name] for route, name in routes.items()},
        "parameters": {"default_route": "document", "allow_empty_key": True},
    }
    _write_json(place / "router_config.json", about)
    _write_json(place / routes["query"] / "config.json", {})


def _write_json(path: Path, content: Mapping[str, Any] | list[Any]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
