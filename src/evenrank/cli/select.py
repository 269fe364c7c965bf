"""``evenrank select``: which of several rankers to take, by how much fairness weighs."""

from __future__ import annotations

import argparse
import re
import warnings
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.cli import shared
from evenrank.cli.candidates import (
    BETAS,
    CANDIDATES_HELP,
    FOLDS,
    METHOD,
    candidate_of,
    check_within_loss,
    expanded_methods,
    loss_of,
    table_within_loss,
)
from evenrank.cli.outputs import check_output
from evenrank.cli.parser import add_command
from evenrank.cli.streams import put, say, say_notes, terminal_width
from evenrank.cli.system_candidates import check_texts_given, run_systems, split_systems
from evenrank.cli.values import pair, positive
from evenrank.errors import ParameterError
from evenrank.inputs.file_options import FileOption

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenrank.cli.parser import Commands
    from evenrank.inputs import Inputs
    from evenrank.inputs.description import Description
    from evenrank.measures import Measure
    from evenrank.scores import Scores
    from evenrank.systems.candidate_runs import SystemCandidate


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "select",
        """Choose one of several runs, such as those of a ranker's checkpoints, by F_beta of relevance and
        fairness, for each beta: 0 looks at relevance alone, inf at fairness alone. Choices are made by
        cross-validation over queries and tested against the baseline. A folder that evenrank debias wrote
        stands for the runs of all its rankers, the one without an adversary first. A re-ranker is a
        candidate too, and re-ranks the baseline; so are a system of evenrank retrieve and an eraser of
        evenrank debias erase, which search --documents for the baseline's queries.""",
        """
        evenrank select bert.trec checkpoints/*.trec --qrels qrels.txt --words counts.parquet \
--background bm25.trec --relevance nDCG@10 --fairness NFaiRR@10
        evenrank select runs/*.trec --qrels qrels.txt --groups g=g.csv --relevance nDCG@10 --fairness GF@10 \
--beta 0,1,inf --baseline bm25 --also 'RR R@10' --figure cloud.svg --family 'L2=*_L2' --family 'L4=*_L4'
        evenrank select bm25.trec erased.trec 'Penalty(lam={0.2,0.5})' --qrels qrels.txt \
--words counts.parquet --background bm25 --relevance nDCG@10:loss=0.01 --fairness NFaiRR@10
        evenrank select bm25.trec 'Dense(model=minilm)' gender.safetensors --documents docs.tsv \
--queries queries.tsv --qrels qrels.txt --words counts.parquet --relevance nDCG@10:loss=0.01
        evenrank select models --qrels qrels.txt --words counts.parquet --background bm25.trec \
--relevance nDCG@10 --fairness NFaiRR@10 --beta 0,0.2,0.5,1,2,5,inf
        """,
    )
    shared.add_runs(parser, of=candidate_of, extra=CANDIDATES_HELP)
    parser.add_argument(
        "--relevance",
        metavar="MEASURE[:loss=L]",
        help="measure of relevance (default: the first that judgements allow); with :loss=0.01 candidates "
        "are shown by what they gain if its mean may lose so much, and not by beta",
    )
    parser.add_argument(
        "--fairness",
        metavar="MEASURE",
        help="measure of fairness (default: the first that the evidence allows)",
    )
    parser.add_argument(
        "--also", action="append", default=[], metavar="MEASURES",
        help="further measures, which take no part in the choice but must not get worse",
    )  # fmt: skip
    parser.add_argument(
        "--beta", default=BETAS, metavar="B,B,..",
        help=f"weights of fairness against relevance (default: {BETAS})",
    )  # fmt: skip
    parser.add_argument(
        "--baseline", metavar="NAME", help="the run that choices are tested against (default: the first)"
    )
    parser.add_argument(
        "--folds", type=positive, default=FOLDS, metavar="N",
        help=f"number of parts of the queries in cross-validation (default: {FOLDS})",
    )  # fmt: skip
    parser.add_argument("--alpha", type=float, metavar="P", help="significance level (default: 0.05)")
    shared.add_inputs(parser)
    shared.add_format(parser)
    shared.add_output(parser, shared.WRITTEN_SCORES)
    shared.add_figure(
        parser, "relevance against fairness, a point for each run and a line through each family"
    )
    parser.add_argument(
        "--family", type=pair("NAME=PATTERN"), action="append", default=[], metavar="NAME=PATTERN",
        help="in the figure, runs whose names match PATTERN (*, ?) are one family; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--shade", type=_shade, metavar="NAME=PATTERN",
        help="in the figure, points are darker for a larger number in the run's name: a regular "
        "expression with "
        "one group, such as 'lambda=_l([0-9.]+)'",
    )  # fmt: skip
    parser.set_defaults(run=run, reads_project=True)


def _shade(text: str) -> tuple[str, re.Pattern[str]]:
    name, equals, pattern = text.partition("=")
    try:
        found = re.compile(pattern)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{pattern!r} is not a regular expression: {error}") from None
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

    known = shared.description(arguments)
    methods = expanded_methods(known.runs)
    files = [file for file in known.runs if file.get(METHOD) is None]
    runs, systems = split_systems(files, arguments.project)
    known = replace(known, runs=runs)
    check_texts_given(systems, known)
    shared.need_runs(known)
    trained = [file.name for file in known.runs if Path(file.path).is_dir() for file in _expanded(file)]
    known = replace(known, runs=tuple(run for file in known.runs for run in _expanded(file)))
    arguments.relevance, loss = loss_of(arguments.relevance)
    # what is wrong with the command line is reported before large files are read
    betas = [beta_of(part) for part in arguments.beta.split(",")]
    names = [*known.names, *(system.name for system in systems), *methods]
    families = _families(names, arguments)
    shades: dict[str, Any] = {}
    if arguments.shade is not None:
        shades = {"shade": arguments.shade[0], "shades": _shades(names, arguments.shade[1])}
    if loss is not None:
        check_within_loss(arguments)
    scores, inputs, made, searched = _scores(arguments, known, systems, methods)
    categories = inputs.categories
    measures = scores.measures  # with the rule for missing evidence
    parts = {None: scores} if categories is None else scores.split(categories)
    tables = []
    if loss is not None:
        tables.append(table_within_loss(inputs, scores, made, trained, known.runs, searched, loss, arguments))
        parts = {}
    for category, part in parts.items():
        found = select(
            part,
            relevance=measures[0],
            fairness=measures[1],
            betas=betas,
            baseline=arguments.baseline,
            others=list(measures[2:]),
            folds=arguments.folds,
            seed=shared.seed_of(arguments),
            alpha=0.05 if arguments.alpha is None else arguments.alpha,
        )
        tables.append(choice_table(found) if category is None else choice_table(found).titled(category))
    if arguments.output is not None:
        scores.write(arguments.output)
        say(f"wrote {arguments.output}")
    if arguments.figure is not None:
        from evenrank.reporting.figures.cloud import cloud_figure

        chart = cloud_figure(scores, measures[1], measures[0], families=families, **shades)
        shared.write_figure(chart, arguments.figure)
    put(printed(tables, arguments.format or "table", terminal_width()))
    say_notes(scores, arguments)
    return 0


def _expanded(file: FileOption) -> list[FileOption]:
    """A run, or the runs of all trained rankers where a folder of them is given."""
    if not Path(file.path).is_dir():
        return [file]
    from evenrank.neural.variants import ranked_variants

    return [FileOption(str(path), name) for name, path in ranked_variants(file.path).items()]


def _families(names: Sequence[str], arguments: argparse.Namespace) -> dict[str, list[str]]:
    """The runs of each family; those of none are on their own."""
    if arguments.baseline is not None and arguments.baseline not in names:
        raise ParameterError(f"no run is called {arguments.baseline!r}; there are {', '.join(names)}")
    if arguments.figure is None and (arguments.family or arguments.shade is not None):
        raise ParameterError("--family and --shade change the figure: add --figure FILE")
    found: dict[str, list[str]] = {}
    for family, pattern in arguments.family:
        own = [name for name in names if fnmatchcase(name, pattern)]
        if not own:
            raise ParameterError(f"--family {family}: no run matches {pattern!r}: {', '.join(names)}")
        found.setdefault(family, []).extend(own)
    return found


def _scores(
    arguments: argparse.Namespace,
    known: Description,
    systems: Sequence[SystemCandidate],
    methods: Sequence[str],
) -> tuple[Scores, Inputs, dict[str, Any], Mapping[str, tuple[str, str]]]:
    """The scores of relevance, fairness and the others, what they are of, and the re-rankers and systems
    among it."""
    from evenrank.comparison.candidates import with_methods
    from evenrank.evaluation import evaluate
    from evenrank.scores.files import WRITTEN, file_format

    _measures(arguments, arguments.relevance or "RR", arguments.fairness or "GF@10")
    check_output(arguments.output, arguments.figure)
    if arguments.output is not None:
        file_format(arguments.output, None, WRITTEN)
    shared.check_figure_asked(arguments)
    inputs = shared.read_inputs(known)
    if systems:
        _check_evidence(arguments, inputs)
    inputs, searched = run_systems(inputs, systems, known, arguments)
    inputs, made = with_methods(inputs, methods, arguments.baseline, arguments.missing)
    relevance, fairness = _default_measures(arguments, inputs)
    measures = _measures(arguments, relevance, fairness)
    scores = evaluate(inputs, measures, missing=shared.missing_rule(arguments, measures))
    return shared.labelled(scores, arguments), inputs, made, searched


def _check_evidence(arguments: argparse.Namespace, inputs: Inputs) -> None:
    """Score the runs that are there: a search may take hours, and what lacks is said before it."""
    from evenrank.evaluation import evaluate
    from evenrank.measures import parse_measures

    given = [arguments.relevance, arguments.fairness, *arguments.also]
    named = [one for one in given if one is not None]
    if not named:
        return
    measures = parse_measures(named)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the scores of all candidates will warn again
        evaluate(inputs, measures, missing=shared.missing_rule(arguments, measures))


def _measures(arguments: argparse.Namespace, relevance: str, fairness: str) -> list[Measure]:
    from evenrank.measures import parse_measure, parse_measures

    measures = [parse_measure(relevance), parse_measure(fairness)]
    if measures[0] == measures[1]:
        raise ParameterError("--relevance and --fairness are the same measure: a trade-off needs two")
    return measures + (parse_measures(arguments.also) if arguments.also else [])


def _default_measures(arguments: argparse.Namespace, inputs: Inputs) -> tuple[str, str]:
    from evenrank.inputs.default_measures import default_measures, describe_choice, describe_left_out

    if arguments.relevance is not None and arguments.fairness is not None:
        return arguments.relevance, arguments.fairness
    chosen = default_measures(inputs)
    given = {False: arguments.relevance, True: arguments.fairness}
    taken = []
    for kind, option in ((False, "--relevance"), (True, "--fairness")):
        first = next((measure for measure in chosen if measure.fairness is kind), None)
        if given[kind] is None and first is None:
            raise ParameterError(f"give {option} MEASURE: there is no evidence by which one could be chosen")
        if given[kind] is None and first is not None:
            given[kind] = first.name
            taken.append(first)
    say(describe_choice(taken, "" if arguments.fairness is not None else describe_left_out(inputs)))
    return given[False], given[True]
