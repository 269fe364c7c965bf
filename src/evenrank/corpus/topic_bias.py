"""Which countries topics are about (Figure 4 of pair-duo-2024): shares by label, with intervals."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from evenrank.corpus.folder import Corpus
from evenrank.errors import DataError, Problem
from evenrank.io.table_files import read_named_rows
from evenrank.stats.intervals import mean_interval
from evenrank.tables import Interval, Table


def topic_bias_table(corpus: Corpus, path: Path) -> Table:
    """The share of labelled topics that carry each label; a topic without a label is left out and counted."""
    known = {record["topic"]: record for record in corpus.topics}
    by_title = {record["title"].lower(): record["topic"] for record in corpus.topics}
    rows = list(read_named_rows(path, columns=("topic",)))
    names = list(rows[0][1]) if rows else []
    label_column = next((name for name in ("country", "label") if name in names), None)
    if label_column is None:
        raise DataError(f"{path}: needs the columns topic and country; it has {', '.join(map(repr, names))}")
    labels: dict[str, str] = {}
    problems = []
    for line, row in rows:
        given = (row["topic"] or "").strip()
        topic = given if given in known else by_title.get(given.lower())
        if topic is None:
            problems.append(Problem(line, f"topic {given!r} is not in topics.jsonl"))
        elif topic in labels:
            problems.append(Problem(line, f"topic {given!r} is there already"))
        elif (row[label_column] or "").strip():
            labels[topic] = row[label_column].strip()
    if problems:
        raise DataError.listing(str(path), problems)
    shares = []
    for label, count in Counter(labels.values()).most_common():
        marks = np.array([own == label for own in labels.values()], dtype=float)
        low, high, _ = mean_interval(marks, (0.0, 1.0))
        shares.append((label, count, float(marks.mean()), Interval(low, high)))
    without = len(known) - len(labels)
    notes = [f"topics without a label, which are left out: {without:,}"] if without else []
    return Table.of(
        ("label", "topics", "share", "95% interval"),
        shares,
        title="topics by label",
        notes=notes,
        meaning="A share far above the others says that the topics lean to that label.",
    )
