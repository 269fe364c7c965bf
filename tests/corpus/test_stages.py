"""What the stages accept and refuse, and the ones that ask no model."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from evenrank import read_qrels
from evenrank.corpus import balance_folder, corpus_hash, read_corpus
from evenrank.corpus.pipeline import read_stage, write_stage
from evenrank.errors import DataError, MissingExtraError
from evenrank.remote import ChatAnswer, Secrets

ARTICLE = "The city keeps the law that is in the school of the river and the farm. " * 4


def read_records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_records(path: Path, records: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The first three questions of the shipped corpus, as a folder that can be changed."""
    there = tmp_path / "corpus"
    there.mkdir()
    for stage in ("topics", "questions", "perspectives", "documents", "distractors"):
        records = read_records(balance_folder() / f"{stage}.jsonl")
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
def test_answers_with_perspectives(folder: Path, text: str, problem: str | None) -> None:
    """Written for each question of the folder by something that always says the same."""

    class Says:
        secrets = Secrets({}, {})

        def write(self, messages: Any, seed: int) -> ChatAnswer:
            return ChatAnswer(text, "stop", "m", 1, 1)

        def close(self) -> None: ...

    for stage in ("perspectives", "documents", "distractors"):
        (folder / f"{stage}.jsonl").unlink()
    made = write_stage("perspectives", folder, writer=Says()).made
    assert {each.reason for each in made.rejected} == ({problem} if problem else set())
    sides = [record["text"] for record in made.records]
    assert sides == ([] if problem else ["A", "B"] * (len(sides) // 2))
    assert bool(sides) is (problem is None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (ARTICLE, None),
        (ARTICLE.strip().rstrip("."), "cut off"),
        (f"Perspective 1: Yes\n{ARTICLE}", "a header in the text"),
        ("Too short.", "2 words, not 40 to 2000"),
        ("Der Hund geht heute morgen nicht mehr nach Hause zurück. " * 6, "not in English"),
    ],
)
def test_documents(folder: Path, text: str, problem: str | None) -> None:
    records = read_records(folder / "documents.jsonl")
    records[0]["text"] = text
    write_records(folder / "documents.jsonl", records)
    made = read_stage("filters", folder, []).made
    assert [each.reason for each in made.rejected] == ([problem] if problem else [])


def test_duplicates_and_near_duplicates(folder: Path) -> None:
    records = read_records(folder / "documents.jsonl")
    words = records[1]["text"].split()
    records[5]["text"] = records[0]["text"].upper()
    records[6]["text"] = " ".join(["Moreover", *words[:-3], "and", "so", "on."])
    write_records(folder / "documents.jsonl", records)
    (folder / "corpus.toml").write_text("[filters]\nnear = 0.5\n", encoding="utf-8")
    reasons = {each.about: each.reason for each in read_stage("filters", folder, []).made.rejected}
    assert reasons == {
        records[5]["document"]: f"a duplicate of {records[0]['document']}",
        records[6]["document"]: f"a near-duplicate of {records[1]['document']}",
    }


def test_filters_reject_with_reasons_and_drop_or_keep_the_rest(folder: Path) -> None:
    records = read_records(folder / "documents.jsonl")
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
    ("text", "named"),
    [
        ("[writer]\nrate = 'fast'", ["writer.rate", "number"]),
        ("[documents]\nincomplete = 'maybe'", ["keep", "drop"]),
        ("[filters]\nnear = 2", ["near", "0", "1", "2"]),
        ("[safty]\nreview = 2", ["safty", "safety"]),
    ],
)
def test_bad_settings(folder: Path, evenrank: Any, text: str, named: list[str]) -> None:
    (folder / "corpus.toml").write_text(text, encoding="utf-8")
    done = evenrank("corpus", "statistics", folder)
    assert done.code == 1
    assert [word for word in ("corpus.toml", *named) if word not in done.err] == []


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


def test_reading_pages_without_trafilatura_names_the_extra(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    (tmp_path / "one.html").write_text("<p>x</p>", encoding="utf-8")
    row = {"query": "t01_q1", "rank": 1, "file": "one.html"}
    write_records(tmp_path / "results.jsonl", [row])
    with pytest.raises(MissingExtraError, match=r"\[corpus\]"):
        read_stage("natural", folder, [tmp_path / "results.jsonl"])


def test_safety_blocks_a_release_until_somebody_has_read(folder: Path, tmp_path: Path, evenrank: Any) -> None:
    topics = read_records(folder / "topics.jsonl")
    write_records(folder / "topics.jsonl", [{**topic, "domains": ["=1+1"]} for topic in topics])
    (folder / "corpus.toml").write_text(
        'name = "tiny"\nlicense = "CC0 1.0"\n[safety]\nthreshold = 0.09\nreview = 4\n', encoding="utf-8"
    )
    out = tmp_path / "out"

    def refused() -> str:
        done = evenrank("corpus", "release", folder, "-o", out)
        assert done.code == 1
        assert not out.exists()
        said: str = done.err
        return said

    assert "30 documents" in refused()
    corpus = read_corpus(folder)
    names = [record["document"] for record in (*corpus.documents, *corpus.distractors)]
    bad = {names[0]: 0.5, names[5]: 0.2}
    write_records(
        tmp_path / "scores.jsonl",
        [{"document": name, "hate": bad.get(name, 0.01), "harm": 0.001} for name in names],
    )
    scored = ("corpus", "safety", folder, "--from", tmp_path / "scores.jsonl")
    assert evenrank(*scored).code == 0
    assert "2 documents" in refused()
    with (folder / "review.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert [row["document"] for row in rows][:2] == [names[0], names[5]]
    rows[0]["verdict"], rows[1]["verdict"] = "drop", "keep"
    with (folder / "review.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert evenrank(*scored).code == 0  # verdicts stay
    (folder / "natural.jsonl").write_text("", encoding="utf-8")
    assert evenrank("corpus", "release", folder, "-o", out).code == 0
    card = (out / "README.md").read_text(encoding="utf-8")
    assert corpus_hash(out) in card
    assert "machine-written" in card
    released = read_corpus(out)
    assert len(released.documents) == 23
    assert names[0] not in {record["document"] for record in released.documents}
    assert not (out / "natural.jsonl").exists()
    asked = (out / "queries.csv").read_text(encoding="utf-8")
    assert (asked.count(",'=1+1,"), asked.count(",=1+1,")) == (3, 0)  # no formula for a spreadsheet
    sides = read_qrels(out / "sides.txt", diversity=True).to_dict()
    assert len(sides["t02_q1"]["for"]) == 4


def test_scores_and_verdicts_that_are_none_are_refused_with_their_line(
    folder: Path, tmp_path: Path, evenrank: Any
) -> None:
    corpus, path = read_corpus(folder), tmp_path / "scores.jsonl"
    names = [record["document"] for record in (*corpus.documents, *corpus.distractors)]
    scores = [{"document": name, "hate": 0.01} for name in names]
    write_records(path, [*scores, {"document": "nix", "hate": 0.1}, {"document": names[0], "hate": 7}])
    done = evenrank("corpus", "safety", folder, "--from", path)
    assert done.code == 1
    assert [word for word in ("scores.jsonl:31", "'nix'", "scores.jsonl:32") if word not in done.err] == []
    write_records(path, scores)
    assert evenrank("corpus", "safety", folder, "--from", path).code == 0
    (folder / "review.csv").write_text(f"document,verdict\n{names[0]},perhaps\n", encoding="utf-8")
    done = evenrank("corpus", "release", folder, "-o", tmp_path / "out")
    assert done.code == 1
    assert [word for word in ("review.csv:2", "'perhaps'") if word not in done.err] == []


def test_statistics_count_domains(folder: Path, evenrank: Any) -> None:
    done = evenrank("corpus", "statistics", folder, "--format", "jsonl")
    rows = {row["domain"]: row for row in map(json.loads, done.out.splitlines())}
    found = {
        name: tuple(rows[name][column] for column in ("topics", "queries", "documents"))
        for name in ("Entertainment", "all", "mean")
    }
    assert found == {"Entertainment": (2, 2, 16), "all": (3, 3, 24), "mean": (1.5, 1.5, 12.0)}


def test_topic_bias_has_shares_of_the_labelled(folder: Path, tmp_path: Path, evenrank: Any) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("topic,country\nt01,United States\nt02,United States\n", encoding="utf-8")
    command = ("corpus", "topic-bias", folder, "--from", path)
    row, *_ = map(json.loads, evenrank(*command, "--format", "jsonl").out.splitlines())
    assert [*row.values()][:3] == ["United States", 2, 1.0]
    path.write_text("topic,country\nt01,A\nt01,B\nt77,C\n", encoding="utf-8")
    done = evenrank(*command)
    assert done.code == 1
    assert [word for word in ("labels.csv:3", "labels.csv:4") if word not in done.err] == []
