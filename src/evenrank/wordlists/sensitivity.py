"""How far a score and a conclusion move when the word list changes, from the counts of one scan.

Words are left out one by one, drawn again with replacement, and replaced by other lists; the runs are
aligned once. Beside the interval over queries stands one over word lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from evenrank.scores import ScoresBlock
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
    """One measure under many word lists: L that were drawn, and W that lack one word each."""

    measure: Measure
    lexicon: Lexicon
    systems: tuple[str, ...]
    words: tuple[int, ...]  # the places of the W terms that were left out in turn
    means: Floats  # (R,) by the whole list
    drawn: Floats  # (L, R, Q)
    left_out: Floats  # (W, R, Q)
    runs: tuple[RunSensitivity, ...]
    word_effects: tuple[WordEffect, ...]  # by their largest effect on any run
    variants: tuple[Variant, ...]
    verdicts: Mapping[Pairing, str]  # by the whole list
    stability: tuple[VerdictStability, ...]


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
    asked = _Asked(
        inputs,
        words,
        dict(tried),
        tuple(taus),
        resampled_lists(words.lexicon, lists, np.random.default_rng(seed)),
        partial(verdicts_of, baselines=chosen, test=test, correction=correction, alpha=alpha, seed=seed),
    )
    found = []
    for measure in wanted:
        blocks = [block for block in scores.blocks if block.measure == measure]
        if _looks_at_words(measure) and len(blocks[0].columns) == 1 and not measure.over_queries:
            found.append(_tried(asked, measure, blocks))
    if not found:
        raise ParameterError(
            "none of these measures has one value by the words of documents: ask for NFaiRR@10 or TExFAIR@10"
        )
    return Sensitivity(tuple(found), lists, tuple(_notes(words, measures=wanted)))


class _Asked(NamedTuple):
    """What every measure is tried with."""

    inputs: Inputs
    words: WordCounts
    others: Mapping[str, Lexicon | WordCounts]
    taus: tuple[int, ...]
    draws: Floats  # (L, T)
    verdicts_of: Callable[[MeasureTable, Floats], list[dict[Pairing, str]]]


def _tried(asked: _Asked, measure: Measure, blocks: Sequence[ScoresBlock]) -> MeasureSensitivity:
    """One measure by the whole list, by drawn ones, without each word, and by other lists."""
    lexicon, drawn = asked.words.lexicon, len(asked.draws)
    systems = tuple(block.run for block in blocks)
    queries = tuple(dict.fromkeys(query for block in blocks for query in block.query_ids))
    own = Rescoring.of(asked.inputs, measure, queries)
    documents = own.terms_found()  # (T,)
    terms = np.flatnonzero(documents)  # (W,)
    whole = np.ones((1, len(lexicon)))
    lists = own.values(np.concatenate([whole, asked.draws, whole - np.eye(len(lexicon))[terms]]))
    others = _variants(asked, measure, queries)
    values = np.concatenate([lists, *(found[None] for _, found in others.values())])  # (1 + L + W + V, R, Q)
    flat = values.reshape(-1, len(queries))
    means = np.array([aggregated(measure, row[np.isfinite(row)], row[np.isinf(row)]) for row in flat])
    means = means.reshape(values.shape[:2])
    table = MeasureTable(measure, "", systems, queries, np.zeros((len(queries), len(systems))), ())
    verdicts: list[dict[Pairing, str]] = [{} for _ in values]
    if len(systems) > 1:
        verdicts = asked.verdicts_of(table, values.transpose(0, 2, 1))
    by_draw, by_word, by_other = (
        slice(1, 1 + drawn), slice(1 + drawn, len(lists)), slice(len(lists), len(values))
    )  # fmt: skip
    names = [lexicon.terms[term] for term in terms]
    variants = tuple(
        Variant(name, size, dict(zip(systems, own_means.tolist(), strict=True)), found)
        for (name, (size, _)), own_means, found in zip(
            others.items(), means[by_other], verdicts[by_other], strict=True
        )
    )
    effects = []
    for place, term in enumerate(terms.tolist()):
        change = np.nan_to_num(means[by_word][place] - means[0])
        largest = int(np.abs(change).argmax())
        flips = sum(verdicts[by_word][place][pair] != own for pair, own in verdicts[0].items())
        effects.append(WordEffect(
            names[place], lexicon.groups[lexicon.term_groups[term]], int(documents[term]),
            float(change.mean()), float(change[largest]), systems[largest], flips,
        ))  # fmt: skip
    stability = []
    for pair, verdict in verdicts[0].items():
        shares = Counter(one[pair] for one in verdicts[by_draw])
        rest = {name: count / drawn for name, count in shares.most_common() if name != verdict}
        flipping = (name for name, one in zip(names, verdicts[by_word], strict=True) if one[pair] != verdict)
        elsewhere = (variant.name for variant in variants if variant.verdicts[pair] != verdict)
        same = shares[verdict] / drawn
        stability.append(VerdictStability(*pair, verdict, same, rest, tuple(flipping), tuple(elsewhere)))
    return MeasureSensitivity(
        measure,
        lexicon,
        systems,
        tuple(terms.tolist()),
        means[0],
        lists[by_draw],
        lists[by_word],
        tuple(
            _over_lists(measure, block, float(means[0, run]), means[by_draw, run])
            for run, block in enumerate(blocks)
        ),
        tuple(sorted(effects, key=lambda effect: (-abs(effect.largest_change), effect.word))),
        variants,
        verdicts[0],
        tuple(stability),
    )


def _over_lists(measure: Measure, block: ScoresBlock, value: float, drawn: Floats) -> RunSensitivity:
    """One run, with its interval over word lists: that of the drawn ones, centred on the value."""
    drawn = drawn[np.isfinite(drawn)]
    least, most, shift = np.nan, np.nan, np.nan
    if len(drawn):
        shift = float(drawn.mean() - value)
        least, most = np.quantile(drawn - drawn.mean(), [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) + value
    low, high, _ = block.interval()
    bottom, top = measure.range()
    return RunSensitivity(
        block.run, value, low, high, max(bottom, float(least)), min(top, float(most)), shift
    )


def _variants(asked: _Asked, measure: Measure, queries: tuple[str, ...]) -> dict[str, tuple[int, Floats]]:
    """By name how many terms the list has, and the values (R, Q)."""
    found: dict[str, tuple[int, Floats]] = {}
    inputs, groups = asked.inputs, asked.words.lexicon.groups
    for name, other in asked.others.items():
        counts = asked.words.relisted(other) if isinstance(other, Lexicon) else other
        if counts.lexicon.groups != groups:
            raise ParameterError(
                f"{name}: its groups are {', '.join(counts.lexicon.groups)}, not {', '.join(groups)}: only "
                "lists of the same groups can be compared"
            )
        background = counts if isinstance(inputs.background, WordCounts) else inputs.background
        changed = replace(inputs, words=counts, background=background)
        found[name] = (len(counts.lexicon), _whole(changed, measure, queries))
    if any(part.name == "tau" for part in measure.parameters()):
        for tau in asked.taus:
            if tau != measure.tau:  # type: ignore[attr-defined]
                changed_measure = replace(measure, tau=tau)  # type: ignore[call-arg]
                found[f"tau={tau}"] = (len(asked.words.lexicon), _whole(inputs, changed_measure, queries))
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
