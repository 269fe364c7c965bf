"""Templates in which everything is escaped, and the files that they load from the same server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KINDS = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}


class Pages:
    """The templates of ``folders``, the first that has a name winning; ``layout.html`` is the base's own."""

    def __init__(self, folders: Sequence[Path]) -> None:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        # autoescape is True for every name, not only for those that end in .html
        self._environment = Environment(
            loader=FileSystemLoader([*map(str, folders), str(HERE / "templates")]),
            autoescape=True,
            undefined=StrictUndefined,
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def render(self, template: str, /, **values: Any) -> str:
        return self._environment.get_template(template).render(**values)


def static_files(*folders: Path) -> dict[str, tuple[bytes, str]]:
    """Name to content and kind: they are few, small and read once, so no path of a visitor is ever opened."""
    return {
        path.name: (path.read_bytes(), KINDS[path.suffix])
        for folder in (HERE / "static", *folders)
        for path in sorted(folder.iterdir())
        if path.suffix in KINDS
    }
