"""``evenrank tradeoff``: re-rankers on one run in, a table and a figure of what they gain and lose out."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from evenrank.cli.evidence import (
    add_evidence,
    add_reading,
    add_tables,
    check_columns,
    evidence_files,
    read_evidence,
    read_named_run,
    read_tables,
)
from evenrank.cli.groups import MISSING, MISSING_HELP, check_groups
from evenrank.cli.inputs import check_output, check_stdin, read_ids, run_names
from evenrank.cli.parser import add_command
from evenrank.cli.reading import attempt, reading_files
from evenrank.cli.streams import put, say, say_notes, terminal_width
from evenrank.cli.values import positive
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.comparison.tradeoff import Tradeoff

RANKS, PLANE = "ranks", "plane"
FORMATS = ("table", "tsv", "jsonl", "markdown")


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "tradeoff",
        "compare re-rankers: what fairness costs",
        """Re-rank a run with several methods, or one method with several values of a parameter, and score
        each beside the original. The table marks the rows that no other row beats. Values of methods that
        leave something to chance are means over the draws of --repeat.""",
        """
        evenrank tradeoff bm25.trec --rerank 'FAIR_greedy(epsilon={0,0.3,0.5,0.7,1})' --rerank DetCons \
--qrels qrels.txt --groups g=g.csv -m 'nDCG@10 nDRKL@10 FAIR@10' --repeat 1000 --figure tradeoff.svg
        evenrank tradeoff bm25.trec --rerank 'MMR(lam={0.2,0.5,0.8})' --qrels qrels.txt --groups g=g.csv \
-m 'nDCG@10 GF@10' --figure plane.svg --draw plane
        evenrank tradeoff bm25.trec --rerank 'Neutral(band={5,10,50})' --words counts.parquet \
--qrels qrels.txt -m 'nDCG@10 NFaiRR@10'
        """,
    )
    parser.add_argument("ranking", metavar="RUN", help="run file, TREC or a table; - reads stdin")
    parser.add_argument(
        "--rerank", action="append", required=True, metavar="METHOD",
        help="a re-ranker (see: evenrank rerank --list); may be repeated. {a,b} for a value tries each",
    )  # fmt: skip
    parser.add_argument(
        "-m", "--measures", action="append", required=True, metavar="MEASURES",
        help="measures, such as 'nDCG@10 FAIR@10'; may be repeated (see: evenrank measures)",
    )  # fmt: skip
    add_evidence(parser)
    add_tables(parser)
    parser.add_argument("--missing", choices=MISSING, help=MISSING_HELP)
    parser.add_argument("--queries", metavar="FILE", help="score these queries only: one id a line")
    parser.add_argument(
        "--repeat", type=positive, metavar="N",
        help="mean over so many draws of methods that leave something to chance (default: one draw)",
    )  # fmt: skip
    add_reading(parser)
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the scores of every query: .jsonl, .csv, .tsv, .parquet"
    )
    parser.add_argument("--figure", metavar="FILE", help="draw the trade-off: .html, .svg, .png or .pdf")
    parser.add_argument(
        "--draw", choices=(RANKS, PLANE),
        help="what --figure shows: each measure against rank position down to its cut-off, a line a method "
        "(ranks, the default), or the second measure against the first, with those that none beats (plane)",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from evenrank.comparison.tradeoff_table import tradeoff_table
    from evenrank.tables import printed

    inputs = [arguments.ranking, *evidence_files(arguments), arguments.queries]
    check_stdin(inputs)
    check_groups(arguments)
    for written in (arguments.output, arguments.figure):
        check_output(written, inputs)
    found = _tradeoff(arguments)
    if arguments.output is not None:
        found.scores.write(arguments.output)
        say(f"wrote {arguments.output}")
    if arguments.figure is not None:
        from evenrank.report import save_figure
        from evenrank.report.figures.tradeoff import plane_figure, ranks_figure

        figure = plane_figure(found) if arguments.draw == PLANE else ranks_figure(found)
        save_figure(figure, arguments.figure)
        say(f"wrote {arguments.figure}")
    put(printed([tradeoff_table(found)], arguments.format, terminal_width()))
    say_notes(found.scores, arguments)
    return 0


def _tradeoff(arguments: argparse.Namespace) -> Tradeoff:
    from evenrank.comparison.tradeoff import tradeoff, variants
    from evenrank.measures import parse_measures
    from evenrank.scores.files import WRITTEN, file_format

    # what is wrong with the command line is said before large files are read
    variants(arguments.rerank)
    measures = parse_measures(arguments.measures)
    if arguments.output is not None:
        file_format(arguments.output, None, WRITTEN)
    if arguments.figure is not None:
        from evenrank.report.figures.files import check_figure
        from evenrank.report.figures.tradeoff import check_plane, check_ranks

        check_figure(arguments.figure)
        (check_plane if arguments.draw == PLANE else check_ranks)(measures)
    elif arguments.draw is not None:
        raise ParameterError("--draw says what --figure shows: give --figure FILE too")
    check_columns(arguments, [arguments.ranking])
    (name,) = run_names([arguments.ranking], [])
    with reading_files():
        queries = None if arguments.queries is None else attempt(partial(read_ids, arguments.queries))
        evidence = {**read_evidence(arguments), "evidence": read_tables(arguments)}
        ranking = read_named_run(arguments, arguments.ranking, name)
    return tradeoff(
        ranking,
        arguments.rerank,
        measures,
        repeat=arguments.repeat,
        queries=queries,
        missing=arguments.missing,
        **evidence,
    )
