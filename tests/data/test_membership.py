"""Groups that are made by hand: what is built, what is refused, and what tells one from another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import group_oracles
import numpy as np
import pyarrow as pa
import pytest
from shares import of_documents, shares_of

from evenrank import (
    Attribute,
    DataError,
    DiversityQrels,
    EvenrankError,
    Membership,
    ParameterError,
    evaluate,
    read_run,
)
from evenrank.errors import InputTypeError

GENDER = Attribute("gender", ("f", "m"))
SIDES = Attribute("side", ("for", "against", "none"))
COUNTRY = Attribute("country", ("n", "s"), target=(0.75, 0.25))


def test_shares_and_labels() -> None:
    built = Membership.build(GENDER, ["b", "a", "a"], ["m", "m", "f"], [1, 0.75, 0.25])
    assert of_documents(built, "a", "b", "c") == [[0.25, 0.75], [0, 1], None]
    labelled = Membership.build(GENDER, ["b", "a", "a"], ["m", "f", "f"])
    assert of_documents(labelled, "a", "b") == [[1, 0], [0, 1]]
    coded = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), pa.array(["m", "f", "neither"]))
    assert of_documents(Membership.build(GENDER, ["a", "b", "c"], coded), "a", "b") == [[1, 0], [0, 1]]


def test_several_labels_are_shared_or_counted_in_full() -> None:
    rows = (["a", "a", "b"], ["f", "m", "f"])
    assert Membership.build(GENDER, *rows, multilabel=True).sizes().tolist() == [1.5, 0.5]
    assert Membership.build(GENDER, *rows, multilabel=True, split="full").sizes().tolist() == [2, 1]
    labels = {"a": ["m", "f"], "b": "f"}
    assert Membership.from_labels(GENDER, labels, multilabel=True).sizes().tolist() == [1.5, 0.5]
    full = Membership.from_labels(GENDER, labels, multilabel=True, split="full")
    assert full.sizes().tolist() == [2, 1]


def test_shares_within_the_tolerance_are_divided_by_their_sum() -> None:
    assert Membership.from_matrix(SIDES, ["a"], [[0.333333] * 3]).sizes().sum() == pytest.approx(1, abs=1e-15)


def test_a_document_without_any_value_is_not_listed() -> None:
    built = Membership.build(GENDER, ["a", "a", "b"], ["f", "m", "f"], [0, 0, 0.5], multilabel=True)
    assert len(built) == 1
    assert of_documents(built, "a") == [None]


REFUSED: dict[str, tuple[Callable[[], Any], list[int], list[str]]] = {
    "unknown values": (
        lambda: Membership.build(GENDER, ["a", "b", "c"], ["f", "x", "y"]),
        [2, 3],
        ["'b'", "'x'", "'c'", "'y'"],
    ),
    "below 0 and above 1": (
        lambda: Membership.build(GENDER, ["a", "a"], ["f", "m"], [-0.25, 1.25], source="g.csv"),
        [1, 2],
        ["g.csv:1", "-0.25", "g.csv:2", "1.25"],
    ),
    "NaN": (lambda: Membership.build(GENDER, ["a"], ["f"], [float("nan")]), [1], ["'a'", "nan"]),
    "of several kinds, in the order of the rows": (
        lambda: Membership.build(
            GENDER, ["a", "b", "a", "c", "b", "d"], ["f", "x", "m", "f", "m", "m"], [0.5, 1, 0.4, 2, 0.5, 1]
        ),
        [2, 3, 4],
        ["'x'", "0.9", "2"],
    ),
    "a sum of a matrix": (
        lambda: Membership.from_matrix(GENDER, ["a", "b"], [[1, 0], [0.5, 0.4]], source="C:g.csv"),
        [2],
        ["C:g.csv:2", "'b'", "0.9"],
    ),
    "just outside the tolerance": (
        lambda: Membership.from_matrix(GENDER, ["a"], [[0.5, 0.5000011]]),
        [1],
        ["'a'"],
    ),
    "two labels": (
        lambda: Membership.build(GENDER, ["a", "b", "a"], ["m", "f", "f"]),
        [3],
        ["'a'", "'f'", "'m'", "multilabel"],
    ),
    "two labels of a query": (
        lambda: Membership.build(GENDER, ["a", "a"], ["f", "m"], queries=["q", "q"]),
        [2],
        ["'a'"],
    ),
    "two shares of a value": (
        lambda: Membership.build(GENDER, ["a", "a"], ["f", "f"], [1, 0.5], multilabel=True),
        [2],
        ["'a'", "'f'"],
    ),
    "a score beyond 1": (
        lambda: Membership.from_scores(GENDER, {"a": 1, "b": -1.5}, positive="m"),
        [],
        ["'b'", "-1.5"],
    ),
    "a score of NaN": (
        lambda: Membership.from_scores(GENDER, {"b": float("nan")}, positive="m"),
        [],
        ["'b'", "nan"],
    ),
    "a label that is no value": (
        lambda: Membership.from_labels(GENDER, {"a": "m", "b": "x"}),
        [2],
        ["'b'", "'x'", "'gender'"],
    ),
    "several labels without saying so": (
        lambda: Membership.from_labels(GENDER, {"a": ["m", "f"]}),
        [2],
        ["'a'", "'f'", "'m'"],
    ),
    "nothing labelled": (lambda: Membership.from_labels("g", {"a": None}), [], []),
    "another shape": (
        lambda: Membership.from_matrix(GENDER, ["a"], [[1, 0, 0]]),
        [],
        ["gender", "(1, 3)"],
    ),
    "more than twenty": (
        lambda: Membership.from_matrix(GENDER, [f"d{number}" for number in range(30)], np.full((30, 2), 0.4)),
        [*range(1, 21)],
        ["'d0'", "'d19'", "20"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_names_the_rows_and_the_documents(case: str) -> None:
    build, lines, words = REFUSED[case]
    with pytest.raises(DataError) as caught:
        build()
    assert [problem.line for problem in caught.value.problems if problem.line] == lines
    assert all(word in str(caught.value) for word in words)


def parts() -> tuple[Membership, Membership]:
    gender = Membership.build(GENDER, ["a", "a", "b", "x"], ["f", "m", "m", "f"], [0.25, 0.75, 1, 1])
    country = Membership.build(COUNTRY, ["a", "a", "b"], ["n", "s", "s"], [0.5, 0.5, 1])
    return gender, country


def with_name(groups: Membership, name: str) -> Membership:
    return replace(groups, attribute=replace(groups.attribute, name=name))


BY_QUERY = Membership.from_labels("side", {"q1": {"a": "for", "b": "against"}, "q2": {"a": "against"}})
STARS = Attribute("stars", ("1", "2"), ordinal=True)
WIDE = Membership.from_labels("wide", {str(number): f"v{number}" for number in range(70)})
WRONG: dict[str, tuple[Callable[[], Any], type[EvenrankError], str]] = {
    "an unknown split": (
        lambda: Membership.build(GENDER, ["a"], ["f"], multilabel=True, split="half"), ParameterError, "half"
    ),
    "scores of three values": (
        lambda: Membership.from_scores(SIDES, {"a": 1}, positive="for"), ParameterError, "for"
    ),
    "scores of an unknown value": (
        lambda: Membership.from_scores(GENDER, {"a": 1}, positive="x"), ParameterError, "x"
    ),
    "a score in words": (
        lambda: Membership.from_scores(GENDER, {"a": "x"}, positive="m"), DataError, "'x'"  # type: ignore[dict-item]
    ),
    "a label that is a number": (lambda: Membership.from_labels("g", {"a": 1}), InputTypeError, "'a'.* 1"),
    "labels and queries": (
        lambda: Membership.from_labels("g", {"a": "f", "q": {"b": "f"}}), InputTypeError, "mix"
    ),
    "no mapping": (
        lambda: Membership.from_labels("g", ["a"]), InputTypeError, "mapping"  # type: ignore[arg-type]
    ),
    "an unknown rule": (
        lambda: Membership.from_labels("g", {"a": "f"}, unlabelled="drop"), ParameterError, "own"
    ),
    "a value that is shared among all": (
        lambda: Membership.from_labels(GENDER, {"a": "f"}, even=["m"]), ParameterError, "'m'"
    ),
    "one intent": (
        lambda: Membership.from_intents(DiversityQrels.build(["q"], ["x"], ["a"], [1])), ParameterError, "two"
    ),
    "a combination of one": (lambda: Membership.combined(parts()[0]), ParameterError, "two"),
    "a combination with a scale": (
        lambda: Membership.combined(parts()[0], Membership.from_labels(STARS, {"a": "1"})),
        ParameterError, "'stars'",
    ),
    "a combination of unlike targets": (
        lambda: Membership.combined(parts()[0], parts()[1].with_target("pool")),
        ParameterError, "gender.*uniform.*country.*pool",
    ),
    "a combination of two by query": (
        lambda: Membership.combined(BY_QUERY, with_name(BY_QUERY, "other")), ParameterError, "by query"
    ),
    "too many combined values": (
        lambda: Membership.combined(WIDE, with_name(WIDE, "other")), ParameterError, "4,900"
    ),
    "labels by query and one pool for all": (
        lambda: evaluate(
            {"q1": {"a": 1.0}}, "AWRF", groups=BY_QUERY.with_target("pool"), background=["a", "b"]
        ),
        ParameterError, "'side'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_meant_is_refused(case: str) -> None:
    build, kind, words = WRONG[case]
    with pytest.raises(kind, match=words):
        build()


def test_even_labels_belong_to_all_values() -> None:
    labels = {"a": "f", "b": "both", "c": "m"}
    for even in ("both", ["both"]):
        found = Membership.from_labels("gender", labels, even=even)
        assert found.attribute.values == ("f", "m")
        assert of_documents(found, "a", "b", "c") == [[1, 0], [0.5, 0.5], [0, 1]]


def test_documents_without_a_label_are_left_out_or_values_of_their_own() -> None:
    labels = {"a": "x", "b": None, "c": "y", "d": None}
    assert of_documents(Membership.from_labels("chain", labels), "a", "b", "c") == [[1, 0], None, [0, 1]]
    found = Membership.from_labels("chain", labels, unlabelled="own")
    assert found.attribute.values == ("x", "b", "y", "d")
    assert of_documents(found, "b") == [[0, 1, 0, 0]]
    named = Membership.from_labels(Attribute("chain", ("y", "x")), {"a": "x", "b": None}, unlabelled="own")
    assert named.attribute.values == ("y", "x", "b")


def test_the_order_of_a_set_does_not_show() -> None:
    found = Membership.from_labels("letter", {"d": set("zyxwvutsr")}, multilabel=True)
    assert found.attribute.values == tuple("rstuvwxyz")


def test_intents_are_groups_by_their_gains() -> None:
    judged = DiversityQrels.build(
        ["q1", "q1", "q1", "q2", "q2", "q2", "q3"],
        ["x", "y", "y", "u", "v", "w", "only"],
        ["a", "a", "b", "a", "b", "a", "a"],
        [1, 2, 1, 1, 0, 3, 2],
    )
    found = Membership.from_intents(judged)
    pairs = [("q1", "a"), ("q1", "b"), ("q2", "a"), ("q2", "b"), ("q3", "a")]
    rows = [[1 / 4, 3 / 4, 0], [0, 1, 0], [1 / 8, 0, 7 / 8], None, None]
    assert shares_of(found, pairs) == [row and pytest.approx(row) for row in rows]
    # wanted are all intents of a query alike: halves in q1, thirds in q2
    apart = evaluate({"q1": {"b": 1.0}, "q2": {"a": 1.0}}, "AWRF", groups=found).to_dict()["run"]["AWRF"]
    assert apart == pytest.approx({"q1": 1.0, "q2": 5 / 24 + 1 / 3 + 13 / 24})


def test_combinations_have_the_products_of_shares_and_targets() -> None:
    gender, country = parts()
    both = Membership.combined(gender, country)
    assert (both.attribute.name, both.attribute.values) == (
        "gender*country",
        ("f & n", "f & s", "m & n", "m & s"),
    )
    assert both.attribute.target == (0.375, 0.125, 0.375, 0.125)
    assert Membership.combined(gender, country, target="pool").attribute.target == "pool"
    assert shares_of(both, [("q", "a"), ("r", "b"), ("s", "x")]) == [
        [0.125, 0.125, 0.375, 0.375], [0, 0, 0, 1], None,
    ]  # fmt: skip
    wanted = gender.with_target({"q1": [1, 0], "q2": [0.5, 0.5]})
    by_query = Membership.combined(wanted, country).attribute.target
    assert dict(by_query) == {"q1": (0.75, 0.25, 0, 0), "q2": (0.375, 0.125, 0.375, 0.125)}


@pytest.mark.parametrize("shared", [False, True])
def test_targets_of_a_pool_over_many_values(shared: bool) -> None:
    """Eighty companies, of which the pool of a query has a few; against sums written from the definition."""
    generator = np.random.default_rng(4)
    company = Attribute("company", tuple(f"v{number}" for number in range(80)), target="pool")
    rows = {}
    for number in range(24):
        places = generator.choice(80, int(generator.integers(1, 5)), replace=False)
        rows[f"d{number}"] = [1 / len(places) if place in places else 0.0 for place in range(80)]
    groups = Membership.from_matrix(company, list(rows), list(rows.values()))
    drawn = {f"q{number}": generator.permutation(list(rows)).tolist() for number in range(4)}
    run = {query: {name: 9.0 - rank for rank, name in enumerate(own[:6])} for query, own in drawn.items()}
    pools = {query: (drawn["q0"] if shared else own)[3:9] for query, own in drawn.items()}
    by_query = {query: dict.fromkeys(own, 1.0) for query, own in pools.items()}
    background = pools["q0"] if shared else read_run(by_query)
    found = evaluate(run, "AWRF@6 AWRF(distance='JSD')@6", groups=groups, background=background)
    weights = 1 / np.log2(np.arange(2, 8))
    for query, lists in run.items():
        mass = np.array([rows[name] for name in pools[query]]).sum(axis=0)
        shown = weights @ np.array([rows[name] for name in lists]) / weights.sum()
        for values, slow in zip(
            found.to_dict()["run"].values(), (group_oracles.l1, group_oracles.jsd), strict=True
        ):
            assert values[query] == pytest.approx(slow(shown.tolist(), (mass / mass.sum()).tolist()))
    # values that no pool has count as one, or each for itself, where their order matters: it is the same
    kept = groups.with_target(groups.attribute.target)
    scale = replace(kept, attribute=replace(company, ordinal=True))
    every = "AWRF NDKL@5 GF(div=JSD)@6 MinSkew@6 MaxSkew@6"
    one, other = (
        evaluate(run, every, groups=own, background=background).to_dict()["run"] for own in (kept, scale)
    )
    assert one.keys() == other.keys()
    assert all(one[name] == pytest.approx(other[name], nan_ok=True) for name in one)


def test_the_fingerprint_tells_what_differs_and_no_order() -> None:
    rows = (["a", "b"], ["f", "m"])
    built = Membership.build(GENDER, *rows)
    assert Membership.build(GENDER, ["b", "a"], ["m", "f"], [1.0, 1.0], source="elsewhere").fingerprint == (
        built.fingerprint
    )
    others = [
        Membership.build(GENDER, ["a", "b"], ["m", "f"]),
        Membership.build(GENDER, ["a", "c"], ["f", "m"]),
        Membership.from_matrix(GENDER, ["a", "b"], [[0.75, 0.25], [0, 1]]),
        Membership.from_matrix(GENDER, ["a", "b"], [[0.5, 0.5], [0, 1]]),
        Membership.build(replace(GENDER, name="sex"), *rows),
        Membership.build(replace(GENDER, ordinal=True), *rows),
        Membership.build(replace(GENDER, values=("f", "m", "x")), *rows),
        built.with_target("pool"),
        built.with_target({"q": [0.5, 0.5]}),
        Membership.build(GENDER, *rows, queries=["q", "q"]),
    ]
    assert len({built.fingerprint, *(other.fingerprint for other in others)}) == len(others) + 1
    shared = [("d2", "f", 0.1), ("d1", "f", 0.7), ("d2", "m", 0.9), ("d1", "m", 0.3)]
    orders = (shared, shared[::-1], sorted(shared))
    assert len({Membership.build(GENDER, *zip(*order, strict=True)).fingerprint for order in orders}) == 1
