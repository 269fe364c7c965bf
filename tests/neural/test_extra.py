"""Without the extra: what is there, and the line that installs the rest."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

import evenrank.neural
from evenrank.cli import main
from evenrank.errors import MissingExtraError, ParameterError
from evenrank.neural import extra


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing of the extra were installed."""
    usual = importlib.util.find_spec
    hidden = {"torch", "transformers", "safetensors"}
    monkeypatch.setattr(
        extra.importlib.util, "find_spec", lambda name: None if name in hidden else usual(name)
    )


@pytest.mark.usefixtures("bare")
def test_a_missing_extra_names_the_pip_line(tmp_path: Path, capfd: Any) -> None:
    with pytest.raises(
        MissingExtraError, match=r"evenrank\.neural\.train needs torch: pip install '\.\[train\]'"
    ):
        _ = evenrank.neural.train
    assert main(["debias", "--set", "examples.triples=t.tsv", "-o", str(tmp_path / "x")]) == 1
    assert "evenrank: evenrank debias needs torch: pip install '.[train]'" in capfd.readouterr().err
    texts = ["--queries", "q.tsv", "--documents", "d.tsv"]
    assert main(["rerank", "r.trec", "--with", str(tmp_path), *texts]) == 1
    assert "a trained ranker needs torch: pip install" in capfd.readouterr().err


@pytest.mark.usefixtures("bare")
def test_what_needs_no_extra() -> None:
    assert evenrank.neural.make_config({"examples": {"triples": "t.tsv"}}).examples.triples == "t.tsv"
    assert main(["debias", "--set"]) == 0


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = evenrank.neural.nonsense
    assert set(evenrank.neural.__all__) == set(evenrank.neural._HOME)


def test_a_measure_that_a_training_cannot_compute_is_refused_at_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ParameterError, match=r"joint.stop_on = 'GFR@10' needs more than judgements"):
        evenrank.neural.make_config({"joint": {"stop_on": "GFR@10"}})  # in Python as well
    for change in ("tune.stop_on=NFaiRR@10", "joint.stop_on=GFR@10"):
        call = ["debias", "--set", "examples.triples=t.tsv", "--set", change, "-o", str(tmp_path / "x")]
        assert main(call) == 2
        assert f"{change.partition('=')[0]} = " in (shown := capsys.readouterr().err)
        assert "needs more than judgements" in shown
