"""The three stages, one after another, and the third once for every strength.

The folder holds ``base`` (after the first stage), ``start`` (with the adversaries of the second), and
``lambda-0.3/checkpoint-07`` (of the third); each is a ranker, and has the run that it re-ranked, if one was
named. ``variants.jsonl`` lists them, ``log`` has the losses, ``state`` what a resumed run begins at.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from safetensors import SafetensorError

from evenrank.errors import DataError, ParameterError
from evenrank.inputs import Inputs, Known
from evenrank.inputs.sections import Joint
from evenrank.io import read_run, write_run
from evenrank.io.atomic import atomic_write, recover_folder
from evenrank.io.lexicons import read_lexicon
from evenrank.io.texts import read_texts
from evenrank.neural.config import Config
from evenrank.neural.judges import LOSS, PROBE, Judge, MeasureJudge, ProbeJudge
from evenrank.neural.labels import shares
from evenrank.neural.load import KINDS
from evenrank.neural.logs import Log
from evenrank.neural.objectives import DistillationObjective, Objective, pairwise_objective
from evenrank.neural.precision import as_device, own_randomness
from evenrank.neural.probe import Probe, as_rows, describe_probe, probe_ranker
from evenrank.neural.ranker import NeuralRanker, check_ranker
from evenrank.neural.reading import TrainingData, prepare
from evenrank.neural.reranker import NeuralReranker, ScorablePairs
from evenrank.neural.run_folder import CONFIG, DATA, check_begun, check_data, damaged, read_notes, write_notes
from evenrank.neural.sampling import balanced, check_values, paper_balanced
from evenrank.neural.scrub import scrubbed
from evenrank.neural.stage import ADVERSARY, JOINT, TUNE, Checkpoint, Stage
from evenrank.neural.state import forget_state, read_checked, read_standing, write_checked
from evenrank.neural.teacher import Teacher, read_teacher
from evenrank.neural.trainer import Say, Trainer
from evenrank.neural.variants import RUN, VARIANTS, TrainedRanker

BASE, START = "base", "start"
_FINISHED, _BEST = "finished.json", "checkpoint.json"
_TEACHER = "teacher.safetensors"


def train(
    config: Config,
    output: str | Path,
    inputs: Inputs | None = None,
    *,
    resume: bool = False,
    progress: Callable[[int, int], None] | None = None,
    reading: Callable[[int, int], None] | None = None,
    say: Say | None = None,
    **known: Unpack[Known],
) -> tuple[TrainedRanker, ...]:
    """Train as the configuration says, and write everything below ``output``.

    ``inputs`` has the judgements, the texts of the queries and the documents to learn from; ``qrels``,
    ``query_texts`` and ``documents`` may be passed by name instead.
    The same configuration, seed, device and versions give the same weights. With ``resume`` a run that was
    stopped goes on where its state was saved last, and ends as if it had never been stopped. ``progress`` is
    called with the steps that are done and all of them, ``reading`` with the texts that a teacher has read.
    """
    folder = Path(output)
    about = json.loads(json.dumps(config.as_dict()))
    about["training"].pop("device")
    check_begun(folder, about, resume)
    device = as_device(config.training.device)
    with own_randomness(device, config.training.deterministic):
        given = (inputs or Inputs({})).with_known(**known)
        work = _TrainingWork(config, given, folder, device, progress, reading, say or (lambda message: None))
        about[DATA] = work.data.fingerprint()
        check_data(folder, about)
        # only now: a run that could not begin leaves the folder to the next try
        write_notes(folder / CONFIG, about)
        try:
            with Log(folder / "log") as log:
                work.trainer.log = log
                return work.all()
        except (OSError, SafetensorError) as error:  # a full disk, mostly
            why = getattr(error, "strerror", None) or error
            raise DataError(
                f"{folder}: cannot be written: {why}; what is finished was kept: "
                "make room, and train into this folder again (in Python with resume=True)"
            ) from error


class _TrainingWork:
    """A training run: its data, its ranker, and what is finished."""

    def __init__(
        self, config: Config, inputs: Inputs, folder: Path, device: Any,
        progress: Callable[[int, int], None] | None, reading: Callable[[int, int], None] | None, say: Say,
    ) -> None:  # fmt: skip
        self.config, self.folder, self.say, self._reading = config, folder, say, reading
        self.device = device
        self.data: TrainingData = prepare(config, inputs, self._teacher)
        self.ranker: NeuralRanker = (
            KINDS[config.model.kind]
            .start(
                config.model.encoder,
                {name: found.values for name, found in self.data.labels.items()},
                layers=config.model.layers,
                loss=config.model.loss,
                max_length=config.model.max_length,
                seed=config.seed,
                dropout=config.adversary.dropout,
            )
            .to(device)
        )
        examples = self.data.training
        self.tokens = self.ranker.batches(examples.texts, len(examples.pair_queries))
        self.trainer = Trainer(
            self.ranker, self.tokens, self.data.labels, config.training, state=folder / "state", say=say,
            objective=self._objective(), adversary=config.adversary, weighted=self._lists_are_learnt,
        )  # fmt: skip
        self.judges = {
            kind: self._judge(stop_on)
            for kind, stop_on in ((TUNE, config.tune.stop_on), (JOINT, config.joint.stop_on))
        }
        self.lists = self._lists(inputs)
        self.finished: dict[str, list[dict[str, Any]]] = {}
        if (folder / _FINISHED).is_file():
            try:
                self.finished = read_checked(folder / _FINISHED)
            except ValueError as error:
                raise damaged(folder / _FINISHED) from error
        self._progress = progress
        self._before = 0
        self.stages = self._stages()
        size = config.training.batch * config.training.accumulate
        self._total = sum(stage.steps(size) for stage in self.stages)
        self._size = size

    @property
    def _lists_are_learnt(self) -> bool:
        return self.data.teacher is not None

    def _teacher(self, queries: Sequence[str], documents: Sequence[str]) -> Teacher:
        """Its vectors are kept in the folder, so that a run that is resumed does not make them again."""
        config = self.config
        self.say(f"the teacher reads {len(queries):,} queries and {len(documents):,} documents")
        return read_teacher(
            config.distil.teacher, queries, documents, kept=self.folder / _TEACHER,
            max_length=config.model.max_length, device=self.device, precision=config.training.precision,
            progress=self._reading,
        )  # fmt: skip

    def _objective(self) -> Objective:
        if self.data.teacher is None:
            return pairwise_objective
        return DistillationObjective(
            self.data.teacher, self.data.training, self.config.distil.temperature, self.device
        )

    def _even(self, triples: Any) -> Any:
        """What adversaries learn from. Lists stay as they are: rare values weigh more instead."""
        labels = self.data.labels
        if self._lists_are_learnt:
            check_values(triples, labels)
            return triples
        draw = paper_balanced if self.config.examples.balance == "paper" else balanced
        return draw(triples, labels, np.random.default_rng([self.config.seed, 2]))

    def _judge(self, stop_on: str) -> Judge | None:
        held_out = self.data.validation
        if stop_on == LOSS:
            return None
        if not len(held_out):
            raise ParameterError(f"stop_on = {stop_on!r} looks at queries held out: examples.validation is 0")
        if stop_on == PROBE:
            return ProbeJudge(held_out, self.data.labels, self.config.seed)
        return MeasureJudge(stop_on, held_out)

    def _stages(self) -> list[Stage]:
        config, triples = self.config, self.data.training.triples
        even = self._even(triples)
        tune, joint = config.tune, config.joint
        stages = [
            Stage(
                TUNE, triples, tune.epochs, config.seed, 0.0, tune.checkpoints, tune.patience, tune.schedule
            ),
            Stage(ADVERSARY, even, config.adversary.epochs, config.seed),
        ]
        if joint.epochs:
            stages += [_joint_stage(joint, strength, even, config.seed) for strength in joint.strengths]
        return stages

    def _lists(self, inputs: Inputs) -> tuple[Any, ScorablePairs, str] | None:
        wanted = self.config.evaluate
        if wanted.run is None:
            return None
        queries = read_texts(wanted.queries, "queries")
        run = read_run(wanted.run)
        run = run.select([query for query in run if query in queries])
        if not len(run):
            raise DataError(f"{wanted.run}: has none of the queries of {wanted.queries}")
        head = run.head(wanted.depth)
        source = inputs.documents if wanted.documents is None else wanted.documents
        if source is None:
            raise ParameterError("evaluate.documents must be given: the inputs have no documents")
        documents = read_texts(source, wanted=set(head.doc_ids.to_pylist()))
        if self.config.examples.scrub:  # it ranks texts as it learnt them
            for attribute in self.config.attributes:
                lexicon = read_lexicon(attribute.lexicon)
                queries, documents = (scrubbed(texts, lexicon) for texts in (queries, documents))
        return head, ScorablePairs.of(head, queries, documents), run.name

    def all(self) -> tuple[TrainedRanker, ...]:
        data = self.data
        what = "lists" if self._lists_are_learnt else "triples"
        self.say(
            f"{len(data.training):,} {what} of {len(np.unique(data.training.triple_queries)):,} queries, "
            f"{len(data.validation):,} for validation; "
            + shares(data.labels, np.unique(data.training.triples))
        )
        if data.kept_out:
            with atomic_write(self.folder / "kept-out.txt") as file:
                file.write(("\n".join(data.kept_out) + "\n").encode())
        tune, adversary, *joints = self.stages
        self._tune(tune)
        self._second(adversary)
        for stage in joints:
            self._third(stage)
        forget_state(self.folder / "state")
        variants = tuple(TrainedRanker(**row) for rows in self.finished.values() for row in rows)
        with atomic_write(self.folder / VARIANTS) as file:
            file.write("".join(json.dumps(vars(variant)) + "\n" for variant in variants).encode())
        if self.config.evaluate.probe:
            self._probes(joints)
        return variants

    def _tune(self, stage: Stage) -> None:
        if TUNE not in self.finished:

            def keep(checkpoint: Checkpoint) -> None:
                if checkpoint.best:
                    best = TrainedRanker(
                        BASE, None, checkpoint.number, checkpoint.step, checkpoint.validation
                    )
                    # in one step: weights without their note would be taken for none at all
                    self.ranker.save(self.folder / BASE, {_BEST: vars(best)})

            recover_folder(self.folder / BASE)
            keep(
                Checkpoint(0, 0, None, not (self.folder / BASE / _BEST).is_file())
            )  # where nothing is trained
            self._run(stage, keep)
            self._load(BASE)
            self._rank(self.folder / BASE, BASE)
            best = read_notes(self.folder / BASE / _BEST)
            self._finish(stage, [TrainedRanker(**best)])
        else:
            check_ranker(self.folder / BASE)  # it is listed, whether it is needed again or not
        self._before += stage.steps(self._size)

    def _second(self, stage: Stage) -> None:
        if stage.key not in self.finished:
            self._load(BASE)
            self._run(stage, None)
            self.ranker.save(self.folder / START)
            self._finish(stage, [])
        self._before += stage.steps(self._size)

    def _third(self, stage: Stage) -> None:
        if stage.key not in self.finished:
            self._load(START)
            there = self.folder / f"lambda-{stage.strength:g}"
            digits = max(2, len(str(stage.checkpoints)))
            index = there / VARIANTS  # checkpoints of a stage that was stopped are known from here
            made = self._made(stage, index)

            def keep(checkpoint: Checkpoint) -> None:
                name = f"{there.name}/checkpoint-{checkpoint.number:0{digits}}"
                if self.config.evaluate.weights:
                    self.ranker.save(self.folder / name)
                (self.folder / name).mkdir(parents=True, exist_ok=True)
                self._rank(self.folder / name, name)
                made[checkpoint.number] = TrainedRanker(
                    name, stage.strength, checkpoint.number, checkpoint.step, checkpoint.validation
                )
                with atomic_write(index) as file:
                    file.write("".join(json.dumps(vars(made[n])) + "\n" for n in sorted(made)).encode())

            self._run(stage, keep)
            if self.config.evaluate.probe and not self.config.evaluate.weights:
                self.ranker.save(there / "last")
            self._finish(stage, [made[number] for number in sorted(made)])
        self._before += stage.steps(self._size)

    def _made(self, stage: Stage, index: Path) -> dict[int, TrainedRanker]:
        """The checkpoints that were made before the stage was stopped; none, and no state to go on from,
        where one of them is not known any more."""
        state = self.folder / "state"
        try:
            standing = read_standing(state)
            if standing is None or standing.stage != stage.key:
                return {}
            text = index.read_text(encoding="utf-8") if index.is_file() else ""
            made = {row["checkpoint"]: TrainedRanker(**row) for row in map(json.loads, text.splitlines())}
            due = sum(step <= standing.step for step in stage.checkpoint_steps(self._size))
            if set(range(1, due + 1)) <= set(made):
                return made
            lost = f"{index}: lacks a checkpoint" if index.is_file() else f"{index}: is missing"
        except DataError as error:
            lost = str(error)
        except (KeyError, TypeError, ValueError, RecursionError):
            lost = f"{index}: is damaged"
        self.say(f"{lost}; the stage {stage.key} begins anew")
        forget_state(state)
        return {}

    def _run(self, stage: Stage, keep: Callable[[Checkpoint], None] | None) -> None:
        def advance(step: int) -> None:
            if self._progress is not None:
                self._progress(self._before + step, self._total)

        validation = None if stage.kind == ADVERSARY else self.data.validation.triples
        judge = self.judges.get(stage.kind)
        self.trainer.run(stage, validation=validation, judge=judge, at_checkpoint=keep, progress=advance)

    def _rank(self, folder: Path, name: str) -> None:
        if self.lists is None:
            return
        head, lists, run_name = self.lists
        scores = lists.scores(
            self.ranker, batch=self.config.evaluate.batch, precision=self.config.training.precision
        )
        method = NeuralReranker.of(self.ranker, {}, {}, called=name)
        write_run(lists.reordered(head, scores, method), folder / RUN, tag=f"{run_name}+{name}")

    def _load(self, name: str) -> None:
        saved = type(self.ranker).load(self.folder / name)
        self.ranker.load_state_dict(saved.state_dict())

    def _finish(self, stage: Stage, variants: list[TrainedRanker]) -> None:
        self.finished[stage.key] = [vars(variant) for variant in variants]
        write_checked(self.folder / _FINISHED, self.finished)

    def _probes(self, joints: list[Stage]) -> None:
        """What a fresh adversary tells from the base, and from the last ranker of every strength."""
        found: dict[str, list[Probe]] = {}
        folders = {BASE: BASE}
        for stage in joints:
            there = f"lambda-{stage.strength:g}"
            last = (
                f"{there}/last" if not self.config.evaluate.weights else self.finished[stage.key][-1]["name"]
            )
            folders[there] = last
        for name, place in folders.items():
            self._load(place)
            found[name] = [
                probe_ranker(self.ranker, self.tokens, self.data.training, labels, seed=self.config.seed)
                for labels in self.data.labels.values()
            ]
            for number, one in enumerate(found[name]):
                self.say(f"{name}: {describe_probe(one, None if name == BASE else found[BASE][number])}")
        rows = {name: as_rows(own, () if name == BASE else found[BASE]) for name, own in found.items()}
        write_notes(self.folder / "probes.json", rows)


def _joint_stage(joint: Joint, strength: float, triples: Any, seed: int) -> Stage:
    return Stage(
        JOINT,
        triples,
        joint.epochs,
        seed,
        strength,
        joint.checkpoints,
        joint.patience,
        joint.schedule,
        joint.ceiling,
    )
