"""What the words become that have two counterparts: her, his and the titles that are also other words.

``her`` is him or his, ``his`` is her or hers. Both are one question: does a noun follow that the word belongs
to? It is asked of the sentence in a form that both of its versions share: each group word is the first of
its pair by the alphabet, and every her, him, his and hers is ``her``. So a text and its counterpart get the
same answers. What may not come back is a ``him`` or ``hers`` whose counterpart is read as the other.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from evenrank.counterfactuals.swap import rule_words as words
from evenrank.counterfactuals.swap.case import as_cased
from evenrank.counterfactuals.swap.pairing import HER, HIS, TITLE, Entry
from evenrank.counterfactuals.swap.rules import is_determiner
from evenrank.counterfactuals.swap.tagger import determiners
from evenrank.data.lexicon import lower

_BEFORE_NAME = re.compile(r"\.?\s+([^\W\d_]\w*)")
_BREAK = re.compile(r"[.!?…]+[\"'”’)\]]*\s+")
_BLANKS = re.compile(r"\s+")
_REACH = 400  # characters of a sentence to each side: what is longer is no sentence
_FORMS = frozenset({"her", "him", "his", "hers"})
_BECOMES = {HER: {True: ("his",), False: ("him",)}, HIS: {True: ("her",), False: ("hers",)}}

Tokens = tuple[str, ...]


class Found(NamedTuple):
    """A term in a text: the places of its tokens, and what it becomes."""

    spans: tuple[tuple[int, int], ...]
    entry: Entry


class _Question(NamedTuple):
    """Which of the terms found in which text, and the sentence that spaCy is to read."""

    text: int
    term: int
    sentence: str
    place: int
    unless: bool  # the answer of the rules, where spaCy has none


def resolved(
    texts: Sequence[str], found: Sequence[Sequence[Found]], tagger: str
) -> list[list[Tokens | None]]:
    """What each term found becomes, text by text; None where it stays."""
    news: list[list[Tokens | None]] = []
    questions: list[_Question] = []
    for number, (text, terms) in enumerate(zip(texts, found, strict=True)):
        own: list[Tokens | None] = []
        for place, term in enumerate(terms):
            context = term.entry.context
            start, end = term.spans[0]
            if context == TITLE:
                own.append(term.entry.new if _is_title(text, start, end) else None)
            elif context in _BECOMES:
                verdict = is_determiner(text, start, end)
                own.append(_BECOMES[context][verdict.determiner])
                if tagger == "spacy" and not verdict.sure:
                    questions.append(_question(text, terms, number, place, verdict.determiner))
            else:
                own.append(term.entry.new)
        news.append(own)
    sentences = ((question.sentence, question.place) for question in questions)
    for question, answer in zip(questions, determiners(sentences) if questions else (), strict=True):
        own, term = news[question.text], found[question.text][question.term]
        own[question.term] = _BECOMES[term.entry.context][question.unless if answer is None else answer]
    return news


def _is_title(text: str, start: int, end: int) -> bool:
    """Ms and Miss before a name: not the verb, the unit or the state."""
    name = _BEFORE_NAME.match(text, end)
    if name is None or not (text[start].isupper() and name[1][0].isupper()):
        return False
    return lower(name[1]) not in words.CLOSED | words.DEGREE  # Miss Me: a headline


def _question(text: str, terms: Sequence[Found], number: int, place: int, unless: bool) -> _Question:
    """The sentence around a term, in the form that both versions of it share."""
    start = terms[place].spans[0][0]
    low, high = max(0, start - _REACH), start + _REACH
    begin = max((match.end() for match in _BREAK.finditer(text, low, start)), default=low)
    stop = _BREAK.search(text, start, high)
    end = min(len(text), high) if stop is None else stop.start() + 1
    is_shouted = text[begin:end].isupper()
    pieces, done, at = [], begin, 0
    first_term = bisect_left(terms, begin, key=lambda term: term.spans[0][0])
    for own in range(first_term, len(terms)):
        term = terms[own]
        if term.spans[-1][1] > end:
            break
        for (first, last), word in zip(term.spans, _shared(text, term), strict=True):
            pieces.append(_BLANKS.sub(" ", text[done:first]))
            if own == place:
                at = sum(map(len, pieces))
            pieces.append(as_cased(text[first:last], word))
            done = last
    sentence = "".join([*pieces, _BLANKS.sub(" ", text[done:end])])
    return _Question(number, place, lower(sentence) if is_shouted else sentence, at, unless)


def _shared(text: str, term: Found) -> Tokens:
    """The same tokens for a term and its counterpart."""
    old = tuple(lower(text[start:end]) for start, end in term.spans)
    if len(old) == 1 and old[0] in _FORMS:
        return ("her",)
    return min(old, term.entry.new) if len(old) == len(term.entry.new) else old
