"""What the fields of a line are in each kind of TREC file, and what a line that does not fit may be."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evenrank.errors import DataError, counted
from evenrank.io.cells import (
    ID_LIMIT,
    BadValue,
    is_number,
    is_whole,
    long_id,
    parse_grade,
    parse_score,
    quoted,
)
from evenrank.io.column_names import ACCEPTED

NO_BLANKS = "TREC files cannot hold such ids: replace the blank, or use a table (CSV, JSON lines, Parquet)"
_NTCIR_GRADE = re.compile(rb"L[0-9]+")
_HINTS = {
    ("score", 4): " (4 fields are judgements: are run and judgements swapped?)",
    ("grade", 6): " (6 fields are a run: are run and judgements swapped?)",
}


@dataclass(frozen=True)
class Layout:
    """Which field of a line is what. The query is the first of every kind."""

    what: str  # what a file of this kind is full of
    fields: tuple[str, ...]
    parse: Callable[[bytes], float]  # the score or grade

    @property
    def is_run(self) -> bool:
        """Runs may begin with a description of the system, as NTCIR's do, and end with a tag of any words."""
        return "score" in self.fields

    @property
    def value(self) -> str:
        return "score" if self.is_run else "grade"

    @property
    def intent(self) -> bool:
        return "intent" in self.fields

    def fits(self, cells: Sequence[bytes]) -> bool:
        """Whether cells may be the fields of a line."""
        try:
            self.parse(cells[self.fields.index(self.value)].strip())
        except (BadValue, IndexError):
            return False
        return len(cells) == len(self.fields) and (not self.is_run or is_whole(cells[3].strip()))

    def header_of(self, names: Sequence[str], format: str) -> str:
        """What to do where the names of columns are the fields of a line; nothing where they are not."""
        cells = [name.encode() for name in names]
        if self.fits(cells[0].split() if len(cells) == 1 else cells if format == "tsv" else []):
            return "this is a line of a TREC file: write FILE:format=trec (in Python format='trec')"
        if self.fits(cells):
            return f"this line is no header: put one above it, as {','.join(self.fields)}"
        return ""

    def nothing(self, name: str, why: str) -> DataError:
        return DataError(f"{name}: no {self.what} ({why})")

    def misfit(self, fields: Sequence[bytes]) -> str:
        """What is wrong with the fields of a line, besides its score or grade."""
        count, wanted = len(fields), len(self.fields)
        if count != wanted:
            hint = _HINTS.get((self.value, count), "")
            if not self.is_run and not hint and count > wanted:
                hint = f" (does the document id hold a blank? {NO_BLANKS})"
            elif count == 3 and self.value == "grade" and _NTCIR_GRADE.fullmatch(fields[2]):
                hint = " (judgements of NTCIR? read them with format='ntcir', --qrels FILE:format=ntcir)"
            needed = f"{wanted}{' or more' if self.is_run else ''}"
            found = counted(count, "field", "fields")
            return f"{found}, but {needed} are needed: {' '.join(self.fields)}{hint}"
        for name, field in zip(self.fields, fields, strict=True):
            if name in ("query", "document", "intent") and len(field) > ID_LIMIT:
                return long_id(name, field, len(field))
        return self._misfit_of_rank(fields) if self.is_run else ""

    def _misfit_of_rank(self, fields: Sequence[bytes]) -> str:
        """After a document id with a blank in it, as ``doc 2``, its second half stands where the rank should,
        the rank where the score should, and the tag begins with the score."""
        rank, score, tag = quoted(fields[3]), fields[4], fields[-1].split()
        whole = is_whole(fields[3])
        if len(tag) > 1 and (not whole or (is_whole(score) and is_number(tag[0].decode()))):
            document = quoted(fields[2] + b" " + fields[3])
            return f"rank {rank} may belong to the document id, {document}: {NO_BLANKS}"
        return "" if whole else f"rank {rank} is not a whole number: the fields are {' '.join(self.fields)}"


def _ntcir_grade(text: bytes) -> int:
    """A grade as NTCIR writes it, ``L2``, or without the L."""
    if not is_whole(text.removeprefix(b"L")):
        raise BadValue(f"grade {quoted(text)} is not one of L0, L1, L2, ..")
    return parse_grade(text.removeprefix(b"L"))


RUN = Layout("ranked documents", ("query", "Q0", "document", "rank", "score", "tag"), parse_score)
QRELS = Layout("judgements", ("query", "iteration", "document", "grade"), parse_grade)
NTCIR_QRELS = Layout("judgements", ("query", "document", "grade"), _ntcir_grade)
DIVERSITY = Layout("judgements", ("query", "intent", "document", "grade"), parse_grade)


def other_format(line: bytes, fields: Sequence[bytes], layout: Layout) -> str:
    """What to say of the first line where it is clearly one of a table; nothing where it is not."""
    cells = {cell.strip().decode(errors="replace") for cell in line.split(b"\t")}
    if layout.fits(line.strip().split(b",")):
        return f"this line has commas: call the file .csv, with the line {','.join(layout.fields)} above all"
    if line.lstrip().startswith(b"{"):
        format = "jsonl"
    elif line.count(b",") > 1 and len(fields) < 3:
        format = "csv"
    elif all(cells & {*ACCEPTED[role]} for role in ("query", "document")):
        format = "tsv"
    else:
        return ""
    return (
        f"this file is read as TREC ({' '.join(layout.fields)}), but this line looks like {format.upper()}: "
        f"write FILE:format={format} (in Python format={format!r}), or give the file the suffix .{format}"
    )
