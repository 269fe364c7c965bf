"""Queries whose first ranks have a value of an attribute twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

Evenrank = Callable[..., SimpleNamespace]


@pytest.mark.parametrize("depth", [3, 6, 10])
def test_the_rule_of_the_paper_by_its_words(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, depth: int
) -> None:
    """One company has several stores in the top; a store without a company is one of its own."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(depth)
    chains = {f"d{n}": f"c{draw.integers(0, 40)}" for n in range(120) if draw.random() < 0.6}
    lists = {f"q{q}": [f"d{n}" for n in draw.permutation(120)[:25]] for q in range(60)}
    rows = "".join(f"{document},{chain}\n" for document, chain in chains.items())
    Path("chains.csv").write_text("document,chain\n" + rows)
    lines = [f"{q} 0 {d} {r} {-r} x\n" for q, own in lists.items() for r, d in enumerate(own, 1)]
    Path("base.trec").write_text("".join(lines))
    expected = {
        query
        for query, own in lists.items()
        if max(Counter(chains[d] for d in own[:depth] if d in chains).values(), default=0) > 1
    }
    assert 0 < len(expected) < 60
    asked = ["--queries", f"repeated:chain:depth={depth}", "--view", "queries", "--format", "jsonl"]
    done = evenrank(*ASK[:2], *ASK[3:], *asked, "--missing", "uniform")
    assert {json.loads(line)["query"] for line in done.out.splitlines()} == expected


def test_a_document_of_two_values_shares_each_of_them(evenrank: Evenrank, folder: Path) -> None:
    Path("chains.csv").write_text("document,chain\na,x\na,y\nc,y\nb,z\n")
    groups = ["--groups", "chain=chains.csv:multilabel", "-m", "AWRF@3"]
    done = evenrank(
        *ASK[:2], *groups, "--queries", "repeated:chain", "--view", "queries", "--format", "jsonl"
    )
    assert {json.loads(line)["query"] for line in done.out.splitlines()} == {"q1", "q2"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("chains.csv").write_text("document,chain\na,x\nb,x\nc,y\n")
    Path("base.trec").write_text("q1 0 a 1 3 r\nq1 0 b 2 2 r\nq1 0 c 3 1 r\nq2 0 a 1 2 r\nq2 0 c 2 1 r\n")
    Path("other.trec").write_text("q1 0 a 1 3 r\nq1 0 c 2 2 r\nq2 0 a 1 2 r\nq2 0 b 2 1 r\n")
    return tmp_path


ASK = ("evaluate", "base.trec", "other.trec", "--groups", "chain=chains.csv", "-m", "AWRF@3")


def test_the_command_scores_only_those_queries_of_the_first_run_or_the_named_one(
    evenrank: Evenrank, folder: Path
) -> None:
    for option, query in (("repeated:chain", "q1"), ("repeated:chain:depth=2:run=other", "q2")):
        done = evenrank(*ASK, "--queries", option, "--view", "queries", "--format", "jsonl")
        assert done.code == 0, done.err
        assert {json.loads(line)["query"] for line in done.out.splitlines()} == {query}
        assert "1 of 2 queries have a value of 'chain' twice" in done.err


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("repeated:country", "add --groups country=FILE"),
        ("repeated:chain:depth=1", "a depth of 2 or more"),
        ("repeated:chain:deep=3", "a depth of 2 or more"),
        ("repeated:chain:run=none", "the runs are base, other"),
        ("repeated:chain:depth=2:run=base.trec", "the runs are base, other"),
    ],
)
def test_what_is_wrong_with_it(evenrank: Evenrank, folder: Path, option: str, message: str) -> None:
    done = evenrank(*ASK, "--queries", option)
    assert done.code == 2
    assert message in done.err


def test_no_such_query(evenrank: Evenrank, folder: Path) -> None:
    Path("chains.csv").write_text("document,chain\na,x\nb,z\nc,y\n")
    done = evenrank(*ASK, "--queries", "repeated:chain")
    assert done.code != 0
    assert "no query has a value of 'chain' twice in the first 20 ranks of run 'base'" in done.err
