"""Where the numbers come from: inputs with their hashes, tie rules, versions."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

import numpy as np

from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.evidence.align import Sources


def provenance(
    runs: Mapping[str, Run | RunSet],
    sources: Sources,
    asked: tuple[str, ...] | None,
) -> dict[str, Any]:
    import evenrank
    from evenrank.scores.scores import RESAMPLES, SEED

    return {
        "evenrank": evenrank.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "runs": {name: _run_facts(run) for name, run in runs.items()},
        "evidence": {
            name: {"sha256": source.fingerprint, "source": getattr(source, "source", None)}
            for name, source in sources.evidence.items()
        },
        "background": None if not isinstance(sources.background, Run) else _run_facts(sources.background),
        "against": None if sources.against is None else _run_facts(sources.against),
        "queries": "asked for"
        if asked is not None
        else "judged, or the run's where no judgements are needed",
        "interval": {
            "level": 0.95,
            "method": "bootstrap percentile over queries",
            "resamples": RESAMPLES,
            "seed": SEED,
        },
    }


def _run_facts(run: Run | RunSet) -> dict[str, Any]:
    if isinstance(run, RunSet):
        return {"sha256": run.fingerprint, "rankings": len(run), "ties": run.runs[0].ties, "source": None}
    return {"sha256": run.fingerprint, "ties": run.ties, "source": run.source}
