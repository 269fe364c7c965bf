"""Typesense, by ``multi_search``, in pages of 250 documents."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from evenrank.engines.base import Answer, EngineDescription, Raw, Wanted
from evenrank.engines.declared import declare_engine
from evenrank.engines.settings import EngineSettings
from evenrank.engines.templates import at, check_template, fill
from evenrank.engines.web import WebEngine, failure, kept_hit, list_at, read_hits
from evenrank.errors import RemoteError

PAGE = 250  # documents: the most that Typesense gives at once
AT_ONCE = 8  # searches in one request


class TypesenseEngine(WebEngine):
    """A collection of Typesense. ``query_by`` are the fields to search, by default all with text; ``body``
    may hold any further parameter of a search."""

    def __init__(self, settings: EngineSettings) -> None:
        key = settings.secrets.get("api_key")
        super().__init__(settings, {"X-TYPESENSE-API-KEY": key} if key else None, batch=AT_ONCE)
        if not settings.index or "/" in settings.index:
            raise settings.error(
                f"the address must end with the name of the collection, {settings.address.origin}/COLLECTION"
            )
        self._body = settings.body if settings.body is not None else {"q": "{query}"}
        check_template(self._body, f"{settings.source}: body")
        self._id = "/document/" + str(settings.get("id", "id")).removeprefix("/document/")

    def describe(self) -> EngineDescription:
        about = self._collection()
        count = at(about, "/num_documents")
        version = at(self.told("/debug"), "/version")
        return EngineDescription(
            engine="typesense",
            address=self.address,
            index=self.settings.index,
            settings=self.settings_hash,
            version=version,
            documents=count if isinstance(count, int) else None,
            state=None if about is None else f"{count} {at(about, '/created_at')}",
        )

    def fetch(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[Raw | RemoteError]:
        return self.again(texts, lambda left: self._searched(left, depth, wanted))

    def _searched(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[Raw | RemoteError]:
        answers: list[Any] = [{"hits": [], "found": None} for _ in texts]
        open_places = list(range(len(texts)))
        for page in range(1, -(-depth // PAGE) + 1):
            searches = [
                self._search(texts[place], page, depth, wanted, self._query_by) for place in open_places
            ]
            answer = self.client.ask("POST", "/multi_search", body={"searches": searches})
            results = list_at(self, answer, "/results")
            if len(results) != len(open_places):
                raise self.error(f"{len(results)} answers came to {len(open_places)} queries")
            still = []
            for place, result in zip(open_places, results, strict=True):
                added = self._add(answers[place], result, wanted)
                if isinstance(added, RemoteError):
                    answers[place] = added
                elif added and len(answers[place]["hits"]) < (answers[place]["found"] or 0):
                    still.append(place)
            open_places = still
            if not open_places:
                break
        return answers

    def _add(self, answer: dict[str, Any], result: Any, wanted: Wanted) -> RemoteError | int:
        """Put a page to the others; how many hits it has, or why it has none."""
        if not isinstance(result, Mapping) or "error" in result:
            return failure(self, at(result, "/code"), at(result, "/error") or result)
        try:
            hits = list_at(self, result, "/hits")
        except RemoteError as error:
            return error
        always = (self._id.split("/")[2],)
        answer["hits"] += [kept_hit(hit, "/document", self.texts, wanted, always) for hit in hits]
        found = result.get("found")
        answer["found"] = found if isinstance(found, int) else None
        return len(hits)

    def read(self, raw: Raw, depth: int, wanted: Wanted) -> Answer:
        return read_hits(
            raw["hits"], depth, wanted, identifier=self._id, score="/text_match", document="/document",
            texts=self.texts, found=raw.get("found"),
        )  # fmt: skip

    def requests(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[str]:
        by = ",".join(self.settings.texts_of("query_by")) or "(all fields with text)"
        pages = range(1, -(-depth // PAGE) + 1)
        return [
            f"POST {self.settings.address.origin}/multi_search\n"
            + json.dumps(
                {"searches": [self._search(text, page, depth, wanted, by) for text in texts]},
                ensure_ascii=False,
            )
            for page in pages
        ]

    @cached_property
    def _query_by(self) -> str:
        given = self.settings.texts_of("query_by")
        if given:
            return ",".join(given)
        collection = self._collection()
        if collection is None:
            hidden = self.error(
                "these credentials may not see the collection: check the key, or name the fields to search, "
                "query_by = [..], if the key is for searching alone"
            )
            hidden.status = 401
            raise hidden
        fields = list_at(self, collection, "/fields")
        names = [str(at(field, "/name")) for field in fields if at(field, "/type") in ("string", "string[]")]
        searched = [name for name in names if name in self.texts] or names
        if not searched:
            raise self.error("the collection shows no field with text: name the fields, query_by = [..]")
        return ",".join(searched)

    def _collection(self) -> Any:
        return self.told(f"/collections/{self.settings.index}")

    def _search(self, text: str, page: int, depth: int, wanted: Wanted, by: str) -> dict[str, Any]:
        size = min(depth, PAGE)
        own: dict[str, Any] = {
            "collection": self.settings.index,
            "per_page": size,
            "page": page,
            "query_by": by,
        }
        own["highlight_fields"] = "none"
        if wanted.fields is not None:
            names = [*wanted.fields, self._id.split("/")[2], *(self.texts if wanted.texts else ())]
            own["include_fields"] = ",".join(dict.fromkeys(names))
        elif not wanted.texts:
            own["exclude_fields"] = ",".join(self.texts)
        return {**own, **fill(self._body, {"query": text, "size": size, "page": page, "depth": depth})}


@declare_engine("typesense", "Typesense, by multi_search")
def _make(settings: EngineSettings) -> TypesenseEngine:
    return TypesenseEngine(settings)
