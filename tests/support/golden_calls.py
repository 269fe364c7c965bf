"""Public functions, called as a case describes it, and what they return as plain data."""

from __future__ import annotations

import dataclasses
import importlib
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from evenrank import EvenrankError, EvenrankWarning

SHOWN = 200  # elements of something that ends nowhere


class Called(NamedTuple):
    value: Any
    error: BaseException | None
    warnings: int


def call(step: Mapping[str, Any], names: Mapping[str, str], keywords: Mapping[str, str]) -> Called:
    """Call what a step names; an error is a result too, by its class."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value, error = plain(_made(step, names, keywords)), None
        except (EvenrankError, AssertionError, KeyError, TypeError, ValueError) as raised:
            value, error = None, raised
    return Called(value, error, sum(issubclass(one.category, EvenrankWarning) for one in caught))


def _made(value: Any, names: Mapping[str, str], keywords: Mapping[str, str]) -> Any:
    """What a value of a case stands for: a call within a call, a frame, a path, or itself."""
    if isinstance(value, list):
        return [_made(one, names, keywords) for one in value]
    if not isinstance(value, dict):
        return value
    if "call" in value:
        found = _public(names[value["call"]])
        arguments = [_made(one, names, keywords) for one in value.get("args", [])]
        named = value.get("with", {}).items()
        given = {keywords.get(name, name): _made(one, names, keywords) for name, one in named}
        result = found(*arguments, **given) if callable(found) else found
        for part in value.get("then", []):
            result = _then(result, part, names, keywords)
        return result
    if "frame" in value:
        return FRAMES[value.get("as", "dict")](value["frame"])
    if value == {"none": True}:
        return None
    if value.keys() == {"path"}:
        return Path(value["path"])
    if "function" in value:
        return FUNCTIONS[value["function"]]
    if "tuple" in value:
        return tuple(_made(one, names, keywords) for one in value["tuple"])
    return {name: _made(one, names, keywords) for name, one in value.items()}


def _then(result: Any, part: Any, names: Mapping[str, str], keywords: Mapping[str, str]) -> Any:
    """``"runs"`` is an attribute or a method without arguments, ``{per_query = [..]}`` a method with
    some, and ``{item = ..}`` what stands in brackets."""
    if isinstance(part, str):
        found = getattr(result, part)
        return found() if callable(found) else found
    ((name, given),) = part.items()
    if name == "item":
        return result[given]
    if isinstance(given, dict):
        return getattr(result, name)(**_made(given, names, keywords))
    return getattr(result, name)(*_made(given, names, keywords))


def _public(name: str) -> Any:
    """``evenrank.evaluate``, ``evenrank.Run.from_dict``: the longest module, then attributes."""
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):  # a function may be called as its module is
        try:
            found: Any = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise ValueError(f"{name} is no name of a module")


def plain(value: Any) -> Any:
    """A result as JSON has it: by its public methods where it has some, else by its kind."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):  # arrays of numpy, and its numbers
        return plain(value.tolist())
    if hasattr(value, "to_pylist"):  # tables of Arrow
        return plain(value.to_pylist())
    if hasattr(value, "to_dicts"):  # frames of polars
        return plain(value.to_dicts())
    if hasattr(value, "iterrows"):  # frames of pandas
        return plain(value.to_dict("records"))
    if any(cls.__module__.startswith("altair.") for cls in type(value).__mro__):  # figures: their numbers
        return plain([rows for rows in map(_numbers, _drawn(value.to_dict())) if rows])
    if isinstance(value, Mapping):
        return {repr(name) if not isinstance(name, str) else name: plain(one) for name, one in value.items()}
    if hasattr(value, "describe_parameters"):  # measures, re-rankers, systems: as they are written
        return value.__name__ if isinstance(value, type) else repr(value)
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if dataclasses.is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, set | frozenset):
        return sorted(plain(one) for one in value)
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if isinstance(value, Iterable):
        return [plain(one) for one, _ in zip(value, range(SHOWN), strict=False)]
    return type(value).__name__


def _drawn(chart: Any) -> Iterator[Any]:
    """The rows of each part of a figure."""
    if isinstance(chart, dict):
        yield from chart.get("datasets", {}).values()
        for name, part in chart.items():
            if name == "data" and isinstance(part, dict) and "values" in part:
                yield part["values"]
            elif name != "datasets":
                yield from _drawn(part)
    elif isinstance(chart, list):
        for part in chart:
            yield from _drawn(part)


def _numbers(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without colours, and without where names and lines are put."""
    shown = [row for row in rows if {"run", "query"} & row.keys()]
    return [{name: one for name, one in row.items() if name not in ("colour", "ring")} for row in shown]


def _pandas(columns: dict[str, list[Any]]) -> Any:
    import pandas

    return pandas.DataFrame(columns)


def _polars(columns: dict[str, list[Any]]) -> Any:
    import polars

    return polars.DataFrame(columns)


def _arrow(columns: dict[str, list[Any]]) -> Any:
    import pyarrow

    return pyarrow.table(columns)


FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "dict": dict,
    "pandas": _pandas,
    "polars": _polars,
    "arrow": _arrow,
}


def count_words(texts: Iterable[str]) -> list[list[float]]:
    """An encoder: how often a text holds each of a few words."""
    words = ("she", "he", "yes", "no", "lamp", "question")
    return [[float(text.lower().split().count(word)) for word in words] for text in texts]


def words_in_common(documents: dict[str, str], queries: dict[str, str]) -> dict[str, dict[str, float]]:
    """A system: documents by the number of words that they share with the query."""
    return {
        query: {
            name: float(len({*text.split()} & {*other.split()}) - place / 100)
            for place, (name, other) in enumerate(documents.items())
        }
        for query, text in queries.items()
    }


def share_of_relevant(measure: Any, documents: list[str], case: Any, query: str) -> float | None:
    """What P@3 is, for ``check_measure``."""
    grades = case.qrels.to_dict().get(query, {})
    return (
        None
        if not any(grade > 0 for grade in grades.values())
        else sum(grades.get(name, 0) > 0 for name in documents[:3]) / 3
    )


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "count_words": count_words,
    "words_in_common": words_in_common,
    "share_of_relevant": share_of_relevant,
}
"""What a case can hand over as a function; add what is missing."""
