"""An explanation as a table: a row for each rank, and beneath it what the value and the best order are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evenrank.explanation.explanation import Explanation, FoundTerm, RankedDocument
from evenrank.measures import Direction
from evenrank.scores import INFINITE, OK
from evenrank.scores.names import full_name
from evenrank.tables import Column, Table, Value, number

TERMS_SHOWN = 8
IDEAL_SHOWN = 20
LEFT_OUT = "left out"


def explanation_table(explanation: Explanation, *, all_notes: bool = False) -> Table:
    """One row for each rank under the headline, and beneath it what must be known to read it. For programs
    each row says which list of which run it is of."""
    columns = [
        (column, values)
        for column, values in _columns(explanation)
        if column.head in ("rank", "document") or any(value not in (None, "") for value in values)
    ]
    table = Table.of(
        [column for column, _ in columns],
        zip(*(values for _, values in columns), strict=True),
        title=_headline(explanation),
        notes=_remarks(explanation, all_notes),
        meaning=_describe_ranks(explanation),
    )
    about = {"measure": repr(explanation.measure), "query": explanation.query, "run": explanation.run}
    return replace(table, records=tuple({**about, **record} for record in table.to_records()))


def _columns(explanation: Explanation) -> Iterator[tuple[Column, Sequence[Any]]]:
    """What is known of the documents, what they do to the value, and their places in the best order."""
    documents = explanation.documents
    known = [document.known for document in documents]
    counts = [facts.counts or {} for facts in known]
    yield Column("rank"), [document.rank for document in documents]
    yield Column("document", right=False), [document.document for document in documents]
    yield Column("grade"), [_whole(facts.grade) for facts in known]
    yield Column("intents", right=False), [_listed(facts.intents) for facts in known]
    for group in next(filter(None, counts), {}):
        yield Column(group), [own.get(group) for own in counts]
    yield Column("tokens"), [facts.tokens for facts in known]
    for name in dict.fromkeys(name for facts in known for name in facts.other):
        yield Column(name), [_listed(facts.other.get(name)) for facts in known]
    yield Column("neutrality"), [facts.neutrality for facts in known]
    if any(document.adds is not None for document in documents):
        yield Column("adds"), [document.adds if document.counts_in else LEFT_OUT for document in documents]
    for name in next((list(one.change_without) for one in documents if one.change_without), []):
        head = full_name("without it", explanation.labels.get(name, name) if name else "")
        yield Column(head), [_change(document, name) for document in documents]
    yield Column("best"), [document.best_rank for document in documents]
    yield Column("words", right=False, wraps=True), [_words(facts.terms or ()) for facts in known]


def _whole(value: float | None) -> float | None:
    return int(value) if value is not None and value.is_integer() else value


def _listed(value: object) -> object:
    """Several numbers, and shares of several groups, as text; anything else as it is."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {share:.4g}" for name, share in value.items())
    return ", ".join(f"{one:.4g}" for one in value) if isinstance(value, list) else value


def _change(document: RankedDocument, column: str) -> Value | str | None:
    if document.change_without is None:
        return None if document.counts_in else LEFT_OUT
    return Value(float(document.change_without[column]), signed=True)


def _words(terms: Sequence[FoundTerm]) -> str:
    """``female: she 2, her 1; male: he 1``, the first few of each document."""
    by_group: dict[str, list[str]] = {}
    for term in terms[:TERMS_SHOWN]:
        by_group.setdefault(term.group, []).append(f"{term.term} {term.times}")
    if len(terms) > TERMS_SHOWN:
        by_group.setdefault("and", []).append(f"{len(terms) - TERMS_SHOWN} more")
    return "; ".join(f"{group}: {', '.join(found)}" for group, found in by_group.items())


def _headline(explanation: Explanation) -> str:
    values = list(explanation.values.items())
    many = len(values) > TERMS_SHOWN
    shown = []
    for column, value in sorted(values, key=lambda item: -item[1])[:TERMS_SHOWN] if many else values:
        status, called = explanation.statuses[column], explanation.labels.get(column, column)
        text = number(value) if status in (OK, INFINITE) else f"undefined ({status})"
        shown.append(f"{called} {text}" if column else text)
    if many:
        shown.append(f"and {len(values) - TERMS_SHOWN:,} smaller ones")
    return (
        f"{explanation.name} of query {explanation.query!r} in run {explanation.run!r}: "
        f"{', '.join(shown)} ({explanation.measure.direction.value})"
    )


def _remarks(explanation: Explanation, all_notes: bool) -> Iterator[str]:
    documents, best, ideal = explanation.documents, explanation.best, explanation.ideal
    counting = [document for document in documents if document.counts_in]
    if explanation.counting > len(counting):
        yield f"{explanation.counting - len(counting):,} more documents count and are not shown"
    if any(document.adds is not None for document in documents):
        total = sum(document.adds or 0.0 for document in documents)
        yield (
            f"adds: what each rank adds to the value, which can depend on the ranks above it; "
            f"{number(total)} together ({explanation.measure.direction.value})"
        )
    if best is not None:
        same = all(document.best_rank in (None, place) for place, document in enumerate(counting, 1))
        yield (
            f"best order of these {explanation.counting:,} documents: {number(explanation.value)} -> "
            f"{number(best.value)}, {'which is the order now, ' if same else ''}"
            f"{'exact' if best.exact else 'not proven best'} ({best.how}); best: a document's rank there"
        )
    if ideal is not None:
        ranks = {document.document: f" (now {document.rank})" for document in documents}
        listed = [document + ranks.get(document, "") for document in ideal.documents[:IDEAL_SHOWN]]
        if len(ideal.documents) > IDEAL_SHOWN:
            listed.append(f"and {len(ideal.documents) - IDEAL_SHOWN:,} more")
        among = f"{ideal.source} ({ideal.among:,} documents)"
        yield f"best list from {among}: {number(ideal.value)}: {', '.join(listed)}"
    if any(document.change_without for document in documents):
        side = {Direction.HIGHER: "positive", Direction.LOWER: "negative"}.get(explanation.measure.direction)
        yield (
            "without it: how the value would change if the document were removed and those below it moved up"
            + ("" if side is None else f"; {side}: the list would be better without this document")
        )
    yield from (str(note) for note in explanation.said if all_notes or note.changes_reading)
    if explanation.labels:
        real = repr(explanation.measure)
        pairs = (f"{label} stands for {full_name(real, c)}" for c, label in explanation.labels.items())
        yield "; ".join(pairs)


def _describe_ranks(explanation: Explanation) -> str:
    """Which ranks the value comes from, in one sentence."""
    adding = [document for document in explanation.documents if document.adds]
    if not adding:
        return "Each row is a document of the list, with what is known about it."
    largest = sorted(adding, key=lambda document: -abs(document.adds or 0.0))[:3]
    ranks = [f"rank {rank}" for rank in sorted(document.rank for document in largest)]
    named = " and ".join(filter(None, (", ".join(ranks[:-1]), ranks[-1])))
    if len(adding) <= len(largest):
        return f"All of the value comes from {named}."
    return f"Most of the value comes from {named}, of {len(adding)} that add to it."
