"""What a corpus is made with: ``corpus.toml`` in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from evenrank.files import read_bytes
from evenrank.io.settings import Count, Positive, SettingsTable, Texts, checked
from evenrank.io.toml import parse_toml

DOMAINS = (
    "Entertainment", "Environment", "History", "Languages", "Law and order", "Media and culture", "People",
    "Philosophy", "Politics and economics", "Psychiatry", "Religion", "Science, biology, and health",
    "Sex, sexuality, and gender identity", "Sports", "Technology",
)  # fmt: skip
"""The domains of pair-duo-2024."""

FILE = "corpus.toml"

NotNegative = Annotated[float, Field(ge=0)]
AboveZero = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class WriterSettings(SettingsTable):
    """Who writes: a server by its address, or without one a model in a folder of this machine."""

    url: str = ""
    model: str = ""
    key: str = ""  # the environment variable that holds the key
    answers_as: str = ""  # the name that the server gives itself, where that is another one
    temperature: NotNegative = 0.7
    max_tokens: Positive = 1200
    seed: Count = 0
    rate: AboveZero = 5.0  # requests a second
    timeout: AboveZero = 120.0  # seconds until an answer is whole
    retries: Count = 4
    concurrency: Positive = 1
    input_price: NotNegative = 0.0  # for a million tokens
    output_price: NotNegative = 0.0


class QuestionSettings(SettingsTable):
    """How many questions a topic gets, and how many of all are used."""

    per_topic: Positive = 10
    sample: Count = 0  # 0: all of them


class DocumentSettings(SettingsTable):
    """How many documents a side gets, and how often an answer that cannot be used is asked for again."""

    per_side: Positive = 4
    attempts: Positive = 3
    incomplete: Literal["keep", "drop"] = "keep"  # questions that lack documents after the filters


class FilterSettings(SettingsTable):
    """What a document must fulfil."""

    least_words: Positive = 40
    most_words: Positive = 2000
    near: Share = 0.5  # of five-word pieces in common, from which on two are near-duplicates
    language: str = "en"  # or "any"


class DistractorSettings(SettingsTable):
    """Distractors for so many documents of a side, and how unlike the other question must be."""

    per_side: Positive = 1
    distinct: Annotated[float, Field(ge=-1, le=1)] = 0.8  # the largest similarity of the two questions
    encoder: str = "words"  # or a sentence-transformers model


class SafetySettings(SettingsTable):
    """The score from which on somebody must read a document, and how many of the worst are listed."""

    threshold: Share = 0.09
    review: Count = 20
    model: str = "omni-moderation-latest"


class Settings(SettingsTable):
    """All of it, with the prompts that the folder has in place of ours."""

    writer: WriterSettings = WriterSettings()
    questions: QuestionSettings = QuestionSettings()
    documents: DocumentSettings = DocumentSettings()
    filters: FilterSettings = FilterSettings()
    distractors: DistractorSettings = DistractorSettings()
    safety: SafetySettings = SafetySettings()
    domains: Annotated[Texts, Field(min_length=1)] = DOMAINS
    name: str = "corpus"
    license: str = ""


def read_settings(folder: Path) -> Settings:
    """The settings of a folder; the defaults where it has no ``corpus.toml``."""
    path = folder / FILE
    if not path.exists():
        return Settings()
    return checked(Settings, parse_toml(read_bytes(path), str(path)), str(path))
