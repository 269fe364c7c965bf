"""``evenrank origin``: where bias comes from: the collection, the background, or the ranker."""

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
from evenrank.cli.inputs import check_output, check_stdin, read_ids, run_names
from evenrank.cli.parser import add_command
from evenrank.cli.progress import Bar
from evenrank.cli.reading import attempt, reading_files
from evenrank.cli.streams import put, say, say_notes, terminal_width
from evenrank.cli.values import pair, positive
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenrank.cli.parser import Commands
    from evenrank.comparison.origin import Origin
    from evenrank.data.lexicon import Lexicon
    from evenrank.measures import Measure
    from evenrank.tables import Table

FORMATS = ("table", "tsv", "jsonl", "markdown", "latex")
TERMS_CUTOFF = 10  # of TermExposure, where no measure has one


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "origin",
        "say where bias comes from: collection, queries or ranker",
        """Score runs, and beside them documents of the whole collection and of the background of each query
        in random order. What the background adds to the collection comes from the queries, what a run adds
        to the background comes from its ranker. For NFaiRR and FaiRR the values of random orders are exact,
        for other measures they are means over random lists.""",
        """
        evenrank origin runs/*.trec --words counts.parquet --background bm25.trec -m 'NFaiRR@10 TExFAIR@10'
        evenrank origin bm25.trec --words counts.parquet -m NFaiRR@10 --extremes 5 --terms 20
        evenrank origin bm25.trec dense.trec --words counts.parquet --background bm25.trec -m NFaiRR@10 \
--by domains.csv --format markdown
        evenrank origin bert.trec fair.trec --words counts.parquet --background bm25.trec -m NFaiRR@10 \
--figure origin.svg --improved bert=fair
        """,
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run file, TREC or a table; - reads stdin")
    parser.add_argument(
        "-m", "--measures", action="append", required=True, metavar="MEASURES",
        help="measures, such as 'NFaiRR@10 TExFAIR@10'; may be repeated (see: evenrank measures)",
    )  # fmt: skip
    add_evidence(parser)
    parser.add_argument(
        "--collection", metavar="FILE",
        help="the documents of the collection, one id a line (default: all documents of --words)",
    )  # fmt: skip
    parser.add_argument("--missing", choices=MISSING, help=MISSING_HELP)
    parser.add_argument("--queries", metavar="FILE", help="score these queries only: one id a line")
    parser.add_argument(
        "--draws", type=positive, default=200, metavar="N",
        help="random lists for measures without a closed form (default: 200)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the random lists (default: 0)")
    add_reading(parser)
    parser.add_argument(
        "--name", action="append", default=[], metavar="NAME",
        help="name of a run, once for each RUN in their order; without it, the file's name",
    )  # fmt: skip
    parser.add_argument(
        "--by", metavar="FILE",
        help="split the results by category of query: a table with the columns query and category",
    )  # fmt: skip
    parser.add_argument(
        "--extremes", type=positive, metavar="N",
        help="also the N queries with the lowest and the highest values of each run",
    )  # fmt: skip
    parser.add_argument(
        "--terms", type=positive, metavar="N",
        help="also the N words with most exposure (needs scan --terms)",
    )  # fmt: skip
    parser.add_argument(
        "--format", choices=FORMATS, default="table",
        help="default: table; as tsv, --extremes or --terms is printed alone",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the scores of every query: .jsonl, .csv, .tsv, .parquet"
    )
    parser.add_argument(
        "--figure", metavar="FILE", help="draw the places side by side: .html, .svg, .png or .pdf"
    )
    parser.add_argument(
        "--improved", type=pair("RUN=RUN"), action="append", default=[], metavar="RUN=RUN",
        help="in the figure, show the second run as what became of the first; may be repeated",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    inputs = [
        *arguments.runs, *evidence_files(arguments), arguments.queries, arguments.by, arguments.collection,
    ]  # fmt: skip
    check_stdin(inputs)
    check_groups(arguments)
    for written in (arguments.output, arguments.figure):
        check_output(written, inputs)
    if arguments.format == "tsv" and arguments.extremes is not None and arguments.terms is not None:
        raise ParameterError("--extremes and --terms are two tables: as tsv ask for one of them")
    found, lexicon = _origin(arguments)
    parts: dict[str | None, Origin] = {None: found}
    if arguments.by is not None:
        from evenrank.io.categories import read_categories

        parts = dict(found.by(read_categories(arguments.by)).items())
    if arguments.output is not None:
        found.scores.write(arguments.output)
        say(f"wrote {arguments.output}")
    if arguments.figure is not None:
        from evenrank.report import save_figure
        from evenrank.report.figures.origin import origin_figure

        shown = {category or "": part.scores for category, part in parts.items()}
        chart = origin_figure(shown, found.places, improved=arguments.improved)
        save_figure(chart, arguments.figure)
        say(f"wrote {arguments.figure}")
    put(_printed(parts, lexicon, arguments))
    say_notes(found.system_scores, arguments)
    return 0


def _origin(arguments: argparse.Namespace) -> tuple[Origin, Lexicon | None]:
    from evenrank.comparison.origin import origin
    from evenrank.measures import parse_measures

    # what is wrong with the command line is said before large files are read
    measures = parse_measures(arguments.measures)
    names = run_names(arguments.runs, arguments.name)
    _check_files(arguments, names)
    if arguments.terms is not None:
        if arguments.words is None:
            raise ParameterError("--terms is about the words of --words: give that too")
        measures = _with_terms(measures)
    check_columns(arguments, arguments.runs)
    collection = None
    with reading_files():
        queries = None if arguments.queries is None else attempt(partial(read_ids, arguments.queries))
        if arguments.collection is not None:
            collection = attempt(partial(read_ids, arguments.collection, "document"))
        evidence = read_evidence(arguments)
        runs = read_runs(arguments, names)
    words = evidence["words"]
    given: dict[str, Any] = {"queries": queries, "missing": arguments.missing, **evidence}
    with Bar("drawing", "random lists") as bar:
        given |= {"draws": arguments.draws, "seed": arguments.seed, "told": bar}
        found = origin(runs, measures, collection=collection, **given)
    return found, None if words is None else words.lexicon


def _check_files(arguments: argparse.Namespace, names: Sequence[str]) -> None:
    from evenrank.scores.files import WRITTEN, file_format

    if arguments.output is not None:
        file_format(arguments.output, None, WRITTEN)
    for name in (name for both in arguments.improved for name in both):
        if name not in names:
            raise ParameterError(f"--improved: no run is called {name!r}; there are {', '.join(names)}")
    if arguments.figure is not None:
        from evenrank.report.figures.files import check_figure

        check_figure(arguments.figure)
    elif arguments.improved:
        raise ParameterError("--improved is about the figure: give --figure FILE too")


def _with_terms(measures: Sequence[Measure]) -> list[Measure]:
    from evenrank.measures.exposure import TermExposure

    if any(isinstance(measure, TermExposure) for measure in measures):
        return list(measures)
    depths = [measure.cutoff for measure in measures if measure.cutoff is not None]
    return [*measures, TermExposure(cutoff=depths[0] if depths else TERMS_CUTOFF)]


def _printed(parts: dict[str | None, Origin], lexicon: Lexicon | None, arguments: argparse.Namespace) -> str:
    from evenrank.comparison.origin_table import tables_of_origin
    from evenrank.tables import printed

    tables: list[Table] = []
    *_, last = parts.values()
    for category, part in parts.items():
        tables += tables_of_origin(
            part,
            extremes=arguments.extremes,
            terms=arguments.terms,
            lexicon=lexicon,
            category=category,
            only=arguments.format == "tsv",
            notes=part is last,  # they are the same for all
        )
    return printed(tables, arguments.format, terminal_width())
