"""SQLite: the answers are those of the same SELECT, and nothing but the file is touched."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

import pytest

import evenrank
from evenrank.cli import main
from evenrank.engines import ask, open_engine, plan
from evenrank.errors import DataError, ParameterError
from evenrank.systems import read_texts

SAMPLE = Path(evenrank.__file__).parent / "sample"
QUERIES = {"q1": "lamp", "q2": "men's lamp", "q3": "zebra"}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    database = sqlite3.connect(path)
    database.execute("create virtual table products using fts5(id unindexed, title, seller unindexed)")
    database.executemany(
        "insert into products values (?, ?, ?)",
        [(f"d{n}", f"red lamp {'big ' * n}", "small" if n % 3 else "large") for n in range(20)],
    )
    database.commit()
    database.close()
    return path


def test_the_sample_gives_what_a_plain_select_gives(tmp_path: Path) -> None:
    path = tmp_path / "sample.db"
    database = sqlite3.connect(path)
    database.execute("create virtual table d using fts5(id unindexed, text)")
    documents = read_texts(str(SAMPLE / "documents.jsonl"))
    database.executemany("insert into d values (?, ?)", documents.items())
    database.commit()
    queries = read_texts(str(SAMPLE / "queries.csv"), columns={"id": "query"})
    answers = ask(path, queries, depth=100, log=tmp_path / "log")
    for query, text in queries.items():
        words = " OR ".join(
            f'"{word}"' for word in "".join(c if c.isalnum() or c == "_" else " " for c in text).split()
        )
        plain = database.execute(
            "select id from d where d match ? order by bm25(d), rowid limit 100", [words]
        ).fetchall()
        assert answers.run.documents(query) == [row[0] for row in plain]
    assert not answers.problems
    assert answers.description.documents == len(documents)


def test_fields_are_kept_and_texts_only_on_demand(shop: Path, tmp_path: Path) -> None:
    answers = ask(shop, QUERIES, depth=5, log=tmp_path / "log")
    assert answers.documents.column_names == ["id", "seller"]
    assert [problem.kind for problem in answers.problems["q3"]] == ["found nothing"]
    answers = ask(shop, QUERIES, depth=5, keep_texts=True, fields=["seller"])
    assert answers.documents.column_names == ["id", "seller", "text"]
    assert answers.documents["text"][0].as_py().startswith("red lamp")


def test_an_engine_file_names_the_fields_to_keep(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "engine.toml").write_text('address = "shop.db"\nfields = ["seller"]\n')
    assert ask(tmp_path / "engine.toml", QUERIES, depth=5).documents.column_names == ["id", "seller"]
    (tmp_path / "engine.toml").write_text('address = "shop.db"\nfields = ["title"]\n')
    assert ask(tmp_path / "engine.toml", QUERIES, depth=5).documents.column_names == ["id", "title"]
    assert ask(f"{shop}?fields=seller,title", QUERIES).documents.column_names == ["id", "seller", "title"]


def test_a_second_call_asks_nothing(shop: Path, tmp_path: Path) -> None:
    first = ask(shop, QUERIES, log=tmp_path / "log")
    assert plan(shop, QUERIES, log=tmp_path / "log").requests == ()
    assert ask(shop, QUERIES, log=tmp_path / "log").run.to_dict() == first.run.to_dict()
    assert plan(shop, {**QUERIES, "q4": "big"}, log=tmp_path / "log").answered == 3


def test_another_text_is_another_query(shop: Path, tmp_path: Path) -> None:
    ask(shop, {"q1": "zebra"}, log=tmp_path / "log")
    assert ask(shop, {"q1": "lamp"}, log=tmp_path / "log").run.documents("q1")


def test_sql_of_ones_own(shop: Path) -> None:
    table = {
        "address": f"sqlite:///{shop}",
        "sql": "select id, title, -bm25(products) as score from products where products match :words "
        "order by score limit :depth",
        "name": "worst",
    }
    answers = ask(open_engine(table), {"q1": "lamp"}, depth=3)
    assert answers.run.name == "worst"
    assert [problem.kind for problem in answers.problems["q1"]] == [
        "order"
    ]  # ascending: the worst come first
    assert answers.run.documents("q1")[0] == "d19"


@pytest.mark.parametrize("sql", ["attach 'x.db' as x", "delete from products", "pragma writable_schema = 1"])
def test_sql_cannot_write_or_open_another_file(shop: Path, sql: str) -> None:
    before = shop.read_bytes()
    answers = ask(open_engine({"address": str(shop), "sql": sql}), {"q1": "lamp"})
    assert [problem.kind for problem in answers.problems["q1"]] == ["failed"]
    assert shop.read_bytes() == before


def test_a_changed_index_is_reported_by_query(shop: Path, tmp_path: Path) -> None:
    ask(shop, {"q1": "lamp"}, log=tmp_path / "log")
    database = sqlite3.connect(shop)
    database.executemany(
        "insert into products values (?, 'green lamp', 'small')", [(f"n{n}",) for n in range(500)]
    )
    database.commit()
    answers = ask(shop, {"q1": "lamp", "q2": "big"}, log=tmp_path / "log")
    assert {query: [problem.kind for problem in own] for query, own in answers.problems.items()} == {
        "q1": ["index changed"]
    }


def test_what_is_no_engine(tmp_path: Path, shop: Path) -> None:
    (tmp_path / "text.db").write_text("no database, though it has a name like one, and is long enough")
    with pytest.raises(DataError, match=r"text\.db"):
        open_engine(tmp_path / "text.db")
    sqlite3.connect(tmp_path / "none.db").execute("create table t (id)").connection.commit()
    with pytest.raises(DataError, match=r"none\.db"):
        open_engine(tmp_path / "none.db")
    with pytest.raises(ParameterError, match=r"rat\b.*rate"):
        open_engine({"address": str(shop), "rat": 3})
    with pytest.raises(ParameterError, match="quokka"):
        open_engine("quokka+http://localhost/x")
    (tmp_path / "queries.csv").write_text("query,text\nq1,\n")
    with pytest.raises(DataError, match=r"queries\.csv"):
        ask(shop, tmp_path / "queries.csv")


def found_project(folder: Path, project: str, **files: str) -> None:
    (folder / "evenrank.toml").write_text(project)
    for name, content in files.items():
        (folder / f"{name}.toml").write_text(content)
    (folder / "queries.csv").write_text("query,text\nq1,lamp\n")
    rows = [json.dumps({"id": f"d{n}", "seller": "small" if n % 3 else "large"}) for n in range(20)]
    (folder / "documents.jsonl").write_text("\n".join(rows) + "\n")


DATA = '[data]\nqueries = "queries.csv"\ndocuments = "documents.jsonl"\n'
GROUPS = '[groups]\nseller = "documents"\n'
SQL = "sql = 'select id from products where products match :words limit :depth'\n"


@pytest.mark.parametrize(
    ("project", "files"),
    [
        (f"{DATA}{GROUPS}[engines.shop]\naddress = 'shop.db'\n{SQL}", {}),
        (f"{DATA}{GROUPS}[engines]\nshop = 'other.toml'\n", {"other": f"address = 'shop.db'\n{SQL}"}),
        (f"{DATA}runs = ['other.toml']\n{GROUPS}", {"other": f"address = 'shop.db'\n{SQL}"}),
        (f"{DATA}{GROUPS}[engines]\nshop = 'shop.db?sql=select id from products'\n", {}),
        (f"{DATA}{GROUPS}[engines.live]\naddress = 'http://localhost:1/x'\n", {}),
        (f"{DATA}runs = ['opensearch+http://localhost:1/x']\n{GROUPS}", {}),
        (f"{DATA}runs = ['postgresql://localhost/x']\n{GROUPS}", {}),
    ],
)
def test_a_project_that_was_only_found_runs_no_sql_and_asks_no_server(
    shop: Path, project: str, files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found_project(shop.parent, project, **files)
    monkeypatch.chdir(shop.parent)
    monkeypatch.setattr(sqlite3, "connect", None)  # nothing is opened
    assert main(["audit"]) == 2
    assert not (shop.parent / "audit").exists()


def test_sql_of_a_project_that_was_named_is_run(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found_project(shop.parent, f"{DATA}{GROUPS}[engines.shop]\naddress = 'shop.db'\n{SQL}")
    monkeypatch.chdir(shop.parent)
    assert main(["doctor"]) == 1
    assert "--project evenrank.toml" in capsys.readouterr().out
    assert main(["doctor", "--project", "evenrank.toml"]) == 0
    assert "evenrank audit --project evenrank.toml" in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "altair", None)  # a report takes seconds
    assert main(["audit", "--project", "evenrank.toml"]) == 0
    (run,) = (shop.parent / "audit").glob("2*/runs/shop.trec")
    assert len(run.read_text().splitlines()) == 20


@pytest.mark.parametrize(
    "sql",
    [
        "create temp table other as select 1 as id",
        "select load_extension('other') as id",
        "vacuum into 'other.db'",
        "with recursive n(id) as (select 1 union all select id + 1 from n) select max(id) as id from n",
        "select 'd' as id, length(zeroblob(500000000)) as text",
        "with recursive n(id) as (select 1 union all select id + 1 from n) select id, zeroblob(1000) from n",
    ],
)
def test_sql_ends_and_its_answer_is_limited(shop: Path, sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop.parent)
    table = {"address": "shop.db", "sql": sql, "timeout": 0.2, "answer_bytes": 900_000}
    answers = ask(table, {"q1": "lamp"}, depth=10)
    assert [problem.kind for problem in answers.problems["q1"]] == ["failed"]
    assert [path.name for path in shop.parent.iterdir()] == ["shop.db"]


def test_rows_beyond_the_depth_are_not_read(shop: Path) -> None:
    endless = "with recursive n(id) as (select 1 union all select id + 1 from n) select id from n"
    answers = ask({"address": str(shop), "sql": endless}, {"q1": "lamp"}, depth=3)
    assert answers.run.documents("q1") == ["1", "2", "3"]


def test_a_file_is_left_as_it_is(shop: Path) -> None:
    """One that may be written has its journal taken into it by whoever closes it last."""
    database = sqlite3.connect(shop)
    database.execute("pragma journal_mode = wal")
    database.execute("insert into products values ('new', 'green lamp', 'small')")
    database.commit()
    copied = shop.parent / "copy"
    copied.mkdir()
    for path in shop.parent.glob("shop.db*"):
        if path.suffix != ".db-shm":
            (copied / path.name).write_bytes(path.read_bytes())
    database.close()
    before = {path.name: path.read_bytes() for path in copied.glob("shop.db*") if path.suffix != ".db-shm"}
    assert len(before) == 2
    assert ask(copied / "shop.db", {"q1": "green"}, depth=3).run.documents("q1") == ["new"]
    after = {path.name: path.read_bytes() for path in copied.glob("shop.db*") if path.suffix != ".db-shm"}
    assert after == before
