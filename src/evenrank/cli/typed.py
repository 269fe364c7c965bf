"""A command is a typed function: its signature says which arguments and options it takes.

    @command("evenrank study simulate mystudy --participants 60")
    def simulate(folder: Folder, *, participants: Annotated[int | None, Arg("how many", "N")] = None) -> int:
        "Let simulated participants answer, whose opinions follow the lists."

Parameters before ``*`` are arguments, those behind it options: ``from_`` is ``--from``. A type is ``str``,
``int`` (a count, so it is above 0), ``float``, ``bool`` (an option without a value), a ``Literal``, or
``tuple[X, ...]`` of one of these, which may be given several times. A dataclass is a set of options that
several commands share; ``Everywhere`` is what every command is told. What is not given has the default of
the function; an option without a default must be given. Options that name a file to write are called as in
``outputs.OUTPUTS``, and are checked before the function is called.

A module with one such function is a command; one with several has a subcommand for each.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Iterable
from dataclasses import is_dataclass
from functools import partial
from types import ModuleType, NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from evenrank.cli.commands import SUMMARIES
from evenrank.cli.everywhere import Everywhere
from evenrank.cli.parser import ACTION, Parser, add_command, listed
from evenrank.cli.values import number, option, positive

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands

READERS: dict[Any, Callable[[str], Any]] = {int: positive, float: number, str: str}


class Arg(NamedTuple):
    """What the type of a parameter does not say."""

    help: str
    form: str | None = None  # what stands for the value in the help, as FILE
    short: str | None = None  # a second name, as -o
    read: Callable[[str], Any] | None = None  # makes the value of the text


class Command(NamedTuple):
    """A function that is a command, with the examples of its help."""

    function: Callable[..., int]
    examples: tuple[str, ...]
    reads_project: bool  # what is not given is taken from the project file
    makes_folder: bool  # the folder of an output need not be there

    @property
    def name(self) -> str:
        return self.function.__name__.strip("_").replace("_", "-")

    @property
    def description(self) -> str:
        return inspect.getdoc(self.function) or ""

    @property
    def parameters(self) -> list[inspect.Parameter]:
        return list(inspect.signature(self.function, eval_str=True).parameters.values())


def command(
    *examples: str, reads_project: bool = False, makes_folder: bool = False
) -> Callable[[Callable[..., int]], Command]:
    """Make a command of a function."""
    return lambda function: Command(function, examples, reads_project, makes_folder)


def add_module(commands: Commands, name: str, module: ModuleType) -> None:
    """Add the command of a module, with its subcommands where it has several functions."""
    own = [one for one in vars(module).values() if isinstance(one, Command)]
    if len(own) == 1:
        return _add(commands, name, own[0], SUMMARIES[name])
    examples = "\n".join(one.examples[0] for one in own)
    parser = add_command(commands, name, module.__doc__ or "", examples)
    summaries = {one.name: one.description.partition(". ")[0].rstrip(".").replace("\n", " ") for one in own}
    parser.epilog = "\n".join([*listed("subcommands", summaries), "", parser.epilog or ""])
    parser.usage = f"evenrank {name} {ACTION} ..."
    inner = parser.add_subparsers(
        metavar=ACTION, dest="action", required=True, prog=f"evenrank {name}", help=argparse.SUPPRESS
    )
    for one in own:
        _add(inner, one.name, one, summaries[one.name])


def _add(commands: Commands, name: str, command: Command, summary: str) -> None:
    parser = add_command(commands, name, command.description, "\n".join(command.examples), summary=summary)
    for parameter in command.parameters:
        for one in _shared_options(parameter.annotation) or [parameter]:
            if one.annotation is not Everywhere:
                _add_option(parser, one)
    parser.set_defaults(run=partial(_call, command), reads_project=command.reads_project)


def _shared_options(kind: Any) -> list[inspect.Parameter]:
    """The options of a dataclass, which are parameters as well; none of any other type."""
    if not is_dataclass(kind):
        return []
    fields = inspect.signature(kind, eval_str=True).parameters.values()  # type: ignore[arg-type]
    return [field.replace(kind=inspect.Parameter.KEYWORD_ONLY) for field in fields]


def _add_option(parser: Parser, parameter: inspect.Parameter) -> None:
    """One argument or option of argparse, without a default, so that a project file can fill it in."""
    kind, arg = _kind_of(parameter.annotation)
    default = parameter.default
    settings: dict[str, Any] = {"help": arg.help, "metavar": arg.form, "default": None}
    several = get_origin(kind) is tuple
    if several:
        kind = get_args(kind)[0]
    if get_origin(kind) is Literal:
        settings["choices"] = get_args(kind)
        settings["metavar"] = arg.form or parameter.name.strip("_").upper()
        settings["help"] += f": {', '.join(get_args(kind))}"
    elif kind is not bool:
        settings["type"] = option(arg.read or READERS.get(kind, str))
    if isinstance(default, (str, int, float)) and not isinstance(default, bool):
        settings["help"] += f" (default: {default})"
    if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
        settings["metavar"] = arg.form or parameter.name.upper()
        if several:
            settings["nargs"] = "*" if default == () else "+"
        elif default is not inspect.Parameter.empty:
            settings["nargs"] = "?"
        parser.add_argument(parameter.name, **settings)
        return
    if kind is bool:
        del settings["metavar"]
        settings |= {"action": "store_const", "const": True}
    elif several:
        settings["action"] = "append"
    if default is inspect.Parameter.empty:
        settings["required"] = True
    long = "--" + parameter.name.strip("_").replace("_", "-")
    parser.add_argument(*filter(None, (arg.short, long)), dest=parameter.name, **settings)


def _kind_of(annotation: Any) -> tuple[Any, Arg]:
    """The type without None, and what is said beside it."""
    arg = Arg("")
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *beside = get_args(annotation)
            arg = next((one for one in beside if isinstance(one, Arg)), arg)
        elif get_origin(annotation) in (Union, UnionType):
            (annotation,) = (one for one in get_args(annotation) if one is not NoneType)
        else:
            return annotation, arg


def _call(command: Command, arguments: argparse.Namespace) -> int:
    """Call the function of a command with what was given."""
    from evenrank.cli.outputs import OUTPUTS, check_output

    given = {name: value for name, value in vars(arguments).items() if value is not None}
    check_output(*map(given.get, OUTPUTS), makes_folder=command.makes_folder)

    def values_of(parameters: Iterable[inspect.Parameter]) -> dict[str, Any]:
        values = {}
        for one in parameters:
            if one.annotation is Everywhere:
                values[one.name] = arguments.everywhere
            elif shared := _shared_options(one.annotation):
                values[one.name] = one.annotation(**values_of(shared))
            elif one.name in given:
                value = given[one.name]
                values[one.name] = tuple(value) if isinstance(value, list) else value
        return values

    return command.function(**values_of(command.parameters))
