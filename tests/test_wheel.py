"""Who has only pip: the wheel in an environment of its own, and the pages in an empty folder."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALL = re.compile(r"\bpip install ([^\n`]+)")


def checked(*command: str | Path, **how: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{command}\n{done.stdout[-5000:]}\n{done.stderr[-5000:]}"
    return done.stdout


def test_nothing_that_is_run_installs_a_package_of_a_stranger() -> None:
    """Nobody owns the name on the index, so README and the workflow install from a folder."""
    for page in (README, ROOT / "docs/examples/gate-workflow.yml"):
        lines = INSTALL.findall(page.read_text(encoding="utf-8"))
        assert lines, page
        assert all(shlex.split(line)[0].startswith(".") for line in lines), lines


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment that has the wheel with the extras that README names, and no more."""
    folder = tmp_path_factory.mktemp("stranger")
    pip = [sys.executable, "-m", "pip", "--quiet"]
    reached = subprocess.run(
        [*pip, "download", "--no-deps", "-d", folder / "reached", "hatchling"], check=False
    )
    if reached.returncode:
        pytest.skip("no package registry can be reached")
    checked(*pip, "wheel", "--no-deps", "-w", folder, ROOT)
    (wheel,) = folder.glob("evenrank-*.whl")
    (line,) = INSTALL.findall(README.read_text(encoding="utf-8"))
    source, bracket, extras = shlex.split(line)[0].partition("[")
    assert source == "."
    venv.create(folder / "env", with_pip=True)
    commands = folder / "env" / "bin"
    checked(
        commands / "python", "-m", "pip", "--quiet", "install",
        "-c", ROOT / "constraints.txt", f"{wheel}{bracket}{extras}",
    )  # fmt: skip
    return commands


def script_of(page: Path) -> str:
    """The blocks of a page, as one script of a shell."""
    lines = ["set -e"]
    for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "sh":
            lines.append(re.sub(r"^make .*$", "", text, flags=re.MULTILINE))  # those need a checkout
        elif kind == "python":
            lines.append(f"python - <<'BLOCK'\n{text}BLOCK")
        elif kind == "toml" and text.startswith("# evenrank.toml"):
            lines.append(f"cat > evenrank.toml <<'BLOCK'\n{text}BLOCK")
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
@pytest.mark.parametrize("page", ["README.md", "docs/guides/shop.md"])
def test_a_stranger_can_do_what_the_page_shows(environment: Path, tmp_path: Path, page: str) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    path = f"{environment}:{os.environ['PATH']}"
    checked("bash", "-c", script_of(ROOT / page), cwd=tmp_path, env={**clean, "PATH": path})
    reports = list(tmp_path.glob("*/audit/latest/report.html"))
    assert len(reports) == 1
    assert "% of the catalogue but gets" in reports[0].read_text(encoding="utf-8")
