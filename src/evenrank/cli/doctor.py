"""``evenrank doctor``: what is installed, and whether it computes what it should."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from math import log2
from typing import TYPE_CHECKING, NamedTuple

from evenrank.cli.everywhere import Everywhere, unchecked_project
from evenrank.cli.streams import put, terminal_width
from evenrank.cli.typed import command
from evenrank.errors import installing

if TYPE_CHECKING:
    from evenrank.tables import Table

TOLERANCE = 1e-12

# worked out by hand: q1 is ranked b, a, c with grades b 0, a 2, c 1; q2 is judged but has no list
KNOWN_VALUES = {
    "RR": {"q1": 1 / 2, "q2": 0.0},
    "P@2": {"q1": 1 / 2, "q2": 0.0},
    "AP": {"q1": (1 / 2 + 2 / 3) / 2, "q2": 0.0},
    "nDCG@3": {"q1": (2 / log2(3) + 1 / 2) / (2 + 1 / log2(3)), "q2": 0.0},
    "Judged@3": {"q1": 1.0, "q2": 0.0},  # computed by ir_measures
}

CPU_TORCH = "pip install torch --index-url https://download.pytorch.org/whl/cpu"
# what a build of torch from PyPI brings along; a version without "+cu.." does not tell the two apart
CUDA_PACKAGES = ("nvidia-cuda-runtime-cu12", "nvidia-cublas-cu12", "nvidia-cuda-runtime", "nvidia-cublas")


class Requirement(NamedTuple):
    package: str
    minimum: str
    extra: str

    @property
    def problem(self) -> str:
        """Why the version that is installed will not do; empty if it will."""
        version = _version(self.package)
        if version is None:
            return "is not installed"
        if _numbers(version) < _numbers(self.minimum):
            return f"{version} is too old, {self.minimum} or later is needed"
        return ""


@command("evenrank doctor", "evenrank doctor --project evenrank.toml")
def doctor(*, everywhere: Everywhere) -> int:
    """Show the versions of Python, evenrank and its dependencies and which extras are installed, then
    evaluate a tiny run and compare with known values. Where there is a project file, read everything that it
    names and show what each entry became, with every problem at once. The exit code is 1 if anything needed
    is missing, too old, computes something else, or cannot be read."""
    from evenrank._version import __version__
    from evenrank.tables import Column, Table, printed

    requirements = list(_requirements())
    needed = [(one.package, one.problem or _version(one.package)) for one in requirements if not one.extra]
    problems = [
        f"{one.package} {one.problem}: pip install . in the checkout of evenrank"
        for one in requirements
        if not one.extra and one.problem
    ]
    checked = "not run, since a dependency is missing or too old"
    if not problems:
        problems = _self_check()
        found = f"{len(problems)} wrong values" if problems else "the known values"
        checked = f"{len(KNOWN_VALUES)} measures on a tiny run have {found}"
    project, of_project, step = _project(everywhere)
    problems += of_project
    tables = [
        Table.of(
            ["dependency", "version"],
            needed,
            words=2,
            meaning="Versions of what evenrank itself needs; a version that is too old is named as a problem "
            "below.",
        ),
        Table.of(
            ["extra", Column("state", right=False, wraps=True)],
            _extras([one for one in requirements if one.extra]),
            words=2,
            meaning="Extras are needed for single tasks; a line says how to install what is missing.",
        ),
    ]
    parts = [
        f"Python {platform.python_version()} ({sys.executable})\nevenrank {__version__}\n",
        printed(tables, "table", terminal_width()),
        f"torch: {_torch_build()}\nself-check: {checked}\n",
        *(printed([table], "table", terminal_width()) for table in project),
        "".join(f"problem: {problem}\n" for problem in problems)
        or "all is well\n" + (f"next: {step}\n" if step else ""),
    ]
    put("\n".join(parts))
    return 1 if problems else 0


def _project(everywhere: Everywhere) -> tuple[list[Table], list[str], str]:
    """What the entries of the project file became, what is wrong with them, and what to do next."""
    from evenrank.cli.project_checks import ProjectCheck
    from evenrank.errors import EvenrankError
    from evenrank.inputs.described import table_of_inputs

    try:
        project = unchecked_project(everywhere)
    except EvenrankError as error:
        return [], str(error).split("\n"), ""
    if project is None:
        return [], [], ""
    found = ProjectCheck(project)
    if found.inputs is None:
        return [], found.problems, ""
    table = table_of_inputs(found.inputs, found.known, f"project {project.name}")
    return [table], found.problems, "" if found.problems else found.next_step()


def _requirements() -> Iterator[Requirement]:
    """What the installed package says it needs, such as ``pandas>=2.2; extra == 'pandas'``."""
    if _version("evenrank") is None:
        return
    for text in metadata.requires("evenrank") or []:
        package = re.match(r"[\w.-]+", text)
        minimum = re.search(r">=\s*([\d.]+)", text.partition(";")[0])
        extra = re.search(r"extra\s*==\s*['\"](.+?)['\"]", text)
        if package is not None and package[0] != "evenrank":
            yield Requirement(package[0], minimum[1] if minimum else "0", extra[1] if extra else "")


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> list[int]:
    """The leading numbers, so that 2.10 is later than 2.9 and 2.0rc1 counts as 2.0."""
    return [int(part) for part in re.findall(r"\d+", re.split(r"[^\d.]", version)[0])]


def _torch_build() -> str:
    """Which build of torch is installed, or how to get the small one; torch is not imported for it."""
    version = _version("torch")
    if version is None:
        return f"not installed; for a machine without a GPU install the CPU build first: {CPU_TORCH}"
    if re.search(r"\+(cu|rocm|xpu)", version) or any(map(_version, CUDA_PACKAGES)):
        return (
            f"{version}, the build with GPU libraries (several GB); the CPU build is smaller and does the "
            f"same without a GPU: {CPU_TORCH}"
        )
    return f"{version}, the CPU build"


def _extras(requirements: list[Requirement]) -> Iterator[tuple[str, str]]:
    for extra in dict.fromkeys(one.extra for one in requirements):
        members = [one for one in requirements if one.extra == extra]
        lacking = [f"{one.package} {one.problem}" for one in members if one.problem]
        yield extra, f"{', '.join(lacking)}: {installing(extra)}" if lacking else "installed"


def _self_check() -> list[str]:
    from evenrank.data.qrels import Qrels
    from evenrank.data.run import Run
    from evenrank.evaluation import evaluate

    ranking = Run.build(["q1"] * 3, ["a", "b", "c"], [2.0, 3.0, 1.0], name="tiny")
    qrels = Qrels.build(["q1", "q1", "q1", "q2"], ["a", "b", "c", "d"], [2, 0, 1, 1])
    try:
        found = evaluate(ranking, list(KNOWN_VALUES), qrels=qrels).to_dict()["tiny"]
    except Exception as error:  # whatever it is, it is what the check is for
        return [f"the self-check failed: {type(error).__name__}: {error}"]
    return [
        f"{measure} of query {query} is {found[measure][query]!r}, and should be {value!r}"
        for measure, values in KNOWN_VALUES.items()
        for query, value in values.items()
        if not abs(found[measure][query] - value) <= TOLERANCE
    ]
