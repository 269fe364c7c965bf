"""What a test needs beyond the package and pytest, and whether it is here."""

from __future__ import annotations

import re
import shutil
from ast import literal_eval
from importlib.util import find_spec
from pathlib import Path

SHARED = Path(__file__).resolve().parents[3] / "shared"
# the line is read before the file is imported, since its own imports may need what is not here
OF_A_FILE = re.compile(r"^pytestmark = pytest\.mark\.needs\((.+?),?\)$", re.MULTILINE)


def chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def missing(*names: str) -> str | None:
    """Why a test that needs these packages or programs cannot run here; None if it can."""
    lacks = [name for name in names if not _is_here(name)]
    return f"needs {', '.join(lacks)}" if lacks else None


def _is_here(name: str) -> bool:
    if name == "chromium":
        return chromium() is not None
    if name == "shared":  # published values and real data that are kept beside the project, not in it
        return SHARED.is_dir()
    return find_spec(name) is not None


def needs_of_file(path: Path) -> tuple[str, ...]:
    """The names in ``pytestmark = pytest.mark.needs(...)``, which is on a line of its own."""
    found = OF_A_FILE.search(path.read_text(encoding="utf-8"))
    return literal_eval(f"({found[1]},)") if found else ()
