"""Answers of databases: rows with named columns, of which one is the id and one may be the score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenrank.engines.base import Answer, Hit, Raw, Wanted, checked_hits
from evenrank.engines.documents import TEXT_NAMES, fields_of, kept_part, text_of
from evenrank.engines.settings import EngineSettings
from evenrank.errors import ParameterError, RemoteError

IDS = ("id", "_id", "doc_id", "docid", "docno", "document", "sku")
SCORE = "score"
FURTHER_ROWS = (
    1000  # read behind the depth: rows that repeat a document or have no id take none of its places
)


def id_column(names: Sequence[str], settings: EngineSettings) -> str:
    named = settings.get("id")
    if named is not None:
        if named not in names:
            raise ParameterError(
                f"{settings.source}: the answer has no column {named!r}; it has {', '.join(names)}"
            )
        return str(named)
    found = next((name for name in IDS if name in names), None)
    if found is None:
        raise ParameterError(
            f"{settings.source}: no column is called {', '.join(IDS[:-1])} or {IDS[-1]}; the columns are "
            f'{", ".join(names)}: say which is the id, id = "NAME"'
        )
    return found


def kept_rows(
    documents: Iterable[Mapping[str, Any]], identifier: str, texts: Sequence[str], wanted: Wanted
) -> Raw:
    """Rows as JSON, without what is not wanted."""
    shown = texts or TEXT_NAMES
    kept = [kept_part(document, shown, wanted, always=(identifier, SCORE)) for document in documents]
    return {"id": identifier, "rows": kept}


def too_large(most_bytes: int) -> RemoteError:
    return RemoteError(
        f"the answer is larger than {most_bytes:,} bytes: ask for fewer documents or columns, or set "
        "answer_bytes higher"
    )


def read_rows(raw: Raw, depth: int, texts: Sequence[str], wanted: Wanted) -> Answer:
    identifier, shown = raw.get("id", ""), texts or TEXT_NAMES
    hits: list[Hit | None] = []
    for row in raw["rows"]:
        document = {name: value for name, value in row.items() if name not in (identifier, SCORE)}
        key = row.get(identifier)
        if key is None or key == "":
            hits.append(None)
            continue
        score = finite(row.get(SCORE))
        hits.append(
            Hit(str(key), score, text_of(document, shown, wanted), fields_of(document, shown, wanted))
        )
    return checked_hits(hits, depth)


def finite(value: Any) -> float | None:
    """A score, if it is a number; one that is not finite spoils the answer."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        if math.isfinite(number := float(value)):
            return number
    except OverflowError:
        pass
    raise RemoteError("the score of a hit is not a finite number")
