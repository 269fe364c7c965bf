"""``evenrank compare --view`` of the audit papers: systems by class, several sets of scores side by side."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from evenrank.cli import shared
from evenrank.cli.significance import significance, test_of
from evenrank.cli.streams import put, say, terminal_width
from evenrank.cli.system_labels import system_labels

if TYPE_CHECKING:
    from evenrank.cli.values import View
    from evenrank.comparison.audits import Audited
    from evenrank.scores import Scores


def run_audit_view(arguments: argparse.Namespace, view: View) -> int:
    from evenrank.comparison.audits import audit_tables
    from evenrank.io.atomic import atomic_write
    from evenrank.scores.files import file_format
    from evenrank.tables import printed

    settings = dict(view.settings)
    if view.value is not None:
        settings[""] = view.value
    audited = _audited(arguments, view)
    tables = audit_tables(audited, view.name, settings)
    if arguments.figure is not None:
        from evenrank.reporting.figures.cutoffs import cutoff_rows_figure

        shared.write_figure(cutoff_rows_figure(audited.corpora), arguments.figure)
    if arguments.output is not None:
        form = file_format(arguments.output, None, shared.FORMATS[1:])
        with atomic_write(arguments.output) as file:
            file.write(printed(tables, form, terminal_width()).encode())
        say(f"wrote {arguments.output}")
    if arguments.output is None or arguments.format is not None:
        put(printed(tables, arguments.format or "table", terminal_width()))
    return 0


def _audited(arguments: argparse.Namespace, view: View) -> Audited:
    from evenrank.comparison.audits import AUDIT_VIEWS, Audited
    from evenrank.comparison.audits.system_files import read_systems, scored_systems

    if arguments.test is None:  # each view has the test of its paper
        arguments.test = test_of(AUDIT_VIEWS[view.name].test)
    chosen = significance(arguments)
    baselines = chosen.pop("baseline")
    domains: Any = None
    if arguments.scores:
        corpora = _read(arguments)
        runs = scored_systems(corpora)
    else:
        corpora, domains = _evaluated(arguments)
        runs = system_labels(arguments)
    if arguments.by is not None and domains is None:
        from evenrank.inputs.reading import categories_by

        domains = categories_by(arguments.by, None)
    file = view.settings.get("systems")
    if file is not None:
        named = read_systems(file)
        scored = {run for scores in corpora.values() for run in scores.runs}
        others = {run: label for run, label in runs.items() if run not in named}
        runs = {**named, **others} if scored & named.keys() else named  # of which none was scored: an error
    return Audited(corpora, runs, domains or {}, baselines[0] if baselines else None, **chosen)


def _read(arguments: argparse.Namespace) -> dict[str, Scores]:
    """Every file of scores by its name: a corpus, a set of queries, an encoder."""
    from evenrank.inputs.run_names import run_names
    from evenrank.inputs.several_files import attempt, reading_files
    from evenrank.scores import Scores

    names = run_names(arguments.scores)
    with reading_files():
        read = {
            name: attempt(partial(Scores.read, file.path))
            for name, file in zip(names, arguments.scores, strict=True)
        }
    found = {name: scores for name, scores in read.items() if scores is not None}
    return {"": next(iter(found.values()))} if len(found) == 1 else found


def _evaluated(arguments: argparse.Namespace) -> tuple[dict[str, Scores], Any]:
    from evenrank.evaluation import evaluate

    known = shared.description(arguments)
    known.check()
    inputs = shared.read_inputs(known)
    measures = shared.chosen_measures(arguments, inputs)
    scores = evaluate(
        inputs, measures, cutoffs=arguments.cutoffs, missing=shared.missing_rule(arguments, measures)
    )
    return {"": scores}, inputs.categories
