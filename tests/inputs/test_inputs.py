"""What is known is read once, and every function takes it in the same way."""

from __future__ import annotations

from pathlib import Path

import pytest

import evenrank as er
from evenrank import Inputs, Membership, origin, tradeoff
from evenrank.comparison.gate import Gate, GateRule, apply_gate
from evenrank.errors import InputTypeError, ParameterError

RUN = er.Run.build(["q"] * 3 + ["r"] * 2, list("abcab"), [3.0, 2.0, 1.0, 2.0, 1.0], name="bm25")
OTHER = er.Run.build(["q"] * 3 + ["r"] * 2, list("cbaba"), [3.0, 2.0, 1.0, 2.0, 1.0], name="dense")
QRELS = {"q": {"b": 2, "c": 1}, "r": {"a": 1}}


def groups() -> Membership:
    return Membership.from_labels("side", {"a": "left", "b": "right", "c": "left"})


def known() -> dict[str, object]:
    return {"qrels": QRELS, "groups": [groups()], "background": RUN}


MEASURES = "nDCG@3 GF(attr='side')@3"


def test_every_function_gives_the_same_from_inputs_and_from_keywords() -> None:
    inputs = Inputs.of(RUN, **known())
    both = Inputs.of({"bm25": RUN, "dense": OTHER}, **known())
    assert er.evaluate(inputs, MEASURES) == er.evaluate(RUN, MEASURES, **known())
    compared = er.compare({"bm25": RUN, "dense": OTHER}, MEASURES, **known())
    assert er.compare(both, MEASURES).scores == compared.scores
    explained = er.explain(RUN, "nDCG@3", "q", **known())
    assert er.explain(inputs, "nDCG@3", "q").to_dict() == explained.to_dict()
    assert er.rerank(inputs, "DetCons") == er.rerank(RUN, "DetCons", **known())
    assert (
        tradeoff(inputs, "DetCons", MEASURES).scores == tradeoff(RUN, "DetCons", MEASURES, **known()).scores
    )
    assert origin(inputs, MEASURES, draws=2).scores == origin(RUN, MEASURES, draws=2, **known()).scores


def test_keywords_replace_what_inputs_hold() -> None:
    inputs = Inputs.of(RUN, qrels=QRELS)
    only = er.evaluate(inputs, "RR", qrels={"q": {"c": 1}})
    assert only.mean("RR") == pytest.approx(1 / 3)
    assert er.evaluate(inputs, "RR").mean("RR") == pytest.approx((0.5 + 1) / 2)  # unchanged
    assert er.evaluate(inputs, "RR", queries=["r"]).mean("RR") == 1.0


def test_what_can_be_read_once_serves_many_times(tmp_path: Path) -> None:
    file = tmp_path / "qrels.txt"
    file.write_text("q 0 b 2\nr 0 a 1\n")
    inputs = Inputs.of(RUN, qrels=file, groups=iter([groups()]))
    first = er.evaluate(inputs, MEASURES)
    file.unlink()
    assert er.evaluate(inputs, MEASURES) == first
    assert isinstance(inputs.qrels, er.Qrels)


def test_judgements_by_intent_are_found_under_either_name() -> None:
    by_intent = {"q": {"b": {"x": 1}}, "r": {"a": {"y": 1}}}
    read = er.read_qrels(by_intent, diversity=True)
    named, given = Inputs.of(RUN, intents=read), Inputs.of(RUN, qrels=read)
    assert (given.intents, given.qrels) == (named.intents, None) == (read, None)
    assert given.grades_are_derived
    with pytest.raises(ParameterError, match="intents="):
        Inputs.of(RUN, qrels=read, intents=read)


def test_a_misspelt_keyword_gets_the_nearest_name() -> None:
    for function in (er.evaluate, er.rerank, tradeoff):
        arguments = (
            ("RR",) if function is er.evaluate else ("Random", "RR")[: 2 if function is tradeoff else 1]
        )
        with pytest.raises(TypeError, match=r"qerls=.*qrels="):
            function(RUN, *arguments, qerls=QRELS)
    with pytest.raises(TypeError, match=r"zzzzzz=.*qrels, intents, words"):
        Inputs.of(RUN, zzzzzz=1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"groups": {"a": "left"}}, "groups=.*'left'"),
        ({"groups": [1]}, "groups=.*int"),
        ({"evidence": 3}, "evidence"),
        ({"words": 3}, "words="),
        ({"queries": "q"}, "queries"),
        ({"against": 3}, "int"),
    ],
)
def test_what_is_wrong_is_said_at_once(given: dict[str, object], message: str) -> None:
    with pytest.raises(InputTypeError, match=message):
        Inputs.of(RUN, **given)


def test_one_run_is_one_run() -> None:
    with pytest.raises(ParameterError, match="bm25, dense"):
        er.explain({"bm25": RUN, "dense": OTHER}, "RR", "q", qrels=QRELS)
    draws = er.RunSet((RUN, OTHER), name="draws")
    with pytest.raises(InputTypeError, match="RunSet"):
        er.rerank(Inputs.of(draws), "Random")


def test_a_background_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "bm25.trec").write_text("q Q0 a 1 2.0 x\nq Q0 b 2 1.0 x\n")
    (tmp_path / "ids.txt").write_text("a\nb\n")
    run = {"q": {"a": 2.0, "b": 1.0}}
    read = er.Inputs.of(run, background=tmp_path / "bm25.trec").background
    assert er.Inputs.of(run, background=str(tmp_path / "bm25.trec")).background.documents("q") == ["a", "b"]
    assert list(read.documents("q")) == ["a", "b"]
    assert er.Inputs.of(run, background=tmp_path / "ids.txt").background == ["a", "b"]
    assert er.Inputs.of(run, background="collection").background == "collection"


def test_the_gate_takes_inputs() -> None:
    runs = {"old": {"q": {"a": 2.0, "b": 1.0}}, "new": {"q": {"b": 2.0, "a": 1.0}}}
    inputs = er.Inputs.of(runs, qrels={"q": {"b": 1}})
    gate = Gate((GateRule(er.parse_measure("RR"), limit=0.9),))
    by_inputs, by_scores = (
        apply_gate(given, gate, now="new", baseline=None) for given in (inputs, er.evaluate(inputs, "RR"))
    )
    assert by_inputs.failed == by_scores.failed
    assert str(by_inputs) == str(by_scores)
