"""Lists before and after a swap, side by side, as plain data for a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenrank.counterfactuals.swap import Swapped
from evenrank.counterfactuals.table import SwapRow
from evenrank.data.run import Run
from evenrank.tables import interval

SHOWN = 500  # characters of a text

Piece = tuple[str, bool]  # a part of a text, and whether the swap is about it


def sheets(
    rows: Sequence[SwapRow], documents: Mapping[str, str], queries: Mapping[str, str], depth: int, most: int
) -> list[dict[str, Any]]:
    """For each system and kind of swap the queries that move most, with both of their lists."""
    return [
        {
            "system": row.system,
            "swapped": row.swapped,
            "crbo": row.result.crbo,
            "interval": interval(*row.result.interval),
            "queries": row.result.defined,
            "changed": len(row.result.changed),
            "documents": row.result.documents,
            "lists": [
                _pair(row, query, value, documents, queries, depth) for query, value in row.result.moved(most)
            ],
        }
        for row in rows
    ]


def _pair(
    row: SwapRow,
    query: str,
    value: float,
    documents: Mapping[str, str],
    queries: Mapping[str, str],
    depth: int,
) -> dict[str, Any]:
    result = row.result
    asked = result.queries.get(query)

    def side(own: Run, other: Run, new: bool) -> list[dict[str, Any]]:
        """The documents of a list, with their ranks in the other one."""
        elsewhere = {document: rank for rank, document in enumerate(_head(other, query, depth), 1)}
        return [
            {
                "rank": rank,
                "document": document,
                "elsewhere": elsewhere.get(document),
                "pieces": shortened(pieces(documents[document], result.changed.get(document), new)),
            }
            for rank, document in enumerate(_head(own, query, depth), 1)
        ]

    return {
        "query": query,
        "rbo": value,
        "text": pieces(queries[query], asked, new=False),
        "text_after": None if asked is None else pieces(queries[query], asked, new=True),
        "before": side(result.original, result.swapped, new=False),
        "after": side(result.swapped, result.original, new=True),
    }


def _head(run: Run, query: str, depth: int) -> list[str]:
    return run.documents(query)[:depth] if query in run else []


def pieces(text: str, swapped: Swapped | None, new: bool) -> list[Piece]:
    """The original text, or the new one, the words that were swapped marked."""
    if swapped is None:
        return _pieces(text, ())
    return (
        _pieces(swapped.text, swapped.spans())
        if new
        else _pieces(text, ((change.start, change.end) for change in swapped.changes))
    )


def _pieces(text: str, spans: Iterable[tuple[int, int]]) -> list[Piece]:
    found: list[Piece] = []
    end = 0
    for start, stop in spans:
        found += [(text[end:start], False), (text[start:stop], True)]
        end = stop
    return [piece for piece in [*found, (text[end:], False)] if piece[0]]


def shortened(pieces: Sequence[Piece], limit: int = SHOWN) -> list[Piece]:
    """The beginning of a text, or what is around its first mark if that lies behind it; an ellipsis says
    that there is more."""
    kept: list[Piece] = []
    left = limit
    if len(pieces) > 1 and not pieces[0][1] and len(pieces[0][0]) >= limit:
        before = pieces[0][0][-max(1, limit // 4) :]
        pieces = [(before[before.find(" ") + 1 :], False), *pieces[1:]]  # from the beginning of a word
        kept.append(("… ", False))
    for text, marked in pieces:
        if left <= 0:
            return [*kept, (" …", False)]
        kept.append((text[:left], marked))
        if len(text) > left:
            return [*kept, (" …", False)]
        left -= len(text)
    return kept
