"""Texts in the report: the words that are marked are those that were counted."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path
from typing import Any

import pages
import pytest

import evenrank as er

LEXICON = er.Lexicon.build("kin", {"f": ["mother", "step mother", "she"], "m": ["father", "he", "she he"]})
PIECES = [
    "mother", "Step", "mother,", "she", "SHE's", "he", "father", "in", "law", "s", "husband", "é", "İ",
    "-", "<b>",
]  # fmt: skip


def random_texts(count: int) -> dict[str, str]:
    chance = random.Random(5)
    texts = [" ".join(chance.choices(PIECES, k=chance.randrange(41))) for _ in range(count)]
    texts += [" ".join(text) for text in itertools.product(("step", "mother", "she", "he"), repeat=3)]
    return {f"d{place}": text or "-" for place, text in enumerate(texts)}


def texts_of(path: Path, texts: dict[str, str], words: er.WordCounts) -> dict[str, Any]:
    """What the page holds of each document: its pieces, of which marked ones are pairs, and its counts."""
    run: dict[str, dict[str, float]] = {}
    for place, document in enumerate(texts):  # a page has the first ten of a list
        run.setdefault(f"q{place // 10}", {})[document] = -float(place)
    comparison = er.compare({"one": run, "two": run}, "TED@10", words=words)
    comparison.report(path, documents=texts)
    data = pages.data_of(pages.parsed(path))
    return {name: (pieces, counts) for name, pieces, counts, _ in data["documents"]}


def joined(pieces: list[Any]) -> str:
    return "".join(piece if isinstance(piece, str) else piece[1] for piece in pieces)


def slowly(text: str, tokenizer: str) -> list[int]:
    """At the first token that a term begins at, the longest; then again behind it."""

    def tokens_of(text: str) -> list[str]:
        return re.findall(r"\w+", text.lower()) if tokenizer == "word" else text.lower().split()

    tokens, found, place = tokens_of(text), [0, 0], 0
    own = [(tokens_of(term), LEXICON.groups.index(group)) for term, group in TERMS]
    while place < len(tokens):
        here = [(len(term), group) for term, group in own if tokens[place : place + len(term)] == term]
        length, group = max(here, default=(0, -1))
        if length:
            found[group] += 1
        place += length or 1
    return found


TERMS = [(t, "f") for t in ("mother", "step mother", "she")] + [(t, "m") for t in ("father", "he", "she he")]


@pytest.mark.parametrize("tokenizer", ["word", "whitespace"])
def test_marked_is_what_is_counted(tokenizer: str, tmp_path: Path) -> None:
    texts = random_texts(200)
    words = er.scan(texts, LEXICON, tokenizer=tokenizer)
    counted = dict(zip(words.doc_ids.to_pylist(), words.counts.tolist(), strict=True))
    found = texts_of(tmp_path / "r.html", texts, words)
    assert set(found) == set(texts)
    for document, (pieces, counts) in found.items():
        assert counted[document] == slowly(texts[document], tokenizer), texts[document]
        marked = [0] * len(counts)
        for piece in pieces:
            if not isinstance(piece, str):
                marked[piece[0]] += 1
        assert marked == counts == counted[document], texts[document]
        assert re.sub(r"\s+", " ", joined(pieces)) == re.sub(r"\s+", " ", texts[document])


def test_marks_are_those_that_were_counted(sample_report: Any) -> None:
    """Texts of the sample are short: nothing is cut, so every counted word is marked."""
    data = pages.data_of(pages.parsed(sample_report.path))
    checked = 0
    for name, pieces, counts, _ in data["documents"]:
        marked = [0] * len(data["groups"])
        for piece in pieces:
            if not isinstance(piece, str):
                marked[piece[0]] += 1
        if " … " not in joined(pieces):
            assert marked == counts, name
            assert joined(pieces) == re.sub(r"\s+", " ", sample_report.sample.documents[name])
            checked += 1
    assert checked > 100


def test_of_a_long_text_it_shows_parts_with_the_words_that_were_counted(tmp_path: Path) -> None:
    text = "x " * 4000 + "my mother said " + "y " * 4000
    ((pieces, counts),) = texts_of(tmp_path / "r.html", {"a": text}, er.scan({"a": text}, LEXICON)).values()
    assert counts == [1, 0]
    assert [0, "mother"] in pieces
    assert len(joined(pieces)) < 2000
    assert all(part.strip() in text for part in joined(pieces).split("…"))
