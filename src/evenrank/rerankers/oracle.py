"""Lists as an oracle would give them: relevant documents first."""

from __future__ import annotations

import numpy as np

from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.evidence.align import Sources
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, flag, parameter
from evenrank.rerankers.base import Reordered, Reranker, Reranking


@declare
class Oracle(Reranker):
    """Puts the relevant documents first, higher grades before lower ones, and keeps the order of all others.

    ``insert=True`` puts all judged relevant documents first, retrieved or not, in the order in which the
    judgements list them, which is the +QRels setting of Rekabsaz, Kopeinik and Schedl 2021: its values are
    the same for all systems, so the paper must have done this.
    """

    reference = "Rekabsaz, Kopeinik and Schedl 2021 (nfairc-advbert-2021), Section 4"

    insert: bool = parameter(False, flag(), "also put relevant documents into the list that it lacks")

    @property
    def adds(self) -> bool:  # type: ignore[override]
        return self.insert

    needs = frozenset({"ranked.relevance"})

    def reorder(self, evidence: RankedEvidence, generator: np.random.Generator) -> Reordered:
        grades = np.maximum(evidence.ranked["relevance"], 0)  # (Q, K)
        order = np.argsort(np.where(evidence.ranked.mask, -grades, np.inf), axis=1, kind="stable")
        return Reordered(np.where(evidence.ranked.mask, order, -1))

    def apply(self, run: Run, sources: Sources, draw: int = 0) -> Reranking:
        judgements = sources.evidence.get("relevance")
        if not self.insert or not isinstance(judgements, Qrels):
            return super().apply(run, sources, draw)
        judged = judgements.as_listed()
        queries: list[str] = []
        documents: list[str] = []
        scores: list[float] = []
        for query in run.query_ids:
            ranked = run.documents(query)
            first = [document for document, grade in judged.get(query, {}).items() if grade > 0]
            leading = set(first)
            order = first + [document for document in ranked if document not in leading]
            queries += [query] * len(order)
            documents += order
            scores += np.arange(len(order), 0, -1.0).tolist()
        if (
            not documents
        ):  # no query, or only empty lists without a relevant document: there is nothing to order
            return super().apply(run, sources, draw)
        return Reranking(Run.build(queries, documents, scores, name=f"{run.name}+{self!r}", ties="file"))
