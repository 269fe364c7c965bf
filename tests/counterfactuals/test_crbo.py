"""Lists before and after a swap: what moves, what does not, and one document at a time."""

from __future__ import annotations

import re

import pytest

import evenrank as er
from evenrank.counterfactuals.experiment import Experiment, changes, replaced
from evenrank.counterfactuals.lists import after_pieces, before_pieces, sheets, shortened
from evenrank.counterfactuals.single import Move, one_at_a_time
from evenrank.counterfactuals.swap import make_swapper
from evenrank.counterfactuals.table import ALL, SwapRow, merged, moves_table, system_table
from evenrank.errors import EvenrankWarning, InputTypeError
from evenrank.sample import load
from evenrank.systems import make_system

pytestmark = pytest.mark.needs("bm25s")

SAMPLE = load()
WORD = re.compile(r"\w+")
TEXTS = {
    "d1": "The nurse said that she would come.",
    "d2": "He is an engineer, and he is late.",
    "d3": "Nobody is late today.",
    "d4": "She is an engineer, and so is he.",
}
QUERIES = {"q1": "is he an engineer", "q2": "nobody today"}


def likes_men(documents: dict[str, str], queries: dict[str, str]) -> dict[str, dict[str, float]]:
    """A system that puts first who says "he" most often."""
    count = {key: WORD.findall(text.lower()).count("he") for key, text in documents.items()}
    return {query: {key: float(count[key]) for key in documents} for query in queries}


def test_a_system_that_likes_men_is_found_out() -> None:
    result = er.counterfactual(likes_men, TEXTS, queries=QUERIES, tagger="rules")
    assert result.original.documents("q1") == ["d2", "d4", "d3", "d1"]
    assert result.swapped.documents("q1") == ["d4", "d1", "d3", "d2"]
    expected = er.evaluate(result.original, "RBO(p=0.9)@10", against=result.swapped).mean("RBO@10")
    assert result.crbo == expected < 1
    assert set(result.changed) == {"d1", "d2", "d4"}
    assert "3 of 4 documents changed" in repr(result)
    assert [query for query, _ in result.moved()] == ["q1", "q2"]
    assert result.to_table().rows[0][2] == result.crbo
    assert result._repr_html_() == result.to_table().to_html()


def test_a_function_of_the_documents_alone_in_five_lines() -> None:
    def mine(documents: dict[str, str]) -> dict[str, dict[str, float]]:
        return likes_men(documents, QUERIES)

    result = er.counterfactual(mine, TEXTS, tagger="rules")
    assert result.crbo == er.counterfactual(likes_men, TEXTS, queries=QUERIES, tagger="rules").crbo


def test_the_interval_is_that_of_the_scores() -> None:
    result = er.counterfactual(likes_men, SAMPLE.documents, queries=SAMPLE.queries, tagger="rules")
    assert result.interval == result.scores.interval("RBO@10")
    few = er.counterfactual(likes_men, TEXTS, queries=QUERIES, tagger="rules")
    assert "CRBO" in repr(few)
    assert "nan" not in repr(few) + system_table([SwapRow("few", ALL, few, {})]).to_text()


def test_an_indifferent_system_has_one() -> None:
    def by_id(documents: dict[str, str], queries: dict[str, str]) -> dict[str, dict[str, float]]:
        return {query: {key: float(key[1:]) for key in documents} for query in queries}

    result = er.counterfactual(by_id, TEXTS, queries=QUERIES, tagger="rules")
    assert result.crbo == 1
    assert result.moved() == []


def test_a_bijection_moves_no_list_of_bm25_for_queries_without_group_words() -> None:
    """Words change places, and with them all that BM25 counts."""
    result = er.counterfactual(
        "bm25", SAMPLE.documents, queries=SAMPLE.queries, kinds=["nouns"], tagger="rules"
    )
    assert len(result.changed) > 100
    swapped = changes(SAMPLE.queries, make_swapper(kinds=["nouns"], tagger="rules"))
    same = [query for query, value in result.scores.to_dict()["bm25"]["RBO@10"].items() if value > 1 - 1e-9]
    assert set(SAMPLE.queries) - set(swapped) <= set(same)


def test_swapping_the_query_too_brings_the_lists_back() -> None:
    """Of words that are swapped one for one, in documents and in queries, BM25 sees nothing."""
    documents = {"d1": "The father waits.", "d2": "The mother waits.", "d3": "Mother and mother."}
    queries = {"q": "father"}
    given = {"queries": queries, "kinds": ["nouns"], "tagger": "rules"}
    alone = er.counterfactual("bm25", documents, **given)
    both = er.counterfactual("bm25", documents, **given, swap_queries=True)
    assert alone.crbo < 1
    assert alone.queries == {}
    assert both.crbo == pytest.approx(1)
    assert both.queries["q"].text == "mother"


def test_kinds_alone() -> None:
    trial = Experiment(make_system(likes_men), TEXTS, QUERIES)
    pronouns = trial.swap(make_swapper(kinds=["pronouns"], tagger="rules"))
    assert pronouns.crbo < 1
    with pytest.warns(EvenrankWarning, match="the swap changed no document"):
        names = trial.swap(make_swapper(kinds=["names"], tagger="rules"))
    assert names.crbo == 1


def test_wrong_arguments() -> None:
    with pytest.raises(InputTypeError, match="without queries= the system is a function"):
        er.counterfactual("bm25", TEXTS)
    with pytest.raises(er.ParameterError, match="swap_queries needs queries="):
        er.counterfactual(lambda documents: {}, TEXTS, swap_queries=True)
    with pytest.raises(er.ParameterError, match="p must be a number > 0 and < 1"):
        er.counterfactual(likes_men, TEXTS, queries=QUERIES, p=1.0)


def test_one_document_at_a_time() -> None:
    trial = Experiment(make_system(likes_men), TEXTS, QUERIES)
    told: list[tuple[str, int, int]] = []
    moves = one_at_a_time(trial, make_swapper(tagger="rules"), progress=lambda *said: told.append(said))
    # before: d2 has two, d4 one, d3 and d1 none (by id, descending)
    expected = {
        ("q1", "d2", 1, 3),  # nobody says she here; d3 and d1 stay: d4, d3, d2, d1
        ("q1", "d4", 2, 2),  # one he for one she: nothing
        ("q1", "d1", 4, 3),  # now has one, behind d4 by id
    }
    assert {tuple(move) for move in moves if move.query == "q1"} == expected
    assert moves[0].document == "d2"
    assert moves[0].by == 2
    assert told[-1] == ("swapping one document at a time", 3, 3)
    some = one_at_a_time(trial, make_swapper(tagger="rules"), at_most=1)
    assert {move.document for move in some} == {"d2"}


def test_a_document_that_falls_out_of_the_list() -> None:
    trial = Experiment(make_system("bm25"), TEXTS, {"q": "he"}, depth=2)
    moves = one_at_a_time(trial, make_swapper(tagger="rules"))
    assert Move("q", "d2", 1, None) in moves
    assert moves[0].by is None
    assert "gone" in moves_table("bm25", moves, 5).to_text()
    assert "bm25\tq\td2\t1\t\n" in moves_table("bm25", moves, 0).to_tsv()


def row() -> SwapRow:
    result = er.counterfactual(likes_men, TEXTS, queries=QUERIES, tagger="rules")
    return SwapRow("a\x1b[2Jb", ALL, result, {"TExFAIR@10": 0.5})


def test_tables() -> None:
    found = row()
    head, line, meaning, note = system_table([found]).to_text(200).splitlines()
    assert meaning.startswith("CRBO of 1")
    assert note == "no interval: fewer than 5 queries have a value"
    assert head.split() == ["system", "swapped", "CRBO", "95%", "interval", "queries", "TExFAIR@10"]
    assert line.startswith("a\\x1b[2Jb")
    assert f"{found.result.crbo:.4f}" in line
    names, values = (text.split("\t") for text in system_table([found]).to_tsv().splitlines())
    assert dict(zip(names, values, strict=True))["documents_changed"] == "3"
    assert '"crbo": ' in system_table([found]).to_jsonl()
    scores = merged([found, found._replace(swapped="names")])
    assert scores.runs == ("a\x1b[2Jb", "a\x1b[2Jb (names)")
    assert scores.mean("RBO@10", "a\x1b[2Jb") == found.result.crbo


def test_pieces_of_texts() -> None:
    swapped = make_swapper(tagger="rules").swap("He saw her father.")
    assert before_pieces("He saw her father.", swapped) == [
        ("He", True), (" saw ", False), ("her", True), (" ", False), ("father", True), (".", False),
    ]  # fmt: skip
    assert "".join(text for text, _ in after_pieces(swapped)) == swapped.text
    assert [text for text, marked in after_pieces(swapped) if marked] == ["She", "his", "mother"]
    assert shortened([("abc", False), ("def", True)], 4) == [("abc", False), ("d", True), (" …", False)]
    assert shortened([("abc", False), ("d", True)], 4) == [("abc", False), ("d", True)]
    assert shortened([("abcd", False), ("e", True)], 4) == [("… ", False), ("d", False), ("e", True)]
    far = shortened([("some words " * 50, False), ("he", True), (" left" * 200, False)], 100)
    assert far[:3] == [("… ", False), ("some words some words ", False), ("he", True)]
    assert sum(len(text) for text, _ in far) == 100 + len("…  …")


@pytest.mark.needs("jinja2")
def test_a_page_holds_nothing_that_runs() -> None:
    from evenrank.report.counterfactual_page import page_of

    texts = TEXTS | {"d<5>": "<script>alert('he')</script> & he"}
    result = er.counterfactual(likes_men, texts, queries={"q": "<img src=x onerror=he>"}, tagger="rules")
    found = SwapRow("<b>mine</b>", ALL, result, {})
    page = page_of(sheets([found], texts, {"q": "<img src=x onerror=he>"}, 10, 5))
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;alert(&#39;<mark>he</mark>&#39;)&lt;/script&gt; &amp; <mark>he</mark>" in page
    assert "default-src 'none'" in page.replace("&#39;", "'")
    assert "script-src" not in page
    assert page.count("<mark>she</mark>") >= 2
    assert "then 5" in page  # where the first document went


def test_replaced_keeps_the_order_and_the_rest() -> None:
    changed = changes(TEXTS, make_swapper(tagger="rules"))
    new = replaced(TEXTS, changed)
    assert list(new) == list(TEXTS)
    assert new["d3"] == TEXTS["d3"]
    assert new["d2"] == "She is an engineer, and she is late."
