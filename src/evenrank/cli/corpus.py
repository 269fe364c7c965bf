"""``evenrank corpus``: topics in, documents from both sides out, one stage at a time."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evenrank.cli import shared
from evenrank.cli.parser import add_command
from evenrank.cli.progress import ResumableBar
from evenrank.cli.streams import put, say, terminal_width
from evenrank.cli.values import positive
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.corpus.asking import Spent
    from evenrank.tables import Table

WRITING = ("questions", "perspectives", "documents", "distractors")
READING = ("topics", "filters", "natural")
LOOKING = ("statistics", "quality", "safety", "topic-bias", "release")


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "corpus",
        """Build a corpus of contested questions in FOLDER by stages: topics (--from a table), questions,
        perspectives and documents (written by a model), filters, distractors, natural (--from
        results of an engine), then statistics, quality (a sheet for raters; --from the sheets that they
        filled in), safety, topic-bias (--from labels) and release. FOLDER/corpus.toml names the model and its
        limits. A stage that was interrupted goes on where it ended, and no answer is paid for twice.""",
        """
        evenrank corpus topics debates --from topics.csv
        evenrank corpus questions debates --dry-run
        evenrank corpus documents debates --max-calls 100 --max-cost 2.50
        evenrank corpus quality debates --from rater1.csv --from rater2.csv
        evenrank corpus release debates -o released
        """,
    )
    parser.add_argument(
        "stage", metavar="STAGE", choices=(*READING[:1], *WRITING, *READING[1:], *LOOKING),
        help=f"one of topics, {', '.join(WRITING)}, filters, natural, {', '.join(LOOKING)}",
    )  # fmt: skip
    parser.add_argument(
        "folder", metavar="FOLDER", help="the folder of the corpus; balance-en is the shipped one"
    )
    parser.add_argument(
        "--from", dest="sources", action="append", default=[], metavar="FILE",
        help="what the stage reads: topics, natural: a table; quality: a sheet of each rater; safety: scores "
        "by document; topic-bias: labels by topic",
    )  # fmt: skip
    parser.add_argument(
        "--dry-run", action="store_true", help="print every prompt that would be sent now, and send none"
    )
    parser.add_argument(
        "--max-calls", type=positive, metavar="N", help="stop after N calls (default: no limit)"
    )
    parser.add_argument(
        "--max-cost", type=float, metavar="X",
        help="stop before a call that may bring the cost of this command above X, in the currency of the "
        "prices in corpus.toml (default: no limit)",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", help="where release writes (default: FOLDER/release)"
    )
    shared.add_format(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from evenrank.corpus.balance import NAME, balance_folder

    stage, folder = arguments.stage, Path(arguments.folder)
    if arguments.folder == NAME:
        if stage not in ("statistics", "quality"):
            raise ParameterError(
                f"{NAME} comes with the package and is not changed: copy its files to a folder"
            )
        folder = balance_folder()
    sources = [Path(name) for name in arguments.sources]
    _check(arguments)
    if stage in LOOKING:
        return _look(stage, folder, sources, arguments)
    from evenrank.corpus.pipeline import read_stage, write_stage

    if stage in READING:
        result = read_stage(stage, folder, sources)
    else:
        with ResumableBar(f"asking for {stage}") as bar:

            def spending(spent: Spent) -> None:
                bar.detail = spent.tokens_and_cost

            result = write_stage(
                stage, folder, dry_run=arguments.dry_run, max_calls=arguments.max_calls,
                max_cost=arguments.max_cost, progress=bar, spending=spending, show=put,
            )  # fmt: skip
    if arguments.dry_run:
        return 0
    for line in result.describe():
        say(line)
    say(f"wrote {folder / ('filtered' if stage == 'filters' else stage)}.jsonl")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    if arguments.max_cost is not None and not arguments.max_cost > 0:
        raise ParameterError(f"--max-cost must be a number > 0, got {arguments.max_cost!r}")
    if arguments.stage not in WRITING:
        for name in ("dry_run", "max_calls", "max_cost"):
            if getattr(arguments, name):
                raise ParameterError(
                    f"--{name.replace('_', '-')} is for the stages that ask a model: {', '.join(WRITING)}"
                )
    if arguments.output is not None and arguments.stage != "release":
        raise ParameterError("-o is for the stage release; the other stages write into FOLDER")


def _look(stage: str, folder: Path, sources: list[Path], arguments: argparse.Namespace) -> int:
    from evenrank.corpus.folder import read_corpus
    from evenrank.corpus.pipeline import need_stage
    from evenrank.corpus.settings import read_settings

    if stage == "quality" and sources and not folder.exists():
        from evenrank.corpus.quality import quality_tables, read_ratings

        return _print(quality_tables(read_ratings(sources)), arguments)  # published ratings need no corpus
    need_stage(folder, stage)
    corpus, settings = read_corpus(folder), read_settings(folder)
    if stage == "statistics":
        from evenrank.corpus.statistics import statistics_table

        return _print([statistics_table(corpus)], arguments)
    if stage == "quality":
        from evenrank.corpus.quality import KEY, SHEET, quality_tables, read_ratings, write_sheet

        if sources:
            return _print(quality_tables(read_ratings(sources, corpus, folder)), arguments)
        count = write_sheet(corpus, folder, seed=settings.writer.seed)
        say(
            f"wrote {folder / SHEET}: {count} pairs to rate; {KEY} says which they are, and is not for raters"
        )
        return 0
    if stage == "topic-bias":
        from evenrank.corpus.topic_bias import topic_bias_table

        if len(sources) != 1:
            raise ParameterError(
                "the stage topic-bias reads one table of topic and country: name it with --from FILE"
            )
        return _print([topic_bias_table(corpus, sources[0])], arguments)
    if stage == "release":
        from evenrank.corpus.release import write_release

        target = Path(arguments.output or folder / "release")
        found = write_release(corpus, settings, target)
        say(f"wrote {target}: SHA-256 {found}")
        return 0
    from evenrank.corpus.safety import given_scores, moderate, safety_table, write_review
    from evenrank.corpus.writers import open_endpoint

    if sources:
        scored = given_scores(sources[0], corpus)
    elif settings.writer.url:
        endpoint = open_endpoint(settings.writer)
        with ResumableBar("moderating", "documents") as bar:
            scored = moderate(corpus, lambda texts: endpoint.moderate(settings.safety.model, texts), bar)
        endpoint.close()
    else:
        raise ParameterError(
            "the stage safety needs scores: --from FILE with those of a moderator, or [writer] url "
            "of a server that "
            "has one, in corpus.toml"
        )
    rows = write_review(corpus, scored, settings.safety.threshold, settings.safety.review)
    say(
        f"wrote {folder / 'review.csv'}: {rows} documents to read; write keep or drop into the column verdict"
    )
    return _print([safety_table(scored, settings.safety.threshold)], arguments)


def _print(tables: list[Table], arguments: argparse.Namespace) -> int:
    from evenrank.tables import printed

    put(printed(tables, arguments.format or "table", terminal_width()))
    return 0
