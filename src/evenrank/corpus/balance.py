"""The corpus that comes with the package: contested questions with documents from both sides."""

from __future__ import annotations

import hashlib
from importlib.resources import as_file, files
from pathlib import Path

from evenrank.corpus.folder import Corpus, read_corpus
from evenrank.files import read_bytes

NAME = "balance-en"
HASHED = ("topics.jsonl", "questions.jsonl", "perspectives.jsonl", "documents.jsonl", "distractors.jsonl")


def balance_folder() -> Path:
    """Where the files of ``balance-en`` are.

    >>> (balance_folder() / "documents.jsonl").is_file()
    True
    """
    with as_file(files("evenrank.corpus") / "balance_en") as folder:
        return folder


def read_balance() -> Corpus:
    """``balance-en``: 42 contested questions in 14 domains, each with four documents a side.

    >>> read_balance()
    <Corpus: 42 topics, 42 questions, 336 documents, 84 distractors>
    """
    return read_corpus(balance_folder())


def corpus_hash(folder: Path) -> str:
    """The SHA-256 of the files of a corpus, one after the other; that of ``balance-en`` is in its card."""
    found = hashlib.sha256()
    for name in HASHED:
        path = folder / name
        found.update(read_bytes(path) if path.exists() else b"")
    return found.hexdigest()
