"""Servers that do not end, and answers of any size: every request keeps its deadline and its limit."""

from __future__ import annotations

import gzip
import itertools
import json
import socket
import threading
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from misbehaving import ENDS, Asked, Behaviour, MisbehavingServer, Still, failure

from evenrank.engines import ask, open_engine
from evenrank.errors import RemoteError

HASTY = {"timeout": 0.4, "retries": 0}
PATIENT = {"timeout": ENDS, "retries": 0}


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    with MisbehavingServer().running() as made:
        yield made


def drips(begin: bytes, piece: bytes, wait: float = 0.02) -> Behaviour:
    """A server that always sends a little more in time."""

    def behave(asked: Asked) -> None:
        asked.handler.close_connection = True
        asked.handler.wfile.write(begin)
        while not asked.server.released.wait(wait):
            asked.handler.wfile.write(piece)
            asked.handler.wfile.flush()

    return behave


def chunk(content: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(content), content)


BODY = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n"
EMPTY_MEMBER = gzip.compress(b"")
_packer = zlib.compressobj(wbits=31)
EMPTY_BLOCK = _packer.compress(b" ") + _packer.flush(zlib.Z_FULL_FLUSH)
ENDLESS = {
    "headers": drips(b"HTTP/1.1 200 OK\r\n", b"X-More: 1\r\n"),
    "one header": drips(b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"),
    "100 continue": drips(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "100 continue without a pause": drips(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100, 0),
    "body": drips(BODY + b"\r\n", chunk(b" ")),
    "body of a length": drips(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b" "),
    "size of a chunk": drips(BODY + b"\r\n", b"0"),
    "empty members": drips(BODY + b"Content-Encoding: gzip\r\n\r\n", chunk(EMPTY_MEMBER)),
    "empty blocks": drips(
        BODY + b"Content-Encoding: gzip\r\n\r\n" + chunk(EMPTY_BLOCK), chunk(b"\0\0\0\xff\xff")
    ),
    "trailers": drips(BODY + b"\r\n" + chunk(b"{}") + b"0\r\n", b"X-More: 1\r\n"),
    "status line": drips(b"", b"H"),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_an_answer_that_never_ends_is_given_up(server: MisbehavingServer, name: str) -> None:
    server.behaviours = {"x": ENDLESS[name]}
    failure(server.engine(**HASTY))


def test_a_server_that_takes_no_request_is_given_up() -> None:
    """Neither its bytes nor a TLS handshake: nobody accepts the connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        place = f"127.0.0.1:{listening.getsockname()[1]}"
        failure(_engine(f"http://{place}", **HASTY), "x" * 50_000_000)
        failure(_engine(f"https://{place}", **HASTY))


def _engine(address: str, **more: float) -> dict[str, object]:
    body = {"q": "{query}"}
    return {"engine": "http", "address": f"{address}/search", "body": body, "rate": float("inf"), **more}


def test_a_server_that_takes_no_connection_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its queue is full, at each of the addresses that its host has."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        place = listening.getsockname()
        waiting = [socket.socket() for _ in range(8)]
        try:
            for one in waiting:
                one.setblocking(False)
                one.connect_ex(place)
            failure(_engine(f"http://127.0.0.1:{place[1]}", **HASTY))
            found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", place)] * 1000
            real = socket.getaddrinfo
            monkeypatch.setattr(
                socket,
                "getaddrinfo",
                lambda host, *more, **named: (
                    found if host == "search.example" else real(host, *more, **named)
                ),
            )
            failure(_engine(f"http://search.example:{place[1]}", **HASTY))
        finally:
            for one in waiting:
                one.close()


def test_a_server_that_takes_a_request_piece_by_piece_is_given_up() -> None:
    """No piece of the request begins the time anew; each look at the clock here takes a second."""
    seconds = itertools.count()
    taken: list[int] = []

    def take(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            while piece := connection.recv(1 << 20):
                taken.append(len(piece))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=take, args=(listening,), daemon=True)
        thread.start()
        table = _engine(f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=6, retries=0)
        failure(table, "x" * 60_000_000, clock=Still(lambda: float(next(seconds))))
        thread.join(ENDS)
    assert sum(taken) < 60_000_000


def test_the_wait_for_a_connection_counts(server: MisbehavingServer) -> None:
    """One connection for all, and each answer takes the whole time."""
    server.behaviours = {"x": lambda asked: asked.server.released.wait(ENDS) and None}
    engine = open_engine(server.engine(**HASTY, concurrency=1))
    ended: list[type[BaseException]] = []

    def search() -> None:
        try:
            engine.search("x", 3)
        except RemoteError as error:
            ended.append(type(error))

    threads = [threading.Thread(target=search, daemon=True) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(ENDS / 2)  # one after the other would take 40 seconds
        assert not thread.is_alive(), "it goes on"
    assert ended == [RemoteError] * 100


def test_tls_has_the_same_deadline_and_is_verified(tmp_path: Path) -> None:
    """A certificate that nobody vouches for is refused."""
    with MisbehavingServer({"x": ENDLESS["body"]}).running(tmp_path) as server:
        assert "CERTIFICATE_VERIFY_FAILED" in failure(server.engine(**PATIENT), "good")
        trusting = server.engine(certificates=str(tmp_path / "cert.pem"), timeout=2, retries=0)
        assert ask(trusting, {"q": "good"}).run.documents("q") == ["good-1", "good-2"]
        failure(trusting)


def test_redirects_have_no_deadline_of_their_own(server: MisbehavingServer) -> None:
    waited = []

    def onward(asked: Asked) -> None:
        waited.append(asked.server.released.wait(0.3))
        if len(waited) < 3:
            asked.send(b"", 307, Location="/search")
        else:
            asked.good()

    server.behaviours = {"x": onward}
    failure(server.engine(**HASTY))
    waited.clear()
    assert not ask(server.engine(**PATIENT), {"q": "x"}).problems


def test_each_attempt_has_the_whole_time(server: MisbehavingServer) -> None:
    looks = itertools.count()
    clock = Still(
        lambda: 10.0 * next(looks) + 2e5 * len(clock.waits)
    )  # a wait is longer than an attempt may take
    server.behaviours = {"x": lambda asked: asked.good() if len(server.asked) > 2 else asked.send({}, 503)}
    engine = open_engine(server.engine(timeout=1e5, retries=2), clock=clock)
    assert not ask(engine, {"q": "x"}).problems
    assert len(clock.waits) >= 2


def test_an_answer_that_takes_too_long_by_the_clock_is_given_up(server: MisbehavingServer) -> None:
    moments = itertools.count(0, 10_000)
    failure(server.engine(retries=0), "good", clock=Still(lambda: float(next(moments))))


def test_endless_headers_are_cut_off_by_their_size(server: MisbehavingServer) -> None:
    sent: list[int] = []

    def behave(asked: Asked) -> None:
        asked.handler.close_connection = True
        asked.handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not asked.server.released.is_set():
            asked.handler.wfile.write(b"X-More: %s\r\n" % (b"x" * 1000))
            sent.append(1000)

    server.behaviours = {"x": behave}
    failure(server.engine(timeout=10 * ENDS, retries=0))
    assert sum(sent) < 50_000_000  # what was on its way when the client left


def gzipped(content: bytes) -> Behaviour:
    return lambda asked: asked.send(content, Content_Encoding="gzip")


def test_a_small_answer_that_unpacks_to_any_size_stays_small(server: MisbehavingServer) -> None:
    packed = gzip.compress(bytes(250_000_000))
    assert len(packed) < 260_000
    server.behaviours = {"x": gzipped(packed)}
    tracemalloc.start()
    try:
        what = failure(server.engine(**PATIENT))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "answer_bytes" in what
    assert most < 150_000_000


@pytest.mark.parametrize("size", [999, 1000, 1001, 200_000])
def test_the_limit_is_on_what_comes_out(server: MisbehavingServer, size: int) -> None:
    content = json.dumps({"hits": [{"id": "a"}], "more": ""}).encode()
    content = content[:-2] + b"a" * (size - len(content)) + content[-2:]
    server.behaviours = {
        "packed": gzipped(gzip.compress(content)),
        "plain": lambda asked: asked.send(content),
    }
    table = server.engine(**PATIENT, answer_bytes=1000)
    for query in ("packed", "plain"):
        if size > 1000:
            assert "answer_bytes" in failure(table, query)
        else:
            assert ask(table, {"q": query}).run.documents("q") == ["a"]


def test_what_comes_in_is_limited_too(server: MisbehavingServer) -> None:
    """Without it, what unpacks to nothing would go on until the deadline."""
    server.behaviours = {"x": gzipped(EMPTY_MEMBER * 1000)}
    assert "answer_bytes" in failure(server.engine(**PATIENT, answer_bytes=10_000))


def test_gzip_is_read_whatever_its_pieces(server: MisbehavingServer) -> None:
    ids = [f"d{number}" for number in range(5_000)]
    plain = json.dumps({"hits": [{"id": key} for key in ids], "more": "ab" * 300_000}).encode()
    middle = len(plain) // 2
    members = gzip.compress(plain[:middle]) + EMPTY_MEMBER + gzip.compress(plain[middle:])

    def in_pieces(asked: Asked) -> None:
        asked.handler.wfile.write(BODY + b"Content-Encoding: GZip\r\n\r\n")
        for at in range(0, len(members), 777):
            asked.handler.wfile.write(chunk(members[at : at + 777]))
        asked.handler.wfile.write(b"0\r\n\r\n")

    server.behaviours = {"whole": gzipped(members), "pieces": in_pieces}
    answers = ask(server.engine(**PATIENT), {"q": "whole", "r": "pieces", "s": "pieces"}, depth=len(ids))
    assert [answers.run.documents(query) for query in "qrs"] == [ids] * 3


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(b"{}")[:-1], gzip.compress(b"{}") + b"rest", b"{}", zlib.compress(b"{}"),
        gzip.compress(b"{}")[:4],
    ],
    ids=["cut off", "with a rest", "plain", "zlib", "a header"],
)  # fmt: skip
def test_damaged_gzip_is_no_answer(server: MisbehavingServer, packed: bytes) -> None:
    server.behaviours = {"x": gzipped(packed)}
    failure(server.engine(**PATIENT))


@pytest.mark.parametrize("encoding", ["zstd", "br", "deflate", "gzip, gzip", "compress", "x" * 9999])
def test_every_other_encoding_is_refused_by_name(server: MisbehavingServer, encoding: str) -> None:
    server.behaviours = {"x": lambda asked: asked.send({"hits": []}, Content_Encoding=encoding)}
    what = failure(server.engine(timeout=ENDS, retries=3))
    assert encoding[:20] in what
    assert len(what) < 1000
    assert len(server.asked) == 1  # it would be the same the next time


def test_a_status_counts_more_than_an_encoding(server: MisbehavingServer) -> None:
    server.behaviours = {"x": lambda asked: asked.send({}, 401, Content_Encoding="br")}
    with pytest.raises(RemoteError, match="401"):
        failure(server.engine(**PATIENT))
