"""Polarity in files and tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import evenrank as er
from evenrank.errors import DataError, InputTypeError, ParameterError


@pytest.mark.parametrize("perspectives", [True, False])
def test_what_polarise_writes_is_read_back(
    evenrank: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, perspectives: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(1)
    rows = [(f"q{q}", f"d{q}-{n}", "for" if n % 2 else "against") for q in range(6) for n in range(4)]
    rows.append(("alone", "d", "for"))
    frame = polars.DataFrame(rows, ["query", "document", "perspective"], orient="row")
    (frame if perspectives else frame.drop("perspective")).write_csv("d.csv")
    vectors = [generator.normal(size=4).tolist() for _ in rows]
    polars.DataFrame({"document": [row[1] for row in rows], "vector": vectors}).write_parquet("v.parquet")
    wanted = er.polarise("d.csv", encoder="v.parquet")
    assert evenrank("polarise", "d.csv", "--encoder", "v.parquet", "-o", "p.parquet").code == 0
    again = er.read_polarity("p.parquet")
    assert again.scores.tolist() == wanted.scores.tolist()
    assert again.doc_ids.to_pylist() == wanted.doc_ids.to_pylist()
    assert again.query_ids == wanted.query_ids
    assert again.query_codes.tolist() == wanted.query_codes.tolist()
    assert (again.axes, again.oriented) == (wanted.axes, wanted.oriented)
    assert again.without_axis == wanted.without_axis
    assert "alone" in again.without_axis
    assert again.fingerprint == wanted.fingerprint
    assert er.read_polarity(again) is again


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
        ({}, DataError, "polarity"),
        ({"q": {}}, DataError, "polarity"),
        ({"q": {"a": 1.0}, "b": 2.0}, InputTypeError, "polarity"),
        ({"a": "much"}, DataError, "document .a.: .*much"),
        ({"a": float("nan")}, DataError, "document 'a'"),
        (7, InputTypeError, "int"),
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
    fails("document,polarity\na,1\na,2\n", r"p\.csv:3: .*'a'")
    fails("document,polarity\n", r"p\.csv")
    fails("document,much\na,1\n", r"polarity.*'document', 'much'")
    fails("name,score\na,1\n", "document")
    fails("document,score\na,1\n", "'x'", columns={"score": "x"})
    with pytest.raises(ParameterError, match=r"'grade'.*document, query, score"):
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


def test_dictionaries_of_several_axes_and_of_queries_that_are_numbers() -> None:
    by_query = er.read_polarity({"q": {"a": [0.5, 0.1], "b": [-0.5, 0.2]}})
    assert (by_query.query_ids, by_query.scores.tolist()) == (("q",), [[0.5, 0.1], [-0.5, 0.2]])
    assert er.read_polarity({"a": [0.5, 0.1], "b": (-0.5, 0.2)}).scores.shape == (2, 2)
    assert er.read_polarity({1: {"a": 0.5, "b": -0.5}}).query_ids == ("1",)


def test_polarity_has_no_rank_to_offer() -> None:
    with pytest.raises(DataError, match="'doc'") as caught:
        er.read_polarity(polars.DataFrame({"doc": ["a"]}))
    assert "rank" not in str(caught.value)
