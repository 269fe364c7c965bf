"""The checks that every re-ranker is put through find what is broken."""

from __future__ import annotations

import numpy as np
import pytest

from evenrank.rerankers import parse_reranker
from evenrank.testing import check_reranker


def test_a_seed_that_does_nothing_is_caught(monkeypatch) -> None:
    cls = type(parse_reranker("Random"))
    reorder = cls.reorder
    monkeypatch.setattr(cls, "reorder", lambda self, e, generator: reorder(self, e, np.random.default_rng(1)))
    with pytest.raises(AssertionError, match="same order for another seed"):
        check_reranker("Random")


def test_a_missing_declaration_is_caught(monkeypatch) -> None:
    monkeypatch.setattr(type(parse_reranker("Random")), "reference", "")
    with pytest.raises(AssertionError, match="declares no reference"):
        check_reranker("Random")
