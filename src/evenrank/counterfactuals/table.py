"""What a counterfactual experiment found, as tables: systems, queries, documents."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from evenrank.counterfactuals.experiment import Counterfactual, between
from evenrank.counterfactuals.single import Move
from evenrank.scores import Scores
from evenrank.scores.render import printable

ALL = "all words"


class Row(NamedTuple):
    """One system under one kind of swap; ``beside`` are measures of its original lists."""

    system: str
    swapped: str
    result: Counterfactual
    beside: Mapping[str, float]


def merged(rows: Sequence[Row]) -> Scores:
    """The values of every query, one run a system and kind of swap."""
    blocks, notes = [], {}
    for row in rows:
        name = row.system if row.swapped == ALL else f"{row.system} ({row.swapped})"
        blocks += [replace(block, run=name) for block in row.result.scores.blocks]
        notes[name] = tuple(note for said in row.result.scores.notes.values() for note in said)
    return Scores(tuple(blocks), notes)


def cells(row: Row) -> dict[str, str | float | int]:
    low, high = row.result.interval
    return {
        "system": row.system,
        "swapped": row.swapped,
        "crbo": row.result.crbo,
        "low": low,
        "high": high,
        "queries": len(row.result.scores.blocks[0].defined(0)),
        "documents_changed": len(row.result.changed),
        "documents": row.result.documents,
        **row.beside,
    }


def as_text(rows: Sequence[Row]) -> str:
    head = ["system", "swapped", "CRBO", "95% interval", "queries", *(rows[0].beside if rows else ())]
    body = []
    for row in rows:
        value = f"{row.result.crbo:.4f}"
        shown = [printable(row.system), row.swapped, value, between(row.result.interval).strip()]
        shown.append(str(len(row.result.scores.blocks[0].defined(0))))
        body.append([*shown, *(f"{value:.4f}" for value in row.beside.values())])
    return aligned(head, body, text_columns=2)


def as_tsv(rows: Sequence[Row]) -> str:
    records = [cells(row) for row in rows]
    lines: list[list[object]] = [list(records[0])] if records else []
    lines += [list(record.values()) for record in records]
    return "".join("\t".join(map(_cell, line)) + "\n" for line in lines)


def as_jsonl(rows: Sequence[Row]) -> str:
    records = [{key: _plain(value) for key, value in cells(row).items()} for row in rows]
    return "".join(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records)


def _plain(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value


def moved_text(row: Row, queries: Mapping[str, str], count: int) -> str:
    """The queries that move most."""
    moved = row.result.moved(count)
    if not moved:
        return f"{printable(row.system)}, {row.swapped}: no list moved\n"
    body = [[printable(query), f"{value:.4f}", printable(queries[query])] for query, value in moved]
    title = f"{printable(row.system)}, {row.swapped}: the lists that move most\n"
    return title + aligned(["query", "RBO", "text"], body, text_columns=1, last_is_text=True)


def moves_text(system: str, moves: Sequence[Move], count: int) -> str:
    """The documents that move most when they alone are swapped."""
    if not moves:
        return f"{printable(system)}: no document of the lists has a word to swap\n"
    away = [move for move in moves if move.by != 0]
    fell = sum(move.by is None or move.by > 0 for move in moves)
    title = (
        f"{printable(system)}, one document at a time: of {len(moves):,} places {fell:,} fall and "
        f"{len(away) - fell:,} rise\n"
    )
    largest = sorted(away, key=lambda m: -(10**9 if m.by is None else abs(m.by)))[:count]
    body = [
        [
            printable(m.query),
            printable(m.document),
            str(m.before),
            "gone" if m.after is None else str(m.after),
        ]
        for m in largest
    ]
    return title + (aligned(["query", "document", "rank", "then"], body, text_columns=2) if body else "")


def moves_tsv(moves: Mapping[str, Sequence[Move]]) -> str:
    lines = ["system\tquery\tdocument\tbefore\tafter"]
    for system, found in moves.items():
        for move in found:
            cells = (system, *move[:3], "" if move.after is None else move.after)
            lines.append("\t".join(map(_cell, cells)))
    return "\n".join(lines) + "\n"


def aligned(
    head: Sequence[str], body: Sequence[Sequence[str]], *, text_columns: int, last_is_text: bool = False
) -> str:
    """Columns under their heads: text to the left, numbers to the right."""
    widths = [max(len(line[at]) for line in [head, *body]) for at in range(len(head))]
    lines = []
    for line in [head, *body]:
        parts = []
        for at, (cell, width) in enumerate(zip(line, widths, strict=True)):
            left = at < text_columns or (last_is_text and at == len(head) - 1)
            parts.append(f"{cell:<{width}}" if left else f"{cell:>{width}}")
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6f}"
    text = str(value)
    return text.replace("\t", " ").replace("\n", " ").replace("\r", " ")
