"""One name for each query, where some sources call it by its words and others by the id made from them.

Files and data frames whose queries are texts have ids that are made from the words; keys of dictionaries stay
as they are. Where both stand for the same query, it gets the id everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from evenrank.data.runset import RunSet
from evenrank.io.cells import hold_words, made_id

if TYPE_CHECKING:
    from evenrank.inputs.inputs import Inputs

SOURCES = ("runs", "qrels", "intents", "groups", "polarity", "evidence", "background", "against")
BY_QUERY = ("query_texts", "query_reasons", "query_weights", "categories")
_IDS = ("query_ids", "row_queries")  # the fields in which a source has them


def with_one_name(inputs: Inputs) -> dict[str, Any]:
    """The fields of ``inputs`` that change, so that every query has one name."""
    lists = _lists_of_queries(inputs)
    if " " not in "\n".join(map(str, chain(*lists))):  # as nearly always, and told at once
        return {}
    called = set().union(*lists)
    words = (query for query in called if isinstance(query, str) and hold_words([query]))
    names = {query: made for query in words if (made := made_id(query)) in called}
    if not names:
        return {}
    changed: dict[str, Any] = {name: _renamed(getattr(inputs, name), names) for name in SOURCES}
    for name in BY_QUERY:
        if told := getattr(inputs, name):
            changed[name] = {names.get(query, query): one for query, one in told.items()}
    if inputs.queries is not None:
        changed["queries"] = tuple(dict.fromkeys(names.get(query, query) for query in inputs.queries))
    return changed


def _lists_of_queries(inputs: Inputs) -> list[Collection[str]]:
    sources = [source for name in SOURCES for source in _each(getattr(inputs, name))]
    own = [getattr(source, "query_ids", None) for source in sources]
    told = [getattr(inputs, name) for name in ("queries", *BY_QUERY)]
    return [queries for queries in (*own, *told) if queries is not None and len(queries)]


def _each(held: Any) -> Iterable[Any]:
    """The sources in a field: one, or several by name or in a row."""
    if isinstance(held, Mapping):
        return held.values()
    return held if isinstance(held, tuple) else (held,)


def _renamed(held: Any, names: Mapping[str, str]) -> Any:
    if isinstance(held, Mapping):
        return {name: _renamed(source, names) for name, source in held.items()}
    if isinstance(held, tuple):
        return tuple(_renamed(source, names) for source in held)
    if isinstance(held, RunSet):
        return replace(held, runs=_renamed(held.runs, names))
    own = getattr(held, "query_ids", None)
    if not own or not is_dataclass(held) or isinstance(held, type) or names.keys().isdisjoint(own):
        return held
    queries = tuple(names.get(query, query) for query in own)
    if len(set(queries)) < len(
        queries
    ):  # two spellings of one query: nobody but the user can tell them apart
        return held
    field = next(field.name for field in fields(held) if field.name in _IDS)
    return replace(held, **{field: queries})
