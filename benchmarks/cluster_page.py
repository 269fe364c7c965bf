"""``clusters.md`` from the figures that ``clusters.py`` keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Figures = Mapping[str, Any]

INTRODUCTION = """# Clusters: the same work on Dask and Spark

A scan on Dask (two worker processes) and on Spark (`local[2]`), beside the same scan in one process with two
threads, on the same two cores. Real passages are repeated with new ids. This page is written by

    python benchmarks/clusters.py --write

and `--only` names the sections that are measured anew, as in `--only speed`.
"""
NAMES = {"local": "one process", "dask": "Dask", "spark": "Spark"}
AIMS = {"local": "", "dask": "1.3", "spark": "2"}


def page(found: Figures) -> str:
    sections = {"equality": _equality, "swap": _swap, "vectors": _vectors, "kills": _kills, "speed": _speed}
    written = [section(found[name]) for name, section in sections.items() if name in found]
    return "\n".join([INTRODUCTION, *written])


def _equality(found: Figures) -> str:
    equal, files = sum(found["files"].values()), len(found["files"])
    return f"""## Equal results

{found["passages"]:,} passages as TSV, as ten shards of JSONL.gz and as Parquet (zstd), counted on Dask and on
Spark: {equal} of {files} files are equal to those of one process, byte for byte.
"""


def _swap(found: Figures) -> str:
    equal = "is equal to" if found["equal"] else "DIFFERS from"
    return f"""The swap of {found["texts"]:,} passages through Dask {equal} that of one process, byte for
byte.
"""


def _vectors(found: Figures) -> str:
    equal = "are equal to those of one process, byte for byte"
    if not found["equal"]:
        equal = f"differ from those of one process by at most {found['largest difference']:.1e}"
    local, dask = found["local"], found["dask"]
    return f"""The vectors of MiniLM of {found["texts"]:,} short texts (up to {found["words"]} words) through
Dask {equal}: both form the same batches. One process took
{local["seconds"]:.0f} s ({local["processor"]:.0f} s of processors), Dask {dask["seconds"]:.0f} s
({dask["processor"]:.0f} s), in which its workers load the model as well.
"""


def _kills(found: Figures) -> str:
    killed = {"a worker": found["workers"], "the process that plans": found["drivers"]}
    rows = "\n".join(_kill_row(name, deaths) for name, deaths in killed.items())
    return f"""## Kills

{found["passages"]:,} passages in {found["partitions"]} partitions, two workers. SIGKILL ends a worker before
or right after a task that a seed draws, or the process that plans the work when a number of parts that a seed
draws is there; then the scan is given again.

| killed | times | files equal | partitions done again, each time |
|---|---|---|---|
{rows}

At most the partitions in flight are done again: one in a worker, two in both.
"""


def _kill_row(name: str, deaths: Sequence[Figures]) -> str:
    again = sorted({death["again"] for death in deaths})
    equal = sum(death["equal"] for death in deaths)
    return f"| {name} | {len(deaths)} | {equal} | {' or '.join(map(str, again))} |"


def _speed(found: Figures) -> str:
    counts = sorted((name for name in found if name.isdigit()), key=int)
    few, many = (f"{int(count) / 1e6:g}" for count in (counts[0], counts[-1]))
    slopes = "\n".join(_slope_row(name, found["slope"]) for name in NAMES)
    whole = "\n".join(_whole_row(name, [found[count] for count in counts]) for name in NAMES)
    fixed = "\n".join(_fixed_row(name, own) for name, own in found["fixed"].items())
    return f"""## Speed

TSV, the least of {found["rounds"]} rounds in which the three take turns; the load of the machine was
{found["load before"]:.1f} before. All files were equal, byte for byte.

**Slope**: seconds a million passages between {few} and {many} million passages, start-up left out. Processor
time is that of all processes, Java included.

| | time | in times of one process | aim | processor time | in times of one process |
|---|---|---|---|---|---|
{slopes}

| seconds (of processors) | {" | ".join(f"{int(count) / 1e6:g} million" for count in counts)} |
|---|{"---|" * len(counts)}
{whole}

**Fixed cost**, once a cluster: the time until it has started, and what the first scan takes longer than the
next ones, in which workers import what they need and load the compiled kernel.

| | start | processor time | first scan | processor time |
|---|---|---|---|---|
{fixed}
"""


def _slope_row(name: str, slopes: Figures) -> str:
    own, local = slopes[name], slopes["local"]
    times = [own[kind] / local[kind] for kind in ("seconds", "processor")]
    cells = [f"{own['seconds']:.3f} s", f"{times[0]:.2f}", AIMS[name]]
    cells += [f"{own['processor']:.3f} s", f"{times[1]:.2f}"]
    return f"| {NAMES[name]} | {' | '.join(cells)} |"


def _whole_row(name: str, sizes: Sequence[Figures]) -> str:
    cells = (f"{size[name]['seconds']:.2f} ({size[name]['processor']:.2f})" for size in sizes)
    return f"| {NAMES[name]} | {' | '.join(cells)} |"


def _fixed_row(name: str, own: Figures) -> str:
    cells = (f"{own[part]['seconds']:.1f} s | {own[part]['processor']:.1f} s" for part in ("start", "first"))
    return f"| {NAMES[name]} | {' | '.join(cells)} |"
