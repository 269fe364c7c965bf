"""Rankers and training runs that were damaged or ran out of disk: never a wrong ranker without a word."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from training_inputs import inputs_of

from evenrank.errors import DataError, ParameterError
from evenrank.io.folders import whole_folder
from evenrank.neural import CrossEncoderRanker, make_config, train
from evenrank.neural import ranker as ranker_module
from evenrank.neural.encoders import load_encoder

pytestmark = pytest.mark.needs("torch")


class Killed(BaseException):
    """Not an error that anything here would handle."""


@pytest.fixture
def ranker(checkpoint: Path, tmp_path: Path) -> Path:
    CrossEncoderRanker.start(str(checkpoint), {"kin": ("neutral", "biased")}, max_length=32).save(
        tmp_path / "ranker"
    )
    return tmp_path / "ranker"


FILES = ("config.json", "heads.safetensors", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


def test_a_ranker_lists_its_files(ranker: Path) -> None:
    about = json.loads((ranker / "ranker.json").read_text())
    assert sorted(about["files"]) == sorted(FILES)
    CrossEncoderRanker.load(ranker)


@pytest.mark.parametrize("name", FILES)
def test_files_of_a_ranker_that_are_lost_or_damaged(ranker: Path, name: str) -> None:
    """A library would make up for some of them: random weights, a vocabulary without words."""
    content = (ranker / name).read_bytes()
    changed = bytearray(content)
    changed[-1] ^= 1
    for damaged in (b"", content[: len(content) // 2], bytes(changed)):
        (ranker / name).write_bytes(damaged)
        with pytest.raises(DataError, match=f"{name} is not as it was written"):
            CrossEncoderRanker.load(ranker)
    (ranker / name).unlink()
    with pytest.raises(DataError, match=f"not whole: there is no {name}"):
        CrossEncoderRanker.load(ranker)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 99}, r"written by another version \(format 99\)"),
        ({"max_length": -1}, "max_length must be an integer >= 1, got -1"),
        ({"max_length": "x"}, "max_length must be an integer >= 1, got 'x'"),
        ({"loss": "foo"}, "must be one of margin, cross_entropy"),
        ({"attributes": [1]}, "cannot be read"),
        ({"attributes": {"kin": ["a", "b", "c"]}}, "cannot be read"),
    ],
)
def test_a_description_that_does_not_fit(ranker: Path, change: dict[str, Any], said: str) -> None:
    about = json.loads((ranker / "ranker.json").read_text())
    (ranker / "ranker.json").write_text(json.dumps({**about, **change}))
    with pytest.raises(DataError, match=said) as raised:
        CrossEncoderRanker.load(ranker)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", "\udcff", "[" * 100_000])
def test_a_description_that_is_none(ranker: Path, content: str) -> None:
    (ranker / "ranker.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match="the ranker cannot be read"):
        CrossEncoderRanker.load(ranker)


def test_an_encoder_without_all_its_weights_or_words(ranker: Path) -> None:
    """Also of a folder that has no list of its files: of other tools, or an earlier version."""
    weights = load_file(ranker / "model.safetensors")
    removed = next(name for name in sorted(weights) if "layer" in name)
    save_file(
        {name: value for name, value in weights.items() if name != removed}, ranker / "model.safetensors"
    )
    with pytest.raises(DataError, match=r"lacks 1 weight, such as .*random numbers"):
        load_encoder(str(ranker))
    save_file(weights, ranker / "model.safetensors")
    load_encoder(str(ranker))
    (ranker / "tokenizer.json").unlink()
    with pytest.raises(DataError, match="its tokenizer knows no words"):
        load_encoder(str(ranker))


def test_a_folder_that_is_replaced_is_never_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped between the two renames, the old one comes back."""
    target = tmp_path / "ranker"
    target.mkdir()
    (target / "old").touch()
    usual = Path.rename

    def stopped(self: Path, where: Path) -> Path:
        if self.name.endswith("-new"):
            raise KeyboardInterrupt
        return usual(self, where)

    monkeypatch.setattr(Path, "rename", stopped)
    with pytest.raises(KeyboardInterrupt), whole_folder(target, replace=True) as new:
        (new / "new").touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["ranker", "old"]


@pytest.fixture
def files(planted: Any, kin: Any, checkpoint: Path, tmp_path: Path) -> dict[str, Any]:
    """A configuration of a run of a few steps, and what it reads."""
    rows = planted.qrels.to_dict()
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{query} 0 {name} {grade}\n" for query, own in rows.items() for name, grade in own.items())
    )
    for name, texts in (("queries", planted.queries), ("documents", planted.documents)):
        (tmp_path / f"{name}.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in texts.items()))
    (tmp_path / "kin.csv").write_text("word,group\nhe,male\nhis,male\nshe,female\nher,female\n")
    return {
        "examples": {"negatives": 1},
        "attributes": [{"name": "kin", "lexicon": "kin.csv"}],
        "model": {"encoder": str(checkpoint), "max_length": 32},
        "training": {"batch": 8, "device": "cpu", "save_seconds": 0.0},
        "tune": {"epochs": 1, "checkpoints": 1},
        "adversary": {"epochs": 0.5},
        "joint": {"epochs": 2, "strengths": [0.5], "checkpoints": 3},
    }


def weights(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.suffix == ".safetensors" or path.name == "variants.jsonl"
    }


@pytest.fixture
def stopped(files: dict[str, Any], tmp_path: Path) -> tuple[Any, Path, dict[str, bytes]]:
    """A run that was killed one step before its end, and what the whole one gives."""
    config = make_config(files, tmp_path)
    train(config, tmp_path / "whole", inputs_of(tmp_path))

    def kill(step: int, total: int) -> None:
        if step == total - 1:
            raise Killed

    with pytest.raises(Killed):
        train(config, tmp_path / "stopped", inputs_of(tmp_path), progress=kill)
    return config, tmp_path / "stopped", weights(tmp_path / "whole")


def test_damage_to_a_stopped_run(stopped: tuple[Any, Path, dict[str, bytes]]) -> None:
    """What can be computed again is, and it is said; what cannot is one error. The result is always right."""
    import shutil

    config, folder, expected = stopped
    copy = folder.with_name("copy")
    (state,) = [path.name for path in (folder / "state").iterdir() if path.is_dir()]
    again: dict[str, str] = {
        "state/state.json": "is damaged; the stage joint-0.5 begins anew",
        f"state/{state}/weights.safetensors": "the saved state cannot be used",
        f"state/{state}/moments.safetensors": "the saved state cannot be used",
        "lambda-0.5/variants.jsonl": "begins anew",
    }
    refused = {
        "config.json": "is damaged: train into a new folder",
        "finished.json": "is damaged: train into a new folder",
        "base/model.safetensors": "not as it was written",
        "start/heads.safetensors": "not as it was written",
    }
    for name, message in {**again, **refused}.items():
        for damage in ("[" * 100_000, None) if name in again else ("[" * 100_000,):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(folder, copy)
            (copy / name).unlink() if damage is None else (copy / name).write_text(damage)
            said: list[str] = []
            if name in refused:
                with pytest.raises(DataError, match=message):
                    train(config, copy, inputs_of(folder.parent), resume=True)
                continue
            train(config, copy, inputs_of(folder.parent), resume=True, say=said.append)
            assert weights(copy) == expected, name
            if damage is not None or "state.json" not in name:  # without the pointer there was no state
                assert any(message in line or "is missing; the stage" in line for line in said), (name, said)


@pytest.mark.parametrize("change", [{"later": 1}, {"training": {"momentum": 1}}])
def test_a_run_of_another_version_is_not_gone_on_with(
    stopped: tuple[Any, Path, dict[str, bytes]], change: dict[str, Any]
) -> None:
    """A key that this version does not know may have meant something."""
    config, folder, _ = stopped
    about = json.loads((folder / "config.json").read_text())
    for key, value in change.items():
        about[key] = {**about[key], **value} if isinstance(value, dict) else value
    (folder / "config.json").write_text(json.dumps(about))
    with pytest.raises(ParameterError, match=r"was begun with another (later|training\.momentum)"):
        train(config, folder, inputs_of(folder.parent), resume=True)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        SafetensorError("I/O error: No space left on device (os error 28)"),
    ],
    ids=["OSError", "SafetensorError"],
)
def test_a_full_disk(
    files: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """At any checkpoint: the error names the folder and the way on, which ends as if nothing had been."""
    config = make_config(files, tmp_path)
    train(config, tmp_path / "whole", inputs_of(tmp_path))
    usual: Callable[..., None] = ranker_module.save_file
    for written in range(3):
        left = written

        def full(*arguments: Any, **more: Any) -> None:
            nonlocal left
            if left == 0:
                raise error
            left -= 1
            usual(*arguments, **more)

        folder = tmp_path / f"full-{written}"
        monkeypatch.setattr(ranker_module, "save_file", full)
        with pytest.raises(
            DataError, match=r"full-\d: cannot be written: .*No space.*train into this folder"
        ):
            train(config, folder, inputs_of(tmp_path))
        monkeypatch.setattr(ranker_module, "save_file", usual)
        train(config, folder, inputs_of(tmp_path), resume=True)
        assert weights(folder) == weights(tmp_path / "whole")
        assert list(folder.rglob(".*")) == []
