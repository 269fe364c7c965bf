"""What people asked: the texts of queries, by id."""

from __future__ import annotations

from xml.etree import ElementTree

from evenrank.errors import DataError
from evenrank.io.cells import id_cells, text_cells
from evenrank.io.column_names import ACCEPTED, DOCUMENT_COLUMNS
from evenrank.io.source import Source, as_source
from evenrank.io.tables import open_table
from evenrank.io.texts import by_id, read_texts

TEXT = (*DOCUMENT_COLUMNS["text"], "query_text", "question", "title")
TABLES = ("csv", "jsonl", "parquet")
TOPICS = ("topic", "top", "query")
NUMBERS = ("number", "num", "id", "qid")


def read_query_texts(source: object, *, format: str | None = None) -> dict[str, str]:
    """``{query: text}`` from lines of an id, a tab and the text, from a table with columns query and text, or
    from topics in XML, whose number and title they are."""
    file = as_source(source)
    form = format or (None if file is None else file.guessed_format)
    if file is not None and file.name.lower().endswith(".xml"):
        return _topics(file)
    if file is None or form not in TABLES:
        plain = format or (None if file is None else "tsv")
        return read_texts(source, "queries", format=plain)
    file.check()
    table = open_table(file, form, lambda name, why: DataError(f"{name}: no queries ({why})"))
    names = table.frame.names
    chosen = []
    for role, accepted in (("query", (*ACCEPTED["query"], *DOCUMENT_COLUMNS["id"])), ("text", TEXT)):
        column = next((name for name in accepted if name in names), None)
        if column is None:
            raise DataError(
                f"{file.name}: no column for the {role} (accepted: {', '.join(accepted)}); "
                f"the columns are {', '.join(map(repr, names))}"
            )
        chosen.append(column)
    ids = id_cells(table.frame.column(chosen[0]), "query", table.report)
    texts = text_cells(table.frame.column(chosen[1]), "text", table.report)
    table.report.check()
    return by_id(zip(ids.to_pylist(), texts.to_pylist(), strict=True), file.name)


def _topics(file: Source) -> dict[str, str]:
    content = b"".join(file.blocks())
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:  # declarations can blow a file up
        raise DataError(f"{file.name}: topics are read without a document type: take it out")
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise DataError(f"{file.name}:{error.position[0]}: is not XML ({error})") from error
    found: list[tuple[str, str]] = []
    for topic in root.iter():
        if topic.tag in TOPICS:
            number = next(
                (topic.get(name) or topic.findtext(name) for name in NUMBERS if _has(topic, name)), ""
            )
            text = next(
                (topic.findtext(name) for name in (*TEXT, "query") if topic.find(name) is not None), ""
            )
            if number and number.strip() and text:
                found.append((number.strip(), " ".join(text.split())))
    if not found:
        raise DataError(f"{file.name}: no topic has a number and a title")
    return by_id(found, file.name)


def _has(topic: ElementTree.Element, name: str) -> bool:
    return topic.get(name) is not None or topic.find(name) is not None
