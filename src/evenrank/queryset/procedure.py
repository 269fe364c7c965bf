"""The settings of an annotation: how many people, which labels, which questions, which domains.

The defaults are those of Rekabsaz, Kopeinik and Schedl (2021), section 3: three workers mark the queries
that name a gender; then two experts, each alone, say whether a query is non-gendered and, if so, whether bias
in its results would be socially problematic, in which domains and why.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import Any

from evenrank.errors import DataError, ParameterError
from evenrank.files import read_bytes
from evenrank.io.toml import parse_toml

DOMAINS = (
    "Education",
    "Career",
    "Health",
    "Violence and Exploitation",
    "Social Inequality",
    "Politics",
)
YES, NO = "yes", "no"
MODEL_TABLE = "model"  # of the same file: which model annotates, for ``model.py``
LABELS = {
    "n": "names no gender",
    "m": "names men or boys",
    "f": "names women or girls",
    "o": "names another gender, or several",
}


@dataclass(frozen=True)
class Procedure:
    """What annotators are asked. Other attributes than gender need other labels and questions only."""

    workers: int = 3
    labels: tuple[str, ...] = tuple(LABELS)
    meanings: tuple[str, ...] = ()  # what each label means, for the page and for models
    passing: str = "n"  # the label with which a query goes on to the experts
    experts: int = 2
    questions: tuple[str, ...] = ("non_gendered", "problematic")  # each is asked after a yes to the last
    texts: tuple[str, ...] = (
        "Is the query non-gendered?",
        "Would bias in its results be socially problematic?",
    )
    domains: tuple[str, ...] = DOMAINS

    def __post_init__(self) -> None:
        if self.workers < 1 or self.experts < 1:
            raise ParameterError("a procedure has at least one worker and one expert")
        for name in ("labels", "questions", "domains"):
            own: tuple[str, ...] = getattr(self, name)
            if not own or len(set(own)) < len(own) or not all(text.strip() for text in own):
                raise ParameterError(f"{name} must be different names, and at least one; got {list(own)}")
        if self.passing not in self.labels:
            raise ParameterError(
                f"passing must be one of the labels {list(self.labels)}, got {self.passing!r}"
            )
        reserved = {"annotator", "query", "text", "label", "domains", "reason"} & set(self.questions)
        if reserved:
            raise ParameterError(
                f"a question cannot be called {sorted(reserved)[0]!r}: sheets have that column"
            )
        if len(self.texts) != len(self.questions):
            raise ParameterError("texts must have a sentence for each of the questions")
        if self.meanings and len(self.meanings) != len(self.labels):
            raise ParameterError("meanings must have a sentence for each of the labels")
        listed = next((domain for domain in self.domains if ";" in domain), None)
        if listed is not None:
            raise ParameterError(f"a domain has no semicolon, which separates domains: {listed!r}")

    def meaning_of(self, label: str) -> str:
        """
        >>> Procedure().meaning_of("n")
        'names no gender'
        """
        if self.meanings:
            return self.meanings[self.labels.index(label)]
        return LABELS[label] if self.labels == tuple(LABELS) else ""


def read_procedure(path: str | os.PathLike[str] | None) -> Procedure:
    """The settings of a TOML file; what it does not name is as in the paper."""
    if path is None:
        return Procedure()
    table = parse_toml(read_bytes(path), str(path))
    table.pop(MODEL_TABLE, None)
    known = {field.name: field for field in fields(Procedure)}
    for name, value in table.items():
        if name not in known:
            raise DataError(f"{path}: unknown setting {name!r}; there are {', '.join(known)}")
        default = getattr(Procedure, name)
        good = (
            isinstance(value, list) and all(isinstance(one, str) for one in value)
            if isinstance(default, tuple)
            else isinstance(value, type(default)) and not isinstance(value, bool)
        )
        if not good:
            raise DataError(f"{path}: {name} must be like {default!r}, got {value!r}")
    if "questions" in table and "texts" not in table:
        table["texts"] = [name.replace("_", " ") for name in table["questions"]]
    made: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in table.items()
    }
    try:
        return Procedure(**made)
    except ParameterError as error:
        raise DataError(f"{path}: {error}") from error
