"""Re-rankers tried on the lists of one run, which meet their groups once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.membership import Membership, evidence_name
from evenrank.data.run import Run
from evenrank.evidence.align import align
from evenrank.inputs import Inputs
from evenrank.rerankers import Reranker, parse_reranker
from evenrank.verdict.targets import with_chosen_target, without_judgements
from evenrank.verdict.value import Verdict

# none of them reads judgements: a method that does would be scored by what it was told
METHODS = ("DetGreedy", "DetCons", "DetConstSort")


def methods_for(attribute: str, cutoff: int, depth: int) -> list[Reranker]:
    """The re-rankers that are tried."""
    return [parse_reranker(f"{name}(attr={attribute!r}, top={cutoff})@{depth}") for name in METHODS]


class Trials:
    """The candidates of a verdict, and what methods make of them."""

    def __init__(self, verdict: Verdict, run: Run, membership: Membership, inputs: Inputs) -> None:
        self.candidates = run.head(verdict.depth)
        self.membership = with_chosen_target(membership, verdict.target)
        self.known = replace(
            inputs, runs={verdict.system: self.candidates}, groups=(self.membership,), words=None,
            against=None, background=self.candidates, background_depth=None,
        )  # fmt: skip
        methods = methods_for(verdict.attribute, verdict.cutoff, verdict.depth)
        settled = without_judgements(self.known).settle(methods)
        self.methods: list[Reranker] = list(settled.terms)
        needs = frozenset().union(*(method.needs for method in self.methods))
        queries = self.candidates.query_ids
        self._evidence = align(self.candidates, queries, needs, settled.sources, verdict.depth)

    def order(self, method: str | Reranker, target: Floats | None = None) -> Run:
        """The lists in the order of one of the methods; ``target`` (L,) is for all queries, in place of the
        verdict's."""
        evidence = self._evidence
        if target is not None:
            name = f"{evidence_name(self.membership.attribute.name)}.target"
            aimed = np.broadcast_to(target / target.sum(), evidence.query[name].shape)  # (Q, L)
            evidence = replace(evidence, query={**evidence.query, name: aimed})
        (made,) = parse_reranker(method).on(self.candidates, evidence)
        return made.run.renamed(self.candidates.name)
