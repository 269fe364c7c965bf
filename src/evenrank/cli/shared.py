"""The options that several commands have: what each is called, its form, and how it is read."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenrank.cli.outputs import check_apart
from evenrank.cli.progress import progress
from evenrank.cli.streams import say
from evenrank.cli.values import columns_of, positive, positives
from evenrank.cli.values import option as option
from evenrank.errors import ParameterError
from evenrank.inputs.file_options import (
    BACKGROUND,
    DOCUMENTS,
    POLARITY,
    QRELS,
    RUN,
    FileOption,
)
from evenrank.inputs.group_options import groups_of, target_of

if TYPE_CHECKING:
    from evenrank.inputs import Inputs
    from evenrank.inputs.description import Description
    from evenrank.measures import Measure
    from evenrank.scores import Scores

RUN_HELP = (
    "run file: TREC, CSV, TSV, JSONL or Parquet, also .gz and .zst; - reads stdin. NAME=FILE names the run; "
    ":format=csv and :ties=file|trec behind it say how to read it, :class=dense and :system=NAME what audit "
    "tables call it"
)
WRITTEN_SCORES = "write the scores of every query: .jsonl, .csv, .tsv, .parquet"
ROLES = ("query", "document", "score", "rank", "grade", "intent", "text", "title", "query_text", "weight")
DOCUMENT_ROLES = ("id", "text", "title")
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


class _Some:
    """A group of options that takes those of some names, and sets the others to nothing."""

    def __init__(self, group: Any, names: Sequence[str]) -> None:
        self._group, self._names = group, names

    def add_argument(self, option: str, **settings: Any) -> None:
        name = option.removeprefix("--")
        if name in self._names:
            self._group.add_argument(option, **settings)
        else:
            self._group.set_defaults(**{name: None})


def add_inputs(parser: argparse.ArgumentParser, only: Sequence[str] | None = None) -> None:
    """What is known about runs, documents and queries: the same options in every command that scores runs.

    A command that needs fewer of them names them in ``only``; the others are as if they were not given.
    """
    known: Any = parser.add_argument_group("what is known about documents and queries")
    if only is not None:
        known = _Some(known, only)
    known.add_argument(
        "--qrels", type=option(QRELS.parse), action="append", metavar="FILE",
        help="relevance judgements; FILE:intents are judgements by intent (TREC Web); :format=ntcir reads "
        "lines 'query document L2'; FILE:clicks[:eta=N] is a table of clicks by query, document and rank, "
        "divided by rank^-eta (default: 1); FILE:ratings is a table of user, item and rating (:step=0.5 "
        "counts halves, so that grades are whole); "
        "FILE:intents:probabilities=FILE says how likely intents are; may be given once of each kind",
    )  # fmt: skip
    known.add_argument("--words", metavar="FILE", help="counts of group words, written by evenrank scan")
    known.add_argument(
        "--groups", type=option(groups_of), action="append", metavar="NAME=FILE[:OPTION..]",
        help="the groups that documents belong to: an attribute and its file, fields of --documents "
        "(seller,country), or NAME=words for the groups of the word counts; may be repeated. Options: "
        "ordinal, "
        "multilabel, full, own, votes, error=RATES, values=a,b, even=BOTH, ignore=OTHER, bins=4 or "
        "bins=10,50 (numbers as ordered groups), column=, format=, document=, query=, share=, rater=; of "
        "judgements: intents[:probabilities=FILE] or iteration, the second column",
    )  # fmt: skip
    known.add_argument(
        "--target", type=option(target_of), action="append", metavar="NAME=TARGET",
        help="the share that each group should get: uniform (default), present, pool, relevance, collection, "
        "shares by value (f:0.4,m:0.6) or in order (0.5,0.3,0.2), or a file of shares; may be repeated. "
        "averaged:TARGET is the mean of such shares and of those of the relevant documents (TREC Fair), with "
        ":unknown=VALUE for documents of which nothing is known",
    )  # fmt: skip
    known.add_argument(
        "--polarity", type=option(POLARITY.parse), metavar="FILE",
        help="scores of opinion, written by evenrank polarise; or a file of labels with :positive=PRO",
    )  # fmt: skip
    known.add_argument(
        "--background", type=option(BACKGROUND.parse), metavar="FILE",
        help="the documents that NFaiRR and NSetFaiRR are normalised by: a run (one of the runs by name, "
        "or a "
        "file; its first 200 documents, or :depth=N), a list of document ids, or 'collection' for all "
        "documents "
        "of --words. Default: the run itself, if there is one only",
    )  # fmt: skip
    known.add_argument(
        "--documents", type=option(DOCUMENTS.parse), metavar="FILE",
        help="the documents: their fields can be groups, their texts are shown in reports and scored by "
        "rankers",
    )  # fmt: skip
    known.add_argument(
        "--queries", metavar="FILE",
        help="the queries to score: a table with a column query and perhaps text, categories and weight, "
        "lines of an id (and a text behind a tab), or XML topics. Default: the judged queries, or those of "
        "the run",
    )  # fmt: skip
    add_by(known)
    known.add_argument(
        "--missing", choices=("error", "neutral", "none", "uniform", "undefined", "drop"),
        help="documents that lack evidence: an error (default for words), neutral (no group words), none (of "
        "no group; default for shares), uniform (belong equally to all groups; default for most measures of "
        "groups), undefined (as by default, but a list of such documents alone has no value), or left out of "
        "the list (drop)",
    )  # fmt: skip
    add_columns(known)


def add_by(parser: Any) -> None:
    parser.add_argument(
        "--by", metavar="COLUMN,..",
        help="split results by category of query: columns of the queries, or a table of query and category",
    )  # fmt: skip


def add_columns(parser: Any, roles: Sequence[str] = ROLES) -> None:
    example = (
        "query=qid,document=docno,score=sim" if "score" in roles else "id=docno,text=body,title=headline"
    )
    parser.add_argument(
        "--columns", type=option(lambda text: columns_of(text, roles)), metavar="ROLE=NAME,..",
        help=f"names of the columns in tables, where they are not the usual ones: {example}; roles are "
        f"{', '.join(roles)}"
        + ("; query_text is the text of queries, text that of documents" if "query_text" in roles else "")
        + (", weight how often each query is asked" if "weight" in roles else ""),
    )  # fmt: skip


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


def add_resuming(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--threads", type=positive, metavar="N", help="number of threads (default: one for each core)"
    )
    parser.add_argument(
        "--no-resume", action="store_true", help="begin anew and ignore what an interrupted run left"
    )


def add_lexicon(parser: Any, use: str) -> None:
    parser.add_argument("--lexicon", metavar="NAME", help=use)


def add_cache(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cache", metavar="FOLDER", help="keep vectors here, so that no text is encoded twice"
    )


def description(arguments: argparse.Namespace) -> Description:
    """The inputs that the command line and the project file name."""
    from evenrank.inputs.description import Description

    groups = tuple(one for given in arguments.groups or () for one in given)
    targets = tuple(arguments.target or ())
    if "target" in arguments.filled:  # a file may have targets of attributes that this command does not use
        names = {option.name for option in groups}
        targets = tuple(one for one in targets if names.issuperset(one.name.split("*")))
    return Description(
        runs=tuple(arguments.runs or ()),
        qrels=tuple(arguments.qrels or ()),
        words=arguments.words,
        groups=groups,
        targets=targets,
        polarity=arguments.polarity,
        background=arguments.background,
        against=getattr(arguments, "against", None),
        tables=tuple(getattr(arguments, "table", None) or ()),
        queries=arguments.queries,
        by=arguments.by,
        documents=arguments.documents,
        columns=arguments.columns,
        lexicon=_lexicon(arguments),
    )


def _lexicon(arguments: argparse.Namespace) -> str | None:
    """The lexicon of the option or of the project file: its words are counted where no counts are given."""
    given: str | None = getattr(arguments, "lexicon", None)
    if given is not None or arguments.project is None:
        return given
    found: str | None = arguments.project.options().get("lexicon")
    return found


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
        say_unused_weights(str(known.queries))
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
