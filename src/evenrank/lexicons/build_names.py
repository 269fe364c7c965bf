"""Makes ``gender-en-names.csv`` from the US Social Security Administration's births by name and sex.

    python -m evenrank.lexicons.build_names babynames.parquet [gender-en-names.csv]

The Parquet file has the columns ``year``, ``sex`` (F or M), ``name`` and ``n``.
Nothing in the package imports this.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenrank.data.lexicon import Lexicon
from evenrank.io.lexicons import write_lexicon

FIRST_YEAR = 1940  # those born before are few in the texts of today
SIDE = 200
GROUPS = {"F": "female", "M": "male"}
HERE = Path(__file__).parent

Births = Mapping[str, Mapping[str, int]]


def births(path: Path, first_year: int = FIRST_YEAR) -> Births:
    """Births of each name by sex, since ``first_year``."""
    table = pq.read_table(path, columns=["year", "sex", "name", "n"])
    table = table.filter(pc.greater_equal(table["year"], first_year))
    sums = table.group_by(["name", "sex"]).aggregate([("n", "sum")])
    counts: dict[str, dict[str, int]] = {}
    for row in sums.to_pylist():
        counts.setdefault(row["name"].lower(), {})[row["sex"]] = row["n_sum"]
    return counts


def excluded(path: Path = HERE / "excluded-names.txt") -> set[str]:
    """The names that are left out: the first field of each line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}


def ranked(counts: Births, sex: str, without: Iterable[str]) -> list[str]:
    """Names with at least three of four births of this sex, the most frequent first, equal ones by letter."""
    left_out = set(without)
    own = {
        name: by_sex.get(sex, 0)
        for name, by_sex in counts.items()
        if name not in left_out and 4 * by_sex.get(sex, 0) >= 3 * sum(by_sex.values())
    }
    return sorted(own, key=lambda name: (-own[name], name))


def names_lexicon(counts: Births, without: Iterable[str], side: int = SIDE) -> Lexicon:
    """Equally many names a side; a name's partner is the one of the same rank on the other side."""
    left_out = set(without)
    words = {group: ranked(counts, sex, left_out)[:side] for sex, group in GROUPS.items()}
    pairs = dict(zip(words["female"], words["male"], strict=True))
    partners = {**pairs, **{partner: name for name, partner in pairs.items()}}
    return Lexicon.build("gender-en-names", words, partners=partners)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("counts", type=Path, help="Parquet file with year, sex, name, n")
    parser.add_argument("output", type=Path, nargs="?", default=HERE / "gender-en-names.csv")
    given = parser.parse_args(arguments)
    write_lexicon(names_lexicon(births(given.counts), excluded()), given.output)


if __name__ == "__main__":
    main()
