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

from evenrank import Qrels, Run, evaluate, parse_measure
from evenrank.scores import Scores, ScoresBlock, render
from evenrank.scores.render import display_width, escape_latex, escape_markdown, printable

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
        "one note",
        "dense: another",
        "↑ higher is better",
    ]


@pytest.mark.parametrize("width", [58, 25])
def test_intervals_are_left_out_where_they_would_not_fit(two_runs: Scores, width: int) -> None:
    assert render.as_text(two_runs, width, notes=False).splitlines()[:3] == [
        "run      RR ↑    AP ↑   n",
        "bm25   0.5000  0.2500  10",
        "dense  1.0000  0.7500  10",
    ]
    said = "intervals: print one measure, or --format tsv"
    assert said in " ".join(render.as_text(two_runs, width, notes=False).split())
    assert said not in render.as_text(two_runs, 59, notes=False)
    assert "[0.4206, 0.5794]" in render.as_text(two_runs, 59, notes=False)


def test_text_is_long_where_it_would_not_fit(two_runs: Scores) -> None:
    lines = render.as_text(two_runs, 20, notes=False).splitlines()
    assert lines[0] == "run    measure   value      95% interval   n"
    assert lines[1] == "bm25   RR ↑     0.5000  [0.4206, 0.5794]  10"
    assert lines[4] == "dense  AP ↑     0.7500  [0.6497, 0.8265]  10"
    assert "intervals:" not in "".join(lines)
    assert "note" not in "".join(lines)


def test_text_is_long_where_a_run_lacks_a_measure() -> None:
    of_a = (block("a", "RR", [1.0, 1.0]), block("a", "AP", [1.0, 1.0]))
    lines = repr(Scores((*of_a, block("b", "RR", [1.0, 1.0])))).splitlines()
    assert [line.split()[:2] for line in lines[1:4]] == [["a", "RR"], ["a", "AP"], ["b", "RR"]]


def test_text_is_long_where_measures_count_different_queries() -> None:
    of_a = (block("a", "RR", [1.0, math.nan]), block("a", "AP", [1.0, 1.0]))
    of_b = (block("b", "RR", [1.0, 1.0]), block("b", "AP", [1.0, 1.0]))
    scores = Scores(of_a + of_b)
    assert repr(scores).splitlines()[:2] == [
        "run  measure   value  95% interval    n",
        "a    RR ↑     1.0000     undefined  1/2",
    ]


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
    assert render.remarks(scores)[0] == "a: RR: undefined for 1 of 2 queries: nothing to count (1)"


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
    assert render.as_markdown(two_runs, notes=False) == (
        "| run | RR ↑ | AP ↑ | n |\n"
        "| :--- | ---: | ---: | ---: |\n"
        "| bm25 | 0.5000 [0.4206, 0.5794] | 0.2500 [0.1735, 0.3503] | 10 |\n"
        "| dense | 1.0000 [0.8652, 1.0000] | 0.7500 [0.6497, 0.8265] | 10 |\n"
        "\n- ↑ higher is better\n"
    )


def test_latex() -> None:
    scores = Scores((block("my_run 50%", "nDCG(dcg='exp-log2')@10", [math.nan] + [-0.5] * 10),))
    assert render.as_latex(scores) == (
        "% needs \\usepackage{booktabs}\n"
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
    undefined = render.as_latex(Scores((block("a", "RR", [math.nan]),)))
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
    page.feed(render.as_html(scores))
    assert page.tags == {"table", "thead", "tbody", "tr", "th", "td", "ul", "li"}
    assert printable(one) in page.text

    markdown = render.as_markdown(scores).split("\n\n")[0].splitlines()
    assert [len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in markdown] == [4] * 4
    assert "<" not in "".join(markdown)

    rows = render.as_latex(scores).partition("\\midrule\n")[2].splitlines()[:2]
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
    table = list(csv.DictReader(io.StringIO(render.as_tsv(one_run)), delimiter="\t"))
    objects = [json.loads(line) for line in render.as_jsonl(one_run).splitlines()]
    assert [row["measure"] for row in table] == ["nDCG@10", "RR@10", "NumRet"]
    assert float(table[0]["value"]) == one_run.mean("nDCG@10") == objects[0]["value"]
    assert (table[0]["queries"], table[0]["defined"], table[0]["undefined"]) == ("4", "3", "1")
    assert objects[0]["undefined"] == {"no relevant document": 1}
    assert [row["aggregation"] for row in table] == ["mean", "mean", "sum"]


def test_summary_rows_of_nothing_defined() -> None:
    scores = Scores((block("a", "RR", [math.nan]),))
    assert render.as_tsv(scores).splitlines()[1].split("\t")[3:6] == ["", "", ""]
    assert json.loads(render.as_jsonl(scores))["value"] is None


def test_names_for_programs_come_back() -> None:
    """In TSV, which people open in spreadsheets, a formula has an apostrophe before it."""
    name = '=HYPERLINK("x")\t\n<b>'
    scores = Scores((block(name, "RR", [1.0]),))
    rows = list(csv.reader(io.StringIO(render.as_tsv(scores), newline=""), delimiter="\t"))
    assert rows[1][0] == "'" + name
    assert json.loads(render.as_jsonl(scores))["run"] == name


def test_per_query_text(one_run: Scores) -> None:
    assert render.per_query_text(one_run).splitlines() == [
        "query  nDCG@10 ↑    RR@10 ↑  NumRet",
        "q1        0.6309     0.5000  2.0000",
        "q2        1.0000     1.0000  1.0000",
        "q4        0.0000     0.0000  0.0000",
        "q5     undefined  undefined  0.0000",
    ]


def test_per_query_text_leaves_a_blank_where_a_measure_does_not_take_the_query() -> None:
    scores = Scores((block("a", "RR", [1.0], ["q1"]), block("a", "AP", [0.5, -math.inf], ["q1", "q2"])))
    assert render.per_query_text(scores).splitlines() == [
        "query    RR ↑       AP ↑",
        "q1     1.0000     0.5000",
        "q2             -infinite",
    ]


def test_per_query_rows_for_programs() -> None:
    scores = Scores((block("a", "RR", [1 / 3, math.nan, math.inf]),))
    assert render.per_query_tsv(scores).splitlines() == [
        "run\tquery\tmeasure\tcolumn\tvalue\tstatus",
        f"a\tq0\tRR\t\t{1 / 3!r}\tok",
        "a\tq1\tRR\t\t\tnothing to count",
        "a\tq2\tRR\t\tinf\tinfinite",
    ]
    values = [json.loads(line)["value"] for line in render.per_query_jsonl(scores).splitlines()]
    assert values == [1 / 3, None, "Infinity"]


def test_columns_are_part_of_the_label() -> None:
    values, status = np.array([[1.0, 0.5]]), np.zeros((1, 2), dtype=np.int16)
    scores = Scores((ScoresBlock("a", parse_measure("RR"), ("q",), ("f", "m"), values, status),))
    assert [line.split()[0] for line in repr(scores).splitlines()[:3]] == ["measure", "RR[f]", "RR[m]"]


def test_no_scores() -> None:
    assert repr(Scores(())) == "no scores"
