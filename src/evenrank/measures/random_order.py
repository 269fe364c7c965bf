"""What a measure would be if its list stood in random order: the part that no ranker is answerable for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, integer, parameter, term_of
from evenrank.measures.base import EMPTY_LIST, Direction, Measure, Note, Result
from evenrank.measures.neutrality import FaiRR
from evenrank.measures.sums import padded_sum

FAIRR = FaiRR()
UNDEFINED = "measure undefined"
ONE_ORDER = "one order has a value"
SOME_ORDERS = (
    "for {count} of {of} queries the measure is undefined for some of the orders that were drawn; the mean "
    "is over the others"
)


@declare
class RandomOrder(Measure):
    """The mean of another measure over random orders of the whole list, with its standard error. 0 and 1 mean
    what they mean in that measure.

    The list to its full depth is the pool that is shuffled; backgrounds, ideals and targets stay as they
    are. For FaiRR over the background, ``SetFaiRR`` is the same in closed form.

    When to use: for the random baseline of any measure, what chance gives; prefer NFaiRR or DUO, which are
    normalised already.
    """

    in_words = "value of a random order"
    family = "combined"
    formula = "E[measure@k] over uniformly random orders of the list, from `samples` draws"
    reference = (
        "Rekabsaz, Kopeinik and Schedl 2021 (nfairc-advbert-2021), section 4 (the "
        "ranker-agnostic value), for any measure"
    )
    direction = Direction.NONE
    looks_below_cutoff = True  # the whole list is the pool
    bounds = (-np.inf, np.inf)
    undefined_when: ClassVar[dict[str, str]] = {
        EMPTY_LIST: "the run has no documents for the query",
        UNDEFINED: "the measure is undefined for every order that was drawn",
        ONE_ORDER: "the standard error, where the measure is defined for one of the orders that were drawn",
    }

    measure: Measure = parameter(FAIRR, term_of("measure"), "what is averaged, without its cut-off")
    samples: int = parameter(1000, integer(2), "how many orders are drawn")
    seed: int = parameter(0, integer(0), "of the draws")

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.measure, RandomOrder):
            raise ParameterError(f"RandomOrder: measure must not be RandomOrder itself, got {self.measure!r}")

    @property
    def needs(self) -> frozenset[str]:
        return self.measure.needs

    depth = None

    def parts(self) -> Iterator[Measure]:
        yield from self.measure.parts()

    def compute(self, evidence: RankedEvidence) -> Result:
        inner = self.measure if self.cutoff is None else self.measure @ self.cutoff
        if inner.over_queries:
            raise ParameterError(f"{self!r}: {inner!r} is one value for all queries; it takes one for each")
        generator = np.random.default_rng(self.seed)
        # one row a rank, so that a list has the same draws whatever the longest one is
        keys = generator.random((evidence.ranked.depth, self.samples)).T  # (samples, K)
        values = np.empty((self.samples, len(evidence)))
        defined = np.ones((self.samples, len(evidence)), dtype=bool)
        for draw, row in enumerate(keys):
            result = inner.evaluate(evidence.shuffled(row))
            if result.values.ndim > 1:
                raise ParameterError(
                    f"{self!r}: {inner!r} has several columns; it takes measures with one value"
                )
            values[draw] = result.values
            for where in result.undefined.values():
                defined[draw] &= ~where
        defined &= ~np.isnan(values)
        count = defined.sum(axis=0)  # (Q,) orders that have a value
        whole = np.where(defined, values, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):  # no order has a value, or one is infinite
            mean = padded_sum(whole, axis=0) / count
            squares = padded_sum(np.where(defined, (whole - mean) ** 2, 0.0), axis=0)
            error = np.sqrt(squares / (count - 1) / count)
        empty = evidence.ranked.lengths == 0
        reasons = {
            EMPTY_LIST: np.stack([empty, empty], axis=1),
            UNDEFINED: np.stack([count == 0, count == 0], axis=1),
            ONE_ORDER: np.stack([np.zeros_like(empty), count == 1], axis=1),
        }
        some = int(((count > 0) & (count < self.samples)).sum())
        notes = (Note(SOME_ORDERS, some, len(evidence)),) if some else ()
        return Result(np.stack([mean, error], axis=1), reasons, ("mean", "error"), notes)
