"""What other tools call columns and hand over, separators in the wrong place, and queries that are texts."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenrank import (
    Attribute,
    DataError,
    EvenrankWarning,
    evaluate,
    read_groups,
    read_lexicon,
    read_polarity,
    read_qrels,
    read_run,
)
from evenrank.engines import ask
from evenrank.io.ratings import read_ratings
from evenrank.io.targets import read_target

Evenrank = Callable[..., Any]
RUN = {"u1": {"b": 2.0, "a": 1.0}, "u2": {"a": 3.0}}
COLUMNS = ["u1", "u1", "u2"], ["a", "b", "a"], [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "names",
    [
        ("user_id", "item_id", "score"),  # LensKit
        ("userID", "itemID", "prediction"),  # Recommenders
        ("q_id", "doc_id", "score"),  # ranx
        ("QID", "DocNo", "Score"),
        ("search term", "sku", "score"),
        ("Query ID", "Product ID", "SIM"),
    ],
)
def test_runs_under_the_names_of_other_tools(names: tuple[str, ...]) -> None:
    table = dict(zip(names, COLUMNS, strict=True))
    assert read_run(pd.DataFrame(table)).to_dict() == RUN
    text = pl.DataFrame(table).write_csv()
    for separator, format in ((",", "csv"), ("\t", "tsv")):
        held = io.StringIO(text.replace(",", separator))
        assert read_run(held, format=format).to_dict() == RUN


def test_judgements_under_the_names_of_other_tools() -> None:
    for names in (("query", "docid", "rating"), ("q_id", "doc_id", "rel"), ("QID", "Doc ID", "Relevance")):
        table = pl.DataFrame(dict(zip(names, (["q"], ["d"], [2]), strict=True)))
        assert read_qrels(table).to_dict() == {"q": {"d": 2}}
    rated = pl.DataFrame({"userID": ["u"], "itemID": ["i"], "rating": [3.5]})
    assert read_ratings(rated).to_dict() == {"u": {"i": 3.5}}


def test_our_own_names_come_before_those_of_others() -> None:
    table = {"user_id": ["x"], "query": ["q"], "item": ["y"], "document": ["d"], "score": [1.0]}
    assert read_run(pl.DataFrame({**table, "prediction": [9.0]})).to_dict() == {"q": {"d": 1.0}}


def test_tuples_of_ir_measures() -> None:
    import ir_measures

    scored = [ir_measures.ScoredDoc(*row) for row in zip(*COLUMNS, strict=True)]
    assert read_run(scored).to_dict() == RUN
    judged = [ir_measures.Qrel("q", "d", 2), ir_measures.Qrel("q", "e", 0)]
    assert read_qrels(judged).to_dict() == {"q": {"d": 2, "e": 0}}
    by_intent = [ir_measures.Qrel("q", "d", 2, "x"), ir_measures.Qrel("q", "d", 1, "y")]
    assert read_qrels(by_intent, diversity=True).to_dict() == {"q": {"x": {"d": 2}, "y": {"d": 1}}}
    with pytest.raises(DataError, match=r"row 2: .*'d'"):
        read_qrels(by_intent)


@pytest.mark.parametrize(
    ("text", "format", "named"),
    [
        ("query;document;score\nq;a;0,5\n", "csv", "';'"),
        ("query\tdocument\tscore\nq\ta\t1\n", "csv", "format='tsv'"),
        ("query,document,score\nq,a,1\n", "tsv", "format='csv'"),
        ("query|document|score\nq|a|1\n", "csv", "'|'"),
        ("query,document,score\nq,a,1\n", "trec", "format='csv'"),
    ],
)
def test_a_separator_in_the_wrong_place_is_named(text: str, format: str, named: str) -> None:
    with pytest.raises(DataError, match=r"<file>:1: ") as caught:
        read_run(io.StringIO(text), format=format)
    assert named in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_the_way_out_of_a_file_without_a_header_leads_out() -> None:
    lines = "q Q0 a 1 2.0 t\nq Q0 b 2 1.0 t\n"
    run = {"q": {"a": 2.0, "b": 1.0}}
    for separator, format in ((" ", "csv"), ("\t", "tsv"), (" ", "tsv")):
        with pytest.raises(DataError, match=r"<file>:1: .*format='trec'"):
            read_run(io.StringIO(lines.replace(" ", separator)), format=format)
        assert read_run(io.StringIO(lines.replace(" ", separator)), format="trec").to_dict() == run
    for format in ("csv", "trec"):
        with pytest.raises(DataError, match=r"<file>:1: .*query,Q0,document,rank,score,tag") as caught:
            read_run(io.StringIO(lines.replace(" ", ",")), format=format)
        assert "format=" not in str(caught.value)
    held = io.StringIO("query,Q0,document,rank,score,tag\n" + lines.replace(" ", ","))
    assert read_run(held, format="csv").to_dict() == run
    with pytest.raises(DataError, match="query,iteration,document,grade"):
        read_qrels(io.StringIO("q,0,a,1\nq,0,b,0\n"), format="csv")


def test_a_query_that_is_a_text_is_the_same_in_every_file(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = read_run(io.StringIO("query,document,score\nred lamp,a,2\nred  lamp ,b,1\nrug,a,1\n"), format="csv")
    lamp = next(iter(run))
    assert " " not in lamp
    assert run.to_dict() == {lamp: {"a": 2.0, "b": 1.0}, "rug": {"a": 1.0}}
    assert list(read_run({"red lamp": {"a": 1.0}})) == [
        "red lamp"
    ]  # keys in Python are ids, whatever they hold
    judged = {"search term": ["red lamp", "rug"], "sku": ["a", "a"]}
    assert list(read_qrels(pl.DataFrame({**judged, "rating": [1, 0]}))) == [lamp, "rug"]
    assert read_polarity(pd.DataFrame({**judged, "polarity": [1.0, 0.5]})).query_ids == (lamp, "rug")
    groups = pd.DataFrame({"query": ["red lamp", "rug"], "doc": ["a", "a"], "side": ["x", "y"]})
    assert read_groups(groups, "side").query_ids == (lamp, "rug")

    (tmp_path / "run.csv").write_text("search term,sku,position\nred lamp,a,1\nred lamp,b,2\nrug,a,1\n")
    (tmp_path / "clicks.csv").write_text("query,document,rank,clicks,impressions\nred lamp,b,2,50,100\n")
    (tmp_path / "queries.csv").write_text("search term\nred lamp\nrug\n")
    (tmp_path / "case.toml").write_text("data.qrels = { file = 'clicks.csv', kind = 'clicks' }")
    done = evenrank(
        "evaluate", "run.csv", "-m", "RR", "--project", "case.toml", "--queries", "queries.csv",
        "--view", "queries", "--format", "jsonl",
    )  # fmt: skip
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert {row["query"]: row["value"] for row in rows if row.get("query")} == {lamp: 0.5, "rug": None}


def test_lists_of_lenskit() -> None:
    class ItemListCollection:
        """What LensKit calls it, with the columns that it gives."""

        def to_df(self) -> pd.DataFrame:
            return pd.DataFrame(dict(zip(("user_id", "item_id", "score"), COLUMNS, strict=True)))

    ItemListCollection.__module__ = "lenskit.data"
    assert read_run(ItemListCollection()).to_dict() == RUN


@pytest.mark.needs("lenskit")
def test_real_lists_of_lenskit() -> None:
    from lenskit.data import ItemList, ItemListCollection, UserIDKey

    lists, rated = ItemListCollection(UserIDKey), ItemListCollection(UserIDKey)
    lists.add(ItemList(["b", "a"], scores=[2.0, 1.0], ordered=True), user_id="u1")
    lists.add(ItemList(["a"], scores=[3.0], ordered=True), user_id="u2")
    rated.add(ItemList(["a", "b"], rating=[2.0, 1.0]), user_id="u1")
    rated.add(ItemList(["a"], rating=[1.0]), user_id="u2")
    assert read_run(lists).to_dict() == RUN
    assert read_qrels(rated).to_dict() == {"u1": {"a": 2, "b": 1}, "u2": {"a": 1}}
    assert evaluate(lists, "P(rel=2)@1", qrels=rated).mean("P(rel=2)@1") == 0.0


@pytest.mark.needs("ranx")
def test_real_runs_and_judgements_of_ranx() -> None:
    import ranx

    run = read_run(ranx.Run(RUN, name="bm25"))
    assert (run.name, run.to_dict()) == ("bm25", RUN)
    judged = {"u1": {"a": 2, "b": 1}, "u2": {"a": 1}}
    assert read_qrels(ranx.Qrels(judged)).to_dict() == judged
    assert evaluate(ranx.Run(RUN), "RR(rel=2)", qrels=ranx.Qrels(judged)).mean("RR(rel=2)") == 0.5


@pytest.mark.needs("ir_datasets")
def test_queries_and_judgements_of_a_data_set(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ir_datasets

    monkeypatch.chdir(tmp_path)
    Path("d.tsv").write_text("d1\ta red lamp\nd2\ta rug\n")
    Path("q.tsv").write_text("7\tlamp\n8\trug\n")
    Path("qrels.txt").write_text("7 0 d1 2\n7 0 d2 1\n8 0 d2 3\n")
    held = ir_datasets.create_dataset(docs_tsv="d.tsv", queries_tsv="q.tsv", qrels_trec="qrels.txt")
    monkeypatch.setattr(ir_datasets, "load", {"toy": held}.__getitem__)
    done = evenrank(
        "retrieve", "BM25", "--documents", "ir_datasets:toy", "--queries", "ir_datasets:toy", "-o", "r.trec"
    )
    assert done.code == 0, done.err
    run = read_run("r.trec")
    assert {query: run.documents(query)[0] for query in run} == {"7": "d1", "8": "d2"}
    judged = {"7": {"d1": 2, "d2": 1}, "8": {"d2": 3}}
    assert read_qrels("ir_datasets:toy").to_dict() == judged
    done = evenrank("evaluate", "r.trec", "-m", "RR", "--qrels", "ir_datasets:toy", "--format", "jsonl")
    assert [json.loads(line)["value"] for line in done.out.splitlines()][:1] == [1.0]
    with pytest.raises(DataError, match="scoreddocs"):
        read_run("ir_datasets:toy")
    with pytest.raises(DataError, match="'nope'"):
        read_qrels("ir_datasets:nope")
    held.documentation = lambda: {"official_measures": ["nDCG@10", "AP(rel=2)"]}
    with pytest.warns(EvenrankWarning, match="ir_datasets:toy: .*rel=2"):
        assert read_qrels("ir_datasets:toy").to_dict() == judged


def test_dictionaries_lists_and_frames_wherever_a_file_is_taken() -> None:
    side = Attribute("side", ("x", "y"))
    assert read_target({"x": 0.75, "y": 0.25}, side) == (0.75, 0.25)
    by_query = {"red lamp": {"x": 1}, "rug": {"x": 0.5, "y": 0.5}}
    assert list(read_target(by_query, side).values()) == [(1, 0), (0.5, 0.5)]  # type: ignore[union-attr]
    with pytest.raises(DataError, match=r"'z'"):
        read_target({"z": 1.0}, side)
    assert read_ratings({"u": {"i": 3.5, "j": 1.0}}).to_dict() == {"u": {"i": 3.5, "j": 1.0}}

    words = {"word": ["she", "he"], "group": ["female", "male"], "partner": ["he", None]}
    for table in (pd.DataFrame(words), pl.DataFrame(words), pa.table(words)):
        lexicon = read_lexicon(table, name="tiny")
        assert (lexicon.to_dict(), lexicon.partners["he"]) == ({"female": ["she"], "male": ["he"]}, "she")
    with pytest.raises(DataError, match=r"row 2: .*'she'"):
        read_lexicon(pd.DataFrame({"word": ["she", "she"], "group": ["female", "male"]}))

    def search(query: str, depth: int) -> list[str]:
        return [f"best of {query}"]

    asked = {"7": "lamp", "8": "rug"}
    frames = [pd.DataFrame({"id": list(asked), "query": list(asked.values())}), asked]
    for queries in (*frames, pl.DataFrame({"qid": list(asked), "text": list(asked.values())})):
        answers = ask(search, queries, depth=1)
        assert [answers.run.documents(query) for query in asked] == [["best of lamp"], ["best of rug"]]
