"""Prompts: text files of this package, or of the same name in the folder ``prompts`` of a corpus."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import NamedTuple

from evenrank.errors import DataError
from evenrank.files import read_utf8

NEEDED = {
    "questions": ("count", "title"), "perspectives": ("question",), "document": ("question", "perspective"),
    "distractor": ("document", "other"), "neutral": ("draft", "perspective"), "answers": ("text", "question"),
}  # fmt: skip
"""What each prompt must mention, as ``$question``."""


class Prompt(NamedTuple):
    """A text with places for what is asked about."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    def filled(self, **values: object) -> str:
        return Template(self.text).substitute({name: str(value) for name, value in values.items()}).strip()


def read_prompt(name: str, folder: Path) -> Prompt:
    """The prompt of the corpus in ``folder``, else that of the package."""
    own = folder / "prompts" / f"{name}.txt"
    if not own.exists():
        return Prompt(
            name, files("evenrank.corpus").joinpath(f"prompts/{name}.txt").read_text(encoding="utf-8")
        )
    text = read_utf8(own)
    template = Template(text)
    named = set(template.get_identifiers())
    missing = [f"${each}" for each in NEEDED[name] if each not in named]
    others = sorted(f"${each}" for each in named - set(NEEDED[name]))
    if missing or others or not template.is_valid():
        wrong = f"lacks {', '.join(missing)}" if missing else f"has {', '.join(others) or 'a lone $'}"
        raise DataError(
            f"{own}: {wrong}; this prompt is filled with {', '.join('$' + each for each in NEEDED[name])} "
            "(a dollar sign is written $$)"
        )
    return Prompt(name, text)
