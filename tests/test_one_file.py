"""What people add most is added by one new file in a folder of the package, which nothing else lists."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import evenrank as er

FILES = {
    "measures/length.py": """
from evenrank.grammar import declare
from evenrank.measures import Direction, Measure, Result


@declare
class Length(Measure):
    "How many documents the list has."

    direction = Direction.HIGHER

    @property
    def needs(self):
        return frozenset()

    def compute(self, evidence):
        return Result(evidence.ranked.mask.sum(axis=1).astype(float))
""",
    "rerankers/backwards.py": """
import numpy as np

from evenrank.grammar import declare
from evenrank.rerankers import Reordered, Reranker


@declare
class Backwards(Reranker):
    "The last document first."

    def reorder(self, evidence, generator):
        length = evidence.ranked.mask.sum(axis=1, keepdims=True)
        ranks = np.arange(evidence.ranked.mask.shape[1])[None, :]
        return Reordered(np.where(ranks < length, length - 1 - ranks, -1))
""",
    "systems/last_first.py": """
from evenrank import Run
from evenrank.grammar import declare
from evenrank.systems import SystemTerm, all_systems


class Reversed:
    name = "last-first"

    def index(self, documents):
        self.documents = list(documents)

    def retrieve(self, queries, k=100):
        ranked = self.documents[::-1][:k]
        rows = [(query, own, -float(place)) for query in queries for place, own in enumerate(ranked)]
        return Run.build(*zip(*rows, strict=True), name=self.name)


@declare
class LastFirst(SystemTerm):
    "The last document first."

    family = all_systems()["BM25"].family

    def make(self, settings):
        return Reversed()
""",
}
CODE = """
import evenrank as er
from evenrank.rerankers import all_rerankers
from evenrank.systems import make_system

run = er.Run.build(["q", "q", "q"], ["a", "b", "c"], [3.0, 2.0, 1.0])
assert "Length" in er.all_measures()
assert er.evaluate(run, "Length").mean("Length") == 3
assert "Backwards" in all_rerankers()
assert er.rerank(run, "Backwards()").documents("q") == ["c", "b", "a"]
system = make_system("LastFirst@2")
system.index({"a": "x", "b": "y"})
assert system.retrieve({"q": "x"}).documents("q") == ["b", "a"]
"""


def test_a_measure_a_reranker_and_a_system(tmp_path: Path) -> None:
    shutil.copytree(Path(er.__file__).parent, tmp_path / "evenrank", copy_function=os.symlink)
    for name, code in FILES.items():
        (tmp_path / "evenrank" / name).write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", CODE], env={**os.environ, "PYTHONPATH": str(tmp_path)}, cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
