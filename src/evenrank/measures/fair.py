"""Fairness-aware relevance: what each rank adds to utility, divided by how unfair the list is so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np

from evenrank import attention
from evenrank.arrays import Bools, Floats, Int64s
from evenrank.data.attribute import Attribute
from evenrank.data.evidence_source import Evidence
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import ParameterRule, choice, declare, flag, make, parameter, term_of
from evenrank.measures.base import Direction, Measure, Note, Result
from evenrank.measures.divergences import DISTANCES, SIMILAR
from evenrank.measures.diversity import ERR_IA, NRBP, alpha_nDCG, greedy_ideal, novelty_gain
from evenrank.measures.greedy import greedy_order
from evenrank.measures.groups import EMPTY_LIST_MEANS, NO_TARGET, NO_TARGET_MEANS, check_divergence
from evenrank.measures.neutrality import EMPTY_LIST
from evenrank.measures.prefixes import PrefixShareMeasure, prefix_notes
from evenrank.measures.relevance import NO_RELEVANT, NOT_JUDGED, RBP, best_grade, divide, nDCG
from evenrank.measures.sums import padded_sum

DEFAULT_IRM: Measure = make(alpha_nDCG, {})  # type: ignore[assignment]
DIVERGENCES: dict[str, Callable[[Floats, Floats], Floats]] = {**DISTANCES, **SIMILAR}
OWN_RELEVANCE = (
    "relevance is that of the ranking itself, so what an order loses of it is not seen: judgements show that"
)
NOTHING_TO_GAIN = "the ideal is 0"


class ListArrays(NamedTuple):
    """The documents of ranked lists."""

    worth: Floats  # (Q, K): gain, for measures that do not look at groups
    relevant: Floats  # (Q, K): relevance, for those that do
    shares: Floats  # (Q, K, L)
    mask: Bools  # (Q, K)

    @property
    def covers(self) -> Floats:
        """(Q, K, L): J(d_i, g), relevance times share of a group."""
        return self.relevant[:, :, None] * self.shares

    def cut(self, depth: int | None) -> ListArrays:
        return ListArrays(
            self.worth[:, :depth], self.relevant[:, :depth], self.shares[:, :depth], self.mask[:, :depth]
        )

    def reordered(self, places: Int64s) -> ListArrays:
        """The same documents in another order: ``places`` (Q, K) are their old ranks, from 0 on."""
        rows, at, there = np.arange(len(places))[:, None], np.maximum(places, 0), places >= 0
        return ListArrays(
            self.worth[rows, at] * there,
            self.relevant[rows, at] * there,
            self.shares[rows, at] * there[:, :, None],
            there,
        )


def _irm() -> ParameterRule:
    inner = term_of("measure")
    return ParameterRule("a measure, as alpha_nDCG, nDCG, RBP, ERR_IA or NRBP", inner.accept)


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
    """

    answers = (
        "relevance and fairness in one number",
        "relevance discounted by unfairness to groups",
        "trade-off between fairness and relevance",
    )
    formula = (
        "1/M sum_{i<=k} IRM_i / (KL(D_i || D*) + 1), M the same sum of an ideal list without the divisor"
    )
    reference = "fair-2021, Eqs. 1 and 6"
    direction = Direction.HIGHER
    undefined_when: ClassVar[Mapping[str, str]] = {
        NOT_JUDGED: "the query has no judgements",
        NO_RELEVANT: "no judged document of the query is relevant",
        EMPTY_LIST: f"{EMPTY_LIST_MEANS}, and there are no judgements",
        NO_TARGET: NO_TARGET_MEANS,
        NOTHING_TO_GAIN: "no relevant document has a group; with reachable=True, the list has none that has",
    }

    irm: Measure = parameter(DEFAULT_IRM, _irm(), "the relevance measure")
    div: str = parameter("KL", choice(*DIVERGENCES), "distance of the groups so far from the target")
    whole: bool = parameter(False, flag(), "divide the whole measure once, not rank by rank")
    reachable: bool = parameter(False, flag(), "divide by what the greedy order of the documents reaches")
    pseudo: bool | None = parameter(
        None, flag(optional=True), "relevance from the ranking; None: where there are no judgements"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.whole:
            self._check_whole()
        else:
            self._check_sum()
        for name, holds in (
            ("needs_cutoff", self.irm.needs_cutoff and self.irm.cutoff is None),
            ("looks_below_cutoff", bool(self.pseudo or self.reachable or self._irm_looks_deeper)),
            ("ideal_depends_on_ids", isinstance(self.irm, alpha_nDCG) and not self.pseudo),
        ):
            object.__setattr__(self, name, holds)  # what is so for some relevance measures only

    @property
    def _irm_looks_deeper(self) -> bool:
        own = self.irm.cutoff or 0
        return bool(getattr(self.irm, "judged_only", False)) or 0 < (self.cutoff or own) < own

    def _check_whole(self) -> None:
        if self.pseudo or self.reachable:
            raise ParameterError("FAIR: whole=True goes with judgements, and without reachable=True")
        if self.irm.family not in ("relevance", "diversity"):
            raise ParameterError(f"FAIR: irm is a measure of relevance or diversity, got {self.irm!r}")

    def _check_sum(self) -> None:
        if not isinstance(self.irm, (alpha_nDCG, nDCG, RBP, ERR_IA, NRBP)):
            raise ParameterError(
                f"FAIR: {self.irm!r} is no sum over ranks that can be divided rank by rank: "
                "use alpha_nDCG, nDCG, RBP, ERR_IA or NRBP, or whole=True"
            )
        if self.irm.cutoff is not None:
            raise ParameterError(f"FAIR: the cut-off is its own, FAIR(irm=..)@k, got irm={self.irm!r}")
        if getattr(self.irm, "judged_only", False):
            raise ParameterError("FAIR: ranks are those of the list: irm has no judged_only, or whole=True")
        if isinstance(self.irm, ERR_IA) and not self.irm.normalized:
            raise ParameterError(
                "FAIR: ERR_IA(normalized=False) is by intents, not groups: leave it out, or whole=True"
            )

    @property
    def welcomes_judgements(self) -> bool:
        return self.pseudo is None

    def settled(self, sources: Mapping[str, Evidence]) -> Measure:
        pseudo = "relevance" not in sources if self.pseudo is None else self.pseudo
        irm = self.irm.settled(sources)
        if self.whole and self.cutoff is not None and irm.cutoff is None:
            irm = irm @ self.cutoff
        return PrefixShareMeasure.settled(replace(self, pseudo=pseudo and not self.whole, irm=irm), sources)

    def check_attribute(self, attribute: Attribute) -> None:
        super().check_attribute(attribute)
        check_divergence(self, self.div, attribute)

    @property
    def needs(self) -> frozenset[str]:
        own = {f"ranked.{self.source}"}
        if self.whole:
            return frozenset({*own, *self.irm.needs})
        if self.pseudo:
            return frozenset(own)
        by_group = set() if isinstance(self.irm, (nDCG, RBP)) else {f"judged.{self.source}"}
        return frozenset({*own, *by_group, "ranked.relevance", "judged.relevance"})

    @property
    def depth(self) -> int | None:
        """The ideal of a list that has no judgements, and the greedy order, are of all its documents."""
        if self.pseudo or self.reachable or self.missing == "drop" or self.cutoff is None:
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

    @property
    def smallest_grade(self) -> int:
        rel = getattr(self.irm, "rel", None)
        return 1 if rel is None else int(rel)

    def compute(self, evidence: RankedEvidence) -> Result:
        ranked = evidence.ranked.cut(self.cutoff)
        shares = self.membership(evidence, ranked)
        apart, some = self._divergences(shares, ranked.mask, evidence)
        notes = prefix_notes(some, ranked.mask, "not divided")
        if self.whole:
            own = self.irm.evaluate(evidence)
            reasons = {**own.undefined, NO_TARGET: self.undefined(evidence)[NO_TARGET]}
            return Result(own.values / (_last(apart, ranked.lengths) + 1), reasons, notes=notes)
        contributions, most = self._parts(evidence)
        reasons = {**self.undefined(evidence), NOTHING_TO_GAIN: most <= 0}
        if self.pseudo:
            notes = (*notes, Note(OWN_RELEVANCE))
        return Result(padded_sum(contributions), reasons, notes=notes)

    def explain(self, evidence: RankedEvidence) -> Floats | None:
        return None if self.whole else self._parts(evidence)[0]

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
        apart, _ = self._divergences(lists.shares, lists.mask, evidence)
        return self.utility(lists) / (apart + 1)

    def lists(self, evidence: RankedEvidence) -> ListArrays:
        """What is known of the documents at each rank."""
        ranked = evidence.ranked
        if self.pseudo:
            grades = attention.log2().weights(ranked.depth) * ranked.mask  # (Q, K)
            relevant, worth = grades, self.irm.gain(grades) if isinstance(self.irm, nDCG) else grades
        else:
            grades = np.maximum(ranked["relevance"], 0).astype(float)
            relevant = ((grades >= self.smallest_grade) & ranked.mask).astype(float)
            worth = self._worth(grades, evidence)
        shares = self.membership(evidence)  # (Q, K, L)
        return ListArrays(worth, relevant, shares, ranked.mask)

    def _worth(self, grades: Floats, evidence: RankedEvidence) -> Floats:
        """(Q, D): the gain of a grade, for measures that do not look at groups."""
        if isinstance(self.irm, nDCG):
            return self.irm.gain(grades, best_grade(evidence))
        if isinstance(self.irm, RBP) and self.irm.rel is None:
            return grades / np.maximum(evidence.query["relevance.max_grade"], 1)[:, None]
        return (grades >= self.smallest_grade).astype(float)

    def utility(self, lists: ListArrays) -> Floats:
        """(Q, K): IRM_i, what each rank adds, before it is divided by anything."""
        irm, depth = self.irm, lists.worth.shape[1]
        if isinstance(irm, nDCG):
            return lists.worth * attention.log2().weights(depth)
        if isinstance(irm, RBP):
            return lists.worth * irm.p ** np.arange(depth)
        if isinstance(irm, alpha_nDCG):
            return novelty_gain(lists.covers, irm.alpha) * attention.log2().weights(depth)
        if isinstance(irm, ERR_IA):
            return novelty_gain(lists.covers, irm.alpha) / np.arange(1, depth + 1)
        if isinstance(irm, NRBP):
            return novelty_gain(lists.covers, irm.alpha) * irm.beta ** np.arange(depth)
        raise ParameterError(f"FAIR: {irm!r} is no sum over ranks")  # refused when it was made

    def ideal(self, everything: ListArrays, evidence: RankedEvidence) -> Floats:
        """(Q,): M, what the sum over ranks has in an ideal list."""
        irm = self.irm
        if isinstance(irm, RBP):  # over k ranks even where the list is shorter
            most = 1 - irm.p**self.cutoff if self.cutoff is not None else 1.0
            return np.full(len(evidence), most / (1 - irm.p))
        if isinstance(irm, nDCG):
            worth = everything.worth
            if not self.pseudo:
                grades = evidence.reference["judged"].padded("relevance", self.cutoff)  # best first
                worth = self._worth(np.maximum(grades, 0).astype(float), evidence)
            best = -np.sort(-worth, axis=1)[:, : self.cutoff]  # (Q, I)
            return padded_sum(best * attention.log2().weights(best.shape[1]))
        covers = everything.covers if self.pseudo else self._judged(evidence)  # (Q, J, L)
        if isinstance(irm, alpha_nDCG):
            gains = greedy_ideal(covers, irm.alpha, self.cutoff)  # (Q, D)
            return padded_sum(gains * attention.log2().weights(gains.shape[1]))
        served = covers.any(axis=1).sum(axis=1).astype(float)  # (Q,): |A|
        if isinstance(irm, ERR_IA):
            steps = np.arange(self.cutoff or 1)
            return np.asarray(served * ((1 - irm.alpha) ** steps / (steps + 1)).sum())
        if isinstance(irm, NRBP):
            return np.asarray(served / (1 - (1 - irm.alpha) * irm.beta))
        raise ParameterError(f"FAIR: {irm!r} is no sum over ranks")

    def _judged(self, evidence: RankedEvidence) -> Floats:
        """(Q, J, L): relevance by group of every judged document."""
        judged = evidence.reference["judged"]
        shares = judged.padded(self.source)
        if self.missing == "uniform":
            unknown = judged.mask() & ~judged.known(self.source)
            shares = np.where(unknown[:, :, None], self.even(evidence)[:, None, :], shares)
        relevant = judged.padded("relevance") >= self.smallest_grade
        return np.asarray(relevant[:, :, None] * shares, dtype=np.float64)

    def _divergences(self, shares: Floats, mask: Bools, evidence: RankedEvidence) -> tuple[Floats, Bools]:
        """(Q, K) twice: how far the groups of the first i are from the target, and where there are groups."""
        mass = np.cumsum(shares, axis=1)
        total = padded_sum(mass, axis=2)  # (Q, K)
        some = (total > 0) & mask
        with np.errstate(invalid="ignore"):  # a query without a target
            apart = DIVERGENCES[self.div](
                divide(mass, total[:, :, None]), self.target_shares(evidence)[:, None, :]
            )
        return np.where(some, np.maximum(np.nan_to_num(apart, posinf=np.inf), 0.0), 0.0), some

    def _greedy(self, lists: ListArrays, evidence: RankedEvidence) -> Int64s:
        """(Q, K): the places of the documents in the greedy order of this measure."""
        alpha = getattr(self.irm, "alpha", None)  # without novelty a document gains what it is worth
        return greedy_order(
            lists.worth if alpha is None else lists.relevant, lists.shares, self.target_shares(evidence),
            lists.mask.sum(axis=1), alpha=alpha, steps=self.cutoff, divergence=DIVERGENCES[self.div],
        )[:, 0]  # fmt: skip

    def undefined(self, evidence: RankedEvidence) -> dict[str, Bools]:
        reasons = super().undefined(evidence)
        if self.pseudo or self.whole:
            return reasons
        best = evidence.reference["judged"].padded("relevance", 1)  # (Q, 1): judged come best first
        return {
            NOT_JUDGED: ~evidence.query["relevance.judged"],
            NO_RELEVANT: ~np.asarray((best >= self.smallest_grade).any(axis=1)),
            NO_TARGET: reasons[NO_TARGET],
        }


def _last(apart: Floats, lengths: Int64s) -> Floats:
    """(Q,): the divergence of the whole list; 0 for an empty one."""
    if not apart.shape[1]:
        return np.zeros(len(apart))
    return np.take_along_axis(apart, np.maximum(lengths - 1, 0)[:, None], axis=1)[:, 0]
