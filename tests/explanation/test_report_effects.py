"""What the documents of all lists do in a report is what ``explain`` says of each."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pages
import pytest
from sample_inputs import bm25_run, groups_of

import evenrank as er
from evenrank.sample import load


def shown(path: Path, runs: dict[str, Any], measures: list[str], **known: Any) -> dict[str, Any]:
    er.compare(runs, measures, **known).report(path)
    return pages.data_of(pages.parsed(path))


def numbers(text: str) -> list[float]:
    return [math.nan if word == "-" else float(word) for word in text.split()]


@pytest.mark.parametrize(
    "measures",
    [
        ["NFaiRR@5", "0.5*nDCG@5 + 0.5*NFaiRR@3", "TExFAIR@5", "GF(attr='leaning')@5"],
        pytest.param(["FaiRR@5", "nDCG@5", "RBP@5"], marks=pytest.mark.slow),
        pytest.param(
            ["Polarity(attr='leaning')@5"]
            + [f"{name}(attr='leaning',missing='drop')@5" for name in ("MaxSkew", "NDKL")],
            marks=pytest.mark.slow,
        ),
    ],
)
def test_effects_are_those_of_explain(measures: list[str], tmp_path: Path) -> None:
    sample, run = load(), bm25_run()
    known = {
        "qrels": sample.qrels,
        "words": er.scan(list(sample.documents.items()), er.read_lexicon("gender-en")),
        "groups": groups_of(sample),
        "background": run,
    }
    data = shown(tmp_path / "r.html", {"bm25": run, "same": run}, measures, **known)
    queries = {query["id"]: query for query in data["queries"]}
    written = [measure["name"].partition("(")[0] for measure in data["measures"]]
    for name in measures:
        place = written.index(name.partition("(")[0])
        kind = data["measures"][place]["effect"]
        assert kind == ("without it" if name.startswith(("TExFAIR", "MaxSkew")) else "adds"), name
        for query in (run.query_ids[0], run.query_ids[7], run.query_ids[-1]):
            found = numbers(queries[query]["effects"][place][0])
            documents = er.explain(run, name, query, depth=len(found), **known).documents
            for value, document in zip(found, documents, strict=True):
                wanted = (document.change_without or {"": math.nan})[""] if kind != "adds" else document.adds
                if document.counts_in:
                    assert value == pytest.approx(wanted, abs=6e-5, nan_ok=True), (name, query, document.rank)


def test_many_queries_are_as_a_few(tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    lists = {
        f"q{q:03d}": {f"d{d}": 9.0 - r for r, d in enumerate(chance.permutation(9)[:7])} for q in range(300)
    }
    qrels = {query: {f"d{d}": int(chance.integers(0, 3)) for d in range(9)} for query in lists}
    few = {query: lists[query] for query in ("q001", "q280", "q299")}
    measures = ["nDCG@3", "RR@3", "AP"]
    found = []
    for some in (lists, few):
        data = shown(tmp_path / f"{len(some)}.html", {"one": some, "two": some}, measures, qrels=qrels)
        assert all(measure["effect"] for measure in data["measures"])
        found.append({query["id"]: query["effects"] for query in data["queries"] if query["id"] in few})
    assert found[0] == found[1]
    assert len(found[0]) == 3


def test_lists_that_lack_a_query_and_what_cannot_be_said(tmp_path: Path) -> None:
    runs = {"one": {"q": {"a": 1.0}}, "two": {"q": {"a": 1.0}, "r": {"b": 2.0, "a": 1.0}}}
    data = shown(tmp_path / "short.html", runs, ["P@2"], qrels={"q": {"a": 1}, "r": {"a": 1}})
    assert {query["id"]: query["effects"][0] for query in data["queries"]} == {
        "q": ["+0.5000", "+0.5000"],
        "r": ["", "0 +0.5000"],
    }
    words = er.scan([("a", "he"), ("b", "she")], er.read_lexicon("gender-en"))
    deeper = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}  # nothing is known of c, which would move up
    data = shown(tmp_path / "words.html", {"one": deeper, "two": deeper}, ["TExFAIR@2"], words=words)
    assert data["measures"][0]["effect"] == ""
