"""Collection, background and ranker side by side: random orders are means over all orders there are."""

from __future__ import annotations

import math
import re
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from drawn import made

from evenrank import DataError, Lexicon, Membership, ParameterError, Run, WordCounts, compare, origin
from evenrank.errors import InputTypeError

BACKGROUND, COLLECTION = "(background)", "(collection)"
SIDES = Lexicon.build("sides", {"m": ["he"], "f": ["she"]})
# (m, f) and length of each document
DOCUMENTS = {
    "a": (4, 0, 10), "b": (3, 1, 8), "c": (0, 0, 12), "d": (2, 2, 9), "e": (0, 5, 10), "f": (1, 0, 7),
    "g": (2, 0, 11),
}  # fmt: skip
BACKGROUND_LISTS = {"q1": ["a", "b", "c", "d"], "q2": ["e", "f", "b", "g"], "q3": ["c", "f", "d"]}
RANKED = {"q1": ["b", "a", "c"], "q2": ["f", "e"], "q3": ["d", "c", "f"]}


def as_run(lists: dict[str, list[str]], name: str = "run") -> Run:
    rows = [(q, d, float(-rank)) for q, documents in lists.items() for rank, d in enumerate(documents)]
    return Run.build(*zip(*rows, strict=True), name=name)


WORDS = WordCounts.build(
    list(DOCUMENTS),
    [length for *_, length in DOCUMENTS.values()],
    [[m, f] for m, f, _ in DOCUMENTS.values()],
    SIDES,
)
POOL, SYSTEM = as_run(BACKGROUND_LISTS, "pool"), as_run(RANKED, "system")


def w(document: str) -> float:
    m, f, _ = DOCUMENTS[document]
    return 1.0 if m + f <= 1 else 1 - abs(m / (m + f) - 0.5) - abs(f / (m + f) - 0.5)


def fairr(documents: list[str] | tuple[str, ...], k: int) -> float:
    return sum(w(document) / math.log2(1 + rank) for rank, document in enumerate(documents[:k], 1))


def ideal(query: str, k: int) -> float:
    return fairr(sorted(BACKGROUND_LISTS[query], key=w, reverse=True), k)


def texfair(documents: list[str] | tuple[str, ...], k: int) -> float:
    exposure, share, attention = [0.0, 0.0], 0.0, 0.0
    for rank, document in enumerate(documents[:k], 1):
        m, f, length = DOCUMENTS[document]
        v = 1 / math.log2(1 + rank)
        exposure[0] += m / length * v
        exposure[1] += f / length * v
        share += v * (m + f > 0)
        attention += v
    total = sum(exposure)
    return 1 - (abs(exposure[0] / total - 0.5) + abs(exposure[1] / total - 0.5)) * share / attention


def found(measures: str = "NFaiRR@2", **more: object) -> Any:
    return origin({"system": SYSTEM}, measures, words=WORDS, background=POOL, **more)


def values(scores: Any, measure: str, place: str) -> dict[str, float]:
    return scores.scores.to_dict()[place][measure]


def statuses(scores: Any, measure: str, place: str) -> list[str]:
    rows = scores.scores.per_query().to_pylist()
    return [row["status"] for row in rows if (row["run"], row["measure"]) == (place, measure)]


@pytest.mark.parametrize("k", [1, 2, 3, 9])
def test_random_orders_of_nfairr_are_the_mean_over_all_orders(k: int) -> None:
    ours = found(f"NFaiRR@{k} FaiRR@{k}")
    everything = [fairr(order, k) for order in permutations(DOCUMENTS)]
    for query, documents in BACKGROUND_LISTS.items():
        orders = [fairr(order, k) for order in permutations(documents)]
        assert values(ours, f"FaiRR@{k}", BACKGROUND)[query] == pytest.approx(np.mean(orders))
        assert values(ours, f"FaiRR@{k}", COLLECTION)[query] == pytest.approx(np.mean(everything))
        best = ideal(query, k)
        assert values(ours, f"NFaiRR@{k}", BACKGROUND)[query] == pytest.approx(np.mean(orders) / best)
        assert values(ours, f"NFaiRR@{k}", COLLECTION)[query] == pytest.approx(np.mean(everything) / best)
        assert values(ours, f"NFaiRR@{k}", "system")[query] == pytest.approx(fairr(RANKED[query], k) / best)
    assert not any("random lists" in note for note in ours.notes)


def test_a_collection_that_allows_more_than_the_background_is_said() -> None:
    short = as_run({**BACKGROUND_LISTS, "q2": ["e", "b"]})
    ours = origin({"s": SYSTEM}, "NFaiRR@2", words=WORDS, background=short)
    assert values(ours, "NFaiRR@2", COLLECTION)["q2"] > 1
    assert len(ours.notes) == 1
    assert COLLECTION in ours.notes[0]


def test_tau_and_missing_are_those_of_the_measure() -> None:
    ours = found("NFaiRR(tau=4)@2")
    for query, documents in BACKGROUND_LISTS.items():
        flat = {d: 1.0 if sum(DOCUMENTS[d][:2]) <= 4 else w(d) for d in DOCUMENTS}
        weights = [1.0, 1 / math.log2(3)]
        best = sum(
            x * y for x, y in zip(sorted((flat[d] for d in documents), reverse=True), weights, strict=False)
        )
        mean = np.mean([flat[d] for d in documents]) * sum(weights)
        assert values(ours, "NFaiRR(tau=4)@2", BACKGROUND)[query] == pytest.approx(mean / best)
    more = as_run({**BACKGROUND_LISTS, "q3": ["c", "unknown"]})
    taken = origin({"system": SYSTEM}, "NFaiRR@2", words=WORDS, background=more, missing="neutral")
    assert values(taken, "NFaiRR(missing='neutral')@2", BACKGROUND)["q3"] == 1.0


def test_random_orders_of_other_measures_are_near_the_mean_over_all_orders() -> None:
    draws = 300
    ours = found("TExFAIR@2", draws=draws)
    spread = []
    for query, documents in BACKGROUND_LISTS.items():
        orders = [texfair(order, 2) for order in permutations(documents)]
        error = np.std(orders) / math.sqrt(draws)
        spread.append(error)
        assert abs(values(ours, "TExFAIR@2", BACKGROUND)[query] - np.mean(orders)) < 6 * error + 1e-12
    everything = [texfair(order, 2) for order in permutations(DOCUMENTS, 2)]
    for value in values(ours, "TExFAIR@2", COLLECTION).values():
        assert abs(value - np.mean(everything)) < 6 * np.std(everything) / math.sqrt(draws)
    (note,) = (note for note in ours.notes if note.startswith(BACKGROUND))
    (told,) = (float(word) for word in re.findall(r"0\.\d+", note))  # of the mean over three queries
    assert told == pytest.approx(math.sqrt(sum(e**2 for e in spread)) / 3, rel=0.25)


def test_the_seed_decides_what_is_drawn() -> None:
    first, again, other = (found("TExFAIR@2", draws=20, seed=seed) for seed in (1, 1, 2))
    assert first.scores == again.scores
    assert first.scores != other.scores


def test_progress_is_told() -> None:
    seen: list[tuple[int, int]] = []
    found("TExFAIR@2", draws=25, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(10, 50), (20, 50), (25, 50), (35, 50), (45, 50), (50, 50)]


def test_a_pool_that_lacks_a_query_is_an_empty_list() -> None:
    short = as_run({q: d for q, d in BACKGROUND_LISTS.items() if q != "q2"})
    ours = origin({"system": SYSTEM}, "TExFAIR@2", words=WORDS, background=short, draws=4)
    assert statuses(ours, "TExFAIR@2", BACKGROUND) == ["ok", "empty list", "ok"]


def test_where_documents_are_left_out_later_ones_move_up() -> None:
    """A pool of one known document among many unknown ones: its value, whatever is drawn."""
    pool = as_run({"q": ["a", *(f"x{place}" for place in range(30))]})
    measure = "TExFAIR(missing='drop')@1"
    ours = origin(as_run({"q": ["a"]}), measure, words=WORDS, background=pool, draws=12)
    assert values(ours, measure, BACKGROUND)["q"] == pytest.approx(texfair(["a"], 1))


def copied(lists: dict[str, list[str]]) -> dict[str, list[str]]:
    return {f"{query}{copy}": documents for query, documents in lists.items() for copy in "abcdefghijkl"}


def test_documents_that_are_left_out_do_not_shorten_the_lists_of_the_collection() -> None:
    """One in three is known, so the first of each list is one of them."""
    names = [*DOCUMENTS, *(f"x{place}" for place in range(14))]
    ours = found("NFaiRR@1 TExFAIR@1", collection=names, missing="drop", draws=300)
    known = np.mean([texfair([document], 1) for document in DOCUMENTS if document != "c"] + [1.0])
    spread = np.std([texfair([document], 1) for document in DOCUMENTS if document != "c"] + [1.0])
    for value in values(ours, "TExFAIR(missing='drop')@1", COLLECTION).values():
        assert abs(value - known) < 6 * spread / math.sqrt(300)
    exact = np.mean([w(document) for document in DOCUMENTS])
    for query, value in values(ours, "NFaiRR(missing='drop')@1", COLLECTION).items():
        assert value == pytest.approx(exact / ideal(query, 1))


def test_what_each_place_adds() -> None:
    one_sided = {"q1": ["a", "b"], "q2": ["e", "g"], "q3": ["f"]}
    ours = origin(
        {"s1": as_run(copied(RANKED)), "s2": as_run(copied(one_sided))},
        "NFaiRR@2 TED@2",
        words=WORDS,
        background=as_run(copied(BACKGROUND_LISTS)),
        draws=10,
    )
    steps = {(repr(step.measure), step.place): step for step in ours.steps()}
    assert [step.place for step in ours.steps()][:4] == [COLLECTION, BACKGROUND, "s1", "s2"]
    for measure in ("NFaiRR@2", "TED@2"):
        assert steps[measure, COLLECTION].against is None
        assert math.isnan(steps[measure, COLLECTION].adds.difference)
        for place, before in ((BACKGROUND, COLLECTION), ("s1", BACKGROUND), ("s2", BACKGROUND)):
            step = steps[measure, place]
            own, other = (list(values(ours, measure, each).values()) for each in (place, before))
            assert step.against == before
            # two groups with equal targets: both measures lie between 0 and 1
            (wanted,) = compare(made({"other": {"nDCG@10": other}, "own": {"nDCG@10": own}})).pairs
            assert step.adds.difference == pytest.approx(wanted.difference)
            assert (step.adds.low, step.adds.high) == pytest.approx((wanted.low, wanted.high))
            assert step.value == pytest.approx(np.mean(own))
            leans = 1 if measure == "NFaiRR@2" else -1
            apart = step.adds.low > 0 or step.adds.high < 0
            good = leans * step.adds.difference > 0
            assert step.verdict == (("better" if good else "worse") if apart else "")
    assert {step.verdict for step in ours.steps()} == {"", "better", "worse"}


def test_extreme_queries() -> None:
    ours = found("NFaiRR@2")
    own = values(ours, "NFaiRR@2", "system")
    lowest, highest = min(own, key=own.__getitem__), max(own, key=own.__getitem__)
    low, high = ours.extremes(1)
    assert (low.end, low.query, low.value) == ("lowest", lowest, own[lowest])
    assert (high.end, high.query, high.value) == ("highest", highest, own[highest])
    assert low.background == values(ours, "NFaiRR@2", BACKGROUND)[lowest]
    assert low.collection == values(ours, "NFaiRR@2", COLLECTION)[lowest]
    assert [each.query for each in ours.extremes(9)] == sorted(own, key=own.__getitem__)  # none twice
    with pytest.raises(ParameterError, match="0"):
        ours.extremes(0)


def test_categories_are_their_queries_alone() -> None:
    parts = found("NFaiRR@2").by({"q1": "x", "q2": ["x", "y"]})
    assert list(parts) == ["x", "y", "(no category)"]
    for name, queries in {"x": ["q1", "q2"], "y": ["q2"], "(no category)": ["q3"]}.items():
        alone = found("NFaiRR@2", queries=queries)
        assert parts[name].scores == alone.scores
        assert parts[name].places == (COLLECTION, BACKGROUND)
    with pytest.raises(DataError, match="categor"):
        found("NFaiRR@2").by({"other": "x"})
    with pytest.raises(InputTypeError):
        found("NFaiRR@2").by({})


def test_one_run_has_its_own_background_and_several_need_one() -> None:
    alone = origin(POOL, "NFaiRR@2", words=WORDS)
    assert values(alone, "NFaiRR@2", BACKGROUND) == values(found(), "NFaiRR@2", BACKGROUND)
    with pytest.raises(ParameterError, match="background"):
        origin({"a": POOL, "b": SYSTEM}, "TExFAIR@2", words=WORDS)
    deep = origin(POOL, "NFaiRR@1", words=WORDS, background_depth=1)
    assert statuses(deep, "NFaiRR@1", BACKGROUND) == ["ideal is 0", "ideal is 0", "ok"]
    assert values(deep, "NFaiRR@1", BACKGROUND)["q3"] == 1.0


def test_the_collection_may_be_a_list_and_may_be_unknown() -> None:
    some = found("NFaiRR@2", collection=["a", "c"])
    mean = (w("a") + w("c")) / 2 * (1 + 1 / math.log2(3))
    assert values(some, "NFaiRR@2", COLLECTION)["q1"] == pytest.approx(mean / ideal("q1", 2))
    judged = origin(SYSTEM, "RR@2", qrels={"q1": {"a": 1}, "q2": {"f": 1}, "q3": {"c": 1}}, background=POOL)
    assert judged.places == (BACKGROUND,)
    (background, system) = judged.steps()
    assert (background.against, system.against) == (None, BACKGROUND)
    with pytest.raises(InputTypeError, match="dict"):
        found(collection={"a": 1})
    with pytest.raises(ParameterError, match="collection"):
        found(collection=[])


def test_a_background_of_other_queries_is_refused() -> None:
    with pytest.raises(DataError, match="'other'"):
        origin({"s": SYSTEM}, "TExFAIR@2", words=WORDS, background=as_run({"x": ["a"]}, "other"))


def test_the_whole_collection_is_no_list() -> None:
    ours = found("TExFAIR NFaiRR@2", draws=4)
    assert "TExFAIR" not in ours.scores.to_dict()[COLLECTION]
    assert any(COLLECTION in note and "TExFAIR" in note for note in ours.notes)
    assert [s.against for s in ours.steps() if repr(s.measure) == "TExFAIR"] == [None, BACKGROUND]


def test_runs_cannot_be_called_as_the_places() -> None:
    with pytest.raises(ParameterError, match=r"\(collection\)"):
        origin({COLLECTION: SYSTEM}, "NFaiRR@2", words=WORDS, background=POOL)


def test_infinite_values_are_counted_in_the_table() -> None:
    places = [(query, rank) for query in range(8) for rank in range(4)]
    documents = [f"d{query}{rank}" for query, rank in places]
    run = Run.build([f"q{query}" for query, _ in places], documents, [4.0 - rank for _, rank in places])
    labels = {f"d{query}{rank}": "b" if rank == 0 and query > 1 else "a" for query, rank in places}
    groups = Membership.from_labels("g", labels)
    found = origin(run, "Skew(attr='g')@2", groups=groups, background=run, draws=3)
    step = next(step for step in found.steps() if step.place == "run" and step.column == "b")
    assert (step.queries, step.defined, step.infinite) == (8, 6, 2)
    assert "6/8" in repr(found)


def test_tables_have_every_digit_for_programs_and_names_stay_text() -> None:
    ours = origin({"a|b\n<i>": SYSTEM}, "NFaiRR@2", words=WORDS, background=POOL)
    rows, steps = ours.to_table().to_records(), ours.steps()
    assert [row["place"] for row in rows] == [step.place for step in steps]
    assert [row["value"] for row in rows] == [step.value for step in steps]
    assert rows[1]["adds"] == steps[1].adds.difference
    shown = ours.to_table().to_text()
    assert f"{steps[1].value:.4f}" in shown
    assert f"{steps[1].adds.difference:+.4f}" in shown
    assert "a|b\\n<i>" in shown
    assert "a\\|b\\\\n&lt;i&gt;" in ours.to_table().to_markdown()
    assert "\\textless{}i\\textgreater{}" in ours.to_table().to_latex()
