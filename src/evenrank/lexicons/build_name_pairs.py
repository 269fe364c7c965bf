"""Makes the table of names that a swap pairs, from the same births as ``gender-en-names.csv``.

    python -m evenrank.lexicons.build_name_pairs babynames.parquet [names-en.csv]

Row r has the name of rank r of each sex and its births. Names that mean something else as often are left
out: those of ``excluded-names.txt`` here, and of ``left-out-names.txt`` beside the table.
Nothing in the package imports this.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from evenrank.io.atomic import atomic_write
from evenrank.lexicons.build_names import GROUPS, Births, births, excluded, ranked

SIDE = 500
SWAP = Path(__file__).parents[1] / "counterfactuals/swap"


def name_table(counts: Births, without: set[str], side: int = SIDE) -> str:
    """The names of each sex by rank, side by side, as CSV."""
    columns = []
    for sex in GROUPS:
        names = ranked(counts, sex, without)[:side]
        columns.append([f"{name},{counts[name][sex]}" for name in names])
    header = ",".join(f"{group},{group}_births" for group in GROUPS.values())
    return "\n".join([header, *map(",".join, zip(*columns, strict=True))]) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("counts", type=Path, help="Parquet file with year, sex, name, n")
    parser.add_argument("output", type=Path, nargs="?", default=SWAP / "names-en.csv")
    given = parser.parse_args(arguments)
    without = excluded() | excluded(SWAP / "left-out-names.txt")
    with atomic_write(given.output) as file:
        file.write(name_table(births(given.counts), without).encode())


if __name__ == "__main__":
    main()
