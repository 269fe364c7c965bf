"""Files of earlier versions that the project file replaced, and the lines that replace theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenrank.errors import DataError

GATE = {"evidence", "alpha", "allowed", "allowed_share", "at_least", "unclear", "correction"}
TRAINING = {"attributes", "model", "training", "tune", "adversary", "joint", "evaluate", "examples"}
EXAMPLES = {
    "pool", "triples", "limit", "min_grade", "negatives", "keep_out", "validation", "folds", "fold",
}  # fmt: skip


def check_version(path: str, content: Mapping[str, Any], project: str, data: Sequence[str]) -> None:
    """An error that shows the new form of an old file; ``data`` are the keys that ``[data]`` has now."""
    if "gate" not in content and GATE & set(content):
        what, lines = "a gate.toml", _gate(content, data)
    elif "debias" not in content and (TRAINING & set(content) or EXAMPLES & set(_table(content, "data"))):
        what, lines = "a training configuration", _training(content)
    else:
        return
    form = "\n".join(lines).strip()
    raise DataError(
        f"{path}: is {what} of an earlier version; in a project file ({project}) it is written\n{form}"
    )


def _table(content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = content.get(key, {})
    return found if isinstance(found, dict) else {}


def _gate(content: Mapping[str, Any], data: Sequence[str]) -> Iterator[str]:
    evidence = _table(content, "evidence")
    if "baseline" in content:
        yield f"baseline = {_toml(content['baseline'])}\n"
    yield from _lines("data", {key: value for key, value in evidence.items() if key in data})
    groups = evidence.get("groups", [])
    for entry in [groups] if isinstance(groups, str) else groups:
        attribute, _, path = str(entry).partition("=")
        yield from _lines("groups", {attribute: path})
    rules = {key: value for key, value in content.items() if key not in ("evidence", "measures", "baseline")}
    yield from _lines("gate", rules)
    for measure, given in _table(content, "measures").items():
        yield from _lines(f"gate.measures.{_toml(measure)}", given)


def _training(content: Mapping[str, Any]) -> Iterator[str]:
    data = _table(content, "data")
    yield from _lines("data", {key: value for key, value in data.items() if key not in EXAMPLES})
    if "seed" in content:
        yield from _lines("debias", {"seed": content["seed"]})
    examples = {key: value for key, value in data.items() if key in EXAMPLES}
    for section, given in {"examples": examples, **content}.items():
        if section in ("data", "seed"):
            continue
        if isinstance(given, list):
            for entry in given:
                yield from _lines(f"[debias.{section}]", entry)
        else:
            yield from _lines(f"debias.{section}", given)


def _lines(name: str, table: Any) -> Iterator[str]:
    """A table as TOML, if there is anything in it."""
    if isinstance(table, dict) and table:
        yield f"[{name}]"
        yield from (f"{key} = {_toml(value)}" for key, value in table.items())
        yield ""


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return str(value)
