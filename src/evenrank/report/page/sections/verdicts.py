"""Who is favoured: the sentence of every verdict, and the shares that it rests on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from evenrank.report.page import safe
from evenrank.report.page.rendering import Section, render, section
from evenrank.report.page.report_data import ReportData
from evenrank.verdict import GroupFinding, Verdict, without_verdict
from evenrank.verdict.sentences import (
    describe,
    describe_advice,
    describe_relevance,
    describe_small_groups,
    describe_target,
    describe_worst,
    percent,
)
from evenrank.verdict.targets import CANDIDATES, CATALOGUE, EQUAL, target_means

LIMITS = (
    "Places count by the attention that they get, 1/log2(1 + rank). Favoured means more attention than the "
    "target, and nothing about why: the reason is not in these data. Intervals hold for all groups of all "
    "attributes together, and allow for documents that several queries share."
)


@section(5)
def verdicts_section(material: ReportData) -> Section | None:
    if not material.verdicts:
        return None
    several = len({verdict.system for verdict in material.verdicts}) > 1
    cards = [_card(verdict, several=several) for verdict in material.verdicts]
    relevance = dict.fromkeys(
        (f"{safe.name(verdict.system)}: " if several else "") + describe_relevance(verdict.relevance)
        for verdict in material.verdicts
    )
    left_out = () if material.inputs is None else without_verdict(material.inputs)
    told = [_sentence(text) for text in (*left_out, *relevance, *_other_targets(material.verdicts))]
    body = render("verdicts.html", cards=cards, relevance=told, limits=LIMITS)
    return Section("verdicts", "Who is favoured", body)


def _card(verdict: Verdict, *, several: bool) -> dict[str, Any]:
    texts = (describe_target(verdict), describe_worst(verdict), describe_advice(verdict))
    notes = (describe_small_groups(verdict), *verdict.notes)
    return {
        "title": (f"{verdict.system}: " if several else "") + verdict.attribute,
        "sentence": describe(verdict),
        "texts": [_sentence(text) for text in texts if text],
        "notes": [note for note in notes if note],
        "places": verdict.cutoff,
        "rows": [_row(group) for group in verdict.groups],
    }


def _other_targets(verdicts: Sequence[Verdict]) -> list[str]:
    """The targets that were not taken, each with what it means: which is right is not in the data either."""
    taken = {verdict.target for verdict in verdicts}
    depth = verdicts[0].depth
    left = [kind for kind in (CATALOGUE, CANDIDATES, EQUAL) if kind not in taken]
    means = {kind: target_means(kind, depth).removeprefix("Target: ").removesuffix(".") for kind in left}
    return [f"another target, {kind}: {meaning}" for kind, meaning in means.items()]


def _row(group: GroupFinding) -> dict[str, str]:
    return {
        "group": group.value,
        "documents": f"{group.documents:,.0f}",
        "catalogue": _share(group.catalogue),
        "candidates": _share(group.candidates),
        "share": _share(group.share),
        "target": _share(group.target),
        "difference": _points(group.difference),
        "interval": "" if math.isnan(group.low) else f"{_points(group.low)} to {_points(group.high)}",
        "decision": "no verdict" if group.decision == "too few" else group.decision,
    }


def _share(value: float) -> str:
    return "not known" if math.isnan(value) else percent(value)


def _points(value: float) -> str:
    return "" if math.isnan(value) else f"{100 * value:+.1f}"


def _sentence(text: str) -> str:
    text = text[0].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."
