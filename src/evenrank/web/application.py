"""The server around a table of handlers: sessions, signed forms, limits and headers hold for each of them.

A handler gets a ``Visit`` and returns a ``Reply``; it runs in a thread, so it may wait for the disk. No
handler sees an address of a visitor. Logged is only what fails on the server, and nothing about who asked.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evenrank.errors import DataError, MissingExtraError
from evenrank.web.forms import MOST_BYTES, FormTokens, parse_form
from evenrank.web.password import Password
from evenrank.web.rates import TokenBucket, visitor_of

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
SECURE_HEADERS = {"Strict-Transport-Security": "max-age=31536000"}
HTML = "text/html; charset=utf-8"
TOKEN = "token"
RETRY_AFTER = {429: "60", 503: "5"}  # seconds
WRITERS = 20  # at once
LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Visit:
    """One request, as far as a handler may know it."""

    path: str
    query: Mapping[str, str]
    form: Mapping[str, str]
    session: str
    is_new: bool  # the visitor came without a session
    purpose: str | None  # of the form that was sent: its token is ours
    tokens: FormTokens = field(repr=False, default_factory=lambda: FormTokens(""))

    def token(self, purpose: str) -> str:
        return self.tokens.issue(self.session, purpose)


@dataclass(frozen=True)
class Reply:
    body: str | bytes = ""
    status: int = 200
    kind: str = HTML
    headers: Mapping[str, str] = field(default_factory=dict)
    session: str | None = None  # the visitor's from now on, where it changes


def redirect(path: str) -> Reply:
    """After a form was taken: the browser asks for the page, so that reloading sends nothing again."""
    return Reply(status=303, headers={"Location": path})


Handler = Callable[[Visit], Reply]


@dataclass(frozen=True)
class VisitLimits:
    """How often one session may ask, and how many sessions may begin from one address: a full lecture hall
    at once, and then two a second."""

    session: TokenBucket = field(default_factory=lambda: TokenBucket(20.0, 120))
    newcomers: TokenBucket = field(default_factory=lambda: TokenBucket(2.0, 240))


@dataclass(frozen=True)
class Site:
    """What is served: handlers by method and path, files by name, and the page for what went wrong."""

    handlers: Mapping[tuple[str, str], Handler]
    files: Mapping[str, tuple[bytes, str]]
    tokens: FormTokens
    failed: Callable[[int], Reply]  # the page that says what happened, by the status
    secure: bool = True  # reached by https alone
    limits: VisitLimits = field(default_factory=VisitLimits)
    passwords: Mapping[str, Password] = field(default_factory=dict)  # by path
    cookie: str = "session"

    @property
    def cookie_name(self) -> str:
        return f"__Host-{self.cookie}" if self.secure else self.cookie


def make_application(site: Site) -> Any:
    """The site as an ASGI application."""
    try:
        from anyio import CapacityLimiter
        from anyio.to_thread import run_sync
        from starlette.requests import ClientDisconnect, Request
        from starlette.responses import Response
    except ImportError:
        raise MissingExtraError.for_job("serving pages", "starlette and uvicorn", "study") from None

    writers = CapacityLimiter(WRITERS)  # threads: those that wait for the disk leave others to who only reads

    async def in_thread(handler: Handler, visit: Visit) -> Reply:
        writes = visit.purpose is not None or visit.is_new
        return await run_sync(handler, visit, limiter=writers if writes else None)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        try:
            reply, session = await _answered(site, Request(scope, receive), in_thread)
        except DataError as error:  # the disk is full, the database is locked: the message says what to do
            LOG.error("%s", error)
            reply, session = site.failed(503), None
        except ClientDisconnect:
            return
        except Exception:
            LOG.exception("a page failed: this is a mistake in the program")
            reply, session = site.failed(500), None
        response = Response(reply.body, reply.status, media_type=None)
        response.headers["Content-Type"] = reply.kind
        if reply.status in RETRY_AFTER:
            response.headers["Retry-After"] = RETRY_AFTER[reply.status]
        for name, value in {**HEADERS, **(SECURE_HEADERS if site.secure else {}), **reply.headers}.items():
            response.headers[name] = value
        if session is not None:
            response.set_cookie(
                site.cookie_name, session, path="/", httponly=True, samesite="lax", secure=site.secure
            )
        await response(scope, receive, send)

    return application


async def _answered(site: Site, request: Any, in_thread: Any) -> tuple[Reply, str | None]:
    """The reply, and the session where the visitor gets a new one."""
    path, method = request.scope["path"], request.method  # request.url would mix in the header Host
    if path == "/favicon.ico":  # browsers ask for it by themselves
        return Reply(status=204), None
    if method == "GET" and path.startswith("/static/"):
        found = site.files.get(path.removeprefix("/static/"))
        if found is None:
            return site.failed(404), None
        return Reply(found[0], kind=found[1], headers={"Cache-Control": "max-age=300"}), None
    session = request.cookies.get(site.cookie_name, "")
    is_new = not site.tokens.is_session(session)
    visitor = "" if request.client is None else visitor_of(request.client.host)
    if is_new and not site.limits.newcomers.allows(visitor):
        return site.failed(429), None
    if not is_new and not site.limits.session.allows(session):
        return site.failed(429), None
    handler = site.handlers.get((method, path))
    if handler is None:
        known = any(other == path for _, other in site.handlers)
        return site.failed(405 if known else 404), None
    session = site.tokens.new_session() if is_new else session
    new_session = session if is_new else None
    password = site.passwords.get(path)
    status = 200 if password is None else password.status(
        request.headers.get("authorization"), session, visitor
    )  # fmt: skip
    if status == 401:
        asking = {"WWW-Authenticate": 'Basic realm="evenrank", charset="UTF-8"'}
        return Reply(status=401, headers=asking), new_session
    if status != 200:
        return site.failed(status), new_session
    form: dict[str, str] = {}
    purpose = None
    if method == "POST":
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return site.failed(403), None
        body = await _body(request)
        if body is None:
            return site.failed(413), None
        try:
            form = parse_form(body)
        except DataError:
            return site.failed(400), None
        purpose = None if is_new else site.tokens.purpose(form.pop(TOKEN, ""), session)
        if purpose is None:
            return site.failed(403), None
    visit = Visit(path, dict(request.query_params), form, session, is_new, purpose, site.tokens)
    reply = await in_thread(handler, visit)
    return reply, reply.session or new_session


async def _body(request: Any) -> bytes | None:
    """What was sent; None if it is more than a form may be."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)
