"""Retrieve from a collection and from its counterfactual, and compare the lists: CRBO."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evenrank.counterfactuals.swap import KINDS, Swapped, Swapper, make_swapper
from evenrank.data.run import Run
from evenrank.errors import EvenrankWarning, InputTypeError, ParameterError, counted
from evenrank.evaluation import evaluate
from evenrank.measures.rank_overlap import RBO
from evenrank.scores import Scores
from evenrank.systems import Retriever, make_system, read_texts
from evenrank.systems.adapters import as_run
from evenrank.systems.base import Progress, check_depth
from evenrank.tables import Table, estimate

TEXTS_AT_ONCE = 512
DEPTH = 10
PERSISTENCE = 0.9
RETRIEVED = 200  # as deep as the background that NFaiRR compares with


@dataclass(frozen=True, repr=False)
class Counterfactual:
    """The lists before and after a swap, and how alike they are, query by query.

    ``scores`` has RBO between the two lists of each query; ``crbo`` is its mean: 1 where the swap moved
    nothing. ``changed`` are the documents that the swap changed, by id.
    """

    original: Run
    swapped: Run
    scores: Scores
    changed: Mapping[str, Swapped]
    documents: int
    queries: Mapping[str, Swapped] = field(default_factory=dict)  # those that were swapped too

    @property
    def crbo(self) -> float:
        return self.scores.mean(self.scores.measures[0])

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval over queries; NaN where there are too few."""
        return self.scores.interval(self.scores.measures[0])

    @property
    def defined(self) -> int:
        """How many queries have a value."""
        return len(self.scores.blocks[0].defined(0))

    def moved(self, count: int = 10) -> list[tuple[str, float]]:
        """The queries whose lists moved most, with their RBO, least alike first; not those that did not."""
        block = self.scores.blocks[0]
        values = dict(zip(block.query_ids, block.values[:, 0].tolist(), strict=True))
        lists = {query: value for query, value in values.items() if value < 1 - 1e-9}
        return sorted(lists.items(), key=lambda item: (item[1], item[0]))[:count]

    def __repr__(self) -> str:
        return (
            f"<Counterfactual of {self.original.name!r}: CRBO {estimate(self.crbo, *self.interval)} over "
            f"{counted(len(self.scores.blocks[0].query_ids), 'query', 'queries')}, {len(self.changed):,} of "
            f"{counted(self.documents, 'document', 'documents')} changed>"
        )

    def _repr_html_(self) -> str:
        return self.to_table().to_html()

    def to_table(self) -> Table:
        """One row: CRBO with its interval, and over how many queries."""
        from evenrank.counterfactuals.table import ALL, SwapRow, system_table

        return system_table([SwapRow(self.original.name, ALL, self, {})])


def counterfactual(
    system: Any,
    documents: Any,
    lexicon: Any = None,
    *,
    queries: Any = None,
    kinds: Collection[str] = KINDS,
    swap_queries: bool = False,
    depth: int = DEPTH,
    p: float = PERSISTENCE,
    k: int | None = None,
    seed: int = 0,
    tagger: str = "auto",
    progress: Progress | None = None,
) -> Counterfactual:
    """How much a system's lists change when every group word in the documents becomes its counterpart.

    ``system`` is a function: with ``queries=`` it is called as ``system(documents, queries)``, both
    ``{id: text}``, without as ``system(documents)``, and gives anything that ``read_run`` reads. With
    ``queries=`` it may also be the name of a system (``"bm25"``, ``"bm25>>nanoranker"``), a retriever, or a
    function that makes a PyTerrier pipeline (see ``evenrank.systems``). ``lexicon`` is a lexicon with
    partners, or a swapper. ``kinds`` are the words to swap, ``swap_queries`` swaps them in the queries
    too. Lists are compared down to ``depth`` with persistence ``p``; ``k`` documents are retrieved.

    >>> texts = {"d1": "He is a nurse.", "d2": "She is a nurse.", "d3": "Nurses work at night."}
    >>> counterfactual("bm25", texts, queries={"q1": "where is he", "q2": "night"}).crbo
    0.5
    """
    given = isinstance(lexicon, Swapper)
    swapper = lexicon if given else make_swapper(lexicon, kinds=kinds, seed=seed, tagger=tagger)
    texts = read_texts(documents, "documents")
    if queries is None:
        if swap_queries:
            raise ParameterError("swap_queries needs queries=, the texts of the queries")
        if not callable(system):
            raise InputTypeError("without queries= the system is a function of the documents")
        trial = Experiment(_OfDocuments(system), texts, {}, depth=depth, p=p)
    else:
        asked = read_texts(queries, "queries")
        trial = Experiment(make_system(system, progress=progress), texts, asked, depth=depth, p=p, k=k)
    return trial.swap(swapper, swap_queries=swap_queries, progress=progress)


class Experiment:
    """A system with its collection and queries: retrieved as they are, then after any number of swaps."""

    def __init__(
        self,
        system: Retriever,
        documents: Mapping[str, str],
        queries: Mapping[str, str],
        *,
        depth: int = DEPTH,
        p: float = PERSISTENCE,
        k: int | None = None,
    ) -> None:
        self.system, self.documents, self.queries = system, dict(documents), dict(queries)
        self.measure = RBO(p=p, form="ext", cutoff=check_depth(depth))
        self.k = max(depth, RETRIEVED if k is None else check_depth(k))
        self.depth = depth
        self.system.index(self.documents)
        self.original = self.system.retrieve(self.queries, self.k)

    def swap(
        self, swapper: Swapper, *, swap_queries: bool = False, progress: Progress | None = None
    ) -> Counterfactual:
        """The lists of the same queries, or of swapped ones, on the swapped collection."""
        changed = _changed(self.documents, swapper, progress)
        if not changed:
            warnings.warn(
                "the swap changed no document: no group word is in the collection",
                EvenrankWarning,
                stacklevel=3,
            )
        asked = _changed(self.queries, swapper) if swap_queries else {}
        self.system.index(self.documents | {key: new.text for key, new in changed.items()})
        swapped = self.system.retrieve(self.queries | {key: new.text for key, new in asked.items()}, self.k)
        after = swapped.renamed(f"{self.original.name}, swapped")
        scores = evaluate(self.original, self.measure, against=after, queries=list(self.queries) or None)
        return Counterfactual(self.original, after, scores, changed, len(self.documents), asked)


@dataclass
class _OfDocuments:
    """A function of the documents alone, as a system."""

    function: Callable[[dict[str, str]], Any]

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    def index(self, documents: Mapping[str, str]) -> None:
        self._run = as_run(self.function(dict(documents)), self.name)

    def retrieve(self, queries: Mapping[str, str], k: int = 100) -> Run:
        return self._run


def _changed(
    texts: Mapping[str, str], swapper: Swapper, progress: Progress | None = None
) -> dict[str, Swapped]:
    """The texts that a swap changes, by id, with what it changed."""
    found: dict[str, Swapped] = {}
    rows = list(texts.items())
    for begin in range(0, len(rows), TEXTS_AT_ONCE):
        block = rows[begin : begin + TEXTS_AT_ONCE]
        swapped = swapper.swap_all([text for _, text in block])
        found |= {key: new for (key, _), new in zip(block, swapped, strict=True) if new.changes}
        if progress is not None:
            progress("swapping words", begin + len(block), len(rows))
    return found


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
    changed = _changed({document: trial.documents[document] for document in listed}, swapper)
    chosen = sorted(changed, key=lambda document: (min(listed[document].values()), document))[:at_most]
    moves: list[Move] = []
    for done, document in enumerate(chosen, 1):
        queries = {query: trial.queries[query] for query in listed[document]}
        trial.system.index(trial.documents | {document: changed[document].text})
        run = trial.system.retrieve(queries, trial.k)
        for query, rank in listed[document].items():
            found = run.documents(query) if query in run else []
            after = found.index(document) + 1 if document in found else None
            moves.append(Move(query, document, rank, after))
        if progress is not None:
            progress("swapping one document at a time", done, len(chosen))

    def by_fall(move: Move) -> tuple[int, str, str]:
        return -(trial.k + 1 if move.by is None else move.by), move.query, move.document

    return sorted(moves, key=by_fall)
