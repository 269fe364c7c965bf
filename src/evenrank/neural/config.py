"""What a training run is told: the table ``[debias]`` of a project file, each key with its meaning."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evenrank.errors import DataError, ParameterError
from evenrank.evidence.models import MINILM
from evenrank.grammar import REFUSED, integer
from evenrank.inputs.project import FETCHED, Project
from evenrank.inputs.sections import (
    Adversary,
    AttributeSection,
    Distil,
    Evaluate,
    ExampleSection,
    Joint,
    Model,
    Training,
    Tune,
)
from evenrank.io.toml import parse_toml
from evenrank.neural.presets import with_preset
from evenrank.remote.addresses import is_remote


@dataclasses.dataclass(frozen=True)
class Config:
    """All of it. Paths are seen from the folder of the file."""

    examples: ExampleSection = dataclasses.field(default_factory=ExampleSection)
    attributes: tuple[AttributeSection, ...] = dataclasses.field(
        default_factory=lambda: (AttributeSection(),)
    )
    model: Model = dataclasses.field(default_factory=Model)
    training: Training = dataclasses.field(default_factory=Training)
    distil: Distil = dataclasses.field(default_factory=Distil)
    tune: Tune = dataclasses.field(default_factory=Tune)
    adversary: Adversary = dataclasses.field(default_factory=Adversary)
    joint: Joint = dataclasses.field(default_factory=Joint)
    evaluate: Evaluate = dataclasses.field(default_factory=Evaluate)
    seed: int = 0

    def __post_init__(self) -> None:
        examples, evaluate = self.examples, self.evaluate
        if integer(0).accept(self.seed) is REFUSED:
            raise ParameterError(f"seed must be an integer >= 0, got {self.seed!r}")
        if not self.attributes:
            raise ParameterError("attributes must name at least one: [[attributes]]")
        names = [attribute.name for attribute in self.attributes]
        if len(set(names)) < len(names):
            raise ParameterError(f"attributes must have different names, got {', '.join(names)}")
        if examples.triples is not None and examples.pool is not None:
            raise ParameterError("examples.triples has negatives of its own: leave out examples.pool")
        if examples.folds is not None and examples.fold >= examples.folds:
            raise ParameterError(
                f"examples.fold must be below the {examples.folds} folds, got {examples.fold}"
            )
        distils = self.model.loss == DISTILLATION
        if self.model.kind == BI_ENCODER and not distils:
            raise ParameterError("a bi-encoder learns from a teacher: set model.loss = 'distillation'")
        if distils and examples.triples is not None:
            raise ParameterError(
                "a distillation draws its own lists: leave out examples.triples, give queries and documents"
            )
        if distils and not {self.tune.stop_on, self.joint.stop_on} <= {"loss", "probe"}:
            raise ParameterError(
                "a distillation has no judgements to measure rankings by: stop_on must be loss or probe"
            )
        for stage, stop_on in (("tune", self.tune.stop_on), ("joint", self.joint.stop_on)):
            _check_stop_on(f"{stage}.stop_on", stop_on)
        if evaluate.run is not None and evaluate.queries is None:
            raise ParameterError("evaluate.queries must be given: those of the run")

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def _check_stop_on(key: str, stop_on: str) -> None:
    """A training knows judgements alone, and measures by them; another measure would fail hours later."""
    from evenrank.measures import parse_measure

    if stop_on in ("loss", "probe"):
        return
    if any(not need.endswith(".relevance") for need in parse_measure(stop_on).needs):
        raise ParameterError(
            f"{key} = {stop_on!r} needs more than judgements: name loss, probe or a measure of relevance, as "
            "RR@10 or nDCG@10"
        )


SECTIONS = {
    "examples": ExampleSection, "model": Model, "distil": Distil, "training": Training, "tune": Tune,
    "adversary": Adversary, "joint": Joint, "evaluate": Evaluate,
}  # fmt: skip
_PATHS = {"examples": ("pool", "triples", "keep_out"), "evaluate": ("run", "queries", "documents")}
_ENCODERS = {"model": ("encoder",), "distil": ("teacher",)}
_TABLE = "debias"
DISTILLATION, BI_ENCODER = "distillation", "bi-encoder"


def read_config(path: str | Path) -> Config:
    """The configuration in a project file: its table ``[debias]``."""
    return config_of(Project.read(path))


def config_of(project: Project, changes: Sequence[str] = ()) -> Config:
    """The configuration of a project, with ``changes`` such as ``"training.device=cuda"``."""
    try:
        return make_config(changed(project.table(_TABLE), changes), project.folder)
    except ParameterError as error:
        raise type(error)(f"{project.name}: {error}") from None


def changed(content: Mapping[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    """The content with some keys replaced; a value is written as in TOML, and text needs no quotes.

    >>> changed({"joint": {"epochs": 2}}, ["joint.epochs=1", "training.device=cuda"])
    {'joint': {'epochs': 1}, 'training': {'device': 'cuda'}}
    """
    made = dict(content)
    for change in changes:
        name, equals, given = (part.strip() for part in change.partition("="))
        if not (name and equals):
            raise ParameterError(f"a key is set by KEY=VALUE, as training.device=cuda, got {change!r}")
        try:
            value = parse_toml(f"value = {given}".encode(), name)["value"]
        except DataError:
            value = given
        section, dot, key = name.partition(".")
        made[section] = {**_table(made.get(section, {}), section), key: value} if dot else value
    return made


def make_config(content: Mapping[str, Any], folder: Path | None = None) -> Config:
    """A configuration from plain values; relative paths are seen from ``folder``."""
    from evenrank.inputs.schema import DebiasTable
    from evenrank.io.settings import checked

    if "data" in content:
        raise ParameterError(
            "'data' is no section: qrels, queries and documents are inputs, as in every command "
            "(train(config, output, qrels=.., query_texts=.., documents=..)); its other keys are now in "
            "'examples'"
        )
    typed = checked(DebiasTable, with_preset(content), f"[{_TABLE}]", ParameterError)
    given = typed.model_dump(exclude_unset=True)
    given.pop("preset", None)
    made: dict[str, Any] = {"seed": given.get("seed", 0)}
    for key, section in SECTIONS.items():
        table = dict(given.get(key) or {})
        for name in _PATHS.get(key, ()):
            if table.get(name) is not None:
                table[name] = _seen_from(folder, table[name])
        for name in _ENCODERS.get(key, ()):
            if name in table:
                table[name] = encoder_seen_from(folder, table[name])
        made[key] = section(**table)
    attributes = given.get("attributes", ({},))
    for table in attributes:
        if "." in table.get("lexicon", ""):  # names have no dot
            table["lexicon"] = _seen_from(folder, table["lexicon"])
    made["attributes"] = tuple(AttributeSection(**table) for table in attributes)
    return Config(**made)


def described() -> Iterator[tuple[str, Any, str, str]]:
    """Every key: its name, default, what it must be, what it means."""
    for key, section in {"attributes": AttributeSection, **SECTIONS}.items():
        for field in dataclasses.fields(section):
            yield (
                f"{key}.{field.name}",
                field.default,
                field.metadata["rule"].wording,
                field.metadata["meaning"],
            )


def _table(value: Any, key: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ParameterError(f"{key} is a table of keys, [{key}], got {value!r}")
    return value


def _seen_from(folder: Path | None, path: str) -> str:
    fetched = path.startswith(FETCHED) or is_remote(path)
    return path if folder is None or fetched else str(folder / Path(path).expanduser())


def encoder_seen_from(folder: Path | None, name: str) -> str:
    """A folder as seen from the file; any other name is looked up on the hub, also one with a dot in it."""
    beside = None if folder is None else folder / Path(name).expanduser()
    is_folder = name.startswith((".", "/", "~")) or (beside is not None and beside.is_dir())
    return str(beside) if beside is not None and name != MINILM and is_folder else name
