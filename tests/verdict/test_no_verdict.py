"""Where there is no verdict: too few queries, documents or labels, and what is no attribute of groups."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from audits import audited, partly, verdict_of, verdicts_by_group
from shops import Shop

from evenrank import Membership, MissingEvidenceError, Run, audit, read_groups, read_qrels

LESS, TOO_FEW = "less than its target", "too few"


def test_groups_that_are_too_small_get_no_verdict(biased: Shop, tmp_path: Path) -> None:
    few = {**biased.sizes, **dict.fromkeys(list(biased.sizes)[:3], "medium")}
    made = audited(tmp_path, biased.run, {"size": few})
    (found,) = made.verdicts
    assert (found.group("medium").decision, found.group("medium").documents) == (TOO_FEW, 3)
    assert found.group("medium").share_low == 0 < found.group("medium").target
    assert found.group("small").decision == LESS
    assert any("medium" in note and "3" in note for note in made.summary.notes)


@pytest.mark.parametrize(("count", "enough"), [(11, False), (12, True)])
def test_a_verdict_takes_twelve_queries(biased: Shop, tmp_path: Path, count: int, enough: bool) -> None:
    few = biased.run.select(list(biased.run.query_ids[:count]))
    found = verdict_of(tmp_path, few, biased.sizes)
    assert (set(verdicts_by_group(found).values()) == {TOO_FEW}) is not enough
    assert math.isnan(found.group("small").share_low) is not enough


def with_first(run: Run, first: list[str]) -> Run:
    """The same lists with these documents before all others."""
    rows = [
        (query, document, float(-place))
        for query in run
        for place, document in enumerate(
            [*first, *(one for one in run.documents(query) if one not in first)][:20]
        )
    ]
    return Run.build(*zip(*rows, strict=True), name="run")


@pytest.mark.parametrize(("count", "enough"), [(7, False), (10, True)])
def test_few_documents_that_get_all_attention_allow_no_verdict(
    biased: Shop, tmp_path: Path, count: int, enough: bool
) -> None:
    """The same stand first in every list: whatever they are, seven say nothing about the others."""
    lists = with_first(biased.run, list(biased.sizes)[:count])
    found = verdict_of(tmp_path, lists, biased.sizes, cutoff=count)
    weights = 1 / np.log2(np.arange(count) + 2)
    assert found.units == pytest.approx(weights.sum() ** 2 / np.square(weights).sum())
    assert (set(verdicts_by_group(found).values()) == {TOO_FEW}) is not enough


@pytest.mark.parametrize("catalogue", [True, False])
def test_lists_without_labelled_documents_in_the_first_places_get_no_verdict(
    biased: Shop, tmp_path: Path, catalogue: bool
) -> None:
    first = {one for query in biased.run for one in biased.run.documents(query)[:10]}
    below = {one: size for one, size in biased.sizes.items() if one not in first}
    for _ in range(2):
        made = audited(tmp_path, biased.run, {"size": below}, documents=biased.sizes, catalogue=catalogue)
        (found,) = made.verdicts
        assert (found.queries, found.unseen) == (0, 1)
        assert verdicts_by_group(found) == {"small": TOO_FEW, "large": TOO_FEW}
    assert repr(made.previous.verdicts) == repr(made.verdicts)
    with pytest.raises(MissingEvidenceError, match="size"):
        verdict_of(tmp_path, biased.run, {"x": "small", "y": "large"}, catalogue=catalogue)


def test_whatever_gets_no_verdict_is_named(biased: Shop, tmp_path: Path) -> None:
    many, just = (
        {one: f"brand {place % count}" for place, one in enumerate(biased.sizes)} for count in (65, 64)
    )
    made = audited(tmp_path, biased.run, {"many": many, "just": just, "size": biased.sizes})
    assert [verdict.attribute for verdict in made.verdicts] == ["just", "size"]
    (note,) = [note for note in made.summary.notes if note.startswith("many")]
    assert "65" in note
    sides = [f"{query} {n % 2} {biased.run.documents(query)[n]} 1\n" for query in biased.run for n in (0, 1)]
    (tmp_path / "sides.txt").write_text("".join(sides))
    own = read_groups(tmp_path / "documents.csv", "own", column="size", unlabelled="own")
    given = [
        Membership.from_intents(read_qrels(tmp_path / "sides.txt", diversity=True), "side"),
        own,
        "size=documents",
    ]
    made = audit(
        str(tmp_path / f"{biased.run.name}.trec"),
        tmp_path / "other",
        groups=given,
        documents=str(tmp_path / "documents.csv"),
    )
    assert [verdict.attribute for verdict in made.verdicts] == ["size"]
    for name in ("side", "own"):
        assert any(note.startswith(f"{name}: ") for note in made.summary.notes)


def test_too_many_documents_without_a_label_allow_no_verdict(biased: Shop, tmp_path: Path) -> None:
    found = verdict_of(tmp_path, biased.run, partly(biased.sizes, 0.5), documents=biased.sizes)
    assert found.unseen > 1 / 3
    assert set(verdicts_by_group(found).values()) == {TOO_FEW}
