"""One object that holds what is known, so that every function prepares it in the same way, once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, TypeVar

from evenrank.data.diversity import DiversityQrels
from evenrank.data.evidence_source import Evidence
from evenrank.data.membership import Membership
from evenrank.data.polarity import Polarity
from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.data.words import WordCounts
from evenrank.errors import InputTypeError, ParameterError
from evenrank.evidence.align import Sources
from evenrank.inputs.any_groups import as_groups, with_target
from evenrank.inputs.coerce import (
    Settles,
    as_against,
    as_background,
    as_evidence,
    as_intents,
    as_judgements,
    as_polarity,
    as_words,
    asked_queries,
    named_runs,
    sources_by_name,
    with_combined,
)
from evenrank.inputs.one_name import with_one_name
from evenrank.inputs.query_weights import as_query_weights


class KnownData(TypedDict, total=False):
    """What is known of runs, documents and queries; ``Inputs`` explains each of these keywords."""

    qrels: Any
    intents: Any
    words: WordCounts | str | PathLike[str] | None
    groups: Any
    polarity: Any
    evidence: Iterable[Evidence]
    background: Any
    background_depth: int | None
    against: Any
    queries: Sequence[str] | None
    query_texts: Mapping[str, str] | None
    query_reasons: Mapping[str, str] | None
    query_weights: Mapping[str, float] | str | PathLike[str] | None
    documents: Any
    categories: Mapping[str, str | Iterable[str]] | None


class Known(KnownData, total=False):
    """The keywords that ``evaluate``, ``compare`` and the others take."""

    target: Any


S = TypeVar("S", bound=Settles)


class Settled(NamedTuple):
    """Measures, or re-rankers, with what they leave open decided by the evidence, ready to be aligned."""

    terms: tuple[Any, ...]
    sources: Sources
    note: str | None  # what is to be said of the background


@dataclass(frozen=True, eq=False)
class Inputs:
    """Runs, and everything that is known about them: read, checked and named once.

    ``evaluate``, ``compare``, ``explain``, ``rerank``, ``origin`` and ``tradeoff`` take it in the place of a
    run; what they take as keywords is kept in these fields. ``Inputs.of`` makes one from anything that those
    functions accept.

    - ``qrels``: graded judgements; ``intents``: judgements by intent.
    - ``words``: counts of group words in the documents, as ``scan`` gives them.
    - ``groups``: which groups the documents belong to: a file or a table with a column for each attribute,
      ``{attribute: source}`` with sources that ``read_groups`` takes, what that returns, ``"NAME=FILE"``,
      names of fields of ``documents``, or a list of these. ``target``: the share that each group should get,
      ``"catalogue"``, ``"candidates"``, ``"equal"``, shares by value or a file, for all attributes or in a
      dict by attribute.
    - ``polarity``: where documents stand on an axis of opinion.
    - ``evidence``: any further sources that measures ask for by name.
    - ``background``: the documents that some measures compare with: a run, cut at ``background_depth``
      (200) or the name of one of the runs, word counts (the whole collection), ``"collection"`` for those of
      ``words``, document ids, or a file of either. One run alone is compared with itself.
    - ``against``: the second run of a pair.
    - ``queries``: the queries to score. Without it a measure that needs judgements takes the judged queries
      (a run that lacks one has an empty list there), and any other measure takes the run's.
    - ``query_weights``: how often each query is asked, ``{query: weight}`` or a file of queries with that
      column. Verdicts and shares of groups use them; means of other measures count each query once.
    - ``query_texts``, ``query_reasons``, ``documents``, ``categories``: the texts of queries, why they were
      chosen, the texts of documents, and the categories of queries, for reports and tables.

    >>> inputs = Inputs.of({"q": {"a": 2.0, "b": 1.0}}, qrels={"q": {"b": 1}})
    >>> inputs
    <Inputs: 1 run, qrels>
    """

    runs: Mapping[str, Run | RunSet]
    qrels: Qrels | None = None
    intents: DiversityQrels | None = None
    words: WordCounts | None = None
    groups: tuple[Membership, ...] = ()
    polarity: Polarity | None = None
    evidence: tuple[Evidence, ...] = ()
    background: Any = None
    background_depth: int | None = None
    against: Run | None = None
    queries: tuple[str, ...] | None = None
    query_texts: Mapping[str, str] | None = None
    query_reasons: Mapping[str, str] | None = None
    query_weights: Mapping[str, float] | None = None
    documents: Any = None
    categories: Mapping[str, str | Iterable[str]] | None = None

    def __post_init__(self) -> None:
        for name, value in with_one_name(self).items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, run: Any, **known: Any) -> Inputs:
        """From a run, or several by name, and keywords; an ``Inputs`` with keywords that replace its own."""
        _check_names(known)
        if isinstance(run, Inputs):
            return run.with_known(**known)
        return cls(named_runs(run)).with_known(**known)

    def with_known(self, **known: Any) -> Inputs:
        """The same with some of its fields replaced, each read and checked."""
        _check_names(known)
        if not known:
            return self
        target = known.pop("target", None)
        made: dict[str, Any] = {name: _READ.get(name, _as_is)(value) for name, value in known.items()}
        if "groups" in known:
            made["groups"] = as_groups(known["groups"], known.get("documents", self.documents))
        if target is not None:
            made["groups"] = with_target(made.get("groups", self.groups), target)
        if isinstance(made.get("qrels"), DiversityQrels):
            if made.get("intents", self.intents) is not None:
                raise ParameterError("qrels are by intent and intents= was given too: pass one of them")
            made |= {"intents": made["qrels"], "qrels": None}
        return replace(self, **made)

    def with_runs(self, runs: Any) -> Inputs:
        """The same knowledge of other runs."""
        return replace(self, runs=named_runs(runs))

    def one_run(self, what: str) -> Run:
        """The only run, for what takes no more than one."""
        if len(self.runs) != 1:
            raise ParameterError(f"{what} takes one run, got {len(self.runs)}: {', '.join(self.runs)}")
        (only,) = self.runs.values()
        if not isinstance(only, Run):
            raise InputTypeError(
                f"{what} takes one ranking for each query, got a RunSet: pass one of its runs"
            )
        return only

    @cached_property
    def named(self) -> dict[str, Evidence]:
        """Every source under the name that measures ask for."""
        further = [source for source in (self.words, self.polarity) if source is not None]
        return sources_by_name(self.qrels, self.intents, [*further, *self.groups, *self.evidence])

    @property
    def grades_are_derived(self) -> bool:
        """Whether grades come from judgements by intent, or from nowhere."""
        return self.qrels is None

    def settle(self, terms: Sequence[S]) -> Settled:
        """Decide by the evidence what measures or re-rankers leave open, and find their background."""
        settled = tuple(term.settled(self.named) for term in terms)
        named = with_combined(self.named, settled)
        background, note = as_background(self.background, self.runs, settled, named, self.background_depth)
        return Settled(settled, Sources(named, background, self.against), note)

    def __repr__(self) -> str:
        count = len(self.runs)
        given = [field.name for field in fields(self)[1:] if getattr(self, field.name) not in (None, ())]
        return f"<Inputs: {', '.join([f'{count} run' if count == 1 else f'{count} runs', *given])}>"


def _as_is(value: Any) -> Any:
    return value


def _asked(queries: Any) -> tuple[str, ...] | None:
    return None if queries is None else asked_queries(queries)


def _background(given: Any) -> Any:
    """A path or a table is read: a run, or a list of document ids; anything else is settled with the
    measures."""
    is_file = isinstance(given, PathLike) or (isinstance(given, str) and Path(given).is_file())
    from evenrank.io import read_run

    if not is_file:
        from evenrank.io.tables import as_table

        return read_run(given) if isinstance(given, Mapping) or as_table(given) is not None else given
    from evenrank.inputs.id_lists import lists_ids, read_ids
    from evenrank.io.source import guess_format

    path = fspath(given)
    is_trec = (guess_format(path) or "trec") == "trec"
    return read_ids(path, "document") if is_trec and lists_ids(path) else read_run(path)


_READ: Mapping[str, Any] = {
    "qrels": as_judgements,
    "intents": as_intents,
    "words": as_words,
    "polarity": as_polarity,
    "evidence": as_evidence,
    "against": as_against,
    "background": _background,
    "queries": _asked,
    "query_weights": as_query_weights,
}


def _check_names(known: Mapping[str, Any]) -> None:
    names = Known.__annotations__
    for name in known:
        if name not in names:
            close = difflib.get_close_matches(name, names, 1)
            hint = f"did you mean {close[0]}=?" if close else f"there are {', '.join(names)}"
            raise TypeError(f"{name}= is not known; {hint}")
