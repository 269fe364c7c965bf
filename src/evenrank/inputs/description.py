"""Every input, declared once: what the command line and a project file may name, not yet read.

A field of ``Description`` is an option of each command that scores runs, a key of the project file
(``schema.py`` makes its tables of these fields), and, where it is no way of reading, a keyword of
``evaluate``, ``compare`` and the others. ``reading.py`` reads what is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypedDict

from evenrank.errors import ParameterError
from evenrank.inputs.file_options import (
    AGAINST,
    BACKGROUND,
    DOCUMENTS,
    INTENTS,
    POLARITY,
    QRELS,
    QUERIES,
    RUN,
    STDIN,
    TABLE,
    FileOption,
)
from evenrank.inputs.group_options import DOCUMENTS as OF_DOCUMENTS
from evenrank.inputs.group_options import WORDS, TargetOption, check_groups, groups_of, target_of
from evenrank.inputs.several_files import attempt, reading_files

if TYPE_CHECKING:
    from evenrank.inputs.inputs import Inputs
    from evenrank.measures import Measure

COLLECTION = "collection"
Columns = dict[str, str]
Watch = Callable[[Sequence[Any], str], Iterable[Any]]  # gives the items back, and shows how far they are


def unwatched(items: Sequence[Any], what: str) -> Iterable[Any]:
    return items


# How a file of each kind is read: the keys of its table in the project file, beside ``file``. They are the
# keywords of the function that reads it.
class FileTable(TypedDict):
    format: str
    columns: Columns


RunTable = TypedDict(
    "RunTable",
    {"format": str, "columns": Columns, "ties": Literal["trec", "file"], "class": str, "system": str},
)  # the last two are what tables of audits call it


class QrelsTable(TypedDict):
    format: str
    columns: Columns
    kind: Literal["grades", "clicks", "ratings"]
    eta: float
    step: float


class IntentsTable(TypedDict):
    format: str
    columns: Columns
    probabilities: str


class PolarityTable(TypedDict):
    format: str
    columns: Columns
    column: str
    positive: str
    negative: str
    neutral: tuple[str, ...]


class BackgroundTable(TypedDict):
    format: str
    columns: Columns
    ties: Literal["trec", "file"]
    depth: int


class QueriesTable(TypedDict):
    columns: Columns


class GroupsTable(TypedDict):
    column: str
    format: str
    columns: Columns
    values: tuple[str, ...]
    even: tuple[str, ...]
    ignore: tuple[str, ...]
    ordinal: bool
    bins: int | tuple[float, ...]
    unit: str
    multilabel: bool
    split: Literal["share", "full"]
    unlabelled: Literal["own"]
    votes: bool
    error: str
    intents: bool
    iteration: bool
    probabilities: str


class Arg(NamedTuple):
    """What the type of an option does not say."""

    help: str
    form: str | None = None  # what stands for the value in the help, as FILE
    short: str | None = None  # a second name, as -o
    read: Callable[[str], Any] | None = None  # makes the value of the text; a list of it adds several
    argument: bool = False  # named by its place, not by its name
    table: Any = FileTable  # how a file may be read


@dataclass(frozen=True)
class Description:
    """The names of all inputs, and how each is read."""

    runs: Annotated[
        tuple[FileOption, ...],
        Arg(
            "run file: TREC, CSV, TSV, JSONL or Parquet, also .gz and .zst; - reads stdin. NAME=FILE "
            "names it",
            "RUN",
            read=RUN.parse,
            argument=True,
            table=RunTable,
        ),
    ] = ()
    qrels: Annotated[
        FileOption | None, Arg("relevance judgements", "FILE", read=QRELS.parse, table=QrelsTable)
    ] = None
    intents: Annotated[
        FileOption | None,
        Arg("judgements by intent (TREC Web)", "FILE", read=INTENTS.parse, table=IntentsTable),
    ] = None
    words: Annotated[str | None, Arg("counts of group words, written by evenrank scan", "FILE")] = None
    groups: Annotated[
        tuple[FileOption, ...],
        Arg(
            "groups of documents: an attribute and its file, fields of --documents (seller,country), or "
            "NAME=words for those of the word counts; may be repeated. Behind it: :column=NAME, :ordinal, "
            ":values=a,b, :even=BOTH (belong equally to all) and :bins=4 or :bins=10,50 (of numbers)",
            "NAME=FILE",
            read=groups_of,
            table=GroupsTable,
        ),
    ] = ()
    target: Annotated[
        tuple[TargetOption, ...],
        Arg(
            "the share that each group should get: uniform (default), present, pool, relevance, collection, "
            "shares by value (f:0.4,m:0.6) or in order (0.5,0.3,0.2), or a file of shares; may be repeated",
            "NAME=TARGET",
            read=target_of,
        ),
    ] = ()
    polarity: Annotated[
        FileOption | None,
        Arg(
            "scores of opinion, written by evenrank polarise",
            "FILE",
            read=POLARITY.parse,
            table=PolarityTable,
        ),
    ] = None
    background: Annotated[
        FileOption | None,
        Arg(
            "the documents that NFaiRR and NSetFaiRR are normalised by: a run (one of the runs by name, or a "
            "file; its first 200 documents, or :depth=N), a list of document ids, or 'collection' for all "
            "documents of --words. Default: the run itself, if there is only one",
            "FILE",
            read=BACKGROUND.parse,
            table=BackgroundTable,
        ),
    ] = None
    against: Annotated[
        FileOption | None,
        Arg("the second run for measures of a pair, such as RBO", "RUN", read=AGAINST.parse),
    ] = None
    table: Annotated[
        tuple[FileOption, ...],
        Arg(
            "numbers of documents for SortBy(field='NAME.column'): a table with a column of documents and "
            "columns of numbers; may be repeated",
            "NAME=FILE",
            read=TABLE.parse,
        ),
    ] = ()
    documents: Annotated[
        FileOption | None,
        Arg(
            "the documents: their fields can be groups, their texts are shown and ranked",
            "FILE",
            read=DOCUMENTS.parse,
        ),
    ] = None
    queries: Annotated[
        FileOption | None,
        Arg(
            "the queries to score: a table with a column query and perhaps text, categories and weight, "
            "lines of an id (and a text behind a tab), or XML topics. Default: the judged ones, or the run's",
            "FILE",
            read=QUERIES.parse,
            table=QueriesTable,
        ),
    ] = None
    by: Annotated[
        str | None,
        Arg(
            "split results by category of query: columns of the queries, or a table of query and category",
            "COLUMN,..",
        ),
    ] = None
    missing: Annotated[
        Literal["error", "neutral", "none", "uniform", "undefined", "drop"] | None,
        Arg(
            "documents that lack evidence: an error (default for words), neutral (no group words), none (of "
            "no group; default for shares), uniform (of all groups equally; default for most measures of "
            "groups), undefined (a list of such documents alone has no value), or left out of the list (drop)"
        ),
    ] = None
    lexicon: Annotated[
        str | None,
        Arg("a word list, by name or file, whose words are counted in --documents without --words", "NAME"),
    ] = None
    notes: list[str] = field(default_factory=list)  # what there is to say of the inputs, filled by ``read``

    @property
    def names(self) -> list[str]:
        """What the runs are called."""
        from evenrank.inputs.run_names import run_names

        return run_names(self.runs)

    @property
    def clicked(self) -> bool:
        """Whether the judgements are made of clicks."""
        return self.qrels is not None and self.qrels.get("kind") == "clicks"

    def files(self) -> list[str]:
        """Every file that is read."""
        return [path for path in self._files() if path is not None]

    def _files(self) -> Iterator[str | None]:
        background = self.background
        if background is not None and (background.path == COLLECTION or self.background_run is not None):
            background = None
        named = (*self.runs, self.qrels, self.intents, self.polarity, self.against, *self.table)
        for file in (*named, self.documents, self.queries, background):
            yield None if file is None else file.path
        yield self.words
        if self.by is not None and Path(self.by).exists():
            yield self.by
        yield from (group.path for group in self.groups if group.path not in (OF_DOCUMENTS, WORDS))
        yield from (target.path for target in self.target)

    @property
    def background_run(self) -> str | None:
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
            attempt(self._check_stdin)
            attempt(partial(check_groups, self.groups, self.target))
            attempt(lambda: self.names)  # which says what is wrong with them

    def _check_stdin(self) -> None:
        if self.files().count(STDIN) > 1:
            raise ParameterError("standard input (-) can stand for one file only")

    def read(self, watch: Watch = unwatched, *, check: bool = True) -> Inputs:
        """Everything read, checked and named; all bad files are reported at once.

        With ``check`` false, what the names alone show to be wrong does not keep the files from being read.
        """
        from evenrank.inputs.reading import read_inputs

        if check:
            self.check()
        return read_inputs(self, watch)
