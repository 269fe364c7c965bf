"""``evenrank evaluate``: runs and measures in, a table out."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from evenrank.cli import shared
from evenrank.cli.figures import FIGURES, check_drawing, draw
from evenrank.cli.outputs import check_output
from evenrank.cli.parser import add_command
from evenrank.cli.streams import put, say, say_notes, terminal_width
from evenrank.cli.system_labels import system_labels
from evenrank.cli.values import view_of
from evenrank.inputs.file_options import AGAINST

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.scores import Scores

QUERIES, LABELS = "queries", "labels"
VIEWS = {QUERIES: (), LABELS: ()}


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "evaluate",
        """Score one or more runs. The table has the value over all queries, a 95% confidence interval, and
        the number of queries. A folder in the place of a run is one system with several rankings of each
        query. Notes and messages go to stderr.""",
        """
        evenrank evaluate bm25.trec --qrels qrels.txt -m 'nDCG@10 RR@10'
        evenrank evaluate runs/*.trec --qrels qrels.txt -m nDCG -m P --cutoffs 5,10,20 --format latex
        evenrank evaluate bm25.trec --qrels qrels.txt -m AP --view queries --format tsv > ap.tsv
        evenrank evaluate runs/*.trec --words counts.parquet --background bm25.trec -m 'NFaiRR@10 TExFAIR@10'
        evenrank evaluate bm25.trec --words counts.parquet -m TExFAIR --cutoffs 5,10,20,50 --figure curves.svg
        evenrank evaluate runs/*.trec --qrels qrels.txt -m 'nDCG@10 AP' --figure plane.svg --kind scatter
        evenrank evaluate bm25.trec --groups stars=stars.csv:ordinal --target stars=0.5,0.3,0.2 -m GF@10
        evenrank evaluate draws/ --qrels qrels.txt --groups gender=gender.csv -m 'EE_L@10 EE_D@10'
        evenrank evaluate bm25.trec --against dense.trec -m 'RBO(p=0.9)@10'
        zcat dense.trec.gz | evenrank evaluate dense=- --qrels qrels.txt -m 'AP(rel=2)' -o scores.jsonl
        """,
    )
    shared.add_runs(parser)
    shared.add_measures(parser)
    shared.add_cutoffs(parser)
    parser.add_argument(
        "--against", type=shared.option(AGAINST.parse), metavar="RUN",
        help="the second run for measures of a pair, such as RBO",
    )  # fmt: skip
    parser.add_argument(
        "--view", type=shared.option(lambda text: view_of(text, VIEWS)), metavar="VIEW",
        help="what to print instead of means: queries (the value of every query), or labels (intervals that "
        "include the error of group labels)",
    )  # fmt: skip
    shared.add_inputs(parser)
    shared.add_format(parser)
    shared.add_output(
        parser,
        "write the scores of every query (.jsonl, .csv, .tsv, .parquet) or the table (.tex, .md); "
        "the table is then printed only if --format or --view is given",
    )
    shared.add_figure(parser, "the scores", FIGURES)
    parser.set_defaults(run=run, reads_project=True)


def run(arguments: argparse.Namespace) -> int:
    view = None if arguments.view is None else arguments.view.name
    form = arguments.format or "table"
    scores, texts = _scores(arguments)
    if arguments.output is not None:
        scores.write(arguments.output)
        say(f"wrote {arguments.output}")
    draw(scores, arguments, texts)
    if view == LABELS:
        put(_label_intervals(arguments, form))
    elif arguments.output is None or arguments.format is not None or view is not None:
        put(_printed(scores, form, per_query=view == QUERIES))
    say_notes(scores, arguments)
    return 0


def _scores(arguments: argparse.Namespace) -> tuple[Scores, Mapping[str, str]]:
    """The scores, and the texts of queries."""
    from evenrank.evaluation import evaluate
    from evenrank.scores.files import WRITTEN, file_format

    # what is wrong with the command line is reported before large files are read
    known = shared.description_for_measures(arguments)
    shared.need_runs(known)
    known.check()
    check_output(arguments.output, arguments.figure)
    if arguments.output is not None:
        file_format(arguments.output, None, WRITTEN)
    check_drawing(arguments, len(known.runs))
    inputs = shared.read_inputs(known, weighs=True)
    measures = shared.chosen_measures(arguments, inputs)
    scores = evaluate(
        inputs, measures, cutoffs=arguments.cutoffs, missing=shared.missing_rule(arguments, measures)
    )
    scores = shared.labelled(scores, arguments)
    if systems := system_labels(arguments):
        from evenrank.comparison.audits.system_files import with_systems

        scores = with_systems(scores, systems)
    texts = inputs.query_texts or {}
    return scores if inputs.categories is None else scores.by(inputs.categories), texts


def _label_intervals(arguments: argparse.Namespace, form: str) -> str:
    from evenrank.evaluation.label_intervals import label_intervals, label_table
    from evenrank.tables import printed

    inputs = shared.description_for_measures(arguments).read()
    measures = shared.chosen_measures(arguments, inputs)
    found = label_intervals(inputs, measures, seed=shared.seed_of(arguments))
    return printed([label_table(found)], form, terminal_width())


def _printed(scores: Scores, form: str, *, per_query: bool) -> str:
    from evenrank.scores.score_tables import print_scores

    return print_scores(scores, form, terminal_width(), per_query=per_query)
