"""The three kinds of TREC file, and the columns that come out of any source."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.errors import DataError
from evenrank.io.cells import (
    GRADE_LIMIT,
    ID_LIMIT,
    BadValue,
    is_whole,
    long_id,
    parse_grade,
    parse_score,
    quoted,
)

NO_BLANKS = "TREC files cannot hold such ids: replace the blank, or use a table (CSV, JSON lines, Parquet)"

BY_INTENT = " (judgements by intent? read them with diversity=True, --qrels FILE:intents)"
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

    @cached_property
    def rank(self) -> int | None:
        """The place of the rank, which nobody uses; one that is no number shows that fields have moved."""
        return self.fields.index("rank") if "rank" in self.fields else None

    @cached_property
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
            hint = " (judgements of NTCIR? read them with format='ntcir', --qrels FILE:format=ntcir)"
        elif self is NTCIR_QRELS and count == 4:
            hint = " (4 fields are judgements of TREC: leave the format out)"
        elif not self.rest_of_line and count > len(self.fields):
            hint = f" (does the document id hold a blank? {NO_BLANKS})"
        found = f"{count} {'field' if count == 1 else 'fields'}"
        return f"{found}, but {needed} are needed: {' '.join(self.fields)}{hint}"

    def moved(self, fields: Sequence[bytes]) -> str:
        """What to say of a line whose rank is no number, as after a document id with a blank in it."""
        if self.rank is None or fields[self.rank].isdigit() or is_whole(fields[self.rank]):
            return ""
        rank = fields[self.rank]
        if len(fields[-1].split()) > 1:  # more fields than there should be
            document = b" ".join(fields[self.document : self.rank + 1])
            hint = f"does the document id hold a blank, {quoted(document)}? {NO_BLANKS}"
        else:
            hint = f"the fields are {' '.join(self.fields)}, and no document id holds a blank"
        return f"rank {quoted(rank)} is not a whole number: {hint}"

    def perhaps_moved(self, fields: Sequence[bytes]) -> bool:
        """Whether a line may have a document id like ``doc 2``, whose second half passes for the rank: the
        score is then a whole number, and the tag begins with one."""
        if not self.rest_of_line or b" " not in fields[-1].strip() or not is_whole(fields[self.value]):
            return False
        try:
            parse_score(fields[-1].split()[0])
        except BadValue:
            return False
        return True

    def too_long(self, fields: Sequence[bytes]) -> str:
        """What to say of an id that is longer than any id is."""
        for place in (0, self.document, 1) if self.intent else (0, self.document):
            if len(fields[place]) > ID_LIMIT:
                return long_id(self.fields[place], fields[place], len(fields[place]))
        return ""

    def clean(self, fields: Sequence[bytes], value: float) -> bytes:
        """The line with one blank between its fields; those that nobody reads are 0."""
        if self.rank is not None:
            rank = fields[self.rank]
            if len(rank) > 9 or not rank.isdigit():
                rank = b"%d" % max(-GRADE_LIMIT, min(float(rank), GRADE_LIMIT - 1))
            return b"%b 0 %b %b %r 0\n" % (fields[0], fields[self.document], rank, value)
        second = fields[1] if len(fields[1]) <= ID_LIMIT else b"0"
        return b" ".join([fields[0], second, *fields[2:-1], b"%d\n" % value])

    def repeated(self, document: str, query: str, intent: str, first: int) -> str:
        if self.rest_of_line:
            return f"document {document} is twice in query {query} (first on line {first})"
        of_intent = f"intent {intent} of " if self.intent else ""
        return f"document {document} is judged twice for {of_intent}query {query} (first on line {first})"

    def nothing(self, name: str, why: str) -> DataError:
        return DataError(f"{name}: no {self.what} ({why})")


def _ntcir_grade(text: bytes) -> int:
    """A grade as NTCIR writes it, ``L2``, or without the L."""
    if not is_whole(text.removeprefix(b"L")):
        raise BadValue(f"grade {quoted(text)} is not one of L0, L1, L2, ..")
    return parse_grade(text.removeprefix(b"L"))


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
    "judgements", ("query", "document", "grade"), value=2, value_name="grade", parse=_ntcir_grade
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
    contradicting: int = 0  # neighbouring rows of a query of which the lower rank has the larger score


def contradictions(queries: npt.ArrayLike, ranks: npt.ArrayLike, scores: npt.ArrayLike) -> int:
    """How many neighbouring rows of a query stand by their scores in another order than by their ranks.

    >>> contradictions([0, 0, 0, 1], [1, 2, 3, 1], [0.5, 0.9, 0.1, 0.7])
    1
    """
    same = np.diff(np.asarray(queries)) == 0
    with np.errstate(invalid="ignore", over="ignore"):
        against = np.sign(np.diff(np.asarray(ranks))) * np.sign(np.diff(np.asarray(scores))) > 0
    return int((same & against).sum())
