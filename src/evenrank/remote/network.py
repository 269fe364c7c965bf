"""Sockets that give up at one moment: an answer ends by then, whatever the server sends or leaves out."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import httpcore2
import httpx2

DEADLINE = "deadline"  # the extension of a request that says by when its answer must be whole
LONGEST = 1e6  # seconds that a socket is told to wait; more than that it may not take


class DeadlineTransport(httpx2.BaseTransport):
    """HTTP/1.1 over connections that are kept. ``now`` is the clock of the deadlines."""

    def __init__(self, context: ssl.SSLContext | None, connections: int, now: Callable[[], float]) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=context,
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=5.0,
            network_backend=_Network(now),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        end = request.extensions[DEADLINE]
        url = request.url
        answer = self._pool.handle_request(
            httpcore2.Request(
                request.method,
                httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.content,
                # not seconds but the moment: httpcore hands it on to the network below as it is
                extensions={"timeout": {"connect": end, "read": end, "write": end}},
            )
        )
        return httpx2.Response(answer.status, headers=answer.headers, stream=_Body(answer))

    def close(self) -> None:
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._answer.iter_stream())

    def close(self) -> None:
        self._answer.close()


class _Network(httpcore2.NetworkBackend):
    """Connections whose every wait lasts until the deadline and not longer."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._network, self._now = httpcore2.SyncBackend(), now

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        trouble: Exception = httpcore2.ConnectError("the host has no address")
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(str(error)) from None
        for *_, place in found:  # one by one: each may take only the time that is left
            left = _left(timeout, self._now, httpcore2.ConnectTimeout)
            try:
                stream = self._network.connect_tcp(str(place[0]), port, left, local_address, socket_options)
                return _TimedStream(stream, self._now)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                trouble = error
        raise trouble


class _TimedStream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream, now: Callable[[], float]) -> None:
        self._stream, self._now = stream, now

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout, self._now, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        rest, own = memoryview(buffer), self._stream.get_extra_info("socket")
        while rest:  # a server that takes a byte now and then must not begin the wait anew
            own.settimeout(_left(timeout, self._now, httpcore2.WriteTimeout))
            try:
                rest = rest[own.send(rest) :]
            except TimeoutError as error:
                raise httpcore2.WriteTimeout(str(error)) from None
            except OSError as error:
                raise httpcore2.WriteError(str(error)) from None

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left = _left(timeout, self._now, httpcore2.ConnectTimeout)
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, left), self._now)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(end: float | None, now: Callable[[], float], error: type[Exception]) -> float:
    """Seconds until a deadline that has not passed yet."""
    left = LONGEST if end is None else end - now()
    if left <= 0:
        raise error("the deadline has passed")
    return min(left, LONGEST)
