"""Memberships: what is built, what is refused, and the targets that come from documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import evenrank.data.pool_membership
from evenrank import (
    Attribute,
    DataError,
    DiversityQrels,
    EvenrankError,
    Lexicon,
    Membership,
    ParameterError,
    WordCounts,
    read_groups,
)
from evenrank.data.evidence_source import Labels, Pairs, Sparse
from evenrank.data.lookup import PairIndex
from evenrank.errors import InputTypeError
from evenrank.ids import StringRows, as_strings, hash_strings

GENDER = Attribute("gender", ("f", "m"))
SIDES = Attribute("side", ("for", "against", "none"))


def asked(queries: Sequence[str], pairs: Sequence[tuple[str, str]]) -> Pairs:
    """Pairs (query, document), where the queries have this order."""
    ids = as_strings([document for _, document in pairs])
    codes = np.array([list(queries).index(query) for query, _ in pairs], dtype=np.int64)
    return Pairs(tuple(queries), codes, StringRows(ids), hash_strings(ids))


def shares(membership: Any, pairs: Sequence[tuple[str, str]], queries: Sequence[str] = ("q",)) -> Any:
    """(P, L), NaN for a document that is not listed."""
    gathered = membership.gather(asked(queries, pairs))
    column = gathered.columns[""]
    packed = isinstance(column, (Sparse, Labels))
    dense = column.dense(np.arange(len(column))) if packed else np.asarray(column)
    return np.where(gathered.known[:, None], dense, np.nan)


def of_documents(membership: Any, *documents: str) -> Any:
    return shares(membership, [("q", document) for document in documents]).tolist()


def test_shares_and_labels() -> None:
    built = Membership.build(GENDER, ["b", "a", "a"], ["m", "m", "f"], [1, 0.75, 0.25])
    assert of_documents(built, "a", "b") == [[0.25, 0.75], [0, 1]]
    assert np.isnan(of_documents(built, "c")).all()
    assert built.name == "group:gender"
    labelled = Membership.build(GENDER, ["b", "a", "a"], ["m", "f", "f"])
    assert of_documents(labelled, "a", "b") == [[1, 0], [0, 1]]


def test_shares_within_the_tolerance_are_divided_by_their_sum() -> None:
    built = Membership.from_matrix(SIDES, ["a"], [[0.333333] * 3])
    assert sum(of_documents(built, "a")[0]) == pytest.approx(1, abs=1e-15)


def test_by_query() -> None:
    built = Membership.build(GENDER, ["a", "a", "b"], ["f", "m", "m"], queries=["q1", "q2", "q2"])
    found = shares(built, [("q2", "a"), ("q1", "a"), ("q1", "b"), ("q9", "a")], ["q1", "q9", "q2"])
    np.testing.assert_array_equal(found, [[0, 1], [1, 0], [np.nan] * 2, [np.nan] * 2])


def test_multilabel_is_shared_or_counted_in_full() -> None:
    rows = (["a", "a", "b"], ["f", "m", "f"])
    assert of_documents(Membership.build(GENDER, *rows, multilabel=True), "a", "b") == [[0.5, 0.5], [1, 0]]
    full = Membership.build(GENDER, *rows, multilabel=True, split="full")
    assert of_documents(full, "a", "b") == [[1, 1], [1, 0]]


def test_a_document_without_any_value_is_not_listed() -> None:
    built = Membership.build(GENDER, ["a", "a", "b"], ["f", "m", "f"], [0, 0, 0.5], multilabel=True)
    assert len(built) == 1
    assert np.isnan(of_documents(built, "a")).all()


def test_many_values_are_gathered_sparse_as_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    built = Membership.build(SIDES, ["a", "a", "b"], ["for", "none", "against"], [0.5, 0.5, 1])
    dense = shares(built, [("q", "b"), ("q", "x"), ("q", "a")])
    monkeypatch.setattr("evenrank.data.membership._DENSE", 1)
    sparse = shares(replace(built), [("q", "b"), ("q", "x"), ("q", "a")])
    np.testing.assert_array_equal(dense, sparse)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "unknown values": (
        lambda: Membership.build(GENDER, ["a", "b", "c"], ["f", "x", "y"]),
        "gender:2: document 'b': 'x' is not a value of 'gender': they are 'f', 'm'\n"
        "gender:3: document 'c': 'y' is not a value of 'gender': they are 'f', 'm'",
    ),
    "below 0 and above 1": (
        lambda: Membership.build(GENDER, ["a", "a"], ["f", "m"], [-0.25, 1.25], source="g.csv"),
        "g.csv:1: document 'a': share -0.25 is not between 0 and 1\n"
        "g.csv:2: document 'a': share 1.25 is not between 0 and 1",
    ),
    "NaN": (
        lambda: Membership.build(GENDER, ["a"], ["f"], [float("nan")]),
        "gender:1: document 'a': share nan is not between 0 and 1",
    ),
    "both, in the order of the rows": (
        lambda: Membership.build(
            GENDER, ["a", "b", "a", "c", "b", "d"], ["f", "x", "m", "f", "m", "m"], [0.5, 1, 0.4, 2, 0.5, 1]
        ),
        "gender:2: document 'b': 'x' is not a value of 'gender': they are 'f', 'm'\n"
        "gender:3: document 'a': its shares sum to 0.9, not to 1\n"
        "gender:4: document 'c': share 2 is not between 0 and 1",
    ),
    "a sum": (
        lambda: Membership.build(GENDER, ["a", "b", "a"], ["f", "f", "m"], [0.5, 1, 0.4]),
        "gender:3: document 'a': its shares sum to 0.9, not to 1",
    ),
    "a sum of a matrix": (
        lambda: Membership.from_matrix(GENDER, ["a", "b"], [[1, 0], [0.5, 0.4]], source="C:g.csv"),
        "C:g.csv:2: document 'b': its shares sum to 0.9, not to 1",
    ),
    "just outside the tolerance": (
        lambda: Membership.from_matrix(GENDER, ["a"], [[0.5, 0.5000011]]),
        "gender:1: document 'a': its shares sum to 1, not to 1",
    ),
    "two labels": (
        lambda: Membership.build(GENDER, ["a", "b", "a"], ["m", "f", "f"]),
        "gender:3: document 'a' has two values, 'f' and 'm': give their shares, or say multilabel",
    ),
    "two labels of a query": (
        lambda: Membership.build(GENDER, ["a", "a"], ["f", "m"], queries=["q", "q"]),
        "gender:2: document 'a' has two values, 'f' and 'm': give their shares, or say multilabel",
    ),
    "two shares of a value": (
        lambda: Membership.build(GENDER, ["a", "a"], ["f", "f"], [1, 0.5], multilabel=True),
        "gender:2: document 'a' has two shares of 'f'",
    ),
    "another shape": (
        lambda: Membership.from_matrix(GENDER, ["a"], [[1, 0, 0]]),
        "gender: a matrix of (1, 3) does not fit 1 documents and 2 values",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_names_the_documents(case: str) -> None:
    build, message = REFUSED[case]
    with pytest.raises(DataError) as caught:
        build()
    assert str(caught.value).replace("sum to 1.0", "sum to 1") == message


def test_twenty_problems_of_a_matrix_are_listed_and_more_are_said() -> None:
    documents = [f"d{number}" for number in range(30)]
    with pytest.raises(DataError) as caught:
        Membership.from_matrix(GENDER, documents, np.full((30, 2), 0.4))
    lines = str(caught.value).split("\n")
    assert lines[0] == "gender:1: document 'd0': its shares sum to 0.8, not to 1"
    assert lines[19:] == [
        "gender:20: document 'd19': its shares sum to 0.8, not to 1",
        "gender: only the first 20 problems are listed",
    ]


def test_split_is_checked() -> None:
    with pytest.raises(ParameterError, match="split must be one of share, full, got 'half'"):
        Membership.build(GENDER, ["a"], ["f"], multilabel=True, split="half")


def test_labels_in_a_mapping() -> None:
    found = Membership.from_labels("gender", {"a": "m", "b": "f", "c": None})
    assert found.attribute.values == ("m", "f")
    assert of_documents(found, "a", "b") == [[1, 0], [0, 1]]
    assert len(found) == 2
    by_query = Membership.from_labels(GENDER, {"q1": {"a": "f"}, "q2": {"a": "m"}})
    np.testing.assert_array_equal(shares(by_query, [("q1", "a"), ("q2", "a")], ["q1", "q2"]), np.eye(2))


def test_even_labels_belong_to_all_values() -> None:
    found = Membership.from_labels("gender", {"a": "f", "b": "both", "c": "m"}, even=["both"])
    assert found.attribute.values == ("f", "m")
    assert of_documents(found, "a", "b", "c") == [[1, 0], [0.5, 0.5], [0, 1]]
    assert found.fingerprint == (
        Membership.from_labels("gender", {"a": "f", "b": "both", "c": "m"}, even="both").fingerprint
    )


def test_unlabelled_documents_as_values_of_their_own() -> None:
    found = Membership.from_labels("chain", {"a": "x", "b": None, "c": "y", "d": None}, unlabelled="own")
    assert found.attribute.values == ("x", "b", "y", "d")
    assert of_documents(found, "b") == [[0, 1, 0, 0]]
    given = Membership.from_labels(Attribute("chain", ("y", "x")), {"a": "x", "b": None}, unlabelled="own")
    assert given.attribute.values == ("y", "x", "b")


def test_several_labels() -> None:
    found = Membership.from_labels("gender", {"a": ["m", "f"], "b": "f"}, multilabel=True)
    assert of_documents(found, "a", "b") == [[0.5, 0.5], [0, 1]]
    full = Membership.from_labels("gender", {"a": ("m", "f"), "b": "f"}, multilabel=True, split="full")
    assert of_documents(full, "a", "b") == [[1, 1], [0, 1]]


def test_the_order_of_a_set_does_not_show() -> None:
    found = Membership.from_labels("letter", {"d": set("zyxwvutsr")}, multilabel=True)
    assert found.attribute.values == tuple("rstuvwxyz")


LABELS_REFUSED: dict[str, tuple[Callable[[], Any], type[EvenrankError], str]] = {
    "several without multilabel": (
        lambda: Membership.from_labels(GENDER, {"a": ["m", "f"]}),
        DataError,
        "document 'a' has two values, 'f' and 'm'",
    ),
    "an unknown label": (
        lambda: Membership.from_labels(GENDER, {"a": "m", "b": "x"}),
        DataError,
        "document 'b': 'x' is not a value of 'gender'",
    ),
    "nothing labelled": (
        lambda: Membership.from_labels("g", {"a": None}),
        DataError,
        "no document has a label",
    ),
    "a number": (
        lambda: Membership.from_labels("g", {"a": 1}),
        InputTypeError,
        "document 'a': a label must be a string, got 1",
    ),
    "a mix": (
        lambda: Membership.from_labels("g", {"a": "f", "q": {"b": "f"}}),
        InputTypeError,
        "not a mix of both",
    ),
    "no mapping": (
        lambda: Membership.from_labels("g", ["a"]),  # type: ignore[arg-type]
        InputTypeError,
        "labels must be a mapping",
    ),
    "an unknown rule": (
        lambda: Membership.from_labels("g", {"a": "f"}, unlabelled="drop"),
        ParameterError,
        "unlabelled must be None or 'own'",
    ),
    "even and a value": (
        lambda: Membership.from_labels(GENDER, {"a": "f"}, even=["m"]),
        ParameterError,
        "'m' is a value and cannot be shared evenly among all",
    ),
}


@pytest.mark.parametrize("case", LABELS_REFUSED)
def test_labels_that_are_refused(case: str) -> None:
    build, kind, message = LABELS_REFUSED[case]
    with pytest.raises(kind, match=message):
        build()


def test_bias_scores() -> None:
    scores = {"a": 1.0, "b": -1, "c": 0.5}
    found = Membership.from_scores(GENDER, scores, positive="m")
    assert of_documents(found, "a", "b", "c") == [[0, 1], [1, 0], [0.25, 0.75]]
    other = Membership.from_scores(GENDER, scores, positive="f")
    assert of_documents(other, "c") == [[0.75, 0.25]]
    with pytest.raises(DataError, match=r"document 'b': bias score -1\.5 is not between -1 and 1"):
        Membership.from_scores(GENDER, {"a": 1, "b": -1.5}, positive="m")
    with pytest.raises(DataError, match="document 'b': bias score nan"):
        Membership.from_scores(GENDER, {"a": 1, "b": float("nan")}, positive="m")
    with pytest.raises(DataError, match=r"bias score 'x' .* is not a number"):
        Membership.from_scores(GENDER, {"a": "x"}, positive="m")  # type: ignore[dict-item]
    with pytest.raises(ParameterError, match="bias scores are for two values, one of them positive='x'"):
        Membership.from_scores(GENDER, {"a": 1}, positive="x")
    with pytest.raises(ParameterError, match="bias scores are for two values"):
        Membership.from_scores(SIDES, {"a": 1}, positive="for")


def test_words() -> None:
    lexicon = Lexicon.build("gender", {"f": ["she"], "m": ["he"]}, targets={"f": 0.25, "m": 0.75})
    counts = WordCounts.build(["a", "b", "c"], [9, 9, 9], [[3, 1], [0, 0], [1, 0]], lexicon)
    found = Membership.from_words(counts)
    assert (found.attribute.name, found.attribute.target) == ("gender", (0.25, 0.75))
    assert of_documents(found, "a", "c") == [[0.75, 0.25], [1, 0]]
    assert len(found) == 2
    several = Membership.from_words(counts, "words", minimum=2)
    assert (several.attribute.name, len(several)) == ("words", 1)


def test_intents() -> None:
    judged = DiversityQrels.build(
        ["q1", "q1", "q1", "q2", "q2", "q2", "q3"],
        ["x", "y", "y", "u", "v", "w", "only"],
        ["a", "a", "b", "a", "b", "a", "a"],
        [1, 2, 1, 1, 0, 3, 2],
    )
    found = Membership.from_intents(judged)
    assert found.attribute.values == ("1", "2", "3")
    pairs = [("q1", "a"), ("q1", "b"), ("q2", "a"), ("q2", "b"), ("q3", "a")]
    queries = ("q3", "q2", "q1")
    np.testing.assert_allclose(
        shares(found, pairs, queries),
        [[1 / 4, 3 / 4, 0], [0, 1, 0], [1 / 8, 0, 7 / 8], [np.nan] * 3, [np.nan] * 3],
    )
    known = found.gather_queries(queries)
    np.testing.assert_allclose(known["target"], [[np.nan] * 3, [1 / 3] * 3, [1 / 2, 1 / 2, 0]])
    np.testing.assert_array_equal(known["exists"], [[True] * 3, [True] * 3, [True, True, False]])


def test_intents_need_two() -> None:
    judged = DiversityQrels.build(["q"], ["x"], ["a"], [1])
    with pytest.raises(ParameterError, match="two intents or more"):
        Membership.from_intents(judged)


COUNTRY = Attribute("country", ("n", "s"), target=(0.75, 0.25))


def test_combinations() -> None:
    gender = Membership.build(GENDER, ["a", "a", "b", "x"], ["f", "m", "m", "f"], [0.25, 0.75, 1, 1])
    country = Membership.build(COUNTRY, ["a", "a", "b"], ["n", "s", "s"], [0.5, 0.5, 1])
    both = Membership.combined(gender, country)
    assert both.attribute.name == "gender*country"
    assert both.attribute.values == ("f & n", "f & s", "m & n", "m & s")
    assert both.attribute.target == (0.375, 0.125, 0.375, 0.125)
    assert of_documents(both, "a", "b") == [[0.125, 0.125, 0.375, 0.375], [0, 0, 0, 1]]
    assert np.isnan(of_documents(both, "x")).all()
    given = Membership.combined(gender, country, target="pool")
    assert given.attribute.target == "pool"


def test_a_combination_with_one_by_query() -> None:
    side = Membership.from_labels("side", {"q1": {"a": "for", "b": "against"}, "q2": {"a": "against"}})
    gender = Membership.from_labels(GENDER, {"a": "f", "b": "m"})
    both = Membership.combined(gender, side)
    assert both.attribute.values == ("f & for", "f & against", "m & for", "m & against")
    np.testing.assert_array_equal(
        shares(both, [("q2", "a"), ("q1", "b"), ("q1", "a")], ["q1", "q2"]),
        [[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]],
    )
    with pytest.raises(ParameterError, match="are both by query and cannot be combined"):
        Membership.combined(side, replace(side, attribute=replace(side.attribute, name="other")))


def test_combinations_that_are_refused() -> None:
    gender = Membership.from_labels(GENDER, {"a": "f", "b": "m"})
    stars = Membership.from_labels(Attribute("stars", ("1", "2"), ordinal=True), {"a": "1"})
    pool = Membership.from_labels(COUNTRY.with_target("pool"), {"a": "n"})
    with pytest.raises(ParameterError, match="'stars' is ordinal, and combined values have no order"):
        Membership.combined(gender, stars)
    with pytest.raises(ParameterError, match=r"no product \(gender: 'uniform', country: 'pool'\)"):
        Membership.combined(gender, pool)
    with pytest.raises(ParameterError, match="two attributes or more, got 1"):
        Membership.combined(gender)
    wide = Membership.from_labels("wide", {str(number): f"v{number}" for number in range(70)})
    with pytest.raises(ParameterError, match="4,900 combined values are too many"):
        Membership.combined(wide, replace(wide, attribute=replace(wide.attribute, name="other")))


def test_combined_targets_by_query() -> None:
    gender = Membership.from_labels(
        GENDER.with_target({"q1": [1, 0], "q2": [0.5, 0.5]}), {"a": "f", "b": "m"}
    )
    country = Membership.from_labels(COUNTRY, {"a": "n"})
    target = Membership.combined(gender, country).attribute.target
    assert dict(target) == {"q1": (0.75, 0.25, 0, 0), "q2": (0.375, 0.125, 0.375, 0.125)}


def test_the_target_of_the_collection() -> None:
    attribute = GENDER.with_target("collection")
    found = Membership.build(attribute, ["a", "b", "b"], ["f", "f", "m"], [1, 0.5, 0.5])
    np.testing.assert_array_equal(found.gather_queries(["x", "y"])["target"], [[0.75, 0.25]] * 2)
    by_query = Membership.build(attribute, ["a", "b", "a"], ["f", "m", "m"], queries=["q1", "q1", "q2"])
    np.testing.assert_array_equal(
        by_query.gather_queries(["q2", "q9", "q1"])["target"], [[0, 1], [np.nan] * 2, [0.5, 0.5]]
    )


POOL = [("q1", "a"), ("q1", "b"), ("q1", "x"), ("q2", "b"), ("q2", "c"), ("q2", "a")]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("pool", [[0.625, 0.375, 0], [1.25 / 3, 0.75 / 3, 1 / 3], [np.nan] * 3]),
        ("present", [[0.5, 0.5, 0], [1 / 3] * 3, [np.nan] * 3]),
    ],
)
def test_targets_of_a_pool(target: str, expected: list[list[float]]) -> None:
    attribute = SIDES.with_target(target)
    found = Membership.from_matrix(attribute, ["a", "b", "c"], [[0.25, 0.75, 0], [1, 0, 0], [0, 0, 1]])
    queries = ("q1", "q2", "q3")
    assert found.needs_pool
    pooled = found.pooled(asked(queries, POOL), 3, shared=False)
    known = pooled.gather_queries(queries)
    np.testing.assert_allclose(known["target"], expected)
    # a query without a pool has no target, and all values
    exists = ~(np.array(expected) == 0) if target == "present" else np.ones((3, 3), dtype=bool)
    np.testing.assert_array_equal(known["exists"], exists)
    np.testing.assert_array_equal(shares(pooled, POOL, queries), shares(found, POOL, queries))


def test_one_pool_for_all_queries() -> None:
    found = Membership.from_labels(GENDER.with_target("pool"), {"a": "f", "b": "m", "c": "m"})
    pooled = found.pooled(asked(["q"], [("q", d) for d in "abc"]), 4, shared=True)
    np.testing.assert_allclose(pooled.gather_queries(["1", "2", "3", "4"])["target"], [[1 / 3, 2 / 3]] * 4)
    by_query = Membership.from_labels(GENDER.with_target("pool"), {"q": {"a": "f"}})
    with pytest.raises(ParameterError, match="its values depend on the query"):
        by_query.pooled(asked(["q"], [("q", "a")]), 1, shared=True)


@st.composite
def many_values(draw: st.DrawFn) -> tuple[Membership, list[tuple[str, str]], list[tuple[str, str]], bool]:
    """Documents with few of 80 values each, a pool, and pairs to ask about."""
    attribute = Attribute(
        "company", tuple(f"v{n}" for n in range(80)), target=draw(st.sampled_from(["pool", "present"]))
    )
    documents = [f"d{n}" for n in range(draw(st.integers(1, 12)))]
    cells = [
        (document, f"v{value}")
        for document in documents
        for value in draw(st.lists(st.integers(0, 79), min_size=1, max_size=4, unique=True))
    ]
    membership = Membership.build(
        attribute, [d for d, _ in cells], [v for _, v in cells], multilabel=True,
        split=draw(st.sampled_from(["share", "full"])),
    )  # fmt: skip
    shared = draw(st.booleans())
    ids = st.sampled_from([*documents, "unknown"])
    owners = st.just("q0") if shared else st.sampled_from(["q0", "q1", "q2"])
    pool = draw(st.lists(st.tuples(owners, ids), max_size=15, unique=True))
    pairs = draw(st.lists(st.tuples(st.sampled_from(["q0", "q1", "q2"]), ids), min_size=1, max_size=15))
    return membership, pool, pairs, shared


@settings(max_examples=examples(200))
@given(many_values())
def test_renumbered_values_are_the_same_values(
    case: tuple[Membership, list[tuple[str, str]], list[tuple[str, str]], bool],
) -> None:
    membership, pool, pairs, shared = case
    queries = ("q0", "q1", "q2")
    renumbered = membership.pooled(asked(queries, pool), 3, shared=shared)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evenrank.data.pool_membership, "_MOST_VALUES", 80)
        plain = membership.pooled(asked(queries, pool), 3, shared=shared)
    assert renumbered.gather_queries(queries)["target"].shape[1] <= 80
    found, expected = shares(renumbered, pairs, queries), shares(plain, pairs, queries)
    new, old = renumbered.gather_queries(queries), plain.gather_queries(queries)
    for row, (query, _) in enumerate(pairs):
        place = queries.index(query)
        # with each target its shares, in the order of the values; and all that the pool has not, as one
        inside = old["target"][place] > 0
        kept = new["target"][place] > 0
        np.testing.assert_allclose(new["target"][place][kept], old["target"][place][inside])
        np.testing.assert_allclose(found[row][kept], expected[row][inside])
        np.testing.assert_allclose(found[row][~kept].sum(), expected[row][~inside].sum(), atol=1e-12)
    np.testing.assert_array_equal(np.isnan(new["target"]).any(axis=1), np.isnan(old["target"]).any(axis=1))


def test_labels_stay_where_they_are_and_the_fingerprint_does_not_tell_their_order() -> None:
    found = Membership.build(GENDER, ["d9", "d10", "a"], ["m", "f", "f"])
    assert found.doc_ids.to_pylist() == ["d9", "d10", "a"]  # nobody sorts what is looked up by id
    ordered = found.by_id()
    assert ordered.doc_ids.to_pylist() == ["a", "d10", "d9"]
    assert ordered.shares.places.tolist() == [0, 0, 1]
    assert ordered.by_id() is ordered
    again = Membership.build(GENDER, ["a", "d10", "d9"], ["f", "f", "m"])
    assert found.fingerprint == again.fingerprint
    by_query = Membership.build(GENDER, ["b", "a", "a"], ["m", "f", "m"], queries=["p", "q", "p"])
    assert by_query.by_id().doc_ids.to_pylist() == ["a", "b", "a"]
    assert by_query.by_id().query_codes.tolist() == [0, 0, 1]


def test_shares_do_not_depend_on_the_order_of_the_source() -> None:
    rows = [("d2", "f", 0.1), ("d1", "f", 0.7), ("d2", "m", 0.9), ("d1", "m", 0.3)]
    found = [
        Membership.build(GENDER, *zip(*order, strict=True)) for order in (rows, rows[::-1], sorted(rows))
    ]
    assert {tuple(one.doc_ids.to_pylist()) for one in found} == {("d1", "d2")}
    assert len({one.fingerprint for one in found}) == 1


def test_values_may_be_an_arrow_dictionary() -> None:
    codes = pa.array([1, 0, 1], pa.int32())
    values = pa.DictionaryArray.from_arrays(codes, pa.array(["m", "f", "neither"]))
    found = Membership.build(GENDER, ["a", "b", "c"], values)
    assert found.fingerprint == Membership.build(GENDER, ["a", "b", "c"], ["f", "m", "f"]).fingerprint


def test_fingerprints_tell_what_differs() -> None:
    rows = (["a", "b"], ["f", "m"])
    built = Membership.build(GENDER, *rows)
    others = {
        "the same": Membership.build(GENDER, ["b", "a"], ["m", "f"], [1.0, 1.0], source="elsewhere"),
        "another label": Membership.build(GENDER, ["a", "b"], ["m", "f"]),
        "another document": Membership.build(GENDER, ["a", "c"], ["f", "m"]),
        "another share": Membership.from_matrix(GENDER, ["a", "b"], [[0.75, 0.25], [0, 1]]),
        "another name": Membership.build(replace(GENDER, name="sex"), *rows),
        "another scale": Membership.build(replace(GENDER, ordinal=True), *rows),
        "another value": Membership.build(replace(GENDER, values=("f", "m", "x")), *rows),
        "another target": built.with_target("pool"),
        "a target by query": built.with_target({"q": [0.5, 0.5]}),
        "by query": Membership.build(GENDER, *rows, queries=["q", "q"]),
        "yet another share": Membership.from_matrix(GENDER, ["a", "b"], [[0.5, 0.5], [0, 1]]),
    }
    assert others.pop("the same").fingerprint == built.fingerprint
    found = {name: other.fingerprint for name, other in others.items()}
    assert len({built.fingerprint, *found.values()}) == len(others) + 1, found


@settings(max_examples=examples(60))
@given(
    st.dictionaries(
        st.text("abcé7", min_size=1, max_size=3),
        st.tuples(*[st.integers(0, 5)] * 3).filter(any),
        min_size=1,
        max_size=8,
    ),
    st.randoms(use_true_random=False),
)
def test_long_and_wide_are_the_same(weights: dict[str, tuple[int, int, int]], random: Any) -> None:
    table: dict[str, npt.NDArray[np.float64]] = {d: np.array(w) / sum(w) for d, w in weights.items()}
    wide = pd.DataFrame(
        {"doc": list(table), **{v: [r[n] for r in table.values()] for n, v in enumerate("xyz")}}
    )
    rows = [(d, v, r[n]) for d, r in table.items() for n, v in enumerate("xyz") if r[n] > 0]
    random.shuffle(rows)
    long = pd.DataFrame(rows, columns=["doc", "value", "prob"])
    first = read_groups(wide, "letter", values=["x", "y", "z"])
    second = read_groups(long, "letter", values=["x", "y", "z"])
    np.testing.assert_allclose(
        shares(first, [("q", document) for document in table]), list(table.values()), atol=1e-15
    )
    assert first.doc_ids.equals(second.doc_ids)
    np.testing.assert_array_equal(first.shares.places, second.shares.places)
    np.testing.assert_allclose(first.shares.values, second.shares.values, atol=1e-15)


def test_ids_are_found_whatever_their_length_and_however_alike() -> None:
    generator = np.random.default_rng(5)
    alphabet = np.array(list("ab\u00e9"))
    ids = {"".join(generator.choice(alphabet, int(generator.integers(1, 20)))) for _ in range(4000)}
    listed, others = sorted(ids)[::2], sorted(ids)[1::2]
    labels = {identifier: "xy"[place % 2] for place, identifier in enumerate(listed)}
    membership = Membership.from_labels(Attribute("side", ("x", "y")), labels)
    asked = as_strings([*others, *listed])
    rows = membership.rows_of(
        Pairs(("q",), np.zeros(len(asked), np.int64), StringRows(asked), hash_strings(asked))
    )
    assert (rows[: len(others)] == -1).all()
    assert membership.doc_ids.take(pa.array(rows[len(others) :])).to_pylist() == listed


def test_ids_of_the_same_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    short = as_strings(["a", "b\x00"])  # length and bytes cancel out
    assert hash_strings(short)[0] == hash_strings(short)[1]
    index = PairIndex(np.zeros(1, np.int64), short.slice(1))
    assert index.locate(None, StringRows(short), hash_strings(short)).tolist() == [-1, 0]

    def alike(strings: pa.LargeStringArray) -> npt.NDArray[np.uint64]:
        return np.full(len(strings), 7, dtype=np.uint64)

    monkeypatch.setattr("evenrank.data.lookup.hash_strings", alike)
    long = as_strings([f"document-{place}" for place in range(8, 14)])
    index = PairIndex(np.zeros(3, np.int64), long.slice(0, 3))
    assert index.locate(None, StringRows(long), alike(long)).tolist() == [0, 1, 2, -1, -1, -1]
