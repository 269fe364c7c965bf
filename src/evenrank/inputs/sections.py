"""The tables ``[debias]`` and ``[erase]`` of a project file, each key with its rule and its meaning."""

from __future__ import annotations

import dataclasses
from typing import Any

from evenrank.errors import ParameterError
from evenrank.grammar import REFUSED, ParameterRule, choice, flag, integer, number, parameter, text

ZERO_IS_NONE = ("clip", "patience")  # TOML has no None
PRECISIONS = ("float32", "bfloat16", "float16")
SCHEDULES = ("constant", "linear")
STOP_ON = "what patience looks at: loss, probe, or a measure such as RR@10 of the queries held out"


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
    balance: str = parameter(
        "cells", choice("cells", "paper"),
        "each combination of labels equally often, or all triples with a biased document and as many others",
    )  # fmt: skip
    scrub: bool = parameter(False, flag(), "take the words of the lexicons out of all texts first")


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

    encoder: str = parameter(
        "minilm", text(),
        "a BERT-like checkpoint: minilm, a folder, a name of the hub; or a ranker that debias wrote",
    )  # fmt: skip
    layers: int | None = parameter(None, integer(1, optional=True), "keep only so many of its first layers")
    max_length: int = parameter(256, integer(8), "tokens of query and document together")
    loss: str = parameter(
        "margin", choice("margin", "cross_entropy", "distillation"),
        "of relevance; distillation keeps the order of a teacher, and needs no judgements",
    )  # fmt: skip
    kind: str = parameter(
        "cross-encoder", choice("cross-encoder", "bi-encoder"),
        "reads query and document together, or apart (which learns by distillation alone)",
    )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Distil(ConfigSection):
    """What a distillation learns from: any queries, and how a teacher ranks the documents for them."""

    teacher: str = parameter("minilm", text(), "a bi-encoder: minilm, a folder, a name of the hub")
    depth: int = parameter(100, integer(2), "documents of the teacher's ranking from which lists are drawn")
    documents: int = parameter(8, integer(3), "documents of a list")
    lists: int = parameter(4, integer(1), "lists of a query")
    temperature: float = parameter(0.05, number(0, open_low=True), "by which its cosines are divided")


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
    stop_on: str = parameter("loss", text(), STOP_ON)


@dataclasses.dataclass(frozen=True)
class Adversary(ConfigSection):
    """Second stage: the adversaries alone, on balanced triples."""

    epochs: float = parameter(1.0, number(0), "passes over the balanced triples; 0 leaves the stage out")
    dropout: float = parameter(
        0.0, number(0, 0.9), "share of an adversary's inputs left out, so that it cannot learn texts by heart"
    )
    weight_decay: float | None = parameter(
        None, number(0, optional=True), "of the adversaries; default: that of training"
    )
    steps: int = parameter(1, integer(1), "steps of the adversaries for each joint step of the ranker")


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
    stop_on: str = parameter("loss", text(), STOP_ON)
    ceiling: float | None = parameter(
        None, number(0, open_low=True, optional=True),
        "no gradients are reversed where the adversary's cross entropy is above so many times chance's",
    )  # fmt: skip


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
