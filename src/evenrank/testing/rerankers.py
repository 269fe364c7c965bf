"""The properties that every re-ranker must have."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.data.words import WordCounts
from evenrank.errors import EvenrankWarning
from evenrank.evidence.align import Sources
from evenrank.ids import as_strings
from evenrank.inputs.coerce import with_combined
from evenrank.rerankers import Reranker, Reranking, parse_reranker, rerank
from evenrank.testing.cases import Case, EvidenceFactory, random_case

RerankerOracle = Callable[[Reranker, list[str], Case, str], Sequence[str]]
Promise = Callable[[Reranker, list[str], list[str], Case, str], bool]


def check_reranker(
    method: Reranker | str,
    *,
    evidence: EvidenceFactory | None = None,
    unchanged: EvidenceFactory | None = None,
    oracle: RerankerOracle | None = None,
    promise: Promise | None = None,
    cases: int = 25,
) -> None:
    """Raise an ``AssertionError`` that names the property which a re-ranker lacks.

    ``evidence`` makes the sources that it needs beyond judgements, from document ids and a generator;
    ``unchanged`` makes such that no document may move, as one group for all. ``oracle(method, documents,
    case, query)`` gives the new list slowly, from the paper. ``promise(method, before, after, case,
    query)`` says whether the new list keeps what the method promises: it must, or the query be reported
    as infeasible.

    >>> check_reranker("Oracle()", cases=2)
    """
    method = parse_reranker(method)
    _check_declaration(method)
    _check_small_pools(method, random_case(0, evidence))
    seeds_matter = False
    for seed in range(cases):
        case = random_case(seed, evidence)
        done = _apply(method, case)
        _check_documents(method, case, done.run)
        _check_scores(method, done.run)
        _check_repeatable(method, case, done)
        _check_public_door(method, case, done)
        _check_below_cutoff(method, case, done.run)
        _check_order_alone_matters(method, case, done.run)
        _check_names_do_not_matter(method, seed, evidence)
        _check_chain(method, case, done.run)
        if method.stochastic:
            seeds_matter |= _lists(_apply(replace(method, seed=991), case).run) != _lists(done.run)  # type: ignore[call-arg]
        else:
            _check_one_query_at_a_time(method, case, done.run)
        if oracle is not None:
            _check_oracle(method, case, done.run, oracle)
        if promise is not None:
            _check_promise(method, case, done, promise)
        if unchanged is not None:
            still = random_case(seed, unchanged)
            same = _lists(_apply(method, still).run) == _lists(still.run)
            _require(same, method, "moves documents where it must not")
    _require(seeds_matter or not method.stochastic, method, "gives the same order for another seed")


def _require(condition: bool, method: Reranker, what: str) -> None:
    if not condition:
        raise AssertionError(f"{method!r}: {what}")


def _apply(method: Reranker, case: Case, run: Run | None = None, draw: int = 0) -> Reranking:
    """As ``rerank`` does, with what could not be kept beside the run rather than as a warning."""
    by_name: dict[str, Any] = {"relevance": case.qrels, "intents": case.intents}
    by_name |= {source.name: source for source in case.evidence}
    settled = method.settled(by_name)
    sources = Sources(with_combined(by_name, [settled]), case.background)
    return settled.apply(case.run if run is None else run, sources, draw)


def _lists(run: Run) -> dict[str, list[str]]:
    return {query: run.documents(query) for query in run.query_ids}


def _check_declaration(method: Reranker) -> None:
    again = parse_reranker(repr(method))
    _require(again == method, method, "its name does not parse back to it")
    _require(hash(again) == hash(method), method, "equal values hash differently")
    for step in method.steps():
        kind = type(step)
        _require(bool(kind.reference), method, "declares no reference")
        _require(bool(kind.summary()), method, "has no docstring")
        _require(not step.stochastic or hasattr(step, "seed"), method, "is stochastic and has no seed")
        for field in kind.parameters():
            _require(bool(field.metadata["meaning"]), method, f"does not say what {field.name} means")


def _check_small_pools(method: Reranker, case: Case) -> None:
    """No query, a query without documents, one document, and a cut-off beyond the end of every list."""
    adds = any(step.adds for step in method.steps())
    nothing = _apply(method, case, case.run.select([])).run
    _require(len(nothing) == 0, method, "gives lists for a run without queries")
    first = case.run.query_ids[0]
    empty = Run((first,), np.zeros(2, np.int64), as_strings([]), np.empty(0))
    if not adds:
        given = _apply(method, case, empty).run
        _require(len(given.doc_ids) == 0, method, "gives documents for an empty list")
        alone = case.run.head(1)
        _require(_lists(_apply(method, case, alone).run) == _lists(alone), method, "changes one document")
    if method.cutoff is None and len(method.steps()) == 1:
        beyond = method @ (case.run.depth + 100)
        same = _lists(_apply(beyond, case).run) == _lists(_apply(method, case).run)
        _require(same, method, "changes with a cut-off beyond the end of the lists")


def _check_documents(method: Reranker, case: Case, new: Run) -> None:
    _require(new.query_ids == case.run.query_ids, method, "has other queries, or in another order")
    shortens, adds = (any(getattr(step, what) for step in method.steps()) for what in ("shortens", "adds"))
    for query, after in _lists(new).items():
        before = case.run.documents(query)
        _require(len(set(after)) == len(after), method, f"has a document twice: {query}")
        _require(adds or set(after) <= set(before), method, f"has documents that the list lacks: {query}")
        _require(shortens or set(before) <= set(after), method, f"leaves documents out: {query}")


def _check_scores(method: Reranker, new: Run) -> None:
    _require(bool(np.isfinite(new.scores).all()), method, "gives scores that are not finite")
    for begin, end in zip(new.offsets[:-1].tolist(), new.offsets[1:].tolist(), strict=True):
        falling = bool((np.diff(new.scores[begin:end]) < 0).all())
        _require(falling, method, "gives scores that do not fall from rank to rank")


def _check_repeatable(method: Reranker, case: Case, done: Reranking) -> None:
    before = _fresh_fingerprints(case)
    again = _apply(method, case)
    _require(_lists(again.run) == _lists(done.run), method, "gives another order when called again")
    _require(again.notes == done.notes, method, "says something else when called again")
    _require(again.infeasible == done.infeasible, method, "reports other queries when called again")
    _require(_fresh_fingerprints(case) == before, method, "changes its input")


def _fresh_fingerprints(case: Case) -> list[str]:
    """Hashes of what the inputs hold now; the inputs' own are kept from the first time."""
    sources: list[Any] = [case.run, case.qrels, case.intents, *case.evidence]
    return [replace(source).fingerprint for source in sources]


def _check_public_door(method: Reranker, case: Case, done: Reranking) -> None:
    """``rerank`` gives the same run, and what cannot be kept is a warning that names the queries."""
    groups = [source for source in case.evidence if isinstance(source, Membership)]
    words = next((source for source in case.evidence if isinstance(source, WordCounts)), None)
    others = [source for source in case.evidence if not isinstance(source, (Membership, WordCounts))]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run = rerank(
            case.run, method, qrels=case.qrels, intents=case.intents, words=words, groups=groups,
            evidence=others, background=case.background,
        )  # fmt: skip
    _require(_lists(run) == _lists(done.run), method, "gives another order through rerank")
    _require(run.name.startswith(f"{case.run.name}+"), method, "does not name the run after itself")
    told = [str(warning.message) for warning in said if issubclass(warning.category, EvenrankWarning)]
    for reason, queries in done.infeasible.items():
        _require(
            any(reason in message and f"{len(queries):,} of" in message for message in told),
            method,
            f"does not say that {reason}: {', '.join(queries)}",
        )
    for note in done.notes:
        _require(any(note in message for message in told), method, f"does not say: {note}")
    reasons = len(done.infeasible) + len(done.notes)
    _require(len(told) == reasons, method, f"warns without a reason: {told}")


def _check_below_cutoff(method: Reranker, case: Case, new: Run) -> None:
    """What stands below the cut-off follows as it was, and does not matter for what stands above."""
    if method.cutoff is None or any(step.adds for step in method.steps()):
        return
    head = _lists(_apply(method, case, case.run.head(method.cutoff)).run)
    for query, after in _lists(new).items():
        tail = case.run.documents(query)[method.cutoff :]
        kept = len(after) - len(tail)
        _require(after[kept:] == tail, method, "changes what stands below its cut-off")
        if not method.stochastic and method.looks_to == method.cutoff:
            _require(after[:kept] == head[query], method, "looks below its cut-off")


def _check_order_alone_matters(method: Reranker, case: Case, new: Run) -> None:
    if any(step.uses_scores for step in method.steps()):
        return
    run = case.run
    ranks = np.arange(len(run.doc_ids)) - np.repeat(run.offsets[:-1], run.lengths)
    queries = np.repeat(np.array(run.query_ids, dtype=object), run.lengths).tolist()
    other = Run.build(queries, run.doc_ids, -1.0 - ranks, name=run.name)
    same = _lists(_apply(method, case, other).run) == _lists(new)
    _require(same, method, "depends on scores, not on the order alone")


def _check_names_do_not_matter(method: Reranker, seed: int, evidence: EvidenceFactory | None) -> None:
    """Documents called otherwise, in another order of ids: the same places. Scores are made to differ."""
    places = []
    for reverse in (False, True):
        case = random_case(seed, evidence, reverse_ids=reverse, ties=False)
        names = [f"d{99 - i if reverse else i + 10}" for i in range(20)]
        new = _lists(_apply(method, case).run)
        places.append({query: [names.index(name) for name in after] for query, after in new.items()})
    _require(places[0] == places[1], method, "depends on what documents are called")


def _check_one_query_at_a_time(method: Reranker, case: Case, new: Run) -> None:
    for query in case.run.query_ids:
        alone = _apply(method, case, case.run.select([query])).run
        _require(alone.documents(query) == new.documents(query), method, "depends on the other queries")


def _check_chain(method: Reranker, case: Case, new: Run) -> None:
    """``a | b`` gives b what a gave, whatever comes first, and parses back."""
    chain = method | parse_reranker("Random(seed=5)@4")
    _require(parse_reranker(repr(chain)) == chain, method, "does not parse back from a chain")
    second = _apply(parse_reranker("Random(seed=5)@4"), case, new).run
    _require(_lists(_apply(chain, case).run) == _lists(second), method, "does not give a chain what it gave")
    if not method.stochastic:
        first = _apply(parse_reranker("Random(seed=5)"), case).run
        after = _lists(_apply(parse_reranker("Random(seed=5)") | method, case).run)
        _require(_lists(_apply(method, case, first).run) == after, method, "does not take what a chain gives")


def _check_oracle(method: Reranker, case: Case, new: Run, oracle: RerankerOracle) -> None:
    for query, after in _lists(new).items():
        expected = list(oracle(method, case.run.documents(query), case, query))
        _require(after == expected, method, f"gives {after} where the slow computation gives {expected}")


def _check_promise(method: Reranker, case: Case, done: Reranking, promise: Promise) -> None:
    reported = {query for queries in done.infeasible.values() for query in queries}
    for query, after in _lists(done.run).items():
        kept = promise(method, case.run.documents(query), after, case, query)
        _require(
            kept or query in reported, method, f"breaks its promise and does not say so: {query} {after}"
        )
