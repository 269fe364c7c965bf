"""A release: the texts in the files that evenrank and other tools read, with a card."""

from __future__ import annotations

from pathlib import Path

from evenrank.corpus.balance import HASHED, corpus_hash
from evenrank.corpus.folder import Corpus
from evenrank.corpus.records import MADE, Record, write_records
from evenrank.corpus.safety import read_verdicts, unreviewed
from evenrank.corpus.settings import Settings
from evenrank.corpus.statistics import stale, statistics_table
from evenrank.errors import DataError, counted, few
from evenrank.io.atomic import atomic_write
from evenrank.tables import delimited

NAMES = {"p1": "for", "p2": "against"}


def write_release(corpus: Corpus, settings: Settings, target: Path) -> str:
    """Write a release into ``target`` and give its hash. Natural documents are never part of it.

    It is refused while documents have no moderation score, or lie above the threshold without a verdict, or
    were made from questions or perspectives that have changed since.
    """
    if not corpus.documents:
        raise DataError(f"{corpus.folder}: has no documents: run evenrank corpus documents {corpus.folder}")
    open_cases = unreviewed(corpus, settings.safety.threshold)
    if open_cases:
        raise DataError(
            f"{counted(len(open_cases), 'document is', 'documents are')} not reviewed: "
            f"{few(open_cases)}; run "
            f"evenrank corpus safety {corpus.folder}, then write keep or drop into the column verdict of "
            f"{corpus.folder / 'review.csv'}"
        )
    old = stale(corpus)
    if old:
        raise DataError(
            f"{counted(len(old), 'document was', 'documents were')} made from another version of "
            "their question or "
            f"perspective: {few(old)}; run evenrank corpus documents {corpus.folder} again"
        )
    target.mkdir(parents=True, exist_ok=True)
    dropped = {name for name, verdict in read_verdicts(corpus.folder).items() if verdict == "drop"}
    documents = [record for record in corpus.documents if record["document"] not in dropped]
    used = {record["query"] for record in documents}
    questions = [record for record in corpus.questions if record["query"] in used]
    topics = {record["topic"] for record in questions}
    parts: dict[str, list[Record]] = {
        "topics": [record for record in corpus.topics if record["topic"] in topics],
        "questions": questions,
        "perspectives": [
            {name: value for name, value in record.items() if name != "article"}
            for record in corpus.perspectives
            if record["query"] in used
        ],
        "documents": documents,
        "distractors": [record for record in corpus.distractors if record["document"] not in dropped],
    }
    for name, records in parts.items():
        write_records(target / f"{name}.jsonl", records)
    _write_queries(corpus, questions, target / "queries.csv")
    lines = [
        f"{record['query']} {NAMES[record['perspective']]} {record['document']} 1\n" for record in documents
    ]
    with atomic_write(target / "sides.txt") as file:
        file.write("".join(lines).encode())
    found = corpus_hash(target)
    with atomic_write(target / "README.md") as file:
        file.write(_card(corpus, settings, parts, found, len(dropped)).encode())
    return found


def _write_queries(corpus: Corpus, questions: list[Record], path: Path) -> None:
    rows = [
        {"query": record["query"], "domain": corpus.domains(record["query"])[0], "text": record["text"]}
        for record in questions
    ]
    with atomic_write(path) as file:
        file.write(delimited(rows, ",", ("query", "domain", "text")).encode())


def _card(
    corpus: Corpus, settings: Settings, parts: dict[str, list[Record]], found: str, dropped: int
) -> str:
    models = sorted({str(record[MADE[0]]) for record in parts["documents"] if record.get(MADE[0])})
    lines = [
        f"# {settings.name}",
        "",
        f"{len(parts['questions'])} contested questions with {len(parts['documents'])} documents "
        "from both sides and "
        f"{len(parts['distractors'])} distractors. The texts are machine-written, by "
        f"{', '.join(models) or 'unknown'}.",
        "",
        f"SHA-256 of {', '.join(HASHED)}, one after the other: `{found}`",
        "",
        f"Licence: {settings.license or 'not stated'}",
        "",
        statistics_table(corpus).to_markdown(),
        "",
        f"Documents that a moderator scored above {settings.safety.threshold:g} were read; "
        f"{dropped} were left out. "
        "Natural documents are not part of a release.",
        "",
    ]
    return "\n".join(lines)
