"""Random rankings with random evidence: small, ragged, with everything that goes wrong in real data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenrank.data.diversity import DiversityQrels
from evenrank.data.evidence_source import Evidence
from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.evaluation import evaluate
from evenrank.measures import Measure
from evenrank.scores import ScoresBlock

EvidenceFactory = Callable[[list[str], np.random.Generator], Iterable[Evidence]]


@dataclass(frozen=True)
class Case:
    """What one evaluation takes."""

    run: Run
    qrels: Qrels
    intents: DiversityQrels
    against: Run
    background: Run
    evidence: tuple[Evidence, ...] = field(default=())

    def evaluate(self, measure: Measure, run: Run | None = None) -> ScoresBlock:
        """The values for every query of the run, in its order."""
        run = self.run if run is None else run
        scores = evaluate(
            run,
            measure,
            qrels=self.qrels,
            intents=self.intents,
            queries=run.query_ids,
            evidence=self.evidence,
            against=self.against,
            background=self.background,
        )
        return scores.block(measure)


def random_case(
    seed: int, evidence: EvidenceFactory | None = None, *, reverse_ids: bool = False, ties: bool = True
) -> Case:
    """Lists of length 1 to 12 over 20 documents; some queries unjudged or without a relevant document.

    With ``reverse_ids`` the case is the same but for the names, which stand in the opposite order.
    Without ``ties`` all scores of a list differ.
    """
    generator = np.random.default_rng(seed)
    documents = [f"d{99 - i if reverse_ids else i + 10}" for i in range(20)]
    queries = [f"q{i}" for i in range(8)]
    # q0 is never judged, q1 has no relevant document, the others have both kinds
    judged: list[tuple[str, str, int]] = []
    by_intent: list[tuple[str, str, str, int]] = []
    for query in queries[1:]:
        for document in generator.choice(documents, int(generator.integers(1, 15)), replace=False).tolist():
            grade = 0 if query == "q1" else int(generator.integers(-1, 4))
            judged.append((query, document, grade))
            for intent in range(int(generator.integers(1, 4))):
                by_intent.append(
                    (query, str(intent), document, 0 if query == "q1" else int(generator.integers(0, 4)))
                )
    return Case(
        run=_random_run(generator, queries, documents, "run", ties),
        qrels=Qrels.build(*_columns(judged)),
        intents=DiversityQrels.build(*_columns(by_intent)),
        against=_random_run(generator, queries, documents, "against", ties),
        background=_random_run(generator, queries, documents, "background", ties),
        evidence=() if evidence is None else tuple(evidence(documents, generator)),
    )


def _random_run(
    generator: np.random.Generator, queries: list[str], documents: list[str], name: str, ties: bool
) -> Run:
    rows: list[tuple[str, str, float]] = []
    for query in queries:
        chosen = generator.choice(documents, int(generator.integers(1, 13)), replace=False).tolist()
        tied = generator.random() < 0.3
        scores = generator.integers(0, 6, len(chosen)) if tied and ties else generator.random(len(chosen))
        rows += [(query, document, float(score)) for document, score in zip(chosen, scores, strict=True)]
    return Run.build(*_columns(rows), name=name)


def _columns(rows: list[Any]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]
