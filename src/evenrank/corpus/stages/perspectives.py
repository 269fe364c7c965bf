"""Perspectives: one call gives an article for each side of a question, under headers that name the sides."""

from __future__ import annotations

from typing import NamedTuple

from evenrank.corpus.asking import Asker, user
from evenrank.corpus.checks import HEADER, REFUSAL, REFUSED, find_problem
from evenrank.corpus.prompts import read_prompt
from evenrank.corpus.records import SIDES, Record, digest
from evenrank.corpus.settings import FilterSettings
from evenrank.corpus.stages import Made, Rejection, StageInputs, gathered, provenance


class Side(NamedTuple):
    """A position and the article that argues for it."""

    position: str
    article: str


def find_sides(text: str) -> list[Side]:
    """The articles of an answer by their headers.

    >>> find_sides("Perspective 1: Close them\\nZoos harm.\\n\\n**Perspective 2: Keep them**\\nZoos help.")
    [Side(position='Close them', article='Zoos harm.'), Side(position='Keep them', article='Zoos help.')]
    """
    headers = list(HEADER.finditer(text))
    ends = [*(header.start() for header in headers[1:]), len(text)] if headers else []
    return [
        Side(header[2].strip(), text[header.end() : end].strip().strip("-—*# \n"))
        for header, end in zip(headers, ends, strict=True)
    ]


def sides_problem(text: str, finish: str, settings: FilterSettings) -> str | None:
    """Why an answer does not give two articles, or None."""
    sides = find_sides(text)
    if not sides:
        refused = finish == "content_filter" or REFUSAL.search(text[:400])
        return REFUSED if refused else "no headers that name perspectives"
    if len(sides) != len(SIDES):
        return f"{len(sides)} perspective{'s' if len(sides) > 1 else ''}, not 2"
    if not all(side.position for side in sides):
        return "a header without a position"
    if sides[0].position.lower() == sides[1].position.lower():
        return "two perspectives that are the same"
    for number, side in enumerate(sides, 1):
        # the end of the answer is that of its second article
        problem = find_problem(side.article, settings, finish if number == len(SIDES) else "stop")
        if problem is not None:
            return f"article {number}: {problem}"
    return None


def make_perspectives(inputs: StageInputs, asker: Asker) -> Made:
    """Two for every question that is used; a question is rejected after so many attempts."""
    prompt, attempts = read_prompt("perspectives", inputs.folder), inputs.settings.documents.attempts
    model, filters = inputs.settings.writer.model, inputs.settings.filters

    def one(question: Record) -> tuple[list[Record], list[Rejection]]:
        problem: str | None = None
        for attempt in range(attempts):
            reply = asker.ask(user(prompt.filled(question=question["text"])), question["query"], attempt)
            problem = sides_problem(reply.text, reply.finish, filters)
            if problem is None:
                made = provenance(model, prompt.digest, reply, digest([question]))
                return [
                    {"query": question["query"], "perspective": name, "text": side.position,
                     "article": side.article, **made}
                    for name, side in zip(SIDES, find_sides(reply.text), strict=True)
                ], []  # fmt: skip
        return [], [Rejection(question["query"], str(problem), attempts, reply.text)]

    used = [question for question in inputs.corpus.questions if question["sampled"]]
    return gathered(asker.run(used, one, inputs.progress))
