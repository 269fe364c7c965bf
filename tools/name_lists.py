"""Makes the lists of first names from the US Social Security Administration's births by name and sex.

    python tools/name_lists.py lexicon babynames.parquet [gender-en-names.csv]
    python tools/name_lists.py pairs babynames.parquet [names-en.csv]

``lexicon`` is the shipped list of names, equally many of each sex, whose partners have the same rank.
``pairs`` is the table that a swap takes names from: row r has the name of rank r of each sex and its births.
The Parquet file has the columns ``year``, ``sex`` (F or M), ``name`` and ``n``. Names that mean something
else as often are left out: those of ``excluded-names.txt``, and for ``pairs`` of ``left-out-names.txt``.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenrank.data.lexicon import Lexicon
from evenrank.io.atomic import atomic_write
from evenrank.io.lexicons import write_lexicon

FIRST_YEAR = 1940  # those born before are few in the texts of today
IN_LEXICON, IN_PAIRS = 200, 500  # names of each sex
GROUPS = {"F": "female", "M": "male"}
SOURCE = Path(__file__).parents[1] / "src/evenrank"
LEXICONS, SWAP = SOURCE / "lexicons", SOURCE / "counterfactuals/swap"

Births = Mapping[str, Mapping[str, int]]


def births(path: Path) -> Births:
    """Births of each name by sex."""
    table = pq.read_table(path, columns=["year", "sex", "name", "n"])
    table = table.filter(pc.greater_equal(table["year"], FIRST_YEAR))
    sums = table.group_by(["name", "sex"]).aggregate([("n", "sum")])
    counts: dict[str, dict[str, int]] = {}
    for row in sums.to_pylist():
        counts.setdefault(row["name"].lower(), {})[row["sex"]] = row["n_sum"]
    return counts


def excluded(path: Path) -> set[str]:
    """The names that are left out: the first field of each line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}


def ranked(counts: Births, sex: str, without: set[str]) -> list[str]:
    """Names with at least three of four births of this sex, the most frequent first, equal ones by letter."""
    own = {
        name: by_sex.get(sex, 0)
        for name, by_sex in counts.items()
        if name not in without and 4 * by_sex.get(sex, 0) >= 3 * sum(by_sex.values())
    }
    return sorted(own, key=lambda name: (-own[name], name))


def write_names(counts: Births, output: Path) -> None:
    without = excluded(LEXICONS / "excluded-names.txt")
    words = {group: ranked(counts, sex, without)[:IN_LEXICON] for sex, group in GROUPS.items()}
    pairs = dict(zip(words["female"], words["male"], strict=True))
    partners = pairs | {partner: name for name, partner in pairs.items()}
    write_lexicon(Lexicon.build("gender-en-names", words, partners=partners), output)


def write_pairs(counts: Births, output: Path) -> None:
    without = excluded(LEXICONS / "excluded-names.txt") | excluded(SWAP / "left-out-names.txt")
    columns = [
        [f"{name},{counts[name][sex]}" for name in ranked(counts, sex, without)[:IN_PAIRS]] for sex in GROUPS
    ]
    header = ",".join(f"{group},{group}_births" for group in GROUPS.values())
    lines = [header, *map(",".join, zip(*columns, strict=True))]
    with atomic_write(output) as file:
        file.write(("\n".join(lines) + "\n").encode())


MAKERS = {
    "lexicon": (write_names, LEXICONS / "gender-en-names.csv"),
    "pairs": (write_pairs, SWAP / "names-en.csv"),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=MAKERS)
    parser.add_argument("counts", type=Path, help="Parquet file with year, sex, name, n")
    parser.add_argument("output", type=Path, nargs="?")
    given = parser.parse_args()
    write, usual = MAKERS[given.what]
    write(births(given.counts), given.output or usual)


if __name__ == "__main__":
    main()
