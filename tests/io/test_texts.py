"""Texts by their ids: an id that is there twice is an error, and few of many can be asked for."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from evenrank.errors import DataError
from evenrank.systems import read_texts

TWICE = "a\tone\nb\ttwo\na\tone\n"


@pytest.mark.parametrize("text", ["one", "another"])
def test_an_id_that_is_there_twice_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "texts.tsv"
    path.write_text(f"a\tone\nb\ttwo\na\t{text}\n")
    message = r"texts\.tsv: .*'a'"
    for wanted in (None, {"a"}):
        with pytest.raises(DataError, match=message):
            read_texts(str(path), wanted=wanted)
        with pytest.raises(DataError, match=message):
            read_texts(path, wanted=wanted)
    assert read_texts(path, wanted={"b"}) == {"b": "two"}


def test_a_source_without_a_name_is_called_by_what_it_holds() -> None:
    with pytest.raises(DataError, match=r"^queries: .*'b', 'a'"):
        read_texts([("a", "x"), ("b", "y"), ("b", "z"), ("a", "x"), ("a", "x")], "queries")
    with pytest.raises(DataError, match=r"^<file>: "):
        read_texts(io.StringIO(TWICE), format="tsv")


def test_few_texts_of_a_mapping() -> None:
    assert read_texts({"a": "one", "b": "two"}, wanted={"b", "c"}) == {"b": "two"}
    with pytest.raises(DataError, match=r"documents: .*int"):
        read_texts({"a": 1}, wanted={"a"})
