"""The stages of a trainer: what each leaves alone, stopping and going on, memory, and early stopping."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_trainers import Killed, same, trainer, weights, without_noise

from evenrank import DataError, EvenrankError, Lexicon
from evenrank.neural import Stage, Trainer, make_config

pytestmark = pytest.mark.needs("torch")

Make = Callable[..., Trainer]


@pytest.fixture
def make(checkpoint: Path, examples: Any, kin: Lexicon) -> Make:
    return lambda **options: trainer(checkpoint, examples, kin, **options)


def at_call(numbers: set[int], function: Any, change: Callable[[Any], Any]) -> Any:
    """A function whose results of some calls are changed, or raise."""
    calls = 0

    def called(*given: Any, **more: Any) -> Any:
        nonlocal calls
        calls += 1
        found = function(*given, **more)
        return change(found) if calls in numbers else found

    return called


def spoil(found: Any) -> Any:
    return found * float("nan")


def test_the_second_stage_leaves_encoder_and_relevance_head_as_they_are(make: Make, examples: Any) -> None:
    made = make()
    before, noisy = weights(made.ranker), []
    made.run(
        Stage("adversary", examples.triples, 1), progress=lambda _: noisy.append(made.ranker.encoder.training)
    )
    assert not any(noisy)  # what is frozen gives the same vectors every time
    moved = {name.partition(".")[0] for name, value in weights(made.ranker).items()
             if not torch.equal(value, before[name])}  # fmt: skip
    assert moved == {"adversaries"}


def test_the_first_stage_leaves_the_adversary_alone(make: Make, examples: Any) -> None:
    made = make()
    adversary, encoder = weights(made.ranker, "adversaries."), weights(made.ranker, "encoder.")
    made.run(Stage("tune", examples.triples, 1))
    assert same(weights(made.ranker, "adversaries."), adversary)
    assert not same(weights(made.ranker, "encoder."), encoder)


@pytest.mark.parametrize("clip", [0, 0.05])
def test_without_strength_the_third_stage_is_plain_training(make: Make, examples: Any, clip: float) -> None:
    """Lambda 0, the same data and seeds; clipping is not across heads, so it may be on."""
    plain, joint, other = (make(clip=clip) for _ in range(3))
    plain.run(Stage("tune", examples.triples, 2, seed=4))
    joint.run(Stage("joint", examples.triples, 2, seed=4, strength=0.0))
    for part in ("encoder.", "relevance."):
        assert same(weights(plain.ranker, part), weights(joint.ranker, part))
    other.run(Stage("joint", examples.triples, 2, seed=4, strength=0.5))
    assert not same(weights(plain.ranker, "encoder."), weights(other.ranker, "encoder."))


def test_the_same_seed_gives_the_same_weights(make: Make, examples: Any) -> None:
    before = torch.random.get_rng_state()
    runs = [make(ranker={"seed": seed}) for seed in (1, 1, 2)]
    for made, seed in zip(runs, (1, 1, 2), strict=True):
        made.run(Stage("joint", examples.triples, 1, seed=seed, strength=0.5))
    assert same(weights(runs[0].ranker), weights(runs[1].ranker))
    assert not same(weights(runs[0].ranker), weights(runs[2].ranker))
    assert torch.equal(torch.random.get_rng_state(), before)  # who draws numbers beside us draws the same


@pytest.mark.parametrize("kind", ["tune", "adversary", "joint"])
def test_a_run_that_was_killed_goes_on_as_if_nothing_had_happened(
    make: Make, examples: Any, tmp_path: Path, kind: str
) -> None:
    """Equal to the last bit on a CPU."""
    stage = Stage(kind, examples.triples, 2, seed=1, strength=0.5, checkpoints=4, schedule="linear")
    own = {"state": tmp_path / "state"}
    whole, stopped, resumed = make(), make(own=own), make(own=own)
    seen: list[Any] = []
    whole.run(stage, validation=examples.triples[:5], at_checkpoint=seen.append)

    def kill(step: int) -> None:
        if step == 11:
            raise Killed

    with pytest.raises(Killed):
        stopped.run(stage, validation=examples.triples[:5], progress=kill)
    again: list[Any] = []
    steps: list[int] = []
    resumed.run(stage, validation=examples.triples[:5], at_checkpoint=again.append, progress=steps.append)
    assert steps[0] == 11  # the state of the step before was saved
    assert same(weights(resumed.ranker), weights(whole.ranker))
    assert again == [one for one in seen if one.step > 10]
    assert [one.number for one in seen] == [1, 2, 3, 4]


def test_another_stage_does_not_begin_at_this_ones_state(make: Make, examples: Any, tmp_path: Path) -> None:
    own = {"state": tmp_path}
    make(own=own).run(Stage("tune", examples.triples, 1))
    fresh, other = make(), make(own=own)
    for one in (fresh, other):
        one.run(Stage("joint", examples.triples, 0.5, strength=0.5))
    assert same(weights(fresh.ranker), weights(other.ranker))


@pytest.mark.parametrize(("spoilt", "steps"), [("objective", 1), ("vectors", 1), ("vectors", 3)])
def test_what_is_not_finite_stops_the_training_and_the_last_good_state_is_kept(
    make: Make, examples: Any, tmp_path: Path, spoilt: str, steps: int
) -> None:
    """Also where adversaries have steps of their own, which would learn from it."""
    adversary = make_config({"adversary": {"steps": steps}}).adversary
    stage = Stage("joint", examples.triples, 1, strength=0.5)
    own: Any = {"state": tmp_path / "state", "adversary": adversary}
    made = make(own=own, save_seconds=3600)
    if spoilt == "objective":
        made.objective = at_call({4}, made.objective, spoil)
    else:
        made.ranker.encode = at_call({4}, made.ranker.encode, spoil)
    before: list[Any] = []
    with pytest.raises(EvenrankError, match=r"joint-0\.5, step 4: .*not finite"):
        made.run(stage, progress=lambda _: before.append(weights(made.ranker)))
    assert len(before) == 3
    assert same(weights(made.ranker), before[2])
    healthy, again = make(own={"adversary": adversary}), make(own=own)
    healthy.run(stage)
    done: list[int] = []
    again.run(stage, progress=done.append)
    assert done[0] == 4
    assert same(weights(again.ranker), weights(healthy.ranker))


NO_MEMORY = (
    torch.OutOfMemoryError("out of memory"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory"),
)


def raising(error: Exception) -> Callable[[Any], Any]:
    def change(found: Any) -> Any:
        raise error

    return change


@pytest.mark.parametrize("error", NO_MEMORY)
def test_too_little_memory_halves_what_is_done_at_once(
    make: Make, examples: Any, error: RuntimeError
) -> None:
    whole, small = make(), make()
    said: list[str] = []
    small.say = said.append
    small.ranker.encode = at_call({1, 2}, small.ranker.encode, raising(error))
    for one in (whole, small):
        without_noise(one.ranker)  # it is drawn piece by piece
        one.run(Stage("joint", examples.triples[:8], 1, strength=0.5))
    assert ["4" in said[0], "2" in said[1], len(said)] == [True, True, 2]
    for name, value in weights(whole.ranker).items():
        if name != "relevance.bias":  # whose gradient is 0 but for rounding, which Adam enlarges
            torch.testing.assert_close(small.ranker.state_dict()[name], value, rtol=1e-3, atol=2e-4)
    small.ranker.encode = at_call(set(range(99)), small.ranker.encode, raising(error))
    with pytest.raises(DataError, match="max_length"):
        small.run(Stage("joint", examples.triples[:8], 1, strength=0.5))
    small.ranker.encode = at_call({1}, whole.ranker.encode, raising(RuntimeError("something else")))
    with pytest.raises(RuntimeError, match="something else"):
        small.run(Stage("joint", examples.triples[:8], 1, strength=0.5))


def test_too_little_memory_gives_adversaries_no_further_steps(make: Make, examples: Any) -> None:
    """What they learnt before memory ran out is kept; learning it again would favour them."""
    found = []
    for scarce in (set(), {1}):
        made = make(own={"adversary": make_config({"adversary": {"steps": 9}}).adversary})
        made.objective = at_call(scarce, made.objective, raising(NO_MEMORY[0]))  # behind their own steps
        without_noise(made.ranker)
        made.run(Stage("joint", examples.triples[:8], 1, strength=0.5))
        found.append(weights(made.ranker, "adversaries."))
    torch.testing.assert_close(found[0], found[1], rtol=1e-3, atol=1e-5)


def test_too_little_memory_for_validation(make: Make, examples: Any) -> None:
    made, said = make(), []
    made.ranker.eval()
    whole = made.validation_loss(examples.triples[:20])
    made.say = said.append
    made.objective = at_call({1, 2}, made.objective, raising(NO_MEMORY[0]))
    assert made.validation_loss(examples.triples[:20]) == pytest.approx(whole, rel=1e-5)
    assert len(said) == 2


@pytest.mark.parametrize(
    ("losses", "best"),
    [
        ([0.9, 0.7, 0.8, 0.75, 0.1], [True, True, False, False]),
        ([float("nan"), 0.7, 0.8, 0.9], [False, True, False, False]),  # it is never the best
    ],
)
def test_early_stopping(
    make: Make, examples: Any, monkeypatch: pytest.MonkeyPatch, losses: list[float], best: list[bool]
) -> None:
    made, seen, left = make(), [], iter(losses)
    monkeypatch.setattr(made, "validation_loss", lambda triples: next(left))
    stage = Stage("tune", examples.triples, 2, checkpoints=6, patience=2)
    steps = made.run(stage, validation=examples.triples[:4], at_checkpoint=seen.append)
    assert [one.best for one in seen] == best
    assert steps == seen[-1].step < stage.steps(8)


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_mixed_precision_keeps_weights_in_full_precision(
    make: Make, examples: Any, tmp_path: Path, precision: str
) -> None:
    made = make(precision=precision, own={"state": tmp_path})
    before = weights(made.ranker)
    made.run(Stage("joint", examples.triples, 0.5, strength=0.5))
    assert all(value.dtype == before[name].dtype for name, value in weights(made.ranker).items())
    assert not same(weights(made.ranker), before)


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
