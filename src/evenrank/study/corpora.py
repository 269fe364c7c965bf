"""The questions of a study and the documents that answer them, with where each document stands."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenrank.errors import DataError, Problem
from evenrank.io.table_files import read_named_rows
from evenrank.study.settings import SIDES, CorpusFiles, StudySettings

SNIPPET = 180  # characters


@dataclass(frozen=True)
class Question:
    """A question, and the perspective on it with which participants agree or disagree."""

    id: str
    text: str
    perspective: str


@dataclass(frozen=True)
class StudyDocument:
    id: str
    title: str
    address: str
    snippet: str
    text: str


@dataclass(frozen=True)
class QuestionDocuments:
    """The documents of a question in the order of the file; polarity by encoder, positive for the side that
    agrees with the perspective."""

    documents: tuple[StudyDocument, ...]
    polarity: Mapping[str, tuple[float, ...]]


def read_questions(settings: StudySettings) -> tuple[Question, ...]:
    """From a CSV file with the columns question, text and perspective."""
    path = settings.path(settings.questions)
    needed = ("question", "text", "perspective")
    found: dict[str, Question] = {}
    problems = []
    for line, row in read_named_rows(path, columns=needed, holds="it names the questions, one on each line"):
        question = Question(*((row[name] or "").strip() for name in needed))
        if not (question.id and question.text and question.perspective):
            problems.append(Problem(line, "question, text and perspective must not be empty"))
        elif question.id in found:
            problems.append(Problem(line, f"question {question.id!r} stands there twice"))
        found[question.id] = question
    if problems:
        raise DataError.listing(str(path), problems)
    if not found:
        raise DataError(f"{path}: no questions")
    return tuple(found.values())


def read_corpus(
    settings: StudySettings, files: CorpusFiles, questions: tuple[Question, ...]
) -> dict[str, QuestionDocuments]:
    """The documents of every question, from JSON lines with question, id, title, url and text."""
    path = settings.path(files.documents)
    rows = read_named_rows(path, holds="it holds the documents, one JSON object a line")
    problems: list[Problem] = []
    by_question: dict[str, dict[str, tuple[int, Mapping[str, Any]]]] = {one.id: {} for one in questions}
    for line, row in rows:
        wrong = _wrong(row)
        if wrong is not None:
            problems.append(Problem(line, wrong))
        elif row["question"] in by_question:
            own = by_question[row["question"]]
            if row["id"] in own:
                problems.append(
                    Problem(line, f"document {row['id']!r} of {row['question']!r} stands there twice")
                )
            own[row["id"]] = (line, row)
    if problems:
        raise DataError.listing(str(path), problems)
    scores = {
        encoder: _polarity(settings, files, encoder, source, by_question, problems)
        for encoder, source in files.polarity.items()
    }
    if problems:
        raise DataError.listing(str(path), problems)
    found = {}
    for question, own in by_question.items():
        found[question] = QuestionDocuments(
            tuple(_document(row) for _, row in own.values()),
            {encoder: tuple(by[question, name] for name in own) for encoder, by in scores.items()},
        )
    return found


def _wrong(row: Mapping[str, Any]) -> str | None:
    for name in ("question", "id", "title", "text"):
        if not isinstance(row.get(name), str) or not row[name].strip():
            return f"{name} must be a text that is not empty"
    for name in ("url", "snippet"):
        if name in row and not isinstance(row[name], str):
            return f"{name} must be a text"
    return None


def _document(row: Mapping[str, Any]) -> StudyDocument:
    text = row["text"].strip()
    cut = text if len(text) <= SNIPPET else text[:SNIPPET].rsplit(" ", 1)[0] + " ..."
    return StudyDocument(row["id"], row["title"].strip(), row.get("url", ""), row.get("snippet", cut), text)


def _polarity(
    settings: StudySettings,
    files: CorpusFiles,
    encoder: str,
    source: str,
    by_question: Mapping[str, Mapping[str, tuple[int, Mapping[str, Any]]]],
    problems: list[Problem],
) -> dict[tuple[str, str], float]:
    """Of every question and document; what is missing becomes a problem of its line."""
    path = settings.path(source)
    known = _of_file(path) if path.suffix and path.is_file() else None
    if known is None and path.suffix in (".parquet", ".csv", ".jsonl", ".tsv"):
        raise DataError(f"{path}: no such file: corpora.{files.name}.polarity.{encoder} names it")
    found: dict[tuple[str, str], float] = {}
    for question, own in by_question.items():
        for name, (line, row) in own.items():
            value: Any
            if known is None:
                value = _side(row.get(source))
                needed = f"field {source!r} must be a number, 'for' or 'against'"
                lacks = f"document {name!r} has no polarity: {needed}"
            else:
                value = known.get((question, name), known.get((None, name)))
                lacks = f"document {name!r} has no polarity in {path}"
            if value is None:
                problems.append(Problem(line, lacks))
            found[question, name] = math.nan if value is None else value
    return found


def _side(value: Any) -> float | None:
    if isinstance(value, str) and value in SIDES:
        return 1.0 if value == SIDES[0] else -1.0
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    return None


def _of_file(path: Path) -> dict[tuple[str | None, str], float]:
    from evenrank.io.polarity import read_polarity

    polarity = read_polarity(path)
    if polarity.oriented is False:
        raise DataError(
            f"{path}: the direction of these scores has no meaning, so they do not tell which side is first: "
            "give evenrank polarise labelled documents (--labels)"
        )
    queries = polarity.query_ids
    return {
        (None if queries is None else queries[code], str(name)): float(score)
        for code, name, score in zip(
            polarity.query_codes.tolist(), polarity.doc_ids.to_pylist(), polarity.scores[:, 0], strict=True
        )
    }


def fingerprint(settings: StudySettings) -> str:
    """A digest of everything that participants see: if it changes, the study is another one."""
    total = hashlib.sha256(json.dumps(settings.shown, sort_keys=True, default=str).encode())
    names = [settings.questions, settings.texts, settings.consent]
    for corpus in settings.corpora:
        names += [corpus.documents, *corpus.polarity.values()]
    names += [condition.run for condition in settings.conditions if condition.run is not None]
    for name in names:
        path = settings.path(name)
        content = path.read_bytes() if path.is_file() else b""  # a field of the documents is no file
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()
