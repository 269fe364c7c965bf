"""Queries that many people ask count for more: verdicts and shares against slow oracles of weighted means."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audits import partly, verdict_of
from shops import Shop, shop, slow_share

import evenrank as er
from evenrank import DataError, ParameterError, Run, read_groups

SHARE = "GroupShare(attr='size', attention=log2)@10"


def weights_of(run: Run, seed: int = 3) -> dict[str, int]:
    """Few queries are asked often, and two not at all."""
    drawn = np.random.default_rng(seed).integers(0, 4, len(run)) ** 2
    weights = dict(zip(run.query_ids, drawn.tolist(), strict=True))
    return {**weights, "q0": 0, "q1": 0, "q2": 7}


def plain(verdict: Any) -> Any:
    return json.loads(json.dumps(verdict.to_json()))


@pytest.mark.parametrize("target", ["catalogue", "candidates", "equal", "given"])
def test_shares_and_targets_are_weighted_means(biased: Shop, tmp_path: Path, target: str) -> None:
    sizes = partly(biased.sizes, 0.8)
    weights = weights_of(biased.run)
    given = "size=small:0.3,large:0.7" if target == "given" else target
    options: dict[str, Any] = {"documents": biased.sizes, "target": given, "depth": 30}
    found = verdict_of(tmp_path, biased.run, sizes, weights=weights, **options)
    omega = np.array([weights[query] for query in biased.run.query_ids])
    catalogue = list(sizes.values()).count("small") / len(sizes)
    shares, candidates = (
        np.array([
            slow_share(biased.run.documents(query)[:depth], sizes, "small", attention=attention)
            for query in biased.run.query_ids
        ])
        for depth, attention in ((10, True), (30, False))
    )  # fmt: skip
    aims = {"catalogue": catalogue, "candidates": candidates, "equal": 0.5, "given": 0.3}[target]
    small = found.group("small")
    assert small.share == pytest.approx(np.average(shares, weights=omega))
    assert small.candidates == pytest.approx(np.average(candidates, weights=omega))
    assert small.target == pytest.approx(np.average(aims * np.ones(len(omega)), weights=omega))
    assert found.queries == np.count_nonzero(omega)
    assert found.effective == pytest.approx(omega.sum() ** 2 / (omega**2).sum())
    places = np.tile(1 / np.log2(np.arange(10) + 2), len(omega)) * np.repeat(omega, 10)
    bare = [one not in sizes for query in biased.run for one in biased.run.documents(query)[:10]]
    assert found.unseen == pytest.approx(places[bare].sum() / places.sum())


def test_equal_weights_are_none(biased: Shop, tmp_path: Path) -> None:
    weights = dict.fromkeys(biased.run.query_ids, 2.5)
    found = [
        plain(verdict_of(tmp_path / str(number), biased.run, biased.sizes, **options))
        for number, options in enumerate(({"weights": weights}, {}))
    ]
    for one in found:
        one["advice"].pop("command")  # which names the folder
    assert found[0] == found[1]


@pytest.mark.parametrize("target", ["catalogue", "candidates"])
def test_a_weight_of_three_is_a_query_asked_three_times(biased: Shop, tmp_path: Path, target: str) -> None:
    weights = weights_of(biased.run)
    rows = [
        (f"{query}-{number}", document, float(-rank))
        for query, times in weights.items()
        for number in range(times)
        for rank, document in enumerate(biased.run.documents(query))
    ]
    repeated = Run.build(*zip(*rows, strict=True), name="shop")
    options: dict[str, Any] = {"target": target, "depth": 40}
    weighted = verdict_of(tmp_path / "one", biased.run, biased.sizes, weights=weights, **options)
    often = verdict_of(tmp_path / "two", repeated, biased.sizes, **options)
    for one, two in zip(weighted.groups, often.groups, strict=True):
        for name in ("share", "target", "candidates", "reachable"):
            assert getattr(one, name) == pytest.approx(getattr(two, name)), name
    assert weighted.unseen == pytest.approx(often.unseen)
    if target == "catalogue":
        before_and_after = (weighted.advice.before, weighted.advice.after)
        assert before_and_after == pytest.approx((often.advice.before, often.advice.after))
    # the same query three times is one answer to what people ask, and not three
    assert weighted.effective < weighted.queries < often.queries


def test_a_bias_of_what_people_ask_most_is_found_where_others_do_not_show_it(tmp_path: Path) -> None:
    """Half of the queries favour large sellers, half small ones; by frequency the first are most of all."""
    made = shop(7, lowered=1.5, products=800, queries=80, depth=30)
    other = shop(7, lowered=-1.5, products=800, queries=80, depth=30)
    rows = [
        (query, document, float(-rank))
        for place, query in enumerate(made.run.query_ids)
        for rank, document in enumerate((made, other)[place % 2].run.documents(query))
    ]
    lists = Run.build(*zip(*rows, strict=True), name="run")
    weights = {query: (9.0, 1.0)[place % 2] for place, query in enumerate(made.run.query_ids)}
    decisions = {}
    for name, given in (("plain", None), ("weighted", weights)):
        found = verdict_of(tmp_path / name, lists, made.sizes, weights=given)
        small = found.group("small")
        decisions[name] = small.decision
        assert (small.share_high < small.target) == (small.decision == "less than its target")
    assert decisions == {"plain": "not shown", "weighted": "less than its target"}


def test_few_queries_that_are_nearly_all_are_too_few(biased: Shop, tmp_path: Path) -> None:
    weights = {query: 1000.0 if place < 4 else 1.0 for place, query in enumerate(biased.run.query_ids)}
    found = verdict_of(tmp_path, biased.run, biased.sizes, weights=weights)
    assert {group.decision for group in found.groups} == {"too few"}
    assert (found.queries, round(found.effective)) == (60, 4)


@pytest.mark.needs("altair", "vl_convert", "jinja2")
def test_audit_gate_evaluate_and_reports_agree(
    evenrank: Callable[..., Any], biased: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    weights = weights_of(biased.run)
    er.write_run(biased.run, "shop.trec")
    write(
        "documents.csv", ("id", "size", "text"), ((one, size, "a lamp") for one, size in biased.sizes.items())
    )
    write("queries.csv", ("query", "weight"), weights.items())
    project = (
        '[data]\nruns = ["shop.trec"]\ndocuments = "documents.csv"\nqueries = "queries.csv"\n\n'
        '[groups]\nsize = "documents"\n\n'
    )
    Path("evenrank.toml").write_text(project)
    assert evenrank("audit", "--project", "evenrank.toml", "-o", "audit").code == 0
    (summary,) = Path("audit").glob("2*/summary.json")
    (verdict,) = json.loads(summary.read_text())["verdicts"]
    small = next(group for group in verdict["groups"] if group["value"] == "small")
    Path("evenrank.toml").write_text(
        f'{project}[gate.measures."{SHARE}[small]"]\nfloor = {small["target"]!r}\n\n'
        "[gate.measures.\"GroupShare(attr='size', attention=rbp(p=0.5), missing='drop')@10[small]\"]\n"
        "floor = 0.9\n"
    )
    told = evenrank("evaluate", "--project", "evenrank.toml", "-m", SHARE, "--format", "jsonl")
    rows = {row["column"]: row for row in map(json.loads, told.out.splitlines())}
    assert rows["small"]["value"] == pytest.approx(small["share"])
    ends = rows["small"]["low"], rows["small"]["high"]
    assert ends == pytest.approx((small["queries_low"], small["queries_high"]))
    gate = evenrank("gate", "--project", "evenrank.toml", "--format", "jsonl")
    of_verdict, of_mean = (json.loads(line) for line in gate.out.splitlines())
    assert gate.code == 3
    assert of_verdict["value"] == pytest.approx(small["share"])
    ends = small["share_low"], small["share_high"]
    assert (of_verdict["low"], of_verdict["high"]) == pytest.approx(ends)
    shares = [slow_rbp(biased.run.documents(query)[:10], biased.sizes) for query in biased.run.query_ids]
    assert of_mean["value"] == pytest.approx(np.average(shares, weights=list(weights.values())))
    assert of_mean["low"] < of_mean["value"] < of_mean["high"] < 0.9
    assert evenrank("report", "--project", "evenrank.toml", "-o", "report.html").code == 0
    (audit,) = Path("audit").glob("2*/report.html")
    percent = round(100 * small["share"])
    for page in (Path("report.html"), audit):
        row = re.search(r'<tr><th scope="row">small</th>(.*?)</tr>', page.read_text())
        assert row is not None
        assert f"<td>{percent}%</td>" in row[1]


def write(path: str, head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])


def slow_rbp(documents: list[str], sizes: dict[str, str]) -> float:
    own = [0.5**rank * (sizes[one] == "small") for rank, one in enumerate(documents)]
    return sum(own) / sum(0.5**rank for rank in range(len(documents)))


def test_differences_of_shares_are_weighted(biased: Shop) -> None:
    """The difference of two systems is that of the shares that the table shows."""
    weights = weights_of(biased.run)
    other = er.rerank(biased.run, "Random@20")
    found = er.compare(
        {"old": biased.run, "new": other}, SHARE, baseline="old", query_weights=weights,
        groups=read_groups(biased.sizes, "size"),
    )  # fmt: skip
    pair = next(one for one in found.pairs if one.measure.endswith("[small]"))
    means = [found.scores.mean(SHARE, name, "small") for name in ("new", "old")]
    values = found.scores.to_dict()["old"][f"{found.scores.measures[0]!r}[small]"]
    assert means[1] == pytest.approx(
        np.average(list(values.values()), weights=[weights[query] for query in values])
    )
    assert pair.difference == pytest.approx(means[0] - means[1])
    assert pair.low < pair.difference < pair.high


def test_scores_in_a_file_keep_their_weights(biased: Shop, tmp_path: Path) -> None:
    groups = read_groups(biased.sizes, "size")
    found = er.evaluate(biased.run, SHARE, groups=groups, query_weights=weights_of(biased.run))
    for name in ("scores.jsonl", "scores.parquet"):
        found.write(tmp_path / name)
        again = er.Scores.read(tmp_path / name)
        assert [row.value for row in again.summary()] == [row.value for row in found.summary()]


def test_a_file_of_queries_gives_weights_to_python(biased: Shop, tmp_path: Path) -> None:
    path = tmp_path / "log.tsv"
    weights = weights_of(biased.run)
    path.write_text("qid\tSearch volume\n" + "".join(f"{q}\t{w}\n" for q, w in weights.items()))
    groups = read_groups(biased.sizes, "size")
    one, two = (
        er.evaluate(biased.run, SHARE, groups=groups, query_weights=given).mean(SHARE, column="small")
        for given in (path, weights)
    )
    assert one == two


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf"), "often", True, None])
def test_a_weight_is_a_number_of_0_or_more(biased: Shop, bad: Any) -> None:
    with pytest.raises(ParameterError, match="q3"):
        er.evaluate(biased.run, "RR", qrels={"q3": {"d1": 1}}, query_weights={"q1": 1.0, "q3": bad})


def test_every_query_that_is_scored_needs_a_weight(biased: Shop) -> None:
    groups = read_groups(biased.sizes, "size")
    weights = {query: number for number, query in enumerate(biased.run.query_ids) if query != "q9"}
    with pytest.raises(ParameterError, match="q9"):
        er.evaluate(biased.run, SHARE, groups=groups, query_weights=weights)
    with pytest.raises(ParameterError):
        er.evaluate(biased.run, SHARE, groups=groups, query_weights=dict.fromkeys(weights, 0))
    rest = list(weights)
    assert er.evaluate(biased.run, SHARE, groups=groups, query_weights=weights, queries=rest).mean(
        SHARE, column="small"
    )


@pytest.mark.parametrize(
    ("rows", "where"),
    [
        ("q1,3\nq2,-2\n", "queries.csv:3:"),
        ("q1,3\nq2,inf\n", "queries.csv:3:"),
        ("q1,often\nq2,2\n", "queries.csv:2:"),
        ("q1,3\nq2,\n", "queries.csv:3:"),
        ("q1,3\nq2,1\nq1,4\n", "queries.csv:4:"),
        ("q1,0\nq2,0\n", "queries.csv"),
    ],
)
def test_a_bad_weight_is_named_with_its_line(biased: Shop, tmp_path: Path, rows: str, where: str) -> None:
    (tmp_path / "queries.csv").write_text("query,weight\n" + rows)
    groups = read_groups(biased.sizes, "size")
    with pytest.raises(DataError, match=where):
        er.evaluate(biased.run, SHARE, groups=groups, query_weights=tmp_path / "queries.csv")


def test_a_command_without_a_use_for_weights_says_so_once(
    evenrank: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Means of other measures do not change; a command that uses no weights says it once."""
    monkeypatch.chdir(tmp_path)
    assert evenrank("init", "--demo").code == 0
    head, *rows = Path("queries.csv").read_text().splitlines()
    Path("weighted.csv").write_text(
        "\n".join([f"{head},weight", *(f"{row},{place % 5 + 1}" for place, row in enumerate(rows))])
    )
    plain_rows, weighted_rows = (
        evenrank("evaluate", "-m", "nDCG@10", "--queries", name, "--format", "jsonl").out
        for name in ("queries.csv", "weighted.csv")
    )
    assert plain_rows == weighted_rows
    method = "DetGreedy(attr='author')@20"
    for command in (
        ["evaluate", "-m", "nDCG@10"],
        ["rerank", "bm25.trec", "--with", method, "-o", "fair.trec"],
        ["select"],
    ):
        told = evenrank(*command, "--queries", "weighted.csv")
        assert told.code == 0, told.err
        assert (told.out + told.err).count("weights of queries") == 1
        assert "weights of queries" not in "".join(evenrank(*command, "--queries", "queries.csv")[1:])
