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

TABLE = "erase"
_PATHS = ("eraser", "cache")


def erase_keys(project: Project | None, changes: Sequence[str]) -> Erase:
    """The keys of a project, with ``changes`` such as ``"lexicon=names.csv"``; paths are its own."""
    where = "" if project is None else f"{project.name}: "
    allowed = [field.name for field in dataclasses.fields(Erase)]
    try:
        made = changed({} if project is None else _seen_from(project), changes)
        if unknown := next((key for key in made if key not in allowed), None):
            raise UnknownNameError(f"{unknown!r} is not a key of [{TABLE}]{nearest_hint(unknown, allowed)}")
        return Erase(**made)
    except ParameterError as error:
        raise type(error)(f"{where}{error}") from None


def _seen_from(project: Project) -> dict[str, Any]:
    """The table with its paths as seen from the project's folder."""
    named = dict(project.table(TABLE))
    for key in _PATHS:
        if isinstance(named.get(key), str):
            named[key] = str(project.folder / Path(named[key]).expanduser())
    lexicon, encoder, groups = (named.get(key) for key in ("lexicon", "encoder", "groups"))
    if isinstance(lexicon, str) and ("." in lexicon or (project.folder / lexicon).exists()):
        named["lexicon"] = str(project.folder / Path(lexicon).expanduser())  # names have no dot
    if isinstance(encoder, str):
        named["encoder"] = encoder_seen_from(project.folder, encoder)
    if isinstance(groups, str):
        named["groups"] = project.groups_located(groups, f"{TABLE}.groups")
    return named


_OF_FITTING = ("lexicon", "groups", "targets", "tau", "sample", "second_order", "penalty", "cache", "batch")


def refuse_idle(keys: Erase, changes: Sequence[str], *, is_file: bool, model: bool) -> None:
    """Raise for a key on the command line that changes nothing; a project file is for several commands."""
    idle: dict[str, str] = {}
    if keys.groups is not None:
        why = "groups= is erased instead of the words of a lexicon"
        idle.update(dict.fromkeys(("lexicon", "targets", "tau"), why))
    if is_file:
        idle.update(dict.fromkeys(("cache", "batch"), "the vectors of a file are not encoded again"))
    else:
        idle["encoder"] = "--erase names the encoder already"
    if keys.eraser is not None:
        idle.update(dict.fromkeys(_OF_FITTING, f"{keys.eraser} is applied, and nothing is fitted"))
    if not model:
        idle["queries"] = "it is a key of a model, which -o FOLDER writes"
    for change in changes:
        key = change.partition("=")[0].strip()
        if key in idle:
            raise ParameterError(f"--set {key} has no effect here: {idle[key]}; leave it out")


def described_keys() -> Iterator[tuple[str, Any, str, str]]:
    """Every key: its name, default, what it must be, what it means."""
    for field in dataclasses.fields(Erase):
        yield field.name, field.default, field.metadata["rule"].wording, field.metadata["meaning"]
