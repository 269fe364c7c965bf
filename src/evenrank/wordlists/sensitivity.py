"""How far a score and a conclusion move when the word list changes, from the counts of one scan.

Words are left out one by one, drawn again with replacement, and replaced by other lists; the runs are
aligned once. Beside the interval over queries stands one over word lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from evenrank.arrays import Floats
from evenrank.comparison import known_names
from evenrank.comparison.measure_table import MeasureTable
from evenrank.comparison.pairs import verdicts_of
from evenrank.data.lexicon import Lexicon
from evenrank.data.words import WordCounts
from evenrank.errors import ParameterError, counted
from evenrank.evaluation import evaluate
from evenrank.inputs import Inputs, Known
from evenrank.inputs.coerce import with_options
from evenrank.measures import Measure, parse_measures
from evenrank.scores.scores import aggregated
from evenrank.wordlists.rescoring import Rescoring, resampled_lists

if TYPE_CHECKING:
    from evenrank.measures.registry import MeasureLike
    from evenrank.tables import Table

LISTS = 200
TAUS = (0, 1, 2, 3)
LEVEL = 0.95

Pairing = tuple[str, str]


class RunSensitivity(NamedTuple):
    """One run on one measure: its value, with an interval over queries and one over word lists."""

    run: str
    value: float
    low: float
    high: float
    list_low: float
    list_high: float
    shift: float  # how far the mean over drawn lists, which hold fewer different words, is from the value


class WordEffect(NamedTuple):
    """What leaving one word out does."""

    word: str
    group: str
    documents: int  # that the measure looks at and that hold the word
    mean_change: float  # over the runs
    largest_change: float
    run: str  # where that is
    flips: int  # pairs whose verdict changes


class Variant(NamedTuple):
    """Another list, another tokeniser or another tau: the value of every run, and the verdicts."""

    name: str
    terms: int
    values: Mapping[str, float]
    verdicts: Mapping[Pairing, str]


class VerdictStability(NamedTuple):
    """A verdict of the whole list, and how often drawn lists give another one."""

    system: str
    baseline: str
    verdict: str
    same: float  # the share of drawn lists with the same verdict
    others: Mapping[str, float]  # the shares of the others
    words: tuple[str, ...]  # each of which flips it when it is left out
    variants: tuple[str, ...]  # that give another verdict


@dataclass(frozen=True, eq=False)
class MeasureSensitivity:
    """One measure under many word lists."""

    measure: Measure
    lexicon: Lexicon
    systems: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: Floats  # (R, Q) by the whole list
    drawn: Floats  # (L, R, Q)
    left_out: Floats  # (W, R, Q)
    words: tuple[int, ...]  # the places of the W terms that were left out in turn
    documents: Mapping[int, int]  # in how many documents each of them stands
    intervals: Mapping[str, tuple[float, float]]  # over queries
    variant_values: Mapping[str, tuple[int, Floats]]  # by name: terms, (R, Q)
    baselines: tuple[str, ...] = ()
    test: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def means(self) -> Floats:
        """(R,): by the whole list."""
        return self._means(self.values)

    @cached_property
    def drawn_means(self) -> Floats:
        """(L, R)."""
        return self._means(self.drawn)

    @cached_property
    def runs(self) -> tuple[RunSensitivity, ...]:
        rows = []
        low, high = self.measure.range()
        for place, run in enumerate(self.systems):
            value, drawn = float(self.means[place]), self.drawn_means[:, place]
            drawn = drawn[np.isfinite(drawn)]
            spread, shift = (np.nan, np.nan), np.nan
            if len(drawn):
                shift = float(drawn.mean() - value)
                spread = np.quantile(drawn - drawn.mean(), [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) + value
            own = self.intervals[run]
            rows.append(
                RunSensitivity(
                    run, value, *own, max(low, float(spread[0])), min(high, float(spread[1])), shift
                )
            )
        return tuple(rows)

    @cached_property
    def word_effects(self) -> tuple[WordEffect, ...]:
        """The words by their largest effect on any run."""
        changes = self._means(self.left_out) - self.means  # (W, R)
        rows = []
        for row, term in enumerate(self.words):
            change = np.nan_to_num(changes[row])
            place = int(np.abs(change).argmax())
            flips = sum(self._left_out_verdicts[row][pair] != own for pair, own in self.verdicts.items())
            rows.append(
                WordEffect(
                    self.lexicon.terms[term],
                    self.lexicon.groups[self.lexicon.term_groups[term]],
                    self.documents[term],
                    float(change.mean()),
                    float(change[place]),
                    self.systems[place],
                    flips,
                )
            )
        return tuple(sorted(rows, key=lambda effect: (-abs(effect.largest_change), effect.word)))

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        return tuple(
            Variant(
                name,
                terms,
                dict(zip(self.systems, self._means(values).tolist(), strict=True)),
                self._verdicts(values),
            )
            for name, (terms, values) in self.variant_values.items()
        )

    @cached_property
    def verdicts(self) -> dict[Pairing, str]:
        return self._verdicts(self.values)

    @cached_property
    def _left_out_verdicts(self) -> list[dict[Pairing, str]]:
        return self._many_verdicts(self.left_out)

    @cached_property
    def stability(self) -> tuple[VerdictStability, ...]:
        drawn = self._many_verdicts(self.drawn)
        terms = [self.lexicon.terms[place] for place in self.words]
        alone = list(zip(terms, self._left_out_verdicts, strict=True))
        rows = []
        for pair, verdict in self.verdicts.items():
            shares = Counter(one[pair] for one in drawn)
            others = {name: count / len(drawn) for name, count in shares.most_common() if name != verdict}
            rows.append(
                VerdictStability(
                    *pair,
                    verdict,
                    shares[verdict] / len(drawn) if drawn else np.nan,
                    others,
                    tuple(word for word, found in alone if found[pair] != verdict),
                    tuple(variant.name for variant in self.variants if variant.verdicts[pair] != verdict),
                )
            )
        return tuple(rows)

    def _means(self, values: Floats) -> Floats:
        """(..., R) of (..., R, Q): the aggregate over the queries that have a value."""
        flat = values.reshape(-1, values.shape[-1])
        found = [aggregated(self.measure, row[np.isfinite(row)], row[np.isinf(row)]) for row in flat]
        return np.array(found).reshape(values.shape[:-1])

    def _verdicts(self, values: Floats) -> dict[Pairing, str]:
        return self._many_verdicts(values[None])[0]

    def _many_verdicts(self, values: Floats) -> list[dict[Pairing, str]]:
        """For each list of (L, R, Q) the verdict on every pair."""
        if len(self.systems) < 2:
            return [{} for _ in values]
        empty = np.zeros((len(self.query_ids), len(self.systems)))
        table = MeasureTable(self.measure, "", self.systems, self.query_ids, empty, ())
        return verdicts_of(table, values.transpose(0, 2, 1), self.baselines, **self.test)


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """How far scores and verdicts depend on the word list, for each measure that looks at words."""

    measures: tuple[MeasureSensitivity, ...]
    lists: int
    notes: tuple[str, ...] = ()

    def to_tables(self, words: int = 10) -> list[Table]:
        from evenrank.wordlists.sensitivity_tables import sensitivity_tables

        return sensitivity_tables(self, words)

    def __repr__(self) -> str:
        from evenrank.tables import printed

        return printed(self.to_tables(), "table").rstrip("\n")


def sensitivity(
    run: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    lists: int = LISTS,
    others: Mapping[str, Lexicon | WordCounts] | None = None,
    names: Iterable[str] = (),
    taus: Sequence[int] = TAUS,
    baseline: str | Sequence[str] | None = None,
    test: str = "t",
    correction: str = "holm",
    alpha: float = 0.05,
    seed: int = 0,
    missing: str | None = None,
    **known: Unpack[Known],
) -> Sensitivity:
    """Score runs by many word lists: each word left out, ``lists`` lists drawn again, and ``others``.

    ``words=`` must have the counts of every term (``scan(.., terms=True)``): nothing is scanned again.
    ``others`` are further lists, whose words must all have been counted, or counts of the same documents, as
    by another tokeniser. ``names`` are words that are first names: where some terms are and others are not,
    the list without them is one of the variants. ``taus`` are tried for measures that have one. Each verdict
    of ``compare`` with these tests is checked under every list. The keywords are those of ``evaluate``.
    """
    inputs = Inputs.of(run, **known)
    words = inputs.words
    if words is None or words.terms is None:
        raise ParameterError(
            "how far scores depend on single words needs the counts of every term: scan the collection with "
            "terms=True (evenrank scan COLLECTION --lexicon NAME --terms -o counts.parquet) and pass words="
        )
    wanted = with_options(parse_measures(measures), None, missing)
    scores = evaluate(inputs, wanted)
    systems = scores.runs
    chosen = (
        systems[:1] if baseline is None else (baseline,) if isinstance(baseline, str) else tuple(baseline)
    )
    known_names(chosen, systems)
    tried = dict(others or {})
    named = set(names)
    rest = [term for term in words.lexicon.terms if term not in named]
    if 0 < len(rest) < len(words.lexicon):
        tried = {"without names": words.lexicon.only(rest), **tried}
    draws = resampled_lists(words.lexicon, lists, np.random.default_rng(seed))
    tests = {"test": test, "correction": correction, "alpha": alpha, "seed": seed}
    found, notes = [], list(_notes(words, measures=wanted))
    for measure in wanted:
        blocks = [block for block in scores.blocks if block.measure == measure]
        if not _looks_at_words(measure) or len(blocks[0].columns) > 1 or measure.over_queries:
            continue
        queries = tuple(dict.fromkeys(query for block in blocks for query in block.query_ids))
        own = Rescoring.of(inputs, measure, queries)
        presence = own.terms_found()
        terms = np.flatnonzero(presence)
        base = own.values(np.ones((1, len(words.lexicon))))[0]
        drawn = own.values(draws)
        left_out = own.values(1 - np.eye(len(words.lexicon))[terms])
        variants = _variants(inputs, words, measure, queries, tried, taus)
        found.append(
            MeasureSensitivity(
                measure,
                words.lexicon,
                systems,
                queries,
                base,
                drawn,
                left_out,
                tuple(terms.tolist()),
                dict(zip(terms.tolist(), presence[terms].tolist(), strict=True)),
                {block.run: block.interval()[:2] for block in blocks},
                variants,
                chosen,
                tests,
            )
        )
    if not found:
        raise ParameterError(
            "none of these measures has one value by the words of documents: ask for NFaiRR@10 or TExFAIR@10"
        )
    return Sensitivity(tuple(found), lists, tuple(notes))


def _variants(
    inputs: Inputs,
    words: WordCounts,
    measure: Measure,
    queries: tuple[str, ...],
    others: Mapping[str, Lexicon | WordCounts],
    taus: Sequence[int],
) -> dict[str, tuple[int, Floats]]:
    """By name how many terms the list has, and the values (R, Q)."""
    found: dict[str, tuple[int, Floats]] = {}
    for name, other in others.items():
        counts = words.relisted(other) if isinstance(other, Lexicon) else other
        if counts.lexicon.groups != words.lexicon.groups:
            raise ParameterError(
                f"{name}: its groups are {', '.join(counts.lexicon.groups)}, not "
                f"{', '.join(words.lexicon.groups)}: only lists of the same groups can be compared"
            )
        background = counts if isinstance(inputs.background, WordCounts) else inputs.background
        changed = replace(inputs, words=counts, background=background)
        found[name] = (len(counts.lexicon), _whole(changed, measure, queries))
    if any(part.name == "tau" for part in measure.parameters()):
        for tau in taus:
            if tau != measure.tau:  # type: ignore[attr-defined]
                changed_measure = replace(measure, tau=tau)  # type: ignore[call-arg]
                found[f"tau={tau}"] = (len(words.lexicon), _whole(inputs, changed_measure, queries))
    return found


def _whole(inputs: Inputs, measure: Measure, queries: tuple[str, ...]) -> Floats:
    """(R, Q): the values by the list that the counts were made with."""
    scores = evaluate(replace(inputs, queries=queries), [measure])
    return np.stack([block.values[:, 0] for block in scores.blocks])


def _looks_at_words(measure: Measure) -> bool:
    return any(need.partition(".")[2] == "words" for need in measure.needs)


def _notes(words: WordCounts, measures: Iterable[Measure]) -> Iterable[str]:
    unmoved = [repr(measure) for measure in measures if not _looks_at_words(measure)]
    if unmoved:
        yield f"no word list changes {', '.join(unmoved)}, which are left out here"
    phrases = sum(" " in term for term in words.lexicon.terms)
    if phrases:
        yield (
            f"the lexicon has {counted(phrases, 'term', 'terms')} of several words; where one is left out, "
            "the single words inside it are not counted instead, which a new scan would do"
        )
