"""What a command line or a project file says about the inputs: names of files, not yet read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from evenrank.errors import DataError, ParameterError, counted, few
from evenrank.inputs.file_options import STDIN, FileOption
from evenrank.inputs.group_options import (
    DOCUMENTS,
    WORDS,
    GroupsOption,
    GroupSources,
    TargetOption,
    check_groups,
    memberships,
)
from evenrank.inputs.input_files import (
    categories_by,
    is_table,
    likely_intents,
    read_polarity_of,
    read_run_of,
    run_files,
)
from evenrank.inputs.inputs import Inputs
from evenrank.inputs.run_names import run_names
from evenrank.inputs.several_files import attempt, reading_files, something_failed

if TYPE_CHECKING:
    from evenrank.data.qrels import Qrels
    from evenrank.data.run import Run
    from evenrank.data.runset import RunSet
    from evenrank.data.words import WordCounts
    from evenrank.io.documents import DocumentsFile
    from evenrank.io.queries import Queries
    from evenrank.measures import Measure

COLLECTION = "collection"
RUN_ROLES = ("query", "document", "score", "rank")
QRELS_ROLES = ("query", "document", "grade")
INTENT_ROLES = (*QRELS_ROLES, "intent")
DOCUMENT_ROLES = ("id", "text", "title")
TEXT_ROLES = ("text", "title", "query_text", "weight")

T = TypeVar("T")
Watch = Callable[[Sequence[T], str], Iterable[T]]  # gives the items back, and shows how far they are


def unwatched(items: Sequence[T], what: str) -> Iterable[T]:
    return items


@dataclass(frozen=True)
class Description:
    """The names of all inputs, and how each is read."""

    runs: tuple[FileOption, ...] = ()
    qrels: tuple[FileOption, ...] = ()
    words: str | None = None
    groups: tuple[GroupsOption, ...] = ()
    targets: tuple[TargetOption, ...] = ()
    polarity: FileOption | None = None
    background: FileOption | None = None
    against: FileOption | None = None
    tables: tuple[FileOption, ...] = ()
    queries: str | None = None
    by: str | None = None
    documents: FileOption | None = None
    columns: Mapping[str, str] | None = None
    lexicon: str | None = None  # whose words are counted in the documents where no counts are given
    notes: list[str] = field(default_factory=list)  # what there is to say of the inputs, filled by ``read``

    @property
    def names(self) -> list[str]:
        """What the runs are called."""
        return run_names(self.runs)

    def files(self) -> list[str]:
        """Every file that is read."""
        return [path for path in self._files() if path is not None]

    def _files(self) -> Iterator[str | None]:
        named = (*self.runs, *self.qrels, self.polarity, self.against, *self.tables, self.documents)
        yield from (None if file is None else file.path for file in named)
        yield from (self.words, self.queries)
        yield None if self._background_is_no_file else self.background.path  # type: ignore[union-attr]
        if self.by is not None and Path(self.by).exists():
            yield self.by
        yield from (group.path for group in self.groups if group.path not in (DOCUMENTS, WORDS))
        yield from (target.path for target in self.targets)

    @property
    def _background_is_no_file(self) -> bool:
        return (
            self.background is None or self.background.path == COLLECTION or self._background_run is not None
        )

    @property
    def _background_run(self) -> str | None:
        """The name of the run that is the background, where it is one of the runs."""
        if self.background is None or Path(self.background.path).exists() or not self.runs:
            return None
        return self.background.path if self.background.path in self.names else None

    def for_measures(self, measures: Iterable[Measure]) -> Description:
        """The same less a lexicon whose words nobody asks for: to count them, all documents are read."""
        by_words = any(need.endswith(".words") for measure in measures for need in measure.needs)
        derived = any(group.path == WORDS for group in self.groups)
        collection = self.background is not None and self.background.path == COLLECTION
        return self if by_words or derived or collection else replace(self, lexicon=None)

    def check(self) -> None:
        """Say what is wrong with the names before any large file is read."""
        with reading_files():
            for check in (self._check_stdin, self._check_columns, self._check_qrels):
                attempt(check)
            attempt(partial(check_groups, self.groups, self.targets))
            attempt(lambda: self.names)  # which says what is wrong with them

    def _check_stdin(self) -> None:
        if self.files().count(STDIN) > 1:
            raise ParameterError("standard input (-) can stand for one file only")

    def _check_qrels(self) -> None:
        plain = [file for file in self.qrels if not file.get("intents")]
        if len(plain) > 1 or len(self.qrels) - len(plain) > 1:
            raise ParameterError("--qrels can be given twice only if one of them is by intent: FILE:intents")

    def _check_columns(self) -> None:
        if self.columns is not None and not self._kinds_of_tables:
            raise ParameterError(
                "--columns needs a table, but no input looks like one; "
                "add :format=csv to the name of a file whose suffix does not tell"
            )

    @property
    def _kinds_of_tables(self) -> int:
        """How many kinds of inputs have named columns."""
        background = None if self._background_is_no_file else self.background
        runs = [file for file in (*self.runs, self.against, background) if file is not None]
        files = [FileOption(path, options=file.options) for file in runs for path in run_files(file.path)]
        own = [group for group in self.groups if group.path not in (DOCUMENTS, WORDS)]
        groups = [FileOption(group.path, options=group.options) for group in own]
        polarity = [] if self.polarity is None else [self.polarity]
        by_suffix = [any(map(is_table, kind)) for kind in (files, self.qrels, groups, polarity)]
        return sum((*by_suffix, len(self.tables), self.documents is not None, self.queries is not None))

    def read(self, watch: Watch[Any] = unwatched, *, check: bool = True) -> Inputs:
        """Everything read, checked and named; all bad files are reported at once.

        With ``check`` false, what the names alone show to be wrong does not keep the files from being read.
        """
        if check:
            self.check()
        names = self.names
        found: dict[str, Any] = {}
        runs: dict[str, Run | RunSet] = {}
        queries: Queries | None = None
        with reading_files():
            if self.queries is not None:
                queries = attempt(partial(self._read_queries, self.queries))
            found |= self._evidence()
            for name, file in watch(list(zip(names, self.runs, strict=True)), "reading runs"):
                runs[name] = self._read_runs(file, name, watch)
            if self._background_run is None and not something_failed():
                found["background"] = attempt(partial(self._read_background, found["words"]))
            if self.against is not None:
                (name,) = run_names([self.against])
                found["against"] = self._read_run(self.against, name)
            found["evidence"] = [attempt(partial(self._read_table, table)) for table in self.tables]
            if queries is not None or self.queries is None:
                found["categories"] = attempt(partial(self._categories, queries))
        if self._background_run is not None:
            found["background"] = runs[self._background_run]
        if self.background is not None:
            found["background_depth"] = self.background.get("depth")
        if queries is not None:
            found["query_texts"] = dict(queries.texts) or None
            found["query_reasons"] = queries.reasons or None
            found["query_weights"] = queries.weights
            found["queries"] = self._known_queries(queries, runs, found)
        if self.documents is not None:
            found["documents"] = self._documents_file(self.documents)
        return Inputs(runs).with_known(**found)

    def _documents_file(self, documents: FileOption) -> DocumentsFile:
        from evenrank.io.documents import DocumentsFile

        return DocumentsFile(documents.path, documents.get("format"), self.document_columns)

    def _read_queries(self, path: str) -> Queries:
        from evenrank.io.queries import query_columns, read_queries

        return read_queries(path, columns=query_columns(self.columns))

    def _known_queries(
        self, queries: Queries, runs: Mapping[str, Any], found: Mapping[str, Any]
    ) -> list[str]:
        """Those that a run has or that are judged: a list of all topics must not count lists that none is."""
        known = _query_ids(runs, found)
        kept = [query for query in queries.distinct if query in known]
        lost = len(queries.distinct) - len(kept)
        if not kept and known:
            raise DataError(
                f"{queries.source}: none of its queries is in a run or judged: {few(queries.distinct)}"
            )
        if lost:
            self.notes.append(
                f"{queries.source}: {counted(lost, 'query is', 'queries are')} in no run and not judged, "
                "and not scored"
            )
        return kept

    def _categories(self, queries: Queries | None) -> Mapping[str, list[str]] | None:
        return None if self.by is None else categories_by(self.by, queries)

    def _evidence(self) -> dict[str, Any]:
        from evenrank.io import read_qrels
        from evenrank.io.counts import read_counts

        found: dict[str, Any] = {"qrels": None, "intents": None, "words": None, "polarity": None}
        for file in self.qrels:
            if file.get("clicks"):
                found["qrels"] = attempt(partial(self._clicked, file))
                continue
            if file.get("ratings"):
                found["qrels"] = attempt(partial(self._rated, file))
                continue
            by_intent = bool(file.get("intents"))
            columns = self._table_columns(file, INTENT_ROLES if by_intent else QRELS_ROLES)
            read = partial(
                read_qrels, file.path, diversity=by_intent, format=file.get("format"), columns=columns
            )
            found["intents" if by_intent else "qrels"] = attempt(
                partial(likely_intents, read, file.get("probabilities")) if by_intent else read
            )
        if self.polarity is not None:
            found["polarity"] = attempt(partial(read_polarity_of, self.polarity))
        if self.words is not None:
            found["words"] = attempt(partial(read_counts, self.words))
        elif self.lexicon is not None and self.documents is not None:
            found["words"] = attempt(partial(self._counted, self.documents, self.lexicon))
        found["groups"] = memberships(
            self.groups, self.targets, replace(self._group_sources(found["words"]), qrels=found["qrels"])
        )
        return found

    @property
    def clicked(self) -> bool:
        """Whether the judgements are made of clicks."""
        return any(file.get("clicks") for file in self.qrels)

    def _rated(self, file: FileOption) -> Qrels:
        from evenrank.io.ratings import read_ratings

        given = file.get("step")
        try:
            step = None if given is None else float(given)
        except ValueError:
            raise ParameterError(f"step must be a number > 0, got {given!r} in --qrels {file.path}") from None
        columns = self._table_columns(file, QRELS_ROLES)
        return read_ratings(file.path, step=step, format=file.get("format"), columns=columns)

    def _clicked(self, file: FileOption) -> Qrels:
        from evenrank.io.clicks import ETA, read_clicks

        given = file.get("eta")
        try:
            eta = ETA if given is None else float(given)
        except ValueError:
            raise ParameterError(f"{file.path}: eta is a number, as eta=0.7; got {given!r}") from None
        columns = {role: name for role, name in (self.columns or {}).items() if role not in TEXT_ROLES}
        judged, note = read_clicks(file.path, eta=eta, format=file.get("format"), columns=columns)
        self.notes.append(note)
        return judged

    def _counted(self, documents: FileOption, lexicon: str) -> WordCounts:
        """The words of the lexicon in the documents, for whoever did not count them before."""
        from evenrank.evidence.scan import scan
        from evenrank.io.lexicons import read_lexicon

        if documents.path == STDIN:
            raise ParameterError(
                "--documents are read twice, to count words and for their texts: give a file, not -"
            )
        self.notes.append(
            f"counted the words of {lexicon} in {documents.path}; evenrank scan keeps the counts in a file"
        )
        return scan(
            documents.path,
            read_lexicon(lexicon),
            columns=self.document_columns,
            format=documents.get("format"),
        )

    def _group_sources(self, words: WordCounts | None) -> GroupSources:
        named_once = self.columns or {}
        document = named_once.get("document") or named_once.get("id")
        if self.documents is None:
            return GroupSources(words=words, document=document)
        columns = self.document_columns
        named = None if columns is None or "id" not in columns else {"document": columns["id"]}
        return GroupSources(self.documents.path, self.documents.get("format"), named, words, document)

    @property
    def document_columns(self) -> dict[str, str] | None:
        """Those of the columns that the collection has."""
        from evenrank.io.column_names import document_columns

        if self.documents is None:
            return None
        return document_columns(self.columns, self.documents.path, DOCUMENT_ROLES)

    @property
    def shared_columns(self) -> dict[str, str]:
        from evenrank.io.column_names import SharedColumns

        return SharedColumns(self.columns or {})

    def _roles(self, roles: Sequence[str]) -> dict[str, str] | None:
        if self.columns is None:
            return None
        several = self._kinds_of_tables > 1
        given: Mapping[str, str] = self.shared_columns if several else self.columns
        kept = {role: name for role, name in given.items() if role in roles}
        return (type(self.shared_columns)(kept) if several else kept) or None

    def _table_columns(self, file: FileOption, roles: Sequence[str]) -> dict[str, str] | None:
        return self._roles(roles) if is_table(file) else None

    def _read_table(self, file: FileOption) -> Any:
        from evenrank.io.numbers import read_numbers

        return read_numbers(file.path, file.name or "", columns=self._roles(("query", "document")) or {})

    def _read_background(self, words: WordCounts | None) -> Run | WordCounts | list[str] | None:
        from evenrank.inputs.id_lists import lists_ids, read_ids

        file = self.background
        if file is None:
            return None
        if file.path == COLLECTION:
            if words is None:
                raise ParameterError(
                    "--background collection means the documents of --words: add --words FILE"
                )
            return words
        if file.get("format") is None and not is_table(file) and lists_ids(file.path):
            return read_ids(file.path, "document")
        return read_run_of(file, None, self._table_columns(file, RUN_ROLES))

    def _read_runs(self, file: FileOption, name: str, watch: Watch[Any]) -> Run | RunSet:
        """A run, or a folder of them as several rankings of the same queries."""
        from evenrank.data.runset import RunSet

        files = run_files(file.path)
        if files == [file.path]:
            return self._read_run(file, name)
        members = [FileOption(path, options=file.options) for path in files]

        def read() -> RunSet:
            with reading_files():
                draws = [
                    self._read_run(member, own)
                    for own, member in watch(
                        list(zip(run_names(members), members, strict=True)), f"reading {name}"
                    )
                ]
            return RunSet.build(draws, name=name)

        return attempt(read)

    def _read_run(self, file: FileOption, name: str) -> Run:
        return attempt(partial(read_run_of, file, name, self._table_columns(file, RUN_ROLES)))


def _query_ids(runs: Mapping[str, Any], found: Mapping[str, Any]) -> set[str]:
    """The queries that have a list or a judgement."""
    judged = [found[kind] for kind in ("qrels", "intents") if found.get(kind) is not None]
    return {query for source in (*runs.values(), *judged) for query in source.query_ids}
