"""Attention that is not a formula of the rank: by judgements, by the scores of a run, from a file."""

from __future__ import annotations

import group_oracles
import pytest
from measure_evidence import evidence_for

import evenrank as er
from evenrank import Attribute, Membership, parse_measure
from evenrank.errors import DataError, ParameterError
from evenrank.testing import Case, check_measure

RUN = {"q": {"a": 3.0, "b": 2.0, "c": 0.0}}
SIDE = Membership.from_labels(Attribute("side", ("x", "y")), {"a": "x", "b": "y", "c": "x"})


def shares(attention: str, run=RUN, **known) -> list[float]:
    name = f"GroupShare(attention={attention})"
    scores = er.evaluate(run, name, groups=SIDE, **known)
    return [row.value for row in scores.summary()]


def test_a_reader_who_was_satisfied_does_not_read_on() -> None:
    """Grades 1, 0, 1 of at most 2: rank 1 is always seen, ranks 2 and 3 by three readers of four."""
    qrels = {"q": {"a": 1, "c": 1, "z": 2}}
    assert shares("cascade", qrels=qrels) == pytest.approx([1.75 / 2.5, 0.75 / 2.5])
    patient = [1 + 0.75 * 0.25, 0.75 * 0.5]
    assert shares("cascade(p=0.5)", qrels=qrels) == pytest.approx([v / sum(patient) for v in patient])
    half = [1 + 0.5, 0.5]  # grade 1 of at most 1
    assert shares("cascade(max_grade=1)", qrels=qrels) == pytest.approx([v / sum(half) for v in half])


def cascade_share(m, documents: list[str], case: Case, query: str) -> float | None:
    """AWRF(L1) with the chance to arrive at a rank, one reader at a time."""
    judged = case.qrels.to_dict().get(query)
    groups = group_oracles.Groups(case, m.attr)
    target, ranked = groups.target(query), documents[: m.cutoff]
    if judged is None or target is None or not ranked:
        return None
    most = max(g for inner in case.qrels.to_dict().values() for g in inner.values())
    mass, arrives = [0.0] * len(target), 1.0
    for document, row in zip(ranked, groups.rows(ranked, query), strict=True):
        mass = [have + arrives * share for have, share in zip(mass, row, strict=True)]
        arrives *= 1 - (2 ** max(judged.get(document, 0), 0) - 1) / 2**most
    return sum(abs(have / sum(mass) - q) for have, q in zip(mass, target, strict=True))


def test_cascade_in_every_respect() -> None:
    measure = parse_measure("AWRF(attr='origin',attention=cascade)@4")
    check_measure(measure, evidence=evidence_for(measure), oracle=cascade_share, cases=3)


def test_scores_are_attention() -> None:
    """Three citations of a, two of b, none of c."""
    assert shares("score") == pytest.approx([0.6, 0.4])
    assert dict(
        er.evaluate({"q": {"a": 0.0}}, "AWRF(attention=score)", groups=SIDE).summary()[0].undefined
    ) == {"no attention": 1}
    with pytest.raises(DataError, match="scores must be >= 0 to be attention, the smallest is -1"):
        shares("score", run={"q": {"a": 1.0, "b": -1.0}})


def test_a_file_of_weights(tmp_path) -> None:
    path = tmp_path / "curve.csv"
    path.write_text("rank,weight\n1,0.5\n2,0.25\n")
    name = f"file(path='{path}')"
    assert shares(name) == pytest.approx([2 / 3, 1 / 3])  # the third rank gets nothing
    path.write_text("1\t1\n2\t4\n3\t0\n")  # without a header, by tabs, and changed since
    assert shares(name) == pytest.approx([0.2, 0.8])
    measure = parse_measure(f"AWRF(attention={name})")
    assert parse_measure(repr(measure)) == measure
    by_words = parse_measure(f"TExFAIR(attention={name})")
    assert by_words.attention.weights(2).tolist() == [1.0, 4.0]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("1 0.5\n2\n", r"curve\.csv:2: a line is a rank from 1 on and a weight >= 0"),
        ("1 0.5\n2 -1\n", r"curve\.csv:2: a line is a rank"),
        ("1 0.5\nx 1\n", r"curve\.csv:2: a line is a rank"),
        ("1 0.5\n1 1\n", r"curve\.csv:2: rank 1 is there twice"),
        ("1 0.5\n3 1\n", r"curve\.csv: rank 2 has no weight: ranks go from 1 on"),
        ("", r"curve\.csv: rank 1 has no weight"),
        ("1 0\n2 1\n", r"curve\.csv: the weight of rank 1 must be > 0"),
    ],
)
def test_a_file_that_is_no_curve(tmp_path, content: str, complaint: str) -> None:
    path = tmp_path / "curve.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=complaint):
        parse_measure(f"AWRF(attention=file(path='{path}'))")


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(DataError, match=r"nowhere\.csv: No such file"):
        parse_measure("AWRF(attention=file(path='nowhere.csv'))")
    with pytest.raises(ParameterError, match="name the file of ranks and weights"):
        parse_measure("AWRF(attention=file)")


def test_measures_by_rank_alone_refuse_what_depends_on_documents() -> None:
    for name in ("Gini(attention=score)", "EE_L(attention=cascade)", "Polarity(attention=score)"):
        with pytest.raises(ParameterError, match=r"depends on the documents of a list: AWRF, UnderExposure"):
            er.evaluate(RUN, name, groups=SIDE, qrels={"q": {"a": 1}})
