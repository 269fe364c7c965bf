"""What the caller may pass, turned into the few types that the rest works with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenrank.data.diversity import DiversityQrels
from evenrank.data.gathered import Evidence
from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.errors import InputTypeError, ParameterError
from evenrank.evidence.align import Sources, split_needs
from evenrank.measures import Measure


def named_runs(run: Any) -> dict[str, Run | RunSet]:
    from evenrank.io import read_run

    if isinstance(run, (Run, RunSet)):
        return {run.name: run}
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
        if not isinstance(intents, DiversityQrels):
            raise InputTypeError(
                "intents= takes DiversityQrels, as read_qrels(FILE, diversity=True) gives; "
                f"got {type(intents).__name__}"
            )
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


def asked_queries(queries: Sequence[str]) -> tuple[str, ...]:
    if isinstance(queries, str) or not all(isinstance(query, str) for query in queries):
        raise InputTypeError("queries must be a list of query ids, each a string")
    if not queries:
        raise ParameterError("queries is empty: name at least one, or leave it out for all")
    return tuple(dict.fromkeys(queries))


def with_options(
    measures: list[Measure], cutoffs: Sequence[int] | None, missing: str | None
) -> list[Measure]:
    if missing is not None:
        taking = [m for m in measures if any(f.name == "missing" for f in m.parameters())]
        if not taking:
            raise ParameterError("missing= was given, but none of the measures has that parameter")
        measures = [replace(m, missing=missing) if m in taking else m for m in measures]  # type: ignore[call-arg]
    if cutoffs is not None:
        if not cutoffs:
            raise ParameterError("cutoffs is empty: name at least one, or leave it out")
        measures = [
            measure @ depth if measure.takes_cutoff else measure for measure in measures for depth in cutoffs
        ]
    measures = list(dict.fromkeys(measures))
    for measure in measures:
        measure.check()
    return measures


_WAY_OUT = {
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
