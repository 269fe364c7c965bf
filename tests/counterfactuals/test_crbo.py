"""Lists before and after a swap: what moves, what does not, and one document at a time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import evenrank as er
from evenrank.cli import main
from evenrank.counterfactuals.swap import make_swapper
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
    assert result.swapped.name != result.original.name
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
    assert "nan" not in repr(few) + few.to_table().to_text()


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
    swapper = make_swapper(kinds=["nouns"], tagger="rules")
    swapped = [query for query, text in SAMPLE.queries.items() if swapper.swap(text).changes]
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
    known = {"queries": QUERIES, "tagger": "rules"}
    assert er.counterfactual(likes_men, TEXTS, kinds=["pronouns"], **known).crbo < 1
    with pytest.warns(EvenrankWarning, match="no document"):
        names = er.counterfactual(likes_men, TEXTS, kinds=["names"], **known)
    assert names.crbo == 1


def test_wrong_arguments() -> None:
    with pytest.raises(InputTypeError, match="queries="):
        er.counterfactual("bm25", TEXTS)
    with pytest.raises(er.ParameterError, match="queries="):
        er.counterfactual(lambda documents: {}, TEXTS, swap_queries=True)
    with pytest.raises(er.ParameterError, match=r"\bp\b"):
        er.counterfactual(likes_men, TEXTS, queries=QUERIES, p=1.0)


@pytest.mark.parametrize("depth", [2, 3])
def test_one_document_at_a_time_is_ranked_as_if_it_alone_were_swapped(depth: int, tmp_path: Path) -> None:
    queries, documents = {"q1": "he is late", "q2": "she come", "q3": "he"}, tmp_path / "d.tsv"
    documents.write_text("".join(f"{key}\t{text}\n" for key, text in TEXTS.items()))
    (tmp_path / "q.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in queries.items()))
    command = ["counterfactual", "rank", str(documents), str(tmp_path / "q.tsv"), "--tagger", "rules"]
    command += ["--depth", str(depth), "--details", str(tmp_path / "moves.tsv")]
    assert main([*command, "--one-at-a-time", "9"]) == 0
    rows = [tuple(line.split("\t")) for line in (tmp_path / "moves.tsv").read_text().splitlines()]
    swapper, system = make_swapper(tagger="rules"), make_system("bm25")

    def lists(texts: dict[str, str]) -> dict[str, list[str]]:
        system.index(texts)
        run = system.retrieve(queries, 200)
        return {query: run.documents(query) for query in queries if query in run}

    before, expected = lists(TEXTS), []
    for document, text in TEXTS.items():
        if (new := swapper.swap(text).text) == text:
            continue
        after = lists(TEXTS | {document: new})
        for query, ranked in before.items():
            if document in ranked[:depth]:
                own = after.get(query, [])
                place = str(own.index(document) + 1) if document in own else ""
                expected.append(("bm25", query, document, str(ranked.index(document) + 1), place))
    expected.sort(key=lambda row: (-(int(row[4] or 201) - int(row[3])), row[1], row[2]))
    assert rows[1:] == expected
    assert any(row[4] == "" for row in expected)
    assert main([*command, "--one-at-a-time", "1"]) == 0
    some = (tmp_path / "moves.tsv").read_text().splitlines()[1:]
    assert len({line.split("\t")[2] for line in some}) == 1


@pytest.mark.needs("jinja2")
def test_a_page_holds_nothing_that_runs(tmp_path: Path) -> None:
    texts = TEXTS | {"d<5>": "<script>alert('he')</script> & he"}
    (tmp_path / "d.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in texts.items()))
    (tmp_path / "q.tsv").write_text("<b>q</b>\t<img src=x onerror=he>\n")
    command = [
        "counterfactual",
        "rank",
        str(tmp_path / "d.tsv"),
        str(tmp_path / "q.tsv"),
        "--tagger",
        "rules",
    ]
    assert main([*command, "--page", str(tmp_path / "p.html")]) == 0
    page = (tmp_path / "p.html").read_text()
    for tag in ("<script>", "<img", "<b>", "<5>"):
        assert tag not in page
    assert "&lt;script&gt;alert(&#39;<mark>he</mark>&#39;)&lt;/script&gt; &amp; <mark>he</mark>" in page
    assert "default-src 'none'" in page.replace("&#39;", "'")
    assert "script-src" not in page
    assert "<mark>she</mark>" in page
