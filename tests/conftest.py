from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# machines are shared and slow at times: a deadline would only test the machine
settings.register_profile("evenrank", deadline=None, print_blob=True)
settings.load_profile("evenrank")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Published values and real data that are kept beside the project, not in it."""
    if not SHARED.is_dir():
        pytest.skip("the folder 'shared' with real data is not beside the project")
    return SHARED
