"""``evenrank retrieve``: documents and queries in, the run of a system out."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from evenrank.cli.collection import (
    Documents,
    On,
    QueryFile,
    SearchColumns,
    declared_system,
    opened_cluster,
    searched_columns,
    searched_queries,
)
from evenrank.cli.everywhere import Everywhere
from evenrank.cli.parser import WIDTH
from evenrank.cli.progress import work_bar
from evenrank.cli.streams import put, say
from evenrank.cli.typed import Arg, command
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.inputs.project import Project

CACHE = "retrieve-cache"


@command(
    "evenrank retrieve BM25 --documents docs.tsv --queries queries.tsv -o runs/bm25.trec",
    "evenrank retrieve 'Dense(model=minilm)@100' --documents docs.tsv --queries queries.tsv -o minilm.trec",
    "evenrank retrieve 'RRF(BM25,Dense(model=minilm))' --documents docs.tsv --queries q.tsv -o rrf.trec",
    "evenrank retrieve \"BM25>>CrossEncoder(model='models/cross',depth=100)\" --documents docs.tsv --queries "
    "queries.tsv -o cross.trec",
    "evenrank retrieve",
    reads_project=True,
    makes_folder=True,
)
def retrieve(
    system: Annotated[
        str | None,
        Arg(
            "a system, such as BM25, 'Dense(model=minilm)@100' (100 documents for a query; default: 1000), a "
            "name of [systems] in the project file, or A>>B: B re-ranks what A finds"
        ),
    ] = None,
    *,
    everywhere: Everywhere,
    documents: Documents = None,
    queries: QueryFile = None,
    columns: SearchColumns = None,
    output: Annotated[
        str | None, Arg("the run to write: TREC, .csv, .tsv, .jsonl or .parquet", "FILE", "-o")
    ] = None,
    cache: Annotated[
        str | None, Arg(f"keep here what the system computes (default: {CACHE} beside the run)", "FOLDER")
    ] = None,
    on: On = None,
) -> int:
    """Let a system search documents for queries, and write its run. Systems are lexical, learned sparse,
    dense, late interaction, re-rankers, language models and search engines; without an argument they are
    listed. Indexes, vectors and answers are kept by the hash of what they were made from, so that the same
    command continues after an interruption. A small file beside the run, FILE.system.json, records the
    system, its class and its depth."""
    from evenrank.io import write_run
    from evenrank.io.documents import DocumentsFile
    from evenrank.io.written import RUN_WRITTEN, checked_format
    from evenrank.systems import parse_system
    from evenrank.systems.collection_checks import read_collection
    from evenrank.systems.declared import SystemSettings
    from evenrank.systems.run_records import record_of

    if system is None:
        put(_list_systems(everywhere.project))
        return 0
    given, folder = declared_system(system, everywhere.project)
    term = parse_system(given, folder=folder)
    term.check(SystemSettings(folder=folder))
    searched = any(part.needs_documents for part in term.walk())
    if on is not None and all(part.name != "Dense" for part in term.walk()):
        raise ParameterError(
            "--on lets a cluster encode documents, which only a dense system does: Dense(model='minilm')"
        )
    if queries is None:
        raise ParameterError("name the queries: --queries FILE, with an id and a text for each")
    if documents is None and searched:
        raise ParameterError("name the documents: --documents FILE, with an id and a text for each")
    if output is None:
        raise ParameterError("name the run to write: -o FILE, such as -o runs/bm25.trec")
    checked_format(output, None, RUN_WRITTEN)
    Path(output).parent.mkdir(parents=True, exist_ok=True)  # now, and not when the work is done
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    read = searched_queries(queries, columns)
    asked = {query: read.texts[query] for query in read.distinct}
    texts, notes = None, list[str]()
    if documents is not None:
        file = DocumentsFile(documents.path, documents.get("format"), searched_columns(columns, documents))
        texts, notes = read_collection(file, searched=searched)
    kept = Path(output).parent / CACHE if cache is None else Path(cache)
    with work_bar() as bar, opened_cluster(on) as cluster:
        made = term.make(SystemSettings(kept, 32, bar, folder, cluster))
        if texts is not None:
            made.index(texts)
        done = made.retrieve(asked, term.depth_of_lists)
        record = record_of(term, made, texts, asked, term.depth_of_lists, notes)
    write_run(done, output)
    record.write(output)
    lists = "list" if len(done) == 1 else "lists"
    kind = record.system_class or "class unknown"
    say(f"{record.system} ({kind}): {len(done):,} {lists} of up to {record.depth:,} documents")
    if record.queries > len(done):
        say(f"{record.queries - len(done):,} of {record.queries:,} queries found nothing and have no list")
    for note in record.notes:
        say(note)
    say(f"wrote {output}")
    return 0


def _list_systems(project: Project | None) -> str:
    """The systems by class: settings with their defaults, the extra that is needed, and what it is."""
    from evenrank.systems.registry import describe_systems

    lines: list[str] = []
    heading = ""
    for about in describe_systems():
        if about["class"] != heading:
            heading = about["class"]
            lines += ["", f"{heading}:"] if lines else [f"{heading}:"]
        settings = ", ".join(f"{name}={facts['default']}" for name, facts in about["parameters"].items())
        extra = f"   needs the extra {about['extra']}" if about["extra"] else ""
        for text, before in ((f"{about['name']}({settings}){extra}", "  "), (about["summary"], "    ")):
            after = "      " if before == "  " else before
            lines.append(textwrap.fill(text, WIDTH, initial_indent=before, subsequent_indent=after))
    known = {} if project is None else project.systems()
    if known:
        lines += ["", "of the project file:", *(f"  {name} = {given}" for name, given in known.items())]
    return "\n".join(lines) + "\n"
