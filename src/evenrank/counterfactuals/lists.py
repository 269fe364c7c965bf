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
            "queries": len(row.result.scores.blocks[0].defined(0)),
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
    before, after = (_head(run, query, depth) for run in (result.original, result.swapped))
    ranks = [{document: rank for rank, document in enumerate(found, 1)} for found in (before, after)]
    asked = result.queries.get(query)
    return {
        "query": query,
        "rbo": value,
        "text": before_pieces(queries[query], asked),
        "text_after": after_pieces(asked) if asked is not None else None,
        "before": [
            {
                "rank": rank,
                "document": document,
                "elsewhere": ranks[1].get(document),
                "pieces": shortened(before_pieces(documents[document], result.changed.get(document))),
            }
            for rank, document in enumerate(before, 1)
        ],
        "after": [
            {
                "rank": rank,
                "document": document,
                "elsewhere": ranks[0].get(document),
                "pieces": shortened(
                    after_pieces(result.changed[document])
                    if document in result.changed
                    else [(documents[document], False)]
                ),
            }
            for rank, document in enumerate(after, 1)
        ],
    }


def _head(run: Run, query: str, depth: int) -> list[str]:
    return run.documents(query)[:depth] if query in run else []


def before_pieces(text: str, swapped: Swapped | None) -> list[Piece]:
    """The original text, the words that were swapped marked."""
    spans = [] if swapped is None else [(change.start, change.end) for change in swapped.changes]
    return _pieces(text, spans)


def after_pieces(swapped: Swapped) -> list[Piece]:
    """The new text, the words that were put in marked."""
    return _pieces(swapped.text, swapped.spans())


def _pieces(text: str, spans: Iterable[tuple[int, int]]) -> list[Piece]:
    pieces: list[Piece] = []
    end = 0
    for start, stop in spans:
        pieces += [(text[end:start], False), (text[start:stop], True)]
        end = stop
    return [piece for piece in [*pieces, (text[end:], False)] if piece[0]]


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
