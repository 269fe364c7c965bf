"""What a measure is: a declaration that says everything about it, and a kernel over arrays."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.data.evidence_source import Evidence
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import Term, integer, parameter
from evenrank.measures.sums import padded_sum

EXTREMES = ("min", "max")  # aggregations over queries for which an infinite value is the worst there is
JUDGEMENTS = frozenset({"relevance", "intents"})
OF_THE_LIST = JUDGEMENTS | {"documents", "scores"}  # what no document can lack

EMPTY_LIST, NOT_JUDGED, NO_RELEVANT = "empty list", "not judged", "no relevant document"
NO_TARGET = "no target"
REASONS = {
    EMPTY_LIST: "the run has no documents for the query",
    NOT_JUDGED: "the query has no judgements",
    NO_RELEVANT: "no judged document of the query is relevant",
    NO_TARGET: "the query has no target: none is given for it, or its pool has no labelled document, or no "
    "relevant one",
}


def reasons(*names: str) -> dict[str, str]:
    """Why many measures have no value, with what each reason means."""
    return {name: REASONS[name] for name in names}


class Direction(enum.Enum):
    """What a larger value means."""

    HIGHER = "higher is better"
    LOWER = "lower is better"
    SIGNED = "signed: 0 is even, the sign says which side"
    DISTANCE = "a distance between two rankings"
    NONE = "neither high nor low is better"


@dataclass(frozen=True)
class Note:
    """What a reader of the values must know, with numbers that add up over blocks of queries.

    ``text`` may hold ``{count}``, ``{of}``, ``{total}``, ``{most}`` and ``{least}``; counts and totals are
    added, of ``most`` the largest stays and of ``least`` the smallest.
    """

    text: str
    count: int = 0
    of: int = 0
    most: float = 0.0
    total: float = 0.0
    least: float = math.inf

    def __str__(self) -> str:
        return self.text.format(
            count=f"{self.count:,}",
            of=f"{self.of:,}",
            most=f"{self.most:.1e}",
            total=f"{self.total:,.6g}",
            least=f"{self.least:,.6g}",
        )

    @staticmethod
    def merged(notes: Iterable[Note]) -> tuple[Note, ...]:
        """Notes of the same text as one."""
        found: dict[str, Note] = {}
        for note in notes:
            old = found.get(note.text, Note(note.text))
            found[note.text] = Note(
                note.text,
                old.count + note.count,
                old.of + note.of,
                max(old.most, note.most),
                old.total + note.total,
                min(old.least, note.least),
            )
        return tuple(found.values())


@dataclass(frozen=True)
class Result:
    """Values of one measure: (Q,), or (Q, C) with the names of the C columns.

    ``undefined`` maps a reason to the queries (and columns) where it holds; the first reason counts.
    What is neither finite nor declared undefined is reported as infinite. ``unlabelled`` marks the queries
    whose lists have no labelled document, and a value nevertheless. ``bounds`` are the smallest and the
    largest value for these groups and targets, where the measure's own range is wider.
    """

    values: Floats
    undefined: Mapping[str, Bools] = field(default_factory=dict)
    columns: tuple[str, ...] = ("",)
    notes: tuple[Note, ...] = ()
    unlabelled: Bools | None = None  # (Q,)
    bounds: tuple[float, float] | None = None


class MeasureClass(type):
    """Lets the name of a measure stand for it with its default parameters: ``nDCG @ 10``, ``0.5 * RR``."""

    def __matmul__(cls, cutoff: int) -> Any:
        return cls() @ cutoff

    def __mul__(cls, weight: object) -> Any:
        return cls() * weight

    __rmul__ = __mul__

    def __add__(cls, other: object) -> Any:
        return cls() + other


@dataclass(frozen=True, repr=False)
class Measure(Term, metaclass=MeasureClass):
    """A pure function of evidence aligned to ranks. Subclass, declare, and write ``compute``.

    The class docstring is the measure's page. Its first paragraph says in plain words what is measured and
    what the ends of the range mean; then come the symbols, where it differs from its paper, and a paragraph
    that says when to use it, in the words of somebody who does not know its name.
    ``needs`` names the arrays that ``compute`` reads (see ``evidence.align``).
    """

    kind: ClassVar[str] = "measure"
    family: ClassVar[str] = ""
    in_words: ClassVar[str] = ""  # a few words for readers who never read the paper, as "relevance" for nDCG
    direction: ClassVar[Direction] = Direction.NONE
    reference: ClassVar[str] = ""
    formula: ClassVar[str] = ""
    undefined_when: ClassVar[Mapping[str, str]] = {}
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    aggregation: ClassVar[str] = "mean"
    needs_cutoff: ClassVar[bool] = False
    takes_cutoff: ClassVar[bool] = True
    looks_below_cutoff: ClassVar[bool] = False
    by_value: ClassVar[bool] = False  # has a column for each value of an attribute, and that is its own side
    weighs_queries: ClassVar[bool] = False  # its mean uses the weights of queries, as a verdict does
    over_queries: ClassVar[bool] = False  # one value for all queries together, not one for each
    ideal_depends_on_ids: ClassVar[bool] = False  # where ties among judged documents go by id

    cutoff: int | None = parameter(None, integer(1, optional=True), "how many ranks count")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cutoff is not None and not self.takes_cutoff:
            raise ParameterError(f"{self.name} takes no cut-off, got @{self.cutoff}")

    def settled(self, sources: Mapping[str, Evidence]) -> Measure:
        """This measure with what it leaves open decided by the evidence there is, as ``attr=None``."""
        nested = {field.name: getattr(self, field.name) for field in self.parameters()}
        changed = {
            name: value.settled(sources) for name, value in nested.items() if isinstance(value, Measure)
        }
        return dataclasses.replace(self, **changed) if changed else self  # type: ignore[arg-type]

    def check(self) -> None:
        """What can only be said of a measure about to be used: a nested one may lack its cut-off."""
        if not self.name:
            raise ParameterError(f"{type(self).__name__} is not declared: put @declare above the class")
        if self.needs_cutoff and self.cutoff is None:
            raise ParameterError(f"{self.name} needs a cut-off, as in {self.name}@10")

    @property
    def needs(self) -> frozenset[str]:
        """The arrays that ``compute`` reads, as ``block.evidence``."""
        raise NotImplementedError(f"{type(self).__name__} does not declare its needs")

    @property
    def depth(self) -> int | None:
        """How many ranks must be gathered; None is all. A measure that drops documents needs all."""
        return None if getattr(self, "missing", "") == "drop" else self.cutoff

    @property
    def judged_by(self) -> frozenset[str]:
        """The kinds of judgements it needs: its queries are then the judged ones rather than the run's."""
        return frozenset(need.partition(".")[2] for need in self.needs) & JUDGEMENTS

    @property
    def welcomes_judgements(self) -> bool:
        """True where judgements change it if there are any, though it does without."""
        return False

    def range(self) -> tuple[float, float]:
        """The smallest and the largest value there can be, for these parameters."""
        return self.bounds

    def range_of(self, values: Floats) -> tuple[float, float]:
        """The range for intervals over these values; narrower where they show that not all of it applies."""
        return self.range()

    def parts(self) -> Iterator[Measure]:
        """The measures that look at evidence themselves: this one, or what it is made of."""
        yield self

    def evaluate(self, evidence: RankedEvidence) -> Result:
        """``compute`` on what this measure's own rule leaves: documents dropped, lists cut."""
        return self.compute(self.prepared(evidence))

    def prepared(self, evidence: RankedEvidence) -> RankedEvidence:
        evidence = evidence.cut(self.depth)
        if getattr(self, "missing", "") != "drop":
            return evidence
        for need in sorted(self.needs):
            block, _, name = need.partition(".")
            if block == "ranked" and name in evidence.ranked and name not in OF_THE_LIST:
                evidence = evidence.compact(evidence.ranked.known(name))
        return evidence.cut(self.cutoff)

    def takes_part(self, evidence: RankedEvidence) -> Bools:
        """(Q, K): the ranked documents that count at all; others need no evidence."""
        return evidence.ranked.mask

    def undefined(self, evidence: RankedEvidence) -> dict[str, Bools]:
        """The queries that have no value, by reason."""
        return {EMPTY_LIST: evidence.ranked.lengths == 0} if EMPTY_LIST in self.undefined_when else {}

    def compute(self, evidence: RankedEvidence) -> Result:
        """Values for all queries at once; of a measure that says what each rank adds, the sums of that.
        ``evidence`` is cut to ``depth``."""
        parts = self.explain(evidence)
        if parts is None:
            raise NotImplementedError(f"{type(self).__name__} has no kernel")
        return Result(padded_sum(parts), self.undefined(evidence))

    def goodness(self, value: float) -> float:
        """The value turned so that larger is better; of a signed measure 0 is best."""
        if self.direction is Direction.SIGNED:
            return -abs(value)
        return -value if self.direction is Direction.LOWER else value

    def turned(self) -> Measure | None:
        """The form of this measure whose better end is the other one, where it has such a form."""
        return None

    def aggregate(self, values: Floats) -> Floats:
        """One number for many queries, along the last axis. Only defined, finite values come here."""
        return np.mean(values, axis=-1)  # type: ignore[no-any-return]

    def explain(self, evidence: RankedEvidence) -> Floats | None:
        """(Q, K): what each rank adds to the value, where the measure can say so."""
        return None

    def __mul__(self, weight: object) -> Measure:
        from evenrank.measures.combined import Product, WeightedSum

        if isinstance(weight, MeasureClass):
            weight = weight()
        if isinstance(weight, Measure):
            return Product(factors=(*_factors(self), *_factors(weight)))
        if isinstance(weight, bool) or not isinstance(weight, (int, float)):
            return NotImplemented
        return WeightedSum(terms=tuple((weight * own, measure) for own, measure in _terms(self)))

    __rmul__ = __mul__

    def __add__(self, other: object) -> Measure:
        from evenrank.measures.combined import WeightedSum

        if isinstance(other, MeasureClass):
            other = other()
        if not isinstance(other, Measure):
            return NotImplemented
        return WeightedSum(terms=(*_terms(self), *_terms(other)))

    @classmethod
    def summary(cls) -> str:
        """The first paragraph of the docstring: what it measures, and what the ends of its range mean."""
        return (inspect.getdoc(cls) or "").partition("\n\n")[0].replace("\n", " ")

    @classmethod
    def use(cls) -> str:
        """What it is for, as its docstring says under "When to use:", without its neighbours."""
        words = " ".join(
            (inspect.getdoc(cls) or "").partition("When to use: ")[2].partition(">>>")[0].split()
        )
        return words.partition("; ")[0].partition(". ")[0].rstrip(".")

    @classmethod
    def describe(cls) -> dict[str, Any]:
        """The whole declaration as plain data, for the command line and the docs."""
        return {
            "name": cls.name,
            "family": cls.family,
            "summary": cls.summary(),
            "answers": [cls.use()],
            "formula": cls.formula,
            "direction": cls.direction.value,
            "aggregation": cls.aggregation,
            "parameters": cls.describe_parameters(),
            "undefined when": dict(cls.undefined_when),
            "reference": cls.reference,
            "text": (inspect.getdoc(cls) or "").partition("\n\n")[2],
        }


def _terms(measure: Measure) -> tuple[tuple[float, Measure], ...]:
    terms: tuple[tuple[float, Measure], ...] = getattr(measure, "terms", ((1.0, measure),))
    return terms


def _factors(measure: Measure) -> tuple[Measure, ...]:
    if hasattr(measure, "terms"):
        raise ParameterError(f"a product is of single measures, not of the sum {measure!r}")
    factors: tuple[Measure, ...] = getattr(measure, "factors", (measure,))
    return factors
