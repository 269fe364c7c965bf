"""Orders as language models write them, ``[2] > [1] > [3]``, and what is done about those that are none."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from evenrank.errors import counted

_IN_BRACKETS = re.compile(r"\[\s*(\d{1,9})\s*\]")
_MARKS = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_NUMBERS = re.compile(r"(?<![\w.])\d{1,9}(?![\w]|\.\d)")

UNREADABLE, REPEATED, DROPPED, UNKNOWN, CUT = "unreadable", "repeated", "dropped", "unknown", "cut off"
PROBLEMS = {
    UNREADABLE: "held no number of a passage: the passages stay in their order",
    REPEATED: "named a passage twice: its first place counts",
    DROPPED: "left passages out: they follow in their former order",
    UNKNOWN: "named passages that were not shown: those numbers are left out",
    CUT: "{was} cut off at the limit of tokens",
}


def read_permutation(answer: str, size: int) -> tuple[list[int], set[str]]:
    """The order of ``size`` passages, counted from 0, and what had to be repaired.

    Numbers in brackets are read; without any, plain numbers. What a model thinks before it answers is not
    read. Numbers out of range are left out, of repeated ones the first counts, and passages that are missing
    follow in their former order. So the result is always a permutation.

    >>> read_permutation("[2] > [3] > [2] > [9]", 4)[0]
    [1, 2, 0, 3]
    """
    answer = without_reasoning(answer)
    named = [int(found) for found in _IN_BRACKETS.findall(answer) or _NUMBERS.findall(answer)]
    problems: set[str] = set()
    order: list[int] = []
    for number in named:
        if not 1 <= number <= size:
            problems.add(UNKNOWN)
        elif number - 1 in order:
            problems.add(REPEATED)
        else:
            order.append(number - 1)
    if not order:
        return list(range(size)), problems | {UNREADABLE}
    missing = [place for place in range(size) if place not in order]
    if missing:
        problems.add(DROPPED)
    return order + missing, problems


def without_reasoning(answer: str) -> str:
    """An answer without what stands in ``<think>`` marks; one of the two marks may be missing.

    The first is missing where a server puts it into the prompt, the last where an answer was cut off.

    >>> without_reasoning("<think>maybe [3]</think>[1] > [2]")
    '[1] > [2]'
    """
    kept: list[str] = []
    begin, thinking = 0, False
    for mark in _MARKS.finditer(answer):
        if mark[1]:
            if not thinking:
                kept.clear()
            begin, thinking = mark.end(), False
        elif not thinking:
            kept.append(answer[begin : mark.start()])
            thinking = True
    if not thinking:
        kept.append(answer[begin:])
    return "".join(kept)


@dataclass
class RepairCounts:
    """How many answers there were, and how many of them had which problem."""

    answers: int = 0
    repaired: int = 0
    problems: Counter[str] = field(default_factory=Counter)

    def add(self, problems: set[str]) -> None:
        self.answers += 1
        self.repaired += bool(problems - {CUT})
        self.problems.update(problems)

    def describe(self) -> list[str]:
        """What a reader of the run should know."""
        if not self.problems:
            return []
        answers = counted(self.answers, "answer", "answers")
        lines = [f"{self.repaired:,} of {answers} of the language model had to be repaired"]
        for kind, what in PROBLEMS.items():
            if many := self.problems[kind]:
                was = "was" if many == 1 else "were"
                lines.append(f"{counted(many, 'answer', 'answers')} {what.format(was=was)}")
        return lines

    def to_dict(self) -> dict[str, int]:
        return {"answers": self.answers, "repaired": self.repaired, **dict(sorted(self.problems.items()))}
