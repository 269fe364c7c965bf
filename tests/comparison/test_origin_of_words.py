"""The words with most exposure, and figure 3 of nfairc: what each place on the way to a list adds."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evenrank import origin, read_lexicon, read_run, scan, write_run

Evenrank = Callable[..., SimpleNamespace]
BACKGROUND, COLLECTION = "(background)", "(collection)"
TEXTS = {"d1": "He said he saw his mother", "d2": "she and her sister", "d3": "nothing here", "d4": "a king"}


def test_the_words_with_most_exposure(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scan(list(TEXTS.items()), "gender-en", "counts.parquet", terms=True)
    write_run(read_run({"q": {"d1": 2.0, "d2": 1.0}, "p": {"d3": 2.0, "d4": 1.0}}, name="run"), "run.trec")
    given = ("explain", "run.trec", "--words", "counts.parquet", "-m", "NFaiRR@2", "--view", "terms:3")
    found = evenrank(*given, "--draws", "4", "--no-project", "--format", "jsonl")
    assert found.code == 0, found.err
    rows = [row for row in map(json.loads, found.out.splitlines()) if "term" in row]
    own = {row["term"]: row for row in rows if row["place"] == "run"}
    second = 1 / math.log2(3)
    # he twice of six, his and mother once; she, her, sister of four at rank 2; king of two; two queries
    wanted = {"he": 2 / 6 / 2, "king": second / 2 / 2, "his": 1 / 6 / 2}
    assert list(own) == list(wanted)
    total = (4 / 6 + 3 / 4 * second + second / 2) / 2
    for term, value in wanted.items():
        assert own[term]["group"] == "male"
        assert own[term]["exposure"] == pytest.approx(value)
        assert own[term]["share"] == pytest.approx(value / total)
    assert {row["place"] for row in rows} == {COLLECTION, BACKGROUND, "run"}


PAGE = Path(__file__).resolve().parents[2] / "docs/reproductions/nfairc-figure3.md"


@pytest.fixture(scope="module")
def deep_learning(shared: Path) -> dict[str, Any]:
    """TREC DL 2019 fair, by tokeniser."""
    folder = shared / "data/msmarco_trecdl"
    lexicon = read_lexicon(folder / "wordlist_gender_representative.txt")
    lines = (folder / "trecdeep19_passage.fair.tsv").read_text(encoding="utf-8").splitlines()
    queries = [line.split("\t")[0] for line in lines if line]
    files = sorted((folder / "runs_cpjku_dl19fair").glob("*.run"))
    runs = {path.stem: read_run(path, name=path.stem) for path in files}
    given = {"background": runs["BM25"], "queries": queries, "missing": "neutral"}
    return {
        tokenizer: origin(
            runs,
            "NFaiRR@10",
            words=scan(folder / "passages.tsv", lexicon, tokenizer=tokenizer),
            **given,
        )
        for tokenizer in ("word", "whitespace")
    }


def test_figure_3_of_nfairc(deep_learning: dict[str, Any]) -> None:
    usual, published = (
        {step.place: step for step in deep_learning[name].steps()} for name in ("word", "whitespace")
    )
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    shown = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    assert {row[0] for row in shown[1:]} == set(usual)
    for place, paper, ours, adds, interval, other in shown[1:]:
        step = usual[place]
        assert ours == f"{step.value:.4f}"
        assert other == f"{published[place].value:.4f}"
        if place == COLLECTION:
            assert (adds, interval) == ("", "")
        else:
            assert adds == f"{step.adds.difference:+.4f}"
            assert interval == f"[{step.adds.low:+.4f}, {step.adds.high:+.4f}]"
        if place in ("BM25", "match_pyramid", "advbert_L2", "bert_L4", "advbert_L4", "conv_knrm"):
            assert step.value == pytest.approx(float(paper), abs=5.1e-4)
    assert published[BACKGROUND].value == pytest.approx(0.987, abs=5e-4)  # the paper's DocSet Top
    # as the paper says: the background is fairer than the collection, and rankers differ little from it
    assert [usual[place].verdict for place in (BACKGROUND, "BM25", "tk")] == ["better", "", ""]
    lowest = [each.query for each in deep_learning["word"].extremes(1) if each.end == "lowest"]
    assert lowest == ["962179"] * 10


@pytest.mark.needs("altair", "vl_convert")
def test_the_figure_draws_the_values_of_the_page(deep_learning: dict[str, Any]) -> None:
    from evenrank.reporting.figures import origin_figure

    ours = deep_learning["word"]
    (panel,) = origin_figure({"": ours.scores}, ours.places).to_dict()["concat"]
    (points,) = (layer for layer in panel["layer"] if layer["mark"]["type"] == "point")
    drawn = points.get("data", panel.get("data"))["values"]
    assert {row["place"]: row["value"] for row in drawn} == {step.place: step.value for step in ours.steps()}
    assert len(drawn) == 12
