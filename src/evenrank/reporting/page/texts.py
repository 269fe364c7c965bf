"""Texts of documents with their group words marked, shortened around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from evenrank.evidence.scan.phrases import Phrases, ascii_words, tokenize
from evenrank.reporting.page.safe import prose

# a text in pieces: plain strings, and [group, words] where words of a group stand
Pieces = list[str | list[Any]]

GAP = " … "
AROUND = 36  # characters on either side of a word
_BLANKS = re.compile(r"\s{2,}|[^\S ]")  # whatever is no single blank already
_BLANK, _LAST_BLANK = re.compile(r"\s"), re.compile(r".*\s", re.DOTALL)
_TOKENS = {"word": re.compile(r"\w+"), "whitespace": re.compile(r"[^ ]+")}


class Span(NamedTuple):
    start: int
    end: int
    group: int


def spans_of(text: str, phrases: Phrases) -> Iterator[Span]:
    """Where the terms stand, by the rule that they are counted by: from left to right the longest."""
    if phrases.tokenizer == "word" and text.isascii():
        yield from _ascii_spans(ascii_words(text), phrases)
        return
    found = list(phrases.find(tokenize(text, phrases.tokenizer)))
    if not found:
        return
    needed = found[-1].place + found[-1].length
    matches = list(islice(_TOKENS[phrases.tokenizer].finditer(text), needed))
    for place, length, term in found:
        first, last = matches[place], matches[place + length - 1]
        yield Span(first.start(), last.end(), phrases.lexicon.term_groups[term])


def _ascii_spans(words: str, phrases: Phrases) -> Iterator[Span]:
    """The same from words between blanks, without an object for every word of every text of a report."""
    tokens = words.split()
    found = list(phrases.find(tokens))
    if not found:
        return
    in_word = np.frombuffer(b" " + words.encode(), np.uint8) != ord(" ")
    starts = np.flatnonzero(in_word[1:] > in_word[:-1]).tolist()  # of all tokens, in one pass
    for place, length, term in found:
        last = place + length - 1
        yield Span(starts[place], starts[last] + len(tokens[last]), phrases.lexicon.term_groups[term])


def pieces_of(text: str, phrases: Phrases | None, limit: int) -> Pieces:
    """The text in pieces, of about ``limit`` characters: its beginning, then what is around group words.

    >>> from evenrank.data.lexicon import Lexicon
    >>> kin = Phrases.of(Lexicon.build("kin", {"f": ["mother"], "m": ["father"]}), "word")
    >>> pieces_of("My mother and father", kin, 100)
    ['My ', [0, 'mother'], ' and ', [1, 'father']]
    """
    spans = [] if phrases is None else list(spans_of(text, phrases))
    pieces: Pieces = []
    for start, end in windows(text, spans, limit):
        if start > 0:
            pieces.append(GAP)
        at = start
        for span in spans:
            if start <= span.start and span.end <= end:
                pieces += [text[at : span.start], [span.group, prose(text[span.start : span.end])]]
                at = span.end
        pieces.append(text[at:end])
        last = end
    if text and last < len(text):
        pieces.append(GAP)
    return _joined(pieces)


def windows(text: str, spans: list[Span], limit: int) -> list[tuple[int, int]]:
    """The parts of a text that are shown, in order and apart."""
    if len(text) <= limit:
        return [(0, len(text))] if text else []
    shown = [(0, _at_blank(text, limit // 2 if spans else limit, 1))]
    left = limit - shown[0][1]
    for span in spans:
        start, end = _at_blank(text, span.start - AROUND, -1), _at_blank(text, span.end + AROUND, 1)
        begin = max(start, shown[-1][1])
        if end <= shown[-1][1]:
            continue
        if end - begin > left:
            break
        left -= end - begin
        if start <= shown[-1][1]:
            shown[-1] = (shown[-1][0], end)
        else:
            shown.append((start, end))
    return shown


def _at_blank(text: str, place: int, step: int) -> int:
    """The next end of a word, looking no farther than a window's width."""
    place = max(0, min(place, len(text)))
    if step > 0:
        if place == 0:
            return 0
        blank = _BLANK.search(text, place, place + AROUND)
        edge = len(text) if len(text) < place + AROUND else place
        return edge if blank is None else blank.start()
    if place == len(text):
        return place
    first = max(0, place - AROUND + 1)
    last = _LAST_BLANK.match(text, first, place + 1)
    edge = 0 if first == 0 else place
    return edge if last is None else last.end() - 1


def _joined(pieces: Pieces) -> Pieces:
    """Neighbouring plain strings as one, blanks as one."""
    out: Pieces = []
    for piece in pieces:
        if isinstance(piece, str):
            piece = prose(piece)
            if not piece:
                continue
            if "  " in piece or not piece.isprintable():  # nothing else can have such blanks
                piece = _BLANKS.sub(" ", piece)
            if out and isinstance(out[-1], str):
                out[-1] += piece
                continue
        out.append(piece)
    return out
