"""The report as a file: what it says, that it says what the scores say, and that it needs nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import altair
import pages
import pytest
from drawn import made

import evenrank as er
from evenrank import Run, RunSet, compare
from evenrank.cli import main

RUNS = {
    "one": Run.build(["q", "q", "r"], ["a", "b", "c"], [2.0, 1.0, 1.0], name="one"),
    "two": Run.build(["q", "q", "r"], ["b", "a", "d"], [2.0, 1.0, 1.0], name="two"),
}
QRELS = {"q": {"b": 1}, "r": {"c": 2, "d": 1}}


def shown(root: Any) -> str:
    (body,) = [element for element in pages.elements(root) if element.tag == f"{pages.HTML}main"]
    return pages.text_of(body)


def test_charts_are_what_vega_lite_allows(sample_report: Any) -> None:
    """They are built without that check, which takes as long as building them."""
    specs = re.findall(r'class="chart-spec">(.*?)</script>', sample_report.path.read_text(encoding="utf-8"))
    charts = [chart for spec in specs for chart in json.loads(spec)]
    assert charts
    for chart in charts:
        altair.Chart.from_dict(chart).to_dict(validate=True)
    with pytest.raises(Exception, match="wide"):
        altair.Chart.from_dict({**charts[0], "width": "wide"}).to_dict(validate=True)


def test_tables_have_the_values_of_the_scores(sample_report: Any) -> None:
    root = pages.parsed(sample_report.path)
    comparison = sample_report.comparison
    tables = [e for e in pages.elements(root) if e.get("class") == "systems"]
    rows = {
        (
            pages.text_of(pages.by_class(table, "measure")[0]),
            pages.text_of(row[0]).removesuffix(" baseline"),
        ): row
        for table in tables
        for row in table.iter(f"{pages.HTML}tr")
        if row[0].get("scope") == "row"
    }
    summary = comparison.scores.summary()
    assert len(rows) == len(summary) == 10
    for line in summary:
        cells = [pages.text_of(cell) for cell in rows[comparison.scores.names.of(line.measure), line.run]]
        assert cells[1] == f"{line.value:.4f}{line.low:.4f} to {line.high:.4f}"
        assert cells[3] == (
            str(line.queries) if line.defined == line.queries else f"{line.defined} of {line.queries}"
        )
    for pair in comparison.pairs:
        cells = [pages.text_of(cell) for cell in rows[comparison.scores.names.of(pair.measure), pair.system]]
        assert cells[4].startswith(f"{pair.difference:+.4f}")
        assert (pair.verdict or "no difference shown") in cells[5]
        assert cells[6] == " / ".join(map(str, pair.outcomes))


def test_queries_are_sorted_by_bias(sample_report: Any) -> None:
    root = pages.parsed(sample_report.path)
    block = sample_report.comparison.scores.block("NFaiRR@10", "fairer")
    lowest = sorted(zip(block.values[:, 0], block.query_ids, strict=True))
    items = pages.by_class(root, "query")
    values = [pages.text_of(pages.by_class(item, "value")[0]) for item in items]
    assert values == [f"{value:.4f}" for value, _ in lowest][:5]  # readable=5
    first = pages.text_of(pages.by_class(items[0], "question")[0])
    assert first == sample_report.sample.queries[lowest[0][1]]
    before = sample_report.comparison.scores.block("NFaiRR@10", "bm25")
    was = dict(zip(before.query_ids, before.values[:, 0], strict=True))
    assert pages.text_of(pages.by_class(items[0], "was")[0]) == f"was {was[lowest[0][1]]:.4f}"


def test_documents_stand_in_their_order_with_ranks_before(sample_report: Any) -> None:
    root = pages.parsed(sample_report.path)
    runs, sample = sample_report.comparison.inputs.runs, sample_report.sample
    items = [item for item in pages.by_class(root, "query") if pages.by_class(item, "document")]
    assert len(items) == 5  # readable=5
    ids = {text: query for query, text in sample.queries.items()}
    for item in items:
        query = ids[pages.text_of(pages.by_class(item, "question")[0])]
        ranked = runs["fairer"].documents(query)[:10]
        rows = pages.by_class(item, "document")
        assert [pages.text_of(pages.by_class(row, "name")[0]) for row in rows] == ranked
        before = runs["bm25"].documents(query)
        for rank, (row, document) in enumerate(zip(rows, ranked, strict=True), 1):
            (moved,) = pages.by_class(row, "moved")
            old = before.index(document) + 1
            assert pages.text_of(moved).endswith(f"was {old}" if old != rank else "same")
            assert moved.get("class") == f"moved {'up' if old > rank else 'same' if old == rank else 'down'}"


def test_what_documents_add_sums_to_the_value(sample_report: Any) -> None:
    data = pages.data_of(pages.parsed(sample_report.path))
    names = [measure["name"] for measure in data["measures"]]
    measure = names.index("NFaiRR@10")
    assert data["measures"][measure]["effect"] == "adds"
    assert data["measures"][names.index("TExFAIR@10")]["effect"] == "without it"
    for query in data["queries"]:
        for system in (0, 1):
            value = float(query["values"][measure][system])
            added = sum(float(word) for word in query["effects"][measure][system].split())
            assert added == pytest.approx(value, abs=6e-4)
        changed = sum(float(word) for word in query["changes"][measure][1].split())
        mine = [int(place) for place in query["lists"][1].split()]
        lost = sum(
            float(word)
            for word, place in zip(
                query["effects"][measure][0].split(), query["lists"][0].split(), strict=True
            )
            if int(place) not in mine
        )
        before, after = (float(query["values"][measure][system]) for system in (0, 1))
        assert changed - lost == pytest.approx(after - before, abs=1.5e-3)


def test_scores_alone_have_no_documents(tmp_path: Path) -> None:
    scores = {name: er.evaluate(run, "nDCG@2 P@1", qrels=QRELS) for name, run in RUNS.items()}
    comparison = compare(scores)
    assert comparison.inputs is None
    comparison.report(tmp_path / "r.html")
    root = pages.parsed(tmp_path / "r.html")
    assert "Only scores are known here" in shown(root)
    assert pages.by_class(root, "document") == []
    assert len(pages.by_class(root, "query")) == 2
    with pytest.raises(er.ParameterError, match="documents belong to ranked lists"):
        comparison.report(tmp_path / "s.html", documents={"a": "text"})
    assert not (tmp_path / "s.html").exists()


def test_the_reason_why_a_query_was_chosen_stands_beside_it(tmp_path: Path) -> None:
    for name, run in RUNS.items():
        er.write_run(run, tmp_path / f"{name}.trec")
    (tmp_path / "qrels").write_text("q 0 b 1\nr 0 c 1\n")
    (tmp_path / "set.csv").write_text("query,text,domains,reason\nq,what pays,Career,pay gap\nr,rain,,\n")
    files = [str(tmp_path / name) for name in ("one.trec", "two.trec")]
    known = ["--qrels", str(tmp_path / "qrels"), "--queries", str(tmp_path / "set.csv"), "-m", "P@1"]
    assert main(["report", *files, *known, "-o", str(tmp_path / "r.html")]) == 0
    root = pages.parsed(tmp_path / "r.html")
    asked = sorted(pages.text_of(element) for element in pages.by_class(root, "asked"))
    assert asked == ["rain r", "what pays q Chosen because: pay gap"]
    provenance = pages.text_of(next(e for e in pages.elements(root) if e.get("id") == "provenance"))
    assert "evenrank report one.trec two.trec --qrels qrels --queries set.csv -m P@1" in provenance
    assert "made20" in provenance
    assert str(tmp_path) not in (tmp_path / "r.html").read_text(encoding="utf-8")  # whoever reads it
    reasons = {query["id"]: query["why"] for query in pages.data_of(root)["queries"]}
    assert reasons == {"q": "pay gap", "r": ""}


def test_many_rankings_of_a_query_have_no_list_to_show(tmp_path: Path) -> None:
    draws = RunSet((RUNS["one"], RUNS["two"]), name="draws")
    comparison = compare({"one": RUNS["one"], "draws": draws}, "P@1", qrels=QRELS)
    comparison.report(tmp_path / "r.html", system="draws")
    assert "The list is empty." in shown(pages.parsed(tmp_path / "r.html"))
    comparison = compare({"draws": draws, "one": RUNS["one"]}, "P@1", qrels=QRELS)
    comparison.report(tmp_path / "s.html")  # the baseline has no ranks before
    root = pages.parsed(tmp_path / "s.html")
    assert "adds +1.0000" in shown(root)
    assert pages.by_class(root, "moved") == pages.by_class(root, "change") == []


def test_reasons_and_empty_lists(tmp_path: Path) -> None:
    comparison = compare(RUNS, "nDCG@2", qrels={"q": {"b": 1}, "r": {"c": 0}, "s": {"e": 1}})
    comparison.report(tmp_path / "r.html")
    said = shown(pages.parsed(tmp_path / "r.html"))
    assert "no relevant document" in said
    assert "nan" not in said.lower()


def test_what_is_undefined_has_no_parts_and_is_not_called_equal(tmp_path: Path) -> None:
    comparison = compare(RUNS, "nDCG@2", qrels={query: {"nowhere": 0} for query in "qr"})
    comparison.report(tmp_path / "r.html")
    root = pages.parsed(tmp_path / "r.html")
    assert pages.by_class(root, "document")
    assert pages.by_class(root, "effect") == []
    comparison = compare(RUNS, "P@1", qrels=QRELS, queries=["q"], baseline="one")  # one query has no variance
    comparison.report(tmp_path / "s.html")
    said = shown(pages.parsed(tmp_path / "s.html"))
    assert "Too few values to test against one: two." in said
    assert "No difference from one is shown" not in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"system": "three"}, "no system is called 'three'; there are one, two"),
        ({"measure": "AP"}, "AP was not evaluated"),
        ({"readable": -1}, "readable must be an integer >= 0, got -1"),
        ({"title": 3}, "title is a string, got int"),
        ({"lexicon": "gender-en"}, "lexicon= takes what read_lexicon gives, got str"),
        ({"query_texts": ["q"]}, "query_texts is a mapping from ids to strings, got list"),
        ({"query_texts": {"x": "what?"}}, "has the text of none of the queries"),
        ({"documents": {"a": 3}}, "text 3 (int) is not text"),
        ({"documents": {"z": "text"}}, "has none of the documents that are ranked"),
    ],
)
def test_wrong_options(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    comparison = compare(RUNS, "P@1", qrels=QRELS)
    with pytest.raises(er.EvenrankError, match=re.escape(message)):
        comparison.report(tmp_path / "r.html", **options)
    assert list(tmp_path.iterdir()) == []


def test_documents_from_a_file_and_evidence_that_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "texts.tsv").write_text(
        "a\tthe <b>first</b>\nb\tthe second\nc\tx\nd\ty\nother\tz\n", encoding="utf-8"
    )
    groups = er.Membership.from_labels("kind", {"a": "A", "b": "B"})
    comparison = compare(RUNS, "P@2 GF@2", qrels=QRELS, groups=iter([groups]))
    comparison.report(tmp_path / "r.html", documents=tmp_path / "texts.tsv")
    root = pages.parsed(tmp_path / "r.html")
    texts = {pages.text_of(e) for e in pages.by_class(root, "text")}
    assert texts == {"the <b>first</b>", "the second", "y"}  # of two's lists
    assert "kind: A" in shown(root)
    assert "relevance 1" in shown(root)


def test_a_report_of_no_query_says_so(tmp_path: Path) -> None:
    compare(made({name: {"AP": []} for name in ("one", "two")})).report(tmp_path / "none.html")
    root = pages.parsed(tmp_path / "none.html")
    assert pages.by_class(root, "query") == []
    assert "undefined" in shown(root)
    assert not re.search(r"\bnan\b", shown(root), re.IGNORECASE)


@pytest.mark.slow
def test_ten_thousand_queries_fit(tmp_path: Path) -> None:
    values = [place / 10_000 for place in range(10_000)]
    compare(made({"one": {"AP": values}, "two": {"AP": values[::-1]}})).report(tmp_path / "many.html")
    assert (tmp_path / "many.html").stat().st_size < 20_000_000
    root = pages.parsed(tmp_path / "many.html")
    assert len(pages.by_class(root, "query")) == 200
    assert len(pages.data_of(root)["ids"]) == 10_000


@pytest.mark.slow
def test_a_thousand_queries_of_ten_systems_fit(tmp_path: Path) -> None:
    path = tmp_path / "large.html"
    pages.large_report(path)
    assert path.stat().st_size < 6_000_000
    root = pages.parsed(path)
    assert len(pages.by_class(root, "query")) == 200
    assert len([q for q in pages.by_class(root, "query") if pages.by_class(q, "document")]) == 200
    data = pages.data_of(root)
    assert all(len(query["lists"]) == 10 for query in data["queries"])
