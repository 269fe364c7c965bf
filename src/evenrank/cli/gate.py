"""``evenrank gate``: runs and their baseline in, a verdict and an exit code out."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenrank.cli import shared
from evenrank.cli.parser import add_command
from evenrank.cli.progress import Bar
from evenrank.cli.streams import put, say, say_notes, terminal_width
from evenrank.cli.targets import asked_options
from evenrank.errors import ParameterError
from evenrank.inputs.file_options import RUN, STDIN

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.comparison.gate.config import GateConfig
    from evenrank.inputs import Inputs
    from evenrank.inputs.description import Description

GATE_FAILED = 3
OTHER = "run of the last audit"


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "gate",
        """Hold runs against the rules in the [gate] table of the project file. The exit code is 3 when a
        measure got worse than in the baseline by more than its rule allows, or lies beyond its floor or
        ceiling, beyond what the choice of queries explains. For every measure there are two bounds: a
        measure is worse, or beyond its limit, if both lie beyond what is allowed, and safe if both lie
        within. Limits alone need no baseline.""",
        """
        evenrank gate new.trec --baseline production.trec --project evenrank.toml
        evenrank gate new.trec --baseline production.trec --format markdown > comment.md
        evenrank gate
        """,
    )
    shared.add_runs(
        parser,
        extra="Default: those of the last audit where the project file has engines or no run, else every "
        "run of the project file but the baseline",
    )
    parser.add_argument(
        "--baseline", metavar="BASE",
        help="the run to compare with: a file, or the name of a run (default: baseline in the project file, "
        "else the run of the last audit before this one)",
    )  # fmt: skip
    shared.add_inputs(parser)
    shared.add_format(parser)
    parser.set_defaults(run=run, reads_project=True)


def run(arguments: argparse.Namespace) -> int:
    from evenrank.auditing.share_rules import share_rules
    from evenrank.comparison.gate import apply_gate
    from evenrank.comparison.gate.render import gate_table
    from evenrank.evaluation import evaluate
    from evenrank.tables import printed

    config = _config(arguments)
    known, baseline = _with_baseline(arguments, _with_runs(arguments, shared.description(arguments)), config)
    known.check()
    inputs = shared.read_inputs(known, weighs=True)
    _check_differs(inputs, known, baseline)
    missing = shared.missing_rule(arguments, config.measures)
    gate = config.gate if missing is None else config.gate.with_missing(missing)
    measures = list(dict.fromkeys(rule.measure for rule in gate.rules))
    scores = shared.labelled(evaluate(inputs, measures, missing=missing), arguments)
    parts = {None: scores} if inputs.categories is None else scores.split(inputs.categories)
    tables, lines, failed = [], list[str](), False
    for category, part in parts.items():
        own = None if category is None else [query for block in part.blocks for query in block.query_ids]
        for now in (name for name in known.names if name != baseline):
            options = asked_options(known, arguments.project)
            rules = share_rules(gate, inputs, now, options=options, queries=own, missing=missing)
            with Bar("comparing", "measures") as bar:
                result = apply_gate(
                    part, gate, now=now, baseline=baseline, intervals=rules.intervals, progress=bar
                )
            table = gate_table(result).titled(now)
            tables.append(table if category is None else table.titled(category))
            failed = failed or result.failed
            lines += rules.lines if category is None else [f"{category}: {line}" for line in rules.lines]
    put(printed(tables, arguments.format or "table", terminal_width()))
    for line in lines:
        say(line)
    say_notes(scores, arguments)
    return GATE_FAILED if failed else 0


def _is_among(path: str, known: Description) -> bool:
    """Whether a file holds the lists of one of the runs."""
    from evenrank.inputs.description import Description

    kept = tuple(file for file in known.runs if file.path != STDIN)  # standard input is read only once
    files = (*kept, replace(RUN.parse(path), name=OTHER))
    *runs, other = Description(runs=files).read().runs.values()
    return any(_same_lists(run, other) for run in runs)


def _same_lists(one: Any, other: Any) -> bool:
    from evenrank.data.run import Run

    return isinstance(one, Run) and isinstance(other, Run) and one.has_same_lists(other)


def _check_differs(inputs: Inputs, known: Description, baseline: str | None) -> None:
    """Refuse a run that is its own baseline: it would pass whatever the rules are."""
    if baseline is None:
        return
    files = dict(zip(known.names, known.runs, strict=True))
    for name, run in inputs.runs.items():
        if name != baseline and _same_lists(run, inputs.runs[baseline]):
            raise ParameterError(
                f"{files[name].path}: has the same lists as its baseline {files[baseline].path}, so nothing "
                "can have changed: gate the run that was made after the change, or name another --baseline"
            )


def _config(arguments: argparse.Namespace) -> GateConfig:
    from evenrank.comparison.gate.config import gate_of

    project = arguments.project
    if project is None:
        raise ParameterError(
            "the rules of a gate are read from the [gate] table of a project file: give --project FILE, or "
            "write one "
            "with evenrank init"
        )
    if not project.table("gate"):
        raise ParameterError(
            f'{project.name}: has no [gate] table; a rule is written [gate.measures."nDCG@10"]'
        )
    return gate_of(project.table("gate"), project.name)


def _with_runs(arguments: argparse.Namespace, known: Description) -> Description:
    """The runs to gate: those that are named, else those of the last audit of the project.

    Where the project has engines, its own runs come after the audit: what people are shown is the engines'.
    """
    from evenrank.auditing.history import latest_runs

    of_project = not known.runs or ("runs" in arguments.filled and bool(arguments.project.table("engines")))
    files = latest_runs(arguments.project.audit_folder) if of_project else []
    if files:
        say(f"of the last audit: {', '.join(files)}")
    return replace(known, runs=tuple(map(RUN.parse, files))) if files else known


def _with_baseline(
    arguments: argparse.Namespace, known: Description, config: GateConfig
) -> tuple[Description, str | None]:
    """The runs with the baseline among them, and its name; None where no rule needs one."""
    given = arguments.baseline
    shared.need_runs(known)
    if given is None and not config.gate.compares:
        return known, None
    if given is None:
        from evenrank.auditing.history import earlier_run

        files = [file.path for file in known.runs]
        audits = arguments.project.audit_folder
        given = earlier_run(audits, known.names, files, lambda path: _is_among(str(path), known))
        if given is None:
            raise ParameterError(
                "name the run to compare with: --baseline BASE, or baseline = in the project file; "
                "limits alone need none"
            )
        say(f"baseline: {given}, of the last audit before this run")
    if given in known.names:
        found = known, given
    else:
        project = arguments.project
        file = RUN.parse(given)
        described = (
            {}
            if project is None
            else dict(zip(project.description().names, project.description().runs, strict=True))
        )
        file = replace(described[given], name=given) if given in described else file
        (name,) = replace(known, runs=(file,)).names
        if file.name is None and name in known.names:
            name = f"baseline {name}"
        found = replace(known, runs=(*known.runs, replace(file, name=name))), name
    if len(found[0].runs) < 2:
        raise ParameterError(f"{given}: the baseline is the only run, so there is nothing to compare with it")
    return found
