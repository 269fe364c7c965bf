"""Copies of the project: one of the code as it is, and one for each mutant."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mutants import Mutant

Rooms = dict[str, tuple[str, ...]]
NOT_OURS = ("tools/", "tests/tools/", "benchmarks/mutation", "benchmarks/work/", "CHANGELOG.md", ".ci/")


@dataclass(frozen=True)
class Project:
    """Where the project is, and its copy, which the copies with a mutant each link to."""

    root: Path
    package: str
    rooms: Rooms
    tests: list[str]
    folder: Path
    digest: str

    @property
    def base(self) -> Path:
        return self.folder / "base" / self.root.name

    @classmethod
    def of(cls, root: Path, rooms: Rooms, tests: list[str]) -> Project:
        package = next(path.parent.name for path in sorted((root / "src").glob("*/__init__.py")))
        digest = hashlib.sha256(sys.version.encode())
        for file in files(root):
            digest.update(file.encode() + b"\0" + hashlib.sha256((root / file).read_bytes()).digest())
        return cls(root, package, rooms, tests, root / "benchmarks/work/mutation", digest.hexdigest()[:16])

    def copy(self) -> None:
        shutil.rmtree(self.base.parent, ignore_errors=True)
        for file in files(self.root):
            target = self.base / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.root / file, target)
        self._link_shared(self.base.parent)

    def clone(self, target: Path, mutant: Mutant | None, anew: Iterable[str]) -> None:
        """Links to the files of the copy, which nobody writes in place; the mutant gets a file of its own.

        What Python and numba keep of the files ``anew`` is left out.
        """
        shutil.copytree(self.base, target, copy_function=os.link)
        self._link_shared(target.parent)
        for cache in self.base.parent.glob(
            "tmp/goldens-cache-*"
        ):  # other people's libraries, made ready for use
            shutil.copytree(cache, target.parent / "tmp" / cache.name, copy_function=os.link)
        if mutant is None:
            return
        changed = target / mutant.file
        source = changed.read_bytes()
        changed.unlink()
        changed.write_bytes(mutant.applied(source))
        for file in {mutant.file, *anew}:
            path = target / file
            for kept in path.parent.glob(f"__pycache__/{path.stem}.*"):
                kept.unlink()

    def _link_shared(self, folder: Path) -> None:
        """Some tests read real data that are kept beside the project."""
        shared = self.root.parent / "shared"
        if shared.is_dir():
            (folder / "shared").symlink_to(shared)


def files(root: Path) -> list[str]:
    """What a checkout has, without what this script reads and writes itself."""
    if (root / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        found = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout.decode().split("\0")
    else:
        found = [
            path.relative_to(root).as_posix() for path in root.rglob("*") if "__pycache__" not in path.parts
        ]
    return sorted(f for f in found if f and not f.startswith(NOT_OURS) and (root / f).is_file())
