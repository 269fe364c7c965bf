"""Where and how exactly is computed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch

from evenrank.errors import ParameterError


def as_device(name: str) -> torch.device:
    """``auto`` is a GPU where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        why = str(error).partition("\n")[0]
        raise ParameterError(f"device {name!r} cannot be used here: {why}") from None
    return device


def computing(device: torch.device, precision: str) -> AbstractContextManager[Any]:
    """Mixed precision, or nothing for float32."""
    if precision == "float32":
        return nullcontext()
    mixed: AbstractContextManager[Any] = torch.autocast(device.type, dtype=getattr(torch, precision))
    return mixed


@contextmanager
def own_randomness(device: torch.device, deterministic: bool = True) -> Iterator[None]:
    """Seeds may be set inside, and results repeat on a GPU too; outside, everything is as it was."""
    devices = [device] if device.type == "cuda" else []
    was = torch.are_deterministic_algorithms_enabled()
    warns = torch.is_deterministic_algorithms_warn_only_enabled()
    with torch.random.fork_rng(devices=devices):
        if deterministic and devices:
            torch.use_deterministic_algorithms(True)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(was, warn_only=warns)
