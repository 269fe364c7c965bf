"""The page on which annotators answer: an address for each of them, one question at a time.

It works without scripts. What it asks is what the sheets ask, and the sheets are where it writes.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from evenrank.errors import DataError, ParameterError
from evenrank.queryset.procedure import NO, YES, Procedure
from evenrank.queryset.sheet_file import DETAILS, LABEL, SheetFile, domains_of, sheets_in
from evenrank.queryset.sheets import LIST
from evenrank.web.application import Reply, Site, Visit, redirect
from evenrank.web.forms import FormTokens
from evenrank.web.pages import Pages, static_files
from evenrank.web.serving import address_of

HERE = Path(__file__).parent
SECRET = "page.key"
ADDRESS = "127.0.0.1:8000"
AGAIN = "again"
REASON_KEY = "r"
_FAILURES = {
    403: "This form is no longer valid. Open your address again.",
    404: "There is no such page. Open the address that you were sent.",
    405: "There is no such page. Open the address that you were sent.",
    429: "That were many requests at once. Wait a moment, then open your address again.",
    503: "Your answer could not be written and is not recorded. Tell who sent you the address.",
}


class AnswerChoice(NamedTuple):
    """One answer to choose, and the keys that choose it."""

    value: str
    text: str
    keys: tuple[str, ...]


class AnnotationPages:
    """Handlers for the sheets of a folder. Addresses and forms outlive the server: their secret is kept."""

    def __init__(self, folder: str | os.PathLike[str], procedure: Procedure) -> None:
        self.procedure = procedure
        self.sheets, self.others = sheets_in(Path(folder), procedure)
        self.tokens = FormTokens(_secret(Path(folder) / SECRET))
        self.pages = Pages([HERE / "templates"])

    def path_of(self, sheet: SheetFile) -> str:
        """The address of an annotator, which nobody can guess: each answers alone."""
        key = self.tokens.keyed(f"{sheet.stage} {sheet.annotator}")[:16]
        name = re.sub(r"[^A-Za-z0-9]+", "-", sheet.annotator).strip("-")
        return f"/{name}-{key}"

    def site(self) -> Site:
        handlers = {}
        for sheet in self.sheets:
            path = self.path_of(sheet)
            handlers["GET", path] = partial(self._show, sheet)
            handlers["POST", path] = partial(self._submit, sheet)
        return Site(
            handlers=handlers, files=static_files(HERE / "static"), tokens=self.tokens, failed=self._failed,
            secure=False,
        )  # fmt: skip

    def _show(self, sheet: SheetFile, visit: Visit) -> Reply:
        """The row that the address names, or the first that is not answered."""
        rows = sheet.rows()
        place = _place(visit.query.get("at", ""), len(rows))
        if place is None:
            place = sheet.due(rows)
        return self._done(sheet, rows) if place is None else self._row(sheet, visit, rows, place)

    def _submit(self, sheet: SheetFile, visit: Visit) -> Reply:
        """Write the answer, if its question is still open; only then does the browser go on."""
        path, number, asked, query = [*(visit.purpose or "").split(" ", 3), *[""] * 4][:4]
        if path != self.path_of(sheet) or not number.isdigit():
            return self._failed(403)
        place = int(number)
        if asked == AGAIN:
            sheet.clear(place, query)
            return redirect(f"{self.path_of(sheet)}?at={place + 1}")
        answer, problem = self._answer(asked, visit.form)
        if problem:
            return self._row(sheet, visit, sheet.rows(), place, problem)
        sheet.record(place, query, asked, answer)
        rows = sheet.rows()
        if place < len(rows) and sheet.asked(rows[place]) is not None:
            return redirect(f"{self.path_of(sheet)}?at={place + 1}")
        further = sheet.due(rows, place)
        return redirect(self.path_of(sheet) + ("" if further is None else f"?at={further + 1}"))

    def _answer(self, asked: str, form: Mapping[str, str]) -> tuple[dict[str, str], str]:
        """The cells that a form fills, or what is wrong with it."""
        if asked == DETAILS:
            domains = [d for n, d in enumerate(self.procedure.domains) if form.get(f"domain-{n}")]
            reason = " ".join(form.get("reason", "").split())
            if not domains or not reason:
                return {}, "Choose at least one domain and write a reason."
            return {"domains": f"{LIST} ".join(domains), "reason": reason}, ""
        allowed = self.procedure.labels if asked == LABEL else (YES, NO)
        if asked != LABEL and asked not in self.procedure.questions:
            return {}, "This question is not asked any more."
        answer = form.get("answer", "")
        return ({asked: answer}, "") if answer in allowed else ({}, "Choose one of the answers.")

    def _row(
        self,
        sheet: SheetFile,
        visit: Visit,
        rows: Sequence[Mapping[str, str]],
        place: int,
        problem: str = "",
    ) -> Reply:
        if place >= len(rows):  # the sheet was shortened meanwhile
            return self._failed(404)
        row = rows[place]
        asked = sheet.asked(row)
        body = self._render(
            "annotate.html", sheet, rows,
            at=place + 1,
            text=row["text"],
            asked=asked,
            question=self._question(asked),
            choices=self._choices(asked),
            given=visit.form if problem else {},
            reason_key=self._reason_key,
            recorded=self._recorded(sheet, row),
            problem=problem,
            token=visit.token(f"{self.path_of(sheet)} {place} {asked or AGAIN} {row['query']}"),
        )  # fmt: skip
        return Reply(body, 422 if problem else 200)

    def _question(self, asked: str | None) -> str:
        if asked == LABEL:
            return "Which label does the query get?"
        if asked == DETAILS or asked is None:
            return "In which domains would bias in its results matter?"
        return self.procedure.texts[self.procedure.questions.index(asked)]

    def _choices(self, asked: str | None) -> list[AnswerChoice]:
        if asked == LABEL:
            named = [(label, self.procedure.meaning_of(label)) for label in self.procedure.labels]
            texts = [f"{label}: {meaning}" if meaning else label for label, meaning in named]
            return _with_keys(self.procedure.labels, texts)
        if asked == DETAILS:
            return _with_keys(self.procedure.domains, self.procedure.domains)
        return _with_keys((YES, NO), (YES, NO))

    @property
    def _reason_key(self) -> str:
        """The key that goes to the reason, unless a domain has it."""
        taken = {key for choice in self._choices(DETAILS) for key in choice.keys}
        return "" if REASON_KEY in taken else REASON_KEY

    def _recorded(self, sheet: SheetFile, row: Mapping[str, str]) -> list[tuple[str, str]]:
        if sheet.stage == 1:
            return [("Label", row[LABEL])] if row[LABEL] else []
        answers = zip(self.procedure.texts, self.procedure.questions, strict=True)
        found = [(text, row[question]) for text, question in answers if row[question]]
        domains = ", ".join(domains_of(row))
        return [*found, *(pair for pair in (("Domains", domains), ("Reason", row["reason"])) if pair[1])]

    def _done(self, sheet: SheetFile, rows: Sequence[Mapping[str, str]]) -> Reply:
        return Reply(self._render("annotated.html", sheet, rows))

    def _render(
        self, template: str, sheet: SheetFile, rows: Sequence[Mapping[str, str]], **values: Any
    ) -> str:
        answered = sum(sheet.asked(row) is None for row in rows)
        return self.pages.render(
            template, language="en", title=f"Queries for {sheet.annotator}", path=self.path_of(sheet),
            answered=answered, total=len(rows), **values,
        )  # fmt: skip

    def _failed(self, status: int) -> Reply:
        text = _FAILURES.get(status, "The request cannot be understood.")
        return Reply(self.pages.render("refused.html", language="en", title="Queries", text=text), status)


def _with_keys(values: Sequence[str], texts: Sequence[str]) -> list[AnswerChoice]:
    """A digit for each of the first nine, and the first letter where no other begins with it."""
    firsts = [value[:1].lower() for value in values]
    return [
        AnswerChoice(
            value,
            text,
            (
                *([str(place)] if place <= 9 else []),
                *([first] if firsts.count(first) == 1 and first.isalpha() else []),
            ),
        )
        for place, (value, text, first) in enumerate(zip(values, texts, firsts, strict=True), 1)
    ]


def _place(text: str, rows: int) -> int | None:
    """The row of an address, from 1; None where there is no such row."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    return number - 1 if 1 <= number <= rows else None


def _secret(path: Path) -> str:
    """The secret of the folder, which only its owner can read."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(32))
    except FileExistsError:
        pass
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from error
    found = path.read_text("ascii", errors="replace").strip()
    if len(found) < 32:
        raise DataError(f"{path}: holds no secret: delete it; annotators then get new addresses")
    return found


def local_address(text: str) -> str:
    """An address of this machine alone: answers and addresses of annotators travel unencrypted.

    >>> local_address("127.0.0.1:8000")
    '127.0.0.1:8000'
    """
    host, _ = address_of(text)
    if host not in ("127.0.0.1", "localhost", "::1"):
        raise ParameterError(
            f"the page is served on this machine alone, as {ADDRESS}; got {text!r}. For annotators elsewhere "
            "put a server with https in front of it"
        )
    return text
