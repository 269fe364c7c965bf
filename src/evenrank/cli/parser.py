"""Command lines: argparse with one-line errors and examples in every help."""

from __future__ import annotations

import argparse
import textwrap
from typing import TYPE_CHECKING, NoReturn

from evenrank.cli.streams import say

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction["Parser"]

EXIT_CODES = "exit codes: 0 ok, 1 bad data, 2 wrong usage, 3 a gate failed, 130 interrupted"


class Parser(argparse.ArgumentParser):
    """Says what is wrong on one line, as every other error is said."""

    def error(self, message: str) -> NoReturn:
        if message.startswith("unrecognized arguments") and "@" in message:
            message += "; several measures are quoted, as -m 'nDCG@10 RR@10'"
        say(f"{message} (try: {self.prog} --help)")
        raise SystemExit(2)


def make_parser() -> tuple[Parser, Commands]:
    from evenrank import __version__

    parser = Parser(
        prog="evenrank",
        description="Measure how even-handed ranked lists are, with relevance beside it.",
        epilog=_epilog(
            """
            evenrank evaluate runs/*.trec --qrels qrels.txt -m 'nDCG@10 RR@10'
            evenrank measures nDCG
            evenrank doctor
            """,
            EXIT_CODES,
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"evenrank {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    return parser, commands


def add_command(commands: Commands, name: str, summary: str, description: str, examples: str) -> Parser:
    return commands.add_parser(
        name,
        help=summary,
        description=textwrap.fill(" ".join(description.split()), 100),
        epilog=_epilog(examples, EXIT_CODES),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _epilog(examples: str, after: str) -> str:
    body = textwrap.indent(textwrap.dedent(examples).strip(), "  ")
    return f"{'example' if body.count(chr(10)) == 0 else 'examples'}:\n{body}\n\n{after}"
