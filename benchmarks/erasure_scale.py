"""An eraser for as many vectors as MS MARCO has passages: time, as a ratio to one pass, and memory.

    python benchmarks/erasure_scale.py --write        # needs 27 GB of disk, and frees them again

The vectors are made up: 8.8 million of 384 dimensions in float32, with six targets. Every step runs in a
process of its own, whose peak memory is measured.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import write_table

ROWS, WIDTH, TARGETS, BLOCK = 8_800_000, 384, 6, 1 << 14


def make(folder: Path, rows: int) -> None:
    generator = np.random.default_rng(0)
    pattern = generator.normal(size=(BLOCK, WIDTH)).astype(np.float32)
    labels = np.lib.format.open_memmap(folder / "t.npy", "w+", np.float64, (rows, TARGETS))
    with (folder / "v.npy").open("wb") as file:
        head = {"descr": "<f4", "fortran_order": False, "shape": (rows, WIDTH)}
        np.lib.format.write_array_header_1_0(file, head)
        for begin in range(0, rows, BLOCK):
            count = min(BLOCK, rows - begin)
            own = (generator.random((count, TARGETS)) < 0.2).astype(np.float64)
            labels[begin : begin + count] = own
            block = np.roll(pattern, begin // BLOCK % WIDTH, axis=1)[:count].copy()
            block[:, :TARGETS] += own
            file.write(block.data)
    labels.flush()


def read(folder: Path) -> None:
    """One pass: every number is looked at once."""
    total = 0.0
    with (folder / "v.npy").open("rb") as file:
        np.lib.format.read_magic(file)
        (rows, width), _, dtype = np.lib.format.read_array_header_1_0(file)
        for begin in range(0, rows, BLOCK):
            total += float(np.fromfile(file, dtype, min(BLOCK, rows - begin) * width).sum())
    print(total, file=sys.stderr)


def copy(folder: Path) -> None:
    """One pass that also writes: what erasing cannot be faster than."""
    with (folder / "v.npy").open("rb") as file, (folder / "copy.npy").open("wb") as other:
        while block := file.read(BLOCK * WIDTH * 4):
            other.write(block)
        other.flush()
    (folder / "copy.npy").unlink()


def fit(folder: Path) -> None:
    from evenrank.erasure import Eraser

    Eraser.fit(folder / "v.npy", np.load(folder / "t.npy")).save(folder / "e.safetensors")


def erase(folder: Path) -> None:
    from evenrank.erasure import Eraser, erase_file

    erase_file(Eraser.load(folder / "e.safetensors"), folder / "v.npy", folder / "erased.npy")


def check(folder: Path) -> None:
    """The largest correlation that is left between a dimension and a target, over all vectors."""
    targets = np.load(folder / "t.npy")
    sums, products = np.zeros(WIDTH), np.zeros((WIDTH, TARGETS))
    for begin in range(0, len(targets), BLOCK):
        mapped = np.load(folder / "erased.npy", mmap_mode="r")[begin : begin + BLOCK]
        sums += mapped.sum(axis=0, dtype=np.float64)
        products += mapped.T.astype(np.float64) @ targets[begin : begin + BLOCK]
    covariance = products / len(targets) - np.outer(sums / len(targets), targets.mean(axis=0))
    print(json.dumps(float(np.abs(covariance).max() / targets.std())), file=sys.stderr)


STEPS = {"read": read, "copy": copy, "fit": fit, "erase": erase, "check": check}


def step(name: str, folder: Path) -> tuple[float, float, str]:
    """Seconds, the peak memory in GB, and what was said."""
    begin = time.perf_counter()
    call = [sys.executable, __file__, "--step", name, "--folder", str(folder)]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    return time.perf_counter() - begin, float(done.stdout) / 1e6, done.stderr.strip()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--folder", type=Path, help="where the vectors go (default: a temporary folder)")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/erasure_scale.md")
    options = parser.parse_args()
    if options.step:
        STEPS[options.step](options.folder)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        folder = Path(place)
        make(folder, options.rows)
        step("read", folder)  # whatever the system keeps in memory, it keeps for all
        found = {name: step(name, folder) for name in STEPS}
    base = found["read"][0]
    names = {
        "read": "one pass that adds up all numbers",
        "copy": "one pass that copies the file",
        "fit": "fitting an eraser of six targets",
        "erase": "erasing into another file",
    }
    lines = ["| step | seconds | ratio to one pass | peak memory, GB |", "|---|---|---|---|"]
    for name, what in names.items():
        seconds, memory, _ = found[name]
        lines.append(f"| {what} | {seconds:.0f} | {seconds / base:.2f} | {memory:.2f} |")
    size = options.rows * WIDTH * 4 / 1e9
    lines += [
        "",
        f"{options.rows:,} vectors of {WIDTH} dimensions, {size:.1f} GB. The largest covariance between a "
        f"dimension and a target that is left is {float(found['check'][2]):.1e} of a target's deviation. "
        f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}.",
    ]
    page = "\n".join(lines) + "\n"
    print(page)
    if options.write:
        write_table(__file__, page, "")


if __name__ == "__main__":
    main()
