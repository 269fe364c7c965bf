from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenrank as er
from evenrank.sample import load


@pytest.fixture(scope="session")
def sample() -> Any:
    return load()


@pytest.fixture(scope="session")
def counts(sample: Any) -> er.WordCounts:
    return er.scan(list(sample.documents.items()), er.read_lexicon("gender-en"), terms=True)


@pytest.fixture(scope="session")
def run(sample: Any) -> er.Run:
    """Twelve documents a query: half of its judged ones and as many others, in random order."""
    generator = np.random.default_rng(3)
    judged = sample.qrels.to_dict()
    everything = sorted(sample.documents)
    lists = {}
    for query in sample.queries:
        own = sorted(judged[query])[:6]
        others = [d for d in generator.permutation(everything).tolist() if d not in own][: 12 - len(own)]
        lists[query] = {d: float(-r) for r, d in enumerate(generator.permutation(own + others).tolist())}
    return er.read_run(lists, name="mixed")
