"""The three kinds of TREC file, and the columns that come out of any source."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.errors import DataError
from evenrank.io.values import parse_grade, parse_ntcir_grade, parse_score

_NTCIR_GRADE = re.compile(rb"L[0-9]+")


@dataclass(frozen=True)
class Layout:
    """Which field is what. The query is the first field of every kind."""

    what: str  # what a file of this kind is full of
    fields: tuple[str, ...]
    value: int  # the place of the score or grade
    value_name: str
    parse: Callable[[bytes], Any]  # float for scores, int for grades
    rest_of_line: bool = False  # the last field takes whatever is left
    intent: bool = False  # the second field is an intent, not ballast
    described: bool = False  # the file may begin with a description of the system, as NTCIR's do

    @property
    def document(self) -> int:
        """The place of the document."""
        return self.fields.index("document")

    def misfit(self, fields: Sequence[bytes]) -> str:
        """What to say of a line with a wrong number of fields."""
        count = len(fields)
        needed = f"{len(self.fields)}{' or more' if self.rest_of_line else ''}"
        hint = ""
        if self.rest_of_line and count == 4:
            hint = " (4 fields are judgements: are run and judgements swapped?)"
        elif not self.rest_of_line and count == 6:
            hint = " (6 fields are a run: are run and judgements swapped?)"
        elif not self.rest_of_line and count == 3 and _NTCIR_GRADE.fullmatch(fields[2]):
            hint = " (judgements of NTCIR? read them with format='ntcir', --qrels-format ntcir)"
        elif self is NTCIR_QRELS and count == 4:
            hint = " (4 fields are judgements of TREC: leave the format out)"
        found = f"{count} {'field' if count == 1 else 'fields'}"
        return f"{found}, needed are {needed}: {' '.join(self.fields)}{hint}"

    def repeated(self, document: str, query: str, intent: str | None, first: int) -> str:
        if self.rest_of_line:
            return f"document {document} is twice in query {query} (first on line {first})"
        of_intent = f"intent {intent} of " if self.intent else ""
        return f"document {document} is judged twice for {of_intent}query {query} (first on line {first})"

    def nothing(self, name: str, why: str) -> DataError:
        return DataError(f"{name}: no {self.what} ({why})")


RUN = Layout(
    "ranked documents",
    ("query", "Q0", "document", "rank", "score", "tag"),
    value=4,
    value_name="score",
    parse=parse_score,
    rest_of_line=True,
    described=True,
)
QRELS = Layout(
    "judgements", ("query", "iteration", "document", "grade"), value=3, value_name="grade", parse=parse_grade
)
NTCIR_QRELS = Layout(
    "judgements", ("query", "document", "grade"), value=2, value_name="grade", parse=parse_ntcir_grade
)
DIVERSITY = Layout(
    "judgements",
    ("query", "intent", "document", "grade"),
    value=3,
    value_name="grade",
    parse=parse_grade,
    intent=True,
)


@dataclass(frozen=True)
class Columns:
    """Rows of any source, checked one by one; what needs several rows (duplicates) is not."""

    queries: Any  # strings, or an Arrow dictionary array
    documents: pa.LargeStringArray
    values: Any  # numbers, as numpy or Arrow has them
    intents: Any = None
    ranks: npt.NDArray[np.float64] | None = None
