"""What a training run is told: the table ``[debias]`` of a project file, each key with its meaning."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from evenrank.errors import DataError, ParameterError, UnknownNameError
from evenrank.grammar import REFUSED, ParameterRule, choice, flag, integer, number, parameter, text
from evenrank.inputs.project import FETCHED, Project
from evenrank.io.toml import parse_toml
from evenrank.neural.encoders import MINILM
from evenrank.remote.addresses import is_remote

T = TypeVar("T")

PRECISIONS = ("float32", "bfloat16", "float16")
SCHEDULES = ("constant", "linear")


def numbers(low: float) -> ParameterRule:
    """One or more numbers, each different."""

    def accept(value: Any) -> Any:
        one = number(low).accept
        if not isinstance(value, (list, tuple)) or not value:
            return REFUSED
        kept = tuple(one(item) for item in value)
        if any(item is REFUSED for item in kept):
            return REFUSED
        return REFUSED if len({f"{item:g}" for item in kept}) < len(kept) else kept  # as folders are named

    return ParameterRule(f"a list of different numbers >= {low:g}", accept)


class ConfigSection:
    """A table of the file. Values are checked by the rules that its keys are declared with."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            given = getattr(self, field.name)
            kept = field.metadata["rule"].accept(given)
            if kept is REFUSED:
                name = f"{type(self).__name__.lower()}.{field.name}"
                raise ParameterError(f"{name} must be {field.metadata['rule'].wording}, got {given!r}")
            object.__setattr__(self, field.name, kept)


@dataclasses.dataclass(frozen=True)
class ExampleSection(ConfigSection):
    """How examples are made of the judgements, or which file of triples is read instead."""

    pool: str | None = parameter(
        None, text(optional=True), "a run whose documents are the negatives; without it the judged ones are"
    )
    triples: str | None = parameter(
        None, text(optional=True), "instead of judgements: a file of query, relevant text, other text"
    )
    limit: int | None = parameter(None, integer(1, optional=True), "how many of the triples are read")
    min_grade: int = parameter(1, integer(1), "the least grade of a relevant document")
    negatives: int = parameter(4, integer(1), "negatives for each relevant document")
    keep_out: str | None = parameter(
        None, text(optional=True), "queries (id, tab, text) that must not be trained on: an error if one is"
    )
    validation: float = parameter(0.1, number(0, 0.9), "share of the queries held out for early stopping")
    folds: int | None = parameter(None, integer(2, optional=True), "cut the queries into so many folds")
    fold: int = parameter(0, integer(0), "the fold, counted from 0, whose queries are not trained on")


@dataclasses.dataclass(frozen=True)
class AttributeSection(ConfigSection):
    """Something that the ranker shall not tell: one adversary each."""

    name: str = parameter("gender", text(), "what it is called")
    lexicon: str = parameter("gender-en", text(), "a lexicon, by name or file")
    labels: str = parameter(
        "neutrality", choice("neutrality", "groups"),
        "neutral or not, or which group stands out (as many values as groups, and neutral)",
    )  # fmt: skip
    tau: int = parameter(1, integer(0), "a text with at most so many group words is neutral")


@dataclasses.dataclass(frozen=True)
class Model(ConfigSection):
    """What learns."""

    encoder: str = parameter("minilm", text(), "a BERT-like checkpoint: minilm, a folder, a name of the hub")
    layers: int | None = parameter(None, integer(1, optional=True), "keep only so many of its first layers")
    max_length: int = parameter(256, integer(8), "tokens of query and document together")
    loss: str = parameter("margin", choice("margin", "cross_entropy"), "of relevance")


@dataclasses.dataclass(frozen=True)
class Training(ConfigSection):
    """How it learns, in all stages."""

    device: str = parameter("auto", text(), "cpu, cuda, cuda:1; auto takes a GPU where there is one")
    precision: str = parameter("float32", choice(*PRECISIONS), "of the arithmetic; weights stay float32")
    batch: int = parameter(32, integer(1), "triples at once; halved where memory does not suffice")
    accumulate: int = parameter(1, integer(1), "batches whose gradients are added up to one step")
    learning_rate: float = parameter(3e-5, number(0, open_low=True), "of the encoder")
    head_learning_rate: float = parameter(1e-3, number(0, open_low=True), "of the relevance head")
    adversary_learning_rate: float = parameter(1e-3, number(0, open_low=True), "of the adversaries")
    weight_decay: float = parameter(0.01, number(0), "of all matrices")
    clip: float | None = parameter(
        1.0, number(0, open_low=True, optional=True),
        "longest gradient, of the ranker and of the adversaries each; 0 is none",
    )  # fmt: skip
    warmup: float = parameter(0.1, number(0, 1), "share of a stage's steps in which the rate rises")
    deterministic: bool = parameter(
        True, flag(), "on a GPU, only operations that repeat; false where a model has one that cannot"
    )
    save_seconds: float = parameter(60.0, number(0), "how often the state is saved for a run that is resumed")
    log_steps: int = parameter(10, integer(1), "steps between two lines of the log")


@dataclasses.dataclass(frozen=True)
class Tune(ConfigSection):
    """First stage: encoder and relevance head learn relevance."""

    epochs: float = parameter(2.0, number(0), "passes over the triples; 0 leaves the stage out")
    checkpoints: int = parameter(10, integer(1), "how often validation is looked at")
    patience: int | None = parameter(
        3,
        integer(1, optional=True),
        "stop after so many checkpoints without a gain in validation; 0: never",
    )
    schedule: str = parameter("linear", choice(*SCHEDULES), "of the learning rate after the warm-up")


@dataclasses.dataclass(frozen=True)
class Adversary(ConfigSection):
    """Second stage: the adversaries alone, on balanced triples."""

    epochs: float = parameter(1.0, number(0), "passes over the balanced triples; 0 leaves the stage out")


@dataclasses.dataclass(frozen=True)
class Joint(ConfigSection):
    """Third stage: all together on balanced triples, once for every strength."""

    strengths: tuple[float, ...] = parameter(
        (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8), numbers(0), "lambda: how hard gradients are reversed"
    )
    epochs: float = parameter(2.0, number(0), "passes over the balanced triples; 0 leaves the stage out")
    checkpoints: int = parameter(20, integer(1), "rankers kept for each strength, at equal distances")
    patience: int | None = parameter(
        None,
        integer(1, optional=True),
        "stop after so many checkpoints without a gain in validation; 0: never",
    )
    schedule: str = parameter("constant", choice(*SCHEDULES), "of the learning rate after the warm-up")


@dataclasses.dataclass(frozen=True)
class Evaluate(ConfigSection):
    """Whether every checkpoint re-ranks a run, into run.trec beside its weights."""

    run: str | None = parameter(None, text(optional=True), "the run to re-rank")
    queries: str | None = parameter(None, text(optional=True), "texts of its queries: id, tab, text")
    documents: str | None = parameter(
        None, text(optional=True), "texts of its documents; default: the data's"
    )
    depth: int = parameter(100, integer(1), "how many documents of each list")
    batch: int = parameter(128, integer(1), "pairs at once")
    weights: bool = parameter(True, flag(), "keep the weights of every checkpoint as well")
    probe: bool = parameter(
        False, flag(), "measure what a fresh adversary tells from each strength's last ranker"
    )


@dataclasses.dataclass(frozen=True)
class Config:
    """All of it. Paths are seen from the folder of the file."""

    examples: ExampleSection = ExampleSection()
    attributes: tuple[AttributeSection, ...] = (AttributeSection(),)
    model: Model = Model()
    training: Training = Training()
    tune: Tune = Tune()
    adversary: Adversary = Adversary()
    joint: Joint = Joint()
    evaluate: Evaluate = Evaluate()
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
        if evaluate.run is not None and evaluate.queries is None:
            raise ParameterError("evaluate.queries must be given: those of the run")

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


SECTIONS = {
    "examples": ExampleSection, "model": Model, "training": Training, "tune": Tune, "adversary": Adversary,
    "joint": Joint, "evaluate": Evaluate,
}  # fmt: skip
_PATHS = {"examples": ("pool", "triples", "keep_out"), "evaluate": ("run", "queries", "documents")}
_TABLE = "debias"


def read_config(path: str | Path) -> Config:
    """The configuration in a project file: its table ``[debias]``."""
    return config_of(Project.read(path))


def config_of(project: Project, changes: Sequence[str] = ()) -> Config:
    """The configuration of a project, with ``changes`` such as ``"training.device=cuda"``."""
    try:
        return make_config(changed(project.table(_TABLE), changes), project.folder, fetch=project.named)
    except ParameterError as error:
        raise type(error)(f"{project.name}: [{_TABLE}] {error}") from None


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


def make_config(content: Mapping[str, Any], folder: Path | None = None, *, fetch: bool = True) -> Config:
    """A configuration from plain values; relative paths are seen from ``folder``.

    Without ``fetch`` nothing may be named that is fetched over a network.
    """
    if "data" in content:
        raise ParameterError(
            "'data' is no section: qrels, queries and documents are inputs, as in every command "
            "(train(config, output, qrels=.., query_texts=.., documents=..)); its other keys are now in "
            "'examples'"
        )
    allowed = [*SECTIONS, "attributes", "seed"]
    for key in content:
        _known(key, allowed, "a section")
    place = partial(_seen_from, folder, fetch=fetch)
    made: dict[str, Any] = {}
    for key, section in SECTIONS.items():
        table = dict(_table(content.get(key, {}), key))
        for name in _PATHS.get(key, ()):
            if isinstance(table.get(name), str):
                table[name] = place(table[name])
        if key == "model" and isinstance(table.get("encoder"), str):
            table["encoder"] = _encoder(table["encoder"], folder, fetch)
        made[key] = _made(section, table, key)
    attributes = content.get("attributes", [{}])
    if not isinstance(attributes, list):
        raise ParameterError("attributes are written [[attributes]], once for each")
    tables = [dict(_table(entry, "attributes")) for entry in attributes]
    for table in tables:
        if "." in str(table.get("lexicon", "")):  # names have no dot
            table["lexicon"] = place(str(table["lexicon"]))
    made["attributes"] = tuple(_made(AttributeSection, table, "attributes") for table in tables)
    return Config(**made, **({"seed": content["seed"]} if "seed" in content else {}))


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


def _made(section: type[T], table: Mapping[str, Any], key: str) -> T:
    allowed = [field.name for field in dataclasses.fields(section)]  # type: ignore[arg-type]
    for name in table:
        _known(name, allowed, f"a key of [{key}]")
    kept = dict(table)
    for name in ("clip", "patience"):  # TOML has no None
        if name in kept and kept[name] == 0:
            kept[name] = None
    return section(**kept)


def _known(name: str, allowed: list[str], what: str) -> None:
    if name not in allowed:
        close = difflib.get_close_matches(name, allowed, 3, 0.5)
        hint = f"did you mean {', '.join(close)}?" if close else f"they are {', '.join(allowed)}"
        raise UnknownNameError(f"{name!r} is not {what}; {hint}")


def _seen_from(folder: Path | None, path: str, *, fetch: bool) -> str:
    if path.startswith(FETCHED) or is_remote(path):
        if not fetch:
            raise _not_trusted(path)
        return path
    return path if folder is None else str(folder / Path(path).expanduser())


def _encoder(name: str, folder: Path | None, fetch: bool) -> str:
    """A folder as seen from the file; any other name is looked up on the hub."""
    beside = None if folder is None else folder / Path(name).expanduser()
    is_folder = name.startswith((".", "/", "~")) or (beside is not None and beside.is_dir())
    if beside is not None and name != MINILM and is_folder:
        return str(beside)
    if name != MINILM and not fetch:
        raise _not_trusted(f"the encoder {name}")
    return name


def _not_trusted(what: str) -> ParameterError:
    return ParameterError(
        f"{what} is fetched over a network, and this project file was found, not named: "
        "name it with --project if you trust it"
    )
