"""The tables of the audit papers: what stands in each cell, against plain sums over toy scores."""

from __future__ import annotations

import itertools
import json
import math
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evenrank as er
from evenrank import DataError, ParameterError
from evenrank.cli import main
from evenrank.cli.compare import AUDITS
from evenrank.comparison.audits import AUDIT_VIEWS, Audited, RunLabel, audit_tables
from evenrank.comparison.audits.audited import SystemEstimate
from evenrank.comparison.audits.marked import Footnotes, marked_column
from evenrank.comparison.audits.system_files import read_systems
from evenrank.errors import UnknownNameError

QUERIES = [f"q{place}" for place in range(12)]
DOCUMENTS = [f"d{place}" for place in range(8)]
QRELS = {query: {document: (place + at) % 3 for at, document in enumerate(DOCUMENTS)}
         for place, query in enumerate(QUERIES)}  # fmt: skip
RUNS = ("bm25", "dense.1", "dense.2", "cross")
LABELS = {"bm25": RunLabel("bm25", "lexical"), "cross": RunLabel("cross", "re-ranker"),
          "dense.1": RunLabel("dense", "dense"), "dense.2": RunLabel("dense", "dense")}  # fmt: skip
DOMAINS = {query: ["law"] if place < 6 else ["art"] if place < 9 else ["art", "law"]
           for place, query in enumerate(QUERIES)} | {"q0": ["law", "alone"]}  # fmt: skip


def runs(seed: int) -> dict[str, er.Run]:
    draw = np.random.default_rng(seed)
    return {
        name: er.read_run(
            {query: dict(zip(DOCUMENTS, draw.random(8), strict=True)) for query in QUERIES}, name=name
        )
        for name in RUNS
    }


def scores(seed: int, measures: str = "nDCG@5 RR AP") -> er.Scores:
    return er.evaluate(runs(seed), measures.split(), qrels=QRELS)


@pytest.fixture(scope="module")
def audited() -> Audited:
    return Audited({"one": scores(1), "two": scores(2, "nDCG@5 RR")}, LABELS, DOMAINS)


def values(found: er.Scores, measure: str, run: str) -> dict[str, float]:
    return found.to_dict()[run][measure]


def dense(found: er.Scores, measure: str) -> dict[str, float]:
    """The mean over seeds, query by query."""
    first, second = (values(found, measure, run) for run in ("dense.1", "dense.2"))
    return {query: (first[query] + second[query]) / 2 for query in first}


def test_systems_by_class_and_corpus(audited: Audited) -> None:
    (table,) = audit_tables(audited, "systems")
    assert table.head[:3] == ("class", "system", "one: nDCG@5 \u2191")
    assert [row[:2] for row in table.rows] == [
        ("lexical", "bm25"),
        ("dense", "dense"),
        ("re-ranker", "cross"),
    ]
    own = scores(1)
    columns = [values(own, "nDCG@5", "bm25"), dense(own, "nDCG@5"), values(own, "nDCG@5", "cross")]
    means = [statistics.mean(column.values()) for column in columns]
    cells = [row[2] for row in table.rows]
    assert [cell.value for cell in cells] == pytest.approx(means)
    assert [cell.raised for cell in cells] == [
        "best" if mean == max(means) else "worst" if mean == min(means) else "" for mean in means
    ]
    assert all(cell.low < cell.value < cell.high for cell in cells)
    seeds = [statistics.mean(values(own, "nDCG@5", run).values()) for run in ("dense.1", "dense.2")]
    assert cells[1].after == f"sd {statistics.stdev(seeds):.4f}"
    # AP was not scored on the second corpus: the cells say why
    assert table.head[-1] == "two: AP \u2191"
    assert {(row[-1].value, row[-1].raised) for row in table.rows} == {("n/a", "1")}
    assert "n/a 1: AP was not scored there" in table.notes
    assert any("seeds" in note for note in table.notes)
    assert len(table.records) == 3 * 3 * 2


def test_how_many_queries_a_value_is_of() -> None:
    """nDCG is undefined for queries without a relevant document: the head counts the others."""
    judged = {query: grades if place < 9 else dict.fromkeys(grades, 0)
              for place, (query, grades) in enumerate(QRELS.items())}  # fmt: skip
    (table,) = audit_tables(Audited({"": er.evaluate(runs(1), ["nDCG@5"], qrels=judged)}), "systems")
    assert table.head[1:] == ("nDCG@5 \u2191 (n=9 of 12)",)
    found = [SystemEstimate(0.5, 0.4, 0.6, queries, 1, math.nan) for queries in (9, 7)]
    cells = marked_column(er.parse_measure("P@5"), found, Footnotes())
    assert [cell.after for cell in cells] == ["", "n=7"]  # fewer queries than its neighbour


def test_a_measure_of_which_less_is_better() -> None:
    groups = er.Membership.from_labels(
        er.Attribute("side", ["a", "b"]), dict(zip(DOCUMENTS, "abaabbba", strict=True))
    )
    found = er.evaluate(runs(3), ["NDKL@5"], groups=groups)
    (table,) = audit_tables(Audited({"": found}), "systems")
    means = {row[0]: row[1] for row in table.rows}
    best = min(means, key=lambda name: means[name].value)
    assert means[best].raised == "best"
    assert means[max(means, key=lambda name: means[name].value)].raised == "worst"
    (orders,) = audit_tables(Audited({"": found}), "orders")
    assert orders.rows[0][1].startswith(best)


def test_domains(audited: Audited) -> None:
    tables = audit_tables(audited, "domains", {"": "nDCG@5"})
    heads = [head for table in tables for head in table.head[2:]]
    assert heads == ["art one (n=6)", "art two (n=6)", "law one (n=9)", "law two (n=9)"]
    own = values(scores(1), "nDCG@5", "bm25")
    expected = statistics.mean(own[query] for query in QUERIES if "law" in DOMAINS[query])
    cell = tables[0].rows[0][4]
    assert cell.value == pytest.approx(expected)
    assert cell.low < cell.value
    assert "left out, with one query or none: alone" in tables[-1].notes
    few = Audited({"": scores(1)}, LABELS, dict.fromkeys(QUERIES[:4], "x"))
    (small,) = audit_tables(few, "domains", {"": "RR"})
    assert math.isnan(small.rows[0][2].low)
    assert "without intervals, with fewer than 5 queries: x" in small.notes
    with pytest.raises(ParameterError, match="needs the domains of queries: add --by"):
        audit_tables(Audited({"": scores(1)}), "domains", {"": "RR"})


def test_gaps(audited: Audited) -> None:
    one, two = audit_tables(audited, "gaps", {"": "nDCG@5"})
    assert (one.title, two.title) == ("nDCG@5 one", "nDCG@5 two")
    assert len(one.rows) == 4  # two domains, two systems that are not the best
    own = scores(1)
    columns = {
        "bm25": values(own, "nDCG@5", "bm25"),
        "dense": dense(own, "nDCG@5"),
        "cross": values(own, "nDCG@5", "cross"),
    }
    queries = {name: [query for query in QUERIES if name in DOMAINS[query]] for name in ("art", "law")}
    p_values: dict[str, dict[str, float]] = {}
    for record in one.records:
        means = {name: statistics.mean(column[query] for query in queries[record["domain"]])
                 for name, column in columns.items()}  # fmt: skip
        assert record["best"] == max(means, key=means.__getitem__)
        assert record["gap"] == pytest.approx(means[record["system"]] - means[record["best"]])
        own, other = (
            [columns[record[which]][query] for query in queries[record["domain"]]]
            for which in ("system", "best")
        )
        found = stats.ttest_rel(own, other)
        p_values.setdefault(record["system"], {})[record["domain"]] = found.pvalue
    for record in one.records:
        own_p = sorted(p_values[record["system"]].values())
        holm = min(1.0, own_p[0] * len(own_p))
        if len(own_p) == 2 and p_values[record["system"]][record["domain"]] == own_p[1]:
            holm = max(holm, own_p[1])
        assert record["corrected_p"] == pytest.approx(holm)
    assert [row[-1] for row in one.rows] == [
        "trails" if record["corrected_p"] < 0.05 else "" for record in one.records
    ]
    with pytest.raises(ParameterError, match="no corpus is called 'three'"):
        audit_tables(audited, "gaps", {"": "nDCG@5", "corpus": "three"})
    (nothing,) = audit_tables(Audited({"": scores(1)}, LABELS, {"q1": "x"}), "gaps", {"": "RR"})
    assert nothing.notes[0] == "no domain has enough queries"


def test_agreement_of_measures_and_of_corpora(audited: Audited) -> None:
    (table,) = audit_tables(audited, "agreement")
    named = [(record["of"], *row[:2]) for record, row in zip(table.records, table.rows, strict=True)]
    assert named[0] == ("measures", "nDCG@5 one", "RR one")
    assert named[-2:] == [("corpora", "nDCG@5 one", "nDCG@5 two"), ("corpora", "RR one", "RR two")]
    own = scores(1)
    points = [
        [statistics.mean(column.values()) for column in
         (values(own, measure, "bm25"), dense(own, measure), values(own, measure, "cross"))]
        for measure in ("nDCG@5", "RR")
    ]  # fmt: skip
    assert table.rows[0][2].value == pytest.approx(stats.spearmanr(*points).statistic)
    assert "(exact)" in table.rows[0][3]
    assert table.rows[0][-1] == "cannot be significant with so few systems"
    with pytest.raises(ParameterError, match="two measures, or one measure on two corpora"):
        audit_tables(Audited({"": scores(1, "RR")}), "agreement")


def test_orders(audited: Audited) -> None:
    (table,) = audit_tables(audited, "orders", {"": "nDCG@5"})
    own = scores(1)
    means = {"bm25": statistics.mean(values(own, "nDCG@5", "bm25").values()),
             "dense": statistics.mean(dense(own, "nDCG@5").values()),
             "cross": statistics.mean(values(own, "nDCG@5", "cross").values())}  # fmt: skip
    ranked = sorted(means, key=means.__getitem__, reverse=True)
    expected = ranked[0]
    for before, after in itertools.pairwise(ranked):
        expected += (" \u227d " if round(means[before], 2) == round(means[after], 2) else " \u227b ") + after
    assert table.rows[0][:2] == ("one", expected)
    with pytest.raises(ParameterError, match="decimals must be 1, 2, 3 or 4"):
        audit_tables(audited, "orders", {"": "RR", "decimals": "x"})


def test_methods_with_their_correlation(audited: Audited) -> None:
    (table,) = audit_tables(audited, "methods", {"": "nDCG@5,RR"})
    assert table.head[2:6] == ("one: nDCG@5", "one: RR", "one: AP", "one: r")
    own = scores(1)
    expected = stats.pearsonr(
        list(values(own, "nDCG@5", "bm25").values()), list(values(own, "RR", "bm25").values())
    )
    assert table.rows[0][5].value == f"{expected.statistic:.4f}"
    assert table.rows[0][5].raised == ("\u2020" if expected.pvalue < 0.05 else "")
    assert any("the family is the 2 other systems on one measure in one set" in note for note in table.notes)
    alone = Audited({"": er.evaluate({"bm25": runs(1)["bm25"]}, ["nDCG@5", "RR"], qrels=QRELS)})
    (single,) = audit_tables(alone, "methods", {"": "nDCG@5,RR"})
    assert single.rows[0][3].value == table.rows[0][5].value  # also of one run
    with pytest.raises(ParameterError, match="r is of two measures"):
        audit_tables(audited, "methods", {"": "RR"})


def test_a_mark_for_what_is_significantly_better() -> None:
    perfect = er.read_run(
        {query: {d: QRELS[query][d] for d in DOCUMENTS} for query in QUERIES}, name="perfect"
    )
    poor = er.read_run({query: {d: -QRELS[query][d] for d in DOCUMENTS} for query in QUERIES}, name="bm25")
    found = er.evaluate(
        {"bm25": poor, "perfect": perfect, "again": perfect.renamed("again")}, ["nDCG@5"], qrels=QRELS
    )
    (table,) = audit_tables(Audited({"": found}, correction="bonferroni"), "methods")
    assert [row[1].raised for row in table.rows] == ["", "\u2021", "\u2021"]
    (changes,) = audit_tables(
        Audited({"x": found, "x+qrels": found}, baseline="bm25"),
        "changes",
        {"over": "perfect>bm25,again>perfect"},
    )
    assert [row[1].raised for row in changes.rows] == ["", "\u2021\u2020", "\u2021"]
    assert [row[2].value for row in changes.rows] == [0.0, 0.0, 0.0]
    assert changes.head == ("system", "x", "change on x+qrels")
    with pytest.raises(ParameterError, match="needs scores in pairs"):
        audit_tables(Audited({"x": found}), "changes")
    with pytest.raises(ParameterError, match="over must be SYSTEM>ORIGINAL"):
        audit_tables(Audited({"x": found, "x+q": found}), "changes", {"over": "nobody>bm25"})


def test_a_rule_for_missing_evidence_need_not_be_repeated() -> None:
    groups = er.Membership.from_labels(er.Attribute("side", ["a", "b"]), {"d0": "a", "d1": "b"})
    found = er.evaluate(runs(3), ["NDKL@5"], groups=groups, missing="drop")
    (table,) = audit_tables(Audited({"": found}), "orders", {"": "NDKL@5"})
    assert table.title == "NDKL@5"
    (systems,) = audit_tables(Audited({"": found}), "systems")
    assert systems.head[1] == "NDKL@5 \u2193"
    assert any("missing='drop'" in note for note in systems.notes)


def test_what_is_not_there(audited: Audited, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="name one measure behind the view: nDCG@5, RR, AP"):
        audit_tables(audited, "orders")
    with pytest.raises(UnknownNameError, match="'P@1' was not scored; there are"):
        audit_tables(audited, "orders", {"": "P@1"})
    with pytest.raises(UnknownNameError, match="no view is called 'x'; there are agreement, "):
        audit_tables(audited, "x")
    with pytest.raises(UnknownNameError, match=r"no view is called 'oders'; did you mean orders\?"):
        audit_tables(audited, "oders")
    with pytest.raises(DataError, match="none of the runs that the file of systems names was scored"):
        Audited({"": scores(1)}, {"other": RunLabel("other")})
    (tmp_path / "s.csv").write_text("name,class\na,b\n")
    with pytest.raises(DataError, match="has no column 'run'"):
        read_systems(str(tmp_path / "s.csv"))


Command = Callable[..., int]


@pytest.mark.needs("altair")
def test_the_figure_has_a_row_for_each_set_of_queries(tmp_path: Path, capsys: Any) -> None:
    from evenrank.report.figures.cutoffs import cutoff_rows_figure

    sets = {name: er.evaluate(runs(seed), ["nDCG", "P"], cutoffs=[1, 3, 5], qrels=QRELS)
            for seed, name in enumerate(("QS1", "QS2"))}  # fmt: skip
    drawn = cutoff_rows_figure(sets).to_dict()
    assert [row["title"] for row in drawn["vconcat"]] == ["QS1", "QS2"]
    assert [len(row["hconcat"]) for row in drawn["vconcat"]] == [2, 2]
    many = er.evaluate(runs(1), ["nDCG", "P", "RR", "R"], cutoffs=[1, 3], qrels=QRELS)
    with pytest.raises(ParameterError, match="QS: 4 measures are too many for a row of a figure"):
        cutoff_rows_figure({"QS": many})
    for name, found in sets.items():
        found.write(tmp_path / f"{name}.jsonl")
    given = ["compare", "--scores", f"{tmp_path}/QS1.jsonl", "--scores", f"{tmp_path}/QS2.jsonl"]
    figure = tmp_path / "rows.svg"
    assert main([*given, "--view", "methods", "--figure", str(figure)]) == 0
    assert "QS2" in figure.read_text(encoding="utf-8")
    assert main([*given, "--view", "systems", "--figure", str(figure)]) == 2
    assert "or --view methods: ask for one of them" in capsys.readouterr().err


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    scores(1).write("one.jsonl")
    scores(2, "nDCG@5 RR").write("two.jsonl")
    Path("systems.csv").write_text(
        "run,class,system\nbm25,lexical,bm25\ndense.1,dense,dense\ndense.2,dense,dense\n"
    )
    Path("by.csv").write_text(
        "query,domain\n" + "".join(f"{q},{d}\n" for q, own in DOMAINS.items() for d in own)
    )
    given = ["compare", "--scores", "one=one.jsonl", "--scores", "two=two.jsonl", "--by", "by.csv"]
    assert tuple(AUDIT_VIEWS) != ()
    assert set(AUDITS) == set(AUDIT_VIEWS)  # the help names them all
    for view in ("systems:systems=systems.csv", "domains:RR", "gaps:RR:corpus=one", "agreement:kendall",
                 "orders:RR:decimals=3", "methods:nDCG@5,RR", "orders:nDCG(dcg='log2')@5"):  # fmt: skip
        assert main([*given, "--view", view]) == 0, capsys.readouterr().err
        assert capsys.readouterr().out
        assert main([*given, "--view", view, "--format", "jsonl"]) == 0
        assert all(json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert main([*given, "--view", "systems", "-o", "table.tex"]) == 0
    assert "\\textsuperscript{best}" in Path("table.tex").read_text()
    capsys.readouterr()
    for view, complaint in (("sytems", "no view is called 'sytems'; did you mean systems?"),
                            ("domains:RR:x=1", "domains takes VALUE, systems=.."),
                            ("systems:systems=none.csv", "none.csv")):  # fmt: skip
        assert main([*given, "--view", view]) in (1, 2)
        assert complaint in capsys.readouterr().err
    for name, run in runs(1).items():
        er.write_run(run, f"{name}.trec")
        Path(f"{name}.trec.system.json").write_text(
            json.dumps({"class": "dense" if "dense" in name else "lexical"})
        )
    Path("qrels.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, own in QRELS.items() for d, g in own.items())
    )
    assert (
        main(
            ["compare", "bm25.trec", "dense.1.trec", "--qrels", "qrels.txt", "-m", "RR", "--view", "systems"]
        )
        == 0
    )
    shown = capsys.readouterr().out
    assert shown.splitlines()[0].split()[:2] == ["class", "system"]
    assert "lexical" in shown
    assert (
        main(["compare", "bm25.trec", "--qrels", "qrels.txt", "-m", "RR AP", "--view", "methods:RR,AP"]) == 0
    )
