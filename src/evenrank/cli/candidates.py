"""The candidates of ``evenrank select`` that are no runs, and the table of all within a stated loss."""

from __future__ import annotations

import argparse
import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.cli.system_candidates import SIGNS, system_of
from evenrank.errors import ParameterError, UnknownNameError, nearest_hint
from evenrank.inputs.file_options import RUN, FileOption

if TYPE_CHECKING:
    from evenrank.inputs import Inputs
    from evenrank.scores import Scores
    from evenrank.tables import Table

METHOD = "method"
BETAS, FOLDS = "0,0.2,0.5,1,2,5,inf", 5
CANDIDATES_HELP = (
    "A re-ranker, such as 'Penalty(lam={0.2,0.5})@20', is a candidate too: it re-ranks the baseline. So is "
    "a system of evenrank retrieve, such as 'Dense(model=minilm)', or an eraser, FILE.safetensors, which is "
    "Dense with the eraser's encoder: it searches --documents for the texts of --queries, as deep as the "
    "baseline"
)
_TERM = re.compile(r"\s*([A-Za-z]\w*)\s*(?:[(@|]|$)")
_LOSS = ":loss="
_KEY = re.compile(r":(\w+)=[^():]*$")


def candidate_of(text: str) -> FileOption:
    """A run or a folder of them; or a re-ranker or a system, where there is no such file and one is called
    so."""
    if Path(text).exists():
        return RUN.parse(text)
    term = _TERM.match(text)
    if term is not None:
        from evenrank.rerankers import all_rerankers

        if term[1] in all_rerankers():
            return FileOption(text, text, {METHOD: True})
    if any(sign in text for sign in SIGNS):
        system = system_of(text)
        if system is not None:
            return system
    if term is not None and text[term.end() - 1] == "(":
        _raise_if_misspelt(term[1])
    return RUN.parse(text)


def _raise_if_misspelt(name: str) -> None:
    from evenrank.rerankers import all_rerankers
    from evenrank.systems import all_systems

    close = difflib.get_close_matches(name, [*all_rerankers(), *all_systems()], 1, 0.6)
    if close:
        what = "re-ranker" if close[0] in all_rerankers() else "system"
        raise UnknownNameError(f"no {what} is called {name!r}; did you mean {close[0]}?")


def expanded_methods(files: Sequence[FileOption]) -> list[str]:
    """The names of the re-rankers among the candidates, one for each value of a parameter."""
    given = [file.path for file in files if file.get(METHOD)]
    if not given:
        return []
    from evenrank.comparison.tradeoff import variants

    return [variant.name for variant in variants(given)]


def loss_of(relevance: str | None) -> tuple[str | None, float | None]:
    """The measure of relevance, and how much its mean may lose.

    >>> loss_of("nDCG@10:loss=0.01")
    ('nDCG@10', 0.01)
    """
    if relevance is None or _LOSS not in relevance:
        misspelt = None if relevance is None else _KEY.search(relevance)
        if misspelt is not None:  # no measure has a colon outside its brackets
            raise UnknownNameError(
                f"{misspelt[1]!r} is no key of --relevance{nearest_hint(misspelt[1], ['loss'])}"
            )
        return relevance, None
    measure, _, text = relevance.rpartition(_LOSS)
    try:
        loss = float(text)
    except ValueError:
        loss = math.nan
    if not 0 <= loss < math.inf:
        raise ParameterError(f"loss must be a number >= 0, got {text!r} in {relevance!r}")
    return measure, loss


def check_within_loss(arguments: argparse.Namespace) -> None:
    if arguments.by is not None:
        raise ParameterError("--by splits the choice by beta: leave it out, or leave out :loss=")
    given = {
        "--also": bool(arguments.also), "--beta": arguments.beta != BETAS,
        "--folds": arguments.folds != FOLDS, "--alpha": arguments.alpha is not None,
    }  # fmt: skip
    if any(given.values()):
        named = ", ".join(option for option, there in given.items() if there)
        raise ParameterError(f"{named}: part of the choice by beta: leave it out, or leave out :loss=")


def table_within_loss(
    inputs: Inputs,
    scores: Scores,
    made: Mapping[str, Any],
    trained: Sequence[str | None],
    files: Sequence[FileOption],
    searched: Mapping[str, tuple[str, str]],
    loss: float,
    arguments: argparse.Namespace,
) -> Table:
    """All candidates by what they gain within the loss."""
    from evenrank.comparison.audits.system_files import recorded_system
    from evenrank.comparison.candidates import candidates_of

    recorded = {
        name: recorded_system(file.path) for name, file in zip(inputs.runs, files, strict=False)
    }  # runs come first, then those of systems, then what re-rankers made
    relevance, fairness = scores.measures[:2]
    ordered = tuple(
        block for measure in (fairness, relevance) for block in scores.blocks if block.measure == measure
    )
    found = replace(scores, blocks=ordered)
    return candidates_of(
        inputs, found, made, loss=loss, baseline=arguments.baseline, trained=trained,
        systems={**{name: system for name, system in recorded.items() if system is not None}, **searched},
    ).to_table()  # fmt: skip
