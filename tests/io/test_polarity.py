"""Polarity and categories in files and tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars
import pytest

import evenrank as er
from evenrank.errors import DataError, InputTypeError, ParameterError
from evenrank.io.categories import read_categories
from evenrank.io.polarity import write_polarity


@pytest.mark.parametrize(("queries", "oriented"), [(None, True), (["q", "q", "r"], False), (None, None)])
def test_what_is_written_is_read_back(
    tmp_path: Path, queries: list[str] | None, oriented: bool | None
) -> None:
    polarity = er.Polarity.build(
        ["a", "b", "c"],
        [[0.1, 1 / 3], [-2.0, 1e-300], [0.0, 5.0]],
        queries=queries,
        axes=["left", "old"],
        oriented=oriented,
        without_axis={"r": "one document only"},
    )
    path = tmp_path / "p.parquet"
    write_polarity(polarity, path)
    again = er.read_polarity(path)
    assert again.scores.tolist() == polarity.scores.tolist()
    assert again.doc_ids.to_pylist() == ["a", "b", "c"]
    assert again.query_ids == polarity.query_ids
    assert again.query_codes.tolist() == polarity.query_codes.tolist()
    assert (again.axes, again.oriented) == (("left", "old"), oriented)
    assert again.without_axis == {"r": "one document only"}
    assert again.fingerprint == polarity.fingerprint
    assert er.read_polarity(again) is again


def test_the_name_says_parquet(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"p\.csv: polarity is written as Parquet"):
        write_polarity(er.Polarity.build(["a"], [1.0]), tmp_path / "p.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "columns", "queries"),
    [
        ("document,polarity\na,0.5\nb,-1\n", None, None),
        ("query,document,score\nq,a,0.5\nq,b,-1\n", None, ("q",)),
        ("qid,docno,axis_1\nq,a,0.5\nq,b,-1\n", None, ("q",)),
        ("topic,docid,x\nq,a,0.5\nq,b,-1\n", {"score": "x"}, ("q",)),
        ("name,lean\na,0.5\nb,-1\n", {"document": "name", "score": "lean"}, None),
    ],
)
def test_tables(tmp_path: Path, text: str, columns: Any, queries: tuple[str, ...] | None) -> None:
    path = tmp_path / "p.csv"
    path.write_text(text)
    polarity = er.read_polarity(path, columns=columns)
    assert polarity.scores.tolist() == [[0.5], [-1.0]]
    assert polarity.query_ids == queries
    assert polarity.axes == ("1",)
    assert polarity.oriented is None
    again = er.read_polarity(polars.read_csv(path), columns=columns)
    assert again.scores.tolist() == [[0.5], [-1.0]]


def test_dictionaries() -> None:
    assert er.read_polarity({"a": 1, "b": -2}).scores.tolist() == [[1.0], [-2.0]]
    nested = er.read_polarity({"q": {"a": 1.0}, "r": {"a": 2.0}})
    assert nested.query_ids == ("q", "r")
    for wrong, error, said in (
        ({}, DataError, "polarity: no scores"),
        ({"q": {}}, DataError, "polarity: no scores"),
        ({"q": {"a": 1.0}, "b": 2.0}, InputTypeError, "some of the values are scores"),
        ({"a": "much"}, InputTypeError, "scores must be numbers"),
        ({"a": float("nan")}, DataError, "document 'a': the score is not finite"),
        (7, InputTypeError, "polarity is read from a path, a table, or a dict"),
    ):
        with pytest.raises(error, match=said):
            er.read_polarity(wrong)


def test_files_that_cannot_be_used_say_where(tmp_path: Path) -> None:
    def fails(text: str, said: str, **further: Any) -> None:
        path = tmp_path / "p.csv"
        path.write_text(text)
        with pytest.raises(DataError, match=said):
            er.read_polarity(path, **further)

    fails("document,polarity\na,1\nb,nan\n", r"p\.csv:3: .*'nan'")
    fails("document,polarity\na,1\nb,x\nc,y\n", r"p\.csv:3: .*'x'(.|\n)*p\.csv:4: .*'y'")
    fails("document,polarity\na,1\na,2\n", r"p\.csv:3: document 'a' is listed twice")
    fails("document,polarity\n", r"p\.csv: no scores")
    fails("document,much\na,1\n", "no column for the polarity; the columns are 'document', 'much'")
    fails("name,score\na,1\n", "no column for the document")
    fails("document,score\na,1\n", "no column 'x' for the score", columns={"score": "x"})
    with pytest.raises(ParameterError, match="'grade' is not one of document, query, score"):
        er.read_polarity(polars.DataFrame({"a": [1]}), columns={"grade": "a"})
    with pytest.raises(DataError, match="no such file"):
        er.read_polarity(tmp_path / "none.parquet")


def test_metadata_of_another_hand_is_no_crash(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.table({"document": ["a"], "axis_1": [1.0]})
    for text in ("no json", "[1]", '{"oriented": true, "without_axis": 7}'):
        path = tmp_path / "p.parquet"
        pyarrow.parquet.write_table(table.replace_schema_metadata({"evenrank.polarity": text}), path)
        with pytest.raises(DataError, match=r"p\.parquet: .*metadata"):
            er.read_polarity(path)


def test_categories(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text("query,category\nq,Law\nr,Art\nq,Art\nq,Law\n7,Art\n")
    wanted = {"q": ["Law", "Art"], "r": ["Art"], "7": ["Art"]}
    assert read_categories(path) == wanted
    assert read_categories(polars.read_csv(path)) == wanted
    path.write_text("topic,field\nq,Law\n")
    assert read_categories(path, columns={"query": "topic", "category": "field"}) == {"q": ["Law"]}
    with pytest.raises(DataError, match=r"c\.csv: no column for the category .*'topic', 'field'"):
        read_categories(path)
    with pytest.raises(InputTypeError, match="categories are read from a path or a table, got int"):
        read_categories(7)
    path.write_text("query,category\n")
    with pytest.raises(DataError, match=r"c\.csv: no categories"):
        read_categories(path)
