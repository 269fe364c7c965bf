"""Why a list has its score, as a value that prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from evenrank.measures import Measure
from evenrank.scores.notes import ScoresNote
from evenrank.tables import Table, plain


class FoundTerm(NamedTuple):
    """A term of the lexicon that stands in a document, its group, and how often it stands there."""

    term: str
    group: str
    times: int


@dataclass(frozen=True)
class DocumentFacts:
    """What the evidence says of one document; None where it says nothing."""

    grade: float | None = None
    intents: dict[str, float] | None = None
    counts: dict[str, int] | None = None
    tokens: int | None = None
    terms: tuple[FoundTerm, ...] | None = None
    neutrality: float | None = None
    other: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RankedDocument:
    """One rank of the list.

    ``adds`` is what it adds to the value, where the measure says so; else ``change_without`` is how much
    each column of the value changes when the document is left out and the list closes up. ``best_rank`` is
    where it stands in the best order of the documents that count.
    """

    rank: int
    document: str
    counts_in: bool  # False for a document that the measure leaves out
    known: DocumentFacts
    adds: float | None = None
    change_without: Mapping[str, float] | None = None
    best_rank: int | None = None


@dataclass(frozen=True)
class BestOrder:
    """The best order of the documents that count, its value, and whether it is known to be the best."""

    documents: tuple[str, ...]
    value: float
    exact: bool
    how: str


@dataclass(frozen=True)
class Ideal:
    """Documents in their best order, the value of that list, where they are from and how many there are."""

    documents: tuple[str, ...]
    value: float
    source: str
    among: int


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why one list has its score: what each rank holds and adds, and what the best order would be.

    ``values`` and ``statuses`` are by column; a measure with one value has the column ``""``. ``documents``
    are the ranks that are shown, ``counting`` says how many count in all.
    """

    run: str
    query: str
    measure: Measure
    values: Mapping[str, float]
    statuses: Mapping[str, str]
    documents: tuple[RankedDocument, ...]
    counting: int
    best: BestOrder | None = None
    ideal: Ideal | None = None
    said: tuple[ScoresNote, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)  # what people see; of the measure under ""

    @property
    def name(self) -> str:
        """What the measure is called where people read it."""
        return self.labels.get("") or repr(self.measure)

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be known to read the value, in words."""
        return tuple(map(str, self.said))

    @property
    def value(self) -> float:
        """The value; of a measure with several columns, the first."""
        return next(iter(self.values.values()))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON: what is undefined is None, what is infinite is a word."""
        return {
            "run": self.run,
            "query": self.query,
            "measure": repr(self.measure),
            "direction": self.measure.direction.value,
            "values": plain(self.values),
            "statuses": dict(self.statuses),
            "counting": self.counting,
            "documents": [_plain_document(document) for document in self.documents],
            "best": None if self.best is None else plain(asdict(self.best)),
            "ideal": None if self.ideal is None else plain(asdict(self.ideal)),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return self.to_table().to_text()

    def _repr_html_(self) -> str:
        return self.to_table().to_html()

    def to_table(self, *, all_notes: bool = False) -> Table:
        """One row for each rank: what is known of the document, and what it does to the value; beneath it
        ``all_notes``, or those that change how the value is to be read."""
        from evenrank.explanation.render import explanation_table

        return explanation_table(self, all_notes=all_notes)


def _plain_document(document: RankedDocument) -> dict[str, Any]:
    facts = asdict(document)
    known = facts.pop("known")
    if document.known.terms is not None:
        known["terms"] = [term._asdict() for term in document.known.terms]
    return plain(facts | known)  # type: ignore[no-any-return]
