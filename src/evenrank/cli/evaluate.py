"""``evenrank evaluate``: runs and measures in, a table out."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evenrank.cli.inputs import check_stdin, read_query_ids, run_names
from evenrank.cli.parser import add_command
from evenrank.cli.progress import progress
from evenrank.cli.streams import put, say, terminal_width
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.scores import Scores

FORMATS = ("table", "tsv", "jsonl", "latex", "markdown")
PER_QUERY_FORMATS = ("table", "tsv", "jsonl")


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "evaluate",
        "score runs with measures",
        """Score one or more runs. The table has the value over all queries, a 95% bootstrap interval, and
        how many queries it is over. Queries are those asked for, else the judged ones for measures that
        need judgements, else the run's. Notes and messages go to stderr.""",
        """
        evenrank evaluate bm25.trec --qrels qrels.txt -m 'nDCG@10 RR@10'
        evenrank evaluate runs/*.trec --qrels qrels.txt -m nDCG -m P --cutoffs 5,10,20 --format latex
        evenrank evaluate bm25.trec --qrels qrels.txt -m AP --per-query --format tsv > ap.tsv
        zcat dense.trec.gz | evenrank evaluate - --name dense --qrels qrels.txt -m 'AP(rel=2)' -o scores.jsonl
        """,
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run file, TREC or a table; - reads stdin")
    parser.add_argument(
        "-m", "--measures", action="append", required=True, metavar="MEASURES",
        help="measures, such as 'nDCG@10 AP(rel=2)'; may be repeated (see: evenrank measures)",
    )  # fmt: skip
    parser.add_argument("--qrels", metavar="FILE", help="relevance judgements")
    parser.add_argument("--diversity-qrels", metavar="FILE", help="judgements by intent, as in TREC Web")
    parser.add_argument(
        "--queries", metavar="FILE",
        help="score these queries only: one id a line, up to a tab; blank lines and # comments are skipped",
    )  # fmt: skip
    parser.add_argument(
        "--cutoffs", type=_cutoffs, metavar="K,K,...", help="evaluate every measure at each of these depths"
    )
    parser.add_argument(
        "--ties", choices=("trec", "file"), default="trec",
        help="order of equal scores: by document id, descending (trec, the default), or as in the file",
    )  # fmt: skip
    parser.add_argument(
        "--name", action="append", default=[], metavar="NAME",
        help="name of a run, once for each RUN in their order; without it, the file's name",
    )  # fmt: skip
    parser.add_argument("--per-query", action="store_true", help="print the value of every query")
    parser.add_argument("--format", choices=FORMATS, help="what to print on stdout (default: table)")
    parser.add_argument(
        "-o", "--output", metavar="FILE",
        help="write the scores to .jsonl, .csv, .tsv or .parquet (every query), or the table to .tex or .md; "
        "stdout is then used only if --format or --per-query is given",
    )  # fmt: skip
    parser.set_defaults(run=run)


def _cutoffs(text: str) -> list[int]:
    depths = []
    for part in text.split(","):
        if not (part.strip().isascii() and part.strip().isdigit() and int(part) > 0):
            raise argparse.ArgumentTypeError(f"must be integers > 0 separated by commas, got {text!r}")
        depths.append(int(part))
    return depths


def run(arguments: argparse.Namespace) -> int:
    check_stdin([*arguments.runs, arguments.qrels, arguments.diversity_qrels, arguments.queries])
    form = arguments.format or "table"
    if arguments.per_query and form not in PER_QUERY_FORMATS:
        raise ParameterError(f"--per-query is printed as {', '.join(PER_QUERY_FORMATS)}, not as {form}")
    names = run_names(arguments.runs, arguments.name)
    scores = _scores(arguments, names)
    if arguments.output is not None:
        scores.write(arguments.output)
        say(f"wrote {arguments.output}")
    if arguments.output is None or arguments.format is not None or arguments.per_query:
        put(_printed(scores, form, per_query=arguments.per_query))
    for name, notes in scores.notes.items():
        for note in notes:
            say(f"{name}: {note}")
    return 0


def _scores(arguments: argparse.Namespace, names: list[str]) -> Scores:
    from evenrank.evaluation import evaluate
    from evenrank.io import read_qrels, read_run
    from evenrank.measures import parse_measures
    from evenrank.scores.files import WRITTEN, file_format

    # what is wrong with the command line is said before large files are read
    measures = parse_measures(arguments.measures, check=arguments.cutoffs is None)
    if arguments.output is not None:
        file_format(arguments.output, None, WRITTEN)
    queries = None if arguments.queries is None else read_query_ids(arguments.queries)
    qrels = None if arguments.qrels is None else read_qrels(arguments.qrels)
    by_intent = None
    if arguments.diversity_qrels is not None:
        by_intent = read_qrels(arguments.diversity_qrels, diversity=True)
    runs = {
        name: read_run(path, name=name, ties=arguments.ties)
        for name, path in progress(list(zip(names, arguments.runs, strict=True)), "reading runs")
    }
    return evaluate(
        runs,
        measures,
        qrels=qrels,
        intents=by_intent,
        queries=queries,
        cutoffs=arguments.cutoffs,
    )


def _printed(scores: Scores, form: str, *, per_query: bool) -> str:
    from evenrank.scores import render

    if per_query:
        if form == "tsv":
            return render.per_query_tsv(scores)
        return render.per_query_jsonl(scores) if form == "jsonl" else render.per_query_text(scores) + "\n"
    if form == "table":
        return render.as_text(scores, terminal_width(), notes=False) + "\n"
    if form == "latex":
        return render.as_latex(scores, notes=False)
    if form == "markdown":
        return render.as_markdown(scores, notes=False)
    return render.as_tsv(scores) if form == "tsv" else render.as_jsonl(scores)
