"""``evenrank polarise``: texts by query in, polarity scores out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from evenrank.cli.collection import Cache, On, opened_cluster
from evenrank.cli.printing import print_tables, write_text
from evenrank.cli.progress import Bar
from evenrank.cli.streams import say
from evenrank.cli.typed import Arg, command
from evenrank.cli.values import columns_of
from evenrank.errors import DataError, ParameterError, counted

if TYPE_CHECKING:
    from evenrank.evidence.polarise import PolariseResult

ROLES = ("query", "document", "text", "perspective")


@command(
    "evenrank polarise debates.csv -o polarity.parquet",
    "evenrank polarise debates.csv --documents retrieved.jsonl --cache vectors -o polarity.parquet",
    "evenrank polarise debates.csv --encoder ./my-model --axes 2 -o polarity.parquet",
    "evenrank polarise debates.csv --encoder vectors.parquet -o polarity.parquet",
    "evenrank polarise debates.csv --encoder minilm --encoder ./my-model --figure scores.svg",
    "evenrank polarise debates.csv --perspectives sentences.csv -o polarity.parquet",
    "evenrank polarise balance-en --accuracy",
)
def polarise(
    fit: Annotated[
        str,
        Arg(
            "documents that axes are fitted to: a table with the columns query, document, text and perhaps "
            "perspective (CSV, TSV, JSONL, Parquet); balance-en is the corpus that comes with evenrank"
        ),
    ],
    *,
    documents: Annotated[str | None, Arg("documents to place; default: those of FIT", "FILE")] = None,
    distractors: Annotated[
        str | None,
        Arg("documents of two perspectives that differ in something else, to be removed first", "FILE"),
    ] = None,
    perspectives: Annotated[
        str | None,
        Arg(
            "a sentence for each side of a query (columns query, perspective, text), to turn the axis by: "
            "the sign then has a meaning without labelled documents",
            "FILE",
        ),
    ] = None,
    positive: Annotated[
        str | None,
        Arg("the perspective whose side is positive (default: the first in alphabetical order)", "NAME"),
    ] = None,
    encoder: Annotated[
        tuple[str, ...],
        Arg(
            "a sentence-transformers model or its folder (default: minilm, which needs no network), or a "
            "file of vectors: a Parquet table with the columns document and vector, or vectors.npy with the "
            "ids in vectors.txt. Several are compared by accuracy, and no scores are written; FIT must then "
            "name perspectives",
            "MODEL",
        ),
    ] = ("minilm",),
    batch: Annotated[int, Arg("encode so many texts at once", "N")] = 32,
    axes: Annotated[int, Arg("how many axes", "M")] = 1,
    accuracy: Annotated[
        bool,
        Arg(
            "print how well the axis tells labelled sides apart: by two rules beside chance, for documents "
            "that it was not fitted to, and which queries are weak"
        ),
    ] = False,
    reliable: Annotated[
        str | None, Arg("write the ids of the queries that are not weak, also without labels", "FILE")
    ] = None,
    cache: Cache = None,
    columns: Annotated[
        Mapping[str, str] | None,
        Arg(
            "names of the columns, where they are not the usual ones: query=qid,text=body,perspective=side",
            "ROLE=NAME,..",
            read=lambda text: columns_of(text, ROLES),
        ),
    ] = None,
    output: Annotated[str | None, Arg("the Parquet file to write", "FILE", "-o")] = None,
    figure: Annotated[
        str | None,
        Arg(
            "draw a histogram of the scores, with --documents of those of FIT above it: .html, .svg, .png, "
            ".pdf",
            "FILE",
        ),
    ] = None,
    on: On = None,
) -> int:
    """Encode texts, fit for every query the axis along which its documents differ most, and write where each
    document stands on it, for DUO, rND, rKL and rRD. Where documents name two perspectives, how well the
    scores tell them apart is printed."""
    from evenrank.corpus.balance import NAME, balance_folder
    from evenrank.evidence.polarise import as_vectors, polarise_with_accuracy, read_opinions
    from evenrank.evidence.polarise.opinions import read_perspectives
    from evenrank.io.polarity import check_name, write_polarity

    names = list(dict.fromkeys(encoder))
    if figure is not None:
        from evenrank.reporting.figures.files import check_figure

        check_figure(figure)
    if len(names) > 1 and output is not None:
        raise ParameterError(
            "several encoders are compared, and no scores are written: leave -o out, or name one encoder"
        )
    if len(names) == 1 and (output, figure, reliable, accuracy) == (None, None, None, False):
        raise ParameterError("name the file to write: -o polarity.parquet")
    if output is not None:
        check_name(output)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # the library warns of forks that do not happen
    vectors = {name: as_vectors(name) for name in names}
    texts = not all(vectors.values())

    def shipped(path: str, stage: str) -> str:
        return str(balance_folder() / f"{stage}.jsonl") if path == NAME else path

    def opinions(path: str, stage: str, roles: Sequence[str] = ROLES) -> Any:
        named = {role: name for role, name in (columns or {}).items() if role in roles}
        return read_opinions(shipped(path, stage), columns=named, texts=texts)

    fitted = opinions(fit, "documents")
    fitted.sides_from(positive)  # a name that is not there is said before anything is encoded
    placed = None if documents is None else opinions(documents, "documents", ROLES[:3])
    removed = None if distractors is None else opinions(distractors, "distractors")
    sentences = None
    if perspectives is not None:
        sentences = read_perspectives(shipped(perspectives, "perspectives"), texts=texts)
    if len(names) > 1 and fitted.sides is None and reliable is None:
        raise ParameterError(
            "encoders are compared by accuracy, for which FIT must name two perspectives: add that column"
        )
    results: dict[str, PolariseResult] = {}
    for name in names:
        with opened_cluster(on) as cluster, Bar("encoding", "texts") as bar:
            results[name] = polarise_with_accuracy(
                fitted, placed, encoder=vectors[name] or name, axes=axes, distractors=removed, batch=batch,
                cache=cache, progress=bar, positive=positive, perspectives=sentences, on=cluster,
            )  # fmt: skip
    if accuracy or reliable is not None:
        _study(results, shipped(fit, "documents"), reliable)
    elif len(names) > 1:
        from evenrank.evidence.polarise.accuracy import accuracy_table

        found = {name: result.accuracy for name, result in results.items() if result.accuracy is not None}
        if len(found) < len(results):
            raise DataError("no query has an axis and documents of both perspectives: nothing to compare")
        print_tables([accuracy_table(found)])
    for name, result in results.items():
        for line in _describe(result):
            say(line if len(results) == 1 else f"{name}: {line}")
    if output is not None:
        write_polarity(results[names[0]].polarity, output)
        say(f"wrote {output}")
    if figure is not None:
        from evenrank.reporting import save_figure
        from evenrank.reporting.figures.histogram import polarity_figure

        shown = {}  # a panel for each encoder, or where others were placed, one for FIT and one for them
        for name, result in results.items():
            before = f"{name}: " if len(results) > 1 else ""
            if result.fit is None:
                shown[name] = result.polarity
            else:
                shown |= {f"{before}{fit}": result.fit, f"{before}{documents}": result.polarity}
        save_figure(polarity_figure(shown, same_scale=len(results) == 1), figure)
        say(f"wrote {figure}")
    return 0


def _study(results: Mapping[str, PolariseResult], fit: str, reliable: str | None) -> None:
    """Print what labelled queries say of the axis, and write the queries that can be relied on."""
    from evenrank.corpus import read_corpus
    from evenrank.corpus.axis_study import study_axis, study_tables, trusted_queries

    found = {name: study_axis(result) for name, result in results.items()}
    studies = {name: study for name, study in found.items() if study is not None}
    folder, domains = Path(fit).parent, {}
    if all((folder / name).exists() for name in ("topics.jsonl", "questions.jsonl")):  # of a corpus
        corpus = read_corpus(folder)
        domains = {query: corpus.domains(query) for query in corpus.queries}
    if studies:
        print_tables(study_tables(studies, domains))
    elif reliable is None:
        raise DataError(
            f"{fit}: no query has an axis and documents of both perspectives, so there is no accuracy: name "
            "perspectives, or a file for the queries that can be relied on (--reliable FILE)"
        )
    if reliable is not None:
        trusted = trusted_queries(list(results.values()))
        many = f"{counted(len(trusted), 'query', 'queries')} whose axis is not weak"
        write_text(reliable, "".join(f"{query}\n" for query in trusted), many)


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
    for why, count in Counter((polarity.without_axis or {}).values()).items():
        lines.append(f"{counted(count, 'query has', 'queries have')} no axis: {why}, so all scores are 0")
    return lines
