"""Groups and targets in every form they come in, and what is said of those that cannot be used."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import zstandard

from evenrank import Attribute, DataError, Membership, ParameterError, read_groups
from evenrank.errors import EvenrankError, InputTypeError
from evenrank.io.targets import read_target

EXPECTED = {"a": [1.0, 0.0], "b": [0.25, 0.75], "c": [0.0, 1.0]}


def contents(groups: Membership) -> dict[Any, list[float]]:
    """``{document: shares}``, or by (query, document)."""
    dense = groups.shares.dense(np.arange(len(groups))).tolist()
    documents = groups.doc_ids.to_pylist()
    if groups.query_ids is None:
        return dict(zip(documents, dense, strict=True))
    queries = [groups.query_ids[code] for code in groups.query_codes.tolist()]
    return dict(zip(zip(queries, documents, strict=True), dense, strict=True))


LONG = b"doc,value,prob\nb,f,0.25\na,f,1\nb,m,0.75\nc,m,1.0\n"
FILES: dict[str, bytes] = {
    "long.csv": LONG,
    "long.csv.gz": gzip.compress(LONG),
    "long.csv.zst": zstandard.compress(LONG),
    "called like the attribute.tsv": b"docno\tgender\tshare\na\tf\t1\nb\tf\t0.25\nb\tm\t.75\nc\tm\t1\n",
    "with zeros.csv": b"doc_id,group,probability\na,f,1\na,m,0\nb,f,0.25\nb,m,0.75\nc,m,1\n",
    "wide.csv": b"document,f,m\na,1,0\nb,0.25,0.75\nnobody,,\nc,0,1\n",
    "wide.tsv": b"f\tdid\tm\n1\ta\t0\n0.25\tb\t0.75\n0\tc\t1\n",
    "wide.jsonl": b'{"id": "a", "f": 1, "m": 0}\n\n{"id": "b", "f": 0.25, "m": 0.75}\n'
    b'{"id": "c", "f": 0, "m": 1}\n',
    "mappings.jsonl": b'{"_id": "a", "gender": "f"}\n{"_id": "b", "gender": {"f": 0.25, "m": 0.75}}\n'
    b'{"_id": "c", "gender": ["m"]}\n{"_id": "nobody", "gender": {}}\n',
}


@pytest.mark.parametrize("name", FILES)
def test_shares_in_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name])
    groups = read_groups(path, "gender")
    assert contents(groups) == EXPECTED
    assert groups.attribute == Attribute("gender", ("f", "m"))
    assert groups.source == str(path)


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
    with pytest.raises(DataError, match=r"groups\.parquet: is not a sound Parquet file"):
        read_groups(path, "tags")


def test_numbers_are_labels() -> None:
    expected = {"a": [1.0, 0, 0], "b": [0, 0, 1.0], "d": [0, 1.0, 0]}
    for column in ([1, 10, None, 2], [1.0, 10.0, None, 2.0], ["1", "10", "", "2"]):
        frame = pl.DataFrame({"doc": ["a", "b", "c", "d"], "stars": column}, strict=False)
        groups = read_groups(frame, "stars", ordinal=True)
        assert groups.attribute == Attribute("stars", ("1", "2", "10"), ordinal=True)
        assert contents(groups) == expected
    assert contents(read_groups({"a": 1, "b": 10, "d": np.int64(2)}, "stars", ordinal=True)) == expected


def test_by_query() -> None:
    expected = {("q1", "a"): [1.0, 0.0], ("q2", "a"): [0.25, 0.75]}
    long = "topic,doc,value,prob\nq1,a,f,1\nq2,a,f,0.25\nq2,a,m,0.75\n"
    assert contents(read_groups(io.StringIO(long), "gender", format="csv")) == expected
    wide = "qid,docno,f,m\nq1,a,1,0\nq2,a,.25,.75\n"
    assert contents(read_groups(io.StringIO(wide), "gender", format="csv")) == expected
    labels = {"q1": {"a": "f"}, "q2": {"a": {"f": 0.25, "m": 0.75}}}
    assert contents(read_groups(labels, "gender")) == expected


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


def test_several_labels() -> None:
    data = '{"doc": "a", "tags": ["x", "y"]}\n{"doc": "b", "tags": ["y"]}\n'
    shared = read_groups(io.StringIO(data), "tags", format="jsonl", multilabel=True)
    assert contents(shared) == {"a": [0.5, 0.5], "b": [0, 1]}
    full = read_groups(io.StringIO(data), "tags", format="jsonl", multilabel=True, split="full")
    assert contents(full) == {"a": [1, 1], "b": [0, 1]}
    rows = read_groups(io.StringIO("doc,tags\na,x\nb,y\na,y\n"), "tags", format="csv", multilabel=True)
    assert contents(rows) == contents(shared)


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
    with pytest.raises(ParameterError, match="no document has the label 'x' of ignore=; found are 'for'"):
        read_groups(io.StringIO(data), "side", format="csv", ignore="x")
    with pytest.raises(ParameterError, match="ignore= is for labels"):
        read_groups(io.StringIO("q d 0.5 0.5\n"), "gender", ignore="1", format="gmemb")
    labels = {"a": "for", "b": "both", "c": "against", "d": None}
    assert contents(Membership.from_labels("side", labels, ignore=["both"])) == {"a": [1, 0], "c": [0, 1]}


def test_judgements_by_intent_are_not_read_as_groups() -> None:
    intents = "1 x a 2\n1 y b 1\n2 x a 0\n2 x b 1\n"
    with pytest.raises(DataError, match=r"<file>: is not read as groups: .*--qrels FILE:intents"):
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


def test_columns_of_shares_are_in_their_order() -> None:
    data = "doc,low,mid,high\na,0,0.5,0.5\n"
    groups = read_groups(io.StringIO(data), "stars", format="csv", ordinal=True)
    assert groups.attribute.values == ("low", "mid", "high")


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
    table = groups.shares.dense(np.arange(len(groups)))
    assert [int((table[:, 0] == share).sum()) for share in (1, 0, 0.5)] == [393, 284, 418 + 1012]


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


BAD: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "a sum": (
        "csv",
        "doc,value,prob\na,f,0.5\nb,f,1\na,m,0.4\n",
        {},
        "<file>:4: document 'a': its shares sum to 0.9, not to 1",
    ),
    "a sum of columns": (
        "csv",
        "doc,f,m,year\na,0.5,0.5,0\n\nb,1,0,1\n",
        {},
        "<file>:4: document 'b': its shares sum to 2, not to 1 "
        "(the columns taken for values: 'f', 'm', 'year')",
    ),
    "what is no number, by line": (
        "csv",
        "doc,value,prob\na,f,x\nb,f,nan\nc,f,\nd,,1\ne,f,1\n",
        {},
        "<file>:2: document 'a': share 'x' is not a number\n"
        "<file>:3: document 'b': share 'nan' is not finite\n"
        "<file>:4: document 'c': share is missing\n"
        "<file>:5: document 'd': value is missing",
    ),
    "out of range": (
        "csv",
        "doc,f,m\na,1.5,-0.5\nb,1,0\n",
        {"values": ["f", "m"]},
        "<file>:2: document 'a': share 1.5 is not between 0 and 1\n"
        "<file>:2: document 'a': share -0.5 is not between 0 and 1",
    ),
    "a gap in a row of shares": (
        "csv",
        "doc,f,m\na,1,\nb,,\nc,1,0\n",
        {},
        "<file>:2: document 'a': the share of m is missing",
    ),
    "unknown values": (
        "csv",
        "doc,gender\na,f\nb,x\nc,\nd,M\n",
        {"values": ["f", "m"]},
        "<file>:3: document 'b': 'x' is not a value of 'gender': they are 'f', 'm'; add it to values=, "
        "even= (equally of all values) or ignore= (no label)\n"
        "<file>:5: document 'd': 'M' is not a value of 'gender': they are 'f', 'm'",
    ),
    "two values": (
        "csv",
        "doc,gender\na,f\nb,m\na,m\nb,m\n",
        {},
        "<file>:4: document 'a' has two values, 'f' and 'm': give their shares, or say multilabel",
    ),
    "two values in a list": (
        "jsonl",
        '{"doc": "a", "gender": "f"}\n{"doc": "b", "gender": ["m", "f"]}\n',
        {},
        "<file>:2: document 'b' has two values, 'f' and 'm': give their shares, or say multilabel",
    ),
    "no labels": (
        "jsonl",
        '{"doc": "a", "gender": true}\n{"doc": "b", "gender": 0.5}\n{"doc": "c", "gender": [null]}\n'
        '{"doc": "d", "gender": {"f": "x"}}\n{"doc": "e", "gender": "\\ud800"}\n',
        {},
        "<file>:1: document 'a': value True (bool) is not a label: labels are text or whole numbers\n"
        "<file>:2: document 'b': value 0.5 (float) is not a label: labels are text or whole numbers\n"
        "<file>:3: document 'c': a value in the list is missing\n"
        "<file>:4: document 'd': the share of 'f' must be a number, got 'x' (str)\n"
        "<file>:5: document 'e': value '\\ud800' holds half of a surrogate pair, which no file can hold",
    ),
    "no document": ("csv", "doc,gender\n,f\n", {}, "<file>:2: document is empty"),
    "several values beside a share": (
        "jsonl",
        '{"doc": "a", "gender": ["f", "m"], "share": 1}\n',
        {},
        "<file>:1: document 'a': several values beside one share",
    ),
    "an empty file": ("csv", "", {}, "<file>: no groups (the file is empty)"),
    "a header alone": ("tsv", "doc\tgender\n", {}, "<file>: no groups (no line but the header)"),
    "nobody has a label": (
        "csv",
        "doc,gender\na,\n",
        {},
        "<file>: no groups (no document has a value of 'gender')",
    ),
    "no column for it": (
        "csv",
        "doc,age,name\na,1,x\n",
        {},
        "<file>: no column of labels for 'gender' (accepted: gender, value, group, label), and no columns of "
        "shares: 'name' holds no shares; the columns found are 'doc', 'age', 'name': name it with column=... "
        "(in the shell FILE:column=NAME); 'name' may be the labels: column='name' (in the shell "
        "FILE:column=name)",
    ),
    "rows of labels and shares, by other names": (
        "csv",
        "doc,sex,part\na,f,0.5\na,m,0.5\n",
        {"values": ["f", "m"]},
        "<file>: no column of labels for 'gender' (accepted: gender, value, group, label), and no columns of "
        "shares: none is called 'f'; the columns found are 'doc', 'sex', 'part': name it with column=... "
        "(in the shell FILE:column=NAME); 'sex' may be the labels: column='sex', columns={'share': 'part'} "
        "(in the shell FILE:column=sex:share=part)",
    ),
    "labels that are no values": (
        "csv",
        "doc,name\na,x\n",
        {"values": ["f", "m"]},
        "<file>: no column of labels for 'gender' (accepted: gender, value, group, label), and no columns of "
        "shares: none is called 'f'; the columns found are 'doc', 'name': name it with column=... "
        "(in the shell FILE:column=NAME)",
    ),
    "shares by another name": (
        "csv",
        "doc,gender,part\na,f,0.5\na,m,0.5\n",
        {},
        "<file>:3: document 'a' has two values, 'f' and 'm': give their shares, or say multilabel ('part' "
        "may be the shares: columns={'share': 'part'}, in the shell FILE:share=part)",
    ),
    "ages are no shares": (
        "csv",
        "doc,gender,age\na,f,30\na,m,30\n",
        {},
        "<file>:3: document 'a' has two values, 'f' and 'm': give their shares, or say multilabel",
    ),
    "columns of shares as labels": (
        "csv",
        "doc,f,m\na,0.5,0.5\nb,1,0\n",
        {"column": "f"},
        "<file>: 'f' holds shares, not labels: 'f', 'm' sum to 1 in every row, and stand for one value each; "
        "say values=['f', 'm'] and no column, for an attribute that is not called as one of them (in the "
        "shell FILE:values=f,m)",
    ),
    "authors without a header": (
        "csv",
        "d1,Advanced,Developing\nd2,Advanced\n",
        {},
        "<file>:2: 2 columns, but the header has 3\nif the first line is not a header and every line is "
        "document,label,label,.. then say format='trec-fair' (in the shell FILE:format=trec-fair)",
    ),
    "authors without a header, of the same number": (
        "csv",
        "d1,Advanced\nd2,Developing\n",
        {},
        "<file>: no column for the document (accepted: document, doc, doc_id, docid, docno, did, corpus-id); "
        "the columns found are 'd1', 'Advanced': name it with columns={'document': ...} (in the shell "
        "--columns document=NAME, or behind a file of groups FILE:document=NAME); "
        "if the first line is not a header and every line is "
        "document,label,label,.. then say "
        "format='trec-fair' (in the shell FILE:format=trec-fair)",
    ),
    "a table as trec-fair": (
        "trec-fair",
        "doc,gender\na,f\n",
        {},
        "<file>:1: this is the header of a table, and trec-fair has none: say format='csv' (in the shell "
        "FILE:format=csv), or nothing where the file is called .csv",
    ),
    "trec-fair as trec": (
        "trec",
        "a,f,m\nb,f\n",
        {},
        "<file>:1: 1 field, but 4 are needed: query iteration document label (for "
        "document,label,label,.. say "
        "format='trec-fair', in the shell FILE:format=trec-fair)\n"
        "<file>:2: 1 field, but 4 are needed: query iteration document label (for "
        "document,label,label,.. say "
        "format='trec-fair', in the shell FILE:format=trec-fair)",
    ),
    "a table as trec": (
        "trec",
        "doc,gender\n",
        {},
        "<file>:1: 1 field, but 4 are needed: query iteration document label (for a table say "
        "format='csv', in "
        "the shell FILE:format=csv)",
    ),
    "gmemb as trec": (
        "trec",
        "1 a 0.5 0.25 0.25\n",
        {},
        "<file>:1: 5 fields, but 4 are needed: query iteration document label (for query document share "
        "share .. "
        "say format='gmemb', in the shell FILE:format=gmemb)",
    ),
    "trec as gmemb": (
        "gmemb",
        "1 0 a FIRST\n",
        {},
        "<file>:1: document '0': share 'a' is not a number (for query iteration document label say "
        "format='trec', in the shell FILE:format=trec)",
    ),
    "one column of numbers": (
        "csv",
        "doc,age\na,1\n",
        {},
        "<file>: no column of labels for 'gender' (accepted: gender, value, group, label), and no columns of "
        "shares: a single column cannot hold shares; the columns found are 'doc', 'age': name it with "
        "column=... "
        "(in the shell FILE:column=NAME)",
    ),
    "a value without a column": (
        "csv",
        "doc,f\na,1\n",
        {"values": ["f", "m"]},
        "<file>: no column of labels for 'gender' (accepted: gender, value, group, label), and no columns of "
        "shares: none is called 'm'; the columns found are 'doc', 'f': name it with column=... "
        "(in the shell FILE:column=NAME)",
    ),
    "no documents": (
        "csv",
        "gender\nf\n",
        {},
        "<file>: no column for the document (accepted: document, doc, doc_id, docid, docno, did, corpus-id); "
        "the columns found are 'gender': name it with columns={'document': ...} (in the shell "
        "--columns document=NAME, or behind a file of groups FILE:document=NAME)",
    ),
    "two columns could be it": (
        "csv",
        "doc,group,label\na,1,2\n",
        {},
        "<file>: the values of 'gender' could be in any of the columns 'group', 'label': say which, "
        "column='group' (in the shell FILE:column=group)",
    ),
    "gmemb": (
        "gmemb",
        "1 a 0.5 0.5\n1 b 1\n1 c 0 0 1\n# x\n1 d 0 high\n1 e 0 nan\n",
        {},
        "<file>:2: 3 fields, but 4 or more are needed: query document share share ..\n"
        "<file>:3: document 'c': 3 shares, but 2 are needed\n"
        "<file>:5: document 'd': share 'high' is not a number\n"
        "<file>:6: document 'e': share 'nan' is not finite",
    ),
    "gmemb, with names": (
        "gmemb",
        "1 a 0.5 0.5\n",
        {"values": ["x", "y", "z"]},
        "<file>:1: document 'a': 2 shares, but 3 are needed",
    ),
    "gmemb, a sum": (
        "gmemb",
        "1 a 0.5 0.5\n\n1 b 0.5 0.4\n",
        {},
        "<file>:3: document 'b': its shares sum to 0.9, not to 1",
    ),
    "gmemb, bytes": ("gmemb", "1 a\0 0.5 0.5\n", {}, "<file>:1: NUL byte at byte 3 of the file"),
    "gmemb, empty": ("gmemb", "\n", {}, "<file>: no groups (there is no line with fields)"),
    "trec": (
        "trec",
        "1 0 a FIRST\n1 0 b\n",
        {},
        "<file>:2: 3 fields, but 4 are needed: query iteration document label",
    ),
    "trec, two labels": (
        "trec",
        "1 0 a FIRST\n2 0 a SECOND\n1 0 a SECOND\n",
        {},
        "<file>:3: document 'a' has two values, 'FIRST' and 'SECOND': give their shares, or say multilabel",
    ),
    "trec-fair": (
        "trec-fair",
        "a,f,m\n,f\n",
        {},
        "<file>:2: the document is empty: a line is document,label,label,..",
    ),
    "trec-fair, twice": ("trec-fair", "a,f,m\na,f\n", {}, "<file>:2: document 'a' has two shares of 'f'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(case: str) -> None:
    format, data, options, message = BAD[case]
    with pytest.raises(DataError) as caught:
        read_groups(io.BytesIO(data.encode()), "gender", format=format, **options)
    assert str(caught.value) == message


def test_twenty_problems_are_listed_in_the_order_of_the_file() -> None:
    data = "doc,f,m\n" + "".join(f"d{number},0.5,0.4\n" for number in range(30))
    with pytest.raises(DataError) as caught:
        read_groups(io.StringIO(data), "gender", format="csv", values=["f", "m"])
    lines = str(caught.value).split("\n")
    assert lines[0] == "<file>:2: document 'd0': its shares sum to 0.9, not to 1"
    assert lines[19] == "<file>:21: document 'd19': its shares sum to 0.9, not to 1"
    assert lines[20:] == ["<file>: only the first 20 problems are listed"]


def test_bad_objects_say_where() -> None:
    with pytest.raises(DataError) as caught:
        read_groups({"q1": {"a": "f"}, "q2": {"a": "x"}}, "gender", values=["f", "m"])
    assert str(caught.value) == (
        "gender: query 'q2': document 'a': 'x' is not a value of 'gender': they are 'f', 'm'; "
        "add it to values=, even= (equally of all values) or ignore= (no label)"
    )
    with pytest.raises(DataError) as caught:
        read_groups({"a": ["f", "m"], "b": 1.5}, "gender")
    assert str(caught.value) == (
        "gender: document 'b': value 1.5 (float) is not a label: labels are text or whole numbers"
    )
    with pytest.raises(DataError) as caught:
        read_groups(pl.DataFrame({"doc": ["a", "b"], "f": [1.0, 0.5], "m": [0.0, 0.25]}), "gender")
    assert str(caught.value) == (
        "gender: row 2: document 'b': its shares sum to 0.75, not to 1 "
        "(the columns taken for values: 'f', 'm')"
    )


REFUSED: dict[str, tuple[Any, dict[str, Any], type[EvenrankError], str]] = {
    "a list": ([("a", "f")], {}, InputTypeError, "groups are read from a path .* a dict .* got list"),
    "an empty dict": ({}, {}, DataError, r"^gender: no groups \(the mapping is empty\)$"),
    "a mix": ({"a": "f", "q": {"b": "f"}}, {}, InputTypeError, "not a mix of both"),
    "shares in a dict": (
        {"a": {"f": 1.0, "m": 0.0}},
        {},
        InputTypeError,
        "numbers with a point are none: shares of values are a table",
    ),
    "one value": ({"a": "f"}, {}, ParameterError, "a share needs at least two values"),
    "values as text": ({"a": "f"}, {"values": "fm"}, InputTypeError, "values must be a list of names"),
    "a scale of words": ({"a": "f", "b": "m"}, {"ordinal": True}, ParameterError, "are not numbers"),
    "an unknown format": (io.StringIO(""), {"format": "xml"}, ParameterError, "gmemb, trec-fair, got 'xml'"),
    "a format for a dict": ({"a": "f"}, {"format": "csv"}, ParameterError, "format= applies only to files"),
    "a column for a dict": ({"a": "f"}, {"column": "x"}, ParameterError, "columns= applies only to tables"),
    "a column for lines": (
        io.StringIO("1 0 a f\n"),
        {"column": "x", "format": "trec"},
        ParameterError,
        "a trec file has no named columns",
    ),
    "an unknown role": (
        pl.DataFrame({"doc": ["a"], "gender": ["f"]}),
        {"columns": {"score": "x"}},
        ParameterError,
        "'score' is not one of query, document, value, share",
    ),
    "two columns of values": (
        pl.DataFrame({"doc": ["a"], "x": ["f"], "y": ["f"]}),
        {"column": "x", "columns": {"value": "y"}},
        ParameterError,
        "the values are in 'x' or in 'y': say one",
    ),
    "no such column": (
        pl.DataFrame({"doc": ["a"], "x": ["f"]}),
        {"column": "y"},
        DataError,
        "no column 'y' for the value; the columns found are 'doc', 'x'",
    ),
    "an unknown rule": (
        {"a": "f"},
        {"unlabelled": "drop"},
        ParameterError,
        "unlabelled must be None or 'own'",
    ),
    "an unknown split": ({"a": "f"}, {"split": "half"}, ParameterError, "split must be one of share, full"),
    "even, of shares": (
        pl.DataFrame({"doc": ["a"], "f": [1.0], "m": [0.0]}),
        {"even": ["f"]},
        ParameterError,
        "even= is for labels",
    ),
    "even, and nobody has it": (
        {"a": "f", "b": "m"},
        {"even": ["boht"]},
        ParameterError,
        "no document has the label 'boht' of even=; found are 'f', 'm'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    source, options, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        read_groups(source, "gender", **options)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.csv: no such file"):
        read_groups(tmp_path / "gone.csv", "gender")


STARS = Attribute("stars", ("low", "mid", "high"), ordinal=True)
TARGETS: dict[str, tuple[str, str, Any]] = {
    "numbers": ("gold.golddistr", "0.5\n0.25\n\n0.25\n", (0.5, 0.25, 0.25)),
    "numbers in any file": ("gold.txt", "1\r\n0\r\n0\r\n", (1, 0, 0)),
    "by value": ("target.csv", "value,share\nhigh,0.75\nlow,0.25\n", (0.25, 0, 0.75)),
    "called like the attribute": ("target.tsv", "stars\tprob\nmid\t1\n", (0, 1, 0)),
    "by query and value": (
        "target.csv",
        "query,value,share\nq1,low,1\nq2,high,0.5\nq2,mid,0.5\n",
        {"q1": (1, 0, 0), "q2": (0, 0.5, 0.5)},
    ),
    "by query": (
        "target.csv",
        "topic,high,low,mid\nq1,0,1,0\nq2,0.5,0,0.5\n",
        {"q1": (1, 0, 0), "q2": (0, 0.5, 0.5)},
    ),
    "objects": ("target.jsonl", '{"qid": 7, "low": 0.5, "high": 0.5}\n', {"7": (0.5, 0, 0.5)}),
}


@pytest.mark.parametrize("case", TARGETS)
def test_targets(case: str, tmp_path: Path) -> None:
    name, data, expected = TARGETS[case]
    path = tmp_path / name
    path.write_text(data, newline="")
    found = read_target(path, STARS)
    assert found == expected
    settled = STARS.with_target(found).target
    assert (dict(settled) if isinstance(expected, dict) else settled) == expected


def test_a_target_in_a_table() -> None:
    assert read_target(pl.DataFrame({"value": ["low"], "share": [1]}), STARS) == (1, 0, 0)


BAD_TARGETS: dict[str, tuple[str, str, str]] = {
    "what is no share": (
        "t.golddistr",
        "0.5\nx\nnan\n1.5\n",
        "{0}:2: share 'x' is not a number\n{0}:3: share 'nan' is not finite\n"
        "{0}:4: share 1.5 is not between 0 and 1",
    ),
    "too few": (
        "t.golddistr",
        "0.5\n0.5\n",
        "{0}: 2 shares for the 3 values of 'stars': 'low', 'mid', 'high'",
    ),
    "a sum": ("t.golddistr", "0.5\n0.5\n0.5\n", "{0}: the shares sum to 1.5, not to 1"),
    "unknown values and twice": (
        "t.csv",
        "value,share\nlow,0.5\nlow,0.5\nx,0.5\nmid,2\n",
        "{0}:3: the value 'low' is listed twice\n"
        "{0}:4: 'x' is not a value of 'stars': they are 'low', 'mid', 'high'\n"
        "{0}:5: share 2 of 'mid' is not between 0 and 1",
    ),
    "a sum of a query": (
        "t.csv",
        "query,low,mid\nq1,0.5,0.5\nq2,0.5,0.4\n",
        "{0}:3: query 'q2': the shares sum to 0.9, not to 1",
    ),
    "no number": ("t.csv", "query,low,mid\nq1,x,1\n", "{0}:2: the share of low 'x' is not a number"),
    "a column that is no value": (
        "t.csv",
        "query,low,top\nq1,0,1\n",
        "{0}:2: query 'q1': 'top' is not a value of 'stars': they are 'low', 'mid', 'high'",
    ),
    "other columns": (
        "t.csv",
        "low,mid\n0,1\n",
        "{0}: a target has the columns value, share, or query, value, share, or query and one column a "
        "value; the columns found are 'low', 'mid'",
    ),
    "an empty file": ("t.csv", "", "{0}: no target (the file is empty)"),
    "queries alone": ("t.csv", "query\nq1\n", "{0}: no target (there are no shares)"),
}


@pytest.mark.parametrize("case", BAD_TARGETS)
def test_bad_targets(case: str, tmp_path: Path) -> None:
    name, data, message = BAD_TARGETS[case]
    path = tmp_path / name
    path.write_text(data)
    with pytest.raises(DataError) as caught:
        read_target(path, STARS)
    assert str(caught.value) == message.format(path)


def test_a_target_of_a_wrong_type() -> None:
    with pytest.raises(InputTypeError, match=r"a target is read from a path, .* got dict"):
        read_target({"low": 1.0}, STARS)


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
    assert caught.value.problems[0].what.startswith(f"{role} 'xxx")
    assert "is 10,001 bytes long; an id has at most 10,000" in str(caught.value)
    allowed = io.StringIO(line.format("x" * 10_000) + "\n")
    assert read_groups(allowed, "g", format=format, values=["f", "m"])
