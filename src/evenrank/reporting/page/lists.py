"""The ranked lists of all queries, as compact data that our script and our templates show alike.

Numbers are written out here: neither the script nor a template computes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenrank.comparison.measure_table import MeasureTable
from evenrank.data.diversity import DiversityQrels
from evenrank.data.evidence_source import Gathered, Pairs
from evenrank.data.lexicon import Lexicon
from evenrank.data.membership import Membership, named_by
from evenrank.data.qrels import Qrels
from evenrank.data.words import WordCounts
from evenrank.errors import DataError
from evenrank.evaluation.engine import PreparedEvidence
from evenrank.evidence.scan.phrases import Phrases
from evenrank.explanation.effects import ADDS, Effects, document_effects, why_nothing
from evenrank.ids import StringRows, as_strings
from evenrank.io.texts import read_texts
from evenrank.measures import Direction
from evenrank.reporting.page import safe
from evenrank.reporting.page.group_colours import looks_of
from evenrank.reporting.page.report_data import ReportData, worst_first
from evenrank.reporting.page.texts import pieces_of
from evenrank.scores import OK
from evenrank.tables import number

MEASURES = 8  # that a reader can sort queries by
EXPLAINED = 4  # of them, that say what each document does
NUMBERS = 200_000  # effects written out; with more queries fewer measures are explained
TEXT_BYTES = 3_600_000  # of all texts: with more documents each gets less
LONGEST, SHORTEST = 600, 120  # characters of a text

NOTHING = 1e-12  # sums of the same numbers differ in the last bit
PLAIN, LARGE = 1e-4, 1e6  # between them four decimals are written whatever the number

BETTER = {Direction.HIGHER: 1, Direction.LOWER: -1}
EFFECT_WORDS = {ADDS: "adds", "without": "without it", "": ""}


@dataclass(frozen=True)
class _Explained:
    """What documents do to one measure, in the lists of each system that has lists."""

    kind: str
    by_system: Mapping[str, Effects]


@dataclass(frozen=True)
class PageLists:
    """The data of all queries, for the script, and where each table's queries stand.

    ``order[measure][system]`` are queries, worst first.
    """

    data: dict[str, Any]
    tables: tuple[MeasureTable, ...]
    effects: tuple[str, ...]  # of each measure: adds, without, or nothing
    without_text: int
    shortened: bool


def lists_of(material: ReportData) -> PageLists:
    tables = material.tables[:MEASURES]
    queries = list(dict.fromkeys(query for table in tables for query in table.query_ids))
    systems = material.systems
    values, reasons = _values(material, tables, queries)
    order = [[_order(table, values[m][:, s]) for s in range(len(systems))] for m, table in enumerate(tables)]
    main = systems.index(material.system)
    base = -1 if material.baseline is None else systems.index(material.baseline)

    def differences(q: int) -> dict[str, Any]:
        """How every value differs from the baseline's."""
        if base < 0:
            return {}
        with np.errstate(invalid="ignore"):  # of two infinite values
            own = [values[m][q, :] - values[m][q, base] for m in range(len(tables))]
        return {"differences": [[_effect(value) for value in row.tolist()] for row in own]}

    data: dict[str, Any] = {
        "systems": [safe.name(system) for system in systems],
        "measures": [
            {
                "name": safe.name(table.shown),
                "direction": table.measure.direction.value,
                "better": BETTER.get(table.measure.direction, 0),
                "nothing": why_nothing(table.measure),
            }
            for table in tables
        ],
        "baseline": base,
        "system": main,
        "compared": material.baseline in material.runs,  # several rankings a query have no ranks before
        "groups": [],
        "documents": [],
        "queries": [
            {
                "key": query,
                "id": safe.name(query),
                "text": safe.prose(material.query_text(query)),
                **({"why": safe.prose(why)} if (why := material.query_reason(query)) else {}),
                "values": [
                    [number(values[m][q, s]) for s in range(len(systems))] for m in range(len(tables))
                ],
                **differences(q),
                **({"reasons": reasons[query]} if query in reasons else {}),
            }
            for q, query in enumerate(queries)
        ],
        "order": order,
    }
    if not material.runs:
        return PageLists(data, tables, ("",) * len(tables), 0, False)
    return _with_documents(material, data, tables, queries, order[0][main])


def _values(
    material: ReportData, tables: Sequence[MeasureTable], queries: Sequence[str]
) -> tuple[list[Any], dict[str, dict[str, str]]]:
    """(Q, S) for each table, in the order of all queries, and by query why there is no value: by
    ``measure-system``."""
    place = {query: row for row, query in enumerate(queries)}
    out = []
    reasons: dict[str, dict[str, str]] = {}
    for m, table in enumerate(tables):
        values = np.full((len(queries), len(table.systems)), np.nan)
        values[[place[query] for query in table.query_ids]] = table.values
        out.append(values)
        for s, system in enumerate(table.systems):
            for block in material.scores.blocks:
                if block.run == system and block.measure == table.measure and table.column in block.columns:
                    column = block.columns.index(table.column)
                    for row in np.flatnonzero(block.status[:, column]).tolist():
                        why = block.reasons[block.status[row, column]]
                        if why != OK:
                            reasons.setdefault(block.query_ids[row], {})[f"{m}-{s}"] = safe.name(why)
    return out, reasons


def _order(table: MeasureTable, values: Any) -> list[int]:
    """Queries, worst first; those without a value at the end."""
    keys = [
        (not math.isfinite(value) and math.isnan(value), worst_first(table, value), row)
        for row, value in enumerate(values.tolist())
    ]
    return [row for *_, row in sorted(keys)]


def _with_documents(
    material: ReportData,
    data: dict[str, Any],
    tables: Sequence[MeasureTable],
    queries: Sequence[str],
    order: Sequence[int],
) -> PageLists:
    depth, systems = material.depth, material.systems
    known = material.known
    if known is None:
        runs = material.inputs.with_runs(dict(material.runs))  # type: ignore[union-attr]
        known = PreparedEvidence.of(runs, [table.measure for table in tables])
    tops = {
        name: [run.documents(query)[:depth] if query in run else [] for query in queries]
        for name, run in material.runs.items()
    }
    pools = [
        list(dict.fromkeys(document for system in systems if system in tops for document in tops[system][q]))
        for q in range(len(queries))
    ]
    effects = _effects(material, tables, queries, known)
    facts = _facts(known, queries, pools)
    base = material.runs.get(material.baseline or "")
    documents = {document: n for n, document in enumerate(dict.fromkeys(d for pool in pools for d in pool))}
    for q, query in enumerate(queries):
        entry, pool = data["queries"][q], pools[q]
        place = {document: n for n, document in enumerate(pool)}
        entry["documents"] = [documents[document] for document in pool]
        entry["facts"] = [facts[q, document] for document in pool]
        lists = {system: tops[system][q] if system in tops else [] for system in systems}
        entry["lists"] = [" ".join(str(place[document]) for document in listed) for listed in lists.values()]
        if base is not None:
            ranks = {d: rank for rank, d in enumerate(base.documents(query), 1)} if query in base else {}
            entry["before"] = [ranks.get(document, 0) for document in pool]
        entry["effects"], changes = _written(material, effects, q, lists, entry["values"])
        if any(changes):
            entry["changes"] = changes
    data["documents"], without, shortened = _texts(material, known, documents, pools, order)
    lexicon = material.marking
    looks = {} if lexicon is None else looks_of(lexicon.groups)
    data["groups"] = [[look.label, look.mark, look.style] for look in looks.values()]
    kinds = tuple(effects[m].kind if m < len(effects) else "" for m in range(len(tables)))
    for described, kind in zip(data["measures"], kinds, strict=True):
        described["effect"] = EFFECT_WORDS[kind]
    return PageLists(data, tuple(tables), kinds, without, shortened)


def _effects(
    material: ReportData, tables: Sequence[MeasureTable], queries: Sequence[str], known: PreparedEvidence
) -> list[_Explained]:
    """For the first measures, what documents do in the lists of each system."""
    size = len(queries) * len(material.systems) * material.depth
    count = max(1, min(EXPLAINED, NUMBERS // max(1, size)))
    found = []
    for table in tables[:count]:
        by_system = {
            system: document_effects(run, table.measure, queries, known, material.depth)
            for system, run in material.runs.items()
            if not table.column
        }
        kinds = {effects.kind for effects in by_system.values()}
        # what is said of some systems only cannot be compared
        found.append(_Explained(kinds.pop(), by_system) if len(kinds) == 1 else _Explained("", {}))
    return found


def _written(
    material: ReportData,
    effects: Sequence[_Explained],
    q: int,
    lists: Mapping[str, Sequence[str]],
    values: Sequence[Sequence[str]],
) -> tuple[list[list[str]], list[list[str]]]:
    """The effects of one query as words with blanks between, and how they differ from the baseline's.

    ``values`` are those of the query, as they are shown: to what is undefined nothing adds anything.
    """
    undefined = number(math.nan)
    written: list[list[str]] = []
    changes: list[list[str]] = []
    base, isfinite = material.baseline, math.isfinite
    for explained, shown in zip(effects, values, strict=False):
        without = {
            system for system, value in zip(material.systems, shown, strict=True) if value == undefined
        }
        rows = {
            system: [math.nan] * len(lists[system])
            if system in without
            else found.values[q, : len(lists[system])].tolist()
            for system, found in explained.by_system.items()
        }
        written.append([" ".join(map(_effect, rows.get(system, ()))) for system in material.systems])
        if explained.kind != ADDS or base is None or base not in rows:
            changes.append([])
            continue
        there = dict(zip(lists[base], rows[base], strict=True))
        absent = math.nan if base in without else 0.0
        changes.append(
            [
                " ".join(
                    _effect(value - there.get(document, absent)) if isfinite(value) else "-"
                    for document, value in zip(lists[system], rows.get(system, ()), strict=True)
                )
                for system in material.systems
            ]
        )
    return written, changes


def _effect(value: float) -> str:
    """A change as it is written; ``-`` where there is none, ``0`` where nothing changes."""
    size = abs(value)
    if PLAIN <= size < LARGE:  # most of some hundred thousand; ``number`` would write the same
        return f"{value:+.4f}"
    if size < NOTHING:
        return "0"
    return "-" if math.isnan(value) else number(value, signed=True)


def _facts(
    known: PreparedEvidence, queries: Sequence[str], pools: Sequence[Sequence[str]]
) -> dict[tuple[int, str], list[str]]:
    """What the evidence says of a document for a query, in few words."""
    codes = np.repeat(np.arange(len(queries)), [len(pool) for pool in pools])
    ids = as_strings([document for pool in pools for document in pool])
    pairs = Pairs(tuple(queries), codes, StringRows(ids))
    words: list[list[str]] = [[] for _ in codes]
    for name, source in known.evidence.items():
        attribute, target = named_by(name)
        if isinstance(source, WordCounts | DiversityQrels) or target is not None or "*" in attribute:
            continue  # counts stand beside the text; targets and combinations say nothing new
        gathered = source.gather(pairs)
        for row, fact in enumerate(_document_facts(name, source, gathered)):
            if fact and gathered.known[row]:
                words[row].append(safe.name(fact))
    keys = zip(codes.tolist(), ids.to_pylist(), strict=True)
    return dict(zip(keys, words, strict=True))


def _document_facts(name: str, source: Any, gathered: Gathered) -> list[str]:
    """What the evidence says about each document, as ``relevance 2`` or ``gender: female``."""
    if isinstance(source, Membership):
        labels = source.attribute.values
        shared = gathered.columns[""]
        rows = np.arange(len(gathered.known))
        shares = shared if isinstance(shared, np.ndarray) else shared.dense(rows)
        if shares.ndim != 2 or shares.shape[1] != len(labels):
            return [""] * len(rows)
        return [f"{source.attribute.name}: {_describe_shares(labels, row)}" for row in shares.tolist()]
    column = gathered.columns.get("")
    if not isinstance(column, np.ndarray) or column.ndim != 1:
        return [""] * len(gathered.known)
    what = "relevance" if isinstance(source, Qrels) else name
    return [f"{what} {value:g}" for value in np.asarray(column, dtype=float).tolist()]


def _describe_shares(labels: Sequence[str], shares: Sequence[float]) -> str:
    there = {label: share for label, share in zip(labels, shares, strict=True) if share}
    if len(there) == 1:
        return next(iter(there))
    if len(set(there.values())) == 1 and len(there) == len(labels):
        return "even"
    return ", ".join(f"{label} {share:.2g}" for label, share in there.items())


def _texts(
    material: ReportData,
    known: PreparedEvidence,
    documents: Mapping[str, int],
    pools: Sequence[Sequence[str]],
    order: Sequence[int],
) -> tuple[list[list[Any]], int, bool]:
    """``[id, pieces or None, counts or None, url]`` for each document; how many have no text, and whether
    texts are shortened. Queries with most bias come first when there is too much text."""
    counts = _counts(known, documents, material.marking)
    out: list[list[Any]] = [[safe.name(d), None, counts.get(d), None] for d in documents]
    for document, place in documents.items():
        url = None if material.urls is None else material.urls.get(document)
        out[place][3] = safe.link(url) if isinstance(url, str) else None
    if material.documents is None:
        return out, len(out), False
    texts = read_texts(material.documents, wanted=set(documents), columns=material.columns)
    if not texts:
        raise DataError("documents= (--documents) has none of the documents that are ranked")
    lexicon = material.marking
    phrases = None if lexicon is None else Phrases.of(lexicon, material.tokenizer)
    limit = max(SHORTEST, min(LONGEST, TEXT_BYTES // max(1, len(documents))))
    left = TEXT_BYTES
    for document in dict.fromkeys(d for q in order for d in pools[q]):
        if document in texts and left > 0:
            pieces = pieces_of(texts[document], phrases, limit)
            left -= sum(len(str(piece).encode("utf-8", "replace")) for piece in pieces)
            out[documents[document]][1] = pieces
    without = sum(entry[1] is None for entry in out)
    return out, without, any(len(text) > limit for text in texts.values())


def _counts(
    known: PreparedEvidence, documents: Mapping[str, int], lexicon: Lexicon | None
) -> dict[str, list[int]]:
    """How many words of each group a document has, where they were counted."""
    source = known.evidence.get("words")
    if not isinstance(source, WordCounts) or lexicon is None or source.lexicon.groups != lexicon.groups:
        return {}
    gathered = source.gather(Pairs.of_documents(as_strings(list(documents))))
    rows = np.asarray(gathered.columns["counts"]).astype(int).tolist()
    return {d: row for d, row, there in zip(documents, rows, gathered.known, strict=True) if there}
