"""What users get from every command and public function, compared with what is kept in ``goldens/kept``."""

from __future__ import annotations

import json

import pytest

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
