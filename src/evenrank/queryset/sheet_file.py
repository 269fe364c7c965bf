"""One annotator's sheet on disk: what is answered, what is asked next, and answers written one by one.

The CSV file is the only place where answers are kept. Each answer replaces the whole file in one step and is
on disk before it counts as recorded, so a sheet can be read, or filled by hand, at any moment.
"""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from evenrank.errors import DataError
from evenrank.files import read_bytes, regular_file
from evenrank.io.atomic import atomic_write
from evenrank.queryset.procedure import NO, YES, Procedure
from evenrank.queryset.sheets import LIST, columns_of, is_machine, stage_of
from evenrank.tables import delimited, of_cell

LABEL = "label"
DETAILS = "details"  # domains and the reason, after yes to all questions
MARK = "\ufeff"  # at the beginning of files that a spreadsheet has written


class SheetFile:
    """The sheet of one person. Threads may share it; two programs must not write one sheet at a time."""

    def __init__(self, path: Path, procedure: Procedure) -> None:
        self.path, self.procedure = path, procedure
        self._lock = threading.Lock()
        head, rows, _ = self._read()
        self.stage = stage_of(head, procedure) or 0
        names = sorted({row["annotator"] for row in rows})
        if len(names) != 1 or not names[0]:
            raise DataError(
                f"{path}: a page is for one annotator, and this sheet has {len(names)}: write one with "
                "evenrank queryset sheets"
            )
        self.annotator = names[0]
        if is_machine(self.annotator):
            raise DataError(f"{path}: is the sheet of a model ({self.annotator}), which needs no page")

    def rows(self) -> list[dict[str, str]]:
        """The rows as they are on disk now, by the names of their columns."""
        return self._read()[1]

    def asked(self, row: Mapping[str, str]) -> str | None:
        """What is asked next about the query of a row: the label, a question, the details; None: nothing."""
        if self.stage == 1:
            return None if row[LABEL] in self.procedure.labels else LABEL
        for question in self.procedure.questions:
            answer = row[question].lower()
            if answer not in (YES, NO):
                return question
            if answer == NO:
                return None
        return None if row["reason"] and domains_of(row) else DETAILS

    def due(self, rows: Sequence[Mapping[str, str]], after: int = -1) -> int | None:
        """The first row that is not answered behind row ``after``, or else from the beginning."""
        order = [*range(after + 1, len(rows)), *range(after + 1)]
        return next((place for place in order if self.asked(rows[place]) is not None), None)

    def record(self, place: int, query: str, asked: str, answer: Mapping[str, str]) -> bool:
        """Write the answer to what is asked about a query; False if that is not asked there any more."""
        with self._lock:
            head, rows, mark = self._read()
            if place >= len(rows) or rows[place]["query"] != query or self.asked(rows[place]) != asked:
                return False
            rows[place] |= answer
            self._write(head, rows, mark)
        return True

    def clear(self, place: int, query: str) -> bool:
        """Empty the answers of a row, so that it is asked again."""
        with self._lock:
            head, rows, mark = self._read()
            if place >= len(rows) or rows[place]["query"] != query:
                return False
            rows[place] |= dict.fromkeys(columns_of(self.stage, self.procedure)[3:], "")
            self._write(head, rows, mark)
        return True

    def _read(self) -> tuple[list[str], list[dict[str, str]], str]:
        try:
            text = regular_file(self.path).read_text("utf-8")
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise DataError(f"{self.path}: is not UTF-8 ({error.reason})") from error
        mark = MARK if text.startswith(MARK) else ""
        table = csv.reader(io.StringIO(text.removeprefix(MARK), newline=""), strict=True)
        rows = []
        try:
            head = [of_cell(cell.strip()).lower() for cell in next(table, [])]
            for cells in table:
                if any(cell.strip() for cell in cells):
                    if len(cells) != len(head):
                        what = f"{len(cells)} columns, the head has {len(head)}"
                        raise DataError(f"{self.path}:{table.line_num}: {what}")
                    rows.append(dict(zip(head, (of_cell(cell.strip()) for cell in cells), strict=True)))
        except csv.Error as error:
            raise DataError(f"{self.path}:{table.line_num}: not CSV: {error}") from error
        if stage_of(head, self.procedure) is None:
            raise DataError(
                f"{self.path}: is no sheet of this procedure: it has the columns {', '.join(head)}"
            )
        return head, rows, mark

    def _write(self, head: Sequence[str], rows: Sequence[Mapping[str, str]], mark: str) -> None:
        try:
            with atomic_write(self.path) as file:
                file.write((mark + delimited(rows, ",", head)).encode())
        except OSError as error:  # the disk is full: the sheet is as it was
            raise DataError(f"{self.path}: cannot be written: {error.strerror}") from error


def domains_of(row: Mapping[str, str]) -> list[str]:
    return [domain.strip() for domain in row["domains"].split(LIST) if domain.strip()]


def sheets_in(folder: Path, procedure: Procedure) -> tuple[list[SheetFile], list[Path]]:
    """The sheets of people in a folder, and the other CSV files there, which are left alone."""
    if not folder.is_dir():
        raise DataError(
            f"{folder}: no such folder: write sheets with evenrank queryset sheets FILE -o {folder}"
        )
    found: list[SheetFile] = []
    others = []
    for path in sorted(folder.glob("*.csv")):
        head = read_bytes(path).split(b"\n", 1)[0].decode("utf-8-sig", "replace")
        if stage_of([of_cell(cell.strip()).lower() for cell in head.split(",")], procedure) is None:
            others.append(path)
        elif not is_machine(_annotator(path)):
            found.append(SheetFile(path, procedure))
    if not found:
        raise DataError(
            f"{folder}: has no sheet of this procedure: write sheets with evenrank queryset sheets FILE -o "
            f"{folder}"
        )
    seen: dict[tuple[str, int], Path] = {}
    for sheet in found:
        other = seen.setdefault((sheet.annotator, sheet.stage), sheet.path)
        if other is not sheet.path:
            raise DataError(f"{sheet.path}: is a second sheet of {sheet.annotator}, after {other.name}")
    return found, others


def _annotator(path: Path) -> str:
    with regular_file(path).open(encoding="utf-8-sig", newline="") as file:
        try:
            first = next(csv.DictReader(file), {})
        except (csv.Error, UnicodeDecodeError) as error:
            raise DataError(f"{path}: is not CSV in UTF-8: {error}") from None
    return next(
        (cell or "" for name, cell in first.items() if name and name.strip().lower() == "annotator"), ""
    )
