"""Texts in the report: the words that are marked are those that were counted."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenrank.data.lexicon import Lexicon
from evenrank.evidence.scan.phrases import Phrases, tokenize
from evenrank.evidence.scan.simple import count
from evenrank.report.page.group_colours import mark_of
from evenrank.report.page.texts import AROUND, GAP, pieces_of, spans_of, windows

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
