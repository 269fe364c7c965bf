"""Whatever a server does: nothing is lost, every failed query is named, and a second call asks only those."""

from __future__ import annotations

import base64
import gzip
import json
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from misbehaving import Asked, Behaviour, MisbehavingServer

from evenrank.engines import ask, open_engine, plan
from evenrank.engines.asking import GIVE_UP
from evenrank.errors import EvenrankError, EvenrankWarning, RemoteError
from evenrank.remote import Clock

PASSWORD = "Pläin/text+9%"


def still() -> tuple[Clock, list[float]]:
    waits: list[float] = []
    return Clock(sleep=waits.append, random=lambda: 1.0), waits


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


def silent(asked: Asked) -> None:
    asked.server.released.wait()


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
    clock, _ = still()
    engine = open_engine(server.engine(**SMALL), clock=clock)
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
    clock, waits = still()
    answers = ask(
        open_engine(server.engine(), clock=clock), {"a": "busy", "b": "broken", "c": "cut"}, depth=5
    )
    assert not answers.problems
    assert waits == [7.0, 0.5, 0.5]
    server.behaviours = {"down": status(503)}
    waits.clear()
    ask(open_engine(server.engine(), clock=clock), {"a": "down", "b": "fine"}, depth=5)
    assert waits == [0.5, 1.0, 2.0, 4.0]


def test_one_request_at_a_time_and_five_a_second_by_default(server: MisbehavingServer) -> None:
    now = [0.0]
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        now[0] += seconds

    table = server.engine()
    del table["rate"]
    engine = open_engine(table, clock=Clock(now=lambda: now[0], sleep=sleep))
    ask(engine, {f"q{at}": f"text {at}" for at in range(6)})
    assert engine.concurrency == 1
    assert waits == pytest.approx([0.2] * 5)


def test_an_answer_that_drips_is_given_up(server: MisbehavingServer) -> None:
    now = [0.0]

    def later() -> float:
        now[0] += 1e4
        return now[0]

    clock = Clock(now=later, sleep=lambda _: None)
    answers = ask(open_engine(server.engine(retries=0), clock=clock), {"q": "good"})
    assert answers.problems["q"][0].kind == "failed"


def test_it_gives_up_on_a_server_that_is_down(server: MisbehavingServer, tmp_path: Path) -> None:
    queries = {f"q{at:02}": f"text {at}" for at in range(30)}
    server.behaviours = {text: status(500) for text in list(queries.values())[5:]}
    clock, _ = still()
    engine = open_engine(server.engine(retries=0), clock=clock)
    answers = ask(engine, queries, log=tmp_path)
    kinds = [answers.problems[query][0].kind for query in list(queries)[5:]]
    assert kinds == ["failed"] * GIVE_UP + ["not asked"] * (25 - GIVE_UP)
    server.behaviours, server.asked = {}, []
    assert not ask(engine, queries, log=tmp_path).problems
    assert server.asked == list(queries.values())[5:]


def test_a_redirect_never_reaches_another_host(server: MisbehavingServer) -> None:
    with MisbehavingServer().running() as other:
        for code in (301, 302, 307, 308):
            server.behaviours = {
                "away": lambda asked, code=code: asked.send(b"", code, Location=other.address)
            }
            answers = ask(server.engine(), {"a": "away", "b": "good"})
            assert "redirects" in answers.problems["a"][0].what
        assert other.asked == []


def test_several_at_a_time_give_the_same(server: MisbehavingServer, tmp_path: Path) -> None:
    queries = {f"q{at:02}": f"text {at}" for at in range(40)}
    server.behaviours = {"text 7": status(500), "text 8": once(hang_up)}
    clock, _ = still()
    one = ask(open_engine(server.engine(retries=2), clock=clock), queries)
    many = ask(open_engine(server.engine(retries=2, concurrency=8), clock=clock), queries, log=tmp_path)
    assert many.run.to_dict() == one.run.to_dict()
    assert list(many.problems) == list(one.problems) == ["q07"]


def test_a_killed_process_loses_no_answer(server: MisbehavingServer, tmp_path: Path) -> None:
    """Killed while the sixth query waits for its answer: the five before it are on disk."""
    queries = {f"q{at}": f"text {at}" for at in range(10)}
    server.behaviours = {"text 5": silent}
    code = (
        "import json, sys; from evenrank.engines import ask\n"
        "table, queries, log = json.loads(sys.argv[1])\n"
        "ask({**table, 'rate': 1e9}, queries, log=log, progress=lambda done, total: print(done, "
        "flush=True))\n"
    )
    arguments = json.dumps([{**server.engine(), "rate": 1}, queries, str(tmp_path)])
    process = subprocess.Popen([sys.executable, "-c", code, arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == "5":
            break
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    server.behaviours, server.asked = {}, []
    answers = ask(server.engine(), queries, log=tmp_path)
    assert server.asked == [f"text {at}" for at in range(5, 10)]
    assert len(answers.run) == 10


def test_no_secret_is_in_any_file_or_message(
    server: MisbehavingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server repeats the credentials in whatever it says, right or wrong."""
    monkeypatch.setenv("EVENRANK_USER", "me")
    monkeypatch.setenv("EVENRANK_PASSWORD", PASSWORD)
    sent: list[str] = []

    def echo(asked: Asked) -> None:
        sent.append(asked.authorization)
        plain = base64.b64decode(asked.authorization.removeprefix("Basic ")).decode()
        asked.send(asked.hits("a", "b", echo=[asked.authorization, plain]) | {"seller": plain})

    def echoed_field(asked: Asked) -> None:
        asked.send({"hits": [{"id": PASSWORD, "score": 1.0, "seller": PASSWORD}], "total": 1})

    server.behaviours = {"echo": echo, "field": echoed_field, **FAILING}
    server.behaviours["away"] = lambda asked: asked.send(
        b"", 307, Location=f"http://me:{PASSWORD}@localhost:9/"
    )
    names = [name for failing in FAILING for name in (failing, f"fine after {failing}")]
    queries = {f"q{at}": name for at, name in enumerate(["echo", "field", "away", *names])}
    messages: list[str] = []
    clock, _ = still()
    table = server.engine(**SMALL, credentials={"user": "EVENRANK_USER", "password": "EVENRANK_PASSWORD"})
    address = server.address.replace("http://", f"http+http://me:{PASSWORD}@").replace("/text", "/")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        engine = open_engine(table, clock=clock)
        answers = ask(engine, queries, log=tmp_path)
        messages += [repr(engine), repr(answers), answers.describe_problems(), str(answers.provenance)]
        messages += [repr(vars(engine).get("settings")), plan(engine, queries).describe(99)]
        for wrong in (
            lambda: open_engine({**table, "address": address.replace("%", "%25")}),
            lambda: open_engine({**table, "headers": {"Authorization": PASSWORD}}),
            lambda: open_engine({**table, "credentials": {"password": PASSWORD}}),
            lambda: open_engine(f"{address}/x?password={PASSWORD}"),
        ):
            try:
                messages.append(repr(wrong()))
            except EvenrankError as error:
                messages.append(str(error))
    messages += [str(warning.message) for warning in caught]
    assert base64.b64decode(sent[0].removeprefix("Basic ")).decode() == f"me:{PASSWORD}"  # it was sent
    secret = [
        PASSWORD,
        "Pläin",
        "Pl\\u00e4in",
        "text+9",
        base64.b64encode(f"me:{PASSWORD}".encode()).decode(),
    ]
    messages += [str(answers.run.to_dict()), str(answers.documents.to_pylist())]
    assert "***" in answers.run.documents("q1")
    for text in messages:
        assert not [form for form in secret if form in text], text
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    for path in files:
        plain = _unpacked(path)
        assert not [form for form in secret if form in plain], path
        assert "***" in plain


def _unpacked(path: Path) -> str:
    import io

    import zstandard

    reader = zstandard.ZstdDecompressor().stream_reader(
        io.BytesIO(path.read_bytes()), read_across_frames=True
    )
    return reader.read().decode()


def test_texts_are_not_written_unless_asked_for(server: MisbehavingServer, tmp_path: Path) -> None:
    ask(server.engine(), {"q": "good"}, log=tmp_path / "without")
    ask(server.engine(), {"q": "good"}, log=tmp_path / "with", keep_texts=True)
    kept = {folder: _unpacked(next((tmp_path / folder).iterdir())) for folder in ("without", "with")}
    assert "xxx" not in kept["without"]
    assert "x" * 300 in kept["with"]


def test_nobody_there() -> None:
    clock, _ = still()
    table = {"address": "opensearch+http://127.0.0.1:9/shop", "rate": 1e9}
    with pytest.raises(RemoteError, match=r"http://127.0.0.1:9: no connection.*\(5 attempts\)"):
        ask(open_engine(table, clock=clock), {"q": "x"})


def test_tls_is_verified(tmp_path: Path) -> None:
    """The client refuses a certificate that nobody vouches for."""
    with MisbehavingServer().running(tmp_path) as server:
        answers = ask(server.engine(retries=0), {"q": "good"})
        assert "CERTIFICATE_VERIFY_FAILED" in answers.problems["q"][0].what
        trusted = ask(server.engine(certificates=str(tmp_path / "cert.pem")), {"q": "good"})
        assert trusted.run.documents("q") == ["good-1", "good-2"]


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

    clock, waits = still()
    engine = open_engine(
        "opensearch+http://localhost:9200/shop?rate=1e9", clock=clock, transport=httpx2.MockTransport(answer)
    )
    assert not ask(engine, {"1": "a", "2": "b", "3": "c"}).problems
    assert bodies == [["a", "b", "c"], ["b"], ["b"]]
    assert waits == [0.5, 1.0]
    with pytest.warns(EvenrankWarning, match="left out"):
        open_engine("opensearch+http://me:x@localhost:9200/shop")
