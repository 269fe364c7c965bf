"""All answers of an engine: a run, the documents in it, and what is wrong, by query."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import pyarrow as pa

from evenrank.data.run import Run
from evenrank.engines.base import KINDS, Answer, AnswerProblem, EngineDescription, Hit
from evenrank.errors import DataError, counted


@dataclass(frozen=True)
class Answers:
    """What ``ask`` gives. ``queries`` are all that were given, with their texts."""

    name: str
    queries: Mapping[str, str]
    answers: Mapping[str, Answer] = field(repr=False)
    description: EngineDescription
    provenance: Mapping[str, Any] = field(repr=False)
    extra: Mapping[str, tuple[AnswerProblem, ...]] = field(default_factory=dict, repr=False)

    @cached_property
    def run(self) -> Run:
        """The lists in the engine's own order. Queries that failed or found nothing have no list."""
        queries: list[str] = []
        documents: list[str] = []
        scores: list[float] = []
        for query in self.queries:
            hits = self.answers[query].hits if query in self.answers else ()
            queries += [query] * len(hits)
            documents += [hit.id for hit in hits]
            scores += _scores(hits)
        if not documents:
            raise DataError(f"{self.name}: no query has an answer with documents: {self.describe_problems()}")
        return Run.build(queries, documents, scores, name=self.name, ties="file")

    @cached_property
    def problems(self) -> dict[str, tuple[AnswerProblem, ...]]:
        """By query, in the order of the queries; a query without a problem is not there."""
        found: dict[str, tuple[AnswerProblem, ...]] = {}
        for query in self.queries:
            answer = self.answers.get(query)
            own = (*(answer.problems if answer else ()), *_order(answer), *self.extra.get(query, ()))
            if own:
                found[query] = own
        return found

    @property
    def unanswered(self) -> list[str]:
        """The queries that have no answer; the same call with the same log asks these again."""
        return [query for query in self.queries if query not in self.answers]

    @cached_property
    def documents(self) -> pa.Table:
        """Every document that is in a list: ``id``, its fields, and ``text`` where texts were kept."""
        seen: dict[str, Hit] = {}
        for query in self.queries:
            for hit in self.answers[query].hits if query in self.answers else ():
                seen.setdefault(hit.id, hit)
        names = list(dict.fromkeys(name for hit in seen.values() for name in hit.fields))
        columns: dict[str, Any] = {"id": pa.array(list(seen), pa.large_string())}
        for name in names:
            if name not in columns:
                columns[name] = _column([hit.fields.get(name) for hit in seen.values()])
        if self.provenance.get("texts"):
            columns["text"] = pa.array([hit.text for hit in seen.values()], pa.large_string())
        return pa.table(columns)

    def describe_problems(self) -> str:
        """One line a kind: how many queries, what it means, and one of them.

        >>> problem = AnswerProblem("found nothing", "0 found")
        >>> engine = EngineDescription("sqlite", "", "", "")
        >>> Answers("shop", {"q": "lamp"}, {}, engine, {}, {"q": (problem,)}).describe_problems()
        'found nothing, 1 query: the engine found no document; the query has no list (q: 0 found)'
        """
        first: dict[str, tuple[str, str]] = {}
        counts: Counter[str] = Counter()
        for query, own in self.problems.items():
            counts.update({problem.kind for problem in own})
            for problem in own:
                first.setdefault(problem.kind, (query, problem.what))
        return "\n".join(
            f"{kind}, {counted(counts[kind], 'query', 'queries')}: {meaning} ({first[kind][0]}: "
            f"{first[kind][1]})"
            for kind, meaning in KINDS.items()
            if counts[kind]
        )


def _scores(hits: tuple[Hit, ...]) -> list[float]:
    """The engine's scores where they fall from rank to rank; otherwise made from the ranks."""
    given = [hit.score for hit in hits]
    if all(score is not None for score in given) and _falls(given):
        return [float(score) for score in given if score is not None]
    return [float(len(hits) - rank) for rank in range(len(hits))]


def _falls(scores: list[Any]) -> bool:
    return all(before >= after for before, after in pairwise(scores))


def _order(answer: Answer | None) -> tuple[AnswerProblem, ...]:
    given = [hit.score for hit in answer.hits] if answer else []
    known = [score for score in given if score is not None]
    if not known:
        return ()
    if len(known) < len(given):
        rank = given.index(None) + 1
        return (AnswerProblem("no score", f"the hit at rank {rank} has no score"),)
    if not _falls(known):
        rank = next(at for at in range(1, len(known)) if known[at] > known[at - 1])
        return (
            AnswerProblem(
                "order", f"the score at rank {rank + 1} is {known[rank]:g}, that before {known[rank - 1]:g}"
            ),
        )
    return ()


def _column(values: list[Any]) -> Any:
    """Values of one kind as they are, and a mixture as text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {bool} or kinds <= {str} or kinds <= {int} or kinds <= {int, float}:
        try:
            if kinds == {int, float}:
                return pa.array([None if value is None else float(value) for value in values])
            return pa.array(values, pa.large_string() if kinds == {str} else None)
        except (pa.ArrowException, OverflowError):
            pass
    if kinds == {list} and all(isinstance(item, str) for value in values if value for item in value):
        return pa.array(values, pa.list_(pa.large_string()))
    return pa.array(
        [None if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
         for value in values],
        pa.large_string(),
    )  # fmt: skip
