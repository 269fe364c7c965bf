"""The options of commands that work on a collection of documents, and the cluster that may do the work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from evenrank.cli.streams import say
from evenrank.cli.typed import Arg
from evenrank.cli.values import columns_of
from evenrank.inputs.file_options import DOCUMENTS, QUERIES, SCANNED, FileOption

if TYPE_CHECKING:
    from evenrank.inputs.project import Project
    from evenrank.io.executor import Executor
    from evenrank.io.queries import Queries

ROLES = ("id", "text", "title")

Collection = Annotated[
    FileOption | None,
    Arg(
        "documents: TSV (id, tab, text; no header line unless --columns is given), JSONL, CSV, Parquet, WARC "
        "and WET, TREC documents, also .gz and .zst; a folder or a quoted pattern of such files; s3://, "
        "gs:// and hdfs:// addresses; ir_datasets:NAME; - reads stdin; :format=tsv behind the name says what "
        "the suffix does not",
        "COLLECTION",
        read=SCANNED.parse,
    ),
]
Documents = Annotated[
    FileOption | None, Arg("the documents, as scan reads them", "FILE", read=DOCUMENTS.parse)
]
QueryFile = Annotated[
    FileOption | None, Arg("the queries, with an id and a text for each", "FILE", read=QUERIES.parse)
]
Columns = Annotated[
    Mapping[str, str] | None,
    Arg(
        "names of the columns in tables, where they are not the usual ones: "
        "id=docno,text=body,title=headline",
        "ROLE=NAME,..",
        read=lambda text: columns_of(text, ROLES),
    ),
]
SearchColumns = Annotated[
    Mapping[str, str] | None,
    Arg(
        "names of columns, where they are not the usual ones: id=docno,text=body of documents, "
        "query=qid,query_text=asked of queries",
        "ROLE=NAME,..",
        read=lambda text: columns_of(text, (*ROLES, "query", "query_text")),
    ),
]
Cache = Annotated[str | None, Arg("keep vectors here, so that no text is encoded twice", "FOLDER")]
On = Annotated[
    str | None,
    Arg(
        "let a cluster do the work: dask (processes on this machine), dask://HOST:PORT (a scheduler that is "
        "running), spark (the active session, or one on this machine); default: the threads of this process",
        "CLUSTER",
    ),
]


@dataclass(frozen=True)
class WorkOptions:
    """How the work on a collection is done."""

    threads: Annotated[int | None, Arg("number of threads (default: one for each core)", "N")] = None
    no_resume: Annotated[bool, Arg("begin anew and ignore what an interrupted run left")] = False
    on: On = None


@contextmanager
def opened_cluster(on: str | None, threads: int | None = None) -> Iterator[Executor | None]:
    """What ``--on`` names, with a line that says where it can be watched; None where nothing is named."""
    if on is None:
        yield None
        return
    from evenrank.scale import open_executor

    with open_executor(on, threads) as executor:
        if executor.link is not None:
            say(f"{executor.name} shows the work at {executor.link}")
        yield executor


def searched_columns(columns: Mapping[str, str] | None, file: FileOption) -> Mapping[str, str] | None:
    """Those of the command line that documents have, else those of the project file."""
    from evenrank.io.column_names import document_columns

    return file.get("columns") if columns is None else document_columns(columns, file.path, ROLES)


def searched_queries(file: FileOption, columns: Mapping[str, str] | None) -> Queries:
    """Queries that all have a text."""
    from evenrank.io.queries import query_columns, read_queries

    named = file.get("columns") if columns is None else query_columns(columns)
    found = read_queries(file.path, columns=named)
    if not found.texts.keys() >= set(found.distinct):
        raise found.without_text(", which a search needs")
    if found.weight_column is not None:
        say(f"{file.path}: this command does not use the weights of queries: each counts once")
    return found


def declared_system(given: str, project: Project | None) -> tuple[str, Path]:
    """A system, where its name may be one of ``[systems]`` in the project file, and the folder that its
    models are seen from."""
    known = {} if project is None else project.systems()
    if project is None or given not in known:
        return given, Path()
    return known[given], project.folder
