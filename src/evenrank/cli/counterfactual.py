"""``evenrank counterfactual``: swap the group words of a collection, and see what rankings do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenrank.cli.crbo import add as add_crbo
from evenrank.cli.parser import add_command
from evenrank.cli.swap import add as add_swap

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "counterfactual",
        "swap the group words of a collection, and compare rankings before and after",
        """What would the ranking be if the words of one group stood for the other? swap writes the
        collection with every group word replaced by its counterpart; crbo ranks both and compares.""",
        """
        evenrank counterfactual swap collection.tsv -o swapped.tsv
        evenrank counterfactual crbo --system bm25 collection.tsv queries.tsv
        """,
    )
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", dest="part", required=True)
    add_swap(parts)
    add_crbo(parts)
