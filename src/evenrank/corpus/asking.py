"""Asking a writer: every answer is on disk before it is used, is never asked for twice, and has a price.

The answers of a stage are a log (``answers/STAGE.jsonl.zst``); the file of the stage is made from it. So
whatever was paid for survives a kill at any moment, and asking again goes on where it ended. A log belongs to
one model and one wording of each prompt: where either has changed the stage is refused, not mixed.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from evenrank.corpus.prompts import Prompt
from evenrank.corpus.settings import WriterSettings
from evenrank.corpus.writers import Writer
from evenrank.errors import DataError, EvenrankError
from evenrank.remote import AnswerLog, Secrets
from evenrank.remote.chat import Messages

Task = TypeVar("Task")
Done = TypeVar("Done")
Progress = Callable[[int, int], None]
"""Called with how many pieces of work are done, of how many."""

MILLION = 1_000_000.0


class Stopped(Exception):
    """A limit of calls or of cost was reached, or prompts are only shown."""


class WriterReply(NamedTuple):
    """An answer, when it came, and what it was asked with."""

    text: str
    finish: str
    time: str
    seed: int


@dataclass
class Spent:
    """What the calls of this command have used."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    kept: int = 0  # answers that were on disk already

    @property
    def tokens_and_cost(self) -> str:
        """What a progress bar shows of it."""
        cost = f", cost {self.cost:.4g}" if self.cost else ""
        return f"{self.input_tokens + self.output_tokens:,} tokens{cost}"


class Asker:
    """The way from prompts to answers for one stage. Threads may share it.

    Without a ``writer`` nothing is asked: ``show`` gets every prompt that would be sent.
    """

    def __init__(
        self,
        folder: Path,
        stage: str,
        settings: WriterSettings,
        prompts: Sequence[Prompt],
        *,
        writer: Writer | None,
        max_calls: int | None = None,
        max_cost: float | None = None,
        spending: Callable[[Spent], None] = lambda spent: None,
        show: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.spent, self.stopped = Spent(), ""
        self.failed: EvenrankError | None = None
        self._settings, self._writer, self._show, self._spending = settings, writer, show, spending
        self._max_calls, self._max_cost = max_calls, max_cost
        self._reserved = 0.0
        self._lock = threading.Lock()
        self._known: dict[str, WriterReply] = {}
        self._log: AnswerLog | None = None
        path = log_file(folder, stage)
        if writer is None and not path.exists():
            return
        log = AnswerLog(path, Secrets() if writer is None else writer.secrets)
        self._log = log
        try:
            self._read(log, stage, path, prompts)
        except BaseException:
            log.close()
            raise

    def _read(self, log: AnswerLog, stage: str, path: Path, prompts: Sequence[Prompt]) -> None:
        asked = {
            "model": self._settings.model, "url": self._settings.url, "seed": self._settings.seed,
            "temperature": self._settings.temperature, "max_tokens": self._settings.max_tokens,
            **{f"prompt {prompt.name!r}": prompt.digest for prompt in prompts},
        }  # fmt: skip
        before: Mapping[str, Any] | None = None
        for record in log.records():
            if "settings" in record:
                before = record["settings"]
            else:
                self._known[record["key"]] = WriterReply(
                    record["text"], record["finish"], record["time"], record["seed"]
                )
        if before is None:
            if self._writer is not None:
                log.add({"settings": asked})
            return
        changed = [name for name, value in asked.items() if before.get(name) != value]
        if changed:
            one = changed[0]
            values = "" if one.startswith("prompt") else f" ({before.get(one)!r} before, {asked[one]!r} now)"
            raise DataError(
                f"{path}: the stage {stage} was begun with another {one}{values}, and one corpus must not "
                f"mix them: put it back, or move {path.name} and {stage}.jsonl away to write all of them anew"
            )

    def ask(self, messages: Messages, about: str, attempt: int = 0) -> WriterReply:
        """The answer to a conversation about ``about``, from the disk if it is there."""
        seed = _seed(self._settings.seed, about, attempt)
        key = _key(messages, seed)
        if key in self._known:
            with self._lock:
                self.spent.kept += 1
            return self._known[key]
        log = self._log
        if self._writer is None or log is None:
            self._show(f"--- {about}, attempt {attempt + 1}\n{messages[-1]['content']}\n")
            raise Stopped
        most = self._reserve(messages)
        try:
            answer = self._writer.write(messages, seed)
        except BaseException:
            with self._lock:
                self._reserved -= most
            raise
        time = datetime.now(UTC).isoformat(timespec="seconds")
        reply = WriterReply(answer.text, answer.finish, time, seed)
        used = answer.input_tokens or _tokens(messages), answer.output_tokens or -(-len(answer.text) // 4)
        cost = self._price(*used)
        log.add(
            {
                "key": key,
                **reply._asdict(),
                "model": answer.model,
                "about": about,
                "tokens": used,
                "cost": cost,
            }
        )
        with self._lock:
            self._known[key] = reply
            self._reserved -= most
            self.spent.input_tokens += used[0]
            self.spent.output_tokens += used[1]
            self.spent.cost += cost
        return reply

    def _reserve(self, messages: Messages) -> float:
        """Count a call before it is made, with the most that it can cost."""
        # a token has at least one byte
        longest = sum(len(message["content"].encode()) + 8 for message in messages)
        most = self._price(longest, self._settings.max_tokens)
        with self._lock:
            if self.stopped:
                raise Stopped
            if self._max_calls is not None and self.spent.calls >= self._max_calls:
                self.stopped = f"--max-calls {self._max_calls} is reached"
                raise Stopped
            if self._max_cost is not None and self.spent.cost + self._reserved + most > self._max_cost:
                self.stopped = f"another call may cost more than is left of --max-cost {self._max_cost:g}"
                raise Stopped
            self.spent.calls += 1
            self._reserved += most
        return most

    def _price(self, input_tokens: int, output_tokens: int) -> float:
        prices = self._settings.input_price, self._settings.output_price
        return (input_tokens * prices[0] + output_tokens * prices[1]) / MILLION

    def run(
        self, tasks: Sequence[Task], work: Callable[[Task], Done], progress: Progress | None = None
    ) -> list[Done | None]:
        """What ``work`` gives for every task, in their order; None for those that a limit left undone."""
        done = 0

        def one(task: Task) -> Done | None:
            nonlocal done
            try:
                return work(task)
            except Stopped:
                return None
            except EvenrankError as error:
                with self._lock:  # the others end at their next call, and what is done is kept
                    self.failed = self.failed or error
                    self.stopped = self.stopped or "a call failed"
                return None
            finally:
                with self._lock:
                    done += 1
                    count = done
                    self._spending(self.spent)
                if progress is not None:
                    progress(count, len(tasks))

        if self._settings.concurrency == 1 or self._writer is None:
            return [one(task) for task in tasks]
        with ThreadPoolExecutor(self._settings.concurrency) as pool:
            return list(pool.map(one, tasks))

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
        if self._writer is not None:
            self._writer.close()


def user(text: str) -> Messages:
    return [{"role": "user", "content": text}]


def log_file(folder: Path, stage: str) -> Path:
    return folder / "answers" / f"{stage}.jsonl.zst"


def _key(messages: Messages, seed: int) -> str:
    said = json.dumps([[dict(message) for message in messages], seed], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def _seed(base: int, about: str, attempt: int) -> int:
    """One for every thing that is asked for and every attempt, the same in every run."""
    return int.from_bytes(hashlib.sha256(f"{base} {about} {attempt}".encode()).digest()[:4]) >> 1


def _tokens(messages: Messages) -> int:
    return sum(-(-len(message["content"]) // 4) for message in messages)
