"""A search engine by its address as a system: what it finds is what it has indexed."""

from __future__ import annotations

from typing import Any

from evenrank.data.run import Run
from evenrank.errors import ParameterError
from evenrank.grammar import declare, parameter, text
from evenrank.systems.base import Progress, Texts, check_depth, check_texts
from evenrank.systems.declared import INDUSTRY, SystemSettings, SystemTerm


class EngineSystem:
    """An engine that is asked every query; documents that are indexed here do not reach it."""

    def __init__(
        self, engine: Any, *, log: Any = None, progress: Progress | None = None, name: str | None = None
    ) -> None:
        from evenrank.engines.opening import open_engine

        self._engine = open_engine(engine)
        self._log, self._progress = log, progress
        self.name = name or self._engine.name
        self.notes: list[str] = []

    def index(self, documents: Texts) -> None:
        """The engine has its own index."""

    def retrieve(self, queries: Texts, k: int = 100) -> Run:
        from evenrank.engines.asking import ask

        answers = ask(
            self._engine, check_texts(queries, "queries"), depth=check_depth(k), log=self._log,
            progress=self._shown,
        )  # fmt: skip
        described = answers.describe_problems()
        self.notes = [described] if answers.problems else []
        return answers.run.renamed(self.name)

    def _shown(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(f"asking {self.name}", done, total)


@declare
class EngineTerm(SystemTerm):
    """A search engine by its address or engine file: OpenSearch, Elasticsearch, Typesense, Meilisearch,
    PostgreSQL, SQLite or any JSON interface. It finds what it has indexed itself."""

    name = "Engine"
    family = INDUSTRY
    extra = "engines"
    needs_documents = False

    address: str = parameter("", text(), "the address, as 'opensearch+http://localhost:9200/products'")

    def check(self, settings: SystemSettings) -> None:
        if not self.address:
            raise ParameterError("Engine: name its address, as Engine(address='opensearch+http://..')")

    def make(self, settings: SystemSettings) -> EngineSystem:
        from evenrank.engines.opening import open_engine

        engine = open_engine(self.address, folder=settings.folder)
        return EngineSystem(engine, log=settings.cache_folder, progress=settings.progress)
