from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenrank import ParameterError, parse_measure
from evenrank.errors import UnknownNameError
from evenrank.grammar import split_list
from evenrank.measures import (
    AP,
    AWRF,
    ERR,
    RBP,
    RR,
    Delegated,
    P,
    Product,
    WeightedSum,
    alpha_nDCG,
    nDCG,
    parse_measures,
)


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
        ("nDCG@10 * RR", Product(factors=(nDCG() @ 10, RR()))),
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
    ("text", "message"),
    [
        ("nDGC@10", r"no measure is called 'nDGC'; did you mean nDCG"),
        ("NDcg@10", r"no measure is called 'NDcg'; did you mean nDCG"),
        ("ndcg", r"'ndcg' is trec_eval's name; here it is nDCG"),
        ("ndcg_cut_10", r"'ndcg_cut_10' is trec_eval's name; here it is nDCG@10"),
        ("recip_rank", r"'recip_rank' is trec_eval's name; here it is RR"),
        ("10", r"'10' is a number: several cut-offs are given by cutoffs=\[5, 10\]"),
        ("RR(judged_only=true)", r"write True, not true"),
        ("Qwertz", r"no measure is called 'Qwertz'; known: .*AP, "),
        ("nDCG(depth=3)@10", r"nDCG has no parameter 'depth'; it takes dcg, judged_only"),
        ("nDCG(judge_only=True)@10", r"'judge_only'; did you mean judged_only\? It takes dcg, judged_only"),
        ("P(rel=a.csv)@5", r"another term; the name of a file stands in quotes, as 'a\.csv'"),
        ("P(rel=my/a-b.csv)@5", r"the name of a file stands in quotes, as 'my/a-b\.csv'"),
        ("P(rel=0)@5", r"P: rel must be an integer >= 1 or a fraction > 0, got 0"),
        ("P(rel=two)@5", r"P: rel must be an integer >= 1 or a fraction > 0, got 'two'"),
        ("AWRF(distance=hellinger)", r"distance must be one of 'L1', 'JSD', 'KL', 'Hellinger', got 'hell"),
        ("AWRF(attention=log3)", r"no attention is called 'log3'; did you mean log2\?"),
        ("AWRF(attention=3)", r"must be an attention \(log2, rbp\(p=0\.8\), reciprocal, uniform"),
        ("P(rel=1.0)@5", r"P: rel must be an integer >= 1 or a fraction > 0, got 1.0"),
        ("P(rel=True)@5", r"P: rel must be an integer >= 1 or a fraction > 0, got True"),
        ("RBP(p=1)", r"RBP: p must be a number >= 0 and < 1, got 1"),
        ("RBP(p=1e400)", r"RBP: p must be a number >= 0 and < 1, got inf"),
        ("nDCG(dcg='ln')", r"nDCG: dcg must be one of 'log2', 'exp-log2', got 'ln'"),
        ("nDCG(judged_only=1)", r"nDCG: judged_only must be True or False, got 1"),
        ("RR@0", r"RR: cutoff must be an integer >= 1 or None, got 0"),
        ("RR@2.5", r"RR: cutoff must be an integer >= 1 or None, got 2.5"),
        ("P", r"P needs a cut-off, as in P@10"),
        ("P(2)@5", r"parameters are given by name"),
        ("P(rel=[1])@5", r"a value is a number, a quoted string, True, False, None or another term"),
        ("P(rel=1)(rel=2)@5", r"is not of the form Name\(param=value, ...\)@cutoff"),
        ("RR@", r"is not of the form Name\(param=value, ...\)@cutoff: invalid syntax"),
        ("RR(rel=./folder)", r"a file or folder stands in quotes, as model='./folder'"),
        ("", r"an empty string names no measure"),
        ("__import__('os')", r"parameters are given by name|no measure is called"),
        ("RR.name", r"is not of the form"),
        ("RR*0.5", r"a weight is a number and stands first"),
        ("0*RR", r"weights must be numbers > 0"),
        ("RR - AP", r"is not of the form"),
        ("AP(rel=1,rel=2)", r"'AP\(rel=1,rel=2\)': rel is given twice, keep one of them"),
        ("AP(rel=1, rel=1)", r"rel is given twice"),
        ("0.5*RR + 0.5*AP(rel=1,rel=2)@5", r"rel is given twice"),
        ("FAIR(irm=RBP(p=0.8,p=0.9))@10", r": p is given twice"),
        ("AWRF(attention=rbp(p=0.8,p=0.7))", r": p is given twice"),
        ("SetP(rel=1,rel=2)", r"rel is given twice"),  # of ir_measures
        ("nDCG(gains={1: 5, 1: 6})@10", r": 1 is given twice"),
        ("AP(rel=" + "-" * 60 + "1)", r"is nested more than 50 deep"),
        ("AP(rel=" + "-" * 50_000 + "1)", r"'AP\(rel=-{100,200}\.\.\.' (has too many|is nested)"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse_measure(text)


def test_a_sum_may_have_thousands_of_terms() -> None:
    terms = 2000
    measure = parse_measure(" + ".join(f"{1 + term}*P@{1 + term}" for term in range(terms)))
    assert isinstance(measure, WeightedSum)
    assert len(measure.terms) == terms
    assert measure.terms[1999] == (2000.0, P() @ 2000)  # in the order written
    assert parse_measure(repr(measure)) == measure


def test_a_sum_that_python_cannot_read_is_a_short_error() -> None:
    with pytest.raises(ParameterError, match="has too many terms, or is nested too deeply") as caught:
        parse_measure(" + ".join(["RR"] * 50_000))
    assert len(str(caught.value)) < 400


def test_an_unknown_name_is_its_own_error() -> None:
    with pytest.raises(UnknownNameError):
        parse_measure("nope")


@pytest.mark.parametrize(
    "text", ["Bpref", "SetP", "Judged@10", "StRecall@5", "nDCG(gains={1: 5})@10", "infAP(rel=2)"]
)
def test_other_measures_of_ir_measures_are_accepted(text: str) -> None:
    measure = parse_measure(text)
    assert isinstance(measure, Delegated)
    assert parse_measure(repr(measure)) == measure


def test_a_wrong_parameter_of_a_delegated_measure_is_said() -> None:
    with pytest.raises(ParameterError, match="Judged"):
        parse_measure("Judged(depth=3)@10")


def test_lists_of_measures() -> None:
    names = [str(measure) for measure in parse_measures("nDCG @10, RR\n0.5*P@5 + 0.5*RR  AP(rel=2)")]
    assert names == ["nDCG@10", "RR", "0.5*P@5 + 0.5*RR", "AP(rel=2)"]
    assert parse_measures(["RR", "RR AP", RR()]) == [RR(), AP()]
    with pytest.raises(ParameterError, match="no measure was given"):
        parse_measures([])
    with pytest.raises(TypeError, match="a string, a Measure or a list of them, got int"):
        parse_measures(3)


def test_splitting_keeps_brackets_and_quotes_together() -> None:
    assert split_list("A(x='a b, c') B(y=C(z=1, w=2))@3") == ["A(x='a b, c')", "B(y=C(z=1, w=2))@3"]


def test_a_cutoff_that_is_no_number_is_named() -> None:
    with pytest.raises(
        ParameterError, match="'GF@ten': a cut-off is a whole number, as in nDCG@10, got 'ten'"
    ):
        parse_measure("GF@ten")
