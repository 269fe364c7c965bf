"""``--figure FILE --kind KIND``: which figure is drawn of scores."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenrank.cli.shared import check_figure_asked, named_measures, write_figure
from evenrank.cli.values import View, view_of
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.scores import Scores

CUTOFFS, SCATTER, QUERIES, BARS, QUERY_BARS = "cutoffs", "scatter", "queries", "bars", "query-bars"
SHARES, QUERY_SHARES = "shares", "query-shares"
KINDS = {
    CUTOFFS: (), SCATTER: ("arrow",), QUERIES: (), BARS: (), QUERY_BARS: (), SHARES: (), QUERY_SHARES: (),
}  # fmt: skip
FIGURES = (
    "cutoffs (each measure against --cutoffs; default), scatter (the second measure against the first, "
    "by run; "
    "scatter:arrow=RUN>RUN,RUN>RUN joins runs), queries (the same by query of one run), bars (the first "
    "measure "
    "by run), query-bars (by query of one run or two), shares (the columns of the first measure, as "
    "GroupShare@10), query-shares (the same, a panel for each query)"
)


def kind_of(arguments: argparse.Namespace) -> View:
    return view_of(arguments.kind or CUTOFFS, KINDS)


def arrows_of(kind: View) -> list[tuple[str, str]]:
    """
    >>> arrows_of(View("scatter", None, {"arrow": "bm25>fair,dense>fair"}))
    [('bm25', 'fair'), ('dense', 'fair')]
    """
    given = kind.settings.get("arrow")
    arrows: list[tuple[str, str]] = []
    for part in [] if given is None else given.split(","):
        first, sign, second = (name.strip() for name in part.partition(">"))
        if not (first and sign and second):
            raise ParameterError(f"arrow must be RUN>RUN, got {part!r}")
        arrows.append((first, second))
    return arrows


def check_drawing(arguments: argparse.Namespace, runs: int) -> None:
    """Say before anything is read that a figure cannot be drawn of these runs and measures."""
    if not check_figure_asked(arguments):
        return
    kind = kind_of(arguments)
    arrows_of(kind)
    measures = named_measures(arguments)
    if measures is not None:
        _check(kind.name, len(measures) * len(arguments.cutoffs or [0]), runs)


def _check(what: str, measures: int, runs: int) -> None:
    if what in (SCATTER, QUERIES) and measures < 2:
        raise ParameterError(f"--kind {what} shows one measure against another: -m must name two")
    if what == QUERIES and runs > 1:
        raise ParameterError(f"--kind {what} shows the queries of one run, but {runs} are given")
    if what == QUERY_BARS and runs > 2:
        raise ParameterError(f"--kind {what} shows the queries of one run or two, but {runs} are given")


def draw(scores: Scores, arguments: argparse.Namespace, texts: Mapping[str, str] | None = None) -> None:
    """Write the figure that was asked for, if any; queries are shown by their texts where there are such."""
    if arguments.figure is None:
        return
    from evenrank.reporting import bars_figure, cutoff_figure, scatter_figure

    kind, measures = kind_of(arguments), scores.measures
    chart: Any
    what = kind.name
    _check(what, len(measures), len(scores.runs))
    if what == CUTOFFS:
        chart = cutoff_figure(scores)
    elif what in (SCATTER, QUERIES):
        run = scores.runs[0] if what == QUERIES else None
        chart = scatter_figure(scores, measures[0], measures[1], run=run, arrows=arrows_of(kind), texts=texts)
    elif what in (SHARES, QUERY_SHARES):
        from evenrank.reporting.figures.group_shares import shares_figure

        chart = shares_figure(scores, measures[0], by_query=what == QUERY_SHARES, texts=texts)
    else:
        chart = bars_figure(scores, measures[0], by_query=what == QUERY_BARS, texts=texts)
    write_figure(chart, arguments.figure)
