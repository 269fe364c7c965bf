"""The measures of order: figures and printed values, signs, axes, who takes part, and what is said."""

from __future__ import annotations

import functools

import numpy as np
import order_oracles
import pytest
from effort import some

from evenrank import (
    DataError,
    MissingEvidenceError,
    ParameterError,
    Run,
    all_measures,
    evaluate,
    read_run,
    rerank,
)
from evenrank.data.tables import DocumentTable
from evenrank.measures import Direction, Measure
from evenrank.testing import check_measure

DUO, rND, rKL, rRD = CLASSES = [all_measures()[name] for name in ("DUO", "rND", "rKL", "rRD")]


def instances() -> list[Measure]:
    found = []
    for cls in CLASSES:
        found += [cls(**arguments) for arguments in [{}, *order_oracles.ORDER_VARIANTS[cls.name]]]
        found.append(cls(step=2) @ 5)
    return found


@pytest.mark.parametrize("cases", some([1, 12]))
@pytest.mark.parametrize("measure", instances(), ids=repr)
def test_properties_and_slow_computation(measure: Measure, cases: int) -> None:
    evidence = functools.partial(order_oracles.polarity, partial=measure.missing == "drop")
    check_measure(measure, oracle=order_oracles.ORDER_ORACLES[measure.name], evidence=evidence, cases=cases)


def table(polarity: list, documents: list[str] | None = None) -> DocumentTable:
    documents = [f"d{i:04}" for i in range(len(polarity))] if documents is None else documents
    return DocumentTable.build("polarity", documents, {"": np.array(polarity, float)})


def listed(count: int, query: str = "q") -> dict[str, dict[str, float]]:
    return {query: {f"d{i:04}": float(count - i) for i in range(count)}}


def score(measure: Measure, polarity: list, **further: object):
    return evaluate(listed(len(polarity)), measure, evidence=[table(polarity)], **further)


def value(measure: Measure, polarity: list) -> float:
    return float(score(measure, polarity).block(measure).values[0, 0])


def reason(measure: Measure, polarity: list, **further: object) -> str:
    block = score(measure, polarity, **further).block(measure)
    return block.reasons[block.status[0, 0]]


def test_the_lists_of_figure_1() -> None:
    assert value(DUO(), [1, 1, 1, -1, -1, -1]) == 1
    assert value(DUO(), [1, -1, 1, -1, 1, -1]) == 0
    assert value(DUO(), [1, -1, -1, 1, -1, 1]) == 0
    assert 0 < value(DUO(), [1, 1, -1, 1, -1, -1]) < 1


def test_a_list_by_hand() -> None:
    """Without k = 4, which is the same for all orders."""
    log3 = np.log2(3)
    least, most = 1 / 4 + 14 / 9 / log3, 4 + 26 / 9 / log3  # (1, 2, -1) and (2, -2, 1)
    d = 9 / 4 + 14 / 9 / log3  # (-1, 2, 1)
    assert value(DUO(), [1, 2, -1, -2]) == pytest.approx(1, abs=1e-12)
    assert value(DUO(), [2, -2, -1, 1]) == pytest.approx(0, abs=1e-12)
    assert value(DUO(), [-1, 2, 1, -2]) == pytest.approx((most - d) / (most - least), abs=1e-12)


def test_about_the_mean_of_the_list_two_equal_sides_are_undefined() -> None:
    assert reason(DUO(center="list"), [1, 1, 1, -1, -1, -1]) == "every order scores the same"
    assert value(DUO(center="list"), [0, 1, -1, 3, -3]) == 1
    assert value(DUO(center="list"), [3, -3, 1, -1, 0]) == 0


@pytest.mark.parametrize(
    ("measure", "polarity", "why"),
    [
        (DUO(), [1, -1], "too short"),
        (DUO(step=3), [1, -1, 2], "too short"),
        (DUO(), [2, 2, 2, 2], "every order scores the same"),
        (DUO(), [0.1] * 40, "every order scores the same"),
        (rND(), [1], "too short"),
        (rND(step=10), [1, -1] * 5, "too short"),
        (rND(discount="log2(i)"), [1, -1], "too short"),
        (rND(normalizer=None), [1, 2, 3], "one group only"),
        (rND(), [-1, 0, -3], "one group only"),
        (rKL(), [1, -1], "every order scores the same"),
    ],
)
def test_undefined_with_its_reason(measure: Measure, polarity: list, why: str) -> None:
    assert reason(measure, polarity) == why


def test_shortest_lists_that_are_defined() -> None:
    assert reason(DUO(step=3), [1, -1, 2, 0]) == "ok"
    assert reason(rND(), [1, -1, -1]) == "ok"
    assert reason(rND(step=10), [1, -1] * 5 + [1]) == "ok"
    assert value(rND(normalizer="max"), [1, -1]) == 1


def test_empty_and_unjudged_lists() -> None:
    run = Run.build(["q", "q", "r", "r", "r"], ["a", "b", "a", "b", "c"], [2.0, 1, 3, 2, 1])
    measure = DUO(min_grade=4)
    scores = evaluate(
        run,
        measure,
        qrels={"r": {"a": 1, "b": 3}},
        queries=["q", "r", "s"],
        evidence=[table([1, 2, 3], ["a", "b", "c"])],
    )
    block = scores.block(measure)
    assert [block.reasons[code] for code in block.status[:, 0]] == ["not judged", "empty list", "not judged"]


@pytest.mark.parametrize(
    "measure", [DUO(), DUO(center="list", signed=True), DUO(axes=2), rND(), rKL(), rRD()], ids=repr
)
def test_a_query_without_a_list(measure: Measure) -> None:
    run = Run.build(["q", "q"], ["d0000", "d0001"], [2.0, 1.0])
    block = evaluate(run, measure, queries=["q", "other"], evidence=[table([[1, 2], [3, 4]])]).block(measure)
    assert {block.reasons[code] for code in block.status[1]} == {"empty list"}


@pytest.mark.parametrize("center", ["prefix", "list"])
@pytest.mark.parametrize("n", [5, 14, 40])
def test_negated_polarity_negates_the_signed_value(n: int, center: str) -> None:
    generator = np.random.default_rng(n)
    measure = DUO(signed=True, center=center)
    seen = set()
    for _ in range(20):
        polarity = generator.normal(size=n).round(1)
        one, other = value(measure, polarity.tolist()), value(measure, (-polarity).tolist())
        assert one == pytest.approx(-other, abs=1e-12)
        assert abs(one) in (0, pytest.approx(value(DUO(center=center), polarity.tolist()), abs=1e-12))
        seen.add(np.sign(one))
    assert {-1, 1} <= seen


def test_the_sign_is_the_side_that_comes_first() -> None:
    assert value(DUO(signed=True), [1, 1, 1, -1, -1, -1]) == 1
    assert value(DUO(signed=True), [-1, -1, -1, 1, 1, 1]) == -1
    # every prefix that counts and has any spread has as many of either side: no sign, but for rounding
    assert value(DUO(signed=True, step=2), [0.3, 0.3, -0.3, -0.3]) == 0
    assert value(DUO(signed=True, step=2, tie="minus"), [0.3, 0.3, -0.3, -0.3]) == -1
    assert DUO(signed=True).direction is Direction.SIGNED
    assert DUO().direction is Direction.LOWER


def test_axes_stand_side_by_side_and_the_largest_beside_them() -> None:
    polarity = [[1, 1, 5], [1, -1, 5], [-1, 1, 5], [-1, -1, 5]]
    measure = DUO(axes=3)
    block = score(measure, polarity).block(measure)
    assert block.columns == ("axis 1", "axis 2", "axis 3", "maximum")
    np.testing.assert_array_equal(block.values[0], [1, 0, np.nan, 1])
    signed = DUO(axes=2, signed=True)
    block = score(signed, [[1, -1], [1, -1], [1, 1], [-1, -1], [-1, 1], [-1, 1]]).block(signed)
    assert block.values[0, 0] == 1
    assert -1 < block.values[0, 1] < 0
    assert block.values[0, 2] == 1
    named = order_oracles.PolarityTable.build("polarity", ["d0000", "d0001"], {"": np.ones((2, 2))})
    assert evaluate(listed(2), DUO(axes=2), evidence=[named]).block(DUO(axes=2)).columns == (
        "left-right",
        "old-new",
        "maximum",
    )


def test_one_column_of_polarity_is_one_axis() -> None:
    flat, wide = [1, 3, -2, 0], [[1, 9], [3, 9], [-2, 9], [0, 9]]
    assert value(DUO(), flat) == value(DUO(), wide)
    with pytest.raises(ParameterError, match=r"DUO\(axes=2\)"):
        value(DUO(axes=2), flat)


def test_what_is_missing_is_an_error_or_left_out() -> None:
    run, known = listed(5), table([1, 1, -1, -1], ["d0000", "d0002", "d0003", "d0004"])
    with pytest.raises(MissingEvidenceError, match="'d0001'"):
        evaluate(run, DUO(), evidence=[known])
    dropped = evaluate(run, DUO(missing="drop") @ 3, evidence=[known]).block(DUO(missing="drop") @ 3)
    assert dropped.values[0, 0] == value(DUO(), [1, 1, -1])
    with pytest.raises(DataError, match="polarity"):
        value(DUO(), [1, 2, float("nan")])


def test_only_documents_of_the_grade_take_part_and_it_is_said_how_many() -> None:
    measure = DUO(min_grade=4) @ 4
    grades = {"d0000": 4, "d0001": 3, "d0002": 4, "d0004": 5, "d0005": 4, "d0006": 4}
    polarity = [1, -9, 1, -9, -1, -1, 8]
    scores = score(measure, polarity, qrels={"q": grades})
    assert scores.block(measure).values[0, 0] == value(DUO(), [1, 1, -1, -1])
    (notes,) = scores.notes.values()
    assert any("5 of 7 ranked documents have grade >= 4 and take part" in note for note in notes)


def test_long_lists_say_that_the_smallest_is_not_proved() -> None:
    polarity = np.random.default_rng(1).normal(size=40).tolist()
    (notes,) = score(DUO(), polarity).notes.values()
    (note,) = [note for note in notes if "not proved" in note]
    assert "1 lists of more than 14 documents" in note
    assert 0 < float(note.split("more than ")[2].split()[0]) < 0.01
    for proved in (polarity[:14], np.sign(polarity).tolist()):
        (notes,) = score(DUO(), proved).notes.values()
        assert not any("proved" in note for note in notes)


@pytest.mark.parametrize("center", ["prefix", "list"])
def test_an_ordinary_list_has_no_notes(center: str) -> None:
    """Neither one in any order, nor the one of the smallest D, which rounding may put below it."""
    known = [table(np.random.default_rng(3).normal(size=12).tolist())]
    run = read_run(listed(12))
    for listing in (run, rerank(run, f"MaxDUO(center={center})", evidence=known)):
        assert set(evaluate(listing, DUO(center=center), evidence=known).notes.values()) == {()}


def test_published_values_of_fairrank() -> None:
    polarity = [1] * 50 + [-1] * 50
    assert f"{value(rND(step=10, normalizer=None), polarity):.12f}" == "0.660066334446"
    assert f"{value(rKL(step=10, normalizer=None, clamp=0.001), polarity):.11f}" == "1.15901724032"
    assert f"{value(rRD(step=10, normalizer=None), polarity):.11f}" == "1.08152800722"
    assert f"{value(rKL(step=10, normalizer=None), polarity):.10f}" == "1.1713550498"


@pytest.mark.parametrize(
    ("measure", "true"),
    [
        (rND(), True),
        (rND(step=3), True),
        (rKL(normalizer="max"), True),
        (rKL(normalizer="max", clamp=0.001), False),
        (rRD(normalizer="max"), True),
        (rRD(normalizer="max", step=3), False),
    ],
    ids=repr,
)
def test_the_group_all_first_or_all_last_is_not_always_the_worst(measure: Measure, true: bool) -> None:
    lists = [[1] * p + [-1] * (n - p) for n in (7, 20) for p in range(1, n)]
    worst = min(max(value(measure, p), value(measure, p[::-1])) for p in lists)
    assert worst == pytest.approx(1, abs=1e-12) if true else worst < 0.95


def test_the_other_side_can_be_the_protected_one() -> None:
    polarity = [1, 0, -1, -1, 2]
    assert value(rND(), polarity) == value(rND(), [1, -1, -1, -1, 1])
    assert value(rND(protected="negative"), polarity) == value(rND(), [-1, -1, 1, 1, -1])


def test_rrd_says_where_the_group_is_no_minority() -> None:
    assert any("no minority in 1 lists" in n for n in score(rRD(), [1, 1, -1, -1]).notes["run"])
    assert not any("minority" in n for n in score(rRD(), [1, -1, -1]).notes["run"])
    # a list of the group alone has no value, and a list of nobody has no group
    assert not any("minority" in n for n in score(rRD(), [1, 1, 1]).notes["run"])
    assert not any("minority" in n for n in score(rRD(), [1, -1, -1], queries=["q", "r"]).notes["run"])


def test_parameters_that_do_not_go_together() -> None:
    with pytest.raises(ParameterError, match="signed=True"):
        DUO(tie="minus")
    with pytest.raises(ParameterError, match="rND: normalizer"):
        rND(normalizer="sum")


def test_documents_below_the_grade_need_no_polarity() -> None:
    run = Run.build(["q"] * 4, ["a", "b", "c", "d"], [4.0, 3.0, 2.0, 1.0])
    qrels = {"q": {"a": 4, "b": 1, "c": 4, "d": 4}}
    polarity = DocumentTable.build("polarity", ["a", "c", "d"], {"": [1.0, 1.0, -1.0]})
    with pytest.raises(MissingEvidenceError, match="'b'"):
        evaluate(run, "DUO", evidence=[polarity])
    assert evaluate(run, "DUO(min_grade=4)", evidence=[polarity], qrels=qrels).mean("DUO(min_grade=4)") == 1.0


@pytest.mark.parametrize("measure", [DUO(), DUO(center="list"), DUO(signed=True), DUO(step=2)], ids=repr)
@pytest.mark.parametrize("scale", [1e-7, 3e-9, 1e-30, 1e-200, 1e9, 1e200])
def test_the_scale_of_polarity_does_not_matter(measure: Measure, scale: float) -> None:
    polarity = [0.9, 0.7, -0.2, 0.4, -0.8, -0.5]
    assert value(measure, [scale * one for one in polarity]) == pytest.approx(value(measure, polarity))
    assert reason(measure, [scale * one for one in polarity]) == "ok"


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 0.1, 1.0, 1e9])
def test_one_polarity_for_all_is_undefined_at_any_scale(scale: float) -> None:
    for count in (3, 7, 16, 40):
        assert reason(DUO(), [scale] * count) == "every order scores the same"
    assert reason(DUO(), [scale * (0.1 + 0.2), scale * 0.3, scale * 0.3]) == "every order scores the same"


def test_small_differences_of_large_scores_count() -> None:
    polarity = [0.9, 0.7, -0.2, 0.4, -0.8, -0.5]
    shifted = value(DUO(), [3 + 1e-8 * one for one in polarity])
    assert shifted == pytest.approx(value(DUO(), polarity), abs=1e-6)
