"""An explanation says what ``evaluate`` says, rank by rank, and nothing that cannot be checked with it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

import evenrank as er
from evenrank import all_measures, explain
from evenrank.data.tables import DocumentTable
from evenrank.errors import (
    DataError,
    InputTypeError,
    MissingEvidenceError,
    ParameterError,
    UnknownNameError,
)

QUERY = "occ-1"
DEBATE = "deb-01"


def of_one_list() -> list[er.Measure]:
    """Every measure that needs no more than lists, judgements and words, at a cut-off within the list."""
    known = {"relevance", "intents", "words", "documents"}
    blocks = {"ranked", "judged", "judged_by_intent", "background", "query", "pool"}
    found: list[er.Measure] = []
    for cls in all_measures().values():
        measure = cls() @ 5 if cls.takes_cutoff else cls()
        needs = [need.partition(".") for need in measure.needs]
        one_list = not measure.over_queries
        if one_list and all(block in blocks and name in known for block, _, name in needs):
            found.append(measure)
    sums = ["0.5*NFaiRR@5 + 0.5*nDCG@8", "nDCG(judged_only=True)@3", "Bpref", "infAP"]
    return found + [er.parse_measure(text) for text in sums]


def inputs(sample: Any, counts: er.WordCounts) -> dict[str, object]:
    return {"qrels": sample.qrels, "intents": sample.sides, "words": counts}


def value_of(run: er.Run, measure: er.Measure, query: str, **given: object) -> float:
    return float(er.evaluate(run, measure, queries=[query], **given).blocks[0].values[0, 0])


def without(run: er.Run, query: str, document: str) -> er.Run:
    lists = {query: {d: s for d, s in run.to_dict()[query].items() if d != document}}
    return er.read_run(lists, name=run.name)


def reordered(run: er.Run, query: str, documents: tuple[str, ...]) -> er.Run:
    """The list with these documents first, in this order."""
    rest = [document for document in run.documents(query) if document not in documents]
    return er.read_run({query: {d: float(-r) for r, d in enumerate([*documents, *rest])}}, name=run.name)


@pytest.mark.parametrize("measure", of_one_list(), ids=repr)
def test_says_what_evaluate_says(
    measure: er.Measure, run: er.Run, sample: Any, counts: er.WordCounts
) -> None:
    given = inputs(sample, counts)
    background = run.head(200)
    explanation = explain(run, measure, DEBATE, background=background, **given)
    block = er.evaluate(run, measure, queries=[DEBATE], background=background, **given).blocks[0]
    assert list(explanation.values.values()) == pytest.approx(block.values[0].tolist(), nan_ok=True)
    assert set(explanation.statuses) == set(block.columns)
    assert all(d.adds is None or d.change_without is None for d in explanation.documents)
    if explanation.documents[0].adds is not None:
        assert sum(d.adds or 0 for d in explanation.documents) == pytest.approx(explanation.value)
        return
    for document in explanation.documents:
        if document.change_without is None:
            continue
        shorter = without(run, DEBATE, document.document)
        again = er.evaluate(shorter, measure, queries=[DEBATE], background=background, **given).blocks[0]
        changes = list(document.change_without.values())
        assert changes == pytest.approx((again.values[0] - block.values[0]).tolist(), abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("measure", of_one_list(), ids=repr)
def test_the_best_order_has_its_value_and_is_no_worse(
    measure: er.Measure, run: er.Run, sample: Any, counts: er.WordCounts
) -> None:
    given = {**inputs(sample, counts), "background": run.head(200)}
    explanation = explain(run, measure, DEBATE, **given)
    best = explanation.best
    if measure.direction.name in ("NONE", "DISTANCE"):
        assert best is None
        return
    assert best is not None
    assert sorted(best.documents) == sorted(
        d.document for d in explanation.documents if d.counts_in and d.best_rank
    ) or repr(measure) in ("Bpref", "infAP")
    again = value_of(reordered(run, DEBATE, best.documents), measure, DEBATE, **given)
    assert best.value == pytest.approx(again)
    better = {
        "HIGHER": best.value >= explanation.value - 1e-9,
        "LOWER": best.value <= explanation.value + 1e-9,
        "SIGNED": abs(best.value) <= abs(explanation.value) + 1e-9,
    }
    assert better[measure.direction.name]
    places = {d.document: d.best_rank for d in explanation.documents if d.best_rank is not None}
    assert all(best.documents[place - 1] == document for document, place in places.items())


def test_what_each_rank_holds(run: er.Run, sample: Any, counts: er.WordCounts) -> None:
    explanation = explain(run, "NFaiRR@10", QUERY, qrels=sample.qrels, words=counts)
    assert [d.rank for d in explanation.documents] == list(range(1, 11))
    assert [d.document for d in explanation.documents] == run.documents(QUERY)[:10]
    lexicon = counts.lexicon
    grades = sample.qrels.to_dict()[QUERY]
    for document in explanation.documents:
        known, words = document.known, sample.documents[document.document].lower()
        assert known.counts is not None
        assert known.terms is not None
        assert known.grade == grades.get(document.document)
        for group in lexicon.groups:
            assert sum(t.times for t in known.terms if t.group == group) == known.counts[group]
        assert all(term.term in words for term in known.terms)
        times = [term.times for term in known.terms]
        assert times == sorted(times, reverse=True)
        female, male = known.counts["female"], known.counts["male"]
        total = female + male
        neutral = 1.0 if total <= 1 else 1 - abs(female / total - 0.5) - abs(male / total - 0.5)
        assert known.neutrality == pytest.approx(neutral)


def test_the_ideal_is_the_most_neutral_of_the_background(
    run: er.Run, sample: Any, counts: er.WordCounts
) -> None:
    own = explain(run, "NFaiRR@5", QUERY, words=counts)
    assert own.ideal is not None
    assert own.ideal.value == pytest.approx(1)
    assert (own.ideal.among, own.ideal.source) == (12, "the background")
    assert set(own.ideal.documents) <= set(run.documents(QUERY))
    everything = explain(run, "NFaiRR@5", QUERY, words=counts, background=counts)
    assert everything.ideal is not None
    assert (everything.ideal.value, everything.ideal.among) == (pytest.approx(1), len(sample.documents))
    assert everything.value <= own.value
    ids = [*run.documents(QUERY)[:3], "occ-1-02"]
    listed = explain(run, "FaiRR@2", QUERY, words=counts, background=ids)
    assert listed.ideal is not None
    assert listed.ideal.among == len(set(ids))
    best = max(
        value_of(reordered(run, QUERY, (a, b)), er.parse_measure("FaiRR@2"), QUERY, words=counts)
        for a in ids
        for b in ids
        if a != b
    )
    assert listed.ideal.value == pytest.approx(best)
    assert explain(run, "FaiRR@2", QUERY, words=counts).ideal is None
    judged = explain(run, "nDCG@3", QUERY, qrels=sample.qrels).ideal
    assert judged is not None
    assert (judged.value, judged.source) == (pytest.approx(1), "all judged documents")


def some_counts(documents: dict[str, tuple[int, int]]) -> er.WordCounts:
    lexicon = er.Lexicon.build("sides", {"left": ["l"], "right": ["r"]})
    return er.WordCounts.build(list(documents), [10] * len(documents), list(documents.values()), lexicon)


SMALL = er.Run.build(["q"] * 4, ["a", "b", "c", "d"], [4.0, 3.0, 2.0, 1.0], name="small")


def test_documents_that_are_left_out() -> None:
    known = some_counts({"a": (4, 0), "c": (2, 2), "d": (0, 3)})
    with pytest.raises(MissingEvidenceError, match="'b'"):
        explain(SMALL, "FaiRR@2", "q", words=known)
    dropped = explain(SMALL, "NFaiRR@2", "q", words=known, missing="drop")
    assert [(d.document, d.counts_in, d.best_rank) for d in dropped.documents] == [
        ("a", True, 2), ("b", False, None), ("c", True, 1),
    ]  # fmt: skip
    assert [d.adds for d in dropped.documents] == pytest.approx([0, 0, dropped.value])
    assert dropped.ideal is not None
    assert dropped.ideal.among == 3
    neutral = explain(SMALL, "NFaiRR@2", "q", words=known, missing="neutral")
    assert neutral.documents[1].known.neutrality == 1
    assert neutral.documents[1].known.counts is None
    assert neutral.best is not None
    assert neutral.best.documents == ("b", "a")


def test_a_document_that_would_move_up_must_be_known() -> None:
    known = some_counts({"a": (4, 0), "b": (2, 2)})
    explanation = explain(SMALL, "TExFAIR@2", "q", words=known)
    assert all(d.change_without is None for d in explanation.documents)
    assert any("'c'" in note for note in explanation.notes)
    neutral = explain(SMALL, "TExFAIR@2", "q", words=known, missing="neutral")
    assert all(d.change_without is not None for d in neutral.documents)


def test_undefined_has_no_best_order() -> None:
    known = some_counts(dict.fromkeys("abcd", (0, 0)))
    explanation = explain(SMALL, "TExFAIR(rbdf=False)@2", "q", words=known)
    assert math.isnan(explanation.value)
    assert explanation.statuses == {"": "no group word"}
    assert (explanation.best, explanation.ideal) == (None, None)


def test_a_list_of_one_document() -> None:
    one = er.Run.build(["q"], ["a"], [1.0])
    explanation = explain(one, "TED@3", "q", words=some_counts({"a": (3, 1)}))
    (document,) = explanation.documents
    assert document.change_without is not None
    assert math.isnan(document.change_without[""])


def test_terms_are_asked_for() -> None:
    explanation = explain(SMALL, "FaiRR@2", "q", words=some_counts(dict.fromkeys("abcd", (1, 2))))
    assert any("terms=True" in note for note in explanation.notes)
    assert all(d.known.terms is None for d in explanation.documents)


def test_how_many_ranks_are_shown(run: er.Run, counts: er.WordCounts) -> None:
    assert len(explain(run, "TExFAIR", QUERY, words=counts).documents) == 12
    few = explain(run, "FaiRR@10", QUERY, words=counts, depth=4)
    assert (len(few.documents), few.counting) == (4, 10)
    deep = explain(run, "FaiRR@2", QUERY, words=counts, depth=4)
    assert [d.counts_in for d in deep.documents] == [True, True, False, False]
    with pytest.raises(ParameterError, match=r"depth.*0"):
        explain(run, "FaiRR@2", QUERY, words=counts, depth=0)


def test_any_other_evidence_is_shown(run: er.Run, counts: er.WordCounts) -> None:
    ids = run.documents(QUERY)[:2]
    table = DocumentTable.build("year", ids, {"": [1999, 2001]})
    explanation = explain(run, "FaiRR@3", QUERY, words=counts, evidence=[table])
    assert [d.known.other for d in explanation.documents] == [{"year": 1999}, {"year": 2001}, {}]


@pytest.mark.parametrize(
    ("given", "error", "names"),
    [
        ({"query": "occ-11"}, DataError, "'occ-11'.*'mixed'.*'occ-1'"),
        ({"query": "%%%"}, DataError, "'%%%'.*'mixed'.*'occ-1', 'occ-2', 'occ-3'"),
        ({"query": 7}, InputTypeError, "query.*int"),
        ({"measure": "TED@3"}, ParameterError, "TED@3.*words="),
        ({"qrels": None}, ParameterError, "nDCG@3.*qrels="),
        ({"qrels": {"q9": {"a": 1}}}, DataError, "'occ-1'.*nDCG@3.*'q9'"),
        ({"query": "q9", "qrels": {"q9": {"a": 1}}}, DataError, "'q9'.*'mixed'"),
        ({"run": {"a": SMALL, "b": SMALL}}, ParameterError, "a, b"),
        ({"run": er.RunSet.build([SMALL, SMALL])}, InputTypeError, "one ranking"),
        ({"evidence": 3}, InputTypeError, "evidence"),
    ],
)
def test_what_cannot_be_explained_is_an_error_that_names_it(
    given: dict[str, object], error: type[Exception], names: str, run: er.Run, sample: Any
) -> None:
    whole = {"run": run, "measure": "nDCG@3", "query": QUERY, "qrels": sample.qrels, **given}
    with pytest.raises(error, match=names):
        explain(**whole)  # type: ignore[arg-type]


def test_labels_of_the_measure_and_its_columns(run: er.Run, sample: Any, counts: er.WordCounts) -> None:
    labels = {"GroupExposure@2": "Exposure", "GroupExposure@2[female]": "women"}
    found = explain(run, "GroupExposure@2", QUERY, qrels=sample.qrels, words=counts, labels=labels)
    assert found.name == "Exposure"
    assert "women" in repr(found)
    assert found.to_dict()["measure"] == "GroupExposure@2"
    with pytest.raises(UnknownNameError, match="RR"):
        explain(run, "GroupExposure@2", QUERY, qrels=sample.qrels, words=counts, labels={"RR": "x"})


def test_a_label_names_the_measure_that_was_asked_for() -> None:
    """GF takes the only attribute that there is, and is another measure by name when it is computed."""
    gender = er.Membership.build(er.Attribute("gender", ("f", "m")), ["a", "b"], ["f", "m"])
    found = explain({"q": {"a": 2.0, "b": 1.0}}, "GF@10", "q", groups=gender, labels={"GF@10": "Fair"})
    assert "gender" in repr(found.measure)
    assert found.name == "Fair"


def test_names_from_outside_steer_nothing() -> None:
    name = "<b>\x1b[2J"
    run = er.Run.build([name, name], ["<script>\x1b", "b"], [2.0, 1.0], name="<i>run</i>")
    explanation = explain(run, "nDCG@2", name, qrels=er.Qrels.build([name], ["b"], [1]))
    assert "\x1b" not in repr(explanation)
    page = explanation._repr_html_()
    assert "<script>" not in page
    assert "<i>" not in page
    assert "&lt;script&gt;\\x1b" in page
    assert explanation.to_dict()["documents"][0]["document"] == "<script>\x1b"


def test_plain_data(run: er.Run, sample: Any, counts: er.WordCounts) -> None:
    for measure in ("NFaiRR@5", "TED@1", "GroupExposure@2"):
        explanation = explain(run, measure, QUERY, qrels=sample.qrels, words=counts)
        plain = explanation.to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
        assert plain["measure"] == measure
        assert plain["documents"][0]["counts"] == explanation.documents[0].known.counts
