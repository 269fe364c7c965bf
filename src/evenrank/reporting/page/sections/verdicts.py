"""The first thing that a reader sees: who is favoured, how sure that is, where, and what to do about it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from evenrank.data.attribute import CANDIDATES, CATALOGUE, EQUAL
from evenrank.errors import counted
from evenrank.measures import Direction
from evenrank.reporting.page import safe
from evenrank.reporting.page.paths import without_folders
from evenrank.reporting.page.rendering import Section, render, section
from evenrank.reporting.page.report_data import ReportData, worst_first
from evenrank.reporting.page.sections.summary import counted_finding, finding_of, is_relevance
from evenrank.tables import number
from evenrank.verdict import GroupFinding, Verdict, describe, without_verdict
from evenrank.verdict.changes import describe_changes
from evenrank.verdict.sentences import (
    describe_advice,
    describe_reach,
    describe_relevance,
    describe_small_groups,
    describe_target,
    describe_undecided,
    percent,
    signed_points,
)
from evenrank.verdict.sureness import NOTHING_KNOWN, ONLY_SCORES, describe_no_advice, describe_sureness
from evenrank.verdict.targets import target_means
from evenrank.verdict.value import NOT_SHOWN, TOO_FEW

WORST = 3
FEW_SYSTEMS = 4  # with more, systems are counted and not named
FEW_QUERIES = 50  # with fewer, intervals are rough
CAVEATS = 3  # in the card; the rest is one click away
LONGEST = 110  # characters of a query
LIMITS = (
    "Places count by the attention that they get, 1/log2(1 + rank). Favoured means more attention than the "
    "target, and nothing about why: the reason is not in these data. Intervals hold for all groups of all "
    "attributes together. They are about other queries, and about chance in which documents, or units that "
    "labels belong to, carry which label."
)


@dataclass(frozen=True)
class AboutAttribute:
    """What is said of one attribute."""

    attribute: str
    sentence: str


@dataclass(frozen=True)
class AboutQuery:
    """A query that is named in the card, and where it stands in the page."""

    text: str
    detail: str
    link: str


@section(5)
def verdicts_section(material: ReportData) -> Section:
    found = material.findings
    own = found.of(found.system)
    headline = own[0] if own else None
    caveats = list(dict.fromkeys(_ended(text) for text in _caveats(material, own)))
    body = render(
        "verdicts.html",
        system=safe.name(found.system) if len(material.systems) > 1 and own else "",
        headline=_about(headline) if headline else AboutAttribute("", _nothing(material)),
        others=[_about(verdict) for verdict in own[1:]],
        sure=describe_sureness(headline) if headline else "",
        target=describe_target(headline).removeprefix("Target: ") if headline else "",
        relevance=list(_relevance(material, headline)),
        baseline=safe.name(material.baseline or ""),
        changes=list(_changes(material)),
        worst_title=_worst_title(material, own),
        worst=list(_worst(material, own)),
        advice=list(_advice(own)) or ["Tell which groups documents belong to, and run it again."],
        commands=[
            without_folders(shlex.join(verdict.advice.command))
            for verdict in own
            if verdict.advice is not None and verdict.advice.command
        ],
        tried=any(verdict.less for verdict in own) and material.inputs is not None,
        caveats=caveats[:CAVEATS],
        more=caveats[CAVEATS:],
        cards=[_card(verdict, several=len(material.systems) > 1) for verdict in found.verdicts],
        targets=[_sentence(text) for text in _other_targets(found.verdicts)],
        limits=LIMITS if found.verdicts else "",
    )
    return Section("verdicts", "Who is favoured", body)


def _about(verdict: Verdict) -> AboutAttribute:
    """The sentence of a verdict. Names stay as they are written, words of ours begin with a capital."""
    text = describe(verdict)
    if not text.startswith(f"{verdict.attribute}: "):
        return AboutAttribute("", text)
    text = text.removeprefix(f"{verdict.attribute}: ")
    ours = not any(text.startswith(group.value) for group in verdict.groups)
    return AboutAttribute(verdict.attribute, _capital(text) if ours else text)


def _nothing(material: ReportData) -> str:
    return ONLY_SCORES if material.inputs is None else NOTHING_KNOWN


def _relevance(material: ReportData, headline: Verdict | None) -> Iterator[str]:
    """What is known of relevance, and what is shown of it against the baseline."""
    known = headline is not None and bool(headline.relevance.measure)
    if headline is not None:
        text = describe_relevance(headline.relevance)
        yield _ended(text.removeprefix("relevance: ") if known else _capital(text))
    table = next((table for table in material.tables if is_relevance(table)), None)
    if table is None:
        return
    found = finding_of(material, table)
    same = headline is not None and headline.relevance.measure == repr(table.measure)
    if len(material.systems) > FEW_SYSTEMS and material.comparison is not None:
        said = counted_finding(material, table)
        yield f"{found.measure}: {said[:1].lower()}{said[1:]}"
    elif headline is None or material.comparison is not None:
        sentences = found.sentences[1:] if same else found.sentences
        yield (f"{found.measure}: " * (not same)) + " ".join(sentences)


def _changes(material: ReportData) -> Iterator[str]:
    if material.findings.changes:
        yield from (safe.name(text) for text in describe_changes(material.findings.changes))
    elif material.comparison is not None:
        found = finding_of(material, material.main)
        yield f"{found.measure}: {' '.join(found.sentences)}"


def _worst_title(material: ReportData, own: Sequence[Verdict]) -> str:
    verdict = next((verdict for verdict in own if verdict.worst), None)
    if verdict is None:
        return f"Worst queries by {safe.name(material.main.shown)}"
    return f"Worst queries for {safe.name(verdict.less[0].value)}"


def _worst(material: ReportData, own: Sequence[Verdict]) -> Iterator[AboutQuery]:
    """The queries that give a group least, else those with the worst value of the main measure."""
    verdict = next((verdict for verdict in own if verdict.worst), None)
    if verdict is not None:
        for one in verdict.worst[:WORST]:
            found = "" if math.isnan(one.candidates) else f", {percent(one.candidates)} of what was found"
            detail = f"{percent(one.share)} of the attention in the first {verdict.cutoff}{found}"
            yield _query(material, one.query, one.text, detail)
        return
    table, system = material.main, material.findings.system or material.system
    if system not in table.systems:
        return
    values = table.values[:, table.systems.index(system)].tolist()
    measure = table.measure
    best = {Direction.HIGHER: measure.bounds[1], Direction.LOWER: measure.bounds[0]}.get(measure.direction)
    rows = [row for row, value in enumerate(values) if not math.isnan(value) and value != best]
    for row in sorted(rows, key=lambda row: (worst_first(table, values[row]), row))[:WORST]:
        yield _query(material, table.query_ids[row], "", number(values[row]))


def _query(material: ReportData, query: str, text: str, detail: str) -> AboutQuery:
    shown = safe.prose(" ".join((text or material.query_text(query)).split())) or safe.name(query)
    shown = shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1].rstrip()}…"
    return AboutQuery(shown, detail, f"#q={quote(query, safe='')}")


def _advice(own: Sequence[Verdict]) -> Iterator[str]:
    advice = [(verdict, describe_advice(verdict)) for verdict in own]
    shown = [_ended(text.removeprefix("to try: ")) for _, text in advice if text]
    yield from shown
    yield from (_sentence(reach) for verdict in own if (reach := describe_reach(verdict)))
    if not shown and own:
        yield describe_no_advice(next((verdict for verdict in own if verdict.less), own[0]))


def _caveats(material: ReportData, own: Sequence[Verdict]) -> Iterator[str]:
    """What changes how the verdicts are to be read, the most important first."""
    for verdict in own:
        yield from verdict.notes
    if material.inputs is not None:
        yield from without_verdict(material.inputs)
    for verdict in own:
        if small := describe_small_groups(verdict):
            yield small
    if own and own[0].queries < FEW_QUERIES:
        yield f"Intervals over {counted(own[0].queries, 'query', 'queries')} are rough"


def _card(verdict: Verdict, *, several: bool) -> dict[str, Any]:
    return {
        "title": (f"{verdict.system}: " if several else "") + verdict.attribute,
        "sentence": describe(verdict),
        "places": verdict.cutoff,
        "rows": [_row(group) for group in verdict.groups],
    }


def _other_targets(verdicts: Sequence[Verdict]) -> list[str]:
    """The targets that were not taken, each with what it means: which is right is not in the data either."""
    if not verdicts:
        return []
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
        "queries": ""
        if math.isnan(group.queries_low)
        else f"{percent(group.queries_low)} to {percent(group.queries_high)}",
        "decision": _decision(group),
    }


def _decision(group: GroupFinding) -> str:
    if group.decision == NOT_SHOWN:
        return f"{NOT_SHOWN}: {describe_undecided(group)}"
    return "no verdict" if group.decision == TOO_FEW else group.decision


def _share(value: float) -> str:
    return "not known" if math.isnan(value) else percent(value)


def _points(value: float) -> str:
    return "" if math.isnan(value) else signed_points(value)


def _sentence(text: str) -> str:
    return _ended(_capital(text))


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _ended(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."
