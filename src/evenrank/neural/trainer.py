"""The steps of a stage of training, early stopping, and what can go wrong on the way."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from evenrank.arrays import Int64s
from evenrank.errors import DataError, EvenrankError
from evenrank.inputs.sections import Adversary, Training
from evenrank.neural.adversaries import Adversaries
from evenrank.neural.ahead import ahead
from evenrank.neural.judges import Judge
from evenrank.neural.labels import PairLabels
from evenrank.neural.length_groups import ON_CPU, ON_GPU, length_groups
from evenrank.neural.logs import Log
from evenrank.neural.objectives import Objective, pairwise_objective
from evenrank.neural.precision import computing
from evenrank.neural.ranker import NeuralRanker
from evenrank.neural.scoring import halved, lacks_memory
from evenrank.neural.stage import ADVERSARY, JOINT, TUNE, Checkpoint, Stage
from evenrank.neural.state import Standing, forget_state, load_state, read_standing, save_state
from evenrank.neural.tokens import PairBatches

Say = Callable[[str], None]


class TrainingStoppedError(EvenrankError):
    """Training cannot go on; what was learnt before is kept."""


@dataclass(eq=False)
class Trainer:
    """Trains one ranker, stage after stage. All parts of it stay in the trainer; stages come and go."""

    ranker: NeuralRanker
    tokens: PairBatches
    labels: Mapping[str, PairLabels]
    settings: Training
    log: Log | None = None
    state: Path | None = None  # folder
    say: Say | None = None
    objective: Objective = pairwise_objective
    adversary: Adversary = field(default_factory=Adversary)
    weighted: bool = False  # rare values of an attribute count more, where triples are not balanced

    def __post_init__(self) -> None:
        self.piece = self.settings.batch
        self._behind = False  # whether the adversaries have steps of their own to do in this step
        self._adversaries = Adversaries(
            self.labels, self.adversary.steps, self.weighted, self.ranker.device, self.settings.clip
        )

    def run(
        self,
        stage: Stage,
        *,
        validation: Int64s | None = None,
        judge: Judge | None = None,
        at_checkpoint: Callable[[Checkpoint], None] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Train, and give the steps done. A state that was saved for this stage is where it begins.

        ``judge`` says at every checkpoint how good the ranker is, instead of the loss of ``validation``.
        """
        self._freeze(stage)
        self._adversaries.weigh(stage.triples)
        device = self.ranker.device
        try:
            # who draws numbers beside us draws the same
            with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
                return self._train(stage, validation, judge, at_checkpoint, progress)
        finally:
            self.ranker.requires_grad_(True)
            self.ranker.eval()

    def _freeze(self, stage: Stage) -> None:
        """Only what the stage trains gets gradients, and nothing has any from before."""
        for name, parameter in self.ranker.named_parameters():
            own = name.startswith("adversaries.")
            parameter.requires_grad_(stage.kind == JOINT or own == (stage.kind == ADVERSARY))
        self.ranker.train(stage.kind != ADVERSARY)  # what is frozen shall give the same vectors every time
        self.ranker.adversaries.train()

    def _train(
        self,
        stage: Stage,
        validation: Int64s | None,
        judge: Judge | None,
        at_checkpoint: Callable[[Checkpoint], None] | None,
        progress: Callable[[int], None] | None,
    ) -> int:
        settings, size = self.settings, self.settings.batch * self.settings.accumulate
        self.ranker.zero_grad(set_to_none=True)
        optimizer, scaler = self._optimizer(), self._scaler()
        standing = self._resumed(stage, optimizer, scaler)
        step, best, since = standing.step, standing.best, standing.since_best
        marks = {step: number for number, step in enumerate(stage.checkpoint_steps(size), 1)}
        saved = time.monotonic()
        for triples in ahead(stage.batches(size, step), lambda rows: self.tokens.prepare(rows.ravel())):
            rate = self._rate(stage, step, stage.steps(size))
            for group in optimizer.param_groups:
                group["lr"] = group["full_rate"] * rate
            values = self._step(stage, step, triples, optimizer, scaler)
            if values is None:
                self._stop(stage, step, best, since, optimizer, scaler)
            elif self.log is not None and (step % settings.log_steps == 0 or step + 1 in marks):
                self.log.write(stage.key, step + 1, values())
            step += 1
            if step in marks:
                loss = self._judged(validation, judge)
                # a loss that is not finite must never be the best, or nothing would be better
                better = loss is None or (math.isfinite(loss) and (best is None or loss < best))
                best, since = (loss, 0) if better else (best, since + 1)
                if self.log is not None and loss is not None:
                    self.log.write(stage.key, step, {"validation" if judge is None else judge.name: loss})
                if at_checkpoint is not None:
                    at_checkpoint(Checkpoint(marks[step], step, loss, better))
                self._freeze(stage)  # a checkpoint may have looked at the ranker
            if progress is not None:
                progress(step)
            if stage.patience is not None and since >= stage.patience:
                break
            if self.state is not None and time.monotonic() - saved >= settings.save_seconds:
                self._save(stage, step, best, since, optimizer, scaler)
                saved = time.monotonic()
        return step

    def _judged(self, validation: Int64s | None, judge: Judge | None) -> float | None:
        """How good the ranker is now, less is better; None where nothing says so."""
        if judge is not None:
            self.ranker.eval()
            return judge(self.ranker, self.tokens)
        return None if validation is None or not len(validation) else self.validation_loss(validation)

    def _optimizer(self) -> torch.optim.AdamW:
        settings = self.settings
        own = self.adversary.weight_decay
        decay = {"adversaries": settings.weight_decay if own is None else own}
        rates = {
            "encoder": settings.learning_rate,
            "relevance": settings.head_learning_rate,
            "adversaries": settings.adversary_learning_rate,
        }
        groups: dict[tuple[str, bool], list[torch.nn.Parameter]] = {}
        for name, parameter in self.ranker.named_parameters():
            if parameter.requires_grad:
                groups.setdefault((name.partition(".")[0], parameter.ndim > 1), []).append(parameter)
        return torch.optim.AdamW(
            [
                {
                    "params": parameters,
                    "full_rate": rates[part],
                    "weight_decay": decay.get(part, settings.weight_decay) if decays else 0.0,
                }
                for (part, decays), parameters in groups.items()
            ],
            lr=settings.learning_rate,
            fused=True,
        )

    def _scaler(self) -> torch.amp.GradScaler:
        device = self.ranker.device.type
        return torch.amp.GradScaler(device, enabled=self.settings.precision == "float16")

    def _resumed(
        self, stage: Stage, optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler
    ) -> Standing:
        anew = Standing(stage.key, 0, self.piece)
        if self.state is None:
            return anew
        try:
            standing = read_standing(self.state)
            if standing is None or standing.stage != stage.key:
                return anew
            load_state(self.state, self.ranker, optimizer)
        except DataError as error:  # nothing of it is in place
            self._report(f"{error}; the stage {stage.key} begins anew")
            forget_state(self.state)
            return anew
        self.piece = standing.piece
        if standing.scaler:
            scaler.load_state_dict(dict(standing.scaler))
        return standing

    def _rate(self, stage: Stage, step: int, steps: int) -> float:
        """The share of the full learning rate at a step: up in the warm-up, then level or down to 0."""
        warm = round(self.settings.warmup * steps)
        if step < warm:
            return (step + 1) / warm
        return (steps - step) / max(1, steps - warm) if stage.schedule == "linear" else 1.0

    def _step(
        self,
        stage: Stage,
        step: int,
        triples: Int64s,
        optimizer: torch.optim.Optimizer,
        scaler: torch.amp.GradScaler,
    ) -> Callable[[], dict[str, float]] | None:
        """One step; gives what to log, None if it was not done because something is not finite."""
        self._behind = stage.kind == JOINT and self.adversary.steps > 1
        while True:
            # by step, so that a resumed run draws what an uninterrupted one does
            noise = np.random.SeedSequence([stage.seed, step]).generate_state(1, np.uint64)[0]
            torch.manual_seed(int(noise) >> 1)
            optimizer.zero_grad(set_to_none=True)
            try:
                sums = self._gradients(stage, triples, scaler, optimizer)
                break
            except RuntimeError as error:
                if not lacks_memory(error):
                    raise
                self._halve(f"{stage.key}, step {step + 1}", len(triples))
        scaler.unscale_(optimizer)
        norms = self._clip()
        names = [*sums, *norms]
        # one look at the device for everything
        values = torch.stack([*sums.values(), *norms.values()]).tolist()
        found = dict(zip(names, values, strict=True))
        looked_at = sums if scaler.is_enabled() else found  # the scaler itself leaves out infinite gradients
        if not all(math.isfinite(found[name]) for name in looked_at):
            return None
        scaler.step(optimizer)
        scaler.update()
        return lambda: {**found, "rate": optimizer.param_groups[0]["lr"]}

    def _gradients(
        self, stage: Stage, triples: Int64s, scaler: torch.amp.GradScaler, optimizer: torch.optim.Optimizer
    ) -> dict[str, torch.Tensor]:
        """Gradients of the mean loss over the triples, piece by piece; the parts of the loss, as means."""
        totals: dict[str, torch.Tensor] = {}
        whole = len(triples) <= self.piece
        if self._behind and not whole:
            with torch.no_grad():
                parts = [self._vectors(piece) for piece in self._pieces(triples)]
            rows = np.concatenate([piece.T.ravel() for piece in self._pieces(triples)])
            self._catch_up(torch.cat(parts), rows, optimizer)
        for piece in self._pieces(triples):
            with torch.set_grad_enabled(stage.kind != ADVERSARY):
                vectors = self._vectors(piece)
            if self._behind and whole:  # what was encoded once serves both
                self._catch_up(vectors.detach(), piece.T.ravel(), optimizer)
            losses = self._losses(stage, piece, vectors)
            losses = {name: loss / len(triples) for name, loss in losses.items()}
            scaler.scale(torch.stack(list(losses.values())).sum()).backward()
            for name, loss in losses.items():
                totals[name] = totals.get(name, 0) + loss.detach()
        return totals

    def _catch_up(self, vectors: torch.Tensor, pairs: Int64s, optimizer: torch.optim.Optimizer) -> None:
        """Once a step: a step that memory did not suffice for is begun again without it."""
        self._adversaries.catch_up(self.ranker, vectors, pairs, optimizer)
        self._behind = False

    def _pieces(self, triples: Int64s) -> list[Int64s]:
        return [triples[begin : begin + self.piece] for begin in range(0, len(triples), self.piece)]

    def _vectors(self, triples: Int64s) -> torch.Tensor:
        """Of ``triples.T.ravel()``: relevant ones, then the others. Pairs of like length are encoded
        together, so that short ones are not padded to the longest of all."""
        device, pairs = self.ranker.device, triples.T.ravel()
        groups = length_groups(self.tokens.lengths(pairs), ON_CPU if device.type == "cpu" else ON_GPU)
        with computing(device, self.settings.precision):
            parts = [self.ranker.encode(self.tokens.batch(pairs[rows], device)) for rows in groups]
        if len(parts) == 1:
            return parts[0]
        back = torch.from_numpy(np.argsort(np.concatenate(groups))).to(device)
        return torch.cat(parts)[back]

    def _losses(self, stage: Stage, triples: Int64s, vectors: torch.Tensor) -> dict[str, torch.Tensor]:
        """Sums over these triples: the utility loss, and of every adversary."""
        losses: dict[str, torch.Tensor] = {}
        with computing(self.ranker.device, self.settings.precision):
            if stage.kind != ADVERSARY:
                losses["utility"] = self.objective(self.ranker, vectors, triples)
            if stage.kind != TUNE:
                pairs = triples.T.ravel()
                found = self._adversaries.losses(self.ranker, vectors, pairs, stage.strength, stage.ceiling)
                # of a triple both documents are added, as the paper does; of a list they are averaged, so
                # that a strength means the same for lists of any length
                each = 1 if triples.shape[1] == 2 else triples.shape[1]
                losses |= {name: loss / each for name, loss in found.items()}
        return losses

    def _clip(self) -> dict[str, torch.Tensor]:
        """Shorten long gradients, the ranker's and the adversaries' apart: neither slows the other."""
        longest = math.inf if self.settings.clip is None else self.settings.clip
        parts: dict[str, list[torch.nn.Parameter]] = {}
        for name, parameter in self.ranker.named_parameters():
            if parameter.grad is not None:
                part = "adversaries" if name.startswith("adversaries.") else "ranker"
                parts.setdefault(part, []).append(parameter)
        return {
            f"gradient of the {part}": torch.nn.utils.clip_grad_norm_(parameters, longest)
            for part, parameters in parts.items()
        }

    def validation_loss(self, triples: Int64s) -> float:
        """The mean utility loss without dropout."""
        self.ranker.eval()
        total = 0.0
        with torch.no_grad():
            stage, begin = Stage(TUNE, triples, 0), 0
            while begin < len(triples):
                try:
                    piece = triples[begin : begin + 2 * self.piece]
                    total += self._losses(stage, piece, self._vectors(piece))["utility"].item()
                    begin += 2 * self.piece
                except RuntimeError as error:
                    if not lacks_memory(error):
                        raise
                    self._halve("validation", len(triples))
        return total / len(triples)

    def _halve(self, where: str, most: int) -> None:
        self.piece = halved(min(self.piece, most), self.ranker.device)
        self._report(f"{where}: out of memory; {self.piece} triples at once from here")

    def _standing(
        self, stage: Stage, step: int, best: float | None, since: int, scaler: torch.amp.GradScaler
    ) -> Standing:
        return Standing(stage.key, step, self.piece, best, since, scaler.state_dict() or None)

    def _save(
        self, stage: Stage, step: int, best: float | None, since: int,
        optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler,
    ) -> None:  # fmt: skip
        if self.state is not None:
            save_state(self.state, self._standing(stage, step, best, since, scaler), self.ranker, optimizer)

    def _stop(
        self, stage: Stage, step: int, best: float | None, since: int,
        optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler,
    ) -> None:  # fmt: skip
        """The step was not done, so what the ranker is now is the last good state."""
        self._save(stage, step, best, since, optimizer, scaler)
        kept = "" if self.state is None else f"; the state before it is in {self.state}"
        raise TrainingStoppedError(
            f"{stage.key}, step {step + 1}: the loss or its gradient is not finite{kept}: "
            "lower the learning rates, or set training.clip, and train into a new folder"
        )

    def _report(self, message: str) -> None:
        if self.say is not None:
            self.say(message)
