"""What an audit is of: run files and search engines, each as a run, and the documents that came with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.data.run import Run
from evenrank.errors import DataError, ParameterError, counted

if TYPE_CHECKING:
    import pyarrow as pa

    from evenrank.engines import Answers, Plan

UNFINISHED = "unfinished"  # below the folder of audits: answers of an audit that has not ended
NAMED = 3
MOST_UNANSWERED = 0.1  # of the queries

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class EngineSource:
    """An engine to ask: its address, file or table, or an object; and what it is called."""

    given: Any
    name: str | None = None
    folder: str = "."

    def open(self) -> Any:
        from evenrank.engines import open_engine

        return open_engine(self.given, name=self.name, folder=self.folder)


@dataclass(frozen=True)
class AskedEngine:
    """The answers of an engine: a run, the documents in it, and what is to be said of them."""

    name: str
    run: Run
    documents: pa.Table
    provenance: Mapping[str, Any]
    notes: tuple[str, ...]
    whole: bool  # every query has an answer
    log: Path | None = None  # the folder of its answers
    unanswered: int = 0  # queries


def ask_all(
    engines: Sequence[EngineSource],
    queries: Mapping[str, str],
    *,
    depth: int,
    log: Path,
    keep_texts: bool,
    progress: Progress | None = None,
) -> list[AskedEngine]:
    """Ask the engines one after another. Every answer is on disk as soon as it has come."""
    from evenrank.engines import ask

    found = []
    for engine in engines:
        opened = engine.open()
        own = log / file_name(opened.name)  # another audit that was interrupted keeps its answers
        kept = own if opened.lasting else None  # a function without a name cannot be known again
        try:
            answers = ask(opened, queries, depth=depth, log=kept, keep_texts=keep_texts, progress=progress)
        finally:
            if opened is not engine.given:
                opened.close()
        found.append(_asked(answers, kept))
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(f"two engines are called {name!r}: name them, as NAME=ADDRESS")
    return found


def check_answered(asked: Sequence[AskedEngine], queries: int, log: Path) -> None:
    """Refuse to audit what is left of an engine that failed."""
    for one in asked:
        if one.unanswered <= MOST_UNANSWERED * queries:
            continue
        kept = (
            f"the answers so far are kept in {log}, and the same command asks only the other queries again"
            if one.log is not None
            else "ask again when the engine answers"
        )
        raise DataError(
            f"{one.name}: {one.unanswered:,} of {counted(queries, 'query', 'queries')} got no answer, more "
            f"than {MOST_UNANSWERED:.0%}, so no audit was made; {kept} ({one.notes[0]})"
        )


def plans(
    engines: Sequence[EngineSource],
    queries: Mapping[str, str],
    *,
    depth: int,
    log: Path,
    keep_texts: bool,
) -> list[Plan]:
    """What ``ask_all`` would send."""
    from evenrank.engines import plan

    opened = [one.open() for one in engines]
    return [plan(one, queries, depth, log=log / file_name(one.name), keep_texts=keep_texts) for one in opened]


def _asked(answers: Answers, log: Path | None) -> AskedEngine:
    notes = [f"{answers.name}: {line}" for line in answers.describe_problems().splitlines()]
    unanswered = answers.unanswered
    if unanswered:
        named = ", ".join(unanswered[:NAMED]) + (", .." if len(unanswered) > NAMED else "")
        notes.append(
            f"{answers.name}: {counted(len(unanswered), 'query has', 'queries have')} no answer ({named}); "
            "the same command asks only these again"
        )
    return AskedEngine(
        answers.name,
        answers.run,
        answers.documents,
        answers.provenance,
        tuple(notes),
        not unanswered,
        log,
        len(unanswered),
    )


def file_name(name: str) -> str:
    """A name as that of a file.

    >>> file_name("shop/eu 2")
    'shop_eu_2'
    """
    kept = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name)
    return kept[:100] or "run"


def queries_to_ask(queries: Any) -> dict[str, Any]:
    """What a file or a table says of the queries to ask: texts, why they were chosen, weights."""
    from evenrank.engines.asking import query_texts
    from evenrank.inputs.file_options import FileOption
    from evenrank.inputs.reading import queries_of
    from evenrank.io.queries import read_queries

    if queries is None:
        raise ParameterError(
            "an engine needs queries to be asked: pass queries= (--queries FILE), with columns query and text"
        )
    read = queries_of(queries) if isinstance(queries, FileOption) else read_queries(queries)
    return {
        "query_texts": query_texts(read),
        "query_reasons": read.reasons or None,
        "query_weights": read.weights,
    }


def documents_of(asked: Sequence[AskedEngine]) -> pa.Table | None:
    """The documents of all answers, each once, with the fields that engines gave."""
    import pyarrow as pa

    if not asked:
        return None
    try:
        table = pa.concat_tables([one.documents for one in asked], promote_options="permissive")
    except pa.ArrowInvalid as error:
        raise DataError(f"the engines give the same field in different types: {error}") from None
    first: dict[str, int] = {}
    for place, document in enumerate(table.column("id").to_pylist()):
        first.setdefault(document, place)
    return table.take(list(first.values()))
