"""``evenrank rank``: a run in the order of a trained ranker."""

from __future__ import annotations

import argparse
import os
from functools import partial
from typing import TYPE_CHECKING

from evenrank.cli.inputs import (
    DOCUMENT_ROLES,
    RUN_ROLES,
    STDOUT,
    TEXT_ROLES,
    check_output,
    check_stdin,
    columns_of,
    document_columns,
    run_names,
    table_columns,
)
from evenrank.cli.parser import add_command
from evenrank.cli.progress import Bar
from evenrank.cli.rerank import write_ranked
from evenrank.cli.values import positive
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.data.run import Run


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "rank",
        "re-rank a run with a trained ranker",
        """Score every document of a run against its query with a ranker that evenrank train wrote, and write
        the run in that order. Documents below the depth follow as they were.""",
        """
        evenrank rank bm25.trec --model models/base --queries queries.tsv --documents docs.tsv -o neural.trec
        evenrank rank bm25.trec --model models/lambda-0.3/checkpoint-07 --queries queries.tsv \
--documents docs.tsv --depth 200 --device cuda -o fairer.trec
        """,
    )
    parser.add_argument("ranking", metavar="RUN", help="run file, TREC or a table; - reads stdin")
    parser.add_argument("--model", required=True, metavar="FOLDER", help="the ranker")
    parser.add_argument(
        "--queries", required=True, metavar="FILE", help="texts of the queries: id, tab, text"
    )
    parser.add_argument(
        "--documents",
        required=True,
        metavar="FILE",
        help="texts of the documents, as evenrank scan reads them",
    )
    parser.add_argument(
        "--columns",
        type=partial(columns_of, roles=TEXT_ROLES),
        metavar="ROLE=NAME,...",
        help="what the tables of the run and the documents call their columns: document=docno,text=body",
    )
    parser.add_argument(
        "--query-columns",
        type=partial(columns_of, roles=DOCUMENT_ROLES),
        metavar="ROLE=NAME,...",
        help="columns of the queries: id=query",
    )
    parser.add_argument(
        "--depth", type=positive, metavar="N", help="re-rank only so many documents of each list"
    )
    parser.add_argument(
        "--batch", type=positive, default=128, metavar="N", help="pairs at once (default: 128)"
    )
    parser.add_argument(
        "--device", default="auto", metavar="DEVICE", help="cpu, cuda, cuda:1; auto (default)"
    )
    parser.add_argument(
        "--precision", choices=("float32", "bfloat16", "float16"), default="float32", help="of the arithmetic"
    )
    parser.add_argument(
        "--ties", choices=("trec", "file"), help="order of equal scores in the run that is read"
    )
    parser.add_argument("--tag", metavar="TAG", help="last field of the TREC file (default: run and model)")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the run to write: TREC, or .parquet; -, and the default: TREC on stdout",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from evenrank.io.trec.writable import checked_format
    from evenrank.neural.extra import require

    inputs = [arguments.ranking, arguments.queries, arguments.documents]
    check_stdin(inputs)
    arguments.output = None if arguments.output == STDOUT else arguments.output
    check_output(arguments.output, inputs)
    if arguments.output is not None:
        checked_format(arguments.output, None)
    require("evenrank rank")
    _check_model(arguments.model)  # before torch is loaded, which takes seconds
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    write_ranked(_ranked(arguments), arguments)
    return 0


def _check_model(model: str) -> None:
    from pathlib import Path

    if not Path(model).is_dir():
        what = "is a file, not a folder" if Path(model).exists() else "no such folder"
        raise ParameterError(f"--model {model}: {what}; evenrank train writes rankers")


def _ranked(arguments: argparse.Namespace) -> Run:
    from pathlib import Path

    from evenrank.io import read_run
    from evenrank.io.column_names import SharedColumns
    from evenrank.io.texts import read_texts
    from evenrank.neural.model import CrossEncoderRanker
    from evenrank.neural.precision import as_device
    from evenrank.neural.reranker import NeuralReranker
    from evenrank.rerankers import rerank

    (name,) = run_names([arguments.ranking], [])
    model = Path(arguments.model).resolve()
    among = f"{model.parent.name}/" if model.parent.name.startswith("lambda-") else ""
    ranker = CrossEncoderRanker.load(arguments.model).to(as_device(arguments.device))
    named = None if arguments.columns is None else SharedColumns(arguments.columns)
    columns = table_columns(named, arguments.ranking, None, RUN_ROLES)
    ranking = read_run(arguments.ranking, name=name, ties=arguments.ties, columns=columns)
    head = ranking if arguments.depth is None else ranking.head(arguments.depth)
    documents = read_texts(
        arguments.documents, wanted=set(head.doc_ids.to_pylist()), columns=document_columns(named)
    )
    queries = read_texts(arguments.queries, "queries", columns=arguments.query_columns)
    with Bar("ranking", "pairs") as bar:
        method = NeuralReranker.of(
            ranker, queries, documents, called=among + model.name, batch=arguments.batch,
            precision=arguments.precision, progress=bar, cutoff=arguments.depth,
        )  # fmt: skip
        done: Run = rerank(ranking, method)
    return done
