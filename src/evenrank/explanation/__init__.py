"""Why does this list have this score? What each rank holds and adds, and what the best order would be."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from evenrank.arrays import Int64s
from evenrank.data.run import Run
from evenrank.errors import DataError, InputTypeError, MissingEvidenceError, ParameterError, few, for_reader
from evenrank.evaluation.engine import PreparedEvidence, evaluate_prepared
from evenrank.evidence.align import AlignedLists, Sources, split_needs
from evenrank.evidence.ranked_evidence import Ranked, RankedEvidence
from evenrank.explanation.best import BETTER, best_order, ideal_list
from evenrank.explanation.documents import known_documents
from evenrank.explanation.explanation import BestOrder, Explanation, RankedDocument
from evenrank.explanation.trial import MeasuredList, changes_without, contributions, counting_rows
from evenrank.inputs import Inputs, Known
from evenrank.inputs.coerce import with_options
from evenrank.measures import Measure, parse_measure
from evenrank.measures.neutrality import NeutralityMeasure
from evenrank.scores import INFINITE, OK, ScoresBlock
from evenrank.scores.names import checked_labels, full_name
from evenrank.scores.notes import ScoresNote

if TYPE_CHECKING:
    from evenrank.measures.registry import MeasureLike

__all__ = ["BestOrder", "Explanation", "RankedDocument", "explain", "explain_measures"]

SHOWN = 100  # ranks, where the measure has no cut-off and nobody says how many
COLUMNS = 6  # more of them are a table of their own, not a reason


def explain(
    run: Any,
    measure: MeasureLike,
    query: str,
    *,
    missing: str | None = None,
    depth: int | None = None,
    labels: Mapping[str, str] | None = None,
    **known: Unpack[Known],
) -> Explanation:
    """Why the list of one query has its score under a measure of one list.

    The inputs are those of ``evaluate``; evidence that the measure does not need is shown beside the rest.
    ``depth`` is how many ranks are shown: those that count, at most 100, unless it says otherwise.
    ``labels`` are other names of the measure and its columns, as ``{"NFaiRR@10": "Neutrality"}``.

    >>> run = Run.build(["q", "q"], ["a", "b"], [2.0, 1.0])
    >>> found = explain(run, "nDCG@10", "q", qrels={"q": {"b": 1}})
    >>> round(found.value, 4), found.best.value, found.best.documents
    (0.6309, 1.0, ('b', 'a'))
    """
    inputs = Inputs.of(run, **known)
    (found,) = explain_measures(inputs, [parse_measure(measure)], query, missing, depth, [labels or {}])
    return found


def explain_measures(
    inputs: Inputs,
    measures: Sequence[Measure],
    query: str,
    missing: str | None = None,
    depth: int | None = None,
    labels: Sequence[Mapping[str, str]] = (),
) -> list[Explanation]:
    """Why the list of one query has its scores under several measures, for which it is aligned once.

    ``labels`` are those of each measure.
    """
    whole = inputs.one_run("explain")
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int) or depth < 1):
        raise ParameterError(f"depth must be an integer >= 1, got {depth!r}")
    asked = [with_options([measure], None, missing)[0] for measure in measures]
    for measure in asked:
        _check_asked(whole, measure.settled(inputs.named), query, Sources(inputs.named))
    inputs = inputs.with_runs(whole.select([query])).with_known(queries=[query])
    settled, sources, _ = inputs.settle(asked)
    needs = frozenset().union(*(_needs(measure, sources) for measure in settled))
    lists = AlignedLists(sources, needs, None)
    given = labels or [{}] * len(asked)
    return [_explained(inputs, one, query, lists, depth, own) for one, own in zip(asked, given, strict=True)]


def _explained(
    inputs: Inputs,
    asked: Measure,
    query: str,
    lists: AlignedLists,
    depth: int | None,
    labels: Mapping[str, str],
) -> Explanation:
    own = inputs.one_run("explain")
    (wanted,), sources, note = inputs.settle([asked])
    scores = evaluate_prepared(PreparedEvidence(inputs, sources, {asked: wanted}, note, lists), [asked])
    block, notes = scores.blocks[0], list(scores.notes_by_run[own.name])
    statuses = [block.reasons[code] for code in block.status[0].tolist()]

    trial = MeasuredList(wanted, _as_needed(lists, own, query, _needs(wanted, sources)))
    counting = counting_rows(wanted, trial.evidence)
    shown = min(
        own.depth, depth or SHOWN
    )  # down to the last document that counts, with those left out above it
    if depth is None and len(counting):
        shown = min(shown, int(counting[-1]) + 1)
    adds = contributions(wanted, trial.evidence)
    changes: dict[int, dict[str, float]] | None = None
    if adds is None:
        changes, why = _changes(trial, counting[counting < shown], own)
        notes.append(ScoresNote("measure", why))
    best = None
    if wanted.direction not in BETTER:
        notes.append(ScoresNote("measure", f"no order is best: {wanted.direction.value}"))
    elif statuses == [OK]:
        best = best_order(trial, counting)
    by_words = any(part.family == "words" for part in wanted.parts())
    if by_words and inputs.words is not None and not inputs.words.has_terms:
        hint = "the words themselves are not shown, because they were counted without terms=True (--terms)"
        notes.append(ScoresNote("measure", for_reader(hint)))
    ids = own.documents(query)
    places = {} if best is None else {row: place for place, row in enumerate(best.rows.tolist(), 1)}
    takes_part = set(counting.tolist())
    return Explanation(
        run=own.name,
        query=query,
        measure=wanted,
        values=dict(zip(block.columns, block.values[0].tolist(), strict=True)),
        statuses=dict(zip(block.columns, statuses, strict=True)),
        documents=tuple(
            RankedDocument(
                rank=row + 1,
                document=ids[row],
                counts_in=row in takes_part,
                known=what,
                adds=None if adds is None else float(adds[row]),
                change_without=None if changes is None else changes.get(row),
                best_rank=places.get(row),
            )
            for row, what in enumerate(known_documents(wanted, trial.evidence, sources, query, range(shown)))
        ),
        counting=len(counting),
        best=None
        if best is None
        else BestOrder(tuple(ids[row] for row in best.rows.tolist()), best.value, best.exact, best.how),
        ideal=ideal_list(trial, sources, query) if set(statuses) <= {OK, INFINITE} else None,
        said=tuple(notes),
        labels=_labels(block, wanted, labels) if labels else {},
    )


def _labels(block: ScoresBlock, settled: Measure, labels: Mapping[str, str]) -> dict[str, str]:
    """The labels by column, whether they name the measure that was asked for or what it became."""
    named = checked_labels([block, replace(block, measure=settled)], labels)
    names = {
        column: [full_name(repr(measure), column) for measure in (block.measure, settled)]
        for column in ("", *block.columns)
    }
    return {column: named[name] for column, own in names.items() for name in own if name in named}


def _check_asked(run: Run, measure: Measure, query: str, sources: Sources) -> None:
    blocks = split_needs(measure.needs)
    if "against" in blocks or "rankings" in blocks or measure.over_queries:
        raise ParameterError(
            f"{measure!r} is not a measure of one list, so it cannot be explained rank by rank"
        )
    if not isinstance(query, str):
        raise InputTypeError(f"query must be a query id, a string; got {type(query).__name__}")
    judged = {kind: sources.judged_queries(kind) for kind in sorted(measure.judged_by)}
    if query not in run:
        if any(query in ids for ids in judged.values()):
            raise DataError(
                f"query {query!r} is judged but not in run {run.name!r}: it counts as an empty list, "
                "in which there is nothing to explain"
            )
        close = difflib.get_close_matches(query, run.query_ids, 3, 0.6)
        hint = f"did you mean {', '.join(map(repr, close))}?" if close else f"it has {few(run.query_ids)}"
        raise DataError(f"query {query!r} is not in run {run.name!r}; {hint}")
    for kind, ids in judged.items():
        if kind in sources.evidence and query not in ids:
            raise DataError(
                f"query {query!r} has no judgements{' by intent' if kind == 'intents' else ''}, and "
                f"{measure!r} needs them; judged are {few(ids)}"
            )


def _needs(measure: Measure, sources: Sources) -> set[str]:
    """What the measure needs, everything else that is known of the ranked documents, and a background
    that was given, though FaiRR does not compare with it."""
    needs = {*measure.needs, *(f"ranked.{name}" for name in sources.evidence)}
    if sources.background is not None and isinstance(measure, NeutralityMeasure):
        needs.add("background.words")
    return needs


def _as_needed(lists: AlignedLists, run: Run, query: str, needs: set[str]) -> RankedEvidence:
    """The list without what is there for other measures alone."""
    evidence, blocks = lists.of(run, [query], needs, None), split_needs(needs)
    ranked = {name: found for name, found in evidence.ranked.gathered.items() if name in blocks["ranked"]}
    return replace(
        evidence,
        ranked=Ranked(evidence.ranked.rows, ranked),
        reference={name: found for name, found in evidence.reference.items() if name in blocks},
    )


def _changes(trial: MeasuredList, rows: Int64s, run: Run) -> tuple[dict[int, dict[str, float]] | None, str]:
    """How the value changes without each of these documents, and what to say of it."""
    no_parts = f"{trial.measure!r} is not a sum over ranks"
    columns = trial.measure.evaluate(trial.evidence).columns
    if len(columns) > COLUMNS:
        return None, f"{no_parts}, and has {len(columns):,} columns: no change by document is shown"
    try:
        changes = changes_without(trial.measure, trial.evidence, rows, run.query_ids, run)[:, 0]  # (P, C)
    except MissingEvidenceError as error:
        return None, f"{no_parts}, and what it would be without a document is not known: {error}"
    found = {
        row: dict(zip(columns, change, strict=True))
        for row, change in zip(rows.tolist(), changes.tolist(), strict=True)
    }
    return found, f"{no_parts}, so the change without each document is shown instead of what it adds"
