"""Rankers that were trained elsewhere, for the tables of ``debias.py``: values, probes, and unseen words.

``adversary.py collect`` writes the JSON that is read here, a list of objects with ``name``, ``base`` (the
name of the ranker that it is compared with), ``runs`` (by set of queries), ``probe`` (accuracies, linear and
of two layers), ``grep`` (scores of the pairs of Grep-BiasIR) and ``seen`` (files of words, where it was
trained with a half of the list; then the other half judges it). All are lists with one entry a seed, with
paths as seen from the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from debias_data import QuerySet, Versions
from debias_rankers import NDCG, NFAIRR, by_query, crossed, difference, shown

import evenrank as er
from evenrank.arrays import Floats
from evenrank.stats.corrections import correct
from evenrank.stats.paired import paired_t

START = "MiniLM"
Row = dict[str, Floats]


@dataclass(frozen=True)
class Trained:
    """One kind of ranker with all its seeds."""

    name: str
    base: str
    runs: dict[str, list[er.Run]]  # by set of queries
    probe: dict[str, list[float]] = field(default_factory=dict)
    grep: list[list[float]] = field(default_factory=list)
    seen: list[Path] = field(default_factory=list)


def read_trained(path: Path | None) -> list[Trained]:
    if path is None:
        return []
    folder, found = path.parent, []
    for entry in json.loads(path.read_text(encoding="utf-8")):
        runs = {name: [er.read_run(folder / file) for file in files] for name, files in entry["runs"].items()}
        seen = [folder / file for file in entry.get("seen", [])]
        found.append(
            Trained(
                entry["name"],
                entry.get("base", START),
                runs,
                entry.get("probe", {}),
                entry.get("grep", []),
                seen,
            )
        )
    return found


def trained_rows(trained: list[Trained], sets: Mapping[str, QuerySet]) -> dict[str, Row]:
    """The value of every query, the mean over the seeds."""
    return {one.name: _values(one, sets) for one in trained if not one.seen}


def _values(one: Trained, sets: Mapping[str, QuerySet]) -> Row:
    row: Row = {}
    for name, runs in one.runs.items():
        asked = sets[name]
        for measure in (NFAIRR, *((NDCG,) if asked.qrels is not None else ())):
            values = [by_query(run, measure, asked, asked.collection.words) for run in runs]
            row[f"{measure} {name}"] = np.mean(values, axis=0)
    if f"{NDCG} dl19" in row and f"{NDCG} dl20" in row:
        row[f"{NDCG} DL"] = np.concatenate([row[f"{NDCG} dl19"], row[f"{NDCG} dl20"]])
    return row


def grep_cells(one: Trained, versions: Versions, pairs: Path) -> Floats:
    """(S, Q, 2, 3): the scores of relevant and other documents, of men, women and nobody."""
    rows = json.loads(pairs.read_text(encoding="utf-8"))
    at = {(query, document): place for place, (query, document, *_) in enumerate(rows)}
    ids = versions.collection.ids
    places = np.array(
        [
            [[at[query, ids[document]] for document in line] for line in own]
            for query, own in zip(versions.queries, versions.places, strict=True)
        ]
    )  # (Q, 2, 3)
    return np.array(one.grep)[:, places]


def seeds_table(trained: list[Trained], sets: Mapping[str, QuerySet]) -> str:
    """The change of every seed by itself: intervals over queries say nothing about another training."""
    before = {one.name: _values(one, sets) for one in trained if one.base == one.name}
    keys = {f"{NFAIRR} QS1": "NFaiRR, QS1", f"{NFAIRR} 215": "the 215", f"{NDCG} DL": "nDCG, DL19 and DL20"}
    lines = ["Changes seed by seed:", "", f"| ranker | {' | '.join(keys.values())} |", "|---|---|---|---|"]
    for one in (one for one in trained if one.base != one.name):
        count = len(next(iter(one.runs.values())))
        each = [
            _values(replace(one, runs={name: [runs[seed]] for name, runs in one.runs.items()}), sets)
            for seed in range(count)
        ]
        cells = [
            ", ".join(f"{np.mean(own[key] - before[one.base][key]):+.3f}" for own in each) for key in keys
        ]
        lines.append(f"| {one.name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def probes_table(trained: list[Trained]) -> str:
    lines = [
        "Rankers trained against the adversary, by their own vectors: a fresh probe learns from half of the "
        "biased passages and as many neutral ones (of cross-encoders: pairs of half of the 215 queries) and "
        "is tested on the other half. Means over seeds (least to largest).",
        "",
        "| vectors | linear | two layers |",
        "|---|---|---|",
    ]
    for one in trained:
        if one.probe and not one.seen:
            told = (np.array(one.probe[kind]) for kind in ("linear", "two layers"))
            cells = [f"{a.mean():.3f} ({a.min():.3f} to {a.max():.3f})" for a in told]
            lines.append(f"| {one.name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def unseen_lines(
    trained: list[Trained], start: Mapping[str, er.Run], sets: Mapping[str, QuerySet], words: er.WordCounts
) -> list[str]:
    """Rows of the table of unseen words: each seed has its own half of the list."""
    lines = []
    for one in (one for one in trained if one.seen):
        halves = [_halves(path, words.lexicon) for path in one.seen]
        cells = []
        for name, half in (("QS1", 1), ("215", 1), ("QS1", 0)):
            judges = [words.relisted(both[half]) for both in halves]
            gains = [
                by_query(run, NFAIRR, sets[name], judge) - by_query(start[name], NFAIRR, sets[name], judge)
                for run, judge in zip(one.runs[name], judges, strict=True)
            ]
            cells.append(crossed(np.stack(gains)))
        useful = [
            np.concatenate(
                [
                    by_query(one.runs[year][seed], NDCG, sets[year], words)
                    - by_query(start[year], NDCG, sets[year], words)
                    for year in ("dl19", "dl20")
                ]
            )
            for seed in range(len(one.seen))
        ]
        lines.append(
            f"| {one.name} ({len(one.seen)} halves) | {' | '.join([*cells, crossed(np.stack(useful))])} |"
        )
    return lines


def _halves(path: Path, whole: er.Lexicon) -> tuple[er.Lexicon, er.Lexicon]:
    """The words of a file, and those of the list that it does not have."""
    seen = set(er.read_lexicon(path).terms)
    parts: tuple[dict[str, list[str]], dict[str, list[str]]] = ({}, {})
    for term, owner in zip(whole.terms, whole.term_groups, strict=True):
        parts[term not in seen].setdefault(whole.groups[owner], []).append(term)
    own, others = (er.Lexicon.build(name, part) for name, part in zip(("A", "B"), parts, strict=True))
    return own, others


def names_lines(
    trained: list[Trained], start: Mapping[str, er.Run], sets: Mapping[str, QuerySet], names: er.WordCounts
) -> list[str]:
    """Rows of the table of first names; p is corrected over these rows."""
    before = {name: by_query(start[name], NFAIRR, sets[name], names) for name in ("QS1", "215")}
    values = {
        (one.name, name): np.mean(
            [by_query(run, NFAIRR, sets[name], names) for run in one.runs[name]], axis=0
        )
        for one in trained
        if not one.seen
        for name in before
    }
    bases = {one.name: one.base for one in trained}
    changes = {
        (one, name): value - values.get((bases[one], name), before[name])
        for (one, name), value in values.items()
        if bases[one] != one
    }
    tests = dict(zip(changes, correct([paired_t(c).p_value for c in changes.values()], "holm"), strict=True))
    lines = []
    for one in dict.fromkeys(name for name, _ in values):
        cells = []
        for name in before:
            cell, change = f"{values[one, name].mean():.3f}", changes.get((one, name))
            if change is not None:
                cell += f" ({difference(change, np.zeros_like(change))}, p {shown(tests[one, name])})"
            cells.append(cell)
        lines.append(f"| {one} | " + " | ".join(cells) + " |")
    return lines
