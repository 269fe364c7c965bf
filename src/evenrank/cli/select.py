"""``evenrank select``: which of several rankers to take, by how much fairness weighs."""

from __future__ import annotations

import argparse
import re
from fnmatch import fnmatchcase
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
from evenrank.cli.reading import attempt, reading_files
from evenrank.cli.streams import put, say, say_notes, terminal_width
from evenrank.cli.values import pair, positive
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenrank.cli.parser import Commands
    from evenrank.scores import Scores

FORMATS = ("table", "tsv", "jsonl", "markdown", "latex")


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "select",
        "choose among rankers by fairness and relevance",
        """Choose one of several runs, as those of a ranker's checkpoints, by F_beta of relevance and
        fairness, for each beta: 0 looks at relevance alone, inf at fairness alone. Choices are made by
        cross-validation over queries, and what they are worth is tested against the baseline.""",
        """
        evenrank select bert.trec checkpoints/*.trec --qrels qrels.txt --words counts.parquet \
--background bm25.trec --relevance nDCG@10 --fairness NFaiRR@10
        evenrank select runs/*.trec --qrels qrels.txt --groups g=g.csv --relevance nDCG@10 --fairness GF@10 \
--beta 0,1,inf --baseline bm25 --also 'RR R@10' --figure cloud.svg --family 'L2=*_L2' --family 'L4=*_L4'
        evenrank select --models models --qrels qrels.txt --words counts.parquet --background bm25.trec \
--relevance nDCG@10 --fairness NFaiRR@10 --beta 0,0.2,0.5,1,2,5,inf
        """,
    )
    parser.add_argument("runs", nargs="*", metavar="RUN", help="run file, TREC or a table; - reads stdin")
    parser.add_argument(
        "--models", metavar="FOLDER",
        help="the runs of all rankers that evenrank train wrote into this folder; the one without an "
        "adversary is the first",
    )  # fmt: skip
    parser.add_argument("--relevance", required=True, metavar="MEASURE", help="as nDCG@10")
    parser.add_argument("--fairness", required=True, metavar="MEASURE", help="as NFaiRR@10")
    parser.add_argument(
        "--beta", default="0,0.2,0.5,1,2,5,inf", metavar="B,B,...",
        help="how much fairness weighs; default: 0,0.2,0.5,1,2,5,inf",
    )  # fmt: skip
    parser.add_argument(
        "--baseline", metavar="NAME", help="the run that choices are tested against (default: the first)"
    )
    parser.add_argument(
        "--also", action="append", default=[], metavar="MEASURES",
        help="further measures, which take no part in the choice but must not get worse",
    )  # fmt: skip
    parser.add_argument(
        "--folds", type=positive, default=5, metavar="N", help="parts of the queries (default: 5)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the folds (default: 0)")
    parser.add_argument("--alpha", type=float, default=0.05, help="what is significant (default: 0.05)")
    add_evidence(parser)
    parser.add_argument("--missing", choices=MISSING, help=MISSING_HELP)
    parser.add_argument("--queries", metavar="FILE", help="score these queries only: one id a line")
    add_reading(parser)
    parser.add_argument(
        "--name", action="append", default=[], metavar="NAME",
        help="name of a run, once for each RUN in their order; without it, the file's name",
    )  # fmt: skip
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the scores of every query: .jsonl, .csv, .tsv, .parquet"
    )
    parser.add_argument(
        "--figure", metavar="FILE",
        help="draw relevance against fairness, a point a run, with a line through each family: .html, .svg, "
        ".png or .pdf",
    )  # fmt: skip
    parser.add_argument(
        "--family", type=pair("NAME=PATTERN"), action="append", default=[], metavar="NAME=PATTERN",
        help="in the figure, the runs whose names are like PATTERN (*, ?) are of one family; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--shade", type=_shade, metavar="NAME=PATTERN",
        help="in the figure, points are the darker the larger a number in the name of their run: a regular "
        "expression with one group, as 'lambda=_l([0-9.]+)'",
    )  # fmt: skip
    parser.set_defaults(run=run)


def _shade(text: str) -> tuple[str, re.Pattern[str]]:
    name, equals, pattern = text.partition("=")
    try:
        found = re.compile(pattern)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{pattern!r} is no regular expression: {error}") from None
    if not (name and equals) or found.groups != 1:
        raise argparse.ArgumentTypeError(f"must be NAME=PATTERN with one group, got {text!r}")
    return name, found


def _shades(names: Sequence[str], pattern: re.Pattern[str]) -> dict[str, float]:
    found = {}
    for name in names:
        match = pattern.search(name)
        if match is not None:
            try:
                found[name] = float(match[1])
            except ValueError:
                raise ParameterError(f"--shade: {match[1]!r} in {name!r} is not a number") from None
    if not found:
        raise ParameterError(f"--shade: no run has {pattern.pattern!r} in its name: {', '.join(names)}")
    return found


def run(arguments: argparse.Namespace) -> int:
    from evenrank.comparison.selection import beta_of, select
    from evenrank.comparison.selection_table import choice_table
    from evenrank.tables import printed

    models = _models(arguments)
    inputs = [*arguments.runs, *evidence_files(arguments), arguments.queries]
    check_stdin(inputs)
    check_groups(arguments)
    for written in (arguments.output, arguments.figure):
        check_output(written, inputs)
    # what is wrong with the command line is said before large files are read
    betas = [beta_of(part) for part in arguments.beta.split(",")]
    names = [*models, *run_names(arguments.runs[len(models) :], arguments.name)]
    families = _families(names, arguments)
    shades: dict[str, Any] = {}
    if arguments.shade is not None:
        shades = {"shade": arguments.shade[0], "shades": _shades(names, arguments.shade[1])}
    scores = _scores(arguments, names)
    measures = scores.measures  # with the rule for missing evidence
    found = select(
        scores,
        relevance=measures[0],
        fairness=measures[1],
        betas=betas,
        baseline=arguments.baseline,
        others=list(measures[2:]),
        folds=arguments.folds,
        seed=arguments.seed,
        alpha=arguments.alpha,
    )
    if arguments.output is not None:
        scores.write(arguments.output)
        say(f"wrote {arguments.output}")
    if arguments.figure is not None:
        from evenrank.report import save_figure
        from evenrank.report.figures.cloud import cloud_figure

        chart = cloud_figure(scores, measures[1], measures[0], families=families, **shades)
        save_figure(chart, arguments.figure)
        say(f"wrote {arguments.figure}")
    put(printed([choice_table(found)], arguments.format, terminal_width()))
    say_notes(scores, arguments)
    return 0


def _models(arguments: argparse.Namespace) -> list[str]:
    """The names of trained rankers, whose runs are put before the others."""
    if arguments.models is None:
        if not arguments.runs:
            raise ParameterError("select takes runs, or --models FOLDER")
        return []
    from evenrank.neural.variants import ranked_variants

    found = ranked_variants(arguments.models)
    arguments.runs = [*map(str, found.values()), *arguments.runs]
    return list(found)


def _families(names: Sequence[str], arguments: argparse.Namespace) -> dict[str, list[str]]:
    """The runs of each family; those of none are on their own."""
    if arguments.baseline is not None and arguments.baseline not in names:
        raise ParameterError(f"no run is called {arguments.baseline!r}; there are {', '.join(names)}")
    if arguments.figure is None and (arguments.family or arguments.shade is not None):
        raise ParameterError("--family and --shade are about the figure: give --figure FILE too")
    found: dict[str, list[str]] = {}
    for family, pattern in arguments.family:
        own = [name for name in names if fnmatchcase(name, pattern)]
        if not own:
            raise ParameterError(f"--family {family}: no run is like {pattern!r}: {', '.join(names)}")
        found.setdefault(family, []).extend(own)
    return found


def _scores(arguments: argparse.Namespace, names: Sequence[str]) -> Scores:
    from evenrank.evaluation import evaluate
    from evenrank.measures import parse_measure, parse_measures
    from evenrank.scores.files import WRITTEN, file_format

    measures = [parse_measure(arguments.relevance), parse_measure(arguments.fairness)]
    if measures[0] == measures[1]:
        raise ParameterError("--relevance and --fairness are the same measure: a trade-off needs two")
    measures += parse_measures(arguments.also) if arguments.also else []
    if arguments.output is not None:
        file_format(arguments.output, None, WRITTEN)
    if arguments.figure is not None:
        from evenrank.report.figures.files import check_figure

        check_figure(arguments.figure)
    check_columns(arguments, arguments.runs)
    with reading_files():
        queries = None if arguments.queries is None else attempt(partial(read_ids, arguments.queries))
        evidence = read_evidence(arguments)
        runs = read_runs(arguments, names)
    return evaluate(runs, measures, queries=queries, missing=arguments.missing, **evidence)
