"""``evenrank report``: runs and what is known about their documents in, one HTML file out."""

from __future__ import annotations

import argparse
import gc
from typing import TYPE_CHECKING

from evenrank.cli import shared
from evenrank.cli.outputs import check_output
from evenrank.cli.parser import add_command
from evenrank.cli.progress import Bar
from evenrank.cli.significance import add_significance, significance
from evenrank.cli.streams import say, say_notes
from evenrank.cli.targets import asked_options
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.data.lexicon import Lexicon
    from evenrank.inputs.description import Description
    from evenrank.scores import Scores

SUFFIXES = (".html", ".htm")
OUTPUT, TITLE = "report.html", "evenrank report"


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "report",
        """Score runs, compare them with the baseline, and write what was found to one HTML file that needs no
        network: a summary in words, tables with intervals and significance, figures, and every query with
        its ranked documents, their group words marked, and what each document does to the score. One run
        alone is reported without a comparison.""",
        """
        evenrank report bm25.trec fairer.trec --baseline bm25 --words counts.parquet --background bm25.trec \
--qrels qrels.txt --documents collection.tsv --queries queries.tsv -m 'NFaiRR@10 nDCG@10' -o report.html
        evenrank report runs/*.trec --documents collection.tsv --lexicon gender-en --background bm25.trec \
-m NFaiRR@10 -o report.html
        evenrank report bm25.trec --qrels qrels.txt --groups g=g.csv -m 'GF@10 nDCG@10' -o report.html
        """,
    )
    shared.add_runs(parser)
    shared.add_measures(parser)
    shared.add_cutoffs(parser, "cut-offs of the curves (default: several up to that of each measure)")
    add_significance(parser)
    shared.add_inputs(parser)
    shared.add_lexicon(
        parser,
        "mark the words of this lexicon in the texts (default: the one that --words were counted with); "
        "without --words they are counted in --documents first",
    )
    parser.add_argument(
        "--sort-by", metavar="MEASURE",
        help="the measure that queries are sorted by (default: the first of fairness)",
    )  # fmt: skip
    parser.add_argument(
        "--system", metavar="NAME", help="the run whose lists are shown first (default: the worst other run)"
    )
    parser.add_argument("--title", metavar="TEXT", help="title of the page")
    parser.add_argument(
        "--readable", type=int, default=200, metavar="N",
        help="number of queries, the worst first, whose documents can be read without scripts (default: 200)",
    )  # fmt: skip
    shared.add_output(parser, "the .html file to write (default: report.html)")
    parser.set_defaults(run=run, reads_project=True, baseline_is_list=True)


def run(arguments: argparse.Namespace) -> int:
    output = arguments.output or shared.default_output(arguments, OUTPUT)
    known = shared.description(arguments)
    shared.need_runs(known)
    check_output(output)
    if not output.lower().endswith(SUFFIXES):
        raise ParameterError(f"{output}: the name of a report must end in {' or '.join(SUFFIXES)}")
    _check_names(arguments, known.names)
    gc.disable()  # a report keeps what it makes until it is written, and would be searched many times
    try:
        scores = _write(arguments, known, output)
    finally:
        gc.enable()
    say_notes(scores, arguments)
    say(f"wrote {output}")
    return 0


def _check_names(arguments: argparse.Namespace, names: list[str]) -> None:
    """Say before anything is read that a run of that name is not among those given."""
    for name in [*(arguments.baseline or []), *filter(None, [arguments.system])]:
        if name not in names:
            raise ParameterError(f"no run is called {name!r}; there are {', '.join(names)}")
    if arguments.baseline and len(names) == 1:
        raise ParameterError(
            "--baseline is the run that other runs are compared with, but there is one run only"
        )


def _write(arguments: argparse.Namespace, known: Description, output: str) -> Scores:
    """Write the report, and give the scores that it is made of."""
    from evenrank.comparison.curves import evaluate_with_curves
    from evenrank.inputs.coerce import with_options
    from evenrank.reporting.figures.style import load_altair
    from evenrank.reporting.page import write_report
    from evenrank.verdict.attributes import with_verdict_targets
    from evenrank.verdict.judge import DEPTH

    # what is wrong with the command line is reported before large files are read
    shared.named_measures(arguments)
    load_altair()
    known.check()
    lexicon = _lexicon(arguments)
    options = {"depth": DEPTH} | asked_options(known, arguments.project)
    inputs = with_verdict_targets(shared.read_inputs(known, weighs=True), options["target"], options["depth"])
    measures = shared.chosen_measures(arguments, inputs)
    missing = shared.missing_rule(arguments, measures)
    computed = evaluate_with_curves(inputs, with_options(measures, None, missing), arguments.cutoffs)
    scores, comparison = shared.labelled(computed.scores, arguments), None
    if len(inputs.runs) > 1:
        from evenrank.comparison import compare

        comparison = compare(scores, **significance(arguments))
    with Bar("writing", "sections") as bar:
        write_report(
            output,
            scores,
            comparison=comparison,
            inputs=inputs,
            progress=bar,
            documents=inputs.documents,
            lexicon=lexicon,
            query_texts=inputs.query_texts,
            title=arguments.title or TITLE,
            measure=arguments.sort_by,
            system=arguments.system,
            computed=computed,
            readable=arguments.readable,
            **options,
            clicks=known.clicked,
            command=arguments.typed,
        )
    return scores


def _lexicon(arguments: argparse.Namespace) -> Lexicon | None:
    from evenrank.io.lexicons import read_lexicon

    return None if arguments.lexicon is None else read_lexicon(arguments.lexicon)
