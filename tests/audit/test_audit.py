"""Audits end to end: from engines and run files to lines, a folder, and a trend."""

from __future__ import annotations

import json
import re
import sqlite3
import warnings
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from small_shop import write_small_shop

from evenrank import Scores, audit, read_qrels, read_run
from evenrank.cli import main
from evenrank.engines import open_engine
from evenrank.errors import DataError, EvenrankWarning, InputTypeError, ParameterError
from evenrank.io.clicks import read_clicks

BEGIN = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_small_shop(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def clock(days: int = 0) -> Callable[[], datetime]:
    return lambda: BEGIN + timedelta(days=days)


def audited(source: Any = "shop.toml", **options: Any) -> Any:
    known = {"queries": "queries.csv", "documents": "products.jsonl", "now": clock(), **options}
    return audit(source, **known)


def made() -> list[str]:
    """The audits that are whole."""
    return sorted(path.parent.name for path in Path("audit").glob("2*/summary.json"))


def shares_of(found: Any) -> list[Any]:
    return [(one.attribute, one.groups) for one in found.verdicts]


def test_an_engine_is_asked_and_judged(shop: Path) -> None:
    found = audited()
    assert found.folder == Path("audit/2026-05-04T12-00-00Z")
    by_attribute = {verdict.attribute: verdict for verdict in found.verdicts}
    assert list(by_attribute) == ["seller_size", "colour"]  # the fields that have few values
    assert by_attribute["seller_size"].less[0].value == "small"
    assert by_attribute["seller_size"].target == "catalogue"
    assert not by_attribute["colour"].shown
    assert by_attribute["seller_size"].advice is not None
    files = sorted(path.name for path in found.folder.iterdir())
    assert files == ["answers", "groups", "runs", "scores.jsonl", "summary.json"]
    assert not (shop / "audit/unfinished").exists()
    content = json.loads((found.folder / "summary.json").read_text())
    assert [one["attribute"] for one in content["verdicts"]] == ["seller_size", "colour"]
    assert found.lines()[0].split()[:3] == content["sentences"][0].split()[:3]
    assert audited(now=clock(1)).previous.verdicts == found.verdicts
    assert content["engines"]["shop"]["answered"] == 48
    measures = [repr(measure) for measure in Scores.read(found.folder / "scores.jsonl").measures]
    assert "GF(attr='seller_size')@10" in measures
    assert "GroupShare(attr='seller_size',attention=log2)@10" in measures


def test_its_run_is_what_the_engine_gives(shop: Path) -> None:
    found = audited()
    run = read_run(found.folder / "runs/shop.trec")
    database = sqlite3.connect("shop.db")
    for query, words in (("q0", '"red" OR "lamp"'), ("q47", '"glass" OR "mirror"')):
        plain = database.execute(
            "select id from products where products match ? "
            "order by -bm25(products) + boost desc, id limit 100",
            [words],
        )
        assert run.documents(query) == [row[0] for row in plain]
    database.close()


@pytest.mark.parametrize("lexicon", [None, pytest.param("gender-en", marks=pytest.mark.slow)])
def test_lines_of_eighty_columns_say_all_that_was_found(shop: Path, lexicon: str | None) -> None:
    found = audited(lexicon=lexicon)
    lines = found.lines()
    assert all(any(line.startswith(f"{one.attribute}: ") for line in lines) for one in found.verdicts)
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("seller_size: small is ")
    (worst,) = [place for place, line in enumerate(lines) if line.startswith("worst queries for seller_size")]
    own = " ".join(lines[worst : worst + 3]).partition(" worst queries")[0]
    assert own.count("“") == 3
    assert any(line.startswith("relevance is not known") for line in lines)
    assert any(line.startswith("to try: ") for line in lines)
    assert lines[-1].startswith("wrote audit/2026-05-04T12-00-00Z")


@pytest.mark.slow
def test_without_documents_the_fields_of_the_answers_are_groups(shop: Path) -> None:
    found = audited(documents=None, groups="seller_size")
    (verdict,) = found.verdicts
    assert verdict.target == "candidates"
    everything = audited(groups="seller_size", target="candidates").verdicts[0]
    assert verdict.group("small").difference == pytest.approx(everything.group("small").difference)
    with pytest.raises(ParameterError, match=r"the answers have no such field \(there are: seller_size, col"):
        audited(documents=None, groups="brand")
    words = audited(documents=None, groups="seller_size", lexicon="gender-en", keep_texts=True)
    assert [one.attribute for one in words.verdicts] == ["seller_size", "words of gender-en"]
    with pytest.raises(ParameterError, match="keep_texts=True"):
        audited(documents=None, groups="seller_size", lexicon="gender-en")


def test_run_files_stand_in_the_same_place(shop: Path) -> None:
    first = audited()
    engine = first.folder / "runs/shop.trec"
    run = read_run(engine)
    rows = [
        f"{query},{document},{rank}\n"
        for query in run
        for rank, document in enumerate(run.documents(query), 1)
    ]
    (shop / "ranks.csv").write_text("query,document,rank\n" + "".join(rows))
    (shop / "order.csv").write_text(
        "query,document\n" + "".join(row.rpartition(",")[0] + "\n" for row in rows)
    )
    with pytest.warns(EvenrankWarning, match="in the order of the rows"):
        read_run("order.csv")
    for source in ("ranks.csv", "order.csv"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvenrankWarning)
            found = audited(source, now=clock(1))
        assert shares_of(found) == shares_of(first)
        assert not (found.folder / "answers").exists()
        assert found.verdicts[0].worst[0].text  # the texts of the queries are known


def test_documents_in_several_files_have_the_same_fields(shop: Path) -> None:
    """With fewer documents in each file than are looked at."""
    (shop / "shards").mkdir()
    lines = (shop / "products.jsonl").read_text().splitlines(keepends=True)
    for number, begin in enumerate(range(0, len(lines), 3)):
        (shop / f"shards/part-{number}.jsonl").write_text("".join(lines[begin : begin + 3]))
    one, many = audited(), audited(documents="shards/")
    assert shares_of(many) == shares_of(one)
    assert [verdict.attribute for verdict in many.verdicts] == ["seller_size", "colour"]


@pytest.mark.slow
def test_several_systems_are_compared(shop: Path) -> None:
    found = audited(["shop.toml", lambda text, depth: [f"p{n}" for n in range(100)]])
    assert found.summary.systems == ("shop", "lambda")
    assert [(one.system, one.attribute) for one in found.verdicts][:2] == [
        ("shop", "seller_size"), ("shop", "colour"),
    ]  # fmt: skip
    assert found.lines()[0].startswith("shop, seller_size: ")
    assert sorted(path.name for path in (found.folder / "runs").iterdir()) == ["lambda.trec", "shop.trec"]


class Shaky:
    """An engine in Python that is stopped, or fails, when it is asked for the n-th time."""

    def __init__(self, stop: int, error: type[BaseException] = KeyboardInterrupt) -> None:
        self.asked: list[str] = []
        self.stop, self.error = stop, error
        self.__name__ = "shaky"

    def __call__(self, text: str, depth: int) -> list[str]:
        self.asked.append(text)
        if len(self.asked) == self.stop:
            raise self.error("stopped")
        return [f"p{(hash_of(text) + 7 * n) % 400}" for n in range(20)]


def hash_of(text: str) -> int:
    return sum(map(ord, text))


def test_an_interrupted_audit_goes_on_where_it_stopped(shop: Path) -> None:
    engine = Shaky(30)
    named = open_engine(engine, name="shaky")
    with pytest.raises(KeyboardInterrupt):
        audited(named)
    assert made() == []
    found = audited(named)
    assert len(engine.asked) == 49  # the 30th, which has no answer, twice
    assert sorted(set(engine.asked)) == sorted(engine.asked[:29] + engine.asked[30:])
    assert found.summary.engines["shaky"]["answered"] == 48
    again = audited(named, now=clock(1))
    assert len(engine.asked) == 97  # a new audit asks everything
    assert again.folder != found.folder


def test_another_audit_does_not_lose_the_answers_of_an_interrupted_one(shop: Path) -> None:
    engine = Shaky(30)
    named = open_engine(engine, name="shaky")
    with pytest.raises(KeyboardInterrupt):
        audited(named)
    found = audited(groups="seller_size")
    assert [path.name for path in (found.folder / "answers").iterdir()] == ["shop"]
    audited(named, groups="seller_size", now=clock(1))
    assert len(engine.asked) == 49


def test_a_failed_query_is_named_and_asked_again(shop: Path) -> None:
    engine = Shaky(30, ValueError)
    named = open_engine(engine, name="shaky")
    found = audited(named)
    assert any(
        "1 query has no answer (q29); the same command asks only these" in n for n in found.summary.notes
    )
    assert found.summary.engines["shaky"]["answered"] == 47
    found = audited(named, now=clock(1))
    assert len(engine.asked) == 49
    assert engine.asked[-1] == engine.asked[29]
    assert found.summary.engines["shaky"]["answered"] == 48


def test_what_is_missing_is_said(shop: Path) -> None:
    with pytest.raises(ParameterError, match="an engine needs queries to be asked: "):
        audited(queries=None)
    (shop / "bare.csv").write_text("query,document,rank\nq0,p1,1\n")
    with pytest.raises(ParameterError, match="nothing is known of groups"):
        audit("bare.csv", now=clock())
    with pytest.raises(InputTypeError, match="int"):
        audit(3)
    with pytest.raises(ParameterError, match="two engines are called 'shop'"):
        audited(["shop.toml", "shop.toml"])


@pytest.mark.slow
def test_judgements_and_clicks_are_told_apart(shop: Path) -> None:
    first = audited()
    run = read_run(first.folder / "runs/shop.trec")
    (shop / "qrels.txt").write_text("".join(f"{query} 0 {run.documents(query)[1]} 1\n" for query in run))
    judged = audited(qrels="qrels.txt", now=clock(1))
    assert any(line.startswith("relevance: nDCG@10 is 0.6309") for line in judged.lines())
    assert judged.verdicts[0].advice.cost_measure == "nDCG@10"
    rows = [f"{query},{run.documents(query)[1]},2,5,10\n" for query in run]
    (shop / "clicks.csv").write_text("query,document,rank,clicks,impressions\n" + "".join(rows))
    clicked = audited(qrels=read_clicks("clicks.csv"), now=clock(2))
    assert "follow position" in " ".join(clicked.lines())
    assert any("relevance comes from clicks" in note for note in clicked.summary.notes)
    assert read_qrels("qrels.txt").max_grade == 1


def test_two_audits_of_one_second_are_told_apart(shop: Path) -> None:
    folders = [audited(groups="seller_size").folder.name for _ in range(2)]
    assert folders == ["2026-05-04T12-00-00Z", "2026-05-04T12-00-00Z-2"]
    assert made() == folders


@pytest.mark.slow
def test_the_report_shows_verdicts_and_the_trend(shop: Path) -> None:
    audited(groups="seller_size")
    page = (shop / "audit/2026-05-04T12-00-00Z/report.html").read_text()
    assert "Who is favoured" in page
    assert "Over time" not in page
    (shop / "audit/2026-05-04T12-00-00Z-2").mkdir()
    (shop / "audit/2026-05-04T12-00-00Z-2/summary.json").write_text("{")
    with pytest.warns(UserWarning, match="the trend is without it"):
        found = audited(groups="seller_size", now=clock(30))
    page = (found.folder / "report.html").read_text()
    assert "Over time" in page
    assert page.count("2026-05-04T12:00:00+00:00") >= 1
    assert "2026-06-03T12:00:00+00:00" in page
    small = found.verdicts[0].less[0]
    assert {"7.7%", "60%"} <= set(re.findall(r"[\d.]+%", page))
    assert (round(small.share, 3), small.documents / 400) == (0.077, pytest.approx(small.catalogue))


def test_ids_with_blanks_are_audited_and_the_advised_command_works(shop: Path) -> None:
    """A TREC file cannot hold them: the run is kept as a table."""
    rows = [json.loads(line) for line in Path("products.jsonl").read_text().splitlines()]
    for row in rows:
        row["id"] = f"no {row['id']}"
    Path("products.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    large_first = sorted(rows, key=lambda row: row["seller_size"])

    def engine(text: str, depth: int) -> list[tuple[str, float]]:
        first = zlib.crc32(text.encode()) % 100
        return [(row["id"], 100.0 - place) for place, row in enumerate(large_first[first:][:depth])]

    found = audited(engine, groups="seller_size")
    (run,) = (found.folder / "runs").iterdir()
    assert run.suffix == ".parquet"
    (verdict,) = found.verdicts
    assert main(list(verdict.advice.command)[1:]) == 0
    assert read_run(verdict.advice.command[-1]).documents("q1")[0].startswith("no ")


def test_what_is_wrong_with_files_is_said_before_an_engine_is_asked(shop: Path) -> None:
    asked: list[str] = []

    def engine(text: str, depth: int) -> list[tuple[str, float]]:
        asked.append(text)
        return [("p1", 1.0)]

    with pytest.raises(DataError, match="no column 'seler_size'"):
        audited(engine, groups="seler_size")
    assert asked == []


def test_queries_that_are_nothing_but_words(shop: Path) -> None:
    words = [line.partition(",")[2] for line in (shop / "queries.csv").read_text().splitlines()[1:]]
    (shop / "words.csv").write_text("query\n" + "\n".join(words) + "\n")
    rows = "".join(f"n{i},{w},why {i}\n" for i, w in enumerate(words))
    (shop / "log.csv").write_text("id,query,reason\n" + rows)
    for name, own, reason in (("words.csv", None, None), ("log.csv", "n0", "why 0")):
        found = audited(queries=name, output=f"audit-{name}")
        (run,) = found.inputs.runs.values()
        first = run.query_ids[0]
        assert own in (None, first)
        assert found.inputs.query_texts[first] == words[0]
        assert (found.inputs.query_reasons or {}).get(first) == reason
        assert found.verdicts[0].less[0].value == "small"
