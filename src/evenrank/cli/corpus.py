"""Build a corpus of contested questions in FOLDER by stages, one after the other. FOLDER/corpus.toml names
the model and its limits. A stage that was interrupted goes on where it ended, and no answer is paid for
twice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from evenrank.cli.printing import Format, print_tables
from evenrank.cli.progress import ResumableBar
from evenrank.cli.streams import put, say
from evenrank.cli.typed import Arg, Command, command
from evenrank.cli.values import positive_number
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.corpus import Corpus
    from evenrank.corpus.asking import Spent
    from evenrank.corpus.pipeline import StageResult
    from evenrank.corpus.settings import Settings

Folder = Annotated[Path, Arg("the folder of the corpus", read=Path)]
Shipped = Annotated[str, Arg("the folder of the corpus; balance-en is the shipped one")]


@command("evenrank corpus topics debates --from topics.csv")
def topics(folder: Folder, *, from_: Annotated[Path, Arg("a table of topics", "FILE", read=Path)]) -> int:
    """Begin a corpus with a table of topics."""
    return _read("topics", folder, from_)


def _writing(stage: str, description: str, *examples: str) -> Command:
    """A stage in which a model writes texts."""

    def write(
        folder: Folder,
        *,
        dry_run: Annotated[bool, Arg("print every prompt that would be sent now, and send none")] = False,
        max_calls: Annotated[int | None, Arg("stop after N calls (default: no limit)", "N")] = None,
        max_cost: Annotated[
            float | None,
            Arg(
                "stop before a call that may bring the cost of this command above X, in the currency of the "
                "prices in corpus.toml (default: no limit)",
                "X",
                read=positive_number,
            ),
        ] = None,
    ) -> int:
        from evenrank.corpus.pipeline import write_stage

        with ResumableBar(f"asking for {stage}") as bar:

            def spending(spent: Spent) -> None:
                bar.detail = spent.tokens_and_cost

            result = write_stage(
                stage, folder, dry_run=dry_run, max_calls=max_calls, max_cost=max_cost, progress=bar,
                spending=spending, show=put,
            )  # fmt: skip
        return 0 if dry_run else _describe(stage, folder, result)

    write.__name__, write.__doc__ = stage, description
    return command(*examples)(write)


questions = _writing(
    "questions", "Let a model write questions on the topics.", "evenrank corpus questions debates --dry-run"
)
perspectives = _writing(
    "perspectives", "Let a model write two sides of each question.",
    "evenrank corpus perspectives debates --max-cost 5",
)  # fmt: skip
documents = _writing(
    "documents", "Let a model write documents of both sides.",
    "evenrank corpus documents debates --max-calls 100 --max-cost 2.50",
)  # fmt: skip


@command("evenrank corpus filters debates")
def filters(folder: Folder) -> int:
    """Leave out documents that are too alike, too short, or on the wrong side."""
    return _read("filters", folder)


distractors = _writing(
    "distractors", "Let a model write documents that only look as if they answered.",
    "evenrank corpus distractors debates",
)  # fmt: skip


@command("evenrank corpus natural debates --from results.jsonl")
def natural(folder: Folder, *, from_: Annotated[Path, Arg("results of an engine", "FILE", read=Path)]) -> int:
    """Add documents that an engine found."""
    return _read("natural", folder, from_)


@command("evenrank corpus statistics debates")
def statistics(folder: Shipped, *, format: Format = None) -> int:
    """Count documents, and say whether the sides differ in style."""
    from evenrank.corpus.statistics import statistics_table

    corpus, _ = _opened(_shipped(folder), "statistics")
    print_tables([statistics_table(corpus)], format)
    return 0


@command(
    "evenrank corpus quality debates", "evenrank corpus quality debates --from rater1.csv --from rater2.csv"
)
def quality(
    folder: Shipped,
    *,
    from_: Annotated[
        tuple[Path, ...], Arg("a sheet that a rater filled in; may be repeated", "FILE", read=Path)
    ] = (),
    format: Format = None,
) -> int:
    """Write a sheet for raters, or say what raters found. Their sheets can be read without the corpus."""
    from evenrank.corpus.quality import KEY, SHEET, quality_tables, read_ratings, write_sheet

    place = _shipped(folder)
    if from_ and not place.exists():
        print_tables(quality_tables(read_ratings(from_)), format)
        return 0
    corpus, settings = _opened(place, "quality")
    if from_:
        print_tables(quality_tables(read_ratings(from_, corpus, place)), format)
        return 0
    count = write_sheet(corpus, place, seed=settings.writer.seed)
    say(f"wrote {place / SHEET}: {count} pairs to rate; {KEY} says which they are, and is not for raters")
    return 0


@command("evenrank corpus safety debates --from scores.jsonl")
def safety(
    folder: Folder,
    *,
    from_: Annotated[
        Path | None,
        Arg(
            "scores of a moderator by document (default: [writer] url of corpus.toml is asked)",
            "FILE",
            read=Path,
        ),
    ] = None,
    format: Format = None,
) -> int:
    """Write down which documents a person should read before the release."""
    from evenrank.corpus.safety import given_scores, moderate, safety_table, write_review
    from evenrank.corpus.writers import open_endpoint

    corpus, settings = _opened(folder, "safety")
    if from_ is not None:
        scored = given_scores(from_, corpus)
    elif settings.writer.url:
        endpoint = open_endpoint(settings.writer)
        with ResumableBar("moderating", "documents") as bar:
            scored = moderate(corpus, lambda texts: endpoint.moderate(settings.safety.model, texts), bar)
        endpoint.close()
    else:
        raise ParameterError(
            "the stage safety needs scores: --from FILE with those of a moderator, or [writer] url of a "
            "server that has one, in corpus.toml"
        )
    rows = write_review(corpus, scored, settings.safety.threshold, settings.safety.review)
    say(
        f"wrote {folder / 'review.csv'}: {rows} documents to read; write keep or drop into the column verdict"
    )
    print_tables([safety_table(scored, settings.safety.threshold)], format)
    return 0


@command("evenrank corpus topic-bias debates --from labels.csv")
def topic_bias(
    folder: Folder,
    *,
    from_: Annotated[Path, Arg("a table of topic and country", "FILE", read=Path)],
    format: Format = None,
) -> int:
    """Say which countries the topics are about."""
    from evenrank.corpus.topic_bias import topic_bias_table

    corpus, _ = _opened(folder, "topic-bias")
    print_tables([topic_bias_table(corpus, from_)], format)
    return 0


@command("evenrank corpus release debates -o released", makes_folder=True)
def release(
    folder: Folder,
    *,
    output: Annotated[
        str | None, Arg("the folder to write (default: FOLDER/release)", "FOLDER", "-o")
    ] = None,
) -> int:
    """Write the corpus without what reviewers dropped."""
    from evenrank.corpus.release import write_release

    target = folder / "release" if output is None else Path(output)
    digest = write_release(*_opened(folder, "release"), target)
    say(f"wrote {target}: SHA-256 {digest}")
    return 0


def _shipped(name: str) -> Path:
    from evenrank.corpus.balance import NAME, balance_folder

    return balance_folder() if name == NAME else Path(name)


def _opened(folder: Path, stage: str) -> tuple[Corpus, Settings]:
    """A corpus that has come so far, and its settings."""
    from evenrank.corpus.folder import read_corpus
    from evenrank.corpus.pipeline import need_stage
    from evenrank.corpus.settings import read_settings

    need_stage(folder, stage)
    return read_corpus(folder), read_settings(folder)


def _read(stage: str, folder: Path, *sources: Path) -> int:
    from evenrank.corpus.pipeline import read_stage

    return _describe(stage, folder, read_stage(stage, folder, sources))


def _describe(stage: str, folder: Path, result: StageResult) -> int:
    for line in result.describe():
        say(line)
    say(f"wrote {folder / ('filtered' if stage == 'filters' else stage)}.jsonl")
    return 0
