"""The shipped corpus: its form, its hash, and that style does not tell its sides apart."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from evenrank.corpus import balance_folder, corpus_hash, read_balance

CORPUS = read_balance()
CARD = (balance_folder() / "README.md").read_text(encoding="utf-8")


def test_size() -> None:
    assert len(CORPUS.queries) >= 40
    domains = Counter(domain for query in CORPUS.queries for domain in CORPUS.domains(query))
    assert len(domains) >= 10
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


STYLE = re.compile(
    r"puts ([\d.]+) of .*?([\d.]+) with labels\s+shuffled within questions\s+\(p = ([\d.]+), (\d+)"
)


def style_of(evenrank: Any, folder: object) -> list[float]:
    """How far style tells the sides apart, by chance as well, with p and the number of questions."""
    said = re.sub(r"\s+", " ", evenrank("corpus", "statistics", folder).out)
    found = STYLE.search(said)
    assert found, said
    return [float(one) for one in found.groups()]


def test_style_does_not_tell_the_sides_apart(evenrank: Any) -> None:
    value, _, p, questions = style_of(evenrank, "balance-en")
    assert questions == len(CORPUS.queries)
    assert f"{value:.3f}".removeprefix("0") in CARD
    assert p > 0.05


def test_style_that_differs_by_side_is_seen(evenrank: Any, tmp_path: Path) -> None:
    """With a mark of style on one side of every question the check must find it."""
    folder = tmp_path / "marked"
    shutil.copytree(balance_folder(), folder)
    marked = [
        record | {"text": record["text"].replace(",", ";").replace(" the ", " this ")}
        if record["perspective"] == "p2"
        else record
        for record in CORPUS.documents
    ]
    lines = "".join(json.dumps(record) + "\n" for record in marked)
    (folder / "documents.jsonl").write_text(lines, encoding="utf-8")
    assert style_of(evenrank, folder)[2] < 0.01


def test_what_was_made_from_something_else_is_named(evenrank: Any, tmp_path: Path) -> None:
    """In the shipped corpus nothing is; of a side whose sentence is changed, its four documents are."""
    assert "d1" not in evenrank("corpus", "statistics", "balance-en").out
    folder = tmp_path / "changed"
    shutil.copytree(balance_folder(), folder)
    file = folder / "perspectives.jsonl"
    first, *others = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    changed = [first | {"text": "Another sentence."}, *others]
    file.write_text("".join(json.dumps(record) + "\n" for record in changed), encoding="utf-8")
    said = evenrank("corpus", "statistics", folder).out
    assert f"{first['query']}_{first['perspective']}_d1" in said
    assert "4 documents" in said
