"""Any HTTP API with JSON answers, by a mapping: what to send, and where in the answer things stand.

The mappings of Solr, Meilisearch and Vespa are files in ``mappings/``. An engine file may change any key of
them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any
from urllib.parse import quote, urlencode

from evenrank.engines.base import Answer, EngineDescription, Raw, Wanted, hash_settings
from evenrank.engines.declared import declare_engine
from evenrank.engines.settings import EngineSettings
from evenrank.engines.templates import at, check_pointer, check_template, fill
from evenrank.engines.web import WebEngine, kept_hit, list_at, read_hits
from evenrank.errors import ParameterError, RemoteError
from evenrank.io.toml import parse_toml

HITS = {"list": "/hits", "id": "/id", "score": "/score", "document": "", "total": "/total", "error": "/error"}
PAGING = ("size", "most", "first_page")
ABOUT = ("version", "documents", "state")
MAPPINGS = {"solr": "Solr", "meilisearch": "Meilisearch", "vespa": "Vespa"}
_HIDDEN = (401, 403, 404)  # an engine need not tell everybody what it is


class MappedEngine(WebEngine):
    """An engine that is described by its settings alone."""

    def __init__(self, settings: EngineSettings, mapping: Mapping[str, Any] | None = None) -> None:
        self._mapping = {**(mapping or {})}
        for key, value in settings.options.items():
            own = self._mapping.get(key)
            both = isinstance(own, Mapping) and isinstance(value, Mapping)
            self._mapping[key] = {**own, **value} if both else value  # type: ignore[dict-item]
        if settings.body is not None and "body_file" in settings.options:
            self._mapping["body"] = settings.body
        secret = settings.secrets.get("api_key")
        name = str(self._mapping.get("api_key_header", "X-API-Key"))
        super().__init__(settings, {name: secret} if secret else None)
        self._source = settings.source
        self._check()

    def _check(self) -> None:
        parameters = self._mapping.get("parameters", {})
        self._body = self._mapping.get("body")
        self._method = str(self._mapping.get("method", "POST" if self._body is not None else "GET")).upper()
        if self._method not in ("GET", "POST"):
            raise self.settings.error(f"method must be GET or POST, got {self._method!r}")
        check_template([parameters, self._body], self._source)
        self._hits = {**HITS, **self._mapping.get("hits", {})}
        for name, pointer in self._hits.items():
            if name not in HITS:
                raise self.settings.error(f"hits has no {name!r}; known are {', '.join(HITS)}")
            check_pointer(pointer, f"{self._source}: hits.{name}")
        if "id" in self.settings.options:
            named = str(self.settings.options["id"])
            self._hits["id"] = named if named.startswith("/") else f"{self._hits['document']}/{named}"
        paging = self._mapping.get("paging", {})
        unknown = [key for key in paging if key not in PAGING]
        if unknown:
            raise self.settings.error(f"paging has no {unknown[0]!r}; known are {', '.join(PAGING)}")
        self._size, self._most = paging.get("size"), paging.get("most")
        self._first = paging.get("first_page", 1)
        placed = json.dumps([parameters, self._body])
        self._pages = any(f'"{{{name}}}"' in placed for name in ("offset", "page"))

    @property
    def settings_hash(self) -> str:
        own = {
            key: value for key, value in self._mapping.items() if key not in ("name", "batch", "body_file")
        }
        return hash_settings({"engine": self.settings.kind, "address": self.address, **own})

    def describe(self) -> EngineDescription:
        told = {key: self._about(key) for key in ABOUT}
        count = told["documents"]
        known = isinstance(count, int) and not isinstance(count, bool)
        state = [str(value) for value in told.values() if value is not None]
        return EngineDescription(
            engine=self.settings.kind,
            address=self.address,
            index=self.settings.index,
            settings=self.settings_hash,
            version=None if told["version"] is None else str(told["version"]),
            documents=count if known else None,
            state=" ".join(state) or None,
        )

    def _about(self, key: str) -> Any:
        where = self._mapping.get("about", {}).get(key)
        if where is None:
            return None
        if not isinstance(where, Mapping) or set(where) != {"path", "at"}:
            raise self.settings.error(f'about.{key} must be {{path = "/..", at = "/.."}}')
        try:
            answer = self.client.ask("GET", self._path(where["path"]))
        except RemoteError as error:
            if error.status in _HIDDEN:
                return None
            raise
        return at(answer, check_pointer(where["at"], f"{self._source}: about.{key}.at"))

    def fetch(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[Raw | RemoteError]:
        answers: list[Raw | RemoteError] = []
        for text in texts:
            try:
                answers.append(self._searched(text, depth, wanted))
            except RemoteError as error:
                answers.append(error)
        return answers

    def _searched(self, text: str, depth: int, wanted: Wanted) -> Raw:
        hits: list[Any] = []
        total: Any = None
        always = (self._hits["id"].removeprefix(self._hits["document"]).split("/")[1],)
        for body, parameters, size in self._filled(text, depth):
            answer = self.client.ask(self._method, self._path(), body=body, parameters=parameters)
            error = at(answer, self._hits["error"]) if self._hits["error"] else None
            if error:
                raise self.error(f"the answer says: {' '.join(str(error).split())[:200]}")
            total = at(answer, self._hits["total"]) if self._hits["total"] else None
            missing = at(answer, self._hits["list"]) is None and total == 0
            page = [] if missing else list_at(self, answer, self._hits["list"])
            hits += [
                kept_hit(hit, self._hits["document"], self.texts, wanted, self._always(always))
                for hit in page
            ]
            more = isinstance(total, int) and len(hits) < total
            if not page or (len(page) < size and not more):
                break
        return {"hits": hits, "found": total}

    def _always(self, always: tuple[str, ...]) -> tuple[str, ...]:
        """The names at the root of a document that its id and score need."""
        score = self._hits["score"]
        at_root = score and not self._hits["document"]
        return (*always, score.split("/")[1]) if at_root else always

    def _filled(self, text: str, depth: int) -> Iterator[tuple[Any, dict[str, str], int]]:
        """Body, parameters and size of each page."""
        if self._most is not None and depth > self._most:
            raise ParameterError(
                f"{self.address}: at most {self._most:,} documents a query can be asked for, got depth "
                f"{depth:,}: use a smaller depth, or set paging.most if your engine allows more"
            )
        size = min(depth, self._size) if self._size is not None and self._pages else depth
        for number in range(-(-depth // size)):
            values = {
                "query": text,
                "size": size,
                "depth": depth,
                "offset": number * size,
                "page": self._first + number,
                "index": self.settings.index,
            }
            parameters = fill(self._mapping.get("parameters", {}), values)
            own = {name: _written(value) for name, value in parameters.items() if value is not None}
            yield fill(self._body, values), own, size

    def read(self, raw: Raw, depth: int, wanted: Wanted) -> Answer:
        return read_hits(
            raw["hits"],
            depth,
            wanted,
            identifier=self._hits["id"],
            score=self._hits["score"] or None,
            document=self._hits["document"],
            texts=self.texts,
            found=raw.get("found"),
        )

    def requests(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[str]:
        return [
            f"{self._method} {self.settings.address.origin}{self._path()}"
            + (f"?{urlencode(parameters)}" if parameters else "")
            + (f"\n{json.dumps(body, ensure_ascii=False)}" if body is not None else "")
            for text in texts
            for body, parameters, _ in self._filled(text, depth)
        ]

    def _path(self, given: str | None = None) -> str:
        path = given if given is not None else self._mapping.get("path", self.settings.address.path or "/")
        return str(path).replace("{index}", quote(self.settings.index))


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value)


def read_mapping(name: str) -> dict[str, Any]:
    """A mapping that comes with the package."""
    file = files("evenrank.engines") / "mappings" / f"{name}.toml"
    return parse_toml(file.read_bytes(), f"{name}.toml")


@declare_engine("http", "any HTTP API with JSON answers, by a mapping in an engine file")
def _make(settings: EngineSettings) -> MappedEngine:
    return MappedEngine(settings)


def _declare_mapping(name: str, summary: str) -> None:
    @declare_engine(name, f"{summary}, by a mapping")
    def _made(settings: EngineSettings) -> MappedEngine:
        return MappedEngine(settings, read_mapping(name))


for _name, _summary in MAPPINGS.items():
    _declare_mapping(_name, _summary)
