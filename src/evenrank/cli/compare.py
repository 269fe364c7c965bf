"""``evenrank compare``: runs, or scores of runs, in; which are better, and how sure one can be, out."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from evenrank.cli import shared
from evenrank.cli.outputs import check_output
from evenrank.cli.parser import add_command
from evenrank.cli.significance import add_significance, significance
from evenrank.cli.streams import put, say, say_notes, terminal_width
from evenrank.cli.values import View, view_of
from evenrank.errors import ParameterError
from evenrank.inputs.file_options import SCORES

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.comparison import Comparison
    from evenrank.tables import Table

METHODS = ("kendall", "pearson", "spearman")
OVER = ("systems", "queries", "cutoffs")
DOCUMENTS = "documents"  # of :over=, which correlates features of documents instead of measures
TUKEY, CONCLUSIONS, POWER, CORRELATIONS = "tukey", "conclusions", "power", "correlations"
VIEWS = {
    TUKEY: ("trials",),
    CONCLUSIONS: ("trials",),
    POWER: ("trials",),
    CORRELATIONS: ("", "over", "system"),
}
AUDITS = ("systems", "domains", "gaps", "agreement", "orders", "methods", "changes")  # one file each
METHODS_VIEW = "methods"


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "compare",
        """Score runs and test each against the baseline, query by query. "Better" follows the measure.
        Queries that lack a value in either run are left out and counted. Scores that evaluate wrote can be
        given instead of runs.""",
        """
        evenrank compare bm25.trec dense.trec --qrels qrels.txt -m 'nDCG@10 AP'
        evenrank compare runs/*.trec --baseline bm25 --words counts.parquet --qrels qrels.txt \
-m 'NFaiRR@10 nDCG@10' --test permutation,bh -o table.tex
        evenrank compare --scores bm25.jsonl --scores dense.jsonl --baseline bm25
        evenrank compare runs/*.trec --qrels qrels.txt -m 'nDCG@10 AP RR' --view tukey
        evenrank compare runs/*.trec --qrels qrels.txt -m 'nDCG@10 AP RR' --view conclusions
        evenrank compare runs/*.trec --qrels qrels.txt -m 'nDCG@10 AP RR' --view power --figure power.svg
        evenrank compare runs/*.trec --qrels qrels.txt -m 'nDCG@10 AP RR' --view correlations:kendall
        """,
    )
    shared.add_runs(parser)
    parser.add_argument(
        "--scores", type=shared.option(SCORES.parse), action="append", metavar="FILE",
        help="scores that evaluate wrote with -o, instead of runs; NAME=FILE names them; may be repeated",
    )  # fmt: skip
    shared.add_measures(parser)
    shared.add_cutoffs(parser)
    add_significance(parser)
    parser.add_argument(
        "--view", type=shared.option(_view), metavar="VIEW",
        help="instead of each run against the baseline: tukey (all pairs at once, by randomised Tukey "
        "HSD), conclusions (the same, with measures that conclude the same in one row), power (how many "
        "pairs each measure tells apart; these three take :trials=N), or correlations:METHOD (how measures "
        "agree; "
        f"{', '.join(METHODS)}; :over=systems, queries or cutoffs, :system=NAME; or :over=documents, how "
        "ordinal --groups go together); or a table of the audit papers, several --scores NAME=FILE side by "
        f"side: {', '.join(AUDITS)} (each takes :systems=FILE, a table of run, class and system)",
    )  # fmt: skip
    shared.add_inputs(parser)
    shared.add_format(parser)
    shared.add_output(
        parser,
        "write a row for each pair (.jsonl, .csv, .tsv, .parquet) or the table (.tex, .md); "
        "the table is then printed only if --format is given",
    )
    shared.add_figure(
        parser,
        "the curves of --view power, the map of --view correlations, or for --view methods "
        "each measure against its cut-offs, a row for each --scores",
    )
    parser.set_defaults(run=run, reads_project=True, baseline_is_list=True)


def _view(text: str) -> View:
    known: dict[str, Sequence[str]] = dict(VIEWS)
    if text.partition(":")[0] not in VIEWS:
        from evenrank.comparison.audits import AUDIT_VIEWS

        known |= {name: view.keys for name, view in AUDIT_VIEWS.items()}
    found = view_of(text, known)
    if found.name == CORRELATIONS:
        if found.value is not None and found.value not in METHODS:
            raise ParameterError(f"the correlation must be one of {', '.join(METHODS)}, got {found.value!r}")
        points = (*OVER, DOCUMENTS)
        if found.settings.get("over", OVER[0]) not in points:
            raise ParameterError(f"over must be one of {', '.join(points)}, got {found.settings['over']!r}")
    trials = found.settings.get("trials", "1")
    if not (trials.isascii() and trials.isdigit() and int(trials) > 0):
        raise ParameterError(f"trials must be an integer > 0, got {trials!r}")
    return found


def run(arguments: argparse.Namespace) -> int:
    view: View | None = arguments.view
    _check_asked(arguments)
    if view is not None and view.name not in VIEWS:
        from evenrank.cli.audit_views import run_audit_view

        return run_audit_view(arguments, view)
    if _asks_features(view):
        return _features(arguments, (view and view.value) or METHODS[0])
    comparison, parts = _comparison(arguments)
    tables = {category: _tables(part, view) if view is not None else () for category, part in parts.items()}
    if arguments.figure is not None and view is not None:
        shared.write_figure(_figure(comparison, view), arguments.figure)
    if arguments.output is not None:
        _write(comparison, tables[next(iter(tables))], arguments.output)
        say(f"wrote {arguments.output}")
    if arguments.output is None or arguments.format is not None:
        from evenrank.tables import printed

        form = arguments.format or "table"
        shown = [
            one for category, part in parts.items() for one in _shown(part, tables[category], form, category)
        ]
        put(printed(shown, form, terminal_width()))
    say_notes(comparison.scores, arguments)
    return 0


def _asks_features(view: View | None) -> bool:
    return view is not None and view.settings.get("over") == DOCUMENTS


def _features(arguments: argparse.Namespace, method: str) -> int:
    """How features of documents go together; no measure takes part."""
    from evenrank.comparison.feature_correlations import feature_table
    from evenrank.io.atomic import atomic_write
    from evenrank.scores.files import file_format
    from evenrank.tables import printed

    known = shared.description(arguments)
    known.check()
    alpha = float(significance(arguments)["alpha"])
    table = feature_table(shared.read_inputs(known), method, alpha=alpha)
    if arguments.output is not None:
        form = file_format(arguments.output, None, shared.FORMATS[1:])
        with atomic_write(arguments.output) as file:
            file.write(printed((table,), form, terminal_width()).encode())
        say(f"wrote {arguments.output}")
    if arguments.output is None or arguments.format is not None:
        put(printed((table,), arguments.format or "table", terminal_width()))
    return 0


def _check_asked(arguments: argparse.Namespace) -> None:
    """What is wrong with the command line is reported before large files are read."""
    from evenrank.comparison import known_names
    from evenrank.comparison.files import WRITTEN
    from evenrank.scores.files import file_format

    known = shared.description(arguments)
    if arguments.scores:
        if _asks_features(arguments.view):
            raise ParameterError(
                "--view correlations:over=documents looks at documents: give runs, not --scores"
            )
        if arguments.runs:
            raise ParameterError("give either two or more runs or --scores, not both")
        if arguments.measures is not None or arguments.cutoffs or arguments.queries:
            raise ParameterError(
                "scores are compared as they are: leave out measures, cut-offs and queries, or give runs "
                "instead of --scores"
            )
    else:
        alone = _asks_features(arguments.view) or (arguments.view and arguments.view.name not in VIEWS)
        if len(known.runs) < (1 if alone else 2):
            raise ParameterError("give either two or more runs or --scores")
        if arguments.view is None or arguments.view.name in VIEWS:
            known_names(arguments.baseline or (), known.names)
    shared.named_measures(arguments)
    check_output(arguments.output, arguments.figure)
    view: View | None = arguments.view
    if shared.check_figure_asked(arguments) and (
        view is None or view.name not in (POWER, CORRELATIONS, METHODS_VIEW) or _asks_features(view)
    ):
        raise ParameterError(
            "--figure draws --view power, --view correlations or --view methods: ask for one of them"
        )
    if arguments.output is not None:
        file_format(arguments.output, None, WRITTEN if view is None else shared.FORMATS[1:])


def _comparison(arguments: argparse.Namespace) -> tuple[Comparison, dict[str | None, Comparison]]:
    """The comparison over all queries, and what is shown: that one, or one for each category of queries."""
    from evenrank.comparison import compare

    options = significance(arguments)
    known = shared.description_for_measures(arguments)
    categories: Any = None
    if arguments.scores:
        found = compare(_read_scores(arguments), labels=dict(arguments.rename), **options)
    else:
        known.check()
        inputs = shared.read_inputs(known, weighs=True)
        measures = shared.chosen_measures(arguments, inputs)
        found = compare(
            inputs,
            measures,
            cutoffs=arguments.cutoffs,
            missing=shared.missing_rule(arguments, measures),
            labels=shared.labels_of(arguments, measures),
            **options,
        )
        categories = inputs.categories
    if categories is None:
        return found, {None: found}
    return found, {name: compare(part, **options) for name, part in found.scores.split(categories).items()}


def _read_scores(arguments: argparse.Namespace) -> Any:
    from evenrank.inputs.run_names import run_names
    from evenrank.inputs.several_files import attempt, reading_files
    from evenrank.scores import Scores

    names = run_names(arguments.scores)
    with reading_files():
        read = {
            name: attempt(partial(Scores.read, file.path))
            for name, file in zip(names, arguments.scores, strict=True)
        }
    return next(iter(read.values())) if len(read) == 1 else read


def _tables(comparison: Comparison, view: View) -> tuple[Table, ...]:
    """The tables asked for instead of the pairs."""
    from evenrank.comparison import all_pairs
    from evenrank.comparison.conclusion_table import conclusion_table
    from evenrank.stats.tukey import TRIALS

    trials = int(view.settings.get("trials", TRIALS))
    if view.name == TUKEY:
        return all_pairs.tukey_tables(comparison, trials=trials)
    if view.name == CONCLUSIONS:
        return (conclusion_table(comparison, trials=trials),)
    if view.name == POWER:
        return (all_pairs.power_table(comparison, trials=trials),)
    over, system = view.settings.get("over", OVER[0]), view.settings.get("system")
    return (all_pairs.correlation_table(comparison, view.value or METHODS[0], over=over, system=system),)


def _figure(comparison: Comparison, view: View) -> Any:
    from evenrank.reporting.figures.correlation import correlation_figure
    from evenrank.reporting.figures.power import power_figure
    from evenrank.stats.tukey import TRIALS

    if view.name == POWER:
        curves = comparison.power(trials=int(view.settings.get("trials", TRIALS)))
        return power_figure(curves, alpha=comparison.alpha)
    over, system = view.settings.get("over", OVER[0]), view.settings.get("system")
    found = comparison.correlations(view.value or METHODS[0], over=over, system=system)
    return correlation_figure(*found, over=over if system is None else f"{over} of {system}")


def _write(comparison: Comparison, tables: tuple[Table, ...], path: str) -> None:
    if not tables:
        comparison.write(path)
        return
    from evenrank.io.atomic import atomic_write
    from evenrank.scores.files import file_format
    from evenrank.tables import printed

    form = file_format(path, None, shared.FORMATS[1:])
    with atomic_write(path) as file:
        file.write(printed(tuple(_shown(comparison, tables, form)), form, terminal_width()).encode())


def _shown(
    comparison: Comparison, tables: tuple[Table, ...], form: str, category: str | None = None
) -> Iterator[Table]:
    """The tables to be printed; those of a category name it in their titles, and in each row for programs."""
    from evenrank.comparison.comparison_tables import measure_tables

    if not tables:
        tables = tuple(measure_tables(comparison)) if form == "table" else (comparison.to_table(),)
    for table in tables:
        if category is None:
            yield table
        else:
            records = tuple({**record, "category": category} for record in table.to_records())
            yield replace(table.titled(category), records=records)
