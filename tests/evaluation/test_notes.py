"""What is said beside the numbers: missing evidence, the background, what words were counted with."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from evenrank import (
    Attribute,
    Lexicon,
    Membership,
    MissingEvidenceError,
    ParameterError,
    Run,
    WordCounts,
    evaluate,
    explain,
    rerank,
    scan,
)
from evenrank.errors import InputTypeError

LEXICON = Lexicon.build("two", {"female": ["she"], "male": ["he"]})


def counts(*documents: str) -> WordCounts:
    return WordCounts.build(documents, [4] * len(documents), [[2, 0]] * len(documents), LEXICON)


def a_run(*documents: str, name: str = "run", queries: tuple[str, ...] = ("q",)) -> Run:
    rows = [(query, document) for query in queries for document in documents]
    scores = [float(len(rows) - place) for place in range(len(rows))]
    return Run.build([query for query, _ in rows], [document for _, document in rows], scores, name=name)


def notes(*arguments: object, **options: object) -> list[str]:
    (said,) = evaluate(*arguments, **options).notes.values()  # type: ignore[arg-type]
    return [note for note in said if not note.startswith(("words:", "background:"))]


def numbers(*arguments: object, **options: object) -> list[list[int]]:
    """Those of each note, in its order."""
    return [[int(n) for n in re.findall(r"\b\d+\b", note)] for note in notes(*arguments, **options)]


def test_missing_counts_are_counted_down_to_the_last_rank_that_is_read() -> None:
    run = a_run("a", "x", "b", "y")
    assert numbers(run, "FaiRR@3", words=counts("a", "b"), missing="neutral") == [[1, 3, 3]]
    assert numbers(run, "FaiRR", words=counts("a", "b"), missing="neutral") == [[2, 4]]
    assert notes(run, "FaiRR@3", words=counts("a", "x", "b"), missing="neutral") == []
    run = a_run("x", "a", "y", "b", "z", "c")
    assert numbers(run, "FaiRR@2", words=counts("a", "b", "c"), missing="drop") == [[2, 4, 2]]


def test_nothing_known_hints_at_the_ids() -> None:
    measure = "TExFAIR(rbdf=False)@10"
    (note,) = notes(a_run("1", "2"), measure, words=counts("D1", "D2"), missing="neutral")
    assert note.startswith("2 of 2")
    assert "ids" in note


def test_the_background_is_counted_too() -> None:
    background = a_run("a", "y", "z", "w", queries=("q", "p"))
    known = {"words": counts("a"), "missing": "neutral"}
    assert numbers(a_run("a", "x"), "NFaiRR@1", background=background, **known) == [[3, 4]]
    assert numbers(a_run("a"), "NFaiRR@1", background=["a", "b"], **known) == [[1, 2]]


def test_set_measures_do_not_look_at_the_list() -> None:
    background = ["a", "b"]
    assert notes(a_run("x"), "SetFaiRR@1", words=counts("a", "b"), background=background) == []


def test_groups_are_called_by_their_attribute_with_their_documents_and_targets() -> None:
    gender = Membership.build(Attribute("gender", ("f", "m")), ["a"], ["f"])
    defaults, groups, target, missing = notes(a_run("a", "x"), "GF(attr='gender')@5", groups=gender)
    assert "GF(attr='gender',decay='RBP')@5" in defaults
    assert "'gender'" in groups
    assert "f (1), m (0)" in groups
    assert "'gender': equal" in target
    (target,) = (
        note
        for note in notes(a_run("a"), "GF(attr='gender')@5", groups=gender.with_target([0.3, 0.7]))
        if "target" in note
    )
    assert "given, f 0.3, m 0.7" in target
    assert target in notes(a_run("a"), "AWRF@5", groups=gender.with_target([0.3, 0.7]))
    assert missing.startswith("1 of 2")
    assert "'gender'" in missing


def groups_of(groups: Membership) -> str:
    (said,) = (
        note for note in notes(a_run("a", "b"), "GF(attr='side')@5", groups=groups) if "groups of" in note
    )
    return said


def test_documents_that_belong_by_shares_are_counted_about() -> None:
    labels = {"a": "f", "b": "both", "c": "m", "d": "m"}
    shares = Membership.from_labels(Attribute("side", ("f", "m")), labels, even=["both"])
    assert "f (about 2), m (about 2)" in groups_of(shares)


def test_groups_found_in_labels_are_shown_with_a_way_to_choose() -> None:
    sides = Membership.from_labels("side", {"a": "for", "b": "against", "c": "off", "d": "for"})
    said = groups_of(sides)
    for named in ("for (2), against (1), off (1)", "values=", "even=", "ignore="):
        assert named in said
    said = notes(a_run("a"), "GF(attr='side')@5", groups=sides.with_target("collection"))
    assert any("catalogue, for 0.5, against 0.25, off 0.25" in note for note in said)


def test_many_groups_are_not_all_listed() -> None:
    shops = Membership.from_labels("side", {"a": "s", "b": "s", **{f"d{n}": f"s{n}" for n in range(39)}})
    said = groups_of(shops)
    assert said.count(" (") == 12 + 1  # and a hint
    assert "28 more" in said


def test_a_document_that_own_does_not_list_is_an_error() -> None:
    """Else it would belong equally to all groups, which is the opposite of a group of its own."""
    labels = {"a": "x", "b": "y", "c": None}
    shops = Membership.from_labels("shop", labels, unlabelled="own")
    assert shops.own
    assert not any("no group" in note for note in notes(a_run("a", "c"), "GF(attr='shop')@5", groups=shops))
    with pytest.raises(MissingEvidenceError, match=r"^1 of 2 .*missing='drop'"):
        notes(a_run("a", "z"), "GF(attr='shop')@5", groups=shops)
    dropped = numbers(a_run("a", "z"), "GF(attr='shop',missing='drop')@5", groups=shops)
    assert [1, 2, 5] in dropped


def test_each_note_once_however_many_measures() -> None:
    measures = "FaiRR@2 TExFAIR@2 0.5*AWRF@2 + 0.5*TED@2"
    assert numbers(a_run("a", "x"), measures, words=counts("a"), missing="neutral") == [[1, 2, 2]]


def test_the_rule_for_missing_evidence_reaches_nested_measures() -> None:
    known = {"words": counts("a")}
    nested = "RandomOrder(measure=TExFAIR,samples=2)@1"
    assert numbers(a_run("a", "x"), nested, missing="neutral", **known) == [[1, 2]]
    with pytest.raises(ParameterError, match=r"TExFAIR.*missing.*'error'.*'maybe'"):
        evaluate(a_run("a"), "RandomOrder(measure=TExFAIR)@1", missing="maybe", **known)  # type: ignore[arg-type]


def test_scores_are_found_by_the_name_that_was_asked_for() -> None:
    measures = "FaiRR@2 RandomOrder(samples=2)@2"
    scores = evaluate(a_run("a", "x"), measures, words=counts("a"), missing="neutral")
    assert scores.mean("FaiRR@2") == scores.mean("FaiRR(missing='neutral')@2")
    nested = "RandomOrder(measure=FaiRR(missing='neutral'),samples=2)@2"
    assert scores.block("RandomOrder(samples=2)@2") is scores.block(nested)
    with pytest.raises(ParameterError, match="FaiRR"):
        scores.mean("FaiRR(missing='drop')@2")
    both = evaluate(a_run("a", "x"), "FaiRR(missing='neutral') FaiRR(missing='drop')", words=counts("a"))
    with pytest.raises(ParameterError, match="FaiRR"):
        both.mean("FaiRR")


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        ({}, "itself 1"),
        ({"background_depth": 5}, "itself 1"),
        ({"background": "collection"}, "collection 3"),
        ({"background": a_run("a", "b", "c", name="bm25")}, "'bm25' 3"),
        ({"background": a_run("a", "b", "c", name="bm25"), "background_depth": 2}, "'bm25' 2 3"),
        ({"background": ["a", "b", "a"]}, "2"),
    ],
)
def test_the_background_is_named_with_its_depth(options: dict[str, object], facts: str) -> None:
    (said,) = evaluate(a_run("a"), "NFaiRR@1", words=counts("a", "b", "c"), **options).notes.values()  # type: ignore[arg-type]
    (note,) = [note for note in said if note.startswith("background:")]
    assert set(facts.split()) <= set(re.findall(r"'?\w+'?", note))


def test_a_background_run_is_cut_at_200_whether_given_or_its_own() -> None:
    """A neutral document below the cut does not raise the ideal."""
    biased = [f"f{place:03d}" for place in range(200)]
    run = a_run(*biased, "neutral", name="own")
    words = WordCounts.build([*biased, "neutral"], [4] * 201, [[3, 1]] * 200 + [[0, 0]], LEXICON)
    own = evaluate(run, "NFaiRR@1", words=words).mean("NFaiRR@1")
    given = evaluate(run, "NFaiRR@1", words=words, background=run).mean("NFaiRR@1")
    deeper = evaluate(run, "NFaiRR@1", words=words, background=run, background_depth=201).mean("NFaiRR@1")
    assert (own, given, deeper) == (1.0, 1.0, 0.5)
    why = explain(run, "NFaiRR@1", "q", words=words, background=run, background_depth=201)
    assert why.value == 0.5
    assert sum(note.startswith("background: ") for note in why.notes) == 1


def test_a_depth_that_means_nothing_is_refused() -> None:
    words = counts("a")
    with pytest.raises(ParameterError, match=r"background_depth.*0"):
        evaluate(a_run("a"), "NFaiRR@1", words=words, background_depth=0)
    with pytest.raises(ParameterError, match="background"):
        evaluate(a_run("a"), "NFaiRR@1", words=words, background=words, background_depth=5)


def test_what_words_were_counted_with_is_said(tmp_path: Path) -> None:
    path = tmp_path / "docs.tsv"
    path.write_text("a\tshe he\n")
    scan(path, LEXICON, tmp_path / "counts.parquet", tokenizer="whitespace")
    ((said,),) = evaluate(a_run("a"), "FaiRR@1", words=tmp_path / "counts.parquet").notes.values()
    for named in ("2 terms", "'two'", "female, male", "'whitespace'", str(path)):
        assert named in said
    (unread,) = evaluate(a_run("a"), "RR", qrels={"q": {"a": 1}}, words=counts("a")).notes.values()
    assert unread == ()


def test_words_from_a_file_or_an_error() -> None:
    with pytest.raises(InputTypeError, match=r"words=.*dict"):
        evaluate(a_run("a"), "FaiRR@1", words={"a": 1})  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"TermExposure@2.*terms=True"):
        evaluate(a_run("a"), "TermExposure@2", words=counts("a"))


@pytest.mark.parametrize(
    ("measure", "queries", "expected"),
    [
        ("RR", "134", []),
        ("RR", "53412", [2, 5]),
        ("RR@1", "125", [1, 3, 2]),
        ("RR@2", "15", []),
        ("RR@3", "15", [1, 2, 4]),
    ],
)
def test_equal_scores_are_those_within_a_list(measure: str, queries: str, expected: list[int]) -> None:
    lists = {"1": {"a": 3.0, "b": 2.0}, "2": {"c": 2.0, "d": 2.0, "e": 1.0}, "3": {"f": 2.0}, "4": {"g": 2.0}}
    lists["5"] = {"h": 9.0, "i": 8.0, "j": 7.0, "k": 7.0}
    chosen = {query: lists[query] for query in queries}
    qrels = {query: dict.fromkeys(documents, 1) for query, documents in chosen.items()}
    assert [found[: len(expected)] for found in numbers(chosen, measure, qrels=qrels)] == (
        [expected] if expected else []
    )


def test_whether_ids_are_the_same_is_seen_in_whole_lists() -> None:
    """What stands first in every list has no group, and what stands below has one."""
    run = a_run("x", "a", "b", queries=("q", "p"))
    groups = Membership.from_labels(Attribute("side", ("left", "right")), {"a": "left", "b": "right"})
    assert evaluate(run, "GF@3", groups=groups).mean("GF@3") > 0
    assert [2, 2, 1] in numbers(run, "GF@1", groups=groups)
    assert rerank(run, "DetCons@1", groups=groups).documents("q") == ["x", "a", "b"]
    other = a_run("x", "y", queries=("q", "p"))
    with pytest.raises(MissingEvidenceError, match="ids"):
        evaluate(other, "GF@1", groups=groups)
    with pytest.raises(MissingEvidenceError, match=r"\b4\b.*ids"):
        rerank(other, "DetCons@1", groups=groups)


def test_whether_anything_is_judged_is_seen_in_whole_lists() -> None:
    run = a_run("x", "a")
    assert notes(run, "RR@1", qrels={"q": {"a": 1}}) == []
    assert len(notes(run, "RR@1", qrels={"q": {"z": 1}})) == 1


def test_judgements_by_intent_that_are_none_are_said() -> None:
    assert len(notes(a_run("a"), "NRBP RR", intents={"q": {"0": {"a": 1}}})) == 2


def test_the_collection_by_name_is_that_of_the_words() -> None:
    words, run = WordCounts.build("abc", [4] * 3, [[3, 1], [2, 2], [0, 0]], LEXICON), a_run("a", "b")
    by_name = evaluate(run, "NFaiRR@1 NSetFaiRR@2", words=words, background="collection")
    assert by_name == evaluate(run, "NFaiRR@1 NSetFaiRR@2", words=words, background=words)
    why = explain(run, "NFaiRR@1", "q", words=words, background="collection")
    assert why.value == by_name.mean("NFaiRR@1")
    with pytest.raises(ParameterError, match=r"background='collection'.*words="):
        evaluate(run, "RR", qrels={"q": {"a": 1}}, background="collection")
    with pytest.raises(InputTypeError, match=r"'collection'.*'colection'"):
        evaluate(run, "NFaiRR@1", words=words, background="colection")


def test_a_measure_with_a_column_a_value_says_which_side_is_which() -> None:
    groups = Membership.from_labels(
        Attribute("size", ("small", "large")), {"a": "large", "b": "small", "c": "large"}
    )
    scores = evaluate(a_run("a", "b", "c"), "Skew@3 dGF@3", groups=groups)
    assert scores.mean("Skew@3", column="large") == pytest.approx(math.log(2 / 3 / 0.5))
    said = scores.notes["run"]
    assert any(note.startswith("Skew") and "above 0" in note for note in said)
    assert any(note.startswith("dGF") and re.search("'small'.*'large'", note) for note in said)
