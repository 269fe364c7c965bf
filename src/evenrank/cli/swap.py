"""``evenrank counterfactual swap``: a collection in, the same with every group word swapped out."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from evenrank.cli.inputs import DOCUMENT_ROLES, check_output, columns_of
from evenrank.cli.parser import add_command
from evenrank.cli.progress import Bar
from evenrank.cli.streams import say
from evenrank.cli.values import positive
from evenrank.errors import DataError, ParameterError

if TYPE_CHECKING:
    import csv
    from collections.abc import Iterator

    from evenrank.cli.parser import Commands
    from evenrank.counterfactuals.swap.summary import SwapSummary

SHOWN = 8  # pairs
CYCLIC = "cyclic"


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "swap",
        "write a collection with every group word swapped for its counterpart",
        """Swap every group word for its counterpart and leave everything else as it is, byte for byte: case,
        punctuation, spacing. her becomes him or his, and his her or hers, by part of speech; names become
        about equally frequent ones. A swap that was interrupted or killed goes on where it stopped when the
        same command is given again.""",
        """
        evenrank counterfactual swap collection.tsv -o swapped.tsv
        evenrank counterfactual swap corpus.jsonl --kinds pronouns --tagger rules -o swapped.jsonl
        evenrank counterfactual swap table.parquet --columns id=docno,text=body -o swapped.parquet
        evenrank counterfactual swap collection.tsv --lexicon ages.csv --mapping cyclic -o swapped.tsv
        zcat collection.tsv.gz | evenrank counterfactual swap - --format tsv -o swapped.tsv
        """,
    )
    parser.add_argument(
        "collection", metavar="COLLECTION",
        help="documents: TSV (id, tab, text; no header line), JSONL, CSV, Parquet, also .gz and .zst; "
        "ir_datasets:NAME; - reads stdin",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="what to write: .tsv, .jsonl or .parquet"
    )
    parser.add_argument(
        "--lexicon", metavar="L", help="a lexicon with partners (default: gender-en, with first names)"
    )
    parser.add_argument(
        "--kinds", type=words_of, metavar="KIND,...", help="swap these alone: pronouns, nouns, titles, names"
    )
    parser.add_argument(
        "--mapping", metavar="M",
        help="what each word becomes: a CSV file with the columns word and becomes; or cyclic: word i of "
        "a group becomes word i of the next",
    )  # fmt: skip
    parser.add_argument(
        "--one-way", action="store_true",
        help="swap words too whose counterpart does not lead back: actress, mum, guy, ...",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="which names are paired (default: 0)"
    )
    parser.add_argument(
        "--tagger", choices=("auto", "spacy", "rules"), default="auto",
        help="what decides on her and his (default: spacy where it is installed)",
    )  # fmt: skip
    parser.add_argument("--report", metavar="FILE", help="write what was swapped, every pair, as JSON")
    parser.add_argument("--threads", type=positive, metavar="N", help="default: one for each core")
    parser.add_argument(
        "--no-resume", action="store_true", help="begin anew, whatever is there of an earlier swap"
    )
    parser.add_argument(
        "--format", choices=("tsv", "csv", "jsonl", "parquet"),
        help="format of the collection, where its name does not tell",
    )  # fmt: skip
    parser.add_argument(
        "--columns", type=partial(columns_of, roles=DOCUMENT_ROLES), metavar="ROLE=NAME,...",
        help="what the collection calls its columns or fields: id=docno,text=body,title=headline",
    )  # fmt: skip
    parser.set_defaults(run=run)


def words_of(text: str) -> tuple[str, ...]:
    words = tuple(part.strip() for part in text.split(",") if part.strip())
    if not words:
        raise argparse.ArgumentTypeError(f"names no kind: {text!r}")
    return words


def run(arguments: argparse.Namespace) -> int:
    from evenrank.counterfactuals.swap import KINDS
    from evenrank.counterfactuals.swap.files import swap_file

    inputs = [arguments.collection, arguments.lexicon, arguments.mapping]
    check_output(arguments.output, inputs)
    check_output(arguments.report, [*inputs, arguments.output])
    bar = Bar("swapping")
    try:
        summary = swap_file(
            arguments.collection,
            arguments.output,
            arguments.lexicon,
            kinds=arguments.kinds or KINDS,
            seed=arguments.seed,
            tagger=arguments.tagger,
            mapping=mapping_of(arguments.mapping),
            one_way=arguments.one_way,
            threads=arguments.threads,
            resume=not arguments.no_resume,
            progress=bar,
            format=arguments.format,
            columns=arguments.columns,
        )
    except KeyboardInterrupt:
        bar.close()
        say("what is finished was kept: the same command goes on from there")
        raise
    finally:
        bar.close()
    if arguments.report is not None:
        _write(summary, arguments.report)
    say(told(summary, arguments.output))
    return 0


def mapping_of(given: str | None) -> dict[str, str] | str | None:
    """A mapping as the name of a rule, or read from a file."""
    if given is None or given == CYCLIC:
        return given
    from csv import DictReader
    from pathlib import Path

    try:
        with Path(given).open(encoding="utf-8-sig", newline="") as file:
            rows = DictReader(file)
            if rows.fieldnames is None or not {"word", "becomes"} <= set(rows.fieldnames):
                raise DataError(f"{given}: must have the columns word and becomes")
            return dict(_mapped(rows, given))
    except FileNotFoundError as error:
        raise ParameterError(f"--mapping is cyclic or a CSV file; there is no file {given}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{given}: is not UTF-8") from error


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


def told(summary: SwapSummary, output: str) -> str:
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
        lines.append(f"a second swap does not bring back: {shown}")
    if summary.found:
        lines.append(f"resumed: {summary.found:,} of {summary.pieces:,} pieces were finished before")
    return "\n".join(lines)
