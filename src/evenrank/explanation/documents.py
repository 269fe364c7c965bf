"""What is known of each ranked document: its grade, its counts, the words found, any other evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenrank.arrays import Array, Floats
from evenrank.data.diversity import DiversityQrels
from evenrank.data.evidence_source import Evidence, Gathered, Labels, Sparse
from evenrank.data.membership import Membership
from evenrank.data.words import WordCounts
from evenrank.evidence.align import Sources
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.explanation.explanation import DocumentFacts, FoundTerm
from evenrank.measures import Measure
from evenrank.measures.neutrality import NeutralityMeasure


def known_documents(
    measure: Measure, evidence: RankedEvidence, sources: Sources, query: str, rows: Sequence[int]
) -> list[DocumentFacts]:
    """What is known of the documents at these rows of the list of one query."""
    neutral: Floats | None = None
    for part in measure.parts():  # by the measure itself, or by the first part of a sum that has it
        if neutral is None and isinstance(part, NeutralityMeasure):
            neutral = part.ranked_neutrality(evidence)[0]  # (N,)
    takes_unknown = any(getattr(part, "missing", "") == "neutral" for part in measure.parts())
    found = []
    for row in rows:
        facts: dict[str, Any] = {"other": {}}
        for name, source in sources.evidence.items():  # in the order in which they were given
            gathered = evidence.ranked.gathered.get(name)
            if gathered is not None and gathered.known[row]:
                _add(facts, name, source, gathered, query, row)
        if neutral is not None and (facts.get("counts") is not None or takes_unknown):
            facts["neutrality"] = float(neutral[row])
        found.append(DocumentFacts(**facts))
    return found


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
