"""The mutation script on a package of a few lines: what is killed, by what, and what is not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import mutants
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools/mutate.py"

FILES = {
    "pyproject.toml": """
        [tool.pytest.ini_options]
        markers = ["slow: not run"]
        addopts = "--import-mode=importlib"
        """,
    "src/tiny/__init__.py": "",
    "src/tiny/numbers/__init__.py": """
        def double(x):
            return 2 * x
        """,
    "src/tiny/numbers/more.py": """
        def triple(x):
            return 3 * x
        """,
    "src/tiny/unseen/__init__.py": """
        def looked_at(x):
            return x + x


        def unused(x):
            return x - x
        """,
    "src/tiny/loops/__init__.py": """
        def down(n, end, step):
            while n != end:
                n -= step
            else:
                return [n]
        """,
    "src/tiny/kernels/__init__.py": "",
    "src/tiny/kernels/first.py": """
        from numba import njit


        @njit(cache=True)
        def both(a, b):
            return a + b
        """,
    "src/tiny/kernels/second.py": """
        from numba import njit

        from tiny.kernels.first import both


        @njit(cache=True)
        def twice(a, b):
            both_of = both(a, b)
            return [both_of, both_of]


        def of(a, b):
            return [*twice(a, b)]
        """,
    "tests/test_goldens.py": """
        import pytest
        from tiny.numbers import double


        @pytest.mark.parametrize("case", ["double-three"])
        def test_golden(case):
            assert double(3) == 6
        """,
    "tests/test_numbers.py": """
        from tiny.numbers import double
        from tiny.numbers.more import triple
        from tiny.unseen import looked_at


        def test_double():
            assert double(2) == 4


        def test_triple():
            assert triple(2) == 6


        def test_nothing():
            looked_at(5)
        """,
    # it fails wherever a mutant runs, with and without the mistake: such a test kills nothing
    "tests/test_sometimes.py": """
        from tiny.unseen import looked_at


        def test_sometimes():
            assert looked_at(5) == 10 and "clones" not in __file__
        """,
    "tests/test_loops.py": """
        from tiny.loops import down


        def test_down():
            assert down(6, 0, 2) == [0]
        """,
    "tests/test_kernels.py": """
        from tiny.kernels.second import of


        def test_of():
            assert of(2, 3) == [5, 5]
        """,
}
ROOMS = ["numbers", "unseen", "loops", "kernels"]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "tiny" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip(), encoding="utf-8")
    return tmp_path / "tiny"


def mutate(root: Path, *options: str) -> str:
    command = [
        sys.executable,
        str(SCRIPT),
        "--root",
        str(root),
        "--rooms",
        *ROOMS,
        "--count",
        "40",
        "--jobs",
        "1",
    ]
    done = subprocess.run(
        [*command, "--limit", "3", "--write", *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def runs_of(printed: str) -> int:
    return sum(printed.count(f": {outcome} ") for outcome in ("survived", "killed", "timeout"))


def results(root: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((root / "benchmarks/mutation.json").read_text(encoding="utf-8"))[
        "mutants"
    ]
    return found


@pytest.mark.slow
def test_what_kills_a_mutant_is_named_and_an_interrupted_run_goes_on(tiny: Path) -> None:
    pytest.importorskip("coverage")
    pytest.importorskip("numba")
    first = mutate(tiny)
    found = results(tiny)
    outcomes = {(r["function"], r["operator"]): (r["outcome"], r["by"], r["killer"]) for r in found}
    hung = outcomes.pop(("down", "arithmetic"))
    assert hung == ("timeout", "tests", "tests/test_loops.py::test_down")
    by_function = {function: outcome for (function, _), outcome in outcomes.items()}
    assert by_function["double"] == ("killed", "goldens", "tests/test_goldens.py::test_golden[double-three]")
    assert by_function["triple"] == ("killed", "tests", "tests/test_numbers.py::test_triple")
    assert by_function["down"] == ("killed", "tests", "tests/test_loops.py::test_down")
    assert by_function["looked_at"] == by_function["unused"] == ("survived", "", "")
    ran = {r["function"]: r["ran"] for r in found}
    assert (ran["looked_at"], ran["unused"]) == (1, 0)
    # compiled code of another file holds the sum: it must not be taken from the cache of the code as it is
    assert by_function["both"] == ("killed", "tests", "tests/test_kernels.py::test_of")

    for name, text in FILES.items():
        assert (tiny / name).read_text(encoding="utf-8") == dedent(text).lstrip()
    assert not list((tiny / "src").rglob("__pycache__"))
    assert not (tiny / "benchmarks/work/mutation/clones").exists()

    page = (tiny / "benchmarks/mutation.md").read_text(encoding="utf-8")
    kept = tiny / "benchmarks/work/mutation/results.jsonl"
    lines = kept.read_text(encoding="utf-8").splitlines(keepends=True)
    kept.write_text("".join(lines[:3]) + lines[3][:20], encoding="utf-8")
    (tiny / "benchmarks/mutation.json").unlink()
    again = mutate(tiny, "--resume")
    assert results(tiny) == found
    assert (tiny / "benchmarks/mutation.md").read_text(encoding="utf-8") == page
    assert runs_of(again) == runs_of(first) - 2


@pytest.mark.slow
def test_goldens_alone(tiny: Path) -> None:
    pytest.importorskip("coverage")
    mutate(tiny, "--only-goldens")
    assert {r["function"] for r in results(tiny) if r["outcome"] == "killed"} == {"double"}


def test_a_function_that_moves_keeps_its_place_in_the_sample(tiny: Path) -> None:
    rooms = {room: (room,) for room in ROOMS}
    before = {m.function: m.key for m in mutants.sample(tiny, "tiny", rooms, 40, seed=5)}
    moved = tiny / "src/tiny/loops/numbers.py"
    (tiny / "src/tiny/numbers/__init__.py").rename(moved)
    moved.write_text("import math\n\n\n" + moved.read_text(encoding="utf-8"), encoding="utf-8")
    after = {m.function: m.key for m in mutants.sample(tiny, "tiny", rooms, 40, seed=5)}
    assert after == before
    assert len(before) > 4


def test_words_types_and_speed_are_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "src/tiny/numbers/__init__.py"
    path.parent.mkdir(parents=True)
    path.write_text(
        '"""Up to 3 numbers, not 4."""\n'
        "from typing import TYPE_CHECKING, Literal\n"
        "if TYPE_CHECKING:\n    LIMIT = 1\n"
        '__all__ = ["a", "b"][:2]\n'
        "NUMBERS_AT_ONCE = 1 << 16\n"
        "def a(x: Literal[1] | None = None, *, fast=True, block_bytes=8) -> Literal[2] | None:\n"
        '    """1 of 2."""\n'
        '    b(f"{x + 1} of {x - 1}", ", ".join(map(str, x[:3])), "1 of 2")\n'
        "def describe_rows(n):\n    return n + 1\n",
        encoding="utf-8",
    )
    found = mutants.sample(tmp_path, "tiny", {"numbers": ("numbers",)}, 40, seed=1)
    assert [(m.function, m.operator, m.after) for m in found if m.operator != "arguments swapped"] == [
        ("a", "call dropped", "pass")
    ]
