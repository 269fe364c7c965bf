from __future__ import annotations

import pytest

DOCUMENTS = {
    "d1": "The nurse works at night in the hospital.",
    "d2": "A night at the opera, and then the hospital again.",
    "d3": "Engineers build bridges over rivers.",
    "d4": "Bridges, rivers and a nurse: nurse, nurse.",
    "d5": "Nothing of the sort.",
}
QUERIES = {"q1": "nurse hospital", "q2": "bridges", "q3": "zebra"}


@pytest.fixture
def documents() -> dict[str, str]:
    return dict(DOCUMENTS)


@pytest.fixture
def queries() -> dict[str, str]:
    return dict(QUERIES)
