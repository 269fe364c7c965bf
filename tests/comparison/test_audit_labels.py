"""Audit tables where names, classes, domains and numbers of queries are not as they should be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenrank as er
from evenrank import DataError, ParameterError
from evenrank.comparison.audits import Audited, RunLabel, audit_tables
from evenrank.comparison.audits.audited import SystemEstimate
from evenrank.comparison.audits.marked import NO_CLASS, Footnotes, marked_column

QUERIES = [f"q{place}" for place in range(12)]
DOCUMENTS = [f"d{place}" for place in range(6)]


def scores(*names: str, queries: int = 12) -> er.Scores:
    draw = np.random.default_rng(len(names))
    asked = QUERIES[:queries]
    runs = {
        name: er.read_run({query: dict(zip(DOCUMENTS, draw.random(6), strict=True)) for query in asked})
        for name in names
    }
    qrels = {query: {document: at % 3 for at, document in enumerate(DOCUMENTS)} for query in asked}
    return er.evaluate(runs, ["nDCG@5"], qrels=qrels)


def notes_of(audited: Audited, view: str, **settings: str) -> str:
    return "\n".join(note for table in audit_tables(audited, view, settings) for note in table.notes)


def test_a_system_of_two_classes_is_an_error() -> None:
    """Its runs would be averaged as seeds, and the mean shown twice."""
    labels = {"a": RunLabel("mine", "lexical"), "b": RunLabel("mine", "dense")}
    with pytest.raises(DataError, match="'mine' has runs of two classes, lexical and dense"):
        Audited({"": scores("a", "b")}, labels)
    (table,) = audit_tables(Audited({"": scores("a", "b")}, {**labels, "b": RunLabel("mine")}), "systems")
    assert [row[:2] for row in table.rows] == [("lexical", "mine")]  # the class is that of its other run


def test_a_run_without_a_class_does_not_get_the_one_above() -> None:
    audited = Audited({"": scores("bm25", "rm3", "new")}, {"bm25": RunLabel("bm25", "lexical")})
    (table,) = audit_tables(audited, "systems")
    assert [row[:2] for row in table.rows] == [("lexical", "bm25"), (NO_CLASS, "rm3"), ("", "new")]


def test_odd_names_are_noted() -> None:
    labels = {"bm25": RunLabel("bm25", "dens"), "bogus": RunLabel("bogus", "dense")}
    found = notes_of(Audited({"": scores("bm25", "rm3")}, labels), "systems")
    assert "named as systems, but not scored: 'bogus'" in found
    assert "class 'dens' is one of its own; did you mean dense?" in found


def test_a_domain_whose_name_is_in_another_is_written_once() -> None:
    names = ["art", "martial", "smart things", "zart", "xx"]
    domains = dict.fromkeys(QUERIES, names)
    tables = audit_tables(Audited({"": scores("bm25", "rm3")}, domains=domains), "domains", {"": "nDCG@5"})
    records: list[Any] = [record for table in tables for record in table.records]
    assert len(tables) == 2
    assert sorted((one["domain"], one["system"]) for one in records) == sorted(
        (name, system) for name in names for system in ("bm25", "rm3")
    )


def test_domains_with_few_queries_in_one_corpus_are_named_with_it() -> None:
    corpora = {"syn": scores("bm25", "rm3"), "nat": scores("bm25", "rm3", queries=3)}
    domains = {query: ["art"] for query in QUERIES} | {"q0": ["art", "law"], "q5": ["art", "law"]}
    found = notes_of(Audited(corpora, domains=domains), "domains", **{"": "nDCG@5"})
    assert "fewer than 5 queries: art nat, law syn" in found
    assert "one query or none: law nat" in found


def test_domains_with_commas_are_not_parted() -> None:
    domains = {query: ["art"] for query in QUERIES} | {"q0": ["art,law"]}
    found = notes_of(Audited({"": scores("bm25", "rm3")}, domains=domains), "domains", **{"": "nDCG@5"})
    assert "a row for each of them; commas do not part domains" in found


def test_a_value_of_few_queries_is_neither_best_nor_worst() -> None:
    found = [SystemEstimate(value, 0, 1, n, 1, 0.0) for value, n in ((0.1, 1), (0.5, 12), (0.4, 12))]
    cells = marked_column(er.parse_measure("P@5"), found, Footnotes())
    assert [cell.raised for cell in cells] == ["", "best", "worst"]


def test_notes_of_one_system_name_no_baseline() -> None:
    corpora = {"dl19": scores("bm25"), "dl19+qrels": scores("bm25")}
    assert "None" not in notes_of(Audited(corpora), "changes", **{"": "nDCG@5"})
    corpora = {"dl19": scores("bm25", "adv"), "dl19+qrels": scores("bm25", "adv")}
    found = notes_of(Audited(corpora), "changes", **{"": "nDCG@5", "over": "adv>bm25"})
    assert "its own original (adv over bm25); paired t, corrected by holm over the other systems" in found


def test_a_corpus_that_has_no_name() -> None:
    domains = {query: ["art"] for query in QUERIES}
    with pytest.raises(ParameterError, match="corpora are named by --scores NAME=FILE"):
        audit_tables(Audited({"": scores("a", "b")}, domains=domains), "gaps", {"corpus": "xx", "": "nDCG@5"})


def test_orders_say_which_systems_have_no_value() -> None:
    corpora = {"syn": scores("a", "b", "c"), "nat": scores("a", "b")}
    tables = audit_tables(Audited(corpora), "orders", {"": "nDCG@5"})
    assert "nat: no value of c" in tables[0].notes
    assert tables[0].rows[1][3].endswith("n=2: cannot be significant")
