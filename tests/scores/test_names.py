"""What measures are called in tables: short names, labels, and the real names for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from drawn import made

from evenrank import Scores, compare
from evenrank.errors import DataError, EvenrankError, InputTypeError, ParameterError, UnknownNameError

DROP, REAL = "NFaiRR(missing='drop')@10", "NFaiRR@10"


def scores_of(*measures: str) -> Scores:
    return made({run: {measure: [0.5] * 6 for measure in measures} for run in "ab"})


def shares() -> Scores:
    return made({"a": {"GroupShare@10": {"f": [0.5] * 6, "m": [0.5] * 6}}})


def test_measures_that_differ_in_that_rule_alone_keep_their_names() -> None:
    head = scores_of(DROP, "NFaiRR(missing='neutral')@10").to_table().to_markdown().splitlines()[0]
    assert "missing='drop'" in head
    assert "missing='neutral'" in head


@pytest.mark.parametrize("key", [REAL, DROP, "NFaiRR(missing='drop') @ 10"])
def test_a_label_renames_a_measure_and_programs_keep_its_name(key: str) -> None:
    scores = scores_of(DROP, "RR").with_labels({key: "Neutrality"})
    table = scores.to_table()
    assert table.head[1].startswith("Neutrality")
    assert DROP in repr(scores)  # what it stands for
    rows = [json.loads(row) for row in table.to_jsonl().splitlines()]
    assert [(row["measure"], row["label"]) for row in rows[:2]] == [(DROP, "Neutrality"), ("RR", "")]
    assert "label" not in scores_of("RR").to_table().to_tsv().splitlines()[0].split("\t")


def test_a_label_of_all_cutoffs_and_of_one_column() -> None:
    scores = scores_of("NFaiRR@5", DROP).with_labels({"NFaiRR": "Neutrality"})
    assert [name.split()[0] for name in scores.to_table().head[1:3]] == ["Neutrality@5", "Neutrality@10"]
    one = shares().with_labels({"GroupShare@10[f]": "Women"}).to_table()
    assert [row[0].split()[0] for row in one.rows] == ["Women", "GroupShare@10[m]"]
    whole = shares().to_table({"GroupShare@10": "Share"})
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
    with pytest.raises(DataError, match=r"s\.jsonl:1: .*'AP'"):
        Scores.read(path)


def test_labels_of_a_comparison_reach_its_tables() -> None:
    comparison = compare(scores_of(DROP, "RR"), labels={REAL: "Neutrality <b>"})
    assert comparison.to_table().head[1] == "Neutrality <b> ↑"
    assert "Neutrality &lt;b&gt;" in comparison._repr_html_()
    assert comparison.pairs[0].measure == DROP
    assert comparison.to_table().records[0]["label"] == "Neutrality <b>"
    again = compare({"x": scores_of(DROP).with_labels({REAL: "N"}), "y": scores_of(DROP)})
    assert again.to_table().head[1] == "N ↑"


@pytest.mark.needs("altair")
def test_labels_reach_figures_and_the_report(tmp_path: Path) -> None:
    from evenrank.reporting.figures import bars_figure, cutoff_figure

    scores = scores_of("NFaiRR(missing='drop')@5", DROP).with_labels({"NFaiRR": "Neutrality"})
    for name in (DROP, "Neutrality@10"):
        assert "Neutrality@10 ↑" in json.dumps(bars_figure(scores, name).to_dict(), ensure_ascii=False)
    assert '"Neutrality ↑"' in json.dumps(cutoff_figure(scores).to_dict(), ensure_ascii=False)
    page = tmp_path / "report.html"
    compare(scores).report(page)
    text = page.read_text(encoding="utf-8")
    assert '<span class="measure">Neutrality@10</span>' in text
    assert f"Neutrality@10 stands for {DROP}".replace("'", "&#39;") in text
