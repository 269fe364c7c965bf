"""Swapping every group word of a collection, beside plain loops over its lines.

    python benchmarks/swap.py --write

All ways meet the same passages in one process, round after round, and the medians are compared. The peers
are what one would write with the standard library: *one regular expression* is the alternation of all words,
with a function that keeps the case; *a dictionary* looks every ``\\w+`` up, each word in three cases.
They know nothing of her and his, so they run on passages without either, on a share of them, and their times
are scaled up. Ours goes from file to file. On those passages all must write the same bytes, or nothing is
reported. Memory is the peak of a fresh process, for a file and for one ten times as large.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from common import on_cores, peak_memory, texts, write_table

HERE = Path(__file__).parent
WORK = HERE / "work"
SHARES = {"one regular expression": 1000, "a dictionary": 20}
TAGGED_SHARE = 60
AMBIGUOUS = re.compile(r"\b(?:her|his|ms|miss)\b", re.IGNORECASE)


def make_files(count: int) -> dict[str, Path]:
    """All passages, those without her and his, and a tenth of these."""
    WORK.mkdir(exist_ok=True)
    paths = {name: WORK / f"swap-{name}-{count}.tsv" for name in ("all", "away", "tenth")}
    if not all(path.exists() for path in paths.values()):
        with (
            paths["all"].open("w", encoding="utf-8") as every,
            paths["away"].open("w", encoding="utf-8") as away,
        ):
            for number, text in enumerate(texts(count, ["he", "She", "his", "Her", "man,", "Mary"])):
                line = f"{number}\t{text}\n"
                every.write(line)
                if not AMBIGUOUS.search(text):
                    away.write(line)
        lines = paths["away"].read_bytes().splitlines(keepends=True)
        paths["tenth"].write_bytes(b"".join(lines[: len(lines) // 10]))
    return paths


def pairs() -> dict[str, str]:
    from evenrank.counterfactuals.swap import make_swapper

    entries = make_swapper(tagger="rules").pairing.entries
    return {
        old[0]: entry.new[0]
        for old, entry in entries.items()
        if not entry.before_noun and not entry.before_name
    }


def regular_expression(table: dict[str, str]) -> Callable[[str], str]:
    words = re.compile(rf"\b(?:{'|'.join(sorted(table, key=len, reverse=True))})\b", re.IGNORECASE)

    def replaced(match: re.Match[str]) -> str:
        old = match[0]
        new = table[old.lower()]
        return new if old.islower() else new.upper() if old.isupper() else new.capitalize()

    return lambda text: words.sub(replaced, text)


def dictionary(table: dict[str, str]) -> Callable[[str], str]:
    cased = {
        way(old): way(new) for old, new in table.items() for way in (str.lower, str.capitalize, str.upper)
    }
    token = re.compile(r"\w+")
    return lambda text: token.sub(lambda match: cased.get(match[0], match[0]), text)


def loop(path: Path, swap: Callable[[str], str], output: Path, lines: int) -> None:
    with path.open(encoding="utf-8") as source, output.open("w", encoding="utf-8") as target:
        for _, line in zip(range(lines), source, strict=False):
            own, _, text = line.partition("\t")
            target.write(f"{own}\t{swap(text)}")


def timed(action: Callable[[], Any]) -> float:
    """Seconds of the processor: each way runs in this process alone, and others may share the machine."""
    gc.collect()
    begin = time.process_time()
    action()
    return time.process_time() - begin


def check(path: Path, peers: dict[str, Callable[[str], str]], lines: int) -> None:
    """The same bytes from everyone, but for mixed case, which the peers do not keep."""
    from evenrank.counterfactuals.swap import make_swapper

    with path.open(encoding="utf-8") as file:
        some = [line.partition("\t")[2] for _, line in zip(range(lines), file, strict=False)]
    swapped = make_swapper(tagger="rules").swap_all(some)
    usual = [
        place
        for place, one in enumerate(swapped)
        if all(c.old in (c.old.lower(), c.old.upper(), c.old.capitalize()) for c in one.changes)
    ]
    for name, swap in peers.items():
        wrong = [place for place in usual if swap(some[place]) != swapped[place].text]
        if wrong or len(usual) < 0.99 * len(some):
            raise SystemExit(f"{name} and the swap differ, first in line {wrong[:1]}")


def measure(paths: dict[str, Path], rounds: int) -> dict[str, tuple[float, int]]:
    """Seconds and bytes of each way; both scaled to the whole file where only a share was done."""
    from evenrank.counterfactuals.swap.files import swap_file

    table, output = pairs(), WORK / "swapped.tsv"
    peers = {"one regular expression": regular_expression(table), "a dictionary": dictionary(table)}
    with paths["away"].open("rb") as file:
        lines = sum(1 for _ in file)
    check(paths["away"], peers, min(1000, lines // 10))

    def ours(path: Path, tagger: str, cores: int) -> Callable[[], Any]:
        return lambda: on_cores(
            cores,
            lambda: swap_file(
                path, output.with_suffix(path.suffix), tagger=tagger, threads=cores, resume=False
            ),
        )

    away, every = paths["away"].stat().st_size, paths["all"].stat().st_size
    ways: dict[str, tuple[Callable[[], Any], int, int]] = {
        f"{name}": (
            lambda swap=swap, share=SHARES[name]: on_cores(  # type: ignore[misc]
                1, lambda: loop(paths["away"], swap, output, lines // share)
            ),
            SHARES[name],
            away,
        )
        for name, swap in peers.items()
    }
    ways["without her and his"] = ours(paths["away"], "rules", 1), 1, away
    lines_of_json = WORK / "swap-away.jsonl"
    with paths["away"].open(encoding="utf-8") as file, lines_of_json.open("w", encoding="utf-8") as objects:
        for line in file:
            own, _, text = line.rstrip("\n").partition("\t")
            objects.write(json.dumps({"_id": own, "text": text}, ensure_ascii=False) + "\n")
    size = lines_of_json.stat().st_size
    ways["without her and his, JSONL"] = ours(lines_of_json, "rules", 1), 1, size
    ways["all passages, rules"] = ours(paths["all"], "rules", 1), 1, every
    if find_spec("spacy") is not None:
        small = WORK / "swap-tagged.tsv"
        with paths["all"].open("rb") as file:
            small.write_bytes(b"".join(next(file) for _ in range(lines // TAGGED_SHARE)))
        ways["all passages, spaCy"] = ours(small, "spacy", 1), 1, small.stat().st_size
    for action, _, _ in ways.values():
        if action is not ways.get("all passages, spaCy", (None,))[0]:
            action()  # compiled code is loaded, files are in the cache
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(rounds):
        for way, (action, share, _) in ways.items():
            seconds[way].append(timed(action) * share)
        shown = ", ".join(f"{way} {times[-1]:.2f}" for way, times in seconds.items())
        print(f"round {number + 1}: {shown}", file=sys.stderr)
    return {way: (statistics.median(times), ways[way][2]) for way, times in seconds.items()}


def peak(path: Path) -> float:
    """Peak MB of a new process that swaps a file."""
    command = [sys.executable, str(Path(__file__)), "--only", str(path)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def page(times: dict[str, tuple[float, int]], peaks: dict[str, tuple[float, int]]) -> str:
    base = next(iter(times.values()))
    slowest = base[0] / base[1]
    rows = [
        "| way | MB | seconds of one core | MB/s | times the regular expression |",
        "|---|---|---|---|---|",
    ]
    for way, (seconds, size) in times.items():
        rate = size / seconds / 1e6
        rows.append(
            f"| {way} | {size / 1e6:.0f} | {seconds:.2f} | {rate:.1f} | {slowest * size / seconds:,.0f} |"
        )
    rows.append("\n| a new process, one core | MB | peak memory, MB |\n|---|---|---|")
    rows += [f"| {name} | {size / 1e6:.0f} | {memory:.0f} |" for name, (memory, size) in peaks.items()]
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help=argparse.SUPPRESS)
    parser.add_argument("--documents", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/swap.md")
    options = parser.parse_args()
    if options.only:
        from evenrank.counterfactuals.swap.files import swap_file

        swap_file(options.only, WORK / "swapped-only.tsv", tagger="rules", threads=1, resume=False)
        print(peak_memory())
        return
    paths = make_files(options.documents)
    sizes = {"a tenth of those without her and his": "tenth", "those without her and his": "away"}
    peaks = {name: (peak(paths[kind]), paths[kind].stat().st_size) for name, kind in sizes.items()}
    table = page(measure(paths, options.rounds), peaks)
    print(table)
    if options.write:
        write_table(__file__, table)


if __name__ == "__main__":
    main()
