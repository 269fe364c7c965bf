"""What users get from every command and public function, compared with what is kept in ``goldens/kept``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden_commands import spelling
from golden_files import Masks, digests, shortened

import goldens


def parameters() -> list[object]:
    return [
        pytest.param(one, id=one.id, marks=[pytest.mark.slow] if one.slow else []) for one in goldens.cases()
    ]


@pytest.mark.parametrize("case", parameters())
def test_golden(case: goldens.Case) -> None:
    if lacking := goldens.missing(case):
        pytest.skip(f"this case needs {', '.join(lacking)}")
    found = goldens.run(case)
    assert not found, "\n".join(found)


def test_nothing_is_kept_that_no_case_makes() -> None:
    there = {
        f"{path.stem}-{name}"
        for path in goldens.KEPT.glob("*")
        for name in json.loads(path.read_text(encoding="utf-8"))
    }
    assert there == {one.id for one in goldens.cases()}


def test_each_command_has_several_cases_of_each_kind() -> None:
    """Three at least, of which some end well and some with an error."""
    found = goldens.kinds()
    for command in spelling()["commands"]:
        assert min(found[command]["good"], found[command]["bad"]) > 0, command
        assert found[command].total() >= 3, command
    assert found["function"].total() > 100
    assert {one.given.get("world") for one in goldens.cases()} >= {
        "research",
        "shop",
        "recommender",
        "opinions",
    }


ROWS = [{"document": f"d{place}", "score": place / 7} for place in range(100)]


@pytest.mark.parametrize(
    "now",
    [
        [*ROWS[:50], {"document": "d50", "score": 50 / 7 + 1e-6}, *ROWS[51:]],
        [*ROWS[:40], ROWS[41], ROWS[40], *ROWS[42:]],
        [*ROWS[:50], {"document": "other", "score": 50 / 7}, *ROWS[51:]],
        [*ROWS[:50], {"document": "d50", "score": None}, *ROWS[51:]],
        ROWS[:-1],
    ],
    ids=["value", "order", "id", "gap", "length"],
)
def test_a_long_list_differs_in_the_middle(now: list[dict[str, object]]) -> None:
    assert not goldens.differences(shortened(ROWS), shortened(list(ROWS)))
    assert goldens.differences(shortened(ROWS), shortened(now))


@pytest.mark.parametrize(
    ("was", "now"), [(1.0, 1.00000001), (1, True), ("1", 1), ([1, 2], [2, 1]), ({}, None)]
)
def test_what_differs(was: object, now: object) -> None:
    assert goldens.differences({"a": was}, {"a": now})
    assert not goldens.differences({"a": was}, {"a": was})
    assert not goldens.differences(0.1 + 0.2, 0.3)


def test_what_is_the_same_everywhere(tmp_path: Path) -> None:
    masks = Masks(tmp_path, ["2026-01-02T03-04-05Z", "2026-01-02T03-04-04Z-2", "2026-01-02T03-04-04Z"])
    assert masks.value(
        {"numpy": "2.1", "file": f"{tmp_path}/2026-01-02T03-04-05Z", "notes": ["one", "two"]}
    ) == {
        "numpy": "VOLATILE",
        "file": "FOLDER/TIME3",
        "notes": "2 texts",
    }


def test_files_left_behind_or_taken_away_are_seen(tmp_path: Path) -> None:
    before = digests(tmp_path)
    (tmp_path / "new").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    assert digests(tmp_path).keys() - before.keys() == {"new/", "link"}
