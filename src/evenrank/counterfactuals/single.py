"""One swapped document at a time: which documents move when only they change."""

from __future__ import annotations

from typing import NamedTuple

from evenrank.counterfactuals.experiment import Experiment, changes
from evenrank.counterfactuals.swap import Swapper
from evenrank.data.run import Run
from evenrank.systems.base import Progress


class Move(NamedTuple):
    """Where a document stood for a query, and where it stands once it alone is swapped; None is nowhere."""

    query: str
    document: str
    before: int
    after: int | None

    @property
    def by(self) -> int | None:
        """How many ranks it fell; negative if it rose, None if it fell out of the list."""
        return None if self.after is None else self.after - self.before


def one_at_a_time(
    trial: Experiment,
    swapper: Swapper,
    *,
    at_most: int | None = None,
    progress: Progress | None = None,
) -> list[Move]:
    """For every document within the depth of some query that the swap changes: its rank, and its rank when it
    is the only one that is swapped. The largest falls come first, then the largest rises.

    The collection is indexed anew for every such document, so that statistics of the collection change too,
    as they would. ``at_most`` looks at the documents of the best ranks only.
    """
    listed: dict[str, dict[str, int]] = {}  # document -> query -> rank
    for query in trial.original.query_ids:
        for rank, document in enumerate(trial.original.documents(query)[: trial.depth], 1):
            listed.setdefault(document, {})[query] = rank
    changed = changes({document: trial.documents[document] for document in listed}, swapper)
    chosen = sorted(changed, key=lambda document: (min(listed[document].values()), document))[:at_most]
    moves: list[Move] = []
    for done, document in enumerate(chosen, 1):
        queries = {query: trial.queries[query] for query in listed[document]}
        trial.system.index(trial.documents | {document: changed[document].text})
        run = trial.system.retrieve(queries, trial.k)
        moves += [
            Move(query, document, rank, _rank(run, query, document))
            for query, rank in listed[document].items()
        ]
        if progress is not None:
            progress("swapping one document at a time", done, len(chosen))
    worst = trial.k + 1
    return sorted(
        moves, key=lambda move: (-(worst if move.by is None else move.by), move.query, move.document)
    )


def _rank(run: Run, query: str, document: str) -> int | None:
    if query not in run:
        return None
    documents = run.documents(query)
    return documents.index(document) + 1 if document in documents else None
