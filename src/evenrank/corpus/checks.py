"""What is wrong with a document that a model has written: one reason for each kind, or None."""

from __future__ import annotations

import re
from collections.abc import Iterable

from evenrank.corpus.settings import FilterSettings
from evenrank.corpus.style import FUNCTION_WORDS, WORD

REFUSAL = re.compile(
    r"\bas an? (?:AI|artificial intelligence|(?:large )?language model)\b"
    r"|^\W*(?:I'm|I am) (?:sorry|unable)\b|^\W*(?:Sorry|Unfortunately), (?:but )?I\b"
    r"|^\W*I (?:cannot|can't|can not|won't|will not) (?:write|provide|help|assist|create|fulfil|comply"
    r"|generate|engage|argue|take)\b",
    re.IGNORECASE,
)
HEADER = re.compile(
    r"^[ \t#*_>]*(?:perspective|side|position|article)[ \t]*#?[ \t]*(\d+|one|two|three|four)[ \t*_]*"
    r"[:.)–—-]+[ \t*_]*(.*?)[ \t*_]*$",
    re.IGNORECASE | re.MULTILINE,
)
ENDS = (".", "!", "?", '"', "”", "'", "’", ")", "]")
PIECE = 5  # words
ENGLISH = 0.2  # share of function words from which on a text is taken for English; English prose has about .4

REFUSED, CUT_OFF, EMPTY = "a refusal", "cut off", "empty"
HEADER_LEFT, OTHER_LANGUAGE = "a header in the text", "not in English"
DUPLICATE, NEAR_DUPLICATE = "a duplicate", "a near-duplicate"


def find_problem(text: str, settings: FilterSettings, finish: str = "stop") -> str | None:
    """Why a text cannot be used, or None.

    >>> find_problem("I'm sorry, but I can't help with that.", FilterSettings())
    'a refusal'
    """
    if finish == "content_filter" or REFUSAL.search(text[:400]):
        return REFUSED
    if not text.strip():
        return EMPTY
    if finish == "length" or not text.rstrip().endswith(ENDS):
        return CUT_OFF
    if HEADER.search(text):
        return HEADER_LEFT
    words = [word.lower() for word in WORD.findall(text)]
    if not settings.least_words <= len(words) <= settings.most_words:
        return f"{len(words)} words, not {settings.least_words} to {settings.most_words}"
    if settings.language == "en" and sum(word in _COMMON for word in words) < ENGLISH * len(words):
        return OTHER_LANGUAGE
    return None


_COMMON = frozenset(FUNCTION_WORDS)


class Seen:
    """Texts that were kept, to find those that repeat one of them."""

    def __init__(self, near: float) -> None:
        self._near = near
        self._texts: dict[str, str] = {}
        self._pieces: dict[str, frozenset[tuple[str, ...]]] = {}
        self._homes: dict[tuple[str, ...], list[str]] = {}

    def problem(self, text: str) -> str | None:
        """Whether it repeats one that was added, and which."""
        plain = _plain(text)
        if plain in self._texts:
            return f"{DUPLICATE} of {self._texts[plain]}"
        own = pieces(plain)
        for name in {name for piece in own for name in self._homes.get(piece, ())}:
            if overlap(own, self._pieces[name]) >= self._near:
                return f"{NEAR_DUPLICATE} of {name}"
        return None

    def add(self, name: str, text: str) -> None:
        plain = _plain(text)
        self._texts[plain] = name
        self._pieces[name] = pieces(plain)
        for piece in self._pieces[name]:
            self._homes.setdefault(piece, []).append(name)


def pieces(text: str) -> frozenset[tuple[str, ...]]:
    words = text.split()
    return frozenset(tuple(words[at : at + PIECE]) for at in range(max(len(words) - PIECE + 1, 0)))


def overlap(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    """The share of the pieces of both that they have in common."""
    both = len(one | other)
    return len(one & other) / both if both else 0.0


def _plain(text: str) -> str:
    return " ".join(word.lower() for word in WORD.findall(text))


def reasons(found: Iterable[str]) -> dict[str, int]:
    """How many were rejected for what; those that name another document count together."""
    counts: dict[str, int] = {}
    for reason in found:
        kind = reason.partition(" of ")[0] if reason.startswith((DUPLICATE, NEAR_DUPLICATE)) else reason
        kind = re.sub(r"^\d+ words, not", "words: not", kind)
        counts[kind] = counts.get(kind, 0) + 1
    return counts
