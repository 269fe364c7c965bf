"""Engines that no test can start, on the answers that their documentation shows; and engines in Python.

Elasticsearch: reference 8.17, multi search API. Solr: reference guide, JSON Request API and response
format. Vespa: default JSON result format.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from evenrank.engines import Answer, EngineDescription, Hit, ask, open_engine, plan
from evenrank.errors import EvenrankWarning, InputTypeError, MissingExtraError, ParameterError, RemoteError

Route = Callable[[httpx2.Request], Any]


def replay(routes: dict[str, Any], sent: list[httpx2.Request]) -> httpx2.MockTransport:
    """Answers by path; a list is used up one by one."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        found = routes.get(request.url.path)
        if isinstance(found, list):
            found = found.pop(0)
        return httpx2.Response(404 if found is None else 200, json=found)

    return httpx2.MockTransport(answer)


def bodies(sent: list[httpx2.Request]) -> list[Any]:
    return [json.loads(request.content) for request in sent if request.method == "POST"]


ELASTICSEARCH = {
    "took": 5,
    "timed_out": False,
    "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
    "hits": {
        "total": {"value": 20, "relation": "eq"},
        "max_score": 1.3862942,
        "hits": [
            {
                "_index": "my-index-000001",
                "_id": str(number),
                "_score": 1.3862942,
                "_source": {"@timestamp": "2099-11-15T14:12:12", "user": {"id": "kimchy"}},
            }
            for number in range(10)
        ],
    },
    "status": 200,
}


def test_elasticsearch() -> None:
    sent: list[httpx2.Request] = []
    root = {"version": {"number": "8.17.0", "lucene_version": "9.12.0"}, "tagline": "You Know, for Search"}
    stats = {"_all": {"primaries": {"docs": {"count": 20, "deleted": 0}, "indexing": {"index_total": 20}}}}
    partial = {**ELASTICSEARCH, "_shards": {"total": 2, "successful": 1, "failed": 1}}
    routes = {
        "/": root,
        "/my-index-000001/_stats/docs,indexing": stats,
        "/my-index-000001/_msearch": {"took": 5, "responses": [ELASTICSEARCH, partial]},
    }
    engine = open_engine("https://localhost:9200/my-index-000001", rate=1e9, transport=replay(routes, sent))
    answers = ask(engine, {"q1": 'a "quoted" {query}', "q2": "b"}, depth=10, fields=["user.id"])
    assert answers.description.engine == "elasticsearch"
    assert (answers.description.version, answers.description.documents) == ("8.17.0", 20)
    assert answers.run.documents("q1") == [str(number) for number in range(10)]  # equal scores: its own order
    assert answers.documents.to_pylist()[0] == {"id": "0", "user.id": "kimchy"}
    assert [problem.kind for problem in answers.problems["q2"]] == ["partial answer"]
    search = next(request for request in sent if "_msearch" in request.url.path)
    lines = [json.loads(line) for line in search.content.decode().splitlines()]
    assert lines[1]["query"]["multi_match"]["query"] == 'a "quoted" {query}'
    assert (lines[1]["size"], lines[1]["_source"]) == (10, ["user.id"])
    assert [problem.kind for problem in ask(engine, {"q1": "a", "q2": "b"}, depth=20).problems["q1"]] == [
        "short page"
    ]
    with pytest.raises(ParameterError, match="10,001"):
        ask(engine, {"q": "a"}, depth=10_001)


def test_the_body_of_a_page_is_used_but_for_its_size(tmp_path: Path) -> None:
    body = {"query": {"match": {"title": "{query}"}}, "size": 10, "from": 20, "_source": False}
    (tmp_path / "body.json").write_text(json.dumps(body))
    (tmp_path / "engine.toml").write_text(
        'engine = "elasticsearch"\naddress = "http://localhost:9200/shop"\n'
        'body_file = "body.json"\nid = "sku"\n'
    )
    (request,) = plan(tmp_path / "engine.toml", {"q": 'x"}}'}, 50).requests
    line = json.loads(request.splitlines()[2])
    assert line["query"] == {"match": {"title": 'x"}}'}}
    assert (line["size"], line["from"]) == (50, 0)
    for wrong in ({"query": {"query_string": {"query": "title:({query})"}}}, {"query": {"match_all": {}}}):
        with pytest.raises(ParameterError, match="query"):
            open_engine({"address": "opensearch+http://localhost/shop", "body": wrong})


def test_solr() -> None:
    sent: list[httpx2.Request] = []
    documents = [
        {
            "id": "MA147LL/A",
            "name": "Apple 60 GB iPod",
            "price": 399.0,
            "inStock": True,
            "cat": ["electronics"],
        },
        {
            "id": "EN7800GTX",
            "name": "ASUS Extreme",
            "price": 479.95,
            "inStock": False,
            "cat": ["graphics card"],
        },
    ]
    answer = {
        "responseHeader": {"status": 0, "QTime": 10},
        "response": {
            "numFound": 2,
            "start": 0,
            "maxScore": 1.5,
            "docs": [{**document, "score": 1.5 - at} for at, document in enumerate(documents)],
        },
    }
    routes = {
        "/solr/techproducts/select": answer,
        "/solr/admin/info/system": {"lucene": {"solr-spec-version": "9.7.0"}},
    }
    engine = open_engine(
        "solr+http://localhost:8983/solr/techproducts", rate=1e9, transport=replay(routes, sent)
    )
    answers = ask(engine, {"q": "video"}, depth=10)
    assert (answers.description.version, answers.description.documents) == ("9.7.0", 2)
    assert answers.run.to_dict() == {"q": {"MA147LL/A": 1.5, "EN7800GTX": 0.5}}
    assert answers.documents.to_pylist() == documents  # the score is not a field
    (body,) = bodies(sent)
    assert (body["query"], body["limit"], body["offset"]) == ("video", 10, 0)


def test_vespa_in_pages() -> None:
    sent: list[httpx2.Request] = []

    def page(begin: int, end: int) -> dict[str, Any]:
        children = [
            {
                "id": f"id:shop:product::{at}",
                "relevance": 1000.0 - at,
                "source": "shop",
                "fields": {"sddocname": "p"},
            }
            for at in range(begin, end)
        ]
        root = {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 450}, "coverage": {"full": True}}
        return {"root": {**root, "children": children}}

    routes = {"/search/": [page(0, 400), page(400, 450), {"root": {"fields": {"totalCount": 0}}}]}
    engine = open_engine("vespa+http://localhost:8080/product", rate=1e9, transport=replay(routes, sent))
    answers = ask(engine, {"q": "lamp", "none": "zebra"}, depth=600)
    assert len(answers.run.documents("q")) == 450
    assert [problem.kind for problem in answers.problems["none"]] == ["found nothing"]
    assert "q" not in answers.problems
    assert [(body["hits"], body["offset"]) for body in bodies(sent)] == [(400, 0), (400, 400), (400, 0)]
    with pytest.raises(ParameterError, match="1,400"):
        ask(engine, {"q": "lamp"}, depth=2000)


def test_an_api_of_ones_own_by_get_with_page_numbers() -> None:
    sent: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        page = int(request.url.params["p"])
        items = [
            {"meta": {"rank": at}, "product": {"sku": at, "brand": "b"}}
            for at in range(page * 2, page * 2 + 2)
        ]
        return httpx2.Response(200, json={"data": {"items": items[: 5 - page * 2]}})

    table = {
        "engine": "http",
        "address": "https://shop.example/api/find",
        "parameters": {"q": "{query}", "p": "{page}", "lang": "en"},
        "hits": {
            "list": "/data/items",
            "id": "/product/sku",
            "score": "",
            "document": "/product",
            "total": "",
        },
        "paging": {"size": 2, "first_page": 0},
        "rate": 1e9,
    }
    engine = open_engine(table, transport=httpx2.MockTransport(answer))
    answers = ask(engine, {"q": "a&b=c"}, depth=10)
    assert answers.run.documents("q") == ["0", "1", "2", "3", "4"]
    assert answers.documents["brand"].to_pylist() == ["b"] * 5
    assert [request.url.params["q"] for request in sent] == ["a&b=c"] * 3
    assert not answers.problems
    assert "q=a%26b%3Dc" in plan(engine, {"q": "a&b=c"}).requests[0]
    for key, value, wrong in (
        ("hits", {"list": "data"}, "list"), ("hits", {"lst": "/x"}, r"hits\.lst"),
        ("paging", {"sizes": 2}, r"paging\.sizes"), ("method", "DELETE", "GET.*POST"),
        ("headers", {"X-Api-Key": "s"}, "X-Api-Key"), ("parameters", {"q": "x"}, "query"),
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=wrong):
            open_engine({**table, key: value})


def test_functions_and_objects() -> None:
    queries = {"q": "lamp"}
    given: list[Any] = [
        ["d1", "d2"], [("d1", 2.0), ("d2", 1.0)], {"d2": 1.0, "d1": 2.0}, [Hit("d1", 2.0), Hit("d2", 1.0)],
        Answer((Hit("d1"), Hit("d2"))),
    ]  # fmt: skip
    for value in given:
        assert ask(lambda text, depth, value=value: value, queries).run.documents("q") == ["d1", "d2"]
    fields = ask(
        lambda text, depth: [Hit("d1", 1.0, "a text", {"seller": "small"})], queries, keep_texts=True
    )
    assert fields.documents.to_pylist() == [{"id": "d1", "seller": "small", "text": "a text"}]

    class Mine:
        name = "mine"

        def describe(self) -> EngineDescription:
            return EngineDescription("mine", "mine:1", "index", "hash", "3.0", 2)

        def search(self, text: str, depth: int) -> Answer:
            return Answer((Hit("d1", 1.0),))

    answers = ask(Mine(), queries)
    assert (answers.run.name, answers.description.version) == ("mine", "3.0")

    def broken(text: str, depth: int) -> list[str]:
        if text == "bad":
            raise KeyError("oops")
        return ["d"]

    assert ask(broken, {"a": "bad", "b": "good"}).problems["a"][0].what.startswith("broken: KeyError")
    for wrong in (lambda text, depth: 3, lambda text, depth: [("a",)]):
        with pytest.raises(InputTypeError):
            ask(wrong, queries)
    with pytest.raises(InputTypeError, match="int"):
        open_engine(3)


def test_answers_of_a_function_are_kept_only_under_a_name(tmp_path: Path) -> None:
    """Two functions without a name would be taken for each other."""
    with pytest.raises(ParameterError, match="lambda"):
        ask(lambda text, depth: ["a"], {"q": "x"}, log=tmp_path)
    for name in ("a", "b"):
        engine = open_engine(lambda text, depth, name=name: [name], name=name)
        assert ask(engine, {"q": "x"}, log=tmp_path).run.documents("q") == [name]
    assert ask(open_engine(print, name="a"), {"q": "x"}, log=tmp_path).run.documents("q") == ["a"]


def test_credentials_that_may_only_search() -> None:
    """What they may not ask is unknown; where they may not search either, that is an error at once."""
    allowed = [True]

    def answer(request: httpx2.Request) -> httpx2.Response:
        if "_msearch" in request.url.path and allowed[0]:
            return httpx2.Response(200, json={"responses": [ELASTICSEARCH]})
        return httpx2.Response(403, json={"error": "not for you"})

    address = "elasticsearch+http://localhost:9200/x"
    engine = open_engine(address, rate=1e9, transport=httpx2.MockTransport(answer))
    answers = ask(engine, {"q": "a"}, depth=10)
    assert (answers.description.version, answers.description.documents) == (None, None)
    assert not answers.problems
    allowed[0] = False
    with pytest.raises(RemoteError, match="403"):
        ask(engine, {"q": "a"}, depth=10)


def test_credentials_without_encryption_are_worth_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENRANK_KEY", "k")
    with pytest.warns(EvenrankWarning, match=r"search\.example"):
        open_engine("typesense+http://search.example/shop?api_key=EVENRANK_KEY")
    open_engine("typesense+https://search.example/shop?api_key=EVENRANK_KEY")
    open_engine("typesense+http://localhost:8108/shop?api_key=EVENRANK_KEY")


def test_without_httpx2_the_way_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[engines\]'"):
        ask("opensearch+http://localhost:9200/x", {"q": "a"})
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[engines\]'"):
        ask("postgresql://localhost/x?table=t&text=u", {"q": "a"})


@pytest.mark.needs("pyterrier", "pandas")
def test_a_pyterrier_pipeline() -> None:
    import pandas
    import pyterrier

    def found(asked: Any) -> Any:
        rows = [
            {
                "qid": row.qid,
                "query": row.query,
                "docno": f"d{at}",
                "score": 3.0 - at,
                "rank": at,
                "seller": "small",
            }
            for row in asked.itertuples()
            for at in range(3)
        ]
        return pandas.DataFrame(rows)

    answers = ask(pyterrier.apply.generic(found), {"q1": "a lamp", "q2": "b"}, depth=2)
    assert answers.run.to_dict() == {query: {"d0": 3.0, "d1": 2.0} for query in ("q1", "q2")}
    assert answers.documents["seller"].to_pylist() == ["small", "small"]
