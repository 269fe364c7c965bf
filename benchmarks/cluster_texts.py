"""The swap of passages and the vectors of short texts through Dask, beside those of one process.

    python benchmarks/clusters.py --only texts --write

Texts are cut from real passages: up to ``WORDS`` words each, every one another. The model is MiniLM. What is
compared are bytes: of the swapped files, and of all vectors in single precision, as the model gives them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from cluster_inputs import WORKERS, make_tsv, measured, passages, same

from evenrank.scale import open_executor

WORDS = 3


def short_texts(count: int) -> dict[str, str]:
    """``count`` different texts of at most ``WORDS`` words, by id."""
    found: dict[str, None] = {}
    for text in passages():
        words = text.decode().split()
        for begin in range(0, len(words), WORDS):
            found[" ".join(words[begin : begin + WORDS])] = None
            if len(found) == count:
                return {str(number): own for number, own in enumerate(found)}
    raise SystemExit(f"the passages have only {len(found):,} different texts of {WORDS} words")


def swaps(folder: Path, count: int) -> dict[str, Any]:
    from evenrank.counterfactuals.swap.files import swap_file

    source = make_tsv(folder / "s.tsv", count)
    result: dict[str, Any] = {"texts": count}
    with open_executor("dask", WORKERS) as dask:
        for name, on in _ways(dask):
            with measured() as spent:
                swap_file(source, folder / f"{name}.tsv", "gender-en", on=on, threads=WORKERS)
            result[name] = spent.to_dict()
    result["equal"] = same(folder / "local.tsv", folder / "dask.tsv")
    return result


def vectors(count: int) -> dict[str, Any]:
    from evenrank.systems.dense import Dense

    documents = short_texts(count)
    result: dict[str, Any] = {"texts": count, "words": WORDS}
    found = {}
    with open_executor("dask", WORKERS) as dask:
        for name, on in _ways(dask):
            system = Dense("minilm", on=on)
            with measured() as spent:
                system.index(documents)
            result[name] = spent.to_dict()
            found[name] = np.stack([system._known[text] for text in documents.values()])
            print(f"{count:,} vectors {name}: {spent.seconds:.0f} s", file=sys.stderr)
    result["equal"] = found["local"].tobytes() == found["dask"].tobytes()
    result["largest difference"] = float(np.abs(found["local"] - found["dask"]).max())
    return result


def _ways(dask: Any) -> Iterable[tuple[str, Any]]:
    return ("local", None), ("dask", dask)
