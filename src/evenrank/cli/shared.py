"""The options that several commands have: what each is called, its form, and how it is read."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenrank.cli.outputs import check_apart
from evenrank.cli.progress import progress
from evenrank.cli.streams import say
from evenrank.cli.values import option as option
from evenrank.cli.values import positives
from evenrank.errors import ParameterError
from evenrank.inputs.description import Description
from evenrank.inputs.file_options import RUN, FileOption

if TYPE_CHECKING:
    from evenrank.inputs import Inputs
    from evenrank.measures import Measure
    from evenrank.scores import Scores

RUN_HELP = "run file: TREC, CSV, TSV, JSONL or Parquet, also .gz and .zst; - reads stdin. NAME=FILE names it"
WRITTEN_SCORES = "write the scores of every query: .jsonl, .csv, .tsv, .parquet"
SUFFIXES = ".html, .svg, .png or .pdf"


def add_runs(
    parser: argparse.ArgumentParser, *, extra: str = "", of: Callable[[str], FileOption] = RUN.parse
) -> None:
    parser.add_argument(
        "runs",
        nargs="*",
        type=option(of),
        metavar="RUN",
        help=RUN_HELP + (f". {extra}" if extra else ""),
    )


COMMON = (
    "qrels", "intents", "words", "groups", "target", "polarity", "background", "documents", "queries", "by",
    "missing",
)  # fmt: skip


def add_inputs(parser: argparse.ArgumentParser, only: Sequence[str] = COMMON) -> None:
    """What is known about runs, documents and queries: the same options in every command that scores runs."""
    from evenrank.cli.typed import add_options

    add_options(parser, Description, only)


def add_measures(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-m", "--measures", action="append", metavar="MEASURES",
        help="measures, such as 'nDCG@10 NFaiRR@10'; may be repeated (see: evenrank measures). Default: "
        "chosen "
        "by what is known about the documents",
    )  # fmt: skip


def add_cutoffs(
    parser: argparse.ArgumentParser, use: str = "evaluate every measure at each of these cut-offs"
) -> None:
    parser.add_argument("--cutoffs", type=positives, metavar="K,K,..", help=use)


FORMATS = ("table", "tsv", "csv", "jsonl", "markdown", "latex")  # of every table that a command prints


def add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=FORMATS, help="how to print the result (default: table)")


def add_output(parser: argparse.ArgumentParser, use: str) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", help=use)


def default_output(arguments: argparse.Namespace, name: str) -> str:
    """Where a result goes if nobody says so: a project file that was only found stays in its folder."""
    path = name if arguments.project is None else str(arguments.project.default_output(name))
    check_apart(arguments, path)
    return path


def add_figure(parser: argparse.ArgumentParser, shows: str, kinds: str | None = None) -> None:
    parser.add_argument("--figure", metavar="FILE", help=f"draw {shows}: {SUFFIXES}")
    if kinds is not None:
        parser.add_argument("--kind", metavar="KIND", help=f"what --figure shows: {kinds}")


def seed_of(arguments: argparse.Namespace) -> int:
    return 0 if arguments.seed is None else int(arguments.seed)


def add_lexicon(parser: Any, use: str) -> None:
    parser.add_argument("--lexicon", metavar="NAME", help=use)


def description(arguments: argparse.Namespace) -> Description:
    """The inputs that the command line and the project file name."""
    from evenrank.cli.typed import as_options

    known = Description(**as_options(vars(arguments), Description))
    if "target" not in arguments.filled:
        return known
    names = {option.name for option in known.groups}  # a file may have targets of other attributes
    return replace(known, target=tuple(one for one in known.target if names.issuperset(one.name.split("*"))))


def description_for_measures(arguments: argparse.Namespace) -> Description:
    """The inputs, less what none of the measures of ``-m`` asks for, where there are any."""
    known, measures = description(arguments), named_measures(arguments)
    return known if measures is None else known.for_measures(measures)


def read_inputs(known: Description, *, weighs: bool = False) -> Inputs:
    """Everything that was named, with a progress bar; what there is to say of it is said.

    ``weighs`` says that the command uses the weights of queries; any other says that it does not.
    """
    found = known.read(progress)
    if found.query_weights is not None and not weighs:
        say_unused_weights(known.queries.path)  # type: ignore[union-attr]
        found = replace(found, query_weights=None)
    for note in known.notes:
        say(note)
    return found


def say_unused_weights(path: str) -> None:
    say(f"{path}: this command does not use the weights of queries: each counts once")


def need_runs(known: Description, least: int = 1, most: int | None = None) -> None:
    """Say how many runs a command takes."""
    given = len(known.runs)
    if given < least:
        what = "a run" if least == 1 else f"{least} runs or more"
        raise ParameterError(f"name {what}: a file such as bm25.trec, or `runs` in the project file")
    if most is not None and given > most:
        raise ParameterError(
            f"this command takes {'one run' if most == 1 else f'{most} runs'}, got {given}: "
            f"name which of {', '.join(known.names)}"
        )


def named_measures(arguments: argparse.Namespace) -> list[Measure] | None:
    """The measures of ``-m``, whose names are read once, before any file is; None where there are none."""
    if arguments.measures is None:
        return None
    from evenrank.measures import parse_measures

    arguments.measures = parse_measures(arguments.measures, check=not getattr(arguments, "cutoffs", None))
    return list(arguments.measures)


def chosen_measures(arguments: argparse.Namespace, inputs: Inputs) -> list[Measure]:
    """The measures of ``-m``, or those that the evidence allows, with a line that says which and why."""
    from evenrank.inputs.default_measures import default_measures, describe_choice, describe_left_out
    from evenrank.measures import parse_measures

    named = named_measures(arguments)
    if named is not None:
        return named
    chosen = default_measures(inputs)
    say(describe_choice(chosen, describe_left_out(inputs)))
    return parse_measures([measure.name for measure in chosen])


def labelled(scores: Scores, arguments: argparse.Namespace) -> Scores:
    """The scores with the names that ``--rename`` gives to measures."""
    return scores.with_labels(labels_of(arguments, scores.measures))


def labels_of(arguments: argparse.Namespace, measures: Iterable[Measure]) -> dict[str, str]:
    """The labels of ``--rename``; of those in the project file the ones of measures that are used."""
    from evenrank.scores.names import known_labels

    labels = dict(arguments.rename)
    return known_labels(measures, labels) if "rename" in arguments.filled else labels


def labels_by_measure(arguments: argparse.Namespace, measures: Sequence[Measure]) -> list[dict[str, str]]:
    """For each measure its own labels, where each is treated by itself."""
    from evenrank.scores.names import known_labels

    given = known_labels(measures, dict(arguments.rename), strict="rename" not in arguments.filled)
    return [known_labels([measure], given) for measure in measures]


def missing_rule(arguments: argparse.Namespace, measures: Iterable[Measure]) -> str | None:
    """The rule of ``--missing``; that of the project file where a measure has such a rule."""
    from evenrank.measures.missing import takes_missing

    given: str | None = arguments.missing
    if given is None or "missing" not in arguments.filled:
        return given
    return given if any(takes_missing(measure, given) for measure in measures) else None


def write_figure(chart: Any, path: str) -> None:
    from evenrank.reporting import save_figure

    save_figure(chart, path)
    say(f"wrote {path}")


def check_figure_asked(arguments: argparse.Namespace) -> bool:
    """Whether a figure is wanted; its name is checked before anything is read."""
    if arguments.figure is None:
        if getattr(arguments, "kind", None) is not None:
            raise ParameterError("--kind says what --figure shows: add --figure FILE")
        return False
    from evenrank.reporting.figures.files import check_figure

    check_figure(arguments.figure)
    return True
