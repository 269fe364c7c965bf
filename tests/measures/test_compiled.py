"""With numba or without, the same numbers and orders: only the time differs."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.needs("numba"), pytest.mark.slow]  # it compiles

# so much work that it is compiled where numba is; the second word says whether it is
SCRIPT = """
import sys
if sys.argv[1] == "without":
    sys.modules["numba"] = None
import hashlib
import numpy as np
import evenrank as er
from evenrank.measures.orders import extremes

found, generator = hashlib.sha256(), np.random.default_rng(14)

def ranges():
    polarity, lengths = generator.normal(size=(4500, 400)), generator.integers(0, 401, 4500)
    polarity[:1500] = polarity[:1500].round()  # many are tied
    polarity[1500:3000] = np.sign(polarity[1500:3000])
    for step in (1, 3):
        for part in extremes(polarity, lengths, step=step):
            found.update(np.ascontiguousarray(part).tobytes())

def greedy():
    queries, names = [f"q{i}" for i in range(60)], [f"d{i:03}" for i in range(120)]
    run = er.Run.build([q for q in queries for _ in names], names * 60, generator.random(7200))
    judged = {q: {d: int(generator.integers(2)) for d in names} for q in queries}
    rows = generator.dirichlet(np.full(5, 0.7), 120)
    rows[60:90] = rows[:30]  # equal documents
    rows[90:] = np.eye(5)[generator.integers(0, 5, 30)]  # of one group
    for target in ("uniform", (0.4, 0.3, 0.2, 0.1, 0), (0.96, 0.01, 0.01, 0.01, 0.01)):
        groups = er.Membership.from_matrix(er.Attribute("g", tuple("abcde"), target=target), names, rows)
        for given in ("alpha=0.5", "alpha=1.0", "smoothing=0.0", "alpha=0.0,pseudo=True"):
            method = f"FAIR_greedy(epsilon=0.3,{given})"
            for draw in er.rerank(run, method, groups=groups, qrels=judged, repeat=20):
                found.update(" ".join(draw.doc_ids.to_pylist()).encode())

{"ranges": ranges, "greedy": greedy}[sys.argv[2]]()
print(found.hexdigest(), sys.modules.get("numba") is not None)
"""


@pytest.mark.parametrize("work", ["ranges", "greedy"])
def test_with_numba_and_without(work: str) -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, numba, work], capture_output=True, text=True, check=True
        ).stdout.split()
        for numba in ("with", "without")
    ]
    assert said[0][0] == said[1][0]
    assert [loaded for _, loaded in said] == ["True", "False"]  # else this tests nothing
