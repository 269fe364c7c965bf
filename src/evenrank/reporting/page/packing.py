"""The data of the queries as the file holds them: an index that is read at once, and packed parts for need.

The index has what is sorted and filtered by. A part has the lists of some queries, or the texts of some
documents, compressed; it is unpacked when one of them is looked at. Documents stand in the order in which
queries show them, so that a query needs few parts.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenrank.comparison.value_bins import rounded, value_bins
from evenrank.reporting.page import safe

TOGETHER, TEXTS_TOGETHER = 25, 400  # queries of a part, documents of another
LEVEL = 6  # of compression: the highest takes five times as long for a report that is 1% smaller
LISTED = ("facts", "lists", "before", "effects", "changes", "reasons")  # of a query, in its part


@dataclass(frozen=True)
class PackedQueries:
    """``order`` has the places of queries in the data that they were packed from, as the index has them."""

    index: dict[str, Any]
    parts: tuple[str, ...]
    texts: tuple[str, ...]
    order: tuple[int, ...]


def packed(data: Mapping[str, Any], categories: Mapping[str, Sequence[str]]) -> PackedQueries:
    """Queries stand in the order that they are shown in at first."""
    order = data["order"][0][data["system"]]
    queries = [data["queries"][place] for place in order]
    names = sorted({name for query in queries for name in categories.get(query["key"], ())})
    index = {
        **{name: data[name] for name in ("systems", "measures", "baseline", "system", "compared", "groups")},
        "listed": any("lists" in query for query in queries),
        "ids": [query["id"] for query in queries],
        "texts": [query["text"] for query in queries],
        "why": [query.get("why", "") for query in queries] if any("why" in q for q in queries) else [],
        "categories": [safe.name(name) for name in names],
        "of": [[names.index(name) for name in categories.get(query["key"], ())] for query in queries]
        if names
        else [],
        "values": _joined(queries, "values"),
        "differences": _joined(queries, "differences"),
        "bins": [_bins(queries, measure) for measure in range(len(data["measures"]))],
        "together": TOGETHER,
        "textsTogether": TEXTS_TOGETHER,
    }
    if not index["listed"]:
        index["reasons"] = [query.get("reasons", {}) for query in queries]
        return PackedQueries(index, (), (), tuple(order))
    used = list(dict.fromkeys(place for query in queries for place in query["documents"]))
    spot = {place: n for n, place in enumerate(used)}
    lists = [_lists(query, spot) for query in queries]
    texts = [data["documents"][place] for place in used]
    return PackedQueries(index, _parts(lists, TOGETHER), _parts(texts, TEXTS_TOGETHER), tuple(order))


def _parts(rows: Sequence[Any], together: int) -> tuple[str, ...]:
    parts = (rows[begin : begin + together] for begin in range(0, len(rows), together))
    return tuple(pack(safe.script_json(part)) for part in parts)


def _joined(queries: Sequence[Mapping[str, Any]], name: str) -> list[list[str]]:
    """For each measure and system the numbers of all queries, with blanks between."""
    if not queries or name not in queries[0]:
        return []
    measures, systems = len(queries[0][name]), len(queries[0][name][0]) if queries[0][name] else 0
    return [[" ".join(q[name][m][s] for q in queries) for s in range(systems)] for m in range(measures)]


def _bins(queries: Sequence[Mapping[str, Any]], measure: int) -> dict[str, Any]:
    """The histogram of the values as they are written, since the script filters by those."""
    rows = [rounded(query["values"][measure]) for query in queries]
    found = value_bins(np.array(rows)) if rows else value_bins(np.zeros((0, 0)))
    return {"edges": list(found.edges), "counts": [list(row) for row in found.counts]}


def _lists(query: Mapping[str, Any], spot: Mapping[int, int]) -> dict[str, Any]:
    own = {name: query[name] for name in LISTED if name in query}
    return {"documents": [spot[place] for place in query["documents"]], **own}


def pack(text: str) -> str:
    """A text compressed, in letters that can stand in a script element."""
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), LEVEL)).decode()


def unpacked(part: str) -> Any:
    """What ``packed`` put into a part."""
    return json.loads(zlib.decompress(base64.b64decode(part)))
