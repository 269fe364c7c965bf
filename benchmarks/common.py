"""What several scripts share: passages, time and memory, and the table of a page."""

from __future__ import annotations

import gc
import os
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

MARK = "<!-- table -->\n"
PASSAGES = Path(__file__).resolve().parents[2] / "shared/data/msmarco_trecdl/passages.tsv"


def texts(count: int, group_words: list[str]) -> Iterator[str]:
    """Real passages again and again where they are at hand, else drawn words; about 56 words each."""
    generator = np.random.default_rng(0)
    if PASSAGES.exists():
        lines = PASSAGES.read_text(encoding="utf-8").split("\n")[:-1]
        passages = [line.partition("\t")[2] for line in lines]
        for place in generator.integers(0, len(passages), count):
            yield passages[place]
        return
    letters = range(97, 123)
    drawn = ["".join(map(chr, generator.choice(letters, generator.integers(1, 11)))) for _ in range(20_000)]
    words = group_words + drawn
    ranks = generator.zipf(1.3, (count // 100 + 1, 56)) % len(words)
    for number in range(count):
        yield " ".join(words[rank] for rank in ranks[number % len(ranks)])


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds by the clock, and what the action gives."""
    gc.collect()
    begin = time.perf_counter()
    result = action()
    return time.perf_counter() - begin, result


def on_cores(cores: int, action: Callable[[], Any]) -> Any:
    """Run with that many cores and no more; what the writer and the system's threads take counts too."""
    own = os.sched_getaffinity(0)
    _bind(set(sorted(own)[:cores]))
    try:
        return action()
    finally:
        _bind(own)


def _bind(cores: set[int]) -> None:
    for thread in Path("/proc/self/task").iterdir():
        os.sched_setaffinity(int(thread.name), cores)


def peak_memory() -> float:
    """MB at most of this program alone, since it started."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def machine() -> str:
    return f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}.\n\n"


def write_table(script: str, table: str, about: str | None = None) -> None:
    """Put the table into the page of a script, below its mark; ``about`` is said before it."""
    page = Path(script).with_suffix(".md")
    before, mark, _ = page.read_text(encoding="utf-8").partition(MARK)
    page.write_text(before + mark + (machine() if about is None else about) + table, encoding="utf-8")
