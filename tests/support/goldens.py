"""Cases as data, and what came of them: run, compared with what is kept, and written anew.

    python tests/support/goldens.py --write [NAME ..]    NAME: a subject, or subject-case; default: all
    python tests/support/goldens.py --count

``tests/goldens/README.md`` says what a case looks like.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import golden_calls
import golden_documents
import golden_worlds
from chat_server import ChatServer
from golden_commands import ROOT, Ended, command, home, same_everywhere, spelling, spelt
from golden_files import Masks, content, data_of, digests, visible

CASES, KEPT = ROOT / "cases", ROOT / "kept"
RELATIVE, ABSOLUTE = 1e-9, 1e-12
WIDTH = 110
KEYS = {
    "world", "files", "run", "steps", "call", "stdin", "stdout", "mentions", "prints", "shows", "prose",
    "whole", "largest_file", "needs", "slow", "page", "apart", "varying", "model",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """What is there (``world``, ``files``), what is done (``steps``), and what must be named."""

    subject: str
    name: str
    given: dict[str, Any] = field(repr=False)

    @property
    def id(self) -> str:
        return f"{self.subject}-{self.name}"

    @property
    def steps(self) -> list[Any]:
        if "steps" in self.given:
            steps: list[Any] = self.given["steps"]
            return steps
        return [next(self.given[name] for name in ("run", "call", "page") if name in self.given)]

    @property
    def needs(self) -> list[str]:
        return list(self.given.get("needs", []))

    @property
    def slow(self) -> bool:
        return bool(self.given.get("slow"))


@cache
def cases() -> tuple[Case, ...]:
    """All cases; ``[defaults]`` of a file holds for each of its cases."""
    found = []
    for path in sorted(CASES.glob("*.toml")):
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        defaults = tables.pop("defaults", {})
        for name, given in tables.items():
            wrong = sorted(given.keys() - KEYS)
            if wrong:
                raise ValueError(f"{path.name}: {name}: there is no {', '.join(wrong)}")
            found.append(Case(path.stem, name, defaults | given))
    return tuple(found)


def case(name: str) -> Case:
    """A case by its id."""
    return next(one for one in cases() if one.id == name)


@cache
def _world(name: str) -> Path:
    """The folder of a world, built once in a process."""
    folder = Path(tempfile.mkdtemp(prefix=f"world-{name}-", dir=home()))
    golden_worlds.WORLDS[name](folder)
    return folder


@contextmanager
def fresh_folder(one: Case) -> Iterator[Path]:
    """A new folder with the world and the files of a case."""
    with tempfile.TemporaryDirectory(prefix="golden-") as name:
        folder = Path(name) / "here"
        shutil.copytree(_world(one.given.get("world", "empty")), folder, symlinks=True)
        golden_worlds.write(folder, one.given.get("files", {}))
        if not one.given.get("model"):
            yield folder
            return
        with ChatServer().running() as server:
            for file in folder.rglob("*.toml"):
                file.write_text(
                    file.read_text(encoding="utf-8").replace("MODEL_URL", server.url), encoding="utf-8"
                )
            yield folder


def outcome(one: Case) -> tuple[dict[str, Any], list[str]]:
    """What came of a case as data, and what is wrong with it by itself: a name that nobody named."""
    if not one.given.get("apart"):
        return _outcome(one)
    same = os.environ | {"PYTHONHASHSEED": "0"}  # ir_measures gives the order in which a set has its measures
    words = [sys.executable, __file__, "--outcome", one.id]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, env=same)
    found, wrong = json.loads(done.stdout.splitlines()[-1])
    return found, wrong


def _outcome(one: Case) -> tuple[dict[str, Any], list[str]]:
    with fresh_folder(one) as folder:
        before = digests(folder)
        ended = [_done(step, one, folder) for step in one.steps]
        after = digests(folder)
        varying = one.given.get("varying", [])
        texts = [*after, *after.values(), *(said.out for _, said in ended)]
        masks = Masks(folder, texts, prose=one.given.get("prose", ()), whole=one.given.get("whole", False))
        masks.varying(varying)
        files: dict[str, Any] = {}
        known = {*digests(_world("demo")).values()} if "page" in one.given else set()  # most write it first
        changed = [name for name, digest in after.items() if before.get(name) != digest]
        for name in (name for name in changed if after[name] not in known):
            called = masks.text(name)
            chance = any(fnmatch(name, pattern) for pattern in varying)
            found_there = "a file" if chance else content(folder / name, masks)
            files[called + "~" * (called in files)] = found_there
        gone = sorted(before.keys() - after.keys())
        wrong = _unsaid(one, [said for _, said in ended], folder)
        steps = [masks.value(done) for done, _ in ended]
    found = {"steps": steps, "files": dict(sorted(files.items())), "gone": gone}
    return {name: part for name, part in found.items() if part}, wrong


def _done(step: Any, one: Case, folder: Path) -> tuple[dict[str, Any], Ended]:
    if isinstance(step, str):
        return golden_documents.run_page(step, folder), Ended(0, "", "", None)
    if isinstance(step, dict) and "call" in step:
        return _called(step, folder)
    if isinstance(step, dict):  # files that change between two commands
        golden_worlds.write(folder, step.get("files", {}))
        for name in step.get("delete", []):
            shutil.rmtree(folder / name) if (folder / name).is_dir() else (folder / name).unlink()
        return {}, Ended(0, "", "", None)
    kinds = [part["format"] for part in step if isinstance(part, dict) and "format" in part]
    ended = command(folder, step, one.given.get("stdin", ""), one.given.get("largest_file"))
    done: dict[str, Any] = {"exit": ended.code}
    if ended.error is not None:
        done["error"] = type(ended.error).__name__
    done["stdout"] = data_of(ended.out, one.given.get("stdout", kinds[-1] if kinds else "text"))
    warned = sum(line.startswith("evenrank: warning:") for line in ended.err.splitlines())
    return done | ({"warnings": warned} if warned else {}), ended


def _called(step: dict[str, Any], folder: Path) -> tuple[dict[str, Any], Ended]:
    table = spelling()
    with same_everywhere(folder):
        called = golden_calls.call(step, table["functions"], table["keywords"])
    error = called.error
    done = {"value": called.value} if error is None else {"error": type(error).__name__}
    done |= {"warnings": called.warnings} if called.warnings else {}
    return done, Ended(0 if error is None else 1, "", str(error or ""), error)


def _unsaid(one: Case, ended: Sequence[Ended], folder: Path) -> list[str]:
    """What the messages, the output and the files should name and do not."""
    # messages and tables are wrapped
    err = _on_one_line("".join(each.err for each in ended))
    out = _on_one_line(visible("\n".join(each.out for each in ended)))
    commands = [step[0] for step in one.steps if isinstance(step, list)]
    mentions, prints = (
        [spelt(name, commands) for name in one.given.get(key, [])] for key in ("mentions", "prints")
    )
    wrong = [f"no message names {name!r}: {err}" for name in mentions if _on_one_line(name) not in err]
    wrong += [f"{name!r} is not printed: {out}" for name in prints if _on_one_line(name) not in out]
    for file, names in one.given.get("shows", {}).items():
        found = sorted(folder.glob(file))
        shown = visible(found[0].read_text(encoding="utf-8")) if found else ""
        wrong += [f"{file} does not show {name!r}" for name in names if name not in shown]
    wrong += [f"{name} on stderr: {err}" for name in ("Traceback", "RuntimeWarning") if name in err]
    if any(each.code in (1, 2) for each in ended) and not (mentions or prints):
        wrong.append(f"it ends with an error, so mentions must say what that has to name: {err}")
    return wrong


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


@cache
def _kept(subject: str) -> dict[str, Any]:
    path = KEPT / f"{subject}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def kept(one: Case) -> Any:
    """What is kept of a case; None where nothing is."""
    return _kept(one.subject).get(one.name)


def run(one: Case) -> list[str]:
    """Run a case, and return how it differs from what is kept."""
    found, wrong = outcome(one)
    there = kept(one)
    if there is None:
        return [*wrong, f"{one.id}: nothing is kept: make goldens"]
    return [*wrong, *differences(there, json.loads(json.dumps(found)))]


def differences(was: Any, now: Any, where: str = "") -> list[str]:
    """Each place where two values differ; numbers are equal to nine digits."""
    found: list[str] = []
    if isinstance(was, dict) and isinstance(now, dict):
        found += [f"{where}/{name}: is not there any more" for name in was if name not in now]
        found += [f"{where}/{name}: is new: {str(now[name])[:200]}" for name in now if name not in was]
        for name in [name for name in was if name in now]:
            found += differences(was[name], now[name], f"{where}/{name}")
    elif isinstance(was, list) and isinstance(now, list):
        found += [f"{where}: there were {len(was)}, and are {len(now)}"] if len(was) != len(now) else []
        for place, (one, other) in enumerate(zip(was, now, strict=False)):
            found += differences(one, other, f"{where}[{place}]")
    elif not _same(was, now):
        found.append(f"{where}: was {was!r}, is {now!r}")
    return found


def _same(was: Any, now: Any) -> bool:
    numbers = [isinstance(one, int | float) and not isinstance(one, bool) for one in (was, now)]
    if not all(numbers):
        return type(was) is type(now) and bool(was == now)
    if math.isnan(was) or math.isnan(now):
        return math.isnan(was) and math.isnan(now)
    return math.isclose(was, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def rendered(value: Any, indent: int = 0) -> str:
    """JSON in which a row is a line, so that a diff shows rows."""
    line = json.dumps(value, ensure_ascii=False)
    if not value or not isinstance(value, dict | list) or (indent > 1 and len(line) + indent <= WIDTH):
        return line
    if isinstance(value, list):
        inner = [
            json.dumps(one, ensure_ascii=False) if _is_row(one) else rendered(one, indent + 1)
            for one in value
        ]
        opened, closed = "[]"
    else:
        inner = [
            f"{json.dumps(name, ensure_ascii=False)}: {rendered(one, indent + 1)}"
            for name, one in value.items()
        ]
        opened, closed = "{}"
    blanks = " " * (indent + 1)
    return f"{opened}\n" + ",\n".join(blanks + each for each in inner) + f"\n{' ' * indent}{closed}"


def _is_row(value: Any) -> bool:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return not any(isinstance(part, dict | list) and part for part in parts)


def write(names: Sequence[str]) -> list[str]:
    """Keep what comes of the named cases, where it differs from what is kept; the names of those that moved.

    What no case makes any more is removed.
    """
    moved = []
    for subject in sorted({one.subject for one in cases()} | {path.stem for path in KEPT.glob("*.json")}):
        own = [one for one in cases() if one.subject == subject]
        there, new = _kept(subject), {}
        for one in own:
            if names and subject not in names and one.id not in names:
                if one.name in there:
                    new[one.name] = there[one.name]
                continue
            if missing(one):
                say(f"{one.id}: skipped, it needs {', '.join(missing(one))}")
                if one.name in there:
                    new[one.name] = there[one.name]
                continue
            found, wrong = outcome(one)
            for what in wrong:
                say(f"{one.id}: {what}")
            found = json.loads(json.dumps(found))
            same = one.name in there and not differences(there[one.name], found)
            new[one.name] = there[one.name] if same else found
            moved += [] if same else [one.id]
        path = KEPT / f"{subject}.json"
        if new:
            path.write_text(rendered(new) + "\n", encoding="utf-8")
        else:
            path.unlink(missing_ok=True)
    return moved


def missing(one: Case) -> list[str]:
    """What a case needs and this environment does not have: a module, or a program behind a colon."""
    from importlib.util import find_spec

    return [
        name for name in one.needs
        if (shutil.which(name[1:]) is None if name.startswith(":") else find_spec(name) is None)
    ]  # fmt: skip


def kinds() -> dict[str, Counter[str]]:
    """How many cases there are of each command, of functions and of pages: good input, and input that ends
    with an error. A case of several commands counts for each."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for one in cases():
        failed = any(step.get("exit") in (1, 2) or "error" in step for step in kept(one).get("steps", []))
        for what in {_what(step) for step in one.steps}:
            found[what]["bad" if failed else "good"] += 1
    return found


def _what(step: Any) -> str:
    """The command of a step, or what else is done; a command that there is not is one of the others."""
    if isinstance(step, list):
        return step[0] if step[0] in spelling()["commands"] else "other words"
    if isinstance(step, str):
        return "page"
    return "function" if "call" in step else "change of files"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--outcome", metavar="CASE", help="print as JSON what comes of a case")
    given = parser.parse_args()
    if given.outcome:
        say(json.dumps(_outcome(case(given.outcome))))
    elif given.count:
        for what, numbers in sorted(kinds().items()):
            say(f"{what}\t{numbers['good']}\t{numbers['bad']}")
    elif given.write:
        moved = write(given.names)
        say(f"{len(moved)} of {len(cases())} moved: {' '.join(moved)}")
    else:
        chosen = [one for one in cases() if not given.names or {one.subject, one.id} & set(given.names)]
        wrong = [f"{one.id}: {what}" for one in chosen if not missing(one) for what in run(one)]
        say("\n".join(wrong))
        sys.exit(bool(wrong))


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
