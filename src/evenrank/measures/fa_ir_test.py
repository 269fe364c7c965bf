"""FA*IR's question to a list: could chance have made it, if protected documents had their share?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from evenrank.arrays import Floats, Int64s
from evenrank.data.attribute import Attribute
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, flag, number, parameter, text
from evenrank.measures.base import Direction, Note, Result
from evenrank.measures.count_tests import FRACTIONAL, FRACTIONAL_MEANS
from evenrank.measures.groups import EMPTY_LIST_MEANS, NO_TARGET, NO_TARGET_MEANS
from evenrank.measures.minimum_table import failure_probability, table_of
from evenrank.measures.neutrality import EMPTY_LIST
from evenrank.measures.prefixes import FLOOR_TOLERANCE, PrefixShareMeasure

RANKS_SHOWN = 20


@declare
class FA_IR_Test(PrefixShareMeasure):
    """Whether a list passes FA*IR's test of ranked group fairness, with one column for each group that is
    taken as protected. 1 means that at every rank it has as many protected documents as chance would leave; 0
    means that at some rank it has fewer.

    A fair list takes each document from the protected with probability p, and m(i) is the smallest m with
    ``F(m; i, p) > alpha``, F binomial. A note prints these minima, the m-table, and how often a fair list
    fails: tests at every rank fail together more often than one of them, at k = 10 with p = 0.5 in 13% of
    fair lists for an alpha of 10%. ``adjust=True`` lowers alpha until all together fail at most by alpha.
    Without ``p`` it is the target share of the group, without ``protected`` each group in turn. The mean over
    queries is the share of lists that pass. Use it for a yes or no at every rank; prefer InfeasibleIndex for
    a quota without a test, and BinomialTest for one cut-off. The re-ranker FA_IR makes lists that pass.

    When to use: for a yes or no about one protected group at every rank; prefer InfeasibleIndex for how
    often, and AWRF for how far.
    """

    in_words = "passes the FA*IR test"
    answers = (
        "is this list fair by the test of FA*IR, ranked group fairness",
        "does every prefix have enough protected documents",
    )
    formula = "1 if n(i) >= m(i) for all i <= min(k, n), else 0; m(i) = min{m: F(m; i, p) > alpha}"
    reference = "Zehlike et al. 2017, FA*IR: a fair top-k ranking algorithm, CIKM, Definitions 2-4"
    direction = Direction.HIGHER
    by_value = True
    undefined_when: ClassVar[Mapping[str, str]] = {
        EMPTY_LIST: EMPTY_LIST_MEANS,
        NO_TARGET: NO_TARGET_MEANS,
        FRACTIONAL: FRACTIONAL_MEANS,
    }

    protected: str | None = parameter(None, text(optional=True), "the value that is protected; None: each")
    p: float | None = parameter(
        None, number(0, 1, open_low=True, open_high=True, optional=True), "minimum share; None: the target"
    )
    alpha: float = parameter(0.1, number(0, 1, open_low=True, open_high=True), "significance of the test")
    adjust: bool = parameter(False, flag(), "alpha is for all tests of a list together, not for each")

    def check_attribute(self, attribute: Attribute) -> None:
        super().check_attribute(attribute)
        if self.protected is not None and self.protected not in attribute.values:
            raise ParameterError(
                f"{self!r}: {self.protected!r} is not a value of {attribute.name!r}: {attribute.listed()}"
            )

    def compute(self, evidence: RankedEvidence) -> Result:
        names = self.value_names(evidence)
        columns = [names.index(self.protected)] if self.protected is not None else [*range(len(names))]
        membership = self.membership(evidence)  # (Q, K, L)
        have = np.cumsum(membership[:, :, columns], axis=1)  # (Q, K, C)
        shares = self.target_shares(evidence)[:, columns]  # (Q, C)
        if self.p is not None:
            shares = np.full(shares.shape, self.p)
        lengths, mask = evidence.ranked.lengths, evidence.ranked.mask
        passed = np.ones(shares.shape)
        notes: list[Note] = []
        for place, column in enumerate(columns):
            minima = self._minima(shares[:, place], lengths, evidence.ranked.depth)
            short = (have[:, :, place] < minima - FLOOR_TOLERANCE) & mask
            passed[:, place] = ~np.asarray(short.any(axis=1))
            notes += self._table_note(names[column], shares[:, place], lengths)
        reasons = self.undefined(evidence)
        undefined = {EMPTY_LIST: reasons[EMPTY_LIST][:, None]}
        undefined[NO_TARGET] = reasons[NO_TARGET][:, None] & (self.p is None)
        undefined[FRACTIONAL] = np.asarray(((membership != 0) & (membership != 1)).any(axis=(1, 2)))[:, None]
        return Result(passed, undefined, tuple(names[column] for column in columns), tuple(notes))

    def _minima(self, shares: Floats, lengths: Int64s, depth: int) -> Int64s:
        """(Q, K): how many protected documents the first i must have; 0 behind the list."""
        minima = np.zeros((len(shares), depth), dtype=np.int64)
        kinds, which = np.unique(np.stack([lengths, shares], axis=1), axis=0, return_inverse=True)
        for kind, (count, share) in enumerate(kinds.tolist()):
            minima[which.ravel() == kind, : int(count)] = table_of(int(count), share, self.alpha, self.adjust)
        return minima

    def _table_note(self, name: str, shares: Floats, lengths: Int64s) -> list[Note]:
        """The m-table, where there is one for all queries."""
        found = np.unique(shares)
        ranks = self.cutoff or int(lengths.max(initial=0))
        if len(found) != 1 or not 0 < found[0] < 1 or not ranks:
            return []
        table = table_of(ranks, float(found[0]), self.alpha, self.adjust)
        fails = failure_probability(np.array(table), float(found[0]))
        more = "" if ranks <= RANKS_SHOWN else f" (the first {RANKS_SHOWN})"
        return [
            Note(
                f"m-table for {name!r}, p = {found[0]:.4g}, ranks 1 to {ranks}: "
                f"{' '.join(map(str, table[:RANKS_SHOWN]))}{more}; "
                f"a fair list fails with probability {fails:.2g}"
            )
        ]
