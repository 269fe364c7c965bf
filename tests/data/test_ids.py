"""What is known of a document is found by its id and its query, and ids that are alike stay apart."""

from __future__ import annotations

import io

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from shares import shares_of

from evenrank import Attribute, DataError, DiversityQrels, Membership, Qrels, Run, evaluate, read_run
from evenrank.data.tables import DocumentTable

SIDE = Attribute("side", ("left", "right"))
IDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20).filter(str.strip)
PAIRS = st.lists(st.tuples(st.sampled_from(["q0", "q1", "q2"]), IDS), unique=True, max_size=12)

# sixteen bytes each, and all of the same hash
ALIKE = [
    "documentnumber-1", "JqwRMpm6g7fXfHzS", "pRtjAG4SJDThA0sC", "Ozq3c_xkOx0R4Lzm", "fLivRDqIlW7e8UxH",
    "WLAlz8WARJ72ZP_Q", "EHDkFnW6aWShXc6N", "fomcnn1Pw0EuC1kH", "XjgPZx0104.0-RX7", "1kEWvb0yVx-pctbu",
]  # fmt: skip
# the first id with the first query has the key of the second id with the second query
KEYS = [
    ("k7.E_GJr", "V7rwbLpD"),
    ("2HvM6-nW", "hBU3RXaB"),
    ("WJ5qeTZn", "yIWXZ59x"),
    ("hwJ7TtjP", "Fu6-WUmF"),
]


def side_of(place: int) -> str:
    return SIDE.values[place % 2]


def found(groups: Membership, asked: list[tuple[str, str]]) -> list[str | None]:
    """The side of each (query, document)."""
    return [None if row is None else SIDE.values[row.index(1.0)] for row in shares_of(groups, asked)]


@settings(max_examples=examples(60))
@given(PAIRS.filter(bool), PAIRS)
def test_every_pair_is_found_and_no_other(known: list[tuple[str, str]], more: list[tuple[str, str]]) -> None:
    queries, documents = zip(*known, strict=True)
    groups = Membership.build(
        SIDE, documents, [side_of(place) for place in range(len(known))], queries=queries
    )
    asked = list(dict.fromkeys([*known, *more]))
    place = {pair: number for number, pair in enumerate(known)}
    assert found(groups, asked) == [side_of(place[pair]) if pair in place else None for pair in asked]


def test_few_and_many_documents_are_found_in_a_large_table() -> None:
    """A few are looked for in another way than many, and the same few often in a third."""
    generator = np.random.default_rng(5)
    alphabet = np.array(list("ab\u00e9"))
    names = sorted({"".join(generator.choice(alphabet, int(generator.integers(1, 20)))) for _ in range(4000)})
    listed = names[::8]
    expected = {name: side_of(place) for place, name in enumerate(listed)}
    groups = Membership.from_labels(SIDE, expected)
    few = [names[begin : begin + 12] for begin in range(0, 240, 16)]
    runs = {
        f"run {number}": {f"q{place}": {name: 1.0} for place, name in enumerate(own)}
        for number, own in enumerate([*few, names, *few])
    }
    scores = evaluate(runs, "GroupShare@1", groups=groups).to_dict()
    for run, lists in runs.items():
        left = scores[run]["GroupShare@1[left]"]
        for query, (name,) in lists.items():
            share = None if (value := left.get(query)) is None or value != value else value
            assert share == {"left": 1, "right": 0, None: None}[expected.get(name)], (run, name)


def test_ids_of_the_same_hash_are_told_apart() -> None:
    groups = Membership.from_labels(SIDE, {name: side_of(place) for place, name in enumerate(ALIKE[:7])})
    asked = [(f"q{place}", name) for place, name in enumerate(ALIKE)]
    assert found(groups, asked) == [*(side_of(place) for place in range(7)), None, None, None]
    run = Run.build(["q"] * len(ALIKE), ALIKE, list(range(len(ALIKE))))
    assert run.documents("q") == ALIKE[::-1]
    judged = Qrels.build(["q"] * 6, ALIKE[:6], [0, 3, 0, 2, 1, 0])
    assert judged.to_dict() == {"q": dict(zip(ALIKE, [0, 3, 0, 2, 1, 0], strict=False))}
    lists = {name: {"q": {name: 1.0}} for name in ALIKE}
    judgements = evaluate(lists, "Judged@1 P@1", qrels=judged)
    assert [judgements.mean("Judged@1", run=name) for name in ALIKE] == [1] * 6 + [0] * 4
    assert [judgements.mean("P@1", run=name) for name in ALIKE] == [0, 1, 0, 1, 1, 0, 0, 0, 0, 0]


def test_a_document_of_another_query_is_not_taken_for_this_one() -> None:
    for first, second in KEYS:
        groups = Membership.build(SIDE, [first, "x"], ["left", "right"], queries=["q0", "q1"])
        assert found(groups, [("q0", first), ("q1", second), ("q1", "x"), ("q0", "x")]) == [
            "left", None, "right", None,
        ]  # fmt: skip
        both = Membership.build(SIDE, [first, second], ["left", "right"], queries=["q0", "q1"])
        assert found(both, [("q0", first), ("q1", second)]) == ["left", "right"]
        assert len(Qrels.build(["q0", "q1"], [first, second], [1, 1]).doc_ids) == 2
        assert len(Run.build(["q0", "q1"], [first, second], [1, 1]).doc_ids) == 2


ROWS = (["q", "q", "r", "q", "q", "r", "q", "r"], [ALIKE[place] for place in (0, 1, 0, 0, 1, 0, 2, 2)])


def test_a_document_that_is_there_twice_is_named_with_its_row_also_among_ids_of_the_same_hash() -> None:
    numbers = [1] * len(ROWS[0])
    for build in (
        lambda: Run.build(*ROWS, numbers),
        lambda: Qrels.build(*ROWS, numbers),
        lambda: DiversityQrels.build(ROWS[0], ["i"] * len(numbers), ROWS[1], numbers),
        lambda: DocumentTable.build("t", ROWS[1], {"": numbers}, queries=ROWS[0]),
    ):
        with pytest.raises(DataError) as caught:
            build()
        assert [problem.line for problem in caught.value.problems][:3] == [4, 5, 6]
        assert [name in str(caught.value) for name in ALIKE[:3]] == [True, True, False]
    lines = "".join(f"{query} Q0 {document} 1 1 t\n" for query, document in zip(*ROWS, strict=True))
    with pytest.raises(DataError) as caught:
        read_run(io.BytesIO(lines.encode()))
    assert [(problem.line, "line " in problem.what) for problem in caught.value.problems] == [
        (4, True), (5, True), (6, True),
    ]  # fmt: skip
