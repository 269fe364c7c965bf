"""What a run needs to go on after it was stopped: weights, the optimizer's moments, and where it stood."""

from __future__ import annotations

import json
import re
import shutil
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from evenrank.errors import DataError
from evenrank.io.atomic import atomic_write, recover_folder, whole_folder
from evenrank.io.content_hash import hash_of_file

_POINTER = "state.json"
_FILES = ("weights.safetensors", "moments.safetensors")
_SUM = "crc32"
_NAME = re.compile(r"(?:\.(?=.*evenrank))?(?:tune|adversary|joint-[^/]+)-\d+(?:\.evenrank-[\w-]+)?")


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
    with whole_folder(folder / name, replace=True) as new:
        weights = {key: value.detach().cpu().contiguous() for key, value in ranker.state_dict().items()}
        save_file(weights, new / _FILES[0])
        save_file(_moments(ranker, optimizer), new / _FILES[1])
        hashes = {file: hash_of_file(new / file) for file in _FILES}
    write_checked(folder / _POINTER, {"folder": name, "hashes": hashes, **asdict(standing)})
    for other in _own(folder):
        if other.name != name:
            shutil.rmtree(other, ignore_errors=True)


def _own(folder: Path) -> list[Path]:
    """The folders of states, and what a process that was killed has left of one; nothing else is ours."""
    return [
        path for path in folder.iterdir()
        if _NAME.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
    ]  # fmt: skip


def write_checked(path: Path, content: Mapping[str, Any]) -> None:
    """JSON with a sum of itself."""
    text = json.dumps(dict(content))
    with atomic_write(path) as file:
        file.write(json.dumps({_SUM: zlib.crc32(text.encode()), "content": text}).encode())


def read_checked(path: Path) -> dict[str, Any]:
    """What ``write_checked`` wrote; a ValueError if anything about it is another."""
    try:
        kept = json.loads(path.read_bytes())
    except RecursionError as error:  # brackets without end
        raise ValueError("nested too deeply") from error
    if not isinstance(kept, dict) or not isinstance(kept.get("content"), str):
        raise ValueError("no content")
    if zlib.crc32(kept["content"].encode("utf-8", "surrogatepass")) != kept.get(_SUM):
        raise ValueError("the checksum differs")
    content: dict[str, Any] = json.loads(kept["content"])
    return content


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
        content = read_checked(folder / _POINTER)
        del content["folder"], content["hashes"]
        return Standing(**content)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{folder / _POINTER}: is damaged") from error


def load_state(folder: Path, ranker: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Put the saved weights and moments in place, both or neither."""
    try:
        pointer = read_checked(folder / _POINTER)
        there = folder / pointer["folder"]
        recover_folder(there)
        for file in _FILES:
            if hash_of_file(there / file) != pointer["hashes"][file]:
                raise ValueError(f"{file} is not as it was written")
        weights, moments = (load_file(there / file) for file in _FILES)
        own = ranker.state_dict()
        if {key: value.shape for key, value in weights.items()} != {key: own[key].shape for key in own}:
            raise ValueError("its weights have the shapes of another ranker")
        parameters = dict(ranker.named_parameters())
        placed = [(parameters[key.partition("/")[2]], key.partition("/")[0], key) for key in moments]
    except (OSError, KeyError, TypeError, ValueError, SafetensorError) as error:
        raise DataError(
            f"{folder}: the saved state cannot be used: {error}; train into another folder"
        ) from error
    ranker.load_state_dict(weights)
    optimizer.state.clear()
    for parameter, kind, key in placed:
        optimizer.state[parameter][kind] = moments[key].to(parameter.device)


def forget_state(folder: Path) -> None:
    """Remove the states, and the folder if nothing else is in it."""
    if not folder.is_dir() or folder.is_symlink():
        return
    (folder / _POINTER).unlink(missing_ok=True)
    for path in _own(folder):
        shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        folder.rmdir()
