"""``evenrank queryset``: candidates, sheets for annotators, their agreement, and the queries they keep."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from evenrank.cli import shared
from evenrank.cli.outputs import check_apart, check_output
from evenrank.cli.parser import add_command
from evenrank.cli.streams import put, say, terminal_width
from evenrank.cli.values import positive
from evenrank.errors import DataError, ParameterError, counted

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.queryset import Inconsistency, Procedure
    from evenrank.tables import Table

SAMPLE = 200


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "queryset",
        """Choose queries whose results should be fair, with annotators. ACTION is suggest LOG (draw
        candidates), sheets FILE.. (write a CSV sheet for each annotator: from queries those of the workers,
        from the sheets of the workers those of the experts), page FOLDER [HOST:PORT] (serve a page for each
        annotator, on which the sheets of the folder are filled), ask FILE.. (let the model of --procedure
        fill a sheet), or collect SHEET.. (read sheets back:
        everything that does not fit, how many queries pass each stage, how far annotators agree, and with
        -o the query set). Ties and missing votes are listed, never guessed.""",
        """
        evenrank queryset suggest log.csv --sample 500 --lexicon gender-en+gender-en-names -o candidates.csv
        evenrank queryset sheets candidates.csv -o workers
        evenrank queryset page workers
        evenrank queryset ask candidates.csv --procedure gender.toml -o model.csv
        evenrank queryset sheets workers/*.csv -o experts
        evenrank queryset collect workers/*.csv experts/*.csv -o queries.csv
        """,
    )
    parser.add_argument("action", choices=tuple(ACTIONS), metavar="ACTION", help=", ".join(ACTIONS))
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="a log or queries, sheets, or a folder of sheets"
    )
    parser.add_argument(
        "--procedure", metavar="FILE",
        help="settings in TOML: workers, labels, passing, experts, questions, texts, domains, "
        "and below [model] url, name and key (the environment variable) of a language model; default: three "
        "workers, two experts and the questions about gender of Rekabsaz et al. 2021",
    )  # fmt: skip
    parser.add_argument(
        "--machine", action="append", metavar="NAME",
        help="collect: an annotator that is no person; it never decides; its agreement with people is shown "
        "(annotators called model:NAME are machines anyway)",
    )  # fmt: skip
    parser.add_argument(
        "--queries", metavar="FILE",
        help="collect: the candidates that suggest drew; their weights tell how much of the log is kept",
    )  # fmt: skip
    shared.add_lexicon(parser, "suggest: leave out queries with a word of this lexicon")
    parser.add_argument(
        "--sample",
        type=positive,
        metavar="N",
        help=f"suggest: how many candidates to draw (default: {SAMPLE})",
    )
    shared.add_format(parser)
    shared.add_output(parser, "the file (suggest, ask, collect) or the folder (sheets) to write")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from evenrank.queryset import read_procedure

    if not arguments.files:
        raise ParameterError(f"queryset {arguments.action} needs a file: see evenrank queryset --help")
    ACTIONS[arguments.action](arguments, read_procedure(arguments.procedure))
    return 0


def _show(arguments: argparse.Namespace, tables: list[Table]) -> None:
    from evenrank.tables import printed

    put(printed(tables, arguments.format or "table", terminal_width()))


def _one_file(arguments: argparse.Namespace) -> str:
    if len(arguments.files) != 1:
        raise ParameterError(
            f"queryset {arguments.action} takes one file of queries, got {len(arguments.files)}"
        )
    return str(arguments.files[0])


def _suggest(arguments: argparse.Namespace, procedure: Procedure) -> None:
    from evenrank.io.atomic import atomic_write
    from evenrank.io.lexicons import read_lexicon
    from evenrank.io.queries import read_queries
    from evenrank.queryset.sampling import NAMES_A_GROUP, candidates_as_csv, describe_larger_sample, suggest

    check_output(arguments.output)
    log = read_queries(_one_file(arguments))
    lexicon = None if arguments.lexicon is None else read_lexicon(arguments.lexicon)
    asked = arguments.sample or SAMPLE
    drawn, flow = suggest(log, asked, lexicon, seed=shared.seed_of(arguments))
    text = candidates_as_csv(drawn, flow[NAMES_A_GROUP])
    if arguments.output is None:
        put(text)
    else:
        with atomic_write(arguments.output) as file:
            file.write(text.encode())
    say("; ".join(f"{count:,} {what}" for what, count in flow.items()))
    more = describe_larger_sample(drawn, asked)
    if more is not None:
        say(more)


def _sheets(arguments: argparse.Namespace, procedure: Procedure) -> None:
    from evenrank.queryset import write_sheets

    if arguments.output is None:
        raise ParameterError("queryset sheets writes a file for each annotator: add -o FOLDER")
    stage, texts = _asked_queries(arguments, procedure)
    paths = write_sheets(arguments.output, stage, procedure, texts)
    written = ", ".join(map(str, paths))
    say(f"wrote {counted(len(paths), 'sheet', 'sheets')} of {len(texts):,} queries: {written}")


def _asked_queries(arguments: argparse.Namespace, procedure: Procedure) -> tuple[int, dict[str, str]]:
    """The stage, and the queries that it is about: those of a file, or what the workers let pass."""
    from evenrank.io.queries import read_queries
    from evenrank.queryset import decide, read_sheets
    from evenrank.queryset.outcome import texts_of

    stage = 2 if _are_sheets(arguments.files, procedure) else 1
    if stage == 1:
        queries = read_queries(_one_file(arguments))
        texts = {query: queries.texts[query] for query in queries.distinct if query in queries.texts}
        if not texts:
            raise DataError(f"{queries.source}: has no texts of queries")
    else:
        votes = read_sheets(arguments.files, procedure)
        _list_problems(votes.problems)
        passed = tuple(one for one in decide(votes, procedure).decisions if one.stage >= 2)
        texts = dict(texts_of(passed))
        if not texts:
            raise DataError(f"no query has a majority of {procedure.passing!r}, so the experts have no work")
    return stage, texts


def _page(arguments: argparse.Namespace, procedure: Procedure) -> None:
    from evenrank.queryset.page import ADDRESS, AnnotationPages, local_address
    from evenrank.web.application import make_application
    from evenrank.web.serving import serve

    if len(arguments.files) > 2 or arguments.output is not None:
        raise ParameterError("queryset page takes a folder of sheets and an address: page FOLDER [HOST:PORT]")
    address = local_address(arguments.files[1] if len(arguments.files) == 2 else ADDRESS)
    pages = AnnotationPages(arguments.files[0], procedure)
    application = make_application(pages.site())
    for path in pages.others:
        say(f"{path}: is no sheet of this procedure and is left alone")
    for sheet in pages.sheets:
        say(f"{sheet.annotator}: http://{address}{pages.path_of(sheet)}")
    say("give each annotator their address; answers are in the sheets (Ctrl-C stops the page)")
    serve(application, address, proxied=False)


def _ask(arguments: argparse.Namespace, procedure: Procedure) -> None:
    from evenrank.cli.progress import Bar
    from evenrank.io.atomic import atomic_write
    from evenrank.queryset import read_sheets
    from evenrank.queryset.model import ask_model, read_model_settings

    settings = read_model_settings(arguments.procedure)
    if arguments.output is None:
        raise ParameterError("queryset ask writes the sheet of the model: add -o FILE.csv")
    output = Path(arguments.output)
    check_output(arguments.output)
    if output.exists() and {*(votes := read_sheets([output], procedure)).workers, *votes.experts} - {
        settings.annotator
    }:
        raise DataError(f"{output}: is there already and may hold votes of people: choose another file")
    stage, texts = _asked_queries(arguments, procedure)
    with Bar("asking", "queries") as bar:
        log = output.with_suffix(".answers.jsonl.zst")
        sheet, unread = ask_model(settings, stage, procedure, texts, log, progress=bar)
    with atomic_write(output) as file:
        file.write(sheet.encode())
    for one in unread:
        say(f"query {one.query}: {one.why}")
    say(f"wrote {output}: the sheet of {settings.annotator} of {len(texts):,} queries")


def _are_sheets(files: list[str], procedure: Procedure) -> bool:
    from evenrank.files import regular_file
    from evenrank.queryset.sheets import STAGE1

    def head(path: str) -> set[str]:
        with regular_file(path).open(encoding="utf-8-sig", errors="replace") as file:
            return {cell.strip().lower() for cell in file.readline().split(",")}

    return all(set(STAGE1) <= head(path) for path in files)


def _list_problems(problems: Iterable[Inconsistency]) -> None:
    for one in problems:
        about = f"query {one.query}: " if one.query else ""
        say(f"{one.source}:{one.line}: {about}{one.what}")


def _collect(arguments: argparse.Namespace, procedure: Procedure) -> None:
    from evenrank.io.atomic import atomic_write
    from evenrank.io.queries import read_queries
    from evenrank.queryset import decide, read_sheets
    from evenrank.queryset.agreement import agreement_tables
    from evenrank.queryset.log_share import estimate
    from evenrank.queryset.outcome import KEPT
    from evenrank.queryset.sampling import candidates_of, log_size
    from evenrank.tables import printed

    rejected = None if arguments.output is None else Path(arguments.output).with_suffix(".rejected.csv")
    check_output(arguments.output)
    if rejected is not None:
        check_apart(arguments, str(rejected))
    votes = read_sheets(arguments.files, procedure, arguments.machine or ())
    unknown = sorted(set(arguments.machine or ()) - {*votes.workers, *votes.experts})
    if unknown:
        raise ParameterError(f"--machine {unknown[0]}: no annotator of the sheets is called so")
    _list_problems(votes.problems)
    outcome = decide(votes, procedure)
    candidates, tables = None, [outcome.flow()]
    if arguments.queries is not None:
        queries = read_queries(arguments.queries)
        candidates = candidates_of(queries)
        tables = [outcome.flow(len(candidates), log_size(queries))]
    if outcome.kept:
        tables.append(outcome.domains())
    tables += agreement_tables(votes, procedure, seed=shared.seed_of(arguments))
    _show(arguments, tables)
    waiting = outcome.open()
    if waiting:
        say(f"{counted(len(waiting), 'query is', 'queries are')} not decided (ties and missing votes):")
        for one in waiting[:20]:
            say(f"  {one.query} ({one.why}): {one.text}")
    if candidates is not None:
        decided = {one.query: one.why == KEPT for one in outcome.decisions if one not in waiting}
        found = estimate(candidates, decided)
        say(
            f"the share of the {found.population:,} queries that were drawn from that would be kept is "
            f"undefined: {found.reason}"
            if found.reason is not None
            else f"of the {found.population:,} queries that were drawn from, {found.share:.1%} would be kept "
            f"[{found.low:.1%}, {found.high:.1%}], by {found.drawn:,} decided ones and their weights"
        )
    if rejected is not None:
        how = f"{procedure.workers} workers, {procedure.experts} experts"
        outcome.write(arguments.output, provenance=how)
        say(f"wrote {arguments.output}: {counted(len(outcome.kept), 'query', 'queries')}")
        table = outcome.rejected()
        with atomic_write(rejected) as file:
            file.write(printed([table], "csv").encode())
        left = counted(len(table.rows), "query that was", "queries that were")
        say(f"wrote {rejected}: {left} not kept, with the stage and the reason")


ACTIONS: dict[str, Callable[[argparse.Namespace, Procedure], None]] = {
    "suggest": _suggest,
    "sheets": _sheets,
    "page": _page,
    "ask": _ask,
    "collect": _collect,
}
