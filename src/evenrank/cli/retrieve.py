"""``evenrank retrieve``: documents and queries in, the run of a system out."""

from __future__ import annotations

import argparse
import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.cli import shared
from evenrank.cli.cluster import add_cluster, opened_cluster
from evenrank.cli.outputs import check_output
from evenrank.cli.parser import WIDTH, add_command
from evenrank.cli.progress import WorkBar
from evenrank.cli.streams import put, say
from evenrank.errors import ParameterError
from evenrank.inputs.file_options import FileForm

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.inputs.project import Project
    from evenrank.systems import SystemTerm

CACHE = "retrieve-cache"
OUTPUT = FileForm("a run to write", keys=("cache",))


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "retrieve",
        """Let a system search documents for queries, and write its run. Systems are lexical, learned sparse,
        dense, late interaction, re-rankers, language models and search engines; without an argument they are
        listed. Indexes, vectors and answers are kept by the hash of what they were made from, so that the
        same command continues after an interruption. A small file beside the run, FILE.system.json, records
        the system, its class and its depth.""",
        """
        evenrank retrieve BM25 --documents docs.tsv --queries queries.tsv -o runs/bm25.trec
        evenrank retrieve 'Dense(model=minilm)@100' --documents docs.tsv --queries queries.tsv -o minilm.trec
        evenrank retrieve 'RRF(BM25,Dense(model=minilm))' --documents docs.tsv --queries q.tsv -o rrf.trec
        evenrank retrieve "BM25>>CrossEncoder(model='models/cross',depth=100)" --documents docs.tsv \
--queries queries.tsv -o cross.trec
        evenrank retrieve
        """,
    )
    parser.add_argument(
        "system", nargs="?", metavar="SYSTEM",
        help="a system, such as BM25, 'Dense(model=minilm)@100' (100 documents for a query; default: 1000), "
        "a name of [systems] in the project file, or A>>B: B re-ranks what A finds",
    )  # fmt: skip
    shared.add_inputs(parser, only=("documents", "queries"))
    shared.add_output(
        parser,
        "the run to write: TREC, .csv, .tsv, .jsonl or .parquet. What the system computes is kept in the "
        f"folder {CACHE} beside it, or in FOLDER with FILE:cache=FOLDER",
    )
    add_cluster(parser)
    parser.set_defaults(run=run, reads_project=True, runs=None)


def run(arguments: argparse.Namespace) -> int:
    if arguments.system is None:
        put(_list_systems(arguments))
        return 0
    term, folder = _term(arguments)
    output = _check_asked(arguments, term)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    with WorkBar() as bar:
        done, record = _retrieve(arguments, term, output.get("cache"), output.path, folder, bar)
    from evenrank.io import write_run

    write_run(done, output.path)
    record.write(output.path)
    lists = "list" if len(done) == 1 else "lists"
    kind = record.system_class or "class unknown"
    say(f"{record.system} ({kind}): {len(done):,} {lists} of up to {record.depth:,} documents")
    if record.queries > len(done):
        say(f"{record.queries - len(done):,} of {record.queries:,} queries found nothing and have no list")
    for note in record.notes:
        say(note)
    say(f"wrote {output.path}")
    return 0


def _term(arguments: argparse.Namespace) -> tuple[SystemTerm, Path]:
    """The system, and the folder that its models are seen from."""
    from evenrank.systems import parse_system
    from evenrank.systems.declared import SystemSettings

    given, folder = declared_system(arguments.system, arguments.project)
    term = parse_system(given, folder=folder)
    term.check(SystemSettings(folder=folder))
    if arguments.on is not None and all(part.name != "Dense" for part in term.walk()):
        raise ParameterError(
            "--on lets a cluster encode documents, which only a dense system does: Dense(model='minilm')"
        )
    return term, folder


def declared_system(given: str, project: Project | None) -> tuple[str, Path]:
    """A system, where its name may be one of ``[systems]`` in the project file, and the same of it."""
    known = {} if project is None else project.systems()
    if project is None or given not in known:
        return given, Path()
    return known[given], project.folder


def _check_asked(arguments: argparse.Namespace, term: SystemTerm) -> Any:
    """What is wrong with the command line is said before anything is read."""
    from evenrank.io.written import RUN_WRITTEN, checked_format

    if arguments.queries is None:
        raise ParameterError("name the queries: --queries FILE, with an id and a text for each")
    if arguments.documents is None and _needs_documents(term):
        raise ParameterError("name the documents: --documents FILE, with an id and a text for each")
    if arguments.output is None:
        raise ParameterError("name the run to write: -o FILE, such as -o runs/bm25.trec")
    output = OUTPUT.parse(arguments.output)
    inputs = [arguments.documents.path if arguments.documents else None, arguments.queries]
    shared.check_stdin(inputs)
    check_output(output.path, makes_folder=True)
    checked_format(output.path, None, RUN_WRITTEN)
    Path(output.path).parent.mkdir(parents=True, exist_ok=True)  # now, and not when the work is done
    return output


def _retrieve(
    arguments: argparse.Namespace,
    term: SystemTerm,
    cache: str | None,
    output: str,
    folder: Path,
    bar: WorkBar,
) -> tuple[Any, Any]:
    from evenrank.io.queries import query_columns, read_queries
    from evenrank.systems.declared import SystemSettings
    from evenrank.systems.run_records import record_of

    named = arguments.columns or {}
    queries = read_queries(arguments.queries, columns=query_columns(named))
    if not queries.texts.keys() >= set(queries.distinct):
        raise queries.without_text(", which a search needs")
    if queries.weight_column is not None:
        shared.say_unused_weights(arguments.queries)
    asked = {query: queries.texts[query] for query in queries.distinct}
    documents, notes = _read_documents(arguments, term)
    kept = Path(cache) if cache is not None else Path(output).parent / CACHE
    with opened_cluster(arguments) as cluster:
        system = term.make(SystemSettings(kept, 32, bar, folder, cluster))
        if documents is not None:
            system.index(documents)
    depth = term.depth_of_lists
    done = system.retrieve(asked, depth)
    return done, record_of(term, system, documents, asked, depth, notes)


def _read_documents(
    arguments: argparse.Namespace, term: SystemTerm
) -> tuple[dict[str, str] | None, list[str]]:
    """The documents, if there are any, and what a reader of the run should know about them."""
    from evenrank.io.column_names import document_columns
    from evenrank.io.documents import DocumentsFile
    from evenrank.systems.collection_checks import read_collection

    if arguments.documents is None:
        return None, []
    path, form = arguments.documents.path, arguments.documents.get("format")
    columns = document_columns(arguments.columns, path, shared.DOCUMENT_ROLES)
    return read_collection(DocumentsFile(path, form, columns), searched=_needs_documents(term))


def _needs_documents(term: SystemTerm) -> bool:
    return any(part.needs_documents for part in term.walk())


def _list_systems(arguments: argparse.Namespace) -> str:
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
        lines += [
            textwrap.fill(
                f"{about['name']}({settings}){extra}", WIDTH, initial_indent="  ", subsequent_indent="      "
            ),
            textwrap.fill(about["summary"], WIDTH, initial_indent="    ", subsequent_indent="    "),
        ]
    known = {} if arguments.project is None else arguments.project.systems()
    if known:
        lines += ["", "of the project file:", *(f"  {name} = {given}" for name, given in known.items())]
    return "\n".join(lines) + "\n"
