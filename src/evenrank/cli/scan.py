"""``evenrank scan``: a collection and a lexicon in, a file of word counts out."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evenrank.cli import shared
from evenrank.cli.cluster import add_cluster, opened_cluster
from evenrank.cli.groups_field import is_of_groups, write_groups
from evenrank.cli.index_field import FIELD, write_index_field
from evenrank.cli.parquet_output import check_parquet
from evenrank.cli.parser import add_command
from evenrank.cli.progress import ResumableBar
from evenrank.cli.streams import say
from evenrank.errors import ParameterError
from evenrank.inputs.file_options import DOCUMENTS

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.evidence.scan import ScanSummary


COLLECTION_HELP = (
    "documents: TSV (id, tab, text; no header line unless --columns is given), JSONL, CSV, Parquet, WARC "
    "and WET, TREC documents, also .gz and .zst; a folder or a quoted pattern of such files; s3://, gs:// "
    "and hdfs:// addresses; ir_datasets:NAME; - reads stdin; :format=tsv behind the name says what the "
    "suffix does not"
)


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "scan",
        """Count, in every document, its tokens and the words of each group of a lexicon, and write them to
        a Parquet file that measures of content read. Memory stays the same whatever the size. A scan that
        was interrupted or killed goes on where it stopped when the same command is given again.""",
        """
        evenrank scan collection.tsv --lexicon gender-en -o counts.parquet
        evenrank scan corpus.jsonl --lexicon my-words.csv --terms -o counts.parquet
        evenrank scan table.parquet --columns id=docno,text=body --lexicon gender-en -o counts.parquet
        evenrank scan 'shards/*.jsonl.gz' --lexicon gender-en -o counts/
        evenrank scan s3://bucket/crawl/ --lexicon gender-en -o counts/
        evenrank scan counts.parquet --field opensearch:run=bm25.trec:lam=0.5 -o field.jsonl
        evenrank scan 'shards/*.jsonl.gz' --lexicon gender-en -o counts/ --on dask://10.0.0.1:8786
        evenrank scan counts/ --field groups:minimum=2 -o gender/ --on spark
        zcat collection.tsv.gz | evenrank scan -:format=tsv --lexicon gender-en -o counts.parquet
        """,
    )
    parser.add_argument(
        "documents",
        nargs="?",
        type=shared.option(DOCUMENTS.parse),
        metavar="COLLECTION",
        help=COLLECTION_HELP,
    )
    shared.add_lexicon(parser, "name of a shipped lexicon (gender-en), or a CSV or JSON file")
    shared.add_output(
        parser, "the Parquet file to write, or a folder of them (counts/); with --field the file of the field"
    )
    parser.add_argument(
        "--field", type=shared.option(FIELD.parse), metavar="ENGINE[:KEY=..]",
        help="write the neutrality of each document as a field of a search index instead, for opensearch, "
        "elasticsearch, rank_feature (a type of field of both), solr, vespa or postgresql, and print the "
        "query that uses it; the collection may also be a file of counts. Keys: name= (default: "
        "neutrality), tau= (default: 1); lam= (default: 1) times the deviation of the scores of run=FILE is "
        "the weight; of vespa type= and namespace=. groups[:minimum=2] writes which groups each document "
        "belongs to by its words instead, for --groups NAME=FILE; -o may then be a folder (groups/)",
    )  # fmt: skip
    parser.add_argument(
        "--tokenizer", choices=("word", "whitespace"), default="word",
        help="word: runs of letters, digits and underscores (default); whitespace: split on the "
        "blank (U+0020) alone, as the published code does",
    )  # fmt: skip
    parser.add_argument("--terms", action="store_true", help="also keep the count of every term")
    shared.add_resuming(parser)
    shared.add_columns(parser, shared.DOCUMENT_ROLES)
    add_cluster(parser)
    parser.set_defaults(run=run, reads_project=True)


def run(arguments: argparse.Namespace) -> int:
    if arguments.field is not None and is_of_groups(arguments.field):
        return write_groups(arguments, _columns(arguments))
    if arguments.field is not None:
        return write_index_field(arguments, _count)
    collection = arguments.documents
    if collection is not None and _holds_counts(collection.path):
        raise ParameterError(
            f"{collection.path}: holds word counts already: name the documents to count, or give the counts "
            "to evaluate as --words, or write a field of them (--field)"
        )
    output = arguments.output or (
        None if arguments.project is None else arguments.project.description().words
    )
    if collection is None or arguments.lexicon is None or output is None:
        raise ParameterError(
            "scan needs documents, a lexicon and a file to write: scan FILE --lexicon gender-en -o "
            "counts.parquet"
        )
    check_parquet(output)
    _count(arguments, output, f"wrote {output}")
    return 0


def _holds_counts(path: str) -> bool:
    """Whether the collection is counts already."""
    from evenrank.io.counts import is_counts

    return (path.endswith((".parquet", ".pq")) or Path(path).is_dir()) and is_counts(path)


def _count(arguments: argparse.Namespace, output: str, done: str) -> None:
    from evenrank.evidence.scan import scan_file
    from evenrank.io.lexicons import read_lexicon

    collection = arguments.documents
    lexicon = read_lexicon(arguments.lexicon)
    with opened_cluster(arguments) as cluster, ResumableBar("scanning") as bar, _messages_of_work(bar):
        summary = scan_file(
            collection.path,
            lexicon,
            output,
            tokenizer=arguments.tokenizer,
            terms=arguments.terms,
            threads=arguments.threads,
            resume=not arguments.no_resume,
            progress=bar,
            format=collection.get("format"),
            columns=_columns(arguments),
            on=cluster,
        )
    say(_describe(summary, done))


@contextmanager
def _messages_of_work(bar: ResumableBar) -> Iterator[None]:
    """Say what the work itself says of what takes long, as that something is compiled."""
    from evenrank.evidence.scan.counter import LOGGER

    class Said(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            bar.close()
            say(record.getMessage())

    handler, level = Said(), LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)


def _describe(summary: ScanSummary, done: str) -> str:
    groups = ", ".join(f"{name} {count:,}" for name, count in summary.groups.items())
    lines = [
        f"{done}: {summary.documents:,} documents, {summary.tokens:,} tokens; {groups}",
        f"read {summary.bytes_read:,} bytes in {summary.seconds:.1f} s",
    ]
    if summary.found:
        lines.append(f"resumed: {summary.found:,} of {summary.pieces:,} pieces were finished before")
    return "\n".join(lines)


def _columns(arguments: argparse.Namespace) -> dict[str, str] | None:
    """The columns of the command line as they are; of those of a project file what a collection has."""
    if "columns" not in arguments.filled:
        return arguments.columns  # type: ignore[no-any-return]
    from evenrank.io.column_names import document_columns

    return document_columns(arguments.columns, arguments.documents.path, shared.DOCUMENT_ROLES)
