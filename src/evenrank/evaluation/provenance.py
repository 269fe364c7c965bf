"""Where the numbers come from: inputs with their hashes, tie rules, versions."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.data.evidence_source import DocumentSets, Evidence
from evenrank.data.membership import Membership
from evenrank.data.qrels import fingerprint_columns
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.data.words import WordCounts
from evenrank.evidence.align import Sources


def provenance(
    runs: Mapping[str, Run | RunSet],
    sources: Sources,
    asked: tuple[str, ...] | None,
    measures: Mapping[str, str],
) -> dict[str, Any]:
    """``measures`` says what each became with the evidence that there was."""
    from importlib.metadata import version  # which loads much that a table of scores does without

    from evenrank._version import __version__
    from evenrank.scores.scores import RESAMPLES, SEED

    return {
        "evenrank": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
        "ir_measures": version("ir_measures"),
        "measures": dict(measures),
        "runs": {name: _run_facts(run) for name, run in runs.items()},
        "evidence": {
            name: {"sha256": source.fingerprint, "source": getattr(source, "source", None), **_values(source)}
            for name, source in sources.evidence.items()
        },
        "background": _background_facts(sources.background),
        "against": None if sources.against is None else _run_facts(sources.against),
        "queries": None if asked is None else list(asked),  # None: the judged ones, or the run's
        "interval": {
            "level": 0.95,
            "method": "Student's t over queries with a quarter of an observation added on each side; "
            "expanded bootstrap percentiles for an aggregate that is not a mean",
            "resamples": RESAMPLES,
            "seed": SEED,
        },
    }


def _values(source: Evidence) -> dict[str, Any]:
    """What the groups are called: signed measures say first against second."""
    names: tuple[str, ...] = ()
    if isinstance(source, Membership):
        names = source.attribute.values
    elif isinstance(source, WordCounts):
        names = source.lexicon.groups
    return {"values": list(names)} if names else {}


def _background_facts(background: Run | DocumentSets | None) -> dict[str, Any] | None:
    if isinstance(background, DocumentSets):
        ids = background.doc_ids.array()
        return {"sha256": fingerprint_columns((), background.offsets, ids), "documents": len(ids)}
    return None if background is None else _run_facts(background)


def _run_facts(run: Run | RunSet) -> dict[str, Any]:
    facts: dict[str, Any] = {"sha256": run.fingerprint}
    if isinstance(run, RunSet):
        facts |= {"rankings": len(run), "ties": run.runs[0].ties, "source": None}
    else:
        facts |= {"ties": run.ties, "source": run.source}
    return facts | ({"reads_judgements": True} if run.reads_judgements else {})
