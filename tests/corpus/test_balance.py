"""The shipped corpus: its form, its hash, and that style does not tell its sides apart."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np

from evenrank.corpus import balance_folder, corpus_hash, read_balance
from evenrank.corpus.records import digest
from evenrank.corpus.settings import DOMAINS
from evenrank.corpus.style import FEATURES, style_check, style_features
from evenrank.evidence.polarise import read_opinions

CORPUS = read_balance()
CARD = (balance_folder() / "README.md").read_text(encoding="utf-8")


def test_size() -> None:
    assert len(CORPUS.queries) >= 40
    domains = Counter(domain for query in CORPUS.queries for domain in CORPUS.domains(query))
    assert len(domains) >= 10
    assert set(domains) <= set(DOMAINS)
    sides = Counter((record["query"], record["perspective"]) for record in CORPUS.documents)
    assert sides == Counter({(query, side): 4 for query in CORPUS.queries for side in ("p1", "p2")})
    others = Counter((record["query"], record["perspective"]) for record in CORPUS.distractors)
    assert others == Counter({(query, side): 1 for query in CORPUS.queries for side in ("p1", "p2")})
    named = Counter((record["query"], record["perspective"]) for record in CORPUS.perspectives)
    assert named == others


def test_the_card_has_the_hash_of_the_texts() -> None:
    assert corpus_hash(balance_folder()) in CARD


def test_the_card_says_what_the_texts_are() -> None:
    for words in ("machine-written", "CC0", "What it is not"):
        assert words in CARD


def test_records_name_what_they_were_made_from() -> None:
    questions = {record["query"]: record for record in CORPUS.questions}
    sides = {(record["query"], record["perspective"]): record for record in CORPUS.perspectives}
    for record in CORPUS.documents:
        above = [questions[record["query"]], sides[record["query"], record["perspective"]]]
        assert record["made_from"] == digest(above)
        assert record["document"].startswith(f"{record['query']}_{record['perspective']}_d")


def test_form_of_the_documents() -> None:
    lengths = defaultdict(list)
    for record in CORPUS.documents:
        text = record["text"]
        words = len(text.split())
        assert 120 <= words <= 250, record["document"]
        lengths[record["query"], record["perspective"]].append(words)
        assert not re.search(r"[?!\"“”\n]|\s\s", text), record["document"]
        assert not re.search(r"\b(I|we|you|our|my|your|me|us)\b", text), record["document"]
        assert 6 <= len(re.findall(r"\.(?=\s|$)", text)) <= 8, record["document"]
    for query in CORPUS.queries:
        one, other = (np.mean(lengths[query, side]) for side in ("p1", "p2"))
        assert abs(one - other) <= 5, query
    for record in CORPUS.questions:
        assert record["text"].endswith("?")


def test_no_two_documents_share_eight_words() -> None:
    homes: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for record in CORPUS.documents:
        words = re.findall(r"[\w-]+", record["text"].lower())
        for begin in range(len(words) - 7):
            homes[tuple(words[begin : begin + 8])].add(record["document"])
    assert [pair for pair in homes.items() if len(pair[1]) > 1] == []


def test_the_files_are_read_as_polarise_reads_them() -> None:
    for name in ("documents", "distractors"):
        opinions = read_opinions(balance_folder() / f"{name}.jsonl")
        assert opinions.sides == ("p1", "p2")
        assert len(opinions.query_ids) == len(CORPUS.queries)


def test_style_does_not_tell_the_sides_apart() -> None:
    found = style_check(CORPUS.documents).accuracy
    assert found.queries == len(CORPUS.queries)
    assert f"{found.value:.3f}".removeprefix("0") in CARD
    assert f"{found.chance:.3f}".removeprefix("0") in CARD
    assert f"first principal component of {len(FEATURES)} features" in CARD
    assert found.p > 0.05


def test_style_that_differs_by_side_is_seen() -> None:
    """With a mark of style on one side of every question the check must find it."""
    marked = [
        record | {"text": record["text"].replace(",", ";").replace(" the ", " this ")}
        if record["perspective"] == "p2"
        else record
        for record in CORPUS.documents
    ]
    assert style_check(marked, draws=500).accuracy.p < 0.01


def test_features_have_names() -> None:
    assert len(style_features("One. Two, three.")) == len(FEATURES)
    assert all(one != other for one, other in pairwise(FEATURES))
