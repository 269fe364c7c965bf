"""Choose queries whose results should be fair, with annotators: candidates, sheets, their agreement, and the
queries that they keep. Ties and missing votes are listed, never guessed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from evenrank.cli.everywhere import Everywhere
from evenrank.cli.outputs import check_not_read
from evenrank.cli.printing import Format, print_tables, write_text
from evenrank.cli.streams import put, say
from evenrank.cli.typed import Arg, command
from evenrank.errors import DataError, ParameterError, counted

if TYPE_CHECKING:
    from evenrank.queryset import Procedure, Votes

SHOWN = 20  # undecided queries

SettingsFile = Annotated[
    str | None,
    Arg(
        "settings in TOML: workers, labels, passing, experts, questions, texts, domains, and below [model] "
        "url, name and key (the environment variable) of a language model; default: three workers, two "
        "experts and the questions about gender of Rekabsaz et al. 2021",
        "FILE",
    ),
]
Queries = Annotated[tuple[str, ...], Arg("a file of queries, or the sheets of the workers", "FILE")]
Sheets = Annotated[tuple[str, ...], Arg("sheets of annotators", "SHEET")]


@command(
    "evenrank queryset suggest log.csv --sample 500 --lexicon gender-en+gender-en-names -o candidates.csv"
)
def suggest(
    log: Annotated[str, Arg("queries, perhaps with how often each was asked")],
    *,
    everywhere: Everywhere,
    lexicon: Annotated[str | None, Arg("leave out queries with a word of this lexicon", "NAME")] = None,
    sample: Annotated[int, Arg("how many candidates to draw", "N")] = 200,
    output: Annotated[str | None, Arg("the CSV file to write", "FILE", "-o")] = None,
) -> int:
    """Draw candidates from a log."""
    from evenrank.io.lexicons import read_lexicon
    from evenrank.io.queries import read_queries
    from evenrank.queryset import sampling

    left_out = None if lexicon is None else read_lexicon(lexicon)
    drawn, flow = sampling.suggest(read_queries(log), sample, left_out, seed=everywhere.seed or 0)
    text = sampling.candidates_as_csv(drawn, flow[sampling.NAMES_A_GROUP])
    if output is None:
        put(text)
    else:
        write_text(output, text)
    say("; ".join(f"{count:,} {what}" for what, count in flow.items()))
    more = sampling.describe_larger_sample(drawn, sample)
    if more is not None:
        say(more)
    return 0


@command(
    "evenrank queryset sheets candidates.csv -o workers", "evenrank queryset sheets workers/*.csv -o experts"
)
def sheets(
    files: Queries,
    *,
    procedure: SettingsFile = None,
    output: Annotated[str, Arg("the folder to write", "FOLDER", "-o")],
) -> int:
    """Write a CSV sheet for each annotator. From queries come those of the workers, and from the sheets of
    the workers those of the experts."""
    from evenrank.queryset import read_procedure, write_sheets

    rules = read_procedure(procedure)
    stage, texts = _asked_queries(files, rules)
    paths = write_sheets(output, stage, rules, texts)
    written = ", ".join(map(str, paths))
    say(f"wrote {counted(len(paths), 'sheet', 'sheets')} of {len(texts):,} queries: {written}")
    return 0


@command("evenrank queryset page workers")
def page(
    folder: Annotated[str, Arg("a folder of sheets")],
    address: Annotated[str, Arg("where to serve the pages", "HOST:PORT")] = "127.0.0.1:8000",
    *,
    procedure: SettingsFile = None,
) -> int:
    """Serve a page for each annotator, on which the sheets of a folder are filled in."""
    from evenrank.queryset import read_procedure
    from evenrank.queryset.page import AnnotationPages, local_address
    from evenrank.web.application import make_application
    from evenrank.web.serving import serve

    address = local_address(address)
    pages = AnnotationPages(folder, read_procedure(procedure))
    application = make_application(pages.site())
    for path in pages.others:
        say(f"{path}: is no sheet of this procedure and is left alone")
    for sheet in pages.sheets:
        say(f"{sheet.annotator}: http://{address}{pages.path_of(sheet)}")
    say("give each annotator their address; answers are in the sheets (Ctrl-C stops the page)")
    serve(application, address, proxied=False)
    return 0


@command("evenrank queryset ask candidates.csv --procedure gender.toml -o model.csv")
def ask(
    files: Queries,
    *,
    procedure: SettingsFile = None,
    output: Annotated[str, Arg("the sheet to write: FILE.csv", "FILE", "-o")],
) -> int:
    """Let the language model of the settings fill in a sheet."""
    from evenrank.cli.progress import Bar
    from evenrank.queryset import read_procedure, read_sheets
    from evenrank.queryset.model import ask_model, read_model_settings

    rules, settings, target = read_procedure(procedure), read_model_settings(procedure), Path(output)
    if target.exists():
        votes = read_sheets([target], rules)
        if {*votes.workers, *votes.experts} - {settings.annotator}:
            raise DataError(f"{output}: is there already and may hold votes of people: choose another file")
    stage, texts = _asked_queries(files, rules)
    log = target.with_suffix(".answers.jsonl.zst")
    with Bar("asking", "queries") as bar:
        sheet, unread = ask_model(settings, stage, rules, texts, log, progress=bar)
    for one in unread:
        say(f"query {one.query}: {one.why}")
    write_text(output, sheet, f"the sheet of {settings.annotator} of {len(texts):,} queries")
    return 0


@command("evenrank queryset collect workers/*.csv experts/*.csv -o queries.csv")
def collect(
    files: Sheets,
    *,
    everywhere: Everywhere,
    procedure: SettingsFile = None,
    machine: Annotated[
        tuple[str, ...],
        Arg(
            "an annotator that is no person; it never decides; its agreement with people is shown "
            "(annotators called model:NAME are machines anyway)",
            "NAME",
        ),
    ] = (),
    queries: Annotated[
        str | None,
        Arg("the candidates that suggest drew; their weights tell how much of the log is kept", "FILE"),
    ] = None,
    format: Format = None,
    output: Annotated[str | None, Arg("the query set to write", "FILE", "-o")] = None,
) -> int:
    """Read sheets back. Everything that does not fit is listed; tables say how many queries pass each stage
    and how far annotators agree."""
    from evenrank.io.queries import read_queries
    from evenrank.queryset import decide, read_procedure, read_sheets
    from evenrank.queryset.agreement import agreement_tables
    from evenrank.queryset.log_share import estimate
    from evenrank.queryset.outcome import KEPT
    from evenrank.queryset.sampling import candidates_of, log_size
    from evenrank.tables import printed

    rejected = "" if output is None else str(Path(output).with_suffix(".rejected.csv"))
    check_not_read(rejected, [*files, procedure, queries])
    rules = read_procedure(procedure)
    votes = read_sheets(files, rules, machine)
    unknown = sorted({*machine} - {*votes.workers, *votes.experts})
    if unknown:
        raise ParameterError(f"--machine {unknown[0]}: no annotator of the sheets is called so")
    _list_problems(votes)
    outcome = decide(votes, rules)
    log = None if queries is None else read_queries(queries)
    candidates = None if log is None else candidates_of(log)
    flow = (
        outcome.flow() if log is None or candidates is None else outcome.flow(len(candidates), log_size(log))
    )
    domains = [outcome.domains()] if outcome.kept else []
    print_tables([flow, *domains, *agreement_tables(votes, rules, seed=everywhere.seed or 0)], format)
    if waiting := outcome.open():
        say(f"{counted(len(waiting), 'query is', 'queries are')} not decided (ties and missing votes):")
        for one in waiting[:SHOWN]:
            say(f"  {one.query} ({one.why}): {one.text}")
    if candidates is not None:
        decided = {one.query: one.why == KEPT for one in outcome.decisions if one not in waiting}
        say(estimate(candidates, decided).describe())
    if output is not None:
        outcome.write(output, provenance=f"{rules.workers} workers, {rules.experts} experts")
        say(f"wrote {output}: {counted(len(outcome.kept), 'query', 'queries')}")
        table = outcome.rejected()
        left = counted(len(table.rows), "query that was", "queries that were")
        write_text(rejected, printed([table], "csv"), f"{left} not kept, with the stage and the reason")
    return 0


def _asked_queries(files: tuple[str, ...], rules: Procedure) -> tuple[int, dict[str, str]]:
    """The stage, and the queries that it is about: those of a file, or what the workers let pass."""
    from evenrank.io.queries import read_queries
    from evenrank.queryset import decide, read_sheets
    from evenrank.queryset.outcome import texts_of

    if not all(map(_is_sheet, files)):
        if len(files) > 1:
            raise ParameterError(
                f"name one file of queries, or sheets of the workers; got {len(files)} files"
            )
        queries = read_queries(files[0])
        texts = {query: queries.texts[query] for query in queries.distinct if query in queries.texts}
        if not texts:
            raise DataError(f"{queries.source}: has no texts of queries")
        return 1, texts
    votes = read_sheets(files, rules)
    _list_problems(votes)
    texts = dict(texts_of(tuple(one for one in decide(votes, rules).decisions if one.stage >= 2)))
    if not texts:
        raise DataError(f"no query has a majority of {rules.passing!r}, so the experts have no work")
    return 2, texts


def _is_sheet(path: str) -> bool:
    from evenrank.files import regular_file
    from evenrank.queryset.sheets import STAGE1

    with regular_file(path).open(encoding="utf-8-sig", errors="replace") as file:
        return set(STAGE1) <= {cell.strip().lower() for cell in file.readline().split(",")}


def _list_problems(votes: Votes) -> None:
    for one in votes.problems:
        about = f"query {one.query}: " if one.query else ""
        say(f"{one.source}:{one.line}: {about}{one.what}")
