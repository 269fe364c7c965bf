"""How many small mistakes in the code do the tests notice, room by room?

    python tools/mutate.py --write

draws 300 mutants, which are copies of the project with one small mistake each. It runs each against the
goldens that reach the mistake and then, if none of them fails, against the tests that reach it, and writes
``benchmarks/mutation.md`` and ``benchmarks/mutation.json``. What reaches a mutant is recorded first: the
tests run once on the code as it is, file by file, and the script keeps which test runs which line.

A mutant is killed if a test fails, if the process dies, or if a test takes 10 times as long as on the code
as it is ("timeout"). A mutant that survives is either a gap in the tests or a change that no result can
show. The latter are judged by hand and named with the reason under "equivalent" in
``benchmarks/mutation.json``; they do not count.

The same seed draws the same mutants as long as the statements stay the same, wherever they move
(``mutants.py`` says how). What killed a mutant last time is tried first. Everything is done in
``benchmarks/work/mutation``, which git ignores. ``--resume`` goes on with an interrupted run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import forked
import mutants
import reach
import source
from copies import Project, Rooms
from mutation_page import Result, page, table

# room: its folders and files in src/<package>; a room that is not named here is the folder of its name
ROOMS = {
    "measures": ("measures",),
    "rerankers": ("rerankers",),
    "stats": ("stats",),
    "evidence": ("evidence",),
    "io": ("io",),
    "verdict": ("verdict",),
}
Done = Callable[["forked.Ended[Plan]"], None]

GOLDENS_SECONDS, TESTS_SECONDS = 30.0, 40.0  # of a mutant at most, on the code as it is
RECORDING = 600.0  # seconds of a test
LONGER = 10.0  # times as long as on the code as it is: a test that hangs
COLLECTING = 120.0  # seconds for what is not a test
COMPILING = 240.0  # seconds more where numba has to compile anew


@dataclass(frozen=True)
class Plan:
    mutant: mutants.Mutant | None  # None: the code as it is
    clone: Path
    batches: tuple[tuple[str, list[str]], ...]  # "goldens" or "tests", and what to run
    left_out: int
    anew: tuple[str, ...]  # files whose compiled code would not know of the mutant


def prepare(project: Project, jobs: int) -> reach.Reach:
    """A copy of the project, and which test runs which line of it; as kept, if nothing has changed since."""
    kept, begun = project.folder / "reach", project.folder / "recorded"
    rooms = {**ROOMS, **project.rooms}
    state = f"{project.digest} {rooms} {project.tests}"
    if not begun.is_file() or begun.read_text(encoding="utf-8") != state:
        begun.unlink(missing_ok=True)
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        project.copy()
        begun.write_text(state, encoding="utf-8")
    _record(project, rooms, kept, jobs)
    return reach.Reach.read(project.base, project.package, rooms, kept)


def _record(project: Project, rooms: dict[str, tuple[str, ...]], kept: Path, jobs: int) -> None:
    found = (path for folder in project.tests for path in source.files_under(project.base / folder))
    tests = sorted({p.relative_to(project.base).as_posix() for p in found if p.name.startswith("test_")})
    sources = [project.base / "src" / project.package / f for folders in rooms.values() for f in folders]
    numbers = {file: f"{place:03d}" for place, file in enumerate(tests)}
    waiting = [file for file in tests if not (kept / f"{numbers[file]}.json").is_file()]

    def work(file: str, say: forked.Say) -> None:
        target = kept / f"{numbers[file]}.coverage"
        target.unlink(missing_ok=True)
        reach.record_file(project.base, project.package, sources, file, target, say)

    def log(file: str) -> Path:
        return kept / f"{numbers[file]}.log"

    for ended in forked.run_all(waiting, work, lambda *_: RECORDING, jobs, log):
        failed = {entry["test"] for entry in ended.said if entry.get("outcome", "passed") != "passed"}
        seconds = {entry["ended"]: entry["seconds"] for entry in ended.said if "ended" in entry}
        passed = {test: took for test, took in seconds.items() if test not in failed}
        log(ended.item).with_suffix(".json").write_text(json.dumps(passed, indent=0), encoding="utf-8")
        shutil.rmtree(project.base.parent / "tmp" / reach.temporary(ended.pid), ignore_errors=True)
        trouble = f", {len(failed)} fail or are skipped" if failed else ""
        trouble += f", {ended.lost}" if ended.lost else ""
        print(f"{ended.item}: {len(passed)} tests, {ended.seconds:.0f} s{trouble}", flush=True)


def planned(
    project: Project,
    reached: reach.Reach,
    mutant: mutants.Mutant,
    killer: str,
    place: int,
    *,
    only_goldens: bool,
) -> Plan:
    tests = reached.tests_of(mutant)
    goldens = {test for test in tests if test.startswith(f"{reach.GOLDENS}::")}
    first = [killer] if killer else []
    batches: list[tuple[str, list[str]]] = []
    left_out = 0
    for name, some, seconds in (
        ("goldens", goldens, GOLDENS_SECONDS),
        ("tests", tests - goldens, TESTS_SECONDS),
    ):
        if name == "tests" and only_goldens:
            continue
        taken, left = reached.plan(some, first, seconds)
        left_out += left
        batches += [(name, part) for part in (taken[: reach.EARLY], taken[reach.EARLY :]) if part]
    anew = reached.compiled_with(mutant.file)
    clone = project.folder / "clones" / str(place) / project.root.name
    return Plan(mutant, clone, tuple(batches), left_out, anew)


def run_plan(project: Project, plan: Plan, say: forked.Say) -> None:
    """In a process of its own: the copy of a copy, with the mutant in it, and the tests."""
    project.clone(plan.clone, plan.mutant, plan.anew)
    reach.enter(plan.clone, project.package, keep_compiled=False)
    for name, tests in plan.batches:
        say({"stage": name})
        watch = reach.Watch(say, tests)
        wanted = dict.fromkeys(test.split("::")[0] for test in tests)
        code = reach.run_pytest(plan.clone, wanted, watch, stop=plan.mutant is not None)
        if plan.mutant is not None and (watch.failed or code in (2, 3, 4)):
            say({"failed": code})
            return


def outcome_of(plan: Plan, ended: forked.Ended[Plan]) -> Result:
    mutant = plan.mutant
    assert mutant is not None
    failed = next((entry["test"] for entry in ended.said if entry.get("outcome") == "failed"), "")
    begun = [entry["begins"] for entry in ended.said if "begins" in entry]
    stages = [entry["stage"] for entry in ended.said if "stage" in entry]
    broken = any("failed" in entry for entry in ended.said)
    outcome = "killed" if failed or broken else ended.lost if ended.lost in ("timeout", "memory") else ""
    outcome = outcome or ("killed" if ended.lost else "survived")
    killer = failed or (begun[-1] if begun and ended.lost else "the start of the tests")
    killed = outcome != "survived"
    return Result(
        mutant.key, mutant.room, mutant.file, mutant.line, mutant.function, mutant.operator, mutant.before,
        mutant.after, outcome, (stages[-1] if stages else "tests") if killed else "",
        killer if killed else "", sum(len(tests) for _, tests in plan.batches), plan.left_out,
    )  # fmt: skip


def allowed(reached: reach.Reach, limit: float, plan: Plan, said: dict[str, Any]) -> float:
    seconds = COLLECTING
    if "begins" in said:
        seconds = max(limit, LONGER * reached.seconds.get(said["begins"], 0.0))
    return seconds + (COMPILING if plan.anew else 0.0)


def run(
    project: Project, plans: list[Plan], reached: reach.Reach, options: argparse.Namespace, done: Done
) -> None:
    clones = project.folder / "clones"
    logs = project.folder / "logs"
    shutil.rmtree(clones, ignore_errors=True)
    logs.mkdir(exist_ok=True)
    work = partial(run_plan, project)
    permitted = partial(allowed, reached, options.limit)
    log = lambda plan: logs / f"{plan.mutant.key if plan.mutant else plan.clone.parent.name}.log"  # noqa: E731
    for ended in forked.run_all(plans, work, permitted, options.jobs, log):
        done(ended)
        shutil.rmtree(ended.item.clone.parent, ignore_errors=True)
    shutil.rmtree(clones, ignore_errors=True)


def check_killers(
    project: Project, results: list[Result], reached: reach.Reach, options: argparse.Namespace
) -> set[str]:
    """The tests that killed must pass on the code as it is: one that fails there too kills nothing."""
    killers = sorted({result.killer for result in results if result.killer in reached.seconds})
    parts = [killers[at :: options.jobs] for at in range(options.jobs)]
    clones = project.folder / "clones"
    plans = [
        Plan(None, clones / f"control{n}" / project.root.name, (("tests", p),), 0, ())
        for n, p in enumerate(parts)
        if p
    ]
    unsure: set[str] = set()

    def done(ended: forked.Ended[Plan]) -> None:
        unsure.update(entry["test"] for entry in ended.said if entry.get("outcome") == "failed")
        if ended.lost:
            unsure.update(entry["begins"] for entry in ended.said[-1:] if "begins" in entry)

    run(project, plans, reached, options, done)
    return unsure


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1, help="another seed draws other mutants (default 1)")
    parser.add_argument("--count", type=int, default=300, help="mutants, as many of each room (default 300)")
    parser.add_argument(
        "--rooms", nargs="+", default=list(ROOMS), help="rooms to draw from (default: all six)"
    )
    parser.add_argument(
        "--tests", nargs="+", default=["tests"], help="folders or files of tests (default: all)"
    )
    parser.add_argument(
        "--only-goldens", action="store_true", help="run the goldens alone, without the tests"
    )
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time (default 2)")
    parser.add_argument("--resume", action="store_true", help="go on with the run that was interrupted")
    parser.add_argument("--write", action="store_true", help="write benchmarks/mutation.md and .json")
    parser.add_argument(
        "--limit", type=float, default=20.0, help="seconds that each test may take (default 20)"
    )
    parser.add_argument(
        "--root", type=Path, default=Path(__file__).resolve().parents[1], help="the project's folder"
    )
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside: go on with --resume"))
    forked.load_libraries()
    began = time.monotonic()
    named: Rooms = {room: ROOMS.get(room, (room,)) for room in options.rooms}
    project = Project.of(options.root.resolve(), named, options.tests)
    reached = prepare(project, options.jobs)
    recorded = time.monotonic() - began
    chosen = mutants.sample(project.base, project.package, project.rooms, options.count, options.seed)
    before = _read(project.root / "benchmarks/mutation.json")
    found = run_mutants(project, chosen, before, reached, options)
    results = sorted((found[m.key] for m in chosen), key=lambda result: options.rooms.index(result.room))
    equivalent = before.get("equivalent", {})
    print(f"\n{table(results, equivalent)}\n")
    print(f"recording: {recorded:.0f} s, mutants: {time.monotonic() - began - recorded:.0f} s")
    for entry in before.get("mutants", ()):
        now = found.get(entry["key"])
        if now is not None and now.outcome == "survived" and entry["outcome"] != "survived":
            print(f"{now.file}:{now.line} {now.after}: survives now, was noticed by {entry['killer']}")
    if options.write:
        data = {
            "seed": options.seed, "count": options.count, "only_goldens": options.only_goldens,
            "equivalent": equivalent, "mutants": [result._asdict() for result in results],
        }  # fmt: skip
        target = project.root / "benchmarks"
        (target / "mutation.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        (target / "mutation.md").write_text(page(results, equivalent, options.seed), encoding="utf-8")
    return 0


def run_mutants(
    project: Project,
    chosen: list[mutants.Mutant],
    before: dict[str, Any],
    reached: reach.Reach,
    options: argparse.Namespace,
) -> dict[str, Result]:
    """The result of each mutant by its key. One whose killer is not to be trusted runs again without it."""
    killers = {entry["key"]: entry["killer"] for entry in before.get("mutants", ())}
    results = _done(project, options, {mutant.key for mutant in chosen})
    with (project.folder / "results.jsonl").open("a", encoding="utf-8") as kept:

        def done(ended: forked.Ended[Plan]) -> None:
            result = outcome_of(ended.item, ended)
            results[result.key] = result
            kept.write(json.dumps(result._asdict()) + "\n")
            kept.flush()
            place = f"{len(results)}/{len(chosen)} {result.file}:{result.line} {result.operator}"
            print(f"{place}: {result.outcome} {result.killer} ({ended.seconds:.1f} s)", flush=True)

        while waiting := [mutant for mutant in chosen if mutant.key not in results]:
            plans = [
                planned(project, reached, m, killers.get(m.key, ""), n, only_goldens=options.only_goldens)
                for n, m in enumerate(waiting)
            ]
            run(project, plans, reached, options, done)
            unsure = check_killers(project, list(results.values()), reached, options)
            for key in [key for key, result in results.items() if result.killer in unsure]:
                print(f"{results[key].killer} fails on the code as it is too, at times: not used")
                del results[key]
            reached.unsure |= unsure
    return results


def _read(path: Path) -> dict[str, Any]:
    with contextlib.suppress(FileNotFoundError):
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found
    return {}


def _done(project: Project, options: argparse.Namespace, keys: set[str]) -> dict[str, Result]:
    """The results of the run that was interrupted, if it was this one."""
    path = project.folder / "results.jsonl"
    head = {
        "project": project.digest,
        "tests": options.tests,
        "seed": options.seed,
        "only_goldens": options.only_goldens,
    }
    lines = (
        path.read_text(encoding="utf-8").splitlines(keepends=True)
        if path.is_file() and options.resume
        else []
    )
    whole = [json.loads(line) for line in lines if line.endswith("\n")]
    if not whole or whole[0] != head:
        whole = [head]
        if lines:
            print("The code, the tests or the options have changed since: all mutants run anew.", flush=True)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in whole), encoding="utf-8")
    return {entry["key"]: Result(**entry) for entry in whole[1:] if entry["key"] in keys}


if __name__ == "__main__":
    raise SystemExit(main())
