"""Tables for people: exact on a small example, harmless for any name."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evenrank import Qrels, Run, Scores, evaluate, parse_measure
from evenrank.scores import ScoresBlock
from evenrank.scores.notes import remarks
from evenrank.scores.score_tables import (
    ONE_MEANING,
    QUERIES_MEANING,
    SEVERAL_MEANING,
    best_value,
    print_scores,
    query_table,
    summary_table,
)
from evenrank.tables import NO_INTERVALS
from evenrank.text import display_width, escape_latex, escape_markdown, printable

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


def block(run: str, measure: str, values: list[float], queries: list[str] | None = None) -> ScoresBlock:
    """One column; NaN is undefined for the reason 'nothing to count'."""
    array = np.array(values, dtype=float).reshape(-1, 1)
    status = np.where(np.isnan(array), 2, np.where(np.isinf(array), 1, 0)).astype(np.int16)
    ids = tuple(queries or [f"q{place}" for place in range(len(values))])
    return ScoresBlock(
        run, parse_measure(measure), ids, ("",), array, status, ("ok", "infinite", "nothing to count")
    )


def text(scores: Scores, width: int) -> str:
    return summary_table(scores, width, notes=False).to_text(width)


@pytest.fixture
def one_run() -> Scores:
    run = Run.build(["q1", "q1", "q2", "q3"], ["a", "b", "c", "d"], [2.0, 1.0, 1.0, 1.0], name="bm25")
    qrels = Qrels.build(["q1", "q2", "q4", "q5"], ["b", "c", "x", "z"], [1, 2, 1, 0])
    return evaluate(run, "nDCG@10 RR@10 NumRet", qrels=qrels)


@pytest.fixture
def two_runs() -> Scores:
    blocks = (block("bm25", "RR", [0.5] * 10), block("bm25", "AP", [0.25] * 10))
    others = (block("dense", "RR", [1.0] * 10), block("dense", "AP", [0.75] * 10))
    return Scores(blocks + others, {"bm25": ("one note",), "dense": ("one note", "another")})


def test_text_of_one_run(one_run: Scores) -> None:
    table, _, beneath = repr(one_run).partition("\nnDCG@10, RR@10: ")
    assert table.splitlines() == [
        "measure     value  95% interval    n",
        "nDCG@10 ↑  0.5436     undefined  3/4",
        "RR@10 ↑    0.5000     undefined  3/4",
        "NumRet     3.0000     undefined    4",
        ONE_MEANING,
    ]
    lines = beneath.splitlines()
    assert lines[0] == "undefined for 1 of 4 queries: no relevant document (1)"
    assert lines[1] == "nDCG@10, RR@10, NumRet: no interval: fewer than 5 queries have a value"
    assert lines[2] == "NumRet: the value is the sum over queries, not the mean"
    assert lines[3:-1] == list(one_run.notes["bm25"])
    assert len(lines[3:-1]) == 2
    assert lines[-1] == "↑ higher is better"


def test_text_of_several_runs_is_runs_against_measures(two_runs: Scores) -> None:
    assert repr(two_runs).splitlines() == [
        "run                       RR ↑                     AP ↑   n",
        "bm25   0.5000 [0.4206, 0.5794]  0.2500 [0.1735, 0.3503]  10",
        "dense  1.0000 [0.8652, 1.0000]  0.7500 [0.6497, 0.8265]  10",
        SEVERAL_MEANING,
        "one note",
        "dense: another",
        "↑ higher is better",
    ]


@pytest.mark.parametrize("width", [58, 25])
def test_intervals_are_left_out_where_they_would_not_fit(two_runs: Scores, width: int) -> None:
    assert text(two_runs, width).splitlines()[:3] == [
        "run      RR ↑    AP ↑   n",
        "bm25   0.5000  0.2500  10",
        "dense  1.0000  0.7500  10",
    ]
    said = NO_INTERVALS
    assert said in " ".join(text(two_runs, width).split())
    assert said not in text(two_runs, 59)
    assert "[0.4206, 0.5794]" in text(two_runs, 59)


def test_text_is_long_where_it_would_not_fit(two_runs: Scores) -> None:
    lines = text(two_runs, 20).splitlines()
    assert lines[:2] == ["run    measure", "bm25   RR ↑"]
    assert lines[6:8] == ["run     value", "bm25   0.5000"]
    assert lines[22] == "dense  10"
    assert NO_INTERVALS[:13] not in "".join(lines)
    assert "note" not in "".join(lines)


def test_text_is_long_where_a_run_lacks_a_measure() -> None:
    of_a = (block("a", "RR", [1.0, 1.0]), block("a", "AP", [1.0, 1.0]))
    lines = repr(Scores((*of_a, block("b", "RR", [1.0, 1.0])))).splitlines()
    assert [line.split()[:2] for line in lines[1:4]] == [["a", "RR"], ["a", "AP"], ["b", "RR"]]


def test_a_table_says_over_how_many_queries_each_value_is() -> None:
    """In a column where all measures of a run share it, in the head where all runs do, else beside values."""
    of_a = (block("a", "RR", [1.0, math.nan]), block("a", "AP", [1.0, 1.0]))
    of_b = (block("b", "RR", [1.0, 1.0]), block("b", "AP", [1.0, 1.0]))
    assert repr(Scores(of_a + of_b)).splitlines()[:3] == [
        "run              RR ↑  AP ↑ (n = 2)",
        "a    1.0000 (n = 1/2)        1.0000",
        "b      1.0000 (n = 2)        1.0000",
    ]
    by_run = (block("a", "RR", [1.0]), block("a", "AP", [1.0]), *of_b)
    assert [line.split()[-1] for line in repr(Scores(by_run)).splitlines()[:3]] == ["n", "1", "2"]
    by_measure = (block("a", "RR", [1.0]), block("a", "AP", [1.0, 1.0]), block("b", "RR", [0.0]), of_b[1])
    assert repr(Scores(by_measure)).splitlines()[0] == "run  RR ↑ (n = 1)  AP ↑ (n = 2)"


def test_undefined_is_a_word_and_infinite_values_are_counted() -> None:
    scores = Scores((block("a", "RR", [math.nan, math.nan]), block("a", "AP", [1.0, -math.inf, 1.0])))
    text = repr(scores)
    assert "nan" not in text.lower().replace("[", " ").split()
    rows = [line.split(maxsplit=4) for line in text.splitlines()[1:3]]
    assert rows[0] == ["RR", "↑", "undefined", "undefined", "0/2"]
    assert rows[1][-1].endswith("2/3, 1 infinite")
    assert "RR: undefined for 2 of 2 queries: nothing to count (2)" in text
    assert "AP: infinite for 1 of 3 queries, which the mean leaves out" in text


def test_remarks_say_which_run_where_it_is_not_all() -> None:
    scores = Scores((block("a", "RR", [1.0, math.nan]), block("b", "RR", [1.0, 1.0])))
    assert remarks(scores)[0] == "a: RR: undefined for 1 of 2 queries: nothing to count (1)"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.12345, "0.1235"), (-0.5, "-0.5000"), (-0.0, "0.0000"), (1e-9, "1.0e-09"), (3e8, "3.0000e+08")],
)
def test_numbers(value: float, shown: str) -> None:
    assert f" {shown} " in repr(Scores((block("a", "RR", [value]),)))


def test_wide_characters_are_aligned() -> None:
    scores = Scores((block("日本", "RR", [1.0]), block("ab", "RR", [0.5])))
    lines = repr(scores).splitlines()[:3]
    assert len({display_width(line) for line in lines}) == 1
    assert display_width("日本") == 4
    assert display_width("e\u0301") == 1


def test_markdown(two_runs: Scores) -> None:
    assert print_scores(two_runs, "markdown") == (
        "| run | RR ↑ | AP ↑ | n |\n"
        "| :--- | ---: | ---: | ---: |\n"
        "| bm25 | 0.5000 [0.4206, 0.5794] | 0.2500 [0.1735, 0.3503] | 10 |\n"
        "| dense | **1.0000** [0.8652, 1.0000] | **0.7500** [0.6497, 0.8265] | 10 |\n"
        f"\n- {SEVERAL_MEANING}\n- bold: the best value of a measure\n- ↑ higher is better\n"
    )


def test_latex() -> None:
    scores = Scores((block("my_run 50%", "nDCG(dcg='exp-log2')@10", [math.nan] + [-0.5] * 10),))
    assert print_scores(scores, "latex", notes=True) == (
        "% needs \\usepackage{booktabs}\n"
        f"% {ONE_MEANING}\n"
        "% nDCG(dcg='exp-log2')@10: undefined for 1 of 11 queries: nothing to count (1)\n"
        "% ↑ higher is better\n"
        "\\begin{tabular}{lrrr}\n"
        "\\toprule\n"
        "measure & value & 95\\% interval & n \\\\\n"
        "\\midrule\n"
        "nDCG(dcg='exp{-}log2')@10 $\\uparrow$ & $-$0.5000 & [$-$0.5000, $-$0.2978] & 10/11 \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
    )
    undefined = print_scores(Scores((block("a", "RR", [math.nan]),)), "latex", notes=True)
    assert "RR $\\uparrow$ & -- & -- & 0/1 \\\\" in undefined


class Cells(HTMLParser):
    """Collects what stands in the cells, and every tag."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@given(NAMES, NAMES)
@settings(max_examples=examples(60))
def test_no_name_breaks_a_table(one: str, other: str) -> None:
    if printable(one) == printable(other):
        return
    scores = Scores(
        (block(one, "RR", [1.0, 0.0]), block(other, "RR", [0.0, 0.0])), {one: (f"note of {other}",)}
    )
    text = repr(scores).splitlines()
    assert len({display_width(line) for line in text[:3]}) == 1
    assert all(line.isprintable() for line in text)

    page = Cells()
    page.feed(scores._repr_html_())
    assert page.tags - {"b"} == {"table", "thead", "tbody", "tr", "th", "td", "ul", "li"}
    assert printable(one) in page.text

    markdown = print_scores(scores, "markdown", notes=True).split("\n\n")[0].splitlines()
    assert [len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in markdown] == [4] * 4
    assert "<" not in "".join(markdown)

    rows = print_scores(scores, "latex", notes=True).partition("\\midrule\n")[2].splitlines()[:2]
    for row in rows:
        assert row.endswith(" \\\\")
        assert len(re.findall(r"(?<!\\)&", row)) == 2
        assert re.match(r"[^\[*]", row)


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("a_b", r"a\_b"),
        ("50%", r"50\%"),
        ("\\x", r"\textbackslash{}x"),
        ("{~}", r"\{\textasciitilde{}\}"),
        ("\n", r"\textbackslash{}n"),
    ],
)
def test_latex_specials(name: str, latex: str) -> None:
    assert escape_latex(name) == latex


def test_markdown_specials() -> None:
    assert escape_markdown("a|b<i>*c*") == r"a\|b&lt;i&gt;\*c\*"


def test_summary_rows_for_programs(one_run: Scores) -> None:
    table = list(csv.DictReader(io.StringIO(print_scores(one_run, "tsv")), delimiter="\t"))
    objects = [json.loads(line) for line in print_scores(one_run, "jsonl").splitlines()]
    assert [row["measure"] for row in table] == ["nDCG@10", "RR@10", "NumRet"]
    assert float(table[0]["value"]) == one_run.mean("nDCG@10") == objects[0]["value"]
    assert (table[0]["queries"], table[0]["defined"], table[0]["undefined"]) == ("4", "3", "1")
    assert objects[0]["undefined"] == {"no relevant document": 1}
    assert [row["aggregation"] for row in table] == ["mean", "mean", "sum"]


def test_summary_rows_of_nothing_defined() -> None:
    scores = Scores((block("a", "RR", [math.nan]),))
    assert print_scores(scores, "tsv").splitlines()[1].split("\t")[3:6] == ["", "", ""]
    assert json.loads(print_scores(scores, "jsonl"))["value"] is None


def test_names_for_programs_come_back() -> None:
    """In TSV, which people open in spreadsheets, a formula has an apostrophe before it."""
    name = '=HYPERLINK("x")\t\n<b>'
    scores = Scores((block(name, "RR", [1.0]),))
    rows = list(csv.reader(io.StringIO(print_scores(scores, "tsv"), newline=""), delimiter="\t"))
    assert rows[1][0] == "'" + name
    assert json.loads(print_scores(scores, "jsonl"))["run"] == name


def test_per_query_text(one_run: Scores) -> None:
    assert query_table(one_run).to_text().splitlines() == [
        "query  nDCG@10 ↑    RR@10 ↑  NumRet",
        "q1        0.6309     0.5000  2.0000",
        "q2        1.0000     1.0000  1.0000",
        "q4        0.0000     0.0000  0.0000",
        "q5     undefined  undefined  0.0000",
        QUERIES_MEANING,
    ]


def test_per_query_text_leaves_a_blank_where_a_measure_does_not_take_the_query() -> None:
    scores = Scores((block("a", "RR", [1.0], ["q1"]), block("a", "AP", [0.5, -math.inf], ["q1", "q2"])))
    assert query_table(scores).to_text().splitlines() == [
        "query    RR ↑       AP ↑",
        "q1     1.0000     0.5000",
        "q2             -infinite",
        QUERIES_MEANING,
    ]


def test_per_query_rows_for_programs() -> None:
    scores = Scores((block("a", "RR", [1 / 3, math.nan, math.inf]),))
    assert print_scores(scores, "tsv", per_query=True).splitlines() == [
        "run\tquery\tmeasure\tcolumn\tvalue\tstatus",
        f"a\tq0\tRR\t\t{1 / 3!r}\tok",
        "a\tq1\tRR\t\t\tnothing to count",
        "a\tq2\tRR\t\tinf\tinfinite",
    ]
    values = [
        json.loads(line)["value"] for line in print_scores(scores, "jsonl", per_query=True).splitlines()
    ]
    assert values == [1 / 3, None, "Infinity"]


def test_columns_are_part_of_the_label() -> None:
    values, status = np.array([[1.0, 0.5]]), np.zeros((1, 2), dtype=np.int16)
    scores = Scores((ScoresBlock("a", parse_measure("RR"), ("q",), ("f", "m"), values, status),))
    assert [line.split()[0] for line in repr(scores).splitlines()[:3]] == ["measure", "RR[f]", "RR[m]"]


def test_no_scores() -> None:
    assert repr(Scores(())) == "no scores"


def test_the_best_of_a_column_is_marked_where_one_value_is_better() -> None:
    of_a = (
        block("a", "RR", [0.5] * 6),
        block("a", "NumRet", [1.0] * 6),
        block("a", "AP", [math.nan] * 6),
    )
    of_b = (block("b", "RR", [0.2] * 6), block("b", "NumRet", [2.0] * 6), block("b", "AP", [0.5] * 6))
    latex = print_scores(Scores(of_a + of_b), "latex")
    assert re.findall(r"\\textbf\{([^}]*)\}", latex) == ["0.5000", "0.5000"]
    assert "% bold: the best value of a measure" in latex
    bold = summary_table(Scores(of_a + of_b)).to_text(200, color=True)
    assert "\x1b[1;32m0.5000" in bold
    assert "\x1b[1;32m0.2000" not in bold
    long = summary_table(Scores(of_a + of_b), 20).to_text(20, color=True)
    assert [line.split()[0] for line in long.splitlines()[1:] if "\x1b[1;32m0.5000" in line] == ["a", "b"]
    assert "textbf" not in print_scores(Scores(of_a), "latex")  # one run is not better than another


@pytest.mark.parametrize(("worse", "better"), [("higher is better", 3.0), ("lower is better", -1.0)])
def test_the_best_value_follows_the_direction(worse: str, better: float) -> None:
    assert best_value([1.0, math.nan, 3.0, -1.0], worse) == better
    assert best_value([1.0, 3.0], "signed: 0 is even, the sign says which side") is None
    assert best_value([math.nan], worse) is None
