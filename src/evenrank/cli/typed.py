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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from types import ModuleType, NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from evenrank.cli.commands import SUMMARIES
from evenrank.cli.everywhere import Everywhere
from evenrank.cli.parser import ACTION, Parser, add_command, listed
from evenrank.cli.values import number, option, positive
from evenrank.inputs.description import Arg as Arg

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands

READERS: dict[Any, Callable[[str], Any]] = {int: positive, float: number, str: str}


class Takes(NamedTuple):
    """Those options of a dataclass that a command takes; the others are as if they were not given."""

    names: tuple[str, ...]


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
        if shared := _dataclass_of(parameter.annotation):
            add_options(parser, *shared)
        elif parameter.annotation is not Everywhere:
            _add_option(parser, parameter)
    parser.set_defaults(run=partial(_call, command), reads_project=command.reads_project)


def _dataclass_of(annotation: Any) -> tuple[Any, tuple[str, ...] | None] | None:
    """A set of options that several commands share, and which of them this one takes: all, if None."""
    beside: list[Any] = []
    if get_origin(annotation) is Annotated:
        annotation, *beside = get_args(annotation)
    names = next((one.names for one in beside if isinstance(one, Takes)), None)
    return (annotation, names) if is_dataclass(annotation) else None


def add_options(parser: Any, kind: Any, names: Sequence[str] | None = None) -> None:
    """The fields of a dataclass as options; those that are not taken can come from the project file."""
    for one in _options_of(kind):
        if names is None or one.name in names:
            _add_option(parser, one)
        else:
            parser.set_defaults(**{one.name: None})


def _options_of(kind: Any) -> Iterable[inspect.Parameter]:
    """The fields of a dataclass that are declared as options or arguments."""
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        if get_origin(hints[field.name]) is Annotated:
            _, arg = _kind_of(hints[field.name])
            place = (
                inspect.Parameter.POSITIONAL_OR_KEYWORD if arg.argument else inspect.Parameter.KEYWORD_ONLY
            )
            yield inspect.Parameter(field.name, place, default=field.default, annotation=hints[field.name])


def as_options(given: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    """What was given of the fields of a dataclass; a text that names several things adds each of them."""
    return {
        one.name: _several(given[one.name]) for one in _options_of(kind) if given.get(one.name) is not None
    }


def _several(value: Any) -> Any:
    if not isinstance(value, (list, tuple)) or hasattr(value, "_fields"):
        return value
    return tuple(inner for one in value for inner in (one if isinstance(one, list) else [one]))


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
    else:
        settings["action"] = "append" if several else _Once
    if default is inspect.Parameter.empty:
        settings["required"] = True
    long = "--" + parameter.name.strip("_").replace("_", "-")
    parser.add_argument(*filter(None, (arg.short, long)), dest=parameter.name, **settings)


class _Once(argparse.Action):
    """An option whose second value would silently take the place of the first."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        if getattr(namespace, self.dest, None) is not None:
            parser.error(f"{option_string} is given twice: leave one of them out")
        setattr(namespace, self.dest, values)


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
            elif shared := _dataclass_of(one.annotation):
                values[one.name] = shared[0](**as_options(given, shared[0]))
            elif one.name in given:
                values[one.name] = _several(given[one.name])
        return values

    return command.function(**values_of(command.parameters))
