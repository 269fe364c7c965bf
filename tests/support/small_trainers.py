"""Trainers of a small ranker, and what one step of them would change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from evenrank import Lexicon, read_qrels
from evenrank.neural import CrossEncoderRanker, PairTokens, Stage, Trainer, label_pairs, make_config, train

VALUES = {"kin": ("neutral", "biased")}


class Killed(BaseException):
    """Not an error that anything here would handle."""


def settings_of(**given: Any) -> Any:
    """The settings of a training, which are few steps on a processor."""
    usual = {"batch": 8, "device": "cpu", "learning_rate": 1e-3, "save_seconds": 0.0}
    return make_config({"training": {**usual, **given}}).training


def trainer(
    checkpoint: Path,
    examples: Any,
    kin: Lexicon,
    *,
    ranker: dict[str, Any] | None = None,
    own: dict[str, Any] | None = None,
    **settings: Any,
) -> Trainer:
    """``ranker`` are options of the ranker, ``own`` those of the trainer."""
    made = CrossEncoderRanker.start(str(checkpoint), VALUES, max_length=32, **(ranker or {}))
    tokens = PairTokens(made.tokenizer, examples.texts, len(examples.pair_queries), made.max_length)
    labels = {"kin": label_pairs(examples, kin)}
    return Trainer(made, tokens, labels, settings_of(**settings), **(own or {}))


def weights(ranker: Any, begin: str = "") -> dict[str, Any]:
    return {name: value.clone() for name, value in ranker.state_dict().items() if name.startswith(begin)}


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(value, other[name]) for name, value in one.items())


def without_noise(ranker: Any) -> None:
    for module in ranker.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0


def gradients(made: Trainer, stage: Stage) -> dict[str, Any]:
    """Those of the only step of a stage, without dropout; the ranker stays as it was."""
    without_noise(made.ranker)
    before, found = weights(made.ranker), {}

    def look(step: int) -> None:
        assert step == 1
        for name, parameter in made.ranker.named_parameters():
            if parameter.grad is not None:
                found[name] = parameter.grad.clone()

    made.run(stage, progress=look)
    made.ranker.load_state_dict(before)
    return found


def train_files(content: dict[str, Any], folder: Path, output: str = "out", **options: Any) -> Any:
    """A whole training from the files of a folder."""
    known: Any = {
        name: dict(line.split("\t") for line in (folder / file).read_text().splitlines())
        for name, file in (("query_texts", "queries.tsv"), ("documents", "documents.tsv"))
    }
    known["qrels"] = read_qrels(folder / "qrels.txt")
    return train(make_config(content, folder), folder / output, **known, **options)


def killed_at(wanted: int) -> Any:
    """A progress that ends the training at a step; a negative one is counted from the end."""

    def progress(step: int, total: int) -> None:
        if step == wanted % (total + 1):
            raise Killed

    return progress


def tree(folder: Path) -> dict[str, bytes]:
    """Every file but logs, by path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "log" not in path.parts
    }
