"""Real servers on loopback: what is asked by address is what a plain request gives.

Every server gets the bundled sample and, where it is there, TIME. A server that cannot be had skips with
its reason.
"""

from __future__ import annotations

import csv
import json
import math
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import servers
from servers import KEY, NotThere

import evenrank
from evenrank import read_run
from evenrank.cli import main
from evenrank.engines import ask, open_engine, plan
from evenrank.errors import EvenrankWarning, RemoteError
from evenrank.systems import read_texts

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("servers")]

SAMPLE = Path(evenrank.__file__).parent / "sample"
TIME = Path(__file__).resolve().parents[3] / "shared/data/classic_ir/time"
DEPTH = 100


class Collection(NamedTuple):
    documents: dict[str, str]
    queries: dict[str, str]


class Engine(NamedTuple):
    """A server with a collection in it, how it is asked by address, and how by a plain request."""

    address: str
    plain: Callable[[str, int], list[str]]
    settings: dict[str, Any]


def sample() -> Collection:
    documents = read_texts(str(SAMPLE / "documents.jsonl"))
    return Collection(documents, read_texts(str(SAMPLE / "queries.csv"), columns={"id": "query"}))


def time() -> Collection:
    """Articles are numbered by their order, as the judgements have it."""
    if not TIME.is_dir():
        pytest.skip("the folder 'shared' with real data is not beside the project")
    articles = re.split(
        r"^\*TEXT .*$", (TIME / "TIME.ALL").read_text(encoding="latin-1"), flags=re.MULTILINE
    )[1:]
    articles[-1] = articles[-1].partition("*STOP")[0]
    asked = re.split(
        r"^\*FIND\s+(\d+)\s*$", (TIME / "TIME.QUE").read_text(encoding="latin-1"), flags=re.MULTILINE
    )
    queries = {number: " ".join(text.split()) for number, text in zip(asked[1::2], asked[2::2], strict=True)}
    queries = {number: text.partition("*STOP")[0].strip() for number, text in queries.items()}
    return Collection({str(at): " ".join(text.split()) for at, text in enumerate(articles, 1)}, queries)


COLLECTIONS = {"sample": sample, "time": time}


@pytest.fixture(scope="module")
def running() -> Iterator[Callable[[str], str]]:
    """Starts a server when it is first asked for, and stops all at the end."""
    with ExitStack() as stack:
        there: dict[str, str] = {}

        def start(name: str) -> str:
            if name not in there:
                try:
                    there[name] = stack.enter_context(getattr(servers, name)())
                except NotThere as error:
                    there[name] = f"not there: {error}"
            if there[name].startswith("not there"):
                pytest.skip(there[name])
            return there[name]

        yield start


def group(identifier: str) -> str:
    return "even" if sum(map(ord, identifier)) % 2 == 0 else "odd"


def in_opensearch(server: str, name: str, collection: Collection) -> Engine:
    lines = []
    for key, text in collection.documents.items():
        lines += [json.dumps({"index": {"_id": key}}), json.dumps({"text": text, "group": group(key)})]
    servers.ask(f"{server}/{name}", {"settings": {"number_of_shards": 1}}, method="PUT")
    servers.ask(f"{server}/{name}/_bulk?refresh=true", ("\n".join(lines) + "\n").encode())

    def plain(text: str, depth: int) -> list[str]:
        body = {"query": {"match": {"text": text}}, "size": depth, "_source": False}
        return [hit["_id"] for hit in servers.ask(f"{server}/{name}/_search", body)["hits"]["hits"]]

    return Engine(f"{server}/{name}", plain, {"body": {"query": {"match": {"text": "{query}"}}}})


def in_typesense(server: str, name: str, collection: Collection) -> Engine:
    headers = {"X-TYPESENSE-API-KEY": KEY}
    fields = [{"name": "text", "type": "string"}, {"name": "group", "type": "string"}]
    servers.ask(f"{server}/collections", {"name": name, "fields": fields}, headers=headers)
    for key, text in collection.documents.items():
        document = {"id": key, "text": text, "group": group(key)}
        servers.ask(f"{server}/collections/{name}/documents", document, headers=headers)

    def plain(text: str, depth: int) -> list[str]:
        search = {"collection": name, "q": text, "query_by": "text", "per_page": depth}
        found = servers.ask(f"{server}/multi_search", {"searches": [search]}, headers=headers)["results"][0]
        return [hit["document"]["id"] for hit in found["hits"]]

    address = server.replace("http", "typesense+http") + f"/{name}?api_key=EVENRANK_TEST_KEY&query_by=text"
    return Engine(address, plain, {})


def in_meilisearch(server: str, name: str, collection: Collection) -> Engine:
    headers = {"Authorization": f"Bearer {KEY}"}
    documents = [{"id": key, "text": text, "group": group(key)} for key, text in collection.documents.items()]
    task = servers.ask(f"{server}/indexes/{name}/documents?primaryKey=id", documents, headers=headers)
    while servers.ask(f"{server}/tasks/{task['taskUid']}", headers=headers)["status"] in (
        "enqueued",
        "processing",
    ):
        pass

    def plain(text: str, depth: int) -> list[str]:
        found = servers.ask(f"{server}/indexes/{name}/search", {"q": text, "limit": depth}, headers=headers)
        return [hit["id"] for hit in found["hits"]]

    return Engine(f"meilisearch+{server}/{name}?bearer=EVENRANK_TEST_KEY", plain, {})


def in_postgresql(server: str, name: str, collection: Collection) -> Engine:
    import psycopg

    where = server.removeprefix("postgresql://").partition("/")[0].split(":")
    connection = psycopg.connect(
        host=where[0], port=int(where[1]), user="evenrank", password=KEY, dbname="postgres", autocommit=True
    )
    stored = "search tsvector generated always as (to_tsvector('english', text)) stored"
    connection.execute(f'create table "{name}" (id text primary key, text text, "group" text, {stored})')
    rows = [(key, text.replace("\0", " "), group(key)) for key, text in collection.documents.items()]
    connection.cursor().executemany(f'insert into "{name}" (id, text, "group") values (%s, %s, %s)', rows)

    words = "replace(plainto_tsquery('english', {})::text, '&', '|')::tsquery"  # any of the words

    def plain(text: str, depth: int) -> list[str]:
        own = words.format("%s")
        sql = f"""select id from "{name}" where search @@ {own}
                  order by ts_rank_cd(search, {own}) desc, id limit %s"""
        return [row[0] for row in connection.execute(sql, (text, text, depth)).fetchall()]

    sql = f"""
        select id, text, "group", ts_rank_cd(search, words) as score
        from "{name}", (select {words.format("%(query)s")} as words) as asked
        where search @@ words order by score desc, id limit %(depth)s
    """
    credentials = {"user": "EVENRANK_TEST_USER", "password": "EVENRANK_TEST_KEY"}
    return Engine(server, plain, {"sql": sql, "table": name, "credentials": credentials})


def in_sqlite(folder: str, name: str, collection: Collection) -> Engine:
    path = f"{folder}/{name}.db"
    database = sqlite3.connect(path)
    database.execute('create virtual table documents using fts5(id unindexed, text, "group" unindexed)')
    rows = [(key, text, group(key)) for key, text in collection.documents.items()]
    database.executemany("insert into documents values (?, ?, ?)", rows)
    database.commit()
    database.close()

    def plain(text: str, depth: int) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
        sql = "select id from documents where documents match ? order by bm25(documents), rowid limit ?"
        with closing(sqlite3.connect(path)) as own:
            return [row[0] for row in own.execute(sql, (words, depth))]

    return Engine(f"sqlite:///{path}", plain, {})


FILLED = {
    "opensearch": in_opensearch,
    "typesense": in_typesense,
    "meilisearch": in_meilisearch,
    "postgresql": in_postgresql,
}


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENRANK_TEST_KEY", KEY)
    monkeypatch.setenv("EVENRANK_TEST_USER", "evenrank")


@pytest.mark.parametrize("name", COLLECTIONS)
@pytest.mark.parametrize("kind", FILLED)
def test_the_run_is_that_of_plain_requests(
    kind: str, name: str, running: Callable[[str], str], tmp_path: Path
) -> None:
    server = running(kind)
    collection = COLLECTIONS[name]()
    engine = FILLED[kind](server, name, collection)
    table = {"address": engine.address, "rate": float("inf"), "concurrency": 2, **engine.settings}
    answers = ask(table, collection.queries, depth=DEPTH, log=tmp_path / "log", fields=["group"])
    for query, text in collection.queries.items():
        expected = engine.plain(text, DEPTH)
        found = answers.run.documents(query) if query in answers.run else []
        assert found == expected, query
        if not expected:
            assert [problem.kind for problem in answers.problems[query]] == ["found nothing"]
    assert {problem.kind for own in answers.problems.values() for problem in own} <= {"found nothing"}
    assert answers.description.engine == kind
    assert answers.description.documents == len(collection.documents)
    assert answers.description.version
    fields = dict(
        zip(answers.documents["id"].to_pylist(), answers.documents["group"].to_pylist(), strict=True)
    )
    assert fields == {key: group(key) for key in fields}
    assert "text" not in answers.documents.column_names
    again = ask(table, collection.queries, depth=DEPTH, log=tmp_path / "log", fields=["group"])
    assert again.run.to_dict() == answers.run.to_dict()
    texts = ask(table, dict(list(collection.queries.items())[:3]), depth=5, keep_texts=True)
    kept = dict(zip(texts.documents["id"].to_pylist(), texts.documents["text"].to_pylist(), strict=True))
    assert kept == {key: collection.documents[key].replace("\0", " ") for key in kept}
    for file in tmp_path.rglob("*.zst"):
        assert KEY.encode() not in file.read_bytes()


def every_field_of(server: str, name: str) -> Callable[[str, int], list[str]]:
    """What OpenSearch is asked by its address alone."""

    def plain(text: str, depth: int) -> list[str]:
        query = {"multi_match": {"query": text, "fields": ["*"], "lenient": True}}
        found = servers.ask(f"{server}/{name}/_search", {"query": query, "size": depth})
        return [hit["_id"] for hit in found["hits"]["hits"]]

    return plain


@pytest.mark.parametrize("name", COLLECTIONS)
@pytest.mark.parametrize("kind", ["opensearch", "typesense", "postgresql", "sqlite"])
def test_an_audit_by_address_is_of_the_run_of_plain_requests(
    kind: str, name: str, running: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By nothing but the address where that says what to ask; PostgreSQL has an engine file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "altair", None)  # a report takes seconds
    collection, index = COLLECTIONS[name](), f"audited_{name}"
    server = str(tmp_path) if kind == "sqlite" else running(kind)
    engine = (in_sqlite if kind == "sqlite" else FILLED[kind])(server, index, collection)
    plain = every_field_of(server, index) if kind == "opensearch" else engine.plain
    source = engine.address
    if kind == "postgresql":
        source = "engine.toml"
        credentials = 'credentials = { user = "EVENRANK_TEST_USER", password = "EVENRANK_TEST_KEY" }'
        Path(source).write_text(
            f'address = "{engine.address}"\nrate = 1000\n{credentials}\ntable = "{index}"\n'
            f"sql = '''{engine.settings['sql']}'''\n"
        )
    with Path("queries.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("query", "text"), *collection.queries.items()])
    rows = [json.dumps({"id": key, "text": "", "group": group(key)}) for key in collection.documents]
    Path("documents.jsonl").write_text("\n".join(rows) + "\n")
    known = ["--queries", "queries.csv", "--documents", "documents.jsonl", "--groups", "group"]
    assert main(["audit", f"mine={source}", *known]) == 0
    (audit,) = Path("audit").glob("2*")
    run = read_run(audit / "runs/mine.trec")
    expected = {query: plain(text, DEPTH) for query, text in collection.queries.items()}
    assert {query: run.documents(query) for query in run} == {
        q: found for q, found in expected.items() if found
    }
    summary = json.loads((audit / "summary.json").read_text())
    (verdict,) = summary["verdicts"]
    assert (verdict["attribute"], verdict["target"]) == ("group", "catalogue")
    assert verdict["queries"] == len(run)
    first = {query: found[:10] for query, found in expected.items() if found}
    assert verdict["groups"][0]["share"] == pytest.approx(mean_share(first, verdict["groups"][0]["value"]))
    assert summary["engines"]["mine"]["answered"] == len(collection.queries)
    for file in audit.rglob("*"):
        assert file.is_dir() or KEY.encode() not in file.read_bytes()


def mean_share(lists: dict[str, list[str]], value: str) -> float:
    """Of the attention in the lists."""
    shares = []
    for found in lists.values():
        weights = [1 / math.log2(rank + 1) for rank in range(1, len(found) + 1)]
        own = [weight for weight, key in zip(weights, found, strict=True) if group(key) == value]
        shares.append(sum(own) / sum(weights))
    return sum(shares) / len(shares)


def test_a_plain_address_is_recognised_by_its_root(running: Callable[[str], str]) -> None:
    server = running("opensearch")
    collection = sample()
    in_opensearch(server, "plain", collection)
    engine = open_engine(f"{server}/plain", rate=100)
    answers = ask(engine, collection.queries, depth=10)  # every field, as the default body has it
    assert len(answers.run) == len(collection.queries)
    assert "group" in answers.documents.column_names
    assert "_msearch" in plan(engine, collection.queries, 10).describe()
    missing = open_engine(f"opensearch+{server}/missing", rate=100)
    with pytest.raises(RemoteError, match="404"):
        ask(missing, collection.queries)
    with pytest.raises(RemoteError, match=r"opensearch\+http"):
        open_engine(f"{running('meilisearch')}/sample")  # its root is a page for people


def test_opensearch_names_the_query_that_it_refuses(running: Callable[[str], str]) -> None:
    server = running("opensearch")
    in_opensearch(server, "refusing", sample())
    body = {"query": {"query_string": {"query": "{query}"}}}
    table = {"address": f"opensearch+{server}/refusing", "rate": 100.0, "body": body}
    answers = ask(table, {"good": "truck", "bad": "truck AND (", "other": "nurse"}, depth=10)
    assert answers.unanswered == ["bad"]
    assert "Failed to parse query" in answers.problems["bad"][0].what
    assert set(answers.run) == {"good", "other"}


def test_an_index_that_changes_in_the_middle_is_reported(
    running: Callable[[str], str], tmp_path: Path
) -> None:
    server = running("opensearch")
    engine = in_opensearch(server, "changing", sample())
    table = {"address": f"opensearch+{engine.address}", "rate": 100.0, "batch": 1, **engine.settings}
    told: list[int] = []

    def change(done: int, total: int) -> None:
        if not told:
            servers.ask(
                f"{server}/changing/_doc/new?refresh=true", {"text": "truck", "group": "odd"}, method="PUT"
            )
        told.append(done)

    queries = {"q1": "truck", "q2": "nurse"}
    answers = ask(table, queries, log=tmp_path, progress=change)
    assert [problem.kind for problem in answers.problems["q1"]] == ["index changed"]


def test_typesense_pages_beyond_its_largest_page(running: Callable[[str], str]) -> None:
    server = running("typesense")
    documents = {f"d{number:03}": "lamp " + "word " * (number % 7) for number in range(600)}
    engine = in_typesense(server, "many", Collection(documents, {}))
    answers = ask(open_engine(engine.address, rate=100), {"q": "lamp"}, depth=550)
    assert len(answers.run.documents("q")) == 550
    assert answers.run.documents("q")[:250] == engine.plain("lamp", 250)
    assert not answers.problems


def test_wrong_credentials_are_refused_and_not_shown(
    running: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENRANK_WRONG", "wrong-secret-9")
    typesense = running("typesense").replace("http", "typesense+http")
    postgresql = running("postgresql")
    wrong = {"user": "EVENRANK_TEST_USER", "password": "EVENRANK_WRONG"}
    for table in (
        {"address": f"{typesense}/sample?api_key=EVENRANK_WRONG"},
        {"address": postgresql, "sql": "select %(query)s as id", "credentials": wrong},
    ):
        with pytest.raises(RemoteError) as caught:
            ask(table, {"q": "x"})
        assert "wrong-secret-9" not in str(caught.value)


def test_the_text_of_a_query_is_never_sql(running: Callable[[str], str]) -> None:
    engine = in_postgresql(running("postgresql"), "safe", Collection({"d": "lamp"}, {}))
    table = {"address": engine.address, **engine.settings, "rate": 100.0}
    injected = ask(table, {"q": "lamp'; drop table safe; --"})
    assert injected.answers["q"].hits == () or injected.run.documents("q") == ["d"]
    more = "table=safe&text=text&user=EVENRANK_TEST_USER&password=EVENRANK_TEST_KEY"
    plainly = ask(f"{engine.address}?{more}", {"q": "red lamp"})
    assert plainly.run.documents("q") == ["d"]


def test_userinfo_of_an_address_is_not_used(running: Callable[[str], str]) -> None:
    address = running("postgresql").replace("://", f"://evenrank:{KEY}@")
    with pytest.warns(EvenrankWarning, match="EVENRANK_"), pytest.raises(RemoteError) as caught:
        ask({"address": address, "sql": "select %(query)s as id"}, {"q": "x"})
    assert KEY not in str(caught.value)
