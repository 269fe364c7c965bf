"""Swap every group word of a collection for its counterpart, to see how much systems react to it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from evenrank.cli.collection import (
    Cache,
    Collection,
    Columns,
    SearchColumns,
    WorkOptions,
    declared_system,
    opened_cluster,
    searched_columns,
    searched_queries,
)
from evenrank.cli.everywhere import Everywhere
from evenrank.cli.printing import Format, print_tables, write_text
from evenrank.cli.progress import ResumableBar, work_bar
from evenrank.cli.streams import say
from evenrank.cli.typed import Arg, command
from evenrank.cli.values import check_page, names_of, not_negative
from evenrank.errors import DataError, MissingExtraError, ParameterError
from evenrank.inputs.file_options import AGAINST, QUERIES, FileOption

if TYPE_CHECKING:
    from evenrank.counterfactuals.experiment import Experiment, Move
    from evenrank.counterfactuals.swap import Swapper
    from evenrank.counterfactuals.swap.files import SwapSummary
    from evenrank.tables import Table

LEXICON = "gender-en+gender-en-names"  # what the default swap replaces, counted for TExFAIR and NFaiRR
EACH = "each"  # of --kinds and --from: all together, and each alone
MOST = 5
SHOWN = 8  # pairs of words


@dataclass(frozen=True)
class Swapping:
    """What is swapped."""

    lexicon: Annotated[
        str | None, Arg("a lexicon with partners (default: gender-en, with first names)", "NAME")
    ] = None
    kinds: Annotated[
        Sequence[str] | None,
        Arg("swap only these kinds of words: pronouns, nouns, titles, names", "KIND,..", read=names_of),
    ] = None
    from_: Annotated[str | None, Arg("swap the words of this group alone", "GROUP")] = None
    mapping: Annotated[
        str | None,
        Arg(
            "what each word becomes: a CSV file with the columns word and becomes, or 'cyclic' (word i of a "
            "group becomes word i of the next)",
            "FILE",
        ),
    ] = None
    one_way: Annotated[bool, Arg("also swap words that cannot be swapped back (actress, mum, guy, ..)")] = (
        False
    )
    tagger: Annotated[
        Literal["auto", "spacy", "rules"],
        Arg('how to tell possessive from object "her" and "his"; auto is spacy where it is installed'),
    ] = "auto"

    def settings(self) -> dict[str, Any]:
        """The keywords of all swaps."""
        return {"tagger": self.tagger, "mapping": _mapping(self.mapping), "one_way": self.one_way}


@command(
    "evenrank counterfactual rank collection.tsv queries.tsv --system bm25 --system minilm",
    "evenrank counterfactual rank collection.tsv queries.tsv --system 'bm25>>nanoranker:depth=50' --kinds "
    "each",
    "evenrank counterfactual rank collection.tsv queries.tsv --kinds names,titles --swap-queries",
    "evenrank counterfactual rank collection.tsv queries.tsv --share 0.25 --share 1 --from each",
    "evenrank counterfactual rank collection.tsv queries.tsv --kinds names --pairings 5",
    "evenrank counterfactual rank corpus.tsv queries.tsv --system minilm --cache vectors --page lists.html",
    "evenrank counterfactual rank corpus.tsv queries.tsv --one-at-a-time 50 --details moves.tsv",
    reads_project=True,
)
def rank(
    documents: Collection = None,
    queries: Annotated[
        FileOption | None,
        Arg(
            "queries with their texts: a table with the columns query and text, lines of id, tab, text, or "
            "XML",
            read=QUERIES.parse,
        ),
    ] = None,
    *,
    everywhere: Everywhere,
    swapping: Swapping,
    system: Annotated[
        tuple[str, ...],
        Arg(
            "bm25 (default), bm25+rm3, minilm, the folder of a sentence-transformers model, or a name of "
            "[systems] in the project file (default: all of those); >>nanoranker or >>FOLDER (a "
            "cross-encoder, or a ranker that evenrank debias wrote) re-ranks its first 100 documents, or "
            ":depth=N; may be repeated",
            "SYSTEM",
        ),
    ] = (),
    share: Annotated[
        tuple[float, ...],
        Arg("swap this share of the word pairs, drawn by --seed; may be repeated, for a row each", "SHARE"),
    ] = (1.0,),
    pairings: Annotated[
        int, Arg("pair names in N ways, from --seed on, and give CRBO over them with an interval", "N")
    ] = 1,
    swap_queries: Annotated[bool, Arg("also swap the words of the queries")] = False,
    one_at_a_time: Annotated[
        int | None,
        Arg("also swap at most N documents of the lists one by one, to see which of them move", "N"),
    ] = None,
    depth: Annotated[int, Arg("number of ranks compared", "K")] = 10,
    p: Annotated[float, Arg("persistence of RBO", "P")] = 0.9,
    background: Annotated[
        FileOption | None,
        Arg(
            "a run: the documents that NFaiRR is normalised by (default: the lists of the first system)",
            "FILE",
            read=AGAINST.parse,
        ),
    ] = None,
    cache: Cache = None,
    moved: Annotated[int, Arg("number of queries to list", "N", read=not_negative)] = MOST,
    by: Annotated[str | None, Arg("split results by these columns of the queries", "COLUMN,..")] = None,
    columns: SearchColumns = None,
    format: Format = None,
    output: Annotated[
        str | None, Arg("write RBO by query: .jsonl, .csv, .tsv, .parquet", "FILE", "-o")
    ] = None,
    page: Annotated[
        str | None,
        Arg("write the lists side by side, swapped words marked: .html", "FILE"),
    ] = None,
    details: Annotated[str | None, Arg("write what --one-at-a-time found, as TSV", "FILE")] = None,
) -> int:
    """Rank with every system, swap the group words in the documents, rank again, and compare the two lists of
    each query by rank-biased overlap. CRBO is the mean over queries: 1 if nothing moved. TExFAIR and NFaiRR
    of the original lists stand beside it; NFaiRR is normalised by the first system's first 200 documents.

    With --kinds each all kinds are swapped together, and each alone; with --from each the words of all
    groups, and of each alone."""
    from evenrank.counterfactuals import table
    from evenrank.counterfactuals.experiment import Experiment
    from evenrank.counterfactuals.experiment import one_at_a_time as moved_alone
    from evenrank.counterfactuals.pairings import Pairings
    from evenrank.inputs.reading import categories_by
    from evenrank.measures.rank_overlap import RBO
    from evenrank.scores.files import WRITTEN, file_format
    from evenrank.systems import make_system, read_texts

    if documents is None or queries is None:
        raise ParameterError(
            "name the documents and the queries: evenrank counterfactual rank COLLECTION QUERIES (evenrank "
            "counterfactual swap writes a swapped collection without ranking)"
        )
    RBO(p=p, form="ext")  # which says what is wrong with p
    if output is not None:
        file_format(output, None, WRITTEN)
    if details is not None and one_at_a_time is None:
        raise ParameterError("--details writes what --one-at-a-time finds: add --one-at-a-time N")
    check_page(page)
    if page is not None and find_spec("jinja2") is None:
        raise MissingExtraError.for_job("--page", "Jinja2", "report")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    with work_bar() as bar:
        project = everywhere.project
        known = {} if project is None else project.systems()
        systems = {}
        for name in system or known or ["bm25"]:
            given, folder = declared_system(name, project)
            systems[name] = make_system(given, cache=cache, progress=bar, folder=folder)
        swaps = _swaps(swapping, share, range(everywhere.seed or 0, (everywhere.seed or 0) + pairings))
        texts = read_texts(
            documents.path,
            columns=searched_columns(columns, documents),
            format=documents.get("format"),
        )
        found = searched_queries(queries, columns)
        asked, categories = dict(found.texts), {} if by is None else categories_by(by, found)
        trials = {name: Experiment(one, texts, asked, depth=depth, p=p) for name, one in systems.items()}
        beside = _beside(trials, texts, swapping.lexicon, background, depth)
        rows: list[table.SwapRow] = []
        moves: dict[str, list[Move]] = {}
        further: list[Table] = []
        for name, trial in trials.items():
            for label, swappers in swaps.items():
                results = {
                    seed: trial.swap(swapper, swap_queries=swap_queries, progress=bar)
                    for seed, swapper in swappers.items()
                }
                if len(results) > 1:
                    both = Pairings(tuple(results), tuple(results.values()))
                    further.append(both.to_table().titled(f"{name}, {label}"))
                for seed, result in results.items():
                    pairing = f", pairing {seed}" if len(results) > 1 else ""
                    rows.append(table.SwapRow(name, label + pairing, result, beside[name]))
            if one_at_a_time is not None:
                together = next(iter(next(iter(swaps.values())).values()))
                moves[name] = moved_alone(trial, together, at_most=one_at_a_time, progress=bar)
    tables = [table.system_table(table.with_categories(rows, categories))]
    if format in (None, "table"):
        whole = [row for row in rows if row.swapped == table.ALL]
        tables += [table.agreement_table(whole)] if len(whole) > 2 else []
        tables += further
        tables += [table.moved_table(row, asked, moved) for row in rows if moved]
        tables += [table.moves_table(name, found, max(moved, MOST)) for name, found in moves.items()]
    print_tables(tables, format)
    if output is not None:
        table.merged(rows).write(output)
        say(f"wrote {output}")
    if details is not None:
        from evenrank.tables import printed

        write_text(details, printed([table.moves_table(*one, 0) for one in moves.items()], "tsv"))
    if page is not None:
        from evenrank.counterfactuals.lists import sheets
        from evenrank.reporting.counterfactual_page import write_page

        write_page(page, sheets(rows, texts, asked, depth, max(1, moved)))
        say(f"wrote {page}")
    notes = (note for row in rows for own in row.result.scores.notes.values() for note in own)
    for line in dict.fromkeys(notes):
        say(line)
    return 0


@command(
    "evenrank counterfactual swap collection.tsv -o swapped.tsv",
    "evenrank counterfactual swap corpus.jsonl --kinds pronouns --tagger rules -o swapped.jsonl",
    "evenrank counterfactual swap table.parquet --columns id=docno,text=body -o swapped.parquet",
    "evenrank counterfactual swap collection.tsv --lexicon ages.csv --mapping cyclic -o swapped.tsv",
    reads_project=True,
)
def swap(
    documents: Collection = None,
    *,
    everywhere: Everywhere,
    swapping: Swapping,
    share: Annotated[float, Arg("swap this share of the word pairs, drawn by --seed", "SHARE")] = 1.0,
    columns: Columns = None,
    work: WorkOptions,
    output: Annotated[str, Arg("the collection to write: .tsv, .jsonl, .parquet", "FILE", "-o")],
    details: Annotated[str | None, Arg("write every pair that was swapped, as JSON", "FILE")] = None,
) -> int:
    """Write a collection with its group words swapped. Everything else stays as it is, byte for byte. A swap
    that was interrupted goes on where it stopped when the same command is given again."""
    import json

    from evenrank.counterfactuals.swap import KINDS
    from evenrank.counterfactuals.swap.files import swap_file

    if documents is None:
        raise ParameterError("name the documents: evenrank counterfactual swap COLLECTION -o FILE")
    with opened_cluster(work.on, work.threads) as cluster, ResumableBar("swapping") as bar:
        summary = swap_file(
            documents.path,
            output,
            swapping.lexicon,
            kinds=swapping.kinds or KINDS,
            share=share,
            from_group=swapping.from_,
            seed=everywhere.seed or 0,
            **swapping.settings(),
            threads=work.threads,
            resume=not work.no_resume,
            progress=bar,
            format=documents.get("format"),
            columns=columns or documents.get("columns"),
            on=cluster,
        )
    if details is not None:
        write_text(details, json.dumps(summary.to_dict(), indent=1, ensure_ascii=False) + "\n")
    say(_describe(summary, output))
    return 0


def _describe(summary: SwapSummary, output: str) -> str:
    """What was swapped, in a few lines."""

    def counts(found: Iterable[tuple[object, int]]) -> str:
        return ", ".join(f"{what} {count:,}" for what, count in found)

    most = [(f"{old} -> {new}", count) for (old, new, _), count in summary.most_often()[:SHOWN]]
    one_way = [(f"{old} -> {new}", count) for (old, new), count in summary.one_way.items()]
    lines = [
        f"wrote {output}: {summary.changed:,} of {summary.documents:,} documents changed, "
        f"{summary.words:,} words swapped: {counts(summary.kinds.items())}",
        f"most often: {counts(most)}" if most else "",
        f"her and his by {summary.tagger}; read {summary.bytes_read:,} bytes in {summary.seconds:.1f} s",
        f"a second swap would not restore: {counts(one_way)}" if one_way else "",
        f"resumed: {summary.found:,} of {summary.pieces:,} pieces were finished before"
        if summary.found
        else "",
    ]
    return "\n".join(filter(None, lines))


def _swaps(
    swapping: Swapping, shares: Sequence[float], seeds: Sequence[int]
) -> dict[str, dict[int, Swapper]]:
    """For each row of the result what is swapped, by seed."""
    from functools import partial

    from evenrank.counterfactuals.swap import KINDS, make_swapper
    from evenrank.counterfactuals.table import ALL

    stratified = swapping.kinds == (EACH,)
    asked = KINDS if stratified else tuple(swapping.kinds or KINDS)
    make = partial(make_swapper, swapping.lexicon, **swapping.settings())
    pairing = make(kinds=asked, seed=seeds[0]).pairing
    named = {ALL if set(asked) == set(KINDS) else ", ".join(asked): asked}
    if stratified:
        named |= {kind: (kind,) for kind in pairing.kinds}
    own = pairing.lexicon.groups
    each = swapping.from_ == EACH and EACH not in own
    groups: Sequence[str | None] = (None, *own) if each else (swapping.from_,)
    found = {}
    for name, kinds in named.items():
        for group in groups:
            for share in shares:
                part = "" if share == 1 else f", {100 * share:g}% of pairs"
                label = name + part + ("" if group is None else f", from {group}")
                found[label] = {
                    seed: make(kinds=kinds, share=share, from_group=group, seed=seed) for seed in seeds
                }
    return found


def _mapping(given: str | None) -> dict[str, str] | str | None:
    """A mapping as the name of a rule, or read from a file."""
    from evenrank.io.table_files import read_named_rows

    if given is None or given == "cyclic":
        return given
    if not Path(given).exists():
        raise ParameterError(f"--mapping is cyclic or a CSV file; there is no file {given}")
    known: dict[str, str] = {}
    for line, row in read_named_rows(Path(given), columns=("word", "becomes")):
        old, new = row["word"].strip(), row["becomes"].strip()
        if not old or not new:
            raise DataError(f"{given}:{line}: needs a word and what it becomes, two cells")
        if known.setdefault(old, new) != new:
            raise DataError(f"{given}:{line}: {old!r} becomes {new!r} here and {known[old]!r} above")
    return known


def _beside(
    trials: Mapping[str, Experiment],
    documents: Mapping[str, str],
    lexicon: str | None,
    given: FileOption | None,
    depth: int,
) -> dict[str, dict[str, float]]:
    """TExFAIR and NFaiRR of the original lists, as the paper has them beside CRBO."""
    from evenrank.evaluation import evaluate
    from evenrank.evidence.scan import scan
    from evenrank.io import read_run

    words = scan(list(documents.items()), lexicon or LEXICON)
    measures = [f"TExFAIR@{depth}", f"NFaiRR@{depth}"]
    runs = {name: trial.original for name, trial in trials.items()}
    background = next(iter(runs.values()))
    if given is not None:
        background = read_run(given.path, format=given.get("format"), ties=given.get("ties") or "trec")
    scores = evaluate(runs, measures, words=words, background=background)
    return {name: {measure: scores.mean(measure, name) for measure in measures} for name in runs}
