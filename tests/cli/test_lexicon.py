"""``evenrank lexicon``: every action, and what it says where something is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from evenrank import read_lexicon
from evenrank.evidence.scan import scan_file

Evenrank = Callable[..., SimpleNamespace]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.csv").write_text("word,group,partner\nshe,female,he\nher,female,\nwife,female,husband\n"
                                    "wives,female,\nrose,female,\nhe,male,\nhusband,male,\n")  # fmt: skip
    (tmp_path / "d.tsv").write_text(
        "a\tshe and her wife Rose\nb\the and she\nc\tnobody\nd\ther husband he he\n"
    )
    lines = [
        f"q{i} Q0 {d} {r} {9 - r} x" for i in range(6) for r, d in enumerate("abcd"[i % 2 :] + "a" * (i % 2))
    ]
    (tmp_path / "r.trec").write_text("\n".join(lines) + "\n")
    other = [line.translate(str.maketrans("cd", "dc")) for line in lines]
    (tmp_path / "s.trec").write_text("\n".join(other) + "\n")
    return tmp_path


def test_check(evenrank: Evenrank) -> None:
    found = evenrank("lexicon", "check", "w.csv", "--format", "jsonl")
    rows = [json.loads(line) for line in found.out.splitlines()]
    assert {(row["kind"], row["word"]) for row in rows} == {
        ("other meaning", "rose"), ("missing form", "husbands"), ("uneven groups", ""),
    }  # fmt: skip
    used = evenrank("lexicon", "check", "w.csv", "--documents", "d.tsv", "--format", "jsonl")
    assert ("never found", "wives") in {
        (row["kind"], row["word"]) for row in map(json.loads, used.out.splitlines())
    }


def test_a_word_of_a_list_may_mostly_be_a_name_in_texts_and_a_name_mostly_a_word(evenrank: Evenrank) -> None:
    Path("x.json").write_text(json.dumps({"f": ["king", "ruby"], "m": ["lad", "john"]}))
    texts = ["So said Martin King, and a lad saw Larry King near a ruby. John left."] * 20 + ["lads"]
    Path("t.tsv").write_text("".join(f"t{place}\t{text}\n" for place, text in enumerate(texts)))
    found = evenrank("lexicon", "check", "x.json", "--documents", "t.tsv", "--format", "jsonl")
    rows = {(row["kind"], row["word"]) for row in map(json.loads, found.out.splitlines())}
    assert {("mostly a name", "king"), ("missing form", "lads")} <= rows


def test_compare(evenrank: Evenrank) -> None:
    (Path("v.csv")).write_text("word,group\nshe,female\nhe,male\nrose,male\n")
    words = evenrank("lexicon", "compare", "w.csv", "v.csv", "--format", "jsonl")
    rows = [json.loads(line) for line in words.out.splitlines()]
    assert [(row["group"], row["both"], row["only w"], row["only v"]) for row in rows] == [
        ("female", 1, 4, 0), ("male", 1, 1, 1),
    ]  # fmt: skip
    scan_file("d.tsv", read_lexicon("w.csv"), "c.parquet", terms=True)
    both = evenrank("lexicon", "compare", "w.csv", "v.csv", "--words", "c.parquet")
    assert "in another group of v: 'rose'" in both.out
    # a: led by women with w, a tie with v; d: led by men with both; so one of four differs
    assert "documents that another group leads" in both.out
    row = next(line for line in both.out.splitlines() if line.startswith("documents that another"))
    assert row.split()[-1] == "0.2500"


def test_sensitivity(evenrank: Evenrank) -> None:
    scan_file("d.tsv", read_lexicon("w.csv"), "c.parquet", terms=True)
    scan_file("d.tsv", read_lexicon("w.csv"), "plain.parquet")
    scan_file("d.tsv", read_lexicon("w.csv"), "blanks.parquet", tokenizer="whitespace")
    command = ("lexicon", "sensitivity", "r.trec", "s.trec", "-m", "TExFAIR@3 FaiRR@3")
    outcome = evenrank(*command, "--words", "c.parquet", "--lexicon", "blanks.parquet", "--seed", "1")
    assert outcome.code == 0, outcome.err
    assert "TExFAIR@3 by word list" in outcome.out
    assert "the words that matter most" in outcome.out
    assert "verdicts are the same under every list" in outcome.out
    assert "blanks.parquet" in outcome.out
    assert "tau=3" in outcome.out
    refused = evenrank(*command, "--words", "plain.parquet")
    assert (refused.code, refused.out) == (2, "")
    assert "evenrank scan COLLECTION --lexicon NAME --terms -o counts.parquet" in refused.err
    lacking = evenrank(*command)
    assert lacking.code == 2
    assert "--words" in lacking.err
    assert "evenrank scan --terms" in lacking.err
    assert evenrank(*command, "--words", "c.parquet", "-o", "s.jsonl").code == 0
    assert json.loads(Path("s.jsonl").read_text().splitlines()[0])["measure"] == "TExFAIR@3"


def test_check_finds_missing_forms_by_rule(evenrank: Evenrank) -> None:
    """Without documents: what a person would notice at once in a list of singular words."""
    words = {
        "female": ["mother", "lady", "she", "her", "feminine", "mary", "stepwife", "duchess"],
        "male": ["father", "fathers", "fireman", "he", "him", "masculine", "john", "hero", "duke"],
    }
    Path("l.json").write_text(json.dumps(words))
    found = evenrank("lexicon", "check", "l.json", "--format", "jsonl")
    rows = [json.loads(line) for line in found.out.splitlines()]
    missing = {row["word"]: row["what"] for row in rows if row["kind"] == "missing form"}
    assert set(missing) == {
        "mothers", "ladies", "stepwives", "duchesses", "firemen", "heroes", "dukes"
    }  # fmt: skip
    assert missing["mothers"] == "'mother' is in the list; this is its regular plural"


def test_check_finds_missing_german_forms(evenrank: Evenrank) -> None:
    Path("l.csv").write_text(
        "word,group\nfrau,female\nmutter,female\nlehrerin,female\nmann,male\nvater,male\nvätern,male\n"
    )
    found = evenrank("lexicon", "check", "l.csv", "--format", "jsonl")
    rows = [json.loads(line) for line in found.out.splitlines()]
    missing = {row["word"] for row in rows if row["kind"] == "missing form"}
    shipped = set(read_lexicon("gender-de").terms)
    expected = {"frauen", "mütter", "müttern", "manns", "mannes", "männer", "männern", "vaters", "väter"}
    assert missing == (expected & shipped) | {"lehrerinnen"}
    assert {"männern", "müttern", "väter"} <= missing


def test_check_names_duplicates(evenrank: Evenrank) -> None:
    Path("l.csv").write_text("word,group\nmother,female\nfather,male\nMother,female\nmother,male\n")
    found = evenrank("lexicon", "check", "l.csv", "--format", "jsonl")
    assert (found.code, found.out) == (1, "")
    assert "l.csv:4: 'Mother'" in found.err
    assert "l.csv:5: 'mother'" in found.err
    Path("l.json").write_text('{"female": ["mother", "Mother"], "male": ["father", "mother"]}')
    listed = evenrank("lexicon", "check", "l.json", "--format", "jsonl")
    assert (listed.code, "'Mother'" in listed.err, "'mother'" in listed.err) == (1, True, True)
    assert evenrank("lexicon", "show", "l.csv").code == 1  # who uses the list must mend it first
