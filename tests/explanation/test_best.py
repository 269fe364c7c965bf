"""The best order against every order there is."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import evenrank as er
from evenrank import explain

DEBATE = "deb-01"


def orders(run: er.Run, query: str, depth: int) -> er.Run:
    """Every order of the first documents, each as the list of a query of its own."""
    ids = run.documents(query)[:depth]
    rows = [
        (str(number), document, float(-rank))
        for number, order in enumerate(itertools.permutations(ids))
        for rank, document in enumerate(order)
    ]
    queries, documents, scores = map(list, zip(*rows, strict=True))
    return er.Run.build(queries, documents, scores)


@pytest.mark.parametrize("name", ["FaiRR", "NFaiRR", "nDCG", "RBP", "P", "R", "D_nDCG"])
def test_sorting_is_best_where_it_is_said_to_be(
    name: str, run: er.Run, sample: Any, counts: er.WordCounts
) -> None:
    measure = er.parse_measure(f"{name}@5")
    grades, sides = sample.qrels.to_dict()[DEBATE], sample.sides
    every = orders(run, DEBATE, 5)
    by_intent = [
        (intent, document, grade)
        for query, intents in sides.to_dict().items()
        if query == DEBATE
        for intent, judged in intents.items()
        for document, grade in judged.items()
    ]
    copies = er.DiversityQrels.build(
        [query for query in every for _ in by_intent],
        [row[0] for _ in every for row in by_intent],
        [row[1] for _ in every for row in by_intent],
        [row[2] for _ in every for row in by_intent],
    )
    values = er.evaluate(
        every,
        measure,
        qrels=dict.fromkeys(every.query_ids, grades),
        intents=copies,
        words=counts,
        background=run.documents(DEBATE),
    ).blocks[0].values  # fmt: skip
    best = explain(
        run, measure, DEBATE, qrels={DEBATE: grades}, intents=sides, words=counts,
        background=run.documents(DEBATE),
    ).best  # fmt: skip
    assert best is not None
    assert best.exact
    assert best.value == pytest.approx(values.max())


@pytest.mark.parametrize(
    "text", ["TExFAIR@5", "TED@5", "ARaB@5", "RaB(form='tf')@5", "AWRF@5", "TED(rbdf=False)@5"]
)
def test_few_documents_are_tried_in_all_orders(text: str, run: er.Run, counts: er.WordCounts) -> None:
    measure = er.parse_measure(text)
    values = er.evaluate(orders(run, DEBATE, 5), measure, words=counts).blocks[0].values[:, 0]
    best = explain(run, measure, DEBATE, words=counts).best
    assert best is not None
    assert best.exact
    goal = {"HIGHER": values.max(), "LOWER": values.min(), "SIGNED": values[np.argmin(np.abs(values))]}
    assert best.value == pytest.approx(goal[measure.direction.name])


@pytest.mark.parametrize("text", ["TExFAIR", "TED", "ARaB", "AWRF(distance='JSD',fairness=True)"])
def test_more_are_searched_until_no_swap_is_better(text: str, run: er.Run, counts: er.WordCounts) -> None:
    measure = er.parse_measure(text)
    explanation = explain(run, measure, DEBATE, words=counts)
    best = explanation.best
    assert best is not None
    assert len(best.documents) == 12
    assert not best.exact
    swapped = []
    for one, other in itertools.combinations(range(12), 2):
        order = list(best.documents)
        order[one], order[other] = order[other], order[one]
        swapped.append(order)
    rows = [(str(n), d, float(-r)) for n, order in enumerate(swapped) for r, d in enumerate(order)]
    lists = er.Run.build(*map(list, zip(*rows, strict=True)))
    values = er.evaluate(lists, measure, words=counts).blocks[0].values[:, 0]
    worse = {
        "HIGHER": values <= best.value + 1e-9,
        "LOWER": values >= best.value - 1e-9,
        "SIGNED": np.abs(values) >= abs(best.value) - 1e-9,
    }
    assert worse[measure.direction.name].all()


@pytest.mark.parametrize("text", ["DUO", "DUO(signed=True)@9", "DUO(center='list',step=3)"])
def test_the_best_order_of_opinions_is_the_most_balanced_one(text: str, run: er.Run) -> None:
    generator = np.random.default_rng(5)
    documents = run.documents(DEBATE)
    scores = generator.normal(size=len(documents))
    polarity = er.Polarity.build(list(documents), scores)
    explanation = explain(run, text, DEBATE, polarity=polarity)
    best = explanation.best
    assert best is not None
    assert best.exact
    assert best.value == pytest.approx(0, abs=1e-12)
    own = dict(zip(documents, scores.tolist(), strict=True))
    lists = er.read_run({DEBATE: {d: float(-r) for r, d in enumerate(best.documents)}})
    assert er.evaluate(lists, text, polarity=polarity).mean(text) == pytest.approx(0, abs=1e-12)
    shown = explanation.documents[0]
    assert shown.known.other["polarity"] == pytest.approx(own[shown.document])
    row = explanation.to_table().to_records()[0]
    assert (row["document"], row["polarity"]) == (shown.document, pytest.approx(own[shown.document]))


@pytest.mark.slow
def test_a_list_of_very_many_documents_is_explained_in_pieces() -> None:
    """The search for its best order is given up, and what it found by then is no worse than the list."""
    chance, size = np.random.default_rng(7), 1500
    ids = [f"d{place}" for place in range(size)]
    lexicon = er.Lexicon.build("sides", {"left": ["l"], "right": ["r"]})
    words = er.WordCounts.build(ids, [20] * size, chance.integers(0, 9, (size, 2)), lexicon)
    run = er.Run.build(["q"] * size, ids, np.arange(size, 0, -1))
    found = explain(run, "TExFAIR", "q", words=words, depth=size)
    assert found.best is not None
    assert not found.best.exact
    assert found.best.value >= found.value
    for place in (0, 1, 700, 1400, 1499):
        lists = {"q": {name: -float(rank) for rank, name in enumerate(ids) if rank != place}}
        shorter = er.evaluate(er.read_run(lists), "TExFAIR", words=words).mean("TExFAIR")
        change = found.documents[place].change_without
        assert change is not None
        assert change[""] == pytest.approx(shorter - found.value, abs=1e-9)
