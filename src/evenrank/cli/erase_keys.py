"""The keys of ``[erase]`` in a project file: what is erased, and from which vectors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.errors import ParameterError, UnknownNameError, nearest_hint
from evenrank.grammar import choice, flag, integer, number, parameter, text
from evenrank.neural.config import changed, encoder_seen_from
from evenrank.neural.sections import ConfigSection

if TYPE_CHECKING:
    from evenrank.inputs.project import Project

TABLE = "erase"
_PATHS = ("eraser", "cache")


@dataclasses.dataclass(frozen=True)
class Erase(ConfigSection):
    """What an eraser is fitted to, or which one is applied."""

    lexicon: str = parameter("gender-en", text(), "whose words in the documents are erased, by name or file")
    groups: str | None = parameter(
        None, text(optional=True),
        "an attribute to erase instead: NAME=FILE as --groups takes it, or a field of the documents",
    )  # fmt: skip
    targets: str = parameter(
        "all", choice("all", "label"),
        "of a lexicon: label (neutral or not), or all: also which groups are present, their words, and 1 - w",
    )  # fmt: skip
    tau: int = parameter(1, integer(0), "a document with at most so many group words is neutral")
    sample: int | None = parameter(
        None, integer(2, optional=True), "use the labels of so many documents only, drawn at random"
    )
    second_order: int = parameter(
        0, integer(0), "directions more, where documents with the label spread most unlike others"
    )
    penalty: float = parameter(
        0.0, number(0.0),
        "how much is subtracted from the score of a document that surely has the label by its vector, less "
        "of one where it is less likely; 0.05 was measured",
    )  # fmt: skip
    encoder: str | None = parameter(
        None,
        text(optional=True),
        "what made the vectors of a file: minilm, wordllama, a model's folder, or OWNER/NAME of the hub",
    )
    eraser: str | None = parameter(None, text(optional=True), "an eraser to apply; without it one is fitted")
    queries: bool = parameter(False, flag(), "whether a model that is written erases from queries too")
    cache: str | None = parameter(None, text(optional=True), "a folder that keeps vectors of texts for later")
    batch: int = parameter(32, integer(1), "texts that are encoded at once")


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
    if isinstance(encoder, str):  # the vectors are there already, so a name of the hub causes no request
        named["encoder"] = encoder_seen_from(project.folder, encoder, f"{TABLE}.encoder", fetch=True)
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
