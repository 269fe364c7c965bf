"""Loading every module of a folder, so that a new file there is found without being listed anywhere."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from importlib import import_module


def load_folder(package: str, paths: Iterable[str]) -> None:
    """Import the modules that lie directly in a package. Folders below it are left to whoever needs them."""
    for module in pkgutil.iter_modules(paths):
        if not module.ispkg:
            import_module(f"{package}.{module.name}")
