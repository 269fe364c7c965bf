"""``--figure FILE --draw WHAT``: which figure is drawn of the scores."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evenrank.cli.streams import say
from evenrank.cli.values import pair
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.scores import Scores

CUTOFFS, SCATTER, QUERIES, BARS, QUERY_BARS = "cutoffs", "scatter", "queries", "bars", "query-bars"
SHARES, QUERY_SHARES = "shares", "query-shares"
DRAWINGS = (CUTOFFS, SCATTER, QUERIES, BARS, QUERY_BARS, SHARES, QUERY_SHARES)


def add_figure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--figure", metavar="FILE", help="draw the scores: .html, .svg, .png or .pdf")
    parser.add_argument(
        "--draw", choices=DRAWINGS,
        help="what --figure shows: values against the --cutoffs (cutoffs, the default), the second measure "
        "against the first by run (scatter) or by query of one run (queries), or the first measure by run "
        "(bars) or by query of one run or two (query-bars), or the columns of the first measure, as "
        "GroupShare@10, over all queries (shares) or a panel a query (query-shares)",
    )  # fmt: skip
    parser.add_argument(
        "--arrow", type=pair("RUN=RUN"), action="append", default=[], metavar="RUN=RUN",
        help="with --draw scatter, an arrow from the first run to the second; may be repeated",
    )  # fmt: skip


def check_drawing(arguments: argparse.Namespace, measures: int) -> None:
    """Say before anything is read that a figure cannot be drawn of these runs and so many measures."""
    if arguments.figure is None:
        if arguments.arrow:
            raise ParameterError("--arrow is about the figure: give --figure FILE too")
        if arguments.draw is not None:
            raise ParameterError("--draw says what --figure shows: give --figure FILE too")
        return
    from evenrank.report.figures.files import check_figure

    check_figure(arguments.figure)
    if arguments.arrow and arguments.draw != SCATTER:
        raise ParameterError("--arrow joins runs of --draw scatter: ask for that")
    _check(arguments.draw or CUTOFFS, measures * len(arguments.cutoffs or [0]), len(arguments.runs))


def _check(what: str, measures: int, runs: int) -> None:
    if what in (SCATTER, QUERIES) and measures < 2:
        raise ParameterError(f"--draw {what} shows one measure against another: -m must name two")
    if what == QUERIES and runs > 1:
        raise ParameterError(f"--draw {what} shows the queries of one run, and {runs} are given")
    if what == QUERY_BARS and runs > 2:
        raise ParameterError(f"--draw {what} shows the queries of one run or two, and {runs} are given")


def draw(scores: Scores, arguments: argparse.Namespace) -> None:
    """Write the figure that was asked for, if any."""
    if arguments.figure is None:
        return
    from evenrank.report import bars_figure, cutoff_figure, save_figure, scatter_figure

    what, measures = arguments.draw or CUTOFFS, scores.measures
    _check(what, len(measures), len(scores.runs))
    if what == CUTOFFS:
        save_figure(cutoff_figure(scores), arguments.figure)
    elif what in (SCATTER, QUERIES):
        run = scores.runs[0] if what == QUERIES else None
        chart = scatter_figure(scores, measures[0], measures[1], run=run, arrows=arguments.arrow)
        save_figure(chart, arguments.figure)
    elif what in (SHARES, QUERY_SHARES):
        from evenrank.report.figures.group_shares import shares_figure

        save_figure(shares_figure(scores, measures[0], by_query=what == QUERY_SHARES), arguments.figure)
    else:
        save_figure(bars_figure(scores, measures[0], by_query=what == QUERY_BARS), arguments.figure)
    say(f"wrote {arguments.figure}")
