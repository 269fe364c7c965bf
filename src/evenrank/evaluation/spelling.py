"""Ids and labels that look the same: they compare as bytes, and nobody sees a blank or a leading zero."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.data.membership import PREFIX, evidence_name, named_by
from evenrank.data.run import Run
from evenrank.errors import counted
from evenrank.evidence.align import Sources, split_needs
from evenrank.ids import offsets_of, take
from evenrank.inputs import Inputs
from evenrank.io.rows_by_need import MembershipByNeed, WordsByNeed
from evenrank.measures import Measure

LOOKED_AT = 1000  # ranked documents, spread over the run
MOST_IDS = 200_000  # of evidence: more would take longer than the measures do

LAST_ASCII = 127
MOST_DIGITS = 4000  # of a number, which Python reads

_PADDED = r"^0+[0-9]+$|^\s|\s$|^[^\x00-\x7f]|[^\x00-\x7f]$"  # leading zeros, or perhaps a blank at an end
_NUMBER = re.compile(r"[0-9]+(\.0*)?")
_NOTHING = {"", "-", "na", "n/a", "nan", "none", "null", "unknown"}


def fold(text: str) -> str:
    """The same for texts that differ only by case, Unicode form, blanks at the ends or leading zeros.

    >>> fold("Cafe\\u0301") == fold("caf\\u00e9 "), fold("008") == fold("8"), fold("1.0") == fold("1")
    (True, True, True)
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).strip()
    return str(int(folded.partition(".")[0][-MOST_DIGITS:])) if _NUMBER.fullmatch(folded) else folded


def alike_values(values: Iterable[str]) -> list[list[str]]:
    """Labels that are possibly one, as they are written; all ways to write that there is none are.

    >>> alike_values(["A", "b", "a ", "1", "1.0", "NA", "none"])
    [['A', 'a '], ['1', '1.0'], ['NA', 'none']]
    """
    found: dict[str, list[str]] = {}
    for value in values:
        folded = fold(value)
        found.setdefault("" if folded in _NOTHING else folded, []).append(value)
    return [same for same in found.values() if len(same) > 1]


def alike(some: Iterable[str], others: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of different ids that look the same: one of the first, one of the second."""
    known = {fold(other): other for other in others}
    if not known:
        return []
    pairs = ((one, known.get(fold(one))) for one in some)
    return [(one, other) for one, other in pairs if other is not None and other != one]


def query_spelling(some: Sequence[str], others: Sequence[str], where: str) -> str | None:
    """For queries that only the run has and such that only something else has."""
    pairs = alike(some, others)
    if not pairs:
        return None
    one, other = pairs[0]
    return (
        f"{counted(len(pairs), 'query id differs', 'query ids differ')} between the run and {where} only by "
        f"case, Unicode form, blanks or leading zeros, and so are different queries: {one!a} and {other!a}"
    )


def document_spelling(
    run: Run, sources: Sources, measures: Sequence[Measure], depth: int | None
) -> list[str]:
    """For ranked documents without evidence, where the evidence has an id that looks the same."""
    names = {
        name
        for measure in measures
        for block, wanted in split_needs(measure.needs).items()
        if block in ("ranked", "rankings")
        for name in wanted
    }
    ranked = _sample(run, depth)
    return [
        f"{counted(len(pairs), 'ranked document has an id', 'ranked documents have ids')} that "
        f"{_whose(name)} have only in another case or Unicode form, or with other blanks or leading zeros, "
        f"and so count as without: {pairs[0][0]!a} is {pairs[0][1]!a} there. Write both the same way"
        for name, pairs in _alike_documents(ranked, {name: sources.evidence.get(name) for name in names})
    ]


def spelling_line(inputs: Inputs, depth: int) -> list[str]:
    """How many ids and labels look like others, in one line; nothing where none does."""
    evidence: dict[str, object] = {evidence_name(one.attribute.name): one for one in inputs.groups}
    runs = [run for run in inputs.runs.values() if isinstance(run, Run)]
    if inputs.qrels is not None:
        evidence["relevance"] = inputs.qrels
    found = (_alike_documents(_sample(run, depth), evidence) for run in runs)
    ids = {one for by_name in found for _, pairs in by_name for one, _ in pairs}
    labels = [same for one in inputs.groups for same in alike_values(one.attribute.values)]
    queries: set[str] = set()
    if inputs.qrels is not None:
        queries = {one for run in runs for one, _ in alike(run.query_ids, inputs.qrels.query_ids)}
    said = [
        counted(count, one, many)
        for count, one, many in (
            (len(ids), "ranked document has an id", "ranked documents have ids"),
            (len(queries), "query has an id", "queries have ids"),
        )
        if count
    ]
    parts = [f"{' and '.join(said)} that other files write with other case, blanks or zeros"] if said else []
    if labels:
        parts.append(f"{sum(map(len, labels)):,} labels look alike, as {' and '.join(map(repr, labels[0]))}")
    return [f"{'; '.join(parts)}: are they the same? The report names them"] if parts else []


def _alike_documents(
    ranked: pa.LargeStringArray, evidence: Mapping[str, object]
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """For each evidence, the ranked ids without it and those of it that look the same."""
    if not evidence or not len(ranked):
        return
    case, padded = _one_case(ranked), _padded(ranked)
    for name, source in sorted(evidence.items()):
        if isinstance(source, (WordsByNeed, MembershipByNeed)):
            continue  # its ids are not at hand
        ids = getattr(source, "doc_ids", None)
        if not isinstance(ids, pa.LargeStringArray) or not 0 < len(ids) <= MOST_IDS:
            continue
        if case is not None and case == _one_case(ids) and not (padded or _padded(ids)):
            continue  # as most ids are: none can look like another, which is seen without comparing them
        lacking = ranked.filter(pc.invert(pc.is_in(ranked, value_set=ids)))
        if not len(lacking):
            continue
        pairs = alike(lacking.to_pylist(), ids.to_pylist())
        if pairs:
            yield name, pairs


def _one_case(ids: pa.LargeStringArray) -> str | None:
    """ "lower" or "upper" where all letters are ASCII and of that case."""
    offsets, buffer = offsets_of(ids), ids.buffers()[2]
    if (
        buffer is None
        or np.frombuffer(buffer, np.uint8)[offsets[0] : offsets[-1]].max(initial=0) > LAST_ASCII
    ):
        return None
    if pc.ascii_lower(ids).equals(ids):
        return "lower"
    return "upper" if pc.ascii_upper(ids).equals(ids) else None


def _padded(ids: pa.LargeStringArray) -> bool:
    """Whether any id has leading zeros, or a blank at an end."""
    return bool(pc.any(pc.match_substring_regex(ids, _PADDED)).as_py())


def _whose(name: str) -> str:
    if name.startswith(PREFIX):
        return f"the groups of {named_by(name)[0]!r}"
    return {"relevance": "the judgements", "intents": "the judgements by intent"}.get(name, f"the {name}")


def _sample(run: Run, depth: int | None) -> pa.LargeStringArray:
    """Some ids of the first ``depth`` ranks, each once."""
    lengths = run.lengths if depth is None else np.minimum(run.lengths, depth)
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    places = np.unique(np.linspace(0, max(total - 1, 0), min(LOOKED_AT, total)).astype(np.int64))
    lists = np.searchsorted(ends, places, side="right")
    rows = run.offsets[lists] + places - (ends - lengths)[lists]
    return pc.unique(take(run.doc_ids, rows))
