"""What a re-ranker is: a declared value with a pure function from run to run.

It sees what a measure sees, evidence aligned to ranks, and gives for every query an order of the places.
So it never meets an id or a file, and whatever can be measured can be re-ranked by.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from evenrank.arrays import Bools, Int64s, ragged
from evenrank.data.evidence_source import Evidence
from evenrank.data.membership import evidence_name, split_name
from evenrank.data.run import Run
from evenrank.errors import InputTypeError, MissingEvidenceError, ParameterError, few
from evenrank.evidence.align import OF_THE_RUN, Sources, align
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import REFUSED, Term, expression, integer, operands, parameter, parse
from evenrank.ids import take
from evenrank.inputs.coerce import way_out
from evenrank.inputs.missing import check_missing, evidence_words
from evenrank.measures.base import JUDGEMENTS


@dataclass(frozen=True)
class Reordered:
    """For each query the old places, counted from 0, in their new order: (Q, K), -1 where the list has ended.

    ``infeasible`` marks the queries, by reason, for which what the method promises cannot be kept.
    """

    places: Int64s
    infeasible: Mapping[str, Bools] = field(default_factory=dict)  # (Q,) each


@dataclass(frozen=True)
class Reranking:
    """A new run, the queries for which the method could not keep its promise, by reason, and notes."""

    run: Run
    infeasible: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def then(self, later: Reranking) -> Reranking:
        """What a later step gave, with what both could not keep."""
        both = dict(self.infeasible)
        for reason, queries in later.infeasible.items():
            both[reason] = tuple(dict.fromkeys([*both.get(reason, ()), *queries]))
        return Reranking(later.run, both, tuple(dict.fromkeys([*self.notes, *later.notes])))


@dataclass(frozen=True, repr=False)
class Reranker(Term):
    """Gives every query of a run its documents in another order, with strictly falling scores.

    With a cut-off only so many ranks are re-ranked; the documents below follow as they were. Scores are
    written anew: as many as there are documents, falling by one.
    """

    kind: ClassVar[str] = "reranker"
    reference: ClassVar[str] = ""
    stochastic: ClassVar[bool] = False  # has a seed, and gives another order for another one
    shortens: ClassVar[bool] = False  # may leave documents out
    uses_scores: ClassVar[bool] = False  # looks at the scores of the run, not at its order alone
    adds: ClassVar[bool] = False  # may put documents in that the list lacks

    cutoff: int | None = parameter(
        None, integer(1, optional=True), "how many ranks are re-ranked; None is all"
    )

    @property
    def needs(self) -> frozenset[str]:
        """The arrays that ``reorder`` reads, as measures name them."""
        return frozenset()

    @property
    def looks_to(self) -> int | None:
        """How many ranks the method looks at; those below the cut-off may count, and do not move."""
        return self.cutoff

    def settled(self, sources: Mapping[str, Evidence]) -> Reranker:
        """This method with what it leaves open decided by the evidence there is, as ``attr=None``."""
        return self

    def reads_judgements(self, sources: Mapping[str, Evidence]) -> bool:
        """Whether its order depends on judgements, which no system has when it answers."""
        return any(need.partition(".")[2] in JUDGEMENTS for need in self.settled(sources).needs)

    def lacking(self, evidence: RankedEvidence) -> Bools:
        """(Q, K): the ranked documents that lack what the method orders by."""
        names = {need.partition(".")[2] for need in self.needs if need.startswith("ranked.")}
        lacks = np.zeros(evidence.ranked.rows.shape, dtype=bool)
        for name in names - OF_THE_RUN - {"relevance", "intents"}:
            lacks |= ~evidence.ranked.known(name)
        return lacks & evidence.ranked.mask

    def reorder(self, evidence: RankedEvidence, generator: np.random.Generator) -> Reordered:
        """The new order of all lists at once. ``evidence`` is cut to the cut-off."""
        raise NotImplementedError(f"{type(self).__name__} does not re-rank")

    def reorder_often(
        self, evidence: RankedEvidence, generators: Sequence[np.random.Generator]
    ) -> Iterable[Reordered]:
        """``reorder`` for each generator; for methods that can share work among them."""
        return (self.reorder(evidence, generator) for generator in generators)

    def apply(self, run: Run, sources: Sources, draw: int = 0) -> Reranking:
        """The new run; the old one stays as it is. ``draw`` numbers repetitions of a stochastic method."""
        return self.draws(run, sources, [draw])[0]

    def draws(self, run: Run, sources: Sources, draws: Sequence[int]) -> list[Reranking]:
        """The new run of each repetition: run and evidence meet once for all of them."""
        evidence = align(run, run.query_ids, self.needs, sources, self.looks_to)
        anywhere = partial(_known_anywhere, run, sources)
        check_missing(self, evidence, run.query_ids, run, anywhere)  # type: ignore[arg-type]
        _check_known(self, evidence, run, sources)
        return self.on(run, evidence, draws)

    def on(self, run: Run, evidence: RankedEvidence, draws: Sequence[int] = (0,)) -> list[Reranking]:
        """The same on lists that were aligned before, for whoever tries several methods on them."""
        seed = getattr(self, "seed", 0)
        orders = self.reorder_often(evidence, [np.random.default_rng([seed, draw]) for draw in draws])
        return [self._done(run, new, evidence) for new in orders]

    def _done(self, run: Run, new: Reordered, evidence: RankedEvidence) -> Reranking:
        infeasible = {
            reason: tuple(run.query_ids[place] for place in np.flatnonzero(where).tolist())
            for reason, where in {**new.infeasible, **_small_cells(self, evidence)}.items()
            if where.any()
        }
        new_run = rearranged(run, new.places, evidence.ranked.depth, self)
        return Reranking(new_run, infeasible, _put_behind(self, new.places, evidence))

    def __or__(self, other: object) -> Reranker:
        return Chain(steps=(*self.steps(), *other.steps())) if isinstance(other, Reranker) else NotImplemented

    def steps(self) -> tuple[Reranker, ...]:
        return (self,)

    @classmethod
    def summary(cls) -> str:
        """The first paragraph of the docstring."""
        return (inspect.getdoc(cls) or "").partition("\n\n")[0].replace("\n", " ")

    @classmethod
    def describe(cls) -> dict[str, Any]:
        """What the method declares, in plain values."""
        documents = "some of those of the list" if cls.shortens else "those of the list"
        if not isinstance(cls.__dict__.get("adds", False), bool):  # a parameter decides
            documents = "those of the list, or more"
        default = cls()
        return {
            "name": cls.name,
            "summary": cls.summary(),
            "reference": cls.reference,
            "needs": sorted({_needed(need.partition(".")[2], default) for need in default.needs}),
            # for some values of its parameters
            "random": any(field.name == "seed" for field in cls.parameters()),
            "documents": documents,
            "parameters": cls.describe_parameters(),
            "text": (inspect.getdoc(cls) or "").partition("\n\n")[2].partition(">>>")[0].strip(),
        }


def _needed(name: str, method: Reranker) -> str:
    if name.startswith("group:"):  # of an attribute that is not named yet
        return "groups"
    if name == "relevance" and hasattr(method, "pseudo"):
        return "judgements, or else the ranking"
    words = {"scores": "the scores of the run", "relevance": "judgements", "": "a table of numbers"}
    return words.get(name, name)


@dataclass(frozen=True, repr=False, kw_only=True)
class Chain(Reranker):
    """One re-ranker after another: ``a | b`` gives b what a gave."""

    name: ClassVar[str] = "Chain"

    chained: tuple[Reranker, ...] = ()

    def __init__(self, steps: tuple[Reranker, ...]) -> None:
        object.__setattr__(self, "chained", steps)
        object.__setattr__(self, "cutoff", None)

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.chained))

    def __matmul__(self, cutoff: int) -> Self:
        raise ParameterError(f"{self!r} takes no cut-off: give each step its own, as in a@10 | b@10")

    def steps(self) -> tuple[Reranker, ...]:
        return self.chained

    @property
    def needs(self) -> frozenset[str]:
        return frozenset().union(*(step.needs for step in self.chained))

    def settled(self, sources: Mapping[str, Evidence]) -> Reranker:
        return Chain(tuple(step.settled(sources) for step in self.chained))

    def draws(self, run: Run, sources: Sources, draws: Sequence[int]) -> list[Reranking]:
        """As long as nothing was left to chance, a step is done once for all repetitions."""
        chance = [place for place, step in enumerate(self.chained) if step.stochastic]
        certain = chance[0] if chance else len(self.chained)
        start = Reranking(run)
        for step in self.chained[:certain]:
            start = start.then(step.apply(start.run, sources))
        if certain == len(self.chained):
            return [start] * len(draws)
        done = [start.then(one) for one in self.chained[certain].draws(start.run, sources, draws)]
        for step in self.chained[certain + 1 :]:
            done = [
                one.then(step.apply(one.run, sources, draw)) for one, draw in zip(done, draws, strict=True)
            ]
        return done


def rearranged(run: Run, places: Int64s, depth: int, method: Reranker) -> Run:
    """The run with its first ``depth`` ranks in the order of ``places`` (Q, K), the others behind them."""
    kept = places >= 0  # (Q, K)
    heads, lengths = kept.sum(axis=1), run.lengths
    tails = np.maximum(lengths - depth, 0)
    sizes = heads + tails
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = np.empty(int(offsets[-1]), dtype=np.int64)
    order = np.argsort(~kept, axis=1, kind="stable")  # what is kept stands first
    moved = np.take_along_axis(places, order, axis=1)
    rows[ragged(offsets[:-1], heads)] = (moved + run.offsets[:-1, None])[
        np.arange(places.shape[1]) < heads[:, None]
    ]
    rows[ragged(offsets[:-1] + heads, tails)] = ragged(run.offsets[:-1] + depth, tails)
    there = np.flatnonzero(sizes > 0)
    scores = np.repeat(sizes, sizes) - (np.arange(len(rows)) - np.repeat(offsets[:-1], sizes))
    return Run(
        tuple(run.query_ids[place] for place in there.tolist()),
        np.concatenate([[0], np.cumsum(sizes[there])]).astype(np.int64),
        take(run.doc_ids, rows),
        scores.astype(np.float64),
        f"{run.name}+{method!r}",
        "file",
        None,
        run.doc_hashes[rows],
    )


def parse_reranker(source: str | Reranker) -> Reranker:
    """A re-ranker from its name; ``a | b`` is one after another.

    >>> parse_reranker("Oracle(insert=True)@50")
    Oracle(insert=True)@50
    """
    if isinstance(source, Reranker):
        return source
    if not isinstance(source, str):
        raise InputTypeError(f"a re-ranker must be a string or a Reranker, got {type(source).__name__}")
    steps = [parse(ast.unparse(step), "reranker") for step in operands(expression(source), ast.BitOr)]
    for step in steps:
        if not isinstance(step, Reranker):
            raise ParameterError(f"{source!r} is not a re-ranker")
    return steps[0] if len(steps) == 1 else Chain(tuple(steps))


def check_needs(method: Reranker, sources: Sources) -> None:
    """Say what a method lacks before anything is computed, in the words of measures."""
    names = {need.partition(".")[2] for need in method.needs} - OF_THE_RUN
    for name in sorted(names - set(sources.evidence)):
        raise ParameterError(f"{method!r} needs {way_out(name, sources)}")


def check_judged(method: Reranker, run: Run, sources: Sources) -> None:
    """Judgements for other queries than those of the run would leave every list as it is."""
    for kind in sorted(JUDGEMENTS & {need.partition(".")[2] for need in method.needs}):
        judged = sources.judged_queries(kind)
        if run.query_ids and not set(run.query_ids).intersection(judged):
            raise MissingEvidenceError(
                f"{method!r}: no query of run {run.name!r} has {evidence_words(kind)}: "
                f"the run has {few(run.query_ids)}; the {evidence_words(kind)} are for {few(judged)}"
            )


def _small_cells(method: Reranker, evidence: RankedEvidence) -> dict[str, Bools]:
    """The queries for which a cell of a combination of attributes should have less than one of the places
    that the method fills: no order gives it a part of a place, and many give it none."""
    name = getattr(method, "attr", None) or ""
    parts = split_name(name)
    if len(parts) < 2:
        return {}
    shares = evidence.query[f"{evidence_name(name)}.target"]  # (Q, L)
    labelled = (evidence.ranked.mask & ~method.lacking(evidence))[:, : method.cutoff]
    places = np.minimum(labelled.sum(axis=1), getattr(method, "top", None) or labelled.shape[1])  # (Q,)
    expected = np.nan_to_num(shares) * places[:, None]  # (Q, L)
    one_by_one = " | ".join(f"{method.name}(attr={part!r})" for part in parts)
    reason = f"a cell of {name} expects less than one place and may lose all; rather {one_by_one}"
    return {reason: ((expected > 0) & (expected < 1)).any(axis=1)}


def _put_behind(method: Reranker, places: Int64s, evidence: RankedEvidence) -> tuple[str, ...]:
    """What to say of documents that stand lower only because nothing is known about them."""
    if getattr(method, "missing", "") != "behind":
        return ()
    lacking = method.lacking(evidence)  # (Q, K), by old place
    there = places >= 0
    old = np.where(there, places, 0)
    moved = np.take_along_axis(lacking, old, axis=1) & there & (np.arange(places.shape[1]) > old)
    count, of = int(moved.sum()), int(evidence.ranked.mask.sum())
    if not count:
        return ()
    known = {need.partition(".")[2] for need in method.needs if need.startswith("ranked.")} - {"relevance"}
    rule = next(field.metadata["rule"] for field in method.parameters() if field.name == "missing")
    way_out = "" if rule.accept("stay") is REFUSED else "; missing='stay' leaves them at their rank"
    named = " or ".join(map(evidence_words, sorted(known)))
    return (
        f"{count:,} of {of:,} documents ({count / of:.1%}) are ranked lower because they have no "
        f"{named} (missing='behind'){way_out}",
    )


def _known_anywhere(run: Run, sources: Sources, name: str) -> bool:
    """Whether any document of the whole lists, not of the first ranks alone, has this evidence."""
    ranked = align(run, run.query_ids, frozenset({f"ranked.{name}"}), sources, None).ranked
    return bool((ranked.known(name) & ranked.mask).any())


def _check_known(method: Reranker, evidence: RankedEvidence, run: Run, sources: Sources) -> None:
    """Documents without evidence are usual; a run of which none is known, to its end, has other ids."""
    ranked = evidence.ranked
    for need in sorted(method.needs):
        block, _, name = need.partition(".")
        if block != "ranked" or name in OF_THE_RUN | JUDGEMENTS or name not in ranked:
            continue
        if len(evidence) > 1 and ranked.mask.any() and not (ranked.known(name) & ranked.mask).any():
            whole = align(run, run.query_ids, frozenset({need}), sources, None).ranked
            if whole.known(name).any():
                continue
            what = f"none of the {int(whole.mask.sum()):,} ranked documents has {evidence_words(name)}"
            raise MissingEvidenceError(f"{method!r}: {what}; are document ids written the same way in both?")
