"""The script that draws charts in a page.

vl_convert puts it together from its parts, which takes two seconds of processor time and gives the same text
every time. So it is kept for the next report, as compilers keep what they compiled.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

from evenrank.errors import EvenrankError
from evenrank.io.atomic import atomic_write

_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@cache
def library() -> str:
    """The script. It needs no eval: expressions are interpreted."""
    import vl_convert

    folder = _folder()
    made_of = f"{version('vl-convert-python')}-{hashlib.sha256(_SNIPPET.encode()).hexdigest()[:8]}"
    path = None if folder is None else folder / f"charts-{made_of}.js"
    kept = None if path is None else _read(path)
    if kept is not None:
        return kept
    text: str = vl_convert.javascript_bundle(_SNIPPET)
    if path is not None:
        _keep(path, text)
    return text


def _folder() -> Path | None:
    """Where programs of this user keep what they can make again; None where there is no such folder."""
    named = Path(os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME", ""))
    if not named.is_absolute():
        try:
            named = Path.home() / ".cache"
        except RuntimeError:
            return None
    return named / "evenrank"


def _read(path: Path) -> str | None:
    """What was kept, if it is whole and nobody but this user can have written it."""
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            own = os.name == "nt" or (
                about.st_uid == os.getuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            )
            digest, _, content = file.read().partition(b"\n")
    except OSError:
        return None
    whole = digest.decode("ascii", "replace") == hashlib.sha256(content).hexdigest()
    return content.decode() if own and whole else None


def _keep(path: Path, text: str) -> None:
    content = text.encode()
    with suppress(OSError, EvenrankError):  # nothing can be written there
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)
