from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two runs and judgements, which is the current one."""
    (tmp_path / "bm25.trec").write_text(
        "q1 Q0 a 1 2.0 x\nq1 Q0 b 2 1.0 x\nq2 Q0 c 1 1.0 x\nq3 Q0 d 1 1.0 x\n"
    )
    (tmp_path / "dense.trec").write_text("q1 Q0 b 1 2.0 x\nq2 Q0 e 1 2.0 x\nq2 Q0 c 2 1.0 x\n")
    (tmp_path / "qrels.txt").write_text("q1 0 b 1\nq2 0 c 2\nq4 0 x 1\n")
    (tmp_path / "intents.txt").write_text("q1 1 a 1\nq1 2 b 1\nq2 1 c 1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path
