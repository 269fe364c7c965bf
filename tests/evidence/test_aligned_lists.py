"""A run that is aligned once gives everybody what ``align`` would have given them."""

from __future__ import annotations

import numpy as np
import pytest
from counting import counted_calls

from evenrank import Qrels, Run
from evenrank.evidence.align import Sources, align
from evenrank.evidence.aligned_lists import AlignedLists

RUN = Run.build(["q1"] * 3 + ["q2"] * 2 + ["q3"], list("abcdef"), [3.0, 2.0, 1.0, 2.0, 1.0, 1.0])
QRELS = Qrels.build(["q1", "q2", "q2", "q4"], ["b", "d", "x", "a"], [2, 1, 3, 1])
NEEDS = {"ranked.relevance", "judged.relevance"}


def test_views_are_what_align_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = Sources({"relevance": QRELS})
    calls = counted_calls(monkeypatch, align)
    lists = AlignedLists(sources, NEEDS, 3)
    for queries, depth in ((("q1", "q2", "q3", "q4"), 2), (("q4", "q2"), 3), (("q3",), 1)):
        found = lists.of(RUN, queries, {"ranked.relevance"}, depth)
        wanted = align(RUN, queries, NEEDS, sources, depth)
        width = wanted.ranked.depth  # the view may be wider, where lists are short
        assert np.array_equal(found.ranked["relevance"][:, :width], wanted.ranked["relevance"])
        assert not found.ranked.mask[:, width:].any()
        judged = found.reference["judged"], wanted.reference["judged"]
        assert np.array_equal(judged[0].padded("relevance"), judged[1].padded("relevance"))
        assert found.query.keys() == wanted.query.keys()
    assert calls["align"] == 1


def test_what_was_not_foreseen_is_aligned_anew() -> None:
    sources = Sources({"relevance": QRELS})
    lists = AlignedLists(sources, {"ranked.relevance"}, 1)
    assert lists.of(RUN, ["q1"], {"ranked.relevance"}, None).ranked.depth == 3
    assert "judged" in lists.of(RUN, ["q1"], NEEDS, 1).reference
    assert lists.of(RUN, ["q1"], {"ranked.relevance"}, 1).ranked.rows.shape == (1, 1)
    assert lists.of(RUN, ["q2", "q1"], {"ranked.relevance"}, 1).ranked["relevance"].tolist() == [[1], [0]]
    other = Run.build(["q1"], ["b"], [1.0])
    assert lists.of(other, ["q1"], {"ranked.relevance"}, 1).ranked["relevance"].tolist() == [[2]]
