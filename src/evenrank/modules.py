"""Loading the modules of a folder, so that a new file there is found without being listed anywhere."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec


def load_folder(package: str, paths: Iterable[str]) -> None:
    """Import the modules that lie directly in a package. Folders below it are left to whoever needs them."""
    for module in pkgutil.iter_modules(paths):
        if not module.ispkg:
            import_module(f"{package}.{module.name}")


def load_home(package: str, paths: Iterable[str], names: Mapping[str, str], wanted: str) -> None:
    """Import the module of a package that has a name, or all of them for a name that none is known to have.

    ``names`` are those of each module, separated by blanks.
    """
    for module, there in names.items():
        if wanted in there.split():
            import_module(f"{package}.{module}")
            return
    if find_spec(f"{package}.{wanted}") is None:  # else Python asks for a module that it is about to import
        load_folder(package, paths)
