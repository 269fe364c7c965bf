"""What a reader of values must know of the queries, the lists and the evidence that they come from."""

from __future__ import annotations

import itertools
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from evenrank.arrays import Bools, ragged
from evenrank.data.attribute import COLLECTION, UNIFORM, target_name
from evenrank.data.diversity import DiversityQrels
from evenrank.data.membership import PREFIX, Membership
from evenrank.data.polarity import Polarity
from evenrank.data.run import Run
from evenrank.data.words import WordCounts
from evenrank.errors import DataError, MissingEvidenceError, counted, few
from evenrank.evaluation.spelling import alike_values, describe_alike_queries
from evenrank.evidence.align import OF_THE_RUN, Sources, split_needs
from evenrank.evidence.ranked_evidence import RankedEvidence, Reference
from evenrank.ids import without
from evenrank.inputs.missing import evidence_words
from evenrank.inputs.query_weights import unweighted_note
from evenrank.measures import Direction, Measure
from evenrank.measures.base import JUDGEMENTS, NO_TARGET
from evenrank.measures.missing import counted_as
from evenrank.scores.notes import ScoresNote

if TYPE_CHECKING:
    from evenrank.inputs import Inputs
    from evenrank.scores import ScoresBlock

VALUES_SHOWN = 12
FILLED = frozenset({"neutral", "uniform"})  # rules that make a perfect list out of unknown documents
WORDS = {"relevance": "judgements", "intents": "judgements by intent"}
MISSING = {
    "neutral": "counted as neutral",
    "uniform": "counted as belonging equally to all groups",
    "none": "counted as belonging to no group",
    "drop": "left out",
}


def query_notes(
    name: str, own: Sequence[str], judged: Mapping[str, Sequence[str]], asked: Sequence[str] | None
) -> list[ScoresNote]:
    """What the run, the judgements and the request do not share. Nothing in common is an error.

    ``judged`` has the judged queries by kind of judgement, for the kinds that a measure needs;
    ``asked`` is None where no queries were named.
    """
    said: list[ScoresNote] = []
    if asked is not None:
        absent = without(asked, own)
        if len(absent) == len(asked):
            raise DataError(
                f"run {name!r} has none of the queries asked for: {few(asked)}; it has {few(own)}"
            )
        said += _about_queries(absent, "asked for but not in the run (counted as empty lists)")
        for kind, queries in judged.items():
            unjudged = without(asked, queries)
            if len(unjudged) == len(asked) > 1:  # a single query without judgements is undefined
                raise DataError(
                    f"none of the queries asked for has {WORDS[kind]}: asked for are {few(asked)}; "
                    f"the {WORDS[kind]} are for {few(queries)}"
                )
            said += _about_queries(unjudged, f"asked for but without {WORDS[kind]} (undefined)")
        return said
    spelt: list[str] = []
    for kind, queries in judged.items():
        unjudged, unranked = without(own, queries), without(queries, own)
        spelt += describe_alike_queries(unjudged, unranked, WORDS[kind])
        if len(unjudged) == len(own):
            raise DataError(
                f"no query of run {name!r} has {WORDS[kind]}: the run has {few(own)}; "
                f"the {WORDS[kind]} are for {few(queries)}{''.join(f'. {line}' for line in spelt)}"
            )
        said += _about_queries(unranked, f"with {WORDS[kind]} but not in the run (counted as empty lists)")
        what = f"in the run but without {WORDS[kind]} (not included in measures that need them)"
        said += _about_queries(unjudged, what)
    return said + [ScoresNote("spelling", line, about="queries") for line in spelt]


def _about_queries(ids: Sequence[str], what: str) -> list[ScoresNote]:
    text = f"{counted(len(ids), 'query', 'queries')} {what}: {few(ids)}"
    return [ScoresNote("queries", text, about=what)] if ids else []


def pair_notes(run: str, own: Sequence[str], other: Run) -> list[ScoresNote]:
    """What the second run of a pair has and the first has not. Nothing in common is an error."""
    others = without(other.query_ids, own)
    if len(others) == len(other):
        raise DataError(
            f"run {other.name!r} has none of the queries of run {run!r}: it has {few(other.query_ids)}; "
            f"the other has {few(own)}"
        )
    return _about_queries(others, f"in run {other.name!r} but not in this one (left out)")


def share_notes(block: ScoresBlock, rankings: int) -> list[ScoresNote]:
    """For how many queries some of their rankings have no value, and what share of them has one."""
    if block.shares is None:
        return []
    some = (block.shares > 0) & (block.shares < 1)  # (Q, C)
    if not some.any():
        return []
    queries = int(some.any(axis=1).sum())
    text = (
        f"{queries:,} of {counted(len(some), 'query', 'queries')} are undefined in some of the "
        f"{rankings:,} rankings; their values are means over the rankings that have one, "
        f"{block.shares[some].mean():.0%} of them on average"
    )
    return [ScoresNote("rankings", text, repr(block.measure), "shares")]


def tie_note(run: Run, depth: int | None) -> ScoresNote | None:
    """How many lists have equal scores where a measure looks: their order is the tie rule's."""
    lengths, scores = run.lengths, run.scores
    if depth is not None and depth + 1 < run.depth:
        lengths = np.minimum(lengths, depth + 1)
        scores = scores[ragged(run.offsets[:-1], lengths)]
    tied = scores[1:] == scores[:-1]
    ends = np.cumsum(lengths)  # (Q,)
    tied[ends[(ends > 0) & (ends < len(scores))] - 1] = False  # the last of a list and the first of the next
    if not tied.any():
        return None
    lists = len(np.unique(np.searchsorted(ends, np.flatnonzero(tied), side="right")))
    rule = "by document id, descending" if run.ties == "trec" else "as in the file"
    where = "" if depth is None else f" within the first {depth + 1} ranks"
    text = f"{lists:,} of {len(run):,} lists have equal scores{where}, ordered {rule} (ties={run.ties!r})"
    return ScoresNote("ties", text, about=rule)


def judged_note(evidence: RankedEvidence, anywhere: Callable[[str], bool]) -> ScoresNote | None:
    """Whether any ranked document is judged at all: if none is, the ids are probably written differently.

    ``anywhere`` says so of the whole lists, where only the first ranks were looked at.
    """
    if "relevance" not in evidence.ranked.gathered or not evidence.ranked.mask.any():
        return None
    if evidence.ranked.gathered["relevance"].known.any() or anywhere("relevance"):
        return None
    return ScoresNote(
        "judged",
        "none of the ranked documents is judged, so all of them count as not relevant: are document ids "
        "written the same way in the run and in the judgements?",
    )


def missing_notes(
    measure: Measure,
    evidence: RankedEvidence,
    anywhere: Callable[[str], bool],
    own: Collection[str] = (),
) -> Iterator[ScoresNote]:
    """How many of the documents that a measure looks at have no evidence, where it has a rule for them.

    ``anywhere`` says whether any document of the whole lists has it; ``own`` are the memberships in which a
    document without a label is a value of its own.
    """
    rule = counted_as(measure)
    if rule == "error":
        return
    lists = {"ranked": evidence.ranked, "against": evidence.against, "rankings": evidence.rankings}
    for block, needed in sorted(split_needs(measure.needs).items(), key=lambda item: item[0] not in lists):
        found = lists.get(block) or evidence.reference.get(block)
        if found is None:
            continue
        names = needed - OF_THE_RUN - JUDGEMENTS
        names = {name for name in names if name in found.gathered and not found.gathered[name].known.all()}
        looked_at = found.mask() if isinstance(found, Reference) else found.mask
        whose = f"documents of the {block}" if block != "ranked" else "ranked documents"
        if block == "ranked" and measure.cutoff is not None and names:
            if rule == "drop":  # the ranks that are read until there are so many documents that stay
                stays = np.logical_and.reduce([found.known(name) for name in names])
                looked_at = looked_at & (np.cumsum(stays, axis=-1) - stays < measure.cutoff)
            whose += f" {'to fill' if rule == 'drop' else 'in'} the first {measure.cutoff} ranks"
        for name in sorted(names):
            missing = looked_at & ~found.known(name)
            if not missing.any():
                continue
            text = _describe_missing(looked_at, missing, whose, name, rule, anywhere, own=name in own)
            yield ScoresNote("missing", text, about=f"{whose}: {name}")


def _describe_missing(
    looked_at: Bools,
    missing: Bools,
    whose: str,
    name: str,
    rule: str,
    anywhere: Callable[[str], bool],
    *,
    own: bool,
) -> str:
    count, total = int(missing.sum()), int(looked_at.sum())
    if own and rule != "drop":
        raise MissingEvidenceError(
            f"{count:,} of {total:,} {whose} have no {evidence_words(name)}, where each document without a "
            "label is a group of its own ('own'): add them to the file with an empty label, or leave them "
            "out with missing='drop' (--missing drop)"
        )
    ranked = whose.startswith("ranked")
    # a document may lack it at the first ranks of every list, and others below have it: the ids are the same
    nothing = count == total and not (ranked and anywhere(name))
    hint = "; are document ids written the same way in both?" if nothing else ""
    if nothing and rule in FILLED and ranked and len(looked_at) > 1:
        raise MissingEvidenceError(f"none of the {total:,} {whose} has {evidence_words(name)}{hint}")
    return f"{count:,} of {total:,} {whose} have no {evidence_words(name)}: {MISSING[rule]}{hint}"


def common_notes(
    inputs: Inputs,
    sources: Sources,
    asked: Sequence[Measure],
    settled: Sequence[Measure],
    background: str | None,
) -> list[ScoresNote]:
    """What holds for all runs: what evidence there is, and what measures became with it."""
    needed = {need.partition(".")[2] for measure in settled for need in measure.needs}
    kinds = {kind for measure in settled for kind in measure.judged_by}
    intents, words, polarity = (sources.evidence.get(name) for name in ("intents", "words", "polarity"))
    found: list[tuple[str, str]] = []
    if isinstance(intents, DiversityQrels):
        if "intents" in kinds and all(len(names) < 2 for names in intents.intent_ids):
            found.append(("intents", "every query has one intent only: are these judgements by intent?"))
        if "relevance" in kinds and inputs.grades_are_derived:
            text = "relevance is a document's best grade over the intents: no qrels were given"
            found.append(("intents", text))
    if background is not None:
        found.append(("background", background))
    if isinstance(words, WordCounts) and "words" in needed:
        lexicon, where = words.lexicon, f", in {words.source}" if words.source else ""
        named = f"lexicon {lexicon.name!r} ({', '.join(lexicon.groups)})"
        text = f"words: {len(lexicon):,} terms of {named}, tokeniser {words.tokenizer!r}{where}"
        found.append(("words", text))
    if isinstance(polarity, Polarity) and "polarity" in needed:
        found += _about_polarity(polarity, settled)
    became = zip(asked, settled, strict=True)
    found += [("computed", f"{one!r} was computed as {two!r}") for one, two in became if one != two]
    found += [("weights", text) for text in unweighted_note(inputs.query_weights, settled)]
    return [*(ScoresNote(*note) for note in found), *dict.fromkeys(_group_notes(sources, settled))]


def _about_polarity(polarity: Polarity, measures: Sequence[Measure]) -> Iterator[tuple[str, str]]:
    """What to know of polarity that was fitted: a sign without meaning, queries without an axis."""
    reading = [measure for measure in measures if "ranked.polarity" in measure.needs]
    directed = [part for measure in reading for part in measure.parts() if getattr(part, "directed", False)]
    if polarity.oriented is False and directed:
        yield (
            "polarity",
            "polarity: no perspectives were named, so which side is positive has no meaning, "
            f"nor has the side that {', '.join(map(repr, directed))} tells",
        )
    why = Counter((polarity.without_axis or {}).values())
    if why:
        reasons = ", ".join(f"{reason} ({count:,})" for reason, count in why.items())
        many = counted(why.total(), "query has", "queries have")
        yield "polarity", f"polarity: {many} no axis, so all their scores are 0: {reasons}"


def _group_notes(sources: Sources, measures: Sequence[Measure]) -> Iterator[ScoresNote]:
    """Which groups there are, what each should have, and which side of a signed measure is which."""
    for measure in itertools.chain.from_iterable(measure.parts() for measure in measures):
        name = next((need.partition(".")[2] for need in sorted(measure.needs) if PREFIX in need), "")
        source = sources.evidence.get(name)
        if not isinstance(source, Membership):
            continue
        attribute = source.attribute
        yield ScoresNote("groups", _describe_groups(source))
        if _compares_with_target(measure):
            yield ScoresNote("target", _describe_target(source))
        if same := alike_values(attribute.values):
            pairs = "; ".join(" and ".join(map(repr, values)) for values in same[:VALUES_SHOWN])
            text = f"groups of {attribute.name!r}: possibly one group each, written in several ways: {pairs}"
            yield ScoresNote("spelling", text)
        if measure.direction is Direction.SIGNED and len(attribute.values) == 2:
            first, second = attribute.values
            text = (
                f"positive where documents of {first!r} get more than those of {second!r}, negative where "
                "they get less"
            )
            if measure.by_value:  # a column for each
                text = "above 0 the value of the column has more than its target, below 0 less"
            yield ScoresNote("sides", text, repr(measure))


def _compares_with_target(measure: Measure) -> bool:
    """Whether the target of the attribute has a part in its values."""
    if getattr(measure, "own_target", None) is not None:
        return False
    return NO_TARGET in measure.undefined_when and getattr(measure, "of", "target") == "target"


def _describe_groups(membership: Membership) -> str:
    sizes = zip(membership.attribute.values, membership.sizes().tolist(), strict=True)
    # where documents belong to groups by shares, their number need not be whole
    listed = [f"{v} ({'' if size == round(size) else 'about '}{size:,.0f})" for v, size in sizes]
    said = f"groups of {membership.attribute.name!r} by their documents: {_some(listed)}"
    if not membership.named:
        said += (
            ". These are all the labels found: if some are not groups, name the groups with values= and say "
            "what the other labels are with even= or ignore= (keys of [groups.NAME] in the project file)"
        )
    return said


def _describe_target(membership: Membership) -> str:
    attribute, target = membership.attribute, membership.attribute.target
    shares = target if isinstance(target, tuple) else ()
    if target == COLLECTION:
        sizes = membership.sizes()
        shares = (sizes / sizes.sum()).tolist()
    listed = [f"{value} {share:.4g}" for value, share in zip(attribute.values, shares, strict=False)]
    kind = "by query" if attribute.has_query_targets else target_name(target)
    if target == UNIFORM:
        another = shlex.quote(f"{attribute.name}=..")
        kind += f" shares; name another with target= (--target {another})"
    return f"target of {attribute.name!r}: {', '.join(filter(None, (kind, _some(listed))))}"


def _some(names: Sequence[str]) -> str:
    more = len(names) - VALUES_SHOWN
    return ", ".join(names[:VALUES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
