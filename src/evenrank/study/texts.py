"""The texts of a study's pages, all from one file that can be translated."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenrank.errors import DataError
from evenrank.io.toml import parse_toml
from evenrank.study.settings import StudySettings

EXAMPLE = Path(__file__).parent / "example"
_PLACE = re.compile(r"\{(\w+)\}")


class StudyTexts:
    """Texts by page and name; ``{words}`` in braces are filled in. What comes back is plain text."""

    def __init__(self, tables: Mapping[str, Mapping[str, str]], common: Mapping[str, Any]) -> None:
        self._tables, self._common = tables, common

    def text(self, page: str, name: str, **values: Any) -> str:
        known = {**self._common, **values}
        return _PLACE.sub(
            lambda found: str(known[found[1]]) if found[1] in known else found[0],
            self._tables[page][name].strip(),
        )

    def paragraphs(self, page: str, name: str, **values: Any) -> list[str]:
        return paragraphs_of(self.text(page, name, **values))


def paragraphs_of(text: str) -> list[str]:
    """
    >>> paragraphs_of("one\\nline\\n\\n\\nanother")
    ['one line', 'another']
    """
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def read_study_texts(settings: StudySettings) -> StudyTexts:
    """The texts of a study; every one that the pages need must be there."""
    from evenrank.files import read_bytes

    path = settings.path(settings.texts)
    given = parse_toml(read_bytes(path, "it holds the texts of the pages"), str(path))
    needed = parse_toml((EXAMPLE / "texts.toml").read_bytes(), "texts.toml")
    problems = []
    for page, names in needed.items():
        own = given.get(page)
        if not isinstance(own, dict):
            problems.append(f"{path}: there is no table [{page}]")
            continue
        for name, text in names.items():
            if not isinstance(own.get(name), str) or not own[name].strip():
                problems.append(f"{path}: [{page}] has no text {name!r}")
            else:
                known = {"contact", "retention", "minimum_age", "words", "quote_words", *_PLACE.findall(text)}
                unknown = [place for place in _PLACE.findall(own[name]) if place not in known]
                if unknown:
                    problems.append(
                        f"{path}: [{page}] {name}: {{{unknown[0]}}} is not filled in here; it may have "
                        + ", ".join(f"{{{place}}}" for place in sorted(known))
                    )
        for name in set(own) - set(names):
            near = difflib.get_close_matches(str(name), list(names), 1)
            problems.append(
                f"{path}: [{page}] {name} is not used" + (f"; did you mean {near[0]}?" if near else "")
            )
    if problems:
        raise DataError("\n".join(problems[:20]))
    common = {
        "contact": settings.contact,
        "retention": settings.retention,
        "minimum_age": settings.minimum_age,
        "words": settings.minimum_words,
        "quote_words": settings.quote_words,
    }
    return StudyTexts(given, common)
