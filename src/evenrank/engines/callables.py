"""Engines of somebody's own in Python: a function of a text, an object with ``search``, a PyTerrier
pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from evenrank.engines.base import (
    Answer,
    DeclaredEngine,
    Engine,
    EngineDescription,
    Hit,
    Raw,
    Wanted,
    checked_hits,
    hash_settings,
)
from evenrank.engines.documents import fields_of, kept_part
from evenrank.engines.rows import finite
from evenrank.errors import DataError, InputTypeError, MissingExtraError, RemoteError

_TEXT = "text"


class CallableEngine(DeclaredEngine):
    """``function(text, depth)`` gives ids, pairs of id and score, ``{id: score}``, hits, or an Answer, best
    first.

    >>> engine = CallableEngine(lambda text, depth: ["d1", "d2"])
    >>> [hit.id for hit in engine.search("anything", 10).hits]
    ['d1', 'd2']
    """

    def __init__(
        self, function: Callable[[str, int], Any], name: str | None = None, own: Engine | None = None
    ) -> None:
        super().__init__(name or str(getattr(function, "__name__", type(function).__name__)).strip("<>"))
        self._function, self._own = function, own
        self.lasting = name is not None or own is not None

    @property
    def settings_hash(self) -> str:
        if self._own is not None:
            return self._own.describe().settings
        return hash_settings({"engine": "python", "name": self.name})

    def describe(self) -> EngineDescription:
        if self._own is not None:
            return self._own.describe()
        return EngineDescription("python", f"python:{self.name}", self.name, self.settings_hash)

    def fetch(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[Raw | RemoteError]:
        answers: list[Raw | RemoteError] = []
        for text in texts:
            try:
                given = self._function(text, depth)
            except Exception as error:  # of whatever kind: it is somebody else's function
                answers.append(RemoteError(f"{self.name}: {type(error).__name__}: {error}"))
                continue
            answers.append(_raw(given, wanted, self.name))
        return answers

    def read(self, raw: Raw, depth: int, wanted: Wanted) -> Answer:
        hits = [None if key is None else Hit(key, score, text, fields) for key, score, text, fields in raw]
        return checked_hits(hits, depth)

    def requests(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[str]:
        return [f"{self.name}({text!r}, {depth})" for text in texts]


class PyTerrierEngine(CallableEngine):
    """A PyTerrier pipeline over an index that exists."""

    def __init__(self, pipeline: Any, name: str | None = None) -> None:
        super().__init__(self._searched, name or "pyterrier")
        self._pipeline, self.lasting = pipeline, name is not None

    def _searched(self, text: str, depth: int) -> list[Hit]:
        try:
            import pandas
        except ImportError:
            raise MissingExtraError.for_job("a PyTerrier pipeline", "pandas", "pyterrier") from None
        found = self._pipeline.transform(pandas.DataFrame({"qid": ["1"], "query": [text]}))
        for column in ("docno", "score"):
            if column not in found:
                raise DataError(f"{self.name}: the pipeline gives no column {column!r}")
        order = ["rank"] if "rank" in found else None
        found = (
            found.sort_values(order) if order else found.sort_values("score", ascending=False, kind="stable")
        )
        known = {"qid", "docid", "docno", "query", "score", "rank"}
        others = [column for column in found.columns if column not in known]
        return [
            Hit(str(row["docno"]), float(row["score"]), row.get(_TEXT), {name: row[name] for name in others})
            for row in found.head(depth).to_dict("records")
        ]


def _raw(given: Any, wanted: Wanted, name: str) -> Raw:
    """Hits as JSON, without what is not wanted."""
    hits: Iterable[Any] = given.hits if isinstance(given, Answer) else given
    if isinstance(hits, Mapping):
        hits = sorted(hits.items(), key=lambda item: -item[1])
    if isinstance(hits, (str, bytes)) or not isinstance(hits, Iterable):
        raise InputTypeError(
            f"{name}: an engine gives ids, pairs of id and score, a dict {{id: score}} or hits; got "
            f"{type(given).__name__}"
        )
    return [_one(hit, wanted, name) for hit in hits]


def _one(hit: Any, wanted: Wanted, name: str) -> list[Any]:
    if isinstance(hit, str) or hit is None:
        return [hit or None, None, None, {}]
    if isinstance(hit, int) and not isinstance(hit, bool):
        return [str(hit), None, None, {}]
    if not isinstance(hit, tuple) or not 2 <= len(hit) <= 4:
        raise InputTypeError(f"{name}: a hit is an id, a pair (id, score) or a Hit, got {hit!r:.80}")
    key, score, text, fields = (*hit, None, {})[:4] if len(hit) < 4 else hit
    own = {str(field): _plain(value) for field, value in (fields or {}).items()}
    kept = fields_of(kept_part(own, (_TEXT,), wanted), (_TEXT,), wanted)  # a copy: the object is not ours
    known = None if key is None or key == "" else str(key)
    return [known, finite(_plain(score)), text if wanted.texts and isinstance(text, str) else None, kept]


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python."""
    return value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value
