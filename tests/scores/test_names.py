"""What measures are called in tables: short names, labels, and the real names for programs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from evenrank import Scores, compare, parse_measure
from evenrank.errors import DataError, EvenrankError, InputTypeError, ParameterError, UnknownNameError
from evenrank.scores import ScoresBlock
from evenrank.scores.score_tables import print_scores

DROP, REAL = "NFaiRR(missing='drop')@10", "NFaiRR@10"


def block(run: str, measure: str, columns: tuple[str, ...] = ("",), value: float = 0.5) -> ScoresBlock:
    values = np.full((6, len(columns)), value)
    queries = tuple(f"q{place}" for place in range(6))
    status = np.zeros(values.shape, np.int16)
    return ScoresBlock(run, parse_measure(measure), queries, columns, values, status)


def scores_of(*measures: str) -> Scores:
    return Scores(tuple(block(run, measure) for run in ("a", "b") for measure in measures))


def test_the_rule_for_missing_evidence_goes_to_a_footnote() -> None:
    text = repr(scores_of(DROP, "RR")).splitlines()
    assert text[0].split() == ["run", REAL, "↑", "RR", "↑", "n"]
    assert f"{REAL}: computed with missing='drop'" in text
    assert "computed with" not in repr(scores_of(REAL))
    two = "RandomOrder(measure=TExFAIR(missing='drop'))@10 + RandomOrder(measure=FaiRR(missing='drop'))@5"
    assert "*RandomOrder@5 stands for 1.0*RandomOrder(" in " ".join(repr(scores_of(two)).split())


def test_measures_that_differ_in_that_rule_alone_keep_their_names() -> None:
    head = print_scores(scores_of(DROP, "NFaiRR(missing='neutral')@10"), "markdown").splitlines()[0]
    assert "missing='drop'" in head
    assert "missing='neutral'" in head


@pytest.mark.parametrize("key", [REAL, DROP, "NFaiRR(missing='drop') @ 10"])
def test_a_label_renames_a_measure_and_programs_keep_its_name(key: str) -> None:
    scores = scores_of(DROP, "RR").with_labels({key: "Neutrality"})
    lines = repr(scores).splitlines()
    assert lines[0].split() == ["run", "Neutrality", "↑", "RR", "↑", "n"]
    assert f"Neutrality stands for {DROP}" in lines
    rows = list(csv.DictReader(io.StringIO(print_scores(scores, "tsv")), delimiter="\t"))
    assert [(row["measure"], row["label"]) for row in rows[:2]] == [(DROP, "Neutrality"), ("RR", "")]
    assert json.loads(print_scores(scores, "jsonl").splitlines()[0])["label"] == "Neutrality"
    assert "label" not in print_scores(scores_of("RR"), "tsv").splitlines()[0].split("\t")


def test_a_label_of_all_cutoffs_and_of_one_column() -> None:
    scores = scores_of("NFaiRR@5", DROP).with_labels({"NFaiRR": "Neutrality"})
    assert repr(scores).split("\n")[0].split() == ["run", "Neutrality@5", "↑", "Neutrality@10", "↑", "n"]
    shares = Scores((block("a", "GroupShare@10", ("f", "m")),)).with_labels({"GroupShare@10[f]": "Women"})
    assert [line.split()[0] for line in repr(shares).splitlines()[1:3]] == ["Women", "GroupShare@10[m]"]
    whole = Scores((block("a", "GroupShare@10", ("f", "m")),)).to_table({"GroupShare@10": "Share"})
    assert [row[0] for row in whole.rows] == ["Share[f]", "Share[m]"]


@pytest.mark.parametrize(
    ("labels", "error", "said"),
    [
        ({"NFairR@10": "x"}, UnknownNameError, "did you mean NFaiRR@10"),
        ({"nonsense(": "x"}, UnknownNameError, "no measure here is called 'nonsense('"),
        ({REAL: " "}, ParameterError, "is empty"),
        ({REAL: "x", "RR": "x"}, ParameterError, "two measures"),
        (["x"], InputTypeError, "a mapping"),
        ({REAL: 3}, InputTypeError, "a mapping"),
    ],
)
def test_wrong_labels(labels: object, error: type[EvenrankError], said: str) -> None:
    with pytest.raises(error) as raised:
        scores_of(REAL, "RR").with_labels(labels)  # type: ignore[arg-type]
    assert said in str(raised.value)


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_labels_are_written_and_read_back(tmp_path: Path, suffix: str) -> None:
    scores = scores_of(DROP).with_labels({REAL: "Neutrality"})
    scores.write(tmp_path / f"s.{suffix}")
    assert Scores.read(tmp_path / f"s.{suffix}").labels == {DROP: "Neutrality"}


def test_labels_of_a_file_that_fit_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    scores_of(DROP).with_labels({REAL: "Neutrality"}).write(path)
    path.write_text(path.read_text().replace(f'"labels": {{"{DROP}"', '"labels": {"AP"'))
    with pytest.raises(DataError, match=r"s\.jsonl:1: labels: no measure here is called 'AP'"):
        Scores.read(path)


def test_labels_of_a_comparison_reach_its_tables() -> None:
    comparison = compare(scores_of(DROP, "RR"), labels={REAL: "Neutrality <b>"})
    assert comparison.to_table().head[1] == "Neutrality <b> ↑"
    assert "Neutrality <b> ↑\n" in repr(comparison)
    assert "Neutrality &lt;b&gt;" in comparison._repr_html_()
    assert comparison.pairs[0].measure == DROP
    assert comparison.to_table().records[0]["label"] == "Neutrality <b>"
    again = compare({"x": scores_of(DROP).with_labels({REAL: "N"}), "y": scores_of(DROP)})
    assert again.to_table().head[1] == "N ↑"


@pytest.mark.needs("altair")
def test_labels_reach_figures_and_the_report(tmp_path: Path) -> None:
    from evenrank.report.figures import bars_figure
    from evenrank.report.page import write_report
    from evenrank.scores.cutoff_series import points_of

    scores = scores_of("NFaiRR(missing='drop')@5", DROP).with_labels({"NFaiRR": "Neutrality"})
    for name in (DROP, "Neutrality@10"):
        assert "Neutrality@10 ↑" in json.dumps(bars_figure(scores, name).to_dict(), ensure_ascii=False)
    assert {point.title for point in points_of(scores)} == {"Neutrality"}
    one = scores_of("NFaiRR@5", REAL).with_labels({REAL: "Neutral"})
    assert {point.title for point in points_of(one)} == {"Neutral"}
    page = tmp_path / "report.html"
    write_report(page, scores)
    text = page.read_text(encoding="utf-8")
    assert '<span class="measure">Neutrality@10</span>' in text
    assert f"Neutrality@10 stands for {DROP}".replace("'", "&#39;") in text
