"""Tables of scores: harmless for any name, short for people, and whole for programs."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from drawn import made
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenrank import Lexicon, Run, Scores, evaluate, read_groups, scan

NAN = math.nan
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12) | st.sampled_from(
    [
        "<script>alert(1)</script>",
        "a_b%c&d#e$f{g}~^\\",
        "=cmd|' /C calc'!A0",
        "x|y\nz",
        "[x]",
        "*",
        "a\x1b[2Jb",
        "日本",
    ]
)


def test_undefined_is_a_word_and_infinite_values_are_counted() -> None:
    scores = made({"a": {"RR": [NAN, NAN], "AP": [1.0, -math.inf, 1.0]}})
    text = repr(scores)
    assert "nan" not in text.lower().replace("[", " ").split()
    rows = [line.split(maxsplit=4) for line in text.splitlines()[1:3]]
    assert rows[0] == ["RR", "↑", "undefined", "undefined", "0/2"]
    assert rows[1][-1].endswith("2/3, 1 infinite")
    assert "nothing to count (2)" in text


def test_a_table_says_over_how_many_queries_each_value_is() -> None:
    """In a column where all measures of a run share it, in the head where all runs do, else beside values."""
    beside = made({"a": {"RR": [1.0, NAN], "AP": [1.0, 1.0]}, "b": {"RR": [1.0, 1.0], "AP": [1.0, 1.0]}})
    head, first, second = repr(beside).splitlines()[:3]
    assert "(n = 2)" in head
    assert "(n = 1/2)" in first
    assert "(n = 2)" in second
    by_run = made({"a": {"RR": [1.0], "AP": [1.0]}, "b": {"RR": [1.0, 1.0], "AP": [1.0, 1.0]}})
    assert [line.split()[-1] for line in repr(by_run).splitlines()[:3]] == ["n", "1", "2"]
    by_measure = made({run: {"RR": [1.0], "AP": [1.0, 1.0]} for run in "ab"})
    assert re.findall(r"\(n = \d\)", repr(by_measure).splitlines()[0]) == ["(n = 1)", "(n = 2)"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.12345, "0.1235"), (-0.5, "-0.5000"), (-0.0, "0.0000"), (1e-9, "1.0e-09"), (3e8, "3.0000e+08")],
)
def test_numbers(value: float, shown: str) -> None:
    assert f" {shown} " in repr(made({"a": {"RR": [value]}}))


class Cells(HTMLParser):
    """Collects every tag."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)


@given(NAMES, NAMES)
@settings(max_examples=examples(60))
def test_no_name_breaks_a_table(one: str, other: str) -> None:
    assume(one != other)
    scores = made({one: {"RR": [1.0, 0.0]}, other: {"RR": [0.0, 0.0]}}, notes={one: [f"note of {other}"]})
    assert all(line.isprintable() for line in repr(scores).splitlines())

    page = Cells()
    page.feed(scores._repr_html_())
    assert page.tags - {"b"} == {"table", "thead", "tbody", "tr", "th", "td", "ul", "li"}

    table = scores.to_table()
    markdown = table.to_markdown().split("\n\n")[0].splitlines()
    assert [len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in markdown] == [4] * 4
    assert "<" not in "".join(markdown)

    rows = table.to_latex().partition("\\midrule\n")[2].splitlines()[:2]
    for row in rows:
        assert row.endswith(" \\\\")
        assert len(re.findall(r"(?<!\\)&", row)) == 2
        assert not re.search(r"(?<!\\)[%#_]", row)
        assert re.match(r"[^\[*]", row)

    programs = [json.loads(line)["run"] for line in table.to_jsonl().split("\n") if line]
    assert programs == [one, other]


def test_names_of_formulas_get_an_apostrophe_in_tables_of_text() -> None:
    name = '=HYPERLINK("x")\t\n<b>'
    text = made({name: {"RR": [1.0]}}).to_table().to_tsv()
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t"))
    assert rows[1][0] == "'" + name


def test_rows_of_nothing_defined_have_no_value() -> None:
    table = made({"a": {"RR": [NAN]}}).to_table()
    assert table.to_tsv().splitlines()[1].split("\t")[3:6] == ["", "", ""]
    row = json.loads(table.to_jsonl())
    assert (row["value"], row["undefined"]) == (None, {"nothing to count": 1})


def test_no_scores() -> None:
    assert repr(Scores(())) == "no scores"


def test_the_best_of_a_column_is_marked_where_one_value_is_better() -> None:
    of_a = {"RR": [0.5] * 6, "NumRet": [1.0] * 6, "AP": [NAN] * 6, "NDKL": [0.7] * 6}
    of_b = {"RR": [0.2] * 6, "NumRet": [2.0] * 6, "AP": [0.6] * 6, "NDKL": [0.3] * 6}
    latex = made({"a": of_a, "b": of_b}).to_table().to_latex()
    assert re.findall(r"\\textbf\{([^}]*)\}", latex) == ["0.5000", "0.6000", "0.3000"]
    assert "textbf" not in made({"a": of_a}).to_table().to_latex()  # one run is not better than another


WORDS = [f"w{place:02d}" for place in range(40)]


def test_of_very_many_columns_people_see_the_largest_and_programs_all(tmp_path: Path) -> None:
    """25 of 40 columns have values, the largest last; the last query is undefined."""
    values = {word: [max(place - 14, 0) / 100] * 2 + [NAN] for place, word in enumerate(WORDS)}
    scores = made({"bm25": {"TermExposure@5": values}})
    lines = repr(scores).splitlines()
    assert [line.split()[0] for line in lines[1:21]] == [f"TermExposure@5[{word}]" for word in WORDS[:19:-1]]
    assert "the 20 largest" in lines[-1] + lines[-2]
    table = scores.to_table()
    for text in (table.to_html(), table.to_markdown(), table.to_latex()):
        assert text.count("w39") == 1
        assert "w19" not in text
    assert len(table.to_tsv().splitlines()) == 1 + 40
    scores.write(tmp_path / "x.tsv")
    assert len((tmp_path / "x.tsv").read_text().splitlines()) == 1 + 3 * 40


def test_words_that_no_list_has_are_left_out() -> None:
    lexicon = Lexicon.build("many", {"a": WORDS[:20], "b": WORDS[20:]})
    run = Run.build(["q", "q"], ["d", "e"], [2.0, 1.0], name="bm25")
    words = scan([("d", "w03 and w30"), ("e", "w30 too")], lexicon, terms=True)
    lines = repr(evaluate(run, "TermExposure@2", words=words)).splitlines()
    named = [line.split()[0] for line in lines[1:4] if line.startswith("TermExposure@2[")]
    assert named == ["TermExposure@2[w30]", "TermExposure@2[w03]"]


def test_the_same_note_is_one_line_whatever_it_is_about() -> None:
    tied = {query: {"a": 1.0, "b": 1.0} for query in "qr"}
    groups = read_groups({"a": "x", "b": "y"}, "side")
    runs = {"one": tied, "two": tied, "three": {"q": {"a": 2.0, "b": 1.0}}}
    text = repr(evaluate(runs, "RR AP GF@2", qrels={"q": {"a": 1}, "r": {"b": 1}}, groups=groups))
    assert text.count("equal scores") == 1
    assert "one, two: 2 of 2 lists have equal scores" in text
    assert text.count("not in the run") == 1
    assert "more notes: see notes" in text


def test_few_notes_are_shown_and_files_have_all(tmp_path: Path) -> None:
    notes = [f"note {'x' * n}." for n in range(8)]
    scores = made({"a": {"RR": [0.5] * 6}}, notes={"a": notes})
    assert sum(note in repr(scores) for note in notes) == 5
    words = scan([("d", "he")], Lexicon.build("two", {"f": ["she"], "m": ["he"]}))
    lists = {f"run{n}": {"q": {"d": 9.0} | {f"d{m}": 1 / m for m in range(1, n + 2)}} for n in range(4)}
    alike = repr(evaluate(lists, "FaiRR", words=words, missing="neutral"))
    assert alike.count("documents have no word counts") == 1
    assert "3 other runs" in alike
    for suffix in ("md", "tex", "jsonl"):
        scores.write(tmp_path / f"s.{suffix}")
        text = (tmp_path / f"s.{suffix}").read_text()
        assert all(note in text for note in notes)


def test_notes_that_change_no_reading_are_counted(tmp_path: Path) -> None:
    """Of what was read back, too: how GF was computed, and which groups there are."""
    groups = read_groups({"a": "x", "b": "y"}, "side")
    scores = evaluate({"q": {"a": 1.0, "b": 1.0}}, "GF@2", groups=groups)
    scores.write(tmp_path / "s.jsonl")
    for found in (scores, Scores.read(tmp_path / "s.jsonl")):
        assert "equal scores" in repr(found)
        assert "2 more notes: see notes" in repr(found)
        assert "computed as" not in repr(found)
        assert found.notes == scores.notes
