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

from evenrank import Attribute, Membership, Run, all_measures, evaluate
from evenrank.measures import Direction, Measure
from evenrank.testing import Case, random_case

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


def test_lists_beside_a_very_long_one_have_the_values_that_they_have_alone() -> None:
    """So long a list is computed apart from the others, and these a few at a time."""
    generator = np.random.default_rng(3)
    documents = [f"d{place:06}" for place in range(30_000)]
    lists = {f"q{place}": generator.choice(documents, 1 + place % 12, replace=False) for place in range(60)}
    lists |= {"long": np.array(documents), "last": generator.choice(documents, 5, replace=False)}
    groups = Membership.from_labels(
        Attribute("side", ("left", "right"), target=(0.3, 0.7)),
        {document: "left" if place % 3 else "right" for place, document in enumerate(documents)},
    )
    judged = {query: {str(d): int(d[-1]) % 3 for d in own[:12]} for query, own in lists.items()}
    measures = "nDCG AP RR RBP ERR iRBU GF(decay='log2') GF(div=MAX) NDKL Skew MinSkew EE_L OB KL@7 nDRKL"

    def values(queries: list[str]) -> list[dict[str, np.ndarray]]:
        ids = np.repeat(queries, [len(lists[query]) for query in queries])
        ranks = np.concatenate([-np.arange(len(lists[query])) for query in queries])
        run = Run.build(ids, np.concatenate([lists[query] for query in queries]), ranks.astype(float))
        scores = evaluate(run, measures, groups=groups, qrels=judged, queries=queries)
        blocks = [scores.block(measure) for measure in scores.measures]
        return [dict(zip(block.query_ids, block.values, strict=True)) for block in blocks]

    short = [query for query in lists if query != "long"]
    for beside, alone in zip(values([*lists]), values(short), strict=True):
        assert all(np.array_equal(beside[query], alone[query], equal_nan=True) for query in short)


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
    """Measures of one attribute, by the groups of documents alone."""
    return [
        measure
        for measure in defaults()
        if "attr" in {field.name for field in measure.parameters()}
        and measure.family not in ("diversity", "words")
        and not measure.name.startswith("EE_")
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
