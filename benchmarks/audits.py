"""The input of the audits in docs/reproductions: ``python benchmarks/audits.py FOLDER [AUDIT]``.

Writes documents, queries, judgements, sides and domains of balance-en to FOLDER/balance, and those of the 44
questions with both sides of the published quality audit (AUDIT is the folder of its CSV files) to
FOLDER/audit44, as ``evenrank retrieve`` and ``evenrank evaluate`` read them.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from evenrank.corpus import balance_folder

Document = tuple[str, str, str, str]  # query, document, side, text


def write(
    folder: Path,
    documents: list[Document],
    queries: dict[str, str],
    domains: Iterable[tuple[str, str]],
    judged: list[Document],
) -> None:
    folder.mkdir(parents=True, exist_ok=True)

    def lines(name: str, rows: Iterable[Iterable[str]], separator: str = "\t") -> None:
        text = "".join(separator.join(" ".join(cell.split()) for cell in row) + "\n" for row in rows)
        (folder / name).write_text(text, encoding="utf-8")

    lines("documents.tsv", ((name, text) for _, name, _, text in documents))
    lines("queries.tsv", queries.items())
    lines("qrels.txt", ((query, "0", name, "1") for query, name, _, _ in judged), " ")
    with (folder / "sides.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [("query", "document", "side"), *((query, name, side) for query, name, side, _ in judged)]
        )
    with (folder / "domains.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("query", "domain"), *domains])


def balance(folder: Path) -> None:
    """Its documents alone, and in ``with-distractors`` with the texts that are like them and take no side."""

    def rows(name: str) -> list[dict[str, str]]:
        content = (balance_folder() / name).read_text(encoding="utf-8")
        return [json.loads(line) for line in content.splitlines()]

    documents = [
        (row["query"], row["document"], row["perspective"], row["text"]) for row in rows("documents.jsonl")
    ]
    further = [("", row["document"], "", row["text"]) for row in rows("distractors.jsonl")]
    asked = {query for query, *_ in documents}
    questions = {row["query"]: row for row in rows("questions.jsonl") if row["query"] in asked}
    topics = {row["topic"]: row["domains"] for row in rows("topics.jsonl")}
    queries = {query: row["text"] for query, row in questions.items()}
    domains = [(query, domain) for query, row in questions.items() for domain in topics[row["topic"]]]
    write(folder / "balance", documents, queries, domains, documents)
    write(folder / "with-distractors", documents + further, queries, domains, documents)


def audit(folder: Path, source: Path) -> None:
    """All 353 documents; the questions that have a document of each side."""
    rows: dict[str, dict[str, str]] = {}
    for path in sorted(source.glob("[A-Z]*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                rows.setdefault(row["doc_id"], {**row, "domain": path.stem.replace("_", " ")})
    documents = []
    for name, row in rows.items():
        page, number, side, _ = name.split("_")
        documents.append((f"{page}_{number}", name, side, row["doc"]))
    sides: dict[str, set[str]] = {}
    for query, _, side, _ in documents:
        sides.setdefault(query, set()).add(side)
    judged = [document for document in documents if len(sides[document[0]]) == 2]
    queries = {query: rows[name]["query"] for query, name, _, _ in judged}
    domains = sorted({(query, rows[name]["domain"]) for query, name, _, _ in judged})
    write(folder / "audit44", documents, queries, domains, judged)


if __name__ == "__main__":
    balance(Path(sys.argv[1]))
    if len(sys.argv) > 2:
        audit(Path(sys.argv[1]), Path(sys.argv[2]))
