"""Runs and everything that is known about them, read and checked once: ``Inputs``.

``description.py`` names the files, ``project.py`` reads the names from a project file, ``inputs.py`` holds
what was read. Everything is loaded on first use, so that a command line is understood before arrays are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["Inputs", "Known", "KnownData", "Settled"]

if TYPE_CHECKING:
    from evenrank.inputs.inputs import Inputs as Inputs
    from evenrank.inputs.inputs import Known as Known
    from evenrank.inputs.inputs import KnownData as KnownData
    from evenrank.inputs.inputs import Settled as Settled


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from evenrank.inputs import inputs

    return getattr(inputs, name)
