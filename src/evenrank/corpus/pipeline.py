"""The stages that write texts, run one after the other by the user: each goes on where it was interrupted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evenrank.corpus.asking import Asker, Progress, Spent
from evenrank.corpus.checks import reasons
from evenrank.corpus.folder import read_corpus, stage_file
from evenrank.corpus.prompts import read_prompt
from evenrank.corpus.settings import Settings, read_settings
from evenrank.corpus.stages import Made, StageInputs, save
from evenrank.corpus.stages.distractors import make_distractors
from evenrank.corpus.stages.documents import make_documents
from evenrank.corpus.stages.filters import apply_filters
from evenrank.corpus.stages.natural import read_natural
from evenrank.corpus.stages.perspectives import make_perspectives
from evenrank.corpus.stages.questions import make_questions
from evenrank.corpus.stages.topics import read_topics
from evenrank.corpus.writers import Writer, open_writer
from evenrank.errors import DataError, ParameterError, counted

WRITING: dict[str, Callable[[StageInputs, Asker], Made]] = {
    "questions": make_questions, "perspectives": make_perspectives, "documents": make_documents,
    "distractors": make_distractors,
}  # fmt: skip
PROMPTS = {
    "questions": ("questions",), "perspectives": ("perspectives",), "documents": ("document",),
    "distractors": ("distractor", "neutral", "answers"),
}  # fmt: skip
BEFORE = {
    "questions": "topics", "perspectives": "questions", "documents": "perspectives", "filters": "documents",
    "distractors": "documents", "natural": "questions", "statistics": "topics", "quality": "documents",
    "safety": "documents", "release": "documents", "topic-bias": "topics",
}  # fmt: skip
"""The stage whose file each stage needs."""


@dataclass(frozen=True)
class StageResult:
    """What a stage gave, what it used, and why it stopped before its end (empty if it did not)."""

    made: Made
    spent: Spent
    stopped: str = ""

    def describe(self) -> list[str]:
        """Lines that say what happened."""
        lines = [f"{counted(len(self.made.records), 'record', 'records')}"]
        found = reasons(each.reason for each in self.made.rejected)
        if found:
            why = ", ".join(f"{reason} ({count})" for reason, count in sorted(found.items()))
            lines.append(f"rejected: {why}")
        spent = self.spent
        if spent.calls or spent.kept:
            cost = f", cost {spent.cost:.4g}" if spent.cost else ""
            lines.append(
                f"{counted(spent.calls, 'call', 'calls')}, {spent.input_tokens:,} tokens in, "
                f"{spent.output_tokens:,} out{cost}; "
                f"{counted(spent.kept, 'answer was', 'answers were')} on disk"
            )
        lines += self.made.notes
        if self.stopped:
            left = counted(self.made.undone, "piece of work is", "pieces of work are")
            lines.append(f"stopped: {self.stopped}; {left} left: run the same command to go on")
        return lines


def write_stage(
    stage: str,
    folder: Path,
    *,
    writer: Writer | None = None,
    dry_run: bool = False,
    max_calls: int | None = None,
    max_cost: float | None = None,
    progress: Progress | None = None,
    spending: Callable[[Spent], None] = lambda spent: None,
    show: Callable[[str], None] = lambda text: None,
) -> StageResult:
    """Run one of the stages that ask a model. With ``dry_run`` prompts are shown, and nothing is asked.

    ``writer`` is the one that the settings name unless it is given. ``spending`` is told what has been used
    so far after every piece of work.
    """
    settings = read_settings(folder)
    _check_prices(settings, max_cost)
    need_stage(folder, stage)
    inputs = StageInputs(read_corpus(folder), settings, progress)
    asker = Asker(
        folder,
        stage,
        settings.writer,
        [read_prompt(name, folder) for name in PROMPTS[stage]],
        writer=None if dry_run else writer or open_writer(settings.writer),
        max_calls=max_calls,
        max_cost=max_cost,
        spending=spending,
        show=show,
    )
    try:
        made = WRITING[stage](inputs, asker)
        if not dry_run:
            save(folder, stage, made)
        if asker.failed is not None:
            raise asker.failed
    finally:
        asker.close()
    return StageResult(made, asker.spent, asker.stopped)


def read_stage(stage: str, folder: Path, sources: Sequence[Path]) -> StageResult:
    """Run one of the stages that read files or other stages: topics, filters and natural."""
    settings = read_settings(folder) if folder.is_dir() else Settings()
    time = datetime.now(UTC).isoformat(timespec="seconds")
    if stage == "filters":
        need_stage(folder, stage)
        made = apply_filters(StageInputs(read_corpus(folder), settings))
    elif len(sources) != 1:
        raise ParameterError(f"the stage {stage} reads one file: name it with --from FILE")
    elif stage == "topics":
        made = read_topics(sources[0], settings.domains, time)
        folder.mkdir(parents=True, exist_ok=True)
    else:
        need_stage(folder, stage)
        made = read_natural(sources[0], read_corpus(folder), time)
    save(folder, stage, made)
    return StageResult(made, Spent())


def need_stage(folder: Path, stage: str) -> None:
    before = BEFORE[stage]
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder")
    if not stage_file(folder, before).exists():
        raise DataError(
            f"{stage_file(folder, before)}: no such file; the stage {stage} needs it: run evenrank corpus "
            f"{before} {folder} first"
        )


def _check_prices(settings: Settings, max_cost: float | None) -> None:
    if max_cost is not None and not (settings.writer.input_price or settings.writer.output_price):
        raise ParameterError(
            "--max-cost needs prices: write [writer] input_price and output_price, for a million "
            "tokens, into "
            "corpus.toml"
        )
