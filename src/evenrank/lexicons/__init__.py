"""Lexicons that come with the package, as data; README.md beside this file says how they were made."""

from __future__ import annotations

from importlib.resources import files


def described(name: str) -> list[str]:
    """How a lexicon was made and what it misses: the paragraphs of its section in README.md, without tables.

    >>> described("gender-en")[0][:45]
    'gender-en: Chosen by hand from what the words'
    >>> described("of-my-own")
    []
    """
    text = files("evenrank.lexicons").joinpath("README.md").read_text("utf-8")
    sections = dict(part.split("\n", 1) for part in text.split("\n## ")[1:])
    found = []
    for one in name.split("+"):
        paragraphs = [" ".join(part.split()) for part in sections.get(one, "").split("\n\n")]
        prose = [part for part in paragraphs if part and not part.startswith(("|", "- ", "python "))]
        found += [f"{one}: {part}" if place == 0 else part for place, part in enumerate(prose)]
    return found
