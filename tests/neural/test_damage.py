"""Rankers and training runs that were damaged or ran out of disk: never a wrong ranker without a word."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from full_disk import no_room
from safetensors.torch import load_file, save_file
from small_trainers import VALUES, Killed, killed_at, train_files

from evenrank import DataError, ParameterError
from evenrank.neural import CrossEncoderRanker

pytestmark = pytest.mark.needs("torch")

FILES = ("config.json", "heads.safetensors", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


@pytest.fixture
def ranker(checkpoint: Path, tmp_path: Path) -> Path:
    CrossEncoderRanker.start(str(checkpoint), VALUES, max_length=32).save(tmp_path / "ranker")
    return tmp_path / "ranker"


@pytest.mark.parametrize("name", FILES)
def test_files_of_a_ranker_that_are_lost_or_damaged(ranker: Path, name: str) -> None:
    """A library would make up for some of them: random weights, a vocabulary without words."""
    about = json.loads((ranker / "ranker.json").read_text())
    assert sorted(about["files"]) == sorted(FILES)
    content = (ranker / name).read_bytes()
    changed = bytearray(content)
    changed[-1] ^= 1
    for damaged in (b"", content[: len(content) // 2], bytes(changed)):
        (ranker / name).write_bytes(damaged)
        with pytest.raises(DataError, match=f"{name} is not as it was written"):
            CrossEncoderRanker.load(ranker)
    (ranker / name).unlink()
    with pytest.raises(DataError, match=f"there is no {name}"):
        CrossEncoderRanker.load(ranker)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 99}, {"max_length": -1}, {"max_length": "x"}, {"loss": "foo"}, {"attributes": [1]},
        {"attributes": {"kin": ["a", "b", "c"]}},
    ],
)  # fmt: skip
def test_a_description_that_does_not_fit(ranker: Path, change: dict[str, Any]) -> None:
    about = json.loads((ranker / "ranker.json").read_text())
    (ranker / "ranker.json").write_text(json.dumps({**about, **change}))
    with pytest.raises(DataError, match=f"{ranker}: ") as raised:
        CrossEncoderRanker.load(ranker)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", "\udcff", "[" * 100_000])
def test_a_description_that_is_none(ranker: Path, content: str) -> None:
    (ranker / "ranker.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=f"{ranker}: "):
        CrossEncoderRanker.load(ranker)


def test_an_encoder_without_all_its_weights_or_words(ranker: Path) -> None:
    """Of a folder that has no list of its files: of other tools, or an earlier version."""
    (ranker / "ranker.json").unlink()
    weights = load_file(ranker / "model.safetensors")
    removed = next(name for name in sorted(weights) if "layer" in name)
    save_file(
        {name: value for name, value in weights.items() if name != removed}, ranker / "model.safetensors"
    )
    with pytest.raises(DataError, match="lacks 1 weight"):
        CrossEncoderRanker.start(str(ranker), VALUES)
    save_file(weights, ranker / "model.safetensors")
    CrossEncoderRanker.start(str(ranker), VALUES)
    (ranker / "tokenizer.json").unlink()
    with pytest.raises(DataError, match="tokenizer"):
        CrossEncoderRanker.start(str(ranker), VALUES)


def test_a_ranker_that_is_replaced_is_never_lost(ranker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped between the two renames, the old one comes back."""
    (ranker / "notes.txt").write_text("mine")
    before = {path.name: path.read_bytes() for path in ranker.iterdir()}
    usual = Path.rename

    def stopped(self: Path, where: Path) -> Path:
        if ".evenrank-new-" in self.name:
            raise KeyboardInterrupt
        return usual(self, where)

    other = CrossEncoderRanker.load(ranker)
    monkeypatch.setattr(Path, "rename", stopped)
    with pytest.raises(KeyboardInterrupt):
        other.save(ranker)
    assert {path.name: path.read_bytes() for path in ranker.iterdir()} == before
    assert list(ranker.parent.iterdir()) == [ranker]


@pytest.fixture
def short(files: dict[str, Any]) -> dict[str, Any]:
    """A configuration of a run of a few steps."""
    files.pop("evaluate")
    return files | {
        "examples": {"negatives": 1},
        "tune": {"epochs": 1, "checkpoints": 1},
        "joint": {"epochs": 2, "strengths": [0.5], "checkpoints": 3},
    }


def weights(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.suffix == ".safetensors" or path.name == "variants.jsonl"
    }


@pytest.fixture
def stopped(short: dict[str, Any], tmp_path: Path) -> Path:
    """A run that was killed one step before its end."""
    with pytest.raises(Killed):
        train_files(short, tmp_path, "stopped", progress=killed_at(-2))
    return tmp_path / "stopped"


def test_damage_to_a_stopped_run(short: dict[str, Any], stopped: Path, tmp_path: Path) -> None:
    """What can be computed again is, and it is said; what cannot is one error. The result is always right."""
    train_files(short, tmp_path, "whole")
    expected, copy = weights(tmp_path / "whole"), tmp_path / "copy"
    (state,) = [path.name for path in (stopped / "state").iterdir() if path.is_dir()]
    again = [
        "state/state.json", f"state/{state}/weights.safetensors", f"state/{state}/moments.safetensors",
        "lambda-0.5/variants.jsonl",
    ]  # fmt: skip
    refused = ["config.json", "finished.json", "base/model.safetensors", "start/heads.safetensors"]
    for name in again + refused:
        flipped = bytearray((stopped / name).read_bytes())
        flipped[-9] ^= 1
        damages = [b"[" * 100_000, None] if name in again else [b"[" * 100_000]
        if name.startswith("state"):
            damages.append(bytes(flipped))
        for damaged in damages:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(stopped, copy)
            (copy / name).unlink() if damaged is None else (copy / name).write_bytes(damaged)
            said: list[str] = []
            if name in refused:
                with pytest.raises(DataError, match=Path(name).name):
                    train_files(short, tmp_path, "copy", resume=True)
                continue
            train_files(short, tmp_path, "copy", resume=True, say=said.append)
            assert weights(copy) == expected, name
            if damaged is not None or "state.json" not in name:  # without the pointer there was no state
                assert any("joint-0.5 begins anew" in line for line in said), (name, said)


@pytest.mark.parametrize("change", [{"later": 1}, {"training": {"momentum": 1}}])
def test_a_run_of_another_version_is_not_gone_on_with(
    short: dict[str, Any], stopped: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    """A key that this version does not know may have meant something."""
    about = json.loads((stopped / "config.json").read_text())
    for key, value in change.items():
        about[key] = {**about[key], **value} if isinstance(value, dict) else value
    (stopped / "config.json").write_text(json.dumps(about))
    with pytest.raises(ParameterError, match=r"another (later|training\.momentum)"):
        train_files(short, tmp_path, "stopped", resume=True)


@pytest.mark.parametrize("at", [1, 10, -1])
def test_a_full_disk(short: dict[str, Any], tmp_path: Path, at: int) -> None:
    """At any time: the error names the folder, and the way on ends as if nothing had been."""
    train_files(short, tmp_path, "whole")
    with no_room(4096) as fill:

        def progress(step: int, total: int) -> None:
            if step == at % (total + 1):
                fill()

        with pytest.raises(DataError, match=r"full: cannot be written"):
            train_files(short, tmp_path, "full", progress=progress)
    train_files(short, tmp_path, "full", resume=True)
    assert weights(tmp_path / "full") == weights(tmp_path / "whole")
    assert list((tmp_path / "full").rglob(".*")) == []
