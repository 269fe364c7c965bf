"""What the help of the command lists: commands, and the options of each."""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stdout
from functools import cache
from typing import NamedTuple

from evenrank.cli import main

# -o FILE, --output FILE  and what it is for, which goes on in lines that stand farther right
ENTRY = re.compile(
    r"^  (?:-\w(?: .+?)?, )?(--[\w-]+)(?: (\S+))?(?:  +|\n|$)((?:.*\n?)(?: {8,}.*\n?)*)", re.MULTILINE
)


class Option(NamedTuple):
    name: str  # the long one
    value: str  # what stands for the value in the help; empty where there is none
    meaning: str


@cache
def help_of(*words: str) -> str:
    with redirect_stdout(io.StringIO()) as text:
        assert main([*words, "--help"]) == 0
    return text.getvalue()


def command_names() -> list[str]:
    return sorted(re.findall(r"(?m)^  ([a-z]+) +\S", help_of().split("\nstart:")[1].split("\nexamples:")[0]))


def subcommands_of(command: str) -> list[str]:
    """Of a command that has some: ``study new`` and so on; else the command itself."""
    _, found, listed = help_of(*command.split()).partition("\nsubcommands:")
    names = re.findall(r"(?m)^  ([a-z-]+) +\S", listed.partition("\nexample")[0]) if found else []
    return [f"{command} {name}" for name in names] or [command]


@cache
def options_of(command: str) -> list[Option]:
    """Without --help, and of all its subcommands."""
    options: dict[str, Option] = {}
    for name in subcommands_of(command):
        text, _ = re.split(r"\nexamples?:\n", help_of(*name.split()))
        for option, value, said in ENTRY.findall(text):
            options.setdefault(option, Option(option, value, " ".join(said.split())))
    return [option for name, option in options.items() if name != "--help"]


def examples_of(command: str) -> list[list[str]]:
    """The words of each example, as a shell reads it."""
    found: list[list[str]] = []
    for name in dict.fromkeys((command, *subcommands_of(command))):
        _, text = re.split(r"\nexamples?:\n", help_of(*name.split()).replace("\\\n", " "))
        lines = [shlex.split(line) for line in text.splitlines() if line.startswith("  ")]
        cut = (words[: words.index(">")] if ">" in words else words for words in lines)
        found += [words[words.index("|") + 1 :] if "|" in words else words for words in cut]
    return found
