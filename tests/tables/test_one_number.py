"""Every result prints the same three values in the same way, and neutralises names in HTML."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from drawn import made

from evenrank import (
    Lexicon,
    Run,
    Scores,
    compare,
    evaluate,
    explain,
    origin,
    parse_measure,
    scan,
    select,
    tradeoff,
)
from evenrank.comparison.gate import Gate, GateRule, apply_gate

EVIL = "<script>alert(1)</script>|\x1b[2J"
ID = "<script>alert(1)</script>|"  # an id has no control characters
SHOWN = ("-1.2e-05", "undefined", "-infinite")


def scores_of(*runs: str) -> Scores:
    """Of each run RR has a small value, AP none, and nDCG one that is infinite, for all of six queries."""
    values = {"RR": [-1.2e-05] * 6, "AP": [math.nan] * 6, "nDCG@5": [-math.inf] * 6}
    return made(dict.fromkeys(runs, values))


def test_the_same_values_have_the_same_text_everywhere() -> None:
    scores = scores_of("a", "b")
    gate = Gate(tuple(GateRule(parse_measure(name), allowed=0.1) for name in ("RR", "AP", "nDCG@5")))
    for where, text, shown in (
        ("scores", repr(scores), SHOWN),
        ("comparison", repr(compare(scores)) + compare(scores).to_table().to_text(), SHOWN),
        ("gate", apply_gate(scores, gate, now="a", baseline="b").to_table().to_text(), SHOWN[:2]),
    ):
        words = set(re.findall(r"[-+]?[\w.]+(?:-\d+)?", text))
        missing = [value for value in shown if value not in words]
        assert not missing, f"{where}: {missing}"
        assert not words & {"nan", "NaN", "inf", "-inf", "-0.0000", "-0.00001", "-1.2e-5"}, where


@pytest.fixture
def results() -> dict[str, object]:
    ids = [f"{ID} {place}" for place in range(6)]
    queries = [f"{ID} q{place}" for place in range(6)]
    run = Run.build(np.repeat(queries, 6).tolist(), ids * 6, list(range(36, 0, -1)), name=EVIL)
    other = Run.build(np.repeat(queries, 6).tolist(), ids * 6, list(range(1, 37)), name=f"other {EVIL}")
    qrels = {query: {ids[place]: 1} for place, query in enumerate(queries)}
    lexicon = Lexicon.build(EVIL, {"<b>f": ["she", "her"], "m": ["he"]})
    words = scan([(f"d{n}", "she and he" if n % 2 else "her") for n in range(6)], lexicon)
    scores = evaluate({EVIL: run, f"other {EVIL}": other}, "RR P@2 AP", qrels=qrels)
    scores = scores.with_labels({"RR": EVIL})
    gate = Gate((GateRule(parse_measure("RR"), allowed=0.1),))
    return {
        "run": run,
        "words": words,
        "scores": scores,
        "comparison": compare(scores),
        "origin": origin({EVIL: run, f"other {EVIL}": other}, "RR AP", qrels=qrels, draws=2, background=run),
        "choices": select(scores, relevance="RR", fairness="P@2", others="AP", folds=2),
        "tradeoff": tradeoff(run, "Oracle", "RR AP", qrels=qrels).with_labels({"RR": EVIL}),
        "explanation": explain(run, "RR", queries[0], qrels=qrels),
        "gate": apply_gate(scores, gate, now=EVIL, baseline=f"other {EVIL}"),
    }


def test_every_result_prints_and_shows_itself_in_a_notebook(results: dict[str, object]) -> None:
    for name, result in results.items():
        if name in ("run", "words"):  # which are lines
            continue
        html = result._repr_html_()  # type: ignore[attr-defined]
        assert "<table>" in html, name
        assert "<script" not in html, name
        assert "\x1b" not in html, name
        assert all(line.isprintable() for line in repr(result).splitlines()), name
        if name != "gate":  # which names measures alone
            assert "&lt;script&gt;" in html, name
        if name == "comparison":  # its table for papers has stars, that of a notebook p and intervals
            assert all(word in html for word in ("difference", ">p<", "95% interval")), name
        else:
            assert result.to_table().to_html() == html, name  # type: ignore[attr-defined]


def test_what_a_run_and_word_counts_say_of_themselves(results: dict[str, object]) -> None:
    run, words = results["run"], results["words"]
    for said in ("6 queries", "36 documents", "depth 6"):
        assert said in repr(run)
    assert "6 documents" in repr(words)
    for share in ("100.0%", "50.0%"):
        assert share in repr(words)
