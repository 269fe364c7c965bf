"""Trade-offs: which methods are tried, that their scores are those of ``evaluate``, and what is marked."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import numpy as np
import pytest
from drawn import made as scores_of

import evenrank as er
from evenrank import Membership, tradeoff
from evenrank.comparison.tradeoff import MOST, Tradeoff, TradeoffVariant, expand, variants
from evenrank.comparison.tradeoff_table import COLUMNS, notes
from evenrank.errors import InputTypeError, MissingEvidenceError, ParameterError
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


def made(methods: Any, measures: Any = MEASURES, **more: Any) -> Tradeoff:
    return tradeoff(run(), methods, measures, groups=groups(), qrels=qrels(), **more)


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("DetCons", ["DetCons"]),
        ("MMR(lam={0, 0.5,1})", ["MMR(lam=0)", "MMR(lam=0.5)", "MMR(lam=1)"]),
        (" DetCons@{5,10}", ["DetCons@5", "DetCons@10"]),
        (
            "MMR(lam={0,1}) | DetCons(top={2,3})@9",
            [f"MMR(lam={lam}) | DetCons(top={top})@9" for lam in (0, 1) for top in (2, 3)],
        ),
        ("MMR(attr='süß', lam={0,1})", ["MMR(attr='süß', lam=0)", "MMR(attr='süß', lam=1)"]),
        ("DetCons(missing={'stay',behind})", ["DetCons(missing='stay')", "DetCons(missing=behind)"]),
        ("Neutral(band={None,-1})", ["Neutral(band=None)", "Neutral(band=-1)"]),
        ("SortBy(field='{a,b}')", ["SortBy(field='{a,b}')"]),
    ],
)
def test_sets_of_values(source: str, wanted: list[str]) -> None:
    assert expand(source) == wanted


@pytest.mark.parametrize(
    ("methods", "says"),
    [
        ([], "at least one re-ranker"),
        ("MMR(lam={})", "a value is a number"),
        ("MMR(lam={0,2})", "MMR: lam must be a number >= 0 and <= 1, got 2"),
        ("MMR(lam={0,1)", "is not of the form"),
        (f"Random(seed={{{','.join(map(str, range(MOST + 1)))}}})", f"more than {MOST}"),
        ([f"Random(seed={seed})" for seed in range(MOST + 1)], f"{MOST + 1} methods are too many"),
        ("Nothing(x={1,2})", "no reranker is called 'Nothing'"),
    ],
)
def test_methods_that_cannot_be_tried(methods: Any, says: str) -> None:
    with pytest.raises(ParameterError) as error:
        variants(methods)
    assert says in str(error.value)
    with pytest.raises(InputTypeError):
        variants([3])  # type: ignore[list-item]


def test_the_same_method_stands_once() -> None:
    names = [variant.name for variant in variants(["MMR(lam={0.5,1})", "MMR", parse_reranker("MMR(lam=1)")])]
    assert names == ["MMR(lam=0.5)", "MMR(lam=1)"]


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
    with pytest.raises(ParameterError, match="leaves anything to chance"):
        made("DetCons", repeat=3)


def test_the_front_knows_which_way_is_better() -> None:
    found = made(["MMR(lam={0,0.5,1})", "DetCons", "Oracle", "Random"])
    values = {
        variant.name: (found.scores.mean("nDCG@6", variant.name), -found.scores.mean("NDKL@6", variant.name))
        for variant in found.variants
        if variant.name != "Oracle"  # it reads the judgements that nDCG is computed from
    }
    wanted = {
        name
        for name, own in values.items()
        if not any(other[0] >= own[0] and other[1] >= own[1] and other != own for other in values.values())
    }
    assert found.front() == wanted
    assert 0 < len(wanted) < len(values)
    nearest = min(values, key=lambda name: -values[name][1])
    assert nearest in found.front([er.parse_measure("NDKL@6")])


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
    assert "ECE@6" in " ".join(notes(found)[:2])


def given(values: dict[str, dict[str, list[float]]]) -> Tradeoff:
    return Tradeoff(tuple(map(TradeoffVariant, values)), scores_of(values), {})


def test_a_side_is_as_bad_as_the_other() -> None:
    found = given({"a": {"dGF@6": [-0.5]}, "b": {"dGF@6": [0.1]}, "c": {"dGF@6": [0.6]}})
    assert found.front() == {"b"}


def test_rows_are_compared_over_the_queries_that_all_have() -> None:
    nan, inf = math.nan, math.inf
    found = given(
        {"a": {"P@6": [0.9, 0.9, nan]}, "b": {"P@6": [0.8, 0.8, 1.0]}, "c": {"P@6": [0.1, 0.9, 1.0]}}
    )
    assert found.scores.mean("P@6", "b") < found.scores.mean("P@6", "a")
    values, *counts = found.compared(er.parse_measure("P@6"))
    assert values == pytest.approx((0.9, 0.8, 0.5))
    assert counts == [2, 3]
    better = given({"a": {"P@6": [0.9, 0.1, 0.1]}, "b": {"P@6": [0.8, nan, nan]}})
    assert better.scores.mean("P@6", "b") > better.scores.mean("P@6", "a")
    assert better.front([er.parse_measure("P@6")]) == {"a"}
    assert better.ordered() == ()  # one query of three is too few to say
    assert better.front() == frozenset()
    assert "P@6" in " ".join(notes(better)[:1])
    said = notes(found)
    assert "* P@6 compared over the 2 of 3 queries for which all rows have a value" in said
    infinite = given({"a": {"NDKL@6": [inf, 0.5]}, "b": {"NDKL@6": [0.1, 0.6]}})
    assert infinite.compared(er.parse_measure("NDKL@6")) == ((0.5, 0.6), 1, 2)


def test_of_many_draws_the_first_speaks() -> None:
    """Every draw would say how many of its documents have no group."""
    some = Membership.from_labels("side", {f"d{d}": "left" if d % 2 else "right" for d in range(5)})
    found = tradeoff(run(), "Random", "nDRKL@6", groups=some, repeat=30)
    notes = [note for note in found.scores.notes["Random"] if "have no groups" in note]
    assert len(notes) == 1
    assert notes[0].endswith("(the first of 30 rankings)")
    (only,) = [note for note in found.scores.notes["bm25"] if "have no groups" in note]
    assert "rankings" not in only


def test_the_background_is_the_original() -> None:
    words = er.scan([(f"d{d}", "he " * d) for d in range(DOCUMENTS)], er.read_lexicon("gender-en"))
    found = tradeoff(run(), "Neutral(band=None)", "NFaiRR@3", words=words)
    neutral = er.rerank(run(), "Neutral(band=None)", words=words)
    scores = er.evaluate({"neutral": neutral}, "NFaiRR@3", words=words, background=run())
    assert found.scores.mean("NFaiRR@3", "Neutral(band=None)") == scores.mean("NFaiRR@3")


def test_evidence_may_be_a_file_or_an_iterator(tmp_path) -> None:
    file = tmp_path / "qrels.txt"
    write_qrels(er.read_qrels(qrels()), file)
    found = tradeoff(run(), ["Oracle", "DetCons"], MEASURES, qrels=str(file), groups=iter([groups()]))
    assert found.scores == made(["Oracle", "DetCons"]).scores


def numbers(found: Tradeoff) -> dict[tuple[str, str], Any]:
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
    assert any("Random: mean over 5 draws, 95% of which lie within nDCG@6 [" in line for line in lines)
    narrow = found.to_table().to_text(60)
    assert "[" not in narrow.splitlines()[1]
    assert "The intervals do not fit" in narrow
    assert any("one draw of many" in line for line in notes(made("Random")))


def test_rows_for_programs() -> None:
    found = made(["MMR(lam=0)", "Random"], repeat=5)
    rows = numbers(found)
    lines = [json.loads(line) for line in found.to_table().to_jsonl().splitlines()]
    tsv = [line.split("\t") for line in found.to_table().to_tsv().splitlines()]
    assert tsv[0] == list(COLUMNS)
    assert len(lines) == len(tsv) - 1 == 6
    for record, cells in zip(lines, tsv[1:], strict=True):
        row = rows[record["method"], record["measure"]]
        assert (record["value"], record["low"], record["high"]) == (row.value, row.low, row.high)
        assert record["front"] == (record["method"] in found.front()) == (cells[1] == "true")
        assert record["draws"] == (5 if record["method"] == "Random" else 1) == int(cells[2])
        assert float(cells[5]) == row.value
        assert (record["draws_low"] is None) == (cells[8] == "") == (record["draws"] == 1)
    markdown = found.to_table().to_markdown().splitlines()
    assert markdown[1].startswith("| :--- | :--- | ---: |")
    assert len([line for line in markdown if line.startswith("| ")]) == 5


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
    with pytest.warns(er.EvenrankWarning, match=r"1 of 4 documents \(25\.0%\) are ranked lower"):
        found = tradeoff(
            run, ["Neutral", "Neutral(missing='behind')"], "FaiRR@4", words=words, missing="neutral"
        )
    runs = found.inputs.runs
    assert runs["Neutral"].documents("q") == ["x", "b", "y", "a"]
    assert runs["Neutral(missing='behind')"].documents("q") == ["b", "a", "x", "y"]
    with pytest.raises(
        MissingEvidenceError, match=r"accept them by Neutral\(missing='neutral'\) or Neutral\(missing='be"
    ):
        tradeoff(run, "Neutral", "FaiRR@4", words=words)
