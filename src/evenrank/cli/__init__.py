"""The command ``evenrank``: data on stdout, messages on stderr, and an exit code that scripts can use.

0 all is well; 1 the data cannot be used, or a check failed; 2 the command line is wrong; 3 a gate failed;
130 interrupted. One module a command; each imports what it needs when it runs, so that help is quick.
"""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from collections.abc import Sequence

from evenrank.cli.audit import add as add_audit
from evenrank.cli.compare import add as add_compare
from evenrank.cli.corpus import add as add_corpus
from evenrank.cli.counterfactual import add as add_counterfactual
from evenrank.cli.debias import add as add_debias
from evenrank.cli.doctor import add as add_doctor
from evenrank.cli.evaluate import add as add_evaluate
from evenrank.cli.everywhere import apply_everywhere, split_everywhere
from evenrank.cli.explain import add as add_explain
from evenrank.cli.gate import add as add_gate
from evenrank.cli.init import add as add_init
from evenrank.cli.lexicon import add as add_lexicon
from evenrank.cli.measures import add as add_measures
from evenrank.cli.parser import Parser, list_commands, make_parser
from evenrank.cli.polarise import add as add_polarise
from evenrank.cli.queryset import add as add_queryset
from evenrank.cli.report import add as add_report
from evenrank.cli.rerank import add as add_rerank
from evenrank.cli.retrieve import add as add_retrieve
from evenrank.cli.scan import add as add_scan
from evenrank.cli.select import add as add_select
from evenrank.cli.streams import check_locale, discard_output, say, say_warnings
from evenrank.cli.study import add as add_study
from evenrank.errors import (
    EvenrankError,
    EvenrankWarning,
    InputTypeError,
    ParameterError,
    read_in_a_shell,
    readable,
)

__all__ = ["build_parser", "main"]

BAD_DATA = 1
USAGE = 2
INTERRUPTED = 130

COMMANDS = {  # in the order of the help
    "start": {"init": add_init, "audit": add_audit, "doctor": add_doctor},
    "data": {
        "retrieve": add_retrieve, "scan": add_scan, "lexicon": add_lexicon, "queryset": add_queryset,
        "polarise": add_polarise, "corpus": add_corpus,
    },
    "measure": {
        "measures": add_measures, "evaluate": add_evaluate, "explain": add_explain, "compare": add_compare,
    },
    "improve": {"rerank": add_rerank, "debias": add_debias, "select": add_select},
    "experiments": {"counterfactual": add_counterfactual, "study": add_study},
    "show": {"report": add_report, "gate": add_gate},
}  # fmt: skip
DEBUG = "EVENRANK_DEBUG"


def build_parser() -> Parser:
    parser, commands = make_parser()
    for group in COMMANDS.values():
        for add in group.values():
            add(commands)
    list_commands(parser, {heading: list(group) for heading, group in COMMANDS.items()})
    return parser


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
    try:
        given = sys.argv[1:] if argv is None else argv
        check_locale(given)
        words, everywhere = split_everywhere(given)
        arguments = build_parser().parse_args(words)
        apply_everywhere(arguments, everywhere)
        arguments.typed = shlex.join(["evenrank", *given])
        code: int = arguments.run(arguments)
        return code
    except SystemExit as leaving:  # argparse: 0 after --help and --version, 2 for wrong usage
        return leaving.code if isinstance(leaving.code, int) else USAGE
    except (ParameterError, InputTypeError) as error:
        say(str(error))
        return USAGE
    except EvenrankError as error:
        say(str(error))
        return BAD_DATA
    except BrokenPipeError:
        raise
    except OSError as error:
        say(readable(f"{error.filename}: {error.strerror}" if error.filename else str(error)))
        return BAD_DATA
    except MemoryError:
        say("there is not enough memory for this command")
        return BAD_DATA
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        message = f"unexpected {type(error).__name__}: {error} (a bug; {DEBUG}=1 shows where)"
        say(readable(message.replace("\n", " ")))
        return BAD_DATA
