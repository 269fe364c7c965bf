"""Texts of documents with their group words marked, shortened around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from evenrank.evidence.scan.phrases import Phrases, tokenize
from evenrank.report.page.safe import prose

# a text in pieces: plain strings, and [group, words] where words of a group stand
Pieces = list[str | list[Any]]

GAP = " … "
AROUND = 36  # characters on either side of a word
_BLANKS = re.compile(r"\s{2,}|[^\S ]")  # whatever is no single blank already
_TOKENS = {"word": re.compile(r"\w+"), "whitespace": re.compile(r"[^ ]+")}


class Span(NamedTuple):
    start: int
    end: int
    group: int


def spans_of(text: str, phrases: Phrases) -> Iterator[Span]:
    """Where the terms stand, by the rule that they are counted by: from left to right the longest."""
    found = list(phrases.find(tokenize(text, phrases.tokenizer)))
    if not found:
        return
    needed = found[-1].place + found[-1].length
    matches = list(islice(_TOKENS[phrases.tokenizer].finditer(text), needed))
    for place, length, term in found:
        first, last = matches[place], matches[place + length - 1]
        yield Span(first.start(), last.end(), phrases.lexicon.term_groups[term])


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
    for moved in range(AROUND):
        at = place + step * moved
        if at <= 0 or at >= len(text) or text[at].isspace():
            return max(0, min(at, len(text)))
    return place


def _joined(pieces: Pieces) -> Pieces:
    """Neighbouring plain strings as one, blanks as one."""
    out: Pieces = []
    for piece in pieces:
        if isinstance(piece, str):
            piece = _BLANKS.sub(" ", prose(piece))
            if not piece:
                continue
            if out and isinstance(out[-1], str):
                out[-1] += piece
                continue
        out.append(piece)
    return out
