"""``evenrank scan``: a collection and a lexicon in, word counts, groups or a field of an index out."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from evenrank.cli.collection import Collection, Columns, WorkOptions, opened_cluster
from evenrank.cli.everywhere import Everywhere
from evenrank.cli.progress import ResumableBar
from evenrank.cli.streams import put, say
from evenrank.cli.typed import Arg, command
from evenrank.cli.values import not_negative, positive_number
from evenrank.errors import ParameterError, counted


@dataclass(frozen=True)
class FieldOptions:
    """What --field writes."""

    field: Annotated[
        str | None,
        Arg(
            "write something for each document instead: groups, which groups it belongs to by its words, for "
            "--groups NAME=FILE; or its neutrality as a field of a search index, for opensearch, "
            "elasticsearch, rank_feature (a type of field of both), solr, vespa or postgresql, from a file "
            "of counts, and print the query that uses it",
            "WHAT",
        ),
    ] = None
    minimum: Annotated[int, Arg("of groups: a document belongs to one with so many of its words", "N")] = 1
    tau: Annotated[int, Arg("of neutrality: fewer words of groups are none", "N", read=not_negative)] = 1
    field_name: Annotated[str, Arg("what the field is called", "NAME")] = "neutrality"
    engine_run: Annotated[
        str | None, Arg("a run with the engine's scores, for the weight of the field in the query", "RUN")
    ] = None
    lam: Annotated[
        float, Arg("the weight is so many standard deviations of these scores", "X", read=positive_number)
    ] = 1.0
    vespa_type: Annotated[str | None, Arg("the type of Vespa's documents", "NAME")] = None
    vespa_namespace: Annotated[str | None, Arg("their namespace (default: the type)", "NAME")] = None


@command(
    "evenrank scan collection.tsv --lexicon gender-en -o counts.parquet",
    "evenrank scan corpus.jsonl --lexicon my-words.csv --terms -o counts.parquet",
    "evenrank scan table.parquet --columns id=docno,text=body --lexicon gender-en -o counts.parquet",
    "evenrank scan 'shards/*.jsonl.gz' --lexicon gender-en -o counts/",
    "evenrank scan s3://bucket/crawl/ --lexicon gender-en -o counts/",
    "evenrank scan counts.parquet --field opensearch --engine-run bm25.trec --lam 0.5 -o field.jsonl",
    "evenrank scan 'shards/*.jsonl.gz' --lexicon gender-en -o counts/ --on dask://10.0.0.1:8786",
    "evenrank scan counts/ --field groups --minimum 2 -o gender/ --on spark",
    "zcat collection.tsv.gz | evenrank scan -:format=tsv --lexicon gender-en -o counts.parquet",
    reads_project=True,
)
def scan(
    documents: Collection = None,
    *,
    everywhere: Everywhere,
    lexicon: Annotated[
        str | None, Arg("name of a shipped lexicon (gender-en), or a CSV or JSON file", "NAME")
    ] = None,
    output: Annotated[
        str | None,
        Arg(
            "the Parquet file to write, or a folder of them (counts/); or the file of the field", "FILE", "-o"
        ),
    ] = None,
    tokenizer: Annotated[
        Literal["word", "whitespace"],
        Arg(
            "word is runs of letters, digits and underscores, whitespace splits on the blank (U+0020) alone, "
            "as the published code does"
        ),
    ] = "word",
    terms: Annotated[bool, Arg("also keep the count of every term")] = False,
    columns: Columns = None,
    field: FieldOptions,
    work: WorkOptions,
) -> int:
    """Count, in every document, its tokens and the words of each group of a lexicon, and write them to a
    Parquet file that measures of content read. Memory stays the same whatever the size. A scan that was
    interrupted or killed goes on where it stopped when the same command is given again."""
    from evenrank.evidence.scan import derive_groups, scan_file
    from evenrank.io.counts import is_counts
    from evenrank.io.lexicons import read_lexicon
    from evenrank.io.source import format_of_suffix

    path, name = ("" if documents is None else documents.path), field.field
    if (
        name is None
        and (path.endswith((".parquet", ".pq")) or Path(path or "-").is_dir())
        and is_counts(path)
    ):
        raise ParameterError(
            f"{path}: holds word counts already: name the documents to count, or give the counts to "
            "evaluate as --words, or write a field of them (--field)"
        )
    if output is None and name is None and everywhere.project is not None:
        output = everywhere.project.description().words
    if documents is None or output is None or (lexicon is None and name is None):
        raise ParameterError(
            "scan needs documents, a lexicon and a file to write: scan FILE --lexicon gender-en -o "
            "counts.parquet (with --field a file of counts will do, without a lexicon)"
        )
    if name is None and field != FieldOptions():
        raise ParameterError("--minimum, --tau and the like say what --field writes: add --field WHAT")
    if terms and name is not None:
        raise ParameterError("--terms keeps counts, and --field writes none: leave one of them out")
    if name not in (None, "groups"):
        return _write_field(path, lexicon, output, field)
    if format_of_suffix(Path(output).suffix.lower()) not in (None, "parquet"):
        right = Path(output).with_suffix(".parquet").name
        raise ParameterError(f"{output}: is written as Parquet: call it {right}")
    with opened_cluster(work.on, work.threads) as cluster, ResumableBar("scanning") as bar, _messages(bar):
        how: dict[str, Any] = {
            "tokenizer": tokenizer, "threads": work.threads, "resume": not work.no_resume, "progress": bar,
            "format": documents.get("format"), "columns": columns or documents.get("columns"), "on": cluster,
        }  # fmt: skip
        if name == "groups":
            found = derive_groups(path, output, lexicon, minimum=field.minimum, **how)
            few = "no group words" if field.minimum == 1 else f"fewer than {field.minimum} group words"
            say(
                f"wrote {output}: the groups of {found.listed:,} of {found.documents:,} documents; the "
                f"others have {few} and are not listed. Read it with --groups NAME={output}"
            )
            return 0
        summary = scan_file(path, read_lexicon(lexicon or ""), output, terms=terms, **how)
    groups = ", ".join(f"{group} {count:,}" for group, count in summary.groups.items())
    say(f"wrote {output}: {summary.documents:,} documents, {summary.tokens:,} tokens; {groups}")
    say(f"read {summary.bytes_read:,} bytes in {summary.seconds:.1f} s")
    if summary.found:
        say(f"resumed: {summary.found:,} of {summary.pieces:,} pieces were finished before")
    return 0


@contextmanager
def _messages(bar: ResumableBar) -> Iterator[None]:
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


def _write_field(counts: str, lexicon: str | None, output: str, given: FieldOptions) -> int:
    """Write neutrality as a field of a search index, and print the query that uses it."""
    from evenrank.io.counts import is_counts, stored_counts
    from evenrank.io.lexicons import read_lexicon
    from evenrank.rerankers.index_field import IndexField, query_of, write_field

    field = IndexField(
        given.field or "", given.field_name, given.tau, given.vespa_type, given.vespa_namespace
    )
    if not is_counts(counts):
        raise ParameterError(
            f"{counts}: a field is made of counts: evenrank scan {counts} --lexicon gender-en -o "
            "counts.parquet, then name counts.parquet"
        )
    if lexicon is not None:  # that of counts is theirs
        stored_counts(counts).check(read_lexicon(lexicon), None, None)
    weight = 1.0 if given.engine_run is None else _weight(given.engine_run, given.lam)
    written = write_field(counts, output, field)
    say(f"wrote {output}: neutrality of {written:,} documents, as {field.name} for {field.form}")
    if given.engine_run is None:
        say("the query adds 1 times the field: --engine-run RUN --lam 0.5 weighs it in the engine's scores")
    put(query_of(field, weight) + "\n")
    return 0


def _weight(path: str, lam: float) -> float:
    from evenrank.io import read_run
    from evenrank.rerankers.index_field import weight_of
    from evenrank.rerankers.penalty import DEPTH

    run = read_run(path)
    found = weight_of(run, lam)
    left_out = f"; {counted(found.flat, 'query', 'queries')} with equal scores left out" if found.flat else ""
    if found.ranked:
        left_out += (
            f"; {counted(found.ranked, 'query', 'queries')} with ranks in place of scores left out: the "
            "engine's own run has the scores"
        )
    say(
        f"lam {lam:g} is {found.weight:.6g} in the scores of {run.name!r}, of which the median standard "
        f"deviation of the first {DEPTH} scores of {counted(found.queries, 'query', 'queries')} is "
        f"{found.deviation:.6g}{left_out}"
    )
    return found.weight
