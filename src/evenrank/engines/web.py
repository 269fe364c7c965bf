"""What engines behind HTTP have in common: a client, a rate, and answers whose parts fail one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evenrank.engines.base import Answer, DeclaredEngine, Hit, Raw, Wanted, checked_hits, hash_settings
from evenrank.engines.documents import TEXT_NAMES, fields_of, is_short, kept_part, text_of
from evenrank.engines.rows import finite
from evenrank.engines.settings import EngineSettings
from evenrank.engines.templates import at, getter
from evenrank.errors import RemoteError, shortened
from evenrank.remote.client import REPEATED

# pieces of a document's text beside the document
HIGHLIGHTS = ("highlight", "highlights", "_formatted", "_highlightResult", "_snippetResult", "_explanation")


REFUSED = (401, 403)


class WebEngine(DeclaredEngine):
    """An engine that a ``Client`` asks."""

    kind = ""

    def __init__(
        self, settings: EngineSettings, headers: Mapping[str, str] | None = None, batch: int = 1
    ) -> None:
        super().__init__(settings.name)
        self.settings = settings
        self.secrets = settings.secrets
        self.concurrency = settings.limits.concurrency
        self.threads = True
        self.batch = whole_number(settings, "batch", batch)
        self.rate = settings.limits.rate
        self.address = f"{settings.address.origin}{settings.address.path}"
        self.client = settings.client(headers)
        self.texts = settings.texts_of("text") or TEXT_NAMES

    @property
    def settings_hash(self) -> str:
        options = {key: value for key, value in self.settings.options.items() if key not in ("name", "batch")}
        options["body"] = self.settings.body
        return hash_settings({"engine": self.settings.kind, "address": self.address, **options})

    def close(self) -> None:
        self.client.close()

    def error(self, what: str) -> RemoteError:
        return RemoteError(self.secrets.redact(f"{self.address}: {what}"))

    def told(self, path: str) -> Any:
        """What the engine says about itself; None if these credentials may search, but not ask that."""
        try:
            return self.client.ask("GET", path)
        except RemoteError as error:
            if error.status not in REFUSED:
                raise
            return None

    def again(
        self, texts: Sequence[str], fetch: Callable[[Sequence[str]], list[Any]]
    ) -> list[Raw | RemoteError]:
        """Several queries in one request, of which some may be refused for now: those are asked again."""
        answers: dict[int, Raw | RemoteError] = {}
        left = list(range(len(texts)))
        for attempt in range(self.settings.limits.retries + 1):
            found = fetch([texts[place] for place in left])
            answers.update(zip(left, found, strict=True))
            left = [place for place in left if isinstance(answers[place], Refused)]
            if not left:
                break
            if attempt < self.settings.limits.retries:
                self.client.pause(attempt)
        return [answers[place] for place in range(len(texts))]


class Refused(RemoteError):
    """A query that the engine refused for now, as one that is too busy does."""


def failure(engine: WebEngine, status: Any, what: Any) -> RemoteError:
    """Why one query of several has no answer."""
    text = engine.secrets.redact(f"{engine.address}: {shortened(' '.join(str(what).split()), 200)}")
    return Refused(text) if isinstance(status, int) and status in REPEATED else RemoteError(text)


def kept_hit(
    hit: Any,
    pointer: str,
    texts: Sequence[str],
    wanted: Wanted,
    always: Sequence[str] = (),
    beside: Sequence[str] | None = None,
) -> Any:
    """A hit as JSON whose document, which stands at ``pointer``, has only what is wanted; what is no object
    stays. ``beside`` names what to keep beside the document, if that is known."""
    if not isinstance(hit, dict):
        return hit
    name, _, rest = pointer.removeprefix("/").partition("/")
    if not name:
        own = {key: value for key, value in hit.items() if key not in HIGHLIGHTS}
        return kept_part(own, texts, wanted, always)
    if beside is not None:
        kept = {key: hit[key] for key in beside if key in hit}
    else:
        kept = {
            key: value
            for key, value in hit.items()
            if key != name and key not in HIGHLIGHTS and (wanted.texts or is_short(value))
        }
    document = hit.get(name)
    if isinstance(document, dict):
        if rest:
            kept[name] = kept_hit(document, f"/{rest}", texts, wanted, always)
        else:
            kept[name] = kept_part(document, texts, wanted, always)
    return kept


def read_hits(
    pages: Sequence[Any],
    depth: int,
    wanted: Wanted,
    *,
    identifier: str,
    score: str | None,
    document: str,
    texts: Sequence[str],
    found: Any = None,
) -> Answer:
    """Hits by JSON pointers."""
    hits: list[Hit | None] = []
    own_id, own_score, own_document = map(getter, (identifier, score or "", document))
    for hit in pages:
        key = own_id(hit)
        if (type(key) is not str and (isinstance(key, bool) or not isinstance(key, (str, int)))) or key == "":
            hits.append(None)
            continue
        own = own_document(hit)
        own = own if isinstance(own, dict) else {}
        if not document:  # the hit is the document: its id and score are no fields
            own = {name: value for name, value in own.items() if f"/{name}" not in (identifier, score)}
        hits.append(
            Hit(
                str(key),
                None if score is None else finite(own_score(hit)),
                text_of(own, texts, wanted) if wanted.texts else None,
                fields_of(own, texts, wanted),
            )
        )
    total = found if isinstance(found, int) and not isinstance(found, bool) else None
    return checked_hits(hits, depth, total)


def whole_number(settings: EngineSettings, key: str, default: int) -> int:
    given = settings.get(key, default)
    if isinstance(given, str) and given.isascii() and given.isdigit():
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise settings.error(f"{key} must be an integer >= 1, got {given!r}")
    return given


def list_at(engine: WebEngine, answer: Any, pointer: str) -> list[Any]:
    """The list of hits, or an error that says what stands there instead."""
    found = at(answer, pointer)
    if not isinstance(found, list):
        raise engine.error(
            f"the answer has no list at {pointer or 'its root'}, but {shortened(repr(found), 80)}"
        )
    return found
