"""Every table prints the same three values in the same way, and neutralises names in HTML."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import evenrank
from evenrank import Lexicon, Run, Scores, compare, evaluate, explain, parse_measure, scan, select, tradeoff
from evenrank.comparison.gate import Gate, GateRule, apply_gate
from evenrank.comparison.origin import BACKGROUND, Origin
from evenrank.report.page import write_report
from evenrank.scores import ScoresBlock

EVIL = "<script>alert(1)</script>|\x1b[2J"
ID = "<script>alert(1)</script>|"  # an id has no control characters
SMALL, UNDEFINED, INFINITE = -1.2e-05, math.nan, -math.inf
SHOWN = ("-1.2e-05", "undefined", "-infinite")
PACKAGE = Path(evenrank.__file__).parent


def scores_of(*runs: str) -> Scores:
    """Of each run RR has the small value, AP none, and nDCG one that is infinite, for all of six queries."""
    blocks = []
    for run in runs:
        for name, value, code in (("RR", SMALL, 0), ("AP", UNDEFINED, 2), ("nDCG@5", INFINITE, 1)):
            values, status = np.full((6, 1), value), np.full((6, 1), code, np.int16)
            queries = tuple(f"q{place}" for place in range(6))
            reasons = ("ok", "infinite", "no reason")
            blocks.append(ScoresBlock(run, parse_measure(name), queries, ("",), values, status, reasons))
    return Scores(tuple(blocks))


def texts(tmp_path: Path) -> dict[str, str]:
    scores, page = scores_of("a", "b"), tmp_path / "report.html"
    write_report(page, scores)
    run = Run.build(["q"] * 3, ["x", "y", "z"], [3.0, 2.0, 1.0], name="a")
    explained = []
    for value, status in ((SMALL, "ok"), (UNDEFINED, "no reason"), (INFINITE, "infinite")):
        found = explain(run, "RR", "q", qrels={"q": {"x": 1}})
        explained.append(repr(replace(found, values={"": value}, statuses={"": status})))
    gate = Gate(tuple(GateRule(parse_measure(name), allowed=0.1) for name in ("RR", "AP", "nDCG@5")))
    gated = apply_gate(scores, gate, now="a", baseline="b")
    infinite = replace(gated.verdicts[0], now=INFINITE)
    return {
        "scores": repr(scores),
        "compare": repr(compare(scores)) + compare(scores).to_table().to_text(),
        "origin": repr(Origin(scores_of(BACKGROUND, "a"), ("a",))),
        "explain": "\n".join(explained),
        "report": re.sub(r"(?s)<script.*?</script>|<[^>]*>", " ", page.read_text(encoding="utf-8")),
        "gate": replace(gated, verdicts=(*gated.verdicts, infinite)).to_table().to_text(),
    }


def test_the_same_values_have_the_same_text_everywhere(tmp_path: Path) -> None:
    for where, text in texts(tmp_path).items():
        words = set(re.findall(r"[-+]?[\w.]+(?:-\d+)?", text))
        missing = [shown for shown in SHOWN if shown not in words]
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
    return {
        "run": run,
        "words": words,
        "scores": scores,
        "comparison": compare(scores),
        "origin": Origin(scores, scores.runs),
        "choices": select(scores, relevance="RR", fairness="P@2", others="AP", folds=2),
        "tradeoff": tradeoff(run, "Oracle", "RR AP", qrels=qrels).with_labels({"RR": EVIL}),
        "explanation": explain(run, "RR", queries[0], qrels=qrels),
    }


def test_every_result_prints_and_shows_itself_in_a_notebook(results: dict[str, object]) -> None:
    for name, result in results.items():
        html = result._repr_html_()  # type: ignore[attr-defined]
        assert "<table>" in html, name
        assert "<script" not in html, name
        assert "\x1b" not in html, name
        assert all(line.isprintable() for line in repr(result).splitlines()), name
        assert "&lt;script&gt;" in html, name
        if name not in ("run", "words"):
            assert result.to_table().to_html() == html, name  # type: ignore[attr-defined]


def test_whatever_is_a_table_shows_itself_in_a_notebook() -> None:
    """Results of polarise, gate and counterfactual experiments among them."""
    lacking, found = [], set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                methods = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
                if "to_table" in methods:
                    found.add(node.name)
                    lacking += [] if "_repr_html_" in methods else [node.name]
    assert lacking == []
    assert found >= {"Scores", "Comparison", "GateResult", "PolariseResult", "Counterfactual"}


def test_what_a_run_and_word_counts_say_of_themselves(results: dict[str, object]) -> None:
    run, words = results["run"], results["words"]
    assert repr(run).endswith(": 6 queries, 36 documents, depth 6>")
    assert "and 1 more query" in run._repr_html_()  # type: ignore[attr-defined]
    assert "6 documents" in repr(words)
    assert "<b>f in 100.0%, m in 50.0%, of any group in 100.0% of the documents" in repr(words)
    assert ">50.0%<" in words._repr_html_()  # type: ignore[attr-defined]
