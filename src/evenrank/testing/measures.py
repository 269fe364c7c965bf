"""The properties that every measure must have."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenrank.data.run import Run
from evenrank.errors import ParameterError
from evenrank.evidence.align import OF_THE_RUN
from evenrank.grammar import REGISTRY
from evenrank.measures import Measure, parse_measure
from evenrank.measures.base import JUDGEMENTS
from evenrank.scores import INFINITE, OK, ScoresBlock
from evenrank.testing.cases import Case, EvidenceFactory, random_case

TOLERANCE = 1e-12

Oracle = Callable[[Measure, list[str], Case, str], "float | Sequence[float] | None"]


def check_measure(
    measure: Measure | str,
    *,
    evidence: EvidenceFactory | None = None,
    oracle: Oracle | None = None,
    cases: int = 25,
) -> None:
    """Raise an ``AssertionError`` that names the property which a measure lacks.

    Of a measure that is one value for all queries, ``oracle`` gets no documents and the query ``all``.
    ``evidence`` makes the sources that the measure needs beyond judgements, from document ids and a
    generator. ``oracle`` computes one query slowly from its paper: ``oracle(measure, documents, case,
    query)`` is the value, or None where it is undefined; for several columns a list, NaN where undefined.

    >>> check_measure("nDCG@10", cases=2)
    """
    measure = parse_measure(measure)
    _check_declaration(measure)
    further = {need.partition(".")[2] for need in measure.needs} - JUDGEMENTS - OF_THE_RUN
    if further and evidence is None:
        raise ParameterError(
            f"{measure!r} needs {', '.join(sorted(further))}: pass evidence=, a function of document ids and "
            "a generator that gives such sources, as read_groups, scan and DocumentTable make them"
        )
    for seed in range(cases):
        case = random_case(seed, evidence)
        block = case.evaluate(measure)
        _check_values(measure, block)
        _check_repeatable(measure, case, block)
        _check_one_query_at_a_time(measure, case, block)
        _check_order_of_queries(measure, case, block)
        _check_order_of_rows(measure, case, block)
        _check_names_do_not_matter(measure, seed, evidence)
        _check_below_cutoff(measure, case, block)
        _check_scores_do_not_matter(measure, case, block)
        _check_explanation(measure, case, block)
        if oracle is not None:
            _check_oracle(measure, case, block, oracle)


def _require(condition: bool, measure: Measure, what: str) -> None:
    if not condition:
        raise AssertionError(f"{measure!r}: {what}")


def _same(one: ScoresBlock, two: ScoresBlock) -> bool:
    return (
        one.query_ids == two.query_ids
        and np.allclose(one.values, two.values, rtol=0, atol=TOLERANCE, equal_nan=True)
        and _words(one) == _words(two)
    )


def _words(block: ScoresBlock) -> list[str]:
    return [block.reasons[code] for code in block.status.ravel().tolist()]


def _check_declaration(measure: Measure) -> None:
    kind = type(measure)
    _require(parse_measure(repr(measure)) == measure, measure, "its name does not parse back to it")
    _require(hash(parse_measure(repr(measure))) == hash(measure), measure, "equal values hash differently")
    for attribute in ("family", "formula", "reference"):
        _require(bool(getattr(kind, attribute)), measure, f"declares no {attribute}")
    _require(bool(kind.summary()), measure, "has no docstring")
    if REGISTRY["measure"].get(kind.name) is kind:  # a sum has no page that anybody could look for
        _require(
            not any(map(math.isfinite, measure.range())) or _names_ends(kind.summary()),
            measure,
            "does not say what the ends of its range mean: name them in the first paragraph of its docstring",
        )
    _require(kind.name in repr(measure), measure, "is not printed by its name")
    low, high = measure.range()
    _require(low < high, measure, f"has an empty range {low} to {high}")
    for field in kind.parameters():
        _require(bool(field.metadata["meaning"]), measure, f"does not say what {field.name} means")


def _names_ends(summary: str) -> bool:
    return re.search(r"\d|infinity", summary) is not None


def _check_values(measure: Measure, block: ScoresBlock) -> None:
    low, high = measure.range()
    values = block.values[block.status == 0]
    _require(
        bool((values >= low - TOLERANCE).all() and (values <= high + TOLERANCE).all()),
        measure,
        f"has values outside its range {low} to {high}: {np.sort(values)[[0, -1]] if len(values) else ()}",
    )
    # a sum names the part that is undefined first
    undeclared = {word.rpartition(": ")[2] for word in _words(block)} - {
        OK,
        INFINITE,
        *measure.undefined_when,
    }
    _require(
        not undeclared, measure, f"is undefined for reasons that it does not declare: {sorted(undeclared)}"
    )
    undefined = block.status > 1
    _require(bool(np.isnan(block.values[undefined]).all()), measure, "has a value where it is undefined")


def _check_repeatable(measure: Measure, case: Case, block: ScoresBlock) -> None:
    """The same again, after it and among others: arrays are shared by all measures of an evaluation."""
    before = _fresh_fingerprints(case)
    again = case.evaluate(measure)
    _require(_same(again, block), measure, "gives another value when called again")
    _require(_fresh_fingerprints(case) == before, measure, "changes its input")


def _fresh_fingerprints(case: Case) -> list[str]:
    """Hashes of what the inputs hold now; the inputs' own are kept from the first time."""
    return [replace(source).fingerprint for source in (case.run, case.qrels, case.intents)]


def _check_one_query_at_a_time(measure: Measure, case: Case, block: ScoresBlock) -> None:
    """To the last bit: see ``measures.sums`` for sums that do not depend on the longest list."""
    if measure.over_queries:
        return
    for place, query in enumerate(block.query_ids):
        alone = case.evaluate(measure, case.run.select([query]))
        _require(
            np.array_equal(alone.values[0], block.values[place], equal_nan=True),
            measure,
            f"depends on the other queries: {alone.values[0]} alone, {block.values[place]} among others",
        )


def _check_order_of_queries(measure: Measure, case: Case, block: ScoresBlock) -> None:
    turned = case.evaluate(measure, case.run.select(case.run.query_ids[::-1]))
    same = turned.query_ids == block.query_ids[::-1] and _words(turned) == _words_turned(block)
    if measure.over_queries:  # sums over queries differ in the last bit
        same = same and np.allclose(turned.values, block.values, rtol=0, atol=TOLERANCE, equal_nan=True)
    else:
        same = same and np.array_equal(turned.values[::-1], block.values, equal_nan=True)
    _require(same, measure, "depends on the order of the queries")


def _check_order_of_rows(measure: Measure, case: Case, block: ScoresBlock) -> None:
    """Lists are by score, and of equal scores by id: in which order their rows came does not matter."""
    run = case.run
    queries = np.repeat(np.array(run.query_ids, dtype=object), run.lengths)[::-1].tolist()
    documents, scores = run.doc_ids.to_pylist()[::-1], run.scores[::-1]
    other = Run.build(queries, documents, scores, name=run.name).select(run.query_ids)
    slack = TOLERANCE if measure.over_queries else 0.0  # a sum over documents takes them in another order
    same = np.allclose(case.evaluate(measure, other).values, block.values, rtol=0, atol=slack, equal_nan=True)
    _require(same, measure, "depends on the order in which documents were given")


def _words_turned(block: ScoresBlock) -> list[str]:
    return [block.reasons[code] for code in block.status[::-1].ravel().tolist()]


def _check_names_do_not_matter(measure: Measure, seed: int, evidence: EvidenceFactory | None) -> None:
    """Documents called otherwise, in another order of ids: the same values. Ids do break ties, so scores
    are made to differ; and an ideal list that is found greedily may depend on the ties in it."""
    if measure.ideal_depends_on_ids:
        return
    values = []
    for reverse in (False, True):
        case = random_case(seed, evidence, reverse_ids=reverse, ties=False)
        values.append(case.evaluate(measure))
    _require(_same(*values), measure, "depends on what documents are called")


def _check_below_cutoff(measure: Measure, case: Case, block: ScoresBlock) -> None:
    """Unless it drops documents, which makes room for those below."""
    if measure.cutoff is None or measure.looks_below_cutoff or _drops(measure):
        return
    cut = case.evaluate(measure, case.run.head(measure.cutoff))
    _require(_same(cut, block), measure, "looks below its cut-off")


def _drops(measure: Measure) -> bool:
    return getattr(measure, "missing", "") == "drop" or getattr(measure, "judged_only", False)


def _check_scores_do_not_matter(measure: Measure, case: Case, block: ScoresBlock) -> None:
    """Only the order counts: other scores in the same order give the same value."""
    run = case.run
    ranks = np.arange(len(run.doc_ids)) - np.repeat(run.offsets[:-1], run.lengths)
    queries = np.repeat(np.array(run.query_ids, dtype=object), run.lengths).tolist()
    other = Run.build(queries, run.doc_ids, -1.0 - ranks, name=run.name)
    _require(
        _same(case.evaluate(measure, other), block), measure, "depends on scores, not on the order alone"
    )


def _check_explanation(measure: Measure, case: Case, block: ScoresBlock) -> None:
    """Where a measure explains itself by rank, the ranks add up to the value."""
    from evenrank.evidence.align import Sources, align
    from evenrank.inputs.coerce import with_combined

    by_name: dict[str, Any] = {"relevance": case.qrels, "intents": case.intents}
    by_name |= {source.name: source for source in case.evidence}
    measure = measure.settled(by_name)
    sources = Sources(with_combined(by_name, [measure]), case.background, case.against)
    aligned = align(case.run, case.run.query_ids, measure.needs, sources, measure.depth)
    parts = measure.explain(measure.prepared(aligned))
    if parts is None:
        return
    total = parts.sum(axis=1)
    defined = block.status[:, 0] == 0
    _require(
        np.allclose(total[defined], block.values[defined, 0], rtol=0, atol=1e-9),
        measure,
        "explains its value by parts that do not add up to it",
    )


def _check_oracle(measure: Measure, case: Case, block: ScoresBlock, oracle: Oracle) -> None:
    for place, query in enumerate(block.query_ids):
        documents = [] if measure.over_queries else case.run.documents(query)
        expected = oracle(measure, documents, case, query)
        values = block.values[place]  # (C,)
        wanted = np.atleast_1d(np.array(np.nan if expected is None else expected, dtype=np.float64))
        states = np.array([block.reasons[code] for code in block.status[place].tolist()])  # (C,)
        _require(
            bool((np.isin(states, [OK, INFINITE]) == ~np.isnan(wanted)).all()),
            measure,
            f"is {states.tolist()} with {values} where the slow computation gives {expected}: {query}",
        )
        _require(
            bool(((states == INFINITE) == np.isinf(wanted)).all())
            and np.allclose(values, wanted, rtol=0, atol=1e-9, equal_nan=True),
            measure,
            f"gives {values} where the slow computation gives {expected}",
        )
