"""What the caller may pass, turned into the few types that the rest works with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenrank.data.diversity import DiversityQrels
from evenrank.data.gathered import Documents, Evidence
from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.data.strings import Selection, as_strings
from evenrank.data.words import WordCounts
from evenrank.errors import InputTypeError, ParameterError
from evenrank.evidence.align import Sources, split_needs
from evenrank.measures import Measure, WeightedSum


def named_runs(run: Any) -> dict[str, Run | RunSet]:
    from evenrank.io import read_run

    if isinstance(run, (Run, RunSet)):
        return {run.name: run}
    if isinstance(run, (list, tuple)):
        raise InputTypeError("several runs are given by name, as {'bm25': run, 'dense': other}; got a list")
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


def _is_list(mapping: Mapping[Any, Any]) -> bool:
    """True for ``{document: score}``."""
    return all(isinstance(score, (int, float, np.number)) for score in mapping.values())


def as_judgements(qrels: Any) -> Qrels | DiversityQrels | None:
    from evenrank.io import read_qrels

    return qrels if qrels is None or isinstance(qrels, (Qrels, DiversityQrels)) else read_qrels(qrels)


def as_against(against: Any) -> Run | None:
    if against is None or isinstance(against, Run):
        return against
    raise InputTypeError(f"against= takes a Run, as read_run gives; got {type(against).__name__}")


def as_intents(intents: Any) -> DiversityQrels | None:
    from evenrank.io import read_qrels

    if intents is None or isinstance(intents, DiversityQrels):
        return intents
    return read_qrels(intents, diversity=True)


def sources_by_name(
    judgements: Qrels | DiversityQrels | None, intents: DiversityQrels | None, evidence: Iterable[Evidence]
) -> dict[str, Evidence]:
    """Every source under the name that measures ask for. Judgements by intent alone are graded, too."""
    if isinstance(judgements, DiversityQrels):
        if intents is not None:
            raise ParameterError("qrels are by intent and intents= was given too: pass one of them")
        judgements, intents = None, judgements
    sources: dict[str, Evidence] = {}
    if intents is not None:
        sources["intents"] = intents
        judgements = judgements or intents.graded()
    if judgements is not None:
        sources["relevance"] = judgements
    for source in evidence:
        if not isinstance(source, Evidence):
            raise InputTypeError(
                f"evidence must have a name and gather(), as a DocumentTable has; got {type(source).__name__}"
            )
        if source.name in sources:
            raise ParameterError(f"two sources of evidence are called {source.name!r}")
        sources[source.name] = source
    return sources


BACKGROUND_DEPTH = 200


def as_background(
    given: Any, runs: Mapping[str, Run | RunSet], measures: Sequence[Measure]
) -> tuple[Run | Documents | None, str | None]:
    """The background that measures compare with, and what to say of it.

    A run is taken as deep as it is, word counts stand for their whole collection, a list of ids for that
    set. A single run without a background is its own, to depth 200.
    """
    if isinstance(given, WordCounts):
        return given.as_documents(), f"background: the whole collection, {len(given):,} documents"
    if given is None:
        if not any("background" in split_needs(measure.needs) for measure in measures):
            return None, None
        (run, *others) = runs.values()
        if others or isinstance(run, RunSet):
            raise ParameterError(
                "several runs need one common background, or their values do not compare: "
                "pass background=, a run, a list of document ids or word counts (--background)"
            )
        return run.head(BACKGROUND_DEPTH), f"background: the run's own first {BACKGROUND_DEPTH} documents"
    if isinstance(given, (Run, Documents)):
        return given, None
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputTypeError(
            f"background= takes a Run, WordCounts or a list of document ids, got {type(given).__name__}"
        )
    ids = as_strings(list(dict.fromkeys(given)))
    return Documents(Selection(ids), np.array([0, len(ids)]), shared=True), None


def asked_queries(queries: Iterable[str]) -> tuple[str, ...]:
    if isinstance(queries, str) or not isinstance(queries, Iterable):
        raise InputTypeError(f"queries is a list of query ids, got {queries!r}")
    ids = tuple(dict.fromkeys(queries))
    if not all(isinstance(query, str) for query in ids):
        raise InputTypeError("queries is a list of query ids, each a string")
    if not ids:
        raise ParameterError("queries is empty: name at least one, or leave it out for all")
    return ids


def with_options(
    measures: list[Measure], cutoffs: Sequence[int] | None, missing: str | None
) -> list[Measure]:
    """The measures at each cut-off, with the rule for missing evidence, sums part by part."""
    if missing is not None:
        if not any(_takes_missing(part) for measure in measures for part in measure.parts()):
            raise ParameterError("missing= was given, but none of the measures has that parameter")
        measures = [_with_missing(measure, missing) for measure in measures]
    if cutoffs is not None:
        if isinstance(cutoffs, (str, int)) or not isinstance(cutoffs, Iterable):
            raise InputTypeError(f"cutoffs is a list of depths, as [5, 10]; got {cutoffs!r}")
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


def _takes_missing(measure: Measure) -> bool:
    return any(field.name == "missing" for field in measure.parameters())


def _with_missing(measure: Measure, missing: str) -> Measure:
    if isinstance(measure, WeightedSum):
        return WeightedSum(terms=tuple((w, _with_missing(part, missing)) for w, part in measure.terms))
    return replace(measure, missing=missing) if _takes_missing(measure) else measure  # type: ignore[call-arg]


_WAY_OUT = {
    "words": "word counts: pass words= (--words FILE), as scan gives",
    "relevance": "judgements: pass qrels= (--qrels FILE)",
    "intents": "judgements by intent: pass intents=read_qrels(FILE, diversity=True) (--diversity-qrels FILE)",
}


def check_needs(measure: Measure, sources: Sources) -> None:
    """Say what a measure lacks, and how to pass it, before anything is computed."""
    blocks = split_needs(measure.needs)
    if "against" in blocks and sources.against is None:
        raise ParameterError(f"{measure!r} compares two runs: pass against=")
    if "background" in blocks and sources.background is None:
        raise ParameterError(f"{measure!r} needs a background: pass background=, a run or a set of documents")
    for name in sorted(set().union(*blocks.values()) - {"documents"} - set(sources.evidence)):
        raise ParameterError(f"{measure!r} needs {_WAY_OUT.get(name, f'{name}: pass it in evidence=')}")
