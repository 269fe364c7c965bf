"""Which queries the numbers are over: what a reader of a mean must know."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from evenrank.arrays import Bools, Int64s, ragged
from evenrank.data.attribute import COLLECTION, POOL, PRESENT, RELEVANCE, Attribute
from evenrank.data.diversity import DiversityQrels
from evenrank.data.membership import PREFIX, Membership
from evenrank.data.polarity import Polarity
from evenrank.data.run import Run
from evenrank.data.words import WordCounts
from evenrank.errors import DataError, MissingEvidenceError, counted, few
from evenrank.evaluation.spelling import alike_values, query_spelling
from evenrank.evidence.align import OF_THE_RUN, Sources, split_needs
from evenrank.evidence.ranked_evidence import RankedEvidence, Reference
from evenrank.ids import IdPlaces, without
from evenrank.inputs.missing import evidence_words
from evenrank.io.rows_by_need import MembershipByNeed, WordsByNeed
from evenrank.measures import Direction, Measure
from evenrank.measures.base import JUDGEMENTS
from evenrank.measures.missing import counted_as

if TYPE_CHECKING:
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


def share_notes(block: ScoresBlock, rankings: int) -> list[str]:
    """For how many queries some of their rankings have no value, and what share of them has one."""
    if block.shares is None:
        return []
    some = (block.shares > 0) & (block.shares < 1)  # (Q, C)
    if not some.any():
        return []
    queries = int(some.any(axis=1).sum())
    return [
        f"{block.measure!r}: {queries:,} of {counted(len(some), 'query', 'queries')} are undefined in some "
        f"of the {rankings:,} rankings; their values are means over the rankings that have one, "
        f"{block.shares[some].mean():.0%} of them on average"
    ]


def query_notes(
    name: str, own: Sequence[str], judged: Mapping[str, IdPlaces], asked: Sequence[str] | None
) -> tuple[str, ...]:
    """What the run, the judgements and the request do not share. Nothing in common is an error.

    ``judged`` has the judged queries by kind of judgement, for the kinds that a measure needs;
    ``asked`` is None where no queries were named.
    """
    findings: list[tuple[Sequence[str], str]] = []
    if asked is not None:
        absent = without(asked, own)
        if len(absent) == len(asked):
            raise DataError(
                f"run {name!r} has none of the queries asked for: {few(asked)}; it has {few(own)}"
            )
        findings.append((absent, "asked for but not in the run (counted as empty lists)"))
        for kind, queries in judged.items():
            unjudged = queries.missing(asked)
            if len(unjudged) == len(asked) > 1:  # a single query without judgements is undefined
                raise DataError(
                    f"none of the queries asked for has {WORDS[kind]}: asked for are {few(asked)}; "
                    f"the {WORDS[kind]} are for {few(queries.ids)}"
                )
            findings.append((unjudged, f"asked for but without {WORDS[kind]} (undefined)"))
        return _lines(findings)
    spelt: list[str] = []
    for kind, queries in judged.items():
        unjudged, unranked = queries.missing(own), queries.beyond(own)
        spelt += filter(None, [query_spelling(unjudged, unranked, WORDS[kind])])
        if len(unjudged) == len(own):
            raise DataError(
                f"no query of run {name!r} has {WORDS[kind]}: the run has {few(own)}; "
                f"the {WORDS[kind]} are for {few(queries.ids)}{''.join(f'. {line}' for line in spelt)}"
            )
        findings.append((unranked, f"with {WORDS[kind]} but not in the run (counted as empty lists)"))
        findings.append(
            (unjudged, f"in the run but without {WORDS[kind]} (not included in measures that need them)")
        )
    return (*_lines(findings), *spelt)


def pair_notes(run: str, own: Sequence[str], other: Run | None, measures: Sequence[Measure]) -> list[str]:
    """What the second run of a pair has and the first has not. Nothing in common is an error."""
    if other is None or not any("against" in split_needs(measure.needs) for measure in measures):
        return []
    others = without(other.query_ids, own)
    if len(others) == len(other):
        raise DataError(
            f"run {other.name!r} has none of the queries of run {run!r}: it has {few(other.query_ids)}; "
            f"the other has {few(own)}"
        )
    return list(_lines([(others, f"in run {other.name!r} but not in this one (left out)")]))


def _lines(findings: Sequence[tuple[Sequence[str], str]]) -> tuple[str, ...]:
    return tuple(
        f"{len(ids):,} {'query' if len(ids) == 1 else 'queries'} {what}: {few(ids)}"
        for ids, what in findings
        if ids
    )


def tie_note(run: Run, depth: int | None) -> str | None:
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
    return f"{lists:,} of {len(run):,} lists have equal scores{where}, ordered {rule} (ties={run.ties!r})"


def judged_note(evidence: RankedEvidence, anywhere: Callable[[str], bool]) -> str | None:
    """Whether any ranked document is judged at all: if none is, the ids are probably written differently.

    ``anywhere`` says so of the whole lists, where only the first ranks were looked at.
    """
    if "relevance" not in evidence.ranked.gathered or not evidence.ranked.mask.any():
        return None
    if evidence.ranked.gathered["relevance"].known.any() or anywhere("relevance"):
        return None
    return (
        "none of the ranked documents is judged, so all of them count as not relevant: are document ids "
        "written the same way in the run and in the judgements?"
    )


def missing_notes(
    measure: Measure,
    evidence: RankedEvidence,
    anywhere: Callable[[str], bool],
    own: Collection[str] = (),
) -> list[str]:
    """How many of the documents that a measure looks at have no evidence, where it has a rule for them.

    ``anywhere`` says whether any document of the whole lists has it; ``own`` are the memberships in which a
    document without a label is a value of its own.
    """
    rule = counted_as(measure)
    if rule == "error":
        return []
    lists = {"ranked": evidence.ranked, "against": evidence.against, "rankings": evidence.rankings}
    said = []
    for block, names in sorted(split_needs(measure.needs).items(), key=lambda item: item[0] not in lists):
        found = lists.get(block) or evidence.reference.get(block)
        names = {
            name
            for name in names - OF_THE_RUN - JUDGEMENTS
            if found and name in found.gathered and not found.gathered[name].known.all()
        }
        if found is None or not names:
            continue
        known = {name: found.known(name) for name in names}
        looked_at = found.mask() if isinstance(found, Reference) else found.mask
        whose = f"documents of the {block}" if block != "ranked" else "ranked documents"
        if block == "ranked" and measure.cutoff is not None:
            if rule == "drop":
                looked_at = looked_at & _until_full(np.logical_and.reduce([*known.values()]), measure.cutoff)
            whose += f" {'to fill' if rule == 'drop' else 'in'} the first {measure.cutoff} ranks"
        said += [
            note
            for name in sorted(names)
            for note in _missing_note(
                looked_at, looked_at & ~known[name], whose, name, rule, anywhere, own=name in own
            )
        ]
    return said


def _until_full(known: Bools, cutoff: int) -> Bools:
    """The ranks that are read until there are ``cutoff`` documents that stay."""
    before: Int64s = np.cumsum(known, axis=-1) - known
    return np.asarray(before < cutoff)


def _missing_note(
    looked_at: Bools,
    missing: Bools,
    whose: str,
    name: str,
    rule: str,
    anywhere: Callable[[str], bool],
    *,
    own: bool,
) -> list[str]:
    count, total = int(missing.sum()), int(looked_at.sum())
    if not count:
        return []
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
    said = MISSING[rule]
    return [f"{count:,} of {total:,} {whose} have no {evidence_words(name)}: {said}{hint}"]


def words_note(sources: Sources, measures: Sequence[Measure]) -> str | None:
    """What the words were counted with, where a measure reads them."""
    words = sources.evidence.get("words")
    names = set().union(*(names for measure in measures for names in split_needs(measure.needs).values()))
    if not isinstance(words, WordCounts) or "words" not in names:
        return None
    lexicon = words.lexicon
    where = f", in {words.source}" if words.source else ""
    return (
        f"words: {len(lexicon):,} terms of lexicon {lexicon.name!r} ({', '.join(lexicon.groups)}), "
        f"tokeniser {words.tokenizer!r}{where}"
    )


def reading_notes(sources: Sources, measures: Sequence[Measure]) -> Iterator[str]:
    """How much was read of counts and groups that are read by need, where a measure needs them."""
    names = set().union(*(names for measure in measures for names in split_needs(measure.needs).values()))
    for name in sorted(names & set(sources.evidence)):
        source = sources.evidence[name]
        if not isinstance(source, (WordsByNeed, MembershipByNeed)):
            continue
        read = source.reading
        what = f"groups of {source.attribute.name!r}" if isinstance(source, MembershipByNeed) else "words"
        if read["passes"] < 2:
            yield (
                f"{what}: {read['rows read']:,} of {read['rows']:,} rows were read for the documents of the "
                f"runs, {read['bytes read']:,} of {read['bytes']:,} bytes"
            )
        else:  # which may have read the same rows, so that their number is no share of all
            yield (
                f"{what}: {read['rows read']:,} rows were read for the documents of the runs, "
                f"{read['bytes read']:,} bytes, in {read['passes']:,} passes (all are {read['rows']:,} rows, "
                f"{read['bytes']:,} bytes)"
            )


def polarity_notes(sources: Sources, measures: Sequence[Measure]) -> list[str]:
    """What to know of polarity that was fitted: a sign without meaning, queries without an axis."""
    polarity = sources.evidence.get("polarity")
    reading = [measure for measure in measures if "ranked.polarity" in measure.needs]
    if not isinstance(polarity, Polarity) or not reading:
        return []
    said = []
    directed = [part for measure in reading for part in measure.parts() if getattr(part, "directed", False)]
    if polarity.oriented is False and directed:
        said.append(
            "polarity: no perspectives were named, so which side is positive has no meaning, "
            f"nor has the side that {', '.join(map(repr, directed))} tells"
        )
    why = Counter((polarity.without_axis or {}).values())
    if why:
        reasons = ", ".join(f"{reason} ({count:,})" for reason, count in why.items())
        many = counted(why.total(), "query has", "queries have")
        said.append(f"polarity: {many} no axis, so all their scores are 0: {reasons}")
    return said


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


def settled_notes(asked: Sequence[Measure], settled: Sequence[Measure]) -> list[str]:
    """What the measures that leave something open have become with the evidence there is."""
    return [f"{one!r} was computed as {two!r}" for one, two in zip(asked, settled, strict=True) if one != two]


def _describe_size(size: float) -> str:
    """A number of documents; where documents belong to groups by shares, it need not be whole."""
    return f"{size:,.0f}" if size == round(size) else f"about {size:,.0f}"


def describe_groups(membership: Membership) -> str:
    """The groups that were used, how many documents each has, and the shares that they should have."""
    attribute, sizes = membership.attribute, membership.sizes()
    fixed = not attribute.has_query_targets and attribute.target not in (PRESENT, POOL, COLLECTION, RELEVANCE)
    shares = attribute.targets([""])[0].tolist() if fixed else None
    listed = ", ".join(
        f"{value} ({_describe_size(size)}{'' if shares is None else f', target {share:.4g}'})"
        for value, size, share in zip(
            attribute.values[:VALUES_SHOWN], sizes.tolist(), shares or sizes.tolist(), strict=False
        )
    )
    more = len(attribute.values) - VALUES_SHOWN
    listed += f" and {more:,} more" if more > 0 else ""
    target = "" if shares is not None else f"; target {_target_words(attribute)}"
    said = f"groups of {attribute.name!r} by their documents: {listed}{target}"
    if not membership.named:
        said += (
            ". These are all the labels found: if some are not groups, name the groups with values= and say "
            "what the other labels are with even= or ignore= (in the shell FILE:values=..:ignore=..)"
        )
    same = alike_values(attribute.values)
    if same:
        pairs = "; ".join(" and ".join(map(repr, values)) for values in same[:VALUES_SHOWN])
        said += f". Possibly one group each, written in several ways: {pairs}"
    return said


def _target_words(attribute: Attribute) -> str:
    return "by query" if attribute.has_query_targets else f"{attribute.target!r}"


def group_notes(sources: Sources, measures: Sequence[Measure]) -> list[str]:
    """Which value has which share of a given target, and which side of a signed measure is which."""
    said: dict[str, None] = {}
    described: set[str] = set()
    for measure in itertools.chain.from_iterable(measure.parts() for measure in measures):
        name = next((need.partition(".")[2] for need in sorted(measure.needs) if PREFIX in need), "")
        source = sources.evidence.get(name)
        if not isinstance(source, Membership):
            continue
        attribute = source.attribute
        if name not in described:
            described.add(name)
            said[describe_groups(source)] = None
        if measure.direction is Direction.SIGNED and len(attribute.values) == 2:
            said[_sides(measure, *attribute.values)] = None
    return list(said)


def _sides(measure: Measure, first: str, second: str) -> str:
    """Which side of a signed measure is which: of one number for both values, or of a column for each."""
    if measure.by_value:
        return f"{measure!r}: above 0 the value of the column has more than its target, below 0 less"
    return (
        f"{measure!r}: positive where documents of {first!r} get more than those of {second!r}, "
        "negative where they get less"
    )
