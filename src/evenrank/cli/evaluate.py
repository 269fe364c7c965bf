"""``evenrank evaluate``: runs and measures in, a table out."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from evenrank.cli.draw import add_figure, check_drawing, draw
from evenrank.cli.evidence import (
    add_evidence,
    add_reading,
    check_columns,
    evidence_files,
    read_evidence,
    read_named_run,
    read_named_runs,
    run_files,
)
from evenrank.cli.groups import MISSING, MISSING_HELP, check_groups
from evenrank.cli.inputs import check_output, check_stdin, read_ids, run_names
from evenrank.cli.parser import add_command
from evenrank.cli.progress import progress
from evenrank.cli.reading import attempt, reading_files
from evenrank.cli.streams import put, say, say_notes, terminal_width
from evenrank.cli.values import positives
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.scores import Scores

FORMATS = ("table", "tsv", "jsonl", "latex", "markdown")
PER_QUERY_FORMATS = ("table", "tsv", "jsonl")
RUN_HELP = (
    "run file, TREC or a table; - reads stdin. A folder is one system with several rankings of each query"
)


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "evaluate",
        "score runs with measures",
        """Score one or more runs. The table has the value over all queries, a 95% confidence interval, and
        how many queries it is over. Queries are those asked for, else the judged ones for measures that
        need judgements, else the run's. Notes and messages go to stderr.""",
        """
        evenrank evaluate bm25.trec --qrels qrels.txt -m 'nDCG@10 RR@10'
        evenrank evaluate runs/*.trec --qrels qrels.txt -m nDCG -m P --cutoffs 5,10,20 --format latex
        evenrank evaluate bm25.trec --qrels qrels.txt -m AP --per-query --format tsv > ap.tsv
        evenrank evaluate runs/*.trec --words counts.parquet --background bm25.trec -m 'NFaiRR@10 TExFAIR@10'
        evenrank evaluate bm25.trec --words counts.parquet -m TExFAIR --cutoffs 5,10,20,50 --figure curves.svg
        evenrank evaluate runs/*.trec --qrels qrels.txt -m 'nDCG@10 AP' --figure plane.svg --draw scatter
        evenrank evaluate bm25.trec --groups stars=stars.csv:ordinal --target stars=0.5,0.3,0.2 -m GF@10
        evenrank evaluate draws/ --qrels qrels.txt --groups gender=gender.csv -m 'EE_L@10 EE_D@10'
        evenrank evaluate bm25.trec --against dense.trec -m 'RBO(p=0.9)@10'
        evenrank evaluate runs.csv --columns query=topic_id,score=bm25 --qrels qrels.txt -m AP
        zcat dense.trec.gz | evenrank evaluate - --name dense --qrels qrels.txt -m 'AP(rel=2)' -o scores.jsonl
        """,
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help=RUN_HELP)
    parser.add_argument(
        "-m", "--measures", action="append", required=True, metavar="MEASURES",
        help="measures, such as 'nDCG@10 AP(rel=2)'; may be repeated (see: evenrank measures)",
    )  # fmt: skip
    add_evidence(parser)
    parser.add_argument("--against", metavar="RUN", help="the second run of measures of a pair, such as RBO")
    parser.add_argument("--missing", choices=MISSING, help=MISSING_HELP)
    parser.add_argument(
        "--queries", metavar="FILE",
        help="score these queries only: one id a line, up to a tab; blank lines and # comments are skipped",
    )  # fmt: skip
    parser.add_argument(
        "--cutoffs", type=positives, metavar="K,K,...", help="evaluate every measure at each of these depths"
    )
    add_reading(parser)
    parser.add_argument(
        "--name", action="append", default=[], metavar="NAME",
        help="name of a run, once for each RUN in their order; without it, the file's name",
    )  # fmt: skip
    parser.add_argument(
        "--by", metavar="FILE",
        help="split the results by category of query: a table with the columns query and category",
    )  # fmt: skip
    parser.add_argument("--per-query", action="store_true", help="print the value of every query")
    parser.add_argument(
        "--disagreements", action="store_true",
        help="print the queries for which the measures order two runs differently (table, tsv or jsonl)",
    )  # fmt: skip
    parser.add_argument("--format", choices=FORMATS, help="what to print on stdout (default: table)")
    parser.add_argument(
        "-o", "--output", metavar="FILE",
        help="write the scores to .jsonl, .csv, .tsv or .parquet (every query), or the table to .tex or .md; "
        "stdout is then used only if --format or --per-query is given",
    )  # fmt: skip
    add_figure(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    others = [arguments.against, arguments.queries, arguments.by]
    inputs = [*arguments.runs, *evidence_files(arguments), *others]
    check_stdin(inputs)
    check_groups(arguments)
    for written in (arguments.output, arguments.figure):
        check_output(written, inputs)
    form = arguments.format or "table"
    for option, given in (("--per-query", arguments.per_query), ("--disagreements", arguments.disagreements)):
        if given and form not in PER_QUERY_FORMATS:
            raise ParameterError(f"{option} is printed as {', '.join(PER_QUERY_FORMATS)}, not as {form}")
    if arguments.per_query and arguments.disagreements:
        raise ParameterError("--per-query and --disagreements are two tables: ask for one of them")
    names = run_names(arguments.runs, arguments.name)
    scores = _scores(arguments, names)
    if arguments.by is not None:
        from evenrank.io.categories import read_categories

        scores = scores.by(read_categories(arguments.by))
    if arguments.output is not None:
        scores.write(arguments.output)
        say(f"wrote {arguments.output}")
    draw(scores, arguments)
    if arguments.disagreements:
        put(_disagreements(scores, form))
    elif arguments.output is None or arguments.format is not None or arguments.per_query:
        put(_printed(scores, form, per_query=arguments.per_query))
    say_notes(scores, arguments)
    return 0


def _scores(arguments: argparse.Namespace, names: list[str]) -> Scores:
    from evenrank.evaluation import evaluate
    from evenrank.measures import parse_measures
    from evenrank.scores.files import WRITTEN, file_format

    # what is wrong with the command line is said before large files are read
    measures = parse_measures(arguments.measures, check=arguments.cutoffs is None)
    if arguments.output is not None:
        file_format(arguments.output, None, WRITTEN)
    check_drawing(arguments, len(measures))
    check_columns(arguments, [file for path in arguments.runs for file in run_files(path)])
    against = None
    with reading_files():
        queries = None if arguments.queries is None else attempt(partial(read_ids, arguments.queries))
        evidence = read_evidence(arguments)
        runs = {
            name: read_named_runs(arguments, path, name)
            for name, path in progress(list(zip(names, arguments.runs, strict=True)), "reading runs")
        }
        if arguments.against is not None:
            (name,) = run_names([arguments.against], [])
            against = read_named_run(arguments, arguments.against, name)
    return evaluate(
        runs,
        measures,
        queries=queries,
        against=against,
        cutoffs=arguments.cutoffs,
        missing=arguments.missing,
        **evidence,
    )


def _disagreements(scores: Scores, form: str) -> str:
    from evenrank.scores.agreement import disagreement_table
    from evenrank.tables import printed

    return printed([disagreement_table(scores.disagreements())], form, terminal_width())


def _printed(scores: Scores, form: str, *, per_query: bool) -> str:
    from evenrank.scores.score_tables import print_scores

    return print_scores(scores, form, terminal_width(), per_query=per_query)
