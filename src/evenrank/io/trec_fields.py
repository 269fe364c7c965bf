"""What the fields of a line are in each kind of TREC file, and what a line that does not fit may be."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evenrank.errors import DataError
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
        if count == wanted:
            ids = [place for place, name in enumerate(self.fields) if name in ("query", "document", "intent")]
            long = [place for place in ids if len(fields[place]) > ID_LIMIT]
            return _moved(self, fields) or (
                long_id(self.fields[long[0]], fields[long[0]], len(fields[long[0]])) if long else ""
            )
        hint = ""
        if self.is_run and count == 4:
            hint = " (4 fields are judgements: are run and judgements swapped?)"
        elif not self.is_run and count == 6:
            hint = " (6 fields are a run: are run and judgements swapped?)"
        elif not self.is_run and count == 3 and _NTCIR_GRADE.fullmatch(fields[2]):
            hint = " (judgements of NTCIR? read them with format='ntcir', --qrels FILE:format=ntcir)"
        elif self is NTCIR_QRELS and count == 4:
            hint = " (4 fields are judgements of TREC: leave the format out)"
        elif not self.is_run and count > wanted:
            hint = f" (does the document id hold a blank? {NO_BLANKS})"
        found = f"{count} {'field' if count == 1 else 'fields'}"
        needed = f"{wanted}{' or more' if self.is_run else ''}"
        return f"{found}, but {needed} are needed: {' '.join(self.fields)}{hint}"


def _moved(layout: Layout, fields: Sequence[bytes]) -> str:
    """What to say of a line whose rank is no number, as after a document id with a blank in it."""
    if not layout.is_run or is_whole(fields[3]):
        return ""
    hint = f"the fields are {' '.join(layout.fields)}, and no document id holds a blank"
    if len(fields[-1].split()) > 1:  # more fields than there should be
        document = fields[2] + b" " + fields[3]
        hint = f"does the document id hold a blank, {quoted(document)}? {NO_BLANKS}"
    return f"rank {quoted(fields[3])} is not a whole number: {hint}"


def is_perhaps_moved(fields: Sequence[bytes]) -> bool:
    """Whether a line of a run may have a document id like ``doc 2``, whose second half passes for the rank:
    the score is then a whole number, and the tag begins with one."""
    tag = fields[-1].strip()
    return b" " in tag and is_whole(fields[4]) and is_number(tag.split()[0].decode())


def _ntcir_grade(text: bytes) -> int:
    """A grade as NTCIR writes it, ``L2``, or without the L."""
    if not is_whole(text.removeprefix(b"L")):
        raise BadValue(f"grade {quoted(text)} is not one of L0, L1, L2, ..")
    return parse_grade(text.removeprefix(b"L"))


RUN = Layout("ranked documents", ("query", "Q0", "document", "rank", "score", "tag"), parse_score)
QRELS = Layout("judgements", ("query", "iteration", "document", "grade"), parse_grade)
NTCIR_QRELS = Layout("judgements", ("query", "document", "grade"), _ntcir_grade)
DIVERSITY = Layout("judgements", ("query", "intent", "document", "grade"), parse_grade)


def table_format(line: bytes, fields: Sequence[bytes], layout: Layout) -> str | None:
    """The format that the first line has, where it is clearly not one of TREC."""
    if line.lstrip().startswith(b"{"):
        return "jsonl"
    if line.count(b",") > 1 and len(fields) < 3:
        return "," if layout.fits(line.strip().split(b",")) else "csv"
    if line.count(b";") > 1 and len(fields) < 3:
        return ";"
    cells = {cell.strip().decode(errors="replace") for cell in line.split(b"\t")}
    return "tsv" if all(cells & {*ACCEPTED[role]} for role in ("query", "document")) else None


def not_trec(layout: Layout, format: str) -> str:
    needed = " ".join(layout.fields)
    if format == ",":
        return (
            f"this line has the fields of a TREC file ({needed}), but commas between them: put blanks in "
            f"their place, or the line {','.join(layout.fields)} above all, with the suffix .csv"
        )
    if format == ";":
        return (
            f"this file is read as TREC ({needed}), but this line is separated by semicolons (';'): write it "
            "as CSV, with commas"
        )
    return (
        f"this file is read as TREC ({needed}), but this line looks like {format.upper()}: write "
        f"FILE:format={format} (in Python format={format!r}), or give the file the suffix .{format}"
    )
