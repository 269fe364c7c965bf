"""A measure as text: what it means, how it is printed, and what no measure is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenrank import ParameterError, all_measures, parse_measure
from evenrank.errors import UnknownNameError
from evenrank.measures import WeightedSum, parse_measures

NAMES = ("AP", "AWRF", "ERR", "RBP", "RR", "P", "alpha_nDCG", "nDCG")
AP, AWRF, ERR, RBP, RR, P, alpha_nDCG, nDCG = (all_measures()[name] for name in NAMES)


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("nDCG", nDCG()),
        ("nDCG@10", nDCG(cutoff=10)),
        ("nDCG(dcg='exp-log2')@10", nDCG(dcg="exp-log2") @ 10),
        (" P( rel = 2 ) @ 5 ", P(rel=2) @ 5),
        ("RBP(p=0.5)", RBP(p=0.5)),
        ("alpha_nDCG(alpha=1)@5", alpha_nDCG(alpha=1.0) @ 5),
        ("ERR(max_grade=None)", ERR()),
        ("AP(judged_only=True)", AP(judged_only=True)),
        ("0.5*P@5 + 0.5*RR", WeightedSum(terms=((0.5, P() @ 5), (0.5, RR())))),
        ("2*RR", 2 * RR()),
        ("AWRF(distance=Hellinger)", AWRF(distance="Hellinger")),
        ("AWRF(attention=rbp)", AWRF(attention="rbp")),
        ("nDCG(dcg=log2)", nDCG()),
        ("RR + P@5", RR() + P() @ 5),
        ("0.2*RR@3+0.8*AP", 0.2 * (RR() @ 3) + 0.8 * AP()),
        ("nDCG@10 * RR", (nDCG() @ 10) * RR()),
        ("nDCG@10*P@5*RR@3", (nDCG() @ 10) * (P() @ 5) * (RR() @ 3)),
        ("(P@5)*(RR)", P() @ 5 * RR()),
        ("0.5*P@5*RR + 0.5*AP", 0.5 * ((P() @ 5) * RR()) + 0.5 * AP()),
    ],
)
def test_text_and_value_are_the_same_thing(text: str, measure) -> None:
    parsed = parse_measure(text)
    assert parsed == measure
    assert hash(parsed) == hash(measure)
    assert parse_measure(repr(measure)) == measure


@given(
    p=st.floats(0, 0.999, allow_nan=False),
    rel=st.none() | st.integers(1, 9),
    normalized=st.booleans(),
    cutoff=st.none() | st.integers(1, 10**6),
)
def test_round_trip(p: float, rel: int | None, normalized: bool, cutoff: int | None) -> None:
    measure = RBP(p=p, rel=rel, normalized=normalized, cutoff=cutoff)
    assert parse_measure(repr(measure)) == measure
    both = 0.25 * measure + 0.75 * RR()
    assert parse_measure(repr(both)) == both


@given(st.text(max_size=40))
def test_any_text_is_a_measure_or_a_clear_error(text: str) -> None:
    try:
        measure = parse_measure(text)
    except ParameterError:
        return
    assert parse_measure(repr(measure)) == measure


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("nDGC@10", "'nDGC' nDCG"),
        ("NDcg@10", "'NDcg' nDCG"),
        ("ndcg", "'ndcg' trec_eval nDCG"),
        ("ndcg_cut_10", "'ndcg_cut_10' trec_eval nDCG@10"),
        ("recip_rank", "'recip_rank' trec_eval RR"),
        ("10", "'10' cutoffs="),
        ("RR(judged_only=true)", "True true"),
        ("Qwertz", "'Qwertz' AP,"),
        ("nDCG(depth=3)@10", "nDCG 'depth' dcg judged_only"),
        ("nDCG(judge_only=True)@10", "nDCG 'judge_only' dcg judged_only"),
        ("P(rel=a.csv)@5", "'a.csv'"),
        ("P(rel=my/a-b.csv)@5", "'my/a-b.csv'"),
        ("P(rel=0)@5", "P: rel 0"),
        ("P(rel=two)@5", "P: rel 'two'"),
        ("P(rel=1.0)@5", "P: rel 1.0"),
        ("P(rel=True)@5", "P: rel True"),
        ("AWRF(distance=hellinger)", "distance 'L1' 'JSD' 'KL' 'Hellinger' 'hellinger'"),
        ("AWRF(attention=log3)", "attention 'log3' log2"),
        ("AWRF(attention=3)", "attention log2 rbp(p=0.8) reciprocal uniform"),
        ("RBP(p=1)", "RBP: p 1"),
        ("RBP(p=1e400)", "RBP: p inf"),
        ("nDCG(dcg='ln')", "nDCG: dcg 'log2' 'exp-log2' 'ln'"),
        ("nDCG(judged_only=1)", "nDCG: judged_only True False 1"),
        ("RR@0", "RR: cutoff 0"),
        ("RR@2.5", "RR: cutoff 2.5"),
        ("GF@ten", "'GF@ten' nDCG@10 'ten'"),
        ("P", "P P@10"),
        ("P(2)@5", "'P(2)@5'"),
        ("P(rel=[1])@5", "P(rel=[1])@5"),
        ("P(rel=1)(rel=2)@5", "P(rel=1)(rel=2)@5"),
        ("RR@", "'RR@'"),
        ("RR(rel=./folder)", "'./folder'"),
        ("", "measure"),
        ("__import__('os')", "__import__"),
        ("RR.name", "RR.name"),
        ("RR*0.5", "RR*0.5"),
        ("0*RR", "0"),
        ("RR - AP", "RR - AP"),
        ("AP(rel=1,rel=2)", "'AP(rel=1,rel=2)' rel"),
        ("AP(rel=1, rel=1)", "rel"),
        ("0.5*RR + 0.5*AP(rel=1,rel=2)@5", "rel"),
        ("FAIR(irm=RBP(p=0.8,p=0.9))@10", " p "),
        ("AWRF(attention=rbp(p=0.8,p=0.7))", " p "),
        ("SetP(rel=1,rel=2)", "rel"),  # of ir_measures
        ("nDCG(gains={1: 5, 1: 6})@10", "gains={1: 5"),
        ("AP(rel=" + "-" * 60 + "1)", "'AP(rel="),
        ("AP(rel=" + "-" * 50_000 + "1)", "'AP(rel="),
        (" + ".join(["RR"] * 50_000), "'RR + RR"),
    ],
)  # fmt: skip
def test_what_is_no_measure_is_an_error_that_names_what_is_wrong(text: str, named: str) -> None:
    with pytest.raises(ParameterError) as caught:
        parse_measure(text)
    said = str(caught.value)
    assert len(said) < 2000
    assert all(name in said for name in named.split()), said


def test_a_sum_may_have_thousands_of_terms() -> None:
    terms = 2000
    measure = parse_measure(" + ".join(f"{1 + term}*P@{1 + term}" for term in range(terms)))
    assert isinstance(measure, WeightedSum)
    assert len(measure.terms) == terms
    assert measure.terms[1999] == (2000.0, P() @ 2000)  # in the order written
    assert parse_measure(repr(measure)) == measure


def test_an_unknown_name_is_its_own_error() -> None:
    with pytest.raises(UnknownNameError):
        parse_measure("nope")


@pytest.mark.parametrize(
    "text", ["Bpref", "SetP", "Judged@10", "StRecall@5", "nDCG(gains={1: 5})@10", "infAP(rel=2)"]
)
def test_other_measures_of_ir_measures_are_accepted(text: str) -> None:
    measure = parse_measure(text)
    assert parse_measure(repr(measure)) == measure


def test_a_wrong_parameter_of_a_delegated_measure_is_said() -> None:
    with pytest.raises(ParameterError, match="Judged"):
        parse_measure("Judged(depth=3)@10")


def test_lists_of_measures() -> None:
    names = [str(measure) for measure in parse_measures("nDCG @10, RR\n0.5*P@5 + 0.5*RR  AP(rel=2)")]
    assert names == ["nDCG@10", "RR", "0.5*P@5 + 0.5*RR", "AP(rel=2)"]
    assert parse_measures(["RR", "RR AP", RR()]) == [RR(), AP()]
    with pytest.raises(ParameterError, match="measure"):
        parse_measures([])
    with pytest.raises(TypeError, match="int"):
        parse_measures(3)


def test_lists_keep_brackets_and_quotes_together() -> None:
    text = "AWRF(attr='a b, c') FAIR(irm=RBP(p=0.5, rel=2))@3"
    assert [str(measure) for measure in parse_measures(text)] == [
        "AWRF(attr='a b, c')", "FAIR(irm=RBP(p=0.5,rel=2))@3",
    ]  # fmt: skip


def test_a_sum_takes_no_cutoff_of_its_own() -> None:
    with pytest.raises(ParameterError, match="WeightedSum"):
        WeightedSum(terms=((1.0, P() @ 5),), cutoff=3)
