"""An explanation as text for a terminal and as HTML for a notebook. Names from outside are neutralised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from evenrank.explanation.explanation import BestOrder, Explanation, RankedDocument
from evenrank.measures import Direction, Measure
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
    value: Callable[[RankedDocument], Any]
    show: Callable[[Any], str] = str
    right: bool = True


def _number(value: float | str | None) -> str:
    if isinstance(value, str):
        return value
    return NOTHING if value is None else number(value)


def _signed(value: float | str | None) -> str:
    return number(value, signed=True) if isinstance(value, float) else _number(value)


def _whole(value: float | None) -> str:
    return NOTHING if value is None else f"{value:g}"


def _columns(explanation: Explanation) -> list[_Column]:
    """The columns that have anything to show."""
    known = [document.known for document in explanation.documents]
    columns = [_Column("rank", lambda d: d.rank), _Column("document", lambda d: d.document, right=False)]
    if any(k.grade is not None for k in known):
        columns.append(_Column("grade", lambda d: d.known.grade, _whole))
    if any(k.intents for k in known):
        columns.append(_Column("intents", lambda d: _pairs(d.known.intents), right=False))
    for group in next((list(k.counts) for k in known if k.counts is not None), []):
        columns.append(_Column(group, lambda d, g=group: (d.known.counts or {}).get(g), _whole))  # type: ignore[misc]
    if any(k.tokens is not None for k in known):
        columns.append(_Column("tokens", lambda d: d.known.tokens, _whole))
    for name in dict.fromkeys(name for k in known for name in k.other):
        columns.append(_Column(name, lambda d, n=name: d.known.other.get(n), _other))  # type: ignore[misc]
    if any(k.neutrality is not None for k in known):
        columns.append(_Column("neutrality", lambda d: d.known.neutrality, _number))
    if any(d.adds is not None for d in explanation.documents):
        columns.append(_Column("adds", lambda d: d.adds if d.counts_in else LEFT_OUT, _number))
    for name in next((list(d.change_without) for d in explanation.documents if d.change_without), []):
        head = full_name("without it", explanation.labels.get(name, name) if name else "")
        columns.append(_Column(head, lambda d, n=name: _change(d, n), _signed))  # type: ignore[misc]
    if any(d.best_rank is not None for d in explanation.documents):
        columns.append(_Column("best", lambda d: d.best_rank, _whole))
    if any(k.terms for k in known):
        columns.append(_Column("words", _words, right=False))
    return columns


def _pairs(grades: dict[str, float] | None) -> str:
    return ", ".join(f"{name}: {grade:g}" for name, grade in (grades or {}).items()) or NOTHING


def _other(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_other, value))
    if isinstance(value, dict):  # shares of several groups
        return ", ".join(f"{name} {_other(share)}" for name, share in value.items()) or NOTHING
    return NOTHING if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _change(document: RankedDocument, column: str) -> float | str | None:
    if document.change_without is None:
        return None if document.counts_in else LEFT_OUT
    return float(document.change_without[column])


def _words(document: RankedDocument) -> str:
    """``female: she 2, her 1; male: he 1``, the first few of each document."""
    terms = document.known.terms or ()
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
        yield (
            f"best order of these {explanation.counting:,} documents: {number(explanation.value)} -> "
            f"{number(best.value)}, {_sure(explanation, best)}; best: a document's rank there"
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
        yield _describe_without(explanation.measure)
    yield from explanation.notes
    if explanation.labels:
        real = repr(explanation.measure)
        pairs = (f"{label} stands for {full_name(real, c)}" for c, label in explanation.labels.items())
        yield "; ".join(pairs)


def _describe_without(measure: Measure) -> str:
    """What the sign of a change says, for a measure that has a better side."""
    side = {Direction.HIGHER: "positive", Direction.LOWER: "negative"}.get(measure.direction)
    good = "" if side is None else f"; {side}: the list would be better without this document"
    return (
        "without it: how the value would change if the document were removed and those below it moved up"
        + good
    )


def _sure(explanation: Explanation, best: BestOrder) -> str:
    same = all(document.best_rank in (None, place) for place, document in _counting(explanation))
    return ("which is the order now, " if same else "") + (
        f"exact ({best.how})" if best.exact else f"not proven best ({best.how})"
    )


def _counting(explanation: Explanation) -> Iterator[tuple[int, RankedDocument]]:
    return iter(enumerate((d for d in explanation.documents if d.counts_in), 1))


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
        ([column.show(column.value(document)) for column in columns] for document in explanation.documents),
        title=_headline(explanation),
        notes=_remarks(explanation),
        records=explanation_records(explanation),
        meaning=describe_ranks(explanation),
    )


def explanation_records(explanation: Explanation) -> Iterator[dict[str, Any]]:
    """The same rows for programs: which list of which run they are of, and every digit."""
    columns = _columns(explanation)
    for document in explanation.documents:
        yield {
            "measure": repr(explanation.measure), "query": explanation.query, "run": explanation.run,
            **{column.head: _plain_cell(column.value(document)) for column in columns},
        }  # fmt: skip


def _plain_cell(value: Any) -> Any:
    """Groups with their shares have one cell."""
    return _other(value) if isinstance(value, list | dict) else value


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
