"""Groups and targets in every form they come in, and what is said of those that cannot be used."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from shares import of_documents, shares_of

from evenrank import Attribute, DataError, Membership, ParameterError, read_groups
from evenrank.errors import EvenrankError, InputTypeError
from evenrank.io.targets import read_target


def contents(groups: Membership) -> dict[Any, Any]:
    """``{document: shares}``, or by (query, document)."""
    documents = groups.doc_ids.to_pylist()
    if groups.query_ids is None:
        return dict(zip(documents, of_documents(groups, *documents), strict=True))
    pairs = list(
        zip([groups.query_ids[code] for code in groups.query_codes.tolist()], documents, strict=True)
    )
    return dict(zip(pairs, shares_of(groups, pairs), strict=True))


COLUMNS: dict[str, list[Any]] = {"doc": ["a", "b", "c", "d"], "gender": ["f", "m", None, "m"]}
LABELLED = {"a": [1.0, 0.0], "b": [0.0, 1.0], "d": [0.0, 1.0]}
TABLES: dict[str, Any] = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas with NaN": pd.DataFrame({**COLUMNS, "gender": ["f", "m", float("nan"), "m"]}),
    "pandas with categories": pd.DataFrame(COLUMNS).astype({"gender": "category"}),
    "pandas Series": pd.Series(["f", "m", None, "m"], index=["a", "b", "c", "d"]),
    "polars": pl.DataFrame(COLUMNS),
    "polars with categories": pl.DataFrame(COLUMNS).with_columns(pl.col("gender").cast(pl.Categorical)),
    "arrow": pa.table(COLUMNS),
    "arrow in chunks": pa.concat_tables([pa.table(COLUMNS).slice(0, 1), pa.table(COLUMNS).slice(1)]),
    "lists": pl.DataFrame({**COLUMNS, "gender": [["f"], ["m"], [], ["m"]]}),
    "dict of columns": COLUMNS,
    "dict": {"a": "f", "b": "m", "c": None, "d": "m"},
    "dict with lists": {"a": ["f"], "b": ["m", "m"], "c": [], "d": {"m"}},
    "file": io.StringIO("doc,age,gender\na,1, f\nb,2,m \nc,3, \nd,4,m\n"),
}


@pytest.mark.parametrize("case", TABLES)
def test_labels(case: str) -> None:
    format = "csv" if case == "file" else None
    assert contents(read_groups(TABLES[case], "gender", format=format)) == LABELLED


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "groups.parquet"
    frame = pl.DataFrame({"doc": ["a", "b"], "tags": [["x", "y"], ["y"]], "x": [1.0, 0.0], "y": [0.0, 1.0]})
    frame.write_parquet(path)
    assert contents(read_groups(path, "tags", multilabel=True)) == {"a": [0.5, 0.5], "b": [0, 1]}
    assert contents(read_groups(path, "other", values=["x", "y"])) == {"a": [1, 0], "b": [0, 1]}
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DataError, match=r"groups\.parquet"):
        read_groups(path, "tags")


def test_numbers_are_labels() -> None:
    expected = {"a": [1.0, 0, 0], "b": [0, 0, 1.0], "d": [0, 1.0, 0]}
    for column in ([1, 10, None, 2], [1.0, 10.0, None, 2.0], ["1", "10", "", "2"]):
        frame = pl.DataFrame({"doc": ["a", "b", "c", "d"], "stars": column}, strict=False)
        groups = read_groups(frame, "stars", ordinal=True)
        assert groups.attribute == Attribute("stars", ("1", "2", "10"), ordinal=True)
        assert contents(groups) == expected
    assert contents(read_groups({"a": 1, "b": 10, "d": np.int64(2)}, "stars", ordinal=True)) == expected


def test_an_attribute_that_is_called_as_queries_are() -> None:
    groups = read_groups(io.StringIO("doc,topic\na,x\nb,y\n"), "topic", format="csv")
    assert contents(groups) == {"a": [1, 0], "b": [0, 1]}


def test_columns_by_name() -> None:
    data = "paper,who,how much,session\na,f,1,q1\nb,m,1,q1\n"
    named = {"document": "paper", "share": "how much", "query": "session"}
    groups = read_groups(io.StringIO(data), "gender", column="who", columns=named, format="csv")
    assert contents(groups) == {("q1", "a"): [1, 0], ("q1", "b"): [0, 1]}
    same = read_groups(io.StringIO(data), "gender", columns={**named, "value": "who"}, format="csv")
    assert same.fingerprint == groups.fingerprint


def test_ignored_labels_are_no_labels() -> None:
    data = "doc,side\na,for\nb,both\nc,against\nd,\ne,off topic\n"
    read = read_groups(io.StringIO(data), "side", format="csv", ignore=["both", "off topic"])
    assert read.attribute.values == ("for", "against")
    assert not read.named
    assert contents(read) == {"a": [1, 0], "c": [0, 1]}
    named = read_groups(
        io.StringIO(data), "side", format="csv", values=["against", "for"], even="both", ignore="off topic"
    )
    assert named.named
    assert contents(named) == {"a": [0, 1], "b": [0.5, 0.5], "c": [1, 0]}
    own = read_groups(io.StringIO(data), "side", format="csv", ignore=["both", "off topic"], unlabelled="own")
    assert own.attribute.values == ("for", "against", "b", "d", "e")
    with pytest.raises(ParameterError, match=r"'x'.*ignore=.*'for'"):
        read_groups(io.StringIO(data), "side", format="csv", ignore="x")
    with pytest.raises(ParameterError, match="ignore="):
        read_groups(io.StringIO("q d 0.5 0.5\n"), "gender", ignore="1", format="gmemb")
    labels = {"a": "for", "b": "both", "c": "against", "d": None}
    assert contents(Membership.from_labels("side", labels, ignore=["both"])) == {"a": [1, 0], "c": [0, 1]}


def test_judgements_by_intent_are_not_read_as_groups() -> None:
    intents = "1 x a 2\n1 y b 1\n2 x a 0\n2 x b 1\n"
    with pytest.raises(DataError, match=r"<file>: .*intents"):
        read_groups(io.StringIO(intents), "side", format="trec")
    named = read_groups(io.StringIO(intents), "side", format="trec", values=["0", "1", "2"])
    assert len(named) == 4
    assert len(read_groups(io.StringIO("1 0 a 2\n2 1 b 1\n"), "side", format="trec")) == 2
    assert len(read_groups(io.StringIO("1 x a for\n1 y b 1\n"), "side", format="trec")) == 2


def test_even_and_own() -> None:
    data = "doc,side\na,for\nb,both\nc,against\nd,\n"
    even = read_groups(io.StringIO(data), "side", format="csv", even=["both"])
    assert contents(even) == {"a": [1, 0], "b": [0.5, 0.5], "c": [0, 1]}
    own = read_groups(io.StringIO(data), "side", format="csv", even="both", unlabelled="own")
    assert own.attribute.values == ("for", "against", "d")
    assert contents(own)["d"] == [0, 0, 1]
    assert contents(own)["b"] == [1 / 3] * 3
    named = read_groups(
        io.StringIO(data), "side", format="csv", even="both", unlabelled="own", values=["against", "for"]
    )
    assert named.attribute.values == ("against", "for", "d")


def test_values_and_target_are_the_attributes() -> None:
    groups = read_groups({"a": "f"}, "gender", values=["m", "f"], target={"m": 0.75, "f": 0.25}, ordinal=True)
    assert groups.attribute == Attribute("gender", ("m", "f"), ordinal=True, target=(0.75, 0.25))


def test_ntcir(shared: Path) -> None:
    folder = shared / "data/fairweb1_gfr/toy"
    groups = read_groups(folder / "toy.R-GENDER.gmemb", "gender")
    assert groups.attribute.values == ("1", "2", "3")
    assert contents(groups) == {
        ("P001", "doc01"): [1, 0, 0],
        ("P001", "doc02"): [1 / 3] * 3,
        ("P001", "doc03"): [0, 1, 0],
        ("P001", "doc04"): [0, 0, 1],
    }
    named = read_groups(folder / "toy.R-GENDER.gmemb", "gender", values=["she", "he", "they"])
    assert named.attribute.values == ("she", "he", "they")
    target = read_target(folder / "R-GENDER.golddistr", groups.attribute)
    assert groups.with_target(target).attribute.target == (1 / 3, 1 / 3, 1 / 3)
    wide = read_groups(folder / "toy.M-ORIGIN.gmemb", "origin")
    assert sum(read_target(folder / "M-ORIGIN.golddistr", wide.attribute)) == pytest.approx(1)


def test_stances(shared: Path) -> None:
    path = shared / "data/touche22_task2/qrels/touche-task2-2022-stance.qrels"
    groups = read_groups(path, "stance", values=["FIRST", "SECOND"], even=["NEUTRAL", "NO"])
    assert (len(groups), groups.sizes().tolist()) == (393 + 284 + 1430, [393 + 715, 284 + 715])


def test_authors(shared: Path) -> None:
    folder = shared / "data/trec_fair_2019/group_annotations"
    groups = read_groups(folder / "article-h_index_4.csv", "index", format="trec-fair", ordinal=True)
    assert groups.attribute.values == ("0", "1", "2", "3")
    assert contents(groups)["8ff496112f3a3d26eb0616f9793cc47f7c910f7a"] == [0, 0.75, 0.25, 0]
    assert len(groups) == 2866 - 140
    sets = read_groups(folder / "article-h_index_4.csv", "index", format="trec-fair", multilabel=True)
    spot = sets.attribute.values.index("1")
    assert contents(sets)["8ff496112f3a3d26eb0616f9793cc47f7c910f7a"][spot] == 0.5


def test_authors_that_are_unknown_do_not_count() -> None:
    data = "a, f,m ,,f\nb\nc,\nd,m\n"
    groups = read_groups(io.StringIO(data), "gender", format="trec-fair")
    assert contents(groups) == {"a": [2 / 3, 1 / 3], "d": [0, 1]}


@pytest.mark.parametrize(
    ("format", "data", "values", "words"),
    [
        ("csv", "doc,name\na,x\n", ["f", "m"], ["<file>", "'gender'", "'f'", "'name'"]),
        ("csv", "doc,gender,age\na,f,30\na,m,30\n", None, ["<file>:3", "'a'", "'f'", "'m'"]),
        ("csv", "doc,f\na,1\n", ["f", "m"], ["<file>", "'gender'", "'m'"]),
        ("csv", "doc,age\na,1\n", None, ["<file>", "'gender'", "'age'"]),
        ("csv", "doc,age,share\na,1,1\n", None, ["<file>", "'gender'", "column="]),
        ("gmemb", "1 a\0 0.5 0.5\n", None, ["<file>:1", "byte 3"]),
        ("csv", "d1,Advanced\nd2,Developing\n", None, ["<file>", "format='trec-fair'"]),
        ("csv", "doc,value,prob\nd,,1\ne,f,1\n", None, ["<file>:2", "'d'", "missing"]),
        ("jsonl", '{"doc": "a", "gender": ["f", "m"], "share": 1}\n', None, ["<file>:1", "'a'", "several"]),
    ],
)
def test_columns_that_are_no_groups(format: str, data: str, values: Any, words: list[str]) -> None:
    """Most of what may be wrong with a file stands in the goldens ``bad_groups``."""
    with pytest.raises(DataError) as caught:
        read_groups(io.BytesIO(data.encode()), "gender", format=format, values=values)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("source", "values", "words"),
    [
        ({"q1": {"a": "f"}, "q2": {"a": "x"}}, ["f", "m"], ["'q2'", "'a'", "'x'", "'m'"]),
        ({"a": ["f", "m"], "b": 1.5}, None, ["'b'", "1.5"]),
        (
            pl.DataFrame({"doc": ["a", "b"], "f": [1.0, 0.5], "m": [0.0, 0.25]}),
            None,
            ["row 2", "'b'", "0.75"],
        ),
    ],
)
def test_bad_objects_say_where(source: Any, values: Any, words: list[str]) -> None:
    with pytest.raises(DataError) as caught:
        read_groups(source, "gender", values=values)
    assert all(word in str(caught.value) for word in words)


REFUSED: dict[str, tuple[Any, dict[str, Any], type[EvenrankError], str]] = {
    "a list": ([("a", "f")], {}, InputTypeError, "list"),
    "an empty dict": ({}, {}, DataError, "gender"),
    "a mix": ({"a": "f", "q": {"b": "f"}}, {}, InputTypeError, "mix"),
    "shares in a dict": (
        {"a": {"f": 1.0, "m": 0.0}},
        {},
        InputTypeError,
        "table",
    ),
    "one value": ({"a": "f"}, {}, ParameterError, "two values"),
    "values as text": ({"a": "f"}, {"values": "fm"}, InputTypeError, "values"),
    "a scale of words": ({"a": "f", "b": "m"}, {"ordinal": True}, ParameterError, "numbers"),
    "an unknown format": (io.StringIO(""), {"format": "xml"}, ParameterError, r"gmemb, trec-fair.*'xml'"),
    "a format for a dict": ({"a": "f"}, {"format": "csv"}, ParameterError, "format="),
    "a column for a dict": ({"a": "f"}, {"column": "x"}, ParameterError, "columns="),
    "a column for lines": (
        io.StringIO("1 0 a f\n"),
        {"column": "x", "format": "trec"},
        ParameterError,
        "trec",
    ),
    "an unknown role": (
        pl.DataFrame({"doc": ["a"], "gender": ["f"]}),
        {"columns": {"score": "x"}},
        ParameterError,
        r"'score'.*query, document, value, share",
    ),
    "two columns of values": (
        pl.DataFrame({"doc": ["a"], "x": ["f"], "y": ["f"]}),
        {"column": "x", "columns": {"value": "y"}},
        ParameterError,
        r"'x'.*'y'",
    ),
    "no such column": (
        pl.DataFrame({"doc": ["a"], "x": ["f"]}),
        {"column": "y"},
        DataError,
        r"'y'.*'doc', 'x'",
    ),
    "an unknown rule": (
        {"a": "f"},
        {"unlabelled": "drop"},
        ParameterError,
        "unlabelled",
    ),
    "an unknown split": ({"a": "f"}, {"split": "half"}, ParameterError, "share, full"),
    "even, of shares": (
        pl.DataFrame({"doc": ["a"], "f": [1.0], "m": [0.0]}),
        {"even": ["f"]},
        ParameterError,
        "even=",
    ),
    "even, and nobody has it": (
        {"a": "f", "b": "m"},
        {"even": ["boht"]},
        ParameterError,
        r"'boht'.*even=.*'f', 'm'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    source, options, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        read_groups(source, "gender", **options)


def test_targets_in_tables_and_files(tmp_path: Path) -> None:
    """Most forms of a target stand in the goldens ``formats_targets``."""
    stars = Attribute("stars", ("low", "mid", "high"), ordinal=True)
    assert read_target(pl.DataFrame({"value": ["low"], "share": [1]}), stars) == (1, 0, 0)
    path = tmp_path / "target.csv"
    path.write_text("query,value,share\nq1,low,1\nq2,high,0.5\nq2,mid,0.5\n")
    found = read_target(path, stars)
    assert found == {"q1": (1, 0, 0), "q2": (0, 0.5, 0.5)}
    assert dict(stars.with_target(found).target) == found
    with pytest.raises(InputTypeError, match="list"):
        read_target(["low"], stars)


@pytest.mark.parametrize(
    ("format", "line", "role"),
    [
        ("gmemb", "{} d 0.5 0.5", "query"),
        ("gmemb", "q {} 0.5 0.5", "document"),
        ("trec", "{} 0 d f", "query"),
        ("trec", "q 0 {} f", "document"),
        ("trec-fair", "{},f,m", "document"),
    ],
)
def test_an_endless_id_is_an_error(format: str, line: str, role: str) -> None:
    with pytest.raises(DataError) as caught:
        read_groups(io.StringIO(line.format("x" * 10_001) + "\n"), "g", format=format)
    assert role in caught.value.problems[0].what
    assert "10,001" in str(caught.value)
    assert len(str(caught.value)) < 300
    allowed = io.StringIO(line.format("x" * 10_000) + "\n")
    assert read_groups(allowed, "g", format=format, values=["f", "m"])
