"""Ids and labels that look the same: that they are different is said, with how many there are."""

from __future__ import annotations

from pathlib import Path

import pytest

import evenrank as er


def notes(scores: er.Scores) -> str:
    return "\n".join(note for own in scores.notes.values() for note in own)


@pytest.mark.parametrize("written", ["b ", " b", "b\u00a0", "B"])
def test_an_id_with_a_blank_in_a_csv_file_is_named(tmp_path: Path, written: str) -> None:
    path = tmp_path / "qrels.csv"
    path.write_text(f"query,document,grade\nq,{written},1\nq,c,1\n", encoding="utf-8")
    scores = er.evaluate({"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, "RR", qrels=str(path))
    assert scores.mean("RR") == pytest.approx(1 / 3)
    said = notes(scores)
    assert "1 ranked document" in said
    assert ascii(written) in said


def test_leading_zeros_are_named_where_other_ids_match() -> None:
    scores = er.evaluate({"q": {"8": 3.0, "9": 2.0}}, "RR", qrels={"q": {"008": 1, "9": 1}})
    assert scores.mean("RR") == 0.5
    assert "'8'" in notes(scores)
    assert "'008'" in notes(scores)
    assert "'8'" not in notes(er.evaluate({"q": {"8": 3.0}}, "RR", qrels={"q": {"8": 1, "9": 1}}))


def test_ids_of_queries_are_compared_in_the_same_way() -> None:
    scores = er.evaluate({"7": {"a": 1.0}, "8": {"a": 1.0}}, "RR", qrels={"007": {"a": 1}, "8": {"a": 1}})
    assert "'007'" in notes(scores)


@pytest.mark.parametrize("pair", [("A", "a"), ("1", "1.0"), ("NA", "none"), ("caf\u00e9", "cafe\u0301")])
def test_labels_that_are_possibly_one_are_listed(pair: tuple[str, str]) -> None:
    labels = {"a": pair[0], "b": pair[1], "c": "other"}
    scores = er.evaluate({"q": dict.fromkeys(labels, 1.0)}, "GF@3", groups=[er.read_groups(labels, "kind")])
    said = notes(scores)
    assert f"{pair[0]!r} and {pair[1]!r}" in said or f"{pair[1]!r} and {pair[0]!r}" in said
    labels["b"] = "x"
    plain = er.evaluate({"q": dict.fromkeys(labels, 1.0)}, "GF@3", groups=[er.read_groups(labels, "kind")])
    assert "Possibly" not in notes(plain)
