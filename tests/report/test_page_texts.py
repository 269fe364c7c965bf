"""Texts in the report: the words that are marked are those that were counted."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenrank import Lexicon
from evenrank.evidence.scan.phrases import Phrases, tokenize
from evenrank.evidence.scan.simple import count
from evenrank.report.page.group_colours import mark_of
from evenrank.report.page.texts import AROUND, GAP, _ascii_spans, _at_blank, pieces_of, spans_of, windows

LEXICON = Lexicon.build("kin", {"f": ["mother", "step mother", "she"], "m": ["father", "he", "she he"]})
PIECES = st.sampled_from(
    [
        "mother",
        "Step",
        "mother,",
        "she",
        "SHE's",
        "he",
        "father",
        "in",
        "law",
        "s",
        "husband",
        "é",
        "İ",
        "-",
        "<b>",
    ]
)
TEXTS = st.lists(PIECES, max_size=40).map(" ".join)


@pytest.mark.parametrize("tokenizer", ["word", "whitespace"])
@given(text=TEXTS)
def test_marked_is_what_is_counted(tokenizer: str, text: str) -> None:
    phrases = Phrases.of(LEXICON, tokenizer)
    _, counts, _ = count(text, phrases)
    spans = list(spans_of(text, phrases))
    assert [sum(span.group == group for span in spans) for group in (0, 1)] == counts
    assert all(before.end <= after.start for before, after in itertools.pairwise(spans))


def test_tokens_of_ascii_are_those_of_the_regular_expression() -> None:
    """Whatever two characters stand beside each other."""
    for first, second in itertools.product(map(chr, range(128)), repeat=2):
        text = f"{first}{second}Ab{second}{first}"
        assert tokenize(text, "word") == re.findall(r"\w+", text.lower())


@pytest.mark.parametrize("tokenizer", ["word", "whitespace"])
@example(text="step mother she he step she")
@given(text=TEXTS)
def test_found_is_what_every_term_at_every_token_finds(tokenizer: str, text: str) -> None:
    """Slowly: at the first token that a term begins at, the longest; then again behind it."""
    tokens, terms = tokenize(text, tokenizer), {term: tokenize(term, tokenizer) for term in LEXICON.terms}
    place, slowly = 0, []
    while place < len(tokens):
        here = [term for term, own in terms.items() if tokens[place : place + len(own)] == own]
        best = max(here, key=lambda term: len(terms[term]), default=None)
        if best is not None:
            slowly.append((place, len(terms[best]), LEXICON.terms.index(best)))
        place += 1 if best is None else len(terms[best])
    assert list(Phrases.of(LEXICON, tokenizer).find(tokens)) == slowly


@given(text=TEXTS, limit=st.integers(10, 400))
def test_pieces_are_of_the_text(text: str, limit: int) -> None:
    phrases = Phrases.of(LEXICON, "word")
    pieces = pieces_of(text, phrases, limit)
    joined = "".join(piece if isinstance(piece, str) else piece[1] for piece in pieces)
    if len(text) <= limit:
        assert re.sub(r"\s+", " ", joined) == re.sub(r"\s+", " ", text)
    else:
        plain = re.sub(r"\s+", " ", text)
        for part in joined.split(GAP.strip()):
            assert re.sub(r"\s+", " ", part).strip() in plain
        shown = windows(text, list(spans_of(text, phrases)), limit)
        assert sum(end - start for start, end in shown) <= limit + 2 * AROUND
        assert all(a[1] < b[0] for a, b in itertools.pairwise(shown))


@given(text=TEXTS)
def test_spans_of_ascii_are_where_the_regular_expression_finds_tokens(text: str) -> None:
    text = text.encode("ascii", "replace").decode()
    phrases, tokens = Phrases.of(LEXICON, "word"), list(re.finditer(r"\w+", text))
    slowly = [
        (tokens[place].start(), tokens[place + length - 1].end())
        for place, length, _ in phrases.find([token[0].lower() for token in tokens])
    ]
    assert [(span.start, span.end) for span in spans_of(text, phrases)] == slowly


class Counted(str):
    """A text that counts the characters that are looked at when it is split or searched."""

    looked_at = 0

    def split(self, *options: Any, **named: Any) -> list[str]:
        self.looked_at += len(self)
        return super().split(*options, **named)

    def find(self, *options: Any) -> int:
        found = super().find(*options)
        self.looked_at += (found if found >= 0 else len(self)) - (options[1] if len(options) > 1 else 0)
        return found

    def encode(self, *options: Any) -> bytes:
        self.looked_at += len(self)
        return super().encode(*options)


def test_spans_take_as_many_steps_as_the_text_is_long() -> None:
    phrases, looked_at = Phrases.of(LEXICON, "word"), []
    for length in (500, 1000):
        words = Counted("she said that the father " * length)
        assert len(list(_ascii_spans(words, phrases))) == 2 * length
        looked_at.append(words.looked_at)
    assert 0 < looked_at[1] <= 2 * looked_at[0]


@given(text=st.text("ab \t\u2003", max_size=120), place=st.integers(-50, 170), step=st.sampled_from([-1, 1]))
def test_a_window_ends_where_a_step_by_step_search_ends(text: str, place: int, step: int) -> None:
    start = max(0, min(place, len(text)))
    slowly = start
    for at in range(start, start + step * AROUND, step):
        if at <= 0 or at >= len(text) or text[at].isspace():
            slowly = max(0, min(at, len(text)))
            break
    assert _at_blank(text, place, step) == slowly


def test_a_long_text_shows_words_far_down() -> None:
    text = "x " * 400 + "my mother said " + "y " * 400
    pieces = pieces_of(text, Phrases.of(LEXICON, "word"), 300)
    assert [0, "mother"] in pieces
    assert sum(len(piece) if isinstance(piece, str) else len(piece[1]) for piece in pieces) < 400


def test_a_text_without_lexicon_or_words() -> None:
    assert pieces_of("a <b> c", None, 100) == ["a <b> c"]
    assert pieces_of("", None, 100) == []
    assert pieces_of("a\x00b\r\nc", None, 100) == ["a�b� c"]


def test_groups_have_marks_of_their_own() -> None:
    assert len({mark_of(group) for group in range(30)}) == 30
