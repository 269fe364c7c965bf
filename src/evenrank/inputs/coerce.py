"""What the caller may pass, turned into the few types that the rest works with."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Protocol

import numpy as np

from evenrank.data.diversity import DiversityQrels
from evenrank.data.evidence_source import DocumentSets, Evidence, is_evidence
from evenrank.data.membership import PREFIX, Membership, evidence_name, named_by, split_name
from evenrank.data.polarity import Polarity
from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.data.words import WordCounts
from evenrank.errors import InputTypeError, ParameterError, counted
from evenrank.evidence.align import OF_THE_RUN, HasNeeds, Sources, split_needs
from evenrank.ids import StringRows, as_strings
from evenrank.measures import Measure, WeightedSum
from evenrank.measures.missing import missing_rule, takes_missing, with_missing, with_nested


class Settles(HasNeeds, Protocol):
    """A measure or a re-ranker: it may leave something open, which the evidence decides."""

    def settled(self, sources: Mapping[str, Evidence]) -> HasNeeds: ...


def named_runs(run: Any) -> dict[str, Run | RunSet]:
    """One run, ``{name: run}``, or a list of runs that have names: files have those of their names."""
    from evenrank.io import read_run

    if isinstance(run, (Run, RunSet)):
        return {run.name: run}
    if isinstance(run, (list, tuple)) and run and all(map(_has_a_name, run)):
        runs: dict[str, Run | RunSet] = {}
        for one in run:
            runs = apart(runs, named_runs(one))
        return runs
    if (
        isinstance(run, Mapping)
        and run
        and not all(isinstance(inner, Mapping) and _is_list(inner) for inner in run.values())
    ):
        return {
            str(name): member if isinstance(member, (Run, RunSet)) else read_run(member, name=str(name))
            for name, member in run.items()
        }
    read = read_run(run)
    return {read.name: read}


def apart(some: Mapping[str, Run | RunSet], others: Mapping[str, Run | RunSet]) -> dict[str, Run | RunSet]:
    """All of these runs. Two of one name would be taken for one."""
    if twice := some.keys() & others.keys():
        name = min(twice)
        raise ParameterError(f"two runs are called {name!r}: name them, as {{{name!r}: run, 'other': run}}")
    return {**some, **others}


def _has_a_name(run: Any) -> bool:
    return isinstance(run, (Run, RunSet, str, PathLike))


def _is_list(mapping: Mapping[Any, Any]) -> bool:
    """True for ``{document: score}``."""
    return all(isinstance(score, (int, float, np.number)) for score in mapping.values())


def as_judgements(qrels: Any) -> Qrels | DiversityQrels | None:
    from evenrank.io import read_qrels

    if qrels is None or isinstance(qrels, (Qrels, DiversityQrels)):
        return qrels
    return read_qrels(qrels)


def as_against(against: Any) -> Run | None:
    from evenrank.io import read_run

    return against if against is None or isinstance(against, Run) else read_run(against)


def as_intents(intents: Any) -> DiversityQrels | None:
    from evenrank.io import read_qrels

    if intents is None or isinstance(intents, DiversityQrels):
        return intents
    return read_qrels(intents, diversity=True)


def as_words(words: Any) -> WordCounts | None:
    if isinstance(words, (str, PathLike)):
        from evenrank.io.counts import read_counts

        return read_counts(words)
    if words is None or isinstance(words, WordCounts):
        return words
    raise InputTypeError(
        "words= takes word counts, as scan gives, or the file or folder that it wrote; got "
        f"{type(words).__name__}"
    )


def as_polarity(polarity: Any) -> Polarity | None:
    if polarity is None:
        return None
    from evenrank.io.polarity import read_polarity

    return read_polarity(polarity)


def as_evidence(evidence: Any) -> tuple[Evidence, ...]:
    """Further sources; what is wrong with one of them is said when they are named."""
    if evidence is None:
        return ()
    if is_evidence(evidence) or not isinstance(evidence, Iterable):
        raise InputTypeError(f"evidence must be a list of sources, as [table]; got {type(evidence).__name__}")
    return tuple(evidence)


def with_combined(sources: Mapping[str, Evidence], measures: Sequence[HasNeeds]) -> dict[str, Evidence]:
    """The sources, and what measures ask for that follows from them.

    That is an attribute as a combination of others, ``a*b``, or one with another target, ``a:pool``.
    """
    found = dict(sources)
    for name in sorted({need.partition(".")[2] for measure in measures for need in measure.needs}):
        derived = _derived(name, sources) if name.startswith(PREFIX) and name not in found else None
        if derived is not None:
            found[name] = derived
    return found


def _derived(name: str, sources: Mapping[str, Evidence]) -> Membership | None:
    """The membership of this name, made from others; None where there are none to make it from."""
    attribute, target = named_by(name)
    own = sources.get(evidence_name(attribute))
    if isinstance(own, Membership):
        return own.with_target(target)
    parts = [sources.get(evidence_name(part)) for part in split_name(attribute)]
    known = [part for part in parts if isinstance(part, Membership)]
    return Membership.combined(*known, target=target) if len(known) == len(parts) > 1 else None


def sources_by_name(
    judgements: Qrels | None, intents: DiversityQrels | None, evidence: Iterable[Evidence]
) -> dict[str, Evidence]:
    """Every source under the name that measures ask for. Judgements by intent alone are graded, too."""
    sources: dict[str, Evidence] = {}
    if intents is not None:
        sources["intents"] = intents
        judgements = judgements or intents.graded()
    if judgements is not None:
        sources["relevance"] = judgements
    for source in evidence:
        if not is_evidence(source):
            raise InputTypeError(
                f"evidence must have a name and gather(), as a DocumentTable has; got {type(source).__name__}"
            )
        if source.name in sources:
            raise ParameterError(f"two sources of evidence are called {source.name!r}")
        sources[source.name] = source
    return sources


BACKGROUND_DEPTH = 200
COLLECTION = "collection"


def as_background(
    given: Any,
    runs: Mapping[str, Run | RunSet],
    measures: Sequence[HasNeeds],
    sources: Mapping[str, Evidence],
    depth: int | None = None,
) -> tuple[Run | DocumentSets | None, str | None]:
    """The background that measures compare with, and what to say of it if one of them does.

    A run is cut at ``depth`` (200), word counts stand for their whole collection, a list of ids for that
    set. A single run without a background is its own.
    """
    needed = any(needs_background(measure, sources) for measure in measures)
    if isinstance(given, str):
        given = _collection(sources) if given == COLLECTION else runs.get(given, given)
    if depth is not None:
        if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
            raise ParameterError(f"background_depth must be an integer >= 1, got {depth!r}")
        if given is not None and not isinstance(given, Run):
            raise ParameterError(
                "background_depth (FILE:depth=N in the shell) says where a run is cut, "
                "but the background is not a run"
            )
    documents, note = _background(given, runs, depth or BACKGROUND_DEPTH, needed=needed)
    return documents, note if needed else None


def _collection(sources: Mapping[str, Evidence]) -> WordCounts:
    """The documents that words were counted in."""
    words = sources.get("words")
    if not isinstance(words, WordCounts):
        raise ParameterError(
            "background='collection' (--background collection) is the collection that words were counted in: "
            "pass words= (--words FILE) too"
        )
    return words


def _background(
    given: Any, runs: Mapping[str, Run | RunSet], depth: int, *, needed: bool
) -> tuple[Run | DocumentSets | None, str | None]:
    if isinstance(given, WordCounts):
        return given.as_documents(), f"background: the whole collection, {len(given):,} documents"
    if given is None:
        if not needed:
            return None, None
        run = own_background(runs)
        if run is None:
            raise ParameterError(
                "several runs need one common background, or their values do not compare: "
                + describe_backgrounds(runs)
            )
        if run.depth <= depth:
            return run, f"background: the run itself, {counted(run.depth, 'document', 'documents')} deep"
        return run.head(depth), f"background: the run's own first {depth:,} documents of {run.depth:,}"
    if isinstance(given, Run):
        if given.depth <= depth:
            return given, f"background: run {given.name!r}, {given.depth:,} documents deep"
        whole = f"which is {given.depth:,} deep"
        return given.head(depth), f"background: the first {depth:,} documents of run {given.name!r}, {whole}"
    if isinstance(given, DocumentSets):
        whose = "the same for every query" if given.shared else "by query"
        return given, f"background: {len(given.doc_ids):,} documents, {whose}"
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputTypeError(
            "background= takes a run, WordCounts, a list of document ids, 'collection', or one of "
            f"{', '.join(runs)}; got {repr(given) if isinstance(given, str) else type(given).__name__}"
        )
    ids = as_strings(list(dict.fromkeys(given)))
    documents = DocumentSets(StringRows(ids), np.array([0, len(ids)]), shared=True)
    return documents, f"background: {len(ids):,} documents, the same for every query"


def own_background(runs: Mapping[str, Run | RunSet]) -> Run | None:
    """A run alone, which is its own background; None where there are several."""
    (run, *others) = runs.values()
    return None if others or isinstance(run, RunSet) else run


def background_option(runs: Mapping[str, Run | RunSet]) -> str:
    """The option that makes the first run the background, ready to be added to a command."""
    single = [name for name, run in runs.items() if isinstance(run, Run)]
    return f"--background {shlex.quote(single[0])}" if single else "--background FILE"


def describe_backgrounds(runs: Mapping[str, Run | RunSet]) -> str:
    """What to pass where several runs have no common background."""
    which = ": a run, a list of document ids or word counts"
    if any(isinstance(run, Run) for run in runs.values()):
        which = " for the first run; another run, a list of document ids or word counts will do too"
    return f"pass background= ({background_option(runs)}){which}"


def needs_background(measure: HasNeeds, sources: Mapping[str, Evidence]) -> bool:
    """Because it compares with one, or because a target comes from the documents of a query."""
    blocks = split_needs(measure.needs)
    names = set().union(*blocks.values())
    return "background" in blocks or any(getattr(sources.get(name), "needs_pool", False) for name in names)


def asked_queries(queries: Iterable[str]) -> tuple[str, ...]:
    if isinstance(queries, str) or not isinstance(queries, Iterable):
        raise InputTypeError(f"queries must be a list of query ids, got {queries!r}")
    ids = tuple(dict.fromkeys(queries))
    if not all(isinstance(query, str) for query in ids):
        raise InputTypeError("queries must be a list of query ids, each a string")
    if not ids:
        raise ParameterError("queries is empty: name at least one, or leave it out for all")
    return ids


def with_options(
    measures: list[Measure], cutoffs: Sequence[int] | None, missing: str | None
) -> list[Measure]:
    """The measures at each cut-off, with the rule for missing evidence, sums part by part."""
    if missing is not None:
        if not any(takes_missing(inner, missing) for measure in measures for inner in with_nested(measure)):
            raise ParameterError(_missing_refused(measures, missing))
        measures = [with_missing(measure, missing) for measure in measures]
    if cutoffs is not None:
        if isinstance(cutoffs, (str, int)) or not isinstance(cutoffs, Iterable):
            raise InputTypeError(f"cutoffs must be a list of depths, as [5, 10]; got {cutoffs!r}")
        depths = [depth.item() if hasattr(depth, "item") else depth for depth in cutoffs]  # numpy's too
        if not depths:
            raise ParameterError("cutoffs is empty: name at least one, or leave it out")
        measures = [
            measure @ depth if measure.takes_cutoff or isinstance(measure, WeightedSum) else measure
            for measure in measures
            for depth in depths
        ]
    measures = list(dict.fromkeys(measures))
    for measure in measures:
        measure.check()
    return measures


def _missing_refused(measures: Sequence[Measure], missing: str) -> str:
    """A rule that some measure refuses is told by that measure; else nobody has one."""
    for inner in (inner for measure in measures for inner in with_nested(measure)):
        rule = missing_rule(inner)
        if rule is not None:
            return f"{inner!r}: missing must be {rule.wording}, got {missing!r}"
    return "missing= was given, but none of the measures has that parameter"


_WAY_OUT = {
    "words": "word counts: pass words= (--words FILE), as scan gives",
    "polarity": "polarity: pass polarity= (--polarity FILE), as polarise gives",
    "relevance": "judgements: pass qrels= (--qrels FILE)",
    "intents": "judgements by intent: pass intents=read_qrels(FILE, diversity=True) (--intents FILE); "
    "alpha_nDCG, ERR_IA, NRBP and I_rec take groups as intents with attr=",
}


def check_needs(measure: Measure, sources: Sources) -> None:
    """Say what a measure lacks, and how to pass it, before anything is computed."""
    blocks = split_needs(measure.needs)
    if "against" in blocks and sources.against is None:
        raise ParameterError(f"{measure!r} compares two runs: pass against= (--against FILE)")
    if "background" in blocks and sources.background is None:
        raise ParameterError(
            f"{measure!r} needs a background: pass background= (--background), a run or a set of documents"
        )
    for name in sorted(set().union(*blocks.values()) - OF_THE_RUN - set(sources.evidence)):
        raise ParameterError(f"{measure!r} needs {way_out(name, sources)}")


def way_out(name: str, sources: Sources) -> str:
    if not name.startswith(PREFIX):
        return _WAY_OUT.get(name, f"{name}: pass it in evidence=")
    others = dict.fromkeys(named_by(other)[0] for other in sources.evidence if other.startswith(PREFIX))
    there = f"; there are {', '.join(others)}" if others else ""
    attribute, _ = named_by(name)
    return f"groups of {attribute!r}: pass groups= (--groups {attribute}=FILE){there}"
