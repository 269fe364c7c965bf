"""The results of ``mutate.py`` as a table and as a page."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple


class Result(NamedTuple):
    key: str
    room: str
    file: str
    line: int
    function: str
    operator: str
    before: str
    after: str
    outcome: str  # killed, timeout, memory, survived
    by: str  # goldens or tests
    killer: str  # the test that failed, or that hung
    ran: int  # goldens and tests that reach it and were to run
    left_out: int  # others that reach it


def table(results: list[Result], equivalent: dict[str, str]) -> str:
    rows = [
        "| room | mutants | equivalent | goldens | only tests | survived | not reached | score |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    rooms = list(dict.fromkeys(result.room for result in results))
    for room in [*rooms, "all"]:
        some = [result for result in results if room in ("all", result.room)]
        counted = [result for result in some if result.outcome != "survived" or result.key not in equivalent]
        by = Counter(result.by for result in counted)
        reached = sum(1 for result in counted if result.outcome == "survived" and result.ran)
        unreached = sum(1 for result in counted if result.outcome == "survived" and not result.ran)
        score = f"{(by['goldens'] + by['tests']) / len(counted):.0%}" if counted else "undefined"
        rows.append(
            f"| {room} | {len(some)} | {len(some) - len(counted)} | {by['goldens']} | {by['tests']} "
            f"| {reached} | {unreached} | {score} |"
        )
    return "\n".join(rows)


def page(results: list[Result], equivalent: dict[str, str], seed: int) -> str:
    endings = Counter(result.outcome for result in results)
    survivors = [result for result in results if result.outcome == "survived"]
    parts = [
        "# Small mistakes that the tests notice",
        f"`make mutation` makes {len(results)} copies of the code with one small mistake each (mutants), and "
        "runs the goldens, then the tests that reach it. The score is the share of mutants that are noticed, "
        "by the goldens or only by the tests. No later change to the code or to the tests may lower it.",
        table(results, equivalent),
        f'"Noticed" includes {endings["timeout"]} mutants that make a test hang and {endings["memory"]} that '
        "fill the memory. A mutant is equivalent if somebody looked at it and found that no result can show "
        "it. It is not reached if no golden and no test runs its line, as far as one process can see. The "
        f"mutants, what killed each, and why some are equivalent are in `mutation.json`. Seed: {seed}.",
        "## Survivors",
        "| where | was | became | |\n|---|---|---|---|\n"
        + "\n".join(
            f"| {_cell(f'{r.file}:{r.line}')} | {_cell(r.before)} | {_cell(r.after)} "
            f"| {_why(r, equivalent)} |"
            for r in survivors
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    flat = " ".join(text.split()).replace("|", "\\|")
    return f"`{flat if len(flat) <= 80 else flat[:77] + '...'}`"


def _why(result: Result, equivalent: dict[str, str]) -> str:
    if result.key in equivalent:
        return f"equivalent: {equivalent[result.key]}"
    if not result.ran:
        return "not reached"
    return f"{result.left_out} of {result.ran + result.left_out} tests left out" if result.left_out else ""
