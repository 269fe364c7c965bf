"""Ids and labels that look the same: they compare as bytes, and nobody sees a blank or a leading zero."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.data.membership import PREFIX, named_by
from evenrank.data.run import Run
from evenrank.errors import counted
from evenrank.evidence.align import Sources, split_needs
from evenrank.ids import as_strings, offsets_of, take
from evenrank.io.by_need import WordsByNeed
from evenrank.measures import Measure
from evenrank.scores.notes import ScoresNote

LOOKED_AT = 1000  # ranked documents, spread over the run
MOST_IDS = 200_000  # of evidence: more would take longer than the measures do

_NOTHING = {"", "-", "na", "n/a", "nan", "none", "null", "unknown"}


def folded(texts: pa.Array) -> pa.Array:
    """The same for texts that differ only by case, Unicode form, blanks at the ends or leading zeros.

    >>> folded(pa.array(["Cafe\\u0301", "008", "1.0"])).to_pylist() == ["caf\\u00e9", "8", "1"]
    True
    """
    if pc.all(pc.string_is_ascii(texts)).as_py():  # which takes a fifth of the time
        same = pc.ascii_trim_whitespace(pc.ascii_lower(texts))
    else:
        same = pc.utf8_normalize(pc.utf8_lower(pc.utf8_normalize(texts, "NFC")), "NFC")
        same = pc.utf8_trim_whitespace(same)
    if pc.any(pc.match_substring(same, ".")).as_py():  # most ids need none of what takes longer
        same = pc.replace_substring_regex(same, r"^([0-9]+)\.0*$", r"\1")
    if pc.any(pc.starts_with(same, "0")).as_py():
        bare = pc.ascii_ltrim(same, characters="0")
        same = pc.if_else(pc.ascii_is_decimal(same), pc.if_else(pc.equal(bare, ""), "0", bare), same)
    return same


def alike_values(values: Iterable[str]) -> list[list[str]]:
    """Labels that are possibly one, as they are written; all ways to write that there is none are.

    >>> alike_values(["A", "b", "a ", "1", "1.0", "NA", "none"])
    [['A', 'a '], ['1', '1.0'], ['NA', 'none']]
    """
    found: dict[str, list[str]] = {}
    values = list(values)
    for value, same in zip(values, folded(pa.array(values, pa.string())).to_pylist(), strict=True):
        found.setdefault("" if same in _NOTHING else same, []).append(value)
    return [same for same in found.values() if len(same) > 1]


def _alike(some: pa.Array, others: pa.Array) -> list[tuple[str, str]]:
    """Pairs of ids that look the same: of the first, those that are not among the others, and of these."""
    if _plain(some) and _plain(others):
        return []
    lacking = some.filter(pc.invert(pc.is_in(some, value_set=others)))
    if not len(lacking):
        return []
    places = pc.index_in(folded(lacking), value_set=folded(others))
    found = pc.is_valid(places)
    pairs = zip(lacking.filter(found).to_pylist(), others.take(places.filter(found)).to_pylist(), strict=True)
    return list(pairs)


def _plain(ids: pa.LargeStringArray) -> bool:
    """Whether no id has anything that another spelling could differ in, as of most collections."""
    offsets = offsets_of(ids)
    letters = np.frombuffer(ids.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]]
    upper = (letters >= ord("A")) & (letters <= ord("Z"))
    odd = upper | (letters <= ord(" ")) | (letters > ord("~")) | (letters == ord("."))
    begins = offsets[:-1][np.diff(offsets) > 0] - offsets[0]
    return not odd.any() and not (letters[begins] == ord("0")).any()


def describe_alike_queries(some: Sequence[str], others: Sequence[str], where: str) -> list[str]:
    """For queries that only the run has and such that only something else has."""
    pairs = _alike(as_strings(some), as_strings(others)) if some and others else []
    if not pairs:
        return []
    one, other = pairs[0]
    return [
        f"{counted(len(pairs), 'query id differs', 'query ids differ')} between the run and {where} only by "
        f"case, Unicode form, blanks or leading zeros, and so are different queries: {one!a} and {other!a}"
    ]


def spelling_notes(
    run: Run, sources: Sources, measures: Sequence[Measure], depth: int | None
) -> Iterator[ScoresNote]:
    """For ranked documents without evidence, where the evidence has an id that looks the same."""
    blocks = [split_needs(measure.needs) for measure in measures]
    names = {name for own in blocks for block in ("ranked", "rankings") for name in own.get(block, ())}
    ranked = _sample(run, depth)
    for name in sorted(names):
        source = sources.evidence.get(name)
        if isinstance(source, WordsByNeed):
            continue  # its ids are not at hand
        ids = getattr(source, "doc_ids", None)
        known = isinstance(ids, pa.LargeStringArray) and 0 < len(ids) <= MOST_IDS
        pairs = _alike(ranked, ids) if known else []
        if not pairs:
            continue
        whose = f"the groups of {named_by(name)[0]!r}" if name.startswith(PREFIX) else f"the {name}"
        whose = {"relevance": "the judgements", "intents": "the judgements by intent"}.get(name, whose)
        many = counted(len(pairs), "ranked document has an id", "ranked documents have ids")
        one, other = pairs[0]
        text = (
            f"{many} that {whose} have only in another case or Unicode form, or with other blanks or leading "
            f"zeros, and so count as without: {one!a} is {other!a} there. Write both the same way"
        )
        yield ScoresNote("spelling", text, about=name)


def _sample(run: Run, depth: int | None) -> pa.LargeStringArray:
    """Some ids of the first ``depth`` ranks, each once."""
    lengths = run.lengths if depth is None else np.minimum(run.lengths, depth)
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    places = np.unique(np.linspace(0, max(total - 1, 0), min(LOOKED_AT, total)).astype(np.int64))
    lists = np.searchsorted(ends, places, side="right")
    rows = run.offsets[lists] + places - (ends - lengths)[lists]
    return pc.unique(take(run.doc_ids, rows))
