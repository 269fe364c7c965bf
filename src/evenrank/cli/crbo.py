"""``evenrank counterfactual crbo``: how much systems react to a swap of group words in the collection."""

from __future__ import annotations

import argparse
import os
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from evenrank.cli.inputs import DOCUMENT_ROLES, check_output, check_stdin, columns_of
from evenrank.cli.parser import add_command
from evenrank.cli.progress import Bar
from evenrank.cli.streams import put, say, terminal_width
from evenrank.cli.swap import mapping_of, words_of
from evenrank.cli.values import positive
from evenrank.errors import DataError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.counterfactuals.experiment import Experiment
    from evenrank.counterfactuals.single import Move
    from evenrank.counterfactuals.swap import Swapper
    from evenrank.counterfactuals.table import SwapRow

FORMATS = ("table", "tsv", "jsonl")
LEXICON = "gender-en+gender-en-names"  # what the default swap replaces, counted for TExFAIR and NFaiRR
MOST = 5


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "crbo",
        "compare the lists of systems on a collection and on its swapped counterpart",
        """Rank with every system, swap every group word in the documents for its counterpart, rank again,
        and compare the two lists of each query by rank-biased overlap. CRBO is the mean over queries: 1 if
        nothing moved. Beside it are TExFAIR and NFaiRR of the original lists; NFaiRR's background is the
        first system's first 200 documents.""",
        """
        evenrank counterfactual crbo --system bm25 --system minilm collection.tsv queries.tsv
        evenrank counterfactual crbo --system 'bm25>>nanoranker' --stratified collection.tsv queries.tsv
        evenrank counterfactual crbo --kinds names,titles --swap-queries collection.tsv queries.tsv
        evenrank counterfactual crbo --system minilm --cache vectors --page lists.html corpus.tsv queries.tsv
        evenrank counterfactual crbo --one-at-a-time --at-most 50 --moves moves.tsv corpus.tsv queries.tsv
        """,
    )
    documents = "TSV (id, tab, text), JSONL, CSV, Parquet"
    parser.add_argument("collection", metavar="COLLECTION", help=f"documents: {documents}")
    parser.add_argument("queries", metavar="QUERIES", help=f"queries, with an id and a text: {documents}")
    parser.add_argument(
        "--system", action="append", metavar="SYSTEM",
        help="bm25 (default), bm25+rm3, minilm, the folder of a sentence-transformers model; with "
        ">>nanoranker or >>FOLDER of a cross-encoder or of a ranker that evenrank train wrote the first "
        "documents are re-ranked; may be repeated",
    )  # fmt: skip
    parser.add_argument("--lexicon", metavar="L", help="a lexicon with partners (default: gender-en, names)")
    parser.add_argument("--kinds", type=words_of, metavar="KIND,...", help="pronouns, nouns, titles, names")
    parser.add_argument(
        "--stratified", action="store_true", help="also swap each kind of word alone, one row a kind"
    )
    parser.add_argument("--swap-queries", action="store_true", help="swap the words of the queries too")
    parser.add_argument(
        "--one-at-a-time", action="store_true",
        help="also swap the documents of the lists one by one: which move when only they change",
    )  # fmt: skip
    parser.add_argument("--at-most", type=positive, metavar="N", help="documents for --one-at-a-time")
    parser.add_argument(
        "--depth", type=positive, default=10, metavar="K", help="ranks compared (default: 10)"
    )
    parser.add_argument("--p", type=float, default=0.9, help="persistence of RBO (default: 0.9)")
    parser.add_argument(
        "--rerank-depth", type=positive, default=100, metavar="K", help="documents that >> re-ranks (100)"
    )
    parser.add_argument(
        "--mapping", metavar="M", help="what each word becomes: cyclic, or a CSV file (word, becomes)"
    )
    parser.add_argument(
        "--one-way", action="store_true", help="words too that a second swap does not restore"
    )
    parser.add_argument("--seed", type=int, default=0, help="which names are paired (default: 0)")
    parser.add_argument(
        "--tagger", choices=("auto", "spacy", "rules"), default="auto", help="for her and his"
    )
    parser.add_argument(
        "--cache", metavar="FOLDER", help="where vectors are kept, so that none is made twice"
    )
    parser.add_argument("--moved", type=int, default=MOST, metavar="N", help="queries to list (default: 5)")
    columns = partial(columns_of, roles=DOCUMENT_ROLES)
    parser.add_argument(
        "--columns", type=columns, metavar="ROLE=NAME,...", help="columns of COLLECTION: id, text"
    )
    parser.add_argument(
        "--query-columns",
        type=columns,
        metavar="ROLE=NAME,...",
        help="columns of QUERIES: id=query,text=title",
    )
    parser.add_argument("--format", choices=FORMATS, default="table", help="what to print (default: table)")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write RBO by query: .jsonl, .csv, .parquet .."
    )
    parser.add_argument("--moves", metavar="FILE", help="write what --one-at-a-time found, as TSV")
    parser.add_argument(
        "--page", metavar="FILE", help="write the lists side by side, swapped words marked: .html"
    )
    parser.set_defaults(run=run)


class Shown:
    """One bar after another, as the work names itself."""

    def __init__(self) -> None:
        self._bar = Bar("reading", "texts")

    def __call__(self, what: str, done: int, total: int) -> None:
        self._bar.begin(what)
        self._bar(done, total)

    def close(self) -> None:
        self._bar.close()


def run(arguments: argparse.Namespace) -> int:
    inputs = [arguments.collection, arguments.queries, arguments.lexicon, arguments.mapping]
    check_stdin(inputs)
    for written in (arguments.output, arguments.moves, arguments.page):
        check_output(written, inputs)
    _check_asked(arguments)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    shown = Shown()
    try:
        return _run(arguments, shown)
    finally:
        shown.close()


def _check_asked(arguments: argparse.Namespace) -> None:
    """What is wrong with the command line is said before anything is read."""
    from evenrank.measures.rank_overlap import RBO
    from evenrank.scores.files import WRITTEN, file_format
    from evenrank.systems import make_system

    RBO(p=arguments.p, form="ext")
    if arguments.output is not None:
        file_format(arguments.output, None, WRITTEN)
    if arguments.page is not None and not arguments.page.lower().endswith((".html", ".htm")):
        raise ParameterError(f"--page {arguments.page}: the name of a page ends in .html")
    if arguments.page is not None and find_spec("jinja2") is None:
        raise MissingExtraError.for_job("--page", "Jinja2", "report")
    if (arguments.moves is not None or arguments.at_most is not None) and not arguments.one_at_a_time:
        raise ParameterError("--moves and --at-most are about --one-at-a-time: add it")
    if arguments.stratified and arguments.kinds is not None:
        raise ParameterError("--stratified swaps every kind by itself: leave --kinds out")
    for name in arguments.system or ["bm25"]:
        make_system(name)


def _run(arguments: argparse.Namespace, shown: Shown) -> int:
    from evenrank.counterfactuals import table
    from evenrank.counterfactuals.experiment import Experiment
    from evenrank.systems import make_system, read_texts
    from evenrank.tables import printed

    swappers = _swappers(arguments)  # first, for what is wrong with them would else be said last
    documents = read_texts(arguments.collection, columns=arguments.columns)
    try:
        queries = read_texts(arguments.queries, "queries", columns=arguments.query_columns)
    except DataError as error:
        raise DataError(str(error).replace("(--columns ", "(--query-columns ")) from error
    trials = {}
    for name in dict.fromkeys(arguments.system or ["bm25"]):
        system = make_system(name, cache=arguments.cache, depth=arguments.rerank_depth, progress=shown)
        trials[name] = Experiment(system, documents, queries, depth=arguments.depth, p=arguments.p)
    beside = _beside(arguments, trials, documents)
    rows, moves = _rows(arguments, trials, swappers, beside, shown)
    shown.close()
    if arguments.format == "table":
        shown_rows = rows if arguments.moved > 0 else []
        further = [table.moved_table(row, queries, arguments.moved) for row in shown_rows]
        most = max(arguments.moved, MOST)
        further += [table.moves_table(name, found, most) for name, found in moves.items()]
        put(printed([table.system_table(rows), *further], "table", terminal_width()))
    else:
        put(printed([table.system_table(rows)], arguments.format))
    _write(arguments, rows, moves, documents, queries)
    for line in dict.fromkeys(
        note for row in rows for said in row.result.scores.notes.values() for note in said
    ):
        say(line)
    return 0


def _swappers(arguments: argparse.Namespace) -> dict[str, Swapper]:
    """What is swapped: the kinds asked for together; if stratified, then each that the lexicon has."""
    from evenrank.counterfactuals.experiment import as_swapper
    from evenrank.counterfactuals.swap import KINDS
    from evenrank.counterfactuals.table import ALL

    asked = tuple(arguments.kinds or KINDS)
    make = partial(
        as_swapper,
        arguments.lexicon,
        seed=arguments.seed,
        tagger=arguments.tagger,
        mapping=mapping_of(arguments.mapping),
        one_way=arguments.one_way,
    )
    together = make(kinds=asked)
    chosen = {ALL if set(asked) == set(KINDS) else ", ".join(asked): together}
    if arguments.stratified:
        chosen |= {kind: make(kinds=(kind,)) for kind in together.pairing.kinds}
    return chosen


def _rows(
    arguments: argparse.Namespace,
    trials: dict[str, Experiment],
    swappers: dict[str, Swapper],
    beside: dict[str, dict[str, float]],
    shown: Shown,
) -> tuple[list[SwapRow], dict[str, list[Move]]]:
    from evenrank.counterfactuals.single import one_at_a_time
    from evenrank.counterfactuals.table import SwapRow

    together = next(iter(swappers.values()))
    rows: list[SwapRow] = []
    moves: dict[str, list[Move]] = {}
    for name, trial in trials.items():
        for label, swapper in swappers.items():
            result = trial.swap(swapper, swap_queries=arguments.swap_queries, progress=shown)
            rows.append(SwapRow(name, label, result, beside[name]))
        if arguments.one_at_a_time:
            moves[name] = one_at_a_time(trial, together, at_most=arguments.at_most, progress=shown)
    return rows, moves


def _beside(
    arguments: argparse.Namespace, trials: dict[str, Experiment], documents: dict[str, str]
) -> dict[str, dict[str, float]]:
    """TExFAIR and NFaiRR of the original lists, as the paper has them beside CRBO."""
    from evenrank.evaluation import evaluate
    from evenrank.evidence.scan import scan

    words = scan(list(documents.items()), arguments.lexicon or LEXICON)
    measures = [f"TExFAIR@{arguments.depth}", f"NFaiRR@{arguments.depth}"]
    runs = {name: trial.original for name, trial in trials.items()}
    background = next(iter(runs.values()))
    scores = evaluate(runs, measures, words=words, background=background)
    return {name: {measure: scores.mean(measure, name) for measure in measures} for name in runs}


def _write(
    arguments: argparse.Namespace,
    rows: list[SwapRow],
    moves: dict[str, list[Move]],
    documents: dict[str, str],
    queries: dict[str, str],
) -> None:
    from evenrank.counterfactuals import table
    from evenrank.io.atomic import atomic_write
    from evenrank.tables import printed

    if arguments.output is not None:
        table.merged(rows).write(arguments.output)
        say(f"wrote {arguments.output}")
    if arguments.moves is not None:
        with atomic_write(arguments.moves) as file:
            tables = [table.moves_table(name, found, 0) for name, found in moves.items()]
            file.write(printed(tables, "tsv").encode())
        say(f"wrote {arguments.moves}")
    if arguments.page is not None:
        from evenrank.counterfactuals.lists import sheets
        from evenrank.report.counterfactual_page import write_page

        write_page(arguments.page, sheets(rows, documents, queries, arguments.depth, max(1, arguments.moved)))
        say(f"wrote {arguments.page}")
