"""What must not change a value, not even in its last bit, over all measures: blocks, threads, columns."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import order_oracles
import pytest
from measure_evidence import evidence_for

from evenrank import Attribute, Membership, all_measures, evaluate
from evenrank.evaluation import kernels
from evenrank.measures import Direction, Measure
from evenrank.measures.groups import GroupMeasure
from evenrank.testing import Case, check_measure, random_case

HERE = Path(__file__).parent


def defaults() -> list[Measure]:
    """Every measure once, at a cut-off where it takes one."""
    found = []
    for name, cls in all_measures().items():
        measure = cls(samples=5) if name == "RandomOrder" else cls()
        found.append(measure @ 7 if measure.takes_cutoff else measure)
    return found


def case_for(measure: Measure, seed: int = 3) -> Case:
    if measure.name in order_oracles.ORDER_ORACLES:
        return random_case(seed, order_oracles.polarity)
    return random_case(seed, evidence_for(measure))


@pytest.mark.parametrize("measure", defaults(), ids=repr)
def test_a_query_at_a_time_or_all_at_once(measure: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    case = case_for(measure)
    whole = case.evaluate(measure)
    monkeypatch.setattr(kernels, "_NUMBERS_AT_ONCE", 1)
    single = case.evaluate(measure)
    assert np.array_equal(single.values, whole.values, equal_nan=True)
    assert [single.reasons[code] for code in single.status.ravel()] == [
        whole.reasons[code] for code in whole.status.ravel()
    ]


def digest() -> str:
    """Of all values of all measures, for a process with so many threads."""
    total = hashlib.sha256()
    for measure in defaults():
        total.update(case_for(measure).evaluate(measure).values.tobytes())
    return total.hexdigest()


@pytest.mark.slow
def test_one_thread_or_two() -> None:
    folders = os.pathsep.join([str(HERE), str(HERE.parent / "support")])
    code = "import test_metamorphic; print(test_metamorphic.digest())"
    found = set()
    for threads in ("1", "2"):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
        environment = {**os.environ, **dict.fromkeys(names, threads), "PYTHONPATH": folders}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        found.add(done.stdout.strip())
    assert len(found) == 1


def by_groups() -> list[Measure]:
    return [
        measure
        for measure in defaults()
        if isinstance(measure, GroupMeasure) and not measure.name.startswith("EE_")
    ]


@pytest.mark.parametrize("measure", by_groups(), ids=repr)
def test_the_order_of_values_orders_columns_and_nothing_else(measure: Measure) -> None:
    """Values listed the other way round: the same columns by name, and a signed value for the other side."""
    case = case_for(measure, 5)
    labels = {f"d{number}": "left" if number % 3 else "right" for number in range(10, 30)}
    blocks = []
    for values, target in ((("left", "right"), (0.4, 0.6)), (("right", "left"), (0.6, 0.4))):
        groups = Membership.from_labels(Attribute("side", values, target=target), labels)
        scores = evaluate(case.run, measure, groups=groups, qrels=case.qrels, background=case.background)
        blocks.append(scores.block(measure))
    one, two = blocks
    order = [two.columns.index(column) for column in one.columns]
    turned = two.values[:, order]
    if measure.direction is Direction.SIGNED and len(one.columns) == 1:
        turned = -turned
    assert turned == pytest.approx(one.values, abs=1e-12, nan_ok=True)


def test_a_sum_that_sees_the_other_queries_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule is kept by ``padded_sum``: with ``numpy.sum`` the last digit depends on the longest list."""
    monkeypatch.setattr("evenrank.measures.neutrality.padded_sum", lambda values: np.sum(values, axis=1))
    measure = all_measures()["FaiRR"](tau=0)
    with pytest.raises(AssertionError, match="depends on the other queries"):
        check_measure(measure, evidence=evidence_for(measure), cases=25)
