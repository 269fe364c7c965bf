"""What if: a slider over steps of a re-ranker that were made before, for all queries and for one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from evenrank.data.evidence_source import Pairs
from evenrank.data.membership import Membership
from evenrank.ids import as_strings
from evenrank.reporting.page import safe
from evenrank.reporting.page.group_colours import looks_of
from evenrank.reporting.page.rendering import Section, render, section
from evenrank.reporting.page.report_data import ReportData
from evenrank.tables import number
from evenrank.verdict import Verdict
from evenrank.verdict.attributes import group_attributes
from evenrank.verdict.sentences import percent
from evenrank.verdict.what_if import WhatIf, WhatIfStep, what_if

QUERIES = 100  # that can be looked at one by one, the worst first


@section(22)
def what_if_section(material: ReportData) -> Section | None:
    found = material.findings
    verdict = next((verdict for verdict in found.of(found.system) if verdict.less), None)
    if verdict is None or material.inputs is None:
        return None
    tried = what_if(verdict, material.inputs)
    if tried is None:
        return None
    body = render(
        "what_if.html",
        system=safe.name(tried.system),
        group=safe.name(tried.group),
        method=safe.name(tried.method),
        measure=tried.measure,
        target=percent(tried.target),
        steps=[_step(tried, step) for step in tried.steps],
        queries=[text for _, text in _queries(material, tried, verdict)],
        places=tried.cutoff,
    )
    return Section("whatif", "What if", body, named_data=("whatif-data", _data(material, tried, verdict)))


def _step(tried: WhatIf, step: WhatIfStep) -> dict[str, str]:
    return {
        "strength": "as it is" if step.strength == 0 else f"{step.strength:.0%}",
        "share": percent(step.share),
        "value": number(step.value) if tried.measure else "",
        "words": f"{safe.name(tried.group)} {percent(step.share)}"
        + (f", {tried.measure} {number(step.value)}" if tried.measure else ""),
    }


def _queries(material: ReportData, tried: WhatIf, verdict: Verdict) -> list[tuple[int, str]]:
    """Places of queries and what they ask: those of the card first, then those with the lowest share."""
    named = [one.query for one in verdict.worst]
    shares = np.nan_to_num(tried.steps[0].shares, nan=np.inf)
    order = [*(tried.queries.index(query) for query in named), *np.argsort(shares, kind="stable").tolist()]
    kept = list(dict.fromkeys(order))[:QUERIES]
    return [
        (place, safe.prose(material.query_text(tried.queries[place])) or safe.name(tried.queries[place]))
        for place in kept
    ]


def _data(material: ReportData, tried: WhatIf, verdict: Verdict) -> dict[str, Any]:
    """For each query its documents once, and for each step their places."""
    if material.inputs is None:
        return {}
    own = group_attributes(material.inputs)
    membership = next(one for one in own if one.attribute.name == tried.attribute)
    looks = looks_of(membership.attribute.values)
    queries = []
    for place, _ in _queries(material, tried, verdict):
        query = tried.queries[place]
        lists = [step.run.documents(query)[: tried.cutoff] for step in tried.steps]
        before = {d: rank for rank, d in enumerate(tried.steps[0].run.documents(query), 1)}
        documents = list(dict.fromkeys(d for found in lists for d in found))
        groups = _groups(membership, query, documents)
        queries.append(
            {
                "documents": [[safe.name(d), groups[d], before.get(d, 0)] for d in documents],
                "lists": [[documents.index(d) for d in found] for found in lists],
                "words": [
                    f"{safe.name(tried.group)} {_share(step.shares[place])}"
                    + (f", {tried.measure} {number(float(step.relevance[place]))}" if tried.measure else "")
                    for step in tried.steps
                ],
            }
        )
    return {
        "groups": [[look.label, look.mark, look.style] for look in looks.values()],
        "words": [_step(tried, step)["words"] for step in tried.steps],
        "strengths": [_step(tried, step)["strength"] for step in tried.steps],
        "queries": queries,
    }


def _share(value: float) -> str:
    return "undefined" if math.isnan(value) else percent(float(value))


def _groups(membership: Membership, query: str, documents: list[str]) -> Mapping[str, int]:
    """The group that a document belongs to most; -1 where it has none."""
    rows = membership.rows_of(Pairs.of_documents(as_strings(documents), query))
    members = membership.shares.dense(rows)
    return {d: int(members[n].argmax()) if rows[n] >= 0 else -1 for n, d in enumerate(documents)}
