"""Queries in files, as a search for them shows: ids and what was asked; and products as shops export them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenrank import DataError, read_groups, read_run
from evenrank.systems import read_texts

Evenrank = Callable[..., Any]
DOCUMENTS = {
    "wrote": "who wrote it", "else": "what else", "lamp": "red lamp", "rug": "a rug", "carpet": "läufer rot",
}  # fmt: skip


@pytest.fixture
def found(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, str]]:
    """The best document of each query of a file, whose text nearly is what was asked."""
    monkeypatch.chdir(tmp_path)
    Path("d.tsv").write_text("".join(f"{name}\t{text}\n" for name, text in DOCUMENTS.items()))

    def best(name: str, content: str, *options: str) -> dict[str, str]:
        Path(name).write_text(content, encoding="utf-8")
        done = evenrank(
            "retrieve", "BM25", "--documents", "d.tsv", "--queries", name, "-o", "r.trec", *options
        )
        assert done.code == 0, done.err
        run = read_run("r.trec")
        return {query: run.documents(query)[0] for query in run}

    return best


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.tsv", "q1\twho wrote it\n7\twhat <else>\n"),
        ("q.txt", "# two\n\nq1\twho wrote it\n7\twhat <else>\n"),
        ("h.tsv", "query\ttext\tkind\nq1\twho wrote it\tx\n7\twhat <else>\ty\n"),
        ("q.csv", "family,qid,text\nx,q1,who wrote it\ny,7,what <else>\n"),
        ("q.jsonl", '{"_id": "q1", "text": "who wrote it"}\n{"_id": "7", "text": "what <else>"}\n'),
        (
            "q.xml",
            "<topics><topic><number>q1</number><title>who\n wrote it</title><other>x</other></topic>"
            '<topic number="7"><title>what &lt;else&gt;</title></topic></topics>',
        ),
    ],
)
def test_ids_and_texts_in_every_format(found: Any, name: str, content: str) -> None:
    assert found(name, content) == {"q1": "wrote", "7": "else"}


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("No.,search term,searches/month\n", "{n},{text},9\n"),
        ("search term\n", "{text}\n"),
        ("query,count\n", "{text},{n}\n"),
        ("", "{text}\n"),
    ],
)
def test_ids_are_made_from_the_words_and_not_from_their_place(found: Any, head: str, row: str) -> None:
    texts = ["red lamp", "rug", "Red lamp", "a " * 60 + "lamp", "läufer, rot".replace(",", "")]

    def ids(asked: list[str]) -> dict[str, str]:
        rows = [row.format(n=n, text=text) for n, text in enumerate(asked, 1)]
        best: dict[str, str] = found("q.csv" if head else "q.txt", head + "".join(rows))
        return best

    first = ids(texts)
    assert ids([f" {text.replace(' ', '  ')}" for text in reversed(texts)]) == first
    assert (len(first), first["rug"]) == (len(texts), "rug")
    assert not any(" " in query or len(query) > 64 for query in first)
    again = ids(texts[:1])
    assert len(again) == 1
    assert again.items() <= first.items()


@pytest.mark.parametrize("name", ["search term", "Search Term", "search_query", "Keyword", "query", "Query"])
def test_what_people_searched_for_is_asked(found: Any, name: str) -> None:
    made = found("q.csv", f"{name},count\nred lamp,3\nrug,1\n")
    assert sorted(made.values()) == ["lamp", "rug"]
    assert made["rug"] == "rug"
    assert found("q.csv", f"id,{name}\n7,red lamp\n8,rug\n") == {"7": "lamp", "8": "rug"}


@pytest.mark.parametrize("name", ["Product ID", "product id", "SKU", "sku", "product-id", "Doc ID", "Item"])
def test_products_are_found_by_what_shops_call_them(tmp_path: Path, name: str) -> None:
    path = tmp_path / "products.csv"
    path.write_text(f"{name},Title,Seller Size\np1,a lamp,small\np2,a rug,large\n")
    assert read_groups(path, "size", column="Seller Size").doc_ids.to_pylist() == ["p1", "p2"]
    assert read_texts(path) == {"p1": "a lamp", "p2": "a rug"}


def test_our_own_names_of_columns_come_first(tmp_path: Path) -> None:
    path = tmp_path / "products.csv"
    path.write_text("sku,document,size\ns1,p1,small\ns2,p2,large\n")
    assert read_groups(path, "size").doc_ids.to_pylist() == ["p1", "p2"]


def test_several_possible_columns_are_an_error_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "products.csv"
    path.write_text("sku,Product ID,size\ns1,p1,small\ns2,p2,large\n")
    with pytest.raises(DataError, match=r"'sku', 'Product ID'"):
        read_groups(path, "size")
    found = read_groups(path, "size", columns={"document": "Product ID"})
    assert found.doc_ids.to_pylist() == ["p1", "p2"]
