"""Lists as an oracle would give them: relevant documents first."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.errors import ParameterError
from evenrank.grammar import declare, flag, parameter
from evenrank.rerankers.base import Reranker


@declare
class Oracle(Reranker):
    """Relevant documents first, higher grades before lower ones, everything else in its old order.

    ``insert=True`` puts all judged relevant documents first, retrieved or not, in the order of the
    judgements, which is the +QRels setting of nfairc-advbert-2021: its values are the same for all
    systems, so the paper must have done this.
    """

    needs_judgements: ClassVar[bool] = True

    insert: bool = parameter(False, flag(), "also put relevant documents into the list that it lacks")

    def apply(self, run: Run, qrels: Qrels | None) -> Run:
        if qrels is None:
            raise ParameterError(f"{self!r} needs judgements: pass qrels=")
        judged = qrels.to_dict()
        queries: list[str] = []
        documents: list[str] = []
        scores: list[float] = []
        for query in run.query_ids:
            grades = {d: grade for d, grade in judged.get(query, {}).items() if grade > 0}
            ranked = run.documents(query)
            if self.insert:
                first = list(grades)  # judgements stand best grade first
            else:
                first = sorted((d for d in ranked if d in grades), key=lambda d: -grades[d])
            leading = set(first)
            order = first + [document for document in ranked if document not in leading]
            queries += [query] * len(order)
            documents += order
            scores += np.arange(len(order), 0, -1.0).tolist()
        return Run.build(queries, documents, scores, name=f"{run.name}+{self!r}", ties="file")
