"""Natural documents: what a search engine gave for the questions, with the text of the pages' bodies.

They are other people's texts: kept in the folder for measurement, and never part of a release.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenrank.corpus.folder import Corpus
from evenrank.corpus.records import Record, digest
from evenrank.corpus.stages import Made, Rejection
from evenrank.errors import DataError, MissingExtraError, Problem
from evenrank.files import read_bytes
from evenrank.io.table_files import read_named_rows

OPTIONAL = ("url", "title", "snippet", "date")


def read_natural(path: Path, corpus: Corpus, time: str) -> Made:
    """Results from a table (CSV or JSONL) with query, rank, url, title, snippet and date, and for the page
    ``file`` (saved HTML, relative to the table), ``html``, or ``text``."""
    records, rejected, problems = list[Record](), list[Rejection](), list[Problem]()
    seen: dict[tuple[str, int], int] = {}
    for line, row in read_named_rows(path):
        query = str(row.get("query") or "")
        try:
            rank = int(row.get("rank") or "")
        except ValueError:
            rank = 0
        if query not in corpus.queries:
            problems.append(
                Problem(line, f"query {query!r} is not in questions.jsonl, or not among those used")
            )
        elif rank < 1:
            problems.append(Problem(line, f"rank must be a whole number from 1, got {row.get('rank')!r}"))
        elif (query, rank) in seen:
            place = seen[query, rank]
            problems.append(Problem(line, f"query {query!r} has rank {rank} already, in line {place}"))
        else:
            seen[query, rank] = line
            name = f"{query}_n{rank}"
            try:
                text = _body(row, path.parent)
            except DataError as error:
                problems.append(Problem(line, str(error)))
                continue
            if not text:
                rejected.append(Rejection(name, "no text in its body", 1, str(row.get("url") or "")))
                continue
            about = {each: str(row.get(each) or "") for each in OPTIONAL}
            made = {
                "model": None,
                "prompt": None,
                "seed": None,
                "time": time,
                "made_from": digest([dict(row)]),
            }
            records.append({"document": name, "query": query, "rank": rank, **about, "text": text, **made})
    if problems:
        raise DataError.listing(str(path), problems)
    return Made(tuple(records), tuple(rejected))


def body_text(html: str) -> str:
    """The text of a page without its navigation, forms and footers.

    Reference: Barbaresi, Trafilatura, ACL 2021 (demonstrations).
    """
    try:
        import trafilatura
    except ImportError:
        raise MissingExtraError.for_job("reading web pages", "trafilatura", "corpus") from None
    return (trafilatura.extract(html, include_comments=False, include_tables=False) or "").strip()


def _body(row: Mapping[str, Any], folder: Path) -> str:
    if row.get("text"):
        return str(row["text"]).strip()
    html = row.get("html")
    if not html and row.get("file"):
        html = read_bytes(folder / str(row["file"])).decode("utf-8", "replace")
    return body_text(str(html)) if html else ""
