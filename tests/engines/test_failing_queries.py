"""Whatever a server answers, nothing is lost, and every failed query is named and asked again."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from misbehaving import Asked, Behaviour, MisbehavingServer, Still, silent, unpacked

from evenrank.engines import ask, open_engine
from evenrank.errors import RemoteError

HUGE = 10**400


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    with MisbehavingServer().running() as made:
        yield made


def status(code: int, **headers: str) -> Behaviour:
    return lambda asked: asked.send({"error": f"you are {asked.authorization}"}, code, **headers)


def once(first: Behaviour) -> Behaviour:
    """Misbehaves at the first request only."""
    seen: set[str] = set()

    def behave(asked: Asked) -> None:
        if asked.query in seen:
            return asked.good()
        seen.add(asked.query)
        return first(asked)

    return behave


def hang_up(asked: Asked) -> None:
    asked.handler.close_connection = True
    asked.handler.connection.close()


def half(asked: Asked) -> None:
    asked.handler.close_connection = True
    raw = json.dumps(asked.hits("a", "b")).encode()
    asked.handler.send_response(200)
    asked.handler.send_header("Content-Length", str(len(raw)))
    asked.handler.end_headers()
    asked.handler.wfile.write(raw[: len(raw) // 2])


def half_without_length(asked: Asked) -> None:
    asked.handler.close_connection = True
    asked.handler.send_response(200)
    asked.handler.send_header("Connection", "close")
    asked.handler.end_headers()
    asked.handler.wfile.write(json.dumps(asked.hits("a", "b")).encode()[:30])


def endless(asked: Asked) -> None:
    asked.handler.close_connection = True
    asked.handler.send_response(200)
    asked.handler.end_headers()
    while not asked.server.released.is_set():
        asked.handler.wfile.write(b" " * 65536)


def bomb(asked: Asked) -> None:
    asked.send(gzip.compress(b" " * 3_000_000), Content_Encoding="gzip")


def elsewhere(asked: Asked) -> None:
    asked.send(b"", 307, Location="http://localhost:9/search")


def sends(content: Any) -> Behaviour:
    return lambda asked: asked.send(content)


FAILING: dict[str, Behaviour] = {
    "status 500": status(500),
    "status 429": status(429),
    "status 400": status(400),
    "hang-up": hang_up,
    "half": half,
    "half without length": half_without_length,
    "silent": silent,
    "endless": endless,
    "bomb": bomb,
    "redirect": elsewhere,
    "redirect in circles": lambda asked: asked.send(b"", 307, Location="/search"),
    "no JSON": sends(b"<html>sorry</html>"),
    "no object": sends([1, 2]),
    "hits are text": sends({"hits": "many"}),
    "error inside": sends({"error": "shard 3", "hits": []}),
    "deep": sends(b"[" * 100_000),
}
ODD: dict[str, tuple[Any, list[str]]] = {
    "duplicate id": (lambda asked: asked.hits("a", "b", "a"), ["duplicate id"]),
    "no id": (lambda asked: asked.hits("a", None, "b"), ["hit without id"]),
    "empty id": (lambda asked: asked.hits("a", "", "b"), ["hit without id"]),
    "id is a list": (lambda asked: asked.hits("a", [1], "b"), ["hit without id"]),
    "hit is a number": (lambda asked: {"hits": [{"id": "a", "score": 1}, 7], "total": 2}, ["hit without id"]),
    "short page": (lambda asked: asked.hits("a", total=50), ["short page"]),
    "score is text": (
        lambda asked: {"hits": [{"id": "a", "score": 2}, {"id": "b", "score": "high"}], "total": 2},
        ["no score"],
    ),
    "rising scores": (
        lambda asked: {"hits": [{"id": "a", "score": 1}, {"id": "b", "score": 2}], "total": 2},
        ["order"],
    ),
    "nothing": (lambda asked: asked.hits(), ["found nothing"]),
    "total is text": (lambda asked: asked.hits("a", "b", total="many"), []),
    "number as id": (lambda asked: {"hits": [{"id": 7, "score": 1.0}], "total": 1}, []),
}
SMALL = {"timeout": 0.3, "answer_bytes": 1_000_000, "retries": 1}


def test_every_failure_is_named_and_only_those_are_asked_again(
    server: MisbehavingServer, tmp_path: Path
) -> None:
    names = [
        name
        for pair in zip(FAILING, [f"good {at}" for at in range(len(FAILING))], strict=True)
        for name in pair
    ]
    queries = {f"q{at}": name for at, name in enumerate(names)}
    server.behaviours = dict(FAILING)
    engine = open_engine(server.engine(**SMALL), clock=Still())
    answers = ask(engine, queries, depth=10, log=tmp_path)
    failed = {queries[query] for query in answers.unanswered}
    assert failed == set(FAILING)
    assert {queries[query] for query in answers.problems} == set(FAILING)
    assert all(own[0].kind == "failed" and own[0].what for own in answers.problems.values())
    assert all(
        answers.run.documents(query) == [f"{text}-1", f"{text}-2"]
        for query, text in queries.items()
        if text not in FAILING
    )
    server.behaviours, server.asked = {}, []
    again = ask(engine, queries, depth=10, log=tmp_path)
    assert sorted(server.asked) == sorted(FAILING)
    assert not again.problems
    assert len(again.run) == len(queries)
    server.asked = []
    assert ask(engine, queries, depth=10, log=tmp_path).run.to_dict() == again.run.to_dict()
    assert server.asked == []


@pytest.mark.parametrize("name", ODD)
def test_an_odd_answer_is_kept_and_reported(server: MisbehavingServer, name: str, tmp_path: Path) -> None:
    make, kinds = ODD[name]
    server.behaviours = {"odd": lambda asked: asked.send(make(asked))}
    for _ in range(2):  # the second time from the log
        answers = ask(server.engine(), {"q": "odd", "r": "good"}, depth=10, log=tmp_path)
        assert [problem.kind for problem in answers.problems.get("q", ())] == kinds
        assert "r" not in answers.problems
        if name != "nothing":
            assert answers.run.documents("q")[0] in ("a", "7")
    assert server.asked == ["odd", "good"]


def test_what_passes_is_tried_again_with_growing_waits(server: MisbehavingServer) -> None:
    server.behaviours = {
        "busy": once(status(429, Retry_After="7")), "broken": once(hang_up), "cut": once(half),
    }  # fmt: skip
    clock = Still()
    answers = ask(
        open_engine(server.engine(), clock=clock), {"a": "busy", "b": "broken", "c": "cut"}, depth=5
    )
    assert not answers.problems
    assert clock.waits == [7.0, 0.5, 0.5]
    server.behaviours = {"down": status(503)}
    clock.waits.clear()
    ask(open_engine(server.engine(), clock=clock), {"a": "down", "b": "fine"}, depth=5)
    assert clock.waits == [0.5, 1.0, 2.0, 4.0]


def test_one_request_at_a_time_and_five_a_second_by_default(server: MisbehavingServer) -> None:
    clock = Still(lambda: sum(clock.waits))
    table = server.engine()
    del table["rate"]
    ask(open_engine(table, clock=clock), {f"q{at}": f"text {at}" for at in range(6)})
    assert clock.waits == pytest.approx([0.2] * 5)


def test_it_gives_up_on_a_server_that_is_down(server: MisbehavingServer, tmp_path: Path) -> None:
    queries = {f"q{at:02}": f"text {at}" for at in range(30)}
    server.behaviours = {text: status(500) for text in list(queries.values())[5:]}
    engine = open_engine(server.engine(retries=0), clock=Still())
    answers = ask(engine, queries, log=tmp_path)
    kinds = [answers.problems[query][0].kind for query in list(queries)[5:]]
    assert kinds == ["failed"] * 10 + ["not asked"] * 15
    server.behaviours, server.asked = {}, []
    assert not ask(engine, queries, log=tmp_path).problems
    assert server.asked == list(queries.values())[5:]


def test_several_at_a_time_give_the_same(server: MisbehavingServer, tmp_path: Path) -> None:
    queries = {f"q{at:02}": f"text {at}" for at in range(40)}
    server.behaviours = {"text 7": status(500), "text 8": once(hang_up)}
    one = ask(open_engine(server.engine(retries=2), clock=Still()), queries)
    many = ask(open_engine(server.engine(retries=2, concurrency=8), clock=Still()), queries, log=tmp_path)
    assert many.run.to_dict() == one.run.to_dict()
    assert list(many.problems) == list(one.problems) == ["q07"]


def test_nobody_there() -> None:
    table = {"address": "opensearch+http://127.0.0.1:9/shop", "rate": 1e9}
    with pytest.raises(RemoteError, match=r"http://127\.0\.0\.1:9\b.*5"):
        ask(open_engine(table, clock=Still()), {"q": "x"})


def test_a_busy_shard_of_opensearch_is_asked_again() -> None:
    bodies: list[list[str]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        if "_msearch" not in request.url.path:
            return httpx2.Response(
                200, json={"version": {"number": "2.5.0"}, "_all": {"primaries": {"docs": {"count": 2}}}}
            )
        lines = request.content.decode().splitlines()
        texts = [json.loads(line)["query"]["multi_match"]["query"] for line in lines[1::2]]
        bodies.append(texts)
        busy = {"error": {"reason": "rejected execution"}, "status": 429}
        good = {"hits": {"total": {"value": 1}, "hits": [{"_id": "d", "_score": 1.0, "_source": {}}]}}
        return httpx2.Response(
            200, json={"responses": [busy if text == "b" and len(bodies) < 3 else good for text in texts]}
        )

    clock = Still()
    engine = open_engine(
        "opensearch+http://localhost:9200/shop?rate=1e9", clock=clock, transport=httpx2.MockTransport(answer)
    )
    assert not ask(engine, {"1": "a", "2": "b", "3": "c"}).problems
    assert bodies == [["a", "b", "c"], ["b"], ["b"]]
    assert clock.waits == [0.5, 1.0]


def test_texts_are_not_written_unless_asked_for(server: MisbehavingServer, tmp_path: Path) -> None:
    ask(server.engine(), {"q": "good"}, log=tmp_path / "without")
    ask(server.engine(), {"q": "good"}, log=tmp_path / "with", keep_texts=True)
    kept = {folder: unpacked(next((tmp_path / folder).iterdir())) for folder in ("without", "with")}
    assert "xxx" not in kept["without"]
    assert "x" * 300 in kept["with"]


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
    "deeply nested": b'{"hits": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    "a name in surrogates": b'{"\\udc80": 1}',
    "surrogate in bytes": b'{"hits": [], "id": "\xed\xa0\x80"}',
    "-Infinity": b'{"hits": [], "a": {"score": -Infinity}}',
    "UTF-16": '{"hits": []}'.encode("utf-16"),
    "two": b'{"hits": []} {"hits": []}',
    "nothing": b"",
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_answer_is_a_failed_query(server: MisbehavingServer, name: str, tmp_path: Path) -> None:
    server.behaviours = {"spoilt": lambda asked: asked.send(SPOILT[name])}
    queries = {"q": "spoilt", "r": "good", "s": "fine"}
    table = server.engine(retries=0)
    for sent in (["spoilt", "good", "fine"], ["spoilt"]):  # it is asked again, and again it is not kept
        server.asked.clear()
        answers = ask(table, queries, depth=10, log=tmp_path)
        assert answers.unanswered == ["q"]
        assert [problem.kind for problem in answers.problems["q"]] == ["failed"]
        assert answers.run.documents("r") == ["good-1", "good-2"]
        assert answers.documents.num_rows == 4
        assert server.asked == sent
    server.behaviours = {}
    again = ask(table, queries, depth=10, log=tmp_path)
    assert not again.problems
    assert len(again.run) == 3


def test_unusual_json_is_read(server: MisbehavingServer) -> None:
    server.behaviours = {
        "x": lambda asked: asked.send(
            b'\xef\xbb\xbf{"hits": [{"id": "\\ud83d\\ude00", "score": 1e5}], "a": "\\u0000"}'
        )
    }
    assert ask(server.engine(retries=0), {"q": "x"}).run.to_dict() == {"q": {"\N{GRINNING FACE}": 1e5}}


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


@pytest.mark.parametrize("form", [{"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}])
def test_answers_of_opensearch_are_read_and_kept_however_they_are_written(form: Any, tmp_path: Path) -> None:
    fields = {"seller": 'é"\u2028\\', "tiny": 1e-7, "odd": '"responses":[{'}
    hits = [{"_id": "d1", "_score": 2.0, "_source": fields}, {"_id": "d2", "_score": 1.0, "_source": {}}]
    good = {"hits": {"total": {"value": 2}, "hits": hits}}
    content = {"took": 3, "responses": [good, {"error": {"reason": "no"}}, good], "more": 1}
    sent: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request.url.path)
        found = content if "_msearch" in request.url.path else ABOUT.get(request.url.path, {})
        return httpx2.Response(200, content=json.dumps(found, **form).encode())

    engine = open_engine(
        "opensearch+http://localhost:1/shop?rate=1e9", retries=0, transport=httpx2.MockTransport(answer)
    )
    queries = {"a": "x", "b": "y", "c": "z"}
    answers = ask(engine, queries, log=tmp_path)
    assert answers.unanswered == ["b"]
    assert answers.documents.to_pylist() == [{"id": "d1", **fields}, {"id": "d2", **dict.fromkeys(fields)}]
    sent.clear()
    del queries["b"]
    again = ask(engine, queries, log=tmp_path)
    assert (sent, again.run.to_dict()) == ([], answers.run.to_dict())
    assert again.documents.to_pylist() == answers.documents.to_pylist()
    (path,) = tmp_path.iterdir()
    for line in unpacked(path).removesuffix("\n").split("\n"):
        json.loads(line)


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
