"""A real PostgreSQL on loopback: what a statement may do, and how much of an answer comes."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import servers
from servers import KEY, NotThere

from evenrank.cli import main
from evenrank.engines import Answers, ask
from evenrank.errors import ParameterError

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("servers")]

GUIDE = Path(__file__).resolve().parents[2] / "docs/guides/engines.md"
OWNER = {"user": "EVENRANK_TEST_USER", "password": "EVENRANK_TEST_KEY"}


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENRANK_TEST_USER", "evenrank")
    monkeypatch.setenv("EVENRANK_TEST_KEY", KEY)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    try:
        with servers.postgresql() as address:
            connect(address).execute(
                """create table products (id text primary key, title text);
                insert into products values ('d1', 'red lamp'), ('d2', 'lamp');
                create sequence numbers; create table empty (id text);
                create function writes() returns text language sql as
                $$ insert into products values ('d3', 'no') returning id $$"""
            )
            yield address
    except NotThere as error:
        pytest.skip(str(error))


def connect(address: str) -> Any:
    import psycopg

    host, port, database = re.split("[:/]", address.removeprefix("postgresql://"))
    return psycopg.connect(
        host=host, port=int(port), dbname=database, user="evenrank", password=KEY, autocommit=True
    )


def asked(address: str, sql: str, **settings: Any) -> Answers:
    table = {"address": address, "credentials": OWNER, "rate": float("inf"), "retries": 0, **settings}
    return ask({**table, "sql": sql}, {"q": "lamp"}, depth=3)


def state(connection: Any) -> list[Any]:
    """Whatever a statement could have left behind."""
    return [
        connection.execute(sql).fetchall()
        for sql in (
            "select id, title from products order by id",
            "select count(*) from pg_largeobject_metadata",
            "select last_value, is_called from numbers",
            "select relname from pg_class where relnamespace = 'public'::regnamespace order by 1",
        )
    ]


REFUSED = [
    "delete from products where title = %(query)s returning id",
    "with gone as (delete from products where title <> %(query)s returning id) select id from gone",
    "select set_config('transaction_read_only', 'off', true) as id, writes() as title, %(query)s as b",
    "with off as materialized (select set_config('transaction_read_only', 'off', false) as id) "
    "select id, lo_create(0) as title, %(query)s as b from off",
    "select writes() as id, %(query)s as b",
    "select nextval('numbers')::text as id, %(query)s as b",
    "select %(query)s as id; commit; delete from products",
    "select %(query)s as id) select 1; commit; delete from products; --",
    "select '%%(query)s' as id) select 1; commit; delete from products; with found as (select 1 as id",
    "do $$ begin rollback; delete from products; commit; end $$ -- %(query)s",
    "copy (select %(query)s) to program 'cat'",
    "create temp table other as select %(query)s as id",
    "set transaction read write -- %(query)s",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_what_would_change_something_is_refused(address: str, sql: str) -> None:
    with closing(connect(address)) as connection:
        before = state(connection)
        answers = asked(address, sql)
        assert [problem.kind for problem in answers.problems["q"]] == ["failed"]
        assert state(connection) == before


@pytest.mark.parametrize(
    "sql",
    [
        "select lo_create(0)::text as id, %(query)s as b",
        "select lo_from_bytea(0, 'left behind')::text as id, %(query)s as b",
        "select pg_notify('heard', %(query)s)::text || 'x' as id",
        "select set_config('default_transaction_read_only', 'off', false) as id, lo_create(0) as b, "
        "%(query)s as c",
    ],
)
def test_what_a_transaction_does_is_rolled_back(address: str, sql: str) -> None:
    with closing(connect(address)) as connection:
        connection.execute("listen heard")
        before = state(connection)
        assert len(asked(address, sql).run.documents("q")) == 1
        assert state(connection) == before
        connection.execute("notify heard, 'end'")  # what was sent before would come first
        assert [notice.payload for notice in connection.notifies(stop_after=1, timeout=30)] == ["end"]


def test_a_statement_changes_no_setting_for_the_next(address: str) -> None:
    from evenrank.engines import open_engine

    sql = """select current_setting('statement_timeout') as id, %(query)s as a,
        set_config('statement_timeout', '0', false) as b,
        set_config('default_transaction_read_only', 'off', false) as c"""
    engine = open_engine({"address": address, "credentials": OWNER, "sql": sql, "timeout": 7, "rate": 1000})
    assert [engine.search("lamp", 3).hits[0].id for _ in range(3)] == ["7s"] * 3
    engine.close()


@contextmanager
def relay(address: str) -> Iterator[tuple[str, list[int]]]:
    """An address that passes everything on, and how many bytes the server sent through it."""
    host, port = address.removeprefix("postgresql://").partition("/")[0].split(":")
    counted = [0]

    def copy(source: socket.socket, target: socket.socket, count: bool) -> None:
        while content := source.recv(1 << 16):
            counted[0] += len(content) * count
            target.sendall(content)
        target.shutdown(socket.SHUT_WR)

    def accept() -> None:
        with listening.accept()[0] as client, socket.create_connection((host, int(port))) as server:
            back = threading.Thread(target=copy, args=(server, client, True))
            back.start()
            copy(client, server, False)
            back.join()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=accept)
        thread.start()
        yield address.replace(f":{port}", f":{listening.getsockname()[1]}"), counted
        thread.join()


@pytest.mark.parametrize(
    ("sql", "answered"),
    [
        ("select generate_series(1, 1000000000) as id, %(query)s as b", True),
        ("select id, title from products, generate_series(1, 100000000) where %(query)s <> ''", True),
        ("select 'd' as id, repeat('x', 50000000) as title, %(query)s as b", False),
        ("select n as id, repeat('x', 2000) as title, %(query)s as b from generate_series(1, 900) n", False),
    ],
)
def test_an_answer_is_limited_before_it_is_sent(address: str, sql: str, answered: bool) -> None:
    with relay(address) as (through, sent):
        answers = asked(through, sql, answer_bytes=1_000_000, timeout=60)
    assert sent[0] < 1_100_000
    if answered:  # of the rows behind the depth some are read, since these may be one document
        assert len(answers.answers["q"].hits) in (2, 3)
    else:
        assert [problem.kind for problem in answers.problems["q"]] == ["failed"]


def test_an_endless_statement_ends(address: str) -> None:
    answers = asked(address, "select pg_sleep(1000)::text as id, %(query)s as b", timeout=0.2)
    assert [problem.kind for problem in answers.problems["q"]] == ["failed"]


def test_rows_keep_their_order_and_their_values(address: str) -> None:
    sql = """select id, score, whole, given, nothing, long
        from (values ('b', 0.5::real, 7, true, null, 1e400), ('a', (1 / 3.0)::real, 8, false, null, 2))
        as rows (id, score, whole, given, nothing, long) where %(query)s <> '' order by id desc;"""
    hits = asked(address, sql).answers["q"].hits
    assert [(hit.id, hit.score) for hit in hits] == [("b", 0.5), ("a", 0.33333334)]
    assert {key: hits[0].fields[key] for key in ("whole", "given")} == {"whole": 7, "given": True}
    nothing = asked(address, "select id from empty where id = %(query)s")
    assert [problem.kind for problem in nothing.problems["q"]] == ["found nothing"]


def test_a_server_that_repeats_the_password_has_it_shown_nowhere(address: str) -> None:
    searched = "select id from products where title like '%%' || %(query)s order by id"
    with closing(connect(address)) as connection:
        connection.execute(
            f"""create schema echoes; create function echoes.current_setting(text) returns text
            language sql as $$ select '15 {KEY}' $$;
            alter role evenrank set search_path = echoes, public, pg_catalog"""
        )
        try:
            answers = asked(address, searched)
            assert answers.run.documents("q") == ["d1", "d2"]
            assert KEY not in str(answers.description) + str(answers.provenance)
            with pytest.raises(ParameterError) as caught:
                asked(address, f'select title as "{KEY}" from products where title = %(query)s')
            assert KEY not in str(caught.value)
        finally:
            connection.execute("alter role evenrank reset search_path; drop schema echoes cascade")


def test_the_role_of_the_guide_reads_and_no_more(
    address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (statements,) = re.findall(r"```sql\n(create role.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    with closing(connect(address)) as connection:
        connection.execute(statements.replace("database shop", "database postgres"))
    (role,) = re.findall(r"create role (\w+)", statements)
    (password,) = re.findall(r"password '([^']+)'", statements)
    monkeypatch.setenv("EVENRANK_DB_USER", role)
    monkeypatch.setenv("EVENRANK_DB_PASSWORD", password)
    own = {"credentials": {"user": "EVENRANK_DB_USER", "password": "EVENRANK_DB_PASSWORD"}}
    searched = "select id from products where title like '%%' || %(query)s order by id"
    assert asked(address, searched, **own).run.documents("q") == ["d1", "d2"]
    reading = "select left(pg_read_file('postgresql.conf'), 9) as id, %(query)s as b"
    assert asked(address, reading).run.documents("q")  # the owner of a database may do more than read tables
    for sql in (reading, "select id from empty where id = %(query)s", "select lo_export(1, %(query)s) as id"):
        assert [problem.kind for problem in asked(address, sql, **own).problems["q"]] == ["failed"]
    (tmp_path / "engine.toml").write_text(
        f'address = "{address}"\nsql = "{searched}"\n'
        '[credentials]\nuser = "EVENRANK_DB_USER"\npassword = "EVENRANK_DB_PASSWORD"\n'
    )
    (tmp_path / "queries.csv").write_text("query,text\nq,lamp\n")
    (tmp_path / "documents.jsonl").write_text('{"id": "d1", "g": "a"}\n{"id": "d2", "g": "b"}\n')
    monkeypatch.chdir(tmp_path)
    known = ["--queries", "queries.csv", "--documents", "documents.jsonl", "--groups", "g", "--dry-run"]
    assert main(["audit", "engine.toml", *known]) == 0
    assert "role" in capsys.readouterr().out
