"""How large a corpus is, by domain (Table 1 of pair-duo-2024), and what in it is not as it should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from evenrank.corpus.folder import Corpus
from evenrank.corpus.records import Record, digest
from evenrank.corpus.style import style_check
from evenrank.errors import counted, few
from evenrank.tables import Table

HEAD = ("domain", "topics", "queries", "documents", "words a document", "distractors")


def statistics_table(corpus: Corpus) -> Table:
    """A row for each domain, their mean, and the whole. A topic of several domains counts in each."""
    of_query = {query: corpus.domains(query) for query in corpus.queries}
    topics = Counter(domain for record in corpus.topics for domain in record["domains"])
    queries = Counter(domain for domains in of_query.values() for domain in domains)
    documents = _by_domain(corpus.documents, of_query)
    distractors = _by_domain(corpus.distractors, of_query)
    words: Counter[str] = Counter()
    for record in corpus.documents:
        for domain in of_query.get(record["query"], ()):
            words[domain] += len(record["text"].split())
    rows: list[tuple[object, ...]] = [
        (
            name,
            topics[name],
            queries[name],
            documents[name],
            _mean(words[name], documents[name]),
            distractors[name],
        )
        for name in sorted(topics)
    ]
    count = max(len(rows), 1)
    all_words = sum(len(record["text"].split()) for record in corpus.documents)
    rows.append(
        ("mean", topics.total() / count, queries.total() / count, documents.total() / count,
         _mean(words.total(), documents.total()), distractors.total() / count)
    )  # fmt: skip
    rows.append(
        ("all", len(corpus.topics), len(corpus.queries), len(corpus.documents),
         _mean(all_words, len(corpus.documents)), len(corpus.distractors))
    )  # fmt: skip
    return Table.of(
        HEAD,
        rows,
        title="size by domain",
        notes=statistics_notes(corpus),
        meaning="How large the corpus is; a topic of several domains counts in each of them.",
    )


def statistics_notes(corpus: Corpus) -> list[str]:
    """Incomplete questions, records that are older than what they were made from, and style."""
    notes = []
    there = Counter(record["query"] for record in corpus.documents)
    most = max(there.values(), default=0)
    short = [query for query in corpus.queries if there[query] < most]
    if short:
        missing = sum(most - there[query] for query in short)
        notes.append(
            f"{counted(len(short), 'question has', 'questions have')} fewer documents than the "
            f"others: {few(short)} "
            f"({counted(missing, 'document is', 'documents are')} missing)"
        )
    old = stale(corpus)
    if old:
        notes.append(
            f"{counted(len(old), 'document was', 'documents were')} made from another version of "
            "their question or "
            f"perspective: {few(old)}; run the stage documents again"
        )
    if corpus.documents:
        found = style_check(corpus.documents, draws=1000).accuracy
        if found.queries:
            notes.append(
                f"style alone puts {found.value:.3f} of the documents on the side of their perspective, and "
                f"{found.chance:.3f} with labels shuffled within questions (p = {found.p:.3f}, "
                f"{counted(found.queries, 'question', 'questions')}): a small p means that the "
                "sides differ in style"
            )
    return notes


def stale(corpus: Corpus) -> list[str]:
    """Documents whose question or perspective has changed since they were written."""
    questions = {record["query"]: record for record in corpus.questions}
    sides = {(record["query"], record["perspective"]): record for record in corpus.perspectives}
    found = []
    for record in corpus.documents:
        side = sides.get((record["query"], record["perspective"]))
        if side is None or record.get("made_from") not in (None, digest([questions[record["query"]], side])):
            found.append(record["document"])
    return found


def _by_domain(records: Sequence[Record], of_query: Mapping[str, Sequence[str]]) -> Counter[str]:
    return Counter(domain for record in records for domain in of_query.get(record["query"], ()))


def _mean(total: float, count: int) -> float:
    return total / count if count else float("nan")
