"""Command lines: argparse with one-line errors and examples in every help."""

from __future__ import annotations

import argparse
import difflib
import inspect
import os
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from evenrank.cli.commands import COMMANDS, SUMMARIES
from evenrank.cli.everywhere import EVERYWHERE, add_everywhere
from evenrank.cli.streams import put, say, write_message
from evenrank.errors import readable

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction["Parser"]

COMMAND, ACTION = "COMMAND", "ACTION"  # what stands in usage for a command, and for a subcommand
REQUIRED = "the following arguments are required: "  # how argparse begins
MOST_NAMED = 3  # arguments that nobody knows
WIDTH = 78  # of help, as argparse wraps it on a terminal of 80 columns
EXIT_CODES = "exit codes: 0 ok, 1 bad data, 2 wrong usage, 3 a gate failed, 130 interrupted"


class Parser(argparse.ArgumentParser):
    """Says what is wrong on one line, as every other error is said, with the names that are nearest."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        words = sys.argv[1:] if args is None else list(args)
        self._check_names(words)  # or argparse would miss a required option, and see no misspelt one
        found, others = super().parse_known_args(words, namespace)
        if others:  # by the command itself, which knows its own name
            more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
            expanded = "; put a pattern of files in quotes, so that the shell leaves it alone"
            hint = expanded if len(others) > 1 and all(map(os.path.isfile, others)) else ""
            self.error(f"unrecognized arguments: {' '.join(others[:MOST_NAMED])}{more}{hint}")
        return found, others

    def _check_names(self, words: Sequence[str]) -> None:
        commands = self._commands()
        command = self.prog.partition(" ")[2]
        waiting = iter(words)
        for word in waiting:
            if word == "--":
                return
            if not _is_option(word):
                if not commands:
                    continue
                if word not in commands:
                    self.error(f"unknown command {word!r}{_nearest_command(word, commands)}")
                return  # what follows is the command's own
            known = self._option_string_actions
            option = word.partition("=")[0] if word.startswith("--") else word[:2]
            if option not in known:
                self.error(f"unknown option {option}{_nearest_option(option, list(known), command)}")
            if commands and word == option and known[option].nargs != 0:
                next(waiting, None)  # its value is no command

    def _commands(self) -> dict[str, Parser]:
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                return dict(action.choices)
        return {}

    def _print_message(self, message: str, file: Any = None) -> None:
        put(message)  # help and the version: data like any other

    def error(self, message: str) -> NoReturn:
        if message.startswith("unrecognized arguments") and "@" in message:
            message += "; put several measures into one pair of quotes, as -m 'nDCG@10 RR@10'"
        if message in (REQUIRED + COMMAND, REQUIRED + ACTION):
            write_message(self.format_help() + "\n")
            commands = list(self._commands())
            example = "evaluate" if "evaluate" in commands else commands[0]
            message = f"name a command, as {self.prog} {example}"
        elif message.startswith(REQUIRED):
            first = message.removeprefix(REQUIRED).split(", ")[0]
            needed = next(one for one in self._actions if argparse._get_action_name(one) == first)
            message = f"{message} ({needed.metavar or first}: {needed.help})"
        say(f"{readable(message)} (try: {self.prog} --help)")
        raise SystemExit(2)


def _is_option(word: str) -> bool:
    """As argparse sees it: neither ``-`` (stdin), nor a negative number, nor text with a blank."""
    return len(word) > 1 and word[0] == "-" and not re.match(r"-\d|-\.\d", word) and " " not in word


ALSO_CALLED = {  # what others call a command
    "metrics": "measures", "metric": "measures", "eval": "evaluate", "score": "evaluate",
    "search": "retrieve", "rank": "retrieve", "train": "debias", "origin": "explain",
    "tradeoff": "rerank", "words": "scan",
}  # fmt: skip


def _nearest_option(option: str, known: Sequence[str], command: str) -> str:
    """What was meant: an option of nearly that name, another way to say it, or the commands that have it."""
    starts = [name for name in known if name.startswith(option) and option not in ("-", "--")]
    # --on is nothing like --lexicon, --kind or -o
    alike = [
        name
        for name in known
        if abs(len(name) - len(option)) <= 2 and (name[:2] == "--" or option[:2] != "--")
    ]
    if close := starts[:3] or difflib.get_close_matches(option[:80], alike, 3, 0.65):
        return f"; did you mean {' or '.join(close)}?"
    if option == "--lexicon" and "--words" in known:
        return f"; {command} takes words that were counted: evenrank scan --lexicon, then --words FILE"
    if option == "--words" and "--lexicon" in known:
        return f"; {command} counts words itself: name the word list with --lexicon"
    from evenrank.cli import build_parser

    everywhere = _all_of(build_parser())
    having = [own.prog.partition(" ")[2] for own in everywhere if option in own._option_string_actions]
    return f"; {', '.join(having)} {'has' if len(having) == 1 else 'have'} it" if having else ""


def _all_of(parser: Parser) -> Iterator[Parser]:
    yield parser
    for own in parser._commands().values():
        yield from _all_of(own)


def _nearest_command(word: str, commands: Mapping[str, Parser]) -> str:
    if ALSO_CALLED.get(word) in commands:
        return f"; did you mean {ALSO_CALLED[word]}?"
    close = difflib.get_close_matches(word[:80], list(commands), 3, 0.5)
    return f"; did you mean {' or '.join(close)}?" if close else f"; they are {', '.join(commands)}"


def make_parser() -> tuple[Parser, Commands]:
    from evenrank._version import __version__

    parser = Parser(
        prog="evenrank",
        usage="evenrank COMMAND ...",
        description="Measures bias in ranked lists, explains it, reduces it, and tests whether\n"
        "the change is real.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    parser.add_argument(
        "-h", "--help", action="help", help="show this help; evenrank COMMAND --help explains one"
    )
    parser.add_argument(
        "--version", action="version", version=f"evenrank {__version__}", help="show the version"
    )
    add_everywhere(parser, shown=True)
    commands = parser.add_subparsers(
        metavar=COMMAND, dest="command", required=True, prog="evenrank", help=argparse.SUPPRESS
    )
    return parser, commands


def listed(heading: str, summaries: Mapping[str, str]) -> list[str]:
    """Commands below a heading, each with what it does."""
    return [
        f"{heading}:",
        *(
            textwrap.fill(summary, WIDTH, initial_indent=f"  {name:<15}", subsequent_indent=" " * 17)
            for name, summary in summaries.items()
        ),
    ]


def list_commands(parser: Parser) -> None:
    """Put the commands under their headings, each with the question that it answers, into the help."""
    lines = []
    for heading, summaries in COMMANDS.items():
        lines += listed(heading, summaries)
    examples = """
        evenrank init
        evenrank evaluate runs/*.trec --qrels qrels.txt -m 'nDCG@10 RR@10'
        evenrank measures "share of the first page"
        """
    parser.epilog = "\n".join(lines) + "\n\n" + _epilog(examples, EXIT_CODES)


def add_command(commands: Commands, name: str, description: str, examples: str, summary: str = "") -> Parser:
    everywhere = textwrap.fill(f"in every command: {EVERYWHERE}", WIDTH, break_on_hyphens=False)
    paragraphs = inspect.cleandoc(description).split("\n\n")
    parser = commands.add_parser(
        name,
        help=summary or SUMMARIES[name],
        description="\n\n".join(textwrap.fill(" ".join(text.split()), WIDTH) for text in paragraphs),
        epilog=_epilog(examples, f"{everywhere}\n{EXIT_CODES}"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_everywhere(parser)
    return parser


def _epilog(examples: str, after: str) -> str:
    shown = textwrap.dedent(examples).strip().splitlines()
    body = "\n".join(broken(line) for line in shown)
    return f"{'example' if len(shown) == 1 else 'examples'}:\n{body}\n\n{after}"


def broken(command: str, width: int = WIDTH) -> str:
    """A command in lines that a shell reads as one: broken between words, never within quotes.

    >>> print(broken("evenrank evaluate bm25.trec -m 'nDCG@10 AP'", 36))
      evenrank evaluate bm25.trec -m \\
          'nDCG@10 AP'
    """
    lines, line = [], " "
    for word in re.findall(r"(?:'[^']*'|\"[^\"]*\"|[^\s'\"])+", command):
        if line.strip() and len(line) + len(word) + 3 > width:
            lines.append(f"{line} \\")
            line = "     "
        line += f" {word}"
    return "\n".join([*lines, line])
