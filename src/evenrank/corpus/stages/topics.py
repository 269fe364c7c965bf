"""Topics: a list that the user has, with domains, as ids, titles and pages."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenrank.corpus.records import Record
from evenrank.corpus.stages import Made
from evenrank.errors import DataError, Problem
from evenrank.io.table_files import read_named_rows

TITLE = ("title", "topic", "name", "key", "")
DOMAINS = ("domains", "categories", "domain", "category")
PAGE = ("page", "page_id", "pageid", "id")


def read_topics(path: Path, known: tuple[str, ...], time: str) -> Made:
    """Topics from a table (CSV, TSV or JSONL) with a title and domains, and perhaps a page id and an id.

    A topic that is there twice and a domain that is not known are errors, with their line.
    """
    records, problems = list[Record](), list[Problem]()
    seen: dict[str, int] = {}
    for line, row in read_named_rows(path):
        title = str(_cell(row, TITLE) or "").strip()
        if not title:
            problems.append(Problem(line, "has no title"))
            continue
        try:
            domains = _domains(_cell(row, DOMAINS))
        except ValueError:
            problems.append(Problem(line, f"topic {title!r}: its domains cannot be read; write them A; B"))
            continue
        wrong = _wrong_domains(domains, known)
        if wrong:
            problems.append(Problem(line, f"topic {title!r}: {wrong}"))
            continue
        if title.lower() in seen:
            problems.append(Problem(line, f"topic {title!r} is there already, in line {seen[title.lower()]}"))
            continue
        seen[title.lower()] = line
        page = _cell(row, PAGE)
        page = None if page in (None, "") else str(page)
        records.append(
            {
                "topic": page or f"t{len(records) + 1:02}", "title": title, "page": page, "domains": domains,
                "model": None, "prompt": None, "seed": None, "time": time, "made_from": None,
            }
        )  # fmt: skip
    ids: dict[str, str] = {}
    for record in records:
        other = ids.setdefault(record["topic"], record["title"])
        if other != record["title"]:
            line = seen[record["title"].lower()]
            problems.append(Problem(line, f"page {record['topic']!r} is that of {other!r} already"))
    if problems:
        raise DataError.listing(str(path), sorted(problems))
    if not records:
        raise DataError(f"{path}: no topics")
    return Made(tuple(records))


def _wrong_domains(domains: list[str], known: tuple[str, ...]) -> str:
    if not domains:
        return "has no domain: every topic needs one or more"
    for domain in domains:
        if domain not in known:
            close = difflib.get_close_matches(domain, known, 1, 0.4)
            hint = f"did you mean {close[0]!r}?" if close else f"they are {', '.join(known)}"
            return f"unknown domain {domain!r}; {hint}"
    return ""


def _cell(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def _domains(value: Any) -> list[str]:
    """A list, a list as text, or names that semicolons part.

    >>> _domains("['History', 'Sports']"), _domains("History; Sports")
    (['History', 'Sports'], ['History', 'Sports'])
    """
    if value is None:
        return []
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = ast.literal_eval(value.strip())
        except SyntaxError:
            raise ValueError("no list") from None
    if isinstance(value, str):
        value = re.split(r"\s*;\s*", value.strip())
    if not isinstance(value, list):
        raise ValueError("no list")
    return list(dict.fromkeys(str(each).strip() for each in value if str(each).strip()))
