"""The rankers that a training run wrote: where each came from, where it is, and the run that it re-ranked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from evenrank.errors import DataError

VARIANTS, RUN = "variants.jsonl", "run.trec"


@dataclass(frozen=True)
class TrainedRanker:
    """One ranker: where it came from and where it is."""

    name: str  # its folder, below that of the whole
    strength: float | None  # None before the third stage
    checkpoint: int
    step: int
    validation: float | None


def read_variants(folder: str | Path) -> tuple[TrainedRanker, ...]:
    """The rankers that a training run wrote."""
    path = Path(folder) / VARIANTS
    if not path.is_file():
        raise DataError(f"{folder}: there is no {VARIANTS}: evenrank debias writes it when it ends")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return tuple(TrainedRanker(**row) for row in rows)


def ranked_variants(folder: str | Path) -> dict[str, Path]:
    """The run that each ranker of a folder re-ranked, by the ranker's name."""
    runs = {variant.name: Path(folder) / variant.name / RUN for variant in read_variants(folder)}
    lacking = [name for name, path in runs.items() if not path.is_file()]
    if lacking:
        raise DataError(
            f"{folder}: {lacking[0]} has no {RUN}: name a run under [evaluate] when training, "
            "or make runs with evenrank rerank --with FOLDER"
        )
    return runs
