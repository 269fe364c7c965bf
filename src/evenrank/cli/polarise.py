"""``evenrank polarise``: texts by query in, polarity scores out."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenrank.cli import shared
from evenrank.cli.cluster import add_cluster, opened_cluster
from evenrank.cli.outputs import check_output
from evenrank.cli.parser import add_command
from evenrank.cli.progress import Bar
from evenrank.cli.streams import put, say, terminal_width
from evenrank.cli.values import positive
from evenrank.errors import DataError, ParameterError, counted
from evenrank.inputs.file_options import FileForm

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.data.polarity import Polarity
    from evenrank.evidence.polarise import PolariseResult

DEFAULT_ENCODER, BATCH = "minilm", 32
ENCODER = FileForm("an encoder", numbers=("batch",))
ROLES = ("query", "document", "text", "perspective")


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "polarise",
        """Encode texts, fit for every query the axis along which its documents differ most, and write where
        each document stands on it, for DUO, rND, rKL and rRD. Where documents name two perspectives,
        --positive (default: the first in alphabetical order) is positive, and how well the scores tell them
        apart is printed.""",
        """
        evenrank polarise debates.csv -o polarity.parquet
        evenrank polarise debates.csv --documents retrieved.jsonl --cache vectors -o polarity.parquet
        evenrank polarise debates.csv --encoder ./my-model --axes 2 -o polarity.parquet
        evenrank polarise debates.csv --encoder vectors.parquet -o polarity.parquet
        evenrank polarise debates.csv --encoder minilm --encoder ./my-model --figure scores.svg
        evenrank polarise debates.csv --perspectives sentences.csv -o polarity.parquet
        evenrank polarise balance-en --accuracy
        """,
    )
    parser.add_argument(
        "fit", metavar="FIT",
        help="documents that axes are fitted to: a table with the columns query, document, text and perhaps "
        "perspective (CSV, TSV, JSONL, Parquet); balance-en is the corpus that comes with evenrank",
    )  # fmt: skip
    parser.add_argument("--documents", metavar="FILE", help="documents to place; default: those of FIT")
    parser.add_argument(
        "--distractors", metavar="FILE",
        help="documents of two perspectives that differ in something else, to be removed first",
    )  # fmt: skip
    parser.add_argument(
        "--perspectives", metavar="FILE",
        help="a sentence for each side of a query (columns query, perspective, text), to turn the axis by: "
        "the sign then has a meaning without labelled documents",
    )  # fmt: skip
    parser.add_argument(
        "--accuracy", nargs="?", const="", metavar="FILE",
        help="print how well the axis tells labelled sides apart: by two rules beside chance, for documents "
        "that it was not fitted to, and which queries are weak; FILE gets the ids of those that are not, "
        "also without labels",
    )  # fmt: skip
    parser.add_argument("-o", "--output", metavar="FILE", help="the Parquet file to write")
    parser.add_argument(
        "--encoder", action="append", metavar="MODEL",
        help="a sentence-transformers model or its folder (default: minilm, which needs no network), or "
        "a file of "
        "vectors: a Parquet table with the columns document and vector, or vectors.npy with the ids in "
        "vectors.txt; "
        ":batch=N behind it encodes so many texts at once. Several are compared by accuracy, and no "
        "scores are "
        "written; FIT must then name perspectives",
    )  # fmt: skip
    parser.add_argument(
        "--positive", metavar="NAME",
        help="the perspective whose side is positive (default: the first in alphabetical order)",
    )  # fmt: skip
    parser.add_argument("--axes", type=positive, default=1, metavar="M", help="how many axes (default: 1)")
    shared.add_cache(parser)
    shared.add_columns(parser, ROLES)
    parser.add_argument(
        "--figure", metavar="FILE",
        help="draw a histogram of the scores, with --documents of those of FIT above it: .html, .svg, .png, "
        ".pdf",
    )  # fmt: skip
    add_cluster(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    encoders = [ENCODER.parse(text) for text in arguments.encoder or [DEFAULT_ENCODER]]
    names = list(dict.fromkeys(file.path for file in encoders))
    _name_shipped(arguments)
    inputs = [arguments.fit, arguments.documents, arguments.distractors, arguments.perspectives]
    shared.check_stdin(inputs)
    check_output(arguments.output, arguments.figure, arguments.accuracy or None)
    if arguments.figure is not None:
        from evenrank.reporting.figures.files import check_figure

        check_figure(arguments.figure)
    _check_asked(arguments, several=len(names) > 1)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # the library warns of forks that do not happen
    results = _results(arguments, {file.path: file.get("batch") or BATCH for file in encoders})
    if arguments.accuracy is not None:
        _study(arguments, results)
    elif len(names) > 1:
        put(_table(results))
    for name, result in results.items():
        for line in _describe(result):
            say(line if len(results) == 1 else f"{name}: {line}")
    if arguments.output is not None:
        from evenrank.io.polarity import write_polarity

        write_polarity(results[names[0]].polarity, arguments.output)
        say(f"wrote {arguments.output}")
    if arguments.figure is not None:
        from evenrank.reporting import save_figure
        from evenrank.reporting.figures.histogram import polarity_figure

        figure = polarity_figure(_corpora(results, arguments), same_scale=len(results) == 1)
        save_figure(figure, arguments.figure)
        say(f"wrote {arguments.figure}")
    return 0


def _check_asked(arguments: argparse.Namespace, *, several: bool) -> None:
    """What is wrong with the command line is said before anything is encoded."""
    if not several:
        if arguments.output is None and arguments.figure is None and arguments.accuracy is None:
            raise ParameterError("name the file to write: -o polarity.parquet")
    elif arguments.output is not None:
        raise ParameterError(
            "several encoders are compared, and no scores are written: leave -o out, or name one encoder"
        )
    if arguments.output is not None:
        from evenrank.io.polarity import check_name

        check_name(arguments.output)


def _results(arguments: argparse.Namespace, encoders: Mapping[str, int]) -> dict[str, PolariseResult]:
    from evenrank.evidence.polarise import as_vectors, polarise_with_accuracy, read_opinions

    vectors = {name: as_vectors(name) for name in encoders}
    texts = not all(vectors.values())

    def read(path: str | None, roles: Sequence[str] = ROLES) -> Any:
        named = {role: name for role, name in (arguments.columns or {}).items() if role in roles}
        return None if path is None else read_opinions(path, columns=named, texts=texts)

    fit, documents = read(arguments.fit), read(arguments.documents, ROLES[:3])
    fit.sides_from(arguments.positive)  # a name that is not there is said before anything is encoded
    distractors = read(arguments.distractors)
    sentences = None
    if arguments.perspectives is not None:
        from evenrank.evidence.polarise.opinions import read_perspectives

        sentences = read_perspectives(arguments.perspectives, texts=texts)
    if len(encoders) > 1 and fit.sides is None and not arguments.accuracy:
        raise ParameterError(
            "encoders are compared by accuracy, for which FIT must name two perspectives: add that column"
        )
    results = {}
    for name, batch in encoders.items():
        with opened_cluster(arguments) as cluster, Bar("encoding", "texts") as bar:
            results[name] = polarise_with_accuracy(
                fit,
                documents,
                encoder=vectors[name] or name,
                axes=arguments.axes,
                distractors=distractors,
                batch=batch,
                cache=arguments.cache,
                progress=bar,
                positive=arguments.positive,
                perspectives=sentences,
                on=cluster,
            )
    return results


def _name_shipped(arguments: argparse.Namespace) -> None:
    """``balance-en`` stands for the file of the shipped corpus that an option reads."""
    from evenrank.corpus.balance import NAME, balance_folder

    stages = {"fit": "documents", "distractors": "distractors", "perspectives": "perspectives"}
    for option, stage in stages.items():
        if getattr(arguments, option) == NAME:
            setattr(arguments, option, str(balance_folder() / f"{stage}.jsonl"))


def _study(arguments: argparse.Namespace, results: dict[str, PolariseResult]) -> None:
    """Print what labelled queries say of the axis, and write the queries that can be relied on."""
    from evenrank.corpus.axis_study import study_axis, study_tables, trusted_queries
    from evenrank.tables import printed

    found = {name: study_axis(result) for name, result in results.items()}
    studies = {name: study for name, study in found.items() if study is not None}
    if studies:
        put(printed(study_tables(studies, _domains(arguments.fit)), "table", terminal_width()))
    elif not arguments.accuracy:
        raise DataError(
            f"{arguments.fit}: no query has an axis and documents of both perspectives, so there is "
            "no accuracy: "
            "name perspectives, or give --accuracy a FILE for the queries that can be relied on"
        )
    if arguments.accuracy:
        from evenrank.io.atomic import atomic_write

        trusted = trusted_queries(list(results.values()))
        with atomic_write(arguments.accuracy) as file:
            file.write("".join(f"{query}\n" for query in trusted).encode())
        say(f"wrote {arguments.accuracy}: {counted(len(trusted), 'query', 'queries')} whose axis is not weak")


def _domains(fit: str) -> dict[str, tuple[str, ...]]:
    """The domains of queries, where the documents are those of a corpus folder."""
    from pathlib import Path

    folder = Path(fit).parent
    if not (folder / "topics.jsonl").exists() or not (folder / "questions.jsonl").exists():
        return {}
    from evenrank.corpus import read_corpus

    corpus = read_corpus(folder)
    return {query: corpus.domains(query) for query in corpus.queries}


def _corpora(results: dict[str, PolariseResult], arguments: argparse.Namespace) -> dict[str, Polarity]:
    """What is drawn: a panel an encoder, or where others were placed, one for FIT and one for them."""
    shown: dict[str, Polarity] = {}
    for name, result in results.items():
        if result.fit is None:
            shown[name] = result.polarity
        else:
            before = f"{name}: " if len(results) > 1 else ""
            shown |= {
                f"{before}{arguments.fit}": result.fit,
                f"{before}{arguments.documents}": result.polarity,
            }
    return shown


def _describe(result: PolariseResult) -> list[str]:
    from evenrank.stats.intervals import interval_note
    from evenrank.tables import estimate, number

    polarity, found = result.polarity, result.accuracy
    many = counted(len(polarity.query_ids or ()), "query", "queries")
    lines = [f"{counted(len(polarity), 'document', 'documents')} of {many}"]
    if not polarity.oriented:
        lines.append("no perspectives are named, so the sign of the scores has no meaning")
    elif result.unturned:
        many = counted(len(result.unturned), "query", "queries")
        lines.append(f"{many} without both perspectives, where the sign of the scores has no meaning")
    if found is not None:
        many = counted(len(found.values), "query", "queries")
        low, high, _ = interval = found.interval()
        lines.append(
            f"accuracy {estimate(found.mean, low, high)} over {many}; by chance {number(found.mean_chance)}"
        )
        if note := interval_note(interval, len(found.values), (0.0, 1.0)):
            lines.append(note)
    reasons: dict[str, int] = {}
    for why in (polarity.without_axis or {}).values():
        reasons[why] = reasons.get(why, 0) + 1
    for why, count in reasons.items():
        lines.append(f"{counted(count, 'query has', 'queries have')} no axis: {why}, so all scores are 0")
    return lines


def _table(results: dict[str, PolariseResult]) -> str:
    from evenrank.evidence.polarise.accuracy import accuracy_table
    from evenrank.tables import printed

    found = {name: result.accuracy for name, result in results.items() if result.accuracy is not None}
    if len(found) < len(results):
        raise DataError("no query has an axis and documents of both perspectives: nothing to compare")
    return printed([accuracy_table(found)], "table", terminal_width())
