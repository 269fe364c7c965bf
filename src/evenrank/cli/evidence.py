"""The options that say what is known of documents, and how files are read: the same in every command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.cli.background import COLLECTION, add_background, background_file, read_background
from evenrank.cli.groups import add_options, group_files, memberships
from evenrank.cli.inputs import (
    INTENT_ROLES,
    QRELS_ROLES,
    ROLES,
    RUN_ROLES,
    STDIN,
    columns_of,
    is_table,
    run_names,
    table_columns,
)
from evenrank.cli.progress import progress
from evenrank.cli.reading import attempt, reading_files, something_failed
from evenrank.cli.values import pair
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.data.run import Run
    from evenrank.data.runset import RunSet
    from evenrank.data.tables import DocumentTable

INPUT_FORMATS = ("trec", "csv", "tsv", "jsonl", "parquet")
QRELS_FORMATS = (*INPUT_FORMATS, "ntcir")
WORDS_HELP = "counts of group words, as evenrank scan writes them"


def add_evidence(parser: argparse.ArgumentParser, words_help: str = WORDS_HELP) -> None:
    """What is known of documents: judgements, words, groups, polarity, and the background."""
    parser.add_argument("--qrels", metavar="FILE", help="relevance judgements")
    parser.add_argument("--diversity-qrels", metavar="FILE", help="judgements by intent, as in TREC Web")
    parser.add_argument("--words", metavar="FILE", help=words_help)
    add_options(parser)
    parser.add_argument(
        "--polarity", metavar="FILE", help="scores of opinion, as evenrank polarise writes them"
    )
    add_background(parser)


def add_tables(parser: argparse.ArgumentParser) -> None:
    """Numbers of documents, which re-rankers sort by."""
    parser.add_argument(
        "--table", type=pair("NAME=FILE"), action="append", default=[], metavar="NAME=FILE",
        help="numbers of documents, as SortBy(field='NAME.column') wants them: a table with a column of "
        "documents and columns of numbers; may be repeated",
    )  # fmt: skip


def read_tables(arguments: argparse.Namespace) -> list[DocumentTable]:
    from evenrank.io.numbers import read_numbers

    named = arguments.columns or {}
    columns = type(named)({role: column for role, column in named.items() if role in ("query", "document")})
    return [attempt(partial(read_numbers, path, name, columns=columns)) for name, path in arguments.table]


def add_reading(parser: argparse.ArgumentParser, roles: Sequence[str] = ROLES) -> None:
    """How runs and judgements are read, and whatever else has the columns of these roles."""
    parser.add_argument(
        "--ties", choices=("trec", "file"),
        help="order of equal scores: by document id, descending (trec), or as in the file; "
        "the default is trec, but file for a table with a column of ranks",
    )  # fmt: skip
    parser.add_argument(
        "--columns", type=partial(columns_of, roles=roles), metavar="ROLE=NAME,...",
        help=f"what tables among {_files_with_columns(roles)} call their columns: "
        "query=qid,document=docno,score=sim,rank=r,grade=rel,intent=side"
        + (",text=body,title=headline" if "text" in roles else ""),
    )  # fmt: skip
    parser.add_argument(
        "--input-format", choices=INPUT_FORMATS, help="format of the runs, where their names do not tell"
    )
    parser.add_argument(
        "--qrels-format",
        choices=QRELS_FORMATS,
        help="format of the judgements, where their names do not tell; ntcir has lines 'query document L2'",
    )


def _files_with_columns(roles: Sequence[str]) -> str:
    return "runs, judgements and documents" if "text" in roles else "runs and judgements"


def evidence_files(arguments: argparse.Namespace) -> list[str | None]:
    """The files that ``read_evidence`` reads."""
    files = [arguments.qrels, arguments.diversity_qrels, arguments.words, arguments.polarity]
    tables = [path for _, path in getattr(arguments, "table", ())]
    return [*files, background_file(arguments), *group_files(arguments), *tables]


def check_columns(arguments: argparse.Namespace, runs: Sequence[str]) -> None:
    """Columns are of tables: say so where no file is one."""
    judgements = [arguments.qrels, arguments.diversity_qrels]
    others = [path for _, path in getattr(arguments, "table", ())]
    if getattr(arguments, "documents", None) is not None:
        others.append(arguments.documents)
    if arguments.columns is not None and others:
        from evenrank.io.column_names import SharedColumns

        arguments.columns = SharedColumns(arguments.columns)
        return
    if arguments.columns is not None and not (
        any(is_table(path, arguments.input_format) for path in (*runs, background_file(arguments)))
        or any(is_table(path, arguments.qrels_format) for path in judgements)
    ):
        raise ParameterError(
            "--columns is for tables, and none of the files is one: "
            "--input-format and --qrels-format say so where their names do not"
        )


def read_evidence(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the options name, under the names that ``evaluate``, ``explain`` and ``rerank`` have for it."""
    from evenrank.io import read_qrels
    from evenrank.io.counts import read_counts

    groups = memberships(arguments)
    named, form = arguments.columns, arguments.qrels_format
    qrels = by_intent = polarity = None
    if arguments.qrels is not None:
        columns = table_columns(named, arguments.qrels, form, QRELS_ROLES)
        qrels = attempt(partial(read_qrels, arguments.qrels, format=form, columns=columns))
    if arguments.diversity_qrels is not None:
        columns = table_columns(named, arguments.diversity_qrels, form, INTENT_ROLES)
        by_intent = attempt(
            partial(read_qrels, arguments.diversity_qrels, diversity=True, format=form, columns=columns)
        )
    if arguments.polarity is not None:
        from evenrank.io.polarity import read_polarity

        polarity = attempt(partial(read_polarity, arguments.polarity))
    words = None if arguments.words is None else attempt(partial(read_counts, arguments.words))
    background = None
    if not (something_failed() and arguments.background == COLLECTION):
        background = attempt(partial(read_background, arguments, words, arguments.input_format))
    return {
        "qrels": qrels,
        "intents": by_intent,
        "words": words,
        "groups": groups,
        "polarity": polarity,
        "background": background,
        "background_depth": arguments.background_depth,
    }


def run_files(path: str) -> list[str]:
    """The run itself, or the files of a folder of them, by name; hidden ones are none."""
    folder = Path(path)
    if path == STDIN or not folder.is_dir():
        return [path]
    found = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
    if not found:
        raise ParameterError(f"{path}: the folder has no runs in it")
    return [str(file) for file in found]


def read_named_runs(arguments: argparse.Namespace, path: str, name: str) -> Run | RunSet:
    """A run, or a folder of them as several rankings of the same queries."""
    from evenrank.data.runset import RunSet

    files = run_files(path)
    if files == [path]:
        return read_named_run(arguments, path, name)
    names = run_names(files, [])

    def read() -> RunSet:
        with reading_files():
            draws = [
                read_named_run(arguments, file, own)
                for own, file in progress(list(zip(names, files, strict=True)), f"reading {name}")
            ]
        return RunSet.build(draws, name=name)

    return attempt(read)


def read_runs(arguments: argparse.Namespace, names: Sequence[str]) -> dict[str, Run]:
    """The runs of the command line under their names."""
    return {
        name: read_named_run(arguments, path, name)
        for name, path in progress(list(zip(names, arguments.runs, strict=True)), "reading runs")
    }


def read_named_run(arguments: argparse.Namespace, path: str, name: str) -> Run:
    from evenrank.io import read_run

    form = arguments.input_format
    columns = table_columns(arguments.columns, path, form, RUN_ROLES)
    return attempt(partial(read_run, path, name=name, ties=arguments.ties, format=form, columns=columns))
