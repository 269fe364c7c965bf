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
from evenrank.measures.orders import extremes

found, generator = hashlib.sha256(), np.random.default_rng(14)

def ranges():
    polarity, lengths = generator.normal(size=(4500, 400)), generator.integers(0, 401, 4500)
    polarity[:1500] = polarity[:1500].round()  # many are tied
    polarity[1500:3000] = np.sign(polarity[1500:3000])
    for step in (1, 3):
        for part in extremes(polarity, lengths, step=step):
            found.update(np.ascontiguousarray(part).tobytes())

ranges()
print(found.hexdigest(), sys.modules.get("numba") is not None)
"""


def test_with_numba_and_without() -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, numba], capture_output=True, text=True, check=True
        ).stdout.split()
        for numba in ("with", "without")
    ]
    assert said[0][0] == said[1][0]
    assert [loaded for _, loaded in said] == ["True", "False"]  # else this tests nothing
