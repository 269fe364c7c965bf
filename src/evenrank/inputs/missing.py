"""Documents about which nothing is known: an error, unless the measure has another rule for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evenrank.data.membership import PREFIX, named_by
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.errors import MissingEvidenceError
from evenrank.evidence.align import OF_THE_RUN, split_needs
from evenrank.evidence.ranked_evidence import Ranked, RankedEvidence, Reference
from evenrank.grammar import REFUSED, Term
from evenrank.measures import Measure
from evenrank.measures.base import JUDGEMENTS

# what may be done with documents without evidence, other than to refuse them
MEASURE_RULES = ("neutral", "none", "uniform", "undefined", "drop")
METHOD_RULES = ("neutral", "stay", "behind", "own")

EVIDENCE_WORDS = {
    "relevance": "judgements",
    "intents": "judgements by intent",
    "words": "word counts",
    "polarity": "polarity scores",
}


def evidence_words(name: str) -> str:
    """What to call a source of evidence in a message."""
    if name.startswith(PREFIX):
        return f"groups of {named_by(name)[0]!r}"
    return EVIDENCE_WORDS.get(name, repr(name))


def check_missing(
    measure: Measure,
    evidence: RankedEvidence,
    queries: tuple[str, ...],
    run: Run | RunSet,
    anywhere: Callable[[str], bool] | None = None,
) -> None:
    """Documents without evidence are an error unless the measure has another rule for them.

    ``anywhere`` says whether any document of the whole lists has it: ``evidence`` may be of the first ranks.
    """
    if getattr(measure, "missing", "error") != "error":
        return
    lists = {"ranked": evidence.ranked, "against": evidence.against, "rankings": evidence.rankings}
    blocks = split_needs(measure.needs)
    for block in sorted(blocks, key=lambda block: (block not in lists, block)):  # the user's own list first
        for name in sorted(blocks[block] - OF_THE_RUN - JUDGEMENTS):
            ranked = lists.get(block)
            if block in evidence.reference:
                _check_reference(measure, block, name, evidence.reference[block])
            elif ranked is not None and name in ranked:
                unknown = ranked.mask & ~ranked.known(name)
                if block == "ranked" and isinstance(measure, Measure):
                    unknown = unknown & measure.takes_part(evidence)
                if unknown.any():
                    if block == "ranked" and not _known_anywhere(name, ranked, run, anywhere):
                        _raise_nothing_known(measure, name, unknown, queries, run)
                    _raise_missing(measure, name, unknown, queries, run if block == "ranked" else None)


def _known_anywhere(
    name: str, ranked: Ranked, run: Run | RunSet, anywhere: Callable[[str], bool] | None
) -> bool:
    """Whether any document of the run is known, as far as this can be told; one document tells nothing."""
    if bool((ranked.known(name) & ranked.mask).any()) or int(ranked.mask.sum()) == 1:
        return True
    if anywhere is not None:
        return anywhere(name)
    return not isinstance(run, Run) or ranked.depth < run.depth  # there are documents that were not looked at


def _check_reference(measure: Measure, block: str, name: str, reference: Reference) -> None:
    count = int((~reference.gathered[name].known).sum()) if name in reference.gathered else 0
    if count:
        raise MissingEvidenceError(
            f"{measure!r}: {count:,} documents of the {block} have no {evidence_words(name)}"
            + _way_out(measure, name)
        )


def _way_out(measure: Term, name: str) -> str:
    rule = next((f.metadata["rule"] for f in measure.parameters() if f.name == "missing"), None)
    rules = MEASURE_RULES if isinstance(measure, Measure) else METHOD_RULES
    accepts = [one for one in rules if rule is not None and rule.accept(one) is not REFUSED]
    if not accepts:
        return f"; add them to {evidence_words(name)}"
    # the rule of a re-ranker is part of its name in every command
    spelt = (
        "missing={0!r} (--missing {0})"
        if isinstance(measure, Measure)
        else f"{measure.name}(missing={{0!r}})"
    )
    return "; accept them by " + " or ".join(map(spelt.format, accepts))


def _examples(unknown: Any, queries: tuple[str, ...], run: Run | RunSet | None) -> str:
    if not isinstance(run, Run):
        return ""
    places = [(queries[query], rank) for query, rank in np.argwhere(unknown)[:3]]
    named = ", ".join(f"{run.documents(query)[rank]!r} (query {query!r})" for query, rank in places)
    return f", such as {named}"


def _raise_nothing_known(
    measure: Measure, name: str, unknown: Any, queries: tuple[str, ...], run: Run | RunSet
) -> None:
    """To accept documents without evidence is no way out here: every value would be made up."""
    examples = _examples(unknown, queries, run)
    raise MissingEvidenceError(
        f"{measure!r}: none of the ranked documents of run {run.name!r}{examples}{',' * bool(examples)} has "
        f"{evidence_words(name)}; are document ids written the same way in both?"
    )


def _raise_missing(
    measure: Measure, name: str, unknown: Any, queries: tuple[str, ...], run: Run | RunSet | None
) -> None:
    whose = "" if run is None else f" of run {run.name!r}"
    raise MissingEvidenceError(
        f"{measure!r}: {int(unknown.sum()):,} ranked documents{whose} have no {evidence_words(name)}"
        f"{_examples(unknown, queries, run)}{_way_out(measure, name)}"
    )
