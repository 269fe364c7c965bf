"""What an audit prints: whole sentences within fourteen lines, and the name of all that is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenrank.audit.lines import audit_lines
from evenrank.audit.summary import AuditSummary
from evenrank.verdict import Verdict, describe
from evenrank.verdict.sentences import describe_shortly
from evenrank.verdict.value import FAVOURED, LESS, NOT_SHOWN, TOO_FEW, Advice, GroupFinding, WorstQuery

REPORT = Path("audit/2026-05-04T12-00-00Z/report.html")


def group(value: str, share: float, target: float, decision: str) -> GroupFinding:
    return GroupFinding(
        value, 100, target, target, share, share - 0.05, share + 0.05, target, decision,
        shown_below=target - 0.1, shown_above=target + 0.1, fades=0.5,
    )  # fmt: skip


def verdict(attribute: str, system: str = "bm25", *, kind: str = FAVOURED, size: float = 0.2) -> Verdict:
    decisions = {FAVOURED: (LESS, FAVOURED), NOT_SHOWN: (NOT_SHOWN,) * 2, TOO_FEW: (TOO_FEW,) * 2}[kind]
    groups = (
        group("women of the north", 0.5 - size, 0.5, decisions[0]),
        group("men of the south", 0.5 + size, 0.5, decisions[1]),
    )
    worst = tuple(WorstQuery(f"q{n}", f"a query of many words {n}", 0.1, 0.5, 0.5) for n in range(3))
    unlabelled = {"unlabelled": 147, "ranked": 432, "unseen": 0.38} if kind == TOO_FEW else {}
    return Verdict(
        system, attribute, 10, 100, "catalogue", groups, 60, 4, 0.95, worst=worst, **unlabelled
    )  # type: ignore[arg-type]  # fmt: skip


def printed(*verdicts: Verdict, previous: AuditSummary | None = None) -> list[str]:
    systems = tuple(dict.fromkeys(one.system for one in verdicts))
    summary = AuditSummary("2026-05-04T12:00:00Z", systems, 60, verdicts)
    return audit_lines(summary, REPORT, previous=previous)


def as_one(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines)


@pytest.mark.parametrize("count", range(1, 9))
@pytest.mark.parametrize("kind", [FAVOURED, NOT_SHOWN, TOO_FEW])
@pytest.mark.parametrize("systems", [("bm25",), ("bm25", "dense")])
def test_no_sentence_is_cut_and_what_is_left_out_is_named(
    count: int, kind: str, systems: tuple[str, ...]
) -> None:
    verdicts = [verdict("size of the seller", systems[0], size=0.4)]
    verdicts += [verdict(f"attribute {n}", one, kind=kind) for n in range(count) for one in systems]
    lines = printed(*verdicts)
    text = as_one(lines)
    assert len(lines) <= 14
    assert max(map(len, lines)) <= 80
    assert "..." not in text
    assert lines[-1] == f"wrote {REPORT}"
    told, _, rest = text.partition("report.html has the rest: ")
    for one in verdicts:
        whole = any(sentence in told for sentence in (describe(one), describe_shortly(one)))
        listed = one.attribute in told.partition("no group is shown to be favoured: ")[2]
        listed |= one.attribute in told.partition("for a verdict: ")[2]
        assert whole or listed or one.attribute in rest, one.attribute


def test_names_that_do_not_fit_are_counted() -> None:
    lines = printed(*(verdict(f"an attribute with a long name {n}") for n in range(40)))
    assert len(lines) <= 14
    named = as_one(lines).partition("report.html has the rest: ")[2]
    left_out = 40 - sum(": women of the north" in line for line in lines)
    assert f"and {left_out - named.count('long name')} more" in named


def test_nothing_is_named_where_all_is_said() -> None:
    lines = printed(verdict("size"), verdict("gender", kind=TOO_FEW))
    text = as_one(lines)
    assert "is too much to say what groups get." in text
    assert "has the rest" not in text


def test_a_change_gives_way_to_a_further_attribute() -> None:
    verdicts = [verdict(f"attribute {n}") for n in range(3)]
    previous = AuditSummary("2026-05-03T12:00:00Z", ("bm25",), 60, tuple(verdicts))
    assert "since 2026-05-03" in as_one(printed(*verdicts[:2], previous=previous))
    long = printed(*verdicts, verdict("other", kind=TOO_FEW), previous=previous)
    assert "since" not in as_one(long)
    assert "attribute 2: women of the north gets" in as_one(long)


def test_a_command_is_whole_or_not_there() -> None:
    from dataclasses import replace

    words = ("evenrank", "rerank", *(f"--option-{n} {'x' * 60}" for n in range(20)))
    advice = Advice("DetCons@100", "women", 0.1, 0.5, 0.4, 0.3, 0.5, "nDCG@10", 0.0, 0.0, 0.0, command=words)
    lines = printed(replace(verdict("size"), advice=advice))
    assert len(lines) <= 14
    assert not any(line.endswith("\\") for line in lines)
    assert "report.html has the rest: the worst queries; what to try" in lines
