"""Folders of models, looked at before anything is loaded: are there weights, and of the right kind?"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenrank.errors import DataError, MissingExtraError

WEIGHTS = ("*.safetensors", "pytorch_model*.bin", "*.gguf")
PAIRS, MASKED, CAUSAL = "ForSequenceClassification", "ForMaskedLM", "ForCausalLM"
_USES = {
    PAIRS: "it scores pairs: use CrossEncoder(model=..)",
    MASKED: "it predicts words: use Splade(model=..)",
    CAUSAL: "it writes text: serve it and use Listwise(url=..)",
}


def check_model(
    folder: Path,
    job: str,
    *,
    kinds: Sequence[str] = (),
    refused: Sequence[str] = (),
    parts: Sequence[str] = (),
) -> None:
    """One clear error for a folder without a model, without weights, or with a model of another kind.

    ``kinds`` are the architectures that will do (none: any), ``refused`` those that will not. One of
    ``parts`` must be in the name of a tensor: a part that is missing would be drawn at random.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder of a model")
    found = architectures(folder)
    if not any(next(folder.rglob(pattern), None) for pattern in WEIGHTS):
        raise DataError(
            f"{folder}: has no weights (model.safetensors or pytorch_model.bin): it cannot be used as {job}"
        )
    wrong = [kind for kind in found if any(name in kind for name in refused)]
    if found and kinds and not any(name in kind for kind in found for name in kinds):
        wrong = list(found)
    if wrong:
        use = next((use for name, use in _USES.items() if any(name in kind for kind in wrong)), "")
        raise DataError(f"{folder}: {', '.join(wrong)} is no {job}{'; ' + use if use else ''}")
    names = _tensors(folder)
    if names and parts and not any(part in name for name in names for part in parts):
        raise DataError(f"{folder}: is no {job}: its weights lack {' or '.join(parts)}")


def _tensors(folder: Path) -> list[str]:
    """The names of the weights, from their head alone; empty for files that do not have one."""
    path = folder / "model.safetensors"
    if not path.is_file() or importlib.util.find_spec("safetensors") is None:
        return []
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as held:
            return list(held.keys())
    except (OSError, SafetensorError) as error:
        raise DataError(f"{path}: the weights cannot be read: {error}") from error


def architectures(folder: Path) -> list[str]:
    """What the model in a folder says that it is; empty if it does not say."""
    for place in (folder, folder / "0_Transformer"):
        if (place / "config.json").is_file():
            try:
                kinds = json.loads((place / "config.json").read_text(encoding="utf-8")).get("architectures")
            except (OSError, ValueError, AttributeError, RecursionError) as error:
                raise DataError(f"{place / 'config.json'}: cannot be read as JSON") from error
            return [str(kind) for kind in kinds or []]
    if (folder / "modules.json").is_file():
        return []
    raise DataError(f"{folder}: is no folder of a model: it has no config.json")


def need_transformers(job: str) -> None:
    for package in ("torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError.for_job(job, package, "embed")


def weights_of(folder: Path, names: Sequence[str]) -> dict[str, Any]:
    """Some tensors of a model by the end of their names, from safetensors or from a file of weights alone."""
    import torch

    path = folder / "model.safetensors"
    if path.is_file():
        from safetensors.torch import load_file

        state = load_file(str(path))
    else:
        state = torch.load(folder / "pytorch_model.bin", map_location="cpu", weights_only=True)
    found = {name: tensor for name in names for key, tensor in state.items() if key.endswith(name)}
    missing = [name for name in names if name not in found]
    if missing:
        raise DataError(f"{folder}: the weights lack {', '.join(missing)}: it is a model of another kind")
    return found
