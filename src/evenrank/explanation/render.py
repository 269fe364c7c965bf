"""An explanation as text for a terminal and as HTML for a notebook. Names from outside are neutralised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from evenrank.explanation.explanation import Explanation, FoundTerm, RankedDocument
from evenrank.measures import Direction
from evenrank.scores import INFINITE, OK
from evenrank.scores.names import full_name
from evenrank.tables import WIDTH, Column, Table, number, wants_colour
from evenrank.text import wrapped

TERMS_SHOWN = 8
NOTHING = "-"
LEFT_OUT = "left out"


class _Column(NamedTuple):
    """A heading, what stands beneath it, how that is shown, and whether it is a number."""

    head: str
    values: Sequence[Any]
    show: Callable[[Any], str] = str
    right: bool = True


def _number(value: float | str | None, *, signed: bool = False) -> str:
    if isinstance(value, str):
        return value
    return NOTHING if value is None else number(value, signed=signed)


def _whole(value: float | None) -> str:
    return NOTHING if value is None else f"{value:g}"


def _other(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_other, value))
    if isinstance(value, dict):  # shares of several groups
        return ", ".join(f"{name} {_other(share)}" for name, share in value.items()) or NOTHING
    return NOTHING if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _columns(explanation: Explanation) -> list[_Column]:
    """The columns that have anything to show."""
    documents = explanation.documents
    known = [document.known for document in documents]
    counts, grades = [k.counts or {} for k in known], [k.intents or {} for k in known]
    intents = [", ".join(f"{name}: {grade:g}" for name, grade in own.items()) or NOTHING for own in grades]
    columns = [
        _Column("rank", [d.rank for d in documents]),
        _Column("document", [d.document for d in documents], right=False),
        _Column("grade", [k.grade for k in known], _whole),
        _Column("intents", intents if any(grades) else [], right=False),
        *(
            _Column(group, [own.get(group) for own in counts], _whole)
            for group in next(filter(None, counts), {})
        ),
        _Column("tokens", [k.tokens for k in known], _whole),
    ]
    for name in dict.fromkeys(name for k in known for name in k.other):
        columns.append(_Column(name, [k.other.get(name) for k in known], _other))
    columns.append(_Column("neutrality", [k.neutrality for k in known], _number))
    if any(d.adds is not None for d in documents):
        columns.append(_Column("adds", [d.adds if d.counts_in else LEFT_OUT for d in documents], _number))
    for name in next((list(d.change_without) for d in documents if d.change_without), []):
        head = full_name("without it", explanation.labels.get(name, name) if name else "")
        changes = [_change(document, name) for document in documents]
        columns.append(_Column(head, changes, partial(_number, signed=True)))
    columns.append(_Column("best", [d.best_rank for d in documents], _whole))
    columns.append(_Column("words", [_words(k.terms or ()) for k in known], right=False))
    there = [column for column in columns if any(value not in (None, "") for value in column.values)]
    return there if documents else columns[:2]


def _change(document: RankedDocument, column: str) -> float | str | None:
    if document.change_without is None:
        return None if document.counts_in else LEFT_OUT
    return float(document.change_without[column])


def _words(terms: Sequence[FoundTerm]) -> str:
    """``female: she 2, her 1; male: he 1``, the first few of each document."""
    by_group: dict[str, list[str]] = {}
    for term in terms[:TERMS_SHOWN]:
        by_group.setdefault(term.group, []).append(f"{term.term} {term.times}")
    if len(terms) > TERMS_SHOWN:
        by_group.setdefault("and", []).append(f"{len(terms) - TERMS_SHOWN} more")
    return "; ".join(f"{group}: {', '.join(found)}" for group, found in by_group.items())


def _headline(explanation: Explanation) -> str:
    direction, labels = explanation.measure.direction.value, explanation.labels
    values = []
    for column, value in explanation.values.items():
        status = explanation.statuses[column]
        shown = number(value) if status in (OK, INFINITE) else f"undefined ({status})"
        values.append(f"{labels.get(column, column)} {shown}" if column else shown)
    if len(values) > TERMS_SHOWN:
        largest = sorted(explanation.values.items(), key=lambda item: -item[1])[:TERMS_SHOWN]
        values = [f"{labels.get(column, column)} {number(value)}" for column, value in largest]
        values.append(f"and {len(explanation.values) - TERMS_SHOWN:,} smaller ones")
    return (
        f"{explanation.name} of query {explanation.query!r} in run {explanation.run!r}: "
        f"{', '.join(values)} ({direction})"
    )


def _remarks(explanation: Explanation) -> Iterator[str]:
    documents, best, ideal = explanation.documents, explanation.best, explanation.ideal
    shown = sum(document.counts_in for document in documents)
    if explanation.counting > shown:
        yield f"{explanation.counting - shown:,} more documents count and are not shown"
    if any(document.adds is not None for document in documents):
        total = sum(document.adds or 0.0 for document in documents)
        yield (
            f"adds: what each rank adds to the value, which can depend on the ranks above it; "
            f"{number(total)} together ({explanation.measure.direction.value})"
        )
    if best is not None:
        counting = (document for document in documents if document.counts_in)
        same = all(document.best_rank in (None, place) for place, document in enumerate(counting, 1))
        yield (
            f"best order of these {explanation.counting:,} documents: {number(explanation.value)} -> "
            f"{number(best.value)}, {'which is the order now, ' if same else ''}"
            f"{'exact' if best.exact else 'not proven best'} ({best.how}); best: a document's rank there"
        )
    if ideal is not None:
        ranks = {document.document: document.rank for document in documents}
        listed = ", ".join(
            document + (f" (now {ranks[document]})" if document in ranks else "")
            for document in ideal.documents[:20]
        )
        more = f", and {len(ideal.documents) - 20:,} more" if len(ideal.documents) > 20 else ""
        among = f"{ideal.source} ({ideal.among:,} documents)"
        yield f"best list from {among}: {number(ideal.value)}: {listed}{more}"
    if any(document.change_without for document in documents):
        side = {Direction.HIGHER: "positive", Direction.LOWER: "negative"}.get(explanation.measure.direction)
        yield (
            "without it: how the value would change if the document were removed and those below it moved up"
            + ("" if side is None else f"; {side}: the list would be better without this document")
        )
    yield from explanation.notes
    if explanation.labels:
        real = repr(explanation.measure)
        pairs = (f"{label} stands for {full_name(real, c)}" for c, label in explanation.labels.items())
        yield "; ".join(pairs)


def describe_ranks(explanation: Explanation) -> str:
    """Which ranks the value comes from, in one sentence."""
    adding = [document for document in explanation.documents if document.adds]
    if not adding:
        return "Each row is a document of the list, with what is known about it."
    largest = sorted(adding, key=lambda document: -abs(document.adds or 0.0))[:3]
    ranks = [f"rank {document.rank}" for document in sorted(largest, key=lambda document: document.rank)]
    named = ranks[0] if len(ranks) == 1 else f"{', '.join(ranks[:-1])} and {ranks[-1]}"
    if len(adding) <= len(largest):
        return f"All of the value comes from {named}."
    return f"Most of the value comes from {named}, of {len(adding)} that add to it."


def explanation_table(explanation: Explanation) -> Table:
    """One row for each rank under the headline, and the notes beneath it."""
    columns = _columns(explanation)
    return Table.of(
        [Column(column.head, column.right, elastic=column.head == "words") for column in columns],
        zip(*(map(column.show, column.values) for column in columns), strict=True),
        title=_headline(explanation),
        notes=_remarks(explanation),
        records=explanation_records(explanation),
        meaning=describe_ranks(explanation),
    )


def explanation_records(explanation: Explanation) -> Iterator[dict[str, Any]]:
    """The same rows for programs: which list of which run they are of, and every digit."""
    columns = _columns(explanation)
    about = {"measure": repr(explanation.measure), "query": explanation.query, "run": explanation.run}
    for values in zip(*(column.values for column in columns), strict=True):
        cells = (_other(value) if isinstance(value, list | dict) else value for value in values)
        yield about | {column.head: cell for column, cell in zip(columns, cells, strict=True)}


def texts_of(explanations: Sequence[Explanation], width: int | None = None) -> str:
    """Several lists one below the other. A note that all lists of a measure have stands once, at the end."""
    shared: dict[str, None] = {}
    for measure in dict.fromkeys(one.measure for one in explanations):
        alike = [one for one in explanations if one.measure == measure]
        if len(alike) > 1:
            shared |= {note: None for note in alike[0].notes if all(note in one.notes for one in alike)}
    own = [
        replace(one, notes=tuple(note for note in one.notes if note not in shared)) for one in explanations
    ]
    texts = [as_text(one, width) for one in own]
    if shared:
        texts.append("\n".join(wrapped(note, width or WIDTH) for note in shared))
    return "\n\n".join(texts)


def as_text(explanation: Explanation, width: int | None = None) -> str:
    """The headline, the table and the notes, with an empty line between them."""
    table = explanation_table(explanation)
    lines = [
        wrapped(table.title, width or WIDTH),
        "",
        replace(table, title="", notes=()).to_text(width or WIDTH, color=wants_colour(width)),
        "",
    ]
    return "\n".join([*lines, *(wrapped(note, width or WIDTH) for note in table.notes)])
