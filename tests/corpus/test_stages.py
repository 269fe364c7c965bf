"""What the stages accept and refuse, and the ones that ask no model."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from evenrank import read_qrels
from evenrank.cli import main
from evenrank.corpus import balance_folder, corpus_hash, read_balance, read_corpus
from evenrank.corpus.checks import Seen, find_problem
from evenrank.corpus.pipeline import read_stage
from evenrank.corpus.records import read_records, write_records
from evenrank.corpus.release import write_release
from evenrank.corpus.safety import given_scores, moderate, unreviewed, write_review
from evenrank.corpus.settings import FilterSettings, Settings, read_settings
from evenrank.corpus.stages.perspectives import find_sides, sides_problem
from evenrank.corpus.statistics import stale, statistics_table
from evenrank.corpus.topic_bias import topic_bias_table
from evenrank.errors import DataError, MissingExtraError
from evenrank.io.queries import read_queries

ARTICLE = "The city keeps the law that is in the school of the river and the farm. " * 4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The first three questions of the shipped corpus, as a folder that can be changed."""
    there = tmp_path / "corpus"
    there.mkdir()
    for stage in ("topics", "questions", "perspectives", "documents", "distractors"):
        records = read_records(balance_folder() / f"{stage}.jsonl", stage)
        kept = [
            record
            for record in records
            if (record.get("query") or record["topic"])[:3] in ("t01", "t02", "t04")
        ]
        write_records(there / f"{stage}.jsonl", kept)
    return there


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("No headers here, only prose.", "no headers that name perspectives"),
        (f"Perspective 1: A\n{ARTICLE}", "1 perspective, not 2"),
        ("\n".join(f"Perspective {n}: side {n}\n{ARTICLE}" for n in (1, 2, 3)), "3 perspectives, not 2"),
        (f"Perspective 1: A\n\nPerspective 2: B\n{ARTICLE}", "article 1: empty"),
        (f"Perspective 1: A\n{ARTICLE}\nPerspective 2: a\n{ARTICLE}", "two perspectives that are the same"),
        (f"Perspective 1:\n{ARTICLE}\nPerspective 2: B\n{ARTICLE}", "a header without a position"),
        (f"Perspective 1: A\n{ARTICLE}\nPerspective 2: B\n{ARTICLE}", None),
        (f"## Perspective 1 - A\n{ARTICLE}\n**Perspective 2: B**\n{ARTICLE}", None),
        ("I'm sorry, but I cannot write about this.", "a refusal"),
    ],
)
def test_answers_with_perspectives(text: str, problem: str | None) -> None:
    assert sides_problem(text, "stop", FilterSettings()) == problem
    if problem is None:
        assert [side.position for side in find_sides(text)] == ["A", "B"]


@pytest.mark.parametrize(
    ("text", "finish", "problem"),
    [
        (ARTICLE, "stop", None),
        (ARTICLE, "length", "cut off"),
        (ARTICLE.strip().rstrip("."), "stop", "cut off"),
        (ARTICLE, "content_filter", "a refusal"),
        ("  \n", "stop", "empty"),
        (f"Perspective 1: Yes\n{ARTICLE}", "stop", "a header in the text"),
        ("Too short.", "stop", "2 words, not 40 to 2000"),
        ("Der Hund geht heute morgen nicht mehr nach Hause zurück. " * 6, "stop", "not in English"),
    ],
)
def test_documents(text: str, finish: str, problem: str | None) -> None:
    assert find_problem(text, FilterSettings(), finish) == problem


def test_duplicates_and_near_duplicates() -> None:
    seen = Seen(0.5)
    texts = [record["text"] for record in read_balance().documents[:3]]
    for number, text in enumerate(texts):
        assert seen.problem(text) is None
        seen.add(f"d{number}", text)
    assert seen.problem(texts[0].upper()) == "a duplicate of d0"
    words = texts[1].split()
    assert seen.problem(" ".join(["Moreover", *words[:-3], "and", "so", "on."])) == "a near-duplicate of d1"


def test_filters_reject_with_reasons_and_drop_or_keep_the_rest(folder: Path) -> None:
    records = read_records(folder / "documents.jsonl", "documents")
    records[1]["text"] = records[0]["text"]
    records[9]["text"] = "As an AI language model I cannot take a side in this."
    write_records(folder / "documents.jsonl", records)
    result = read_stage("filters", folder, [])
    assert len(result.made.records) == 22
    reasons = {each.about: each.reason for each in result.made.rejected}
    assert reasons == {
        records[1]["document"]: f"a duplicate of {records[0]['document']}",
        records[9]["document"]: "a refusal",
    }
    assert "2 questions lack 2 documents and were kept" in result.made.notes[0]
    (folder / "corpus.toml").write_text('[documents]\nincomplete = "drop"\n', encoding="utf-8")
    assert len(read_stage("filters", folder, []).made.records) == 8
    assert len(read_corpus(folder).documents) == 8


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "zoos,Environment\ncash,Technology\nZoos,Sports",
            r"list.csv:4: topic 'Zoos' is there already, in line 2",
        ),
        (
            "zoos,Enviroment",
            r"list.csv:2: topic 'zoos': unknown domain 'Enviroment'; did you mean 'Environment'\?",
        ),
        ("zoos,", r"list.csv:2: topic 'zoos': has no domain"),
        (",Sports", r"list.csv:2: has no title"),
        ("", "list.csv: no topics"),
    ],
)
def test_bad_topics_are_said_with_their_line(tmp_path: Path, rows: str, message: str) -> None:
    (tmp_path / "list.csv").write_text(f"title,domains\n{rows}\n", encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_stage("topics", tmp_path / "c", [tmp_path / "list.csv"])
    assert not (tmp_path / "c").exists()  # nothing of it was written


@pytest.mark.parametrize(
    ("stage", "line", "message"),
    [
        (
            "documents",
            '{"document": "x", "query": "t01_q1", "perspective": "p1", "text": " "}',
            "25: text is empty",
        ),
        (
            "documents",
            '{"document": "x", "query": "t01_q1", "perspective": "p3", "text": "a"}',
            "25: perspective must be",
        ),
        (
            "documents",
            '{"document": "x", "query": "t99", "perspective": "p1", "text": "a"}',
            "25: query 't99' is not in",
        ),
        ("documents", "{broken", "25: is not JSON"),
        (
            "topics",
            '{"topic": "t01", "title": "a", "page": null, "domains": ["Sports"]}',
            "4: topic 't01' is there",
        ),
        ("questions", '{"query": "q", "topic": "t01", "text": "a?"}', "4: has no field 'sampled'"),
    ],
)
def test_bad_stage_files_are_said_with_their_line(folder: Path, stage: str, line: str, message: str) -> None:
    with (folder / f"{stage}.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(DataError, match=re.escape(f"{stage}.jsonl:{message}")):
        read_corpus(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[writer]\nmodell = 'x'", "[writer] has no setting 'modell'; did you mean 'model'?"),
        ("[writer]\nrate = 'fast'", "[writer] rate must be a number, got 'fast'"),
        ("[documents]\nincomplete = 'maybe'", "must be one of keep, drop"),
        ("[filters]\nnear = 2", "[filters] near must be at least 0 and at most 1, got 2"),
        ("[safty]\nreview = 2", "has no setting 'safty'; did you mean 'safety'?"),
    ],
)
def test_bad_settings(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "corpus.toml").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(message)):
        read_settings(tmp_path)


def test_a_stage_out_of_order_names_the_one_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["corpus", "documents", str(tmp_path)]) == 1
    assert "run evenrank corpus perspectives" in capsys.readouterr().err


@pytest.mark.needs("trafilatura")
def test_natural_pages_have_their_body_text_only(folder: Path, tmp_path: Path) -> None:
    body = "".join(f"<p>{ARTICLE}</p>" for _ in range(3))
    nav, footer = "<nav>Home Login Cookies</nav>", "<footer>Imprint</footer>"
    page = f"<html><body>{nav}<article><h1>Zoos</h1>{body}</article>{footer}</body></html>"
    (tmp_path / "one.html").write_text(page, encoding="utf-8")
    (tmp_path / "two.html").write_text("<html><body></body></html>", encoding="utf-8")
    head = "query,rank,url,title,snippet,date,file\n"
    rows = (
        "t01_q1,1,https://a.example,Zoos,short,2024-01-02,one.html\nt01_q1,2,https://b.example,,,,two.html\n"
    )
    (tmp_path / "results.csv").write_text(head + rows, encoding="utf-8")
    made = read_stage("natural", folder, [tmp_path / "results.csv"]).made
    (record,) = made.records
    assert record["rank"] == 1
    assert record["url"] == "https://a.example"
    assert "The city keeps the law" in record["text"]
    assert not re.search("Login|Imprint", record["text"])
    assert [each.reason for each in made.rejected] == ["no text in its body"]


def test_natural_results_with_text_need_no_extra_and_bad_rows_are_named(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps({"query": "t01_q1", "rank": 1, "text": "A text."}) + "\n", encoding="utf-8")
    assert read_stage("natural", folder, [path]).made.records[0]["text"] == "A text."
    bad = [
        {"query": "zz", "rank": 1},
        {"query": "t01_q1", "rank": 0},
        {"query": "t01_q1", "rank": 2, "file": "no.html"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in bad), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_stage("natural", folder, [path])
    assert [problem.line for problem in caught.value.problems] == [1, 2, 3]


def test_reading_pages_without_trafilatura_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from evenrank.corpus.stages.natural import body_text

    monkeypatch.setitem(__import__("sys").modules, "trafilatura", None)
    with pytest.raises(MissingExtraError, match=r"\[corpus\]"):
        body_text("<p>x</p>")


def test_safety_blocks_a_release_until_somebody_has_read(folder: Path, tmp_path: Path) -> None:
    topics = read_records(folder / "topics.jsonl", "topics")
    write_records(folder / "topics.jsonl", [{**topic, "domains": ["=1+1"]} for topic in topics])
    corpus, settings = read_corpus(folder), Settings(name="tiny", license="CC0 1.0")
    with pytest.raises(DataError, match="30 documents are not reviewed"):
        write_release(corpus, settings, tmp_path / "out")
    bad = {corpus.documents[0]["text"]: 0.5, corpus.documents[5]["text"]: 0.2}
    asked: list[int] = []

    def moderator(texts: object) -> list[dict[str, float]]:
        asked.append(len(list(texts)))  # type: ignore[call-overload]
        return [{"hate": bad.get(text, 0.01), "harm": 0.001} for text in texts]  # type: ignore[attr-defined]

    scored = moderate(corpus, moderator)
    assert [each.worst for each in scored][:1] == [("hate", 0.5)]
    moderate(corpus, moderator)
    assert sum(asked) == 30  # nothing is asked for twice
    assert unreviewed(corpus, 0.09) == [corpus.documents[0]["document"], corpus.documents[5]["document"]]
    assert write_review(corpus, scored, 0.09, 4) == 4
    with pytest.raises(DataError, match="2 documents are not reviewed"):
        write_release(corpus, settings, tmp_path / "out")
    with (folder / "review.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rows[0]["verdict"], rows[1]["verdict"] = "drop", "keep"
    with (folder / "review.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert write_review(corpus, scored, 0.09, 4) == 4  # verdicts stay
    (folder / "natural.jsonl").write_text("", encoding="utf-8")
    found = write_release(corpus, settings, tmp_path / "out")
    assert found == corpus_hash(tmp_path / "out")
    card = (tmp_path / "out/README.md").read_text(encoding="utf-8")
    assert found in card
    assert "machine-written" in card
    released = read_corpus(tmp_path / "out")
    assert len(released.documents) == 23
    assert not (tmp_path / "out/natural.jsonl").exists()
    asked = (tmp_path / "out/queries.csv").read_text(encoding="utf-8")
    assert (asked.count(",'=1+1,"), asked.count(",=1+1,")) == (3, 0)  # no formula for a spreadsheet
    assert set(read_queries(str(tmp_path / "out/queries.csv")).columns["domain"]) == {"=1+1"}
    sides = read_qrels(tmp_path / "out/sides.txt", diversity=True).to_dict()
    assert len(sides["t02_q1"]["for"]) == 4


def test_scores_of_another_moderator_are_checked(folder: Path, tmp_path: Path) -> None:
    corpus = read_corpus(folder)
    path = tmp_path / "scores.jsonl"
    names = [record["document"] for record in (*corpus.documents, *corpus.distractors)]
    path.write_text(
        "".join(json.dumps({"document": name, "hate": 0.01}) + "\n" for name in names), encoding="utf-8"
    )
    assert len(given_scores(path, corpus)) == 30
    assert unreviewed(corpus, 0.09) == []
    with path.open("a", encoding="utf-8") as file:
        file.write('{"document": "nix", "hate": 0.1}\n{"document": "t01_q1_p1_d1", "hate": 7}\n')
    with pytest.raises(DataError) as caught:
        given_scores(path, corpus)
    assert [problem.line for problem in caught.value.problems] == [31, 32]


def test_a_verdict_that_is_none_is_refused(folder: Path) -> None:
    (folder / "review.csv").write_text("document,verdict\nt01_q1_p1_d1,perhaps\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"review\.csv:2: verdict must be keep or drop, got 'perhaps'"):
        unreviewed(read_corpus(folder), 0.09)


def test_statistics_count_what_is_missing_and_old(folder: Path) -> None:
    corpus = read_corpus(folder)
    rows = {row[0]: row[1:] for row in statistics_table(corpus).rows}
    assert rows["Entertainment"][:3] == (2, 2, 16)
    assert rows["all"][:3] == (3, 3, 24)
    assert rows["mean"][:3] == (1.5, 1.5, 12.0)
    assert stale(corpus) == []
    records = read_records(folder / "perspectives.jsonl", "perspectives")
    records[0]["text"] = "Another sentence."
    write_records(folder / "perspectives.jsonl", records)
    assert stale(read_corpus(folder)) == [f"t01_q1_p1_d{number}" for number in range(1, 5)]


def test_topic_bias_has_shares_with_intervals(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("topic,country\nt01,United States\nt02,United States\n", encoding="utf-8")
    table = topic_bias_table(read_corpus(folder), path)
    assert table.rows[0][:3] == ("United States", 2, 1.0)
    assert table.notes == ("topics without a label, which are left out: 1",)
    path.write_text("topic,country\nt01,A\nt01,B\nt77,C\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        topic_bias_table(read_corpus(folder), path)
    assert [problem.line for problem in caught.value.problems] == [3, 4]
