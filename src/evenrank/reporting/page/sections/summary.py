"""What was found, in plain words, and what the numbers can and cannot say."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenrank.comparison.comparison_tables import describe_possible
from evenrank.comparison.measure_table import MeasureTable
from evenrank.errors import counted
from evenrank.measures import Direction
from evenrank.reporting.page import safe
from evenrank.reporting.page.paths import without_folders
from evenrank.reporting.page.rendering import Section, render, section
from evenrank.reporting.page.report_data import FAIRNESS, ReportData, best_first
from evenrank.reporting.page.system_tables import pairs_of
from evenrank.scores.notes import remarks
from evenrank.scores.scores import SummaryRow
from evenrank.tables import number

if TYPE_CHECKING:
    from evenrank.comparison import Pair

FINDINGS = 6  # measures in the summary; the tables have all
NAMED = 5  # systems named in a sentence
EQUAL = 1e-12  # sums of the same numbers differ in the last bit
FEW = 30  # queries: with fewer, intervals are rough
TESTS = {
    "t": "Paired t test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "permutation": "Paired permutation test",
}
SHOWN = {
    "better": "Shown to be better than",
    "worse": "Shown to be worse than",
    "differs": "Shown to differ from",
}
UNTESTED = "untested"  # a pair without a p
CORRECTIONS = {
    "none": "not corrected for the number of pairs",
    "bonferroni": "corrected by Bonferroni over the pairs of a measure",
    "holm": "corrected by Holm over the pairs of a measure",
    "bh": "corrected by Benjamini and Hochberg over the pairs of a measure",
}


@dataclass(frozen=True)
class Finding:
    measure: str
    direction: str
    sentences: Sequence[str]


@section(55)
def summary_section(material: ReportData) -> Section:
    body = render(
        "summary.html",
        about=list(_about(material)),
        findings=[finding_of(material, table) for table in material.shown_tables[:FINDINGS]],
        more=max(0, len(material.tables) - FINDINGS),
        limits=list(_limits(material)),
        remarks=[safe.name(without_folders(remark)) for remark in remarks(material.scores)],
    )
    return Section("summary", "In words, and limits", body)


def _about(material: ReportData) -> Iterator[str]:
    queries = len({query for block in material.scores.blocks for query in block.query_ids})
    systems = counted(len(material.systems), "system", "systems")
    yield f"{systems}, {counted(queries, 'query', 'queries')}."
    if material.comparison is not None:
        baselines = ", ".join(map(safe.name, material.comparison.baselines))
        yield f"Others are compared with {baselines}."


def _rows(material: ReportData, table: MeasureTable) -> list[SummaryRow]:
    return [
        row
        for row in material.scores.summary()
        if row.measure == repr(table.measure) and row.column == table.column and math.isfinite(row.value)
    ]


def is_relevance(table: MeasureTable) -> bool:
    """Whether a table is about how well lists answer, not about who is in them."""
    return not {part.family for part in table.measure.parts()} & set(FAIRNESS)


def counted_finding(material: ReportData, table: MeasureTable) -> str:
    """The best system by one measure, and how many differ from the baseline: short, for many systems."""
    rows = sorted(_rows(material, table), key=lambda row: best_first(table, row.value))
    if not rows or material.comparison is None:
        return ""
    tested = [
        pair
        for pairs in pairs_of(material, table).values()
        for pair in pairs
        if pair.baseline == material.baseline
    ]
    verdicts = [UNTESTED if pair.reason is not None else pair.verdict for pair in tested]
    counts = [f"{verdicts.count(kind)} {kind}" for kind in (*SHOWN, UNTESTED) if kind in verdicts]
    none = [pair for pair, verdict in zip(tested, verdicts, strict=True) if verdict == ""]
    counts += [f"no difference shown for {len(none)}{describe_possible(none)}"] if none else []
    best = f"{_ends(table)[0]} is {safe.name(rows[0].run)} with {number(rows[0].value)}"
    return f"{best}; against {safe.name(material.baseline or '')}: {', '.join(counts)}."


def finding_of(material: ReportData, table: MeasureTable) -> Finding:
    """What is found by one measure, in sentences: the values first, then what is shown."""
    rows = sorted(_rows(material, table), key=lambda row: best_first(table, row.value))
    sentences = []
    if not rows:
        sentences.append("No system has a value.")
    elif len(rows) == 1:
        sentences.append(f"{_valued(rows[0])}, over {counted(rows[0].defined, 'query', 'queries')}.")
    else:
        first, last = _ends(table)
        if max(row.value for row in rows) - min(row.value for row in rows) < EQUAL:
            sentences.append(f"All systems have {number(rows[0].value)}.")
        else:
            sentences.append(f"{first} is {_valued(rows[0])}; {last} is {_valued(rows[-1])}.")
        sentences += _tested(material, table)
    return Finding(safe.name(table.shown), table.measure.direction.value, sentences)


def _ends(table: MeasureTable) -> tuple[str, str]:
    if table.measure.direction is Direction.SIGNED:
        return "Nearest to even", "farthest from it"
    return ("Best", "worst") if table.has_better else ("Largest", "smallest")


def _valued(row: SummaryRow) -> str:
    known = math.isfinite(row.low) and math.isfinite(row.high)
    interval = f" (95% interval {number(row.low)} to {number(row.high)})" if known else ""
    return f"{safe.name(row.run)} with {number(row.value)}{interval}"


def _tested(material: ReportData, table: MeasureTable) -> Iterator[str]:
    if material.comparison is None:
        return
    by_baseline: dict[str, dict[str, list[Pair]]] = {}
    for pairs in pairs_of(material, table).values():
        for pair in pairs:
            verdict = UNTESTED if pair.reason is not None else pair.verdict
            by_baseline.setdefault(pair.baseline, {}).setdefault(verdict, []).append(pair)
    for baseline, verdicts in by_baseline.items():
        against = safe.name(baseline)
        for verdict, words in SHOWN.items():
            if verdict in verdicts:
                yield f"{words} {against}: {_named(verdicts[verdict])}."
        if "" in verdicts:
            none = verdicts[""]
            yield f"No difference from {against} is shown for {_named(none)}{describe_possible(none)}."
        if UNTESTED in verdicts:
            yield f"Too few values to test against {against}: {_named(verdicts[UNTESTED])}."


def _named(pairs: Sequence[Pair]) -> str:
    some = ", ".join(safe.name(pair.system) for pair in pairs[:NAMED])
    return some if len(pairs) <= NAMED else f"{some} and {len(pairs) - NAMED} more"


def _limits(material: ReportData) -> Iterator[tuple[str, str]]:
    """What a reader must know, each with a heading."""
    yield "How many queries", _sample(material)
    yield from _undefined(material)
    if material.comparison is not None:
        yield "Significance", _significance(material)
    yield from _evidence(material)
    yield (
        "What these numbers cannot tell",
        "Whether the groups are the ones that matter, what share would be fair, and how the people who use "
        "the engine are affected. An interval is about other queries like these, not about other judges, "
        "other documents or other readers.",
    )


def _sample(material: ReportData) -> str:
    rows = _rows(material, material.main)
    counts = [row.defined for row in rows]
    if not counts:
        return "The main measure has no value for any query."
    some = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else f"{counts[0]}"
    words = [f"{safe.name(material.main.shown)} is over {some} {'query' if some == '1' else 'queries'}."]
    widths = [row.high - row.low for row in rows if math.isfinite(row.high - row.low)]
    if widths:
        half = statistics.median(widths) / 2
        words.append(
            f"The 95% interval of a system reaches about {number(half)} to either side; other queries of the "
            "same kind could move a value by that much."
        )
    words += _tied(material.main)
    if min(counts) < FEW:
        words.append(f"With fewer than {FEW} queries, intervals and tests are rough.")
    return " ".join(words)


def _tied(table: MeasureTable) -> Iterator[str]:
    """How many queries tell nothing about a difference."""
    if len(table.systems) < 2:
        return
    with np.errstate(invalid="ignore"):  # of two infinite values
        reach = table.values.max(axis=1) - table.values.min(axis=1)  # NaN where a system has no value
    tied = int((reach < EQUAL).sum())
    if tied:
        asked = counted(len(table.query_ids), "query", "queries")
        yield (f"For {tied} of {asked} all systems have the same value: what differs rests on the others.")


def _undefined(material: ReportData) -> Iterator[tuple[str, str]]:
    reasons: dict[str, int] = {}
    measures = set()
    for row in material.scores.summary():
        for reason, count in row.undefined.items():
            reasons[reason] = max(count, reasons.get(reason, 0))
            measures.add(row.measure)
    if reasons:
        listed = "; ".join(f"{safe.name(reason)} (up to {count})" for reason, count in reasons.items())
        yield (
            "Queries without a value",
            f"{counted(len(measures), 'measure is', 'measures are')} undefined for some queries: {listed}. "
            "These are left out of means, not counted as 0, so values may be over different queries.",
        )


def _significance(material: ReportData) -> str:
    comparison = material.comparison
    if comparison is None:
        return ""
    return (
        f"{TESTS[comparison.test]}, {CORRECTIONS[comparison.correction]}, at {comparison.alpha:g}. "
        "Measures are not corrected for each other: the more there are, the more likely one shows a "
        "difference by chance. “No difference shown” does not mean that systems are equal, and a difference "
        "that is shown may be too small to matter: look at its interval."
    )


def _evidence(material: ReportData) -> Iterator[tuple[str, str]]:
    families = {part.family for table in material.tables for part in table.measure.parts()}
    lexicon = material.marking
    if lexicon is not None and ("words" in families or material.lexicon is not None):
        groups = ", ".join(f"{safe.name(group)} ({len(lexicon.words(group)):,})" for group in lexicon.groups)
        yield (
            "Words",
            f"Group words are the {len(lexicon):,} of {safe.name(lexicon.name)}: {groups}. A text that "
            "speaks of a group in other words is not seen, a word counts whatever it means there, and who "
            "wrote the text or whom it is about is not known.",
        )
    if "groups" in families:
        yield (
            "Group labels",
            "Labels are taken as given. Documents without one are treated by the measure's rule for missing "
            "evidence, which can decide the outcome.",
        )
    if families - set(FAIRNESS) and material.inputs is not None and material.inputs.qrels is not None:
        yield (
            "Judgements",
            "A document that nobody judged counts as not relevant, which favours systems that were judged.",
        )
