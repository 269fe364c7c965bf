"""What is nearly right is answered with what was meant, or with what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

Evenrank = Callable[..., SimpleNamespace]

RERANK = ("rerank", "r.trec", "--groups", "side=g.csv")
WRONG = {
    "a misspelt key of --relevance": (
        ("select", "r.trec", "--relevance", "nDCG@10:los=0.01", "--fairness", "GF@10"),
        "'los' is no key of --relevance; did you mean loss?",
    ),
    "a run of several methods": (
        (*RERANK, "--with", "DetCons", "--with", "Random", "-o", "p.trec"),
        "several methods, or one with measures or several values, write scores and not a run",
    ),
    "counts for an audit": (
        ("audit", "r.trec", "--words", "counts.parquet"),
        "unknown option --words; audit counts words itself: name the word list with --lexicon",
    ),
    "a misspelt parameter": (
        (*RERANK, "--with", "Penalty(lamda=1)"),
        "Penalty has no parameter 'lamda'; did you mean lam? It takes",
    ),
    "a misspelt parameter of a system": (
        ("select", "r.trec", "Dense(model=minilm,erasor=x)"),
        "Dense has no parameter 'erasor'; did you mean eraser? It takes",
    ),
    "a file without quotes": (
        ("select", "r.trec", "Dense(model=minilm,eraser=gender.safetensors)"),
        "the name of a file stands in quotes, as 'gender.safetensors'",
    ),
    "documents of one group": (
        ("rerank", "r.trec", "--groups", "side=one.csv", "--with", "DetCons"),
        "one.csv: attribute 'side': a share needs at least two values, and 'left' is the only one",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_message_says_what_to_do(
    case: str, evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.trec").write_text("q Q0 a 1 2 r\nq Q0 b 2 1 r\n")
    Path("g.csv").write_text("document,side\na,left\nb,right\n")
    Path("one.csv").write_text("document,side\na,left\nb,left\n")
    words, message = WRONG[case]
    outcome = evenrank(*words)
    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())
