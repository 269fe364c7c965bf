"""Whether the two sides of a question can be told apart by style alone.

Style is what a text has besides its content: how long it is, its sentences and its words, its punctuation,
and the words that carry no topic. The check is the rule of the axis: the first principal component of these
features among the documents of a question, against labels shuffled within questions. In a corpus
whose sides differ in their arguments only it does no better than chance.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Floats
from evenrank.corpus.records import SIDES, Record
from evenrank.evidence.polarise.accuracy import AgainstChance, against_chance
from evenrank.evidence.polarise.axes import fit_axes, project

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
SENTENCE = re.compile(r"[.!?]+(?=\s|$)")
MARKS = (",", ";", ":", "-", "(", "'", '"', "?", "!")
# as in studies of authorship: the commonest English words that name no thing
FUNCTION_WORDS = (
    "the", "of", "and", "to", "in", "a", "that", "is", "it", "for", "as", "with", "on", "by", "be", "are",
    "this", "or", "an", "which", "from", "not", "but", "at", "their", "they", "have", "has", "when", "while",
    "than", "would", "can", "may", "more", "also", "such", "who", "its", "these", "often", "even", "where",
    "since", "because", "so", "if", "no", "only", "most", "some", "many", "other", "all", "both", "rather",
    "yet", "those",
)  # fmt: skip


class StyleCheck(NamedTuple):
    """How well the first component of style tells the sides apart, and its features in order."""

    accuracy: AgainstChance
    features: tuple[str, ...]


def style_features(text: str) -> Floats:
    """Length, sentences, marks and function words of a text; all but the first as rates.

    >>> style_features("The end of it. It is so.")[:3].tolist()
    [7.0, 2.0, 3.5]
    """
    words = [word.lower() for word in WORD.findall(text)]
    count = max(len(words), 1)
    sentences = max(len(SENTENCE.findall(text)), 1)
    letters = sum(map(len, words)) / count
    marks = [text.count(mark) / count for mark in MARKS]
    common = [words.count(word) / count for word in FUNCTION_WORDS]
    return np.array([float(len(words)), float(sentences), len(words) / sentences, letters, *marks, *common])


FEATURES = ("words", "sentences", "words a sentence", "letters a word", *MARKS, *FUNCTION_WORDS)


def style_check(documents: Sequence[Record], *, draws: int = 5000, seed: int = 0) -> StyleCheck:
    """The check over all questions that have documents of both sides and a first component."""
    by_query: dict[str, list[Record]] = {}
    for record in documents:
        by_query.setdefault(record["query"], []).append(record)
    scores, first = [], []
    for own in by_query.values():
        labels = np.array([record["perspective"] == SIDES[0] for record in own])
        table = np.stack([style_features(record["text"]) for record in own])
        spread = table.std(axis=0)
        table = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)  # every feature counts alike
        axes = fit_axes(table)
        if labels.all() or not labels.any() or isinstance(axes, str):
            continue
        scores.append(project(table, axes)[:, 0])
        first.append(labels)
    return StyleCheck(against_chance(scores, first, draws=draws, seed=seed), FEATURES)
