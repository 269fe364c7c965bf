"""What the extra ``[train]`` brings: asked for once, with the line that installs it."""

from __future__ import annotations

import importlib.util

from evenrank.errors import MissingExtraError

PACKAGES = ("torch", "transformers", "safetensors")


def require(job: str) -> None:
    """Raise an error with the pip line unless all packages of the extra are there."""
    for package in PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError.for_job(job, package, "train")
