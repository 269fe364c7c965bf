"""Which queries the numbers are over: what a reader of a mean must know."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from evenrank.data.diversity import DiversityQrels
from evenrank.data.run import Run
from evenrank.data.strings import ragged
from evenrank.errors import DataError
from evenrank.evidence.align import Sources
from evenrank.evidence.blocks import RankedEvidence

WORDS = {"relevance": "judgements", "intents": "judgements by intent"}


def query_notes(
    name: str, own: Sequence[str], judged: Mapping[str, Sequence[str]], asked: Sequence[str] | None
) -> tuple[str, ...]:
    """What the run, the judgements and the request do not share. Nothing in common is an error.

    ``judged`` has the judged queries by kind of judgement, for the kinds that a measure needs;
    ``asked`` is None where no queries were named.
    """
    findings: list[tuple[Sequence[str], str]] = []
    if asked is not None:
        absent = _without(asked, own)
        if len(absent) == len(asked):
            raise DataError(
                f"run {name!r} has none of the queries asked for: {_few(asked)}; it has {_few(own)}"
            )
        findings.append((absent, "asked for but not in the run (an empty list)"))
        for kind, ids in judged.items():
            findings.append((_without(asked, ids), f"asked for but without {WORDS[kind]} (undefined)"))
        return _lines(findings)
    for kind, ids in judged.items():
        unjudged = _without(own, ids)
        if len(unjudged) == len(own):
            raise DataError(
                f"no query of run {name!r} has {WORDS[kind]}: "
                f"the run has {_few(own)}; they are for {_few(ids)}"
            )
        findings.append((_without(ids, own), f"with {WORDS[kind]} but not in the run (an empty list)"))
        findings.append((unjudged, f"in the run but without {WORDS[kind]} (left out where those are needed)"))
    return _lines(findings)


def _without(ids: Sequence[str], others: Collection[str]) -> list[str]:
    if ids == others:  # the usual case, and told at once
        return []
    excluded = set(others)
    return [identifier for identifier in ids if identifier not in excluded]


def _lines(findings: Sequence[tuple[Sequence[str], str]]) -> tuple[str, ...]:
    return tuple(
        f"{len(ids):,} {'query' if len(ids) == 1 else 'queries'} {what}: {_few(ids)}"
        for ids, what in findings
        if ids
    )


def _few(ids: Sequence[str]) -> str:
    return ", ".join(map(repr, ids[:3])) + (", ..." if len(ids) > 3 else "")


def tie_note(run: Run, depth: int | None) -> str | None:
    """How many lists have equal scores where a measure looks: their order is the tie rule's."""
    lengths = run.lengths if depth is None else np.minimum(run.lengths, depth + 1)
    rows = ragged(run.offsets[:-1], lengths)
    scores, owner = run.scores[rows], np.repeat(np.arange(len(run)), lengths)
    tied = (scores[1:] == scores[:-1]) & (owner[1:] == owner[:-1])
    if not tied.any():
        return None
    lists = len(np.unique(owner[1:][tied]))
    rule = "by document id, descending" if run.ties == "trec" else "as in the file"
    where = "" if depth is None else f" within the first {depth + 1} ranks"
    return f"{lists:,} of {len(run):,} lists have equal scores{where}, ordered {rule} (ties={run.ties!r})"


def judged_note(evidence: RankedEvidence) -> str | None:
    """Whether any ranked document is judged at all: if none is, the ids are probably written differently."""
    if "relevance" not in evidence.ranked.gathered or not evidence.ranked.mask.any():
        return None
    if evidence.ranked.gathered["relevance"].known.any():
        return None
    return "none of the ranked documents is judged: are document ids written the same way in both files?"


def intent_notes(sources: Sources, graded: bool, by_intent: bool, derived: bool) -> list[str]:
    """What to know of judgements by intent."""
    intents = sources.evidence.get("intents")
    said = []
    if isinstance(intents, DiversityQrels):
        if by_intent and all(len(names) < 2 for names in intents.intent_ids):
            said.append("every query has one intent only: are these judgements by intent?")
        if graded and derived:
            said.append("relevance is a document's best grade over the intents: no qrels were given")
    return said
