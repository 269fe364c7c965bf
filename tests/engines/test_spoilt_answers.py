"""One answer that cannot be used is one failed query: the others go on, and the next call asks it again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from misbehaving import MisbehavingServer

from evenrank.engines import ask, open_engine
from evenrank.errors import RemoteError
from evenrank.remote import Secrets
from evenrank.remote.answer_log import AnswerLog

HUGE = 10**400


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    with MisbehavingServer().running() as made:
        yield made


def hit(**changed: Any) -> dict[str, Any]:
    return {"hits": [{"id": "a", "score": 2.0}, {"id": "b", "score": 1.0, **changed}], "total": 2}


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


SPOILT: dict[str, Any] = {
    "id with half of a pair": hit(id="\ud800"),
    "field with half of a pair": hit(seller="\udfff"),
    "name with half of a pair": hit(**{"\ud812": 1}),
    "score of 10^400": hit(score=HUGE),
    "score of -10^400": hit(score=-HUGE),
    "score that is no number": hit(score=float("nan")),
    "score that is infinite": hit(score=float("-inf")),
    "score of 1e999": json.dumps(hit(score=12345.5)).replace("12345.5", "1e999").encode(),
    "score of 5,000 digits": json.dumps(hit(score=12345.5)).replace("12345.5", "9" * 5000).encode(),
    "id with a NUL": hit(id="a\0b"),
    "id of two lines": hit(id="a\nb"),
    "id with DEL": hit(id="\x7f"),
    "id of 10,001 bytes": hit(id="x" * 9_999 + "é"),
    "nested": b'{"hits": ' + b"[" * 5000 + b"]" * 5000 + b"}",
}


def kept(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.glob("*.zst")
    log = AnswerLog(path, Secrets())
    try:
        return list(log.records())
    finally:
        log.close()


@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_answer_is_a_failed_query(server: MisbehavingServer, name: str, tmp_path: Path) -> None:
    server.behaviours = {"spoilt": lambda asked: asked.send(SPOILT[name])}
    queries = {"q": "spoilt", "r": "good", "s": "fine"}
    table = server.engine(retries=0)
    for _ in range(2):  # it is asked again, and again it is not kept
        server.asked.clear()
        answers = ask(table, queries, depth=10, log=tmp_path)
        assert answers.unanswered == ["q"]
        assert [problem.kind for problem in answers.problems["q"]] == ["failed"]
        assert answers.run.documents("r") == ["good-1", "good-2"]
        assert answers.documents.num_rows == 4
        assert server.asked[0] == "spoilt"
    assert [one["query"] for one in kept(tmp_path) if one["kind"] == "answer"] == ["r", "s"]
    assert server.asked == ["spoilt"]
    server.behaviours = {}
    again = ask(table, queries, depth=10, log=tmp_path)
    assert not again.problems
    assert len(again.run) == 3


def test_a_spoilt_answer_that_was_kept_is_asked_again(server: MisbehavingServer, tmp_path: Path) -> None:
    """As earlier versions kept it."""
    queries = {"q": "one", "r": "two", "s": "three"}
    ask(server.engine(), queries, depth=10, log=tmp_path)
    records = kept(tmp_path)
    (path,) = tmp_path.glob("*.zst")
    path.unlink()
    log = AnswerLog(path, Secrets())
    for record in records:
        if record.get("query") == "q":
            record["raw"]["hits"][0]["score"] = HUGE
        log.add(record)
    log.close()
    _add_as_before(path, {**records[1], "query": "s", "text": "three", "raw": hit(seller="\ud800")})
    server.asked.clear()
    answers = ask(server.engine(), queries, depth=10, log=tmp_path)
    assert server.asked == ["one"]
    assert not answers.problems
    assert answers.run.documents("q") == ["one-1", "one-2"]
    assert answers.run.documents("s") == ["three-1", "three-2"]


def _add_as_before(path: Path, record: dict[str, Any]) -> None:
    """With half of a surrogate pair in the bytes of the log."""
    import evenrank.remote.answer_log as module

    class Text(str):
        def encode(self, *_: object) -> bytes:
            return str.encode(self, "utf-8", "surrogatepass")

        def __add__(self, other: str) -> Text:
            return Text(str(self) + other)

    before, module.written = module.written, lambda one, name: Text(before(one, name))  # type: ignore[assignment]
    try:
        log = AnswerLog(path, Secrets())
        log.add(record)
        log.close()
    finally:
        module.written = before


@pytest.mark.parametrize("value", [HUGE, -HUGE, 10**18, 2**63, 2**64])
def test_huge_numbers_elsewhere_are_only_numbers(
    server: MisbehavingServer, value: int, tmp_path: Path
) -> None:
    server.behaviours = {
        "huge": lambda asked: asked.send({**hit(price=value, size=0.5), "total": value}),
        "other": lambda asked: asked.send(hit(price=0.5, size=value)),
    }
    for _ in range(2):
        answers = ask(server.engine(), {"q": "huge", "r": "other"}, depth=2, log=tmp_path)
        assert not answers.unanswered
        assert answers.documents.column_names == ["id", "price", "size"]
        assert answers.documents.num_rows == 2


@pytest.mark.parametrize("key", ["a b", "x" * 10_000, " ", "\u202e", "\ufffe", "\x85", 10**300, -1])
def test_an_unusual_id_is_an_id(server: MisbehavingServer, key: Any, tmp_path: Path) -> None:
    server.behaviours = {"odd": lambda asked: asked.send(hit(id=key))}
    for _ in range(2):
        answers = ask(server.engine(), {"q": "odd"}, depth=10, log=tmp_path)
        assert answers.run.documents("q") == ["a", str(key)]


NASTY = [None, True, 7, -1, HUGE, 0.5, "", "text", [], [[]], [None], {}, {"a": {"b": []}}, [{}], deep(300)]
ENGINES: dict[str, tuple[str, Any]] = {
    "opensearch": (
        "/shop/_msearch",
        {"took": 1, "responses": [
            {"took": 1, "timed_out": False, "_shards": {"failed": 0}, "status": 200, "hits": {
                "total": {"value": 1},
                "hits": [{"_id": "d", "_score": 1.0, "_source": {"seller": "s", "list": ["x"]}}],
            }},
        ]},
    ),
    "typesense": (
        "/multi_search",
        {"results": [{"found": 1, "hits": [{"document": {"id": "d", "seller": "s"}, "text_match": 1}]}]},
    ),
    "meilisearch": (
        "/indexes/shop/search",
        {"hits": [{"id": "d", "seller": "s", "_rankingScore": 1.0}], "estimatedTotalHits": 1},
    ),
    "solr": ("/shop/select", {"response": {"numFound": 1, "docs": [{"id": "d", "score": 1.0}]}}),
}  # fmt: skip
ABOUT: dict[str, Any] = {
    "/": {"version": {"number": "2.5.0", "distribution": "opensearch"}},
    "/shop/_stats/docs,indexing": {
        "_all": {"primaries": {"docs": {"count": 1, "deleted": 0}, "indexing": {"index_total": 1}}},
        "indices": {"shop": {"uuid": "u"}},
    },
    "/debug": {"version": "30"},
    "/collections/shop": {
        "num_documents": 1,
        "created_at": 1,
        "fields": [{"name": "title", "type": "string"}],
    },
}


def spoilings(value: Any, put: Callable[[Any], Any] = lambda own: own) -> Iterator[Any]:
    """The value with every part of it replaced by each of what is nasty, or left out."""
    for nasty in NASTY:
        yield put(nasty)
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, own in inner:

        def replaced(one: Any, key: Any = key) -> Any:
            copy = dict(value) if isinstance(value, dict) else list(value)
            copy[key] = one
            return put(copy)

        yield from spoilings(own, replaced)
        yield put(
            {other: it for other, it in value.items() if other != key} if isinstance(value, dict) else []
        )


@pytest.mark.parametrize("kind", ENGINES)
def test_whatever_is_wrong_with_an_answer_is_a_problem_of_its_query(kind: str, tmp_path: Path) -> None:
    path, good = ENGINES[kind]
    sent: list[Any] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == path:
            return httpx2.Response(200, content=json.dumps(sent[-1]).encode())
        return httpx2.Response(200, json=ABOUT.get(request.url.path, {}))

    for count, spoilt in enumerate([good, *spoilings(good)]):
        sent.append(spoilt)
        engine = open_engine(
            f"{kind}+http://localhost:1/shop", rate=1e9, retries=0, transport=httpx2.MockTransport(answer)
        )
        folder = tmp_path / str(count)
        first = ask(engine, {"q": "lamp"}, depth=3, log=folder)
        assert first.documents.num_rows in (0, 1)
        again = ask(engine, {"q": "lamp"}, depth=3, log=folder)
        assert again.problems == first.problems, spoilt
        if count == 0:
            assert first.run.documents("q") == ["d"]
            assert not first.problems
    assert len(sent) > 100


@pytest.mark.parametrize("kind", ["opensearch", "typesense"])
def test_whatever_an_engine_says_about_itself_is_no_crash(kind: str) -> None:
    path, good = ENGINES[kind]
    about: dict[str, Any] = {}

    def answer(request: httpx2.Request) -> httpx2.Response:
        found = good if request.url.path == path else about.get(request.url.path, {})
        return httpx2.Response(200, content=json.dumps(found).encode())

    for place, own in ABOUT.items():
        for spoilt in spoilings(own):
            about = {**ABOUT, place: spoilt}
            engine = open_engine(
                f"{kind}+http://localhost:1/shop", rate=1e9, retries=0, transport=httpx2.MockTransport(answer)
            )
            try:
                found = ask(engine, {"q": "lamp"}, depth=3)
            except RemoteError:  # what it says cannot be used at all
                continue
            assert found.unanswered or found.run.documents("q") == ["d"]
            json.dumps(found.provenance)


@pytest.mark.parametrize("nasty", [*NASTY, 429, 400, [429], 429.0])
def test_a_query_that_is_refused_in_whatever_way_fails(nasty: Any) -> None:
    sent: dict[str, Any] = {}

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json=sent.get(request.url.path) or ABOUT.get(request.url.path, {}))

    for kind, name, refused in (
        ("opensearch", "responses", {"error": {"reason": "no"}, "status": nasty}),
        ("opensearch", "responses", {"error": [nasty], "status": 400}),
        ("typesense", "results", {"error": "no", "code": nasty}),
        ("typesense", "results", {"error": nasty, "code": 400}),
    ):
        sent[ENGINES[kind][0]] = {name: [refused]}
        address = f"{kind}+http://localhost:1/shop"
        engine = open_engine(address, rate=1e9, retries=0, transport=httpx2.MockTransport(answer))
        assert ask(engine, {"q": "lamp"}, depth=3).unanswered == ["q"]


@pytest.mark.parametrize("levels", range(100, 1100, 100))
def test_nesting_of_any_depth_is_no_crash(server: MisbehavingServer, levels: int, tmp_path: Path) -> None:
    """Some of it can be parsed, and cannot be looked through."""
    nested = b'{"a":' * levels + b"1" + b"}" * levels
    plain = json.dumps(hit(nested=7)).encode()
    server.behaviours = {
        "deep": lambda asked: asked.send(plain.replace(b'"nested": 7', b'"nested": ' + nested))
    }
    for _ in range(2):
        answers = ask(server.engine(retries=0), {"q": "deep", "r": "good"}, log=tmp_path)
        assert answers.unanswered in ([], ["q"])
        assert answers.documents.num_rows >= 2
    assert levels < 1000 or answers.unanswered


def test_what_a_function_gives_is_no_crash(tmp_path: Path) -> None:
    given = {
        "half": ["\ud800"],
        "nan": [("a", float("nan"))],
        "huge": [("a", HUGE)],
        "good": [("a", 1.0)],
    }
    engine = open_engine(lambda text, depth: given[text], name="mine")
    for folder in (None, tmp_path):
        answers = ask(engine, {name: name for name in given}, log=folder)
        assert answers.unanswered == ["half", "nan", "huge"]
        assert answers.run.documents("good") == ["a"]
