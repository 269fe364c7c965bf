"""Trade-offs: which methods are tried, that their scores are those of ``evaluate``, and what is marked."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenrank as er
from evenrank import Membership, ParameterError, tradeoff
from evenrank.errors import InputTypeError, MissingEvidenceError
from evenrank.io import write_qrels
from evenrank.rerankers import parse_reranker

QUERIES, DOCUMENTS = 9, 24
MEASURES = "nDCG@6 NDKL@6"


def run() -> er.Run:
    generator = np.random.default_rng(5)
    lists = {f"q{q}": {f"d{d}": float(generator.random()) for d in range(DOCUMENTS)} for q in range(QUERIES)}
    return er.read_run(lists, name="bm25")


def groups() -> Membership:
    return Membership.from_labels("side", {f"d{d}": "left" if d % 2 else "right" for d in range(DOCUMENTS)})


def qrels() -> dict[str, dict[str, int]]:
    return {f"q{q}": {f"d{d}": (d * 7 + q) % 3 for d in range(DOCUMENTS)} for q in range(QUERIES)}


def made(methods: Any, measures: Any = MEASURES, **more: Any) -> Any:
    return tradeoff(run(), methods, measures, groups=groups(), qrels=qrels(), **more)


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("DetCons(attr='side')", ["DetCons(attr='side')"]),
        ("MMR(attr='süß', lam={0, 0.5,1})", [f"MMR(attr='süß', lam={lam})" for lam in ("0", "0.5", "1")]),
        (" Random(seed=1)@{5,10}", ["Random(seed=1)@5", "Random(seed=1)@10"]),
        (
            "Random(seed={0,1}) | DetCons(attr='side', top={2,3})@9",
            [f"Random(seed={seed}) | DetCons(attr='side', top={top})@9" for seed in (0, 1) for top in (2, 3)],
        ),
        (
            "DetCons(attr='side', missing={'stay',behind})",
            ["DetCons(attr='side', missing='stay')", "DetCons(attr='side', missing=behind)"],
        ),
    ],
)
def test_sets_of_values(source: str, wanted: list[str]) -> None:
    sweet = Membership.from_labels("süß", {f"d{d}": "ab"[d % 2] for d in range(DOCUMENTS)})
    found = tradeoff(run(), source, "nDCG@6", groups=[groups(), sweet], qrels=qrels())
    assert [variant.name for variant in found.variants] == ["bm25", *wanted]


def test_braces_within_quotes_are_no_set() -> None:
    with pytest.raises(er.EvenrankError, match=r"\{a,b\}"):
        made("SortBy(field='{a,b}')")


@pytest.mark.parametrize(
    ("methods", "named"),
    [
        ([], "--with"),
        ("MMR(lam={})", "lam={}"),
        ("MMR(lam={0,2})", "lam"),
        ("MMR(lam={0,1)", "MMR"),
        (f"Random(seed={{{','.join(map(str, range(1001)))}}})", "200"),
        ([f"Random(seed={seed})" for seed in range(1001)], "1001"),
        ("Nothing(x={1,2})", "'Nothing'"),
    ],
)
def test_methods_that_cannot_be_tried(methods: Any, named: str) -> None:
    with pytest.raises(ParameterError) as error:
        made(methods)
    assert named in str(error.value)
    with pytest.raises(InputTypeError):
        made([3])


def test_the_same_method_stands_once() -> None:
    found = made(["MMR(lam={0.5,1})", "MMR", parse_reranker("MMR(lam=1)")])
    assert [variant.name for variant in found.variants] == ["bm25", "MMR(lam=0.5)", "MMR(lam=1)"]


def test_the_original_is_first_and_all_are_scored_alike() -> None:
    found = made(["MMR(lam={0,0.5})", "Oracle | DetCons"])
    methods = ["MMR(lam=0)", "MMR(lam=0.5)", "Oracle | DetCons"]
    assert [variant.name for variant in found.variants] == ["bm25", *methods]
    runs = {"bm25": run()} | {
        name: er.rerank(run(), name, groups=groups(), qrels=qrels()) for name in methods
    }
    assert found.scores == er.evaluate(runs, MEASURES, groups=groups(), qrels=qrels())


def test_a_run_may_be_called_as_a_method() -> None:
    found = tradeoff(er.read_run({"q": {"a": 1.0}}, name="Random"), "Random", "RR", qrels={"q": {"a": 1}})
    assert [variant.name for variant in found.variants] == ["Random (original)", "Random"]


def test_draws_are_averaged_query_by_query() -> None:
    found = made("Random(seed=2)", repeat=25)
    draws = er.rerank(run(), "Random(seed=2)", repeat=25)
    by_draw = [er.evaluate(draw, MEASURES, groups=groups(), qrels=qrels()) for draw in draws]
    for measure in found.measures:
        values = np.mean([scores.block(measure).values for scores in by_draw], axis=0)
        block = found.scores.block(measure, "Random(seed=2)")
        np.testing.assert_allclose(block.values, values)
        means = [scores.mean(measure) for scores in by_draw]
        spread = found.draws(measure, "Random(seed=2)")
        assert spread == pytest.approx((25, *np.percentile(means, [2.5, 97.5])))
        assert found.draws(measure, "bm25") is None
    assert made("Random(seed=2)").draws(found.measures[0], "Random(seed=2)") is None


def test_only_what_varies_is_drawn_again() -> None:
    found = made(["DetCons", "Random", "Random | Oracle"], repeat=3)
    assert [isinstance(ranking, er.RunSet) for ranking in found.inputs.runs.values()] == [
        False,
        False,
        True,
        True,
    ]
    with pytest.raises(ParameterError, match="repeat="):
        made("DetCons", repeat=3)


def best(found: Any) -> set[str]:
    """What no other row beats by relevance and by distance, over loops; equal rows stand or fall together."""
    rows = {
        variant.name: (round(found.compared(found.measures[0]).values[place], 9),
                       -round(found.compared(found.measures[1]).values[place], 9))
        for place, variant in enumerate(found.variants)
        if variant.name not in found.informed
    }  # fmt: skip
    return {
        name
        for name, own in rows.items()
        if not any(
            all(a >= b for a, b in zip(other, own, strict=True)) and other != own for other in rows.values()
        )
    }


def test_the_front_knows_which_way_is_better() -> None:
    found = made(["MMR(lam={0,0.5,1})", "DetCons", "Oracle", "Random"])
    for measure in found.measures:
        means = [found.scores.mean(measure, variant.name) for variant in found.variants]
        assert found.compared(measure).values == pytest.approx(means)
    assert found.front() == best(found)
    assert 0 < len(found.front()) < len(found.variants)
    nearest = min(found.variants, key=lambda variant: found.scores.mean("NDKL@6", variant.name)).name
    assert nearest in found.front([er.parse_measure("NDKL@6")])


@pytest.mark.parametrize("lists", [1, 3])
def test_many_rows_many_of_which_are_equal(lists: int) -> None:
    short = er.read_run({f"q{q}": {f"d{d}": float(-d) for d in range(4)} for q in range(lists)}, name="bm25")
    found = tradeoff(
        short,
        f"Random(seed={{{','.join(map(str, range(40)))}}})",
        "nDCG@3 NDKL@3",
        groups=groups(),
        qrels=qrels(),
    )
    assert found.front() == best(found)
    assert 1 < len(found.front()) < 41


def test_what_reads_the_judgements_that_score_it_is_marked_and_never_on_the_front() -> None:
    methods = ["Oracle", "FAIR_greedy", "FAIR_greedy(pseudo=True)", "Random | Oracle", "DetCons"]
    leaking = {"Oracle", "FAIR_greedy", "Random | Oracle"}
    found = made(methods)
    assert found.informed == leaking
    assert not leaking & found.front()
    rows = list(csv.DictReader(io.StringIO(found.to_table().to_tsv()), delimiter="\t"))
    assert {row["method"] for row in rows if row["reads_judgements"] == "true"} == leaking
    assert not {row["method"] for row in rows if row["front"] == "true"} & leaking
    # without judgements in the measures, nothing is known of what scores them
    assert not made(methods, "NDKL@6").informed
    # without judgements at all FAIR_greedy goes by the ranking
    alone = tradeoff(run(), ["FAIR_greedy"], "NDKL@6 Skew@6", groups=groups())
    assert not alone.informed


def test_what_is_signed_is_best_at_zero_and_columns_do_not_count() -> None:
    found = made(["MMR(lam=0)", "Oracle"], "dGF@6 ECE@6")
    assert [repr(measure) for measure in found.ordered()] == ["dGF@6"]
    means = {variant.name: abs(found.scores.mean("dGF@6", variant.name)) for variant in found.variants}
    assert found.front() == {min(means, key=means.__getitem__)}
    assert "ECE@6" in found.to_table().to_text()  # it is told that it does not count


def test_rows_are_compared_over_the_queries_that_all_have() -> None:
    """MinSkew is infinite for a list that lacks a group."""
    found = made([f"Random(seed={seed})" for seed in range(3)], "MinSkew@2 nDCG@6")
    measure = found.measures[0]
    values = {name: own["MinSkew@2"] for name, own in found.scores.to_dict().items()}
    common = [q for q in values["bm25"] if all(math.isfinite(own[q]) for own in values.values())]
    assert 0 < len(common) < QUERIES / 2
    means, *counts = found.compared(measure)
    assert means == pytest.approx([np.mean([own[q] for q in common]) for own in values.values()])
    assert counts == [len(common), QUERIES]
    assert [repr(one) for one in found.ordered()] == ["nDCG@6"]  # too few queries to say
    assert found.front() == found.front([er.parse_measure("nDCG@6")])
    one = made("Random(seed=0)", "MinSkew@6 nDCG@6")
    assert [repr(measure) for measure in one.ordered()] == ["MinSkew@6", "nDCG@6"]


def test_of_many_draws_the_first_speaks() -> None:
    """Every draw would say how many of its documents have no group."""
    some = Membership.from_labels("side", {f"d{d}": "left" if d % 2 else "right" for d in range(5)})
    found = tradeoff(run(), "Random", "nDRKL@6", groups=some, repeat=30)
    assert len(found.scores.notes["Random"]) <= len(found.scores.notes["bm25"]) + 1


def test_the_background_is_the_original() -> None:
    words = er.scan([(f"d{d}", "he " * d) for d in range(DOCUMENTS)], er.read_lexicon("gender-en"))
    found = tradeoff(run(), "Neutral(band=None)", "NFaiRR@3", words=words)
    neutral = er.rerank(run(), "Neutral(band=None)", words=words)
    scores = er.evaluate({"neutral": neutral}, "NFaiRR@3", words=words, background=run())
    assert found.scores.mean("NFaiRR@3", "Neutral(band=None)") == scores.mean("NFaiRR@3")


def test_evidence_may_be_a_file_or_an_iterator(tmp_path: Path) -> None:
    file = tmp_path / "qrels.txt"
    write_qrels(er.read_qrels(qrels()), file)
    found = tradeoff(run(), ["Oracle", "DetCons"], MEASURES, qrels=str(file), groups=iter([groups()]))
    assert found.scores == made(["Oracle", "DetCons"]).scores


def numbers(found: Any) -> dict[tuple[str, str], Any]:
    return {(row.run, row.measure): row for row in found.scores.summary()}


def test_the_table_has_the_scores() -> None:
    found = made(["MMR(lam={0,1})", "Random"], repeat=5)
    lines = found.to_table().to_text().splitlines()
    assert lines[0].split() == ["method", "front", "nDCG@6", "↑", "NDKL@6", "↓", "n"]
    rows = numbers(found)
    for variant, line in zip(found.variants, lines[1:5], strict=True):
        assert line.startswith(variant.name)
        assert ("*" in line) == (variant.name in found.front())
        for measure in ("nDCG@6", "NDKL@6"):
            row = rows[variant.name, measure]
            assert f"{row.value:.4f} [{row.low:.4f}, {row.high:.4f}]" in line
    assert "[" not in found.to_table().to_text(60).splitlines()[1]


def test_rows_for_programs() -> None:
    found = made(["MMR(lam=0)", "Random"], repeat=5)
    rows = numbers(found)
    lines = [json.loads(line) for line in found.to_table().to_jsonl().splitlines()]
    tsv = [line.split("\t") for line in found.to_table().to_tsv().splitlines()]
    assert tsv[0] == [
        "method", "front", "draws", "measure", "column", "value", "low", "high", "draws_low", "draws_high",
        "queries", "defined", "infinite", "direction", "reads_judgements",
    ]  # fmt: skip
    assert len(lines) == len(tsv) - 1 == 6
    for record, cells in zip(lines, tsv[1:], strict=True):
        row = rows[record["method"], record["measure"]]
        assert (record["value"], record["low"], record["high"]) == (row.value, row.low, row.high)
        assert record["front"] == (record["method"] in found.front()) == (cells[1] == "true")
        assert record["draws"] == (5 if record["method"] == "Random" else 1) == int(cells[2])
        assert float(cells[5]) == row.value
        assert (record["draws_low"] is None) == (cells[8] == "") == (record["draws"] == 1)


def test_a_name_cannot_break_the_table() -> None:
    own = er.read_run({"q": {"a": 1.0}}, name="a\tb\x1b[2J|")
    found = tradeoff(own, "Random", "RR", qrels={"q": {"a": 1}})
    assert "\x1b" not in found.to_table().to_text()
    rows = list(csv.reader(io.StringIO(found.to_table().to_tsv()), delimiter="\t"))
    assert {len(row) for row in rows} == {15}
    assert "\\|" in found.to_table().to_markdown()


def test_the_rule_for_missing_evidence_reaches_methods() -> None:
    lexicon = er.Lexicon.build("two", {"female": ["she"], "male": ["he"]})
    run = er.Run.build(["q"] * 4, list("axby"), [4.0, 3.0, 2.0, 1.0])
    words = er.WordCounts.build(["a", "b"], [4, 4], [[4, 0], [2, 2]], lexicon)
    with pytest.warns(er.EvenrankWarning, match=r"1 of 4"):
        found = tradeoff(
            run, ["Neutral", "Neutral(missing='behind')"], "FaiRR@4", words=words, missing="neutral"
        )
    runs = found.inputs.runs
    assert runs["Neutral"].documents("q") == ["x", "b", "y", "a"]
    assert runs["Neutral(missing='behind')"].documents("q") == ["b", "a", "x", "y"]
    with pytest.raises(MissingEvidenceError, match=r"Neutral\(missing='neutral'\)"):
        tradeoff(run, "Neutral", "FaiRR@4", words=words)
