"""``evenrank counterfactual``: how much systems react when the group words of a collection are swapped."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from evenrank.cli import shared
from evenrank.cli.cluster import add_cluster
from evenrank.cli.outputs import check_output
from evenrank.cli.parser import add_command
from evenrank.cli.progress import WorkBar
from evenrank.cli.scan import COLLECTION_HELP
from evenrank.cli.streams import put, say, terminal_width
from evenrank.cli.swap import EACH, KindsOption, kinds_of, mapping_of, swap_only
from evenrank.cli.values import positive
from evenrank.errors import MissingExtraError, ParameterError
from evenrank.inputs.file_options import AGAINST, DOCUMENTS

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.counterfactuals.experiment import Counterfactual, Experiment, Move
    from evenrank.counterfactuals.swap import Swapper
    from evenrank.counterfactuals.table import SwapRow
    from evenrank.tables import Table

LEXICON = "gender-en+gender-en-names"  # what the default swap replaces, counted for TExFAIR and NFaiRR
MOST = 5
PAIRING = ", pairing "  # before the seed, in the name of a swap that is done with several


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "counterfactual",
        """Rank with every system, swap every group word in the documents for its counterpart, rank again,
        and compare the two lists of each query by rank-biased overlap. CRBO is the mean over queries: 1 if
        nothing moved. TExFAIR and NFaiRR of the original lists stand beside it; NFaiRR is normalised by the
        first system's first 200 documents. With --swap-only the swapped collection is written instead:
        everything but group words stays as it is, byte for byte, and a swap that was interrupted goes on
        where it stopped when the same command is given again.""",
        """
        evenrank counterfactual collection.tsv queries.tsv --system bm25 --system minilm
        evenrank counterfactual collection.tsv queries.tsv --system 'bm25>>nanoranker:depth=50' --kinds each
        evenrank counterfactual collection.tsv queries.tsv --kinds names,titles --swap-queries
        evenrank counterfactual collection.tsv queries.tsv --kinds :share=0.25,0.5,1
        evenrank counterfactual collection.tsv queries.tsv --kinds :from=each
        evenrank counterfactual collection.tsv queries.tsv --kinds names:seeds=5
        evenrank counterfactual corpus.tsv queries.tsv --system minilm --cache vectors --page lists.html
        evenrank counterfactual corpus.tsv queries.tsv --one-at-a-time 50 --details moves.tsv
        evenrank counterfactual collection.tsv --swap-only -o swapped.tsv
        evenrank counterfactual corpus.jsonl --swap-only --kinds pronouns --tagger rules -o swapped.jsonl
        evenrank counterfactual table.parquet --swap-only --columns id=docno,text=body -o swapped.parquet
        evenrank counterfactual collection.tsv --swap-only --lexicon ages.csv --mapping cyclic -o swapped.tsv
        """,
    )
    parser.add_argument(
        "documents",
        nargs="?",
        type=shared.option(DOCUMENTS.parse),
        metavar="COLLECTION",
        help=COLLECTION_HELP,
    )
    parser.add_argument(
        "queries", nargs="?", metavar="QUERIES",
        help="queries with their texts: a table with the columns query and text, lines of id, tab, text, "
        "or XML topics",
    )  # fmt: skip
    parser.add_argument(
        "--swap-only", action="store_true", help="write the swapped collection to -o, and rank nothing"
    )
    parser.add_argument(
        "--system", action="append", metavar="SYSTEM",
        help="bm25 (default), bm25+rm3, minilm, the folder of a sentence-transformers model, or a name of "
        "[systems] in the project file (default: all of those); "
        ">>nanoranker or "
        ">>FOLDER (a cross-encoder, or a ranker that evenrank debias wrote) re-ranks its first 100 "
        "documents, or "
        ":depth=N; may be repeated",
    )  # fmt: skip
    swapped = parser.add_argument_group("what is swapped")
    shared.add_lexicon(swapped, "a lexicon with partners (default: gender-en, with first names)")
    swapped.add_argument(
        "--kinds", type=kinds_of, metavar="KIND,..",
        help="swap only these: pronouns, nouns, titles, names; 'each' swaps all together and each kind "
        "alone. KIND,..:share=0.25,0.5,1 swaps so many of the word pairs, drawn by --seed, one row for each "
        "share; :from=female swaps the words of that group alone (:from=each: one row for each group); "
        ":seeds=5 pairs names in five ways, from --seed on, and gives CRBO over them with an interval",
    )  # fmt: skip
    swapped.add_argument("--swap-queries", action="store_true", help="also swap the words of the queries")
    swapped.add_argument(
        "--one-at-a-time", type=positive, nargs="?", const=0, metavar="N",
        help="also swap the documents of the lists one by one (N: at most so many), to see which of them "
        "move",
    )  # fmt: skip
    swapped.add_argument(
        "--mapping", metavar="FILE",
        help="what each word becomes: a CSV file with the columns word and becomes, or 'cyclic' (word i "
        "of a group "
        "becomes word i of the next)",
    )  # fmt: skip
    swapped.add_argument(
        "--one-way",
        action="store_true",
        help="also swap words that cannot be swapped back (actress, mum, guy, ..)",
    )
    swapped.add_argument(
        "--tagger", choices=("auto", "spacy", "rules"), default="auto",
        help='how to tell possessive from object "her" and "his" (default: spacy where it is installed)',
    )  # fmt: skip
    parser.add_argument(
        "--depth", type=positive, default=10, metavar="K", help="number of ranks compared (default: 10)"
    )
    parser.add_argument("--p", type=float, default=0.9, help="persistence of RBO (default: 0.9)")
    parser.add_argument(
        "--background", type=shared.option(AGAINST.parse), metavar="FILE",
        help="a run: the documents that NFaiRR is normalised by (default: the lists of the first system)",
    )  # fmt: skip
    shared.add_cache(parser)
    parser.add_argument(
        "--moved", type=int, default=MOST, metavar="N", help="number of queries to list (default: 5)"
    )
    shared.add_by(parser)
    shared.add_columns(parser, ("id", "text", "title", "query", "query_text"))
    shared.add_format(parser)
    shared.add_output(
        parser,
        "write RBO by query (.jsonl, .csv, .tsv, .parquet); with --swap-only the collection (.tsv, "
        ".jsonl, .parquet)",
    )
    parser.add_argument(
        "--page", metavar="FILE", help="write the lists side by side, swapped words marked: .html"
    )
    parser.add_argument(
        "--details", metavar="FILE",
        help="write what --one-at-a-time found (TSV), or with --swap-only every pair that was swapped (JSON)",
    )  # fmt: skip
    shared.add_resuming(parser)
    add_cluster(parser)
    parser.set_defaults(run=run, reads_project=True)


def run(arguments: argparse.Namespace) -> int:
    if arguments.documents is None:
        raise ParameterError("name the documents: evenrank counterfactual COLLECTION QUERIES")
    if arguments.swap_only:
        return swap_only(arguments)
    if arguments.on is not None:
        raise ParameterError("--on works on a collection: add --swap-only, which writes the swapped one")
    if arguments.queries is None:
        raise ParameterError(
            "name the queries: counterfactual COLLECTION QUERIES (or --swap-only -o swapped.tsv)"
        )
    inputs = [arguments.documents.path, arguments.queries, arguments.lexicon, arguments.mapping]
    shared.check_stdin(inputs)
    check_output(arguments.output, arguments.details, arguments.page)
    _check_asked(arguments)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    shown = WorkBar()
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
    if arguments.details is not None and arguments.one_at_a_time is None:
        raise ParameterError("--details needs --one-at-a-time or --swap-only: add one of them")
    for name, given in _systems(arguments).items():
        make_system(given, **_seen_from(arguments, name))


def _systems(arguments: argparse.Namespace) -> dict[str, str]:
    """What each system is called, and how it is made; a name of the project file stands for its entry."""
    known = {} if arguments.project is None else arguments.project.systems()
    return {name: known.get(name, name) for name in arguments.system or known or ["bm25"]}


def _seen_from(arguments: argparse.Namespace, name: str) -> dict[str, Any]:
    """A system of the project file: its folders are seen from there."""
    project = arguments.project
    if project is None or name not in project.systems():
        return {}
    return {"folder": project.folder}


def _run(arguments: argparse.Namespace, shown: WorkBar) -> int:
    from evenrank.counterfactuals import table
    from evenrank.counterfactuals.experiment import Experiment
    from evenrank.io.column_names import document_columns
    from evenrank.systems import make_system, read_texts
    from evenrank.tables import printed

    swappers = _swappers(arguments)  # first, for what is wrong with them would else be said last
    named = arguments.columns or {}
    of_documents = document_columns(named, arguments.documents.path, shared.DOCUMENT_ROLES)
    documents = read_texts(
        arguments.documents.path, columns=of_documents, format=arguments.documents.get("format")
    )
    queries, categories = _query_texts(arguments.queries, named, arguments.by)
    trials = {}
    for name, given in _systems(arguments).items():
        system = make_system(given, cache=arguments.cache, progress=shown, **_seen_from(arguments, name))
        trials[name] = Experiment(system, documents, queries, depth=arguments.depth, p=arguments.p)
    beside = _beside(arguments, trials, documents)
    rows, moves = _rows(arguments, trials, swappers, beside, shown)
    shown.close()
    split = table.with_categories(rows, categories)
    if arguments.format in (None, "table"):
        shown_rows = rows if arguments.moved > 0 else []
        further = [table.moved_table(row, queries, arguments.moved) for row in shown_rows]
        most = max(arguments.moved, MOST)
        further += [table.moves_table(name, found, most) for name, found in moves.items()]
        further = [*_pairing_tables(rows), *further]
        whole = [row for row in rows if row.swapped == table.ALL]
        if len(whole) > 2 and whole[0].beside:
            further.insert(0, table.agreement_table(whole))
        put(printed([table.system_table(split), *further], "table", terminal_width()))
    else:
        put(printed([table.system_table(split)], arguments.format))
    _write(arguments, rows, moves, documents, queries)
    for line in dict.fromkeys(
        note for row in rows for said in row.result.scores.notes.values() for note in said
    ):
        say(line)
    return 0


def _query_texts(
    path: str, named: dict[str, str], by: str | None
) -> tuple[dict[str, str], Mapping[str, list[str]]]:
    """The text of every query, and its categories where they are asked for."""
    from evenrank.inputs.input_files import categories_by
    from evenrank.io.queries import query_columns, read_queries

    found = read_queries(path, columns=query_columns(named))
    if not found.texts.keys() >= set(found.distinct):
        raise found.without_text(", which a search needs")
    if found.weight_column is not None:
        shared.say_unused_weights(path)
    return dict(found.texts), {} if by is None else categories_by(by, found)


def _swappers(arguments: argparse.Namespace) -> dict[str, Swapper]:
    """What is swapped: the kinds asked for together; if stratified, then each that the lexicon has.

    Shares and directions multiply the rows.
    """
    from evenrank.counterfactuals.swap import KINDS, make_swapper
    from evenrank.counterfactuals.table import ALL

    option: KindsOption = arguments.kinds or KindsOption()
    stratified = option.kinds == (EACH,)
    asked = KINDS if stratified else tuple(option.kinds or KINDS)
    begin = shared.seed_of(arguments)
    make = partial(
        make_swapper,
        arguments.lexicon,
        tagger=arguments.tagger,
        mapping=mapping_of(arguments.mapping),
        one_way=arguments.one_way,
    )
    whole = make(kinds=asked, seed=begin)
    named = {ALL if set(asked) == set(KINDS) else ", ".join(asked): asked}
    if stratified:
        named |= {kind: (kind,) for kind in whole.pairing.kinds}
    each = option.from_group == EACH and EACH not in whole.pairing.lexicon.groups
    groups: tuple[str | None, ...] = (None, *whole.pairing.lexicon.groups) if each else (option.from_group,)
    return {
        _label(name, share, group) + (f"{PAIRING}{seed}" if option.seeds > 1 else ""): make(
            kinds=kinds, share=share, from_group=group, seed=seed
        )
        for name, kinds in named.items()
        for group in groups
        for share in option.shares
        for seed in range(begin, begin + option.seeds)
    }


def _pairing_tables(rows: list[SwapRow]) -> list[Table]:
    """For every system and kind of swap that was done with several pairings of names: CRBO over them."""
    from evenrank.counterfactuals.pairings import Pairings

    found: dict[tuple[str, str], dict[int, Counterfactual]] = {}
    for row in rows:
        swapped, sign, seed = row.swapped.rpartition(PAIRING)
        if sign:
            found.setdefault((row.system, swapped), {})[int(seed)] = row.result
    return [
        Pairings(tuple(by_seed), tuple(by_seed.values())).to_table().titled(f"{system}, {swapped}")
        for (system, swapped), by_seed in found.items()
    ]


def _label(name: str, share: float, group: str | None) -> str:
    """``all words, 25% of pairs, from female``; what is whole is not said."""
    parts = [
        name,
        "" if share == 1 else f"{100 * share:g}% of pairs",
        "" if group is None else f"from {group}",
    ]
    return ", ".join(part for part in parts if part)


def _rows(
    arguments: argparse.Namespace,
    trials: dict[str, Experiment],
    swappers: dict[str, Swapper],
    beside: dict[str, dict[str, float]],
    shown: WorkBar,
) -> tuple[list[SwapRow], dict[str, list[Move]]]:
    from evenrank.counterfactuals.experiment import one_at_a_time
    from evenrank.counterfactuals.table import SwapRow

    together = next(iter(swappers.values()))
    rows: list[SwapRow] = []
    moves: dict[str, list[Move]] = {}
    for name, trial in trials.items():
        for label, swapper in swappers.items():
            result = trial.swap(swapper, swap_queries=arguments.swap_queries, progress=shown)
            rows.append(SwapRow(name, label, result, beside[name]))
        if arguments.one_at_a_time is not None:
            moves[name] = one_at_a_time(
                trial, together, at_most=arguments.one_at_a_time or None, progress=shown
            )
    return rows, moves


def _beside(
    arguments: argparse.Namespace, trials: dict[str, Experiment], documents: dict[str, str]
) -> dict[str, dict[str, float]]:
    """TExFAIR and NFaiRR of the original lists, as the paper has them beside CRBO."""
    from evenrank.evaluation import evaluate
    from evenrank.evidence.scan import scan
    from evenrank.io import read_run

    words = scan(list(documents.items()), arguments.lexicon or LEXICON)
    measures = [f"TExFAIR@{arguments.depth}", f"NFaiRR@{arguments.depth}"]
    runs = {name: trial.original for name, trial in trials.items()}
    background = next(iter(runs.values()))
    if arguments.background is not None:
        given = arguments.background
        background = read_run(given.path, format=given.get("format"), ties=given.get("ties") or "trec")
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
    if arguments.details is not None:
        with atomic_write(arguments.details) as file:
            tables = [table.moves_table(name, found, 0) for name, found in moves.items()]
            file.write(printed(tables, "tsv").encode())
        say(f"wrote {arguments.details}")
    if arguments.page is not None:
        from evenrank.counterfactuals.lists import sheets
        from evenrank.reporting.counterfactual_page import write_page

        write_page(arguments.page, sheets(rows, documents, queries, arguments.depth, max(1, arguments.moved)))
        say(f"wrote {arguments.page}")
