"""The report: one HTML file that needs no network and reads without scripts.

``report_data.py`` is what a report is made from, ``sections/`` has a module for each part, ``lists.py`` and
``texts.py`` write the ranked lists as data, ``packing.py`` makes them small, ``charts.py`` draws, ``safe.py``
and ``rendering.py`` see to it that nothing from outside becomes markup. ``templates/`` holds the templates,
the style and the scripts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from os import PathLike
from typing import TYPE_CHECKING, Any

from evenrank.comparison.curves import curves_of
from evenrank.comparison.evaluated import evaluated_inputs
from evenrank.errors import ParameterError, counted
from evenrank.inputs import Inputs
from evenrank.io.atomic import atomic_write
from evenrank.reporting.figures.style import load_altair, unchecked
from evenrank.reporting.page import safe
from evenrank.reporting.page import sections as _declared  # noqa: F401  every section declares itself
from evenrank.reporting.page.chart_library import library
from evenrank.reporting.page.packing import pack
from evenrank.reporting.page.rendering import MakeSection, all_sections, asset, render, trusted
from evenrank.reporting.page.report_data import READABLE, ReportData, check_options
from evenrank.verdict.attributes import with_verdict_targets
from evenrank.verdict.judge import DEPTH as CANDIDATES_DEPTH

if TYPE_CHECKING:
    from evenrank.comparison import Comparison
    from evenrank.comparison.curves import ScoresAndCurves
    from evenrank.data.lexicon import Lexicon
    from evenrank.scores import Scores
    from evenrank.verdict import Verdict
    from evenrank.verdict.targets import WhichTarget

__all__ = ["page_of", "write_report"]

POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
    "script-src {scripts}; style-src {styles}"
)


SCRIPTS = ("packed.js", "matrix.js", "documents.js", "sides.js", "histogram.js", "queries.js",
           "what_if.js")  # fmt: skip


def write_report(
    path: str | PathLike[str],
    scores: Scores | Inputs,
    *,
    measures: Any = None,
    comparison: Comparison | None = None,
    inputs: Inputs | None = None,
    documents: Any = None,
    columns: Mapping[str, str] | None = None,
    lexicon: Lexicon | None = None,
    query_texts: Mapping[str, str] | None = None,
    urls: Mapping[str, str] | None = None,
    title: str = "evenrank report",
    measure: str | None = None,
    system: str | None = None,
    cutoffs: Sequence[int] | None = None,
    computed: ScoresAndCurves | None = None,
    readable: int = READABLE,
    progress: Callable[[int, int], None] | None = None,
    sections: Sequence[MakeSection] | None = None,
    verdicts: Sequence[Verdict] | None = None,
    history: Sequence[tuple[str, Sequence[Verdict]]] = (),
    target: WhichTarget = None,
    depth: int = CANDIDATES_DEPTH,
    clicks: bool = False,
    command: str = "",
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> None:
    """Write the report of these scores; ``Comparison.report`` says what the options are.

    In the place of scores ``Inputs`` will do: they are evaluated by ``measures`` (default: chosen by what is
    known), and several runs are compared with the first.

    ``inputs`` are what the scores were evaluated from; without them no documents are shown.
    ``columns`` says what the table of ``documents`` calls its columns, as ``{"document": "sku"}``.
    ``computed`` has the curves where they were evaluated together with the scores; without it they are
    evaluated at ``cutoffs``, or several up to that of each measure. ``progress`` is told how many sections of
    how many are done; ``sections`` are those of the page (default: every one that is declared).
    ``verdicts`` say who is favoured, ``history`` has those of earlier audits by date, the present ones last.
    Without verdicts the groups and words of ``inputs`` are judged here, against ``target``; ``depth`` is how
    many documents of a query were found, ``clicks`` says that the judgements come from clicks. ``command``
    is what was typed, ``now`` tells the date.
    """
    if isinstance(scores, Inputs):
        inputs = given = with_verdict_targets(scores, target, depth)
        scores, comparison = evaluated_inputs(given, measures)
        documents = given.documents if documents is None else documents
        query_texts = given.query_texts if query_texts is None else query_texts
    elif measures is not None:
        raise ParameterError("measures= evaluates Inputs, and these are Scores: leave it out")
    material = ReportData(
        scores=scores,
        comparison=comparison,
        inputs=inputs,
        documents=documents,
        columns=columns,
        lexicon=lexicon,
        query_texts=query_texts,
        urls=urls,
        title=title,
        chosen_measure=measure,
        chosen_system=system,
        curves=curves_of(scores, inputs, cutoffs) if computed is None else computed.curves,
        known=None if computed is None else computed.known,
        readable=readable,
        verdicts=None if verdicts is None else tuple(verdicts),
        history=tuple(history),
        target=target,
        candidates_depth=depth,
        clicks=clicks,
        command=command,
        made=now(),
    )
    page = page_of(material, progress, sections)
    with atomic_write(path) as file:
        file.write(page.encode("utf-8", "replace"))


def page_of(
    material: ReportData,
    progress: Callable[[int, int], None] | None = None,
    wanted: Sequence[MakeSection] | None = None,
) -> str:
    """The whole page as text."""
    from evenrank._version import __version__

    load_altair()
    check_options(material)
    wanted = wanted if wanted is not None else all_sections()
    sections = []
    for done, make in enumerate(wanted):
        if progress is not None:
            progress(done, len(wanted))
        with unchecked():
            section = make(material)
        if section is not None:
            sections.append(section)
    charts = [chart for section in sections for chart in section.charts]
    data = next((section.data for section in sections if section.data is not None), None)
    named = [section.named_data for section in sections if section.named_data is not None]
    style = asset("page.css")
    scripts = ["\n".join(map(asset, SCRIPTS)), *([asset("charts.js")] if charts else [])]
    known = [*scripts, library()] if charts else scripts  # the library is packed until it is needed
    policy = POLICY.format(scripts=" ".join(map(safe.digest, known)), styles=safe.digest(style))
    page: str = render(
        "page.html",
        title=material.title,
        about=_about(material, __version__),
        policy=policy,
        style=trusted(style),
        scripts=[trusted(script) for script in scripts],
        charts=[trusted(safe.script_json(chart.specs)) for chart in charts],
        data=trusted(safe.script_json(data)),
        named=[(name, trusted(safe.script_json(own))) for name, own in named],
        parts=[part for section in sections for part in section.parts],
        library=pack(library()) if charts else "",
        sections=sections,
    )
    return str(page)


def _about(material: ReportData, version: str) -> list[str]:
    """What stands under the title."""
    queries = len({query for block in material.scores.blocks for query in block.query_ids})
    return [
        counted(len(material.systems), "system", "systems"),
        counted(queries, "query", "queries"),
        *([] if material.made is None else [f"{material.made.day} {material.made:%B %Y}"]),
        f"evenrank {version}",
        "nothing is loaded, nothing is sent",
    ]
