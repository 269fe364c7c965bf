"""Filters: every document of the corpus is looked at once more, and every rejection has a reason."""

from __future__ import annotations

from collections import Counter

from evenrank.corpus.checks import Seen, find_problem
from evenrank.corpus.records import Record
from evenrank.corpus.stages import Made, Rejection, StageInputs
from evenrank.errors import counted


def apply_filters(inputs: StageInputs) -> Made:
    """The documents without what is refused, cut off, repeated, in another language, or too short or long.

    Questions that lack documents then are kept or dropped, as ``[documents] incomplete`` says.
    """
    settings = inputs.settings
    kept, rejected = list[Record](), list[Rejection]()
    seen = Seen(settings.filters.near)
    for record in inputs.corpus.written:
        problem = find_problem(record["text"], settings.filters) or seen.problem(record["text"])
        if problem is None:
            seen.add(record["document"], record["text"])
            kept.append(record)
        else:
            rejected.append(Rejection(record["document"], problem, 1, record["text"]))
    lacking = incomplete(kept, inputs)
    if settings.documents.incomplete == "drop":
        for record in kept:
            if record["query"] in lacking:
                rejected.append(Rejection(record["document"], "its question lacks documents"))
        kept = [record for record in kept if record["query"] not in lacking]
    notes: tuple[str, ...] = ()
    if lacking:
        rule = "dropped" if settings.documents.incomplete == "drop" else "kept"
        missing = sum(lacking.values())
        notes = (
            f"{counted(len(lacking), 'question lacks', 'questions lack')} "
            f"{counted(missing, 'document', 'documents')} and "
            f"{'was' if len(lacking) == 1 else 'were'} {rule} ([documents] incomplete = "
            f'"{settings.documents.incomplete}")',
        )
    return Made(tuple(kept), tuple(rejected), notes=notes)


def incomplete(documents: list[Record], inputs: StageInputs) -> dict[str, int]:
    """How many documents each question lacks; complete ones are left out."""
    wanted = inputs.settings.documents.per_side
    there = Counter((record["query"], record["perspective"]) for record in documents)
    lacking = {
        query: sum(max(wanted - there[query, side], 0) for side in ("p1", "p2"))
        for query in inputs.corpus.queries
    }
    return {query: count for query, count in lacking.items() if count}
