"""The mutation script on a package of a few lines: what is killed, by what, and what is not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import mutants
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools/mutate.py"

FILES = {
    "pyproject.toml": '[tool.pytest.ini_options]\nmarkers = ["slow: not run"]\naddopts = "--import-mode=importlib"\n',
    "src/tiny/__init__.py": "",
    "src/tiny/numbers/__init__.py": "def double(x):\n    return 2 * x\n",
    "src/tiny/numbers/more.py": "def triple(x):\n    return 3 * x\n",
    "src/tiny/unseen/__init__.py": "def looked_at(x):\n    return x + x\n\n\ndef unused(x):\n    return x - x\n",
    "src/tiny/loops/__init__.py": "def down(n, end, step):\n    while n != end:\n        n -= step\n    else:\n        return [n]\n",
    "src/tiny/kernels/__init__.py": "",
    "src/tiny/kernels/first.py": "from numba import njit\n\n\n@njit(cache=True)\ndef both(a, b):\n    return a + b\n",
    "src/tiny/kernels/second.py": (
        "from numba import njit\n\nfrom tiny.kernels.first import both\n\n\n"
        "@njit(cache=True)\ndef twice(a, b):\n    both_of = both(a, b)\n    return [both_of, both_of]\n\n\n"
        "def of(a, b):\n    return [*twice(a, b)]\n"
    ),
    "tests/test_goldens.py": (
        "import pytest\nfrom tiny.numbers import double\n\n\n"
        '@pytest.mark.parametrize("case", ["double-three"])\ndef test_golden(case):\n    assert double(3) == 6\n'
    ),
    "tests/test_numbers.py": (
        "from tiny.numbers import double\nfrom tiny.numbers.more import triple\nfrom tiny.unseen import looked_at\n\n\n"
        "def test_double():\n    assert double(2) == 4\n\n\ndef test_triple():\n    assert triple(2) == 6\n\n\n"
        "def test_nothing():\n    looked_at(5)\n"
    ),
    "tests/test_loops.py": "from tiny.loops import down\n\n\ndef test_down():\n    assert down(6, 0, 2) == [0]\n",
    "tests/test_kernels.py": "from tiny.kernels.second import of\n\n\ndef test_of():\n    assert of(2, 3) == [5, 5]\n",
}  # fmt: skip
ROOMS = ["numbers", "unseen", "loops", "kernels"]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "tiny" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "tiny"


def mutate(root: Path, *options: str) -> str:
    command = [sys.executable, str(SCRIPT), "--root", str(root), "--rooms", *ROOMS, "--count", "40", "--jobs", "1"]
    done = subprocess.run([*command, "--limit", "3", "--write", *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def results(root: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((root / "benchmarks/mutation.json").read_text(encoding="utf-8"))["mutants"]
    return found


@pytest.mark.slow
def test_what_kills_a_mutant_is_named_and_an_interrupted_run_goes_on(tiny: Path) -> None:
    pytest.importorskip("coverage")
    pytest.importorskip("numba")
    mutate(tiny)
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
        assert (tiny / name).read_text(encoding="utf-8") == text
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
    assert again.count(": survived") + again.count(": killed") + again.count(": timeout") == len(found) - 2


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
        "def a(x: Literal[1] | None = None) -> Literal[2] | None:\n"
        '    """1 of 2."""\n'
        '    b(f"{x + 1} of {x - 1}", ", ".join(map(str, x[:3])), "1 of 2")\n'
        "def describe_rows(n):\n    return n + 1\n",
        encoding="utf-8",
    )
    found = mutants.sample(tmp_path, "tiny", {"numbers": ("numbers",)}, 40, seed=1)
    assert [(m.function, m.operator, m.after) for m in found if m.operator != "arguments swapped"] == [
        ("a", "call dropped", "pass")
    ]
