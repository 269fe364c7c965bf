"""Which tests run which lines of the rooms, recorded once on the code as it is, and which a mutant needs."""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import Any

import pytest
from mutants import Mutant
from source import Function, Span, body_of, files_of, functions_of, is_compiled, name_of

GOLDENS = "tests/test_goldens.py"
# what reads the declarations of all classes, and runs none of their lines: pages, and the list of measures
LISTS = re.compile(r"tests/test_docs\.py::.*_pages_|tests/test_goldens\.py::test_golden\[measures-")
EARLY = 12  # tests that run first by themselves: most mistakes are found by them


class Watch:
    """A plugin of pytest: says which test begins and how it ended; runs what is planned, in that order."""

    def __init__(self, say: Callable[[dict[str, Any]], None], plan: list[str] | None = None) -> None:
        self.say, self.failed, self.began = say, False, 0.0
        self.order = None if plan is None else {name: place for place, name in enumerate(plan)}

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        order = self.order
        if order is not None:
            kept = sorted((i for i in items if i.nodeid in order), key=lambda item: order[item.nodeid])
            config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in order])
            items[:] = kept

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.began = _processor_seconds()
        self.say({"begins": nodeid})

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.outcome != "passed":
            self._say_outcome(report.nodeid, report.outcome)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._say_outcome(report.nodeid or "collection", "failed")

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.say({"ended": nodeid, "seconds": round(_processor_seconds() - self.began, 3)})

    def _say_outcome(self, test: str, outcome: str) -> None:
        self.failed = self.failed or outcome == "failed"
        self.say({"test": test, "outcome": outcome})


def _processor_seconds() -> float:
    """Of this process and of those that it waited for. A clock would measure what else the machine does."""
    return sum(os.times()[:4])


class Contexts:
    """A plugin of pytest: tells coverage which test runs, and whether it or its fixtures."""

    def __init__(self, coverage: Any, package: str) -> None:
        self.coverage, self.package = coverage, package
        self.modules = 0
        self.caches: list[Any] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> None:
        self._empty_caches()
        self.coverage.switch_context(f"{item.nodeid}|setup")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> None:
        self.coverage.switch_context(f"{item.nodeid}|call")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: Any) -> None:
        self.coverage.switch_context("|teardown")

    def _empty_caches(self) -> None:
        """So that each test runs what it needs, as it does when it is the first."""
        if len(sys.modules) != self.modules:
            self.modules = len(sys.modules)
            ours = [m for name, m in list(sys.modules.items()) if name.split(".")[0] == self.package]
            self.caches = [v for m in ours for v in vars(m).values() if isinstance(v, _lru_cache_wrapper)]
        for cache in self.caches:
            cache.cache_clear()


def run_pytest(root: Path, files: Iterable[str], *plugins: object, stop: bool = False) -> int:
    """Pytest in this process, which was forked for it, on the copy of the project in ``root``."""
    arguments = ["-p", "no:cacheprovider", "-q", "--tb=short", "-m", "not slow", f"--rootdir={root}"]
    arguments += [f"--basetemp={root.parent / 'tmp' / temporary(os.getpid())}", *(["-x"] if stop else [])]
    return int(pytest.main([*arguments, *(str(root / file) for file in files)], plugins=list(plugins)))


def temporary(process: int) -> str:
    """The folder in which the tests of a process write; two processes work beside each other in one copy."""
    return f"pytest-{process}"


def enter(root: Path, package: str, *, keep_compiled: bool) -> None:
    """Make this process one that works in ``root``, and imports the package from there."""
    source = str(root / "src")
    stray = [name for name in sys.modules if name.split(".")[0] == package]
    if stray:
        raise RuntimeError(f"{package} is imported already: {stray[:3]}")
    sys.path[:] = [source, *(p for p in sys.path if not (Path(p) / package / "__init__.py").is_file())]
    sys.dont_write_bytecode = not keep_compiled
    (root.parent / "tmp").mkdir(exist_ok=True)
    os.environ.update(PYTHONPATH=source, TMPDIR=str(root.parent / "tmp"))
    os.environ.pop("NUMBA_CACHE_DIR", None)  # compiled code lies in the copy, beside the source
    if keep_compiled:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    else:
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.chdir(root)


def record_file(root: Path, package: str, rooms: Iterable[Path], file: str, kept: Path, say: Any) -> None:
    """Run one file of tests, and keep which lines of the rooms each of its tests runs."""
    import coverage

    enter(root, package, keep_compiled=True)
    cover = coverage.Coverage(data_file=str(kept), source=[str(room) for room in rooms], config_file=False)
    cover.start()
    cover.switch_context("|collect")
    run_pytest(root, [file], Watch(say), Contexts(cover, package))
    cover.stop()
    cover.save()


@dataclass
class Reach:
    """The tests that passed, how long each took, and which ran which lines."""

    root: Path
    package: str
    seconds: dict[str, float] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)  # tests that failed later, on the same code
    lines: dict[str, dict[int, set[str]]] = field(default_factory=dict)  # by file and line, of the rooms
    compiled: dict[str, list[tuple[str, Function]]] = field(default_factory=dict)  # by name: who mentions it
    compiling: dict[str, str] = field(default_factory=dict)  # the files of these, with their text

    @classmethod
    def read(cls, root: Path, package: str, rooms: dict[str, tuple[str, ...]], kept: Path) -> Reach:
        made = cls(root, package)
        for path in sorted(kept.glob("*.json")):
            made.seconds |= json.loads(path.read_text(encoding="utf-8"))
        by_file: dict[str, list[str]] = defaultdict(list)
        for test in made.seconds:
            by_file[test.split("::")[0]].append(test)
        for path in sorted(kept.glob("*.coverage")):
            made._add(path, by_file)
        mentions: dict[str, list[tuple[str, Function]]] = defaultdict(list)
        for path in {p for folders in rooms.values() for p in files_of(root, package, folders)}:
            file, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
            for function in functions_of(ast.parse(text)):
                if is_compiled(function):
                    made.compiling[file] = text
                    made.compiled[function.name] = mentions[function.name]
                for node in ast.walk(function):
                    if name := name_of(node):
                        mentions[name].append((file, function))
        return made

    def _add(self, path: Path, by_file: dict[str, list[str]]) -> None:
        from coverage import CoverageData

        data = CoverageData(basename=str(path))
        data.read()
        for measured in data.measured_files():
            file = Path(measured).relative_to(self.root).as_posix()
            lines = self.lines.setdefault(file, {})
            for line, contexts in data.contexts_by_lineno(measured).items():
                pairs = [context.rpartition("|")[::2] for context in contexts]
                tests = {test for test, _ in pairs if test in self.seconds}
                setups = {test for test, when in pairs if when == "setup"}
                if len(setups) == 1:  # perhaps a fixture of all tests of a file
                    tests.update(by_file[setups.pop().split("::")[0]])
                lines.setdefault(line, set()).update(tests)

    def tests_of(self, mutant: Mutant) -> set[str]:
        spans = [(mutant.file, span) for span in mutant.spans]
        spans += self._callers(mutant.compiled, set())
        found = {test for file, span in spans for test in self._of_span(file, span)}
        if mutant.declares:
            found.update(test for test in self.seconds if LISTS.match(test))
        return found - self.unsure

    def _of_span(self, file: str, span: Span) -> set[str]:
        lines = self.lines.get(file, {})
        return set().union(*(lines.get(line, ()) for line in range(span[0], span[1] + 1)))

    def _callers(self, names: Iterable[str], seen: set[str]) -> list[tuple[str, Span]]:
        """The functions of plain Python that call compiled ones, also by way of other compiled ones."""
        found: list[tuple[str, Span]] = []
        for name in set(names) - seen:
            seen.add(name)
            for file, function in self.compiled.get(name, ()):
                if is_compiled(function):
                    found += self._callers([function.name], seen)
                else:
                    found.append((file, body_of(function)))
        return found

    def compiled_with(self, file: str) -> tuple[str, ...]:
        """``file`` and those whose compiled functions hold something of it: numba does not see it change."""
        found, waiting = {file}, [file]
        while waiting:
            path = waiting.pop().removeprefix("src/").removesuffix(".py").removesuffix("/__init__")
            wanted = f"from {path.replace('/', '.')} import"
            taking = {name for name, text in self.compiling.items() if wanted in text} - found
            found |= taking
            waiting += taking
        return tuple(sorted(found)) if found & self.compiling.keys() else ()

    def plan(self, tests: set[str], first: list[str], seconds: float) -> tuple[list[str], int]:
        """What runs in so many seconds, by turns one test of each file, the quickest first; how many do not.

        Goldens take turns by what they are about, which is the first word of their names.
        """
        groups: dict[str, list[str]] = defaultdict(list)
        for test in sorted(tests, key=lambda name: (_rough(self.seconds[name]), name)):
            file, _, name = test.partition("::")
            groups[f"{file}::{name.partition('-')[0]}" if file == GOLDENS else file].append(test)
        turns = sorted(
            (turn, _rough(self.seconds[test]), test)
            for group in groups.values()
            for turn, test in enumerate(group)
        )
        order = [name for name in first if name in tests]
        order += [test for _, _, test in turns if test not in order]
        taken: list[str] = []
        spent = 0.0
        for test in order:
            if spent + self.seconds[test] <= seconds or not taken:
                taken.append(test)
                spent += self.seconds[test]
        return taken, len(order) - len(taken)


def _rough(seconds: float) -> int:
    """Times that differ by chance compare equal."""
    return max(0, int(seconds * 50)).bit_length()
