"""The report as a file: what it says, that it says what the scores say, and that it needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pages
import pytest

import evenrank as er
from evenrank import Inputs, Run, RunSet, compare, parse_measure
from evenrank.cli import main
from evenrank.measures.relevance import NO_RELEVANT
from evenrank.report.figures.style import load_altair
from evenrank.report.page import write_report
from evenrank.report.page.lists import _effect
from evenrank.report.page.safe import link, prose, script_json
from evenrank.scores import INFINITE, OK, ScoresBlock
from evenrank.tables import number

RUNS = {
    "one": Run.build(["q", "q", "r"], ["a", "b", "c"], [2.0, 1.0, 1.0], name="one"),
    "two": Run.build(["q", "q", "r"], ["b", "a", "d"], [2.0, 1.0, 1.0], name="two"),
}
QRELS = {"q": {"b": 1}, "r": {"c": 2, "d": 1}}


def shown(root: Any) -> str:
    (body,) = [element for element in pages.elements(root) if element.tag == f"{pages.HTML}main"]
    return pages.text_of(body)


def test_it_is_html_that_loads_nothing(sample_report: Any) -> None:
    root = pages.parsed(sample_report.path)
    for element in pages.elements(root):
        assert not [name for name in element.attrib if name.startswith("on") or name == "style"]
        for name in ("src", "srcset", "data", "action", "poster"):
            assert element.get(name, "data:").startswith("data:")
        assert element.get("href", "#").startswith("#")
        assert element.tag not in {
            f"{pages.HTML}{tag}" for tag in ("link", "base", "iframe", "object", "embed")
        }


def test_the_policy_names_our_scripts_and_our_style_and_nothing_else(sample_report: Any) -> None:
    root = pages.parsed(sample_report.path)
    (policy,) = [e.get("content") for e in pages.elements(root) if "http-equiv" in e.attrib]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in policy
    assert "http" not in policy

    def hashes(tag: str) -> set[str]:
        inline = [e for e in pages.elements(root) if e.tag == f"{pages.HTML}{tag}" and e.get("type") is None]
        digests = [hashlib.sha256(e.text.encode()).digest() for e in inline]
        return {f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests}

    (packed,) = [e.text for e in pages.elements(root) if e.get("id") == "chart-library"]
    library = zlib.decompress(base64.b64decode(packed))
    digest = base64.b64encode(hashlib.sha256(library).digest()).decode()
    assert set(rules["script-src"].split()) == hashes("script") | {f"'sha256-{digest}'"}
    assert set(rules["style-src"].split()) == hashes("style")


def test_charts_are_what_vega_lite_allows(sample_report: Any) -> None:
    """They are built without that check, which takes as long as building them."""
    alt = load_altair()
    specs = re.findall(r'class="chart-spec">(.*?)</script>', sample_report.path.read_text(encoding="utf-8"))
    charts = [chart for spec in specs for chart in json.loads(spec)]
    assert charts
    for chart in charts:
        alt.Chart.from_dict(chart).to_dict(validate=True)
    with pytest.raises(Exception, match="wide"):
        alt.Chart.from_dict({**charts[0], "width": "wide"}).to_dict(validate=True)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_change_is_written_as_any_number(sign: int) -> None:
    for size in (
        1e-12,
        3e-7,
        4.99e-5,
        5e-5,
        9.9999e-5,
        1e-4,
        0.00015,
        0.1,
        123.45675,
        999999.99995,
        1e6,
        2e7,
    ):
        assert _effect(sign * size) == number(sign * size, signed=True)
    assert [_effect(sign * 1e-13), _effect(float("nan"))] == ["0", "-"]


def test_sections(sample_report: Any) -> None:
    root = pages.parsed(sample_report.path)
    keys = [e.get("id") for e in pages.elements(root) if e.tag == f"{pages.HTML}section"]
    assert keys == [
        "verdicts",
        "shares",
        "systems",
        "tradeoff",
        "cutoffs",
        "queries",
        "summary",
        "provenance",
    ]
    (menu,) = [e for e in pages.elements(root) if e.tag == f"{pages.HTML}nav"]
    links = [e.get("href") for e in pages.elements(menu) if e.tag == f"{pages.HTML}a"]
    assert [f"#{key}" for key in keys] == links
    ids = [e.get("id") for e in pages.elements(root) if e.get("id")]
    assert len(ids) == len(set(ids))


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


def test_the_summary_says_what_was_found_and_what_cannot_be_said(sample_report: Any) -> None:
    root = pages.parsed(sample_report.path)
    (summary,) = [e for e in pages.elements(root) if e.get("id") == "summary"]
    said = pages.text_of(summary)
    scores = sample_report.comparison.scores
    assert "2 systems, 44 queries. Others are compared with bm25." in said
    assert f"Best is fairer with {number(scores.mean('NFaiRR@10', 'fairer'))}" in said
    assert "Shown to be better than bm25: fairer." in said
    assert "No difference from bm25 is shown for fairer." in said  # of nDCG
    assert "NFaiRR@10 is over 44 queries." in said
    values = sample_report.comparison.table("NFaiRR@10").values
    tied = sum(abs(one - two) < 1e-12 for one, two in values)
    assert (f"For {tied} of 44 queries all systems have the same value" in said) == (tied > 0)
    assert "undefined for some queries" in said  # DUO
    assert "Paired t test, corrected by Holm" in said
    assert "Group words are the 877 of gender-en+gender-en-names: female (446), male (431)." in said


def test_queries_are_sorted_by_bias(sample_report: Any) -> None:
    root = pages.parsed(sample_report.path)
    block = sample_report.comparison.scores.block("NFaiRR@10", "fairer")
    lowest = sorted(zip(block.values[:, 0], block.query_ids, strict=True))
    items = pages.by_class(root, "query")
    values = [pages.text_of(pages.by_class(item, "value")[0]) for item in items]
    assert values == [number(value) for value, _ in lowest][:5]  # readable=5
    first = pages.text_of(pages.by_class(items[0], "question")[0])
    assert first == sample_report.sample.queries[lowest[0][1]]
    before = sample_report.comparison.scores.block("NFaiRR@10", "bm25")
    was = dict(zip(before.query_ids, before.values[:, 0], strict=True))
    assert pages.text_of(pages.by_class(items[0], "was")[0]) == f"was {number(was[lowest[0][1]])}"


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


def test_marks_are_those_that_were_counted(sample_report: Any) -> None:
    """Texts of the sample are short: nothing is cut, so every counted word is marked."""
    data = pages.data_of(pages.parsed(sample_report.path))
    checked = 0
    for name, pieces, counts, _ in data["documents"]:
        marked = [0] * len(data["groups"])
        for piece in pieces:
            if not isinstance(piece, str):
                marked[piece[0]] += 1
        text = "".join(piece if isinstance(piece, str) else piece[1] for piece in pieces)
        if " … " not in text:
            assert marked == counts, name
            assert text == re.sub(r"\s+", " ", sample_report.sample.documents[name])
            checked += 1
    assert checked > 100


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


def test_hostile_names_and_texts_change_nothing_but_text(hostile: tuple[Path, Path]) -> None:
    bad, good = (pages.parsed(path) for path in hostile)
    assert pages.structure(bad) == pages.structure(good)
    text = shown(bad)
    for payload in pages.PAYLOADS:
        assert (
            re.sub(
                r"\s+",
                " ",
                payload.encode("unicode_escape").decode()
                if "\u2028" in payload or "\u202e" in payload
                else payload,
            )
            in text
        )
    links = {e.get("href") for e in pages.elements(bad)} - {None}
    assert all(link.startswith(("#", "http://", "https://")) for link in links)
    assert "javascript:window.hurt=1" not in links
    # the data come back as they were
    names = [entry[0] for entry in pages.data_of(bad)["documents"]]
    assert any(name.startswith("</script><script>") for name in names)


def test_every_payload_stands_in_every_field(hostile: tuple[Path, Path]) -> None:
    """Else the test above would test nothing."""
    data = pages.data_of(pages.parsed(hostile[0]))
    fields = {
        "systems": " ".join(data["systems"]),
        "queries": " ".join(query["id"] for query in data["queries"]),
        "asked": " ".join(query["text"] for query in data["queries"]),
        "why": " ".join(query["why"] for query in data["queries"]),
        "documents": " ".join(entry[0] for entry in data["documents"]),
        "texts": " ".join(json.dumps(entry[1], ensure_ascii=False) for entry in data["documents"]),
        "groups": " ".join(label for label, *_ in data["groups"]),
        "labels": " ".join(fact for query in data["queries"] for facts in query["facts"] for fact in facts),
    }
    for field, text in fields.items():
        for payload in pages.PAYLOADS:
            core = max(re.split(r"[^\w<>=/.:]+", payload), key=len)
            assert core in text, (field, payload)
    titles = pages.text_of(
        next(e for e in pages.elements(pages.parsed(hostile[0])) if e.tag.endswith("title"))
    )
    assert "</title><img src=x onerror=window.hurt=1>" in titles


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://example.org/?a=b&c", True),
        ("HTTP://example.org", True),
        ("javascript:alert(1)", False),
        ("JaVaScRiPt:alert(1)", False),
        (" javascript:alert(1)", False),
        ("java\nscript:alert(1)", False),
        ("data:text/html,x", False),
        ("vbscript:x", False),
        ("//example.org", False),
        ("/local", False),
        ("file:///etc/passwd", False),
        ("https://", False),
        ("http://[::1", False),
        ("https://example.org/\u202egpj.exe", False),
    ],
)
def test_links(url: str, safe: bool) -> None:
    assert (link(url) == url) is safe


def test_json_in_a_script_element() -> None:
    nasty = ["</script>", "<!--", "]]>", "&amp;", "\u2028\u2029", "a\x00b", "\ud800"]
    text = script_json(nasty)
    assert not set("<>&\u2028\u2029\x00\ud800") & set(text)
    assert json.loads(text)[:5] == nasty[:5]
    assert prose("a\x00b\ud800\u202ec") == "a�b�\u202ec"


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


def test_one_run_is_reported_without_a_comparison(tmp_path: Path) -> None:
    run = RUNS["one"]
    scores = er.evaluate(run, "nDCG@2 P@2", qrels=QRELS)
    write_report(tmp_path / "r.html", scores, inputs=Inputs.of({"one": run}, qrels=QRELS), measure="P@2")
    root = pages.parsed(tmp_path / "r.html")
    assert "1 system, 2 queries." in shown(root)
    assert "Significance" not in shown(root)
    assert pages.by_class(root, "moved") == []
    assert {pages.text_of(e) for e in pages.by_class(root, "name")} == {"a", "b", "c"}
    assert "adds +0.5000" in shown(root)


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


def test_sections_of_ones_own(tmp_path: Path) -> None:
    from evenrank.report.page.rendering import Section, render
    from evenrank.report.page.sections.systems import systems_section

    def greeting(material: Any) -> Section:
        return Section("hello", "Hello", render("figures.html", charts=[], lead="<b>not bold</b>"))

    seen: list[tuple[int, int]] = []
    scores = er.evaluate(RUNS, "P@1", qrels=QRELS)
    write_report(
        tmp_path / "r.html",
        scores,
        sections=[systems_section, greeting, lambda material: None],
        progress=lambda done, total: seen.append((done, total)),
    )
    root = pages.parsed(tmp_path / "r.html")
    assert [e.get("id") for e in pages.elements(root) if e.tag.endswith("section")] == ["systems", "hello"]
    assert "<b>not bold</b>" in shown(root)
    assert seen == [(0, 3), (1, 3), (2, 3)]


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
    assert f"No value: {NO_RELEVANT}" in said
    assert "The list is empty." in said


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


def test_equal_systems_have_no_best(tmp_path: Path) -> None:
    comparison = compare({"one": RUNS["one"], "two": RUNS["one"]}, "P@1", qrels=QRELS)
    comparison.report(tmp_path / "r.html")
    said = shown(pages.parsed(tmp_path / "r.html"))
    assert "All systems have" in said
    assert "Best is" not in said


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
        ({"documents": {"a": 3}}, "the text of 'a' is not a string: int"),
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


def scores_of(queries: int) -> er.Scores:
    """Two systems, whatever they rank."""
    values = np.random.default_rng(0).random((queries, 2))
    ids = tuple(f"q{number}" for number in range(queries))
    status = np.zeros((queries, 1), np.int16)
    return er.Scores(
        tuple(
            ScoresBlock(
                name, parse_measure("AP"), ids, ("",), values[:, [place]].copy(), status, (OK, INFINITE)
            )
            for place, name in enumerate(("one", "two"))
        )
    )


def test_a_report_of_no_query_says_so(tmp_path: Path) -> None:
    compare(scores_of(0)).report(tmp_path / "none.html")
    root = pages.parsed(tmp_path / "none.html")
    assert pages.by_class(root, "query") == []
    assert "undefined" in shown(root)
    assert not re.search(r"\bnan\b", shown(root), re.IGNORECASE)


@pytest.mark.slow
def test_ten_thousand_queries_fit(tmp_path: Path) -> None:
    compare(scores_of(10_000)).report(tmp_path / "many.html")
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
