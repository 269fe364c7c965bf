"""``evenrank report``: runs and what is known of their documents in, one HTML file out."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from evenrank.cli.evidence import (
    add_evidence,
    add_reading,
    check_columns,
    evidence_files,
    read_evidence,
    read_runs,
)
from evenrank.cli.groups import MISSING, MISSING_HELP, check_groups
from evenrank.cli.inputs import (
    TEXT_ROLES,
    can_be_read_twice,
    check_output,
    check_stdin,
    document_columns,
    read_ids,
    run_names,
)
from evenrank.cli.parser import add_command
from evenrank.cli.progress import Bar
from evenrank.cli.reading import attempt, reading_files
from evenrank.cli.significance import add_significance, significance
from evenrank.cli.streams import say, say_notes
from evenrank.cli.values import positives
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.data.lexicon import Lexicon
    from evenrank.data.words import WordCounts
    from evenrank.measures import Measure
    from evenrank.scores import Scores

SUFFIXES = (".html", ".htm")


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "report",
        "write all about runs to one HTML file",
        """Score runs, compare them with the baseline, and write what was found to one HTML file that needs no
        network: a summary in words, tables with intervals and significance, figures, and every query with
        its ranked documents, their group words marked, and what each document does to the score. One run
        alone is reported without a comparison.""",
        """
        evenrank report bm25.trec fairer.trec --baseline bm25 --words counts.parquet --background bm25.trec \
--qrels qrels.txt --documents collection.tsv --query-texts queries.tsv -m 'NFaiRR@10 nDCG@10' -o report.html
        evenrank report runs/*.trec --documents collection.tsv --lexicon gender-en --background bm25.trec \
-m NFaiRR@10 -o report.html
        evenrank report bm25.trec --qrels qrels.txt --groups g=g.csv -m 'GF@10 nDCG@10' -o report.html
        """,
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run file, TREC or a table; - reads stdin")
    parser.add_argument(
        "-m", "--measures", action="append", required=True, metavar="MEASURES",
        help="measures, such as 'NFaiRR@10 nDCG@10'; may be repeated (see: evenrank measures)",
    )  # fmt: skip
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the .html file to write")
    add_significance(parser)
    add_evidence(parser)
    parser.add_argument(
        "--documents", metavar="COLLECTION",
        help="texts of the documents, in any format that scan reads, to show them",
    )  # fmt: skip
    parser.add_argument(
        "--lexicon", metavar="L",
        help="mark the words of this lexicon in the texts (default: the one that --words were counted with); "
        "without --words they are counted in --documents first",
    )  # fmt: skip
    parser.add_argument(
        "--query-texts", metavar="FILE",
        help="what people asked: lines of id, tab, text; a table with columns query and text; XML topics "
        "(default: what stands behind the ids of --queries)",
    )  # fmt: skip
    parser.add_argument("--missing", choices=MISSING, help=MISSING_HELP)
    parser.add_argument("--queries", metavar="FILE", help="score these queries only: one id a line")
    parser.add_argument(
        "--cutoffs", type=positives, metavar="K,K,...",
        help="cut-offs of the curves (default: some up to that of each measure)",
    )  # fmt: skip
    parser.add_argument(
        "--sort-by", metavar="MEASURE",
        help="the measure that queries are sorted by (default: the first of fairness)",
    )  # fmt: skip
    parser.add_argument(
        "--system", metavar="NAME", help="the run whose lists are shown first (default: the worst other run)"
    )
    parser.add_argument("--title", default="evenrank report", metavar="TEXT", help="title of the page")
    parser.add_argument(
        "--readable", type=int, default=200, metavar="N",
        help="how many queries, the worst first, have their documents where scripts are off (default: 200)",
    )  # fmt: skip
    add_reading(parser, TEXT_ROLES)
    parser.add_argument(
        "--name", action="append", default=[], metavar="NAME",
        help="name of a run, once for each RUN in their order; without it, the file's name",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    texts = [arguments.documents, arguments.query_texts, arguments.queries]
    inputs = [*arguments.runs, *evidence_files(arguments), *texts]
    check_stdin(inputs)
    check_groups(arguments)
    check_output(arguments.output, inputs)
    if not arguments.output.lower().endswith(SUFFIXES):
        raise ParameterError(f"{arguments.output}: the name of a report must end in {' or '.join(SUFFIXES)}")
    names = run_names(arguments.runs, arguments.name)
    _check_names(arguments, names)
    say_notes(_write(arguments, names), arguments)
    say(f"wrote {arguments.output}")
    return 0


def _check_names(arguments: argparse.Namespace, names: list[str]) -> None:
    """Say before anything is read that a run of that name is not among those given."""
    for name in [*(arguments.baseline or []), *filter(None, [arguments.system])]:
        if name not in names:
            raise ParameterError(f"no run is called {name!r}; there are {', '.join(names)}")
    if arguments.baseline and len(names) == 1:
        raise ParameterError("--baseline is what other runs are compared with, and there is one run only")


def _write(arguments: argparse.Namespace, names: list[str]) -> Scores:
    """Write the report, and give the scores that it is about."""
    from evenrank.evaluation import evaluate
    from evenrank.inputs import Inputs
    from evenrank.measures import parse_measures
    from evenrank.report.figures.style import load_altair
    from evenrank.report.page import write_report

    # what is wrong with the command line is said before large files are read
    measures = parse_measures(arguments.measures)
    load_altair()
    check_columns(arguments, arguments.runs)
    options = _options(arguments)
    with reading_files():
        evidence = read_evidence(arguments)
        if arguments.queries is not None:
            evidence["queries"] = attempt(partial(read_ids, arguments.queries))
        runs = read_runs(arguments, names)
    if evidence["words"] is None and _wants_words(measures):
        evidence["words"] = _counted(arguments, options["lexicon"])
    inputs = Inputs.of(runs, **evidence)
    comparison, missing = None, arguments.missing
    if len(inputs.runs) > 1:
        from evenrank.comparison import compare

        comparison = compare(inputs, measures, missing=missing, **significance(arguments))
    scores = evaluate(inputs, measures, missing=missing) if comparison is None else comparison.scores
    with Bar("writing", "sections") as bar:
        write_report(
            arguments.output,
            scores,
            comparison=comparison,
            inputs=inputs,
            progress=bar,
            **options,
        )
    return scores


def _wants_words(measures: list[Measure]) -> bool:
    return any(need.endswith(".words") for measure in measures for need in measure.needs)


def _counted(arguments: argparse.Namespace, lexicon: Lexicon | None) -> WordCounts | None:
    """The words of the lexicon in the documents, where both are given."""
    if arguments.documents is None or lexicon is None:
        return None
    if not can_be_read_twice(arguments.documents):
        raise ParameterError(
            "--documents are read twice, to count words and to show texts: give a file, not - or a pipe"
        )
    from evenrank.evidence.scan import scan

    return scan(arguments.documents, lexicon, columns=document_columns(arguments.columns))


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the report shows beside the scores."""
    from evenrank.io.lexicons import read_lexicon
    from evenrank.io.query_texts import read_query_texts

    texts = None
    if arguments.query_texts is not None:
        texts = read_query_texts(arguments.query_texts)
    elif arguments.queries is not None and can_be_read_twice(arguments.queries):
        texts = _behind_ids(arguments.queries)
    return {
        "documents": arguments.documents,
        "columns": document_columns(arguments.columns),
        "lexicon": None if arguments.lexicon is None else read_lexicon(arguments.lexicon),
        "query_texts": texts,
        "title": arguments.title,
        "measure": arguments.sort_by,
        "system": arguments.system,
        "cutoffs": arguments.cutoffs,
        "readable": arguments.readable,
    }


def _behind_ids(path: str) -> dict[str, str]:
    """The texts that stand behind a tab in a list of queries, if there are any."""
    from evenrank.io.source import as_source

    source = as_source(path)
    content = "" if source is None else b"".join(source.blocks()).decode("utf-8-sig", "replace")
    pairs = (line.partition("\t") for line in content.splitlines())
    return {query.strip(): text.strip() for query, tab, text in pairs if tab and text.strip()}
