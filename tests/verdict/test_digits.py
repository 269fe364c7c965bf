"""Sentences round no share to nothing, to all or to its target where it is none of these."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from audits import audited

from evenrank import Run

ROUNDED = re.compile(r"(?<![\d.])(100|0)%|-0\b(?!\.)|to 100\)")  # an interval may begin with 0


@pytest.mark.parametrize("target", ["catalogue", "candidates"])
@pytest.mark.parametrize("place", [0, 9])
def test_one_document_of_400_is_neither_nothing_nor_as_if_it_were_not_there(
    tmp_path: Path, target: str, place: int
) -> None:
    """It stands in one list of forty, so that its group gets a little more than its share, or less."""
    sizes = {"d0": "rare", **dict.fromkeys([f"d{number}" for number in range(1, 400)], "usual")}
    generator = np.random.default_rng(5)
    lists = [[f"d{number}" for number in generator.permutation(399)[:20] + 1] for _ in range(40)]
    lists[0][place] = "d0"
    rows = [(f"q{n}", one, -float(rank)) for n, found in enumerate(lists) for rank, one in enumerate(found)]
    queries, documents, scores = map(list, zip(*rows, strict=True))
    run = Run.build(queries, documents, scores, name="run")
    said = " ".join(" ".join(audited(tmp_path, run, {"size": sizes}, target=target).lines()).split())
    assert not ROUNDED.search(said.partition("wrote")[0])
    shares = re.findall(r"([\d.]+)%", said)
    assert shares[0] != shares[1]
