"""Commands killed at random moments, half of them with damage to what they left, and then given again.

    python benchmarks/kills.py --write

Every command is killed by SIGKILL: before the n-th change of the file system that it makes, or after a random
share of its time. In half of the cases something that it left
behind to go on from is then damaged: a bit flipped, a file cut short, two stretches exchanged, a file
deleted. Files of the user's lie beside the output and in the folders that commands make. The same command is
then run to its end, and its output must be the bytes of an undisturbed run, or there
is one clear error that names the way out. Nothing of the user's may be lost, and no run may take longer than
a bound.

Commands run in forked copies of this process, so that a run costs its work and not the start of Python.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import select
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BLOCK = 1 << 14
BOUND = 300.0  # seconds for a run to its end, on a machine that may be busy
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod"}
WAY_OUT = re.compile(
    r"move it away|remove this folder|another (name|folder)|give the same command again|new or empty"
)
SHARES = {"scan": 5, "swap": 4, "rerank": 3, "report": 2, "evaluate": 3, "debias": 3}  # of twenty kills
NOTES = b"mine: keep this\n"
WORDS = ["he", "she", "her", "his", "Mary", "the", "dog", "Élan", "him", "women,", "with", "x."]


@dataclass(frozen=True)
class Command:
    name: str
    arguments: tuple[str, ...]
    output: str  # a file or a folder
    left: tuple[str, ...] = ()  # patterns of what a killed run leaves, which may be damaged
    folders: tuple[str, ...] = ()  # that it makes, where files of the user's are put


RUN = ("--qrels", "qrels.txt", "-m", "nDCG@10,RR@10")
COMMANDS = (
    Command(
        "scan", ("scan", "c.tsv", "--lexicon", "gender-en", "--threads", "2", "-o", "counts.parquet"),
        "counts.parquet", left=("counts.parquet.parts/*",), folders=("counts.parquet.parts",),
    ),
    Command(
        "swap",
        ("counterfactual", "swap", "c.tsv", "--tagger", "rules", "--threads", "1", "-o", "s.tsv"),
        "s.tsv", left=("s.tsv.parts/*",), folders=("s.tsv.parts",),
    ),
    Command(
        "rerank", ("rerank", "a.trec", "--with", "Random", "--repeat", "6", "-o", "draws"), "draws",
        left=(".draws.evenrank-new-*/*", ".draws.evenrank-new-*/.*"),
    ),
    Command("report", ("report", "a.trec", "b.trec", *RUN, "-o", "r.html"), "r.html", left=(".r.html.*",)),
    Command("evaluate", ("evaluate", "a.trec", "b.trec", *RUN, "-o", "e.csv"), "e.csv", left=(".e.csv.*",)),
    Command(
        "debias", ("debias", "train", "--project", "t.toml", "-o", "models"), "models",
        left=("models/finished.json", "models/state/*.json", "models/state/*/*"),
        folders=("models", "models/base", "models/state"),
    ),
)  # fmt: skip


def make_inputs(folder: Path, *, with_torch: bool) -> None:
    generator = random.Random(0)
    with (folder / "c.tsv").open("w", encoding="utf-8") as file:
        for number in range(4000):
            file.write(f"{number}\t{' '.join(generator.choices(WORDS, k=generator.randrange(40)))}\n")
    for name in "ab":
        with (folder / f"{name}.trec").open("w") as file:
            for query in range(12):
                order = generator.sample(range(30), 30)
                file.writelines(f"q{query} Q0 d{d} {rank} {-rank} {name}\n" for rank, d in enumerate(order))
    with (folder / "qrels.txt").open("w") as file:
        file.writelines(f"q{q} 0 d{d} {generator.randrange(2)}\n" for q in range(12) for d in range(30))
    if with_torch:
        make_training(folder, generator)


def make_training(folder: Path, generator: random.Random) -> None:
    """A BERT of two layers with random weights, and a little to learn from."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    words = ["moon", "star", "river", "bread", "music", "engine", "he", "his", "she", "her", "the", "of"]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    tokenizer = BertTokenizer(vocab={piece: place for place, piece in enumerate(pieces)}, model_max_length=64)
    torch.manual_seed(3)
    BertModel(
        BertConfig(
            vocab_size=len(pieces), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=32, max_position_embeddings=64,
        )
    ).save_pretrained(folder / "bert")  # fmt: skip
    tokenizer.save_pretrained(folder / "bert")
    with (folder / "d.tsv").open("w") as texts, (folder / "tq.txt").open("w") as qrels:
        for query in range(6):
            for number in range(6):
                own = [words[query]] * (number < 3) + generator.choices(words, k=4)
                texts.write(f"q{query}-{number}\t{' '.join(own)}\n")
                qrels.write(f"q{query} 0 q{query}-{number} {int(number < 3)}\n")
    (folder / "q.tsv").write_text("".join(f"q{query}\t{words[query]}\n" for query in range(6)))
    (folder / "kin.csv").write_text("word,group\nhe,m\nhis,m\nshe,f\nher,f\n")
    (folder / "t.toml").write_text(
        '[data]\nqrels = "tq.txt"\nqueries = "q.tsv"\ndocuments = "d.tsv"\n'
        "[debias.examples]\nvalidation = 0.2\n"
        '[[debias.attributes]]\nname = "kin"\nlexicon = "kin.csv"\n'
        '[debias.model]\nencoder = "bert"\nmax_length = 16\n'
        '[debias.training]\ndevice = "cpu"\nbatch = 8\nlearning_rate = 1e-3\nsave_seconds = 0\n'
        "[debias.tune]\nepochs = 1\ncheckpoints = 2\n[debias.adversary]\nepochs = 0.5\n"
        "[debias.joint]\nstrengths = [0.5]\nepochs = 0.5\ncheckpoints = 2\n"
    )


def warm_up(names: set[str]) -> None:
    """Import and compile what the commands need before they are forked."""
    import evenrank.cli
    import evenrank.counterfactuals.swap.files
    import evenrank.evidence.scan.engine
    import evenrank.io.lexicons

    if find_spec("numba"):
        import evenrank.evidence.scan.kernel
    from evenrank.counterfactuals.swap.files import swap_file
    from evenrank.evidence.scan import scan_file

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "c.tsv"
        source.write_text("".join(f"{number}\tshe met him\n" for number in range(2000)))
        scan_file(source, "gender-en", Path(folder) / "o.parquet", threads=1)
        swap_file(source, Path(folder) / "s.tsv", tagger="rules", threads=1)
    if "report" in names:
        from evenrank.reporting.page.chart_library import library

        library()  # it takes most of the time of a report, and is kept
    if "debias" in names:
        import torch
        import transformers  # noqa: F401

        import evenrank.neural.training  # noqa: F401

        torch.set_num_threads(1)


@dataclass
class Death:
    """When a run is killed: before a change of the file system, or in time."""

    change: int | None = None
    seconds: float | None = None


class Child:
    """What runs in the forked process."""

    def __init__(self, death: Death, counts: Path) -> None:
        self.death, self._counts = death, counts
        self.changes = 0

    def watch(self) -> None:
        sys.addaudithook(self._audit)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            flags = arguments[2]
            if not isinstance(flags, int) or not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return
        elif event not in CHANGES:
            return
        self.changes += 1
        if self.changes == self.death.change:
            os.kill(os.getpid(), signal.SIGKILL)

    def keep(self) -> None:
        content = json.dumps(self.changes).encode()
        sys.addaudithook(lambda *_: None)
        descriptor = os.open(self._counts, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.write(descriptor, content)


def start(arguments: tuple[str, ...], folder: Path, death: Death, said: Path, counts: Path) -> int:
    """Fork a process that runs a command in a folder."""
    process = os.fork()
    if process:
        return process
    code = 70
    try:
        os.chdir(folder)
        stream = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        for descriptor in (1, 2):
            os.dup2(stream, descriptor)
        from evenrank import cli
        from evenrank.counterfactuals.swap import files
        from evenrank.evidence import scan

        sizes = {"block_bytes": BLOCK, "partition_bytes": 2 * BLOCK}
        scan.scan_file = partial(scan.scan_file, **sizes)  # type: ignore[attr-defined]
        files.swap_file = partial(files.swap_file, **sizes)  # type: ignore[assignment]
        child = Child(death, counts)
        child.watch()
        code = cli.main(list(arguments))
        child.keep()
    finally:
        os._exit(code)


def finish(process: int, bound: float, killed_after: float | None = None) -> int | None:
    """Wait for a process; None if it was ended because it took too long."""
    watched = os.pidfd_open(process)
    try:
        if killed_after is not None and not select.select([watched], [], [], killed_after)[0]:
            os.kill(process, signal.SIGKILL)
        if not select.select([watched], [], [], bound)[0]:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return None
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    finally:
        os.close(watched)


def content_of(path: Path, planted: set[Path]) -> dict[str, bytes]:
    """An output as bytes by name; without logs, which hold times, and without what the user put there."""
    if path.is_file():
        return {"": path.read_bytes()}
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file() and "log" not in file.parts and file not in planted
    }


def damage(files: list[Path], generator: random.Random) -> str:
    """Spoil one file, in one of four ways."""
    path = generator.choice(files)
    content = bytearray(path.read_bytes())
    ways = ["delete"] + ["flip", "cut"] * bool(content) + ["exchange"] * (len(content) > 64)
    way = generator.choice(ways)
    if way == "delete":
        path.unlink()
        return way
    if way == "flip":
        content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
    elif way == "cut":
        del content[generator.randrange(len(content)) :]
    else:
        size = generator.choice([8, 16, len(content) // 4])
        one, other = sorted(generator.sample(range(len(content) // size), 2))
        first, second = (slice(place * size, (place + 1) * size) for place in (one, other))
        content[first], content[second] = content[second], content[first]
    path.write_bytes(content)
    return way


@dataclass
class Tally:
    """What became of the kills of one command."""

    counts: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    wrong: list[str] = field(default_factory=list)


class Harness:
    def __init__(
        self, work: Path, seed: int, say: Callable[[str], object], names: set[str], *, times: bool = True
    ) -> None:
        self.work, self.generator, self.say, self.times = work, random.Random(seed), say, times
        self.commands = [command for command in COMMANDS if command.name in names]
        self.inputs = work / "inputs"
        self.inputs.mkdir(parents=True)
        make_inputs(self.inputs, with_torch="debias" in names)
        self.wanted: dict[str, dict[str, bytes]] = {}
        self.sizes: dict[str, tuple[int, float]] = {}

    def undisturbed(self) -> None:
        """Each command twice: its output, how many changes it makes, and how long it takes."""
        for command in self.commands:
            for turn in range(2):
                folder = self._folder(f"{command.name}-whole-{turn}")
                said, counts = folder / "said.txt", folder / "counts.json"
                begin = time.monotonic()
                code = finish(start(command.arguments, folder, Death(), said, counts), BOUND)
                spent = time.monotonic() - begin
                if code != 0:
                    raise SystemExit(f"{command.name}: exit code {code}: {said.read_text()}")
                found = content_of(folder / command.output, set())
                if turn and found != self.wanted[command.name]:
                    raise SystemExit(f"{command.name}: two undisturbed runs differ")
                self.wanted[command.name] = found
                changes = json.loads(counts.read_bytes())
                self.sizes[command.name] = changes, spent
                shutil.rmtree(folder)
            self.say(f"{command.name}: {changes} changes, {spent:.2f} s, {len(found)} files")

    def _folder(self, name: str) -> Path:
        folder = self.work / name
        shutil.copytree(self.inputs, folder)
        return folder

    def _death(self, command: Command, *, damaged: bool) -> Death:
        changes, seconds = self.sizes[command.name]
        if damaged:  # the moments when something is there that can be damaged
            return Death(change=self.generator.randrange(2, changes + 1))
        if self.generator.choice(["change", "change", *["time"] * self.times]) == "change":
            return Death(change=self.generator.randrange(1, changes + 1))
        return Death(seconds=self.generator.random() * seconds)

    def one(self, command: Command, number: int, *, damaged: bool, tally: Tally) -> None:
        """Kill a command, damage what it left, give it again, and look at what came of it."""
        generator, label = self.generator, f"{command.name} {number}"
        folder = self._folder(f"{command.name}-{number}")
        planted = self._plant(folder)
        said, counts = self.work / "said.txt", self.work / "counts.json"
        while True:
            death = self._death(command, damaged=damaged)
            code = finish(
                start(command.arguments, folder, death, said, counts), BOUND, killed_after=death.seconds
            )
            left = [
                path for pattern in command.left for path in sorted(folder.glob(pattern)) if path.is_file()
            ]
            if not damaged or left:
                break
            shutil.rmtree(folder)  # it had left nothing that could be damaged: another moment
            folder = self._folder(f"{command.name}-{number}")
            planted = self._plant(folder)
        tally.counts["kills"] += 1
        tally.counts["ended before the kill"] += code == 0
        for name in command.folders:
            if (folder / name).is_dir():
                (folder / name / "mine.txt").write_bytes(NOTES)
                planted.add(folder / name / "mine.txt")
        what = ""
        if damaged:
            tally.counts["damaged"] += 1
            what = damage(left, generator)
        begin = time.monotonic()
        code = finish(start(command.arguments, folder, Death(), said, counts), BOUND)
        tally.slowest = max(tally.slowest, time.monotonic() - begin)
        text = said.read_text(errors="replace")
        verdict = self._verdict(command, folder, code, text, planted)
        tally.counts[verdict] += 1
        lost = [path for path in planted if not path.is_file() or path.read_bytes() != NOTES]
        tally.counts["lost"] += len(lost)
        if verdict == "wrong" or lost:
            tally.wrong.append(f"{label}: {death} {what} code {code}, lost {lost}: {text[-2000:]}")
            self.say(tally.wrong[-1])
            shutil.copytree(folder, self.work / f"kept-{command.name}-{number}")
        shutil.rmtree(folder)

    def _plant(self, folder: Path) -> set[Path]:
        planted = {folder / name for name in ("mine.txt", ".mine.tmp", "counts.parquet.mine", "draws.mine")}
        for path in planted:
            path.write_bytes(NOTES)
        return planted

    def _verdict(
        self, command: Command, folder: Path, code: int | None, text: str, planted: set[Path]
    ) -> str:
        output = folder / command.output
        equal = output.exists() and content_of(output, planted) == self.wanted[command.name]
        stale = list(folder.glob("*.parts"))  # a temporary file that was killed may stay
        if code == 0 and equal and not stale:
            if "resumed:" in text or (command.name == "debias" and "begins anew" not in text):
                return "resumed"
            return "anew"
        clear = code in (1, 2) and "unexpected" not in text and "Traceback" not in text
        if clear and WAY_OUT.search(text) and (equal or not output.exists() or command.name == "debias"):
            return "resumed" if equal else "clear error"  # equal: it had ended before it was killed
        return "wrong"


def table(tallies: dict[str, Tally]) -> str:
    lines = [
        "| command | kills | of these damaged | resumed, equal | started anew, equal | clear error | wrong | "
        "files lost | slowest run to the end, s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    columns = ("kills", "damaged", "resumed", "anew", "clear error", "wrong", "lost")
    total: Counter[str] = Counter()
    for name, tally in tallies.items():
        total.update(tally.counts)
        cells = " | ".join(str(tally.counts[column]) for column in columns)
        lines.append(f"| {name} | {cells} | {tally.slowest:.1f} |")
    slowest = max(tally.slowest for tally in tallies.values())
    lines.append(f"| all | {' | '.join(str(total[column]) for column in columns)} | {slowest:.1f} |")
    return "\n".join(lines)


def kills(
    work: Path,
    number: int,
    seed: int,
    names: set[str],
    say: Callable[[str], object] = lambda text: None,
    *,
    times: bool = True,
) -> dict[str, Tally]:
    """So many kills, in turn of every command, every second one with damage."""
    warm_up(names)
    harness = Harness(work, seed, say, names, times=times)
    harness.undisturbed()
    tallies = {command.name: Tally() for command in harness.commands}
    turns = [command for command in harness.commands for _ in range(SHARES[command.name])]
    done: Counter[str] = Counter()
    for turn in range(number):
        command = turns[turn * 7 % len(turns)]
        harness.one(command, turn, damaged=done[command.name] % 2 == 1, tally=tallies[command.name])
        done[command.name] += 1
        if (turn + 1) % 20 == 0:
            say(f"{turn + 1} of {number}")
    return tallies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--commands", default=",".join(command.name for command in COMMANDS))
    parser.add_argument("--no-times", action="store_true", help="kill at counted changes, not by the clock")
    parser.add_argument("--write", action="store_true", help="write the table into kills.md")
    given = parser.parse_args()
    names = set(given.commands.split(","))
    if not (find_spec("torch") and find_spec("transformers")):
        names.discard("debias")
    with tempfile.TemporaryDirectory(prefix="kills-") as work:
        say = partial(print, flush=True)
        times = not given.no_times
        tallies = kills(Path(work) / "work", given.kills, given.seed, names, say, times=times)
        if any(tally.wrong for tally in tallies.values()):
            shutil.copytree(Path(work) / "work", "kills-kept", dirs_exist_ok=True)
    shown = table(tallies)
    print(shown)
    if any(tally.wrong for tally in tallies.values()):
        raise SystemExit("something was wrong: see kills-kept/")
    if given.write:
        path = HERE / "kills.md"
        before = path.read_text(encoding="utf-8").partition("<!-- table -->")[0]
        about = f"Python {platform.python_version()}, {platform.machine()}, seed {given.seed}."
        path.write_text(f"{before}<!-- table -->\n{about}\n\n{shown}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
