"""Values that were true and misread: what a list without labels, words or whole documents counts as."""

from __future__ import annotations

import json
import math
from itertools import permutations
from pathlib import Path

import pytest

import evenrank as er
from evenrank.cli import main

LISTS = {f"q{n}": {f"{n}{d}": 3.0 - place for place, d in enumerate("abc")} for n in range(4)}


def gender(labels: dict[str, str]) -> er.Membership:
    return er.Membership.from_labels(er.Attribute("gender", ("f", "m")), labels)


@pytest.mark.parametrize(
    "measure", ["GF@2", "GFR@2", "0.5*GF@2 + 0.5*GF(div='NMD')@2", "AWRF(missing='uniform')@2"]
)
def test_the_table_counts_lists_of_which_no_document_has_a_label(measure: str) -> None:
    # q1 has a label at rank 3 alone, q2 and q3 have none
    groups = gender({"0a": "f", "1c": "m"})
    scores = er.evaluate(LISTS, measure, groups=[groups])
    assert [(row.defined, row.unlabelled) for row in scores.summary()] == [(4, 3)]
    whole = er.evaluate(LISTS, measure.replace("@2", "@3"), groups=[groups])
    assert [one.unlabelled for one in whole.summary()] == [2]


def test_the_table_of_a_comparison_counts_them_too() -> None:
    other = {query: dict(zip(found, [1.0, 2.0, 3.0], strict=True)) for query, found in LISTS.items()}
    groups = [gender({"0a": "f", "1c": "m", "2c": "f"})]
    table = er.compare({"one": LISTS, "other": other}, "GF@2", groups=groups).to_table()
    said = {str(cell) for row in table.rows for cell in row if "label" in str(cell)}
    assert said == {"4, 3 without a label", "4, 2 without a label"}


def test_lists_without_a_label_can_be_left_out() -> None:
    groups = gender({"0a": "f", "1c": "m"})
    measure = "GF(missing='undefined')@2"
    (row,) = er.evaluate(LISTS, measure, groups=[groups]).summary()
    assert (row.defined, row.unlabelled, row.undefined) == (1, 0, {"no labelled document": 3})
    own = er.evaluate(LISTS, "GF@2", groups=[groups]).to_dict()["run"]
    (kept,) = own.values()
    assert row.value == kept["q0"]


TAKES_UNDEFINED = sorted(
    name
    for name, measure in er.all_measures().items()
    if any(
        field.name == "missing" and field.metadata["rule"].accept("undefined") == "undefined"
        for field in measure.parameters()
    )
)


@pytest.mark.parametrize("name", TAKES_UNDEFINED)
def test_every_measure_of_groups_can_leave_lists_without_a_label_out(name: str) -> None:
    """q0 has labels at ranks 1 and 3 and none between, the others none at all."""
    given = {"GFR": "", "Gini": "(attr='gender', by='groups')"}.get(name, "(attr='gender')")
    wanted = f"{name}{given}@3"
    groups = gender({"0a": "f", "0c": "m"})
    qrels = {query: dict.fromkeys(found, 1) for query, found in LISTS.items()}
    scores = er.evaluate(LISTS, wanted, groups=[groups], qrels=qrels, missing="undefined")
    block = scores.block(scores.measures[0])
    assert ((block.status > 1).all(axis=1) == [False, True, True, True]).all()
    default = "uniform" if name in ("AWRF", "UnderExposure") else None
    known = {"groups": [groups], "qrels": {"q0": qrels["q0"]}}
    own = er.evaluate({"q0": LISTS["q0"]}, wanted, missing=default, **known)
    whole = own.block(own.measures[0])
    assert block.values[:1] == pytest.approx(whole.values, nan_ok=True)


def test_measures_of_lists_of_groups_are_among_them() -> None:
    assert {"GF", "GFR", "AWRF", "UnderExposure", "GroupShare", "EE_L", "FAIR", "KL"} <= {*TAKES_UNDEFINED}


def test_a_share_counts_no_document_without_a_label() -> None:
    groups = gender({"0a": "f", "0c": "m"})
    (female, male) = er.evaluate(LISTS, "GroupShare(attention=log2)@3", groups=[groups]).summary()
    assert (female.defined, female.unlabelled) == (1, 0)
    assert (female.value, male.value) == pytest.approx((1 / 1.5, 0.5 / 1.5))
    with pytest.raises(er.ParameterError, match="missing"):
        er.evaluate(LISTS, "GroupShare(missing='uniform')@3", groups=[groups])


def test_documents_beside_labelled_ones_stay_equally_of_all() -> None:
    groups = gender({"0a": "f"})
    values = [
        er.evaluate({"q0": LISTS["q0"]}, f"GF(missing={rule!r})@3", groups=[groups]).mean(
            f"GF(missing={rule!r})@3"
        )
        for rule in ("uniform", "undefined")
    ]
    assert values[0] == values[1]


def test_gini_at_a_cutoff_sees_nothing_below_it() -> None:
    long = {
        "q": {d: 9.0 - n for n, d in enumerate("abcdefgh")},
        "r": {d: 9.0 - n for n, d in enumerate("bazyxwvu")},
    }
    short = {query: dict([*found.items()][:3]) for query, found in long.items()}
    assert er.evaluate(long, "Gini@3").mean("Gini@3") == er.evaluate(short, "Gini@3").mean("Gini@3")
    # exposures by hand: a and b 1 + 1/log2(3), c and z 1/2
    both, alone = 1 + 1 / math.log2(3), 0.5
    pairs = [abs(x - y) for x in (both, both, alone, alone) for y in (both, both, alone, alone)]
    assert er.evaluate(long, "Gini@3").mean("Gini@3") == pytest.approx(
        sum(pairs) / (2 * 4 * (2 * both + 2 * alone))
    )


def test_the_fair_test_of_counts_is_undefined_for_parts_of_documents() -> None:
    attribute = er.Attribute("gender", ("f", "m"))
    groups = er.Membership.from_labels(
        attribute, {"0a": "f", "0b": "both", "1a": "f", "1b": "m"}, even=("both",)
    )
    (row, *_) = er.evaluate({q: LISTS[q] for q in ("q0", "q1")}, "FA_IR_Test@3", groups=[groups]).summary()
    assert (row.defined, row.undefined) == (1, {"fractional membership": 1})


def words(counts: dict[str, tuple[int, int]], targets: dict[str, float] | None = None) -> er.WordCounts:
    texts = [(name, " ".join(["she"] * f + ["he"] * m + ["and"] * 8)) for name, (f, m) in counts.items()]
    lexicon = er.Lexicon.build("two", {"female": ["she"], "male": ["he"]}, targets=targets)
    return er.scan(texts, lexicon)


def mixed_words(targets: dict[str, float] | None = None) -> tuple[dict[str, dict[str, float]], er.WordCounts]:
    run = {f"q{n}": {f"{n}a": 2.0, f"{n}b": 1.0} for n in range(12)}
    counts = {name: (1, 1) if name[:-1] != "0" else (1, 0) for own in run.values() for name in own}
    counts |= dict.fromkeys([f"{n}{d}" for n in range(6, 12) for d in "ab"], (0, 0))
    return run, words(counts, targets)


@pytest.mark.parametrize(("measure", "most"), [("TExFAIR@2", 1.0), ("TExFAIR(normalized=True)@2", 1.0)])
def test_an_interval_of_texfair_ends_at_its_largest_value(measure: str, most: float) -> None:
    run, counts = mixed_words()
    (row,) = er.evaluate(run, measure, words=counts).summary()
    assert row.high <= most
    assert row.low < row.value


def test_targets_decide_about_the_largest_value() -> None:
    run, counts = mixed_words({"female": 0.25, "male": 0.75})
    (row,) = er.evaluate(run, "TExFAIR@2", words=counts).summary()
    assert 1.0 < row.high <= 1.5
    (row,) = er.evaluate(run, "TED@2", words=counts).summary()
    assert row.low >= 0


def test_a_comparison_of_texfair_keeps_to_the_range_of_differences() -> None:
    run, counts = mixed_words()
    other = {query: dict([*found.items()][::-1]) for query, found in run.items()}
    compared = er.compare({"a": run, "b": other}, "TExFAIR@1", words=counts)
    assert all(-1 <= pair.low <= pair.high <= 1 for pair in compared.pairs)


def test_lists_without_group_words_are_counted() -> None:
    run, counts = mixed_words()
    scores = er.evaluate(run, "TExFAIR@2", words=counts)
    assert any("6 of 12" in note for notes in scores.notes.values() for note in notes)
    assert not any(
        "of 12" in note
        for notes in er.evaluate(run, "TExFAIR(rbdf=False)@2", words=counts).notes.values()
        for note in notes
    )


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_exact_ties_after_a_penalty_keep_the_original_order(order: tuple[int, ...]) -> None:
    """Three documents lose 0, 1/3 and 2/3 and have the scores that make them equal."""
    losses = {"a": (1, 1), "b": (2, 1), "c": (5, 1)}  # neutrality 1, 2/3, 1/3
    lost = {"a": 0.0, "b": 1 / 3, "c": 2 / 3}
    names = [sorted(losses)[place] for place in order]
    for lam in (0.3, 0.7, 1.1, 7.0):
        run = {"q": {name: 5.0 + lam * lost[name] for name in names}}
        given = er.read_run(run)
        again = er.rerank(given, f"Penalty(lam={lam},scale='none')", words=words(losses))
        assert list(again.documents("q")) == list(given.documents("q"))


def test_exact_ties_after_a_penalty_for_groups_keep_the_original_order() -> None:
    """Alone at the top, the first document is 2/3 from the target and the second 1/3."""
    groups = er.Membership.from_labels(
        er.Attribute("side", ("x", "y"), target=(1 / 3, 2 / 3)), {"a": "x", "b": "y"}
    )
    for lam in (0.3, 5.0, 17.0):
        run = {"q": {"a": 1.0 + lam * 2 / 3, "b": 1.0 + lam / 3}}
        for marginal in (True, False):
            method = f"GroupPenalty(lam={lam},marginal={marginal},scale='none')"
            assert list(er.rerank(er.read_run(run), method, groups=[groups]).documents("q")) == ["a", "b"]


def test_the_command_takes_the_rule_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.trec").write_text("".join(f"q{n} Q0 {n}{d} 1 1 x\n" for n in range(4) for d in "a"))
    Path("g.csv").write_text("document,gender\n0a,f\n1a,m\n9a,f\n")
    words = ["evaluate", "r.trec", "--groups", "gender=g.csv", "-m", "GF@1", "--format", "jsonl"]
    assert main([*words, "--missing", "undefined"]) == 0
    row = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (row["defined"], row["unlabelled"]) == (2, 0)
    assert main(words) == 0
    row = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (row["defined"], row["unlabelled"]) == (4, 2)
