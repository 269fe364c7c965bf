"""One HTTP client for every server: what must hold for all of them is here and nowhere else."""

from __future__ import annotations

import base64
import json
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urljoin, urlsplit

from evenrank._version import __version__
from evenrank.errors import MissingExtraError, ParameterError, RemoteError, shortened
from evenrank.remote.addresses import shown_address
from evenrank.remote.json_text import read_json
from evenrank.remote.pace import Clock, RateLimit, back_off
from evenrank.remote.secrets import Secrets

if TYPE_CHECKING:
    import httpx2

REPEATED = frozenset({408, 425, 429, 500, 502, 503, 504})  # statuses after which the same request may succeed
REDIRECTS = frozenset({301, 302, 303, 307, 308})
MOST_REDIRECTS = 3
LONGEST_WAIT = 120.0  # seconds that a server may ask for by Retry-After
BROKEN = {
    "ReadError": "the connection broke while the answer came",
    "WriteError": "the connection broke while the request was sent",
    "LocalProtocolError": "a header or a credential has a character that HTTP does not allow",
    "RemoteProtocolError": "the server hung up, or what it sent is no HTTP",
}
SHOWN = 200  # characters of an answer in a message
MOST_ADDRESSES = 64  # that are kept
PIECE = 1 << 16  # bytes that are unpacked at a time
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Limits:
    """How patient and how polite a client is."""

    timeout: float = 30.0  # seconds from sending a request to the last byte of its answer
    retries: int = 4  # after the first attempt
    rate: float = 5.0  # requests a second
    concurrency: int = 1  # requests at a time
    answer_bytes: int = 64 << 20

    def __post_init__(self) -> None:
        for name in ("timeout", "rate"):
            if not getattr(self, name) > 0:
                raise ParameterError(f"{name} must be a number > 0, got {getattr(self, name)!r}")
        for name, least in (("retries", 0), ("concurrency", 1), ("answer_bytes", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ParameterError(f"{name} must be an integer >= {least}, got {value!r}")


class _Trouble(Exception):
    """An attempt that failed in a way that another attempt may not."""

    def __init__(self, what: str, wait: float | None = None) -> None:
        super().__init__(what)
        self.wait = wait


class Client:
    """Requests to one origin (scheme, host and port) with JSON answers. Threads may share it.

    ``headers`` and ``auth`` may hold secrets: they go to this origin and nowhere else, and no message shows
    them. Whatever an answer repeats of ``secrets`` is hidden before anybody sees it. ``transport`` is that of
    httpx2, for tests.
    """

    def __init__(
        self,
        origin: str,
        *,
        secrets: Secrets | None = None,
        headers: Mapping[str, str] | None = None,
        auth: tuple[str, str] | None = None,
        limits: Limits | None = None,
        certificates: str | None = None,
        clock: Clock | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self.origin, self.limits = shown_address(origin), limits or Limits()
        self.secrets = secrets or Secrets()
        self.requests = 0  # that were sent
        self._clock = clock or Clock()
        self._rate = RateLimit(self.limits.rate, self._clock)
        # answers as they are: compressing them costs the server more time than a short answer is worth
        own = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": f"evenrank/{__version__}"}
        own |= headers or {}
        if auth is not None:
            own["Authorization"] = f"Basic {base64.b64encode(':'.join(auth).encode()).decode()}"
        self._headers = {name.encode(): value.encode() for name, value in own.items()}
        self._certificates, self._transport = certificates, transport
        self._lock = threading.Lock()
        self._addresses: dict[tuple[Any, ...], httpx2.URL] = {}

    def ask(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        content: bytes | None = None,
        content_type: str = "application/json",
        parameters: Mapping[str, str] | None = None,
        read: Callable[[str], Any] = read_json,
    ) -> Any:
        """The JSON that the server gives. Failures that may pass are tried again; whatever else is a
        RemoteError. ``read`` makes JSON of the answer; a ValueError means that it is none."""
        trouble = ""
        for attempt in range(self.limits.retries + 1):
            self._rate.wait()
            try:
                return self._send(method, path, body, content, content_type, parameters, read)
            except _Trouble as error:
                trouble = str(error)
                if attempt < self.limits.retries:
                    wait = back_off(attempt, self._clock)
                    self._clock.sleep(
                        wait if error.wait is None else min(max(error.wait, wait), LONGEST_WAIT)
                    )
        times = self.limits.retries + 1
        raise self._error(f"{trouble} ({times} {'attempt' if times == 1 else 'attempts'})")

    def pause(self, attempt: int) -> None:
        """Wait as after failure number ``attempt``, where an answer says inside that the server is too
        busy."""
        self._clock.sleep(back_off(attempt, self._clock))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _send(
        self,
        method: str,
        path: str,
        body: Any,
        content: bytes | None,
        content_type: str,
        parameters: Mapping[str, str] | None,
        read: Callable[[str], Any],
    ) -> Any:
        transport = self._opened()
        import httpcore2  # after that, which says how to install them
        import httpx2

        if content is None and body is not None:
            content = json.dumps(body, ensure_ascii=False).encode()
        headers = dict(self._headers)
        if content is not None:
            headers[b"Content-Type"] = content_type.encode()
        url = self._address(path, parameters)
        end = self._clock.now() + self.limits.timeout  # for all of it, redirects included
        for _ in range(MOST_REDIRECTS + 1):
            self.requests += 1
            try:
                answer = transport.handle_request(
                    httpx2.Request(
                        method, url, headers=headers, content=content, extensions={"deadline": end}
                    )
                )
                try:
                    if answer.status_code in REDIRECTS:
                        url = self._redirected(answer, method, url)
                        continue
                    raw = self._read(answer)
                finally:
                    answer.stream.close()  # type: ignore[union-attr]
            except httpcore2.TimeoutException:
                raise _Trouble(f"the answer was not whole within {self.limits.timeout:g} seconds") from None
            except httpcore2.ConnectError as error:
                raise _Trouble(f"no connection: {error}") from None
            except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
                # without the library's own words, which may repeat what the server sent
                raise _Trouble(BROKEN.get(type(error).__name__, type(error).__name__)) from None
            return self._judged(answer, raw, read)
        raise self._error(f"more than {MOST_REDIRECTS} redirects")

    def _read(self, answer: httpx2.Response) -> bytearray:
        """The body, as far as it is not too large, neither packed nor unpacked."""
        encoding = answer.headers.get("Content-Encoding", "").strip().lower() or "identity"
        if encoding not in ("gzip", "identity"):
            if not answer.is_success:  # the status says more
                return bytearray()
            raise self._error(
                f"the answer is encoded as {shortened(encoding, SHOWN)!r}, and only gzip is read, as other "
                "encodings can unpack to any size: let the server send JSON as it is",
                answer.status_code,
            )
        pieces = self._limited(answer.stream)  # type: ignore[arg-type]
        if encoding == "gzip":
            pieces = self._limited(_unpacked(pieces))
        body = bytearray()
        try:
            for piece in pieces:
                body += piece
        except zlib.error:
            raise _Trouble("the answer is compressed and damaged") from None
        return body

    def _limited(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        size = 0
        for piece in pieces:
            size += len(piece)
            if size > self.limits.answer_bytes:
                raise self._error(
                    f"the answer is larger than {self.limits.answer_bytes:,} bytes: ask for fewer "
                    "documents or fields, or set answer_bytes higher"
                )
            yield piece

    def _judged(self, answer: httpx2.Response, raw: bytearray, read: Callable[[str], Any]) -> Any:
        status = answer.status_code
        if status in REPEATED:
            raise _Trouble(f"status {status}{_beginning(raw)}", _seconds(answer.headers.get("Retry-After")))
        if status in (401, 403):
            way = (
                "the credentials were refused"
                if self.secrets
                else "it wants credentials: put them into environment variables and name those "
                "under [credentials]"
            )
            raise self._error(f"status {status}, {way}{_beginning(raw)}", status)
        if not answer.is_success:
            raise self._error(f"status {status}{_beginning(raw)}", status)
        try:
            text = raw.decode("utf-8-sig")
            return self.secrets.redact_json(read(text), text)
        except (ValueError, RecursionError) as error:
            kind = answer.headers.get("Content-Type", "no content type")
            raise _Trouble(
                f"the answer is not JSON: {error} ({kind}, {len(raw):,} bytes){_beginning(raw)}"
            ) from None

    def _redirected(self, answer: httpx2.Response, method: str, url: httpx2.URL) -> httpx2.URL:
        """Where a redirect leads, if that is the same origin."""
        import httpx2

        status = answer.status_code
        try:
            target = urlsplit(urljoin(str(url), answer.headers.get("Location", "")))
            same = _origin(target) == _origin(urlsplit(self.origin))
            # of the target only what stands behind the origin: a request can go nowhere else
            led = httpx2.URL(self.origin + target._replace(scheme="", netloc="", fragment="").geturl())
        except (ValueError, httpx2.InvalidURL):
            raise self._error(f"status {status}: it redirects to what is no address") from None
        if not same:
            shown = shortened(f"{target.scheme}://{target.netloc.rpartition('@')[2]}", SHOWN)
            raise self._error(
                f"it redirects to {shown}, and requests go only to the scheme, host and port that were "
                "named: name that address if you trust it"
            )
        if method != "GET" and status not in (307, 308):
            raise self._error(f"status {status}: it redirects {method} to {led.path}: give that address")
        return led

    def _address(self, path: str, parameters: Mapping[str, str] | None) -> httpx2.URL:
        """An address, which takes a while to make, for many requests."""
        import httpx2

        key = (path, *sorted((parameters or {}).items()))
        if key not in self._addresses:
            if len(self._addresses) >= MOST_ADDRESSES:
                self._addresses.clear()
            try:
                self._addresses[key] = httpx2.URL(self.origin + path, params=parameters or None)
            except httpx2.InvalidURL as error:
                raise ParameterError(f"{self.origin}: no request can be sent there: {error}") from None
        return self._addresses[key]

    def _opened(self) -> httpx2.BaseTransport:
        """Connections to the server. Those of https load certificates, which takes a while."""
        with self._lock:
            if self._transport is None:
                try:
                    import httpx2

                    from evenrank.remote.network import DeadlineTransport
                except ImportError:
                    raise MissingExtraError.for_job("asking a server", "httpx2", "engines") from None
                import ssl

                context: ssl.SSLContext | None = None
                try:
                    if self._certificates is not None:
                        context = ssl.create_default_context(cafile=self._certificates)
                    elif urlsplit(self.origin).scheme == "https":
                        # nothing of the environment, as with proxies and .netrc, which are not used either
                        context = httpx2.create_ssl_context(trust_env=False)
                except OSError as error:
                    raise ParameterError(
                        f"{self._certificates}: cannot be read as certificates: {error}"
                    ) from None
                self._transport = DeadlineTransport(context, self.limits.concurrency, self._clock.now)
            return self._transport

    def _error(self, what: str, status: int | None = None) -> RemoteError:
        error = RemoteError(self.secrets.redact(f"{self.origin}: {what}"))
        error.status = status
        return error


def _unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """What is packed with gzip, never much of it at a time; an answer may have several members."""
    member = zlib.decompressobj(wbits=31)
    for packed in pieces:
        while packed:  # a member ends with its length, so nothing of it is left when all was taken in
            if member.eof:
                member = zlib.decompressobj(wbits=31)
            yield member.decompress(packed, PIECE)
            packed = member.unconsumed_tail or member.unused_data
    if not member.eof:
        raise zlib.error("it ends too early")


def _beginning(raw: bytes | bytearray) -> str:
    text = " ".join(raw[: 4 * SHOWN].decode("utf-8", "replace").split())
    return f": {shortened(text, SHOWN)}" if text else ""


def _seconds(retry_after: str | None) -> float | None:
    """A wait in seconds; the form with a date is left alone."""
    text = (retry_after or "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or PORTS.get(parts.scheme)
