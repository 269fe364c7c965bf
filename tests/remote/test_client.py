"""The HTTP client against servers that do not end, unpack to any size, or lead elsewhere."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import socket
import string
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from misbehaving import Asked, Behaviour, MisbehavingServer

from evenrank.errors import ParameterError, RemoteError
from evenrank.remote import Client, Clock, Limits, Secrets

ENDS = 60  # seconds in which a call must be over; a server here would go on for ever
KEY = 'Zkü/"S3cret+key 42'


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    with MisbehavingServer().running() as made:
        yield made


def client(address: str, **limits: Any) -> Client:
    return Client(address, limits=Limits(**{"retries": 0, "rate": 1e9, "timeout": 0.4, **limits}))


def failure(client: Client, query: str = "x", text: str = "") -> RemoteError:
    """The RemoteError that asking ends with; an endless wait fails the test and does not hang it."""
    found: list[BaseException] = []

    def ask() -> None:
        try:
            client.ask("POST", "/search", body={"q": query, "text": text})
        except BaseException as error:
            found.append(error)
        client.close()

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(ENDS)
    assert not thread.is_alive(), "it goes on"
    (error,) = found
    assert isinstance(error, RemoteError), repr(error)
    return error


def drips(begin: bytes, piece: bytes, wait: float = 0.02) -> Behaviour:
    """A server that always sends a little more in time."""

    def behave(asked: Asked) -> None:
        asked.handler.close_connection = True
        asked.handler.wfile.write(begin)
        while not asked.server.released.wait(wait):
            asked.handler.wfile.write(piece)
            asked.handler.wfile.flush()

    return behave


BODY = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n"
EMPTY_MEMBER = gzip.compress(b"")
_packer = zlib.compressobj(wbits=31)
EMPTY_BLOCK = _packer.compress(b" ") + _packer.flush(zlib.Z_FULL_FLUSH)


def chunk(content: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(content), content)


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
}  # fmt: skip


@pytest.mark.parametrize("name", ENDLESS)
def test_an_answer_that_never_ends_is_given_up(server: MisbehavingServer, name: str) -> None:
    server.behaviours = {"x": ENDLESS[name]}
    failure(client(server.address))


def test_a_server_that_takes_no_request_is_given_up() -> None:
    """Neither its bytes nor a TLS handshake: nobody accepts the connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        place = f"127.0.0.1:{listening.getsockname()[1]}"
        failure(client(f"http://{place}"), text="x" * 50_000_000)
        failure(client(f"https://{place}"))


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
            failure(client(f"http://127.0.0.1:{place[1]}"))
            found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", place)] * 1000
            real = socket.getaddrinfo
            monkeypatch.setattr(
                socket,
                "getaddrinfo",
                lambda host, *more, **named: (
                    found if host == "search.example" else real(host, *more, **named)
                ),
            )
            failure(client(f"http://search.example:{place[1]}"))
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
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        clock = Clock(now=lambda: float(next(seconds)))
        own = Client(address, limits=Limits(timeout=6, retries=0, rate=1e9), clock=clock)
        failure(own, text="x" * 60_000_000)
        thread.join(ENDS)
    assert sum(taken) < 60_000_000


def test_the_wait_for_a_connection_counts(server: MisbehavingServer) -> None:
    """One connection for all, and each answer takes the whole time."""
    server.behaviours = {"x": lambda asked: asked.server.released.wait(ENDS) and None}
    own = client(server.address, concurrency=1)
    ended: list[type[BaseException]] = []

    def ask() -> None:
        try:
            own.ask("POST", "/search", body={"q": "x"})
        except RemoteError as error:
            ended.append(type(error))

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(ENDS / 2)
        assert not thread.is_alive(), "it goes on"
    assert ended == [RemoteError] * 200


def test_tls_has_the_same_deadline(tmp_path: Path) -> None:
    with MisbehavingServer({"x": ENDLESS["body"]}).running(tmp_path) as server:
        own = Client(
            server.address,
            certificates=str(tmp_path / "cert.pem"),
            limits=Limits(timeout=2, retries=0, rate=1e9),
        )
        assert own.ask("POST", "/search", body={"q": "good"})["total"] == 2
        failure(own)


def test_redirects_have_no_deadline_of_their_own(server: MisbehavingServer) -> None:
    waited = []

    def onward(asked: Asked) -> None:
        waited.append(asked.server.released.wait(0.3))
        if len(waited) < 3:
            asked.send(b"", 307, Location="/search")
        else:
            asked.good()

    server.behaviours = {"x": onward}
    failure(client(server.address))
    waited.clear()
    assert client(server.address, timeout=ENDS).ask("POST", "/search", body={"q": "x"})["total"] == 2


def test_each_attempt_has_the_whole_time(server: MisbehavingServer) -> None:
    now = [0.0]

    def later() -> float:
        now[0] += 10.0  # each look at the clock
        return now[0]

    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        now[0] += 2e5  # longer than an attempt may take

    own = Client(
        server.address,
        limits=Limits(timeout=1e5, retries=2, rate=1e9),
        clock=Clock(now=later, sleep=wait),
    )
    server.behaviours = {"x": lambda asked: asked.good() if len(server.asked) > 2 else asked.send({}, 503)}
    assert own.ask("POST", "/search", body={"q": "x"})["total"] == 2
    assert len(waits) >= 2


def test_endless_headers_are_cut_off_by_their_size(server: MisbehavingServer) -> None:
    sent: list[int] = []

    def behave(asked: Asked) -> None:
        asked.handler.close_connection = True
        asked.handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not asked.server.released.is_set():
            asked.handler.wfile.write(b"X-More: %s\r\n" % (b"x" * 1000))
            sent.append(1000)

    server.behaviours = {"x": behave}
    failure(client(server.address, timeout=10 * ENDS))
    assert sum(sent) < 50_000_000  # what was on its way when the client left


def gzipped(content: bytes) -> Behaviour:
    return lambda asked: asked.send(content, Content_Encoding="gzip")


def test_a_small_answer_that_unpacks_to_any_size_stays_small(server: MisbehavingServer) -> None:
    packed = gzip.compress(bytes(250_000_000))
    assert len(packed) < 260_000
    server.behaviours = {"x": gzipped(packed)}
    tracemalloc.start()
    try:
        error = failure(client(server.address, timeout=ENDS))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "answer_bytes" in str(error)
    assert most < 150_000_000


@pytest.mark.parametrize("size", [999, 1000, 1001, 200_000])
def test_the_limit_is_on_what_comes_out(server: MisbehavingServer, size: int) -> None:
    content = b'"%s"' % (b"a" * (size - 2))
    server.behaviours = {
        "packed": gzipped(gzip.compress(content)),
        "plain": lambda asked: asked.send(content),
    }
    for query in ("packed", "plain"):
        asking = client(server.address, answer_bytes=1000, timeout=ENDS)
        if size > 1000:
            assert "answer_bytes" in str(failure(asking, query))
        else:
            assert asking.ask("POST", "/search", body={"q": query}) == "a" * (size - 2)


def test_what_comes_in_is_limited_too(server: MisbehavingServer) -> None:
    """Without it, what unpacks to nothing would go on until the deadline."""
    server.behaviours = {"x": gzipped(EMPTY_MEMBER * 1000)}
    assert "answer_bytes" in str(failure(client(server.address, answer_bytes=10_000, timeout=ENDS)))


def test_gzip_is_read_whatever_its_pieces(server: MisbehavingServer) -> None:
    content = {"text": "ab" * 300_000, "number": list(range(20_000))}
    plain = json.dumps(content).encode()
    middle = len(plain) // 2
    members = gzip.compress(plain[:middle]) + EMPTY_MEMBER + gzip.compress(plain[middle:])

    def in_pieces(asked: Asked) -> None:
        asked.handler.wfile.write(BODY + b"Content-Encoding: GZip\r\n\r\n")
        for at in range(0, len(members), 777):
            asked.handler.wfile.write(chunk(members[at : at + 777]))
        asked.handler.wfile.write(b"0\r\n\r\n")

    server.behaviours = {"whole": gzipped(members), "pieces": in_pieces}
    with_time = client(server.address, timeout=ENDS)
    for query in ("whole", "pieces", "pieces"):
        assert with_time.ask("POST", "/search", body={"q": query}) == content


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
    failure(client(server.address, timeout=ENDS))


@pytest.mark.parametrize(
    "encoding", ["zstd", "br", "deflate", "gzip, gzip", "gzip, zstd", "compress", "x" * 9999]
)
def test_every_other_encoding_is_refused_by_name(server: MisbehavingServer, encoding: str) -> None:
    server.behaviours = {"x": lambda asked: asked.send({"hits": []}, Content_Encoding=encoding)}
    error = failure(client(server.address, timeout=ENDS, retries=3))
    assert encoding[:20] in str(error)
    assert len(str(error)) < 1000
    assert len(server.asked) == 1  # it would be the same the next time


def test_a_status_counts_more_than_an_encoding(server: MisbehavingServer) -> None:
    server.behaviours = {"x": lambda asked: asked.send({}, 401, Content_Encoding="br")}
    assert failure(client(server.address, timeout=ENDS)).status == 401


def leads(location: str, status: int = 307) -> Behaviour:
    return lambda asked: asked.send(b"", status, Location=location)


def test_a_redirect_within_the_origin_is_followed(server: MisbehavingServer) -> None:
    port = server.address.rpartition(":")[2]
    for location in ("/other?a=1", "other", f"{server.address}/other", f"HTTP://127.0.0.1:{port}/other#part",
                     f"//127.0.0.1:{port}/other", f"http://me:pw@127.0.0.1:{port}/other"):  # fmt: skip
        paths: list[tuple[str, str]] = []

        def behave(asked: Asked, location: str = location, paths: list[tuple[str, str]] = paths) -> None:
            paths.append((asked.handler.path, asked.authorization))
            asked.send(b"", 307, Location=location) if len(paths) == 1 else asked.good()

        server.behaviours = {"x": behave}
        own = Client(server.address, auth=("user", "right"), limits=Limits(retries=0, rate=1e9))
        assert own.ask("POST", "/search", body={"q": "x"})["total"] == 2
        assert paths[1][0].startswith("/other")
        assert paths[0][1] == paths[1][1] == f"Basic {base64.b64encode(b'user:right').decode()}"


def test_a_redirect_that_changes_the_request_is_refused(server: MisbehavingServer) -> None:
    for status in (301, 302, 303):
        server.behaviours = {"x": leads("/other", status), "/search": leads("/other", status)}
        failure(client(server.address, timeout=ENDS))
        assert server.asked == ["x"]
        assert client(server.address, timeout=ENDS).ask("GET", "/search")["total"] == 2
        server.asked.clear()


def test_a_redirect_to_another_origin_is_refused(server: MisbehavingServer) -> None:
    port = server.address.rpartition(":")[2]
    with MisbehavingServer().running() as other:
        host = other.address.removeprefix("http://")
        elsewhere = {
            other.address: host,
            f"//{host}/": host,
            f"\t{other.address}": host,
            f"http://127.0.0.1:{port}@{host}/": host,
            f"https://{host}/search": f"https://{host}",
            f"https://127.0.0.1:{port}/search": f"https://127.0.0.1:{port}",
            "https://127.0.0.1/": "https://127.0.0.1",
            f"http://localhost:{port}/search": f"http://localhost:{port}",
            f"http://127.0.0.1.:{port}/": f"http://127.0.0.1.:{port}",
            "http://127.0.0.1/": "http://127.0.0.1",
            "ftp://127.0.0.1/": "ftp://127.0.0.1",
        }
        for status in (301, 302, 303, 307, 308):
            for location, named in elsewhere.items():
                server.behaviours = {"x": leads(location, status)}
                server.asked.clear()
                assert named in str(failure(client(server.address, timeout=ENDS, retries=3)))
                assert server.asked == ["x"], location
        assert other.asked == []


@pytest.mark.parametrize(
    "location",
    ["http://[", "http://[::1", "http://127.0.0.1:99999999/", "http://127.0.0.1:port/", "//[v9.x]:1/", "http://\x01/",
     "/\x7f", "é://ü", "/" + "x" * 70_000, "", "http://", "http:///", "::::", "javascript:alert(1)", "file:///etc/passwd",
     "http://127.0.0.1:-1/", "\\\\evil\\path"],
)  # fmt: skip
def test_a_nonsensical_redirect_is_a_failed_request(server: MisbehavingServer, location: str) -> None:
    server.behaviours = {"x": leads(location)}
    failure(client(server.address, timeout=ENDS))
    assert set(server.asked) == {"x"}


SPOILT: dict[str, bytes] = {
    "surrogate": b'{"id": "\\ud800"}',
    "surrogate, capitals": b'{"id": "\\uDFFF"}',
    "surrogate as a name": b'{"\\udc80": 1}',
    "surrogate in bytes": b'{"id": "\xed\xa0\x80"}',
    "NaN": b'{"score": NaN}',
    "Infinity": b'[Infinity]',
    "-Infinity": b'{"a": {"score": -Infinity}}',
    "a number of 5,000 digits": b'{"score": 1' + b"0" * 5000 + b"}",
    "deep": b"[" * 100_000 + b"]" * 100_000,
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "two": b"{} {}",
    "nothing": b"",
}  # fmt: skip


@pytest.mark.parametrize("name", SPOILT)
def test_what_is_no_json_is_a_failed_request(server: MisbehavingServer, name: str) -> None:
    server.behaviours = {"x": lambda asked: asked.send(SPOILT[name])}
    failure(client(server.address, timeout=ENDS))


def test_unusual_json_is_read(server: MisbehavingServer) -> None:
    server.behaviours = {
        "x": lambda asked: asked.send(b'\xef\xbb\xbf{"a": "\\ud83d\\ude00\\u0000", "b": 1e5}')
    }
    found = client(server.address, timeout=ENDS).ask("POST", "/search", body={"q": "x"})
    assert found == {"a": "\N{GRINNING FACE}\0", "b": 1e5}


def url_escaped(text: str) -> str:
    plain = set(string.ascii_letters + string.digits)
    return "".join(chr(byte) if chr(byte) in plain else f"%{byte:02x}" for byte in text.encode())


WRITTEN: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "JSON": json.dumps,
    "JSON in JSON": lambda key: json.dumps(json.dumps({"key": key})),
    "JSON with characters": lambda key: json.dumps(json.dumps(key, ensure_ascii=False), ensure_ascii=False),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 behind one": lambda key: base64.b64encode(b"x" + key.encode()).decode(),
    "base64 behind two": lambda key: base64.b64encode(b"xy" + key.encode() + b"z").decode(),
    "base64 for URLs": lambda key: base64.urlsafe_b64encode(f"Bearer {key}".encode()).decode(),
    "URL": url_escaped,
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_secret_that_comes_back_is_hidden(server: MisbehavingServer, name: str) -> None:
    secret = WRITTEN[name](KEY)
    server.behaviours = {
        "x": lambda asked: asked.send({"echo": [secret, {secret: "x"}], "about": f"key={secret}!"}),
        "escaped": lambda asked: asked.send(
            b'{"echo": "%s"}' % "".join(f"\\u{ord(character):04x}" for character in secret).encode()
        ),
        "wrong": lambda asked: asked.send(secret.encode(), 400),
    }
    own = Client(
        server.address,
        secrets=Secrets({"key": "EVENRANK_K"}, {"EVENRANK_K": KEY}),
        limits=Limits(retries=0, rate=1e9),
    )
    for query in ("x", "escaped"):
        found = json.dumps(own.ask("POST", "/search", body={"q": query}), ensure_ascii=False)
        assert "***" in found
        assert not [part for part in (secret, secret[2:-4], "S3cret") if part in found], found
    message = str(failure(own, "wrong"))
    assert "***" in message
    assert secret[2:-4] not in message


def test_a_secret_of_digits_leaves_json(server: MisbehavingServer) -> None:
    server.behaviours = {"x": lambda asked: asked.send({"score": 8675309, "other": 86753, "text": "8675309"})}
    own = Client(server.address, secrets=Secrets({"key": "EVENRANK_K"}, {"EVENRANK_K": "8675309"}))
    found = own.ask("POST", "/search", body={"q": "x"})
    assert found == {"score": "***", "other": 86753, "text": "***"}


def test_what_no_request_can_be_made_of_is_named() -> None:
    for address in ("http://exa mple:1", "http://" + "a" * 70 + ":1", "http://\u0000:1"):
        with pytest.raises((ParameterError, RemoteError)):
            client(address).ask("GET", "/")
    for key in ("Pläin", "two\nlines"):
        own = Client("http://127.0.0.1:9", headers={"Authorization": key}, limits=Limits(retries=0))
        with pytest.raises((ParameterError, RemoteError)) as caught:
            own.ask("GET", "/")
        assert key not in str(caught.value)


def test_certificates_are_checked() -> None:
    import ssl

    own = Client("https://localhost:1")
    context: Any = own._opened()._pool._ssl_context  # type: ignore[attr-defined]
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    own.close()
