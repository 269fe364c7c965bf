"""``evenrank explain``: why a list has its score, and where bias comes from."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evenrank.cli import shared
from evenrank.cli.figures import arrows_of
from evenrank.cli.outputs import check_output
from evenrank.cli.parser import add_command
from evenrank.cli.progress import Bar
from evenrank.cli.streams import put, say, say_notes, terminal_width
from evenrank.cli.values import View, positive, view_of
from evenrank.errors import ParameterError, counted
from evenrank.inputs.file_options import STDIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenrank.cli.parser import Commands
    from evenrank.comparison.origin import Origin
    from evenrank.data.lexicon import Lexicon
    from evenrank.explanation import Explanation
    from evenrank.inputs import Inputs
    from evenrank.inputs.description import Description
    from evenrank.measures import Measure
    from evenrank.tables import Table

EXTREMES, TERMS = "extremes", "terms"
VIEWS = {EXTREMES: ("",), TERMS: ("",)}
SHOWN = 5  # extremes or terms, where no number is given
TERMS_CUTOFF = 10  # of TermExposure, where no measure has one
KINDS = {"places": ("arrow",)}


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "explain",
        """With --query or --worst: what is known about the document at each rank of a list, its group words,
        what it adds to the value, and what the best order of these documents would be. Without them: how much
        of a run's bias comes from the collection, from the queries, and from the ranker. For that, documents
        of the whole collection and of the background of each query are scored in random order.""",
        """
        evenrank explain bm25.trec --query 1037798 --words counts.parquet -m NFaiRR@10
        evenrank explain bm25.trec --worst 3 --words counts.parquet -m NFaiRR@10
        evenrank explain bm25.trec --query q7 --qrels qrels.txt -m nDCG@10 --format jsonl
        evenrank explain runs/*.trec --words counts.parquet --background bm25.trec -m 'NFaiRR@10 TExFAIR@10'
        evenrank explain bm25.trec --words counts.parquet -m NFaiRR@10 --view extremes:5 --view terms:20
        evenrank explain bert.trec fair.trec --words counts.parquet --background bm25.trec -m NFaiRR@10 \
--figure origin.svg --kind 'places:arrow=bert>fair'
        """,
    )
    shared.add_runs(parser)
    parser.add_argument("--query", metavar="Q", help="explain the list of this query")
    parser.add_argument(
        "--worst",
        type=positive,
        metavar="N",
        help="explain the N lists with the worst values of the first measure",
    )
    parser.add_argument(
        "--depth", type=positive, metavar="N", help="show this many ranks (default: those that count)"
    )
    shared.add_measures(parser)
    parser.add_argument(
        "--collection", metavar="FILE",
        help="the documents of the collection, as lines of ids or as --documents has them (default: all "
        "documents of --words, or of --documents)",
    )  # fmt: skip
    parser.add_argument(
        "--draws", type=positive, default=200, metavar="N",
        help="random lists for measures whose expected value has no formula (default: 200)",
    )  # fmt: skip
    parser.add_argument(
        "--view", type=shared.option(_view), action="append", metavar="VIEW",
        help="also print extremes:N (the N queries with the lowest and the highest values of each run) "
        "or terms:N "
        "(the N words with most exposure; needs scan --terms); may be repeated",
    )  # fmt: skip
    shared.add_inputs(parser)
    shared.add_format(parser)
    shared.add_output(parser, shared.WRITTEN_SCORES)
    shared.add_figure(
        parser,
        "collection, background and runs side by side",
        "places:arrow=RUN>RUN shows the second run as what became of the first",
    )
    parser.set_defaults(run=run, reads_project=True)


def _view(text: str) -> View:
    found = view_of(text, VIEWS)
    value = found.value or str(SHOWN)
    if not (value.isascii() and value.isdigit() and int(value) > 0):
        raise ParameterError(f"{found.name} takes an integer > 0, got {value!r}")
    return found._replace(value=value)


def run(arguments: argparse.Namespace) -> int:
    absent = [run.path for run in arguments.runs or () if not (run.path == STDIN or Path(run.path).exists())]
    if len(absent) == 1 < len(arguments.runs):
        raise ParameterError(
            f"{absent[0]}: no such file; the list of a query is explained by --query {shlex.quote(absent[0])}"
        )
    shared.named_measures(arguments)
    if arguments.query is not None or arguments.worst is not None:
        return _explain_lists(arguments)
    return _explain_origin(arguments)


def _explain_lists(arguments: argparse.Namespace) -> int:
    from evenrank.explanation import explain_measures

    if arguments.query is not None and arguments.worst is not None:
        raise ParameterError("--query and --worst both say which lists are explained: give one of them")
    for option in ("output", "figure", "view", "collection"):
        if getattr(arguments, option) is not None:
            raise ParameterError(f"--{option} belongs to explain without --query and --worst: leave it out")
    if arguments.by is not None and "by" not in arguments.filled:
        raise ParameterError(
            "--by splits the results of many queries, and --query and --worst explain single lists: "
            "leave it out"
        )
    known = _one_run(arguments, shared.description(arguments))
    shared.need_runs(known, 1, 1)
    inputs = shared.read_inputs(known)
    inputs.one_run("explain")
    measures = shared.chosen_measures(arguments, inputs)
    labels = shared.labels_by_measure(arguments, measures)
    missing = shared.missing_rule(arguments, measures)
    queries = (
        [arguments.query]
        if arguments.query is not None
        else _worst(inputs, measures[0], arguments, labels[0])
    )
    found = [
        one
        for query in queries
        for one in explain_measures(inputs, measures, query, missing, arguments.depth, labels)
    ]
    put(_printed_lists(found, arguments.format or "table", all_notes=arguments.notes))
    asides = {note for one in found for note in one.said if not note.changes_reading}
    if asides and not arguments.notes:
        say(f"{counted(len(asides), 'more note', 'more notes')}: --notes")
    return 0


def _one_run(arguments: argparse.Namespace, known: Description) -> Description:
    """Of the runs of a project file the one that is not the baseline, if there is one such."""
    if "runs" not in arguments.filled or len(known.runs) < 2:
        return known
    baseline = arguments.project.options().get("baseline")
    others = [place for place, name in enumerate(known.names) if name != baseline]
    if len(others) != 1:
        raise ParameterError(
            f"say whose lists to explain: evenrank explain {known.names[others[0]]} ..; "
            f"the runs are {', '.join(known.names)}"
        )
    (place,) = others
    say(f"explaining {known.names[place]}, the run that is not the baseline")
    return replace(known, runs=(replace(known.runs[place], name=known.names[place]),))


def _worst(
    inputs: Inputs, measure: Measure, arguments: argparse.Namespace, labels: dict[str, str]
) -> list[str]:
    """The queries with the worst defined values, the worst first."""
    from evenrank.evaluation import evaluate

    run = inputs.one_run("explain")
    scores = evaluate(inputs, measure, missing=shared.missing_rule(arguments, [measure]))
    block, shown = scores.blocks[0], scores.with_labels(labels).names.of(repr(scores.measures[0]))
    values = block.values[:, 0].tolist()
    ranked = sorted(
        (block.measure.goodness(value), query)
        for query, value in zip(block.query_ids, values, strict=True)
        if value == value and query in run  # a judged query without a list has nothing to explain
    )
    if not ranked:
        raise ParameterError(f"{measure!r} is undefined for every query, so none is worst")
    worst = [query for _, query in ranked[: arguments.worst]]
    say(f"the worst of {len(ranked):,} queries by {shown}: {', '.join(worst)}")
    return worst


def _printed_lists(explanations: list[Explanation], form: str, *, all_notes: bool) -> str:
    from evenrank.tables import DELIMITERS, delimited, json_line, printed

    if form == "jsonl":  # has what no table can hold
        return "".join(json_line(explanation.to_dict()) for explanation in explanations)
    tables = [explanation.to_table(all_notes=all_notes) for explanation in explanations]
    if form in DELIMITERS:  # measures know different things of a document: a column that one lacks is empty
        return delimited((row for table in tables for row in table.to_records()), DELIMITERS[form])
    return printed(tables, form, terminal_width())


def _explain_origin(arguments: argparse.Namespace) -> int:
    views = {view.name: int(view.value) for view in arguments.view or ()}
    if arguments.format == "tsv" and len(views) > 1:
        raise ParameterError("extremes and terms are two tables: as tsv ask for one of them")
    if arguments.depth is not None:
        raise ParameterError("--depth belongs to --query and --worst: add one of them")
    found, inputs = _origin(arguments, views)
    parts: dict[str | None, Origin] = {None: found}
    if inputs.categories is not None:
        parts = dict(found.by(inputs.categories).items())
    if arguments.output is not None:
        found.scores.write(arguments.output)
        say(f"wrote {arguments.output}")
    if arguments.figure is not None:
        from evenrank.reporting.figures.origin import origin_figure

        shown = {category or "": part.scores for category, part in parts.items()}
        shared.write_figure(
            origin_figure(shown, found.places, improved=_improved(arguments)), arguments.figure
        )
    lexicon = None if inputs.words is None else inputs.words.lexicon
    put(_printed_origin(parts, lexicon, views, arguments.format or "table"))
    say_notes(found.system_scores, arguments)
    return 0


def _improved(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    return arrows_of(view_of(arguments.kind or "places", KINDS))


def _origin(arguments: argparse.Namespace, views: dict[str, int]) -> tuple[Origin, Inputs]:
    from evenrank.comparison.origin import origin
    from evenrank.inputs.several_files import attempt, reading_files
    from evenrank.scores.files import WRITTEN, file_format

    # what is wrong with the command line is reported before large files are read
    known = shared.description(arguments)
    shared.need_runs(known)
    if TERMS in views and known.words is None:
        raise ParameterError("--view terms needs counts of words: add --words FILE")
    check_output(arguments.output, arguments.figure)
    if arguments.output is not None:
        file_format(arguments.output, None, WRITTEN)
    shared.check_figure_asked(arguments)
    for name in (name for both in _improved(arguments) for name in both):
        if name not in known.names:
            raise ParameterError(f"--kind: no run is called {name!r}; there are {', '.join(known.names)}")
    collection = None
    with reading_files():
        if arguments.collection is not None:
            collection = attempt(partial(_read_collection, arguments.collection))
    inputs = shared.read_inputs(known)
    measures = shared.chosen_measures(arguments, inputs)
    if TERMS in views:
        measures = _with_terms(measures)
    with Bar("drawing", "random lists") as bar:
        found = origin(
            inputs,
            measures,
            collection=collection,
            missing=shared.missing_rule(arguments, measures),
            draws=arguments.draws,
            seed=shared.seed_of(arguments),
            progress=bar,
        )
    return found.with_labels(
        shared.labels_of(arguments, found.scores.measures)
    ) if arguments.rename else found, inputs


def _read_collection(path: str) -> list[str]:
    from evenrank.inputs.id_lists import read_ids
    from evenrank.io.source import guess_format
    from evenrank.io.texts import read_document_ids

    tables = ("csv", "jsonl", "parquet")
    return read_document_ids(path) if guess_format(path) in tables else read_ids(path, "document")


def _with_terms(measures: Sequence[Measure]) -> list[Measure]:
    """With the exposure of every word, to the depth of the first measure that has one."""
    from evenrank.measures.exposure import TermExposure

    if any(isinstance(measure, TermExposure) for measure in measures):
        return list(measures)
    depths = [measure.cutoff for measure in measures if measure.cutoff is not None]
    return [*measures, TermExposure(cutoff=depths[0] if depths else TERMS_CUTOFF)]


def _printed_origin(
    parts: dict[str | None, Origin], lexicon: Lexicon | None, views: dict[str, int], form: str
) -> str:
    from evenrank.comparison.origin_table import tables_of_origin
    from evenrank.tables import printed

    tables: list[Table] = []
    *_, last = parts.values()
    for category, part in parts.items():
        tables += tables_of_origin(
            part,
            extremes=views.get(EXTREMES),
            terms=views.get(TERMS),
            lexicon=lexicon,
            category=category,
            only=form == "tsv",
            notes=part is last,  # they are the same for all
        )
    return printed(tables, form, terminal_width())
