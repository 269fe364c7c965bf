"""The pages that ``evenrank measures NAME`` prints of measures and position biases.

They are made from the declarations and kept in a file, so that a page is printed without loading the
measures and the libraries that these compute with.

``python docs/build_measures.py`` writes the file; a test says when it is stale.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenrank.grammar import Term
    from evenrank.measures import Measure

FILE = Path(__file__).with_name("measure_pages.json")


def kept_page(name: str) -> list[str] | None:
    """The lines of the page of what is called so, from the file; None where there is none."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    lines: list[str] | None = kept["pages"].get(kept["aliases"].get(name, name))
    return lines


def all_pages() -> str:
    """What the file should hold, from the declarations."""
    from evenrank.grammar import ALIASES, REGISTRY
    from evenrank.measures import all_measures

    records = [attention_record(term) for term in REGISTRY["attention"].values()]
    records += [measure_record(measure) for measure in all_measures().values()]
    aliases = {alias: name for alias, name in sorted(ALIASES["measure"].items()) if name in all_measures()}
    kept = {"aliases": aliases, "pages": {record["name"]: page_lines(record) for record in records}}
    return json.dumps(kept, ensure_ascii=False, indent=1) + "\n"


def measure_record(measure: type[Measure]) -> dict[str, Any]:
    record = measure.describe()
    default = measure()
    low, high = default.range()
    cutoff = "needed" if measure.needs_cutoff else "optional" if measure.takes_cutoff else "none"
    extra = {"kind": "measure", "needs": sorted(default.needs), "range": [low, high], "cut-off": cutoff}
    text = record.pop("text")
    return record | extra | {"text": text}


def attention_record(term: type[Term]) -> dict[str, Any]:
    import inspect

    summary, _, text = (inspect.getdoc(term) or "").partition("\n\n")
    return {
        "name": term.name,
        "kind": "position bias",
        "summary": " ".join(summary.split()),
        "parameters": term.describe_parameters(),
        "text": text.partition(">>>")[0].strip(),
    }


def delegated_record(name: str) -> dict[str, Any]:
    import inspect

    from ir_measures import measures

    found = measures.registry[name]
    return {
        "name": name,
        "kind": "measure of ir_measures",
        "summary": "Computed by ir_measures, on the same lists as all other measures.",
        "parameters": {
            parameter: {
                "default": info.default if isinstance(info.default, (bool, int, float, str)) else None,
                "must be": "given" if info.required else "",
                "meaning": info.desc or "",
            }
            for parameter, info in found.SUPPORTED_PARAMS.items()
        },
        "text": (inspect.getdoc(found) or "").partition("\n.. ")[0].strip(),  # before its citations
    }


def page_lines(record: dict[str, Any]) -> list[str]:
    """The page of a measure; a text of several paragraphs is one of its lines."""
    lines = [f"{record['name']}: {record['summary']}"]
    for key in ("family", "formula", "direction", "range", "aggregation", "cut-off", "needs"):
        if record.get(key):
            lines.append(f"  {key:<11}  {_shown(key, record[key])}")
    for heading in ("parameters", "undefined when"):
        entries = record.get(heading)
        if entries:
            lines += ["", f"{heading}:"]
            for name, entry in entries.items():
                lines.append(f"  {name}: {entry if isinstance(entry, str) else _parameter(entry)}")
    lines += [part for key in ("text", "reference") if record.get(key) for part in ("", record[key])]
    return lines


def _parameter(entry: dict[str, Any]) -> str:
    default = "" if entry["must be"] == "given" else f"default {entry['default']!r}"
    return "; ".join(filter(None, (entry["meaning"], entry["must be"], default)))


def _shown(key: str, value: Any) -> str:
    if key == "range":
        low, high = (f"{bound:g}".replace("inf", "infinity").replace("-i", "minus i") for bound in value)
        return f"{low} to {high}"
    return ", ".join(value) if isinstance(value, list) else str(value)
