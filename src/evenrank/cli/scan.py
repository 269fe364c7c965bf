"""``evenrank scan``: a collection and a lexicon in, a file of word counts out."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from evenrank.cli.inputs import DOCUMENT_ROLES, check_output, columns_of
from evenrank.cli.parser import add_command
from evenrank.cli.progress import Bar
from evenrank.cli.streams import say
from evenrank.cli.values import positive

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.evidence.scan import ScanSummary


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "scan",
        "count the words of a lexicon in a collection",
        """Count, in every document, its tokens and the words of each group of a lexicon, and write them to
        a Parquet file that measures of content read. Memory stays the same whatever the size. A scan that
        was interrupted or killed goes on where it stopped when the same command is given again.""",
        """
        evenrank scan collection.tsv --lexicon gender-en -o counts.parquet
        evenrank scan corpus.jsonl --lexicon my-words.csv --terms -o counts.parquet
        evenrank scan table.parquet --columns id=docno,text=body --lexicon gender-en -o counts.parquet
        zcat collection.tsv.gz | evenrank scan - --format tsv --lexicon gender-en -o counts.parquet
        """,
    )
    parser.add_argument(
        "collection", metavar="COLLECTION",
        help="documents: TSV (id, tab, text; no header line), JSONL, CSV, Parquet, also .gz and .zst; "
        "ir_datasets:NAME; - reads stdin",
    )  # fmt: skip
    parser.add_argument(
        "--lexicon", required=True, metavar="L", help="name of a shipped lexicon, or a CSV or JSON file"
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the Parquet file to write")
    parser.add_argument(
        "--tokenizer", choices=("word", "whitespace"), default="word",
        help="word: runs of letters, digits and underscores (default); whitespace: split on the "
        "blank (U+0020) alone, as the published code does",
    )  # fmt: skip
    parser.add_argument("--terms", action="store_true", help="keep the count of every term too")
    parser.add_argument("--threads", type=positive, metavar="N", help="default: one for each core")
    parser.add_argument(
        "--no-resume", action="store_true", help="begin anew, whatever is there of an earlier scan"
    )
    parser.add_argument(
        "--format", choices=("tsv", "csv", "jsonl", "parquet"),
        help="format of the collection, where its name does not tell",
    )  # fmt: skip
    parser.add_argument(
        "--columns", type=partial(columns_of, roles=DOCUMENT_ROLES), metavar="ROLE=NAME,...",
        help="what the collection calls its columns or fields: id=docno,text=body,title=headline; "
        "a TSV file then begins with a header line",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from evenrank.evidence.scan import scan_file
    from evenrank.io.lexicons import read_lexicon

    check_output(arguments.output, [arguments.collection, arguments.lexicon])
    lexicon = read_lexicon(arguments.lexicon)
    bar = Bar("scanning")
    try:
        summary = scan_file(
            arguments.collection,
            lexicon,
            arguments.output,
            tokenizer=arguments.tokenizer,
            terms=arguments.terms,
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
    say(_told(summary, arguments.output))
    return 0


def _told(summary: ScanSummary, output: str) -> str:
    groups = ", ".join(f"{name} {count:,}" for name, count in summary.groups.items())
    lines = [
        f"wrote {output}: {summary.documents:,} documents, {summary.tokens:,} tokens; {groups}",
        f"read {summary.bytes_read:,} bytes in {summary.seconds:.1f} s",
    ]
    if summary.found:
        lines.append(f"resumed: {summary.found:,} of {summary.pieces:,} pieces were finished before")
    return "\n".join(lines)
