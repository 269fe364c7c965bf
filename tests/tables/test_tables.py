"""One table: the same cells as text, Markdown, LaTeX, HTML, and with every digit for programs."""

from __future__ import annotations

import csv
import io
import json
import math
import re

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evenrank.errors import ParameterError
from evenrank.tables import (
    BEST,
    NO_INTERVALS,
    TOO_WIDE,
    Column,
    Interval,
    Table,
    Value,
    as_cell,
    delimited,
    json_line,
    number,
    of_cell,
    printed,
    verdict_cell,
)
from evenrank.text import display_width, escape_latex, fit

TABLE = Table.of(
    ["run", "nDCG@10 ↑", "change"],
    [
        ["bm25", Value(0.25, 0.125, 0.375), None],
        ["dense", Value(0.5, 0.4, 0.6, best=True, raised="a"), Value(0.25, signed=True)],
        ["=evil|\x1b[2J", math.nan, Interval(-0.5, 0.5, signed=True)],
    ],
    title="one & two",
    notes=("a note with <b>markup</b>",),
)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.0000"), (-0.0, "0.0000"), (0.99995, "1.0000"), (-0.5, "-0.5000"), (4.9e-5, "4.9e-05"),
        (5e-5, "0.0001"), (-1.2e-05, "-1.2e-05"), (1e7, "1.0000e+07"), (9999999.0, "9999999.0000"),
        (math.inf, "infinite"), (-math.inf, "-infinite"), (math.nan, "undefined"), (None, ""),
        (5e-324, "4.9e-324"),
    ],
)  # fmt: skip
def test_a_number_has_one_form(value: float | None, shown: str) -> None:
    assert number(value) == shown


@given(st.floats(-1e300, 1e300))
def test_a_number_is_never_called_zero_unless_it_is(value: float) -> None:
    shown = float(number(value))
    assert (shown == 0) == (value == 0)
    assert shown == pytest.approx(value, rel=0.05, abs=5.1e-5)


def test_signed_numbers_have_their_sign() -> None:
    assert [number(v, signed=True) for v in (0.5, -0.5, 0.0)] == ["+0.5000", "-0.5000", "0.0000"]


def test_text_is_aligned_and_harmless() -> None:
    lines = TABLE.to_text().split("\n")
    assert lines[0] == "one & two"
    assert lines[1].startswith("run ")
    assert "\x1b" not in TABLE.to_text()
    assert lines[2].endswith("0.2500 [0.1250, 0.3750]")
    assert "0.5000 a [0.4000, 0.6000]" in lines[3]
    assert lines[3].endswith("+0.2500")
    assert "undefined" in lines[4]
    assert lines[4].endswith("[-0.5000, +0.5000]")
    assert lines[5] == "a note with <b>markup</b>"


def test_wide_characters_line_up() -> None:
    table = Table.of(["name", "n"], [["日本", 1], ["abcd", 22], ["e\u0301", 333]])
    ends = {display_width(line) for line in table.to_text().split("\n")}
    assert ends == {9}


def test_intervals_go_first_where_a_terminal_is_narrow() -> None:
    wide = TABLE.with_notes(())
    narrow = wide.to_text(46)
    assert "[0.1250" not in narrow
    assert NO_INTERVALS.split(":")[0] in " ".join(narrow.split())
    assert max(map(len, narrow.split("\n"))) <= 46
    assert NO_INTERVALS.split(":")[0] not in wide.to_text(200)


def test_what_does_not_fit_says_what_to_do() -> None:
    wide = TABLE.with_notes(())
    assert TOO_WIDE in " ".join(wide.to_text(20).split())
    assert TOO_WIDE not in " ".join(wide.to_text(46).split())
    assert TOO_WIDE not in wide.to_text()  # nobody said how wide the terminal is
    least = wide.width(intervals=False)
    assert "[0.1250" not in wide.to_text(least)  # it fits to the column
    assert TOO_WIDE not in wide.to_text(least)


def test_several_tables_say_once_what_bold_means(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain = Table.of(["run"], [["a"]])
    for form in ("markdown", "latex", "html"):
        assert printed([TABLE, TABLE, plain], form).count(BEST) == 1
    assert printed([TABLE, plain], "table", 80).count(BEST) == 1
    assert "\x1b[1m" in printed([TABLE], "table", 80)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in printed([TABLE], "table", 80)
    assert "\x1b" not in printed([TABLE], "table")


def test_a_title_without_rows_needs_no_head() -> None:
    assert Table.of(["query", "RBO"], [], title="no list moved").to_text(80) == "no list moved"
    assert Table.of(["query", "RBO"], []).to_text(80) == "query  RBO"


def test_an_elastic_column_is_cut() -> None:
    table = Table.of(["id", Column("words", right=False, elastic=True)], [["d1", "she 2, " * 40]])
    line = table.to_text(60).split("\n")[1]
    assert len(line) <= 60
    assert line.endswith("...")
    assert len(table.to_text(20).split("\n")[1]) <= 26  # it keeps its least width


def test_colour_marks_the_head_and_the_best_and_keeps_columns() -> None:
    plain, bold = TABLE.to_text(), TABLE.to_text(color=True)
    assert bold != plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", bold).replace(f"{BEST}\n", "") == plain
    assert bold.count(BEST) == 1
    assert BEST not in plain  # nothing is bold there
    assert "\x1b[1;32m0.5000 a" in bold


def test_markdown_latex_and_html_mark_the_best_and_quote_names() -> None:
    markdown, latex, html = TABLE.to_markdown(), TABLE.to_latex(), TABLE.to_html()
    assert "**0.5000**<sup>a</sup>" in markdown
    assert r"=evil\|" in markdown
    assert "| :--- | ---: | ---: |" in markdown
    assert r"\textbf{0.5000}\textsuperscript{a}" in latex
    assert r"nDCG@10 $\uparrow$" in latex
    assert "[$-$0.5000, +0.5000]" in latex
    assert r"\begin{tabular}{lrr}" in latex
    assert "<b>0.5000</b><sup>a</sup>" in html
    assert "<li>a note with &lt;b&gt;markup&lt;/b&gt;</li>" in html
    assert "\x1b" not in markdown + latex + html


def test_rows_for_programs_have_every_digit() -> None:
    table = Table.of(["run", "value"], [["a", 0.1 + 0.2], ["b", math.inf], ["c", math.nan]])
    assert table.to_tsv() == "run\tvalue\na\t0.30000000000000004\nb\tinf\nc\t\n"
    assert [json.loads(line)["value"] for line in table.to_jsonl().splitlines()] == [
        0.30000000000000004,
        "Infinity",
        None,
    ]
    assert printed([table, table], "csv").count("run,value") == 1


def test_records_stand_for_the_rows() -> None:
    table = Table.of(["a"], [["short"]], records=[{"x": 1.5, "flag": True, "list": [1, 2]}])
    assert table.to_csv() == 'x,flag,list\n1.5,true,"[1, 2]"\n'
    with pytest.raises(ParameterError, match="one table is printed at a time"):
        printed([table, Table.of(["b"], [["c"]])], "tsv")
    with pytest.raises(ParameterError, match="format must be one of"):
        printed([table], "yaml")


@given(st.text())
def test_a_formula_is_guarded_and_comes_back(text: str) -> None:
    guarded = as_cell(text)
    assert of_cell(guarded) == text
    assert not guarded.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


def test_names_of_columns_are_guarded_as_cells_are() -> None:
    assert delimited([{"=1+1": "@x", "plain": "'tis"}], ",") == "'=1+1,plain\n'@x,''tis\n"
    assert of_cell("'tis") == "'tis"  # which nobody guarded


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(st.text(), st.text()), min_size=1))
def test_delimited_rows_read_back(pairs: list[tuple[str, str]]) -> None:
    pairs = [(a.replace("\0", ""), b.replace("\0", "")) for a, b in pairs]
    text = delimited([{"a": a, "b": b} for a, b in pairs], ",")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == ["a", "b"]
    read = [tuple(map(of_cell, row)) if row else ("", "") for row in rows[1:]]
    assert read == pairs


def test_json_has_no_nan_at_any_depth() -> None:
    assert json_line({"a": [math.nan, {"b": -math.inf}]}) == '{"a": [null, {"b": "-Infinity"}]}\n'


@given(st.text(max_size=30), st.integers(4, 40))
def test_fitted_text_fits(text: str, width: int) -> None:
    assert display_width(fit(text, width)) <= width


def test_latex_specials_are_text() -> None:
    assert escape_latex("50% of_a {b} --") == r"50\% of\_a \{b\} {-}{-}"


def test_a_column_wraps_where_the_table_is_too_wide() -> None:
    """Nothing is lost, a word is never broken, and a table that fits stays as it is."""
    words = "one two three four five six seven eight nine ten eleven twelve"
    table = Table.of(
        ["key", Column("text", right=False, wraps=True), Column("n")], [["a", words, 3], ["b", "", 4]]
    )
    head, first, *rest, last = table.to_text(40).splitlines()
    assert all(len(line) <= 40 for line in (head, first, *rest, last))
    assert first.split()[0] == "a"
    assert first.split()[-1] == "3"
    assert [
        word for line in (first, *rest) for word in line.split() if word not in ("a", "3")
    ] == words.split()
    assert {line[:5] for line in rest} == {"     "}
    assert last.split() == ["b", "4"]
    assert len(table.to_text(200).splitlines()) == 3


def test_a_table_says_what_it_means_in_every_form_for_people() -> None:
    table = Table.of(["run", "n"], [["a", 1]], meaning="Higher <is> better.")
    assert table.to_text().split("\n")[-1] == "Higher <is> better."
    assert "- Higher &lt;is&gt; better." in table.to_markdown()
    assert "<li>Higher &lt;is&gt; better.</li>" in table.to_html()
    assert "% Higher <is> better.\n" in table.to_latex()
    assert "better" not in table.to_csv() + table.to_jsonl()
    assert Table.of(["run"], [], title="none", meaning="Higher is better.").to_text() == "none"


def test_verdicts_are_coloured_beside_their_word() -> None:
    table = Table.of(["run", "verdict"], [["better", verdict_cell("better")], ["b", verdict_cell("worse")]])
    assert table.to_text(80, color=True).count("\x1b[32mbetter\x1b[0m") == 1  # a run's name has no colour
    assert "\x1b[31mworse\x1b[0m" in table.to_text(80, color=True)
    assert "\x1b[2mundefined\x1b[0m" in Table.of(["a"], [[math.nan]]).to_text(80, color=True)


def test_what_is_too_wide_goes_on_below_with_the_names_of_the_rows() -> None:
    head = ["run", "query", *(f"measure{place}" for place in range(9))]
    rows = [[f"run{row}", f"q{row}", *(float(place) for place in range(9))] for row in range(2)]
    table = Table.of(head, rows, words=2, notes=["a note"])
    lines = table.to_text(60).split("\n")
    assert max(map(len, lines)) <= 60
    assert " ".join(lines).count("measure8") == 1
    assert [line.split()[:2] for line in lines if line.startswith("run0")] == [["run0", "q0"]] * 3
    assert lines[-1] == "a note"
    assert TOO_WIDE.split(":")[0] not in " ".join(lines)
    assert len(table.to_text().split("\n")[0]) > 100  # a file is read as one table


def test_no_word_is_broken_where_a_column_wraps() -> None:
    words = ["incomprehensibilities and other words"]
    table = Table.of(["a" * 30, "b" * 20, Column("what", right=False, wraps=True)], [["", "", *words]])
    assert "incomprehensibilities" in table.to_text(74)


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=12),
    st.lists(st.integers(1, 12), min_size=1, max_size=3),
)
@settings(max_examples=examples(40))
def test_lines_fit_the_width_wherever_one_column_does(width: int, heads: list[int], names: list[int]) -> None:
    head = ["n" * size for size in names] + ["m" * size for size in heads]
    table = Table.of(head, [["x"] * len(head)], words=len(names))
    text = table.to_text(width)
    if TOO_WIDE.split(":")[0] not in " ".join(text.split()):
        assert max(map(len, text.split("\n"))) <= width
    assert all(text.count("m" * size) for size in heads)


@pytest.mark.parametrize("width", [60, 80, 90])
def test_every_block_names_its_rows_however_long_the_names_are(width: int) -> None:
    names = [f"GroupShare(attr='gender',attention=log2)@10[{side}]" for side in ("female", "male")]
    rows = [[run, name, 0.25, Interval(0.125, 0.5), 60] for run in ("bm25", "dense") for name in names]
    table = Table.of(["run", "measure", "value", "95% interval", "n"], rows, words=2)
    text = table.to_text(width)
    assert max(map(len, text.split("\n"))) <= width
    for block in text.split("\n\n"):
        lines = block.split("\n")
        assert lines[0].split()[:2] == ["run", "measure"]
        begin = lines[0].index("measure")
        folded = "".join(line[begin:].split("  ")[0].strip() for line in lines[1:])
        assert folded == "".join(names * 2), block
        assert sum(line.startswith(("bm25", "dense")) for line in lines) == 4


def test_a_text_that_is_elastic_is_not_folded() -> None:
    columns = [Column("query", right=False, elastic=True), Column("value")]
    lines = Table.of(columns, [["many words " * 20, 0.5]]).to_text(60).split("\n")
    assert len(lines) == 2
    assert "..." in lines[1]


def test_brackets_are_explained_where_there_are_any() -> None:
    def lines(table: Table, width: int) -> list[str]:
        return table.to_text(width).split("\n")

    def table(low: float, high: float) -> Table:
        rows = [["a", Value(0.25, low, high)], ["b", Value(0.5, low, high)]]
        return Table.of(["run", "nDCG@10"], rows, brackets="brackets: 95% interval", notes=["a note"])

    known = table(0.125, 0.75)
    assert lines(known, 80)[-2:] == ["brackets: 95% interval", "a note"]
    narrow = known.to_text(known.width(intervals=False))
    assert NO_INTERVALS.split(":")[0] in " ".join(narrow.split())
    assert "brackets" not in narrow
    assert lines(table(math.nan, math.nan), 80)[-2:] == ["b     0.5000", "a note"]
    assert "- brackets: 95% interval\n- a note" in known.to_markdown()
