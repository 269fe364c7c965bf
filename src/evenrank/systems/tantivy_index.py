"""BM25 by tantivy, a search library in Rust that works as Lucene does."""

from __future__ import annotations

import importlib.util
from typing import Any

from evenrank.data.run import Run
from evenrank.errors import MissingExtraError
from evenrank.grammar import choice, declare, parameter
from evenrank.systems.base import (
    IndexedDocuments,
    Texts,
    check_depth,
    check_texts,
    not_indexed,
    run_of,
)
from evenrank.systems.declared import LEXICAL, SystemSettings, SystemTerm

TANTIVY = "tantivy"
LONGEST = 40  # bytes of a word that tantivy indexes
ANALYZERS = {"plain": "default", "stemmed": "en_stem"}
WRITER_BYTES = 64_000_000


class TantivyIndex:
    """BM25 with tantivy's constants (k1 1.2, b 0.75, lengths rounded as Lucene rounds them).

    Words in lower case, no stop words left out; ``stemmed`` reduces English words to their stems. A word that
    a query has twice counts once, as tantivy's own parser has it.
    """

    def __init__(self, analyzer: str = "plain", name: str = TANTIVY) -> None:
        if importlib.util.find_spec(TANTIVY) is None:
            raise MissingExtraError.for_job("Tantivy", TANTIVY, TANTIVY)
        self.name, self._analyzer = name, analyzer
        self._collection: IndexedDocuments | None = None
        self._index: Any = None
        self._schema: Any = None

    def index(self, documents: Texts) -> None:
        import tantivy

        texts = check_texts(documents, "documents")
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text", stored=False, tokenizer_name=ANALYZERS[self._analyzer])
        builder.add_integer_field("row", stored=True)
        self._schema = builder.build()
        self._index = tantivy.Index(self._schema)
        writer = self._index.writer(WRITER_BYTES, 1)  # one thread: the same segments every time
        for row, text in enumerate(texts.values()):
            writer.add_document(tantivy.Document(text=text, row=row))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._collection = IndexedDocuments(texts)

    def retrieve(self, queries: Texts, k: int = 100) -> Run:
        if self._collection is None:
            raise not_indexed(self.name)
        asked, k, ids = check_texts(queries, "queries"), check_depth(k), self._collection.ids
        searcher, analyze = self._index.searcher(), self._words()
        lists = []
        for query, text in asked.items():
            found = self._search(searcher, analyze(text), k)
            ranked = sorted(found, key=lambda row: (found[row], ids[row].encode()), reverse=True)
            kept = ranked[:k]
            lists.append((query, [ids[row] for row in kept], [found[row] for row in kept]))
        return run_of(lists, self.name)

    def _search(self, searcher: Any, words: list[str], k: int) -> dict[int, float]:
        """The scores of the k best rows, and of all that are equal to the last of them."""
        import tantivy

        clauses = [
            (tantivy.Occur.Should, tantivy.Query.term_query(self._schema, "text", word))
            for word in dict.fromkeys(words) if len(word.encode()) < LONGEST
        ]  # fmt: skip
        if not clauses:
            return {}
        query = tantivy.Query.boolean_query(clauses)
        wanted, total = k, len(self._collection or ())
        while True:
            hits = searcher.search(query, min(wanted + 1, total)).hits
            if len(hits) <= wanted or hits[k - 1][0] > hits[-1][0]:
                break
            wanted *= 2
        return {searcher.doc(address)["row"][0]: float(score) for score, address in hits}

    def _words(self) -> Any:
        import tantivy

        builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        builder = builder.filter(tantivy.Filter.remove_long(LONGEST)).filter(tantivy.Filter.lowercase())
        if self._analyzer == "stemmed":
            builder = builder.filter(tantivy.Filter.stemmer("english"))
        return builder.build().analyze


@declare
class TantivyTerm(SystemTerm):
    """BM25 by tantivy, a search library that works as Lucene does; optionally with stems of English words."""

    name = "Tantivy"
    family = LEXICAL
    extra = TANTIVY

    analyzer: str = parameter("plain", choice(*ANALYZERS), "words as they are, or their English stems")

    def check(self, settings: SystemSettings) -> None:
        TantivyIndex()

    def make(self, settings: SystemSettings) -> TantivyIndex:
        return TantivyIndex(self.analyzer)
