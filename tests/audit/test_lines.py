"""What an audit prints: every attribute, in lines of eighty columns, what is shown before what is not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audits import audited, partly
from shops import Shop, shop

from evenrank import Run

MADE = shop(7, lowered=1.0, products=800, queries=40, depth=40)
EVEN = shop(3, products=800, queries=40, depth=40)
LABELS = {"favoured": MADE.sizes, "not shown": EVEN.relabelled(3).sizes, "too few": partly(MADE.sizes, 0.4)}


def checked(lines: list[str]) -> str:
    assert max(map(len, lines)) <= 80
    assert re.fullmatch(r"wrote .*summary\.json|  .*summary\.json", lines[-1])
    return " ".join(line.strip() for line in lines)


def named(labels: dict[str, str]) -> dict[str, str]:
    long = {"small": "women of the north", "large": "men of the south"}
    return {document: long[size] for document, size in labels.items()}


@pytest.mark.parametrize("count", [1, 3, 7])
@pytest.mark.parametrize("kind", ["favoured", "not shown", "too few"])
@pytest.mark.parametrize("systems", [("bm25",), ("bm25", "dense")])
def test_every_attribute_has_its_sentence_and_what_is_shown_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, kind: str, systems: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    attributes = {f"attribute {n}": named(LABELS[kind]) for n in range(count)}
    attributes |= {"size of the seller": named(MADE.sizes)}
    runs = [MADE.run.renamed(name) for name in systems]
    found = audited(Path(), runs, attributes, documents=MADE.sizes)
    assert len(found.verdicts) == (count + 1) * len(systems)
    text = checked(found.lines())
    several = len(systems) > 1
    places = {
        (one.system, one.attribute): text.find((f"{one.system}, " if several else "") + f"{one.attribute}: ")
        for one in found.verdicts
    }
    assert min(places.values()) >= 0
    order = {shown: [place for verdict, place in zip(found.verdicts, places.values(), strict=True)
                     if verdict.shown is shown] for shown in (True, False)}  # fmt: skip
    assert max(order[True]) < min(order[False], default=len(text))
    for verdict in found.verdicts:
        if kind == "not shown" and not verdict.shown:
            least = min(verdict.groups, key=lambda group: group.difference)
            own = text[places[verdict.system, verdict.attribute] :]
            assert f"less than {points(least.shown_below)}%" in own
    assert text.count("to try: ") == sum(verdict.advice is not None for verdict in found.verdicts)


def test_it_says_where_a_group_loses_its_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    verdict, _, lines = told(Path(), MADE, MADE.sizes)
    low = verdict.less[0]
    text = checked(lines)
    shares = [f"{points(share)}%" for share in (low.catalogue, low.candidates, low.share)]
    assert f"{shares[0]} of the catalogue, {shares[1]} of what is found, {shares[2]} of the" in text
    ordered = low.candidates - low.share > low.catalogue - low.candidates
    assert ("the order" in text.partition("of what is found")[2].partition(". ")[0]) is ordered


def numbers(text: str) -> list[str]:
    return re.findall(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?", text)


def points(share: float) -> str:
    value = 100 * share
    return f"{value:.0f}" if abs(value) >= 9.95 or abs(value) < 0.05 else f"{value:.1f}".removesuffix(".0")


def told(folder: Path, made: Shop, labels: dict[str, str], **options: Any) -> tuple[Any, str, list[str]]:
    """The verdict, its sentence in the summary, and all lines."""
    found = audited(folder, made.run, {"size": labels}, documents=made.sizes, **options)
    summary = json.loads((found.folder / "summary.json").read_text())
    return found.verdicts[0], summary["sentences"][0], found.lines()


@pytest.mark.parametrize("target", ["catalogue", "equal"])
def test_a_sentence_has_the_numbers_of_the_verdict(tmp_path: Path, target: str) -> None:
    verdict, sentence, _ = told(tmp_path, MADE, partly(MADE.sizes, 0.9), target=target)
    small, large = verdict.group("small"), verdict.group("large")
    assert numbers(sentence) == [
        str(verdict.unlabelled), str(verdict.ranked), points(small.target), points(small.share), "10", "95",
        points(small.share_low), points(small.share_high), f"{large.ratio:.1f}",
    ]  # fmt: skip
    assert [word for word in ("small", "large") if word in sentence] == ["small", "large"]


def test_it_counts_the_groups_of_which_nothing_is_shown(tmp_path: Path) -> None:
    """One group is favoured, the other four have their labels by chance."""
    parts = np.random.default_rng(2).integers(0, 4, len(EVEN.sizes))
    labels = {one: f"part {part}" for one, part in zip(EVEN.sizes, parts.tolist(), strict=True)}
    first = {one for query in EVEN.run for one in EVEN.run.documents(query)[:10]}
    labels |= {one: "first" for place, one in enumerate(sorted(first)) if place % 3 == 0}
    verdict, sentence, _ = told(tmp_path, EVEN, labels)
    assert [group.value for group in (*verdict.less, *verdict.favoured)] == ["first"]
    assert re.findall(r" and (\d+) other", sentence) == [str(len(verdict.groups) - 2)]


def test_against_what_was_found_it_has_the_difference(tmp_path: Path) -> None:
    verdict, sentence, _ = told(tmp_path, MADE, MADE.sizes, target="candidates", cutoff=5)
    small = verdict.group("small")
    assert numbers(sentence)[:7] == [
        points(small.target), points(small.share), "5", points(small.difference), "95",
        points(small.low), "+" * (small.high > 0) + points(small.high),
    ]  # fmt: skip


def test_where_nothing_is_shown_it_says_what_would_have_been(tmp_path: Path) -> None:
    verdict, sentence, _ = told(tmp_path, EVEN, EVEN.relabelled(3).sizes)
    least = min(verdict.groups, key=lambda group: group.difference)
    assert not verdict.shown
    width = least.share_high - least.share_low
    later = width * (1 - least.fades * 3 / 4) ** 0.5
    expected = [least.target, least.share, least.share_low, least.share_high, least.shown_below,
                least.shown_above, later]  # fmt: skip
    assert {points(one) for one in expected} <= set(numbers(sentence))
    assert least.value in sentence


def test_where_there_is_no_verdict_it_says_what_lacks(tmp_path: Path) -> None:
    verdict, sentence, _ = told(tmp_path / "labels", MADE, LABELS["too few"])
    assert numbers(sentence)[:4] == [
        str(verdict.unlabelled), str(verdict.ranked), "10", points(verdict.unseen)
    ]  # fmt: skip
    few = Shop(MADE.run.select(list(MADE.run.query_ids)[:11]), MADE.sizes)
    assert numbers(told(tmp_path / "queries", few, MADE.sizes)[1]) == ["11", "12"]
    same = [(query, f"d{n}", -float(n)) for query in MADE.run for n in range(4)]
    alike = Shop(Run.build(*zip(*same, strict=True), name="run"), MADE.sizes)
    verdict, sentence, _ = told(tmp_path / "documents", alike, MADE.sizes)
    assert numbers(sentence) == [f"{verdict.units:.1f}", "8"]


def large_of(query: str) -> list[str]:
    return [one for one in MADE.run.documents(query)[:10] if MADE.sizes[one] == "large"]


def test_the_lines_below_have_the_worst_queries_the_advice_and_relevance(tmp_path: Path) -> None:
    texts = {query: f"words of {query}" for query in MADE.run}
    lists = "".join(f"{query} 0 {one} 1\n" for query in MADE.run for one in large_of(query))
    tmp_path.joinpath("qrels.txt").write_text(lists)
    options = {"queries": texts, "qrels": str(tmp_path / "qrels.txt"), "depth": 40}
    verdict, _, lines = told(tmp_path, MADE, MADE.sizes, **options)
    text = " ".join(line.strip() for line in lines)
    for one in verdict.worst:
        assert f"“words of {one.query}” ({points(one.share)}%, found {points(one.candidates)}%)" in text
    advice = verdict.advice
    assert f"{points(advice.after)}% instead of {points(advice.before)}%" in text
    assert f"{advice.cost:+.3f}" in text
    assert f"nDCG@10 is {verdict.relevance.value:.4f}" in text
    assert advice.cost < 0


def test_a_second_audit_tells_the_change_of_the_lowest_group(tmp_path: Path) -> None:
    first, _, lines = told(tmp_path, MADE, MADE.sizes)
    assert not any(line.startswith("since 2") for line in lines)
    second = Shop(shop(8, lowered=0.3, products=800, queries=40, depth=40).run.renamed("shop"), MADE.sizes)
    now, _, lines = told(tmp_path, second, MADE.sizes)
    (place,) = [n for n, line in enumerate(lines) if line.startswith("since 2")]
    text = " ".join(lines[place : place + 2])
    lowest = (now.less or [now.lowest])[0].value
    for group in (first.group(lowest), now.group(lowest)):
        ends = f"{points(group.share_low)} to {points(group.share_high)}"
        assert f"{points(group.share)}% ({ends})" in text


def test_it_says_how_much_can_be_reached_where_too_few_are_found(tmp_path: Path) -> None:
    rows = [
        (query, document, -float(place))
        for query in MADE.run
        for place, document in enumerate(
            [one for one in MADE.run.documents(query) if MADE.sizes[one] == "large"][:12]
            + [one for one in MADE.run.documents(query) if MADE.sizes[one] == "small"][:1]
        )
    ]
    verdict, _, lines = told(tmp_path, Shop(Run.build(*zip(*rows, strict=True), name="run"), MADE.sizes),
                             MADE.sizes)  # fmt: skip
    small = verdict.group("small")
    text = " ".join(line.strip() for line in lines)
    assert f"for {small.unreachable} of 40 queries" in text
    assert f"small gets {points(small.reachable)}%" in text
