"""One HTTP client for every server: what must hold for all of them is here and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from evenrank.errors import MissingExtraError, ParameterError, RemoteError, shortened
from evenrank.remote.addresses import shown_address
from evenrank.remote.pace import Clock, RateLimit, back_off
from evenrank.remote.secrets import Secrets

if TYPE_CHECKING:
    import httpx

REPEATED = frozenset({408, 425, 429, 500, 502, 503, 504})  # statuses after which the same request may succeed
REDIRECTS = frozenset({301, 302, 303, 307, 308})
MOST_REDIRECTS = 3
LONGEST_ANSWER = 10  # timeouts until an answer must be whole
LONGEST_WAIT = 120.0  # seconds that a server may ask for by Retry-After
BROKEN = {
    "ReadError": "the connection broke while the answer came",
    "WriteError": "the connection broke while the request was sent",
    "RemoteProtocolError": "the server hung up, or what it sent is no HTTP",
}
SHOWN = 200  # characters of an answer in a message
MOST_ADDRESSES = 64  # that are kept


@dataclass(frozen=True)
class Limits:
    """How patient and how polite a client is."""

    timeout: float = 30.0  # seconds without a byte
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


class ServerReply(NamedTuple):
    """What came back, and the JSON in it."""

    status: int
    content: Any


class _Trouble(Exception):
    """An attempt that failed in a way that another attempt may not."""

    def __init__(self, what: str, wait: float | None = None) -> None:
        super().__init__(what)
        self.wait = wait


class Client:
    """Requests to one origin (scheme, host and port) with JSON answers. Threads may share it.

    ``headers`` and ``auth`` may hold secrets: they go to this origin and nowhere else, and no message shows
    them. ``transport`` is httpx's, for tests.
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
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.origin, self.limits = shown_address(origin), limits or Limits()
        self.secrets = secrets or Secrets()
        self.requests = 0  # that were sent
        self._clock = clock or Clock()
        self._rate = RateLimit(self.limits.rate, self._clock)
        self._headers, self._auth = dict(headers or {}), auth
        self._certificates, self._transport = certificates, transport
        self._http: dict[bool, httpx.Client] = {}  # by whether it asks by https
        self._addresses: dict[tuple[Any, ...], httpx.URL] = {}

    def ask(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        content: bytes | None = None,
        content_type: str = "application/json",
        parameters: Mapping[str, str] | None = None,
        read: Callable[[bytes], Any] = json.loads,
    ) -> Any:
        """The JSON that the server gives. Failures that may pass are tried again; whatever else is a
        RemoteError. ``read`` makes JSON of the answer; a ValueError means that it is none."""
        trouble = ""
        for attempt in range(self.limits.retries + 1):
            self._rate.wait()
            try:
                reply = self._send(method, path, body, content, content_type, parameters, read)
            except _Trouble as error:
                trouble = str(error)
                if attempt < self.limits.retries:
                    wait = back_off(attempt, self._clock)
                    self._clock.sleep(
                        wait if error.wait is None else min(max(error.wait, wait), LONGEST_WAIT)
                    )
                continue
            return reply.content
        times = self.limits.retries + 1
        raise self._error(f"{trouble} ({times} {'attempt' if times == 1 else 'attempts'})")

    def pause(self, attempt: int) -> None:
        """Wait as after failure number ``attempt``, where an answer says inside that the server is too
        busy."""
        self._clock.sleep(back_off(attempt, self._clock))

    def close(self) -> None:
        while self._http:
            self._http.popitem()[1].close()

    def _send(
        self,
        method: str,
        path: str,
        body: Any,
        content: bytes | None,
        content_type: str,
        parameters: Mapping[str, str] | None,
        read: Callable[[bytes], Any],
    ) -> ServerReply:
        http = self._opened(self.origin)
        import httpx  # after that, which says how to install it

        if content is None and body is not None:
            content = json.dumps(body, ensure_ascii=False).encode()
        headers = {"Content-Type": content_type} if content is not None else {}
        url = self._address(path, parameters)
        for _ in range(MOST_REDIRECTS + 1):
            self.requests += 1
            try:
                answer = http.send(
                    httpx.Request(method, url, headers={**http.headers, **headers}, content=content),
                    stream=True,
                )
                try:
                    if answer.status_code in REDIRECTS:
                        target = self._redirected(answer, method)
                        url, http = httpx.URL(target), self._opened(target)
                        continue
                    raw = self._read(answer)
                finally:
                    answer.close()
            except httpx.TimeoutException:
                raise _Trouble(f"no answer within {self.limits.timeout:g} seconds") from None
            except httpx.ConnectError as error:
                raise _Trouble(f"no connection: {error}") from None
            except httpx.TransportError as error:
                # without httpx's own words, which may repeat what the server sent
                raise _Trouble(BROKEN.get(type(error).__name__, type(error).__name__)) from None
            except httpx.DecodingError:
                raise _Trouble("the answer is compressed and damaged") from None
            return self._judged(answer, raw, read)
        raise self._error(f"more than {MOST_REDIRECTS} redirects")

    def _read(self, answer: httpx.Response) -> bytes:
        """The body, as far as it is not too large."""
        pieces, size = [], 0
        end = self._clock.now() + LONGEST_ANSWER * self.limits.timeout
        for piece in answer.iter_bytes():
            if self._clock.now() > end:  # a byte now and then would never run into the timeout
                raise _Trouble(
                    f"the answer was not whole after {LONGEST_ANSWER * self.limits.timeout:g} seconds"
                )
            size += len(piece)
            if size > self.limits.answer_bytes:
                raise self._error(
                    f"the answer is larger than {self.limits.answer_bytes:,} bytes: ask for fewer "
                    "documents or fields, or set answer_bytes higher"
                )
            pieces.append(piece)
        return b"".join(pieces)

    def _judged(self, answer: httpx.Response, raw: bytes, read: Callable[[bytes], Any]) -> ServerReply:
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
        if not 200 <= status < 300:
            raise self._error(f"status {status}{_beginning(raw)}", status)
        try:
            return ServerReply(status, read(raw))
        except (ValueError, RecursionError):
            kind = answer.headers.get("Content-Type", "no content type")
            raise _Trouble(f"the answer is not JSON ({kind}, {len(raw):,} bytes){_beginning(raw)}") from None

    def _redirected(self, answer: httpx.Response, method: str) -> str:
        """Where a redirect leads, if that is the same server."""
        target = str(answer.url.join(answer.headers.get("Location", "")))
        old, new = urlsplit(self.origin), urlsplit(target)
        same = old.hostname == new.hostname and (
            (old.scheme, _port(old)) == (new.scheme, _port(new))
            or (old.scheme, new.scheme) == ("http", "https")
        )
        if not same:
            raise self._error(
                f"it redirects to {new.scheme}://{new.netloc.rpartition('@')[2]}, and requests go only "
                "to the server that was named: name that one if you trust it"
            )
        if method != "GET" and answer.status_code not in (307, 308):
            raise self._error(
                f"status {answer.status_code}: it redirects {method} to {new.path}: give that address"
            )
        return target

    def _address(self, path: str, parameters: Mapping[str, str] | None) -> httpx.URL:
        """An address, which takes a while to make, for many requests."""
        import httpx

        key = (path, *sorted((parameters or {}).items()))
        if key not in self._addresses:
            if len(self._addresses) >= MOST_ADDRESSES:
                self._addresses.clear()
            self._addresses[key] = httpx.URL(self.origin + path, params=parameters or None)
        return self._addresses[key]

    def _opened(self, address: str) -> httpx.Client:
        """The client for addresses of this scheme. That for https loads certificates, which takes a while."""
        secure = urlsplit(address).scheme != "http"
        if secure not in self._http:
            try:
                import httpx
            except ImportError:
                raise MissingExtraError.for_job("asking a server", "httpx", "engines") from None
            import ssl

            context: ssl.SSLContext | bool = secure
            if secure and self._certificates is not None:
                try:
                    context = ssl.create_default_context(cafile=self._certificates)
                except OSError as error:
                    raise ParameterError(
                        f"{self._certificates}: cannot be read as certificates: {error}"
                    ) from None
            # nothing of the environment: neither proxies, which would see the requests, nor passwords of a
            # .netrc
            # answers as they are: compressing them costs the server more time than a short answer is worth
            self._http[secure] = httpx.Client(
                headers={"Accept-Encoding": "identity", **self._headers},
                auth=self._auth,
                timeout=self.limits.timeout,
                verify=context,
                follow_redirects=False,
                trust_env=False,
                transport=self._transport,
                limits=httpx.Limits(
                    max_connections=self.limits.concurrency, max_keepalive_connections=self.limits.concurrency
                ),
            )
        return self._http[secure]

    def _error(self, what: str, status: int | None = None) -> RemoteError:
        error = RemoteError(self.secrets.redact(f"{self.origin}: {what}"))
        error.status = status
        return error


def _beginning(raw: bytes) -> str:
    text = " ".join(raw[: 4 * SHOWN].decode("utf-8", "replace").split())
    return f": {shortened(text, SHOWN)}" if text else ""


def _seconds(retry_after: str | None) -> float | None:
    """A wait in seconds; the form with a date is left alone."""
    text = (retry_after or "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


def _port(parts: Any) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)
