"""Audits of runs and labels that a test makes: the public way to a verdict."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenrank import Run, audit, write_run

Labels = Mapping[str, str]


def audited(
    folder: Path,
    runs: Run | Sequence[Run],
    attributes: Mapping[str, Labels],
    *,
    values: Mapping[str, Sequence[str]] | None = None,
    units: Labels | None = None,
    catalogue: bool = True,
    documents: Iterable[str] = (),
    queries: Mapping[str, str] | None = None,
    weights: Mapping[str, float] | None = None,
    **options: Any,
) -> Any:
    """The labels stand in a table of documents, or with ``catalogue=False`` in one of groups alone.

    ``values`` are the values of attributes in their order, ``units`` who a label belongs to, ``documents``
    further ones, ``queries`` texts, and ``weights`` how much queries count.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = dict.fromkeys([*(one for labels in attributes.values() for one in labels), *documents])
    with (folder / "documents.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["document", *attributes, *(["owner"] if units else [])])
        for one in known:
            labels = (labels.get(one, "") for labels in attributes.values())
            rows.writerow([one, *labels, *([units.get(one, "")] if units else [])])
    table = str(folder / "documents.csv")
    groups = []
    for name in attributes:
        own = f":values={','.join(values[name])}" if values and name in values else ""
        unit = ":unit=owner" if units else ""
        source = "documents" if catalogue else f"{table}:column={name}"
        groups.append(f"{name}={source}{own}{unit}")
    if catalogue:
        options["documents"] = table
    if queries is not None:
        options["queries"] = str(folder / "queries.csv")
        with (folder / "queries.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("query", "text"), *queries.items()])
    if weights is not None:
        options["queries"] = str(folder / "queries.csv")
        with (folder / "queries.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("query", "frequency"), *weights.items()])
    files = []
    for one in [runs] if isinstance(runs, Run) else runs:
        files.append(str(folder / f"{one.name or 'run'}.trec"))
        write_run(one, files[-1])
    return audit(files, folder / "audit", groups=groups, **options)


def verdict_of(folder: Path, run: Run, labels: Labels, **options: Any) -> Any:
    """The verdict on one attribute, which is called size."""
    values = {"size": options.pop("values")} if "values" in options else None
    (found,) = audited(folder, run, {"size": labels}, values=values, **options).verdicts
    return found


def verdicts_by_group(verdict: Any) -> dict[str, str]:
    return {group.value: group.decision for group in verdict.groups}


def partly(sizes: Labels, part: float) -> dict[str, str]:
    """Labels of so many of the documents."""
    kept = np.random.default_rng(5).random(len(sizes)) < part
    return {one: size for (one, size), keep in zip(sizes.items(), kept, strict=True) if keep}
