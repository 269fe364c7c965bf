"""What a run needs to go on after it was stopped: weights, the optimizer's moments, and where it stood."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from evenrank.errors import DataError
from evenrank.io.atomic import atomic_write
from evenrank.neural.folders import whole_folder

_POINTER = "state.json"


@dataclass(frozen=True)
class Standing:
    """Where a stage stands. Order of triples and noise of dropout follow from the seed and the step."""

    stage: str
    step: int
    piece: int  # triples that fit into memory at once
    best: float | None = None  # smallest validation loss
    since_best: int = 0  # checkpoints
    scaler: Mapping[str, Any] | None = None


def save_state(folder: Path, standing: Standing, ranker: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Write everything into a new folder, then let the pointer name it, then remove the older one."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{standing.stage}-{standing.step}"
    with whole_folder(folder / name) as new:
        weights = {key: value.detach().cpu().contiguous() for key, value in ranker.state_dict().items()}
        save_file(weights, new / "weights.safetensors")
        save_file(_moments(ranker, optimizer), new / "moments.safetensors")
    with atomic_write(folder / _POINTER) as file:
        file.write(json.dumps({"folder": name, **asdict(standing)}).encode())
    for other in folder.iterdir():
        if other.is_dir() and other.name != name:
            shutil.rmtree(other, ignore_errors=True)


def _moments(ranker: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    names = {parameter: name for name, parameter in ranker.named_parameters()}
    return {
        f"{key}/{names[parameter]}": value.detach().cpu().contiguous()
        for parameter, values in optimizer.state.items()
        for key, value in values.items()
    }


def read_standing(folder: Path) -> Standing | None:
    """Where the run stood, None if nothing was saved."""
    if not (folder / _POINTER).is_file():
        return None
    try:
        content = json.loads((folder / _POINTER).read_text(encoding="utf-8"))
        content.pop("folder")
        return Standing(**content)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{folder / _POINTER}: is damaged") from error


def load_state(folder: Path, ranker: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Put the saved weights and moments in place, both or neither."""
    try:
        name = json.loads((folder / _POINTER).read_text(encoding="utf-8"))["folder"]
        weights = load_file(folder / name / "weights.safetensors")
        moments = load_file(folder / name / "moments.safetensors")
        own = ranker.state_dict()
        if {key: value.shape for key, value in weights.items()} != {key: own[key].shape for key in own}:
            raise ValueError("weights of another ranker")
        parameters = dict(ranker.named_parameters())
        placed = [(parameters[key.partition("/")[2]], key.partition("/")[0], key) for key in moments]
    except (OSError, KeyError, TypeError, ValueError, SafetensorError) as error:
        raise DataError(f"{folder}: the saved state is damaged: {error}") from error
    ranker.load_state_dict(weights)
    optimizer.state.clear()
    for parameter, kind, key in placed:
        optimizer.state[parameter][kind] = moments[key].to(parameter.device)


def forget_state(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
