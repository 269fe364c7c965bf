"""Safety: the scores of a moderator, the worst documents for somebody to read, and their verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from evenrank.corpus.asking import Progress
from evenrank.corpus.folder import Corpus
from evenrank.corpus.records import Record, digest, read_lines, write_records
from evenrank.errors import DataError, Problem, counted, few
from evenrank.io.atomic import atomic_write
from evenrank.io.table_files import read_named_rows
from evenrank.tables import Table
from evenrank.tables.records import delimited, of_cell

Moderator = Callable[[Sequence[str]], Sequence[Mapping[str, float]]]
"""Texts in, for each a score between 0 and 1 by category."""

FILE, REVIEW = "safety.jsonl", "review.csv"
VERDICTS = ("keep", "drop")
AT_ONCE = 32
HEAD = ("document", "category", "score", "verdict", "text")


class Scored(NamedTuple):
    """The scores of a document, and the hash of the text that they are of."""

    document: str
    scores: Mapping[str, float]
    made_from: str

    @property
    def worst(self) -> tuple[str, float]:
        return max(self.scores.items(), key=lambda item: item[1], default=("", 0.0))


def moderate(corpus: Corpus, moderator: Moderator, progress: Progress | None = None) -> list[Scored]:
    """Scores of every document and distractor; those that are on disk for the same text are not asked for
    again, and what was answered is kept in ``safety.jsonl`` as it comes."""
    texts = _texts(corpus)
    hashes = {record["document"]: _hash(record) for record in texts}
    found = {
        each.document: each
        for each in read_scores(corpus.folder)
        if hashes.get(each.document) == each.made_from
    }
    rest = [record for record in texts if record["document"] not in found]
    for begin in range(0, len(rest), AT_ONCE):
        block = rest[begin : begin + AT_ONCE]
        scores = moderator([record["text"] for record in block])
        if len(scores) != len(block):
            raise DataError(f"the moderator gave {len(scores)} results for {len(block)} texts")
        for record, own in zip(block, scores, strict=True):
            found[record["document"]] = Scored(record["document"], dict(own), hashes[record["document"]])
        _write(corpus.folder, [found[name] for name in hashes if name in found])
        if progress is not None:
            progress(begin + len(block), len(rest))
    return [found[name] for name in hashes]


def given_scores(path: Path, corpus: Corpus) -> list[Scored]:
    """Scores that another program has written: JSON lines, a document and its score by category."""
    hashes = {record["document"]: _hash(record) for record in _texts(corpus)}
    found, problems = dict[str, Scored](), list[Problem]()
    for line, text in enumerate(read_lines(path), 1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
            name = row.pop("document")
            scores = {str(category): float(score) for category, score in row.items()}
        except (ValueError, KeyError, AttributeError, TypeError):
            problems.append(Problem(line, 'is not {"document": .., "category": score, ..}'))
            continue
        if name not in hashes:
            problems.append(Problem(line, f"document {name!r} is not in the corpus"))
        elif not scores or not all(0 <= score <= 1 for score in scores.values()):
            problems.append(Problem(line, f"document {name!r}: every score must be between 0 and 1"))
        else:
            found[name] = Scored(name, scores, hashes[name])
    missing = [name for name in hashes if name not in found]
    if problems:
        raise DataError.listing(str(path), problems)
    if missing:
        raise DataError(
            f"{path}: {counted(len(missing), 'document has', 'documents have')} no score: {few(missing)}"
        )
    scored = [found[name] for name in hashes]
    _write(corpus.folder, scored)
    return scored


def safety_table(scored: Sequence[Scored], threshold: float) -> Table:
    """The largest score of each category, and how many documents lie above the threshold."""
    categories = sorted({category for each in scored for category in each.scores})
    rows = []
    for category in categories:
        worst = max(scored, key=lambda each: each.scores.get(category, 0.0))
        above = sum(each.scores.get(category, 0.0) > threshold for each in scored)
        rows.append((category, worst.document, worst.scores[category], above))
    return Table.of(
        ("category", "worst document", "largest score", f"above {threshold:g}"), rows, words=2,
        title="safety: largest scores",
        meaning="Documents above the threshold should be read by a person before they are used.",
    )  # fmt: skip


def write_review(corpus: Corpus, scored: Sequence[Scored], threshold: float, most: int) -> int:
    """The documents above the threshold, and the worst others up to ``most``, to be read and judged.

    Verdicts that are there already stay. Gives how many rows there are.
    """
    before = read_verdicts(corpus.folder)
    order = sorted(scored, key=lambda each: -each.worst[1])
    above = sum(each.worst[1] > threshold for each in order)
    texts = {record["document"]: record["text"] for record in _texts(corpus)}
    shown = order[: max(above, most)]
    rows = [
        dict(zip(HEAD, (name, *each.worst, before.get(name, ""), texts[name]), strict=True))
        for each in shown
        for name in (each.document,)
    ]
    with atomic_write(corpus.folder / REVIEW) as file:
        file.write(delimited(rows, ",", HEAD).encode())
    return len(shown)


def read_verdicts(folder: Path) -> dict[str, str]:
    """``keep`` or ``drop`` by document; rows without a verdict are left out."""
    path = folder / REVIEW
    if not path.exists():
        return {}
    found, problems = dict[str, str](), list[Problem]()
    for line, row in read_named_rows(path, columns=HEAD[:1]):
        verdict = (row.get("verdict") or "").strip().lower()
        if verdict and verdict not in VERDICTS:
            problems.append(Problem(line, f"verdict must be keep or drop, got {verdict!r}"))
        elif verdict:
            found[of_cell(row["document"])] = verdict
    if problems:
        raise DataError.listing(str(path), problems)
    return found


def read_scores(folder: Path) -> list[Scored]:
    path = folder / FILE
    if not path.exists():
        return []
    found = []
    for line, text in enumerate(read_lines(path), 1):
        if text.strip():
            try:
                row = json.loads(text)
                found.append(Scored(row["document"], dict(row["scores"]), row["made_from"]))
            except (ValueError, KeyError, TypeError):
                raise DataError.listing(
                    str(path), [Problem(line, "is not a record of scores: run the stage safety again")]
                ) from None
    return found


def unreviewed(corpus: Corpus, threshold: float) -> list[str]:
    """Documents that nobody may release yet: without a score, or above the threshold without a verdict."""
    scored = {each.document: each for each in read_scores(corpus.folder)}
    verdicts = read_verdicts(corpus.folder)
    found = []
    for record in _texts(corpus):
        own = scored.get(record["document"])
        known = own is not None and own.made_from == _hash(record)
        if not known or (own is not None and own.worst[1] > threshold and record["document"] not in verdicts):
            found.append(record["document"])
    return found


def _texts(corpus: Corpus) -> list[Record]:
    return [*corpus.documents, *corpus.distractors]


def _hash(record: Record) -> str:
    return digest([{"text": record["text"]}])


def _write(folder: Path, scored: Sequence[Scored]) -> None:
    rows = [
        {"document": each.document, "scores": dict(each.scores), "made_from": each.made_from}
        for each in scored
    ]
    write_records(folder / FILE, rows)
