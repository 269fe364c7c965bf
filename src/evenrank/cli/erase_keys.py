"""The keys of ``[erase]`` in a project file: what is erased, and from which vectors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.errors import ParameterError, UnknownNameError, nearest_hint
from evenrank.inputs.sections import Erase
from evenrank.neural.config import changed, encoder_seen_from

if TYPE_CHECKING:
    from evenrank.inputs.project import Project


def erase_keys(project: Project | None, changes: Sequence[str]) -> Erase:
    """The keys of a project, with ``changes`` such as ``"lexicon=names.csv"``; paths are its own."""
    where = "" if project is None else f"{project.name}: "
    allowed = [field.name for field in dataclasses.fields(Erase)]
    try:
        made = changed({} if project is None else _seen_from(project), changes)
        if unknown := next((key for key in made if key not in allowed), None):
            raise UnknownNameError(f"{unknown!r} is not a key of [erase]{nearest_hint(unknown, allowed)}")
        return Erase(**made)
    except ParameterError as error:
        raise type(error)(f"{where}{error}") from None


def _seen_from(project: Project) -> dict[str, Any]:
    """The table with its paths as seen from the project's folder."""
    named = dict(project.table("erase"))
    texts = {key: value for key, value in named.items() if isinstance(value, str)}
    for key in ("eraser", "cache", "lexicon"):
        path = texts.get(key)
        # names of lexicons have no dot
        if path is not None and (key != "lexicon" or "." in path or (project.folder / path).exists()):
            named[key] = str(project.folder / Path(path).expanduser())
    if "encoder" in texts:
        named["encoder"] = encoder_seen_from(project.folder, texts["encoder"])
    if "groups" in texts:
        named["groups"] = project.groups_located(texts["groups"], "erase.groups")
    return named


def described_keys() -> Iterator[tuple[str, Any, str, str]]:
    """Every key: its name, default, what it must be, what it means."""
    for field in dataclasses.fields(Erase):
        yield field.name, field.default, field.metadata["rule"].wording, field.metadata["meaning"]
