"""Tables as shops export them: columns in other spellings and with other names than ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenrank import read_groups
from evenrank.engines.asking import query_texts
from evenrank.errors import DataError
from evenrank.io.made_query_ids import made_id
from evenrank.io.queries import read_queries
from evenrank.systems import read_texts


@pytest.mark.parametrize("name", ["Product ID", "product id", "SKU", "sku", "product-id", "Doc ID", "Item"])
def test_products_are_found_by_what_shops_call_them(tmp_path: Path, name: str) -> None:
    path = tmp_path / "products.csv"
    path.write_text(f"{name},Title,Seller Size\np1,a lamp,small\np2,a rug,large\n")
    found = read_groups(path, "size", column="Seller Size")
    assert found.doc_ids.to_pylist() == ["p1", "p2"]
    assert read_texts(path) == {"p1": "a lamp", "p2": "a rug"}


def test_our_own_names_come_first(tmp_path: Path) -> None:
    path = tmp_path / "products.csv"
    path.write_text("sku,document,size\ns1,p1,small\ns2,p2,large\n")
    assert read_groups(path, "size").doc_ids.to_pylist() == ["p1", "p2"]


def test_several_possible_names_are_an_error_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "products.csv"
    path.write_text("sku,Product ID,size\ns1,p1,small\ns2,p2,large\n")
    with pytest.raises(DataError, match=r"could be any of the columns 'sku', 'Product ID': say which"):
        read_groups(path, "size")
    found = read_groups(path, "size", columns={"document": "Product ID"})
    assert found.doc_ids.to_pylist() == ["p1", "p2"]


@pytest.mark.parametrize("name", ["search term", "Search Term", "search_query", "Keyword", "query", "Query"])
def test_what_people_searched_for_is_asked(tmp_path: Path, name: str) -> None:
    path = tmp_path / "queries.csv"
    path.write_text(f"{name},count\nred lamp,3\nrug,1\n")
    assert query_texts(read_queries(str(path))) == {made_id("red lamp"): "red lamp", "rug": "rug"}
    path.write_text(f"id,{name}\n7,red lamp\n8,rug\n")
    assert query_texts(read_queries(str(path))) == {"7": "red lamp", "8": "rug"}
