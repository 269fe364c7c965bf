"""From texts to scores: orientation, several axes, distractors, other documents, and what cannot be done."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import evenrank as er
from evenrank.errors import DataError, InputTypeError, ParameterError

Encode = Callable[[Sequence[str]], Any]
Debate = dict[str, dict[str, str]]


def scores_of(polarity: er.Polarity) -> dict[str, list[float]]:
    return dict(zip(polarity.doc_ids.to_pylist(), polarity.scores.tolist(), strict=True))


def table(debate: Debate, sides: dict[str, str | None]) -> polars.DataFrame:
    rows = [(q, d, text, sides.get(d)) for q, texts in debate.items() for d, text in texts.items()]
    return polars.DataFrame(rows, ["query", "document", "text", "perspective"], orient="row")


SIDES: dict[str, str | None] = {"a": "for", "c": "for", "b": "against", "d": "against"}


def test_sides_are_told_apart(debate: Debate, bag: Encode) -> None:
    polarity = er.polarise(debate, encoder=bag)
    scores = scores_of(polarity)
    assert np.sign(scores["a"]) == np.sign(scores["c"]) == -np.sign(scores["b"]) == -np.sign(scores["d"])
    assert polarity.query_ids == ("q",)
    assert polarity.axes == ("1",)
    assert not polarity.oriented
    assert not polarity.without_axis
    assert sum(score for (score,) in scores.values()) == pytest.approx(0, abs=1e-12)


def test_the_first_perspective_in_alphabetical_order_is_positive(debate: Debate, bag: Encode) -> None:
    polarity = er.polarise(table(debate, SIDES), encoder=bag)
    assert polarity.oriented
    scores = scores_of(polarity)
    assert min(scores["b"], scores["d"]) > [0.0] > max(scores["a"], scores["c"])
    renamed = er.polarise(
        table(debate, {d: {"for": "a", "against": "b"}[str(s)] for d, s in SIDES.items()}), encoder=bag
    )
    np.testing.assert_array_equal(renamed.scores, -polarity.scores)


def test_the_positive_perspective_can_be_named(debate: Debate, bag: Encode) -> None:
    named = table(debate, SIDES)
    usual = er.polarise(named, encoder=bag)
    same, turned = (er.polarise(named, encoder=bag, positive=side) for side in ("against", "for"))
    np.testing.assert_array_equal(same.scores, usual.scores)
    np.testing.assert_array_equal(turned.scores, -usual.scores)
    with pytest.raises(ParameterError, match="no perspective is called 'pro': there are 'against' and 'for'"):
        er.polarise(named, encoder=bag, positive="pro")
    with pytest.raises(ParameterError, match="'for': no document names one"):
        er.polarise(debate, encoder=bag, positive="for")


@pytest.mark.parametrize("named", [True, False])
def test_runs_and_orders_of_documents_give_the_same_scores(debate: Debate, bag: Encode, named: bool) -> None:
    whole = table(debate, SIDES if named else {})
    first = scores_of(er.polarise(whole, encoder=bag, axes=2))
    assert scores_of(er.polarise(whole, encoder=bag, axes=2)) == first
    for order in itertools.permutations(range(4)):
        assert scores_of(er.polarise(whole[list(order)], encoder=bag, axes=2)) == first


def test_several_axes(debate: Debate, bag: Encode) -> None:
    one, two = er.polarise(debate, encoder=bag), er.polarise(debate, encoder=bag, axes=2)
    assert two.axes == ("1", "2")
    np.testing.assert_allclose(two.scores[:, :1], one.scores, atol=1e-12)
    assert two.scores[:, 0] @ two.scores[:, 1] == pytest.approx(0, abs=1e-9)
    assert two.scores[:, 0].var() > two.scores[:, 1].var() > 0
    for wrong in (0, -1, True, 1.5, "2"):
        with pytest.raises(ParameterError, match="axes must be an integer >= 1"):
            er.polarise(debate, encoder=bag, axes=wrong)  # type: ignore[arg-type]


def test_other_documents_are_placed_on_the_axis(debate: Debate, bag: Encode) -> None:
    own = scores_of(er.polarise(debate, encoder=bag))
    others = {"q": {"x": "no no the tax", "y": "yes no"}, "other": {"z": "yes"}}
    polarity = er.polarise(debate, others, encoder=bag)
    scores = scores_of(polarity)
    assert scores["x"] == own["b"]
    assert set(scores) == {"x", "y", "z"}
    assert scores["z"] == [0.0]
    assert polarity.without_axis == {"other": "no documents to fit an axis to"}


def test_distractors_take_their_direction_away(bag: Encode) -> None:
    # the sides differ in yes and no, and far more in tax and tree, which is beside the point
    texts = {"q": {"a": "yes tax tax tax", "b": "no tree tree tree", "c": "yes tree tree", "d": "no tax tax"}}
    beside = polars.DataFrame(
        {
            "query": ["x", "x"],
            "document": ["1", "2"],
            "text": ["tax tax", "tree tree"],
            "perspective": ["1", "2"],
        }
    )
    plain = er.polarise(texts, encoder=bag)
    cleaned = er.polarise(texts, encoder=bag, distractors=beside)
    side = np.array([1, -1, 1, -1])
    assert abs(np.corrcoef(plain.scores[:, 0], side)[0, 1]) < 0.5
    assert abs(np.corrcoef(cleaned.scores[:, 0], side)[0, 1]) > 0.9
    # where a document stands along what is removed makes no difference any more, only the rest of it does
    other = {"q": {"n": "yes", "m": "yes tax tree", "o": "yes tax tax", "p": "yes tree tree"}}
    after = er.polarise(texts, other, encoder=bag, distractors=beside).scores[:, 0]
    np.testing.assert_allclose(after[2:], after[1], atol=1e-9)
    before = er.polarise(texts, other, encoder=bag).scores[:, 0]
    assert abs(before[2] - before[3]) > 1


def test_distractors_that_cannot_be_used(debate: Debate, bag: Encode) -> None:
    with pytest.raises(DataError, match="distractors need a perspective for every document"):
        er.polarise(debate, encoder=bag, distractors={"x": {"1": "tax"}})
    same = table({"x": {"1": "tax", "2": "tax"}}, {"1": "a", "2": "b"})
    with pytest.raises(DataError, match="distractors have the same mean"):
        er.polarise(debate, encoder=bag, distractors=same)


def test_one_document_and_one_opinion_have_no_axis(debate: Debate, bag: Encode) -> None:
    texts = {"one": {"a": "yes"}, "same": {"b": "no", "c": "no"}, **debate}
    polarity = er.polarise(texts, encoder=bag)
    assert polarity.without_axis == {"one": "one document only", "same": "all documents are alike"}
    assert polarity.scores[:3].tolist() == [[0.0]] * 3
    run = {q: {d: -float(i) for i, d in enumerate(docs)} for q, docs in texts.items()}
    block = er.evaluate(run, "DUO", polarity=polarity).block("DUO")
    reasons = {q: block.reasons[s] for q, s in zip(block.query_ids, block.status[:, 0], strict=True)}
    assert reasons == {"one": "too short", "same": "too short", "q": "ok"}


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        (dict.fromkeys("abcd", "for"), "an axis has two perspectives, found are 1: 'for'"),
        (dict(zip("abcd", ["for", "against", "both", "for"], strict=True)), "found are 3: 'against', 'both'"),
    ],
)
def test_perspectives_are_two(debate: Debate, bag: Encode, sides: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        er.polarise(table(debate, sides), encoder=bag)


@pytest.mark.parametrize(
    ("encode", "said"),
    [
        (
            lambda texts: [[1.0, float("nan")]] * len(texts),
            "document '[a-d]': its vector holds NaN or infinity",
        ),
        (
            lambda texts: [[1.0, float("inf")]] * len(texts),
            "document '[a-d]': its vector holds NaN or infinity",
        ),
        (
            lambda texts: [[float("no" not in t), 0.0] for t in texts],
            r"document '[bd]': its vector is zero, .* \(2 such documents\)",
        ),
        (
            lambda texts: [[1.0]] * (len(texts) - 1),
            r"gave an array of \(3, 1\) for 4 documents, but it must be \(4, width\)",
        ),
        (lambda texts: [1.0] * len(texts), r"gave an array of \(4,\)"),
        (lambda texts: [[]] * len(texts), r"gave an array of \(4, 0\)"),
        (
            lambda texts: [[1.0] * (n + 1) for n in range(len(texts))],
            "one vector of numbers for each document, all of the same width",
        ),
        (lambda texts: [["a", "b"]] * len(texts), "one vector of numbers for each document"),
    ],
)
def test_vectors_that_cannot_be_used(debate: Debate, encode: Encode, said: str) -> None:
    with pytest.raises(DataError, match=said):
        er.polarise(debate, encoder=encode)


def test_a_width_that_changes_between_blocks(debate: Debate) -> None:
    widths = iter((3, 4))
    debate["q"] |= {f"n{number}": f"yes {number}" for number in range(600)}

    def encode(texts: Sequence[str]) -> Any:
        return np.ones((len(texts), next(widths)))

    with pytest.raises(DataError, match=r"'encode'.*\b4\b.*\b3\b"):
        er.polarise(debate, encoder=encode)


def test_every_text_is_encoded_once_and_progress_is_told(debate: Debate, bag: Encode) -> None:
    seen: list[str] = []

    def encode(texts: Sequence[str]) -> Any:
        seen.extend(texts)
        return bag(texts)

    told: list[tuple[int, int]] = []
    more = {"q": {"x": "no the tree", "y": "yes", **{f"n{n}": f"no {n}" for n in range(1100)}}}
    er.polarise(debate, more, encoder=encode, progress=lambda done, of: told.append((done, of)))
    assert sorted(seen) == sorted({*debate["q"].values(), *more["q"].values()})
    assert told == sorted(told)
    assert told[-1] == (1105, 1105)
    assert len(told) > 2


def test_texts_that_cannot_be_read(tmp_path: Path, debate: Debate, bag: Encode) -> None:
    with pytest.raises(InputTypeError, match="documents are read from a path"):
        er.polarise(7, encoder=bag)
    with pytest.raises(InputTypeError, match=r"\{query: \{document: text\}\}"):
        er.polarise({"q": ["a"]}, encoder=bag)
    with pytest.raises(DataError, match=r"document 'a'.*text"):
        er.polarise({"q": {"a": 1}}, encoder=bag)
    with pytest.raises(DataError, match="no documents"):
        er.polarise({}, encoder=bag)
    with pytest.raises(DataError, match=r"nothing\.csv: no such file"):
        er.polarise(tmp_path / "nothing.csv", encoder=bag)
    twice = polars.concat([table(debate, SIDES)] * 2)
    with pytest.raises(DataError, match="documents: row 5: document 'a' is twice in query 'q'"):
        er.polarise(twice, encoder=bag)
    with pytest.raises(DataError, match="text is missing"):
        er.polarise(table(debate, SIDES).with_columns(text=polars.lit(None)), encoder=bag)


def test_negated_polarity_negates_signed_duo(debate: Debate, bag: Encode) -> None:
    polarity = er.polarise(table(debate, SIDES), encoder=bag)
    run = {"q": {"c": 4.0, "a": 3.0, "b": 2.0, "d": 1.0}}
    one = er.evaluate(run, "DUO(signed=True) DUO", polarity=polarity)
    other = er.evaluate(run, "DUO(signed=True) DUO", polarity=polarity.negated())
    # summed from the other end, so the last digit may differ; "against" is positive
    assert one.mean("DUO(signed=True)") == pytest.approx(-other.mean("DUO(signed=True)"), abs=1e-12)
    assert one.mean("DUO(signed=True)") < 0
    assert one.mean("DUO") == pytest.approx(other.mean("DUO"), abs=1e-12)
    assert one.mean("DUO") > 0


def test_a_duo_is_explained(debate: Debate, bag: Encode) -> None:
    polarity = er.polarise(debate, encoder=bag)
    run = {"q": {"c": 4.0, "a": 3.0, "b": 2.0, "d": 1.0}}
    found = er.explain(run, "DUO", "q", polarity=polarity)
    assert found.value == er.evaluate(run, "DUO", polarity=polarity).mean("DUO")
    assert found.best is not None
    assert found.best.value == 0


def test_a_sign_without_meaning_and_queries_without_an_axis_are_said(debate: Debate, bag: Encode) -> None:
    texts = debate | {"one": {"x": "yes"}, "two": {"y": "no"}}
    run = {q: {d: -float(i) for i, d in enumerate(docs)} for q, docs in texts.items()}

    def said(measures: str, polarity: Any) -> list[str]:
        (notes,) = er.evaluate(run, measures, polarity=polarity).notes.values()
        return [note for note in notes if note.startswith("polarity:")]

    fitted = er.polarise(texts, encoder=bag)
    axis = "polarity: 2 queries have no axis, so all their scores are 0: one document only (2)"
    assert said("DUO rND", fitted) == [axis]
    for measure in ("DUO(signed=True)", "rRD", "0.5*DUO + 0.5*rRD"):
        found = said(measure, fitted)
        assert found[1:] == [axis]
        assert "no perspectives were named, so which side is positive has no meaning" in found[0]
    sides = SIDES | {"x": "for", "y": "against"}
    assert said("DUO(signed=True)", er.polarise(table(texts, sides), encoder=bag)) == [axis]
    # who gives scores knows what their sign means
    given = {q: {d: float(i) for i, d in enumerate(docs)} for q, docs in texts.items()}
    assert said("DUO(signed=True)", given) == []
    assert "polarity" not in str(er.evaluate(run, "RR", qrels={"q": {"a": 1}}, polarity=fitted).notes)
