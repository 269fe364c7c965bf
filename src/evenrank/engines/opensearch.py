"""OpenSearch and Elasticsearch, by ``_msearch``: several queries in one request, which the engine takes one
by one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evenrank.engines.base import Answer, AnswerProblem, EngineDescription, Raw, Wanted
from evenrank.engines.declared import declare_engine
from evenrank.engines.documents import KeptFields, kept_fields
from evenrank.engines.settings import EngineSettings
from evenrank.engines.templates import at, check_template, fill
from evenrank.engines.web import WebEngine, failure, kept_hit, list_at, read_hits
from evenrank.errors import ParameterError, RemoteError
from evenrank.remote.json_text import WrittenObject, objects_of_list

AT_ONCE = 8  # queries in one request; the engine works on one of them at a time
DEEPEST = 10_000  # documents, unless index.max_result_window is set otherwise
BESIDE = ("_index", "_id", "_score", "sort", "_routing")  # of a hit, with its document
_OF_A_HIT = frozenset((*BESIDE, "_source"))
_MEMBERS = frozenset(("took", "timed_out", "_shards", "hits", "status"))  # of a plain answer to one query
DEFAULT: dict[str, Any] = {"query": {"multi_match": {"query": "{query}", "fields": ["*"], "lenient": True}}}


class OpenSearchEngine(WebEngine):
    """An index of OpenSearch or Elasticsearch.

    Without a body, every text field is searched (``multi_match`` over ``*``), which is seldom what a shop's
    own page asks: give the body that your page sends.
    """

    def __init__(self, settings: EngineSettings) -> None:
        key = settings.secrets.get("api_key")
        super().__init__(settings, {"Authorization": f"ApiKey {key}"} if key else None, batch=AT_ONCE)
        if not settings.index or "/" in settings.index:
            raise settings.error(
                f"the address must end with the name of the index, {settings.address.origin}/INDEX"
            )
        self._body = settings.body if settings.body is not None else DEFAULT
        if not isinstance(self._body, Mapping):
            raise settings.error("the body must be a JSON object")
        check_template(self._body, f"{settings.source}: body")
        named = str(settings.get("id", "/_id"))
        self._id = (
            named if named.startswith("/") else "/_source/" + named.replace("~", "~0").replace("/", "~1")
        )

    def describe(self) -> EngineDescription:
        root = self.told("/")
        stats = self.told(f"/{self.settings.index}/_stats/docs,indexing")
        own = at(stats, "/_all/primaries")
        count = at(own, "/docs/count")
        indices = at(stats, "/indices")
        uuids = sorted(str(at(one, "/uuid")) for one in indices.values()) if isinstance(indices, dict) else []
        state = [count, at(own, "/docs/deleted"), at(own, "/indexing/index_total"), *uuids]
        return EngineDescription(
            engine=self.settings.kind,
            address=self.address,
            index=self.settings.index,
            settings=self.settings_hash,
            version=_text(at(root, "/version/number")),
            documents=count if isinstance(count, int) else None,
            state=None if stats is None else " ".join(map(str, state)),
        )

    def fetch(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[Raw | RemoteError]:
        if depth > DEEPEST:
            raise ParameterError(
                f"{self.address}: at most {DEEPEST:,} documents a query can be asked for, got depth "
                f"{depth:,}: the engine returns no longer lists; use a smaller depth"
            )
        return self.again(texts, lambda left: self._searched(left, depth, wanted))

    def _searched(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[Raw | RemoteError]:
        answer = self.client.ask(
            "POST",
            self._path(),
            content=self._lines(texts, depth, wanted).encode("utf-8", "surrogatepass"),
            content_type="application/x-ndjson",
            parameters={"max_concurrent_searches": "1"},
            read=_responses,
        )
        responses = list_at(self, answer, "/responses")
        if len(responses) != len(texts):
            raise self.error(f"{len(responses)} answers came to {len(texts)} queries")
        return [self._kept(response, wanted) for response in responses]

    def _kept(self, response: Any, wanted: Wanted) -> Raw | RemoteError:
        error = at(response, "/error")
        if error is not None:
            reason = at(error, "/root_cause/0/reason") or at(error, "/reason") or error
            return failure(self, at(response, "/status"), reason)
        try:
            hits = list_at(self, response, "/hits/hits")
        except RemoteError as wrong:
            return wrong
        always = (self._id.removeprefix("/_source/").partition("/")[0],)
        if isinstance(response, WrittenObject) and _MEMBERS.issuperset(response):
            fields = kept_fields(tuple(self.texts), wanted, always)
            if all(type(hit) is dict and _is_kept_whole(hit, fields) for hit in hits):
                return response  # nothing is left out, so it need not be written anew
        kept = [kept_hit(hit, "/_source", self.texts, wanted, always, BESIDE) for hit in hits]
        own = {name: value for name, value in response["hits"].items() if name != "hits"}
        about = {name: response[name] for name in ("took", "timed_out", "_shards") if name in response}
        return {**about, "hits": {**own, "hits": kept}}

    def read(self, raw: Raw, depth: int, wanted: Wanted) -> Answer:
        total = at(raw, "/hits/total")  # a number in versions before 7
        found = at(total, "/value") if isinstance(total, Mapping) else total
        answer = read_hits(
            raw["hits"]["hits"], depth, wanted, identifier=self._id, score="/_score", document="/_source",
            texts=self.texts, found=found,
        )  # fmt: skip
        failed = at(raw, "/_shards/failed")
        if failed or at(raw, "/timed_out") is True:
            why = f"{failed} shards failed" if failed else "the search timed out inside the engine"
            return Answer(answer.hits, (*answer.problems, AnswerProblem("partial answer", why)))
        return answer

    def requests(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[str]:
        path = f"POST {self.settings.address.origin}{self._path()}?max_concurrent_searches=1"
        return [f"{path}\n{self._lines(texts, depth, wanted).rstrip()}"]

    def _path(self) -> str:
        return f"/{self.settings.index}/_msearch"

    def _lines(self, texts: Sequence[str], depth: int, wanted: Wanted) -> str:
        lines = []
        for text in texts:
            # the body of a page asks for its first few hits: here the depth decides
            own = {**self._body, "size": depth, "from": 0, "_source": self._source(wanted)}
            filled = fill(own, {"query": text, "size": depth, "depth": depth, "index": self.settings.index})
            lines += ["{}", json.dumps(filled, ensure_ascii=False)]
        return "\n".join(lines) + "\n"

    def _source(self, wanted: Wanted) -> Any:
        """What the engine is to send of a document: texts that nobody wants stay where they are."""
        if wanted.fields is None:
            return True if wanted.texts else {"excludes": list(self.texts)}
        own = self._id.removeprefix("/_source/") if self._id.startswith("/_source/") else None
        return [*wanted.fields, *(self.texts if wanted.texts else ()), *((own,) if own else ())]


def _responses(text: str) -> Any:
    return objects_of_list(text, "responses")


def _is_kept_whole(hit: dict[str, Any], fields: KeptFields) -> bool:
    document = hit.get("_source")
    return _OF_A_HIT.issuperset(hit) and type(document) is dict and fields.all_of(document)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


@declare_engine("opensearch", "OpenSearch, by _msearch")
def _make_opensearch(settings: EngineSettings) -> OpenSearchEngine:
    return OpenSearchEngine(settings)


@declare_engine("elasticsearch", "Elasticsearch, by _msearch")
def _make_elasticsearch(settings: EngineSettings) -> OpenSearchEngine:
    return OpenSearchEngine(settings)
