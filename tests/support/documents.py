"""The blocks of a page of the documents, and the lines of those of a shell."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def all_blocks(page: Path) -> list[tuple[str, str]]:
    """Each with its language, in their order."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in all_blocks(page) if kind == language]


def lines_of(text: str) -> list[str]:
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def commands_of(page: Path) -> list[list[str]]:
    """The words of each line of evenrank: in blocks of a shell, and in indented blocks, which are not run."""
    shown = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^ {4,}(.*)$", shown.replace("\\\n", " "), re.MULTILINE)
    found = []
    for line in [*indented, *(line for text in blocks(page, "sh") for line in lines_of(text))]:
        _, _, command = line.rpartition(" | ")
        if command.startswith("evenrank "):
            words = shlex.split(command, comments=True)
            found.append(words[: words.index(">")] if ">" in words else words)
    return found


def expanded(word: str, folder: Path) -> list[str]:
    """The files that a pattern stands for, as in a shell."""
    found = sorted(str(path.relative_to(folder)) for path in folder.glob(word)) if _is_pattern(word) else []
    return found or [word]


def _is_pattern(word: str) -> bool:
    return "*" in word and "(" not in word


def is_project(kind: str, text: str) -> bool:
    """A block that stands for the project file of its page."""
    return kind == "toml" and text.startswith("# evenrank.toml")
