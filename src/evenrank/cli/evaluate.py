"""``evenrank evaluate``: runs and measures in, a table out."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evenrank.cli.inputs import (
    INTENT_ROLES,
    QRELS_ROLES,
    RUN_ROLES,
    check_output,
    check_stdin,
    columns_of,
    is_table,
    read_query_ids,
    run_names,
    table_columns,
)
from evenrank.cli.parser import add_command
from evenrank.cli.progress import progress
from evenrank.cli.streams import put, say, terminal_width
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.data.run import Run
    from evenrank.data.words import WordCounts
    from evenrank.scores import Scores

FORMATS = ("table", "tsv", "jsonl", "latex", "markdown")
COLLECTION = "collection"
INPUT_FORMATS = ("trec", "csv", "tsv", "jsonl", "parquet")
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
        evenrank evaluate runs/*.trec --words counts.parquet --background bm25.trec -m 'NFaiRR@10 TExFAIR@10'
        evenrank evaluate bm25.trec --words counts.parquet -m TExFAIR --cutoffs 5,10,20,50 --figure curves.svg
        evenrank evaluate runs.csv --columns query=topic_id,score=bm25 --qrels qrels.txt -m AP
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
    parser.add_argument("--words", metavar="FILE", help="counts of group words, as evenrank scan writes them")
    parser.add_argument(
        "--background", metavar="RUN",
        help="what NFaiRR and its kin compare with: a run, or the word 'collection' for all documents of "
        "--words; one run alone is compared with its own first 200 documents",
    )  # fmt: skip
    parser.add_argument(
        "--missing", choices=("error", "neutral", "drop"),
        help="ranked documents without word counts: an error (the default), without group words, or left out",
    )  # fmt: skip
    parser.add_argument(
        "--queries", metavar="FILE",
        help="score these queries only: one id a line, up to a tab; blank lines and # comments are skipped",
    )  # fmt: skip
    parser.add_argument(
        "--cutoffs", type=_cutoffs, metavar="K,K,...", help="evaluate every measure at each of these depths"
    )
    parser.add_argument(
        "--ties", choices=("trec", "file"),
        help="order of equal scores: by document id, descending (trec), or as in the file; "
        "the default is trec, but file for a table with a column of ranks",
    )  # fmt: skip
    parser.add_argument(
        "--columns", type=columns_of, metavar="ROLE=NAME,...",
        help="what tables among runs and judgements call their columns: "
        "query=qid,document=docno,score=sim,rank=r,grade=rel,intent=side",
    )  # fmt: skip
    parser.add_argument(
        "--input-format", choices=INPUT_FORMATS, help="format of the runs, where their names do not tell"
    )
    parser.add_argument(
        "--qrels-format",
        choices=INPUT_FORMATS,
        help="format of the judgements, where their names do not tell",
    )
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
    parser.add_argument(
        "--figure", metavar="FILE",
        help="draw the values against the --cutoffs, with intervals: .html, .svg, .png or .pdf",
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
    background = None if arguments.background == COLLECTION else arguments.background
    inputs = [*arguments.runs, arguments.qrels, arguments.diversity_qrels, arguments.queries, background]
    check_stdin(inputs)
    for written in (arguments.output, arguments.figure):
        check_output(written, inputs)
    form = arguments.format or "table"
    if arguments.per_query and form not in PER_QUERY_FORMATS:
        raise ParameterError(f"--per-query is printed as {', '.join(PER_QUERY_FORMATS)}, not as {form}")
    names = run_names(arguments.runs, arguments.name)
    scores = _scores(arguments, names)
    if arguments.output is not None:
        scores.write(arguments.output)
        say(f"wrote {arguments.output}")
    if arguments.figure is not None:
        _draw(scores, arguments.figure)
    if arguments.output is None or arguments.format is not None or arguments.per_query:
        put(_printed(scores, form, per_query=arguments.per_query))
    for line in _notes(scores):
        say(line)
    return 0


def _draw(scores: Scores, path: str) -> None:
    from evenrank.report import cutoff_figure, save_figure

    save_figure(cutoff_figure(scores), path)
    say(f"wrote {path}")


def _notes(scores: Scores) -> list[str]:
    """Each note once, after the names of the runs that it is about."""
    runs_of: dict[str, list[str]] = {}
    for name, notes in scores.notes.items():
        for note in notes:
            runs_of.setdefault(note, []).append(name)
    everyone = len(scores.runs)
    return [
        f"{'all runs' if 1 < everyone == len(names) else ', '.join(names)}: {note}"
        for note, names in runs_of.items()
    ]


def _scores(arguments: argparse.Namespace, names: list[str]) -> Scores:
    from evenrank.evaluation import evaluate
    from evenrank.io import read_qrels, read_run
    from evenrank.io.counts import read_counts
    from evenrank.measures import parse_measures
    from evenrank.scores.files import WRITTEN, file_format

    # what is wrong with the command line is said before large files are read
    measures = parse_measures(arguments.measures, check=arguments.cutoffs is None)
    if arguments.output is not None:
        file_format(arguments.output, None, WRITTEN)
    if arguments.figure is not None:
        from evenrank.report.files import check_figure

        check_figure(arguments.figure)
    queries = None if arguments.queries is None else read_query_ids(arguments.queries)
    form, qrels_form, named = arguments.input_format, arguments.qrels_format, arguments.columns
    judgements = [arguments.qrels, arguments.diversity_qrels]
    if named is not None and not (
        any(is_table(path, form) for path in arguments.runs)
        or any(is_table(path, qrels_form) for path in judgements)
    ):
        raise ParameterError(
            "--columns is for tables, and none of the files is one: "
            "--input-format and --qrels-format say so where their names do not"
        )
    qrels = by_intent = None
    if arguments.qrels is not None:
        columns = table_columns(named, arguments.qrels, qrels_form, QRELS_ROLES)
        qrels = read_qrels(arguments.qrels, format=qrels_form, columns=columns)
    if arguments.diversity_qrels is not None:
        columns = table_columns(named, arguments.diversity_qrels, qrels_form, INTENT_ROLES)
        by_intent = read_qrels(arguments.diversity_qrels, diversity=True, format=qrels_form, columns=columns)
    runs = {
        name: read_run(
            path,
            name=name,
            ties=arguments.ties,
            format=form,
            columns=table_columns(named, path, form, RUN_ROLES),
        )
        for name, path in progress(list(zip(names, arguments.runs, strict=True)), "reading runs")
    }
    words = None if arguments.words is None else read_counts(arguments.words)
    return evaluate(
        runs,
        measures,
        qrels=qrels,
        intents=by_intent,
        queries=queries,
        cutoffs=arguments.cutoffs,
        words=words,
        background=_background(arguments, words),
        missing=arguments.missing,
    )


def _background(arguments: argparse.Namespace, words: WordCounts | None) -> Run | WordCounts | None:
    from evenrank.io import read_run

    if arguments.background is None:
        return None
    if arguments.background == COLLECTION:
        if words is None:
            raise ParameterError("--background collection is the collection of --words: give that too")
        return words
    return read_run(arguments.background, ties=arguments.ties, format=arguments.input_format)


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
