"""What is said beside the numbers: missing evidence, the background, what words were counted with."""

from __future__ import annotations

import math
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
    parse_measure,
    rerank,
    scan,
)
from evenrank.errors import InputTypeError
from evenrank.inputs.coerce import with_options

LEXICON = Lexicon.build("two", {"female": ["she"], "male": ["he"]})
COUNTED = "words: 2 terms of lexicon 'two' (female, male), tokeniser 'word'"


def counts(*documents: str) -> WordCounts:
    return WordCounts.build(documents, [4] * len(documents), [[2, 0]] * len(documents), LEXICON)


def a_run(*documents: str, name: str = "run", queries: tuple[str, ...] = ("q",)) -> Run:
    rows = [(query, document) for query in queries for document in documents]
    scores = [float(len(rows) - place) for place in range(len(rows))]
    return Run.build([query for query, _ in rows], [document for _, document in rows], scores, name=name)


def notes(*arguments: object, **options: object) -> list[str]:
    (said,) = evaluate(*arguments, **options).notes.values()  # type: ignore[arg-type]
    return [note for note in said if not note.startswith(("words:", "background:"))]


def test_missing_counts_are_counted() -> None:
    run = a_run("a", "x", "b", "y")
    assert notes(run, "FaiRR@3", words=counts("a", "b"), missing="neutral") == [
        "1 of 3 ranked documents in the first 3 ranks have no word counts: counted as neutral"
    ]
    assert notes(run, "FaiRR", words=counts("a", "b"), missing="neutral") == [
        "2 of 4 ranked documents have no word counts: counted as neutral"
    ]
    assert notes(run, "FaiRR@3", words=counts("a", "x", "b"), missing="neutral") == []


def test_nothing_known_hints_at_the_ids() -> None:
    measure = "TExFAIR(rbdf=False)@10"
    assert notes(a_run("1", "2"), measure, words=counts("D1", "D2"), missing="neutral") == [
        "2 of 2 ranked documents in the first 10 ranks have no word counts: counted as neutral; "
        "are document ids written the same way in both?"
    ]


def test_dropped_documents_are_counted_down_to_the_last_that_is_read() -> None:
    run = a_run("x", "a", "y", "b", "z", "c")
    assert notes(run, "FaiRR@2", words=counts("a", "b", "c"), missing="drop") == [
        "2 of 4 ranked documents to fill the first 2 ranks have no word counts: left out"
    ]


def test_the_background_is_counted_too() -> None:
    background = a_run("a", "y", "z", "w", queries=("q", "p"))
    said = notes(a_run("a", "x"), "NFaiRR@1", words=counts("a"), background=background, missing="neutral")
    assert said == ["3 of 4 documents of the background have no word counts: counted as neutral"]
    said = notes(a_run("a"), "NFaiRR@1", words=counts("a"), background=["a", "b"], missing="neutral")
    assert said == ["1 of 2 documents of the background have no word counts: counted as neutral"]


def test_set_measures_do_not_look_at_the_list() -> None:
    background = ["a", "b"]
    assert notes(a_run("x"), "SetFaiRR@1", words=counts("a", "b"), background=background) == []


def test_groups_are_called_by_their_attribute() -> None:
    gender = Membership.build(Attribute("gender", ("f", "m")), ["a"], ["f"])
    assert notes(a_run("a", "x"), "GF(attr='gender')@5", groups=gender) == [
        # what decay=None has become is said as well
        "GF(attr='gender')@5 was computed as GF(attr='gender',decay='RBP')@5",
        "groups of 'gender' by their documents: f (1, target 0.5), m (0, target 0.5)",
        "1 of 2 ranked documents in the first 5 ranks have no groups of 'gender': "
        "counted as belonging equally to all groups",
    ]


def test_defaults_are_one_footnote_beside_the_other_notes() -> None:
    """What three measures became does not push a fourth note out of sight."""
    from evenrank.scores.notes import grouped_notes

    groups = [Membership.build(Attribute(name, ("f", "m")), ["a"], ["f"]) for name in ("one", "two", "three")]
    scores = evaluate(a_run("a", "x"), [f"GF(attr='{g.attribute.name}')@5" for g in groups], groups=groups)
    lines = grouped_notes(scores)
    (footnote,) = (line for line in lines if " was computed as " in line)
    assert footnote.count(" was computed as ") == 3
    assert len([line for line in lines if line != footnote and "more note" not in line]) == 5
    assert " was computed as " not in "".join(line for line in grouped_notes(scores, None)[:-1])


def test_documents_that_belong_by_shares_are_counted_about() -> None:
    labels = {"a": "f", "b": "both", "c": "m", "d": "m"}
    shares = Membership.from_labels(Attribute("side", ("f", "m")), labels, even=["both"])
    (said,) = (n for n in notes(a_run("a"), "GF(attr='side')@5", groups=shares) if "groups of" in n)
    assert "f (about 2, target 0.5), m (about 2, target 0.5)" in said


def test_groups_found_in_labels_are_shown_with_a_way_to_choose() -> None:
    sides = Membership.from_labels("side", {"a": "for", "b": "against", "c": "off", "d": "for"})
    (said,) = (
        note for note in notes(a_run("a", "b"), "GF(attr='side')@5", groups=sides) if "groups of" in note
    )
    assert said == (
        "groups of 'side' by their documents: for (2, target 0.3333), against (1, target 0.3333), "
        "off (1, target 0.3333). These are all the labels found: if some are not groups, name the groups "
        "with "
        "values= and say what the other labels are with even= or ignore= (in the shell "
        "FILE:values=..:ignore=..)"
    )
    (said,) = (
        note
        for note in notes(a_run("a", "b"), "GF(attr='side')@5", groups=sides.with_target("collection"))
        if "groups of" in note
    )
    assert said.startswith("groups of 'side' by their documents: for (2), against (1), off (1); target 'coll")


def test_many_groups_are_not_all_listed() -> None:
    shops = Membership.from_labels("shop", {f"d{n}": f"s{n}" for n in range(40)})
    (said,) = (
        note for note in notes(a_run("d1", "d2"), "GF(attr='shop')@5", groups=shops) if "groups of" in note
    )
    assert "s11 (1, target 0.025) and 28 more." in said


def test_a_document_that_own_does_not_list_is_an_error() -> None:
    """Else it would belong equally to all groups, which is the opposite of a group of its own."""
    labels = {"a": "x", "b": "y", "c": None}
    shops = Membership.from_labels("shop", labels, unlabelled="own")
    assert shops.own
    assert not any("have no groups" in n for n in notes(a_run("a", "c"), "GF(attr='shop')@5", groups=shops))
    with pytest.raises(MissingEvidenceError, match=r"1 of 2 ranked documents .*'own'.*missing='drop'"):
        notes(a_run("a", "z"), "GF(attr='shop')@5", groups=shops)
    said = notes(a_run("a", "z"), "GF(attr='shop',missing='drop')@5", groups=shops)
    assert "1 of 2 ranked documents to fill the first 5 ranks have no groups of 'shop': left out" in said


def test_each_note_once_however_many_measures() -> None:
    said = notes(
        a_run("a", "x"), "FaiRR@2 TExFAIR@2 0.5*AWRF@2 + 0.5*TED@2", words=counts("a"), missing="neutral"
    )
    assert said == ["1 of 2 ranked documents in the first 2 ranks have no word counts: counted as neutral"]


def test_the_rule_reaches_nested_measures() -> None:
    (measure,) = with_options([parse_measure("RandomOrder(measure=TExFAIR)@10")], None, "drop")
    assert repr(measure) == "RandomOrder(measure=TExFAIR(missing='drop'))@10"
    said = notes(
        a_run("a", "x"), "RandomOrder(measure=TExFAIR,samples=2)@1", words=counts("a"), missing="neutral"
    )
    assert said == ["1 of 2 ranked documents have no word counts: counted as neutral"]
    with pytest.raises(ParameterError, match=r"TExFAIR: missing must be one of 'error', .* got 'maybe'"):
        evaluate(a_run("a"), "RandomOrder(measure=TExFAIR)@1", words=counts("a"), missing="maybe")


def test_scores_are_found_by_the_name_that_was_asked_for() -> None:
    scores = evaluate(
        a_run("a", "x"), "FaiRR@2 RandomOrder(samples=2)@2", words=counts("a"), missing="neutral"
    )
    assert scores.mean("FaiRR@2") == scores.mean("FaiRR(missing='neutral')@2")
    nested = "RandomOrder(measure=FaiRR(missing='neutral'),samples=2)@2"
    assert scores.block("RandomOrder(samples=2)@2") is scores.block(nested)
    with pytest.raises(ParameterError, match="was not evaluated"):
        scores.mean("FaiRR(missing='drop')@2")
    both = evaluate(a_run("a", "x"), "FaiRR(missing='neutral') FaiRR(missing='drop')", words=counts("a"))
    with pytest.raises(ParameterError, match="FaiRR was not evaluated"):
        both.mean("FaiRR")


def background_note(**options: object) -> str:
    (said,) = evaluate(a_run("a"), "NFaiRR@1", words=counts("a", "b", "c"), **options).notes.values()  # type: ignore[arg-type]
    (note,) = [note for note in said if note.startswith("background:")]
    return note


def test_the_background_is_named_with_its_depth() -> None:
    deep = a_run("a", "b", "c", name="bm25")
    assert background_note() == "background: the run itself, 1 document deep"
    assert background_note(background_depth=5) == "background: the run itself, 1 document deep"
    own = evaluate(deep, "NFaiRR@1", words=counts("a", "b", "c"), background_depth=2)
    assert "background: the run's own first 2 documents of 3" in own.notes["bm25"]
    assert background_note(background="collection") == "background: the whole collection, 3 documents"
    assert background_note(background=deep) == "background: run 'bm25', 3 documents deep"
    assert (
        background_note(background=deep, background_depth=2)
        == "background: the first 2 documents of run 'bm25', which is 3 deep"
    )
    assert background_note(background=["a", "b", "a"]) == "background: 2 documents, the same for every query"


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
    assert why.notes.count("background: run 'own', 201 documents deep") == 1


def test_a_depth_that_means_nothing_is_refused() -> None:
    words = counts("a")
    with pytest.raises(ParameterError, match="background_depth must be an integer >= 1, got 0"):
        evaluate(a_run("a"), "NFaiRR@1", words=words, background_depth=0)
    with pytest.raises(ParameterError, match="the background is not a run"):
        evaluate(a_run("a"), "NFaiRR@1", words=words, background=words, background_depth=5)


def test_what_words_were_counted_with_is_said(tmp_path: Path) -> None:
    path = tmp_path / "docs.tsv"
    path.write_text("a\tshe he\n")
    scan(path, LEXICON, tmp_path / "counts.parquet", tokenizer="whitespace")
    (said,) = evaluate(a_run("a"), "FaiRR@1", words=tmp_path / "counts.parquet").notes.values()
    assert said == (f"words: 2 terms of lexicon 'two' (female, male), tokeniser 'whitespace', in {path}",)
    (said,) = evaluate(a_run("a"), "RR", qrels={"q": {"a": 1}}, words=counts("a")).notes.values()
    assert said == ()  # nobody read them


def test_words_from_a_file_or_a_clear_error(tmp_path: Path) -> None:
    scan([("a", "she he")], LEXICON, tmp_path / "counts.parquet")
    values = [
        evaluate(a_run("a"), "FaiRR@1", words=words).mean("FaiRR@1")
        for words in (tmp_path / "counts.parquet", str(tmp_path / "counts.parquet"))
    ]
    assert values == [1.0, 1.0]
    assert explain(a_run("a"), "FaiRR@1", "q", words=tmp_path / "counts.parquet").value == 1.0
    with pytest.raises(
        TypeError,
        match="words= takes word counts, as scan gives, or the file or folder that it wrote; got dict",
    ):
        evaluate(a_run("a"), "FaiRR@1", words={"a": 1})  # type: ignore[arg-type]


def test_terms_that_were_not_counted() -> None:
    match = r"TermExposure@2: the counts are not by term: scan again with terms=True$"
    with pytest.raises(ParameterError, match=match):
        evaluate(a_run("a"), "TermExposure@2", words=counts("a"))


def test_equal_scores_are_those_within_a_list() -> None:
    lists = {
        "q1": {"a": 3.0, "b": 2.0},
        "q2": {"c": 2.0, "d": 2.0, "e": 1.0},
        "q3": {"f": 2.0},
        "q4": {"g": 2.0},
    }
    lists["q5"] = {"h": 9.0, "i": 8.0, "j": 7.0, "k": 7.0}

    def said(measure: str, *queries: str) -> list[str]:
        chosen = {query: lists[query] for query in queries}
        qrels = {query: dict.fromkeys(documents, 1) for query, documents in chosen.items()}
        return notes(chosen, measure, qrels=qrels)

    assert said("RR", "q1", "q3", "q4") == []
    assert said("RR", "q5", "q3", "q4", "q1", "q2")[0].startswith("2 of 5 lists have equal scores, ")
    assert said("RR@1", "q1", "q2", "q5")[0].startswith(
        "1 of 3 lists have equal scores within the first 2 ranks"
    )
    assert said("RR@2", "q1", "q5") == []
    assert said("RR@3", "q1", "q5")[0].startswith("1 of 2 lists have equal scores within the first 4 ranks")


def test_whether_ids_are_the_same_is_seen_in_whole_lists() -> None:
    """What stands first in every list has no group, and what stands below has one."""
    run = a_run("x", "a", "b", queries=("q", "p"))
    groups = Membership.from_labels(Attribute("side", ("left", "right")), {"a": "left", "b": "right"})
    assert evaluate(run, "GF@3", groups=groups).mean("GF@3") > 0
    said = notes(run, "GF@1", groups=groups)
    assert any(note.startswith("2 of 2 ranked documents in the first 1 ranks") for note in said)
    assert not any("written the same way" in note for note in said)
    assert rerank(run, "DetCons@1", groups=groups).documents("q") == ["x", "a", "b"]
    other = a_run("x", "y", queries=("q", "p"))
    with pytest.raises(MissingEvidenceError, match="are document ids written the same way"):
        evaluate(other, "GF@1", groups=groups)
    with pytest.raises(MissingEvidenceError, match=r"none of the 4 ranked documents .* written the same way"):
        rerank(other, "DetCons@1", groups=groups)


def test_whether_anything_is_judged_is_seen_in_whole_lists() -> None:
    run = a_run("x", "a")
    assert notes(run, "RR@1", qrels={"q": {"a": 1}}) == []
    assert any(
        "none of the ranked documents is judged" in note for note in notes(run, "RR@1", qrels={"q": {"z": 1}})
    )


def test_the_collection_by_name_is_that_of_the_words() -> None:
    words, run = WordCounts.build("abc", [4] * 3, [[3, 1], [2, 2], [0, 0]], LEXICON), a_run("a", "b")
    by_name = evaluate(run, "NFaiRR@1 NSetFaiRR@2", words=words, background="collection")
    assert by_name == evaluate(run, "NFaiRR@1 NSetFaiRR@2", words=words, background=words)
    assert explain(run, "NFaiRR@1", "q", words=words, background="collection").value == by_name.mean(
        "NFaiRR@1"
    )
    with pytest.raises(ParameterError, match=r"background='collection' .* pass words= too"):
        evaluate(run, "RR", qrels={"q": {"a": 1}}, background="collection")
    with pytest.raises(InputTypeError, match="a list of document ids or 'collection', got 'colection'"):
        evaluate(run, "NFaiRR@1", words=words, background="colection")


def test_a_measure_with_a_column_a_value_says_which_side_is_which() -> None:
    groups = Membership.from_labels(
        Attribute("size", ("small", "large")), {"a": "large", "b": "small", "c": "large"}
    )
    scores = evaluate(a_run("a", "b", "c"), "Skew@3 dGF@3", groups=groups)
    assert scores.mean("Skew@3", column="large") == pytest.approx(math.log(2 / 3 / 0.5))
    (said,) = [note for note in scores.notes["run"] if note.startswith("Skew@3(") or note.startswith("Skew(")]
    assert said.endswith(": above 0 the value of the column has more than its target, below 0 less")
    assert any(
        "positive where documents of 'small' get more than those of 'large'" in note
        for note in scores.notes["run"]
    )
