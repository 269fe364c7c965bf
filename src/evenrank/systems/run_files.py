"""A run that is there already, as the first stage of a re-ranker or as a part of a fusion."""

from __future__ import annotations

from pathlib import Path

from evenrank.data.run import Run
from evenrank.errors import DataError, ParameterError, counted, few
from evenrank.grammar import choice, declare, parameter, text
from evenrank.systems.base import Texts, check_depth, check_texts
from evenrank.systems.declared import CLASSES, INDUSTRY, SystemSettings, SystemTerm


class RunFile:
    """The lists of a run file; it retrieves for the queries that the file has."""

    def __init__(self, path: Path) -> None:
        from evenrank.io import read_run

        self._run = read_run(path)
        self.name = self._run.name

    def index(self, documents: Texts) -> None:
        unknown = sorted(set(self._run.doc_ids.to_pylist()) - set(check_texts(documents, "documents")))
        if unknown:
            raise DataError(
                f"{self.name}: {counted(len(unknown), 'document is', 'documents are')} not among the "
                f"documents: {few(unknown, 3)}; the run and --documents must have the same ids"
            )

    def retrieve(self, queries: Texts, k: int = 100) -> Run:
        asked, k = check_texts(queries, "queries"), check_depth(k)
        shared = [query for query in asked if query in self._run]
        if not shared:
            raise DataError(
                f"{self.name}: has no list for any of the {counted(len(asked), 'query', 'queries')} "
                f"({few(list(asked), 3)}; the run has {few(list(self._run.query_ids), 3)}): the run and "
                "--queries must have the same ids"
            )
        return self._run.select(shared).head(k)


@declare
class RunFileTerm(SystemTerm):
    """A run that is there already: the first stage of a re-ranker, or a part of a fusion."""

    name = "RunFile"
    family = INDUSTRY
    needs_documents = False

    path: str = parameter("", text(), "the run file")
    of: str | None = parameter(
        None, choice(*CLASSES, optional=True), "the class of the system that made it, if it is known"
    )

    @property
    def system_class(self) -> str:
        return self.of or ""

    def check(self, settings: SystemSettings) -> None:
        if not self.path or not settings.path(self.path).is_file():
            raise ParameterError(f"RunFile: {self.path!r} is no run file; write RunFile(path='bm25.trec')")

    def make(self, settings: SystemSettings) -> RunFile:
        return RunFile(settings.path(self.path))
