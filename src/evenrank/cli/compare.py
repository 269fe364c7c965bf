"""``evenrank compare``: runs, or scores of runs, in; which are better, and how sure one can be, out."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from evenrank.cli.evidence import (
    add_evidence,
    add_reading,
    check_columns,
    evidence_files,
    read_evidence,
    read_runs,
)
from evenrank.cli.groups import MISSING, MISSING_HELP, check_groups
from evenrank.cli.inputs import check_output, check_stdin, read_ids, run_names
from evenrank.cli.parser import add_command
from evenrank.cli.reading import attempt, reading_files
from evenrank.cli.significance import add_significance, significance
from evenrank.cli.streams import put, say, say_notes, terminal_width
from evenrank.cli.values import positive, positives
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.comparison import Comparison
    from evenrank.tables import Table

FORMATS = ("table", "tsv", "csv", "jsonl", "latex", "markdown")
VIEW_FORMATS = ("table", "tsv", "jsonl", "latex", "markdown")
METHODS = ("kendall", "pearson", "spearman")


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "compare",
        "say which runs are better, and how sure one can be",
        """Score runs and test each against the baseline, query by query. "Better" follows the measure.
        Queries that lack a value in either run are left out and counted. Instead of runs, scores that
        evaluate wrote can be given.""",
        """
        evenrank compare bm25.trec dense.trec --qrels qrels.txt -m 'nDCG@10 AP'
        evenrank compare runs/*.trec --baseline bm25 --words counts.parquet --qrels qrels.txt \
-m 'NFaiRR@10 nDCG@10' --test permutation --correction bh -o table.tex
        evenrank compare --scores bm25.jsonl --scores dense.jsonl --baseline bm25
        evenrank compare runs/*.trec --qrels qrels.txt -m 'nDCG@10 AP RR' --tukey
        evenrank compare runs/*.trec --qrels qrels.txt -m 'nDCG@10 AP RR' --power
        evenrank compare runs/*.trec --qrels qrels.txt -m 'nDCG@10 AP RR' --correlations kendall
        """,
    )
    parser.add_argument(
        "runs", nargs="*", metavar="RUN", help="run file, TREC or a table; two or more; - reads stdin"
    )
    parser.add_argument(
        "--scores", action="append", default=[], metavar="FILE",
        help="scores that evaluate wrote with -o, instead of runs; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "-m", "--measures", action="append", metavar="MEASURES",
        help="measures, such as 'nDCG@10 AP(rel=2)'; may be repeated (see: evenrank measures)",
    )  # fmt: skip
    add_significance(parser)
    add_evidence(parser)
    parser.add_argument("--missing", choices=MISSING, help=MISSING_HELP)
    parser.add_argument("--queries", metavar="FILE", help="score these queries only: one id a line")
    parser.add_argument(
        "--cutoffs", type=positives, metavar="K,K,...", help="evaluate every measure at each of these depths"
    )
    add_reading(parser)
    parser.add_argument(
        "--name", action="append", default=[], metavar="NAME",
        help="name of a run, once for each RUN in their order; without it, the file's name",
    )  # fmt: skip
    views = parser.add_mutually_exclusive_group()
    views.add_argument("--tukey", action="store_true", help="all pairs at once, by randomised Tukey HSD")
    views.add_argument("--power", action="store_true", help="how many pairs each measure tells apart")
    views.add_argument(
        "--correlations", choices=METHODS, metavar="METHOD",
        help=f"how measures agree, instead of how runs differ: {', '.join(METHODS)}",
    )  # fmt: skip
    parser.add_argument(
        "--over", choices=("systems", "queries", "cutoffs"), help="what --correlations are over (systems)"
    )
    parser.add_argument(
        "--system", metavar="NAME", help="the run whose queries or cut-offs --correlations are over"
    )
    parser.add_argument(
        "--trials", type=positive, default=5000, metavar="N", help="of Tukey's HSD (default: 5000)"
    )
    parser.add_argument("--format", choices=FORMATS, help="what to print on stdout (default: table)")
    parser.add_argument(
        "-o", "--output", metavar="FILE",
        help="write a row for each pair: .jsonl, .csv, .tsv, .parquet, or the table: .tex, .md; stdout is "
        "then used only if --format is given",
    )  # fmt: skip
    parser.add_argument(
        "--figure", metavar="FILE",
        help="draw the curves of --power or the map of --correlations: .html, .svg, .png or .pdf",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    inputs = [*arguments.runs, *arguments.scores, *evidence_files(arguments), arguments.queries]
    check_stdin(inputs)
    check_groups(arguments)
    for written in (arguments.output, arguments.figure):
        check_output(written, inputs)
    _check_asked(arguments)
    comparison = _comparison(arguments)
    tables = _tables(comparison, arguments)
    if arguments.figure is not None:
        _draw(comparison, arguments)
        say(f"wrote {arguments.figure}")
    if arguments.output is not None:
        _write(comparison, tables, arguments.output)
        say(f"wrote {arguments.output}")
    if arguments.output is None or arguments.format is not None:
        put(_printed(comparison, tables, arguments.format or "table"))
    say_notes(comparison.scores, arguments)
    return 0


def _check_asked(arguments: argparse.Namespace) -> None:
    """What is wrong with the command line is said before large files are read."""
    from evenrank.comparison import known_names
    from evenrank.comparison.files import WRITTEN
    from evenrank.measures import parse_measures
    from evenrank.scores.files import file_format

    if bool(arguments.runs) == bool(arguments.scores):
        raise ParameterError("give two runs or more, or --scores")
    if arguments.runs and arguments.measures is None:
        raise ParameterError("runs are compared by measures: name them, as -m 'nDCG@10 NFaiRR@10'")
    if arguments.scores and (arguments.measures is not None or arguments.cutoffs or arguments.queries):
        raise ParameterError("scores are compared as they are: measures, cut-offs and queries belong to runs")
    if arguments.runs:
        known_names(arguments.baseline or (), run_names(arguments.runs, arguments.name))
    if arguments.measures is not None:
        parse_measures(arguments.measures, check=arguments.cutoffs is None)
    shows = arguments.tukey or arguments.power or arguments.correlations is not None
    if shows and arguments.format not in (None, *VIEW_FORMATS):
        raise ParameterError(f"this view is printed as {', '.join(VIEW_FORMATS)}, not {arguments.format}")
    if arguments.figure is not None:
        from evenrank.report.figures.files import check_figure

        check_figure(arguments.figure)
        if not arguments.power and arguments.correlations is None:
            raise ParameterError("--figure draws --power or --correlations: ask for one of them")
    if arguments.correlations is None and (arguments.over or arguments.system):
        raise ParameterError("--over and --system belong to --correlations")
    if arguments.output is not None:
        file_format(arguments.output, None, VIEW_FORMATS[1:] if shows else WRITTEN)


def _comparison(arguments: argparse.Namespace) -> Comparison:
    from evenrank.comparison import compare

    options = significance(arguments)
    if arguments.scores:
        from evenrank.scores import Scores

        names = run_names(arguments.scores, arguments.name)
        with reading_files():
            read = {
                name: attempt(partial(Scores.read, path))
                for name, path in zip(names, arguments.scores, strict=True)
            }
        return compare(next(iter(read.values())) if len(read) == 1 else read, **options)
    check_columns(arguments, arguments.runs)
    names = run_names(arguments.runs, arguments.name)
    with reading_files():
        queries = None if arguments.queries is None else attempt(partial(read_ids, arguments.queries))
        evidence = read_evidence(arguments)
        runs = read_runs(arguments, names)
    return compare(
        runs,
        arguments.measures,
        queries=queries,
        cutoffs=arguments.cutoffs,
        missing=arguments.missing,
        **options,
        **evidence,
    )


def _tables(comparison: Comparison, arguments: argparse.Namespace) -> tuple[Table, ...]:
    """The tables asked for instead of the pairs."""
    from evenrank.comparison import all_pairs as views

    if arguments.tukey:
        return views.tukey_tables(comparison, trials=arguments.trials)
    if arguments.power:
        return (views.power_table(comparison, trials=arguments.trials),)
    if arguments.correlations is not None:
        over = arguments.over or "systems"
        return (
            views.correlation_table(comparison, arguments.correlations, over=over, system=arguments.system),
        )
    return ()


def _draw(comparison: Comparison, arguments: argparse.Namespace) -> None:
    from evenrank.report import save_figure
    from evenrank.report.figures.correlation import correlation_figure
    from evenrank.report.figures.power import power_figure

    if arguments.power:
        curves = comparison.power(trials=arguments.trials)
        save_figure(power_figure(curves, alpha=comparison.alpha), arguments.figure)
        return
    over, system = arguments.over or "systems", arguments.system
    found = comparison.correlations(arguments.correlations, over=over, system=system)
    whose = over if system is None else f"{over} of {system}"
    save_figure(correlation_figure(*found, over=whose), arguments.figure)


def _write(comparison: Comparison, tables: tuple[Table, ...], path: str) -> None:
    if not tables:
        comparison.write(path)
        return
    from evenrank.io.atomic import atomic_write
    from evenrank.scores.files import file_format

    form = file_format(path, None, VIEW_FORMATS[1:])
    with atomic_write(path) as file:
        file.write(_printed(comparison, tables, form).encode())


def _printed(comparison: Comparison, tables: tuple[Table, ...], form: str) -> str:
    from evenrank.comparison.comparison_tables import measure_tables
    from evenrank.tables import printed

    if not tables:
        tables = tuple(measure_tables(comparison)) if form == "table" else (comparison.to_table(),)
    return printed(tables, form, terminal_width())
