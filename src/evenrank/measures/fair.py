"""Fairness-aware relevance: what each rank adds to utility, divided by how unfair the list is so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np

from evenrank import attention
from evenrank.arrays import Bools, Floats, Int64s
from evenrank.attention import Attention
from evenrank.data.attribute import Attribute
from evenrank.data.evidence_source import Evidence
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import ParameterRule, choice, declare, flag, make, number, parameter, term_of
from evenrank.measures.base import (
    EMPTY_LIST,
    NO_RELEVANT,
    NO_TARGET,
    NOT_JUDGED,
    Direction,
    Measure,
    Note,
    Result,
    reasons,
)
from evenrank.measures.combined import WeightedSum
from evenrank.measures.divergences import MAX, OF_PREFIXES, OF_SHARES, RATIO, prefix_distances
from evenrank.measures.diversity import ERR_IA, alpha_nDCG
from evenrank.measures.evidence_attention import attention_parameter
from evenrank.measures.fair_lists import (
    BY_DOCUMENT,
    BY_GROUP,
    JUDGED_ONLY,
    NAMES,
    ListArrays,
    ideal_by_document,
    ideal_by_group,
    rank_gains,
    smallest_grade,
    worth_of_grades,
)
from evenrank.measures.greedy import greedy_order
from evenrank.measures.groups import check_divergence
from evenrank.measures.prefixes import NO_GROUP, PrefixShareMeasure, prefix_notes
from evenrank.measures.relevance import nDCG, without_judgements
from evenrank.measures.sums import divide, padded_sum

DEFAULT_IRM: Measure = make(alpha_nDCG, {})  # type: ignore[assignment]
IRM = ParameterRule(f"a measure, as {NAMES}", term_of("measure").accept)
BOTH, UTILITY, FAIRNESS, COLUMNS = "both", "utility", "fairness", "columns"
EVEN_WEIGHT = 0.5
OWN_RELEVANCE = (
    "relevance is that of the ranking itself, so what an order loses of it is not seen: judgements show that"
)
NOTHING_TO_GAIN = "the ideal is 0"
COUNTED_TWICE = (
    "{} itself rewards documents of new groups of {!r}, so balance between these groups counts in relevance "
    "and in fairness; irm=nDCG counts it once"
)
UNSMOOTHED = (
    "smoothing=0 makes the distance infinite as long as a group that has a target is absent, which it always "
    "is at the first ranks where each document belongs to one group: such ranks add nothing"
)


@declare
class FAIR(PrefixShareMeasure):
    """How relevant and how fair the list is in one number: relevance counts less at every rank where the
    groups seen so far differ from the target. 0 means that nothing is relevant; 1 means that the list is
    ideal and matches the target at every rank.

    The name stands for fairness-aware relevance: the sum of what ranks add to a relevance measure, each
    divided by 1 + KL. The relevance of a document to a group is its relevance times its share of the group.
    Without judgements the ranking itself stands in for them: the document at rank r has grade 1/log2(1 + r).
    Where a prefix has no group, its rank counts undivided. The ideal is over the judged documents, over those
    of the list without judgements. ``whole`` divides the whole measure once, by the divergence of the whole
    list; any measure of relevance or diversity can be taken then. ``reachable`` divides by what the greedy
    order of the list's documents reaches, since no order may be wholly fair. That order, and the ideal of
    alpha_nDCG, are greedy and can fall short of the best, so values just above 1 are possible.

    ``part='utility'`` is the sum without the divisors, ``part='fairness'`` the mean of 1 / (d_i + 1) over the
    ranks whose prefix has a group, and ``part='columns'`` shows FAIR beside both. ``weight`` moves between
    them: 0 is fairness alone (no judgements are needed), 0.5 is FAIR, 1 is utility alone. Between 0.5 and 1
    it is ``(2c - 1) utility + (2 - 2c) FAIR``, between 0 and 0.5 ``2c FAIR + (1 - 2c) fairness``; the paper
    asks for such a weight and leaves its form open. ``div='ratio'`` is the largest ratio between what a group
    has and what it should have, minus 1, after ``smoothing`` documents were added to both; ``div='exposure'``
    is the sum of squared differences between shares of attention and the target.

    When to use: to have relevance and fairness at every rank in one number, with ``part='columns'`` before
    a decision; prefer nDCG and GF beside each other where the two should be told apart, nDRKL where relevance
    should not count, and GFR where there are several attributes.
    """

    in_words = "relevant and fair"
    formula = (
        "1/M sum_{i<=k} IRM_i / (KL(D_i || D*) + 1), M the same sum of an ideal list without the divisor"
    )
    reference = "Gao, Ge and Shah 2021 (fair-2021), Eqs. 1 and 6"
    direction = Direction.HIGHER
    undefined_when: ClassVar[Mapping[str, str]] = {
        **reasons(NOT_JUDGED, NO_RELEVANT),
        EMPTY_LIST: "the run has no documents for the query, and there are no judgements",
        **reasons(NO_TARGET),
        NOTHING_TO_GAIN: "no relevant document has a group; with reachable=True, the list has none that has",
        NO_GROUP: "no document of the list has any value of the attribute, and fairness alone is asked for",
    }

    irm: Measure = parameter(DEFAULT_IRM, IRM, "the relevance measure")
    div: str = parameter(
        "KL", choice(*OF_SHARES, *OF_PREFIXES), "distance of the groups so far from the target"
    )
    whole: bool = parameter(False, flag(), "divide the whole measure once, not rank by rank")
    reachable: bool = parameter(False, flag(), "divide by what the greedy order of the documents reaches")
    pseudo: bool | None = parameter(
        None, flag(optional=True), "relevance from the ranking; None: where there are no judgements"
    )
    weight: float = parameter(EVEN_WEIGHT, number(0, 1), "of utility: 0 is fairness alone, 1 utility alone")
    part: str = parameter(
        BOTH,
        choice(BOTH, UTILITY, FAIRNESS, COLUMNS),
        "FAIR, one of the two parts that it has, or all three as columns",
    )
    smoothing: float = parameter(0.5, number(0), "documents added to every group, for div='ratio'")
    attention: Attention = attention_parameter(more=", for div='exposure'")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_parameters()
        for name, holds in (
            ("needs_cutoff", self.irm.needs_cutoff and self.irm.cutoff is None and not self.alone),
            ("looks_below_cutoff", bool(self.own_order or self.reachable or self._irm_looks_deeper)),
            ("ideal_depends_on_ids", isinstance(self.irm, alpha_nDCG) and not self.pseudo),
        ):
            object.__setattr__(self, name, holds)  # what is so for some relevance measures only

    def _check_parameters(self) -> None:
        """Refuse parameters that do not go together, and say what to do instead."""
        irm, split = self.irm, self.part != BOTH or self.weight != EVEN_WEIGHT
        of_sums = isinstance(irm, BY_GROUP + BY_DOCUMENT)
        by_rank = not self.whole
        for wrong, way_out in (
            (
                self.whole and (self.pseudo or self.reachable),
                "whole=True needs judgements (qrels=, --qrels) and cannot be combined with reachable=True: "
                "leave one of the two out",
            ),
            (
                self.whole and irm.family not in ("relevance", "diversity"),
                "irm must be a measure of relevance or diversity, such as nDCG",
            ),
            (
                by_rank and not of_sums,
                f"irm is no sum over ranks that can be divided rank by rank: use {NAMES}, or whole=True",
            ),
            (by_rank and irm.cutoff is not None, "the cut-off is its own, FAIR(irm=..)@k"),
            (by_rank and getattr(irm, "attr", None) is not None, "the attribute is its own, FAIR(attr=..)"),
            (
                by_rank and getattr(irm, "judged_only", False),
                "ranks are those of the list: irm has no judged_only, or whole=True",
            ),
            (
                by_rank and isinstance(irm, ERR_IA) and not irm.normalized,
                "ERR_IA(normalized=False) is by intents, not groups: leave it out, or whole=True",
            ),
            (self.part != BOTH and self.weight != EVEN_WEIGHT, "give weight= or part=, not both"),
            (
                split and (self.whole or self.reachable),
                "weight= and part= go without whole= and reachable=",
            ),
            (
                self.reachable and self.div in OF_PREFIXES,
                f"reachable=True is for distances between shares ({', '.join(OF_SHARES)})",
            ),
            (
                self.own_order and isinstance(irm, JUDGED_ONLY),
                f"irm={irm!r} needs judgements (qrels=, --qrels); nDCG and RBP do without them",
            ),
        ):
            if wrong:
                raise ParameterError(f"FAIR: {way_out}, got {self!r}")

    @property
    def alone(self) -> bool:
        """Fairness alone: relevance is not looked at."""
        return self.part == FAIRNESS or self.weight == 0

    @property
    def own_order(self) -> bool:
        """Relevance comes from the ranking."""
        return bool(self.pseudo) and not self.alone

    @property
    def _irm_looks_deeper(self) -> bool:
        own = self.irm.cutoff or 0
        return bool(getattr(self.irm, "judged_only", False)) or 0 < (self.cutoff or own) < own

    @property
    def welcomes_judgements(self) -> bool:
        return self.pseudo is None

    def settled(self, sources: Mapping[str, Evidence]) -> Measure:
        pseudo = "relevance" not in sources if self.pseudo is None else self.pseudo
        irm = self.irm.settled(sources)
        if self.whole and self.cutoff is not None and irm.cutoff is None:
            irm = irm @ self.cutoff
        settled = replace(self, pseudo=pseudo and not self.whole, irm=irm, weight=EVEN_WEIGHT)
        weighed = _weighed(settled, self.weight)
        if isinstance(weighed, WeightedSum):
            return weighed.settled(sources)
        return PrefixShareMeasure.settled(weighed, sources)  # type: ignore[arg-type]

    def check_attribute(self, attribute: Attribute) -> None:
        super().check_attribute(attribute)
        check_divergence(self, self.div, attribute)

    @property
    def needs(self) -> frozenset[str]:
        own = {f"ranked.{self.source}"}
        if self.whole:
            return frozenset({*own, *self.irm.needs})
        if self.pseudo or self.alone:
            return frozenset(own)
        by_group = set() if isinstance(self.irm, BY_DOCUMENT) else {f"judged.{self.source}"}
        return frozenset({*own, *by_group, "ranked.relevance", "judged.relevance"})

    @property
    def depth(self) -> int | None:
        """The ideal of a list that has no judgements, and the greedy order, are of all its documents."""
        if self.own_order or self.reachable or self.missing == "drop" or self.cutoff is None:
            return None
        if not self.whole:
            return self.cutoff
        return None if self.irm.depth is None else max(self.cutoff, self.irm.depth)

    def range(self) -> tuple[float, float]:
        if self.whole:
            low, high = self.irm.range()
            return min(low, 0.0), high
        greedy = self.reachable or isinstance(self.irm, alpha_nDCG)  # such an ideal may fall short
        return 0.0, np.inf if greedy else 1.0

    def prepared(self, evidence: RankedEvidence) -> RankedEvidence:
        evidence = evidence.cut(self.depth)
        return evidence.compact(evidence.ranked.known(self.source)) if self.missing == "drop" else evidence

    def compute(self, evidence: RankedEvidence) -> Result:
        ranked = evidence.ranked.cut(self.cutoff)
        apart, some = self._distances(self.membership(evidence, ranked), ranked.mask, evidence)
        notes = prefix_notes(some, ranked.mask, "left out" if self.part == FAIRNESS else "not divided")
        if self.div == RATIO and self.smoothing == 0:
            notes = (*notes, Note(UNSMOOTHED))
        if self.whole:
            own = self.irm.evaluate(evidence)
            undefined = {**own.undefined, NO_TARGET: self.undefined(evidence)[NO_TARGET]}
            return Result(own.values / (_last(apart, ranked.lengths) + 1), undefined, notes=notes)
        if self.part == FAIRNESS:
            return Result(padded_sum(_mean_of_ranks(apart, some)), self._unfair(evidence, some), notes=notes)
        if self.own_order:
            notes = (*notes, Note(OWN_RELEVANCE))
        if isinstance(self.irm, BY_GROUP) and self.part != UTILITY:
            notes = (*notes, Note(COUNTED_TWICE.format(self.irm.name, self.attr)))
        contributions, most = self._parts(evidence)
        undefined = {**self.undefined(evidence), NOTHING_TO_GAIN: most <= 0}
        if self.part != COLUMNS:
            return Result(padded_sum(contributions), undefined, notes=notes)
        return self._columns(evidence, padded_sum(contributions), undefined, apart, some, notes)

    def _columns(
        self,
        evidence: RankedEvidence,
        fair: Floats,
        without: Mapping[str, Bools],
        apart: Floats,
        some: Bools,
        notes: tuple[Note, ...],
    ) -> Result:
        """FAIR, utility and fairness beside each other; each is undefined for its own reasons."""
        utility = padded_sum(replace(self, part=UTILITY)._parts(evidence)[0])
        values = np.stack([fair, utility, padded_sum(_mean_of_ranks(apart, some))], axis=1)  # (Q, 3)
        of_relevance, of_fairness = np.array([True, True, False]), np.array([False, False, True])
        undefined = {reason: where[:, None] & of_relevance for reason, where in without.items()}
        for reason, where in self._unfair(evidence, some).items():
            own = where[:, None] & of_fairness
            undefined[reason] = undefined[reason] | own if reason in undefined else own
        return Result(values, undefined, ("FAIR", UTILITY, FAIRNESS), notes)

    def _unfair(self, evidence: RankedEvidence, some: Bools) -> dict[str, Bools]:
        """Where fairness alone has no value."""
        return {**PrefixShareMeasure.undefined(self, evidence), NO_GROUP: ~np.asarray(some.any(axis=1))}

    def explain(self, evidence: RankedEvidence) -> Floats | None:
        if self.whole:
            return None
        if self.part == FAIRNESS:
            ranked = evidence.ranked.cut(self.cutoff)
            found = self._distances(self.membership(evidence, ranked), ranked.mask, evidence)
            return _mean_of_ranks(*found)
        return self._parts(evidence)[0]

    def _parts(self, evidence: RankedEvidence) -> tuple[Floats, Floats]:
        """(Q, K): what each rank adds, and (Q,): what it is divided by."""
        everything = self.lists(evidence)
        fair = self._fair_gains(everything.cut(self.cutoff), evidence)  # (Q, K)
        if self.reachable:
            best = everything.reordered(self._greedy(everything, evidence)).cut(self.cutoff)
            most = padded_sum(self._fair_gains(best, evidence))  # (Q,)
        else:
            most = self.ideal(everything, evidence)
        return divide(fair, most[:, None]), most

    def _fair_gains(self, lists: ListArrays, evidence: RankedEvidence) -> Floats:
        """(Q, K): what each rank adds, divided by how unfair the list is down to it."""
        gains = rank_gains(self.irm, lists)
        if self.part == UTILITY:
            return gains
        apart, _ = self._distances(lists.shares, lists.mask, evidence)
        return gains / (apart + 1)

    def lists(self, evidence: RankedEvidence) -> ListArrays:
        """What is known of the documents at each rank."""
        ranked = evidence.ranked
        if self.pseudo:
            grades = attention.log2().weights(ranked.depth) * ranked.mask  # (Q, K)
            relevant, worth = grades, self.irm.gain(grades) if isinstance(self.irm, nDCG) else grades
        else:
            grades = np.maximum(ranked["relevance"], 0).astype(float)
            relevant = ((grades >= smallest_grade(self.irm)) & ranked.mask).astype(float)
            worth = worth_of_grades(self.irm, grades, evidence)
        shares = self.membership(evidence)  # (Q, K, L)
        return ListArrays(worth, relevant, shares, ranked.mask)

    def ideal(self, everything: ListArrays, evidence: RankedEvidence) -> Floats:
        """(Q,): M, what the sum over ranks has in an ideal list."""
        if not isinstance(self.irm, BY_DOCUMENT):
            covers = everything.covers if self.pseudo else self._judged(evidence)  # (Q, J, L)
            return ideal_by_group(self.irm, covers, self.cutoff)
        worth = everything.worth
        if not self.pseudo:
            grades = evidence.reference["judged"].padded("relevance", self.cutoff)  # best first
            worth = worth_of_grades(self.irm, np.maximum(grades, 0).astype(float), evidence)
        return ideal_by_document(self.irm, worth, self.cutoff)

    def _judged(self, evidence: RankedEvidence) -> Floats:
        """(Q, J, L): relevance by group of every judged document."""
        relevant = evidence.reference["judged"].padded("relevance") >= smallest_grade(self.irm)
        shares = self.reference_membership(evidence, "judged")
        return np.asarray(relevant[:, :, None] * shares, dtype=np.float64)

    def _distances(self, shares: Floats, mask: Bools, evidence: RankedEvidence) -> tuple[Floats, Bools]:
        """(Q, K) twice: how far the groups of the first i are from the target, and where there are groups."""
        if self.div in (*OF_PREFIXES, MAX):
            self.existing(evidence)  # each value counts by itself
        weights = self.attention.weights(mask.shape[1])
        return prefix_distances(self.div, shares, mask, self.target_shares(evidence), weights, self.smoothing)

    def _greedy(self, lists: ListArrays, evidence: RankedEvidence) -> Int64s:
        """(Q, K): the places of the documents in the greedy order of this measure."""
        alpha = getattr(self.irm, "alpha", None)  # without novelty a document gains what it is worth
        return greedy_order(
            lists.worth if alpha is None else lists.relevant, lists.shares, self.target_shares(evidence),
            lists.mask.sum(axis=1), alpha=alpha, steps=self.cutoff, divergence=OF_SHARES[self.div],
        )[:, 0]  # fmt: skip

    def undefined(self, evidence: RankedEvidence) -> dict[str, Bools]:
        found = super().undefined(evidence)
        if self.pseudo or self.whole:
            return found
        return without_judgements(evidence, smallest_grade(self.irm)) | {NO_TARGET: found[NO_TARGET]}


def _last(apart: Floats, lengths: Int64s) -> Floats:
    """(Q,): the divergence of the whole list; 0 for an empty one."""
    if not apart.shape[1]:
        return np.zeros(len(apart))
    return np.take_along_axis(apart, np.maximum(lengths - 1, 0)[:, None], axis=1)[:, 0]


def _mean_of_ranks(apart: Floats, some: Bools) -> Floats:
    """(Q, K): what each rank adds to the mean of 1 / (d_i + 1) over the ranks that have a distance."""
    return divide(some / (apart + 1), some.sum(axis=1, keepdims=True).astype(float))


def _weighed(fair: FAIR, weight: float) -> Measure:
    """FAIR between fairness alone (weight 0) and utility alone (weight 1), as a sum of its parts."""
    if weight == EVEN_WEIGHT:
        return fair
    other, share = (UTILITY, 2 * weight - 1) if weight > EVEN_WEIGHT else (FAIRNESS, 1 - 2 * weight)
    alone = replace(fair, part=other)
    return alone if share == 1 else WeightedSum(terms=((share, alone), (1 - share, fair)))
