"""The study: coverage of its intervals, and its server under load and under kill -9.

    python benchmarks/study.py coverage --write      # also: load, kills; without --write they are printed

``coverage``: 4,000 simulated studies of each size with a slope of .3 that differs between questions, and with
none. ``load``: 200 sessions with 2 to 5 seconds between steps against ``evenrank study serve``, on SQLite
and on PostgreSQL; a step is a form that is sent and the page that follows. The generator runs on the same
machine.
``kills``: the same while the server is killed with kill -9 and started again 20 times.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import httpx2

HERE = Path(__file__).parent
for folder in ("support", "engines"):
    sys.path.insert(0, str(HERE.parent / "tests" / folder))

import servers  # noqa: E402
import study_walks as walks  # noqa: E402

from evenrank.study.settings import Planned  # noqa: E402
from evenrank.study.simulation import simulate_studies  # noqa: E402
from evenrank.web.steps import digest  # noqa: E402
from evenrank.web.store import open_store  # noqa: E402

SIZES = ((60, 10), (200, 10), (200, 40))
LEANINGS = (1.0, -1.0, 0.0, 0.0)
STUDIES = 4000
SESSIONS, PAUSE = 200, (2.0, 5.0)
KILLS = 20
TITLE = """# The study: coverage, load, kills

`python benchmarks/study.py coverage --write`, and the same with `load` and with `kills`.
"""


def coverage(studies: int) -> list[str]:
    lines = [
        f"{studies:,} simulated studies a row (seeds 0 and 1), every participant answers every question; the",
        "slope has a standard deviation of .22 over questions. Coverage of 95% intervals; the last column is",
        "how often the corrected errors find an effect at p < .05 (for slope 0 that is the test's size).",
        "",
        "| participants x questions | slope | OLS | by question, uncorrected "
        "| by participant and question, CR2 | finds |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for participants, questions in SIZES:
        for seed, slope in enumerate((0.3, 0.0)):
            plan = Planned(participants=participants, questions=questions, slope=slope)
            found = simulate_studies(plan, LEANINGS, studies=studies, seed=seed)
            lines.append(
                f"| {participants} x {questions} | {slope:g} | {found.plain:.3f} | {found.clustered:.3f} | "
                f"{found.corrected:.3f} | {found.found:.3f} |"
            )
    return [*lines, "", f"The standard error of a coverage near .95 is {found.error:.4f}."]


class Session:
    """One visitor, who sends the next form until the end and remembers what the server has acknowledged."""

    def __init__(self, address: str, seed: int) -> None:
        self.client = httpx2.AsyncClient(base_url=address, timeout=60)
        self.random = random.Random(seed)
        self.acknowledged = 0  # steps whose form got its answer
        self.times: list[float] = []
        self.errors: list[str] = []
        self.broken = 0  # requests that a killed server did not answer

    async def walk(self) -> None:
        await asyncio.sleep(self.random.uniform(0, PAUSE[1]))
        page = await self.ask()
        while 'id="code"' not in page:
            await asyncio.sleep(self.random.uniform(*PAUSE))
            began = time.perf_counter()
            position = int(re.match(r"step-(\d+)", walks.token(page))[1])
            fields = {"token": walks.token(page), **walks.answers_to(page)}
            try:
                answer = await self.client.post("/", data=fields)
            except httpx2.HTTPError:  # it may have been recorded or not: the page that is due tells
                self.broken += 1
                page = await self.ask()
                continue
            if answer.status_code != 303:
                self.errors.append(f"step {position}: {answer.status_code}")
            else:
                self.acknowledged = max(self.acknowledged, position + 1)
            page = await self.ask()
            self.times.append(time.perf_counter() - began)
        await self.client.aclose()

    async def ask(self) -> str:
        while True:
            try:
                answer = await self.client.get("/")
            except httpx2.HTTPError:
                self.broken += 1
                await asyncio.sleep(0.2)
                continue
            if answer.status_code != 200:
                self.errors.append(f"page: {answer.status_code}")
                await asyncio.sleep(0.5)
                continue
            return answer.text


async def crowd(address: str, visitors: int, kill: Any) -> tuple[list[Session], float]:
    sessions = [Session(address, seed) for seed in range(visitors)]
    began = time.perf_counter()
    walking = asyncio.gather(*(session.walk() for session in sessions))
    if kill is not None:
        chance = random.Random(0)
        for _ in range(KILLS):
            await asyncio.sleep(chance.uniform(1.5, 3.5))
            await asyncio.to_thread(kill)
    await walking
    return sessions, time.perf_counter() - began


def check(sessions: list[Session], store_address: str) -> str:
    """Every acknowledged step is in the store once, and no step is missing before it."""
    store = open_store(store_address)
    with store.reading() as transaction:
        people = dict(transaction.rows("SELECT session, participant FROM participants"))
        steps: dict[str, list[int]] = {}
        for participant, position in transaction.rows("SELECT participant, position FROM steps"):
            steps.setdefault(participant, []).append(position)
    store.close()
    assert len(people) == len(sessions), f"{len(people)} participants for {len(sessions)} sessions"
    for session in sessions:
        (cookie,) = (value for name, value in session.client.cookies.items() if name == "session")
        own = sorted(steps[people[digest(cookie)]])
        assert own == list(range(len(own))), "a step is missing or doubled"
        assert len(own) >= session.acknowledged, "an acknowledged step is lost"
    return f"{sum(map(len, steps.values())):,}"


def measured(visitors: int, kills: bool) -> list[str]:
    lines = [
        f"{visitors} sessions, {PAUSE[0]:g} to {PAUSE[1]:g} s between steps, one server process"
        + (f", killed with kill -9 and started again {KILLS} times." if kills else "."),
        "",
        "| store | steps recorded | time, s | errors | lost or doubled | median, ms | p95, ms | p99, ms |"
        + (" unanswered requests |" if kills else ""),
        "|---|---:|---:|---:|---:|---:|---:|---:|" + ("---:|" if kills else ""),
    ]
    for name in ("SQLite", "PostgreSQL"):
        with tempfile.TemporaryDirectory() as folder:
            study = walks.write_study(Path(folder) / "study")
            database = servers.postgresql() if name == "PostgreSQL" else nullcontext(None)
            try:
                with database as url:
                    lines.append(_row(name, study, url, visitors, kills))
            except servers.NotThere as error:
                lines.append(f"| {name} | not measured: {error} |")
    machine = (
        f"{os.cpu_count()} cores, Python {platform.python_version()}, load average {os.getloadavg()[0]:.0f}."
    )
    aim = "The aim is a p95 of 300 ms on 2 idle cores; a load average above 2 says that these were not idle."
    return [*lines, "", f"Loopback, one machine: {machine}", aim]


def _row(name: str, study: Path, url: str | None, visitors: int, kills: bool) -> str:
    environment = {}
    if url is not None:
        host = url.partition("://")[2]
        url = url if "@" in url else f"postgresql://evenrank:{servers.KEY}@{host}"
        environment = {"STUDY_STORE": url}
        walks.change(study, store='"$STUDY_STORE"')
    served = walks.Served(study, **environment)

    def kill() -> None:
        served.kill()
        served.start()

    try:
        sessions, seconds = asyncio.run(crowd(served.address, visitors, kill if kills else None))
    finally:
        served.stop()
    recorded = check(sessions, url or str(study / "study.sqlite"))
    errors = [error for session in sessions for error in session.errors]
    assert not errors, errors[:5]
    times = sorted(1000 * one for session in sessions for one in session.times)
    at = {share: times[int(share * (len(times) - 1))] for share in (0.5, 0.95, 0.99)}
    line = f"| {name} | {recorded} | {seconds:.0f} | {len(errors)} | 0 | "
    line += " | ".join(f"{value:.0f}" for value in at.values()) + " |"
    return line + (f" {sum(session.broken for session in sessions)} |" if kills else "")


PARTS: dict[str, tuple[str, Callable[[int], list[str]]]] = {
    "coverage": ("Coverage", coverage),
    "load": ("Load", lambda visitors: measured(visitors, False)),
    "kills": ("Kills", lambda visitors: measured(visitors, True)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--count", type=int, help="simulated studies (4000), or sessions (200)")
    parser.add_argument("--write", action="store_true", help="into benchmarks/study.md")
    arguments = parser.parse_args()
    heading, run = PARTS[arguments.part]
    count = arguments.count or (STUDIES if arguments.part == "coverage" else SESSIONS)
    section = "\n".join([f"## {heading}", "", *run(count), ""])
    print(section)
    if arguments.write:
        page = HERE / "study.md"
        text = page.read_text(encoding="utf-8") if page.exists() else TITLE
        parts = dict(re.findall(r"(?ms)^## (\w+)\n(.*?)(?=^## |\Z)", text))
        parts[heading] = section.partition("\n")[2]
        order = [name for name, _ in PARTS.values() if name in parts]
        body = "\n".join(f"## {name}\n\n{parts[name].strip()}\n" for name in order)
        page.write_text(f"{TITLE}\n{body}", encoding="utf-8")


if __name__ == "__main__":
    main()
