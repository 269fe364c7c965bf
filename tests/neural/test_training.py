"""Training as a whole: the stages from files, stopping and going on, what is kept out, and what is logged."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from small_trainers import Killed, killed_at, train_files, tree

import evenrank as er
from evenrank import DataError, EvenrankError, ParameterError
from evenrank.neural import (
    CrossEncoderRanker,
    NeuralReranker,
    build_examples,
    label_pairs,
    load_ranker,
    make_config,
)

pytestmark = pytest.mark.needs("torch")


def test_all_stages_from_files(files: dict[str, Any], tmp_path: Path) -> None:
    said: list[str] = []
    told: list[tuple[int, int]] = []
    state = torch.random.get_rng_state()
    variants = train_files(files, tmp_path, say=said.append, progress=lambda *at: told.append(at))
    assert torch.equal(torch.random.get_rng_state(), state)  # who draws numbers beside us draws the same
    assert [one.name for one in variants] == ["base"] + [
        f"lambda-{strength}/checkpoint-{n:02}" for strength in ("0.2", "1") for n in (1, 2)
    ]
    rows = [json.loads(line) for line in (tmp_path / "out/variants.jsonl").read_text().splitlines()]
    assert rows == [vars(one) for one in variants]
    assert told[-1][0] == told[-1][1]
    assert told == sorted(told)
    assert "kin:" in said[0]
    for variant in variants:
        lines = (tmp_path / "out" / variant.name / "run.trec").read_text().splitlines()
        assert len(lines) == 8 * 5
        CrossEncoderRanker.load(tmp_path / "out" / variant.name)
    assert not (tmp_path / "out/state").exists()
    with pytest.raises(ParameterError, match=r"out: .*already"):
        train_files(files, tmp_path)
    files["joint"]["epochs"] = 1
    with pytest.raises(ParameterError, match=r"another joint\.epochs"):
        train_files(files, tmp_path, resume=True)


@pytest.mark.slow
@pytest.mark.parametrize("at", [3, 9, 14, 18])
def test_a_whole_run_that_was_killed_ends_the_same(files: dict[str, Any], tmp_path: Path, at: int) -> None:
    train_files(files, tmp_path, "whole")
    with pytest.raises(Killed):
        train_files(files, tmp_path, "stopped", progress=killed_at(at))
    train_files(files, tmp_path, "stopped", resume=True)
    assert tree(tmp_path / "stopped") == tree(tmp_path / "whole")


def test_a_run_that_could_not_begin_leaves_the_folder_free(files: dict[str, Any], tmp_path: Path) -> None:
    for section, key, wrong in (("examples", "pool", "none.txt"), ("training", "device", "tpu")):
        with pytest.raises(EvenrankError, match=wrong):
            train_files({**files, section: {**files[section], key: wrong}}, tmp_path)
    files["joint"]["epochs"] = 0
    train_files(files, tmp_path)
    with pytest.raises(ParameterError, match=r"qrels\.txt: .*a file"):
        train_files(files, tmp_path, "qrels.txt")


def test_a_lexicon_that_has_changed_is_not_gone_on_with(files: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(Killed):
        train_files(files, tmp_path, progress=killed_at(2))
    (tmp_path / "kin.csv").write_text("word,group\nmoon,m\nstar,m\nriver,f\nbread,f\n")
    with pytest.raises(ParameterError, match="lexicons"):
        train_files(files, tmp_path, resume=True)


def test_a_scrubbed_ranker_ranks_scrubbed_texts(files: dict[str, Any], tmp_path: Path, planted: Any) -> None:
    files |= {"examples": {"scrub": True}, "tune": {"epochs": 2}, "adversary": {"epochs": 0}}
    files |= {"joint": {"epochs": 0}, "evaluate": {"run": "run.trec", "queries": "queries.tsv"}}
    files["attributes"][0]["tau"] = 0
    train_files(files, tmp_path)
    found = er.read_run(tmp_path / "out/base/run.trec")
    ranker = load_ranker(tmp_path / "out/base").eval()
    words = {"he", "his", "she", "her"}
    clean = {
        name: " ".join(word for word in text.split() if word not in words)
        for name, text in planted.documents.items()
    }
    orders = [
        er.rerank(er.read_run(tmp_path / "run.trec"), NeuralReranker.of(ranker, planted.queries, documents))
        for documents in (clean, planted.documents)
    ]
    same_lists = [all(found.documents(q) == one.documents(q) for q in planted.queries) for one in orders]
    assert same_lists == [True, False]


def test_evaluation_queries_are_kept_out_by_id_and_by_text(files: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "out.tsv").write_text("q99\tMOON\nq3\tanother text\nq98\tnothing of them\n")
    files["examples"]["keep_out"] = "out.tsv"
    with pytest.raises(DataError, match=r"out\.tsv: 2 queries .*: q3, q99 \(as q0\);"):
        train_files(files, tmp_path)


def test_a_fold_is_not_trained_on(files: dict[str, Any], tmp_path: Path) -> None:
    files["examples"] |= {"folds": 4, "fold": 1}
    files["joint"]["epochs"] = 0
    files["tune"]["epochs"] = 0
    files.pop("evaluate")
    assert [one.name for one in train_files(files, tmp_path)] == ["base"]
    kept_out = (tmp_path / "out/kept-out.txt").read_text().split()
    assert len(kept_out) == 2
    files["examples"]["keep_out"] = "kept.tsv"
    (tmp_path / "kept.tsv").write_text("".join(f"{query}\tx\n" for query in kept_out))
    train_files(files, tmp_path, "again")  # they are not trained on, so all is well


@pytest.mark.parametrize("balance", ["paper", "all"])
def test_adversaries_learn_from_as_many_triples_as_the_balance_says(
    files: dict[str, Any], tmp_path: Path, planted: Any, balance: str
) -> None:
    """Of the paper: every triple with a biased document, and as many others."""
    files |= {"tune": {"epochs": 0}, "adversary": {"epochs": 1}, "joint": {"epochs": 0}}
    files["examples"] = {"validation": 0, **({"balance": balance} if balance == "paper" else {})}
    files["training"]["batch"] = 1
    (tmp_path / "kin.csv").write_text("word,group\nhe,m\nshe,f\n")
    told: list[tuple[int, int]] = []
    train_files(files, tmp_path, progress=lambda *at: told.append(at))
    config = make_config(files, tmp_path)
    examples = build_examples(
        planted.qrels, planted.queries, planted.documents, negatives=config.examples.negatives
    )
    codes = label_pairs(examples, er.read_lexicon(tmp_path / "kin.csv")).codes
    biased = int((codes[examples.triples].max(axis=1) == 1).sum())
    assert 0 < 2 * biased < len(examples)
    assert told[-1] == ((2 * biased,) * 2 if balance == "paper" else (len(examples) // 4 * 4,) * 2)


@pytest.mark.slow
def test_several_attributes_have_an_adversary_each(files: dict[str, Any], tmp_path: Path) -> None:
    files["attributes"].append({"name": "who", "lexicon": "kin.csv", "labels": "groups", "tau": 0})
    (tmp_path / "documents.tsv").write_text(
        (tmp_path / "documents.tsv").read_text().replace("his", "she").replace("bread", "her")
    )
    files["joint"]["strengths"] = [0.5]
    files["evaluate"]["probe"] = True
    train_files(files, tmp_path)
    ranker = CrossEncoderRanker.load(tmp_path / "out/base")
    assert ranker.attributes == {"kin": ("neutral", "biased"), "who": ("neutral", "m", "f")}
    assert [head[-1].out_features for head in ranker.adversaries.values()] == [2, 3]
    probes = json.loads((tmp_path / "out/probes.json").read_text())
    assert set(probes) == {"base", "lambda-0.5"}
    assert [round(row["chance"], 3) for row in probes["base"]] == [0.5, 0.333]
    for row, before in zip(probes["lambda-0.5"], probes["base"], strict=True):
        assert row["change"] == pytest.approx(row["accuracy"] - before["accuracy"])
        low, high = row["change_interval"]
        assert low <= row["change"] <= high


class Cut(Exception):
    """The process ends here."""


def test_a_base_that_was_about_to_give_way_is_not_lost(
    files: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the two moves that replace the best ranker; its notes and the user's files stay."""
    train_files(files, tmp_path, "whole")
    real, moved = Path.rename, []

    def cut(path: Path, target: Path) -> Path:
        if Path(target).name == "base" and ".evenrank-" in path.name and moved:
            raise Cut
        moved.extend([path] if Path(target).name == "base" else [])
        return real(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", cut)
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(Cut):
            train_files(files, tmp_path, "stopped")
    old = tmp_path / "stopped/.base.evenrank-old"
    assert (old / "checkpoint.json").is_file()
    assert not (tmp_path / "stopped/base").exists()
    (old / "notes.txt").write_text("mine")
    (tmp_path / "stopped/state").mkdir(exist_ok=True)
    (tmp_path / "stopped/state/notes.txt").write_text("mine")
    train_files(files, tmp_path, "stopped", resume=True)
    for name in ("base", "state"):
        assert (tmp_path / "stopped" / name / "notes.txt").read_text() == "mine"
        (tmp_path / "stopped" / name / "notes.txt").unlink()
    assert tree(tmp_path / "stopped") == tree(tmp_path / "whole")


def crc32c(data: bytes) -> int:
    """Bit by bit, as RFC 3720 defines it."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def masked(data: bytes) -> bytes:
    value = crc32c(data)
    return struct.pack("<I", (((value >> 15) | (value << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def test_logs_are_json_lines_and_records_that_tensorboard_reads(
    files: dict[str, Any], tmp_path: Path
) -> None:
    files["training"] |= {"log_steps": 1, "warmup": 0.5, "batch": 4}
    files |= {"tune": {"epochs": 1, "schedule": "linear"}, "joint": {"epochs": 0}, "adversary": {"epochs": 0}}
    train_files(files, tmp_path)
    assert crc32c(b"123456789") == 0xE3069283  # the check value of the catalogue of checksums
    rows = [json.loads(line) for line in (tmp_path / "out/log/log.jsonl").read_text().splitlines()]
    steps = [row for row in rows if "rate" in row]
    assert [row["step"] for row in steps] == list(range(1, len(steps) + 1))
    warm = round(0.5 * len(steps))
    shares = [(n + 1) / warm for n in range(warm)]
    shares += [(len(steps) - n) / (len(steps) - warm) for n in range(warm, len(steps))]
    assert [row["rate"] for row in steps] == pytest.approx([1e-3 * share for share in shares])
    (path,) = (tmp_path / "out/log").glob("events.out.tfevents.*")
    data, events = path.read_bytes(), []
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        event = data[12 : 12 + length]
        assert (data[8:12], data[12 + length : 16 + length]) == (masked(data[:8]), masked(event))
        events.append(event)
        data = data[16 + length :]
    assert b"brain.Event:2" in events[0]
    assert len(events) == len(rows) + 1
    for row, event in zip(rows, events[1:], strict=True):
        if "utility" in row:
            _, _, value = event.partition(b"tune/utility\x15")
            assert struct.unpack("<f", value[:4])[0] == pytest.approx(row["utility"], rel=1e-5)
