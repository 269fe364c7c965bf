"""Tables on stdout, or in a file, in the formats that every command has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from evenrank.cli.streams import put, say, terminal_width
from evenrank.cli.typed import Arg

if TYPE_CHECKING:
    from evenrank.tables import Table

Format = Annotated[
    Literal["table", "tsv", "csv", "jsonl", "markdown", "latex"] | None,
    Arg("how to print the result, by default as a table"),
]
TableFile = Annotated[str | None, Arg("write the tables: .jsonl, .csv, .tsv, .md or .tex", "FILE", "-o")]


def print_tables(tables: Sequence[Table], format: str | None = None, output: str | None = None) -> None:
    """Print tables. Where a file is named, they go there, and are printed only if a format is named too."""
    from evenrank.tables import printed

    if output is not None:
        from evenrank.scores.files import file_format

        form = file_format(output, None, ("jsonl", "csv", "tsv", "markdown", "latex"))
        write_text(output, printed(tables, form))
    if output is None or format is not None:
        put(printed(tables, format or "table", terminal_width()))


def write_text(output: str, text: str, what: str = "") -> None:
    """Write a file, and say that it is there, and what it is."""
    from evenrank.io.atomic import atomic_write

    with atomic_write(output) as file:
        file.write(text.encode())
    say(f"wrote {output}" + (f": {what}" if what else ""))
