"""``evenrank gate``: a run and its baseline in, a verdict and an exit code out."""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from evenrank.cli.background import COLLECTION
from evenrank.cli.evidence import (
    add_evidence,
    add_reading,
    check_columns,
    evidence_files,
    read_evidence,
    read_named_run,
)
from evenrank.cli.groups import MISSING, MISSING_HELP, check_groups
from evenrank.cli.inputs import check_stdin, read_ids
from evenrank.cli.parser import Parser, add_command
from evenrank.cli.progress import Bar
from evenrank.cli.reading import attempt, reading_files
from evenrank.cli.streams import put, say_notes, terminal_width
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.comparison.gate.config import GateConfig

GATE_FAILED = 3
FORMATS = ("table", "jsonl", "markdown")
NOW, BASELINE = "now", "baseline"

_FILES = ("qrels", "diversity_qrels", "words", "polarity", "background", "queries")
_LISTS = ("groups", "target")


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "gate",
        "fail when a run got worse than its baseline",
        """Hold a run against a baseline by the rules of a TOML file. The exit code is 3 when a measure got
        worse by more than its rule allows, beyond what chance explains. For every measure the differences
        of the queries give two one-sided bounds of the mean difference: a measure is worse if both lie
        beyond what is allowed, and safe if both lie within. The file may also name the baseline and, under
        [evidence], the options of this command that say what is known of documents; what stands on the
        command line goes first.""",
        """
        evenrank gate new.trec --baseline production.trec --config gate.toml
        evenrank gate new.trec --baseline production.trec --config gate.toml --format markdown > comment.md
        evenrank gate new.trec --baseline production.trec --config gate.toml --qrels qrels.txt
        """,
    )
    parser.add_argument("ranking", metavar="RUN", help="run file, TREC or a table; - reads stdin")
    parser.add_argument("--baseline", metavar="BASE", help="the run that it is held against")
    parser.add_argument(
        "--config", metavar="FILE", default="gate.toml", help="the rules, as TOML (default: gate.toml)"
    )
    _add_inputs(parser)
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.set_defaults(run=run)


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    """What a file of rules may say too."""
    add_evidence(parser)
    parser.add_argument("--missing", choices=MISSING, help=MISSING_HELP)
    parser.add_argument("--queries", metavar="FILE", help="score these queries only: one id a line")
    add_reading(parser)


def run(arguments: argparse.Namespace) -> int:
    from evenrank.comparison.gate import apply_gate
    from evenrank.comparison.gate.config import read_gate
    from evenrank.comparison.gate.render import gate_table
    from evenrank.evaluation import evaluate
    from evenrank.tables import printed

    config = read_gate(arguments.config)
    _complete(arguments, config)
    runs = [arguments.ranking, arguments.baseline]
    check_stdin([*runs, *evidence_files(arguments), arguments.queries])
    check_groups(arguments)
    check_columns(arguments, runs)
    with reading_files():
        queries = None if arguments.queries is None else attempt(partial(read_ids, arguments.queries))
        evidence = read_evidence(arguments)
        rankings = {
            name: read_named_run(arguments, path, name)
            for name, path in zip((NOW, BASELINE), runs, strict=True)
        }
    scores = evaluate(rankings, config.measures, queries=queries, missing=arguments.missing, **evidence)
    with Bar("comparing", "measures") as bar:
        result = apply_gate(scores, config.gate, now=NOW, baseline=BASELINE, progress=bar)
    put(printed([gate_table(result)], arguments.format, terminal_width()))
    say_notes(scores, arguments)
    return GATE_FAILED if result.failed else 0


def _complete(arguments: argparse.Namespace, config: GateConfig) -> None:
    """Put what the file says where the command line says nothing."""
    said = _evidence(config)
    for name, value in vars(said).items():
        if getattr(arguments, name) in (None, []):
            setattr(arguments, name, value)
    if arguments.baseline is None and config.baseline is not None:
        arguments.baseline = str(config.folder / config.baseline)
    if arguments.baseline is None:
        raise ParameterError(f"--baseline names the run to hold it against; {config.name} has no baseline")


class _OfFile(Parser):
    """Options that stand in a file: what is wrong with them is said of the file."""

    source = ""

    def error(self, message: str) -> NoReturn:
        raise ParameterError(f"{self.source}: [evidence] {message.removeprefix('argument --')}")


def _evidence(config: GateConfig) -> argparse.Namespace:
    """The table [evidence], read as options are, with paths that start from the file's folder."""
    from evenrank.comparison.gate.config import check_keys

    parser = _OfFile(add_help=False, allow_abbrev=False)
    parser.source = config.name
    _add_inputs(parser)
    given = config.evidence or {}
    known = tuple(action.dest for action in parser._actions)
    check_keys(f"{config.name}: [evidence]", given, known)
    words = []
    for key, value in given.items():
        several = key in _LISTS and isinstance(value, list)
        for one in value if several else [value]:
            if isinstance(one, bool) or not isinstance(one, (str, int)):
                what = "a string or a list of them" if key in _LISTS else "a string or an integer"
                raise ParameterError(f"{config.name}: [evidence] {key} must be {what}, got {value!r}")
            words.append(f"--{key.replace('_', '-')}={one}")
    said = parser.parse_args(words)
    for name in _FILES:
        path = getattr(said, name)
        if path is not None and not (name == "background" and path == COLLECTION):
            setattr(said, name, _from(config.folder, path))
    said.groups = [replace(option, path=_from(config.folder, option.path)) for option in said.groups]
    said.target = [_located(config.folder, option) for option in said.target]
    return said


def _located(folder: Path, option: Any) -> Any:
    return option if option.path is None else replace(option, path=_from(folder, option.path))


def _from(folder: Path, path: str) -> str:
    return str(folder / path)
