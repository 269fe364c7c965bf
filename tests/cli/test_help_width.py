"""Help fits a terminal of 80 columns, and its examples work when they are pasted."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator

import pytest

from evenrank.cli import build_parser
from evenrank.cli.parser import broken


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from parsers(one)


def test_help_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    wide = [
        f"{parser.prog}: {line}"
        for parser in parsers(build_parser())
        for line in parser.format_help().splitlines()
        if len(line) > 80
    ]
    assert wide == []


@pytest.mark.parametrize("width", [30, 50, 78])
def test_a_broken_command_is_the_same_command(width: int) -> None:
    command = "zcat a.gz | evenrank rerank b.trec --with 'MMR(lam={0.2,0.5})' -m 'nDCG@10 AP' -o \"a b.svg\""
    found = broken(command, width)
    assert shlex.split(found.replace("\\\n", " ")) == shlex.split(command)
    assert all(line.endswith(" \\") for line in found.splitlines()[:-1])
    assert "'nDCG@10 AP'" in found
