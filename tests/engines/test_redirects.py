"""Redirects: within the origin they are followed, and to anything else no request goes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from misbehaving import Asked, Behaviour, MisbehavingServer, failure

from evenrank.engines import ask, open_engine


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    with MisbehavingServer().running() as made:
        yield made


def leads(location: str, status: int = 307) -> Behaviour:
    return lambda asked: asked.send(b"", status, Location=location)


def test_one_within_the_origin_is_followed_with_the_credentials(server: MisbehavingServer) -> None:
    port = server.address.rpartition(":")[2]
    table = server.engine(credentials={"bearer": "EVENRANK_KEY"})
    for location in ("/other?a=1", "other", f"{server.address}/other", f"HTTP://127.0.0.1:{port}/other#part",
                     f"//127.0.0.1:{port}/other", f"http://me:pw@127.0.0.1:{port}/other"):  # fmt: skip
        seen: list[tuple[str, str]] = []

        def behave(asked: Asked, location: str = location, seen: list[tuple[str, str]] = seen) -> None:
            seen.append((asked.handler.path, asked.authorization))
            asked.send(b"", 307, Location=location) if len(seen) == 1 else asked.good()

        server.behaviours = {"x": behave}
        assert not ask(open_engine(table, environment={"EVENRANK_KEY": "right"}), {"q": "x"}).problems
        assert seen[1][0].startswith("/other")
        assert [sent for _, sent in seen] == ["Bearer right"] * 2


def test_one_that_changes_the_request_is_refused(server: MisbehavingServer) -> None:
    by_get = {"engine": "http", "address": f"{server.address}/search", "parameters": {"q": "{query}"}}
    for status in (301, 302, 303):
        server.behaviours = {"x": leads("/other", status), "/search?q=x": leads("/other", status)}
        failure(server.engine(retries=0))
        assert server.asked == ["x"]
        assert not ask({**by_get, "rate": float("inf")}, {"q": "x"}).problems
        server.asked.clear()


def test_one_to_another_origin_is_refused_and_named(server: MisbehavingServer) -> None:
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
                assert named in failure(server.engine(retries=3))
                assert server.asked == ["x"], location
        assert other.asked == []


@pytest.mark.parametrize(
    "location",
    ["http://[", "http://[::1", "http://127.0.0.1:99999999/", "http://127.0.0.1:port/", "//[v9.x]:1/", "http://\x01/",
     "/\x7f", "é://ü", "/" + "x" * 70_000, "", "http://", "http:///", "::::", "javascript:alert(1)", "file:///etc/passwd",
     "http://127.0.0.1:-1/", "\\\\evil\\path"],
)  # fmt: skip
def test_a_nonsensical_one_is_a_failed_query(server: MisbehavingServer, location: str) -> None:
    server.behaviours = {"x": leads(location)}
    failure(server.engine(retries=0))
    assert set(server.asked) == {"x"}
