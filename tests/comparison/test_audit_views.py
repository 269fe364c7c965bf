"""The tables of the audit papers: the rows that the command prints, against plain sums over given scores."""

from __future__ import annotations

import itertools
import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from drawn import made
from scipy import stats

from evenrank import Scores

Evenrank = Callable[..., SimpleNamespace]
Values = dict[str, dict[str, list[float]]]  # by run and measure, of one query after the other

QUERIES = [f"q{place}" for place in range(12)]
DOMAINS = {query: ["law"] if place < 6 else ["art"] if place < 9 else ["art", "law"]
           for place, query in enumerate(QUERIES)} | {"q0": ["law", "alone"]}  # fmt: skip
SYSTEMS = {"bm25": ("lexical", "bm25"), "cross": ("re-ranker", "cross"),
           "dense.1": ("dense", "dense"), "dense.2": ("dense", "dense")}  # fmt: skip


def drawn(seed: int, measures: str = "nDCG@5 RR AP", runs: Sequence[str] = tuple(SYSTEMS)) -> Values:
    draw = np.random.default_rng(seed)
    return {run: {measure: draw.random(12).round(6).tolist() for measure in measures.split()} for run in runs}


ONE, TWO = drawn(1), drawn(2, "nDCG@5 RR")


def of_system(values: Values, system: str, measure: str) -> list[float]:
    """The mean over seeds, query by query."""
    runs = [values[run][measure] for run, (_, name) in SYSTEMS.items() if name == system and run in values]
    return [statistics.fmean(row) for row in zip(*runs, strict=True)]


@pytest.fixture
def view(evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """What a view prints of some corpora: rows for programs, and the table."""
    monkeypatch.chdir(tmp_path)

    def printed(
        corpora: Mapping[str, Values | Scores],
        asked: str,
        systems: Mapping[str, tuple[str, str]] | None = None,
        domains: Mapping[str, Sequence[str]] | None = None,
    ) -> SimpleNamespace:
        given = ["compare", "--no-project"]
        for place, (name, values) in enumerate(corpora.items()):
            scores = values if isinstance(values, Scores) else made(values, QUERIES)
            scores.write(f"c{place}.jsonl")
            given += ["--scores", f"{name}=c{place}.jsonl" if name else f"c{place}.jsonl"]
        if domains is not None:
            lines = [f'{query},"{name}"' for query, own in domains.items() for name in own]
            Path("by.csv").write_text("\n".join(["query,domain", *lines]))
            given += ["--by", "by.csv"]
        if systems is not None:
            lines = [f"{run},{kind},{system}" for run, (kind, system) in systems.items()]
            Path("systems.csv").write_text("\n".join(["run,class,system", *lines]))
            asked += ":systems=systems.csv"
        given += ["--view", asked]
        shown, rows = evenrank(*given), evenrank(*given, "--format", "jsonl")
        assert shown.code == rows.code
        records = [json.loads(line) for line in rows.out.splitlines()] if rows.code == 0 else []
        return SimpleNamespace(code=rows.code, rows=records, out=shown.out, err=shown.err)

    return printed


def test_systems_by_class_and_corpus(view: Any) -> None:
    found = view({"one": ONE, "two": TWO}, "systems", systems=SYSTEMS)
    order = [("lexical", "bm25"), ("dense", "dense"), ("re-ranker", "cross")]
    assert list(dict.fromkeys((row["class"], row["system"]) for row in found.rows)) == order
    assert len(found.rows) == 3 * 3 * 2
    for row in found.rows:
        values = ONE if row["corpus"] == "one" else TWO
        if row["measure"] not in values["bm25"]:
            assert (row["corpus"], row["measure"], row["value"]) == ("two", "AP", None)
            assert row["reason"]
            continue
        own = of_system(values, row["system"], row["measure"])
        assert row["value"] == pytest.approx(statistics.fmean(own))
        interval = made({"a": {row["measure"]: own}}).interval(row["measure"])
        assert (row["low"], row["high"]) == pytest.approx(interval)
        assert (row["queries"], row["seeds"], row["reason"]) == (12, 1 + (row["system"] == "dense"), "")
        if row["system"] == "dense":
            seeds = [statistics.fmean(values[run][row["measure"]]) for run in ("dense.1", "dense.2")]
            assert row["spread"] == pytest.approx(statistics.stdev(seeds))
    assert "n/a" in found.out


def marks(out: str, name: str) -> list[str]:
    """What is raised in the cells of a row of Markdown."""
    (line,) = (line for line in out.splitlines() if f"| {name} |" in line)
    return [cell.partition("<sup>")[2].partition("</sup>")[0] for cell in line.strip("|").split("|")[1:]]


@pytest.mark.parametrize(
    ("measure", "order"), [("nDCG@5", ["worst", "", "best"]), ("NDKL@5", ["best", "", "worst"])]
)
def test_best_and_worst_follow_the_measure(
    measure: str, order: list[str], view: Any, evenrank: Evenrank
) -> None:
    """A value of few queries is neither, and of a signed measure none is."""
    level = {"a": 0.1, "b": 0.2, "c": 0.3}
    values = {run: {measure: [value] * 12, "ARaB@5": [value] * 12} for run, value in level.items()}
    values["few"] = dict.fromkeys(values["a"], [0.9 if measure == "nDCG@5" else 0.0] + [float("nan")] * 11)
    assert view({"": values}, "systems").code == 0
    out = evenrank(
        "compare", "--no-project", "--scores", "c0.jsonl", "--view", "systems", "--format", "markdown"
    ).out
    assert [marks(out, run)[0] for run in ("a", "b", "c", "few")] == [*order, ""]
    assert [marks(out, run)[1] for run in ("a", "b", "c")] == ["", "", ""]


def test_a_system_of_two_classes_is_an_error(view: Any) -> None:
    """Its runs would be averaged as seeds, and the mean shown twice."""
    values = drawn(1, "RR", ["a", "b"])
    found = view({"": values}, "systems", systems={"a": ("lexical", "mine"), "b": ("dense", "mine")})
    assert found.code == 1
    assert all(name in found.err for name in ("'mine'", "lexical", "dense"))
    kept = {"a": {"system": "mine", "class": "lexical"}, "b": {"system": "mine", "class": ""}}
    found = view({"": made(values, QUERIES, {"systems": kept})}, "systems")
    assert [(row["class"], row["system"]) for row in found.rows] == [("lexical", "mine")]


def test_a_run_without_a_class_does_not_get_the_one_above(view: Any) -> None:
    found = view(
        {"": drawn(1, "RR", ["bm25", "rm3", "new"])}, "systems", systems={"bm25": ("lexical", "bm25")}
    )
    assert [(row["class"], row["system"]) for row in found.rows] == [
        ("lexical", "bm25"),
        ("", "rm3"),
        ("", "new"),
    ]


def test_odd_names_are_told(view: Any) -> None:
    named = {"bm25": ("dens", "bm25"), "bogus": ("dense", "bogus")}
    found = view({"": drawn(1, "RR", ["bm25", "rm3"])}, "systems", systems=named)
    assert all(name in found.out + found.err for name in ("'bogus'", "'dens'", "dense?"))
    found = view({"": drawn(1, "RR", ["bm25", "rm3"])}, "systems", systems={"other": ("dense", "other")})
    assert (found.code, "'other'" in found.err) == (1, True)


def test_domains(view: Any) -> None:
    found = view({"one": ONE, "two": TWO}, "domains:nDCG@5", systems=SYSTEMS, domains=DOMAINS)
    assert len(found.rows) == 2 * 2 * 3
    for row in found.rows:
        rows = [place for place, query in enumerate(QUERIES) if row["domain"] in DOMAINS[query]]
        own = of_system(ONE if row["corpus"] == "one" else TWO, row["system"], "nDCG@5")
        assert row["value"] == pytest.approx(statistics.fmean(own[place] for place in rows))
        assert row["queries"] == len(rows) == {"art": 6, "law": 9}[row["domain"]]
        assert row["low"] < row["value"] < row["high"]
    assert "alone" in found.out  # one query is too few, and named
    few = view({"": ONE}, "domains:RR", domains={query: ["x"] for query in QUERIES[:4]})
    assert {row["queries"] for row in few.rows} == {4}
    assert {row["low"] for row in few.rows} == {None}
    none = view({"": ONE}, "domains:RR")
    assert (none.code, "--by" in none.err) == (2, True)


def test_a_domain_whose_name_is_in_another_is_written_once(view: Any) -> None:
    """Five domains are more than stand side by side. A query of several has a row for each of them."""
    names = ["art", "martial", "smart things", "zart", "a,b"]
    found = view({"": drawn(1, "RR", ["bm25", "rm3"])}, "domains", domains=dict.fromkeys(QUERIES, names))
    rows = [(row["domain"], row["system"]) for row in found.rows]
    assert sorted(rows) == sorted(itertools.product(names, ("bm25", "rm3")))


def test_gaps(view: Any) -> None:
    found = view({"one": ONE, "two": TWO}, "gaps:nDCG@5", systems=SYSTEMS, domains=DOMAINS)
    assert len(found.rows) == 2 * 2 * 2  # two corpora, two domains, two systems that are not the best
    p_values: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in found.rows:
        rows = [place for place, query in enumerate(QUERIES) if row["domain"] in DOMAINS[query]]
        values = ONE if row["corpus"] == "one" else TWO
        columns = {
            name: [of_system(values, name, "nDCG@5")[place] for place in rows]
            for name in ("bm25", "dense", "cross")
        }
        means = {name: statistics.fmean(column) for name, column in columns.items()}
        assert row["best"] == max(means, key=means.__getitem__)
        assert row["gap"] == pytest.approx(means[row["system"]] - means[row["best"]])
        assert row["low"] < row["gap"] < row["high"]
        p = stats.ttest_rel(columns[row["system"]], columns[row["best"]]).pvalue
        assert row["p"] == pytest.approx(p)
        p_values.setdefault((row["corpus"], row["system"]), []).append((p, row["corrected_p"]))
    for own in p_values.values():  # Holm over the domains of a system
        (small, first), *rest = sorted(own)
        assert first == pytest.approx(min(1.0, small * len(own)))
        assert [after for _, after in rest] == pytest.approx([max(first, p) for p, _ in rest])
    only = view({"one": ONE, "two": TWO}, "gaps:nDCG@5:corpus=two", systems=SYSTEMS, domains=DOMAINS)
    assert only.rows == [row for row in found.rows if row["corpus"] == "two"]
    wrong = view({"one": ONE}, "gaps:nDCG@5:corpus=xx", domains=DOMAINS)
    assert (wrong.code, "'xx'" in wrong.err) == (2, True)
    assert view({"": ONE}, "gaps:RR", domains={"q1": ["x"]}).rows == []


def test_agreement_of_measures_and_of_corpora(view: Any) -> None:
    found = view({"one": ONE, "two": TWO}, "agreement", systems=SYSTEMS)
    named = [(row["of"], row["first"], row["second"]) for row in found.rows]
    assert named[0] == ("measures", "nDCG@5 one", "RR one")
    assert named[-2:] == [("corpora", "nDCG@5 one", "nDCG@5 two"), ("corpora", "RR one", "RR two")]
    for row in found.rows:
        points = []
        for measure, corpus in (row["first"].split(), row["second"].split()):
            values = ONE if corpus == "one" else TWO
            points.append(
                [statistics.fmean(of_system(values, s, measure)) for s in ("bm25", "dense", "cross")]
            )
        assert row["value"] == pytest.approx(stats.spearmanr(*points).statistic)
        assert (row["p_method"], row["systems"]) == ("exact", 3)
        assert row["reason"]  # three systems are too few
    assert view({"": drawn(1, "RR")}, "agreement").code == 2
    assert [row["method"] for row in view({"": drawn(1, "RR AP")}, "agreement:kendall").rows] == ["kendall"]


@pytest.mark.parametrize("decimals", [1, 2, 4])
def test_orders(decimals: int, view: Any) -> None:
    levels = {"a": 0.581, "b": 0.604, "c": 0.579, "d": 0.6}
    values = {run: {"nDCG@5": [level] * 12, "NDKL@5": [level] * 12} for run, level in levels.items()}
    two = {run: own for run, own in values.items() if run != "c"}
    for measure in ("nDCG@5", "NDKL@5"):
        found = view({"syn": values, "nat": two}, f"orders:{measure}:decimals={decimals}")
        for row, known in zip(found.rows, (values, two), strict=True):
            ranked = sorted(known, key=levels.__getitem__, reverse=measure == "nDCG@5")
            expected = ranked[0]
            for before, after in itertools.pairwise(ranked):
                same = round(levels[before], decimals) == round(levels[after], decimals)
                expected += (" ≽ " if same else " ≻ ") + after
            assert row["order"] == expected
    assert "n=3" in found.out  # the systems that both have
    wrong = view({"": values}, "orders:NDKL@5:decimals=x")
    assert (wrong.code, "'x'" in wrong.err) == (2, True)


def test_methods_with_their_correlation(view: Any) -> None:
    better = {"bm25": {"nDCG@5": ONE["bm25"]["nDCG@5"], "RR": ONE["bm25"]["RR"]}, "again": {}, "best": {}}
    for run, gain in (("again", 0.0), ("best", 0.3)):
        better[run] = {name: [value + gain for value in own] for name, own in better["bm25"].items()}
    found = view({"": better}, "methods:nDCG@5,RR")
    assert [row["verdict"] for row in found.rows] == ["", "", "better"] * 2
    r = stats.pearsonr(better["bm25"]["nDCG@5"], better["bm25"]["RR"])
    assert all(
        f"{r.statistic:.4f}" in line for line in found.out.splitlines() if line.startswith(tuple(better))
    )
    alone = view({"": {"bm25": better["bm25"]}}, "methods:nDCG@5,RR")
    assert f"{r.statistic:.4f}" in alone.out  # also of one run
    wrong = view({"": better}, "methods:RR")
    assert (wrong.code, "'RR'" in wrong.err) == (2, True)


def test_changes_between_pairs_of_corpora(view: Any) -> None:
    low = drawn(1, "RR", ["bm25"])["bm25"]["RR"]
    first = {run: {"RR": [value + gain for value in low]} for run, gain in
             (("bm25", 0), ("adv", 0.3), ("again", 0.3))}  # fmt: skip
    second = {run: {"RR": [value + 0.125 for value in own["RR"]]} for run, own in first.items()}
    found = view({"x": first, "x+qrels": second}, "changes:over=adv>bm25,again>adv")
    assert [row["change"] for row in found.rows] == pytest.approx([0.125] * 3)
    assert [row["marks"] for row in found.rows] == ["", "\u2021\u2020", "\u2021"]
    for corpora, asked in (
        ({"x": first}, "changes"),
        ({"x": first, "x+q": second}, "changes:over=nobody>bm25"),
    ):
        assert view(corpora, asked).code == 2


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ("orders", ["nDCG@5", "RR", "AP"]),
        ("orders:P@1", ["'P@1'", "nDCG@5"]),
        ("oders", ["'oders'", "orders"]),
        ("domains:RR:x=1", ["domains"]),
        ("systems:systems=none.csv", ["none.csv"]),
    ],
)
def test_what_is_not_there_is_named(asked: str, named: list[str], view: Any) -> None:
    found = view({"": ONE}, asked)
    assert found.code in (1, 2)
    assert all(name in found.err for name in named)


def test_a_rule_for_missing_evidence_need_not_be_repeated(view: Any) -> None:
    name = "NDKL(missing='drop')@5"
    values = {run: {name: own["RR"]} for run, own in ONE.items()}
    assert len(view({"": values}, "orders:NDKL@5").rows) == 1
    assert {row["measure"] for row in view({"": values}, "systems").rows} == {name}


@pytest.mark.needs("altair", "vl_convert")
def test_a_figure_of_methods_has_a_row_for_each_set_of_queries(view: Any, evenrank: Evenrank) -> None:
    cutoffs = {"bm25": {f"nDCG@{depth}": [depth / 10] * 12 for depth in (1, 3, 5)}}
    assert view({"QS1": cutoffs, "QS2": cutoffs}, "methods").code == 0
    given = ("compare", "--no-project", "--scores", "QS1=c0.jsonl", "--scores", "QS2=c1.jsonl")
    assert evenrank(*given, "--view", "methods", "--figure", "rows.svg").code == 0
    drawn_as = Path("rows.svg").read_text(encoding="utf-8")
    assert all(name in drawn_as for name in ("QS1", "QS2"))
    assert evenrank(*given, "--view", "systems", "--figure", "other.svg").code == 2
