"""The command ``evenrank``: data on stdout, messages on stderr, and an exit code that scripts can use.

0 all is well; 1 the data cannot be used, or a check failed; 2 the command line is wrong; 3 a gate failed;
130 interrupted. One module a command; each imports what it needs when it runs, so that help is quick.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module

from evenrank.cli.commands import SUMMARIES
from evenrank.cli.everywhere import apply_everywhere, everywhere_of
from evenrank.cli.parser import Parser, list_commands, make_parser
from evenrank.cli.streams import discard_output, say, say_warnings
from evenrank.errors import (
    EvenrankError,
    EvenrankWarning,
    InputTypeError,
    ParameterError,
    read_in_a_shell,
    readable,
)
from evenrank.inputs.file_options import STDIN_NAME

__all__ = ["main"]

BAD_DATA = 1
USAGE = 2
INTERRUPTED = 130

DEBUG = "EVENRANK_DEBUG"


def build_parser(words: Sequence[str] | None = None) -> Parser:
    """The parser of all commands; for the words of one command line, only what these need is loaded."""
    parser, commands = make_parser()
    for name in SUMMARIES:
        if words is not None and name not in words:
            commands.add_parser(name, add_help=False)  # known by its name, so that a misspelt one is compared
            continue
        module = import_module(f"evenrank.cli.{name}")
        if hasattr(module, "add"):
            module.add(commands)
        else:
            from evenrank.cli.typed import add_module

            add_module(commands, name, module)
    list_commands(parser)
    return parser


def complete() -> None:
    """Answer a shell that asks how a command line may go on, and leave; it asks through the environment."""
    import argcomplete

    argcomplete.autocomplete(
        build_parser(os.environ["COMP_LINE"].split()), always_complete_options=False, print_suppressed=True
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no error leaves as an exception."""
    try:
        with warnings.catch_warnings(), read_in_a_shell():
            warnings.simplefilter("always", EvenrankWarning)
            say_warnings()
            code = _run(argv)
            return code
    except KeyboardInterrupt as interrupt:
        say(str(interrupt) or "interrupted")  # what was done before is said by who can tell
        return INTERRUPTED
    except BrokenPipeError:
        discard_output()  # who reads has read enough, as head does: no error, and none on the way out
        return 0


def _run(argv: Sequence[str] | None) -> int:
    has_columns = False
    try:
        if "_ARGCOMPLETE" in os.environ:
            complete()
        given = sys.argv[1:] if argv is None else argv
        # standard input with options would be taken for an option
        words = [STDIN_NAME + word[1:] if word.startswith("-:") else word for word in given]
        arguments = build_parser(words).parse_args(words)
        has_columns = hasattr(arguments, "columns")
        apply_everywhere(arguments, everywhere_of(arguments, shlex.join(["evenrank", *given])))
        from evenrank.cli.outputs import check_apart  # which help does not need

        check_apart(arguments)
        code: int = arguments.run(arguments)
        return code
    except SystemExit as leaving:  # argparse: 0 after --help and --version, 2 for wrong usage
        return leaving.code if isinstance(leaving.code, int) else USAGE
    except (ParameterError, InputTypeError) as error:
        return _ended_by(error, str(error), USAGE)
    except EvenrankError as error:
        return _ended_by(error, _with_columns(str(error)) if has_columns else str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        return _ended_by(error, f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except MemoryError as error:
        return _ended_by(error, "there is not enough memory for this command")
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        message = f"unexpected {type(error).__name__}: {error} (a bug; {DEBUG}=1 shows where)"
        return _ended_by(error, message.replace("\n", " "))


def _with_columns(message: str) -> str:
    """The option of the commands that take no project file for their tables.

    >>> _with_columns("name it with columns={'query': ...} (in the project file too)")
    'name it with --columns query=NAME'
    """
    pattern = r"columns=\{'(\w+)': '?(.*?)'?\} \(in the project file too\)"
    return re.sub(pattern, lambda found: f"--columns {found[1]}={found[2].replace('...', 'NAME')}", message)


def _ended_by(error: Exception, message: str, code: int = BAD_DATA) -> int:
    """Say why the command ended. The error itself goes to the log ``evenrank``."""
    import logging

    logging.getLogger("evenrank").debug("the command ended with an error", exc_info=error)
    say(readable(message))
    return code
