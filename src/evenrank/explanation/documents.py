"""What is known of each ranked document: its grade, its counts, the words found, any other evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from evenrank.arrays import Array, Floats
from evenrank.data.diversity import DiversityQrels
from evenrank.data.evidence_source import Evidence, Gathered, Labels, Sparse
from evenrank.data.membership import Membership
from evenrank.data.words import WordCounts
from evenrank.evidence.align import Sources
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.measures import Measure
from evenrank.measures.neutrality import NeutralityMeasure


class FoundTerm(NamedTuple):
    """A term of the lexicon that stands in a document, its group, and how often it stands there."""

    term: str
    group: str
    times: int


@dataclass(frozen=True)
class DocumentFacts:
    """What the evidence says of one document; None where it says nothing."""

    grade: float | None = None
    intents: dict[str, float] | None = None
    counts: dict[str, int] | None = None
    tokens: int | None = None
    terms: tuple[FoundTerm, ...] | None = None
    neutrality: float | None = None
    other: dict[str, Any] = field(default_factory=dict)


def known_documents(
    measure: Measure, evidence: RankedEvidence, sources: Sources, query: str, rows: Sequence[int]
) -> list[DocumentFacts]:
    """What is known of the documents at these rows of the list of one query."""
    neutral = _neutrality(measure, evidence)
    found = []
    for row in rows:
        facts: dict[str, Any] = {"other": {}}
        for name, source in sources.evidence.items():  # in the order in which they were given
            gathered = evidence.ranked.gathered.get(name)
            if gathered is not None and gathered.known[row]:
                _add(facts, name, source, gathered, query, row)
        if neutral is not None and (facts.get("counts") is not None or _takes_unknown(measure)):
            facts["neutrality"] = float(neutral[row])
        found.append(DocumentFacts(**facts))
    return found


def _neutrality(measure: Measure, evidence: RankedEvidence) -> Floats | None:
    """(N,): by the measure itself, or by the first part of a sum that has it."""
    for part in measure.parts():
        if isinstance(part, NeutralityMeasure):
            of_documents: Floats = part.ranked_neutrality(evidence)[0]
            return of_documents
    return None


def _takes_unknown(measure: Measure) -> bool:
    return any(getattr(part, "missing", "") == "neutral" for part in measure.parts())


def _add(
    facts: dict[str, Any], name: str, source: Evidence, gathered: Gathered, query: str, row: int
) -> None:
    if isinstance(source, WordCounts):
        groups = source.lexicon.groups
        counts, length = _dense(gathered, "counts", row), _dense(gathered, "length", row)
        facts["counts"] = dict(zip(groups, counts.astype(int).tolist(), strict=True))
        facts["tokens"] = int(length)
        facts["terms"] = _terms(source, gathered, row)
    elif isinstance(source, DiversityQrels):
        grades = _dense(gathered, "", row).tolist()
        names = source.intent_ids[source.query_ids.index(query)]
        facts["intents"] = {intent: grade for intent, grade in zip(names, grades, strict=False) if grade}
    elif isinstance(source, Membership):
        shares = _dense(gathered, "", row).tolist()
        facts["other"][source.attribute.name] = _shares(source.attribute.values, shares)
    elif name == "relevance":
        facts["grade"] = float(_dense(gathered, "", row))
    else:
        for column in gathered.columns:
            label = f"{name}.{column}" if column else name
            found = _dense(gathered, column, row)
            facts["other"][label] = found.item() if found.size == 1 else found.tolist()


def _shares(values: Sequence[str], shares: Sequence[float]) -> str | dict[str, float]:
    """The value that a document has, or its shares of several."""
    if len(values) != len(shares):  # renumbered by query: which value a place is, is not known here
        return "several values"
    found = {value: round(share, 4) for value, share in zip(values, shares, strict=True) if share}
    return next(iter(found)) if list(found.values()) == [1.0] else found


def _dense(gathered: Gathered, column: str, row: int) -> Array:
    values = gathered.columns[column]
    if isinstance(values, (Sparse, Labels)):
        return np.asarray(values.dense(np.array([row]))[0])
    return np.asarray(values[row])


def _terms(source: WordCounts, gathered: Gathered, row: int) -> tuple[FoundTerm, ...] | None:
    """Most frequent first; None where terms were not counted."""
    terms = gathered.columns.get("terms")
    if not isinstance(terms, Sparse):
        return None
    lexicon = source.lexicon
    entries = slice(int(terms.offsets[row]), int(terms.offsets[row + 1]))
    found = [
        FoundTerm(lexicon.terms[place], lexicon.groups[lexicon.term_groups[place]], int(count))
        for place, count in zip(terms.places[entries].tolist(), terms.values[entries].tolist(), strict=True)
    ]
    return tuple(sorted(found, key=lambda term: -term.times))
