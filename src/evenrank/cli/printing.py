"""Tables on stdout, in the formats that every command has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from evenrank.cli.streams import put, terminal_width
from evenrank.cli.typed import Arg

if TYPE_CHECKING:
    from evenrank.tables import Table

Format = Annotated[
    Literal["table", "tsv", "csv", "jsonl", "markdown", "latex"], Arg("how to print the result")
]


def print_tables(tables: Sequence[Table], format: str = "table") -> None:
    from evenrank.tables import printed

    put(printed(tables, format, terminal_width()))
