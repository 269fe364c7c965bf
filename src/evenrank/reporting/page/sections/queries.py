"""Queries, worst first, and the documents that made them so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenrank.measures import Direction
from evenrank.reporting.page.lists import PageLists, lists_of
from evenrank.reporting.page.packing import packed
from evenrank.reporting.page.rendering import Section, render, section
from evenrank.reporting.page.report_data import ReportData

SILENT = ("-", "0")  # effects that are not shown


@section(50)
def queries_section(material: ReportData) -> Section:
    lists = lists_of(material)
    data = lists.data
    found = packed(data, material.categories)
    readable = min(material.readable, len(found.order))
    shown = [
        query_view(data, place, query, readable=True) for place, query in enumerate(found.order[:readable], 1)
    ]
    body = render(
        "queries.html",
        queries=shown,
        count=len(found.order),
        data=data,
        categories=found.index["categories"],
        system=data["systems"][data["system"]],
        baseline=None if data["baseline"] < 0 else data["systems"][data["baseline"]],
        measure=data["measures"][0],
        how=_how(material),
        lists=bool(material.runs),
        readable=readable,
        marks=data["groups"],
        notes=list(_describe_lists(material, lists)),
    )
    parts = [*(("part", part) for part in found.parts), *(("texts", part) for part in found.texts)]
    return Section("queries", "Queries", body, data=found.index, parts=parts)


def _how(material: ReportData) -> str:
    direction = material.main.measure.direction
    if direction is Direction.SIGNED:
        return "largest first, on either side"
    if direction is Direction.HIGHER:
        return "lowest first"
    return "highest first"


def _describe_lists(material: ReportData, lists: PageLists) -> Sequence[str]:
    """What to know about the lists below, a sentence each."""
    notes = []
    if not material.runs:
        return [
            "Only scores are known here, no ranked lists: documents cannot be shown. "
            "Compare runs to see them."
        ]
    if material.documents is None:
        notes.append("No texts were given (documents=, --documents): documents are shown by their ids.")
    else:
        if lists.shortened:
            notes.append("Long texts are shortened to their beginning and what stands around group words.")
        if lists.without_text:
            notes.append(
                f"{lists.without_text:,} of {len(lists.data['documents']):,} documents have no text here."
            )
    if "adds" in lists.effects:
        notes.append(
            "“adds” is what a document adds to the value of its list"
            + (
                ", and in brackets how much more that is than in the baseline's."
                if material.baseline
                else "."
            )
        )
    if "without" in lists.effects:
        notes.append(
            "“without it” is how the value would change if the document were removed and those below it "
            "moved up: the measure is not a sum over ranks."
        )
    return notes


def query_view(data: dict[str, Any], place: int, query: int, *, readable: bool) -> dict[str, Any]:
    """What is shown of one query, as the script shows it, for the first measure and the chosen system."""
    entry, system, base = data["queries"][query], data["system"], data["baseline"]
    values = entry["values"][0]
    return {
        "index": query,
        "place": place,
        "id": entry["id"],
        "text": entry["text"],
        "why": entry.get("why"),
        "value": values[system],
        "before": values[base] if base >= 0 and base != system else None,
        **change_view(entry, data, system),
        "list": list_view(data, query, system, 0) if readable else None,
    }


def change_view(entry: dict[str, Any], data: dict[str, Any], system: int) -> dict[str, Any]:
    """The change against the baseline, with its sign, and whether that is better or worse."""
    if data["baseline"] in (-1, system):
        return {"change": None, "kind": ""}
    change = entry["differences"][0][system]
    sign = {"+": 1, "-": -1}.get(change[:1], 0) if change not in SILENT else 0
    kind = {1: "better", -1: "worse"}.get(sign * data["measures"][0]["better"], "")
    return {"change": None if change == "-" else change, "kind": kind}


def list_view(data: dict[str, Any], query: int, system: int, measure: int) -> dict[str, Any]:
    """The ranked documents of one query. ``page.js`` does the same: a test compares the two."""
    entry, base = data["queries"][query], data["baseline"]
    compared = data["compared"] and base != system
    reason = entry.get("reasons", {}).get(f"{measure}-{system}")
    view: dict[str, Any] = {
        "reason": reason, "rows": [], "left": [], "listed": "lists" in entry, "nothing": ""
    }  # fmt: skip
    if not view["listed"]:
        return view
    word = data["measures"][measure]["effect"]
    pool = [int(place) for place in entry["lists"][system].split()]
    effects = _words(entry["effects"], measure, system)
    changes = _words(entry.get("changes", ()), measure, system) if compared else []
    for rank, place in enumerate(pool, 1):
        document = data["documents"][entry["documents"][place]]
        effect = effects[rank - 1] if rank <= len(effects) else "-"
        change = changes[rank - 1] if rank <= len(changes) else "-"
        view["rows"].append(
            {
                "rank": rank,
                "moved": moved(rank, entry["before"][place]) if compared else None,
                "document": document[0],
                "url": document[3],
                "pieces": pieces_view(data, document[1]),
                "counts": counts_view(data, document[2]),
                "facts": entry["facts"][place],
                "effect": f"{word} {effect}" if word and effect not in SILENT else None,
                "change": f"({change})" if change not in SILENT and effect not in SILENT else None,
            }
        )
    view["nothing"] = nothing(data["measures"][measure], effects)
    if compared:
        before = [int(place) for place in entry["lists"][base].split()]
        view["left"] = [
            f"{data['documents'][entry['documents'][place]][0]} (was {rank})"
            for rank, place in enumerate(before, 1)
            if place not in pool
        ]
    return view


def nothing(measure: dict[str, Any], effects: Sequence[str]) -> str:
    """Which ranks add nothing, and why."""
    ranks = [str(rank) for rank, effect in enumerate(effects, 1) if effect == "0"]
    if measure["effect"] != "adds" or not ranks:
        return ""
    one = len(ranks) == 1
    why = f" ({measure['nothing']})" if measure["nothing"] else ""
    return f"{'Rank' if one else 'Ranks'} {', '.join(ranks)} {'adds' if one else 'add'} nothing{why}."


def _words(written: Sequence[Sequence[str]], measure: int, system: int) -> list[str]:
    if measure >= len(written) or system >= len(written[measure]):
        return []
    return written[measure][system].split()


def moved(rank: int, before: int) -> tuple[str, str]:
    """How a document moved, as a class and words."""
    if before == 0:
        return "new", "★ new"
    if before == rank:
        return "same", "= same"
    return ("up", f"▲ was {before}") if before > rank else ("down", f"▼ was {before}")


def pieces_view(data: dict[str, Any], pieces: Sequence[Any] | None) -> list[dict[str, Any]] | None:
    if pieces is None:
        return None
    return [
        {"text": piece, "style": None}
        if isinstance(piece, str)
        else {"text": piece[1], "style": data["groups"][piece[0]][2], "mark": data["groups"][piece[0]][1]}
        for piece in pieces
    ]


def counts_view(data: dict[str, Any], counts: Sequence[int] | None) -> list[dict[str, Any]]:
    if counts is None:
        return []
    return [
        {"style": style, "text": f"{label} {mark} {count}"}
        for (label, mark, style), count in zip(data["groups"], counts, strict=False)
        if count
    ]
