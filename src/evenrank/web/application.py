"""The server around a table of handlers: sessions, signed forms, limits and headers hold for each of them.

A handler gets a ``Visit`` and returns a ``Reply``; it runs in a thread, so it may wait for the disk. No
handler sees an address of a visitor, and nothing is logged.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evenrank.errors import DataError, MissingExtraError
from evenrank.web.forms import MOST_BYTES, FormTokens, parse_form
from evenrank.web.rates import TokenBucket

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


@dataclass(frozen=True)
class Visit:
    """One request, as far as a handler may know it."""

    path: str
    query: Mapping[str, str]
    form: Mapping[str, str]
    session: str
    is_new: bool  # the visitor came without a session
    purpose: str | None  # of the form that was sent: its token is ours
    authorization: str | None = None
    tokens: FormTokens = field(repr=False, default_factory=lambda: FormTokens(""))

    def token(self, purpose: str) -> str:
        return self.tokens.issue(self.session, purpose)


@dataclass(frozen=True)
class Reply:
    body: str | bytes = ""
    status: int = 200
    kind: str = HTML
    headers: Mapping[str, str] = field(default_factory=dict)
    keeps_session: bool = True


def redirect(path: str) -> Reply:
    """After a form was taken: the browser asks for the page, so that reloading sends nothing again."""
    return Reply(status=303, headers={"Location": path})


Handler = Callable[[Visit], Reply]


@dataclass(frozen=True)
class VisitLimits:
    """How often one session may ask, and how many sessions may begin from one address."""

    session: TokenBucket = field(default_factory=lambda: TokenBucket(20.0, 120))
    newcomers: TokenBucket = field(default_factory=lambda: TokenBucket(50.0, 500))


@dataclass(frozen=True)
class Site:
    """What is served: handlers by method and path, files by name, and the page for what went wrong."""

    handlers: Mapping[tuple[str, str], Handler]
    files: Mapping[str, tuple[bytes, str]]
    tokens: FormTokens
    failed: Callable[[int], Reply]  # the page that says what happened, by the status
    secure: bool = True  # reached by https alone
    limits: VisitLimits = field(default_factory=VisitLimits)
    cookie: str = "session"

    @property
    def cookie_name(self) -> str:
        return f"__Host-{self.cookie}" if self.secure else self.cookie


def make_application(site: Site) -> Any:
    """The site as an ASGI application."""
    try:
        from starlette.applications import Starlette
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import Response
        from starlette.routing import Route
    except ImportError:
        raise MissingExtraError.for_job("serving pages", "starlette and uvicorn", "study") from None

    async def answer(request: Any) -> Any:
        reply, session = await _answered(site, request, run_in_threadpool)
        response = Response(reply.body, reply.status, media_type=None)
        response.headers["Content-Type"] = reply.kind
        for name, value in {**HEADERS, **(SECURE_HEADERS if site.secure else {}), **reply.headers}.items():
            response.headers[name] = value
        if session is not None and reply.keeps_session:
            response.set_cookie(
                site.cookie_name, session, path="/", httponly=True, samesite="lax", secure=site.secure
            )
        return response

    methods = ["GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"]
    return Starlette(routes=[Route("/{path:path}", answer, methods=methods)])


async def _answered(site: Site, request: Any, in_thread: Any) -> tuple[Reply, str | None]:
    """The reply, and the session where the visitor gets a new one."""
    path, method = request.url.path, request.method
    if path == "/favicon.ico":  # browsers ask for it by themselves
        return Reply(status=204), None
    if method == "GET" and path.startswith("/static/"):
        found = site.files.get(path.removeprefix("/static/"))
        if found is None:
            return site.failed(404), None
        return Reply(found[0], kind=found[1], headers={"Cache-Control": "max-age=300"}), None
    session = request.cookies.get(site.cookie_name, "")
    is_new = not (16 <= len(session) <= 128 and session.isascii())
    peer = "" if request.client is None else request.client.host
    if is_new and not site.limits.newcomers.allows(peer):
        return site.failed(429), None
    if not is_new and not site.limits.session.allows(session):
        return site.failed(429), None
    handler = site.handlers.get((method, path))
    if handler is None:
        known = any(other == path for _, other in site.handlers)
        return site.failed(405 if known else 404), None
    session = secrets.token_urlsafe(32) if is_new else session
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
    visit = Visit(
        path, dict(request.query_params), form, session, is_new, purpose,
        request.headers.get("authorization"), site.tokens,
    )  # fmt: skip
    try:
        reply = await in_thread(handler, visit)
    except DataError:
        return site.failed(503), None
    return reply, session if is_new else None


async def _body(request: Any) -> bytes | None:
    """What was sent; None if it is more than a form may be."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)
