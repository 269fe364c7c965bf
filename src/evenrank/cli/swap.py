"""``evenrank counterfactual --swap-only``: a collection in, the same with every group word swapped out."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

from evenrank.cli.cluster import opened_cluster
from evenrank.cli.outputs import check_output
from evenrank.cli.progress import ResumableBar
from evenrank.cli.shared import seed_of
from evenrank.cli.streams import say
from evenrank.errors import DataError, ParameterError

if TYPE_CHECKING:
    import csv
    from collections.abc import Iterator

    from evenrank.counterfactuals.swap.files import SwapSummary

SHOWN = 8  # pairs
CYCLIC = "cyclic"
EACH = "each"  # of --kinds: all together, and each alone


class KindsOption(NamedTuple):
    """``[KIND,..][:share=S,..][:from=GROUP][:seeds=N]``: which words are swapped, how many of them, which
    way, and with how many pairings of names."""

    kinds: tuple[str, ...] | None = None  # None is all
    shares: tuple[float, ...] = (1.0,)
    from_group: str | None = None
    seeds: int = 1


def kinds_of(text: str) -> KindsOption:
    """
    >>> kinds_of("names,titles:share=0.25,1")
    KindsOption(kinds=('names', 'titles'), shares=(0.25, 1.0), from_group=None, seeds=1)
    """
    named, *parts = text.split(":")
    words = tuple(part.strip() for part in named.split(",") if part.strip())
    if not words and (named or not parts):
        raise argparse.ArgumentTypeError(f"no kind of word is named in {text!r}")
    shares: tuple[float, ...] = (1.0,)
    from_group: str | None = None
    seeds = 1
    for part in parts:
        key, _, value = part.partition("=")
        try:
            if key == "share":
                shares = tuple(float(share) for share in value.split(","))
            elif key == "from" and value:
                from_group = value
            elif key == "seeds" and int(value) > 0:
                seeds = int(value)
            else:
                raise ValueError(part)
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"must be KIND,..[:share=0.25,..][:from=GROUP][:seeds=N], got {text!r}"
            ) from None
    return KindsOption(words or None, shares, from_group, seeds)


def swap_only(arguments: argparse.Namespace) -> int:
    """Write the swapped collection."""
    from evenrank.counterfactuals.swap import KINDS
    from evenrank.counterfactuals.swap.files import swap_file

    collection = arguments.documents
    if arguments.output is None:
        raise ParameterError("--swap-only writes a collection: name the file, as -o swapped.tsv")
    check_output(arguments.output, arguments.details)
    asked: KindsOption = arguments.kinds or KindsOption()
    if EACH in (*(asked.kinds or ()), asked.from_group) or len(asked.shares) > 1:
        raise ParameterError(
            "--swap-only writes one collection: name one share, one group, and kinds instead of 'each'"
        )
    with opened_cluster(arguments) as cluster, ResumableBar("swapping") as bar:
        summary = swap_file(
            collection.path,
            arguments.output,
            arguments.lexicon,
            kinds=asked.kinds or KINDS,
            share=asked.shares[0],
            from_group=asked.from_group,
            seed=seed_of(arguments),
            tagger=arguments.tagger,
            mapping=mapping_of(arguments.mapping),
            one_way=arguments.one_way,
            threads=arguments.threads,
            resume=not arguments.no_resume,
            progress=bar,
            format=collection.get("format"),
            columns=arguments.columns,
            on=cluster,
        )
    if arguments.details is not None:
        _write(summary, arguments.details)
    say(describe_swap(summary, arguments.output))
    return 0


def mapping_of(given: str | None) -> dict[str, str] | str | None:
    """A mapping as the name of a rule, or read from a file."""
    if given is None or given == CYCLIC:
        return given
    from csv import DictReader, Error
    from io import StringIO
    from pathlib import Path

    from evenrank.files import read_utf8

    if not Path(given).exists():
        raise ParameterError(f"--mapping is cyclic or a CSV file; there is no file {given}")
    rows = DictReader(StringIO(read_utf8(given), newline=""))
    try:
        if rows.fieldnames is None or not {"word", "becomes"} <= set(rows.fieldnames):
            raise DataError(f"{given}: must have the columns word and becomes")
        return dict(_mapped(rows, given))
    except Error as error:
        raise DataError(f"{given}:{rows.line_num}: is not CSV: {error}") from error


def _mapped(rows: csv.DictReader[str], name: str) -> Iterator[tuple[str, str]]:
    known: dict[str, str] = {}
    for row in rows:
        old, new = ((row[column] or "").strip() for column in ("word", "becomes"))
        if not old or not new:
            raise DataError(f"{name}:{rows.line_num}: needs a word and what it becomes, two cells")
        if known.setdefault(old, new) != new:
            raise DataError(f"{name}:{rows.line_num}: {old!r} becomes {new!r} here and {known[old]!r} above")
        yield old, new


def _write(summary: SwapSummary, path: str) -> None:
    import json

    from evenrank.io.atomic import atomic_write

    with atomic_write(path) as file:
        file.write((json.dumps(summary.to_dict(), indent=1, ensure_ascii=False) + "\n").encode())


def describe_swap(summary: SwapSummary, output: str) -> str:
    """What was swapped, in a few lines."""
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in summary.kinds.items())
    pairs = ", ".join(f"{old} -> {new} {count:,}" for (old, new, _), count in summary.most_often()[:SHOWN])
    lines = [
        f"wrote {output}: {summary.changed:,} of {summary.documents:,} documents changed, "
        f"{summary.words:,} words swapped: {kinds}",
    ]
    if pairs:
        lines.append(f"most often: {pairs}")
    lines.append(
        f"her and his by {summary.tagger}; read {summary.bytes_read:,} bytes in {summary.seconds:.1f} s"
    )
    if summary.one_way:
        shown = ", ".join(f"{old} -> {new} {count:,}" for (old, new), count in summary.one_way.items())
        lines.append(f"a second swap would not restore: {shown}")
    if summary.found:
        lines.append(f"resumed: {summary.found:,} of {summary.pieces:,} pieces were finished before")
    return "\n".join(lines)
