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
    found = []
    for system, swapped, result, _ in rows:

        def side(
            query: str, own: Run, other: Run, *, after: bool, changed: Mapping[str, Swapped] = result.changed
        ) -> list[dict[str, Any]]:
            """The documents of a list, with their ranks in the other one."""
            elsewhere = {document: rank for rank, document in enumerate(_head(other, query, depth), 1)}
            return [
                {
                    "rank": rank,
                    "document": document,
                    "elsewhere": elsewhere.get(document),
                    "pieces": _shortened(_pieces(documents[document], changed.get(document), after)),
                }
                for rank, document in enumerate(_head(own, query, depth), 1)
            ]

        lists = [
            {
                "query": query,
                "rbo": value,
                "text": _pieces(queries[query], asked := result.queries.get(query), after=False),
                "text_after": None if asked is None else _pieces(queries[query], asked, after=True),
                "before": side(query, result.original, result.swapped, after=False),
                "after": side(query, result.swapped, result.original, after=True),
            }
            for query, value in result.moved(most)
        ]
        found.append({
            "system": system,
            "swapped": swapped,
            "crbo": result.crbo,
            "interval": interval(*result.interval),
            "queries": result.defined,
            "changed": len(result.changed),
            "documents": result.documents,
            "lists": lists,
        })  # fmt: skip
    return found


def _head(run: Run, query: str, depth: int) -> list[str]:
    return run.documents(query)[:depth] if query in run else []


def _pieces(text: str, swapped: Swapped | None, after: bool) -> list[Piece]:
    """The original text, or the new one, the words that were swapped marked."""
    spans: Iterable[tuple[int, int]] = ()
    if swapped is not None and after:
        text, spans = swapped.text, swapped.spans()
    elif swapped is not None:
        spans = ((change.start, change.end) for change in swapped.changes)
    found, end = list[Piece](), 0
    for start, stop in spans:
        found += [(text[end:start], False), (text[start:stop], True)]
        end = stop
    return [piece for piece in [*found, (text[end:], False)] if piece[0]]


def _shortened(pieces: Sequence[Piece], limit: int = SHOWN) -> list[Piece]:
    """The beginning of a text, or what is around its first mark if that lies behind it; an ellipsis says
    that there is more."""
    kept: list[Piece] = []
    left = limit
    if len(pieces) > 1 and not pieces[0][1] and len(pieces[0][0]) >= limit:
        before = pieces[0][0][-max(1, limit // 4) :]
        pieces = [(before[before.find(" ") + 1 :], False), *pieces[1:]]  # from the beginning of a word
        kept.append(("… ", False))
    for text, marked in pieces:
        if left > 0:
            kept.append((text[:left], marked))
        left -= len(text)
    return kept if left >= 0 else [*kept, (" …", False)]
