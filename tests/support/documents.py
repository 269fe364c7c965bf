"""The blocks of a page of the documents, and the lines of those of a shell."""

from __future__ import annotations

import re
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def all_blocks(page: Path) -> list[tuple[str, str]]:
    """Each with its language, in their order."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in all_blocks(page) if kind == language]


def lines_of(text: str) -> list[str]:
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def expanded(word: str, folder: Path) -> list[str]:
    """The files that a pattern stands for, as in a shell."""
    found = sorted(str(path.relative_to(folder)) for path in folder.glob(word)) if _is_pattern(word) else []
    return found or [word]


def _is_pattern(word: str) -> bool:
    return "*" in word and "(" not in word


def is_project(kind: str, text: str) -> bool:
    """A block that stands for the project file of its page."""
    return kind == "toml" and text.startswith("# evenrank.toml")
