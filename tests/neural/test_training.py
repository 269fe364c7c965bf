"""Training as a whole: stopping and going on, losses that are not finite, memory, early stopping, logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from training_inputs import inputs_of

import evenrank as er
from evenrank import Lexicon, write_run
from evenrank.errors import DataError, EvenrankError, ParameterError
from evenrank.neural import (
    CrossEncoderRanker,
    NeuralReranker,
    PairTokens,
    Stage,
    Trainer,
    label_pairs,
    load_ranker,
    make_config,
    train,
)
from evenrank.neural.config import Adversary, Training
from evenrank.neural.scrub import scrubbed
from evenrank.neural.stage import Checkpoint
from evenrank.neural.state import read_standing
from evenrank.neural.trainer import TrainingStoppedError
from evenrank.neural.variants import read_variants

VALUES = {"kin": ("neutral", "biased")}

pytestmark = pytest.mark.needs("torch")


class Killed(BaseException):
    """Not an error that anything here would handle."""


def trainer(
    checkpoint: Path, examples: Any, kin: Lexicon, state: Path | None = None, **settings: Any
) -> Trainer:
    ranker = CrossEncoderRanker.start(str(checkpoint), VALUES, max_length=32)
    tokens = PairTokens(ranker.tokenizer, examples.texts, len(examples.pair_queries), ranker.max_length)
    usual = {"batch": 8, "device": "cpu", "learning_rate": 1e-3, "save_seconds": 0.0, **settings}
    return Trainer(ranker, tokens, {"kin": label_pairs(examples, kin)}, Training(**usual), state=state)


def weights(ranker: CrossEncoderRanker) -> dict[str, Any]:
    return {name: value.clone() for name, value in ranker.state_dict().items()}


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(value, other[name]) for name, value in one.items())


@pytest.mark.parametrize("kind", ["tune", "adversary", "joint"])
def test_a_run_that_was_killed_goes_on_as_if_nothing_had_happened(
    checkpoint: Path, examples: Any, kin: Lexicon, tmp_path: Path, kind: str
) -> None:
    """Equal to the last bit on a CPU."""
    stage = Stage(kind, examples.triples, 2, seed=1, strength=0.5, checkpoints=4, schedule="linear")
    whole = trainer(checkpoint, examples, kin)
    seen: list[Checkpoint] = []
    whole.run(stage, validation=examples.triples[:5], at_checkpoint=seen.append)

    def kill(step: int) -> None:
        if step == 11:
            raise Killed

    stopped = trainer(checkpoint, examples, kin, tmp_path / "state")
    again: list[Checkpoint] = []
    with pytest.raises(Killed):
        stopped.run(stage, validation=examples.triples[:5], at_checkpoint=again.append, progress=kill)
    standing = read_standing(tmp_path / "state")
    assert standing is not None
    assert standing.step == 10
    resumed = trainer(checkpoint, examples, kin, tmp_path / "state")
    del again[standing.step * 4 // stage.steps(8) :]
    resumed.run(stage, validation=examples.triples[:5], at_checkpoint=again.append)
    assert same(weights(resumed.ranker), weights(whole.ranker))
    assert again == seen
    assert [one.number for one in seen] == [1, 2, 3, 4]


def test_pairs_of_like_length_are_encoded_together(
    checkpoint: Path, examples: Any, kin: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gradients are those of one padded batch, with fewer tokens."""
    triples, found, tokens = examples.triples[:32], [], []
    for most in (1, 4):
        monkeypatch.setattr("evenrank.neural.length_groups.MOST", most)
        made, read = trainer(checkpoint, examples, kin, batch=32), []
        made.ranker.eval()  # without dropout
        monkeypatch.setattr(
            made.tokens, "batch",
            lambda *given, own=made.tokens.batch, read=read: read.append(own(*given)) or read[-1],
        )  # fmt: skip
        losses = made._losses(Stage("joint", triples, 1, strength=0.5), triples, made._vectors(triples))
        sum(losses.values()).backward()
        found.append({name: value.grad for name, value in made.ranker.named_parameters()})
        tokens.append((len(read), sum(batch["input_ids"].numel() for batch in read)))
    assert tokens[0][0] == 1
    assert tokens[1][0] == 4
    assert tokens[1][1] < tokens[0][1]
    for name, gradient in found[0].items():
        if gradient is not None:
            apart = (found[1][name] - gradient).abs().max() / gradient.abs().max().clamp_min(1e-3)
            assert apart < 1e-3, (name, apart)


def test_another_stage_does_not_begin_at_this_ones_state(
    checkpoint: Path, examples: Any, kin: Lexicon, tmp_path: Path
) -> None:
    trainer(checkpoint, examples, kin, tmp_path).run(Stage("tune", examples.triples, 1))
    fresh, other = trainer(checkpoint, examples, kin), trainer(checkpoint, examples, kin, tmp_path)
    for one in (fresh, other):
        one.run(Stage("joint", examples.triples, 0.5, strength=0.5))
    assert same(weights(fresh.ranker), weights(other.ranker))


def test_a_loss_that_is_not_finite_stops_and_keeps_the_last_good_state(
    checkpoint: Path, examples: Any, kin: Lexicon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = trainer(checkpoint, examples, kin, tmp_path / "state", save_seconds=3600)
    losses, calls = made._losses, []

    def broken(stage: Stage, triples: Any, vectors: Any) -> dict[str, Any]:
        calls.append(weights(made.ranker))
        found = losses(stage, triples, vectors)
        return {name: loss * (float("nan") if len(calls) == 4 else 1.0) for name, loss in found.items()}

    monkeypatch.setattr(made, "_losses", broken)
    with pytest.raises(
        TrainingStoppedError, match=r"joint-0\.5, step 4: the loss .* is not finite; the state"
    ):
        made.run(Stage("joint", examples.triples, 1, strength=0.5))
    standing = read_standing(tmp_path / "state")
    assert standing is not None
    assert standing.step == 3
    kept = trainer(checkpoint, examples, kin, tmp_path / "state")
    kept.run(Stage("joint", examples.triples, 0, strength=0.5))  # no step: what was loaded
    optimizer = kept._optimizer()
    kept._resumed(Stage("joint", examples.triples, 1, strength=0.5), optimizer, kept._scaler())
    assert same(weights(kept.ranker), calls[3])
    assert all(torch.isfinite(value).all() for value in kept.ranker.state_dict().values())


def test_steps_of_the_adversaries_alone_do_not_spoil_them(
    checkpoint: Path, examples: Any, kin: Lexicon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = trainer(checkpoint, examples, kin, tmp_path / "state", save_seconds=3600)
    made.adversary = Adversary(steps=3)
    made.__post_init__()
    vectors, calls = made._vectors, []

    def broken(triples: Any) -> Any:
        calls.append(weights(made.ranker))
        return vectors(triples) * (float("nan") if len(calls) == 4 else 1.0)

    monkeypatch.setattr(made, "_vectors", broken)
    with pytest.raises(TrainingStoppedError, match=r"joint-0\.5, step 4"):
        made.run(Stage("joint", examples.triples, 1, strength=0.5))
    assert same(weights(made.ranker), calls[3])


def test_a_lexicon_that_has_changed_is_not_gone_on_with(
    checkpoint: Path, planted: Any, tmp_path: Path
) -> None:
    lexicon = tmp_path / "kin.json"
    content = {
        "attributes": [{"name": "kin", "lexicon": str(lexicon), "tau": 0}],
        "model": {"encoder": str(checkpoint), "max_length": 24},
        "training": {"device": "cpu", "batch": 8},
        "tune": {"epochs": 0},
        "adversary": {"epochs": 1},
        "joint": {"strengths": [1.0], "epochs": 1, "checkpoints": 1},
    }
    known = {"qrels": planted.qrels, "query_texts": planted.queries, "documents": planted.documents}

    def write(male: list[str], female: list[str]) -> None:
        lexicon.write_text(json.dumps({"name": "kin", "groups": {"male": male, "female": female}}))

    def stop(step: int, steps: int) -> None:
        raise Killed

    write(["he", "his"], ["she", "her"])
    with pytest.raises(Killed):
        train(make_config(content), tmp_path / "out", progress=stop, **known)
    write(["moon", "star"], ["river", "bread"])
    with pytest.raises(ParameterError, match="documents or lexicons: name another folder"):
        train(make_config(content), tmp_path / "out", resume=True, **known)


def test_a_scrubbed_ranker_ranks_scrubbed_texts(checkpoint: Path, planted: Any, tmp_path: Path) -> None:
    words = {"male": ["he", "his"], "female": ["she", "her"]}
    (tmp_path / "kin.json").write_text(json.dumps({"name": "kin", "groups": words}))
    run = er.read_run({query: {f"{query}-{n}": 9.0 - n for n in range(8)} for query in planted.queries})
    write_run(run, tmp_path / "run.trec")
    texts = "".join(f"{query}\t{text}\n" for query, text in planted.queries.items())
    (tmp_path / "queries.tsv").write_text(texts)
    content = {
        "attributes": [{"name": "kin", "lexicon": str(tmp_path / "kin.json"), "tau": 0}],
        "examples": {"scrub": True},
        "model": {"encoder": str(checkpoint), "max_length": 24},
        "training": {"device": "cpu", "batch": 8, "learning_rate": 1e-3},
        "tune": {"epochs": 2},
        "adversary": {"epochs": 0},
        "joint": {"epochs": 0},
        "evaluate": {"run": str(tmp_path / "run.trec"), "queries": str(tmp_path / "queries.tsv")},
    }
    known = {"qrels": planted.qrels, "query_texts": planted.queries, "documents": planted.documents}
    train(make_config(content), tmp_path / "out", **known)
    found = er.read_run(tmp_path / "out/base/run.trec")
    ranker = load_ranker(tmp_path / "out/base").eval()
    lexicon = er.read_lexicon(str(tmp_path / "kin.json"))
    clean = scrubbed(planted.documents, lexicon)
    orders = [
        er.rerank(run, NeuralReranker.of(ranker, scrubbed(planted.queries, lexicon), documents))
        for documents in (clean, planted.documents)
    ]
    same_lists = [all(found.documents(q) == one.documents(q) for q in planted.queries) for one in orders]
    assert same_lists == [True, False]


NO_MEMORY = (
    torch.OutOfMemoryError("out of memory"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory"),
)


@pytest.mark.parametrize("error", NO_MEMORY)
def test_too_little_memory_halves_what_is_done_at_once(
    checkpoint: Path, examples: Any, kin: Lexicon, monkeypatch: pytest.MonkeyPatch, error: RuntimeError
) -> None:
    whole, small = (trainer(checkpoint, examples, kin) for _ in range(2))
    said: list[str] = []
    small.say = said.append
    losses = small._losses

    def scarce(stage: Stage, triples: Any, vectors: Any) -> dict[str, Any]:
        if len(triples) > 2:
            raise error
        return losses(stage, triples, vectors)

    monkeypatch.setattr(small, "_losses", scarce)
    for one in (whole, small):
        for module in one.ranker.modules():  # noise is drawn piece by piece
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        one.run(Stage("joint", examples.triples[:8], 1, strength=0.5))
    assert said == [f"joint-0.5, step 1: out of memory; {n} triples at once from here" for n in (4, 2)]
    for name, value in weights(whole.ranker).items():
        if name != "relevance.bias":  # whose gradient is 0 but for rounding, which Adam enlarges
            torch.testing.assert_close(small.ranker.state_dict()[name], value, rtol=1e-3, atol=2e-4)
    monkeypatch.setattr(small, "_losses", lambda *_: (_ for _ in ()).throw(error))
    with pytest.raises(DataError, match="does not suffice for a single pair"):
        small.run(Stage("joint", examples.triples[:8], 1, strength=0.5))
    monkeypatch.setattr(small, "_losses", lambda *_: (_ for _ in ()).throw(RuntimeError("something else")))
    with pytest.raises(RuntimeError, match="something else"):
        small.run(Stage("joint", examples.triples[:8], 1, strength=0.5))


def test_too_little_memory_gives_adversaries_no_further_steps(
    checkpoint: Path, examples: Any, kin: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they learnt before memory ran out is kept; learning it again would favour them."""
    small = trainer(checkpoint, examples, kin)
    small.adversary = Adversary(steps=3)
    small.__post_init__()
    caught_up: list[int] = []
    catch_up, losses = small._adversaries.catch_up, small._losses

    def counting(ranker: Any, vectors: Any, pairs: Any, optimizer: Any) -> None:
        caught_up.append(len(pairs))
        catch_up(ranker, vectors, pairs, optimizer)

    def scarce(stage: Stage, triples: Any, vectors: Any) -> dict[str, Any]:
        if len(triples) > 2:
            raise NO_MEMORY[0]
        return losses(stage, triples, vectors)

    monkeypatch.setattr(small._adversaries, "catch_up", counting)
    monkeypatch.setattr(small, "_losses", scarce)
    small.run(Stage("joint", examples.triples[:16], 1, strength=0.5))
    assert caught_up == [16, 16]  # two steps of eight triples


def test_too_little_memory_for_validation(
    checkpoint: Path, examples: Any, kin: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = trainer(checkpoint, examples, kin)
    made.ranker.eval()
    whole, losses, said = made.validation_loss(examples.triples[:20]), made._losses, []

    def scarce(stage: Stage, triples: Any, vectors: Any) -> dict[str, Any]:
        if len(triples) > 4:
            raise torch.OutOfMemoryError("out of memory")
        return losses(stage, triples, vectors)

    monkeypatch.setattr(made, "_losses", scarce)
    made.say = said.append
    assert made.validation_loss(examples.triples[:20]) == pytest.approx(whole, rel=1e-5)
    assert said == [f"validation: out of memory; {n} triples at once from here" for n in (4, 2)]


def test_early_stopping(
    checkpoint: Path, examples: Any, kin: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = trainer(checkpoint, examples, kin)
    losses = iter([0.9, 0.7, 0.8, 0.75, 0.1])
    monkeypatch.setattr(made, "validation_loss", lambda triples: next(losses))
    seen: list[Checkpoint] = []
    steps = made.run(
        Stage("tune", examples.triples, 2, checkpoints=6, patience=2), validation=examples.triples[:4],
        at_checkpoint=seen.append,
    )  # fmt: skip
    assert [(one.validation, one.best) for one in seen] == [
        (0.9, True),
        (0.7, True),
        (0.8, False),
        (0.75, False),
    ]
    assert steps == seen[-1].step < Stage("tune", examples.triples, 2).steps(8)


def test_a_validation_loss_that_is_not_finite_is_never_the_best(
    checkpoint: Path, examples: Any, kin: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = trainer(checkpoint, examples, kin)
    losses = iter([float("nan"), 0.7, 0.8, 0.9])
    monkeypatch.setattr(made, "validation_loss", lambda triples: next(losses))
    seen: list[Checkpoint] = []
    stage = Stage("tune", examples.triples, 2, checkpoints=6, patience=2)
    made.run(stage, validation=examples.triples[:4], at_checkpoint=seen.append)
    assert [one.best for one in seen] == [False, True, False, False]


def test_rates_rise_and_fall(checkpoint: Path, examples: Any, kin: Lexicon) -> None:
    made = trainer(checkpoint, examples, kin, warmup=0.2)
    linear, level = (Stage("tune", examples.triples, 1, schedule=name) for name in ("linear", "constant"))
    assert [round(made._rate(linear, step, 10), 3) for step in range(10)] == [
        0.5, 1.0, 1.0, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125,
    ]  # fmt: skip
    assert [made._rate(level, step, 10) for step in range(10)] == [0.5] + [1.0] * 9


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_mixed_precision(
    checkpoint: Path, examples: Any, kin: Lexicon, tmp_path: Path, precision: str
) -> None:
    made = trainer(checkpoint, examples, kin, tmp_path, precision=precision)
    before = weights(made.ranker)
    made.run(Stage("joint", examples.triples, 0.5, strength=0.5))
    assert all(value.dtype == before[name].dtype for name, value in weights(made.ranker).items())
    assert not same(weights(made.ranker), before)
    standing = read_standing(tmp_path)
    assert standing is not None
    assert bool(standing.scaler) == (precision == "float16")


def test_stages_go_through_all_triples_in_an_order_of_the_seed() -> None:
    triples = np.arange(22).reshape(11, 2)
    stage = Stage("tune", triples, 1.5, seed=3, checkpoints=3)
    assert (stage.steps(4), stage.steps_an_epoch(4)) == (5, 3)
    assert stage.checkpoint_steps(4) == [2, 3, 5]
    batches = list(stage.batches(4, 0))
    assert sorted(np.concatenate(batches[:3])[:, 0].tolist()) == triples[:, 0].tolist()
    assert not np.array_equal(batches[0], batches[3])
    for first in range(5):
        later = list(stage.batches(4, first))
        assert all(np.array_equal(a, b) for a, b in zip(later, batches[first:], strict=True))


@pytest.fixture
def files(tmp_path: Path, checkpoint: Path, planted: Any) -> dict[str, Any]:
    """A configuration over files, quick to train."""
    from evenrank.io import write_qrels

    write_qrels(planted.qrels, tmp_path / "qrels.txt")
    for name, texts in (("queries", planted.queries), ("documents", planted.documents)):
        (tmp_path / f"{name}.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in texts.items()))
    rows = [
        f"{query} Q0 {query}-{place} {place} {-place} x\n" for query in planted.queries for place in range(8)
    ]
    (tmp_path / "run.trec").write_text("".join(rows))
    (tmp_path / "kin.csv").write_text("word,group\nhe,m\nhis,m\nshe,f\nher,f\n")
    return {
        "examples": {"validation": 0.2},
        "attributes": [{"name": "kin", "lexicon": "kin.csv"}],
        "model": {"encoder": str(checkpoint), "max_length": 32},
        "training": {"device": "cpu", "batch": 8, "learning_rate": 1e-3, "save_seconds": 0},
        "tune": {"epochs": 1, "checkpoints": 2},
        "adversary": {"epochs": 0.5},
        "joint": {"strengths": [0.2, 1], "epochs": 0.5, "checkpoints": 2},
        "evaluate": {"run": "run.trec", "queries": "queries.tsv", "depth": 5},
    }


def tree(folder: Path) -> dict[str, bytes]:
    """Every file but logs, by path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "log" not in path.parts
    }


def test_all_stages_from_files(files: dict[str, Any], tmp_path: Path) -> None:
    said: list[str] = []
    told: list[tuple[int, int]] = []
    state = torch.random.get_rng_state()
    variants = train(
        make_config(files, tmp_path),
        tmp_path / "out",
        inputs_of(tmp_path),
        say=said.append,
        progress=lambda *at: told.append(at),
    )
    assert torch.equal(torch.random.get_rng_state(), state)  # who draws numbers beside us draws the same
    assert [one.name for one in variants] == ["base"] + [
        f"lambda-{strength}/checkpoint-{n:02}" for strength in ("0.2", "1") for n in (1, 2)
    ]
    assert variants == read_variants(tmp_path / "out")
    assert told[-1][0] == told[-1][1]
    assert told == sorted(told)
    assert "queries" in said[0]
    assert "kin:" in said[0]
    for variant in variants:
        lines = (tmp_path / "out" / variant.name / "run.trec").read_text().splitlines()
        assert len(lines) == 8 * 5
        CrossEncoderRanker.load(tmp_path / "out" / variant.name)
    assert not (tmp_path / "out/state").exists()
    with pytest.raises(ParameterError, match="holds a training run already"):
        train(make_config(files, tmp_path), tmp_path / "out", inputs_of(tmp_path))
    files["joint"]["epochs"] = 1
    with pytest.raises(ParameterError, match=r"was begun with another joint\.epochs"):
        train(make_config(files, tmp_path), tmp_path / "out", inputs_of(tmp_path), resume=True)


@pytest.mark.slow
@pytest.mark.parametrize("killed_at", [3, 9, 14, 18])
def test_a_whole_run_that_was_killed_ends_the_same(
    files: dict[str, Any], tmp_path: Path, killed_at: int
) -> None:
    config = make_config(files, tmp_path)
    train(config, tmp_path / "whole", inputs_of(tmp_path))

    def kill(step: int, total: int) -> None:
        if step == killed_at:
            raise Killed

    with pytest.raises(Killed):
        train(config, tmp_path / "stopped", inputs_of(tmp_path), progress=kill)
    train(config, tmp_path / "stopped", inputs_of(tmp_path), resume=True)
    assert tree(tmp_path / "stopped") == tree(tmp_path / "whole")


def test_a_run_that_could_not_begin_leaves_the_folder_free(files: dict[str, Any], tmp_path: Path) -> None:
    for section, key, wrong in (("examples", "pool", "none.txt"), ("training", "device", "tpu")):
        bad = {**files, section: {**files[section], key: wrong}}
        with pytest.raises(EvenrankError, match=wrong):
            train(make_config(bad, tmp_path), tmp_path / "out", inputs_of(tmp_path))
    files["joint"]["epochs"] = 0
    train(make_config(files, tmp_path), tmp_path / "out", inputs_of(tmp_path))
    with pytest.raises(ParameterError, match="is a file: name a folder"):
        train(make_config(files, tmp_path), tmp_path / "qrels.txt", inputs_of(tmp_path))


def test_evaluation_queries_are_kept_out(files: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "out.tsv").write_text("q99\tMOON\n")
    files["examples"]["keep_out"] = "out.tsv"
    with pytest.raises(
        DataError,
        match=r"out.tsv: 1 query is to be kept out of training, but in the training data: q99 \(as q0\)",
    ):
        train(make_config(files, tmp_path), tmp_path / "out", inputs_of(tmp_path))


def test_a_fold_is_not_trained_on(files: dict[str, Any], tmp_path: Path) -> None:
    files["examples"] |= {"folds": 4, "fold": 1}
    files["joint"]["epochs"] = 0
    files["tune"]["epochs"] = 0
    files.pop("evaluate")
    variants = train(make_config(files, tmp_path), tmp_path / "out", inputs_of(tmp_path))
    assert [one.name for one in variants] == ["base"]
    kept_out = (tmp_path / "out/kept-out.txt").read_text().split()
    assert len(kept_out) == 2
    files["examples"]["keep_out"] = "kept.tsv"
    (tmp_path / "kept.tsv").write_text("".join(f"{query}\tx\n" for query in kept_out))
    train(
        make_config(files, tmp_path), tmp_path / "again", inputs_of(tmp_path)
    )  # they are not trained on, so all is well


@pytest.mark.slow
def test_several_attributes_have_an_adversary_each(files: dict[str, Any], tmp_path: Path) -> None:
    files["attributes"].append({"name": "who", "lexicon": "kin.csv", "labels": "groups", "tau": 0})
    (tmp_path / "documents.tsv").write_text(
        (tmp_path / "documents.tsv").read_text().replace("his", "she").replace("bread", "her")
    )
    files["joint"]["strengths"] = [0.5]
    files["evaluate"]["probe"] = True
    train(make_config(files, tmp_path), tmp_path / "out", inputs_of(tmp_path))
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
    config = make_config(files, tmp_path)
    train(config, tmp_path / "whole", inputs_of(tmp_path))
    real, moved = Path.rename, []

    def cut(path: Path, target: Path) -> Path:
        if Path(target).name == "base" and path.name.endswith(("-new", "-old")) and moved:
            raise Cut
        moved.extend([path] if Path(target).name == "base" else [])
        return real(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", cut)
        patch.setattr("evenrank.io.folders.shutil.rmtree", lambda *_, **__: None)
        with pytest.raises(Cut):
            train(config, tmp_path / "stopped", inputs_of(tmp_path))
    old = tmp_path / "stopped/.base.evenrank-old"
    assert (old / "checkpoint.json").is_file()
    assert not (tmp_path / "stopped/base").exists()
    (old / "notes.txt").write_text("mine")
    (tmp_path / "stopped/state").mkdir(exist_ok=True)
    (tmp_path / "stopped/state/notes.txt").write_text("mine")
    train(config, tmp_path / "stopped", inputs_of(tmp_path), resume=True)
    for name in ("base", "state"):
        assert (tmp_path / "stopped" / name / "notes.txt").read_text() == "mine"
        (tmp_path / "stopped" / name / "notes.txt").unlink()
    assert tree(tmp_path / "stopped") == tree(tmp_path / "whole")


@pytest.mark.parametrize("name", ["state.json", "weights.safetensors", "moments.safetensors"])
def test_a_damaged_state_says_so_and_the_stage_begins_anew(
    name: str, files: dict[str, Any], tmp_path: Path
) -> None:
    config = make_config(files, tmp_path)

    def kill(step: int, total: int) -> None:
        if step == 3:
            raise Killed

    with pytest.raises(Killed):
        train(config, tmp_path / "out", inputs_of(tmp_path), progress=kill)
    (path,) = (tmp_path / "out/state").rglob(name)
    content = bytearray(path.read_bytes())
    content[-9] ^= 1
    path.write_bytes(content)
    said: list[str] = []
    train(config, tmp_path / "out", inputs_of(tmp_path), resume=True, say=said.append)
    assert any("damaged" in line and "the stage tune begins anew" in line for line in said)
    train(config, tmp_path / "whole", inputs_of(tmp_path))
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


def test_a_damaged_list_of_what_is_finished_says_so(files: dict[str, Any], tmp_path: Path) -> None:
    files["joint"]["epochs"] = 0
    config = make_config(files, tmp_path)
    train(config, tmp_path / "out", inputs_of(tmp_path))
    path = tmp_path / "out/finished.json"
    path.write_text(path.read_text().replace("1", "2"))
    with pytest.raises(DataError, match=r"finished\.json: is damaged: train into a new folder"):
        train(config, tmp_path / "out", inputs_of(tmp_path), resume=True)
