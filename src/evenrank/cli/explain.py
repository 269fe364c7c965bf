"""``evenrank explain``: why one list has its score."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evenrank.cli.inputs import check_stdin, run_names
from evenrank.cli.parser import add_command
from evenrank.cli.streams import put, terminal_width
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.data.run import Run
    from evenrank.data.words import WordCounts
    from evenrank.explanation import Explanation

COLLECTION = "collection"


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "explain",
        "say why a list has its score",
        """Say why the list of one query has its score: what is known of the document at each rank, the words
        found in it, what it adds to the value, and what the best order of these documents would be. For a
        measure that is no sum over ranks, the change of the value without each document.""",
        """
        evenrank explain bm25.trec --query 1037798 --words counts.parquet -m NFaiRR@10
        evenrank explain bm25.trec --query q7 --words counts.parquet --background collection -m 'NFaiRR TED'
        evenrank explain bm25.trec --query q7 --qrels qrels.txt -m nDCG@10 --format jsonl
        """,
    )
    parser.add_argument("ranking", metavar="RUN", help="run file, TREC or a table; - reads stdin")
    parser.add_argument("--query", required=True, metavar="Q", help="id of the query")
    parser.add_argument(
        "-m", "--measures", action="append", required=True, metavar="MEASURES",
        help="measures, such as NFaiRR@10; one explanation each (see: evenrank measures)",
    )  # fmt: skip
    parser.add_argument("--qrels", metavar="FILE", help="relevance judgements")
    parser.add_argument("--diversity-qrels", metavar="FILE", help="judgements by intent, as in TREC Web")
    parser.add_argument(
        "--words", metavar="FILE",
        help="counts of group words, as evenrank scan writes them; with scan --terms, the words are shown",
    )  # fmt: skip
    parser.add_argument(
        "--background", metavar="RUN",
        help="what NFaiRR and its kin compare with: a run, or the word 'collection' for all documents of "
        "--words; without it, the run's own first 200 documents",
    )  # fmt: skip
    parser.add_argument(
        "--missing", choices=("error", "neutral", "drop"),
        help="ranked documents without word counts: an error (the default), without group words, or left out",
    )  # fmt: skip
    parser.add_argument(
        "--ties", choices=("trec", "file"),
        help="order of equal scores: by document id, descending (trec), or as in the file",
    )  # fmt: skip
    parser.add_argument(
        "--depth", type=_depth, metavar="N", help="show so many ranks (default: those that count)"
    )
    parser.add_argument("--format", choices=("table", "jsonl"), default="table", help="default: table")
    parser.set_defaults(run=run)


def _depth(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"must be an integer > 0, got {text!r}")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    background = None if arguments.background == COLLECTION else arguments.background
    check_stdin([arguments.ranking, arguments.qrels, arguments.diversity_qrels, background])
    put(_printed(_explanations(arguments), arguments.format))
    return 0


def _explanations(arguments: argparse.Namespace) -> list[Explanation]:
    from evenrank.explanation import explain
    from evenrank.io import read_qrels, read_run
    from evenrank.io.counts import read_counts
    from evenrank.measures import parse_measures

    # what is wrong with the command line is said before large files are read
    measures = parse_measures(arguments.measures)
    (name,) = run_names([arguments.ranking], [])
    qrels = None if arguments.qrels is None else read_qrels(arguments.qrels)
    by_intent = None
    if arguments.diversity_qrels is not None:
        by_intent = read_qrels(arguments.diversity_qrels, diversity=True)
    ranking = read_run(arguments.ranking, name=name, ties=arguments.ties)
    words = None if arguments.words is None else read_counts(arguments.words)
    background = _background(arguments, words)
    return [
        explain(
            ranking,
            measure,
            arguments.query,
            qrels=qrels,
            intents=by_intent,
            words=words,
            background=background,
            missing=arguments.missing,
            depth=arguments.depth,
        )
        for measure in measures
    ]


def _background(arguments: argparse.Namespace, words: WordCounts | None) -> Run | WordCounts | None:
    from evenrank.io import read_run

    if arguments.background is None:
        return None
    if arguments.background == COLLECTION:
        if words is None:
            raise ParameterError("--background collection is the collection of --words: give that too")
        return words
    return read_run(arguments.background, ties=arguments.ties)


def _printed(explanations: list[Explanation], form: str) -> str:
    from evenrank.explanation.render import as_text
    from evenrank.scores.rows import json_line

    if form == "jsonl":
        return "".join(json_line(explanation.to_dict()) for explanation in explanations)
    return "\n\n".join(as_text(explanation, terminal_width()) for explanation in explanations) + "\n"
