"""Answers of databases: rows with named columns, of which one is the id and one may be the score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from evenrank.engines.base import Answer, Hit, Raw, Wanted, checked_hits
from evenrank.engines.documents import TEXT_NAMES, fields_of, kept_part, text_of
from evenrank.engines.settings import EngineSettings
from evenrank.errors import ParameterError

IDS = ("id", "_id", "doc_id", "docid", "docno", "document", "sku")
SCORE = "score"


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
    names: Sequence[str], rows: Sequence[Sequence[Any]], identifier: str, texts: Sequence[str], wanted: Wanted
) -> Raw:
    """Rows as JSON, without what is not wanted."""
    shown = texts or TEXT_NAMES
    kept = []
    for row in rows:
        document = {name: _json(value) for name, value in zip(names, row, strict=True)}
        kept.append(kept_part(document, shown, wanted, always=(identifier, SCORE)))
    return {"id": identifier, "rows": kept}


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
    """A score, if it is a number."""
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def _json(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return [_json(item) for item in value]
    if isinstance(value, dict):
        return {str(name): _json(item) for name, item in value.items()}
    return None if isinstance(value, (bytes, memoryview)) else str(value)
