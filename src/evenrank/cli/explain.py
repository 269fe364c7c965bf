"""``evenrank explain``: why one list has its score."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evenrank.cli.evidence import (
    WORDS_HELP,
    add_evidence,
    add_reading,
    check_columns,
    evidence_files,
    read_evidence,
    read_named_run,
)
from evenrank.cli.groups import MISSING, MISSING_HELP, check_groups
from evenrank.cli.inputs import check_stdin, run_names
from evenrank.cli.parser import add_command
from evenrank.cli.reading import reading_files
from evenrank.cli.streams import put, terminal_width
from evenrank.cli.values import positive

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.explanation import Explanation


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "explain",
        "say why a list has its score",
        """Say why the list of one query has its score: what is known of the document at each rank, the words
        found in it, what it adds to the value, and what the best order of these documents would be. For a
        measure that is no sum over ranks, the change of the value without each document.""",
        """
        evenrank explain bm25.trec --query 1037798 --words counts.parquet -m NFaiRR@10
        evenrank explain bm25.trec --query q7 --words counts.parquet --background collection -m 'NFaiRR TED'
        evenrank explain bm25.trec --query q7 --qrels qrels.txt -m nDCG@10 --format jsonl
        """,
    )
    parser.add_argument("ranking", metavar="RUN", help="run file, TREC or a table; - reads stdin")
    parser.add_argument("--query", required=True, metavar="Q", help="id of the query")
    parser.add_argument(
        "-m", "--measures", action="append", required=True, metavar="MEASURES",
        help="measures, such as NFaiRR@10; one explanation each (see: evenrank measures)",
    )  # fmt: skip
    add_evidence(parser, f"{WORDS_HELP}; with scan --terms, the words are shown")
    parser.add_argument("--missing", choices=MISSING, help=MISSING_HELP)
    add_reading(parser)
    parser.add_argument(
        "--depth", type=positive, metavar="N", help="show so many ranks (default: those that count)"
    )
    parser.add_argument("--format", choices=("table", "jsonl"), default="table", help="default: table")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    check_stdin([arguments.ranking, *evidence_files(arguments)])
    check_groups(arguments)
    put(_printed(_explanations(arguments), arguments.format))
    return 0


def _explanations(arguments: argparse.Namespace) -> list[Explanation]:
    from evenrank.explanation import explain
    from evenrank.measures import parse_measures

    # what is wrong with the command line is said before large files are read
    measures = parse_measures(arguments.measures)
    (name,) = run_names([arguments.ranking], [])
    check_columns(arguments, [arguments.ranking])
    with reading_files():
        evidence = read_evidence(arguments)
        ranking = read_named_run(arguments, arguments.ranking, name)
    return [
        explain(
            ranking, measure, arguments.query, missing=arguments.missing, depth=arguments.depth, **evidence
        )
        for measure in measures
    ]


def _printed(explanations: list[Explanation], form: str) -> str:
    from evenrank.explanation.render import as_text
    from evenrank.tables import json_line

    if form == "jsonl":
        return "".join(json_line(explanation.to_dict()) for explanation in explanations)
    return "\n\n".join(as_text(explanation, terminal_width()) for explanation in explanations) + "\n"
